//! search_contents: ripgrep's engine over placet's own walk.
//!
//! The answer is in the order of the paths, whatever the order in which the threads find matches. Lines that are shown
//! count as read. A long line is cut around its match, and the part that is shown counts as read.

use super::find::{PathGlob, nonzero_limit};
use super::list::{gaps, left_out, part_of, walk_root};
use super::pattern::{PatternError, line_matcher};
use super::search_results::{FileHits, HitCollector, LOADED, SearchHit, SearchQuery, SearchResults};
use crate::arguments::ToolSchema;
use crate::blocking::{consent_of, looking, s};
use crate::matched_text::SearchedRow;
use crate::output::interrupted;
use crate::{
    CallPreview, CallSummary, DisplayDetail, HintTool, MatchedText, Plan, ReadScope, RunContext, RunFuture,
    Tool, ToolContext, ToolError, ToolOutput, TouchedPaths, hint,
};
use grep_regex::RegexMatcher;
use placet_permission::{Access, Permit};
use placet_text::conversation::ToolSpec;
use placet_text::text::RangeSet;
use placet_workspace::{
    DirWalk, FileWindow, Hash, OpenConsent, RelativePath, ResolvedPath, SeenWindow, SkippedEntries, TextFile,
    WalkEntry, WalkEntryKind, WalkFilter, WorkspaceError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const MOST: usize = 200;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CaseSensitivity {
    #[default]
    Sensitive,
    Insensitive,
    Smart,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    context: Option<usize>,
    limit: Option<usize>,
    /// No regex.
    literal: Option<bool>,
    case: Option<CaseSensitivity>,
    files_only: Option<bool>,
    scratchpad: Option<String>,
}

pub(crate) struct SearchContents(ToolSchema);

impl Default for SearchContents {
    fn default() -> SearchContents {
        SearchContents(ToolSchema::of::<Args>(
            "search_contents",
            include_str!("../../prompts/tools/search_contents.md"),
        ))
    }
}

impl Tool for SearchContents {
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
        if args.pattern.is_empty() {
            return Err(ToolError::hint(
                "`pattern` is empty",
                hint![HintTool::FindFiles, " lists files without looking into them"],
            ));
        }
        nonzero_limit(args.limit)?;
        let matcher = matcher(&args)?;
        let glob = args.glob.as_deref().map(PathGlob::new).transpose()?;
        let at = env.resolve(args.path.as_deref().unwrap_or("."))?;
        let title = match args.path {
            None => format!("search {}", args.pattern),
            Some(_) => format!("search {} in {}", args.pattern, env.workspace.shown(&at.path)),
        };
        Ok(Box::new(SearchPlan { args, at, title, matcher, glob }))
    }
}

fn matcher(args: &Args) -> Result<RegexMatcher, ToolError> {
    line_matcher(&args.pattern, |builder| {
        builder.fixed_strings(args.literal == Some(true));
        match args.case.unwrap_or_default() {
            CaseSensitivity::Sensitive => {}
            CaseSensitivity::Insensitive => drop(builder.case_insensitive(true)),
            CaseSensitivity::Smart => drop(builder.case_smart(true)),
        }
    })
    .map_err(|e| match e {
        PatternError::Syntax(_) => {
            let message = ToolError::from(e).message;
            ToolError::hint(message, "escape special characters with `\\`, or set literal")
        }
        other => other.into(),
    })
}

struct SearchPlan {
    args: Args,
    at: ResolvedPath,
    title: String,
    matcher: RegexMatcher,
    glob: Option<PathGlob>,
}

impl Plan for SearchPlan {
    fn reach(&self) -> Vec<Access> {
        vec![self.at.read()]
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        let preview = CallPreview { line: self.title.clone(), detail: DisplayDetail::None };
        match env.workspace.open_dirs(&self.at, consent_of(sight)) {
            Err(WorkspaceError::Outside(_)) if sight == ReadScope::InsideOnly => Ok(preview),
            Ok(_) => Ok(preview),
            Err(WorkspaceError::NotDirectory(_)) => env
                .workspace
                .open(&self.at, consent_of(sight))
                .map(|_| preview)
                .map_err(|e| env.path_error(&e)),
            Err(e) => Err(env.path_error(&e)),
        }
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        looking(self.title.clone(), ctx, move |ctx| self.search(&permit, ctx))
    }
}

/// What was found where.
pub(crate) struct ContentMatches {
    pub(crate) files: Vec<FileHits>,
    pub(crate) skipped: SkippedEntries,
    /// Path of the directory or file searched, and what to put before relative paths.
    pub(crate) base: PathBuf,
    pub(crate) prefix: String,
}

