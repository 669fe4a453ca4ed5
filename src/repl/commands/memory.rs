//! `/init` and `/remember`: text for the agent, as a change of a file that the person reviews.

use crate::agent::{TurnStart, command_parts};
use crate::guidance::{ProjectFacts, instruction_file_of};
use crate::provider::OfflineProvider;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::message::custom_prompt::CustomPrompt;
use crate::tools::{INIT_TOOL, REMEMBER_TOOL};
use serde_json::json;
use std::path::{Path, PathBuf};

const OWN: &str = "--own";

pub(super) fn remember(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (scope, text) = match rest.strip_prefix(OWN) {
        Some(text) if text.is_empty() || text.starts_with(char::is_whitespace) => ("person", text.trim()),
        _ => ("project", rest),
    };
    if text.is_empty() {
        let hint = "for example: /remember run the tests with `just test`";
        return Err(CommandStop::with_hint("/remember needs a text", hint));
    }
    let line = format!("/remember {rest}");
    context.conversation.agent_for(&line, &context.output)?;
    let input = json!({ "text": text, "scope": scope });
    Ok(CommandFollowUp::Turn(TurnStart::Call { text: line, tool: REMEMBER_TOOL.into(), input }))
}

/// A draft of what can be known without a model; with a model, the request to write one.
pub(super) fn init(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let root = root(context);
    let facts = ProjectFacts::read(&root);
    let file = instruction_file_of(context.app.cwd(), &root);
    let has_model = context.conversation.answered_by().0 != OfflineProvider::NAME;
    match rest {
        "" if has_model => Ok(request(&facts, &file)),
        "" | "draft" => draft(context, &facts, &root, &file),
        other => {
            let what = format!("unknown argument `{other}` of /init");
            Err(CommandStop::with_hint(what, "use /init, or /init draft to use no model"))
        }
    }
}

/// The highest directory of the project that belongs to the workspace.
fn root(context: &CommandContext<'_>) -> PathBuf {
    let (root, cwd) = (context.app.guidance.root(), context.app.cwd());
    let mut roots = context.app.workspace.roots().iter();
    if roots.any(|workspace| root.starts_with(workspace)) { root.into() } else { cwd.into() }
}

/// Writes the facts into a new file, which stays pending until the person applies it.
fn draft(
    context: &mut CommandContext<'_>,
    facts: &ProjectFacts,
    root: &Path,
    file: &Path,
) -> SlashCommandResult {
    let target = root.join("AGENTS.md");
    if target.exists() {
        return Err(CommandStop::note(
            "this project has an AGENTS.md already, and /init without a model changes nothing in it: /remember TEXT \
             adds a line, /view AGENTS.md shows the file; with a model, /init proposes how to complete it",
        ));
    }
    let mut content = facts.draft();
    // A file of another program is read only where no AGENTS.md is: the new file imports it.
    if file.exists() && file.parent() == Some(root) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        content.push_str(&format!("\n## Further instructions\n\nSee @{name}.\n"));
    } else if facts.is_empty() {
        let hint = "write AGENTS.md yourself, or choose a model with /setup and repeat /init";
        return Err(CommandStop::with_hint("no build file, no CI and no directory was found here", hint));
    }
    context.conversation.agent_for("/init", &context.output)?;
    let input = json!({ "path": target.to_string_lossy(), "content": content });
    Ok(CommandFollowUp::Turn(TurnStart::Call { text: "/init".into(), tool: INIT_TOOL.into(), input }))
}

/// The message that asks the model for a proposal, with what placet knows already.
fn request(facts: &ProjectFacts, file: &Path) -> CommandFollowUp {
    let text = include_str!("../../../prompts/init.md")
        .replace("{file}", &file.display().to_string())
        .replace("{facts}", facts.sections().trim());
    let line = "/init".to_string();
    let parts = command_parts(&line, &text);
    CommandFollowUp::Prompt(Box::new(CustomPrompt { line, text, parts, model: None, allowed: Vec::new() }))
}
