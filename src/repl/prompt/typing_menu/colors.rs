//! The colours of the menu, which follow the terminal's answer about its background.

use crate::ui::Theme;
use crate::ui::input::background::{self, TerminalBackground};

/// Colours for the background that the terminal has answered with.
pub(in crate::repl) type ThemeForBackground = Box<dyn FnOnce(TerminalBackground) -> Option<Theme> + Send>;

pub(super) struct MenuColors {
    theme: Theme,
    /// Present while the terminal's answer may change the theme.
    theme_for: Option<ThemeForBackground>,
}

impl MenuColors {
    pub(super) fn new(theme: &Theme) -> MenuColors {
        MenuColors { theme: theme.clone(), theme_for: None }
    }

    pub(super) fn change_with(&mut self, theme_for: ThemeForBackground) {
        self.theme_for = Some(theme_for);
    }

    /// As they were used last.
    pub(super) fn theme(&self) -> &Theme {
        &self.theme
    }

    /// Those of the terminal's answer, once it has come.
    pub(super) fn now(&mut self) -> &Theme {
        if let Some(found) = background::answer().filter(|_| self.theme_for.is_some())
            && let Some(theme) = self.theme_for.take().and_then(|theme_for| theme_for(found))
        {
            self.theme = theme;
        }
        &self.theme
    }
}
