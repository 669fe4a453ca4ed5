//! A text during parsing, the position in it, and the known state at that position. The grammar is in the neighbouring
//! files.

use super::parse_state::ShellParseState;
use super::{CommandSegment, SegmentKind, ShellParseError, WrapperKind};
use std::cell::Cell;
use std::rc::Rc;

/// Lines longer than this are not parsed.
pub(super) const MOST_CHARS: usize = 100_000;
/// Deeper nesting than people write.
const MOST_DEPTH: usize = 32;
/// More options that no table knows than people write.
const MOST_FORKS: usize = 64;

pub(super) struct ShellParser {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    depth: usize,
    pub(super) out: Vec<CommandSegment>,
    pub(super) pending: Vec<PendingHeredoc>,
    pub(super) state: ShellParseState,
    /// How often a command may begin at more than one place, in the whole line.
    forks: Rc<Cell<usize>>,
}

/// A here-document whose body begins after the next line end.
#[derive(Clone, Debug)]
pub(super) struct PendingHeredoc {
    pub(super) delimiter: String,
    pub(super) literal: bool,
    pub(super) tabs: bool,
}

impl ShellParser {
    pub(super) fn new(text: &str, state: ShellParseState, depth: usize) -> ShellParser {
        ShellParser {
            chars: text.chars().collect(),
            at: 0,
            depth,
            out: Vec::new(),
            pending: Vec::new(),
            state,
            forks: Rc::default(),
        }
    }

    /// Counts the additional places where a command may begin: each doubles the text to parse after it.
    pub(super) fn fork(&self, ends: usize) -> Result<(), ShellParseError> {
        self.forks.set(self.forks.get() + ends.saturating_sub(1));
        if self.forks.get() > MOST_FORKS { Err(ShellParseError::Long) } else { Ok(()) }
    }

    /// A parser of a text within this text.
    pub(super) fn below(&self, text: &str, state: ShellParseState) -> Result<ShellParser, ShellParseError> {
        if self.depth >= MOST_DEPTH {
            return Err(ShellParseError::Deep);
        }
        if text.len() > MOST_CHARS {
            return Err(ShellParseError::Long);
        }
        Ok(ShellParser { forks: Rc::clone(&self.forks), ..ShellParser::new(text, state, self.depth + 1) })
    }

    pub(super) fn read_script(
        &self,
        text: &str,
        state: ShellParseState,
    ) -> Result<(Vec<CommandSegment>, ShellParseState), ShellParseError> {
        self.below(text, state)?.script()
    }

    pub(super) fn script(mut self) -> Result<(Vec<CommandSegment>, ShellParseState), ShellParseError> {
        self.list()?;
        if self.at < self.chars.len() {
            return Err(self.unexpected("a command"));
        }
        Ok((self.out, self.state))
    }

    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut ShellParser) -> Result<T, ShellParseError>,
    ) -> Result<T, ShellParseError> {
        if self.depth >= MOST_DEPTH {
            return Err(ShellParseError::Deep);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    pub(super) fn unexpected(&self, wanted: &'static str) -> ShellParseError {
        let rest: String = self.chars.get(self.at..).unwrap_or_default().iter().take(12).collect();
        let found = match rest.lines().next() {
            None => "the end".into(),
            Some("") => "a line end".into(),
            Some(line) => line.to_string(),
        };
        ShellParseError::Unexpected { found, wanted }
    }

    /// An empty segment at this position.
    pub(super) fn blank(&self) -> CommandSegment {
        CommandSegment {
            kind: SegmentKind::Simple,
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            dirs: self.state.dirs.clone(),
            fed_by: Vec::new(),
            inner: Vec::new(),
            carrier: WrapperKind::None,
        }
    }
}
