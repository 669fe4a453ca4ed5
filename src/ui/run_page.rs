//! placet's page over a program that runs in a terminal: what the program has changed so far, with the difference of each
//! file, which hosts it asked for, its processes. It changes nothing, except that a host can be allowed.
//!
//! Facts arrive through a channel, from a thread that also reads the program's output. The page closes by itself when
//! the program has ended.

use super::full_screen::{FullScreenPane, PaneFlow};
use super::keymap::{KeyBinding, Keymap, row};
use super::pager::{PagerAction, PagerPosition, PagerSource, RowFocus, WrapMode};
use super::run_difference::RunDifferenceScreen;
use super::text_screen::{ScreenCallbacks, TextScreen, TextScreenKey};
use super::theme::Theme;
use crate::text::{count, visible, width};
use crate::workspace::RunningFileError;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
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
    /// Where it is in the workspace.
    pub at: PathBuf,
    /// Lines added and removed, where they are known.
    pub counts: Option<(usize, usize)>,
}

/// What arrives for the page.
#[derive(Debug)]
pub enum RunPageNews {
    Facts(RunPageFacts),
    /// The difference of a file as a patch, or why there is none.
    Difference(PathBuf, Result<Vec<u8>, RunningFileError>),
}

/// What the person asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPageWish {
    /// To allow this entry.
    Allow(String),
    /// The difference of this file.
    Open(PathBuf),
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
    pub news: Receiver<RunPageNews>,
    pub wishes: Sender<RunPageWish>,
    /// Set when the program has ended, or placet is to end.
    pub is_over: Arc<AtomicBool>,
}

/// What keys act on in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum RunPageTarget {
    #[default]
    Nothing,
    Change(PathBuf),
    /// A host, with what allows it while it is refused.
    Host(String, Option<String>),
}

/// The rows of the page.
#[derive(Default)]
struct RunPageRows {
    lines: Vec<Rc<Vec<Line<'static>>>>,
    targets: Vec<RunPageTarget>,
    mark: Style,
}

impl PagerSource for RunPageRows {
    fn blocks(&self) -> usize {
        self.lines.len()
    }

    fn lines(&self, block: usize) -> Rc<Vec<Line<'static>>> {
        self.lines.get(block).cloned().unwrap_or_default()
    }

    fn gutter_width(&self) -> u16 {
        2
    }

    fn gutter(&self, _at: PagerPosition, under: RowFocus) -> Line<'static> {
        let sign = if under == RowFocus::Here { "❯ " } else { "  " };
        Line::from(Span::styled(sign, self.mark))
    }
}

impl RunPageRows {
    fn add(&mut self, line: Line<'static>, target: RunPageTarget) {
        self.lines.push(Rc::new(vec![line]));
        self.targets.push(target);
    }

