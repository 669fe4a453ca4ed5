//! ls and glob: paths as the caller knows them.

use super::super::super::{
    CallFailure, CallSummary, Plan, PlanResult, RunContext, Tool, ToolContext, ToolError, ToolOutput,
};
use super::options::DeepagentsOptions;
use super::path::{DeepagentsPath, failure};
use crate::files::find::{PathGlob, find_paths};
use crate::files::lookup::{ExpectedKind, ListingEntry, LookupPlan, rows, with_gaps};
use crate::toolset::foreign_tool::{ForeignTool, ToolSetState as _};
use placet_workspace::{OpenConsent, ResolvedPath, SkippedEntries, WalkEntryKind, WalkFilter};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// Entries listed.
const ENTRIES: usize = 10_000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsLs {
    /// Absolute path of the directory.
    path: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsGlob {
    /// `*.py` is found at any depth; `**` crosses directories.
    pattern: String,
    path: Option<String>,
}

pub(super) fn ls(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    ForeignTool::new("ls", "List the files of a directory.", surface, plan_ls)
        .rule("list_directory")
        .reading("path")
        .whole()
        .errors(&[
            (CallFailure::Missing, "Error: Path '{path}': path_not_found"),
            (CallFailure::NotDirectory, "Error: Path '{path}': not_a_directory"),
        ])
        .failing(|args, _, s, error| failure("listing", args.path.as_deref().unwrap_or(s.start()), s, error))
        .build()
}

fn plan_ls(args: &DeepagentsLs, env: &ToolContext, surface: &Arc<DeepagentsOptions>) -> PlanResult {
    let title = format!("ls {}", args.path.as_deref().unwrap_or(surface.start()));
    let found = surface.with_mounts(env, args.path.as_deref());
    let Some((place, mounts)) = surface.or_nothing(found.map(Some))? else {
        return Ok(nowhere(title, "[]"));
    };
    let (at, surface) = (place.at.clone(), Arc::clone(surface));
    let look = move |_: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let (rows, skipped) =
            surface.or_nothing(rows(&ctx.env, &place.at, consent, (WalkFilter::All, 1, ENTRIES)))?;
        let path = |row: &ListingEntry| {
            let slash = if row.kind == WalkEntryKind::Directory { "/" } else { "" };
            format!("{}{slash}", surface.below(&place, &row.relative))
        };
        let mut paths: Vec<String> = rows.iter().map(path).chain(mounts).collect();
        paths.sort();
        paths.dedup();
        let text = surface.list(&paths);
        Ok(with_gaps(ToolOutput::lookup(format!("ls {}: {}", place.shown, paths.len()), text), &skipped))
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Anything, look)))
}

/// A call about a path that does not exist, with an empty answer.
pub(super) fn nowhere(title: String, text: &'static str) -> Box<dyn Plan> {
    let line = title.clone();
    let look = move |_: OpenConsent<'_>, _: &RunContext| Ok(ToolOutput::done(text, CallSummary::line(line)));
    Box::new(LookupPlan::many(Vec::new(), title, look))
}

impl DeepagentsOptions {
    /// In 0.4 a path that does not exist, or is not a directory, is listed as an empty directory; 0.7 reports it.
    fn or_nothing<T: Default>(&self, found: Result<T, ToolError>) -> Result<T, ToolError> {
        if self.is_newer() { found } else { or_nothing(found) }
    }
}

/// The default value if the path does not exist.
pub(super) fn or_nothing<T: Default>(found: Result<T, ToolError>) -> Result<T, ToolError> {
    match found {
        Err(e) if matches!(e.fault, CallFailure::Missing | CallFailure::NotDirectory) => Ok(T::default()),
        found => found,
    }
}

pub(super) fn glob(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    ForeignTool::new("glob", "Find files by a pattern, at any depth below a directory.", surface, plan_glob)
        .rule("find_files")
        .reading("path")
        .whole()
        .failing(|args, _, s, error| {
            failure("globbing path", args.path.as_deref().unwrap_or(s.start()), s, error)
        })
        .build()
}

fn plan_glob(args: &DeepagentsGlob, env: &ToolContext, surface: &Arc<DeepagentsOptions>) -> PlanResult {
    let (pattern, show) = surface.pattern(&args.pattern)?;
    let title = format!("glob {}", args.pattern);
    let Some(places) = or_nothing(surface.places(env, args.path.as_deref()).map(Some))? else {
        return Ok(nowhere(title, if surface.is_newer() { "No files found" } else { "[]" }));
    };
    let surface = Arc::clone(surface);
    let ats = places.iter().map(|place| place.at.clone()).collect();
    let look = move |consent: OpenConsent<'_>, ctx: &RunContext| {
        let (mut paths, mut gaps): (Vec<String>, _) = (Vec::new(), SkippedEntries::default());
        for place in &places {
            let (found, skipped) = or_nothing(find_paths(ctx, &place.at, consent, &pattern, show))?;
            paths.extend(found.iter().map(|p| surface.below(place, p)));
            gaps += skipped;
        }
        paths.sort();
        paths.dedup();
        let text = surface.list(&paths);
        let output = ToolOutput::lookup(format!("glob: {}", paths.len()), text);
        Ok(with_gaps(output, &gaps))
    };
    Ok(Box::new(LookupPlan::many(ats, title, look)))
}

impl DeepagentsOptions {
    /// In 0.4 a pattern matches at any depth. In 0.7 a pattern without a slash is a name at any depth, and a pattern
    /// with a slash is a path from the searched directory; a leading slash anchors it there. Only a dot matches the dot at
    /// the beginning of a name.
    fn pattern(&self, pattern: &str) -> Result<(PathGlob, WalkFilter), ToolError> {
        if !self.is_newer() {
            let (not, name) = pattern.strip_prefix('!').map_or(("", pattern), |name| ("!", name));
            return Ok((PathGlob::new(&format!("{not}**/{name}"))?, WalkFilter::All));
        }
        Ok((PathGlob::rooted(pattern)?.with_explicit_dots()?, WalkFilter::All))
    }

    /// A directory and the mounts that are below it.
    pub(super) fn places(
        &self,
        env: &ToolContext,
        path: Option<&str>,
    ) -> Result<Vec<DeepagentsPath>, ToolError> {
        let (named, mounts) = self.with_mounts(env, path)?;
        let mut places = vec![named];
        for mount in mounts {
            places.push(self.named(env, &mount)?);
        }
        Ok(places)
    }
}
