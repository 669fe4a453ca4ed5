//! What a subcommand needs to draw on the screen as the shell does.

use super::report::{CliError, warn};
use super::startup::start;
use crate::app::App;
use crate::repl::{RememberedBackground, keymap};
use crate::text::visible;
use crate::ui::ansi::{self, ColorDepth};
use crate::ui::clipboard::Clipboard;
use crate::ui::input::{answering_decoder, background};
use crate::ui::viewer::{self, CheckOutputScreen};
use crate::ui::{Theme, editor, margin_mark, pager, term};
use crate::workspace::Workspace;
use ratatui::text::Line;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// How long a screen waits for the background of a terminal that answered before; it seldom changes.
const REMEMBERED: Duration = Duration::from_millis(30);

/// The theme of the settings, at the depth of this terminal. What is wrong with it is said by the shell and `placet doctor`.
pub(super) fn theme(app: &App) -> Result<(Theme, ColorDepth), CliError> {
    let settings = app.config.settings();
    let depth = ColorDepth::detect(settings.ui.color, |name| std::env::var(name).ok());
    let dirs = start::paths()?;
    let background = RememberedBackground::load(&dirs.state);
    let (theme, _) =
        Theme::of_settings(&settings.ui.theme, &dirs.config, depth, |name| background.variable(name));
    Ok((theme, depth))
}

/// True where the background of the terminal would decide how placet's questions look.
pub(super) fn wants_background(app: &App) -> bool {
    RememberedBackground::is_wanted(&app.config.settings().ui.theme)
}

fn ask_background(app: &App) {
    if wants_background(app) {
        term::write_all(background::QUESTION.as_bytes());
        background::asked();
    }
}

/// The same for a full screen: the terminal is asked for its background and has a moment to answer, because no later
/// frame would have other colours. The base mode must be on.
pub(super) fn theme_of_screen(app: &App) -> Result<(Theme, ColorDepth), CliError> {
    ask_background(app);
    let is_known = RememberedBackground::load(&start::paths()?.state).is_known();
    answering_decoder::drain(if is_known { REMEMBERED } else { answering_decoder::PATIENCE });
    keep_background();
    theme(app)
}

/// Remembers what the terminal answered, for the next theme.
pub(super) fn keep_background() {
    if let (Some(found), Ok(dirs)) = (background::take_answer(), start::paths()) {
        RememberedBackground::load(&dirs.state).remember(found);
    }
}

/// Says on standard error what the person should not overlook: on a terminal in the colour of warnings.
pub(super) fn warn_coloured(app: &App, words: &str) -> Result<(), CliError> {
    if !io::stderr().is_terminal() || term::is_dumb() {
        warn(words);
        return Ok(());
    }
    let (theme, _) = theme(app)?;
    let line = Line::styled(visible::guard_line(words).into_owned(), theme.style("warning"));
    for row in margin_mark::rows(&line, usize::from(term::size().0), &theme) {
        drop(writeln!(io::stderr().lock(), "{}", ansi::line(&row)));
    }
    Ok(())
}

/// Shows the output of checks, with files as `workspace` has them.
pub(super) fn check_output(app: &App, workspace: &Workspace) -> Result<CheckOutputScreen, CliError> {
    let variable = |name: &str| std::env::var(name).ok();
    Ok(CheckOutputScreen {
        theme: theme(app)?.0,
        keys: keymap(&app.config, "viewer", viewer::KEYS).map_err(CliError::usage)?,
        pager: keymap(&app.config, "pager", pager::KEYS).map_err(CliError::usage)?,
        clipboard: Clipboard::new(variable, &app.paths.cache),
        editor: editor::program(app.config.settings().conversation.editor.as_deref()),
        workspace: workspace.clone(),
        store: app.check_store(),
    })
}
