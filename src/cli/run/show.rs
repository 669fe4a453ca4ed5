//! `placet run --list` and `--dry-run`: what would run, without running it.

use super::args::RunArgs;
use super::plan::ProgramPlan;
use super::preset::RunPreset;
use super::program;
use crate::app::App;
use crate::cli::command_line::options::OutputFormat;
use crate::cli::report::{self, CliError, print, print_list};
use crate::sandbox::{PortMapping, withheld_secrets};
use crate::text::{visible, width};
use serde_json::json;
use std::path::Path;

/// Each preset, and where its program is.
pub(super) fn list(app: &App, format: OutputFormat) -> Result<u8, CliError> {
    let presets = RunPreset::all(&app.config)?;
    let found = |preset: &RunPreset| program::find(&preset.program, app.cwd());
    if format != OutputFormat::Text {
        let rows: Vec<_> = presets
            .values()
            .map(|preset| json!({"name": preset.name, "program": preset.program, "path": found(preset), "hosts": preset.hosts}))
            .collect();
        print(&(serde_json::to_string_pretty(&rows).map_err(CliError::new)? + "\n"))?;
        return Ok(report::DONE);
    }
    let widest = presets.keys().map(|name| width::of(name)).max().unwrap_or(0);
    let row = |preset: &RunPreset| {
        let place = found(preset).map_or_else(|| "not installed".into(), |path| visible::path(&path));
        let gap = " ".repeat(widest.saturating_sub(width::of(&preset.name)) + 2);
        format!("{}{gap}{place}\n", visible::name(&preset.name))
    };
    print_list(&presets.values().map(row).collect::<String>())?;
    Ok(report::DONE)
}

/// What the program would get.
pub(super) fn dry_run(
    app: &App,
    plan: &ProgramPlan,
    args: &RunArgs,
    format: OutputFormat,
) -> Result<u8, CliError> {
    let withheld = withheld(app, plan);
    let empty = RunPreset::default();
    let preset = plan.preset.as_ref().unwrap_or(&empty);
    let hosts: Vec<&str> =
        plan.hosts.iter().map(String::as_str).chain(app.config.settings().sandbox.hosts.iter()).collect();
    let roots: Vec<String> = app.workspace.roots().iter().map(|root| visible::path(root)).collect();
    if format != OutputFormat::Text {
        let object = json!({
            "program": plan.program,
            "command": plan.line,
            "workspace": roots,
            "hosts": hosts,
            "publish": plan.published.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "environment": {"set": preset.environment, "passed": plan.keys_set(), "withheld": withheld},
            "readable": plan.access.readable,
            "keep": preset.keep,
            "credentials": preset.credentials,
            "later": preset.later,
            "later_keys": preset.later_keys,
            "then": then(args),
        });
        print(&(serde_json::to_string_pretty(&object).map_err(CliError::new)? + "\n"))?;
        return Ok(report::DONE);
    }
    let below_home = |paths: &[String]| paths.iter().map(|path| format!("~/{path}")).collect::<Vec<_>>();
    let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut rows: Vec<(&str, Vec<String>)> = vec![
        ("command", vec![plan.line.clone()]),
        ("workspace", roots),
        ("network", owned(&hosts)),
        ("variables", preset.environment.iter().cloned().chain(owned(&plan.keys_set())).collect()),
        ("not passed", withheld),
        ("credentials", below_home(&preset.credentials)),
        ("kept", below_home(&preset.keep)),
        ("runs later", below_home(&preset.later).into_iter().chain(below_home(&preset.later_keys)).collect()),
        ("home", vec![home(app, plan).into()]),
        ("afterwards", vec![then(args).into()]),
    ];
    if !plan.published.is_empty() {
        let shown = |port: &PortMapping| format!("port {} at {}", port.inside, port.url());
        rows.insert(3, ("published", plan.published.iter().map(shown).collect()));
    }
    let mut out = String::new();
    for (name, lines) in rows {
        let none = vec![String::from("none")];
        for (number, line) in (if lines.is_empty() { &none } else { &lines }).iter().enumerate() {
            let name = if number == 0 { name } else { "" };
            out.push_str(&format!("{name:<12} {}\n", visible::guard_line(line)));
        }
    }
    out.push_str("nothing was run (--dry-run)\n");
    print_list(&out)?;
    Ok(report::DONE)
}

/// Names of variables that look like secrets and are not passed.
fn withheld(app: &App, plan: &ProgramPlan) -> Vec<String> {
    let keep = app.config.settings().sandbox.keep_env.iter().map(String::from);
    let keep: Vec<String> = keep.chain(plan.access.variables.clone()).collect();
    withheld_secrets(std::env::vars_os(), &keep)
}

fn home(app: &App, plan: &ProgramPlan) -> &'static str {
    match (plan.own_home(app).map(Path::is_dir), &plan.preset) {
        (Some(true), Some(_)) => "other changes end with the run",
        (Some(true), None) => "changes are never applied",
        _ => "part of the workspace: all changes are asked about",
    }
}

fn then(args: &RunArgs) -> &'static str {
    match (args.apply, args.discard) {
        (true, _) => "changes are applied",
        (_, true) => "changes are discarded",
        _ => "placet asks what becomes of the changes",
    }
}
