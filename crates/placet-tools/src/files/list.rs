//! list_directory: the entries of a directory, and of the levels below it as far as the call asks.

use crate::arguments::ToolSchema;
use crate::blocking::{blocking, consent_of, s};
use crate::{
    CallFailure, CallPreview, DisplayDetail, HintTool, Plan, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput, TouchedPaths, hint,
};
use placet_permission::{Access, Permit};
use placet_text::conversation::ToolSpec;
use placet_text::text::{count, sanitize, visible};
use placet_workspace::{
    OpenConsent, ResolvedPath, SkippedEntries, WalkDirectory, WalkEntry, WalkEntryKind, WalkFilter,
    WalkTimeout, WorkspaceError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;

/// The most entries listed in one answer.
const MOST: usize = 2000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    path: Option<String>,
    depth: Option<usize>,
    /// Dotted entries too.
    hidden: Option<bool>,
    #[serde(rename = "scratchpad")]
    _scratchpad: Option<String>,
}

pub(crate) struct ListDirectory(ToolSchema);

impl Default for ListDirectory {
    fn default() -> ListDirectory {
        ListDirectory(ToolSchema::of::<Args>(
            "list_directory",
            include_str!("../../prompts/tools/list_directory.md"),
        ))
    }
}

impl Tool for ListDirectory {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        TouchedPaths::reading(input, "path", ".")
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        if args.depth == Some(0) {
            return Err(ToolError::hint(
                "`depth` is 0: nothing would be listed",
                "leave it out for one level",
            ));
        }
        let at = env.resolve(args.path.as_deref().unwrap_or("."))?;
        let title = format!("list {}", env.workspace.shown(&at.path));
        let show = if args.hidden == Some(true) { WalkFilter::Dotted } else { WalkFilter::Usual };
        Ok(Box::new(ListPlan { at, title, depth: args.depth.unwrap_or(1), show }))
    }
}

struct ListPlan {
    at: ResolvedPath,
    title: String,
    depth: usize,
    show: WalkFilter,
}

/// Opens a directory to walk, or reports what exists instead.
pub(crate) fn walk_root(
    env: &ToolContext,
    at: &ResolvedPath,
    consent: OpenConsent<'_>,
) -> Result<WalkDirectory, ToolError> {
    env.workspace.walk_root(at, consent).map_err(|e| match e {
        WorkspaceError::NotDirectory(_) => ToolError::hint(
            format!("`{}` is not a directory", at.written),
            hint!["read it with ", HintTool::ReadFile],
        )
        .because(CallFailure::NotDirectory),
        other => env.path_error(&other),
    })
}

/// A check before the permission question; no check if the directory may not be read yet.
pub(crate) fn check_root(env: &ToolContext, at: &ResolvedPath, sight: ReadScope) -> Result<(), ToolError> {
    match env.workspace.open_dirs(at, consent_of(sight)) {
        Err(WorkspaceError::Outside(_)) if sight == ReadScope::InsideOnly => Ok(()),
        Err(_) => walk_root(env, at, consent_of(sight)).map(|_| ()),
        Ok(_) => Ok(()),
    }
}

