//! The inline painter: a small pane below the transcript, drawn with ratatui's buffers and relative movement only.
//!
//! The painter never asks where the cursor is, never scrolls a region, and never touches what is above the pane.
//! Finished lines go into the terminal's own scrollback once, as logical lines which the terminal wraps; of the pane
//! below, only changed cells are redrawn. One frame is one write.

use super::ansi;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use std::time::{Duration, Instant};

/// After a resize, nothing is drawn for this long: terminals report sizes late and in bursts.
const SETTLE: Duration = Duration::from_millis(80);
/// But never for longer than this, however many sizes follow: a window that is dragged shows the pane all the same.
const SETTLE_AT_MOST: Duration = Duration::from_millis(100);
/// Two resizes closer than this are a storm, in which the reported width cannot be trusted.
const STORM: Duration = Duration::from_millis(700);

/// Where the painter's bytes go; the terminal, or a buffer in tests.
pub type PainterSink = Box<dyn FnMut(&[u8]) + Send>;

pub struct InlinePainter {
    sink: PainterSink,
    width: u16,
    rows: u16,
    shown: Buffer,
    /// The row of the pane with the cursor; `None` while there is no pane.
    cursor_row: Option<u16>,
    cursor_column: u16,
    /// Nothing is typed in the pane that is shown.
    hides_cursor: bool,
    settle_until: Option<Instant>,
    /// The first resize since the last frame.
    unsettled_since: Option<Instant>,
    last_resize: Option<Instant>,
    /// The terminal does not wrap its rows again after a resize.
    keeps_rows: bool,
    /// Used columns of the rows that a lower window pushed above the screen, directly above the pane.
    above: Vec<usize>,
    pending: String,
}

impl InlinePainter {
    pub fn new(sink: PainterSink, (width, rows): (u16, u16)) -> InlinePainter {
        InlinePainter {
            sink,
            width: width.max(1),
            rows: rows.max(1),
            shown: Buffer::empty(Rect::ZERO),
            cursor_row: None,
            cursor_column: 0,
            hides_cursor: false,
            settle_until: None,
            unsettled_since: None,
            last_resize: None,
            keeps_rows: false,
            above: Vec::new(),
            pending: String::new(),
        }
    }

    /// The same painter for a terminal of which it is known whether its rows stay as they are after a resize: see
    /// [`super::term::keeps_rows`].
    #[must_use]
    pub fn with_kept_rows(self, keeps_rows: bool) -> InlinePainter {
        InlinePainter { keeps_rows, ..self }
    }

    /// The largest area for a pane: one row always stays with the transcript.
    pub fn bounds(&self) -> (u16, u16) {
        (self.width, self.rows.saturating_sub(1).max(1))
    }

    /// Inserts finished text above the pane with the next frame. Lines end with `\n`; the text is already safe and
    /// styled.
    pub fn insert(&mut self, text: &str) {
        self.pending.push_str(text);
    }

    /// Records that the terminal has another size. Returns when drawing may resume.
    pub fn resized(&mut self, now: Instant) -> Instant {
        let since = *self.unsettled_since.get_or_insert(now);
        let until = (now + SETTLE).min(since + SETTLE_AT_MOST);
        self.settle_until = Some(until);
        until
    }

    /// When a frame may be drawn again, if that has to be waited for.
    pub fn settles_at(&self) -> Option<Instant> {
        self.settle_until
    }

    /// True when a frame may be drawn.
    pub fn is_settled(&self, now: Instant) -> bool {
        self.settle_until.is_none_or(|until| now >= until)
    }

