//! A pane that has the whole screen: review, viewer, pager, pickers. All of them share one loop.
//!
//! The loop runs on the thread that calls it and reads keys itself: no other reader can take a key. While nothing
//! happens, it waits without waking. A pane changes in `key`, `paste`, `resize` and `tick`; drawing takes `&self`.

use super::full_screen_painter::FullScreenPainter;
use super::input::BlockingKeyReader;
use super::input::decode::TerminalInput;
use super::input::guard::{KeyGuard, KeyRole};
use super::line_ui::LineUi;
use super::picture::PlacedPicture;
use super::{reclaim, term};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use std::io;
use std::time::{Duration, Instant};

/// What a key asks of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneFlow {
    Stay,
    Close,
    /// The pane needs the terminal in its usual mode: [`FullScreenPane::run_released`] runs, then everything is drawn
    /// again.
    Lend,
    /// The pane shows another full screen: [`FullScreenPane::run_covered`] runs, then everything is drawn again.
    Cover,
}

pub trait FullScreenPane {
    fn key(&mut self, key: KeyEvent) -> PaneFlow;

    fn paste(&mut self, _text: &str) {}

    /// The screen has this size now. Called before the first frame as well.
    fn resize(&mut self, columns: u16, rows: u16);

    /// Draws everything; returns the position of the cursor, if the cursor is visible.
    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)>;

    /// What `key` would apply, discard or mark for it now, if anything. Such a key counts only when the person meant
    /// it: see [`super::input::guard`].
    fn guarded(&self, _key: KeyEvent) -> Option<KeyRole> {
        None
    }

    /// A key that decides, or opens an editor or a field, did not count: what a letter opened was just opened.
    fn came_too_early(&mut self, _key: KeyEvent) {}

    /// The key goes a line up or down.
    fn moves(&self, _key: KeyEvent) -> bool {
        false
    }

    /// True when a letter opened it, which a person may have typed as the first of a text.
    fn is_opened_by_letter(&self) -> bool {
        false
    }

    /// Receives the results of background work; true when they change the picture.
    fn tick(&mut self) -> bool {
        false
    }

    /// True when the pane closes by itself, because the work that it waited for has ended.
    fn is_finished(&self) -> bool {
        false
    }

    /// True while background work runs whose results [`FullScreenPane::tick`] will receive.
    fn has_background_work(&self) -> bool {
        false
    }

    /// Runs with the terminal released, for example for an editor.
    fn run_released(&mut self) {}

    /// Shows another full screen, which has closed when this returns.
    fn run_covered(&mut self) {}

    /// The same without a screen: the pane writes lines, and the person answers with typed lines. Returns when the
    /// person leaves.
    fn run_line_ui(&mut self, talk: &mut dyn LineUi) {
        talk.say("this needs a full screen");
    }

    /// Pictures over blank cells of the frame that was drawn last.
    fn pictures(&self) -> Vec<PlacedPicture> {
        Vec::new()
    }
}

/// How often the pane is asked for results of background work.
const TICK: Duration = Duration::from_millis(15);
/// Keys that wait already are handled before the next frame, but at most this many.
const BURST: usize = 64;

