//! A pane that has the whole screen: review, viewer, pager, pickers. All of them share one loop.
//!
//! The loop runs on the thread that calls it and reads keys itself: no other reader can take a key. While nothing
//! happens, it waits without waking. A pane changes in `key`, `paste`, `resize` and `tick`; drawing takes `&self`.

use super::full_screen_painter::FullScreenPainter;
use super::{reclaim, term};
use crate::input::BlockingKeyReader;
use crate::input::decode::TerminalInput;
use crate::input::enter_guard::EnterGuard;
use crate::line_ui::LineUi;
use crate::picture::PlacedPicture;
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

    /// `key` is the Enter that decides now. It counts only when the person meant it: see [`crate::input::enter_guard`].
    fn decides(&self, _key: KeyEvent) -> bool {
        false
    }

    /// It opens where a person may still be typing: it takes no key in its first half second.
    fn waits_at_first(&self) -> bool {
        false
    }

    /// Whether an Enter that decides would count now; true where that changes the picture.
    fn enter_counts(&mut self, _counts: bool) -> bool {
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
    let begun = Instant::now();
    let mut guard = EnterGuard::default();
    let mut waits = pane.waits_at_first();
    loop {
        let counts = guard.counts(begun.elapsed());
        waits &= !counts;
        dirty |= pane.enter_counts(counts);
        if dirty {
            canvas.frame(term::size(), |buffer| pane.draw(buffer), pane.pictures());
            guard.drawn(begun.elapsed());
            dirty = false;
        }
        let wait = if pane.has_background_work() { TICK } else { Duration::from_secs(3600) };
        let counts_in = guard.counts_from().map(|from| from.saturating_sub(begun.elapsed()));
        let wait = counts_in.filter(|_| !counts).map_or(wait, |left| wait.min(left));
        let mut taken = 0;
        let mut input = keyboard.next(wait)?;
        while let Some(typed) = input.take() {
            taken += 1;
            let at = begun.elapsed();
            let is_dropped = match &typed {
                TerminalInput::Key(key) => waits || pane.decides(*key) && !guard.counts(at),
                TerminalInput::Paste(_) => waits,
                TerminalInput::Ignored | TerminalInput::Unfinished => true,
                _ => false,
            };
            if !waits {
                guard.touch(at);
            }
            if !is_dropped {
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
            }
            if taken < BURST {
                input = keyboard.next(Duration::ZERO)?;
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

enum PaneStep {
    Stay,
    Close,
    Anew,
}

/// Another program has the terminal for `work`; after it, the terminal is placet's again.
fn released(work: impl FnOnce()) {
    term::with_screen_released(|| {
        work();
        term::write_all(&reclaim::reset());
    });
}

fn take(pane: &mut dyn FullScreenPane, canvas: &mut FullScreenPainter, input: TerminalInput) -> PaneStep {
    match input {
        TerminalInput::Key(key)
            if key.code == KeyCode::Char('z') && key.modifiers.contains(KeyModifiers::CONTROL) =>
        {
            canvas.finish();
            released(reclaim::suspend);
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
                released(|| pane.run_released());
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