impl Plan for ListPlan {
    fn reach(&self) -> Vec<Access> {
        vec![self.at.read()]
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        check_root(env, &self.at, sight)?;
        Ok(CallPreview { line: self.title.clone(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        let title = self.title.clone();
        blocking(title.clone(), move || {
            let root = walk_root(&ctx.env, &self.at, OpenConsent::Permit(&permit))?;
            let mut listing = DirectoryListing {
                text: format!("{}/\n", ctx.env.full_name(&self.at.path).trim_end_matches('/')),
                ..DirectoryListing::default()
            };
            listing.directory(&ctx.env, root, self.show, self.depth, 1);
            if listing.count >= MOST {
                let _ = writeln!(
                    listing.text,
                    "[cut at {MOST} entries: list a directory below, or use find_files]"
                );
            }
            Ok(ToolOutput::lookup(format!("{title}: {}", count::of(listing.count, "entry")), listing.text))
        })
    }
}

#[derive(Default)]
struct DirectoryListing {
    text: String,
    count: usize,
}

impl DirectoryListing {
    fn directory(
        &mut self,
        env: &ToolContext,
        dir: WalkDirectory,
        show: WalkFilter,
        depth: usize,
        level: usize,
    ) {
        let indent = "  ".repeat(level - 1);
        let Ok((dir, mut entries, skipped)) = dir.list(&env.workspace, show) else {
            let _ = writeln!(self.text, "{indent}[cannot be read]");
            return;
        };
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let empty = entries.is_empty();
        for entry in entries {
            if self.count >= MOST {
                return;
            }
            self.count += 1;
            let _ = writeln!(self.text, "{indent}{}", described(&entry));
            if entry.kind == WalkEntryKind::Directory && level < depth {
                match dir.child(&entry.name) {
                    Ok(child) => self.directory(env, child, show, depth, level + 1),
                    Err(e) if SkippedEntries::of(&e).kernel > 0 => {
                        let _ = writeln!(
                            self.text,
                            "{indent}  [a file system of the kernel: name it to list it]"
                        );
                    }
                    Err(_) => drop(writeln!(self.text, "{indent}  [cannot be read]")),
                }
            }
        }
        match left_out(&skipped) {
            Some(words) => drop(writeln!(self.text, "{indent}[{words} not shown]")),
            None if empty => drop(writeln!(self.text, "{indent}[empty]")),
            None => {}
        }
    }
}

fn described(entry: &WalkEntry) -> String {
    let name = visible::usable_name(std::path::Path::new(&entry.name));
    match entry.kind {
        WalkEntryKind::Directory => format!("{name}/"),
        WalkEntryKind::Link => {
            let target = entry.link_target().unwrap_or_default();
            format!("{name} -> {}", sanitize::name(&target))
        }
        WalkEntryKind::File => match entry.stat() {
            Ok(stat) => {
                format!(
                    "{name}  {}",
                    placet_text::text::human_size::of(u64::try_from(stat.st_size).unwrap_or(0))
                )
            }
            Err(_) => name,
        },
        WalkEntryKind::Special => format!("{name}  (special file)"),
    }
}

/// `100 of 250 matches`, where an answer does not have all.
pub(crate) fn part_of(shown: usize, all: usize, what: &str) -> Option<String> {
    (shown < all).then(|| format!("{shown} of {all} {what}"))
}

/// What a search or a listing skipped although the call asked for it, and how to get it.
pub(crate) fn gaps(skipped: &SkippedEntries) -> Option<String> {
    let mut words = Vec::new();
    if skipped.unreadable > 0 {
        let n = skipped.unreadable;
        words.push(format!("{n} unreadable {} skipped", if n == 1 { "entry" } else { "entries" }));
    }
    if skipped.kernel > 0 {
        let n = skipped.kernel;
        words.push(format!("{n} in file systems of the kernel skipped (/proc, /sys, /dev and others)"));
    }
    if skipped.binary > 0 {
        words.push(format!("{} binary file{} not searched", skipped.binary, s(skipped.binary)));
    }
    if let Some(WalkTimeout { after, directories, names }) = &skipped.late {
        let names: Vec<_> = names.iter().map(|name| if name.is_empty() { "./" } else { name }).collect();
        let more = directories.saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more directories") } else { String::new() };
        words.push(format!(
            "stopped after {} s (`tools.search_seconds`); not searched: {}{more}",
            after.as_secs(),
            sanitize::name(&names.join(", "))
        ));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// `3 ignored, 2 dotted entries`: what a walk skipped, if it skipped anything.
pub(crate) fn left_out(skipped: &SkippedEntries) -> Option<String> {
    let all = [(skipped.ignored, "ignored"), (skipped.dotted, "dotted"), (skipped.hidden, "denied")];
    let words: Vec<String> =
        all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let total: usize = all.iter().map(|(n, _)| n).sum();
    let noun = if total == 1 { "entry" } else { "entries" };
    (!words.is_empty()).then(|| format!("{} {noun}", words.join(", ")))
}