    /// Draws a frame: the inserted text, and a pane of `height` rows filled by `draw`, which returns the position of
    /// the cursor, or `None` where no cursor is shown. `size` is the size of the terminal as the kernel reports it.
    pub fn frame(
        &mut self,
        now: Instant,
        size: (u16, u16),
        height: u16,
        draw: impl FnOnce(&mut Buffer, Rect) -> Option<(u16, u16)>,
    ) {
        if !self.is_settled(now) {
            return;
        }
        let mut out = String::new();
        self.unsettled_since = None;
        let resized = self.settle_until.take().is_some() || size != (self.width, self.rows);
        if resized {
            self.erase_after_resize(&mut out, size, now);
        }
        let area = Rect::new(0, 0, self.width, height.min(self.bounds().1));
        let mut next = Buffer::empty(area);
        let cursor = draw(&mut next, area);
        if !self.pending.is_empty() {
            self.erase(&mut out);
            // From now on finished lines are between those rows and the pane.
            self.above.clear();
            let text = std::mem::take(&mut self.pending);
            out.push_str(&text.replace('\n', "\r\n"));
        }
        self.paint(&mut out, next, cursor);
        self.flush(&out);
    }

    /// Removes the pane; what was inserted stays. The cursor is at the start of the line below.
    pub fn finish(&mut self) {
        let mut out = String::new();
        self.erase(&mut out);
        let text = std::mem::take(&mut self.pending);
        out.push_str(&text.replace('\n', "\r\n"));
        out.push_str("\x1b[?25h");
        self.flush(&out);
    }

    fn flush(&mut self, out: &str) {
        if !out.is_empty() {
            (self.sink)(format!("\x1b[?2026h{out}\x1b[?2026l").as_bytes());
        }
    }

    /// Goes to the pane's first cell and clears from there to the end of the screen.
    fn erase(&mut self, out: &mut String) {
        if let Some(row) = self.cursor_row.take() {
            out.push('\r');
            if row > 0 {
                out.push_str(&format!("\x1b[{row}A"));
            }
            // From the first cell of the screen tmux does not erase: it moves the whole screen into the scrollback. So the
            // first row is erased by itself, and the others from its second column on.
            out.push_str("\x1b[K\x1b[C\x1b[J\r");
        }
        self.shown = Buffer::empty(Rect::ZERO);
    }

    /// Rows may have been wrapped by the new width: then more rows are above the cursor than were drawn. A terminal that
    /// keeps its rows cuts them off instead, and more would be rows of the transcript.
    fn erase_after_resize(&mut self, out: &mut String, size: (u16, u16), now: Instant) {
        let storm = self.last_resize.is_some_and(|last| now.duration_since(last) < STORM);
        self.last_resize = Some(now);
        let width = usize::from(size.0.max(1));
        if let Some(row) = self.cursor_row {
            let used: Vec<usize> = (0..=row).map(|y| used_width(&self.shown, y)).collect();
            // A ghost row is better than a lost line: in a storm only what was surely drawn is erased.
            let up = match storm || self.keeps_rows {
                true => {
                    self.above.clear();
                    usize::from(row)
                }
                false => {
                    let wrapped: usize = used.iter().map(|used| wrapped_rows(*used, width)).sum();
                    self.with_rows_above(wrapped.saturating_sub(1), &used, (width, size.1))
                }
            };
            self.cursor_row = Some(u16::try_from(up).unwrap_or(u16::MAX).min(size.1.saturating_sub(1)));
        }
        (self.width, self.rows) = (size.0.max(1), size.1.max(1));
        self.erase(out);
    }

    /// How far up the first row of the pane is, where the first of its `up + 1` rows may be above the screen now, or where
    /// rows that were there are on the screen again: a terminal that wraps its rows gets them back from the scrollback
    /// when it becomes higher. The pane was at the top of the screen then, so nothing else is above it; where nothing
    /// came back, the cursor stops at the top.
    fn with_rows_above(&mut self, up: usize, used: &[usize], (width, rows): (usize, u16)) -> usize {
        let highest = usize::from(rows.saturating_sub(1));
        let mut over = up.saturating_sub(highest);
        for used in used {
            if over == 0 {
                break;
            }
            let rows = wrapped_rows(*used, width);
            // Of a row that is above the screen in part, only whole rows are counted: the terminal may join the part with
            // the next row.
            self.above.push(if rows > over { (over * width).saturating_sub(width - 1) } else { *used });
            over = over.saturating_sub(rows);
        }
        let mut up = up;
        while let Some(rows) = self.above.last().map(|used| wrapped_rows(*used, width)) {
            if up + rows > highest {
                break;
            }
            up += rows;
            self.above.pop();
        }
        up
    }

