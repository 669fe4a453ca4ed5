//! placet's page over a program that runs in a terminal: what the program has changed so far, with the difference of each
//! file, which hosts it asked for, its processes. It changes nothing, except that a host can be allowed.
//!
//! Facts arrive through a channel, from a thread that also reads the program's output. The page closes by itself when
//! the program has ended.

mod facts;
mod rows;

pub use facts::{
    RunPageChange, RunPageFacts, RunPageFeed, RunPageHost, RunPageHostState, RunPageNews, RunPageRepository,
    RunPageWish,
};

use super::colors::theme::Theme;
use super::keymap::{KeyBinding, Keymap, row};
use super::pager::{PagerAction, PagerPosition, WrapMode};
use super::run_difference::RunDifferenceScreen;
use super::terminal::full_screen::{FullScreenPane, PaneFlow};
use super::text_screen::{ScreenCallbacks, TextScreen, TextScreenKey};
use crossterm::event::KeyEvent;
use placet_text::text::{visible, width};
use placet_workspace::RunningFileError;
use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};
use rows::{RunPageRows, RunPageTarget};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPageAction {
    Open,
    Allow,
}

pub const KEYS: &[KeyBinding<RunPageAction>] = &[
    row(RunPageAction::Open, "open", "Enter", "show the difference of the file of this row"),
    row(RunPageAction::Allow, "allow", "a", "allow the host of this row until the program ends"),
];

pub struct RunPage {
    title: String,
    started: Instant,
    /// Absent until the first are found.
    facts: Option<RunPageFacts>,
    rows: RunPageRows,
    /// A difference over the page.
    opened: Option<RunDifferenceScreen>,
    /// The file whose difference is to open.
    wanted: Option<PathBuf>,
    screen: TextScreen,
    hands: ScreenCallbacks<'static, RunPageAction, ()>,
    feed: RunPageFeed,
    /// The key that opened the page closes it.
    opener: Box<dyn Fn(KeyEvent) -> bool>,
    /// The time as it was drawn last.
    seconds: u64,
}

impl RunPage {
    /// `title` is what runs.
    pub fn new(
        (title, started): (&str, Instant),
        theme: &Theme,
        (keys, pager): (Keymap<RunPageAction>, Keymap<PagerAction>),
        feed: RunPageFeed,
        opener: Box<dyn Fn(KeyEvent) -> bool>,
    ) -> RunPage {
        let hands = ScreenCallbacks { keys, pager, copy: Box::new(|_| String::new()), edit: Box::new(()) };
        let mut page = RunPage {
            title: visible::name(title).into_owned(),
            started,
            facts: None,
            rows: RunPageRows::default(),
            opened: None,
            wanted: None,
            screen: TextScreen::new(WrapMode::Cut, theme),
            hands,
            feed,
            opener,
            seconds: 0,
        };
        page.lay_out();
        page
    }

    /// The cursor stays on what it is on, wherever that is now: between a look at the page and a key, rows may have come.
    fn lay_out(&mut self) {
        let was = self.target();
        let rows = RunPageRows::of(self.facts.as_ref(), self.screen.size.0, &self.screen.theme);
        let place = match was {
            RunPageTarget::Nothing => None,
            was => rows.targets.iter().position(|target| *target == was),
        };
        self.rows = rows;
        self.screen.resize(&self.rows, self.screen.size);
        if let Some(place) = place {
            self.screen.scroll.to(&self.rows, PagerPosition::of(place, 0));
        }
    }

    /// What keys act on now.
    fn target(&self) -> RunPageTarget {
        let here = self.screen.scroll.cursor().block;
        self.rows.targets.get(here).cloned().unwrap_or_default()
    }

    fn allow(&mut self) {
        self.screen.note = Some(match self.target() {
            RunPageTarget::Host(_, Some(entry)) => {
                match self.feed.wishes.send(RunPageWish::Allow(entry.clone())) {
                    Ok(()) => format!("{entry} is allowed now"),
                    Err(_) => "the program has ended".into(),
                }
            }
            _ => "go to the row of a refused host first".into(),
        });
    }

    fn screen_key(&mut self, key: KeyEvent) -> PaneFlow {
        match self.screen.key(&self.rows, key, "Program", &self.hands) {
            TextScreenKey::Own(RunPageAction::Allow) => {
                self.allow();
                PaneFlow::Stay
            }
            TextScreenKey::Own(RunPageAction::Open) => {
                self.open();
                PaneFlow::Stay
            }
            TextScreenKey::Goto(_) => PaneFlow::Stay,
            TextScreenKey::Done(flow) => flow,
        }
    }

    /// A step from row `before` goes on to the next row on which a key acts, if there is one that way.
    fn skip_plain_rows(&mut self, before: usize) {
        let now = self.screen.scroll.cursor().block;
        let is_plain =
            |target: &RunPageTarget| matches!(target, RunPageTarget::Nothing | RunPageTarget::Host(_, None));
        if !is_plain(&self.target()) || now.abs_diff(before) != 1 {
            return;
        }
        let acts = |at: &usize| self.rows.targets.get(*at).is_some_and(|target| !is_plain(target));
        let next = match now > before {
            true => (now..self.rows.targets.len()).find(acts),
            false => (0..now).rev().find(acts),
        };
        if let Some(next) = next {
            self.screen.scroll.to(&self.rows, PagerPosition::of(next, 0));
        }
    }

