//! exec.write, exec.read, exec.run, exec.ls: a separate workspace for experiments, outside of the project.
//!
//! The exec workspace is in the session's temporary directory, which file tools and commands share: its files are never
//! part of the project or of what is pending. The registries of package managers are on the list of hosts that the
//! permission question shows.

use super::super::super::{CallSummary, PlanResult, RunContext, Tool, ToolContext, ToolError, ToolOutput};
use super::command::words;
use super::files::{NOT_THERE, planned, read};
use super::missing_argument::missing;
use super::state::TriggerfishState;
use crate::command::run;
use crate::command::run::RunPlan;
use crate::files::edit::UnreadPolicy;
use crate::files::lookup::{ExpectedKind, LookupPlan, rows};
use crate::files::write::{WriteFileMode, WritePlan};
use crate::toolset::foreign_tool::ForeignTool;
use placet_workspace::{OpenConsent, ResolvedPath, WalkEntryKind, WalkFilter};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Entries listed.
const MOST: usize = 2000;
/// The registry hosts that each package manager needs.
const REGISTRIES: [(&str, &[&str]); 10] = [
    ("npm", &["registry.npmjs.org"]),
    ("npx", &["registry.npmjs.org"]),
    ("pnpm", &["registry.npmjs.org"]),
    ("yarn", &["registry.npmjs.org", "registry.yarnpkg.com"]),
    ("pip", &["pypi.org", "files.pythonhosted.org"]),
    ("pip3", &["pypi.org", "files.pythonhosted.org"]),
    ("uv", &["pypi.org", "files.pythonhosted.org"]),
    ("cargo", &["index.crates.io", "static.crates.io"]),
    ("go", &["proxy.golang.org", "sum.golang.org"]),
    ("gem", &["rubygems.org"]),
];

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishExecWrite {
    /// Relative to the exec workspace.
    path: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishExecRead {
    path: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishExecLs {
    path: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishExecRun {
    command: String,
    /// Directory in the exec workspace.
    cwd: Option<String>,
}

pub(super) fn tools(surface: &Arc<TriggerfishState>) -> Vec<Arc<dyn Tool>> {
    vec![
        ForeignTool::new("exec.write", "Write a file in the exec workspace.", surface, plan_write)
            .rule("write_file")
            .checking(|input| missing(input, "exec.write", &["path"]))
            .answer("Wrote {size} bytes to {path}")
            .errors(NOT_THERE)
            .build(),
        ForeignTool::new("exec.read", "Read a file of the exec workspace.", surface, plan_read)
            .rule("read_file")
            .errors(NOT_THERE)
            .build(),
        ForeignTool::new(
            "exec.run",
            "Run a command in the exec workspace: tests, package installation.",
            surface,
            plan_run,
        )
        .rule("run_command")
        .saying(|_, _, said| words(said))
        .build(),
        ForeignTool::new("exec.ls", "List the exec workspace: name, size, isDirectory.", surface, plan_ls)
            .whole()
            .rule("list_directory")
            .errors(NOT_THERE)
            .build(),
    ]
}

/// The directory of the exec workspace; created on first use.
fn root(env: &ToolContext) -> Result<PathBuf, ToolError> {
    let none = || ToolError::new("there is no exec workspace: this session has no view");
    let dir = env.workspace.view().ok_or_else(none)?.scratch().map(|scratch| scratch.join("exec"));
    let dir = dir.map_err(|e| ToolError::new(format!("the exec workspace cannot be made: {e}")))?;
    let dir = std::fs::create_dir_all(&dir).and_then(|()| std::fs::canonicalize(&dir));
    let dir = dir.map_err(|e| ToolError::new(format!("the exec workspace cannot be made: {e}")))?;
    // Calls name files by their path in the exec workspace, and no message names the directory on disk.
    env.workspace.name_directory("exec", &dir);
    Ok(dir)
}

fn inside(env: &ToolContext, written: &str) -> Result<ResolvedPath, ToolError> {
    let root = root(env)?;
    let escapes = || ToolError::worded(format!("Path \"{written}\" escapes the workspace directory"));
    let relative = written.trim_start_matches('/');
    let mut at = env.resolve(&root.join(relative).to_string_lossy()).map_err(|_| escapes())?;
    if !at.path.starts_with(&root) {
        return Err(escapes());
    }
    at.written = relative.to_string();
    Ok(at)
}

fn plan_write(args: &TriggerfishExecWrite, env: &ToolContext, _: &Arc<TriggerfishState>) -> PlanResult {
    planned(env, "exec.write")?;
    let at = inside(env, &args.path)?;
    let place = (at, args.path.clone());
    let plan =
        WritePlan::at(place, args.content.clone(), WriteFileMode::Overwrite, UnreadPolicy::Allow, env)?;
    Ok(Box::new(plan))
}

fn plan_read(args: &TriggerfishExecRead, env: &ToolContext, _: &Arc<TriggerfishState>) -> PlanResult {
    let at = inside(env, &args.path)?;
    let title = format!("exec.read {}", args.path);
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::File, |at, consent, ctx| {
        read(at, consent, &ctx.env)
    })))
}

fn plan_run(args: &TriggerfishExecRun, env: &ToolContext, surface: &Arc<TriggerfishState>) -> PlanResult {
    surface.permitted(&args.command)?;
    let cwd = Some(inside(env, args.cwd.as_deref().unwrap_or(""))?.path.to_string_lossy().into_owned());
    let (command, network) = (args.command.clone(), Some(registries(&args.command)));
    let args = run::Args { command, cwd, network, ..run::Args::default() };
    Ok(Box::new(RunPlan::new(args, env)?))
}

/// The hosts that the package managers in a line need.
fn registries(line: &str) -> Vec<String> {
    let words = line.split(|c: char| !(c.is_alphanumeric() || "._-/".contains(c)));
    let programs: Vec<&str> = words.filter_map(|word| word.rsplit('/').next()).collect();
    let mut hosts: Vec<String> = Vec::new();
    for (_, needed) in REGISTRIES.iter().filter(|(program, _)| programs.contains(program)) {
        for host in *needed {
            if !hosts.iter().any(|known| known == host) {
                hosts.push((*host).into());
            }
        }
    }
    hosts
}

fn plan_ls(args: &TriggerfishExecLs, env: &ToolContext, _: &Arc<TriggerfishState>) -> PlanResult {
    let at = inside(env, args.path.as_deref().unwrap_or(""))?;
    let look = |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let (rows, _) = rows(&ctx.env, at, consent, (WalkFilter::All, 1, MOST))?;
        let one = |row: &crate::files::lookup::ListingEntry| {
            json!({"name": row.relative.plain(), "size": row.stat.map_or(0, |s| s.size),
                "isDirectory": row.kind == WalkEntryKind::Directory})
        };
        let list: Vec<_> = rows.iter().take(MOST).map(one).collect();
        let line = format!("exec.ls: {}", list.len());
        Ok(ToolOutput::done(serde_json::Value::Array(list).to_string(), CallSummary::line(line)))
    };
    Ok(Box::new(LookupPlan::new(at, "exec.ls".into(), ExpectedKind::Directory, look)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_manager_gets_its_registries_and_other_commands_nothing() {
        assert_eq!(registries("cd app && npm install"), ["registry.npmjs.org"]);
        assert_eq!(registries("/usr/bin/pip3 install x"), ["pypi.org", "files.pythonhosted.org"]);
        assert!(registries("echo gopher cargoes").is_empty());
    }
}
