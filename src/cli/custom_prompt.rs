//! `placet -p '/NAME ARGUMENTS'`: a command or skill that a person wrote, without a screen. Nobody can be asked: a file of
//! a project must be trusted already, and a command line in it runs only if the rules allow it.

use super::report::{self, CliError, warn};
use crate::agent::{Agent, ApprovalReply, call_with_summary, command_output, command_parts, skill_parts};
use crate::app::App;
use crate::conversation::{CallId, CallInput, CallOutcome, Part, ToolCall};
use crate::guidance::{CommandFile, CommandPiece, Skill};
use crate::permission::{Grant, GrantLimit, Rule, RuleVerdict};
use crate::provider::catalog;
use crate::repl::{COMMANDS, may_name_skills, named_skills, words};
use crate::text::visible;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The parts of the message that `prompt` makes. `None` if it names no command and no skill: then it is a message as it
/// is, such as one that begins with a path.
pub(super) fn parts(
    prompt: &str,
    (app, runtime): (&App, &Runtime),
    agent: &mut Agent,
    stop: &CancellationToken,
) -> Result<Option<Vec<Part>>, CliError> {
    let Some(rest) = prompt.strip_prefix('/') else { return with_named_skills(prompt, agent) };
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // As in the shell: a file replaces no built-in command.
    if COMMANDS.iter().any(|row| row.name == name) {
        return Ok(None);
    }
    let guidance = Arc::clone(&agent.env().guidance);
    if let Some(command) = guidance.commands().find(name) {
        return of_command(command, arguments.trim(), (app, runtime), agent, stop).map(Some);
    }
    guidance.skills().find(name).map(|skill| of_skill(skill, prompt)).transpose()
}

/// A message with the skills that it names as `$NAME`. The text of one that is not trusted is left out and reported: the
/// word may as well be a variable that the message is about.
fn with_named_skills(prompt: &str, agent: &Agent) -> Result<Option<Vec<Part>>, CliError> {
    if !may_name_skills(prompt) {
        return Ok(None);
    }
    let named = named_skills(prompt, &agent.env().guidance.skills());
    let (trusted, others): (Vec<Skill>, Vec<Skill>) = named.into_iter().partition(|skill| skill.is_trusted);
    for skill in others {
        let (name, file) = (visible::line(&skill.name), visible::path(&skill.file()));
        warn(&format!("note: the skill {name} of {file} is not trusted: its text is not sent"));
    }
    let mut parts = vec![Part::text(prompt)];
    for skill in &trusted {
        let body = skill.body().map_err(|e| CliError::new(format!("skill {}: {e}", skill.name)))?;
        parts.extend(skill_parts(skill, &body));
    }
    Ok(Some(parts).filter(|parts| parts.len() > 1))
}

fn untrusted(what: &str, path: &Path) -> CliError {
    let message = format!("{what} of {} is not trusted, so nothing was sent", visible::path(path));
    CliError { code: report::REFUSED, ..CliError::new(message) }
        .hint("use it once in the shell, which shows its text and asks")
}

fn of_skill(skill: &Skill, prompt: &str) -> Result<Vec<Part>, CliError> {
    if !skill.is_trusted {
        return Err(untrusted(&format!("the skill {}", skill.name), &skill.file()));
    }
    let body = skill.body().map_err(|e| CliError::new(format!("skill {}: {e}", skill.name)))?;
    let mut parts = vec![Part::text(prompt)];
    parts.extend(skill_parts(skill, &body));
    Ok(parts)
}

fn of_command(
    command: &CommandFile,
    arguments: &str,
    (app, runtime): (&App, &Runtime),
    agent: &mut Agent,
    stop: &CancellationToken,
) -> Result<Vec<Part>, CliError> {
    if !command.is_trusted {
        return Err(untrusted(&format!("the command /{}", command.name), &command.path));
    }
    let mut text = String::new();
    for piece in command.pieces(arguments, &words(arguments)) {
        match piece {
            CommandPiece::Text(piece) => text.push_str(&piece),
            CommandPiece::Run(line) => {
                text.push_str(&output_of(command, &line, (app, runtime), agent, stop)?)
            }
        }
    }
    switch_model(command, app, agent);
    let mut policy = app.policy.lock().unwrap_or_else(PoisonError::into_inner);
    for pattern in command.allowed_commands() {
        if Rule::parse(&format!("run({pattern})"), RuleVerdict::Allow, "command", &[]).is_ok() {
            // The process ends with the turn, and the grant with the process.
            policy.give(Grant::Pattern { patterns: vec![pattern] }, GrantLimit::Session);
        }
    }
    let line = format!("/{} {arguments}", command.name).trim_end().to_string();
    Ok(command_parts(&line, &text))
}

/// The output of a command line, which runs through the gate of every call.
fn output_of(
    command: &CommandFile,
    line: &str,
    (app, runtime): (&App, &Runtime),
    agent: &Agent,
    stop: &CancellationToken,
) -> Result<String, CliError> {
    let input = CallInput::Object(serde_json::json!({ "command": line }));
    let call = ToolCall { id: CallId::new("custom-command"), name: "run_command".into(), input };
    let (registry, env) = (Arc::new(app.registry.for_person()), Arc::clone(agent.env()));
    let (policy, origin) = (Arc::clone(&app.policy), agent.call_origin());
    let running = call_with_summary(registry, env, policy, origin, call, ApprovalReply::Nobody, stop.clone());
    let (result, shown) = runtime.block_on(running);
    if result.outcome == CallOutcome::Denied {
        let message = format!("/{}: `{line}`: {}", command.name, result.body());
        return Err(
            CliError { code: report::REFUSED, ..CliError::new(message.trim_end()) }.hint("nothing was sent")
        );
    }
    Ok(command_output(&result, shown.as_ref()))
}

/// Lets the model of the command answer, if the provider lists it.
fn switch_model(command: &CommandFile, app: &App, agent: &mut Agent) {
    let Some(model) = &command.model else { return };
    let present = agent.answerer();
    let provider = present.provider.name().to_string();
    if present.model.name == *model {
        return;
    }
    let is_known = catalog::of_provider(&provider).iter().any(|(id, _)| *id == model.as_str());
    let chosen = match is_known {
        true => app.answerer(Some(&provider), Some(model)).map_err(|e| e.to_string()),
        false => Err(format!("{provider} does not list it")),
    };
    match chosen {
        Ok(chosen) => agent.switch(chosen.provider, chosen.model, chosen.max_output),
        Err(why) => warn(&format!(
            "note: the command asks for the model {}: {}; {} answers",
            visible::line(model),
            visible::line(&why),
            visible::line(&present.model.name)
        )),
    }
}
