//! The size of the person's terminal.

use crate::sandbox::TerminalSize;
use crate::ui::term;

/// The size of the person's terminal; 80x24 where it is unknown.
pub(super) fn terminal_size() -> TerminalSize {
    match rustix::termios::tcgetwinsize(term::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => size.into(),
        _ => TerminalSize { rows: 24, columns: 80, ..TerminalSize::default() },
    }
}
