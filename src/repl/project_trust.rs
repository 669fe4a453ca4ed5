//! The question whether placet obeys the settings files of a project.
//!
//! It comes before the first prompt. After a yes placet starts again, because every part is built from the settings.

use super::context::CommandContext;
use super::error::ReplError;
use crate::config::{ProjectSettings, TrustStore};
use crate::text::sanitize;
use crate::ui::{line_ui, term};
use ratatui::text::Line;

/// Shows what a project's files would set and asks for trust, once for this content.
pub(super) fn ask_project_trust(
    context: &CommandContext<'_>,
    files: &[ProjectSettings],
    mut store: TrustStore,
) -> Result<(), ReplError> {
    let output = &context.output;
    let name = |file: &ProjectSettings| sanitize::name(&file.path.to_string_lossy()).into_owned();
    let paths = files.iter().map(name).collect::<Vec<_>>().join(" and ");
    let head = Line::styled(format!("{paths} would set:"), output.theme.style("question"));
    let clean = |setting: &String| sanitize::line(setting).into_owned();
    let settings = context.app.config.untrusted.iter();
    let settings = settings.map(|one| Line::styled(clean(one), output.theme.style("text")));
    let notes = context.app.config.shadowed_servers.iter();
    let notes = notes.map(|one| Line::styled(clean(&one.to_string()), output.theme.style("hint")));
    output.say_list(std::iter::once(head).chain(settings).chain(notes));
    let answer = line_ui::consent("Type `trust` to accept it, Enter to continue without it: ");
    if answer.is_none_or(|answer| answer.trim() != "trust") {
        output.note("ignored; placet asks again next time");
        return Ok(());
    }
    for file in files {
        store.trust(&file.path, &file.hash)?;
    }
    // Started again, every part is built from the settings that hold now.
    // `exec` runs no destructor, so the terminal is restored here.
    term::leave();
    Err(ReplError::Terminal(begin_anew()))
}

/// Replaces this process by a new one with the same arguments; returns only when that fails.
fn begin_anew() -> std::io::Error {
    use std::os::unix::process::CommandExt;
    match std::env::current_exe() {
        Ok(program) => std::process::Command::new(program).args(std::env::args_os().skip(1)).exec(),
        Err(e) => e,
    }
}
