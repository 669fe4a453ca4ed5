//! The thread that colours: a queue of chunks, newest first, and the parser's states along each document.
//!
//! It ends with the [`super::Tint`] it works for, after the chunk in hand. What it cannot parse stays plain.

use super::super::ansi::Depth;
use super::super::contrast::Lift;
use super::super::syntax;
use super::super::theme::Theme;
use super::{CHUNK, Colours, DocId};
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

pub(super) struct Document {
    pub(super) text: Arc<str>,
    pub(super) language: String,
}

type Done = (DocId, usize, Vec<Colours>);

#[derive(Default)]
struct Queue {
    docs: HashMap<DocId, Arc<Document>>,
    /// The last one is next.
    wants: VecDeque<(DocId, usize)>,
    guesses: VecDeque<(DocId, usize)>,
    working: Option<(DocId, usize)>,
    done: Vec<Done>,
    stop: bool,
}

#[derive(Default)]
pub(super) struct Shared {
    queue: Mutex<Queue>,
    ready: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, id: DocId, document: Document) {
        self.lock().docs.insert(id, Arc::new(document));
    }

    pub(super) fn remove(&self, id: DocId) {
        let mut queue = self.lock();
        queue.docs.remove(&id);
        queue.wants.retain(|(doc, _)| *doc != id);
        queue.guesses.retain(|(doc, _)| *doc != id);
        queue.done.retain(|(doc, ..)| *doc != id);
        // The worker lets go of what it knows of it.
        self.ready.notify_one();
    }

    /// Puts chunks in front, the first of them first.
    pub(super) fn want(&self, id: DocId, chunks: &[usize]) {
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

    pub(super) fn take_done(&self) -> Vec<Done> {
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
        *queue = Queue { stop: true, ..Queue::default() };
        self.ready.notify_one();
    }
}

/// What the thread is made of.
pub(super) struct Worker {
    shared: Arc<Shared>,
    syntax_theme: String,
    depth: Depth,
    lift: Lift,
}

/// Parser and colours after some line.
#[derive(Clone)]
struct State {
    parse: ParseState,
    highlight: HighlightState,
}

/// How far a document is parsed.
struct Progress {
    document: Arc<Document>,
    /// Where each chunk begins.
    starts: Vec<usize>,
    syntax: Option<&'static SyntaxReference>,
    /// What holds at the beginning of a chunk, where it is surely known.
    states: BTreeMap<usize, State>,
}

enum Task {
    Chunk(DocId, usize, Arc<Document>),
    Guess(DocId, usize, Arc<Document>),
}

impl Worker {
    /// Nothing where the theme leaves code plain.
    pub(super) fn new(shared: Arc<Shared>, theme: &Theme) -> Option<Worker> {
        let plain = theme.depth == Depth::None || syntax::theme_named(&theme.syntax).is_none();
        (!plain).then(|| Worker {
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
        let painter = Painter {
            highlighter: Highlighter::new(colours),
            depth: self.depth,
            lift: RefCell::new(self.lift.clone()),
        };
        let mut all: HashMap<DocId, Progress> = HashMap::new();
        while let Some(task) = self.next(&mut all) {
            let (id, chunk, document) = match &task {
                Task::Chunk(id, chunk, document) | Task::Guess(id, chunk, document) => {
                    (*id, *chunk, Arc::clone(document))
                }
            };
            let progress = all.entry(id).or_insert_with(|| Progress::new(document, &painter));
            let done = match task {
                Task::Chunk(..) => Some(progress.chunk(chunk, &painter)),
                Task::Guess(..) => progress.nearer(chunk, &painter),
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
    fn next(&self, all: &mut HashMap<DocId, Progress>) -> Option<Task> {
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
                Some(_) => Task::Chunk(id, chunk, document),
                None => Task::Guess(id, chunk, document),
            });
        }
    }
}

struct Painter<'c> {
    highlighter: Highlighter<'c>,
    depth: Depth,
    lift: RefCell<Lift>,
}

impl Painter<'_> {
    fn fresh(&self, syntax: &SyntaxReference) -> State {
        State {
            parse: ParseState::new(syntax),
            highlight: HighlightState::new(&self.highlighter, ScopeStack::new()),
        }
    }

    fn line(&self, state: &mut State, line: &str) -> Colours {
        if line.len() > COLUMNS {
            return Colours::default();
        }
        let ended = format!("{line}\n");
        let Ok(changes) = state.parse.parse_line(&ended, syntax::syntaxes()) else {
            return Colours::default();
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

impl Progress {
    fn new(document: Arc<Document>, painter: &Painter<'_>) -> Progress {
        let feeds = memchr::memchr_iter(b'\n', document.text.as_bytes());
        let mut starts = vec![0];
        starts.extend(feeds.skip(CHUNK - 1).step_by(CHUNK).map(|feed| feed + 1));
        let first = document.text.lines().next().unwrap_or("");
        let syntax = syntax::language_of(
            &document.language,
            first.get(..first.floor_char_boundary(200)).unwrap_or(""),
        );
        let states = syntax.map(|syntax| (0, painter.fresh(syntax))).into_iter().collect();
        Progress { document, starts, syntax, states }
    }

    fn text(&self, chunk: usize) -> &str {
        let from = self.starts.get(chunk).copied().unwrap_or(self.document.text.len());
        let to = self.starts.get(chunk + 1).copied().unwrap_or(self.document.text.len());
        self.document.text.get(from..to).unwrap_or("")
    }

    /// The colours of a chunk, and whether they are more than a guess.
    fn chunk(&mut self, chunk: usize, painter: &Painter<'_>) -> (Vec<Colours>, bool) {
        let Some(syntax) = self.syntax else {
            return (self.text(chunk).lines().map(|_| Colours::default()).collect(), true);
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
    fn nearer(&mut self, chunk: usize, painter: &Painter<'_>) -> Option<(Vec<Colours>, bool)> {
        let (from, state) = self.before(chunk);
        if self.syntax.is_none() || chunk - from <= NEAR {
            return Some(self.chunk(chunk, painter));
        }
        self.parse(from, from + APART, state, painter);
        None
    }

    /// The last state kept at or before a chunk.
    fn before(&self, chunk: usize) -> (usize, Option<State>) {
        match self.states.range(..=chunk).next_back() {
            Some((at, state)) => (*at, Some(state.clone())),
            None => (0, None),
        }
    }

    /// Parses from one chunk through another and returns the colours of the last; states on the way are kept.
    fn parse(&mut self, from: usize, to: usize, state: Option<State>, painter: &Painter<'_>) -> Vec<Colours> {
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
                return self.text(to).lines().map(|_| Colours::default()).collect();
            }
        }
        lines
    }
}