    fn text(&mut self, text: impl Into<String>, style: Style) {
        self.add(Line::styled(text.into(), style), RunPageTarget::Nothing);
    }
}

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
        let mut rows = RunPageRows { mark: self.screen.theme.style("key"), ..RunPageRows::default() };
        match &self.facts {
            Some(facts) => self.add_facts(facts, &mut rows),
            None => rows.text("reading the changes", self.screen.theme.style("dim")),
        }
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

    fn add_facts(&self, facts: &RunPageFacts, rows: &mut RunPageRows) {
        let theme = &self.screen.theme;
        let (title, text, dim) = (theme.style("title"), theme.style("text"), theme.style("dim"));
        let more = if facts.is_cut { "+" } else { "" };
        rows.text(format!("Changes so far  {}{more}", facts.changes.len()), title);
        let room = usize::from(self.screen.size.0.saturating_sub(rows.gutter_width()));
        for change in &facts.changes {
            rows.add(change_line(change, room, theme), RunPageTarget::Change(change.at.clone()));
        }
        if facts.changes.is_empty() {
            rows.text(" no changes", dim);
        }
        rows.text("", text);
        rows.text("Network", title);
        match &facts.hosts {
            None => rows.text(" no network", dim),
            Some(hosts) if hosts.is_empty() => rows.text(" no host was asked for", dim),
            Some(hosts) => {
                for host in hosts {
                    rows.add(host_line(host, theme), RunPageTarget::Host(host.with_port(), host.entry()));
                }
            }
        }
        rows.text("", text);
        rows.text(format!("Processes  {}", facts.programs.len()), title);
        for name in &facts.programs {
            rows.text(format!(" {}", visible::name(name)), text);
        }
        if let Some(error) = &facts.error {
            rows.text("", text);
            rows.text(visible::guard_line(error), theme.style("warning"));
        }
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

impl RunPageHost {
    fn with_port(&self) -> String {
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", self.name)
    }

    /// What allows it, while it is refused.
    fn entry(&self) -> Option<String> {
        (self.state == RunPageHostState::Refused).then(|| self.with_port())
    }
}

/// `M src/a.rs  +1 -1`; where there is no room, a part of the path makes way.
fn change_line(change: &RunPageChange, room: usize, theme: &Theme) -> Line<'static> {
    let style = theme.sign(match change.letter {
        'A' => "diff.add",
        'D' => "diff.remove",
        _ => "text",
    });
    let counts = change.counts.map(|(added, removed)| (format!("  +{added}"), format!(" -{removed}")));
    let taken = counts.as_ref().map_or(0, |(added, removed)| added.len() + removed.len());
    // The letter with its blanks, and a column for the sign of what continues.
    let path = width::cut_middle(&change.path, room.saturating_sub(taken + 4));
    let mut spans = vec![
        Span::raw(" "),
        Span::styled(change.letter.to_string(), style),
        Span::styled(format!(" {path}"), theme.style("text")),
    ];
    if let Some((added, removed)) = counts {
        spans.push(Span::styled(added, theme.sign("diff.add")));
        spans.push(Span::styled(removed, theme.sign("diff.remove")));
    }
    Line::from(spans)
}

fn host_line(host: &RunPageHost, theme: &Theme) -> Line<'static> {
    let (word, style) = match host.state {
        RunPageHostState::Refused => ("refused", "rejected"),
        RunPageHostState::Allowed => ("allowed", "accepted"),
        RunPageHostState::Connected => ("connected", "text"),
        RunPageHostState::Failed => ("failed", "warning"),
    };
    let mut note =
        if host.count > 1 { format!("  {}", count::of(host.count, "time")) } else { String::new() };
    if let Some(program) = &host.program {
        note.push_str(&format!("  {}", visible::name(program)));
    }
    Line::from(vec![
        Span::styled(format!(" {word:<10}"), theme.style(style)),
        Span::styled(visible::name(&host.with_port()).into_owned(), theme.style("text")),
        Span::styled(note, theme.style("dim")),
    ])
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
mod tests {
    use super::*;
    use crate::ui::test_screen::{assert_no_key_of_the_pager, dark, drawn, press, rows};
    use crossterm::event::{KeyCode, KeyModifiers};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    fn host(state: RunPageHostState, name: &str, count: u64) -> RunPageHost {
        RunPageHost { state, name: name.into(), port: Some(443), count, program: Some("curl\u{1b}".into()) }
    }

    fn page() -> (RunPage, Sender<RunPageNews>, Receiver<RunPageWish>) {
        let (news, inbox) = channel();
        let (wishes, asked) = channel();
        let feed = RunPageFeed { news: inbox, wishes, is_over: Arc::default() };
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
        (page, news, asked)
    }

    fn change(path: &str, counts: Option<(usize, usize)>) -> RunPageChange {
        RunPageChange { letter: 'M', path: path.into(), at: PathBuf::from("/w").join(path), counts }
    }

