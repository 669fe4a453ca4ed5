//! glob and grep.

use super::super::super::find_files::{PathGlob, find_paths};
use super::super::super::hits::Search;
use super::super::super::look::{At, LookPlan};
use super::super::super::search_contents::{Found, line_matcher, search_below};
use super::super::super::{Env, Fault, Output, Plan, RunCtx, Summary, Tool, ToolError};
use super::super::foreign::Foreign;
use super::path::Named;
use super::{Surface, cut, python_list};
use crate::workspace::{Consent, Show};
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
    /// One JSON list of {path, line, text}.
    Entries,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Grep {
    /// Plain text, not a regular expression.
    pattern: String,
    path: Option<String>,
    /// Only files matching this glob.
    glob: Option<String>,
    output_mode: Option<OutputMode>,
}

pub(super) fn glob(surface: &Arc<Surface>) -> Arc<dyn Tool> {
    let tool =
        Foreign::new("glob", "Find files by a pattern, at any depth below a directory.", surface, plan_glob)
            .as_native("find_files")
            .touching(|input, s| s.reads(input, "path"))
            .whole()
            .failing(|_: &GlobArgs, _, _, error| match error.fault {
                Fault::Missing | Fault::NotDirectory => Some("[]".into()),
                _ => None,
            });
    Arc::new(tool)
}

fn plan_glob(args: &GlobArgs, env: &Env, surface: &Arc<Surface>) -> Result<Box<dyn Plan>, ToolError> {
    let named = surface.named(env, args.path.as_deref().unwrap_or("/"))?;
    let plain = args.pattern.trim_start_matches('/');
    let anywhere = if plain.starts_with("**/") { plain.to_string() } else { format!("**/{plain}") };
    let pattern = PathGlob::new(&anywhere)?;
    let title = format!("glob {}", args.pattern);
    let (place, surface) = (named.clone(), Arc::clone(surface));
    let look = move |consent: Consent<'_>, ctx: &RunCtx| {
        let (found, _) = find_paths(ctx, &place.at, consent, &pattern, Show::All)?;
        let paths: Vec<String> = found.iter().map(|p| surface.below(&place, p)).collect();
        let text = cut(python_list(&paths));
        Ok(Output::done(text.clone(), Summary::text(format!("glob: {}", paths.len()), text)))
    };
    Ok(Box::new(LookPlan::new(named.at, title, At::Directory, look)))
}

pub(super) fn grep(surface: &Arc<Surface>) -> Arc<dyn Tool> {
    let tool = Foreign::new(
        "grep",
        "Search for plain text in files. Hidden and ignored files are left out.",
        surface,
        plan_grep,
    )
    .as_native("search_contents")
    .touching(|input, s| s.reads(input, "path"))
    .whole()
    .failing(|_: &Grep, _, _, error| match error.fault {
        Fault::Missing => Some("No matches found".into()),
        _ => None,
    });
    Arc::new(tool)
}

fn plan_grep(args: &Grep, env: &Env, surface: &Arc<Surface>) -> Result<Box<dyn Plan>, ToolError> {
    if args.pattern.is_empty() {
        return Err(ToolError::new("`pattern` is empty"));
    }
    let named = surface.named(env, args.path.as_deref().unwrap_or("/"))?;
    let matcher = line_matcher(&args.pattern, |b| drop(b.fixed_strings(true)))?;
    let glob = args.glob.as_deref().map(PathGlob::new).transpose()?;
    let mode = args.output_mode.unwrap_or_default();
    let (place, surface, title) = (named.clone(), Arc::clone(surface), format!("grep {}", args.pattern));
    let look = move |consent: Consent<'_>, ctx: &RunCtx| {
        let names_only = mode == OutputMode::FilesWithMatches;
        let search = Search { matcher, context: 0, names_only, most: MATCHES };
        let show = glob.as_ref().map_or(Show::Usual, PathGlob::show);
        let found = search_below(ctx, &place.at, consent, search, (glob.as_ref(), show))?;
        let text = cut(report(&surface, &place, &found, mode));
        let line = format!("grep: {} files", found.files.len());
        Ok(Output::done(text.clone(), Summary::text(line, text)))
    };
    Ok(Box::new(LookPlan::new(named.at, title, At::Either, look)))
}

fn report(surface: &Surface, place: &Named, found: &Found, mode: OutputMode) -> String {
    if found.files.is_empty() {
        return if mode == OutputMode::Entries { "[]".into() } else { "No matches found".into() };
    }
    let (mut out, mut left, mut entries) = (String::new(), MATCHES, Vec::new());
    for file in &found.files {
        let path = match file.relative.as_str() {
            "" => place.shown.clone(),
            relative => surface.below(place, relative),
        };
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
    let matches: usize = found.files.iter().map(|f| f.matches).sum();
    match mode {
        OutputMode::Entries => serde_json::Value::Array(entries).to_string(),
        OutputMode::Content if matches > MATCHES => {
            format!("{out}[the first {MATCHES} of {matches} matches]")
        }
        _ => out.trim_end().to_string(),
    }
}
