//! What was typed: nothing, a command of the shell, a command for the terminal, or something to say.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PromptInput {
    Blank,
    Slash { name: String, rest: String },
    Shell(String),
    Say(String),
}

impl PromptInput {
    pub(crate) fn parse(text: &str) -> PromptInput {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return PromptInput::Blank;
        }
        // What leaves every other shell, or an editor, leaves this one, and a question mark alone asks for help.
        let command = match trimmed {
            "exit" | "quit" | ":q" | ":q!" | ":wq" => Some("quit"),
            "?" => Some("help ?"),
            _ => None,
        };
        if let Some(command) = command {
            let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
            return PromptInput::Slash { name: name.into(), rest: rest.into() };
        }
        if let Some(command) = trimmed.strip_prefix('!') {
            let command = command.trim();
            return if command.is_empty() { PromptInput::Blank } else { PromptInput::Shell(command.into()) };
        }
        if let Some(rest) = trimmed.strip_prefix('/') {
            let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            // `/usr/bin is full` speaks of a path, not to the shell.
            if !name.is_empty() && name.chars().all(is_command_char) {
                return PromptInput::Slash { name: name.into(), rest: rest.trim().into() };
            }
        }
        // A backslash at the end of a line asked for the break that follows it.
        PromptInput::Say(text.replace("\\\n", "\n").trim_end().to_string())
    }
}

/// A character of the name of a command: `git:commit` is a command in a directory.
pub(crate) fn is_command_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':')
}

/// Splits a command's argument into words at blanks. Single or double quotes keep blanks inside a word.
pub fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut any) = (Vec::new(), String::new(), None, false);
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => (quote, any) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            (None, c) => word.push(c),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}

/// A line that is not finished: what is before the cursor, and what after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnfinishedLine {
    pub(crate) before: String,
    pub(crate) after: String,
}

impl UnfinishedLine {
    /// With the cursor at its end.
    pub(crate) fn new(before: impl Into<String>) -> UnfinishedLine {
        UnfinishedLine { before: before.into(), after: String::new() }
    }
}

/// A screen that a key at the prompt opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptScreen {
    Transcript,
    /// What is pending.
    Review,
    /// The keys, above the prompt.
    Keys,
    /// Files, or commands where one is being typed.
    Picker,
    /// The turns of the conversation, to go back to before one.
    Rewind,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart_by_how_they_begin() {
        let say = |t: &str| PromptInput::Say(t.into());
        assert_eq!(PromptInput::parse("  \n"), PromptInput::Blank);
        assert_eq!(PromptInput::parse("!"), PromptInput::Blank);
        assert_eq!(PromptInput::parse("! ls -l"), PromptInput::Shell("ls -l".into()));
        assert_eq!(
            PromptInput::parse("/mode  ask "),
            PromptInput::Slash { name: "mode".into(), rest: "ask".into() }
        );
        for (typed, name, rest) in
            [("exit", "quit", ""), (" quit\n", "quit", ""), (":q", "quit", ""), ("?", "help", "?")]
        {
            let slash = PromptInput::Slash { name: name.into(), rest: rest.into() };
            assert_eq!(PromptInput::parse(typed), slash, "{typed:?}");
        }
        assert_eq!(PromptInput::parse("exit the loop"), say("exit the loop"));
        assert_eq!(PromptInput::parse(":quantity"), say(":quantity"));
        assert_eq!(PromptInput::parse("/usr/bin is full"), say("/usr/bin is full"));
        assert_eq!(PromptInput::parse("/ what"), say("/ what"));
        assert_eq!(PromptInput::parse("one\\\ntwo\n"), say("one\ntwo"));
    }
}
