//! The shell's own commands: one table for running, completing, `/help`, the manual page and the reference.

use super::{
    Shell, branches, changes, commands, context, cost, jobs, keys, permission, session, taint, theme,
    transcript, view,
};
use crate::agent::TurnStart;
use crate::permission::Mode;
use crate::provider::ProviderPreset;
use crate::text::nearest;

/// What a command asks for after it ran: nothing, or a turn.
pub(super) type CommandFollowUp = Option<TurnStart>;

pub struct SlashCommand {
    pub name: &'static str,
    pub arguments: &'static str,
    pub help: &'static str,
    /// Words that complete the argument.
    pub words: fn() -> Vec<String>,
    run: fn(&mut Shell<'_>, &str) -> CommandFollowUp,
}

pub const COMMANDS: &[SlashCommand] = &[
    row("help", "", "what can be typed here", none, commands::help),
    row("mode", "[MODE]", "show or change how far calls may reach", modes, commands::mode),
    row("cd", "[DIR]", "where this conversation works, and how to work elsewhere", none, session::cd),
    row(
        "plan",
        "[on|approve|reject]",
        "nothing is written before a plan is approved",
        plan_words,
        commands::plan,
    ),
    row("model", "[NAME|pick]", "show or change the model", pick_word, commands::model),
    row("provider", "[NAME|pick]", "show or change who answers", providers, commands::provider),
    row("changes", "[PATH]", "what is pending, or how a path changes", none, changes::changes),
    row("apply", "[PATH ...]", "land what is pending", none, changes::apply),
    row("discard", "[PATH ...]", "throw away what is pending", none, changes::discard),
    row("undo", "[N|PATH]", "take back the last turn's changes", none, changes::undo),
    row("rewind", "[N WHAT]", "go back to before a turn: files, conversation or both", what, changes::rewind),
    row("tree", "[N]", "the branches that /rewind left; go to one", none, branches::tree),
    row(
        "fork",
        "[N]",
        "a new session that begins like this one, or with what came before turn N",
        none,
        branches::fork,
    ),
    row("review", "[PATH]", "go through what is pending, hunk by hunk", none, changes::review),
    row("redo", "", "put back what undo took away", none, changes::redo),
    row("journal", "[N]", "what was applied in this directory", none, changes::journal),
    row("batch", "{JSON}", "run a batch of aOperations, without a model", none, commands::batch),
    row(
        "context",
        "[summary]",
        "what fills the model's window; what the summary says",
        none,
        context::context,
    ),
    row(
        "compact",
        "[FOCUS|undo|edit]",
        "sum up the conversation so far, to make room",
        none,
        context::compact,
    ),
    row(
        "jobs",
        "[N|kill N|keep N]",
        "commands in the background: their output, their end",
        job_words,
        jobs::jobs,
    ),
    row("clear", "", "start a new conversation on an empty screen", none, commands::clear),
    row("new", "", "start a new conversation", none, commands::new),
    row("history", "", "choose from the lines typed before", none, commands::history),
    row("resume", "[N|ID]", "go on with an earlier conversation", none, commands::resume),
    row("title", "TEXT", "name this conversation", none, session::title),
    row("pin", "[off]", "list this conversation first and keep it for ever", off_word, session::pin),
    row("search", "WORDS", "find what was said in any session, and go there", none, session::search),
    row(
        "transcript",
        "",
        "all that was said and done, on a screen of its own (Ctrl-T)",
        none,
        transcript::transcript,
    ),
    row("view", "FILE[:LINE]", "a file, with what the model has seen of it", none, view::view),
    row("last", "", "the last answer again", none, transcript::last),
    row(
        "copy",
        "[N|N.M|code M]",
        "an answer, or a block of code in it, to the clipboard",
        none,
        transcript::copy,
    ),
    row("retry", "", "send the last message again after a failure", none, commands::retry),
    row("export", "[FILE]", "write the conversation, as Markdown, .html or .json", none, commands::export),
    row(
        "scratchpad",
        "[NAME|pick]",
        "list the scratchpads, show one, or go through them",
        pick_word,
        commands::scratchpad,
    ),
    row("tools", "[NAME]", "list the tools, or describe one", none, commands::tools),
    row("status", "", "what holds now: mode, provider, session, workspace", none, commands::status),
    row("cost", "", "what this conversation and this day cost", none, cost::cost),
    row(
        "permission",
        "[check CMD|grant PATTERN|revoke N]",
        "rules and grants; how a command would be judged",
        permission_words,
        permission::run,
    ),
    row("taint", "[reset]", "how high this conversation is classified", reset, taint::run),
    row("config", "[KEY]", "settings and where they come from", keys, commands::config),
    row("keys", "", "what arrives when a key is pressed", none, keys::keys),
    row("theme", "[NAME]", "another theme for this shell; without a name, choose one", themes, theme::run),
    row("quit", "", "leave", none, commands::quit),
    row("exit", "", "leave", none, commands::quit),
];

fn off_word() -> Vec<String> {
    vec!["off".into()]
}

fn plan_words() -> Vec<String> {
    ["on", "approve", "reject"].map(String::from).into()
}

const fn row(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    words: fn() -> Vec<String>,
    run: fn(&mut Shell<'_>, &str) -> CommandFollowUp,
) -> SlashCommand {
    SlashCommand { name, arguments, help, words, run }
}

fn none() -> Vec<String> {
    Vec::new()
}

fn what() -> Vec<String> {
    ["files", "conversation", "both"].map(String::from).to_vec()
}

fn job_words() -> Vec<String> {
    ["kill", "kill all", "keep"].map(String::from).to_vec()
}

fn reset() -> Vec<String> {
    vec!["reset".into()]
}

fn modes() -> Vec<String> {
    Mode::ALL.map(|m| m.name().to_string()).to_vec()
}

fn permission_words() -> Vec<String> {
    ["check", "grant", "revoke"].map(String::from).to_vec()
}

fn pick_word() -> Vec<String> {
    vec!["pick".into()]
}

fn providers() -> Vec<String> {
    ProviderPreset::all()
        .iter()
        .map(|p| p.name.clone())
        .chain(["offline", "pick"].map(String::from))
        .collect()
}

fn themes() -> Vec<String> {
    crate::ui::Theme::names().into_iter().chain(["auto"]).map(String::from).collect()
}

fn keys() -> Vec<String> {
    crate::config::SettingKey::all().map(|k| k.name.to_string()).collect()
}

/// Runs a command; an unknown one is answered with the nearest.
pub(super) fn run(shell: &mut Shell<'_>, name: &str, rest: &str) -> CommandFollowUp {
    match COMMANDS.iter().find(|row| row.name == name) {
        Some(row) => (row.run)(shell, rest),
        None => {
            let near = nearest(name, COMMANDS.iter().map(|row| row.name));
            let hint = near.map_or("/help lists them".to_string(), |near| format!("did you mean /{near}?"));
            shell.error(&format!("there is no command /{name}"), Some(&hint));
            None
        }
    }
}
