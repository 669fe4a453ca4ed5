//! placet's page over a program that runs in a terminal: what the program has changed so far, which hosts it asked for,
//! its processes. It changes nothing, except that a host can be allowed.
//!
//! Facts arrive through a channel, from a thread that also reads the program's output. The page closes by itself when
//! the program has ended.

use super::full_screen::{FullScreenPane, PaneFlow};
use super::keymap::{KeyBinding, Keymap, row};
use super::pager::{PagerAction, PagerSource, WrapMode};
use super::text_screen::{ScreenCallbacks, TextScreen, TextScreenKey};
use super::theme::Theme;
use crate::text::{count, visible, width};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPageAction {
    Allow,
}

pub const KEYS: &[KeyBinding<RunPageAction>] =
    &[row(RunPageAction::Allow, "allow", "a", "allow the host of this row until the program ends")];

/// What is known of a running program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunPageFacts {
    pub changes: Vec<RunPageChange>,
    /// There are more changes than are listed.
    pub is_cut: bool,
    /// Absent where the program has no network by name.
    pub hosts: Option<Vec<RunPageHost>>,
    /// The names of its processes.
    pub programs: Vec<String>,
    /// Why a part of it is missing.
    pub error: Option<String>,
}

/// A changed path: `A`, `M` or `D` and its name, as git shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPageChange {
    pub letter: char,
    pub path: String,
}

/// A host that the program asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPageHost {
    pub state: RunPageHostState,
    pub name: String,
    pub port: Option<u16>,
    pub count: u64,
    /// The program that asked first.
    pub program: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPageHostState {
    Refused,
    Allowed,
    Connected,
    Failed,
}

/// What connects the page with the thread that works for it.
pub struct RunPageFeed {
    pub facts: Receiver<RunPageFacts>,
    /// Entries to allow.
    pub allow: Sender<String>,
    /// Set when the program has ended, or placet is to end.
    pub is_over: Arc<AtomicBool>,
}

/// One row of the page.
#[derive(Default)]
struct RunPageRows {
    lines: Vec<Rc<Vec<Line<'static>>>>,
    /// The host that is refused in a row.
    refused: Vec<Option<String>>,
}

impl PagerSource for RunPageRows {
    fn blocks(&self) -> usize {
        self.lines.len()
    }

    fn lines(&self, block: usize) -> Rc<Vec<Line<'static>>> {
        self.lines.get(block).cloned().unwrap_or_default()
    }
}

impl RunPageRows {
    fn add(&mut self, line: Line<'static>, refused: Option<String>) {
        self.lines.push(Rc::new(vec![line]));
        self.refused.push(refused);
    }
}

pub struct RunPage {
    title: String,
    started: Instant,
    /// Absent until the first are found.
    facts: Option<RunPageFacts>,
    rows: RunPageRows,
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
            screen: TextScreen::new(WrapMode::Cut, theme),
            hands,
            feed,
            opener,
            seconds: 0,
        };
        page.lay_out();
        page
    }

    fn lay_out(&mut self) {
        let mut rows = RunPageRows::default();
        match &self.facts {
            Some(facts) => self.add_facts(facts, &mut rows),
            None => rows.add(Line::styled(" reading the changes", self.screen.theme.style("dim")), None),
        }
        self.rows = rows;
        self.screen.resize(&self.rows, self.screen.size);
    }

    fn add_facts(&self, facts: &RunPageFacts, rows: &mut RunPageRows) {
        let theme = &self.screen.theme;
        let (title, text, dim) = (theme.style("title"), theme.style("text"), theme.style("dim"));
        let more = if facts.is_cut { "+" } else { "" };
        rows.add(Line::styled(format!(" Changes so far  {}{more}", facts.changes.len()), title), None);
        for change in &facts.changes {
            let style = theme.style(match change.letter {
                'A' => "diff.add",
                'D' => "diff.remove",
                _ => "text",
            });
            let spans = vec![
                Span::styled(format!("   {} ", change.letter), style),
                Span::styled(change.path.clone(), text),
            ];
            rows.add(Line::from(spans), None);
        }
        if facts.changes.is_empty() {
            rows.add(Line::styled("   no changes", dim), None);
        }
        rows.add(Line::default(), None);
        rows.add(Line::styled(" Network", title), None);
        match &facts.hosts {
            None => rows.add(Line::styled("   no network", dim), None),
            Some(hosts) if hosts.is_empty() => rows.add(Line::styled("   no host was asked for", dim), None),
            Some(hosts) => {
                for host in hosts {
                    rows.add(host_line(host, theme), host.entry());
                }
            }
        }
        rows.add(Line::default(), None);
        rows.add(Line::styled(format!(" Processes  {}", facts.programs.len()), title), None);
        for name in &facts.programs {
            rows.add(Line::styled(format!("   {}", visible::name(name)), text), None);
        }
        if let Some(error) = &facts.error {
            rows.add(Line::default(), None);
            rows.add(Line::styled(format!(" {}", visible::guard_line(error)), theme.style("warning")), None);
        }
    }

    fn allow(&mut self) {
        let here = self.screen.scroll.cursor().block;
        self.screen.note = Some(match self.rows.refused.get(here).cloned().flatten() {
            Some(entry) if self.feed.allow.send(entry.clone()).is_ok() => format!("{entry} is allowed now"),
            Some(_) => "the program has ended".into(),
            None => "go to the row of a refused host first".into(),
        });
    }

    fn elapsed(&self) -> u64 {
        self.started.elapsed().as_secs()
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

impl RunPageHost {
    /// What allows it, while it is refused.
    fn entry(&self) -> Option<String> {
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        (self.state == RunPageHostState::Refused).then(|| format!("{}{port}", self.name))
    }
}

fn host_line(host: &RunPageHost, theme: &Theme) -> Line<'static> {
    let (word, style) = match host.state {
        RunPageHostState::Refused => ("refused", "rejected"),
        RunPageHostState::Allowed => ("allowed", "accepted"),
        RunPageHostState::Connected => ("connected", "text"),
        RunPageHostState::Failed => ("failed", "warning"),
    };
    let port = host.port.map(|port| format!(":{port}")).unwrap_or_default();
    let mut note =
        if host.count > 1 { format!("  {}", count::of(host.count, "time")) } else { String::new() };
    if let Some(program) = &host.program {
        note.push_str(&format!("  {}", visible::name(program)));
    }
    Line::from(vec![
        Span::styled(format!("   {word:<10}"), theme.style(style)),
        Span::styled(format!("{}{port}", visible::name(&host.name)), theme.style("text")),
        Span::styled(note, theme.style("dim")),
    ])
}

