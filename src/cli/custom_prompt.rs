//! `placet -p '/NAME ARGUMENTS'`: a command or skill that a person wrote, or a prompt of a server, without a screen; and
//! resources of servers that a message names. Nobody can be asked: a file of a project must be trusted already, and a
//! command line in it, or a call of a server, runs only if the rules allow it.

use super::report::{self, CliError, warn};
use crate::agent::{Agent, ApprovalReply, SingleCall, command_output, command_parts, skill_parts};
use crate::app::App;
use crate::conversation::{CallId, CallInput, CallOutcome, CallResult, Part, ToolCall};
use crate::guidance::{CommandFile, CommandPiece, Skill};
use crate::permission::{Grant, GrantLimit, Rule, RuleVerdict};
use crate::provider::catalog;
use crate::repl::{
    AttachError, COMMANDS, MentionedResource, NamedPrompt, PromptUsageError, attached_parts, may_name_skills,
    mentioned, named_skills, own_names, prompt_parts, words,
};
use crate::text::{nearest, visible};
use crate::tools::{CallSummary, PROMPT_TOOL, RESOURCE_TOOL};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The parts of the message that `prompt` makes. `None` if it names nothing that placet adds: then it is a message as it
/// is, such as one that begins with a path. A name that means nothing is an error: a model would guess what it meant.
pub(super) fn parts(
    prompt: &str,
    (app, runtime): (&App, &Runtime),
    agent: &mut Agent,
    stop: &CancellationToken,
) -> Result<Option<Vec<Part>>, CliError> {
    let Some(rest) = prompt.strip_prefix('/') else { return said(prompt, (app, runtime), agent, stop) };
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // As in the shell: a file replaces no built-in command.
    let is_built_in = COMMANDS.iter().any(|row| row.name == name);
    if is_built_in {
        return Err(unsent(format!("`/{name}` works only in the shell")));
    }
    let guidance = Arc::clone(&agent.env().guidance);
    if let Some(command) = guidance.commands().find(name) {
        return of_command(command, arguments.trim(), (app, runtime), agent, stop).map(Some);
    }
    if let Some(skill) = guidance.skills().find(name) {
        return of_skill(skill, prompt).map(Some);
    }
    if let Some(named) = NamedPrompt::of(name, &agent.env().servers) {
        return of_prompt(&named, arguments.trim(), (app, runtime), agent, stop).map(Some);
    }
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
    let is_path = || Path::new("/").join(name).symlink_metadata().is_ok();
    match name.is_empty() || !name.bytes().all(is_name) || is_path() {
        true => said(prompt, (app, runtime), agent, stop),
        false => Err(unknown(name, agent)),
    }
}

/// An error before anything was sent. The same text on standard input is sent as it is.
fn unsent(message: String) -> CliError {
    CliError::usage(format!("{message}, so nothing was sent"))
        .hint("to send it as text, write it to standard input of `placet -p -`")
}

/// Nothing has the name of a command.
fn unknown(name: &str, agent: &Agent) -> CliError {
    let env = agent.env();
    let server = name.split_once(':').map(|(server, _)| server).filter(|server| {
        env.servers.definitions().any(|definition| definition.name == *server && definition.is_enabled)
    });
    if let Some(server) = server {
        return CliError::usage(format!("placet knows no prompt `/{name}`, so nothing was sent"))
            .hint(format!("`placet mcp test {server}` reads what the server offers now"));
    }
    let names = own_names(&env.guidance, &env.servers);
    let near = nearest(name, names.iter().map(|known| known.name.as_str()));
    match near.map(|near| visible::line(near).into_owned()) {
        Some(near) => CliError::usage(format!("there is no command `/{name}`, so nothing was sent"))
            .hint(format!("did you mean `/{near}`?")),
        None => unsent(format!("there is no command `/{name}`")),
    }
}

/// A message with the skills and resources that it names.
fn said(
    prompt: &str,
    (app, runtime): (&App, &Runtime),
    agent: &Agent,
    stop: &CancellationToken,
) -> Result<Option<Vec<Part>>, CliError> {
    let mut parts = with_named_skills(prompt, agent)?;
    for mention in mentioned(prompt) {
        let servers = &agent.env().servers;
        let Some(resource) = MentionedResource::of(&mention, servers) else { continue };
        if app.cwd().join(&mention).symlink_metadata().is_ok() {
            continue;
        }
        let failed =
            |why: &dyn fmt::Display| CliError::new(format!("@{mention}: {why}")).hint("nothing was sent");
        if let Some(why) = resource.missing_value(servers) {
            return Err(failed(&why));
        }
        let (result, _) = call(RESOURCE_TOOL, resource.input(), (app, runtime), agent, stop);
        refusal(&format!("@{mention}"), &result)?;
        let attached = attached_parts(agent, result, &mention).map_err(|why: AttachError| failed(&why))?;
        parts.get_or_insert_with(|| vec![Part::text(prompt)]).extend(attached);
    }
    Ok(parts)
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

/// The message of a prompt of a server.
fn of_prompt(
    named: &NamedPrompt,
    arguments: &str,
    (app, runtime): (&App, &Runtime),
    agent: &Agent,
    stop: &CancellationToken,
) -> Result<Vec<Part>, CliError> {
    let input = named.input(arguments).map_err(|PromptUsageError { error, usage }| {
        CliError::usage(format!("{error}, so nothing was sent")).hint(usage)
    })?;
    let (result, _) = call(PROMPT_TOOL, input, (app, runtime), agent, stop);
    let line = named.line(arguments);
    refusal(&line, &result)?;
    match result.outcome {
        CallOutcome::Done => Ok(prompt_parts(line, result.parts)),
        _ => Err(CliError::new(format!("{line}: {}", result.reason())).hint("nothing was sent")),
    }
}

/// The output of a command line, which runs through the gate of every call.
fn output_of(
    command: &CommandFile,
    line: &str,
    (app, runtime): (&App, &Runtime),
    agent: &Agent,
    stop: &CancellationToken,
) -> Result<String, CliError> {
    let input = serde_json::json!({ "command": line });
    let (result, _) = call("run_command", input, (app, runtime), agent, stop);
    refusal(&format!("/{}: `{line}`", command.name), &result)?;
    Ok(command_output(&result))
}

/// A call of one of placet's own tools, through the gate of every call, where nobody can be asked.
fn call(
    tool: &str,
    input: serde_json::Value,
    (app, runtime): (&App, &Runtime),
    agent: &Agent,
    stop: &CancellationToken,
) -> (CallResult, Option<CallSummary>) {
    let call =
        ToolCall { id: CallId::new("custom-command"), name: tool.into(), input: CallInput::Object(input) };
    let (registry, env) = (Arc::new(app.registry.for_person()), Arc::clone(agent.env()));
    let (policy, origin) = (Arc::clone(&app.policy), agent.call_origin());
    let (reply, cancel) = (ApprovalReply::Nobody, stop.clone());
    let single = SingleCall { registry, env, policy, origin, call, reply, cancel };
    runtime.block_on(single.run(warn))
}

/// What the rules do not allow.
fn refusal(what: &str, result: &CallResult) -> Result<(), CliError> {
    if result.outcome != CallOutcome::Denied {
        return Ok(());
    }
    let message = format!("{what}: {}", result.body());
    Err(CliError { code: report::REFUSED, ..CliError::new(message.trim_end()) }.hint("nothing was sent"))
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
