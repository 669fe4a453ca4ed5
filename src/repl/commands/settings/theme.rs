//! `/theme`: another theme while the shell runs, by its name or from a list that shows a sample of each.
//!
//! It holds for this shell. Keeping it is a setting, and settings are the person's own file.

use crate::repl::background::RememberedBackground;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::output::is_interactive;
use crate::ui::ansi::ColorDepth;
use crate::ui::picker::{PickerFeed, PickerItem, PickerPreview};
use crate::ui::{Theme, ThemeEntry, ThemeError, sample};

/// The name that selects no particular theme.
const AUTO: &str = "auto";
const ABOUT_AUTO: &str = "light or dark, as the terminal is";
/// Columns of the sample next to the list; what the pane has no room for is cut there.
const COLUMNS: usize = 60;

pub(in crate::repl::commands) fn theme(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let name = match rest {
        "" if !is_interactive() => {
            let rows = Theme::all(&context.app.dirs.config).into_iter().map(named_and_told);
            let auto = (AUTO.to_string(), ABOUT_AUTO.to_string());
            context.output.rows(&rows.chain([auto]).collect::<Vec<_>>());
            return Ok(CommandFollowUp::Nothing);
        }
        "" => pick(context).ok_or(CommandStop::Cancelled)?,
        named => named.to_string(),
    };
    let theme =
        load(context, &name).map_err(|e| CommandStop::with_hint(e.to_string(), "/theme lists the themes"))?;
    if context.output.theme.depth == ColorDepth::None {
        return Err(CommandStop::note("without colours every theme is `mono`"));
    }
    context.output.theme = theme;
    let file = context.app.settings_file();
    context.output.note(&format!("the theme is {name} until this shell ends"));
    context.output.hint(&format!("to make it permanent: ui.theme = \"{name}\" in {}", file.display()));
    Ok(CommandFollowUp::ChangeTheme)
}

fn load(context: &CommandContext<'_>, name: &str) -> Result<Theme, ThemeError> {
    let background = RememberedBackground::load(&context.app.dirs.state);
    let variable = |name: &str| background.variable(name);
    Theme::load(name, &context.app.dirs.config, context.output.theme.depth, variable)
}

fn named_and_told(listed: ThemeEntry) -> (String, String) {
    (listed.name, listed.broken.map_or(listed.about, |e| e.to_string()))
}

/// The name of a theme; the current one is first.
fn pick(context: &CommandContext<'_>) -> Option<String> {
    let mut all = Theme::all(&context.app.dirs.config);
    all.sort_by_key(|listed| listed.name != context.output.theme.name);
    let items = all.into_iter().map(named_and_told).map(|(name, about)| PickerItem::new(name, about));
    let feed = PickerFeed::of(items.chain([PickerItem::new(AUTO, ABOUT_AUTO)]).collect());
    let picker =
        context.output.picker("Themes", feed).with_preview(|item| match load(context, item.value()) {
            Ok(theme) => PickerPreview { drawn: sample::sample(&theme, COLUMNS), ..PickerPreview::default() },
            Err(e) => PickerPreview { text: e.to_string(), ..PickerPreview::default() },
        });
    context.output.pick_one(picker)
}
