//! The program's screen as far as placet must know it: the modes that it has set, and what its alternate screen shows.

use super::last_output::LastOutput;
use super::mode_tracker::ModeTracker;
use super::output_scanner::OutputScanner;
use super::screen_model::ScreenModel;
use crate::sandbox::TerminalSize;
use crate::ui::reclaim;
use crate::ui::terminal_colors::ProgramColors;

/// Removes the terminal's title from its stack.
const TITLE_BACK: &[u8] = b"\x1b[23;0t";

/// The most bytes of the last row that are kept, twice.
const LONGEST_ROW: usize = 4096;

/// True if there is anything but control characters and sequences in it.
fn has_text(row: &[u8]) -> bool {
    let mut rest = row;
    loop {
        rest = match rest {
            [] => return false,
            [0x1b, b'[', body @ ..] => after(body, |byte| (0x40..=0x7e).contains(&byte)),
            [0x1b, b']' | b'P' | b'_' | b'^', body @ ..] => after(body, |byte| byte == 0x07 || byte == b'\\'),
            [0x1b, b'(' | b')' | b'#' | b' ', _, body @ ..] | [0x1b, _, body @ ..] => body,
            [byte, body @ ..] if *byte < 0x20 || *byte == 0x7f => body,
            _ => return true,
        };
    }
}

/// What is behind the first byte that ends a sequence.
fn after(body: &[u8], is_end: impl Fn(u8) -> bool) -> &[u8] {
    let end = body.iter().position(|byte| is_end(*byte)).map_or(body.len(), |at| at + 1);
    body.get(end..).unwrap_or_default()
}

pub(super) struct ProgramScreen {
    scanner: OutputScanner,
    tracker: ModeTracker,
    /// While the alternate screen is on.
    model: Option<ScreenModel>,
    size: TerminalSize,
    /// The output since its last line feed, or the end of that.
    last_row: Vec<u8>,
    /// Since the alternate screen was left.
    last_output: LastOutput,
    /// What [`ProgramScreen::take_changed`] last knew of the title: whether it was stored.
    reported_title: Option<bool>,
}

impl ProgramScreen {
    pub(super) fn new(size: TerminalSize) -> ProgramScreen {
        let (scanner, tracker) = (OutputScanner::new(), ModeTracker::default());
        ProgramScreen {
            scanner,
            tracker,
            model: None,
            size,
            last_row: Vec::new(),
            last_output: LastOutput::default(),
            reported_title: None,
        }
    }

    /// Passes the program's output to `out`.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let end = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        if end > 0 || self.last_row.len() > LONGEST_ROW {
            self.last_row.clear();
        }
        let row = bytes.get(end..).unwrap_or_default();
        self.last_row.extend_from_slice(row.get(row.len().saturating_sub(LONGEST_ROW)..).unwrap_or_default());
        let ProgramScreen { scanner, tracker, model, size, last_output, .. } = self;
        let mut from = out.len();
        // A model is a thread. Only the last screen of these bytes gets one: a program may change the screen a hundred
        // thousand times in them.
        let (mut is_on, mut is_new) = (model.is_some(), false);
        scanner.feed(bytes, out, tracker, |out, tracker| {
            let was_on = std::mem::replace(&mut is_on, tracker.alternate().is_some());
            if is_on != was_on {
                is_new |= is_on;
                from = out.len();
                last_output.clear();
            }
        });
        if !is_on {
            *model = None;
        } else if is_new {
            *model = Some(ScreenModel::start(size.rows, size.columns));
        }
        let drawn = out.get(from..).unwrap_or_default();
        match model {
            Some(model) => model.feed(drawn),
            None => last_output.push(drawn),
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

    /// True at first, because much is always reset, and once after each change of what
    /// [`ProgramScreen::reset`] would write.
    pub(super) fn take_changed(&mut self) -> bool {
        let title = self.scanner.has_saved_title();
        let is_news = self.reported_title.replace(title) != Some(title);
        self.tracker.take_changed() || is_news
    }

    /// The program may have changed colours.
    pub(super) fn colors(&self) -> ProgramColors {
        self.tracker.colors()
    }

    /// Takes back what depends on what the program has set.
    pub(super) fn reset(&self) -> Vec<u8> {
        let mut out = self.tracker.reset();
        if self.scanner.has_saved_title() {
            out.extend_from_slice(TITLE_BACK);
        }
        out
    }

    /// The same once: what is taken back twice would be taken from the person's shell.
    pub(super) fn take_reset(&mut self) -> Vec<u8> {
        let reset = self.reset();
        self.tracker.forget();
        self.scanner.forget_title();
        reset
    }

    /// What it wrote last on the main screen.
    pub(super) fn take_last_output(&mut self) -> LastOutput {
        std::mem::take(&mut self.last_output)
    }

    /// The rest of the output, at its end.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.scanner.finish()
    }

    /// Begins a new row, where the output did not end at the beginning of one.
    pub(super) fn new_row(&self) -> &'static [u8] {
        if self.tracker.alternate().is_none() && has_text(&self.last_row) { b"\r\n" } else { b"" }
    }

    /// Before the person's shell has the screen.
    pub(super) fn leave(&self) -> Vec<u8> {
        let mut out = self.pause();
        if let Some(form) = self.tracker.alternate() {
            out.extend_from_slice(format!("\x1b[?{form}l").as_bytes());
        }
        out
    }

    /// Before placet's page has the screen.
    pub(super) fn pause(&self) -> Vec<u8> {
        [reclaim::understood(), self.tracker.pause()].concat()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_row_begins_only_behind_text() {
        let after = |pieces: &[&[u8]]| {
            let mut screen =
                ProgramScreen::new(TerminalSize { rows: 24, columns: 80, ..TerminalSize::default() });
            pieces.iter().for_each(|piece| screen.feed(piece, &mut Vec::new()));
            !screen.new_row().is_empty()
        };
        for (pieces, expected) in [
            (&[b"".as_slice()][..], false),
            (&[b"text\r\n"], false),
            (&[b"text\r\n\x1b[0m\x1b]0;title\x07\x1b(B\r"], false),
            (&[b"prompt> "], true),
            (&[b"50%\r"], true),
            (&[b"a\n", b"\x1b[1m", b"b\x1b[0m"], true),
            (&[b"b", b"\n"], false),
            (&[b"\x1b[?1049hdrawn"], false),
        ] {
            assert_eq!(after(pieces), expected, "{pieces:?}");
        }
    }
}
