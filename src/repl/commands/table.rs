//! The shell's own commands: one table for running, completing, `/help`, the manual page and the reference.

use super::conversation::{branches, export, rewind, sessions, transcript, window};
use super::extensions::{custom, mcp, server_prompts, skills, tools};
use super::settings::{config, keys, mode, model, permission, setup, status, taint, theme};
use super::{
    batch, changes, checks, cost, directory, elsewhere, help, history, jobs, memory, review, scratchpads,
    tour, tries, undo, view,
};
use crate::permission::Mode;
use crate::provider::ProviderPreset;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandFunction, SlashCommand};
use crate::text::nearest;

pub const COMMANDS: &[SlashCommand] = &[
    row(
        "help",
        "[COMMAND|all|?]",
        "show the commands, one of them, all of them with the keys, or the keys",
        none,
        help::help,
    ),
    row("mode", "[MODE]", "show or change the mode", mode_names, mode::mode),
    row(
        "cd",
        "[DIR|-]",
        "continue this conversation in another directory; - is the one before",
        none,
        directory::cd,
    ),
    row(
        "plan",
        "[on|approve|reject]",
        "require an approved plan before anything is written",
        plan_words,
        mode::plan,
    ),
    row("model", "[NAME|pick]", "show or change the model", pick_word, model::model),
    row("provider", "[NAME|pick]", "show or change the provider", providers, model::provider),
    row("setup", "", "choose a provider, its key and a model, and write the settings", none, setup::setup),
    row("changes", "[PATH]", "show pending changes, or the diff of one path", none, changes::changes),
    row(
        "apply",
        "[PATH ...]",
        "show all pending changes and ask, or apply those at a path",
        none,
        changes::apply,
    ),
    row("discard", "[PATH ...]", "discard pending changes", none, changes::discard),
    row("undo", "[N|PATH]", "undo the changes of the last turn", none, undo::undo),
    row("rewind", "[N WHAT]", "rewind files, conversation or both to before a turn", what, rewind::rewind),
    row("tree", "[N]", "list the branches that /rewind made, or open one", none, branches::tree),
    row(
        "fork",
        "[N]",
        "copy this conversation into a new session, or only the part before turn N",
        none,
        branches::fork,
    ),
    row(
        "try",
        "[NAME|new NAME|list|rename NAME|drop NAME]",
        "attempts with pending changes of their own: list, open or drop one",
        none,
        tries::tries,
    ),
    row(
        "checks",
        "[run [NAME ...]|output NAME|detect]",
        "list the checks on pending changes, run them, show what one wrote, or propose some",
        check_words,
        checks::checks,
    ),
    row(
        "until",
        "CHECK[,CHECK] [N] [MESSAGE]",
        "let the agent continue until the checks pass, at most N more turns",
        none,
        checks::until,
    ),
    row("review", "[PATH]", "review pending changes, hunk by hunk", none, review::review),
    row("redo", "", "apply again what undo reverted", none, undo::redo),
    row("journal", "[N]", "show what was applied in this directory", none, changes::journal),
    row("batch", "{JSON}", "run a JSON batch of operations, without a model", none, batch::batch),
    row("context", "[summary]", "show what fills the model's window, or the summary", none, window::context),
    row("compact", "[FOCUS|undo|edit]", "summarize the conversation, to make room", none, window::compact),
    row(
        "jobs",
        "[N|kill N|keep N|open N]",
        "background commands: show output, end, keep or open them",
        job_words,
        jobs::jobs,
    ),
    row("clear", "", "start a new conversation on an empty screen", none, sessions::clear),
    row("new", "", "start a new conversation", none, sessions::new),
    row("history", "", "choose from earlier lines", none, history::history),
    row("resume", "[N|ID]", "resume an earlier conversation", none, sessions::resume),
    row("title", "TEXT", "name this conversation", none, sessions::title),
    row(
        "pin",
        "[off]",
        "pin this conversation: list it first and never remove it automatically",
        off_word,
        sessions::pin,
    ),
    row("search", "WORDS", "search all sessions, and open a match", none, sessions::search),
    row(
        "transcript",
        "",
        "the full transcript of this conversation, on its own screen (Ctrl-T)",
        none,
        transcript::transcript,
    ),
    row("view", "FILE[:LINE]", "show a file, and which parts the model has seen", none, view::view),
    row("last", "", "show the last answer again", none, transcript::last),
    row(
        "copy",
        "[N|N.M|code M]",
        "copy an answer, or a block of code in it, to the clipboard",
        none,
        transcript::copy,
    ),
    row("retry", "", "send the last message again after a failure", none, sessions::retry),
    row(
        "export",
        "[FILE]",
        "write the conversation to a file: Markdown, .html or .json",
        none,
        export::export,
    ),
    row(
        "scratchpad",
        "[NAME|pick]",
        "list the scratchpads, show one, or open their screen",
        pick_word,
        scratchpads::scratchpad,
    ),
    row(
        "skills",
        "[NAME|trust]",
        "list the skills, show one, or trust this project's",
        trust_word,
        skills::skills,
    ),
    row(
        "init",
        "[draft]",
        "propose an AGENTS.md for this project, as a pending change",
        draft_word,
        memory::init,
    ),
    row(
        "remember",
        "TEXT",
        "add a line to AGENTS.md as a pending change, or with --own to your own file",
        own_word,
        memory::remember,
    ),
    row("tools", "[NAME]", "list the tools, or describe one", none, tools::tools),
    row(
        "mcp",
        "[NAME|log NAME [LEVEL]|stop NAME|login NAME|logout NAME]",
        "servers of tools: their state, tools and logs; end one; log in",
        // A menu of `log` and `stop` would take a server's short name for one of them.
        none,
        mcp::mcp,
    ),
    row("status", "", "show mode, model, context, cost and changes", none, status::status),
    row("cost", "", "tokens and cost of this conversation and this day", none, cost::cost),
    row(
        "permission",
        "[check CMD|grant PATTERN|revoke N]",
        "rules and grants; check a command against them",
        permission_words,
        permission::permission,
    ),
    row("taint", "[reset]", "the classification level of this conversation", reset, taint::taint),
    row("config", "[KEY]", "show settings and where they come from", setting_keys, config::config),
    row("keys", "", "show what the terminal sends for a key", none, keys::keys),
    row(
        "theme",
        "[NAME]",
        "change the theme of this shell; without a name, choose from a list",
        themes,
        theme::theme,
    ),
    row("tour", "", "learn placet in a minute, in a project that is removed afterwards", none, tour::tour),
    row("quit", "", "leave", none, sessions::quit),
    row("exit", "", "leave", none, sessions::quit),
];

