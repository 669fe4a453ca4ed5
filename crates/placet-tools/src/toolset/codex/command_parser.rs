//! A parser for plain command lines, whose words are certain: programs, arguments and quotes, joined by `;`, `&&`, line
//! ends and pipes.
//!
//! The result never permits anything. It only decides which lines of a file an output may show, and to which directory
//! a patch belongs. A line with anything else in it (variables, globs, redirections, jobs) is not parsed. Only
//! redirections of errors (`2>/dev/null`, `2>&1`) are ignored: an output is compared with the file byte for byte
//! anyway.

/// The words of one command.
pub(super) type CodexCommand = Vec<String>;
/// Commands joined by `|`.
pub(super) type CodexPipeline = Vec<CodexCommand>;

/// The pipelines of a line, in order; `None` for a line that is not plain.
pub(super) fn pipelines(line: &str) -> Option<Vec<CodexPipeline>> {
    let mut reading = CodexParser::default();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => reading.quoted(&mut chars, c)?,
            ' ' | '\t' => reading.end_word(),
            ';' | '\n' => reading.end_pipeline(c == '\n')?,
            '&' if chars.next_if_eq(&'&').is_some() => reading.end_pipeline(false)?,
            // Only after a command: a redirection alone reads nothing.
            '2' if reading.word.is_none() && !reading.command.is_empty() && chars.peek() == Some(&'>') => {
                errors_elsewhere(&mut chars)?
            }
            '|' if chars.peek() != Some(&'|') => reading.end_command()?,
            '&' | '|' | '$' | '`' | '\\' | '<' | '>' | '(' | ')' | '*' | '?' | '[' | ']' | '{' | '}'
            | '!' | '#' | '~' => return None,
            c => reading.word.get_or_insert_default().push(c),
        }
    }
    reading.end_pipeline(true)?;
    Some(reading.pipelines)
}

/// `2>/dev/null`, `2> /dev/null` or `2>&1`, from the `>` on.
fn errors_elsewhere(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<()> {
    chars.next_if_eq(&'>')?;
    let to = if chars.peek() == Some(&'&') { "&1" } else { "/dev/null" };
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    to.chars().all(|c| chars.next_if_eq(&c).is_some()).then_some(())?;
    chars.peek().is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&')).then_some(())
}

#[derive(Default)]
struct CodexParser {
    word: Option<String>,
    command: CodexCommand,
    pipeline: CodexPipeline,
    pipelines: Vec<CodexPipeline>,
}

impl CodexParser {
    fn quoted(&mut self, chars: &mut impl Iterator<Item = char>, quote: char) -> Option<()> {
        let word = self.word.get_or_insert_default();
        loop {
            match chars.next()? {
                c if c == quote => return Some(()),
                // These characters have a meaning inside double quotes.
                '$' | '`' | '\\' | '!' if quote == '"' => return None,
                c => word.push(c),
            }
        }
    }

    fn end_word(&mut self) {
        self.command.extend(self.word.take());
    }

    /// A command without words is an error of the shell.
    fn end_command(&mut self) -> Option<()> {
        self.end_word();
        // An assignment before the program is not a program.
        let plain = self.command.first().is_some_and(|program| !program.contains('='));
        plain.then(|| self.pipeline.push(std::mem::take(&mut self.command)))
    }

    fn end_pipeline(&mut self, may_be_empty: bool) -> Option<()> {
        self.end_word();
        if may_be_empty && self.command.is_empty() && self.pipeline.is_empty() {
            return Some(());
        }
        self.end_command()?;
        self.pipelines.push(std::mem::take(&mut self.pipeline));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_are_read_and_others_are_not() {
        let read = |line: &str| -> Option<Vec<String>> {
            let shown = |pipeline: &CodexPipeline| {
                pipeline.iter().map(|words| words.join("·")).collect::<Vec<_>>().join(" | ")
            };
            Some(pipelines(line)?.iter().map(shown).collect())
        };
        let some = |parts: &[&str]| Some(parts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read("cat a.rs"), some(&["cat·a.rs"]));
        assert_eq!(
            read("cd src && sed -n '1,20p' 'a b.rs'\nnl -ba x | head -5; echo \"it's\""),
            some(&["cd·src", "sed·-n·1,20p·a b.rs", "nl·-ba·x | head·-5", "echo·it's"])
        );
        assert_eq!(read("cat a ''"), some(&["cat·a·"]));
        assert_eq!(read("cat a 2>/dev/null | head 2> /dev/null"), some(&["cat·a | head"]));
        assert_eq!(read("rg x a 2>&1; cat a2 2>/dev/null&& nl 22"), some(&["rg·x·a", "cat·a2", "nl·22"]));
        for line in [
            "cat $f",
            "cat a > b",
            "cat a 2>b",
            "cat a 2>/dev/null2",
            "cat a 2>&2",
            "cat a 2>>/dev/null",
            "cat a 12>/dev/null",
            "cat a >/dev/null",
            "2>/dev/null",
            "cat a & cat b",
            "cat a || true",
            "cat *.rs",
            "cat `f`",
            "cat \"$f\"",
            "cat 'a",
            "cat a |",
            "| cat",
            "cat a;; cat b",
            "X=1 cat a",
            "cat a\\ b",
            "(cat a)",
            "cat a && && cat b",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
