//! Which of placet's own streams decide that a program gets a terminal.
//!
//! | standard output | a terminal of placet's session | the program |
//! |---|---|---|
//! | a terminal | yes | has a terminal. Standard input and standard error are the terminal too, or a pipe each where placet's own are none. Keys come from the terminal in any case. |
//! | anything else | | has pipes only. A program behind it in the person's pipeline, such as a pager, may read the same keys. |

use std::fs::File;
use std::io::{self, IsTerminal};

/// True where a program gets a terminal.
pub(crate) fn has_terminal() -> bool {
    let both = io::stdin().is_terminal() && io::stdout().is_terminal();
    both || io::stdout().is_terminal() && File::options().read(true).write(true).open("/dev/tty").is_ok()
}
