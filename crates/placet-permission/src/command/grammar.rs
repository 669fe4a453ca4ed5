//! The grammar: lists, pipelines, compound commands, simple commands. A recursive descent parser with a depth limit.

use super::lexer::is_name;
use super::parse_state::ShellParseState;
use super::parser::{MOST_CHARS, ShellParser};
use super::{CommandSegment, ShellParseContext, ShellParseError, ShellWord};

/// More commands than people write on a line.
const MOST_SEGMENTS: usize = 1_000;

/// The simple commands that `line` may run, in their order in the line.
pub(crate) fn parse(line: &str, at: ShellParseContext<'_>) -> Result<Vec<CommandSegment>, ShellParseError> {
    if line.len() > MOST_CHARS {
        return Err(ShellParseError::Long);
    }
    ShellParser::new(line, ShellParseState::new(at), 0).script().map(|(segments, _)| segments)
}

/// Words that end a list in place of a command.
const CLOSERS: [&str; 8] = ["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl ShellParser {
    pub(super) fn skip_lines(&mut self) -> Result<(), ShellParseError> {
        loop {
            self.skip_blanks();
            if self.peek() != Some('\n') {
                return Ok(());
            }
            self.at += 1;
            self.pass_bodies()?;
        }
    }

    /// Parses commands up to something that closes a list; the caller checks what it is.
    pub(super) fn list(&mut self) -> Result<(), ShellParseError> {
        loop {
            self.skip_lines()?;
            let closed = match self.peek() {
                None | Some(')') => true,
                Some(';') => self.peek_at(1) == Some(';') || self.looking_at(";&"),
                _ => self.peek_plain().is_some_and(|word| CLOSERS.contains(&word.as_str())),
            };
            if closed {
                return Ok(());
            }
            let before = self.state.clone();
            self.and_or()?;
            self.skip_blanks();
            match self.peek() {
                Some(';') if self.peek_at(1) != Some(';') && self.peek_at(1) != Some('&') => self.at += 1,
                Some('&') if self.peek_at(1) != Some('&') => {
                    // The commands run in a subshell, which does not change the state.
                    self.state = before;
                    self.at += 1;
                }
                Some('\n' | ')' | ';') | None => {}
                _ => return Err(self.unexpected("the end of a command")),
            }
        }
    }

    /// `a && b || c`. If a command may have failed, a `cd` in it may have failed too: both directories remain possible.
    fn and_or(&mut self) -> Result<(), ShellParseError> {
        let before = self.state.clone();
        let mut certain = self.state.stops_on_failure;
        self.pipeline()?;
        loop {
            self.skip_blanks();
            if self.eat("&&") {
                self.skip_lines()?;
                self.pipeline()?;
            } else if self.eat("||") {
                self.skip_lines()?;
                let good = self.state.clone();
                self.state.or(&before);
                let from = self.out.len();
                self.pipeline()?;
                let leaves = |s: &CommandSegment| matches!(s.program(), Some("exit" | "return"));
                if self.out.get(from).is_some_and(leaves) {
                    self.state = good;
                    certain = true;
                }
            } else {
                break;
            }
        }
        if !certain && self.state.dirs != before.dirs {
            let dirs = before.dirs.clone();
            self.state.dirs = super::parse_state::union(self.state.dirs.take(), dirs);
        }
        Ok(())
    }

    fn pipeline(&mut self) -> Result<(), ShellParseError> {
        loop {
            self.skip_blanks();
            match self.peek_plain().as_deref() {
                Some("!") => self.at += 1,
                Some("time") => {
                    let here = self.at;
                    self.at += 4;
                    self.skip_blanks();
                    for option in ["-p", "--"] {
                        if self.peek_plain().as_deref() == Some(option) {
                            self.at += 2;
                        }
                        self.skip_blanks();
                    }
                    // With another option it is the program `time`.
                    if self.peek() == Some('-') {
                        self.at = here;
                        break;
                    }
                    // `time` alone times nothing.
                    if self.peek().is_none_or(|c| matches!(c, '\n' | ';')) {
                        return Ok(());
                    }
                }
                _ => break,
            }
        }
        let before = self.state.clone();
        let mut feeding: Vec<String> = Vec::new();
        let mut piped = false;
        loop {
            let from = self.out.len();
            self.nested(ShellParser::command)?;
            if self.out.len() > MOST_SEGMENTS {
                return Err(ShellParseError::Long);
            }
            for segment in self.out.iter_mut().skip(from) {
                feed(segment, &feeding);
            }
            feeding.extend(self.out.iter().skip(from).flat_map(CommandSegment::programs));
            self.skip_blanks();
            let more = self.looking_at("|") && !self.looking_at("||");
            if !more {
                break;
            }
            piped = true;
            self.at += 1;
            self.eat("&");
            self.skip_lines()?;
            self.state = before.clone();
        }
        if piped {
            // Each part runs in a subshell; in some shells the last part does not.
            self.state.or(&before);
        }
        Ok(())
    }

    pub(super) fn command(&mut self) -> Result<(), ShellParseError> {
        self.skip_blanks();
        if self.looking_at("((") {
            return Err(ShellParseError::Unsupported("an arithmetic command"));
        }
        if self.eat("(") {
            let state = self.state.clone();
            self.list()?;
            self.state = state;
            self.close(")")?;
            return self.compound_redirects();
        }
        let word = self.peek_plain().unwrap_or_default();
        let length = word.chars().count();
        match word.as_str() {
            "{" => {
                self.at += length;
                self.list()?;
                self.close("}")?;
            }
            "if" => self.branches()?,
            "while" | "until" => {
                self.at += length;
                self.enter_loop();
                let before = self.state.clone();
                self.list()?;
                self.keyword("do")?;
                self.list()?;
                self.keyword("done")?;
                self.state.or(&before);
            }
            "for" | "select" => self.for_loop()?,
            "case" => self.case()?,
            "[[" => self.test()?,
            "function" => {
                self.at += length;
                self.skip_blanks();
                self.word()?;
                self.skip_blanks();
                if self.eat("(") {
                    self.skip_blanks();
                    self.close(")")?;
                }
                return self.function_body();
            }
            "coproc" => return Err(ShellParseError::Unsupported("`coproc`")),
            word if CLOSERS.contains(&word) || word == "in" && length == 0 => {
                return Err(self.unexpected("a command"));
            }
            _ => {
                if self.at_function() {
                    return self.function_body();
                }
                return self.simple();
            }
        }
        self.compound_redirects()
    }

    pub(super) fn close(&mut self, what: &'static str) -> Result<(), ShellParseError> {
        self.skip_lines()?;
        if self.eat(what) { Ok(()) } else { Err(ShellParseError::Open(if what == ")" { "(" } else { "{" })) }
    }

    pub(super) fn keyword(&mut self, word: &'static str) -> Result<(), ShellParseError> {
        self.skip_lines()?;
        if self.peek_plain().as_deref() == Some(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(self.unexpected(word))
    }

    fn simple(&mut self) -> Result<(), ShellParseError> {
        let mut segment = self.blank();
        let (mut redirected, start) = (false, self.at);
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirected = true;
                segment.redirects.extend(redirect);
                continue;
            }
            if segment.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                segment.assignments.push(assignment);
                continue;
            }
            match self.word()? {
                Some(word) => segment.words.push(word),
                None => break,
            }
        }
        if segment.words.is_empty() && segment.assignments.is_empty() && !redirected {
            self.at = start;
            return Err(self.unexpected("a command"));
        }
        self.finish(segment)
    }

    /// `NAME=value` or `NAME+=value` before the program.
    fn assignment(&mut self) -> Result<Option<(String, ShellWord)>, ShellParseError> {
        let here = self.at;
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
            self.at += 1;
        }
        if is_name(&name) && self.peek() == Some('[') {
            let rest: String = self.chars.get(self.at..).unwrap_or_default().iter().collect();
            let word = rest.split(char::is_whitespace).next().unwrap_or_default();
            if word.contains("]=") || word.contains("]+=") {
                return Err(ShellParseError::Unsupported("an array"));
            }
        }
        let adds = is_name(&name) && self.looking_at("+=");
        if !is_name(&name) || !(adds || self.peek() == Some('=')) {
            self.at = here;
            return Ok(None);
        }
        self.at += if adds { 2 } else { 1 };
        if self.peek() == Some('(') {
            return Err(ShellParseError::Unsupported("an array"));
        }
        let mut value = self.word()?.unwrap_or_else(|| ShellWord::literal(""));
        if adds {
            value.text = None;
        }
        // A value is not split, and its wildcards are not expanded.
        value.glob = false;
        Ok(Some((name, value)))
    }

    /// Unwraps a simple command, stores it, and applies its effects to the state.
    fn finish(&mut self, mut segment: CommandSegment) -> Result<(), ShellParseError> {
        self.unwrap(&mut segment)?;
        if segment.words.is_empty() {
            for (name, value) in &segment.assignments {
                self.state.vars.insert(name.clone(), value.text.clone());
            }
        }
        self.effects(&segment);
        self.out.push(segment);
        Ok(())
    }

    fn effects(&mut self, segment: &CommandSegment) {
        let words: Vec<&ShellWord> =
            segment.arguments().iter().filter(|w| !w.is("--") && !w.is("-P") && !w.is("-L")).collect();
        match segment.program() {
            Some("cd" | "pushd") => match words.first() {
                None => {
                    let home = self.state.value("HOME");
                    self.state.change_dir(home.as_deref());
                }
                Some(word) if word.is("-") || word.glob || word.is("") => self.state.change_dir(None),
                Some(word) => self.state.change_dir(word.text.as_deref()),
            },
            Some("popd" | "source" | ".") => {
                self.state.change_dir(None);
                self.state.forget_vars();
            }
            Some("set") if words.iter().any(|w| w.text.as_deref().is_some_and(sets_e)) => {
                self.state.stops_on_failure = true;
            }
            Some(
                "read" | "export" | "local" | "declare" | "typeset" | "readonly" | "unset" | "printf"
                | "getopts",
            ) => {
                for word in words {
                    match word.text.as_deref().map(|t| t.split('=').next().unwrap_or(t)) {
                        Some(name) if is_name(name) => drop(self.state.vars.insert(name.into(), None)),
                        Some(_) => {}
                        None => self.state.forget_vars(),
                    }
                }
            }
            Some("mapfile" | "readarray" | "let") | None if !segment.words.is_empty() => {
                self.state.forget_vars()
            }
            _ => {}
        }
        for inner in segment.inner.iter().filter(|_| matches!(segment.program(), Some("command" | "builtin")))
        {
            self.effects(inner);
        }
    }
}

fn sets_e(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains('e') || word == "errexit"
}

fn feed(segment: &mut CommandSegment, by: &[String]) {
    segment.fed_by.extend(by.iter().cloned());
    for inner in &mut segment.inner {
        feed(inner, by);
    }
}
