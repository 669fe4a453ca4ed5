//! The mark of placet's own messages, in plain text. `ui` decides how it looks on a screen.

use super::visible::{looks_like_own, written};
use super::width;
use unicode_segmentation::UnicodeSegmentation;

/// The beginning of the first row of a message from placet: [`crate::text::visible::OWN`] and a space.
pub const LEAD: &str = "◆ ";
/// The beginning of its further rows.
pub const UNDER: &str = "  ";

/// `words` as a message from placet. A line break at the end remains.
pub fn marked(words: &str) -> String {
    let mut out = String::from(LEAD);
    for (at, line) in words.split_inclusive('\n').enumerate() {
        if at > 0 && !line.trim().is_empty() {
            out.push_str(UNDER);
        }
        out.push_str(line);
    }
    out
}

/// The same for a terminal of `columns`. A name in it may be so long that one of its characters begins a row.
pub fn marked_within(words: &str, columns: usize) -> String {
    clear_block(&marked(words), columns)
}

/// A message that has the mark already, for a terminal of `columns`: no further row of it begins like another message.
pub fn clear_block(block: &str, columns: usize) -> String {
    let columns = columns.max(1);
    let mut margin = MarkEscaper { columns, used: LEAD.chars().count(), is_blank: false };
    LEAD.to_string() + &margin.feed(block.get(LEAD.len()..).unwrap_or_default())
}

/// Foreign text on its way to a terminal: no row of it begins with a character that looks like the mark. Text may come
/// in pieces.
#[derive(Debug)]
pub struct MarkEscaper {
    columns: usize,
    used: usize,
    /// The row has only spaces until now.
    is_blank: bool,
}

impl MarkEscaper {
    pub fn new(columns: usize) -> MarkEscaper {
        MarkEscaper { columns: columns.max(1), used: 0, is_blank: true }
    }

    pub fn feed(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for grapheme in piece.graphemes(true) {
            if grapheme.ends_with('\n') {
                (self.used, self.is_blank) = (0, true);
                out.push_str(grapheme);
                continue;
            }
            let wide = width::of_grapheme(grapheme);
            // The terminal continues in the next row.
            if self.used + wide > self.columns {
                (self.used, self.is_blank) = (0, true);
            }
            let first = grapheme.chars().next().unwrap_or(' ');
            if self.is_blank && looks_like_own(first) {
                let signs: String = grapheme.chars().map(written).collect();
                self.used = (self.used + signs.len()) % self.columns;
                out.push_str(&signs);
            } else {
                self.used += wide;
                out.push_str(grapheme);
            }
            self.is_blank &= first.is_whitespace();
        }
        out
    }
}
