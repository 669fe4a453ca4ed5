//! `/help`: the commands in groups, the keys, and one command with an example.

use super::extensions::custom::CustomName;
use super::extensions::server_prompts::own_names;
use super::extensions::skills::problems;
use crate::guidance::GuidanceOrigin;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::text::width;

/// The most columns of the description of a person's own command.
const ABOUT: usize = 160;
/// Columns of the commands and keys; what is wider has its meaning below.
const FIRST_COLUMN: usize = 26;

/// The title of commands from files.
const OWN: &str = "Your own and this project's";
/// The argument that describes every command. Without it, `/help` fits on a screen.
const ALL: &str = "all";
/// Columns of the titles of groups, where a group is one row.
const TITLE_COLUMN: usize = 23;

/// The commands by what a person wants to do, the first ones to know first.
const GROUPS: [(&str, &[&str]); 9] = [
    ("Start here", &["help", "tour", "mode", "review", "undo", "resume", "quit"]),
    ("Changes", &["changes", "apply", "discard", "redo", "journal", "rewind", "batch"]),
    ("Checks", &["checks", "until"]),
    (
        "Conversation",
        &["new", "clear", "retry", "last", "copy", "transcript", "export", "title", "pin", "history"],
    ),
    ("Sessions and branches", &["search", "tree", "fork", "try"]),
    (
        "Model and context",
        &["setup", "model", "provider", "plan", "context", "compact", "cost", "view", "scratchpad"],
    ),
    ("Instructions and skills", &["init", "remember", "skills"]),
    ("Commands and permission", &["jobs", "permission", "tools", "mcp", "taint"]),
    ("This shell", &["status", "config", "theme", "keys", "cd", "exit"]),
];

/// One line that can be typed for each command that takes arguments.
const EXAMPLES: [(&str, &str); 37] = [
    ("checks", "/checks run test"),
    ("until", "/until test 3 make the tests pass"),
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
    ("try", "/try second-idea"),
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
    ("skills", "/skills trust"),
    ("mcp", "/mcp log github"),
    ("init", "/init draft"),
    ("remember", "/remember run the tests with `just test`"),
];

const KEYS: [(&str, &str); 15] = [
    ("?", "on an empty line: these keys"),
    ("@FILE", "attach a file, a picture or the list of a directory"),
    ("!COMMAND", "run a command in your own terminal"),
    ("Shift+Tab", "the next mode"),
    ("Tab", "complete commands, arguments and @paths"),
    ("Alt+Enter, Ctrl-J", "a new line; so do a \\ at the end and an open code block"),
    ("Ctrl-X Ctrl-E, Ctrl-G", "edit this line in your editor"),
    ("Ctrl-P", "choose files to attach; with / typed, a command"),
    ("Ctrl-T", "the full transcript of this conversation; ? shows its keys"),
    ("Up, Ctrl-R", "earlier lines; search in them"),
    ("Esc, Ctrl-C", "stop a turn that runs; Ctrl-C clears a draft first"),
    ("Ctrl-B", "while a command runs: send it to the background"),
    ("Esc Esc", "go back to an earlier turn, or clear the text in the line"),
    ("Ctrl-D", "leave"),
    ("±2 &1", "in the prompt: files with pending changes (/review), running jobs (/jobs)"),
];

pub(super) fn help(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let name = rest.trim_start_matches('/');
    if rest == "?" {
        show_keys(context);
        context.output.hint("/help lists the commands");
        return Ok(CommandFollowUp::Nothing);
    }
    let customs = own_names(context.app.guidance, context.app.tools.servers);
    let row = |name: &str| {
        let found = context.commands.iter().find(|row| row.name == name)?;
        Some((format!("/{} {}", found.name, found.arguments).trim().to_string(), found.help.to_string()))
    };
    let output = &context.output;
    let describes_all = name == ALL && !customs.iter().any(|custom| custom.name == ALL);
    if !name.is_empty() && !describes_all {
        let own = || customs.iter().find(|custom| custom.name == name).map(custom_row);
        let Some(about) = row(name).or_else(own) else {
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
    let is_hidden = |custom: &&CustomName| context.commands.iter().any(|row| row.name == custom.name);
    let own = || customs.iter().filter(|custom| !is_hidden(custom));
    let groups = GROUPS.map(|(title, names)| {
        let rows: Vec<_> = names.iter().filter_map(|name| Some((*name, row(name)?))).collect();
        (title, rows)
    });
    if describes_all {
        let width = output.width();
        let mut lines = Vec::new();
        for (title, rows) in groups {
            let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
            lines.extend(output.titled_lines(title, &rows, FIRST_COLUMN, width));
        }
        let own: Vec<_> = own().map(custom_row).collect();
        if !own.is_empty() {
            lines.extend(output.titled_lines(OWN, &own, FIRST_COLUMN, width));
        }
        let keys = KEYS.map(|(key, about)| (key.to_string(), about.to_string()));
        lines.extend(output.titled_lines("Keys", &keys, FIRST_COLUMN, width));
        output.print(&lines);
    } else {
        let mut groups = groups.into_iter();
        let (start, first) = groups.next().unwrap_or_default();
        let first: Vec<_> = first.into_iter().map(|(_, row)| row).collect();
        let names =
            |names: Vec<&str>| names.iter().map(|name| format!("/{name}")).collect::<Vec<_>>().join(" ");
        let mut rows: Vec<(String, String)> = groups
            .map(|(title, rows)| (title.into(), names(rows.into_iter().map(|(name, _)| name).collect())))
            .collect();
        let own: Vec<&str> = own().map(|custom| custom.name.as_str()).collect();
        if !own.is_empty() {
            rows.push((OWN.into(), names(own)));
        }
        output.print_or_page("help", &|width| {
            let mut lines = output.titled_lines(start, &first, FIRST_COLUMN, width);
            lines.extend(output.titled_lines("More commands", &rows, TITLE_COLUMN, width));
            lines
        });
    }
    for custom in customs.iter().filter(is_hidden) {
        output.note(&format!("/{} of a file is not offered: placet has a command of this name", custom.name));
    }
    problems(context, &context.app.guidance.commands().problems);
    output.hint(match describes_all {
        true => "/help COMMAND shows an example",
        false => "/help COMMAND explains a command, /help all every command and key; ? on an empty line shows the keys",
    });
    Ok(CommandFollowUp::Nothing)
}

fn custom_row(custom: &CustomName) -> (String, String) {
    let whose = match custom.origin {
        GuidanceOrigin::Own => "",
        GuidanceOrigin::Project => " (this project)",
    };
    let call = format!("/{} {}", custom.name, custom.arguments).trim_end().to_string();
    (call, format!("{}{whose}", width::cut(&custom.about, ABOUT)))
}

fn show_keys(context: &CommandContext<'_>) {
    let output = &context.output;
    let rows = KEYS.map(|(key, about)| (key.to_string(), about.to_string()));
    output.print_or_page("keys", &|width| output.row_lines(&rows, width));
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