/// Shows `pane` until it closes, or the terminal is gone. The base mode must be on ([`term::BaseMode`]).
pub fn run(pane: &mut dyn FullScreenPane) -> io::Result<()> {
    let full = term::AlternateScreen::enter();
    let mut canvas = FullScreenPainter::new(Box::new(term::write_all));
    let (columns, rows) = term::size();
    pane.resize(columns, rows);
    let mut dirty = true;
    let mut keyboard = BlockingKeyReader::new()?;
    let mut last_key: Option<KeyEvent> = None;
    let mut guard = match pane.is_opened_by_letter() {
        true => KeyGuard::after_letter(),
        false => KeyGuard::default(),
    };
    loop {
        if dirty {
            canvas.frame(term::size(), |buffer| pane.draw(buffer), pane.pictures());
            guard.drawn(Instant::now());
            dirty = false;
        }
        let wait = if pane.has_background_work() { TICK } else { Duration::from_secs(3600) };
        let wait = guard.due().map_or(wait, |due| wait.min(due.saturating_duration_since(Instant::now())));
        let mut taken = 0;
        let typed = keyboard.next(wait)?;
        let mut input = match guard.take_due_key(Instant::now()) {
            Some(key) if typed.is_none() => Some((TerminalInput::Key(key), GuardCheck::Meant)),
            _ => typed.map(|typed| (typed, GuardCheck::No)),
        };
        while let Some((typed, checked)) = input.take() {
            let now = Instant::now();
            if let (TerminalInput::Key(key), GuardCheck::No) = (&typed, checked)
                && let Some(role) = pane.guarded(*key)
                && (role != KeyRole::Field || guard.is_in_text(now))
            {
                guard.press(*key, role, now);
                let is_told = matches!(role, KeyRole::Mark | KeyRole::Editor | KeyRole::Field);
                if is_told && guard.due().is_none() {
                    pane.came_too_early(*key);
                    dirty = true;
                }
                input = keyboard.next(Duration::ZERO)?.map(|typed| (typed, GuardCheck::No));
                continue;
            }
            if matches!(typed, TerminalInput::Ignored | TerminalInput::Unfinished) {
                note(&mut guard, &typed, now);
                taken += 1;
                if taken < BURST {
                    input = keyboard.next(Duration::ZERO)?.map(|typed| (typed, GuardCheck::No));
                }
                continue;
            }
            if matches!(checked, GuardCheck::Meant) {
                guard.note_meant();
            }
            if let TerminalInput::Key(key) = &typed {
                // No word has the letters of these keys twice in a row.
                let is_again = last_key == Some(*key) && pane.moves(*key);
                if is_again || !matches!(key.code, KeyCode::Char(_)) {
                    guard.end_text();
                }
                last_key = Some(*key);
            }
            // The result of this key must be drawn before another key applies it.
            guard.touch(now);
            guard.confirm();
            dirty = true;
            match take(pane, &mut canvas, typed) {
                PaneStep::Stay => {}
                PaneStep::Close => {
                    canvas.finish();
                    drop(full);
                    return Ok(());
                }
                PaneStep::Anew => canvas.forget(),
            }
            taken += 1;
            if taken < BURST {
                input = keyboard.next(Duration::ZERO)?.map(|typed| (typed, GuardCheck::No));
            }
        }
        dirty |= pane.tick();
        if pane.is_finished() {
            canvas.finish();
            drop(full);
            return Ok(());
        }
    }
}

/// Bytes that type nothing: a key that comes together with them is not alone.
fn note(guard: &mut KeyGuard, input: &TerminalInput, now: Instant) {
    match input {
        TerminalInput::Unfinished => guard.cancel_pending_key(),
        _ => guard.touch(now),
    }
}

/// Whether the guard has passed a key.
#[derive(Clone, Copy)]
enum GuardCheck {
    Meant,
    No,
}

enum PaneStep {
    Stay,
    Close,
    Anew,
}

fn take(pane: &mut dyn FullScreenPane, canvas: &mut FullScreenPainter, input: TerminalInput) -> PaneStep {
    match input {
        TerminalInput::Key(key)
            if key.code == KeyCode::Char('z') && key.modifiers.contains(KeyModifiers::CONTROL) =>
        {
            canvas.finish();
            term::with_screen_released(reclaim::suspend);
            let (columns, rows) = term::size();
            pane.resize(columns, rows);
            PaneStep::Anew
        }
        TerminalInput::Key(key)
            if key.code == KeyCode::Char('l') && key.modifiers.contains(KeyModifiers::CONTROL) =>
        {
            PaneStep::Anew
        }
        TerminalInput::Key(key) => match pane.key(key) {
            PaneFlow::Stay => PaneStep::Stay,
            PaneFlow::Close => PaneStep::Close,
            PaneFlow::Lend => {
                canvas.finish();
                term::with_screen_released(|| pane.run_released());
                let (columns, rows) = term::size();
                pane.resize(columns, rows);
                PaneStep::Anew
            }
            PaneFlow::Cover => {
                canvas.finish();
                term::with_screen_covered(|| pane.run_covered());
                let (columns, rows) = term::size();
                pane.resize(columns, rows);
                PaneStep::Anew
            }
        },
        TerminalInput::Paste(text) => {
            pane.paste(&text);
            PaneStep::Stay
        }
        TerminalInput::Resized => {
            // The kernel's figures, not the event's: events come late and in bursts.
            let (columns, rows) = term::size();
            pane.resize(columns, rows);
            PaneStep::Stay
        }
        _ => PaneStep::Stay,
    }
}
