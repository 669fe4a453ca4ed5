//! The thread that colours: a queue of chunks, newest first, and the parser's states along each document.
//!
//! The thread ends with its [`super::SyntaxHighlighter`], after the current chunk. Text that it cannot parse stays
//! plain.

use super::super::colors::contrast::ContrastAdjuster;
use super::super::colors::theme::Theme;
use super::super::colors::{syntax, syntax_themes};
use super::super::terminal::ansi::ColorDepth;
use crate::worker::{Worker, WorkerInbox};
use ratatui::style::Style;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use syntect::highlighting::{HighlightIterator, HighlightState, Highlighter};
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference};

/// Lines that are computed at once.
pub(super) const CHUNK: usize = 200;
/// Chunks between two stored states.
const STATE_EVERY: usize = 2;
/// Chunks that are parsed to get to a place; a place further away is guessed first.
const NEAR: usize = 10;
/// Chunks parsed through to correct a guess.
const FAR: usize = 500;
/// Requests that are stored: what was wanted longer ago is off the screen.
const QUEUE: usize = 48;
/// A line longer than this stays plain, and the parser does not see it.
const COLUMNS: usize = 500;
/// A document whose chunk took longer than this stays plain from there on.
const SLOW: Duration = Duration::from_secs(4);

/// A document that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HighlightDocId(pub(super) u64);

/// The colours of one line: ranges of its bytes; what lies between is plain.
pub(super) type LineHighlights = Box<[(Range<usize>, Style)]>;

pub(super) struct HighlightDocument {
    pub(super) text: Arc<str>,
    pub(super) language: String,
}

pub(super) type HighlightResult = (HighlightDocId, usize, Vec<LineHighlights>);

pub(super) enum HighlightRequest {
    /// Chunks that are on the screen, the first of them first.
    Want {
        id: HighlightDocId,
        document: Arc<HighlightDocument>,
        chunks: Vec<usize>,
        /// Results that were received before this was wanted.
        received: usize,
    },
    Remove(HighlightDocId),
}

/// What there is to do.
#[derive(Default)]
struct HighlightQueue {
    docs: HashMap<HighlightDocId, HighlightProgress>,
    /// The last one is next.
    wants: VecDeque<(HighlightDocId, usize)>,
    guesses: VecDeque<(HighlightDocId, usize)>,
    /// The number of the newest result for a chunk.
    made: HashMap<(HighlightDocId, usize), usize>,
    count: usize,
}

/// The thread for a theme; nothing where the theme leaves code plain.
pub(super) fn highlighter(
    theme: &Theme,
    lift: ContrastAdjuster,
) -> Option<Worker<HighlightRequest, HighlightResult>> {
    let plain = theme.depth == ColorDepth::None || syntax_themes::theme_named(&theme.syntax).is_none();
    let (syntax_theme, depth) = (theme.syntax.clone(), theme.depth);
    (!plain).then(|| {
        Worker::new("tint", move |inbox| {
            let Some(colours) = syntax::colours(&syntax_theme) else { return };
            let highlighter = Highlighter::new(colours);
            run(inbox, &LineHighlighter { highlighter, depth, lift: RefCell::new(lift) });
        })
    })
}

fn run(mut inbox: WorkerInbox<HighlightRequest, HighlightResult>, painter: &LineHighlighter<'_>) {
    let mut queue = HighlightQueue::default();
    while !inbox.is_closed() {
        // What is wanted newest is done first, so all that was sent comes in before each chunk.
        while let Some(request) = inbox.try_next() {
            queue.take(request, painter);
        }
        let wanted = queue.wants.pop_back();
        let Some(at) = wanted.or_else(|| queue.guesses.pop_back()) else {
            let Some(request) = inbox.wait() else { return };
            queue.take(request, painter);
            continue;
        };
        let Some(progress) = queue.docs.get_mut(&at.0) else { continue };
        let done = match wanted {
            Some(_) => Some(progress.chunk(at.1, painter)),
            None => progress.nearer(at.1, painter),
        };
        if !done.as_ref().is_some_and(|(_, sure)| *sure) && !queue.guesses.contains(&at) {
            queue.guesses.push_back(at);
            let extra = queue.guesses.len().saturating_sub(QUEUE);
            queue.guesses.drain(..extra);
        }
        if let Some((lines, _)) = done {
            queue.count += 1;
            queue.made.insert(at, queue.count);
            inbox.send((at.0, at.1, lines));
        }
    }
}

impl HighlightQueue {
    fn take(&mut self, request: HighlightRequest, painter: &LineHighlighter<'_>) {
        match request {
            HighlightRequest::Want { id, document, chunks, received } => {
                self.docs.entry(id).or_insert_with(|| HighlightProgress::new(document, painter));
                for chunk in chunks.into_iter().rev() {
                    let want = (id, chunk);
                    // The chunk may have been computed and not received yet.
                    if self.made.get(&want).is_none_or(|number| *number <= received) {
                        self.wants.retain(|waiting| *waiting != want);
                        self.wants.push_back(want);
                    }
                }
                let extra = self.wants.len().saturating_sub(QUEUE);
                self.wants.drain(..extra);
            }
            HighlightRequest::Remove(id) => {
                self.docs.remove(&id);
                self.made.retain(|(doc, _), _| *doc != id);
                self.wants.retain(|(doc, _)| *doc != id);
                self.guesses.retain(|(doc, _)| *doc != id);
            }
        }
    }
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
    /// The state at the beginning of a chunk, where it is surely known.
    states: BTreeMap<usize, HighlightCheckpoint>,
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
        // A string or comment that began far above is coloured wrongly; two chunks above avoid most of these errors.
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
        self.parse(from, from + STATE_EVERY, state, painter);
        None
    }

    /// The last stored state at or before a chunk.
    fn before(&self, chunk: usize) -> (usize, Option<HighlightCheckpoint>) {
        match self.states.range(..=chunk).next_back() {
            Some((at, state)) => (*at, Some(state.clone())),
            None => (0, None),
        }
    }

    /// Parses from one chunk through another and returns the colours of the last; states on the way are stored.
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
            if chunk % STATE_EVERY == 0 && chunk < self.starts.len() {
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
