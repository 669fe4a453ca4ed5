//! What was typed: nothing, a command of the shell, a command for the terminal, or something to say.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Blank,
    Slash { name: String, rest: String },
    Shell(String),
    Say(String),
}

impl Line {
    pub(super) fn parse(text: &str) -> Line {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Line::Blank;
        }
        if let Some(command) = trimmed.strip_prefix('!') {
            let command = command.trim();
            return if command.is_empty() { Line::Blank } else { Line::Shell(command.into()) };
        }
        if let Some(rest) = trimmed.strip_prefix('/') {
            let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            // `/usr/bin is full` speaks of a path, not to the shell.
            if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
                return Line::Slash { name: name.into(), rest: rest.trim().into() };
            }
        }
        // A backslash at the end of a line asked for the break that follows it.
        Line::Say(text.replace("\\\n", "\n").trim_end().to_string())
    }
}

/// The words of a command's argument: parted by blanks, held together by single or double quotes.
pub(super) fn words(text: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart_by_how_they_begin() {
        let say = |t: &str| Line::Say(t.into());
        assert_eq!(Line::parse("  \n"), Line::Blank);
        assert_eq!(Line::parse("!"), Line::Blank);
        assert_eq!(Line::parse("! ls -l"), Line::Shell("ls -l".into()));
        assert_eq!(Line::parse("/mode  ask "), Line::Slash { name: "mode".into(), rest: "ask".into() });
        assert_eq!(Line::parse("/usr/bin is full"), say("/usr/bin is full"));
        assert_eq!(Line::parse("/ what"), say("/ what"));
        assert_eq!(Line::parse("one\\\ntwo\n"), say("one\ntwo"));
    }
}
