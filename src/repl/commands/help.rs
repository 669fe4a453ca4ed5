//! `/help`: the commands and the keys.

use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use ratatui::text::Line;

const KEYS: [(&str, &str); 12] = [
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
    ("Ctrl-D", "leave"),
];

pub(super) fn help(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let name = rest.trim_start_matches('/');
    if rest == "?" {
        show_keys(context);
        context.output.hint("/help lists the commands as well");
        return Ok(CommandFollowUp::Nothing);
    }
    let commands: Vec<(String, String)> = context
        .commands
        .iter()
        .filter(|row| name.is_empty() || row.name == name)
        .map(|row| (format!("/{} {}", row.name, row.arguments).trim().to_string(), row.help.into()))
        .collect();
    if commands.is_empty() {
        return Err(CommandStop::with_hint(format!("unknown command /{name}"), "/help lists the commands"));
    }
    context.output.rows(&commands);
    if name.is_empty() {
        context.output.print(&[Line::default()]);
        show_keys(context);
    }
    Ok(CommandFollowUp::Nothing)
}

fn show_keys(context: &CommandContext<'_>) {
    context.output.rows(&KEYS.map(|(key, about)| (key.to_string(), about.to_string())));
}
