//! Commands that people write, and skills that are typed as commands: their text becomes a message.

use super::trust_question::{TrustedText, ask_trust};
use crate::agent::{ApprovalReply, command_output, command_parts, skill_parts};
use crate::conversation::{CallId, CallOutcome, Part};
use crate::guidance::{CommandFile, CommandPiece, GuidanceOrigin, Skill, SkillFileError};
use crate::permission::{Decision, PolicyQuestion};
use crate::repl::attach::{attach, mentioned, named_file};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::message::custom_prompt::CustomPrompt;
use crate::repl::prompt::words;
use crate::text::visible;
use crate::ui::line_ui;

/// The tool that runs the command lines in a command.
const RUN: &str = "run_command";

/// Runs the command or skill of this name. `None` if there is none.
pub(in crate::repl::commands) fn run(
    context: &mut CommandContext<'_>,
    name: &str,
    rest: &str,
) -> Option<SlashCommandResult> {
    let commands = context.app.guidance.commands();
    if let Some(command) = commands.find(name) {
        return Some(run_command_file(context, command, rest));
    }
    let skills = context.app.guidance.skills();
    let skill = skills.find(name)?;
    Some(run_skill(context, skill, rest))
}

/// The message of a skill: what was typed, and the text of the skill.
fn run_skill(context: &mut CommandContext<'_>, skill: &Skill, rest: &str) -> SlashCommandResult {
    let line = typed(&skill.name, rest);
    let mut parts = vec![Part::text(&line)];
    parts.extend(parts_of(context, skill)?);
    let (model, allowed) = (None, Vec::new());
    let prompt = CustomPrompt { text: line.clone(), line, parts, model, allowed };
    Ok(CommandFollowUp::Prompt(Box::new(prompt)))
}

/// The text of a skill for a message. A skill of a project is shown first, until the person trusts it.
pub(in crate::repl) fn parts_of(
    context: &CommandContext<'_>,
    skill: &Skill,
) -> Result<Vec<Part>, CommandStop> {
    let unread = |e: SkillFileError| CommandStop::error(format!("skill {}: {e}", skill.name));
    if !skill.is_trusted {
        let (path, file) = (skill.file(), format!("the skill {}", skill.name));
        let text = skill.for_trust().map_err(unread)?;
        ask_trust(context, &[TrustedText { what: file, path: &path, hash: &skill.hash, text: &text }])?;
    }
    let body = skill.body().map_err(unread)?;
    context.output.note(&format!("skill {}", skill.name));
    Ok(skill_parts(skill, &body))
}

fn typed(name: &str, rest: &str) -> String {
    format!("/{name} {rest}").trim_end().to_string()
}

fn run_command_file(
    context: &mut CommandContext<'_>,
    command: &CommandFile,
    rest: &str,
) -> SlashCommandResult {
    if !command.is_trusted {
        let what = format!("the command /{}", command.name);
        let text = shown_whole(command);
        ask_trust(context, &[TrustedText { what, path: &command.path, hash: &command.hash, text: &text }])?;
    }
    let line = typed(&command.name, rest);
    context.conversation.agent_for(&line, &context.output)?;
    let (mut text, mut files) = (String::new(), Vec::new());
    for piece in command.pieces(rest, &words(rest)) {
        match piece {
            CommandPiece::Text(piece) => {
                // Only what the file says names files, and never the output of a command line.
                files
                    .extend(mentioned(&piece).into_iter().filter(|path| named_file(context, path).is_some()));
                text.push_str(&piece);
            }
            CommandPiece::Run(command_line) => text.push_str(&output_of(context, command, &command_line)?),
        }
    }
    let mut parts = command_parts(&line, &text);
    for file in files {
        let attached = attach(context, &file);
        let nothing = "nothing was sent; change the command or remove the file";
        parts.extend(attached.map_err(|e| CommandStop::with_hint(format!("@{file}: {e}"), nothing))?);
    }
    let (model, allowed) = (command.model.clone(), command.allowed_commands());
    Ok(CommandFollowUp::Prompt(Box::new(CustomPrompt { line, text, parts, model, allowed })))
}