/// The commands that a person needs most, in the order in which a menu lists them; the others follow as in the table.
const FIRST_IN_MENUS: [&str; 7] = ["review", "undo", "apply", "changes", "resume", "rewind", "help"];

/// The place of a command in a menu in which nothing is looked for. `needed` is before all others: what the conversation
/// cannot do without.
pub(in crate::repl) fn menu_order(name: &str, needed: Option<&str>) -> usize {
    let first = FIRST_IN_MENUS.iter().position(|first| *first == name);
    if needed == Some(name) { 0 } else { first.unwrap_or(FIRST_IN_MENUS.len()) + 1 }
}

fn off_word() -> Vec<String> {
    vec!["off".into()]
}

fn trust_word() -> Vec<String> {
    vec!["trust".into()]
}

fn draft_word() -> Vec<String> {
    vec!["draft".into()]
}

fn own_word() -> Vec<String> {
    vec!["--own".into()]
}

fn plan_words() -> Vec<String> {
    ["on", "approve", "reject"].map(String::from).into()
}

const fn row(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    words: fn() -> Vec<String>,
    run: CommandFunction,
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
    ["kill", "kill all", "keep", "open"].map(String::from).to_vec()
}

fn check_words() -> Vec<String> {
    ["run", "output", "detect"].map(String::from).to_vec()
}

fn reset() -> Vec<String> {
    vec!["reset".into()]
}

fn mode_names() -> Vec<String> {
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

fn setting_keys() -> Vec<String> {
    crate::config::SettingKey::all().map(|k| k.name.to_string()).collect()
}

/// Runs a command; an unknown one is answered with the nearest.
pub(in crate::repl) fn run(context: &mut CommandContext<'_>, name: &str, rest: &str) -> CommandFollowUp {
    let Some(row) = COMMANDS.iter().find(|row| row.name == name) else {
        let ran = custom::run(context, name, rest);
        if let Some(ran) = ran.or_else(|| server_prompts::run(context, name, rest)) {
            return ran.unwrap_or_else(|stop| {
                stop.tell(&context.output);
                CommandFollowUp::Nothing
            });
        }
        let near = || nearest(name, COMMANDS.iter().map(|row| row.name));
        let hint = elsewhere::ours(name)
            .map(String::from)
            .or_else(|| near().map(|near| format!("did you mean /{near}?")))
            .unwrap_or_else(|| "/help lists the commands".into());
        context.output.error(&format!("unknown command /{name}"), Some(&hint));
        return CommandFollowUp::Nothing;
    };
    (row.run)(context, rest).unwrap_or_else(|stop| {
        stop.tell(&context.output);
        CommandFollowUp::Nothing
    })
}