/// Searches a file, or the files below a directory that match the glob. Ends early when cancelled.
pub(crate) fn search_below(
    ctx: &RunContext,
    at: &ResolvedPath,
    consent: OpenConsent<'_>,
    search: SearchQuery,
    (glob, show): (Option<&PathGlob>, WalkFilter),
) -> Result<ContentMatches, ToolError> {
    let env = &ctx.env;
    let budget = env.limits.search();
    // A file may be endless, too.
    let stop = || ctx.cancel.is_cancelled() || budget.is_expired();
    let cancelled = || ctx.cancel.is_cancelled();
    let gatherer = HitCollector::new(search);
    let prefix = env.workspace.shown(&at.path);
    if !env.workspace.is_dir(&at.path) {
        let opened = env.workspace.open(at, consent).map_err(|e| env.path_error(&e))?;
        gatherer.worker(&stop).file(RelativePath::default(), Ok(opened.file));
        let SearchResults { files, skipped } = gatherer.finish(budget);
        return Ok(ContentMatches { files, skipped, base: at.path.clone(), prefix });
    }
    let root = walk_root(env, at, consent)?;
    let mut skipped = DirWalk::new(&env.workspace, show, budget, &cancelled).run(root, || {
        let mut worker = gatherer.worker(&stop);
        move |entry: &WalkEntry| {
            if entry.kind != WalkEntryKind::File {
                return;
            }
            let relative = entry.relative();
            if glob.is_none_or(|glob| glob.matches(&relative)) {
                worker.file(relative, entry.open());
            }
        }
    });
    let SearchResults { files, skipped: unsearched } = gatherer.finish(budget);
    skipped += unsearched;
    let prefix = match prefix {
        here if here == "." => String::new(),
        path => format!("{}/", path.trim_end_matches('/')),
    };
    Ok(ContentMatches { files, skipped, base: at.path.clone(), prefix })
}

impl SearchPlan {
    fn search(&self, permit: &Permit, ctx: &RunContext) -> Result<ToolOutput, ToolError> {
        let stop = || ctx.cancel.is_cancelled();
        let show = self.glob.as_ref().map_or(WalkFilter::Usual, PathGlob::show);
        let found = search_below(
            ctx,
            &self.at,
            OpenConsent::Permit(permit),
            self.rules(),
            (self.glob.as_ref(), show),
        )?;
        if stop() {
            return Ok(interrupted(&self.title));
        }
        let matches: usize = found.files.iter().map(|f| f.matches).sum();
        let mut view =
            SearchOutput { room: self.room(&ctx.env), left: self.limit(), ..SearchOutput::default() };
        for file in &found.files {
            view.file(file, &found.prefix, self.args.files_only == Some(true));
        }
        let note = self.note(&found, &view, matches);
        let text = format!("{}[{note}]", view.text);
        if self.args.scratchpad.is_none() && text.len() <= ctx.env.limits.inline() {
            credit(&ctx.env, &found.base, &view.shown_hits);
        }
        let files = found.files.len();
        let line = format!("{}: {matches} in {files} file{}", self.title, s(files));
        let detail = MatchedText::new(text.clone(), view.rows, self.matcher.clone());
        let summary = CallSummary::lookup(line, DisplayDetail::Matches(detail));
        Ok(ToolOutput::done(text, summary))
    }

    fn limit(&self) -> usize {
        self.args.limit.unwrap_or(if self.args.scratchpad.is_some() { usize::MAX } else { MOST })
    }

    fn room(&self, env: &ToolContext) -> usize {
        match self.args.scratchpad {
            Some(_) => usize::MAX / 16,
            None => env.limits.inline().saturating_sub(500),
        }
    }

    fn rules(&self) -> SearchQuery {
        SearchQuery {
            matcher: self.matcher.clone(),
            context: self.args.context.unwrap_or(0),
            names_only: self.args.files_only == Some(true),
            most: self.limit(),
        }
    }

    fn note(&self, found: &ContentMatches, view: &SearchOutput, matches: usize) -> String {
        let files = found.files.len();
        let (lines, in_files) =
            (if matches == 1 { "line" } else { "lines" }, format!("{files} file{}", s(files)));
        let mut notes = vec![match (matches, self.args.files_only) {
            (0, _) => "no matches".to_string(),
            (_, Some(true)) if view.files < files => format!("{} of {in_files} with a match", view.files),
            (_, Some(true)) => format!("{in_files} with a match"),
            _ => match part_of(view.shown, matches, &format!("matching {lines} in {in_files}")) {
                Some(part) => {
                    format!("{part}: narrow the search, raise limit, or give scratchpad to store all")
                }
                None => format!("{matches} matching {lines} in {in_files}"),
            },
        }];
        notes.extend(left_out(&found.skipped).map(|words| format!("{words} skipped")));
        notes.extend(gaps(&found.skipped));
        notes.join("; ")
    }
}

