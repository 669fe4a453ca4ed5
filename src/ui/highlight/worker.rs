//! The thread that colours: a queue of chunks, newest first, and the parser's states along each document.
//!
//! It ends with the [`super::LineHighlights`] it works for, after the chunk in hand. What it cannot parse stays plain.

use super::super::ansi::ColorDepth;
use super::super::contrast::ContrastAdjuster;
use super::super::syntax;
use super::super::theme::Theme;
use super::{CHUNK, HighlightDocId, LineHighlights};
use ratatui::style::Style;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use syntect::highlighting::{HighlightIterator, HighlightState, Highlighter};
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference};

/// Chunks between two states that are kept.
const APART: usize = 2;
/// Chunks parsed through to get to a place; one further off is guessed first.
const NEAR: usize = 10;
/// Chunks parsed through to correct a guess.
const FAR: usize = 500;
/// Wants kept: what was wanted longer ago is off the screen.
const QUEUE: usize = 48;
/// A line longer than this stays plain, and the parser does not see it.
const COLUMNS: usize = 500;
/// A document whose chunk took longer than this stays plain from there on.
const SLOW: Duration = Duration::from_secs(4);

pub(super) struct HighlightDocument {
    pub(super) text: Arc<str>,
    pub(super) language: String,
}

type HighlightResult = (HighlightDocId, usize, Vec<LineHighlights>);

#[derive(Default)]
struct HighlightQueue {
    docs: HashMap<HighlightDocId, Arc<HighlightDocument>>,
    /// The last one is next.
    wants: VecDeque<(HighlightDocId, usize)>,
    guesses: VecDeque<(HighlightDocId, usize)>,
    working: Option<(HighlightDocId, usize)>,
    done: Vec<HighlightResult>,
    stop: bool,
}

#[derive(Default)]
pub(super) struct HighlightShared {
    queue: Mutex<HighlightQueue>,
    ready: Condvar,
}

impl HighlightShared {
    fn lock(&self) -> MutexGuard<'_, HighlightQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, id: HighlightDocId, document: HighlightDocument) {
        self.lock().docs.insert(id, Arc::new(document));
    }

    pub(super) fn remove(&self, id: HighlightDocId) {
        let mut queue = self.lock();
        queue.docs.remove(&id);
        queue.wants.retain(|(doc, _)| *doc != id);
        queue.guesses.retain(|(doc, _)| *doc != id);
        queue.done.retain(|(doc, ..)| *doc != id);
        // The worker lets go of what it knows of it.
        self.ready.notify_one();
    }

    /// Puts chunks in front, the first of them first.
    pub(super) fn want(&self, id: HighlightDocId, chunks: &[usize]) {
        let mut queue = self.lock();
        if queue.stop {
            return;
        }
        for chunk in chunks.iter().rev() {
            let want = (id, *chunk);
            let under_way = queue.working == Some(want)
                || queue.done.iter().any(|(doc, at, _)| (*doc, *at) == want)
                || queue.wants.back() == Some(&want);
            if !under_way {
                queue.wants.retain(|waiting| *waiting != want);
                queue.wants.push_back(want);
            }
        }
        while queue.wants.len() > QUEUE {
            queue.wants.pop_front();
        }
        self.ready.notify_one();
    }

    pub(super) fn take_done(&self) -> Vec<HighlightResult> {
        std::mem::take(&mut self.lock().done)
    }

    pub(super) fn is_busy(&self) -> bool {
        let queue = self.lock();
        !queue.wants.is_empty()
            || !queue.guesses.is_empty()
            || queue.working.is_some()
            || !queue.done.is_empty()
    }

    pub(super) fn stop(&self) {
        let mut queue = self.lock();
        *queue = HighlightQueue { stop: true, ..HighlightQueue::default() };
        self.ready.notify_one();
    }
}

/// What the thread is made of.
pub(super) struct HighlightWorker {
    shared: Arc<HighlightShared>,
    syntax_theme: String,
    depth: ColorDepth,
    lift: ContrastAdjuster,
}

/// Parser and colours after some line.
#[derive(Clone)]
struct HighlightCheckpoint {
    parse: ParseState,
    highlight: HighlightState,
}

