//! The line in the person's own editor, and back.

use crate::ui::term;
use rustyline::{Cmd, ConditionalEventHandler, Event, EventContext, RepeatCount};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Ctrl-X Ctrl-E, Ctrl-G. The text comes back through `edited`, and the line is asked for anew with it: replacing it
/// in place would leave the cursor at its beginning.
pub(super) struct Edit {
    own: Option<String>,
    edited: Arc<Mutex<Option<String>>>,
}

impl Edit {
    pub(super) fn new(own: Option<String>, edited: Arc<Mutex<Option<String>>>) -> Edit {
        Edit { own, edited }
    }

    /// The setting, VISUAL, EDITOR, vi: a command line, so that `code --wait` works.
    fn program(&self) -> String {
        let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        self.own
            .clone()
            .or_else(|| variable("VISUAL"))
            .or_else(|| variable("EDITOR"))
            .unwrap_or_else(|| "vi".into())
    }
}

impl ConditionalEventHandler for Edit {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        match edit(&self.program(), ctx.line()) {
            // What is in the file counts, not how the editor ended.
            Ok(text) => {
                let text = text.trim_end_matches('\n').to_string();
                *self.edited.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                Some(Cmd::Interrupt)
            }
            // The draft stays as it is.
            Err(_) => Some(Cmd::Repaint),
        }
    }
}

fn edit(program: &str, text: &str) -> std::io::Result<String> {
    let mut file = tempfile::Builder::new().prefix("placet-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    term::write_all(b"\x1b[?2004l");
    let run = term::lent(|| run(program, file.path()));
    term::write_all(b"\x1b[?2004h");
    run?;
    std::fs::read_to_string(file.path())
}

fn run(program: &str, path: &Path) -> std::io::Result<()> {
    // Through a shell, because the variable is a shell's command line, quotes and all.
    let status = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!("{program} \"$1\""))
        .arg("sh")
        .arg(path)
        .status()?;
    match status.code() {
        Some(126 | 127) => Err(std::io::Error::other(format!("the editor `{program}` cannot be started"))),
        _ => Ok(()),
    }
}
