//! find_files: paths by a glob.

use super::dotted_glob::DottedGlob;
use super::list::{check_root, gaps, left_out, walk_root};
use super::pattern::check_length;
use crate::arguments::ToolSchema;
use crate::blocking::looking;
use crate::{
    CallPreview, DisplayDetail, HintTool, Plan, ReadScope, RunContext, RunFuture, Tool, ToolContext,
    ToolError, ToolOutput, TouchedPaths, hint,
};
use placet_permission::{Access, Permit};
use placet_text::conversation::ToolSpec;
use placet_text::text::NameGlob;
use placet_workspace::{
    DirWalk, OpenConsent, RelativePath, ResolvedPath, SkippedEntries, WalkEntry, WalkEntryKind, WalkFilter,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

const MOST: usize = 500;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    pattern: String,
    path: Option<String>,
    limit: Option<usize>,
    scratchpad: Option<String>,
}

pub(crate) struct FindFiles(ToolSchema);

impl Default for FindFiles {
    fn default() -> FindFiles {
        FindFiles(ToolSchema::of::<Args>("find_files", include_str!("../../prompts/tools/find_files.md")))
    }
}

impl Tool for FindFiles {
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
        let glob = PathGlob::new(&args.pattern)?;
        let at = env.resolve(args.path.as_deref().unwrap_or("."))?;
        let title = match args.path {
            None => format!("find {}", args.pattern),
            Some(_) => format!("find {} in {}", args.pattern, env.workspace.shown(&at.path)),
        };
        let usual = if args.scratchpad.is_some() { usize::MAX } else { MOST };
        let limit = nonzero_limit(args.limit)?.unwrap_or(usual);
        Ok(Box::new(FindPlan { at, title, glob, limit }))
    }
}

/// The `limit` of a call, which is not 0: nothing would be shown.
pub(super) fn nonzero_limit(limit: Option<usize>) -> Result<Option<usize>, ToolError> {
    match limit {
        Some(0) => {
            Err(ToolError::hint("`limit` is 0: nothing would be shown", "leave it out for the usual number"))
        }
        limit => Ok(limit),
    }
}

/// A glob over the paths of a walk. With a `!` before it, it matches the files that it would not match otherwise: as for
/// ripgrep and gitignore, also those in a directory that it matches. `\!` is the letter.
#[derive(Clone, Debug)]
pub(crate) struct PathGlob {
    matcher: NameGlob,
    /// The glob has no slash: it matches the last name of a path.
    name_only: bool,
    directories: bool,
    dotted: bool,
    excludes: bool,
    /// Takes the place of `matcher`.
    explicit_dots: Option<DottedGlob>,
}

impl PathGlob {
    pub(crate) fn new(pattern: &str) -> Result<PathGlob, ToolError> {
        check_length(pattern)?;
        let (written, excludes) = (pattern, pattern.starts_with('!'));
        let pattern = pattern.strip_prefix('!').unwrap_or(pattern);
        let leaves = pattern.split('/').any(|part| part == "..");
        if leaves || pattern.starts_with('/') || pattern.starts_with("~/") {
            let why = match leaves {
                true => "does not stay below a directory",
                false => "names a place, and a pattern is about the paths below a directory",
            };
            return Err(ToolError::hint(format!("the pattern `{pattern}` {why}"), {
                let relative = "` and the pattern relative to it";
                let find = HintTool::FindFiles.parameter("path");
                let search = HintTool::SearchContents.parameter("path");
                hint!["give the directory as `", find, relative].or(hint![
                    "give the directory as `",
                    search,
                    relative
                ])
            }));
        }
        // As a path: `./src//*.rs` is `src/*.rs`.
        let parts: Vec<&str> = pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let (plain, directories) = (parts.join("/"), pattern.ends_with('/'));
        if plain.is_empty() {
            return Err(ToolError::hint("the glob is empty", "`*` matches every file"));
        }
        let matcher = NameGlob::of_path(&plain)
            .map_err(|e| ToolError::new(format!("invalid glob `{written}`: {}", e.kind())))?;
        let dotted = plain.split(['/', '{', ',']).any(|part| part.starts_with('.'));
        let name_only = !plain.contains('/');
        Ok(PathGlob { matcher, name_only, directories, dotted, excludes, explicit_dots: None })
    }

    /// A pattern of a tool set whose paths begin at a root of their own: a leading slash anchors it in the searched
    /// directory.
    pub(crate) fn rooted(pattern: &str) -> Result<PathGlob, ToolError> {
        let (not, plain) = pattern.strip_prefix('!').map_or(("", pattern), |plain| ("!", plain));
        let glob = PathGlob::new(&format!("{not}{}", plain.trim_start_matches('/')))?;
        Ok(if plain.starts_with('/') { glob.anchored() } else { glob })
    }

