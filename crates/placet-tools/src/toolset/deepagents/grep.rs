//! grep: plain text in files.

use super::super::super::{PlanResult, RunContext, Tool, ToolContext, ToolError, ToolOutput};
use super::ls::{nowhere, or_nothing};
use super::options::DeepagentsOptions;
use super::path::failure;
use super::result_text::{MOST, cut};
use crate::files::find::PathGlob;
use crate::files::list::part_of;
use crate::files::lookup::{LookupPlan, with_missing};
use crate::files::pattern::line_matcher;
use crate::files::search::search_below;
use crate::files::search_results::{FileHits, SearchQuery};
use crate::toolset::foreign_tool::{ForeignTool, ToolSetState as _};
use placet_workspace::{OpenConsent, SkippedEntries, WalkFilter};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;

/// The most matches that are stored of one file, and of all files.
const MATCHES: usize = 1000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DeepagentsGrepMode {
    #[default]
    FilesWithMatches,
    Content,
    Count,
    // One JSON list of {path, line, text}.
    Entries,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsGrep {
    /// Plain text, not a regular expression.
    pattern: String,
    path: Option<String>,
    /// Only files matching this glob.
    glob: Option<String>,
    /// files_with_matches, content, count, or entries: one JSON list of {path, line, text}.
    output_mode: Option<DeepagentsGrepMode>,
    /// Most matches of all files together (1000).
    max_count: Option<usize>,
}

pub(super) fn grep(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    let description = "Search for plain text in files. Hidden and ignored files are left out.";
    let tool = ForeignTool::new("grep", description, surface, plan)
        .rule("search_contents")
        .reading("path")
        .whole()
        .failing(|args, _, s, error| {
            failure("searching path", args.path.as_deref().unwrap_or(s.start()), s, error)
        });
    if surface.is_newer() { tool.build() } else { tool.without("max_count").build() }
}

/// In 0.7 a search stops after `max_count` matches, whatever the mode.
fn plan(args: &DeepagentsGrep, env: &ToolContext, surface: &Arc<DeepagentsOptions>) -> PlanResult {
    if args.max_count == Some(0) {
        return Err(ToolError::worded("Error: max_count must be 1 or more"));
    }
    let most = surface.is_newer().then(|| args.max_count.unwrap_or(MATCHES));
    if args.pattern.is_empty() {
        return Err(ToolError::new("`pattern` is empty"));
    }
    let matcher = line_matcher(&args.pattern, |b| {
        b.fixed_strings(true);
    })?;
    let glob = args.glob.as_deref().map(PathGlob::rooted).transpose()?;
    let (mode, title) = (args.output_mode.unwrap_or_default(), format!("grep {}", args.pattern));
    let Some(places) = or_nothing(surface.places(env, args.path.as_deref()).map(Some))? else {
        return Ok(nowhere(
            title,
            if mode == DeepagentsGrepMode::Entries { "[]" } else { "No matches found" },
        ));
    };
    let ats = places.iter().map(|place| place.at.clone()).collect();
    let surface = Arc::clone(surface);
    let hint = most.and_then(|_| literal_hint(&args.pattern));
    let look = move |consent: OpenConsent<'_>, ctx: &RunContext| {
        let names_only = mode == DeepagentsGrepMode::FilesWithMatches && most.is_none();
        let show = glob.as_ref().map_or(WalkFilter::Usual, PathGlob::show);
        let (mut all, mut gaps): (Vec<(String, FileHits)>, _) = (Vec::new(), SkippedEntries::default());
        for place in &places {
            let kept = most.unwrap_or(MATCHES);
            let search = SearchQuery { matcher: matcher.clone(), context: 0, names_only, most: kept };
            let found = search_below(ctx, &place.at, consent, search, (glob.as_ref(), show));
            let Some(found) = or_nothing(found.map(Some))? else { continue };
            let named = |file: FileHits| match file.relative.is_empty() {
                true => (place.shown.clone(), file),
                false => (surface.below(place, &file.relative), file),
            };
            all.extend(found.files.into_iter().map(named));
            gaps += found.skipped;
        }
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        let matches = all.iter().map(|(_, file)| file.matches).sum();
        let is_capped = most.is_some_and(|most| cap(&mut all, most));
        let (mut text, missing) = report(&all, mode, most.unwrap_or(MATCHES), matches);
        if is_capped && mode != DeepagentsGrepMode::Entries {
            text.push_str("\n\nNote: the search stopped early (it hit its time limit or the maximum match count). The matches above are valid but incomplete. Narrow the search (a more specific pattern or a narrower path), or raise max_count, to see the rest.");
        }
        if let (true, Some(hint)) = (all.is_empty() && mode != DeepagentsGrepMode::Entries, hint) {
            text.push_str(hint);
        }
        let line = format!("grep: {} files", all.len());
        Ok(with_missing(ToolOutput::lookup(line, text), missing, &gaps))
    };
    Ok(Box::new(LookupPlan::many(ats, title, look)))
}

