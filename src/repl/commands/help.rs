//! `/help`: the commands in groups, the keys, and one command with an example.

use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};

/// Columns of the commands and keys; what is wider has its meaning below.
const FIRST_COLUMN: usize = 26;

/// The commands by what a person wants to do, the first ones to know first.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Start here", &["help", "tour", "mode", "review", "undo", "resume", "quit"]),
    ("Changes", &["changes", "apply", "discard", "redo", "journal", "rewind", "batch"]),
    (
        "Conversation",
        &["new", "clear", "retry", "last", "copy", "transcript", "export", "title", "pin", "history"],
    ),
    ("Sessions and branches", &["search", "tree", "fork"]),
    (
        "Model and context",
        &["setup", "model", "provider", "plan", "context", "compact", "cost", "view", "scratchpad"],
    ),
    ("Commands and permission", &["jobs", "permission", "tools", "taint"]),
    ("This shell", &["status", "config", "theme", "keys", "cd", "exit"]),
];

/// One line that can be typed for each command that takes arguments.
const EXAMPLES: [(&str, &str); 30] = [
    ("help", "/help review"),
    ("mode", "/mode write"),
    ("cd", "/cd ../other"),
    ("plan", "/plan on"),
    ("model", "/model pick"),
    ("provider", "/provider anthropic"),
    ("changes", "/changes src/main.rs"),
    ("apply", "/apply src/main.rs"),
    ("discard", "/discard notes.txt"),
    ("undo", "/undo src/main.rs"),
    ("rewind", "/rewind 2 both"),
    ("tree", "/tree 2"),
    ("fork", "/fork 3"),
    ("review", "/review src"),
    ("journal", "/journal 12"),
    ("batch", r#"/batch {"aOperations":[{"sBase":"app","sPath":"a.txt","sMode":"read"}]}"#),
    ("context", "/context summary"),
    ("compact", "/compact keep the error messages"),
    ("jobs", "/jobs kill 1"),
    ("resume", "/resume 2"),
    ("title", "/title fix the parser"),
    ("pin", "/pin off"),
    ("search", "/search parser error"),
    ("view", "/view src/main.rs:40"),
    ("copy", "/copy code 1"),
    ("export", "/export talk.html"),
    ("permission", "/permission check cargo test"),
    ("config", "/config ui.theme"),
    ("theme", "/theme dark"),
    ("scratchpad", "/scratchpad notes"),
];

const KEYS: [(&str, &str); 13] = [
    ("?", "on an empty line: these keys"),
    ("@FILE", "attach a file, a picture or the list of a directory"),
    ("!COMMAND", "run a command in your own terminal"),
    ("Shift+Tab", "the next mode"),
    ("Tab", "complete commands, arguments and @paths"),
    ("Alt+Enter, Ctrl-J", "a new line; so do a `\\` at the end and an open ```"),
    ("Ctrl-X Ctrl-E, Ctrl-G", "edit this line in your editor"),
    ("Ctrl-P", "choose files to attach; with `/` typed, a command"),
    ("Ctrl-T", "the full transcript of this conversation; `?` shows its keys"),
    ("Up, Ctrl-R", "earlier lines; search in them"),
    ("Esc, Ctrl-C", "stop a turn that runs; Ctrl-C clears a draft first"),
    ("Esc Esc", "go back to before a turn; with text in the line, clear it"),
    ("Ctrl-D", "leave"),
];

pub(super) fn help(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let name = rest.trim_start_matches('/');
    if rest == "?" {
        show_keys(context);
        context.output.hint("/help lists the commands as well");
        return Ok(CommandFollowUp::Nothing);
    }
    let row = |name: &str| {
        let found = context.commands.iter().find(|row| row.name == name)?;
        Some((format!("/{} {}", found.name, found.arguments).trim().to_string(), found.help.to_string()))
    };
    let output = &context.output;
    if !name.is_empty() {
        let Some(about) = row(name) else {
            return Err(CommandStop::with_hint(
                format!("unknown command /{name}"),
                "/help lists the commands",
            ));
        };
        let example = EXAMPLES.iter().find(|(of, _)| *of == name);
        let example = example.map(|(_, example)| ("for example".to_string(), (*example).to_string()));
        output.rows(&std::iter::once(about).chain(example).collect::<Vec<_>>());
        return Ok(CommandFollowUp::Nothing);
    }
    let keys: Vec<_> = KEYS.iter().map(|(key, about)| (key.to_string(), about.to_string())).collect();
    let groups =
        GROUPS.iter().map(|(title, names)| (*title, names.iter().filter_map(|name| row(name)).collect()));
    for (title, rows) in groups.chain([("Keys", keys)]) {
        output.titled_rows(title, &rows, FIRST_COLUMN);
    }
    output.hint("/help COMMAND shows an example");
    Ok(CommandFollowUp::Nothing)
}

fn show_keys(context: &CommandContext<'_>) {
    context.output.rows(&KEYS.map(|(key, about)| (key.to_string(), about.to_string())));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::commands::COMMANDS;

    #[test]
    fn every_command_is_in_one_group_and_those_with_arguments_have_an_example() {
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        listed.sort_unstable();
        let mut all: Vec<&str> = COMMANDS.iter().map(|row| row.name).collect();
        all.sort_unstable();
        assert_eq!(listed, all);
        for row in COMMANDS {
            let example = EXAMPLES.iter().find(|(of, _)| *of == row.name);
            let begins = format!("/{} ", row.name);
            assert!(example.is_none_or(|(_, line)| line.starts_with(&begins)), "/{}", row.name);
            let is_missing = example.is_none() && !matches!(row.arguments, "" | "[reset]" | "[NAME]");
            assert!(!is_missing, "/{} has no example", row.name);
        }
    }
}
