//! The loop around the pane: events of the turn, keys of the person, and time. One `select!`, top to bottom.

use super::pane::TurnPane;
use super::status::{TurnPaneAction, TurnPaneStatus};
use super::waits::{background_answer, typed};
use crate::colors::theme::Theme;
use crate::input::decode::TerminalInput;
use crate::input::{AsyncKeyReader, terminal_name};
use crate::paste::{self, PasteStore, TOO_LONG};
use crate::terminal::inline_painter::InlinePainter;
use crate::terminal::{reclaim, term};
use crate::viewer::CheckOutputScreen;
use crate::{LinkFinder, Notifier};
use placet_agent::{MessageQueue, TurnEnding, TurnEvent};
use placet_permission::{Mode, ModeCell};
use placet_session::session::DraftFile;
use placet_tools::{JobRegistry, ToolError};
use ratatui::text::Line;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The pane is drawn at most this often, except for keys, whose echo does not wait.
const FRAME: Duration = Duration::from_millis(50);

/// How long the terminal may wait before a person notices.
const NOTICED: Duration = Duration::from_millis(100);
/// Finished text is written at once when there is this much of it.
const FLUSH: usize = 64 * 1024;
/// Events that are taken in before keys are looked at again.
const AT_ONCE: usize = 256;

pub struct TurnPaneSettings {
    pub theme: Theme,
    pub facts: TurnPaneStatus,
    pub mode: ModeCell,
    /// The modes that Shift+Tab switches between.
    pub modes: Vec<Mode>,
    /// What was typed before the turn and not sent.
    pub draft: String,
    /// The queue for lines that the person sends while the turn runs.
    pub queue: MessageQueue,
    /// Stores typed and queued text, in case this process ends.
    pub drafts: Option<Arc<DraftFile>>,
    /// Where long pastes are.
    pub pastes: PasteStore,
    pub notifier: Notifier,
    pub links: LinkFinder,
    /// Knows the command that runs in the foreground.
    pub jobs: JobRegistry,
    /// Shows what a check wrote; it returns when the person closes the screen.
    pub check_output: CheckOutputScreen,
}

/// What the pane leaves behind.
#[derive(Debug)]
pub struct TurnPaneResult {
    pub ending: TurnEnding,
    /// Typed and not sent: the next prompt starts with it.
    pub draft: String,
    /// A draft that was cleared, for the history.
    pub cleared: Option<String>,
    /// Whether thinking and output were shown at length at last.
    pub expanded: bool,
}

/// Shows a turn until it ends. `stop` is cancelled when the person stops it.
pub async fn run(
    settings: TurnPaneSettings,
    mut events: UnboundedReceiver<TurnEvent>,
    stop: CancellationToken,
) -> TurnPaneResult {
    reclaim::before_question();
    let mut screen = TurnScreen::open(settings, stop);
    let mut resizes = signal(SignalKind::window_change()).ok();
    // What a key asked for.
    let mut action = None;
    let ending = loop {
        if let Some(action) = action.take() {
            screen.act(action);
        }
        screen.draw_if_due();
        let wake = screen.wake();
        tokio::select! {
            biased;
            input = typed(&mut screen.keys) => match input {
                Some((input, at)) => action = screen.take_input(input, at),
                None => screen.terminal_closed(),
            },
            () = resized(&mut resizes) => screen.resized(),
            refusal = background_answer(&mut screen.asked) => screen.say(refusal.as_deref()),
            event = events.recv() => {
                let Some(event) = event else { break TurnEnding::Interrupted };
                if let Some(ending) = screen.take_events(event, &mut events) {
                    break ending;
                }
            }
            () = tokio::time::sleep_until(wake.into()) => screen.frames.are_due = true,
        }
    };
    screen.close(ending).await
}

/// When the pane is drawn.
struct FrameTimes {
    /// Something looks different from what is drawn.
    are_due: bool,
    next: Instant,
    last: Instant,
    /// Bytes of finished text since then.
    pending: usize,
}

/// The pane on the terminal, with who reads its keys.
struct TurnScreen {
    painter: InlinePainter,
    live: TurnPane,
    keys: Option<AsyncKeyReader>,
    frames: FrameTimes,
    /// Since when the person typed nothing.
    quiet_since: Instant,
    /// Whether the command goes to the background, once that is known.
    asked: Option<oneshot::Receiver<ToolError>>,
    stop: CancellationToken,
    mode: ModeCell,
    modes: Vec<Mode>,
    drafts: Option<Arc<DraftFile>>,
    notifier: Notifier,
    links: LinkFinder,
    jobs: JobRegistry,
    check_output: CheckOutputScreen,
}

