//! Where the line ends on the screen, counted as rustyline counts it.

use crate::text::width;
use rustyline::GraphemeClusterMode;
use std::sync::LazyLock;
use unicode_segmentation::UnicodeSegmentation;

/// As rustyline asks the environment.
static CLUSTERS: LazyLock<GraphemeClusterMode> = LazyLock::new(GraphemeClusterMode::from_env);

/// A place on the screen, from the beginning of the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScreenPlace {
    pub(super) row: usize,
    pub(super) column: usize,
}

impl ScreenPlace {
    /// Behind a prompt.
    pub(super) fn after_prompt(prompt: &str, columns: usize) -> ScreenPlace {
        let wide = width::of(prompt);
        ScreenPlace { row: wide / columns.max(1), column: wide % columns.max(1) }
    }

    /// Behind `text`, which is written here.
    pub(super) fn after(self, text: &str, columns: usize) -> ScreenPlace {
        let columns = columns.max(1);
        let mut at = self;
        for cluster in text.graphemes(true) {
            if cluster == "\n" {
                at = ScreenPlace { row: at.row + 1, column: 0 };
                continue;
            }
            let wide = match cluster {
                // rustyline's own tab stops.
                "\t" => 8 - at.column % 8,
                cluster => usize::from(CLUSTERS.width(cluster)),
            };
            at.column += wide;
            if at.column > columns {
                at = ScreenPlace { row: at.row + 1, column: wide };
            }
        }
        if at.column == columns {
            at = ScreenPlace { row: at.row + 1, column: 0 };
        }
        at
    }

    /// True where the text before fills its row: the terminal has not gone to the next one yet, and rustyline does it.
    pub(super) fn is_wrapped(self) -> bool {
        self.column == 0 && self.row > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_line_is_where_rustyline_counts_it() {
        let end = |text: &str| {
            let at = ScreenPlace { row: 0, column: 4 }.after(text, 10);
            (at.row, at.column, at.is_wrapped())
        };
        assert_eq!(end("abc"), (0, 7, false));
        assert_eq!(end("abcdef"), (1, 0, true));
        assert_eq!(end("abcdefg"), (1, 1, false));
        assert_eq!(end("ab\ncd"), (1, 2, false));
        assert_eq!(end("abcde世"), (1, 2, false));
        assert_eq!(end("a\tb"), (0, 9, false));
    }
}