    fn paint(&mut self, out: &mut String, next: Buffer, cursor: Option<(u16, u16)>) {
        let height = next.area.height;
        if height == 0 {
            self.erase(out);
            return;
        }
        let had_pane = self.cursor_row.is_some();
        let old_height = if had_pane { self.shown.area.height } else { 0 };
        let unchanged = had_pane && self.shown == next;
        let mut at = self.cursor_row.unwrap_or(0);
        let target = cursor.unwrap_or((0, height - 1));
        let was_hidden = std::mem::replace(&mut self.hides_cursor, cursor.is_none());
        if !unchanged || was_hidden != self.hides_cursor {
            out.push_str("\x1b[?25l\x1b[?7l\r");
            if at > 0 {
                out.push_str(&format!("\x1b[{at}A"));
            }
            at = 0;
            for y in 0..height {
                if y > 0 {
                    // A line feed goes down and, at the bottom, scrolls the transcript up to make room.
                    out.push_str("\r\n");
                    at = y;
                }
                if y >= old_height || row_differs(&self.shown, &next, y) {
                    paint_row(out, &next, y);
                }
            }
            if old_height > height {
                out.push_str("\r\n\x1b[J\x1b[A");
            }
            out.push_str("\x1b[?7h");
            if !self.hides_cursor {
                out.push_str("\x1b[?25h");
            }
        } else if self.cursor_row == Some(target.1) && out.is_empty() && self.cursor_column == target.0 {
            return;
        }
        out.push('\r');
        match target.1.cmp(&at) {
            std::cmp::Ordering::Less => out.push_str(&format!("\x1b[{}A", at - target.1)),
            std::cmp::Ordering::Greater => out.push_str(&format!("\x1b[{}B", target.1 - at)),
            std::cmp::Ordering::Equal => {}
        }
        out.push_str(&format!("\x1b[{}G", target.0 + 1));
        self.cursor_row = Some(target.1);
        self.cursor_column = target.0;
        self.shown = next;
    }
}

fn row(buffer: &Buffer, y: u16) -> &[Cell] {
    let width = usize::from(buffer.area.width);
    let from = usize::from(y) * width;
    buffer.content.get(from..from + width).unwrap_or(&[])
}

pub(crate) fn row_differs(old: &Buffer, new: &Buffer, y: u16) -> bool {
    row(old, y) != row(new, y)
}

/// The rows that a terminal of this width makes of a row.
fn wrapped_rows(used: usize, width: usize) -> usize {
    used.div_ceil(width).max(1)
}

fn used_width(buffer: &Buffer, y: u16) -> usize {
    let cells = row(buffer, y);
    cells
        .iter()
        .rposition(|c| c.symbol() != " " || c.bg != Color::Reset || c.modifier.contains(Modifier::REVERSED))
        .map_or(0, |at| at + 1)
}

/// Terminals disagree about the width of some characters: after anything but ASCII the column is set again.
pub(crate) fn paint_row(out: &mut String, buffer: &Buffer, y: u16) {
    let mut style = ratatui::style::Style::reset();
    let mut column = 0;
    let mut doubtful = false;
    let mut skip = 0;
    for cell in row(buffer, y).iter().take(used_width(buffer, y)) {
        column += 1;
        if skip > 0 {
            skip -= 1;
            continue;
        }
        if doubtful {
            out.push_str(&format!("\x1b[{column}G"));
        }
        let next = cell.style();
        if next != style {
            ansi::push_style(out, next);
            style = next;
        }
        out.push_str(cell.symbol());
        doubtful = !cell.symbol().is_ascii();
        skip = placet_text::text::width::of(cell.symbol()).saturating_sub(1);
    }
    // A wide character at the end has a second half: erasing from there would remove that half.
    column += skip;
    if doubtful {
        out.push_str(&format!("\x1b[{}G", column + 1));
    }
    out.push_str("\x1b[0m");
    // At the last column the cursor is on the cell that was just written: erasing would remove that cell.
    if column < usize::from(buffer.area.width) {
        out.push_str("\x1b[K");
    }
}

#[cfg(test)]
#[path = "inline_painter_tests.rs"]
mod tests;