impl TurnScreen {
    fn open(settings: TurnPaneSettings, stop: CancellationToken) -> TurnScreen {
        let TurnPaneSettings { theme, facts, draft, queue, pastes, .. } = settings;
        let now = Instant::now();
        let painter = InlinePainter::new(Box::new(term::write_all), term::size())
            .with_kept_rows(term::keeps_rows(|name| std::env::var(name).ok(), terminal_name::answer()));
        let mut live = TurnPane::new(theme, usize::from(term::size().0), facts, queue, pastes, now);
        live.type_in(&draft);
        listen(&settings.notifier);
        TurnScreen {
            painter,
            live,
            keys: AsyncKeyReader::new().ok(),
            frames: FrameTimes { are_due: true, next: now, last: now, pending: 0 },
            quiet_since: now,
            asked: None,
            stop,
            mode: settings.mode,
            modes: settings.modes,
            drafts: settings.drafts,
            notifier: settings.notifier,
            links: settings.links,
            jobs: settings.jobs,
            check_output: settings.check_output,
        }
    }

    /// Does what a key asked for.
    fn act(&mut self, action: TurnPaneAction) {
        match action {
            TurnPaneAction::Stop => self.stop.cancel(),
            TurnPaneAction::ToBackground => self.asked = self.jobs.send_to_background(),
            // The list has only permitted modes.
            TurnPaneAction::CycleMode => {
                self.mode.store(self.mode.load().next(&self.modes));
            }
            TurnPaneAction::Suspend => {
                self.leave_keys();
                reclaim::suspend();
                // A question may be open.
                reclaim::before_question();
                self.read_keys();
            }
            TurnPaneAction::ShowCheck(output) => {
                self.leave_keys();
                let shown = self.check_output.show(&output);
                self.read_keys();
                self.live.look_again(Instant::now());
                self.write(shown.iter().flat_map(|why| self.live.notice(why)).collect());
            }
        }
    }

    fn leave_keys(&mut self) {
        self.painter.finish();
        drop(self.keys.take());
    }

    fn read_keys(&mut self) {
        listen(&self.notifier);
        self.keys = AsyncKeyReader::new().ok();
    }

    /// Writes lines above the pane.
    fn write(&mut self, lines: Vec<Line<'static>>) {
        for line in lines {
            let text = self.links.line(&line);
            self.frames.pending += text.len();
            self.painter.insert(&text);
            self.painter.insert("\n");
        }
    }

    fn say(&mut self, words: Option<&str>) {
        self.write(words.map_or_else(Vec::new, |words| self.live.notice(words)));
        self.frames.are_due = true;
    }

    fn draw_if_due(&mut self) {
        if !self.frames.are_due || Instant::now() < self.next_frame() {
            return;
        }
        self.live.set_foreground(self.jobs.foreground());
        let last = Instant::now();
        frame(&mut self.painter, &mut self.live, &self.mode);
        self.frames = FrameTimes { are_due: false, next: Instant::now() + FRAME, last, pending: 0 };
    }

    /// Right after a resize the terminal is not drawn to, and what is not drawn must not count as shown.
    fn next_frame(&self) -> Instant {
        self.painter.settles_at().map_or(self.frames.next, |settled| settled.max(self.frames.next))
    }

    fn wake(&self) -> Instant {
        match self.frames.are_due {
            true => self.next_frame(),
            false => Instant::now() + wait(&self.live, self.frames.last),
        }
    }

    fn take_input(&mut self, input: TerminalInput, at: Instant) -> Option<TurnPaneAction> {
        // A key's echo does not wait for the next frame.
        (self.frames.are_due, self.frames.next) = (true, Instant::now());
        match input {
            TerminalInput::FocusLost => self.notifier.focus_lost(),
            TerminalInput::FocusGained => self.notifier.focus_gained(),
            TerminalInput::Ignored | TerminalInput::Unfinished => {}
            _ => {
                self.notifier.typed();
                self.quiet_since = Instant::now();
            }
        }
        let refused = refused(&mut self.live, &input);
        self.write(refused);
        self.live.set_foreground(self.jobs.foreground());
        let action = take_input(&mut self.live, input, at);
        self.keep_draft();
        action
    }

    /// Without a terminal there is no person.
    fn terminal_closed(&mut self) {
        self.keys = None;
        self.live.terminal_closed();
        self.stop.cancel();
    }

    fn resized(&mut self) {
        (self.frames.are_due, self.frames.next) = (true, self.painter.resized(Instant::now()));
        self.live.size_changed(Instant::now());
    }

