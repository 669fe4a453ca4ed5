//! Prompts of servers, typed as commands: `/server:prompt`. The text of the server becomes a message.

use super::custom::{self, CustomName};
use crate::agent::ApprovalReply;
use crate::conversation::{CallOutcome, Note, Part, text_of};
use crate::guidance::{Guidance, GuidanceOrigin};
use crate::mcp::{ServerPrompt, ServerPromptArgument};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::message::custom_prompt::CustomPrompt;
use crate::repl::prompt::words;
use crate::tools::{PROMPT_TOOL, ServerPool};
use serde_json::{Map, Value};
use thiserror::Error;

/// A prompt that a server offers, as far as stored lists say.
pub(crate) struct NamedPrompt {
    server: String,
    prompt: ServerPrompt,
}

/// The words do not fit the arguments of the prompt.
pub(crate) struct PromptUsageError {
    pub(crate) error: MissingPromptArgument,
    /// All arguments: `/server:prompt WHAT [HOW]`.
    pub(crate) usage: String,
}

impl NamedPrompt {
    /// The prompt that `server:prompt` names.
    pub(crate) fn of(name: &str, servers: &ServerPool) -> Option<NamedPrompt> {
        let (server, prompt) = name.split_once(':')?;
        let mut definitions = servers.definitions().filter(|definition| definition.is_enabled);
        definitions.find(|definition| definition.name == server)?;
        let known = servers.status(server).known?;
        let prompt = known.offers.prompts.into_iter().find(|one| one.name == prompt)?;
        Some(NamedPrompt { server: server.into(), prompt })
    }

    /// The command as it was typed.
    pub(crate) fn line(&self, rest: &str) -> String {
        format!("/{}:{} {rest}", self.server, self.prompt.name).trim_end().to_string()
    }

    /// What the tool that gets it is called with.
    pub(crate) fn input(&self, rest: &str) -> Result<Value, PromptUsageError> {
        let NamedPrompt { server, prompt } = self;
        let arguments = arguments_of(&prompt.arguments, &words(rest)).map_err(|error| {
            let usage = format!("/{server}:{} {}", prompt.name, shown_arguments(&prompt.arguments));
            PromptUsageError { error, usage }
        })?;
        Ok(serde_json::json!({ "server": server, "name": prompt.name, "arguments": arguments }))
    }
}

/// The message that a prompt makes.
pub(crate) fn prompt_parts(line: String, parts: Vec<Part>) -> Vec<Part> {
    let mut out = vec![Part::Note(Note::CustomCommand { line })];
    out.extend(parts);
    out
}

/// Runs the prompt of this name. `None` if no server has it.
pub(in crate::repl::commands) fn run(
    context: &mut CommandContext<'_>,
    name: &str,
    rest: &str,
) -> Option<SlashCommandResult> {
    let named = NamedPrompt::of(name, context.app.tools.servers)?;
    Some(get(context, &named, rest))
}

fn get(context: &mut CommandContext<'_>, named: &NamedPrompt, rest: &str) -> SlashCommandResult {
    let line = named.line(rest);
    let input = named
        .input(rest)
        .map_err(|PromptUsageError { error, usage }| CommandStop::with_hint(error.to_string(), usage))?;
    context.conversation.agent_for(&line, &context.output)?;
    let agent = context.conversation.agent.as_ref().ok_or(CommandStop::Cancelled)?;
    let (result, _) = context.call_for_person(agent, ("prompt", PROMPT_TOOL), input, ApprovalReply::Yes);
    if result.outcome != CallOutcome::Done {
        return Err(CommandStop::with_hint(result.reason(), "nothing was sent; `/mcp` shows the servers"));
    }
    let text = text_of(&result.parts);
    context.output.note(&format!("the server {} wrote this message", named.server));
    context.output.quote(&text);
    let parts = prompt_parts(line.clone(), result.parts);
    let (model, allowed) = (None, Vec::new());
    Ok(CommandFollowUp::Prompt(Box::new(CustomPrompt { line, text, parts, model, allowed })))
}

/// A required argument without a word.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the argument `{0}` is missing")]
pub(crate) struct MissingPromptArgument(String);

/// The words for the arguments, in their order; the last one gets the rest.
fn arguments_of(
    arguments: &[ServerPromptArgument],
    words: &[String],
) -> Result<Map<String, Value>, MissingPromptArgument> {
    let mut out = Map::new();
    for (at, argument) in arguments.iter().enumerate() {
        let is_last = at + 1 == arguments.len();
        let rest = words.get(at..).unwrap_or_default();
        let word = match (rest, is_last) {
            ([], _) if argument.is_required => return Err(MissingPromptArgument(argument.name.clone())),
            ([], _) => break,
            (rest, true) => rest.join(" "),
            ([first, ..], false) => first.clone(),
        };
        out.insert(argument.name.clone(), word.into());
    }
    Ok(out)
}

/// `WHAT [HOW]`
fn shown_arguments(arguments: &[ServerPromptArgument]) -> String {
    let shown = |one: &ServerPromptArgument| match one.is_required {
        true => one.name.to_uppercase(),
        false => format!("[{}]", one.name.to_uppercase()),
    };
    arguments.iter().map(shown).collect::<Vec<_>>().join(" ")
}

/// Everything that can be typed after `/` in addition to the built-in commands: commands and skills of files, and
/// prompts of servers. Lists that are stored are read, and no server is started.
pub(crate) fn own_names(guidance: &Guidance, servers: &ServerPool) -> Vec<CustomName> {
    let mut out = custom::names(guidance);
    for definition in servers.definitions().filter(|definition| definition.is_enabled) {
        let known = servers.status(&definition.name).known.unwrap_or_default();
        for prompt in known.offers.prompts {
            let name = format!("{}:{}", definition.name, prompt.name);
            if out.iter().any(|other| other.name == name) {
                continue;
            }
            let arguments = shown_arguments(&prompt.arguments);
            let about = match prompt.about.is_empty() {
                true => format!("a prompt of the server {}", definition.name),
                false => format!("server {}: {}", definition.name, prompt.about),
            };
            out.push(CustomName { name, arguments, about, origin: GuidanceOrigin::Own });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_arguments_in_their_order_and_the_last_gets_the_rest() {
        let argument = |name: &str, is_required| ServerPromptArgument { name: name.into(), is_required };
        let arguments = [argument("who", true), argument("how", false)];
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_string()).collect();
            arguments_of(&arguments, &words).map(|all| Value::Object(all).to_string())
        };
        assert_eq!(of(&[]), Err(MissingPromptArgument("who".into())));
        assert_eq!(of(&["me"]), Ok(r#"{"who":"me"}"#.into()));
        assert_eq!(of(&["me", "very", "much"]), Ok(r#"{"who":"me","how":"very much"}"#.into()));
        assert_eq!(shown_arguments(&arguments), "WHO [HOW]");
    }
}