/// How far a document is parsed.
struct HighlightProgress {
    document: Arc<HighlightDocument>,
    /// Where each chunk begins.
    starts: Vec<usize>,
    syntax: Option<&'static SyntaxReference>,
    /// What holds at the beginning of a chunk, where it is surely known.
    states: BTreeMap<usize, HighlightCheckpoint>,
}

enum HighlightTask {
    Chunk(HighlightDocId, usize, Arc<HighlightDocument>),
    Guess(HighlightDocId, usize, Arc<HighlightDocument>),
}

impl HighlightWorker {
    /// Nothing where the theme leaves code plain.
    pub(super) fn new(shared: Arc<HighlightShared>, theme: &Theme) -> Option<HighlightWorker> {
        let plain = theme.depth == ColorDepth::None || syntax::theme_named(&theme.syntax).is_none();
        (!plain).then(|| HighlightWorker {
            shared,
            syntax_theme: theme.syntax.clone(),
            depth: theme.depth,
            lift: theme.lift(),
        })
    }

    /// Starts the thread. Where there can be none, code stays plain.
    pub(super) fn start(self) {
        let shared = Arc::clone(&self.shared);
        if std::thread::Builder::new().name("tint".into()).spawn(move || self.run()).is_err() {
            shared.stop();
        }
    }

    fn run(self) {
        let Some(colours) = syntax::colours(&self.syntax_theme) else { return self.shared.stop() };
        let painter = LineHighlighter {
            highlighter: Highlighter::new(colours),
            depth: self.depth,
            lift: RefCell::new(self.lift.clone()),
        };
        let mut all: HashMap<HighlightDocId, HighlightProgress> = HashMap::new();
        while let Some(task) = self.next(&mut all) {
            let (id, chunk, document) = match &task {
                HighlightTask::Chunk(id, chunk, document) | HighlightTask::Guess(id, chunk, document) => {
                    (*id, *chunk, Arc::clone(document))
                }
            };
            let progress = all.entry(id).or_insert_with(|| HighlightProgress::new(document, &painter));
            let done = match task {
                HighlightTask::Chunk(..) => Some(progress.chunk(chunk, &painter)),
                HighlightTask::Guess(..) => progress.nearer(chunk, &painter),
            };
            let mut queue = self.shared.lock();
            queue.working = None;
            if !queue.docs.contains_key(&id) {
                continue;
            }
            match done {
                Some((lines, sure)) => {
                    queue.done.push((id, chunk, lines));
                    if !sure && !queue.guesses.contains(&(id, chunk)) {
                        queue.guesses.push_back((id, chunk));
                        let extra = queue.guesses.len().saturating_sub(QUEUE);
                        queue.guesses.drain(..extra);
                    }
                }
                None => queue.guesses.push_back((id, chunk)),
            }
        }
    }

    /// Waits for the next thing to do; `None` when there is nobody to do it for.
    fn next(&self, all: &mut HashMap<HighlightDocId, HighlightProgress>) -> Option<HighlightTask> {
        let mut queue = self.shared.lock();
        loop {
            if queue.stop {
                return None;
            }
            all.retain(|id, _| queue.docs.contains_key(id));
            let wanted = queue.wants.pop_back();
            let next = wanted.or_else(|| queue.guesses.pop_back());
            let Some((id, chunk)) = next else {
                queue = self.shared.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Some(document) = queue.docs.get(&id).cloned() else { continue };
            queue.working = Some((id, chunk));
            return Some(match wanted {
                Some(_) => HighlightTask::Chunk(id, chunk, document),
                None => HighlightTask::Guess(id, chunk, document),
            });
        }
    }
}

struct LineHighlighter<'c> {
    highlighter: Highlighter<'c>,
    depth: ColorDepth,
    lift: RefCell<ContrastAdjuster>,
}