/// Retains the first `most` matches of all files; true if there were more.
fn cap(found: &mut Vec<(String, FileHits)>, most: usize) -> bool {
    let mut left = most;
    let mut is_capped = false;
    for (_, file) in found.iter_mut() {
        is_capped |= file.matches > left;
        file.matches = file.matches.min(left);
        file.hits.truncate(file.matches);
        left -= file.matches;
    }
    found.retain(|(_, file)| file.matches > 0);
    is_capped
}

/// The message of 0.7 if nothing was found and the pattern looks like a regular expression.
fn literal_hint(pattern: &str) -> Option<&'static str> {
    let escaped = |c: char| "wWdDsSbB.(){}[]|+*?^$".contains(c);
    let is_escape = pattern.split('\\').skip(1).any(|rest| rest.starts_with(escaped));
    let is_regular = pattern.contains('|') || pattern.contains(".*") || pattern.contains(".+") || is_escape;
    is_regular.then_some("\n\nNote: grep matches literal text, not regex, so characters like `|`, `.*`, and `\\.` are searched verbatim. Search for the literal text you need instead; for `|` alternation, run a separate search per alternative.")
}

/// The answer, and what of all `matches` is missing where the answer itself does not say it.
fn report(
    found: &[(String, FileHits)],
    mode: DeepagentsGrepMode,
    most: usize,
    matches: usize,
) -> (String, Option<String>) {
    if mode == DeepagentsGrepMode::Entries {
        let (text, shown) = entries(found, most);
        return (text, part_of(shown, matches, "matches: use a more specific pattern or path"));
    }
    if found.is_empty() {
        return ("No matches found".into(), None);
    }
    let (mut out, mut left) = (String::new(), most);
    for (path, file) in found {
        match mode {
            DeepagentsGrepMode::Count => {
                let _ = writeln!(out, "{path}: {}", file.matches);
            }
            DeepagentsGrepMode::Content if left > 0 => {
                let _ = writeln!(out, "{path}:");
                for hit in file.hits.iter().take(left) {
                    left -= 1;
                    let _ = writeln!(out, "  {}: {}", hit.line, hit.text());
                }
            }
            DeepagentsGrepMode::Content => break,
            DeepagentsGrepMode::FilesWithMatches | DeepagentsGrepMode::Entries => {
                let _ = writeln!(out, "{path}");
            }
        }
    }
    let retained = found.iter().map(|(_, file)| file.matches).sum();
    let is_content = mode == DeepagentsGrepMode::Content;
    let missing = part_of(most, retained, "matches").filter(|_| is_content);
    (cut(out.strip_suffix('\n').unwrap_or(&out).to_string()), missing)
}

/// One JSON list of whole entries, no longer than other results, and how many they are.
fn entries(found: &[(String, FileHits)], most: usize) -> (String, usize) {
    let all = found.iter().flat_map(|(path, file)| file.hits.iter().map(move |hit| (path, hit)));
    let mut room = MOST;
    let list = all.take(most).map_while(|(path, hit)| {
        let entry = json!({"path": path, "line": hit.line, "text": hit.text()}).to_string();
        room = room.checked_sub(entry.chars().count() + 1)?;
        Some(entry)
    });
    let list: Vec<String> = list.collect();
    (format!("[{}]", list.join(",")), list.len())
}
