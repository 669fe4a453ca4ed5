//! The entries as a text to be scrolled: lines made once, folds, and the thread that colours code.

use super::entry::{Entry, What};
use super::render::{self, Colours, Fold};
use crate::ui::Theme;
use crate::ui::pager::{Cursor, Pos, Source};
use ratatui::text::{Line, Span};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Entries whose lines are kept.
const KEPT: usize = 256;

pub(super) struct Entries<'m> {
    pub(super) all: Vec<Entry<'m>>,
    folds: Vec<Fold>,
    /// Unfolded only because a search found something in it.
    peek: Cell<Option<usize>>,
    pub(super) columns: usize,
    /// The entry that keys act on.
    pub(super) current: usize,
    theme: Theme,
    cache: RefCell<HashMap<usize, Rc<Vec<Line<'static>>>>>,
    coloured: HashMap<usize, Vec<Line<'static>>>,
    colouring: RefCell<Option<Colouring>>,
}

/// An answer that is to be coloured, or was: its place, the width and what it is about.
struct Job {
    at: usize,
    columns: usize,
    text: String,
}

/// The thread that colours, and what it has been given.
struct Colouring {
    jobs: Sender<Job>,
    done: Receiver<(usize, usize, Vec<Line<'static>>)>,
    waiting: Vec<usize>,
}

impl<'m> Entries<'m> {
    pub(super) fn new(all: Vec<Entry<'m>>, theme: &Theme) -> Entries<'m> {
        let fold = |entry: &Entry<'_>| match entry.what {
            What::Person(_) | What::Answer(..) => Fold::Open,
            What::Attached(_) | What::Thinking(_) | What::Call(..) => Fold::Closed,
        };
        Entries {
            folds: all.iter().map(fold).collect(),
            current: all.len().saturating_sub(1),
            all,
            peek: Cell::new(None),
            columns: 80,
            theme: theme.clone(),
            cache: RefCell::default(),
            coloured: HashMap::new(),
            colouring: RefCell::new(None),
        }
    }

    pub(super) fn resize(&mut self, columns: usize) {
        if self.columns != columns {
            self.columns = columns;
            self.cache.borrow_mut().clear();
            self.coloured.clear();
        }
    }

    pub(super) fn fold(&self, at: usize) -> Fold {
        match self.folds.get(at) {
            Some(Fold::Closed) if self.peek.get() != Some(at) => Fold::Closed,
            _ => Fold::Open,
        }
    }

    pub(super) fn toggle(&mut self, at: usize) {
        let now = match self.fold(at) {
            Fold::Open => Fold::Closed,
            Fold::Closed => Fold::Open,
        };
        if self.peek.get() == Some(at) {
            self.peek.set(None);
        }
        if let Some(fold) = self.folds.get_mut(at) {
            *fold = now;
        }
        self.cache.borrow_mut().remove(&at);
    }

    /// Folds everything, or unfolds everything where all of it is folded.
    pub(super) fn toggle_all(&mut self) {
        let all_closed = self.folds.iter().all(|fold| *fold == Fold::Closed);
        self.folds.fill(if all_closed { Fold::Open } else { Fold::Closed });
        self.peek.set(None);
        self.cache.borrow_mut().clear();
    }

    /// Takes in what was coloured; true when there is something new.
    pub(super) fn tick(&mut self) -> bool {
        let mut colouring = self.colouring.borrow_mut();
        let Some(work) = colouring.as_mut() else { return false };
        let mut news = false;
        while let Ok((at, columns, lines)) = work.done.try_recv() {
            work.waiting.retain(|waiting| *waiting != at);
            if columns == self.columns {
                if self.coloured.len() >= KEPT {
                    self.coloured.clear();
                }
                self.coloured.insert(at, lines);
                self.cache.borrow_mut().remove(&at);
                news = true;
            }
        }
        news
    }

    pub(super) fn is_busy(&self) -> bool {
        self.colouring.borrow().as_ref().is_some_and(|work| !work.waiting.is_empty())
    }

    fn body(&self, at: usize, entry: &Entry<'_>) -> Vec<Line<'static>> {
        if let Some(lines) = self.coloured.get(&at) {
            return lines.clone();
        }
        if let What::Answer(_, text) = entry.what
            && text.contains("```")
        {
            self.ask_for_colours(at, text);
        }
        render::body(entry, Colours::NotYet, &self.theme, self.columns)
    }

    fn ask_for_colours(&self, at: usize, text: &str) {
        let mut colouring = self.colouring.borrow_mut();
        let work = colouring.get_or_insert_with(|| Colouring::start(self.theme.clone()));
        let job = Job { at, columns: self.columns, text: text.to_string() };
        // A thread that ended leaves the code plain.
        if !work.waiting.contains(&at) && work.jobs.send(job).is_ok() {
            work.waiting.push(at);
        }
    }
}

impl Colouring {
    fn start(theme: Theme) -> Colouring {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, done) = channel();
        let work = move || {
            while let Ok(job) = inbox.recv() {
                let lines = render::answer(&job.text, Colours::Known, &theme, job.columns);
                if outbox.send((job.at, job.columns, lines)).is_err() {
                    return;
                }
            }
        };
        drop(std::thread::Builder::new().name("colours".into()).spawn(work));
        Colouring { jobs, done, waiting: Vec::new() }
    }
}

impl Source for Entries<'_> {
    fn blocks(&self) -> usize {
        self.all.len()
    }

    fn lines(&self, block: usize) -> Rc<Vec<Line<'static>>> {
        if let Some(lines) = self.cache.borrow().get(&block) {
            return Rc::clone(lines);
        }
        let Some(entry) = self.all.get(block) else { return Rc::default() };
        let lines = render::lines(
            entry,
            self.all.get(block + 1),
            self.fold(block),
            || self.body(block, entry),
            &self.theme,
        );
        let lines = Rc::new(lines);
        let mut cache = self.cache.borrow_mut();
        if cache.len() >= KEPT {
            cache.clear();
        }
        cache.insert(block, Rc::clone(&lines));
        lines
    }

    fn plain(&self, block: usize) -> Vec<String> {
        let Some(entry) = self.all.get(block) else { return Vec::new() };
        let body = || render::body(entry, Colours::NotYet, &self.theme, self.columns);
        render::lines(entry, self.all.get(block + 1), Fold::Open, body, &self.theme)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn reveal(&self, block: usize) {
        if let Some(before) = self.peek.replace(Some(block)) {
            self.cache.borrow_mut().remove(&before);
        }
        self.cache.borrow_mut().remove(&block);
    }

    fn gutter_width(&self) -> u16 {
        2
    }

    fn gutter(&self, at: Pos, under: Cursor) -> Line<'static> {
        let sign = match under {
            Cursor::Here => "❯ ",
            Cursor::Elsewhere if at.block == self.current => "│ ",
            Cursor::Elsewhere => "  ",
        };
        Line::from(Span::styled(sign, self.theme.style("key")))
    }
}
