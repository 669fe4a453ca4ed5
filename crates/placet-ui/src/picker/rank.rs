//! Matching and ordering in a thread of their own: the thread starts again with every letter and reports its matches.
//!
//! Things to choose from may still arrive while it works. A query that only grew looks through what matched before.

use crate::worker::{Worker, WorkerFailure, WorkerInbox, WorkerSender};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use placet_text::text::{sanitize, visible};
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of best matches that are listed: a person does not read a longer list.
const TOP: usize = 1000;
/// Things looked at between two looks at the clock and the query.
const STEP: usize = 2048;
/// How long the screen shows nothing new while there is more to match.
const PART: Duration = Duration::from_millis(30);

/// Something that can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PickerItem {
    /// What is shown and matched.
    pub text: String,
    /// The note next to the text.
    pub note: String,
    /// What is taken, where that is something else.
    pub value: Option<String>,
    /// The position before anything is typed: the lowest first, then in order of arrival.
    pub order: usize,
    /// The text was made visible before, as a stored title.
    pub is_rendered: bool,
}

impl PickerItem {
    pub fn new(text: impl Into<String>, note: impl Into<String>) -> PickerItem {
        PickerItem { text: text.into(), note: note.into(), value: None, order: 0, is_rendered: false }
    }

    #[must_use]
    pub fn with_value(self, value: impl Into<String>) -> PickerItem {
        PickerItem { value: Some(value.into()), ..self }
    }

    /// The same for a text that is visible already: rendered again, it would be another text.
    #[must_use]
    pub fn rendered(self) -> PickerItem {
        PickerItem { is_rendered: true, ..self }
    }

    /// The text as it is drawn.
    pub(super) fn visible_text(&self) -> String {
        match self.is_rendered {
            true => visible::guard_line(&self.text).into_owned(),
            false => sanitize::name(&self.text).into_owned(),
        }
    }

    #[must_use]
    pub fn with_order(self, order: usize) -> PickerItem {
        PickerItem { order, ..self }
    }

    pub fn value(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.text)
    }

    /// True where `typed` is all of it, and not only a part that matches.
    pub fn is(&self, typed: &str) -> bool {
        self.text == typed || self.value() == typed
    }
}

/// What matches a query, the best first.
#[derive(Clone, Default)]
pub struct PickerMatches {
    pub top: Vec<Arc<PickerItem>>,
    pub matched: usize,
    pub(super) total: usize,
    /// The query has been looked for in everything there was.
    pub(super) is_done: bool,
    query: u64,
}

impl PickerMatches {
    /// What matches in a list that is short enough to look through at once.
    pub fn of(items: &[Arc<PickerItem>], query: &str, matcher: &mut Matcher) -> PickerMatches {
        let (pattern, mut buffer) = (pattern(query), Vec::new());
        let hit = |(at, item): (usize, &Arc<PickerItem>)| {
            let score = score(&pattern, item, matcher, &mut buffer)?;
            Some(PickerMatch { is_exact: item.is(query), score, item: Arc::clone(item), at })
        };
        let mut hits: Vec<PickerMatch> = items.iter().enumerate().filter_map(hit).collect();
        hits.sort_by_key(PickerMatch::key);
        let top: Vec<_> = hits.into_iter().map(|hit| hit.item).collect();
        PickerMatches { matched: top.len(), top, total: items.len(), is_done: true, query: 0 }
    }
}

/// Finds things that are not in the list by what is typed.
pub(super) type PickerFallback = dyn Fn(&str) -> Vec<PickerItem> + Send;

/// Called on the thread when there are new matches.
type PickerWake = dyn Fn() + Send;

/// The messages to the thread.
enum PickerInput {
    Items(Vec<PickerItem>),
    /// Nothing more comes.
    End,
    Beyond(Box<PickerFallback>),
    Wake(Box<PickerWake>),
    Query {
        text: String,
        number: u64,
    },
}

