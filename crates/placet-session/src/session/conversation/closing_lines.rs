//! What the screen showed below the last turns: that changes were applied or discarded, and why a turn ended early.
//!
//! The lines are for the person alone and no message of the conversation, so they are a state of the session: who resumes
//! it sees its end as it looked. A few turns are enough for that; what is older goes.

use super::record::SessionStateKey;
use crate::session::SessionError;
use crate::session::open::OpenSession;
use serde::{Deserialize, Serialize};

/// Lines that are stored: more than the turns that a screen shows of a resumed session.
const STORED: usize = 40;
/// Bytes of one line.
const LINE_BYTES: usize = 1_000;

/// A line below the first `messages` of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosingLine {
    pub messages: usize,
    pub line: String,
}

impl OpenSession {
    /// The lines below the first `messages` and before, in order. A state that cannot be read has none.
    pub fn closing_lines(&self, messages: usize) -> Vec<ClosingLine> {
        let saved = self.state(SessionStateKey::ClosingLines).ok().flatten();
        let lines: Vec<ClosingLine> =
            saved.and_then(|saved| serde_json::from_str(&saved).ok()).unwrap_or_default();
        // A rewind left what is beyond.
        lines.into_iter().filter(|line| line.messages <= messages).collect()
    }

    /// Adds `line` below the first `messages`.
    pub fn add_closing_line(&self, messages: usize, line: &str) -> Result<(), SessionError> {
        let mut lines = self.closing_lines(messages);
        let line = line.get(..line.floor_char_boundary(LINE_BYTES)).unwrap_or_default().to_string();
        lines.push(ClosingLine { messages, line });
        lines.drain(..lines.len().saturating_sub(STORED));
        self.set(SessionStateKey::ClosingLines, &serde_json::to_string(&lines)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionStore;
    use std::path::Path;

    #[test]
    fn the_last_lines_are_stored_and_those_beyond_a_rewind_go() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let open = store.create(Path::new("/"), "t").unwrap();
        for at in 1..=50 {
            open.add_closing_line(at, &"é".repeat(at * 20)).unwrap();
        }
        let lines = open.closing_lines(usize::MAX);
        assert_eq!((lines.len(), lines[0].messages, lines[39].messages), (40, 11, 50));
        assert!(lines.iter().all(|line| line.line.len() <= LINE_BYTES));
        open.add_closing_line(12, "again").unwrap();
        let places: Vec<usize> = open.closing_lines(usize::MAX).iter().map(|line| line.messages).collect();
        assert_eq!(places, [11, 12, 12]);
    }
}
