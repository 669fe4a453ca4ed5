//! Syntax colours of what is on the screen, computed in the background: a line without a result is plain.
//!
//! One thread parses in chunks, the newest request first, and stores the parser's state every few hundred lines: no
//! place of a file is parsed from the beginning twice. Far ahead of the parsed part, the thread begins a little above
//! the request with a fresh state, and corrects the result when it has nothing else to do. In a file of more than a
//! hundred thousand lines, such a place stays as guessed. The module knows nothing of screens: ranges are of bytes in
//! the document's own lines.

mod worker;

#[cfg(test)]
mod tests;

use super::colors::contrast::ContrastAdjuster;
use super::colors::theme::Theme;
use super::worker::Worker;
use ratatui::style::Style;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
pub use worker::HighlightDocId;
use worker::{CHUNK, HighlightDocument, HighlightRequest, HighlightResult, LineHighlights};

/// Lines whose colours are stored, of all documents together.
const KEPT: usize = 200_000;

/// A chunk's lines, and when it was wanted last.
struct HighlightedChunk {
    lines: Vec<LineHighlights>,
    used: Cell<u64>,
}

pub struct SyntaxHighlighter {
    docs: HashMap<HighlightDocId, Arc<HighlightDocument>>,
    known: HashMap<HighlightDocId, HashMap<usize, HighlightedChunk>>,
    lines: usize,
    next: u64,
    clock: Cell<u64>,
    /// `None`: the theme leaves code plain.
    worker: Option<Worker<HighlightRequest, HighlightResult>>,
    /// Results so far.
    received: usize,
}

impl SyntaxHighlighter {
    pub fn new(theme: &Theme) -> SyntaxHighlighter {
        SyntaxHighlighter::with(theme, theme.lift())
    }

    /// For code next to added and removed lines, whose colours have a meaning.
    pub fn of_difference(theme: &Theme) -> SyntaxHighlighter {
        SyntaxHighlighter::with(theme, theme.lift_in_difference())
    }

    fn with(theme: &Theme, lift: ContrastAdjuster) -> SyntaxHighlighter {
        SyntaxHighlighter {
            docs: HashMap::new(),
            known: HashMap::new(),
            lines: 0,
            next: 0,
            clock: Cell::new(0),
            worker: worker::highlighter(theme, lift),
            received: 0,
        }
    }

    /// Takes a document; nothing is computed before [`SyntaxHighlighter::want`]. The language is a name, a file
    /// extension or a path; where these are unknown, the first line decides.
    pub fn add(&mut self, text: Arc<str>, language_or_path: &str) -> HighlightDocId {
        self.next += 1;
        let id = HighlightDocId(self.next);
        self.docs.insert(id, Arc::new(HighlightDocument { text, language: language_or_path.into() }));
        self.known.insert(id, HashMap::new());
        id
    }

    /// These lines are on the screen: they are computed next, if their colours are not known. Costs nothing when they
    /// are.
    pub fn want(&self, doc: HighlightDocId, lines: Range<usize>) {
        let (Some(known), Some(document)) = (self.known.get(&doc), self.docs.get(&doc)) else { return };
        let now = self.clock.get() + 1;
        self.clock.set(now);
        let mut missing = Vec::new();
        // More chunks than these do not fit on a screen.
        for chunk in (lines.start / CHUNK..lines.end.div_ceil(CHUNK)).take(8) {
            match known.get(&chunk) {
                Some(known) => known.used.set(now),
                None => missing.push(chunk),
            }
        }
        if let Some(worker) = self.worker.as_ref().filter(|_| !missing.is_empty()) {
            let document = Arc::clone(document);
            let received = self.received;
            worker.send(HighlightRequest::Want { id: doc, document, chunks: missing, received });
        }
    }

    /// The colours of a line, by ranges of its bytes without its end; `None` while they are not known.
    pub fn line(&self, doc: HighlightDocId, n: usize) -> Option<&[(Range<usize>, Style)]> {
        let chunk = self.known.get(&doc)?.get(&(n / CHUNK))?;
        chunk.lines.get(n % CHUNK).map(|line| &**line)
    }

    /// Receives results; true when there is something new to draw.
    pub fn poll(&mut self) -> bool {
        let mut news = false;
        // Without the thread, code stays plain.
        while let Some(Ok(result)) = self.worker.as_mut().and_then(Worker::poll) {
            news |= self.receive(result);
        }
        news
    }

    /// Receives results until everything that was wanted is known, but no longer than until `deadline`: for lines that
    /// are written once and never drawn again.
    pub fn wait(&mut self, deadline: Instant) {
        while let Some(Ok(result)) = self.worker.as_mut().and_then(|worker| worker.poll_until(deadline)) {
            self.receive(result);
        }
    }

    fn receive(&mut self, (doc, chunk, lines): HighlightResult) -> bool {
        self.received += 1;
        let Some(known) = self.known.get_mut(&doc) else { return false };
        self.lines += lines.len();
        let new = HighlightedChunk { lines, used: Cell::new(self.clock.get()) };
        if let Some(old) = known.insert(chunk, new) {
            self.lines -= old.lines.len();
        }
        while self.lines > KEPT {
            self.forget_oldest();
        }
        true
    }

    /// True while something that was wanted is not computed or not received yet.
    pub fn is_busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Worker::is_busy)
    }

    /// Forgets a document and drops its work.
    pub fn remove(&mut self, doc: HighlightDocId) {
        self.docs.remove(&doc);
        if let Some(worker) = self.worker.as_ref().filter(|worker| worker.is_started()) {
            worker.send(HighlightRequest::Remove(doc));
        }
        let gone = self.known.remove(&doc).unwrap_or_default();
        self.lines -= gone.values().map(|known| known.lines.len()).sum::<usize>();
    }

    fn forget_oldest(&mut self) {
        let all = self.known.iter().flat_map(|(doc, chunks)| {
            chunks
                .iter()
                .filter(|(_, known)| !known.lines.is_empty())
                .map(|(at, k)| (k.used.get(), *doc, *at))
        });
        let Some((_, doc, chunk)) = all.min() else {
            self.lines = 0;
            return;
        };
        if let Some(known) = self.known.get_mut(&doc).and_then(|chunks| chunks.remove(&chunk)) {
            self.lines -= known.lines.len();
        }
    }
}