/// A list that is filled and looked through.
pub struct PickerFeed {
    worker: Worker<PickerInput, PickerMatches>,
    number: u64,
}

/// Where things to choose from go in, on any thread. The list is whole when this is dropped.
pub struct PickerSender(WorkerSender<PickerInput>);

impl Default for PickerFeed {
    fn default() -> PickerFeed {
        PickerFeed { worker: Worker::new("picker", |inbox| PickerRanker::new(inbox).run()), number: 0 }
    }
}

impl PickerFeed {
    /// A list that is whole.
    pub fn of(items: Vec<PickerItem>) -> PickerFeed {
        let feed = PickerFeed::default();
        feed.sender().push(items);
        feed
    }

    pub fn sender(&self) -> PickerSender {
        PickerSender(self.worker.sender())
    }

    /// Finds what is not in the list by what is typed.
    pub fn with_beyond(&self, beyond: Box<PickerFallback>) {
        self.worker.sender().send(PickerInput::Beyond(beyond));
    }

    /// For a screen that does not ask by itself whether there are new matches.
    pub fn with_wake(&self, wake: impl Fn() + Send + 'static) {
        self.worker.sender().send(PickerInput::Wake(Box::new(wake)));
    }

    /// Looks for something else; the first time, this starts the thread.
    pub fn ask(&mut self, query: &str) {
        self.number += 1;
        self.worker.send(PickerInput::Query { text: query.to_string(), number: self.number });
    }

    /// The newest matches for what is looked for now.
    pub fn poll(&mut self) -> Option<Result<PickerMatches, WorkerFailure>> {
        let number = self.number;
        let is_current = |made: &Result<PickerMatches, _>| made.as_ref().map_or(true, |m| m.query == number);
        std::iter::from_fn(|| self.worker.poll()).filter(is_current).last()
    }

    /// The same, and waits for the matches until `deadline` where they are not there yet.
    pub fn poll_until(&mut self, deadline: Instant) -> Option<Result<PickerMatches, WorkerFailure>> {
        loop {
            match self.worker.poll_until(deadline)? {
                Ok(matches) if matches.query != self.number => {}
                newest => return Some(newest),
            }
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.worker.is_busy()
    }
}

impl PickerSender {
    pub fn push(&self, items: Vec<PickerItem>) {
        self.0.send(PickerInput::Items(items));
    }

    /// The list is closed: nobody wants more.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl Drop for PickerSender {
    fn drop(&mut self) {
        self.0.send(PickerInput::End);
    }
}

struct PickerMatch {
    is_exact: bool,
    score: u32,
    item: Arc<PickerItem>,
    at: usize,
}

impl PickerMatch {
    /// What was typed in full, then the best first; where nothing is looked for, the list's own order.
    fn key(&self) -> (Reverse<bool>, Reverse<u32>, usize, usize) {
        let size = if self.score == 0 { self.item.order } else { self.item.text.len() };
        (Reverse(self.is_exact), Reverse(self.score), size, self.at)
    }
}

struct PickerRanker {
    inbox: WorkerInbox<PickerInput, PickerMatches>,
    items: Vec<Arc<PickerItem>>,
    is_whole: bool,
    beyond: Option<Box<PickerFallback>>,
    wake: Option<Box<PickerWake>>,
    matcher: Matcher,
    hits: Vec<PickerMatch>,
    /// Things that were looked at for this query.
    seen: usize,
    query: String,
    number: u64,
}

impl PickerRanker {
    fn new(inbox: WorkerInbox<PickerInput, PickerMatches>) -> PickerRanker {
        PickerRanker {
            inbox,
            items: Vec::new(),
            is_whole: false,
            beyond: None,
            wake: None,
            matcher: Matcher::new(Config::DEFAULT.match_paths()),
            hits: Vec::new(),
            seen: 0,
            query: String::new(),
            number: 0,
        }
    }

    fn run(mut self) {
        while let Some(input) = self.inbox.wait() {
            self.take(input);
            self.match_items();
        }
    }