/// What the person trusts: the settings of the command and its text.
fn shown_whole(command: &CommandFile) -> String {
    let mut out = String::new();
    if let Some(model) = &command.model {
        out.push_str(&format!("model: {model}\n"));
    }
    let allowed = command.allowed_commands();
    if !allowed.is_empty() {
        out.push_str(&format!("runs without a question: {}\n", allowed.join(", ")));
    }
    out + command.body()
}

/// The output of a command line in a command, which runs through the gate of every call.
fn output_of(
    context: &CommandContext<'_>,
    command: &CommandFile,
    command_line: &str,
) -> Result<String, CommandStop> {
    let nothing = "nothing was sent";
    let agent = context.conversation.agent.as_ref().ok_or(CommandStop::Cancelled)?;
    let reach = vec![context.app.builder.command_access(command_line.into())];
    let call = CallId::new("custom-command");
    let decision = context.app.with_policy(|policy| {
        policy.at(jiff::Timestamp::now());
        policy.decide(&call, RUN, reach)
    });
    let reply = match decision {
        Decision::Allow(_) => ApprovalReply::Nobody,
        // The rule's own words come with the refused call.
        Decision::Deny(_) => ApprovalReply::Nobody,
        Decision::Ask(question) => {
            if !is_approved(context, command, command_line, &question) {
                return Err(CommandStop::note(nothing));
            }
            ApprovalReply::Yes
        }
    };
    let input = serde_json::json!({ "command": command_line });
    let (result, _) = context.call_for_person(agent, ("custom-command", RUN), input, reply);
    if result.outcome == CallOutcome::Denied {
        let message = format!("/{}: `{}`: {}", command.name, command_line, result.body());
        return Err(CommandStop::with_hint(visible::line(&message).into_owned(), nothing));
    }
    if result.outcome == CallOutcome::Interrupted {
        return Err(CommandStop::note(format!("stopped {}; {nothing}", visible::line(command_line))));
    }
    context.output.note(&format!("ran {}", visible::line(command_line)));
    Ok(command_output(&result))
}

/// Asks about a command line. A line that destroys the workspace or the home needs the word that a call of the model
/// needs, because a file of a project can contain it.
fn is_approved(
    context: &CommandContext<'_>,
    command: &CommandFile,
    command_line: &str,
    question: &PolicyQuestion,
) -> bool {
    context.output.note(&format!("/{} wants to run: {}", command.name, visible::line(command_line)));
    context.output.hint(&format!("asks because: {}", visible::line(&question.reason)));
    let word = question.typed.as_deref().unwrap_or("yes");
    let asked = format!("Type `{}` to run it, Enter to stop: ", visible::line(word));
    line_ui::consent(&asked).is_some_and(|answer| answer.trim() == word.trim())
}

/// The commands and skills that can be typed, with a description: the built-in commands replace those of the same name.
pub(in crate::repl) fn names(context_guidance: &crate::guidance::Guidance) -> Vec<CustomName> {
    let (commands, skills) = (context_guidance.commands(), context_guidance.skills());
    let of_commands = commands.commands.iter().map(|command| CustomName {
        name: command.name.clone(),
        arguments: command.arguments.clone(),
        about: command.description.clone(),
        origin: command.origin,
    });
    let of_skills = skills.skills.iter().map(|skill| CustomName {
        name: skill.name.clone(),
        arguments: String::new(),
        about: if skill.description.is_empty() {
            "skill".into()
        } else {
            format!("skill: {}", skill.description)
        },
        origin: skill.origin,
    });
    let mut out: Vec<CustomName> = Vec::new();
    for name in of_commands.chain(of_skills) {
        if !out.iter().any(|known| known.name == name.name) {
            out.push(name);
        }
    }
    out
}

/// A name that can be typed after `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CustomName {
    pub(crate) name: String,
    pub(in crate::repl) arguments: String,
    pub(in crate::repl) about: String,
    pub(in crate::repl) origin: GuidanceOrigin,
}
