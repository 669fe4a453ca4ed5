//! Matching and ordering beside the drawing: a thread that starts anew with every letter and tells what it has.
//!
//! Things to choose from may still arrive while it works. A query that only grew looks through what matched before.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The best of what matches: more is no list a person reads.
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
    /// What is said beside it.
    pub note: String,
    /// What is taken, where that is something else.
    pub value: Option<String>,
    /// Where it stands before anything is typed: the lowest first, then as they came.
    pub order: usize,
}

impl PickerItem {
    pub fn new(text: impl Into<String>, note: impl Into<String>) -> PickerItem {
        PickerItem { text: text.into(), note: note.into(), value: None, order: 0 }
    }

    #[must_use]
    pub fn with_value(self, value: impl Into<String>) -> PickerItem {
        PickerItem { value: Some(value.into()), ..self }
    }

    #[must_use]
    pub fn with_order(self, order: usize) -> PickerItem {
        PickerItem { order, ..self }
    }

    pub fn value(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.text)
    }
}

/// What matches a query, the best first.
#[derive(Clone, Default)]
pub(super) struct PickerMatches {
    pub(super) top: Vec<Arc<PickerItem>>,
    pub(super) matched: usize,
    pub(super) total: usize,
    /// The query has been looked for in everything there was.
    pub(super) is_done: bool,
    query: u64,
}

/// Finds things that are not in the list by what is typed.
pub(super) type PickerFallback = dyn Fn(&str) -> Vec<PickerItem> + Send;

#[derive(Default)]
struct PickerState {
    items: Vec<Arc<PickerItem>>,
    is_whole: bool,
    query: String,
    number: u64,
    ranked: Option<PickerMatches>,
    is_idle: bool,
    stop: bool,
}

#[derive(Default)]
pub(super) struct PickerShared {
    state: Mutex<PickerState>,
    changed: Condvar,
}

/// Where things to choose from go in; a clone may be given to a thread.
#[derive(Clone, Default)]
pub struct PickerFeed(pub(super) Arc<PickerShared>);

impl PickerFeed {
    /// A list that is whole.
    pub fn of(items: Vec<PickerItem>) -> PickerFeed {
        let feed = PickerFeed::default();
        feed.push(items);
        feed.end();
        feed
    }

    pub fn push(&self, items: Vec<PickerItem>) {
        self.0.lock().items.extend(items.into_iter().map(Arc::new));
        self.0.changed.notify_one();
    }

    /// Nothing more comes.
    pub fn end(&self) {
        self.0.lock().is_whole = true;
        self.0.changed.notify_one();
    }

    /// The list is closed: nobody wants more.
    pub fn is_stopped(&self) -> bool {
        self.0.lock().stop
    }
}

impl PickerShared {
    fn lock(&self) -> MutexGuard<'_, PickerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ask(&self, query: &str) {
        let mut state = self.lock();
        state.query = query.to_string();
        state.number += 1;
        state.is_idle = false;
        self.changed.notify_one();
    }

    pub(super) fn take(&self) -> Option<PickerMatches> {
        let mut state = self.lock();
        let number = state.number;
        state.ranked.take().filter(|ranked| ranked.query == number)
    }

    pub(super) fn is_busy(&self) -> bool {
        let state = self.lock();
        !state.is_whole || !state.is_idle || state.ranked.is_some()
    }

    pub(super) fn stop(&self) {
        self.lock().stop = true;
        self.changed.notify_one();
    }
}

/// Starts the thread. Where there can be none, the list stays empty and can only be left.
pub(super) fn start(shared: &Arc<PickerShared>, beyond: Option<Box<PickerFallback>>) {
    let theirs = Arc::clone(shared);
    let ranker = move || {
        let matcher = Matcher::new(Config::DEFAULT.match_paths());
        PickerRanker {
            shared: theirs,
            beyond,
            matcher,
            hits: Vec::new(),
            seen: 0,
            query: String::new(),
            number: 0,
        }
        .run();
    };
    if std::thread::Builder::new().name("picker".into()).spawn(ranker).is_err() {
        let mut state = shared.lock();
        (state.is_whole, state.is_idle) = (true, true);
    }
}

struct PickerMatch {
    score: u32,
    item: Arc<PickerItem>,
    at: usize,
}

struct PickerRanker {
    shared: Arc<PickerShared>,
    beyond: Option<Box<PickerFallback>>,
    matcher: Matcher,
    hits: Vec<PickerMatch>,
    /// Things that were looked at for this query.
    seen: usize,
    query: String,
    number: u64,
}

impl PickerRanker {
    fn run(mut self) {
        let mut first = true;
        while let Some((query, number)) = self.wait(first) {
            first = false;
            if number != self.number {
                self.begin(query, number);
            }
            self.match_items();
        }
    }

    /// Waits for another query or more things; `None` when the list is closed.
    fn wait(&self, first: bool) -> Option<(String, u64)> {
        let mut state = self.shared.lock();
        loop {
            if state.stop {
                return None;
            }
            if first || state.number != self.number || state.items.len() > self.seen {
                state.is_idle = false;
                return Some((state.query.clone(), state.number));
            }
            state.is_idle = true;
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
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
                    hit.score = score;
                    true
                }
                None => false,
            });
            (self.hits, self.seen) = (before, seen);
        }
    }

    fn match_items(&mut self) {
        let pattern = pattern(&self.query);
        let mut buffer = Vec::new();
        let mut told = Instant::now();
        loop {
            let step: Vec<Arc<PickerItem>> = {
                let state = self.shared.lock();
                if state.stop || state.number != self.number {
                    return;
                }
                state.items.iter().skip(self.seen).take(STEP).cloned().collect()
            };
            if step.is_empty() {
                break;
            }
            for item in step {
                if let Some(score) = score(&pattern, &item, &mut self.matcher, &mut buffer) {
                    self.hits.push(PickerMatch { score, item, at: self.seen });
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
            let new: Vec<PickerMatch> =
                new.map(|item| PickerMatch { score: 0, item: Arc::new(item), at: usize::MAX }).collect();
            self.hits.extend(new);
        }
        self.publish_matches();
    }

    fn publish_matches(&mut self) {
        let key = |hit: &PickerMatch| {
            (Reverse(hit.score), if hit.score == 0 { hit.item.order } else { hit.item.text.len() }, hit.at)
        };
        let matched = self.hits.len();
        let mut order: Vec<&PickerMatch> = self.hits.iter().collect();
        if order.len() > TOP {
            order.select_nth_unstable_by_key(TOP, |hit| key(hit));
            order.truncate(TOP);
        }
        order.sort_by_key(|hit| key(hit));
        let top = order.into_iter().map(|hit| Arc::clone(&hit.item)).collect();
        let mut state = self.shared.lock();
        let is_done = state.is_whole && self.seen >= state.items.len();
        let ranked = PickerMatches { top, matched, total: state.items.len(), is_done, query: self.number };
        state.ranked = Some(ranked);
    }
}

pub(super) fn pattern(query: &str) -> Pattern {
    Pattern::parse(query, CaseMatching::Smart, Normalization::Smart)
}

fn score(pattern: &Pattern, item: &PickerItem, matcher: &mut Matcher, buffer: &mut Vec<char>) -> Option<u32> {
    pattern.score(Utf32Str::new(&item.text, buffer), matcher)
}