    fn open(&mut self) {
        let RunPageTarget::Change(path) = self.target() else {
            self.screen.note = Some("go to the row of a changed file first".into());
            return;
        };
        self.screen.note = Some(match self.feed.wishes.send(RunPageWish::Open(path.clone())) {
            Ok(()) => "reading the file".into(),
            Err(_) => "the program has ended".into(),
        });
        self.wanted = Some(path);
    }

    /// Shows the difference that arrived, if it is still the one that the person asked for.
    fn show(&mut self, path: PathBuf, difference: Result<Vec<u8>, RunningFileError>) {
        if self.wanted.take_if(|wanted| *wanted == path).is_none() {
            return;
        }
        let changes = self.facts.iter().flat_map(|facts| &facts.changes);
        let name = changes.filter(|change| change.at == path).map(|change| change.path.clone()).next();
        let name = name.unwrap_or_else(|| visible::path(&path));
        self.screen.note = None;
        match difference {
            Ok(patch) => {
                let (theme, size) = (self.screen.theme.clone(), self.screen.size);
                let shown = RunDifferenceScreen::new((name, patch), &theme, self.hands.pager.clone(), size);
                self.opened = Some(shown);
            }
            Err(why) => self.screen.note = Some(format!("{name} cannot be shown: {why}")),
        }
    }

    fn elapsed(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// The keys: those that some row takes, or where there is no room those that this row takes.
    fn hint(&self, room: usize) -> String {
        let keys = &self.hands;
        let back = format!("? keys  {} back ", keys.pager.key(PagerAction::Close));
        let of = |rows: &[RunPageTarget]| {
            let mut hint = String::new();
            if rows.iter().any(|row| matches!(row, RunPageTarget::Change(_))) {
                hint.push_str(&format!("{} show  ", keys.keys.key(RunPageAction::Open)));
            }
            if rows.iter().any(|row| matches!(row, RunPageTarget::Host(_, Some(_)))) {
                hint.push_str(&format!("{} allow  ", keys.keys.key(RunPageAction::Allow)));
            }
            hint + &back
        };
        let name = width::of(" placet ");
        [of(&self.rows.targets), of(&[self.target()])]
            .into_iter()
            .find(|hint| name + width::of(hint) <= room)
            .unwrap_or(back)
    }

    /// What runs and for how long, in at most `room` columns.
    fn status(&self, room: usize) -> Line<'static> {
        let theme = &self.screen.theme;
        let (minutes, seconds) = (self.seconds / 60, self.seconds % 60);
        let time = format!("  {}:{:02}:{seconds:02}", minutes / 60, minutes % 60);
        let title = Span::styled(" placet ", theme.style("title"));
        let name = width::cut(&format!(" {}", self.title), room.saturating_sub(title.width() + time.len()));
        let spans =
            [title, Span::styled(name, theme.style("status")), Span::styled(time, theme.style("dim"))];
        let mut left = room;
        let fits = |span: &Span<'static>| {
            let is_room = span.width() <= left;
            left = left.saturating_sub(span.width());
            is_room
        };
        Line::from(spans.into_iter().filter(fits).collect::<Vec<_>>())
    }
}

impl FullScreenPane for RunPage {
    fn key(&mut self, key: KeyEvent) -> PaneFlow {
        if (self.opener)(key) {
            return PaneFlow::Close;
        }
        if let Some(opened) = &mut self.opened {
            if opened.key(key) == PaneFlow::Close {
                self.opened = None;
            }
            return PaneFlow::Stay;
        }
        self.wanted = None;
        let before = self.screen.scroll.cursor().block;
        let flow = self.screen_key(key);
        self.skip_plain_rows(before);
        flow
    }

    fn paste(&mut self, text: &str) {
        match &mut self.opened {
            Some(opened) => opened.paste(text),
            None => self.screen.scroll.pasted(&self.rows, text),
        }
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.size = (columns, rows);
        self.lay_out();
        if let Some(opened) = &mut self.opened {
            opened.resize((columns, rows));
        }
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        if let Some(opened) = &self.opened {
            return opened.draw(buffer);
        }
        let room = usize::from(buffer.area.width).saturating_sub(3);
        let hint = self.hint(room);
        let room = room.saturating_sub(width::of(&hint));
        self.screen.draw(&self.rows, buffer, Line::default(), (|| self.status(room), &hint))
    }

    fn tick(&mut self) -> bool {
        let mut is_changed = self.opened.as_mut().is_some_and(RunDifferenceScreen::tick);
        while let Ok(news) = self.feed.news.try_recv() {
            match news {
                RunPageNews::Facts(facts) if self.facts.as_ref() == Some(&facts) => {}
                RunPageNews::Facts(facts) => {
                    let is_first = self.facts.replace(facts).is_none();
                    self.lay_out();
                    let first = |target: &RunPageTarget| *target != RunPageTarget::Nothing;
                    if let (true, Some(first)) = (is_first, self.rows.targets.iter().position(first)) {
                        self.screen.scroll.to(&self.rows, PagerPosition::of(first, 0));
                    }
                    is_changed = true;
                }
                RunPageNews::Difference(path, difference) => {
                    self.show(path, difference);
                    is_changed = true;
                }
            }
        }
        let seconds = self.elapsed();
        is_changed | (std::mem::replace(&mut self.seconds, seconds) != seconds)
    }

    fn is_finished(&self) -> bool {
        self.feed.is_over.load(Ordering::SeqCst)
    }

    /// Facts may come at any time, and the time goes on.
    fn has_background_work(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