    /// The same pattern read as a path from the searched directory: `*.rs` matches in that directory only.
    #[must_use]
    pub(crate) fn anchored(self) -> PathGlob {
        PathGlob { name_only: false, ..self }
    }

    /// The same glob, in which no wildcard matches the dot at the beginning of a name.
    pub(crate) fn with_explicit_dots(self) -> Result<PathGlob, ToolError> {
        let glob = DottedGlob::new(self.matcher.pattern())
            .ok_or_else(|| ToolError::new(format!("invalid glob `{}`", self.matcher.pattern())))?;
        Ok(PathGlob { explicit_dots: Some(glob), ..self })
    }

    pub(crate) fn show(&self) -> WalkFilter {
        if self.dotted && !self.excludes { WalkFilter::Dotted } else { WalkFilter::Usual }
    }

    /// Directories match instead of files.
    fn lists_directories(&self) -> bool {
        self.directories && !self.excludes
    }

    pub(crate) fn matches(&self, relative: &RelativePath) -> bool {
        let path = relative.as_path();
        if !self.excludes {
            return self.fits(path);
        }
        let first = usize::from(self.directories);
        let mut above = path.ancestors().skip(first).filter(|path| !path.as_os_str().is_empty());
        !above.any(|path| self.fits(path))
    }

    fn fits(&self, path: &Path) -> bool {
        let name = path.file_name().filter(|_| self.name_only);
        let subject = name.map_or(path, Path::new);
        self.explicit_dots.as_ref().map_or_else(|| self.matcher.is_match(subject), |glob| glob.fits(subject))
    }
}

struct FindPlan {
    at: ResolvedPath,
    title: String,
    glob: PathGlob,
    limit: usize,
}

impl Plan for FindPlan {
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
        looking(self.title.clone(), ctx, move |ctx| self.find(&permit, ctx))
    }
}

/// The paths below `at` that match, sorted and relative to `at`, and what the walk skipped. Ends early when cancelled.
pub(crate) fn find_paths(
    ctx: &RunContext,
    at: &ResolvedPath,
    consent: OpenConsent<'_>,
    glob: &PathGlob,
    show: WalkFilter,
) -> Result<(Vec<RelativePath>, SkippedEntries), ToolError> {
    let root = walk_root(&ctx.env, at, consent)?;
    let found: Mutex<Vec<RelativePath>> = Mutex::default();
    let stop = || ctx.cancel.is_cancelled();
    let skipped = DirWalk::new(&ctx.env.workspace, show, ctx.env.limits.search(), &stop).run(root, || {
        let mut own = PathCollector { found: &found, own: Vec::new() };
        move |entry: &WalkEntry| {
            if (entry.kind == WalkEntryKind::Directory) == glob.lists_directories() {
                let relative = entry.relative();
                if glob.matches(&relative) {
                    own.own.push(relative);
                }
            }
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable();
    Ok((found, skipped))
}

impl FindPlan {
    fn find(&self, permit: &Permit, ctx: &RunContext) -> Result<ToolOutput, ToolError> {
        let env = &ctx.env;
        let consent = OpenConsent::Permit(permit);
        let (found, skipped) = find_paths(ctx, &self.at, consent, &self.glob, self.glob.show())?;
        if ctx.cancel.is_cancelled() {
            return Ok(crate::output::interrupted(&self.title));
        }
        let text = self.report(&found, &skipped, &env.workspace.shown(&self.at.path));
        let line = format!("{}: {}", self.title, found.len());
        Ok(ToolOutput::lookup(line, text))
    }

    fn report(&self, found: &[RelativePath], skipped: &SkippedEntries, at: &str) -> String {
        let base = if at == "." { String::new() } else { format!("{}/", at.trim_end_matches('/')) };
        let (slash, what) = if self.glob.lists_directories() { ("/", "directories") } else { ("", "files") };
        let shown = found.iter().take(self.limit);
        let mut text: String = shown.map(|path| format!("{base}{}{slash}\n", path.shown())).collect();
        let mut notes = vec![match found.len() {
            0 => format!("no {what} match"),
            n if n > self.limit => format!("{} of {n} {what}: narrow the pattern or raise limit", self.limit),
            1 => "1 match".into(),
            n => format!("{n} matches"),
        }];
        notes.extend(left_out(skipped).map(|words| format!("{words} skipped")));
        notes.extend(gaps(skipped));
        text.push_str(&format!("[{}]", notes.join("; ")));
        text
    }
}

/// What one thread found; merged with the rest when the thread is done.
struct PathCollector<'a> {
    found: &'a Mutex<Vec<RelativePath>>,
    own: Vec<RelativePath>,
}

impl Drop for PathCollector<'_> {
    fn drop(&mut self) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.append(&mut self.own);
    }
}
