//! `/theme`: another theme while the shell runs, by its name or from a list that shows a sample of each.
//!
//! It holds for this shell. Keeping it is a setting, and settings are the person's own file.

use super::command_table::CommandFollowUp;
use super::{Shell, pickers};
use crate::ui::ansi::ColorDepth;
use crate::ui::picker::{KEYS, Picker, PickerFeed, PickerItem, PickerPreview};
use crate::ui::{Theme, ThemeError, sample};

/// The name that stands for no theme of its own.
const AUTO: &str = "auto";
const ABOUT_AUTO: &str = "light or dark, from COLORFGBG";
/// Columns of the sample next to the list; what the pane has no room for is cut there.
const COLUMNS: usize = 60;

impl Shell<'_> {
    fn theme_named(&self, name: &str) -> Result<Theme, ThemeError> {
        let variable = |name: &str| std::env::var(name).ok();
        Theme::load(name, self.app.config_dir(), self.theme.depth, variable)
    }

    /// The name of a theme; the current one is first.
    fn pick_theme(&self) -> Option<String> {
        let mut all = Theme::all(self.app.config_dir());
        all.sort_by_key(|listed| listed.name != self.theme.name);
        let item = |listed: crate::ui::ThemeEntry| {
            let about = listed.broken.map_or(listed.about, |e| e.to_string());
            PickerItem::new(listed.name, about)
        };
        let auto = PickerItem::new(AUTO, ABOUT_AUTO);
        let feed = PickerFeed::of(all.into_iter().map(item).chain([auto]).collect());
        let mut picker =
            Picker::new("Themes", feed, &self.theme, self.keymap("picker", KEYS)).with_preview(|item| {
                match self.theme_named(item.value()) {
                    Ok(theme) => {
                        PickerPreview { drawn: sample::sample(&theme, COLUMNS), ..PickerPreview::default() }
                    }
                    Err(e) => PickerPreview { text: e.to_string(), ..PickerPreview::default() },
                }
            });
        self.show(&mut picker);
        picker.taken().into_iter().next()
    }

    fn list_themes(&self) {
        let rows: Vec<(String, String)> = Theme::all(self.app.config_dir())
            .into_iter()
            .map(|listed| (listed.name, listed.broken.map_or(listed.about, |e| e.to_string())))
            .chain([(AUTO.into(), ABOUT_AUTO.into())])
            .collect();
        self.rows(&rows);
    }
}

pub(super) fn run(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let name = match rest {
        "" if !pickers::is_interactive() => {
            shell.list_themes();
            return None;
        }
        "" => shell.pick_theme()?,
        named => named.to_string(),
    };
    match shell.theme_named(&name) {
        Ok(_) if shell.theme.depth == ColorDepth::None => shell.note("without colours every theme is `mono`"),
        Ok(theme) => {
            shell.theme = theme;
            shell.rethemed = true;
            let file = shell.app.config_dir().join("config.toml");
            shell.note(&format!("the theme is {name} until this shell ends"));
            shell.hint(&format!("to make it permanent: ui.theme = \"{name}\" in {}", file.display()));
        }
        Err(e) => shell.error(&e.to_string(), Some("/theme lists the themes")),
    }
    None
}