    fn take(&mut self, input: PickerInput) {
        match input {
            PickerInput::Items(items) => self.items.extend(items.into_iter().map(Arc::new)),
            PickerInput::End => self.is_whole = true,
            PickerInput::Beyond(beyond) => self.beyond = Some(beyond),
            PickerInput::Wake(wake) => self.wake = Some(wake),
            PickerInput::Query { text, number } => self.begin(text, number),
        }
    }

    fn begin(&mut self, query: String, number: u64) {
        let narrower = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let grew = !self.query.is_empty() && query.starts_with(&self.query) && query.chars().all(narrower);
        let pattern = pattern(&query);
        let (mut before, seen) = (std::mem::take(&mut self.hits), self.seen);
        // What was found beyond the list belongs to the query before.
        before.retain(|hit| hit.at < usize::MAX);
        (self.query, self.number, self.seen) = (query, number, 0);
        if grew {
            let mut buffer = Vec::new();
            before.retain_mut(|hit| match score(&pattern, &hit.item, &mut self.matcher, &mut buffer) {
                Some(score) => {
                    (hit.score, hit.is_exact) = (score, hit.item.is(&self.query));
                    true
                }
                None => false,
            });
            (self.hits, self.seen) = (before, seen);
        }
    }

    /// Looks at everything there is, and at what comes meanwhile.
    fn match_items(&mut self) {
        let mut buffer = Vec::new();
        let mut told = Instant::now();
        loop {
            while let Some(input) = self.inbox.try_next() {
                self.take(input);
            }
            if self.inbox.is_closed() {
                return;
            }
            let step = self.items.get(self.seen..).unwrap_or_default().iter().take(STEP);
            let step: Vec<Arc<PickerItem>> = step.cloned().collect();
            if step.is_empty() {
                break;
            }
            let pattern = pattern(&self.query);
            for item in step {
                if let Some(score) = score(&pattern, &item, &mut self.matcher, &mut buffer) {
                    let is_exact = item.is(&self.query);
                    self.hits.push(PickerMatch { is_exact, score, item, at: self.seen });
                }
                self.seen += 1;
            }
            if told.elapsed() > PART {
                self.publish_matches();
                told = Instant::now();
            }
        }
        if let Some(beyond) = &self.beyond {
            self.hits.retain(|hit| hit.at < usize::MAX);
            let found = beyond(&self.query);
            let new =
                found.into_iter().filter(|item| !self.hits.iter().any(|hit| hit.item.text == item.text));
            let hit = |item: PickerItem| {
                let is_exact = item.is(&self.query);
                PickerMatch { is_exact, score: 0, item: Arc::new(item), at: usize::MAX }
            };
            let new: Vec<PickerMatch> = new.map(hit).collect();
            self.hits.extend(new);
        }
        self.publish_matches();
    }

    fn publish_matches(&mut self) {
        let matched = self.hits.len();
        let mut order: Vec<&PickerMatch> = self.hits.iter().collect();
        if order.len() > TOP {
            order.select_nth_unstable_by_key(TOP, |hit| hit.key());
            order.truncate(TOP);
        }
        order.sort_by_key(|hit| hit.key());
        let top = order.into_iter().map(|hit| Arc::clone(&hit.item)).collect();
        let is_done = self.is_whole && self.seen >= self.items.len();
        let (total, query) = (self.items.len(), self.number);
        self.inbox.send(PickerMatches { top, matched, total, is_done, query });
        if let Some(wake) = &self.wake {
            wake();
        }
    }
}

pub(super) fn pattern(query: &str) -> Pattern {
    Pattern::parse(query, CaseMatching::Smart, Normalization::Smart)
}

fn score(pattern: &Pattern, item: &PickerItem, matcher: &mut Matcher, buffer: &mut Vec<char>) -> Option<u32> {
    pattern.score(Utf32Str::new(&item.text, buffer), matcher)
}
