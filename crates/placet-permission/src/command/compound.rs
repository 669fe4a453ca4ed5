//! Compound commands: branches, loops, `case`, `[[`, functions, and their effects on the known state.

use super::lexer::{is_meta, is_name};
use super::parser::ShellParser;
use super::{CommandSegment, SegmentKind, ShellParseError, ShellWord};
use crate::tables::steers_later_commands;

impl ShellParser {
    pub(super) fn branches(&mut self) -> Result<(), ShellParseError> {
        self.at += 2;
        let before = self.state.clone();
        self.list()?;
        self.keyword("then")?;
        let mut joined = before;
        loop {
            let start = self.state.clone();
            self.list()?;
            joined.or(&self.state);
            self.state = start;
            self.skip_lines()?;
            match self.peek_plain().as_deref() {
                Some("elif") => {
                    self.at += 4;
                    self.list()?;
                    self.keyword("then")?;
                }
                Some("else") => self.at += 4,
                _ => break,
            }
        }
        self.keyword("fi")?;
        self.state = joined;
        Ok(())
    }

    /// A loop's body can run again: its beginning may see the variables that it sets.
    pub(super) fn enter_loop(&mut self) {
        self.state.forget_vars();
        let rest: String = self.chars.get(self.at..).unwrap_or_default().iter().collect();
        if rest.contains("cd") || rest.contains("pushd") || rest.contains("popd") {
            self.state.dirs = None;
        }
        // A name that is set only in the body is not known before the body either.
        for before in rest.split('=') {
            let before = before.strip_suffix('+').unwrap_or(before);
            let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
            if let Some(name) = before.get(start..).filter(|name| is_name(name)) {
                self.state.vars.insert(name.into(), None);
            }
        }
    }

    pub(super) fn for_loop(&mut self) -> Result<(), ShellParseError> {
        self.at += self.peek_plain().map_or(0, |w| w.len());
        self.skip_blanks();
        if self.looking_at("((") {
            return Err(ShellParseError::Unsupported("an arithmetic `for`"));
        }
        let Some(name) = self.word()? else { return Err(self.unexpected("the name of a `for`")) };
        if steers_later_commands(&name.source) {
            self.opaque(&name.source);
        }
        self.skip_lines()?;
        if self.peek_plain().as_deref() == Some("in") {
            self.at += 2;
            self.skip_blanks();
            while self.word()?.is_some() {
                self.skip_blanks();
            }
        }
        self.skip_blanks();
        self.eat(";");
        self.enter_loop();
        let before = self.state.clone();
        self.state.vars.insert(name.source, None);
        self.skip_lines()?;
        if self.peek_plain().as_deref() == Some("{") {
            self.at += 1;
            self.list()?;
            self.close("}")?;
        } else {
            self.keyword("do")?;
            self.list()?;
            self.keyword("done")?;
        }
        self.state.or(&before);
        Ok(())
    }

    pub(super) fn case(&mut self) -> Result<(), ShellParseError> {
        self.at += 4;
        self.skip_blanks();
        self.word()?;
        self.keyword("in")?;
        let mut joined = self.state.clone();
        loop {
            self.skip_lines()?;
            if self.peek_plain().as_deref() == Some("esac") {
                self.at += 4;
                break;
            }
            self.eat("(");
            loop {
                self.skip_blanks();
                if self.word()?.is_none() {
                    return Err(self.unexpected("a pattern of `case`"));
                }
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                return Err(self.unexpected("the `)` of a pattern"));
            }
            let start = self.state.clone();
            self.list()?;
            joined.or(&self.state);
            self.state = start;
            self.skip_lines()?;
            let ended = self.eat(";;&") || self.eat(";;") || self.eat(";&");
            if !ended && self.peek_plain().as_deref() != Some("esac") {
                return Err(self.unexpected("`;;`"));
            }
        }
        self.state = joined;
        Ok(())
    }

    /// `[[ ... ]]`: its words without the operators. Comparisons of numbers evaluate their operands, see `opaque`.
    pub(super) fn test(&mut self) -> Result<(), ShellParseError> {
        let mut segment = self.blank();
        let mut compares = false;
        loop {
            self.skip_lines()?;
            if self.peek_plain().as_deref() == Some("]]") {
                self.at += 2;
                break;
            }
            match self.peek() {
                None => return Err(ShellParseError::Open("[[")),
                Some('(' | ')' | '<' | '>' | '|' | '&' | ';') => self.at += 1,
                Some(_) => {
                    if let Some(word) = self.word()? {
                        compares |=
                            ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"].iter().any(|o| word.is(o));
                        segment.words.push(word);
                    }
                }
            }
        }
        let simple =
            |w: &ShellWord| w.text.as_deref().is_some_and(|t| !t.contains(['[', '`', '$']) || t == "[[");
        if compares && !segment.words.iter().all(simple) {
            self.opaque(&segment.text());
        }
        self.out.push(segment);
        Ok(())
    }

    /// `name()`: if the text is a function definition, moves behind the brackets.
    pub(super) fn at_function(&mut self) -> bool {
        let here = self.at;
        while self.peek().is_some_and(|c| !is_meta(c) && !matches!(c, '\'' | '"' | '\\' | '$' | '`' | '=')) {
            self.at += 1;
        }
        let named = self.at > here;
        self.skip_blanks();
        if named && self.eat("(") {
            self.skip_blanks();
            if self.eat(")") {
                return true;
            }
        }
        self.at = here;
        false
    }

    /// The policy decides about a body where it is written, because the calls of the function are unknown.
    pub(super) fn function_body(&mut self) -> Result<(), ShellParseError> {
        let state = self.state.clone();
        self.state.forget_vars();
        self.state.dirs = None;
        self.skip_lines()?;
        self.nested(ShellParser::command)?;
        self.state = state;
        // A call of the function may change the directory and any variable.
        self.state.forget_vars();
        let changes = |s: &CommandSegment| {
            matches!(s.program(), Some("cd" | "pushd" | "popd" | "eval" | "source" | "."))
        };
        if self.out.iter().flat_map(CommandSegment::all).any(changes) {
            self.state.dirs = None;
        }
        Ok(())
    }

    pub(super) fn compound_redirects(&mut self) -> Result<(), ShellParseError> {
        let mut segment = CommandSegment { kind: SegmentKind::Compound, ..self.blank() };
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => segment.redirects.extend(redirect),
                None => break,
            }
        }
        if !segment.redirects.is_empty() {
            self.out.push(segment);
        }
        Ok(())
    }
}