/// Lines and parts of lines that were shown count as read, if the file still contains them.
pub(crate) fn credit(env: &ToolContext, base: &Path, shown: &[FileHits]) {
    for FileHits { relative, hash, hits, .. } in shown {
        let path = if relative.is_empty() { base.to_path_buf() } else { base.join(relative.as_path()) };
        let at = env.workspace.found(path, relative.plain());
        if let Some(hash) = hash {
            credit_large(env, &at, *hash, hits);
            continue;
        }
        let Ok((bytes, hash)) = env.workspace.load(&at, OpenConsent::Prepared, LOADED) else { continue };
        let Ok(file) = TextFile::new(bytes) else { continue };
        let index = file.index();
        let (mut seen, mut parts) = (RangeSet::new(), RangeSet::new());
        for hit in hits {
            let line = hit.line - 1..hit.line;
            let bytes = index.bytes_of(&line);
            if hit.cut.is_some() {
                parts.insert(hit.bytes_in(&file, &bytes));
            } else if *file.line_text(&bytes) == *String::from_utf8_lossy(&hit.bytes) {
                seen.insert(line);
            }
        }
        env.ledger().record_read_ranges(&at.path, file.bytes(), hash, &seen);
        if !parts.is_empty() {
            env.ledger().record_parts(&at.path, &file, hash, &parts);
        }
    }
}

/// The same of a file that is not loaded for it.
fn credit_large(env: &ToolContext, at: &ResolvedPath, hash: Hash, hits: &[SearchHit]) {
    let Ok(mut opened) = env.workspace.open(at, OpenConsent::Prepared) else { return };
    let (mut seen, mut parts) = (RangeSet::new(), RangeSet::new());
    for hit in hits {
        match (hit.shown_bytes(&opened.file), hit.cut) {
            (Some(_), None) => seen.insert(hit.line - 1..hit.line),
            (Some(bytes), Some(_)) => parts.insert(bytes),
            (None, _) => {}
        }
    }
    // The ledger knows a file either by windows or as a whole: what windows showed stays known.
    let windows = env.ledger().windows(&at.path).to_vec();
    for SeenWindow { lines, hash, .. } in windows {
        let window = FileWindow::read(&mut opened.file, &at.path, lines.start, lines.len(), usize::MAX);
        if window.is_ok_and(|window| blake3::hash(&window.bytes) == hash) {
            seen.insert(lines);
        }
    }
    env.ledger().record_hashed(&at.path, hash, &seen, &parts);
}

/// The answer while it grows.
#[derive(Default)]
struct SearchOutput {
    text: String,
    room: usize,
    /// How many matching lines may still be shown.
    left: usize,
    shown: usize,
    files: usize,
    /// Rows of `text`, and those with a line that matched.
    lines: usize,
    rows: BTreeMap<usize, SearchedRow>,
    /// The lines and parts of lines that were shown.
    shown_hits: Vec<FileHits>,
}

impl SearchOutput {
    fn file(&mut self, file: &FileHits, prefix: &str, names_only: bool) {
        let name = format!("{prefix}{}", file.relative.shown());
        if self.left == 0 || self.text.len() + name.len() > self.room {
            return;
        }
        let _ = writeln!(self.text, "{name}");
        self.lines += 1;
        self.files += 1;
        if names_only {
            self.left -= 1;
            return;
        }
        let width = file.hits.last().map_or(1, |hit| hit.line.to_string().len());
        let mut hits = Vec::new();
        let mut last: Option<usize> = None;
        for hit in &file.hits {
            if hit.matched && self.left == 0 {
                break;
            }
            let before = self.text.len();
            if last.is_some_and(|last| hit.line > last + 1) && file.has_context {
                self.text.push_str("  --\n");
                self.lines += 1;
            }
            self.row(hit, width);
            hits.push(hit.clone());
            if self.text.len() > self.room {
                self.text.truncate(before);
                self.left = 0;
                hits.pop();
                break;
            }
            last = Some(hit.line);
            if hit.matched {
                (self.left, self.shown) = (self.left - 1, self.shown + 1);
            }
        }
        self.shown_hits.push(file.of_shown(hits));
    }

    fn row(&mut self, hit: &SearchHit, width: usize) {
        let (lead, tail) = hit.ends(width);
        if hit.matched {
            self.rows.insert(self.lines, SearchedRow { before: lead.len(), after: tail.len() });
        }
        self.lines += 1;
        let _ = writeln!(self.text, "{}", hit.row(width));
    }
}
