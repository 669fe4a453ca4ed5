//! The loop around the pane: events of the turn, keys of the person, and time. One `select!`, top to bottom.

use super::pane::TurnPane;
use super::status::{TurnPaneAction, TurnPaneStatus};
use super::waits::{background_answer, typed};
use crate::inline_painter::InlinePainter;
use crate::input::AsyncKeyReader;
use crate::input::decode::TerminalInput;
use crate::input::terminal_name;
use crate::paste::{self, PasteStore, TOO_LONG};
use crate::theme::Theme;
use crate::viewer::CheckOutputScreen;
use crate::{LinkFinder, Notifier, reclaim, term};
use placet_agent::{MessageQueue, TurnEnding, TurnEvent};
use placet_permission::{Mode, ModeCell};
use placet_session::session::DraftFile;
use placet_tools::JobRegistry;
use ratatui::text::Line;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;
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
    let TurnPaneSettings {
        theme,
        facts,
        mode,
        modes,
        draft,
        queue,
        drafts,
        pastes,
        notifier,
        links,
        jobs,
        check_output,
    } = settings;
    reclaim::before_question();
    let mut painter = InlinePainter::new(Box::new(term::write_all), term::size())
        .with_kept_rows(term::keeps_rows(|name| std::env::var(name).ok(), terminal_name::answer()));
    let mut live = TurnPane::new(theme, usize::from(term::size().0), facts, queue, pastes, Instant::now());
    live.type_in(&draft);
    let mut quiet_since = Instant::now();
    listen(&notifier);
    let mut keys = AsyncKeyReader::new().ok();
    let mut resizes = signal(SignalKind::window_change()).ok();
    let mut dirty = true;
    let mut next_frame = Instant::now();
    let mut drawn = Instant::now();
    let mut pending = 0;
    let mut asked = None;
    // What a key asked for.
    let mut action = None;
    let ending = loop {
        match action.take() {
            Some(TurnPaneAction::Stop) => stop.cancel(),
            Some(TurnPaneAction::ToBackground) => asked = jobs.send_to_background(),
            Some(TurnPaneAction::CycleMode) => {
                // The list has only permitted modes.
                mode.store(mode.load().next(&modes));
            }
            Some(TurnPaneAction::Suspend) => {
                painter.finish();
                drop(keys.take());
                reclaim::suspend();
                // A question may be open.
                reclaim::before_question();
                listen(&notifier);
                keys = AsyncKeyReader::new().ok();
            }
            Some(TurnPaneAction::ShowCheck(output)) => {
                painter.finish();
                drop(keys.take());
                let shown = check_output.show(&output);
                listen(&notifier);
                keys = AsyncKeyReader::new().ok();
                live.look_again(Instant::now());
                for line in shown.iter().flat_map(|why| live.notice(why)) {
                    painter.insert(&links.line(&line));
                    painter.insert("\n");
                }
            }
            None => {}
        }
        if dirty && Instant::now() >= drawn_at(&painter, next_frame) {
            live.set_foreground(jobs.foreground());
            drawn = Instant::now();
            frame(&mut painter, &mut live, &mode);
            dirty = false;
            pending = 0;
            next_frame = Instant::now() + FRAME;
        }
        let wake = if dirty { drawn_at(&painter, next_frame) } else { Instant::now() + wait(&live, drawn) };
        tokio::select! {
            biased;
            input = typed(&mut keys) => match input {
                Some((input, at)) => {
                    // A key's echo does not wait for the next frame.
                    dirty = true;
                    next_frame = Instant::now();
                    match input {
                        TerminalInput::FocusLost => notifier.focus_lost(),
                        TerminalInput::FocusGained => notifier.focus_gained(),
                        TerminalInput::Ignored | TerminalInput::Unfinished => {}
                        _ => {
                            notifier.typed();
                            quiet_since = Instant::now();
                        }
                    }
                    for refused in refused(&mut live, &input) {
                        painter.insert(&links.line(&refused));
                        painter.insert("\n");
                    }
                    live.set_foreground(jobs.foreground());
                    action = take_input(&mut live, input, at);
                    keep_draft(&drafts, &live);
                }
                // Without a terminal there is no person.
                None => {
                    keys = None;
                    live.terminal_closed();
                    stop.cancel();
                }
            },
            () = resized(&mut resizes) => {
                next_frame = painter.resized(Instant::now());
                dirty = true;
                live.size_changed(Instant::now());
            }
            refusal = background_answer(&mut asked) => {
                for line in refusal.iter().flat_map(|why| live.notice(why)) {
                    painter.insert(&links.line(&line));
                    painter.insert("\n");
                }
                dirty = true;
            }
            event = events.recv() => {
                let Some(mut event) = event else { break TurnEnding::Interrupted };
                let since = Instant::now();
                let mut taken = 1;
                let ended = loop {
                    notifier.on_event(&event, quiet_since, since);
                    let ended = if let TurnEvent::Ended(ending) = &event { Some(ending.clone()) } else { None };
                    for line in live.event(event, Instant::now()) {
                        let text = links.line(&line);
                        pending += text.len();
                        painter.insert(&text);
                        painter.insert("\n");
                    }
                    if ended.is_some() || taken >= AT_ONCE || pending > FLUSH {
                        break ended;
                    }
                    match events.try_recv() {
                        Ok(next) => event = next,
                        Err(_) => break None,
                    }
                    taken += 1;
                };
                dirty = true;
                keep_draft(&drafts, &live);
                note_if_slow("taking in events", since);
                if let Some(ending) = ended {
                    break ending;
                }
                if pending > FLUSH {
                    next_frame = Instant::now();
                }
            }
            () = tokio::time::sleep_until(wake.into()) => dirty = true,
        }
    };
    while !painter.is_settled(Instant::now()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    painter.frame(Instant::now(), term::size(), 0, |_, _| None);
    painter.finish();
    // Typed text that was not taken belongs to the prompt.
    drop(keys);
    term::write_all(b"\x1b[?1004l\x1b[?2004l");
    keep_draft(&drafts, &live);
    let (draft, cleared) = live.take_drafts();
    TurnPaneResult { ending, draft, cleared, expanded: live.is_expanded() }
}

/// Turns on bracketed paste, and reports of the window's focus.
fn listen(notifier: &Notifier) {
    term::write_all(if notifier.is_on() { b"\x1b[?2004h\x1b[?1004h" } else { b"\x1b[?2004h" });
}

fn keep_draft(drafts: &Option<Arc<DraftFile>>, live: &TurnPane) {
    if let Some(drafts) = drafts {
        drafts.keep(live.draft());
    }
}

/// Right after a resize the terminal is not drawn to, and what is not drawn must not count as shown.
fn drawn_at(painter: &InlinePainter, next_frame: Instant) -> Instant {
    painter.settles_at().map_or(next_frame, |settled| settled.max(next_frame))
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
