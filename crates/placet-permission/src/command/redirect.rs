//! Redirections and here-documents.

use super::lexer::is_meta;
use super::parser::{PendingHeredoc, ShellParser};
use super::word::{ShellWord, WordBuilder};
use super::{RedirectKind, ShellParseError, ShellRedirect};

/// More here-documents than people start on one line; each is read in advance.
const MOST_PENDING: usize = 16;

impl ShellParser {
    /// Parses a redirection, if one starts here; the inner `None` is a redirection without a file (`2>&1`).
    pub(super) fn redirect(&mut self) -> Result<Option<Option<ShellRedirect>>, ShellParseError> {
        let start = self.at;
        self.pass_descriptor();
        let both = self.at == start && (self.eat("&>>") || self.eat("&>"));
        if both {
            return self.target(RedirectKind::Write).map(Some);
        }
        let next = self.peek();
        if !matches!(next, Some('<' | '>')) || self.at == start && self.peek_at(1) == Some('(') {
            self.at = start;
            return Ok(None);
        }
        let kind = match () {
            () if self.eat("<<<") => return self.here_string().map(Some),
            () if self.eat("<<-") => return self.heredoc(true).map(Some),
            () if self.eat("<<") => return self.heredoc(false).map(Some),
            () if self.eat(">>") => RedirectKind::Append,
            () if self.eat("<>") => RedirectKind::Append,
            () if self.eat(">|") => RedirectKind::Write,
            () if self.eat(">&") => return self.duplicate(RedirectKind::Write).map(Some),
            () if self.eat("<&") => return self.duplicate(RedirectKind::Read).map(Some),
            () if self.eat(">") => RedirectKind::Write,
            () => {
                self.at += 1;
                RedirectKind::Read
            }
        };
        self.target(kind).map(Some)
    }

    /// Skips `2` or `{name}` before the sign.
    fn pass_descriptor(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        if self.peek() != Some('{') {
            return;
        }
        // No name is as long.
        let rest = self.chars.get(self.at..).unwrap_or_default();
        if let Some(end) = rest.iter().take(256).position(|c| *c == '}') {
            let name: String = rest.get(1..end).unwrap_or_default().iter().collect();
            let signed = matches!(rest.get(end + 1), Some('<' | '>'));
            if signed && super::lexer::is_name(&name) {
                self.at += end + 1;
            }
        }
    }

    fn target(&mut self, kind: RedirectKind) -> Result<Option<ShellRedirect>, ShellParseError> {
        self.skip_blanks();
        match self.word()? {
            Some(target) => Ok(Some(ShellRedirect { kind, target })),
            None => Err(self.unexpected("the file of a redirection")),
        }
    }

    /// `>&2` names no file, `>&file` does.
    fn duplicate(&mut self, kind: RedirectKind) -> Result<Option<ShellRedirect>, ShellParseError> {
        let redirect = self.target(kind)?;
        let number = |r: &ShellRedirect| {
            r.target.text.as_deref().is_some_and(|t| {
                let digits = t.strip_suffix('-').unwrap_or(t);
                digits.chars().all(|c| c.is_ascii_digit())
            })
        };
        Ok(redirect.filter(|r| !number(r)))
    }

    fn here_string(&mut self) -> Result<Option<ShellRedirect>, ShellParseError> {
        self.target(RedirectKind::Text)
    }

    fn heredoc(&mut self, tabs: bool) -> Result<Option<ShellRedirect>, ShellParseError> {
        self.skip_blanks();
        let (mut delimiter, mut literal) = (String::new(), false);
        let mut quote = None;
        while let Some(c) = self.peek() {
            match (c, quote) {
                (c, Some(q)) if c == q => quote = None,
                ('\'' | '"', None) => {
                    quote = Some(c);
                    literal = true;
                }
                ('\\', None) => {
                    literal = true;
                    self.at += 1;
                    delimiter.extend(self.peek());
                }
                (c, None) if is_meta(c) => break,
                ('$' | '`', None) => return Err(ShellParseError::Unsupported("an expansion in `<<`")),
                (c, _) => delimiter.push(c),
            }
            self.at += 1;
        }
        if quote.is_some() || delimiter.is_empty() {
            return Err(self.unexpected("the end word of a here-document"));
        }
        if self.pending.len() >= MOST_PENDING {
            return Err(ShellParseError::Long);
        }
        self.pending.push(PendingHeredoc { delimiter, literal, tabs });
        // The body is read before the rest of the line, so that it belongs to its command.
        let body = self.body_ahead();
        Ok(Some(ShellRedirect { kind: RedirectKind::Text, target: body }))
    }

    /// The body of the newest pending here-document, without a change of the position.
    fn body_ahead(&mut self) -> ShellWord {
        let here = self.at;
        // If the line's end is not certain, the body is not certain either.
        let mut body = ShellWord::unknown("<<");
        if self.find_line_end() {
            for pending in self.pending.clone() {
                body = self.body(&pending);
            }
        }
        self.at = here;
        body
    }

    /// Finds the line end that starts the bodies; quotes in between may contain line ends of their own.
    fn find_line_end(&mut self) -> bool {
        let mut quote = None;
        while let Some(c) = self.peek() {
            match (c, quote) {
                ('\n', None) => {
                    self.at += 1;
                    return true;
                }
                ('\\', None | Some('"')) => self.at += 1,
                (c, Some(q)) if c == q => quote = None,
                ('\'' | '"', None) => quote = Some(c),
                _ => {}
            }
            self.at += 1;
        }
        false
    }

    fn body(&mut self, pending: &PendingHeredoc) -> ShellWord {
        let mut text = String::new();
        while self.at < self.chars.len() {
            let mut line = String::new();
            while let Some(c) = self.bump() {
                if c == '\n' {
                    break;
                }
                line.push(c);
            }
            let line = if pending.tabs { line.trim_start_matches('\t') } else { &line };
            if line == pending.delimiter {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        let expands = !pending.literal && text.contains(['$', '`', '\\']);
        if expands { ShellWord::unknown(&text) } else { ShellWord::literal(&text) }
    }

    /// After a line end: skips the bodies of the line's here-documents, and parses the substitutions in them.
    pub(super) fn pass_bodies(&mut self) -> Result<(), ShellParseError> {
        for pending in std::mem::take(&mut self.pending) {
            let body = self.body(&pending);
            if body.text.is_none() {
                self.substitutions_in(&body.source)?;
            }
        }
        Ok(())
    }

    /// Parses the commands in a text in double quotes: `$(...)` and backticks.
    fn substitutions_in(&mut self, text: &str) -> Result<(), ShellParseError> {
        let quoted = format!("\"{}\"", text.replace('"', " "));
        let mut inner = self.below(&quoted, self.state.clone())?;
        inner.word_in(WordBuilder::new())?;
        self.out.append(&mut inner.out);
        Ok(())
    }
}