impl LineHighlighter<'_> {
    fn fresh(&self, syntax: &SyntaxReference) -> HighlightCheckpoint {
        HighlightCheckpoint {
            parse: ParseState::new(syntax),
            highlight: HighlightState::new(&self.highlighter, ScopeStack::new()),
        }
    }

    fn line(&self, state: &mut HighlightCheckpoint, line: &str) -> LineHighlights {
        if line.len() > COLUMNS {
            return LineHighlights::default();
        }
        let ended = format!("{line}\n");
        let Ok(changes) = state.parse.parse_line(&ended, syntax::syntaxes()) else {
            return LineHighlights::default();
        };
        let mut out: Vec<(Range<usize>, Style)> = Vec::new();
        let mut at = 0;
        for (style, piece) in
            HighlightIterator::new(&mut state.highlight, &changes, &ended, &self.highlighter)
        {
            let range = at..(at + piece.len()).min(line.len());
            at += piece.len();
            let style = syntax::style_of(style, self.depth, &mut self.lift.borrow_mut());
            match out.last_mut() {
                _ if range.is_empty() || style == Style::default() => {}
                Some((last, same)) if *same == style && last.end == range.start => last.end = range.end,
                _ => out.push((range, style)),
            }
        }
        out.into()
    }
}

impl HighlightProgress {
    fn new(document: Arc<HighlightDocument>, painter: &LineHighlighter<'_>) -> HighlightProgress {
        let feeds = memchr::memchr_iter(b'\n', document.text.as_bytes());
        let mut starts = vec![0];
        starts.extend(feeds.skip(CHUNK - 1).step_by(CHUNK).map(|feed| feed + 1));
        let first = document.text.lines().next().unwrap_or("");
        let syntax = syntax::language_of(
            &document.language,
            first.get(..first.floor_char_boundary(200)).unwrap_or(""),
        );
        let states = syntax.map(|syntax| (0, painter.fresh(syntax))).into_iter().collect();
        HighlightProgress { document, starts, syntax, states }
    }

    fn text(&self, chunk: usize) -> &str {
        let from = self.starts.get(chunk).copied().unwrap_or(self.document.text.len());
        let to = self.starts.get(chunk + 1).copied().unwrap_or(self.document.text.len());
        self.document.text.get(from..to).unwrap_or("")
    }

    /// The colours of a chunk, and whether they are more than a guess.
    fn chunk(&mut self, chunk: usize, painter: &LineHighlighter<'_>) -> (Vec<LineHighlights>, bool) {
        let Some(syntax) = self.syntax else {
            return (self.text(chunk).lines().map(|_| LineHighlights::default()).collect(), true);
        };
        let (from, state) = self.before(chunk);
        if chunk - from <= NEAR {
            return (self.parse(from, chunk, state, painter), true);
        }
        // A string or comment that began far above is the price; two chunks above hide most of it.
        let from = chunk - 2;
        let mut state = painter.fresh(syntax);
        let mut lines = Vec::new();
        for at in from..=chunk {
            lines = self.text(at).lines().map(|line| painter.line(&mut state, line)).collect();
        }
        (lines, chunk > FAR)
    }

    /// A step towards a chunk that was guessed; its lines when it is reached.
    fn nearer(&mut self, chunk: usize, painter: &LineHighlighter<'_>) -> Option<(Vec<LineHighlights>, bool)> {
        let (from, state) = self.before(chunk);
        if self.syntax.is_none() || chunk - from <= NEAR {
            return Some(self.chunk(chunk, painter));
        }
        self.parse(from, from + APART, state, painter);
        None
    }

    /// The last state kept at or before a chunk.
    fn before(&self, chunk: usize) -> (usize, Option<HighlightCheckpoint>) {
        match self.states.range(..=chunk).next_back() {
            Some((at, state)) => (*at, Some(state.clone())),
            None => (0, None),
        }
    }

    /// Parses from one chunk through another and returns the colours of the last; states on the way are kept.
    fn parse(
        &mut self,
        from: usize,
        to: usize,
        state: Option<HighlightCheckpoint>,
        painter: &LineHighlighter<'_>,
    ) -> Vec<LineHighlights> {
        let Some(mut state) = state else { return Vec::new() };
        let started = Instant::now();
        let mut lines = Vec::new();
        for chunk in from..=to {
            if chunk % APART == 0 && chunk < self.starts.len() {
                self.states.entry(chunk).or_insert_with(|| state.clone());
            }
            lines = self.text(chunk).lines().map(|line| painter.line(&mut state, line)).collect();
            if started.elapsed() > SLOW {
                self.syntax = None;
                self.states.clear();
                return self.text(to).lines().map(|_| LineHighlights::default()).collect();
            }
        }
        lines
    }
}
