//! The screen: who owns it, and how things look on it.

pub mod apply_progress;
mod check_lines;
mod colors;
pub mod help_page;
pub mod highlight;
pub mod input;
pub mod keymap;
pub mod line_ui;
mod lines;
pub mod list;
pub mod pager;
pub mod paste;
pub mod picker;
pub mod picture;
pub mod review;
mod run_difference;
pub mod run_page;
pub mod scratchpads;
pub mod scrollback;
mod terminal;
#[cfg(test)]
mod test_screen;
mod text_field;
pub mod text_screen;
pub mod token_counts;
pub mod transcript;
pub mod turn_pane;
pub mod viewer;
pub mod wizard;
pub mod worker;

pub use colors::theme::{LABELS, Theme, ThemeEntry, ThemeError};
pub use colors::{sample, syntax};
pub use highlight::{HighlightDocId, SyntaxHighlighter};
pub use lines::code_blocks::code_blocks;
pub use lines::markdown_stream::MarkdownStream;
pub use lines::{margin_mark, markdown, prose, verbatim, wrap};
pub use terminal::full_screen_painter::FullScreenPainter;
pub use terminal::inline_painter::{InlinePainter, PainterSink};
pub use terminal::links::{LinkFinder, are_supported as links_are_supported};
pub use terminal::notify::{Notifier, NotifyMethod};
pub use terminal::{ansi, browser, clipboard, editor, full_screen, reclaim, term, terminal_colors};
