//! Asks whether text of a project may reach the model. The whole text is shown, and the answer is bound to it.

use crate::repl::context::{CommandContext, CommandStop};
use crate::text::visible;
use crate::ui::{line_ui, margin_mark};
use ratatui::text::Line;
use std::path::Path;

/// A text that waits for trust.
pub(in crate::repl::commands) struct TrustedText<'t> {
    /// `the skill pdf`
    pub(in crate::repl::commands) what: String,
    pub(in crate::repl::commands) path: &'t Path,
    pub(in crate::repl::commands) hash: &'t str,
    pub(in crate::repl::commands) text: &'t str,
}

/// Shows the texts and asks once for all of them. Without the word nothing is sent.
pub(in crate::repl::commands) fn ask_trust(
    context: &CommandContext<'_>,
    texts: &[TrustedText<'_>],
) -> Result<(), CommandStop> {
    let output = &context.output;
    for TrustedText { what, path, text, .. } in texts {
        let head = format!("{what} of this project, in {}:", visible::path(path));
        output.say_lines([Line::styled(head, output.theme.style("question"))]);
        // Exact, because the person approves it: each character that acts or hides is a sign.
        let clean = visible::block(text).into_owned();
        let line = |line: &str| Line::raw(format!("{}{line}", margin_mark::UNDER));
        output.print(&clean.lines().map(line).collect::<Vec<_>>());
    }
    let answer = line_ui::consent("Type `trust` to accept this text, Enter to stop: ");
    if answer.is_none_or(|answer| answer.trim() != "trust") {
        return Err(CommandStop::note("not trusted, so nothing was sent"));
    }
    let files = texts.iter().map(|text| (text.path, text.hash));
    context.app.guidance.trust(files).map_err(|e| CommandStop::error(format!("trust cannot be stored: {e}")))
}