impl FullScreenPane for RunPage {
    fn key(&mut self, key: KeyEvent) -> PaneFlow {
        if (self.opener)(key) {
            return PaneFlow::Close;
        }
        match self.screen.key(&self.rows, key, "Program", &self.hands) {
            TextScreenKey::Own(RunPageAction::Allow) => {
                self.allow();
                PaneFlow::Stay
            }
            TextScreenKey::Goto(_) => PaneFlow::Stay,
            TextScreenKey::Done(flow) => flow,
        }
    }

    fn paste(&mut self, text: &str) {
        self.screen.scroll.pasted(&self.rows, text);
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.resize(&self.rows, (columns, rows));
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let keys = &self.hands;
        let back = format!("? keys  {} back ", keys.pager.key(PagerAction::Close));
        let all = format!("{} allow  {back}", keys.keys.key(RunPageAction::Allow));
        // The keys come before the name and the time.
        let room = usize::from(buffer.area.width).saturating_sub(3);
        let hint = if room >= width::of(&all) + self.status(room).width() { all } else { back };
        let room = room.saturating_sub(width::of(&hint));
        self.screen.draw(&self.rows, buffer, Line::default(), (|| self.status(room), &hint))
    }

    fn tick(&mut self) -> bool {
        let newest = self.feed.facts.try_iter().last();
        let is_new = newest.as_ref().is_some_and(|facts| self.facts.as_ref() != Some(facts));
        if let (Some(facts), true) = (newest, is_new) {
            self.facts = Some(facts);
            self.lay_out();
        }
        let seconds = self.elapsed();
        is_new | (std::mem::replace(&mut self.seconds, seconds) != seconds)
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
mod tests {
    use super::*;
    use crate::ui::test_screen::{assert_no_key_of_the_pager, dark, drawn, press, rows};
    use crossterm::event::{KeyCode, KeyModifiers};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    fn host(state: RunPageHostState, name: &str, count: u64) -> RunPageHost {
        RunPageHost { state, name: name.into(), port: Some(443), count, program: Some("curl\u{1b}".into()) }
    }

    #[test]
    fn it_shows_what_the_program_did_and_allows_a_refused_host() {
        let (facts, inbox) = channel();
        let (allow, wishes) = channel();
        let feed = RunPageFeed { facts: inbox, allow, is_over: Arc::default() };
        let keys = (Keymap::usual("run", KEYS), Keymap::usual("pager", crate::ui::pager::KEYS));
        let opener = |key: KeyEvent| key.code == KeyCode::Char('5') && key.modifiers == KeyModifiers::CONTROL;
        let mut page = RunPage::new(
            ("claude", Instant::now() + Duration::from_secs(3600)),
            &dark(),
            keys,
            feed,
            Box::new(opener),
        );
        page.resize(60, 12);
        facts
            .send(RunPageFacts {
                changes: vec![RunPageChange { letter: 'M', path: "src/a.rs".into() }],
                hosts: Some(vec![
                    host(RunPageHostState::Connected, "api.example.org", 1),
                    host(RunPageHostState::Refused, "pkg.example.org", 3),
                ]),
                programs: vec!["node".into()],
                ..RunPageFacts::default()
            })
            .unwrap();
        assert!(page.tick());
        insta::assert_snapshot!(rows(&drawn(&page, (60, 12))).join("\n"));
        for key in "jjjjj".chars() {
            press(&mut page, key);
        }
        press(&mut page, 'a');
        assert_eq!(wishes.try_recv().as_deref(), Ok("pkg.example.org:443"));
        assert_eq!(page.key(KeyEvent::new(KeyCode::Char('5'), KeyModifiers::CONTROL)), PaneFlow::Close);
        assert_eq!(press(&mut page, '⎋'), PaneFlow::Close);
        assert!(!page.is_finished());
    }

    #[test]
    fn no_key_is_taken_twice() {
        assert_no_key_of_the_pager("run", KEYS);
    }
}
