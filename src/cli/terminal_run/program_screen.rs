//! The program's screen as far as placet must know it: the modes that it has set, and what its alternate screen shows.

use super::mode_tracker::ModeTracker;
use super::output_scanner::OutputScanner;
use super::screen_model::ScreenModel;
use crate::sandbox::TerminalSize;

/// Removes the terminal's title from its stack.
const TITLE_BACK: &[u8] = b"\x1b[23;0t";

pub(super) struct ProgramScreen {
    scanner: OutputScanner,
    tracker: ModeTracker,
    /// While the alternate screen is on.
    model: Option<ScreenModel>,
    size: TerminalSize,
    /// The last byte of the output ended a line, or there was none.
    is_at_margin: bool,
    /// What [`ProgramScreen::take_changed`] last knew of the title: whether it was stored.
    reported_title: Option<bool>,
}

impl ProgramScreen {
    pub(super) fn new(size: TerminalSize) -> ProgramScreen {
        let (scanner, tracker) = (OutputScanner::new(), ModeTracker::default());
        ProgramScreen { scanner, tracker, model: None, size, is_at_margin: true, reported_title: None }
    }

    /// Passes the program's output to `out`.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.is_at_margin = bytes.last().map_or(self.is_at_margin, |last| *last == b'\n');
        let ProgramScreen { scanner, tracker, model, size, .. } = self;
        let mut from = out.len();
        scanner.feed(bytes, out, tracker, |out, tracker| {
            if tracker.alternate().is_none() {
                *model = None;
            } else if model.is_none() {
                *model = Some(ScreenModel::start(size.rows, size.columns));
                from = out.len();
            }
        });
        if let Some(model) = model {
            model.feed(out.get(from..).unwrap_or_default());
        }
    }

    pub(super) fn resize(&mut self, size: TerminalSize) {
        self.size = size;
        if let Some(model) = &mut self.model {
            model.resize(size.rows, size.columns);
        }
    }

    /// True where the screen may be taken from the program: between two sequences and two updates.
    pub(super) fn is_quiet(&self) -> bool {
        self.scanner.is_between() && !self.tracker.is_updating()
    }

    /// True at first, because the character set is always reset, and once after each change of what
    /// [`ProgramScreen::reset`] would write.
    pub(super) fn take_changed(&mut self) -> bool {
        let title = self.scanner.has_saved_title();
        let is_news = self.reported_title.replace(title) != Some(title);
        self.tracker.take_changed() || is_news
    }

    /// Resets everything that the program has set.
    pub(super) fn reset(&self) -> Vec<u8> {
        let mut out = self.tracker.reset();
        if self.scanner.has_saved_title() {
            out.extend_from_slice(TITLE_BACK);
        }
        out
    }

    /// The rest of the output, at its end.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.scanner.finish()
    }

    /// Brings the cursor to the beginning of an empty row, where the output did not end at one. Nobody asks where the
    /// cursor is: as many blanks as fit behind the first column wrap onto the next row from every other column.
    pub(super) fn new_row(&self) -> Vec<u8> {
        if self.is_at_margin || self.tracker.alternate().is_some() {
            return Vec::new();
        }
        let blanks = usize::from(self.size.columns.saturating_sub(1));
        format!("\x1b[0m\x1b[?7h{:blanks$}\r", "").into_bytes()
    }

    /// Before the person's shell has the screen.
    pub(super) fn leave(&self) -> Vec<u8> {
        let mut out = self.tracker.pause();
        if let Some(form) = self.tracker.alternate() {
            out.extend_from_slice(format!("\x1b[?{form}l").as_bytes());
        }
        out
    }

    /// Before placet's page has the screen.
    pub(super) fn pause(&self) -> Vec<u8> {
        self.tracker.pause()
    }

    /// The program has the screen again, as it left it. `None` for a screen that nobody remembers: the program has to
    /// draw it.
    pub(super) fn resume(&mut self) -> (Vec<u8>, ScreenRestored) {
        let mut out = Vec::new();
        let mut restored = ScreenRestored::Yes;
        if let Some(form) = self.tracker.alternate() {
            out.extend_from_slice(format!("\x1b[?{form}h").as_bytes());
            match self.model.as_mut().and_then(ScreenModel::picture) {
                Some(picture) => out.extend(picture),
                None => restored = ScreenRestored::No,
            }
        }
        out.extend(self.tracker.resume());
        (out, restored)
    }
}

/// Whether the terminal shows again what the program has drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScreenRestored {
    Yes,
    No,
}
