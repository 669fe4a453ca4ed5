//! The lines of a server that are not messages. The first one is reported, because it often explains a failure: a program
//! that prints its help, or a log that belongs on standard error.

use rmcp::model::RequestId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How much of a line is reported, in bytes.
const LONGEST: usize = 200;
/// How many answers that cannot be read are remembered.
const MOST_ANSWERS: usize = 16;

/// Clones share everything.
#[derive(Clone, Default)]
pub(super) struct UnreadLines(Arc<UnreadState>);

#[derive(Default)]
struct UnreadState {
    found: Mutex<FoundLines>,
    /// An answer was found.
    answered: Notify,
}

#[derive(Default)]
struct FoundLines {
    first: Option<String>,
    is_reported: bool,
    answers: VecDeque<UnreadAnswer>,
    /// How many answers there were.
    count: u64,
    too_long: Option<usize>,
}

#[derive(Clone)]
struct UnreadAnswer {
    number: u64,
    id: RequestId,
    line: String,
}

impl UnreadLines {
    fn found(&self) -> MutexGuard<'_, FoundLines> {
        self.0.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a line. `answers` is the request that it was to answer, if that can be seen.
    pub(super) fn note(&self, line: &[u8], answers: Option<RequestId>) {
        let mut found = self.found();
        if found.first.is_some() && answers.is_none() {
            return;
        }
        let line = beginning(line);
        found.first.get_or_insert_with(|| line.clone());
        if let Some(id) = answers {
            found.count += 1;
            if found.answers.len() == MOST_ANSWERS {
                found.answers.pop_front();
            }
            let number = found.count;
            found.answers.push_back(UnreadAnswer { number, id, line });
        }
        drop(found);
        self.0.answered.notify_waiters();
    }

    pub(super) fn note_too_long(&self, most: usize) {
        self.found().too_long = Some(most);
    }

    /// The limit that a message was longer than.
    pub(super) fn too_long(&self) -> Option<usize> {
        self.found().too_long
    }

    /// The first line that was not a message: hostile text.
    pub(super) fn first(&self) -> Option<String> {
        self.found().first.clone()
    }

    /// The same for an error; `None` if an earlier error had it.
    pub(super) fn take_first(&self) -> Option<String> {
        let mut found = self.found();
        if found.is_reported {
            return None;
        }
        found.is_reported = found.first.is_some();
        found.first.clone()
    }

    /// How many answers could not be read until now.
    pub(super) fn count(&self) -> u64 {
        self.found().count
    }

    /// Waits for an answer that cannot be read, after the first `before`, whose request is one of ours. Returns the
    /// beginning of the line: hostile text.
    pub(super) async fn answer(&self, before: u64, is_ours: impl Fn(&RequestId) -> bool) -> String {
        loop {
            let answered = self.0.answered.notified();
            let line = {
                let mut found = self.found();
                let mut new = found.answers.iter().filter(|answer| answer.number > before);
                let line = new.find(|answer| is_ours(&answer.id)).map(|answer| answer.line.clone());
                found.is_reported |= line.is_some();
                line
            };
            match line {
                Some(line) => return line,
                None => answered.await,
            }
        }
    }
}

/// The beginning of a line, in backticks.
fn beginning(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line.get(..line.len().min(LONGEST + 4)).unwrap_or_default());
    if line.len() <= LONGEST {
        return format!("`{text}`");
    }
    let shown = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default();
    format!("`{shown}` [the first {LONGEST} of {} bytes]", line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_belongs_to_its_request_and_not_to_a_later_one() {
        let lines = UnreadLines::default();
        lines.note(b"hello \xff", None);
        lines.note("é".repeat(300).as_bytes(), Some(RequestId::Number(1)));
        let one = lines.answer(0, |id| *id == RequestId::Number(1)).await;
        assert!(one.starts_with("`éé") && one.ends_with("é` [the first 200 of 600 bytes]"), "{one}");
        let mut other = std::pin::pin!(lines.answer(0, |id| *id == RequestId::Number(2)));
        let later = std::pin::pin!(lines.answer(lines.count(), |_| true));
        assert!(futures_util::future::poll_immediate(&mut other).await.is_none());
        assert!(futures_util::future::poll_immediate(later).await.is_none());
        lines.note(b"{\"id\":2", Some(RequestId::Number(2)));
        assert_eq!(other.await, "`{\"id\":2`");
        assert_eq!(lines.first().as_deref(), Some("`hello \u{fffd}`"));
    }
}
