//! What a subcommand needs to draw on the screen as the shell does.

use super::report::CliError;
use super::start;
use crate::app::App;
use crate::repl::RememberedBackground;
use crate::ui::Theme;
use crate::ui::ansi::ColorDepth;

/// The theme of the settings, at the depth of this terminal.
pub(super) fn theme(app: &App) -> Result<(Theme, ColorDepth), CliError> {
    let settings = app.config.settings();
    let depth = ColorDepth::detect(settings.ui.color, |name| std::env::var(name).ok());
    let dirs = start::paths()?;
    let background = RememberedBackground::load(&dirs.state);
    let theme = Theme::load(&settings.ui.theme, &dirs.config, depth, |name| background.variable(name));
    Ok((theme.map_err(CliError::new)?, depth))
}
