//! `placet permission`: the rules, and how a command would be judged. Runs nothing.

use super::command_line::args::PermissionCommand;
use super::command_line::options::Options;
use super::report::{self, CliError, print_foreign, print_list};
use super::startup::start;
use crate::permission::{Access, Policy};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::PoisonError;

pub(super) fn run(command: PermissionCommand, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let policy = app.policy.lock().unwrap_or_else(PoisonError::into_inner);
    match command {
        PermissionCommand::Check { command, view, no_view, json } => {
            let reach = match view || no_view {
                true => Access::Run { command, cwd: app.cwd().to_path_buf(), confined: view },
                false => app.command_access(command),
            };
            let explained = policy.explain("run_command", &reach);
            match json {
                true => {
                    print_foreign(
                        &(serde_json::to_string_pretty(&explained).map_err(CliError::new)? + "\n"),
                    )?;
                }
                false => print_list(&explained.to_string())?,
            }
            Ok(if explained.verdict == "allow" { report::DONE } else { report::REFUSED })
        }
        PermissionCommand::List { json } => {
            match json {
                true => print_foreign(&as_json(&policy)?)?,
                false => print_list(&as_text(&policy))?,
            }
            Ok(report::DONE)
        }
    }
}

fn as_text(policy: &Policy) -> String {
    let mut out = format!("mode   {}\n", policy.mode());
    for rule in policy.rules() {
        let reason = rule.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        let _ = writeln!(out, "{:<5}  {}  ({}){reason}", rule.verdict.name(), rule.text, rule.origin);
    }
    out
}

fn as_json(policy: &Policy) -> Result<String, CliError> {
    let rules: Vec<serde_json::Value> = policy
        .rules()
        .iter()
        .map(|r| json!({"verdict": r.verdict.name(), "rule": r.text, "origin": r.origin, "reason": r.reason}))
        .collect();
    let all = json!({"mode": policy.mode().name(), "rules": rules});
    Ok(serde_json::to_string_pretty(&all).map_err(CliError::new)? + "\n")
}