    fn facts(changes: &[&str]) -> RunPageFacts {
        RunPageFacts {
            changes: changes.iter().map(|path| change(path, Some((12, 3)))).collect(),
            hosts: Some(vec![
                host(RunPageHostState::Connected, "api.example.org", 1),
                host(RunPageHostState::Refused, "pkg.example.org", 3),
            ]),
            programs: vec!["node".into()],
            ..RunPageFacts::default()
        }
    }

    #[test]
    fn it_shows_what_the_program_did_and_allows_a_refused_host() {
        let (mut page, news, asked) = page();
        news.send(RunPageNews::Facts(facts(&["src/a.rs"]))).unwrap();
        assert!(page.tick());
        let shown = rows(&drawn(&page, (60, 12))).join("\n");
        for expected in [
            "❯  M src/a.rs  +12 -3",
            "connected api.example.org:443  curl␛",
            "refused   pkg.example.org:443  3 times  curl␛",
            "Enter show  a allow  ? keys  q back",
        ] {
            assert!(shown.contains(expected), "{expected} is missing:\n{shown}");
        }
        press(&mut page, 'a');
        assert!(asked.try_recv().is_err(), "this row is no host");
        // One step to the refused host, over rows on which no key acts, and back.
        for key in "jkj".chars() {
            press(&mut page, key);
        }
        // What comes in between moves the row, and not what the key acts on.
        news.send(RunPageNews::Facts(facts(&["a", "b", "src/a.rs"]))).unwrap();
        assert!(page.tick());
        press(&mut page, 'a');
        assert_eq!(asked.try_recv(), Ok(RunPageWish::Allow("pkg.example.org:443".into())));
        assert_eq!(page.key(KeyEvent::new(KeyCode::Char('5'), KeyModifiers::CONTROL)), PaneFlow::Close);
        assert_eq!(press(&mut page, '⎋'), PaneFlow::Close);
        assert!(!page.is_finished());
    }

    #[test]
    fn enter_shows_the_difference_of_a_file_and_leads_back() {
        let (mut page, news, asked) = page();
        page.resize(40, 10);
        let long = "src/some/long/directory/with/a/file.rs";
        news.send(RunPageNews::Facts(facts(&[long]))).unwrap();
        assert!(page.tick());
        let shown = rows(&drawn(&page, (40, 10))).join("\n");
        assert!(shown.contains("❯  M src/some/") && shown.contains("/file.rs  +12 -3"), "{shown}");
        assert!(shown.contains("Enter show  ? keys  q back") && !shown.contains("a allow"), "{shown}");
        press(&mut page, '\n');
        let path = PathBuf::from("/w").join(long);
        assert_eq!(asked.try_recv(), Ok(RunPageWish::Open(path.clone())));
        let patch = b"diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
        news.send(RunPageNews::Difference(path.clone(), Ok(patch.to_vec()))).unwrap();
        assert!(page.tick());
        let shown = rows(&drawn(&page, (40, 10))).join("\n");
        assert!(shown.contains(" 2 - two\n 2 + 2"), "{shown}");
        assert_eq!(press(&mut page, 'q'), PaneFlow::Stay);
        assert!(rows(&drawn(&page, (40, 10))).join("\n").contains("Changes so far"));
        // What nobody asks for any more does not open.
        news.send(RunPageNews::Difference(path.clone(), Ok(patch.to_vec()))).unwrap();
        page.tick();
        assert!(rows(&drawn(&page, (40, 10))).join("\n").contains("Changes so far"));
        press(&mut page, '\n');
        news.send(RunPageNews::Difference(path, Err(RunningFileError::NoText))).unwrap();
        page.tick();
        let shown = rows(&drawn(&page, (90, 10))).join("\n");
        assert!(shown.contains("file.rs cannot be shown: it is not text"), "{shown}");
    }

    #[test]
    fn no_key_is_taken_twice() {
        assert_no_key_of_the_pager("run", KEYS);
    }
}
