//! Names of commands in other agent shells (Claude Code, codex, gemini-cli, opencode, aider), and what does it here.

/// What a name of another program is here, as a hint.
pub(super) fn ours(name: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(names, _)| names.contains(&name)).map(|(_, hint)| *hint)
}

const ELSEWHERE: [(&[&str], &str); 40] = [
    (&["about", "info"], "/status shows mode, provider, session and workspace"),
    (&["add", "mention", "file", "read-only", "image"], "write @FILE in your message to attach a file"),
    (&["add-dir", "directory", "dir"], "start placet with --add-dir DIR to add a directory"),
    (&["agents", "subagents"], "the agent starts sub-agents itself; /tools agent describes the tool"),
    (&["approvals", "approval", "yolo", "auto", "chat-mode"], "/mode or Shift+Tab changes the mode"),
    (&["architect"], "/plan on requires an approved plan before anything is written"),
    (&["ask"], "/mode read: the agent reads files and changes nothing"),
    (&["auth", "login", "logout", "connect"], "/setup chooses a provider and stores its key"),
    (&["bashes", "ps", "tasks", "background"], "/jobs shows background commands"),
    (&["bug", "feedback"], "docs/reporting.md describes how to report a problem"),
    (&["chat", "sessions", "session", "continue", "load"], "/resume lists earlier conversations"),
    (
        &["checkpoint", "restore", "checkpoints"],
        "/rewind goes back to before a turn; /undo reverts its changes",
    ),
    (&["code", "accept-edits"], "/mode ask: the agent changes files, and you approve the changes"),
    (&["commit", "git"], "!git ... runs git in your terminal"),
    (
        &["compare", "worktree", "branch"],
        "`placet compare A B` compares two tries; /try lists and opens them",
    ),
    (&["diff", "details"], "/changes shows pending changes; /review goes through them"),
    (&["doctor", "debug", "terminal-setup"], "`placet doctor` checks this installation"),
    (&["drop", "reset"], "/new starts a new conversation without the earlier files"),
    (&["editor", "edit", "paste"], "Ctrl-X Ctrl-E edits the line in your editor; Ctrl-V attaches a picture"),
    (&["hooks"], "/config hooks shows the hooks"),
    (&["memory"], "/remember adds a line to AGENTS.md; /context shows the instructions in use"),
    (
        &["extensions", "plugin", "plugins", "ide"],
        "there are no plugins; /mcp shows servers of tools, /skills the skills, /config hooks the hooks",
    ),
    (&["models"], "/model shows or changes the model"),
    (
        &["output-style", "statusline", "vim", "multiline-mode"],
        "/config ui shows the settings of the screen and the keyboard",
    ),
    (&["permissions", "allowed-tools", "policies"], "/permission shows rules and grants"),
    (&["privacy", "privacy-settings"], "placet sends no telemetry; docs/security.md describes what it sends"),
    (&["rename"], "/title TEXT names this conversation"),
    (&["revert"], "/undo reverts the changes of the last turn"),
    (
        &["run", "test", "lint", "ls", "sh", "bash", "shell", "terminal"],
        "!COMMAND runs a command in your own terminal",
    ),
    (
        &["sandbox"],
        "in every mode except unrestricted, commands run in the view: `placet doctor` shows what protects it",
    ),
    (&["save", "share", "report"], "/export [FILE] writes the conversation to a file"),
    (&["settings", "preferences", "options"], "/config shows the settings and where they come from"),
    (&["shortcuts", "hotkeys", "keybindings", "commands"], "/help lists the commands and keys"),
    (&["stats", "usage", "tokens"], "/cost shows tokens and cost; /context shows what fills the window"),
    (&["summarize", "compress"], "/compact summarizes the conversation, to make room"),
    (&["themes", "color"], "/theme changes the theme"),
    (&["thinking", "verbose"], "Ctrl-O shows thinking and output in full while a turn runs"),
    (&["todos", "todo"], "the pane shows the model's list of steps while a turn runs"),
    (&["unundo"], "/redo applies again what undo reverted"),
    (&["q", "bye", "logoff"], "/quit leaves"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::COMMANDS;

    #[test]
    fn no_name_of_another_program_hides_a_command_or_stands_twice() {
        let names: Vec<&str> = ELSEWHERE.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!COMMANDS.iter().any(|row| row.name == *name), "{name} is a command");
            assert!(!names[..at].contains(name), "{name} stands twice");
        }
    }

    #[test]
    fn every_command_that_a_hint_names_exists() {
        let words = ELSEWHERE.iter().flat_map(|(_, hint)| hint.split([' ', ';', ':', ',']));
        for name in words.filter_map(|word| word.strip_prefix('/')) {
            assert!(COMMANDS.iter().any(|row| row.name == name), "/{name}");
        }
    }
}
