//! glob and grep.

use super::super::super::find_files::{PathGlob, find_paths};
use super::super::super::hits::{FileHits, Search};
use super::super::super::look::{LookPlan, with_gaps};
use super::super::super::search_contents::{line_matcher, search_below};
use super::super::super::{Env, Output, Plan, RunCtx, Summary, Tool, ToolError};
use super::super::foreign::Foreign;
use super::path::{Named, mounts_below};
use super::read::or_nothing;
use super::{Surface, cut, python_list};
use crate::workspace::{Consent, Show, Skipped};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;

/// Matches kept of one file, and of all.
const MATCHES: usize = 1000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct GlobArgs {
    /// `*.py` is found at any depth; `**` crosses directories.
    pattern: String,
    path: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    FilesWithMatches,
    Content,
    Count,
    // One JSON list of {path, line, text}.
    Entries,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Grep {
    /// Plain text, not a regular expression.
    pattern: String,
    path: Option<String>,
    /// Only files matching this glob.
    glob: Option<String>,
    /// files_with_matches, content, count, or entries: one JSON list of {path, line, text}.
    output_mode: Option<OutputMode>,
}

pub(super) fn glob(surface: &Arc<Surface>) -> Arc<dyn Tool> {
    let tool =
        Foreign::new("glob", "Find files by a pattern, at any depth below a directory.", surface, plan_glob)
            .judged_like(|_| Some("find_files"))
            .touching(|input, s| s.reads(input, "path"))
            .whole();
    Arc::new(tool)
}

fn plan_glob(args: &GlobArgs, env: &Env, surface: &Arc<Surface>) -> Result<Box<dyn Plan>, ToolError> {
    let named = surface.named(env, args.path.as_deref().unwrap_or("/"))?;
    let plain = args.pattern.trim_start_matches('/');
    let anywhere = if plain.starts_with("**/") { plain.to_string() } else { format!("**/{plain}") };
    let pattern = PathGlob::new(&anywhere)?;
    let title = format!("glob {}", args.pattern);
    let (places, surface) = (with_mounts(env, surface, named)?, Arc::clone(surface));
    let ats = places.iter().map(|place| place.at.clone()).collect();
    let look = move |consent: Consent<'_>, ctx: &RunCtx| {
        let (mut paths, mut gaps): (Vec<String>, _) = (Vec::new(), Skipped::default());
        for place in &places {
            let (found, skipped) = or_nothing(find_paths(ctx, &place.at, consent, &pattern, Show::All))?;
            paths.extend(found.iter().map(|p| surface.below(place, p)));
            gaps += skipped;
        }
        let text = cut(python_list(&paths));
        let output = Output::done(text.clone(), Summary::text(format!("glob: {}", paths.len()), text));
        Ok(with_gaps(output, &gaps))
    };
    Ok(Box::new(LookPlan::many(ats, title, look)))
}

/// A directory and the mounts that are below it.
fn with_mounts(env: &Env, surface: &Surface, named: Named) -> Result<Vec<Named>, ToolError> {
    let mounts = mounts_below(env, &named.shown);
    let mut places = vec![named];
    for mount in mounts {
        places.push(surface.named(env, &mount)?);
    }
    Ok(places)
}

pub(super) fn grep(surface: &Arc<Surface>) -> Arc<dyn Tool> {
    let tool = Foreign::new(
        "grep",
        "Search for plain text in files. Hidden and ignored files are left out.",
        surface,
        plan_grep,
    )
    .judged_like(|_| Some("search_contents"))
    .touching(|input, s| s.reads(input, "path"))
    .whole();
    Arc::new(tool)
}

fn plan_grep(args: &Grep, env: &Env, surface: &Arc<Surface>) -> Result<Box<dyn Plan>, ToolError> {
    if args.pattern.is_empty() {
        return Err(ToolError::new("`pattern` is empty"));
    }
    let named = surface.named(env, args.path.as_deref().unwrap_or("/"))?;
    let matcher = line_matcher(&args.pattern, |b| {
        b.fixed_strings(true);
    })?;
    let glob = args.glob.as_deref().map(PathGlob::new).transpose()?;
    let mode = args.output_mode.unwrap_or_default();
    let (places, title) = (with_mounts(env, surface, named)?, format!("grep {}", args.pattern));
    let ats = places.iter().map(|place| place.at.clone()).collect();
    let surface = Arc::clone(surface);
    let look = move |consent: Consent<'_>, ctx: &RunCtx| {
        let names_only = mode == OutputMode::FilesWithMatches;
        let show = glob.as_ref().map_or(Show::Usual, PathGlob::show);
        let (mut all, mut gaps): (Vec<(String, FileHits)>, _) = (Vec::new(), Skipped::default());
        for place in &places {
            let search = Search { matcher: matcher.clone(), context: 0, names_only, most: MATCHES };
            let found = search_below(ctx, &place.at, consent, search, (glob.as_ref(), show));
            let Some(found) = or_nothing(found.map(Some))? else { continue };
            let named = |file: FileHits| match file.relative.as_str() {
                "" => (place.shown.clone(), file),
                relative => (surface.below(place, relative), file),
            };
            all.extend(found.files.into_iter().map(named));
            gaps += found.skipped;
        }
        let text = cut(report(&all, mode));
        let line = format!("grep: {} files", all.len());
        Ok(with_gaps(Output::done(text.clone(), Summary::text(line, text)), &gaps))
    };
    Ok(Box::new(LookPlan::many(ats, title, look)))
}

fn report(found: &[(String, FileHits)], mode: OutputMode) -> String {
    if found.is_empty() {
        return if mode == OutputMode::Entries { "[]".into() } else { "No matches found".into() };
    }
    let (mut out, mut left, mut entries) = (String::new(), MATCHES, Vec::new());
    for (path, file) in found {
        match mode {
            OutputMode::FilesWithMatches => drop(writeln!(out, "{path}")),
            OutputMode::Count => drop(writeln!(out, "{path}: {}", file.matches)),
            OutputMode::Content | OutputMode::Entries => {
                if left == 0 {
                    break;
                }
                let _ = writeln!(out, "{path}:");
                for hit in file.hits.iter().take(left) {
                    left -= 1;
                    let text = String::from_utf8_lossy(&hit.bytes);
                    let _ = writeln!(out, "  {}: {text}", hit.line);
                    entries.push(json!({"path": path, "line": hit.line, "text": text}));
                }
            }
        }
    }
    let matches: usize = found.iter().map(|(_, file)| file.matches).sum();
    match mode {
        OutputMode::Entries => serde_json::Value::Array(entries).to_string(),
        OutputMode::Content if matches > MATCHES => {
            format!("{out}[the first {MATCHES} of {matches} matches]")
        }
        _ => out.trim_end().to_string(),
    }
}
