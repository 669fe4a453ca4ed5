//! Characters of a line, and words made of them: quotes, escapes, expansions.

use super::parser::ShellParser;
use super::word::{ShellWord, WordBuilder};
use super::{CommandSegment, SegmentKind, ShellParseError};
use crate::tables::steers_later_commands;

/// The characters that end an unquoted word.
pub(super) fn is_meta(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl ShellParser {
    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    pub(super) fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(i, c)| self.peek_at(i) == Some(c))
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn slice(&self, from: usize) -> String {
        self.chars.get(from..self.at).unwrap_or_default().iter().collect()
    }

    /// Spaces, line continuations and comments, but no line ends.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// The next word, if it is plain letters without quotes or expansions: only such a word can be reserved.
    pub(super) fn peek_plain(&self) -> Option<String> {
        let mut out = String::new();
        for c in self.chars.get(self.at..)?.iter().copied() {
            if is_meta(c) {
                break;
            }
            if matches!(c, '\'' | '"' | '\\' | '$' | '`') || out.len() > 64 {
                return None;
            }
            out.push(c);
        }
        (!out.is_empty()).then_some(out)
    }

    /// Reads a word; `None` if no word starts here.
    pub(super) fn word(&mut self) -> Result<Option<ShellWord>, ShellParseError> {
        self.word_in(WordBuilder::new())
    }

    pub(super) fn word_in(&mut self, mut word: WordBuilder) -> Result<Option<ShellWord>, ShellParseError> {
        if self.peek() == Some('~') && word.is_empty() {
            self.tilde(&mut word);
        }
        while let Some(c) = self.peek() {
            match c {
                '<' | '>' if self.peek_at(1) == Some('(') => {
                    let from = self.at;
                    self.at += 2;
                    self.substitution()?;
                    let source = self.slice(from);
                    word.expansion(&source, None);
                }
                '(' if word.source().ends_with(['@', '!', '+', '?', '*', '=', ']']) && !word.is_quoted() => {
                    return Err(ShellParseError::Unsupported(
                        "a bracket after a word (an array, an extended glob)",
                    ));
                }
                c if is_meta(c) => break,
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    self.at += 1;
                    match self.bump() {
                        Some('\n') => {}
                        Some(c) => word.quoted(c),
                        None => word.quoted('\\'),
                    }
                }
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backticks(&mut word)?,
                c => {
                    word.plain(c);
                    self.at += 1;
                }
            }
        }
        Ok((!word.is_empty()).then(|| word.finish()))
    }

    fn tilde(&mut self, word: &mut WordBuilder) {
        let from = self.at;
        self.at += 1;
        while self
            .peek()
            .is_some_and(|c| c != '/' && !is_meta(c) && !matches!(c, '\'' | '"' | '\\' | '$' | '`'))
        {
            self.at += 1;
        }
        let source = self.slice(from);
        let ends = self.peek().is_none_or(|c| c == '/' || is_meta(c));
        let value = match source.as_str() {
            "~" if ends => self.state.value("HOME"),
            "~+" if ends => self.state.value("PWD"),
            _ => None,
        };
        word.expansion(&source, value.as_deref());
    }

    fn single_quoted(&mut self, word: &mut WordBuilder) -> Result<(), ShellParseError> {
        self.at += 1;
        word.quotes();
        loop {
            match self.bump() {
                Some('\'') => return Ok(()),
                Some(c) => word.quoted(c),
                None => return Err(ShellParseError::Open("'")),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut WordBuilder) -> Result<(), ShellParseError> {
        self.at += 1;
        word.quotes();
        loop {
            match self.peek() {
                None => return Err(ShellParseError::Open("\"")),
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') => {
                    self.at += 1;
                    match self.bump() {
                        Some('\n') => {}
                        Some(c @ ('$' | '`' | '"' | '\\')) => word.quoted(c),
                        Some(c) => {
                            word.quoted('\\');
                            word.quoted(c);
                        }
                        None => return Err(ShellParseError::Open("\"")),
                    }
                }
                Some('$') => self.dollar(word, true)?,
                Some('`') => self.backticks(word)?,
                Some(c) => {
                    word.quoted(c);
                    self.at += 1;
                }
            }
        }
    }

    fn dollar(&mut self, word: &mut WordBuilder, quoted: bool) -> Result<(), ShellParseError> {
        let from = self.at;
        self.at += 1;
        match self.peek() {
            Some('(') if self.peek_at(1) == Some('(') => {
                let mark = (self.at, self.out.len());
                self.at += 2;
                // `$((` may also be a subshell inside a substitution; then no `))` closes it.
                if !self.arithmetic()? {
                    self.out.truncate(mark.1);
                    self.at = mark.0 + 1;
                    self.substitution()?;
                }
            }
            Some('(') => {
                self.at += 1;
                self.substitution()?;
            }
            Some('[') => return Err(ShellParseError::Unsupported("`$[`")),
            Some('{') => {
                self.at += 1;
                return self.braced(word, quoted, from);
            }
            Some('\'') if !quoted => return self.ansi_quoted(word),
            Some('"') if !quoted => return self.double_quoted(word),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                let name = self.slice(start);
                let value = if quoted { self.state.value(&name) } else { self.state.unquoted_value(&name) };
                let source = self.slice(from);
                word.expansion(&source, value.as_deref());
                return Ok(());
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => self.at += 1,
            _ => {
                word.quoted('$');
                return Ok(());
            }
        }
        let source = self.slice(from);
        word.expansion(&source, None);
        Ok(())
    }

    /// Reads the rest of `${...}`, including substitutions inside it.
    fn braced(&mut self, word: &mut WordBuilder, quoted: bool, from: usize) -> Result<(), ShellParseError> {
        let start = self.at;
        self.nested(|parser| {
            let mut inner = WordBuilder::new();
            loop {
                match parser.peek() {
                    None => return Err(ShellParseError::Open("${")),
                    Some('}') => return Ok(()),
                    Some('\'') if !quoted => parser.single_quoted(&mut inner)?,
                    Some('"') => parser.double_quoted(&mut inner)?,
                    Some('\\') => parser.at += 2,
                    Some('$') => parser.dollar(&mut inner, true)?,
                    Some('`') => parser.backticks(&mut inner)?,
                    Some(_) => parser.at += 1,
                }
            }
        })?;
        let inside = self.slice(start);
        self.at += 1;
        // `@P` runs the content of the value; an index is arithmetic, which may run a command too.
        if inside.contains('@') && inside.ends_with('P') {
            return Err(ShellParseError::Unsupported("`${...@P}`"));
        }
        // `${PATH:=x}` sets the variable.
        let sets = inside.split_once('=').map(|(name, _)| name.trim_end_matches(':'));
        if sets.is_some_and(|name| is_name(name) && steers_later_commands(name)) {
            self.opaque(&inside);
        }
        let subscript = inside.split_once('[').map(|(_, rest)| rest);
        if subscript.is_some_and(|rest| !rest.starts_with(['@', '*', '0', '1', '2', '3', '4'])) {
            self.opaque(&inside);
        }
        let source = self.slice(from);
        let value = match () {
            () if !is_name(&inside) => None,
            () if quoted => self.state.value(&inside),
            () => self.state.unquoted_value(&inside),
        };
        word.expansion(&source, value.as_deref());
        Ok(())
    }

    fn ansi_quoted(&mut self, word: &mut WordBuilder) -> Result<(), ShellParseError> {
        self.at += 1;
        word.quotes();
        loop {
            match self.bump() {
                None => return Err(ShellParseError::Open("$'")),
                Some('\'') => return Ok(()),
                Some('\\') => {
                    let Some(c) = self.bump() else { return Err(ShellParseError::Open("$'")) };
                    match c {
                        'n' => word.quoted('\n'),
                        't' => word.quoted('\t'),
                        'r' => word.quoted('\r'),
                        'a' | 'b' | 'f' | 'v' => word.quoted(' '),
                        'e' | 'E' => word.quoted('\u{1b}'),
                        'x' => self.code(word, 16, 2, None),
                        'u' => self.code(word, 16, 4, None),
                        'U' => self.code(word, 16, 8, None),
                        '0'..='7' => self.code(word, 8, 2, c.to_digit(8)),
                        'c' => drop(self.bump()),
                        c => word.quoted(c),
                    }
                }
                Some(c) => word.quoted(c),
            }
        }
    }

    fn code(&mut self, word: &mut WordBuilder, radix: u32, most: usize, first: Option<u32>) {
        let mut value = first.unwrap_or(0);
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
        }
        // A zero ends the string in bash, and no path or option contains one.
        word.quoted(char::from_u32(value).filter(|c| *c != '\0').unwrap_or('\u{fffd}'));
    }

    fn backticks(&mut self, word: &mut WordBuilder) -> Result<(), ShellParseError> {
        let from = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return Err(ShellParseError::Open("`")),
                Some('`') => break,
                Some('\\') => match self.bump() {
                    Some(c @ ('$' | '`' | '\\')) => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                    None => return Err(ShellParseError::Open("`")),
                },
                Some(c) => text.push(c),
            }
        }
        let found = self.read_script(&text, self.state.clone())?.0;
        self.out.extend(found);
        let source = self.slice(from);
        word.expansion(&source, None);
        Ok(())
    }

    /// Reads the commands up to the `)` of `$(`, `<(` or `>(`. Their effects on the state end with them.
    fn substitution(&mut self) -> Result<(), ShellParseError> {
        let state = self.state.clone();
        let pending = std::mem::take(&mut self.pending);
        self.nested(|parser| parser.list())?;
        self.state = state;
        self.pending = pending;
        if self.eat(")") { Ok(()) } else { Err(ShellParseError::Open("$(")) }
    }

    /// Reads the rest of `$((...))`; false if it does not end with two brackets.
    fn arithmetic(&mut self) -> Result<bool, ShellParseError> {
        let (mut depth, mut names, from) = (0_usize, false, self.at);
        self.nested(|parser| {
            let mut inner = WordBuilder::new();
            loop {
                match parser.peek() {
                    None => return Ok(false),
                    Some(')') if depth == 0 => {
                        let closed = parser.eat("))");
                        if closed && names {
                            let text: String = parser.slice(from);
                            parser.opaque(&text);
                        }
                        return Ok(closed);
                    }
                    Some('(') => depth += 1,
                    Some(')') => depth -= 1,
                    Some('$') => {
                        names = true;
                        parser.dollar(&mut inner, true)?;
                        continue;
                    }
                    Some('`') => {
                        names = true;
                        parser.backticks(&mut inner)?;
                        continue;
                    }
                    Some(c) if c.is_ascii_alphabetic() || c == '_' => names = true,
                    Some(_) => {}
                }
                parser.at += 1;
            }
        })
    }

    /// bash evaluates the values of names in arithmetic, and a value may contain a command.
    pub(super) fn opaque(&mut self, text: &str) {
        let source = text.trim_end_matches(')').trim();
        self.out.push(CommandSegment {
            kind: SegmentKind::Opaque,
            words: vec![ShellWord::unknown(&format!("$(({source}))"))],
            ..self.blank()
        });
    }
}