    /// Takes in an event and those that came with it; returns how the turn ended, if it did.
    fn take_events(
        &mut self,
        mut event: TurnEvent,
        more: &mut UnboundedReceiver<TurnEvent>,
    ) -> Option<TurnEnding> {
        let since = Instant::now();
        let mut taken = 1;
        let ended = loop {
            self.notifier.on_event(&event, self.quiet_since, since);
            let ended = if let TurnEvent::Ended(ending) = &event { Some(ending.clone()) } else { None };
            let lines = self.live.event(event, Instant::now());
            self.write(lines);
            if ended.is_some() || taken >= AT_ONCE || self.frames.pending > FLUSH {
                break ended;
            }
            match more.try_recv() {
                Ok(next) => event = next,
                Err(_) => break None,
            }
            taken += 1;
        };
        self.frames.are_due = true;
        self.keep_draft();
        note_if_slow("taking in events", since);
        if self.frames.pending > FLUSH {
            self.frames.next = Instant::now();
        }
        ended
    }

    fn keep_draft(&self) {
        if let Some(drafts) = &self.drafts {
            drafts.keep(self.live.draft());
        }
    }

    async fn close(mut self, ending: TurnEnding) -> TurnPaneResult {
        while !self.painter.is_settled(Instant::now()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.painter.frame(Instant::now(), term::size(), 0, |_, _| None);
        self.painter.finish();
        // Typed text that was not taken belongs to the prompt.
        drop(self.keys.take());
        term::write_all(b"\x1b[?1004l\x1b[?2004l");
        self.keep_draft();
        let (draft, cleared) = self.live.take_drafts();
        TurnPaneResult { ending, draft, cleared, expanded: self.live.is_expanded() }
    }
}

/// Turns on bracketed paste, and reports of the window's focus.
fn listen(notifier: &Notifier) {
    term::write_all(if notifier.is_on() { b"\x1b[?2004h\x1b[?1004h" } else { b"\x1b[?2004h" });
}

/// How long nothing is drawn that no event asks for. The row of answers says when Enter counts, at once.
fn wait(live: &TurnPane, drawn: Instant) -> Duration {
    let counts = live.counts_from().filter(|from| *from > drawn);
    let counts = counts.map(|from| from.saturating_duration_since(Instant::now()));
    counts.map_or(tick(live), |left| left.min(tick(live)))
}

fn tick(live: &TurnPane) -> Duration {
    let now = Instant::now();
    match live.ticks(now) {
        _ if live.is_busy() => FRAME,
        true if live.is_waiting(now) => Duration::from_secs(1),
        true => Duration::from_millis(250),
        false => Duration::from_secs(3600),
    }
}

/// Draws the pane: called only where the painter draws, because what is drawn counts as shown.
fn frame(painter: &mut InlinePainter, live: &mut TurnPane, mode: &ModeCell) {
    let (now, size) = (Instant::now(), term::size());
    live.resized(usize::from(size.0), usize::from(size.1));
    live.plans(mode.planning());
    live.take_in();
    let picture = live.picture(mode.load(), size.1.saturating_sub(1).max(1), now);
    painter.frame(now, size, picture.height(), |buffer, area| picture.draw(buffer, area));
    live.shown(&picture, now);
    note_if_slow("drawing a frame", now);
}

/// When keys were not read for so long that a person notices, logs where the time was spent.
fn note_if_slow(what: &'static str, since: Instant) {
    let took = since.elapsed();
    if took > NOTICED {
        tracing::warn!(what, millis = took.as_millis(), "the terminal was not attended to");
    }
}

/// Handles a paste; returns the message about a paste that was not stored.
fn refused(live: &mut TurnPane, input: &TerminalInput) -> Vec<Line<'static>> {
    match input {
        TerminalInput::Paste(text) => live.paste(text, Instant::now()),
        TerminalInput::PasteRefused(bytes) => live.notice(&paste::refused(*bytes, TOO_LONG)),
        _ => Vec::new(),
    }
}

fn take_input(live: &mut TurnPane, input: TerminalInput, at: Instant) -> Option<TurnPaneAction> {
    match input {
        TerminalInput::Key(key) => live.key(key, at),
        // A person who comes back by a click has not read the question yet.
        TerminalInput::FocusGained
        | TerminalInput::FocusLost
        | TerminalInput::Ignored
        | TerminalInput::Unfinished => {
            live.look_again(at);
            None
        }
        TerminalInput::Paste(_) | TerminalInput::PasteRefused(_) | TerminalInput::Resized => None,
    }
}

async fn resized(resizes: &mut Option<tokio::signal::unix::Signal>) {
    let signal = match resizes {
        Some(resizes) => resizes.recv().await,
        None => None,
    };
    if signal.is_none() {
        std::future::pending().await
    }
}
