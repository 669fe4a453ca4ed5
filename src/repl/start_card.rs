//! What the shell shows when it starts: where it works, who answers, what the mode means, and what to type. A directory
//! in which it was started before gets one line.
//!
//! Nothing here is slow: it reads one file of the repository and looks for one marker.

use super::context::CommandContext;
use crate::permission::Mode;
use crate::private;
use crate::text::visible;
use crate::ui::turn_pane::mode_label;
use crate::ui::{margin_mark, term, wrap};
use crate::workspace::{HeadPosition, head_of};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::path::{Path, PathBuf};

/// What a person without a model can do.
pub(super) const ADD_A_MODEL: &str = "/setup adds a model";

/// Columns of the labels.
const LABEL: usize = 7;

/// What to type.
const KEYS: &str = "/ commands · @ attaches a file · ? keys · /tour shows how placet works";

/// Shows the card, or its one line where this directory has seen the card.
pub(super) fn show(context: &CommandContext<'_>) {
    let card = StartCard::of(context);
    let columns = usize::from(term::size().0);
    let seen = remember(&context.app.dirs.cache, context.app.cwd());
    let lines = if seen { card.short(columns) } else { card.full(columns) };
    context.output.say_lines(lines);
}

/// True where the card was shown for `cwd` before; it counts as shown from now on. A cache that cannot be written shows
/// it each time.
fn remember(cache: &Path, cwd: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let dir = cache.join("started");
    let marker: PathBuf = dir.join(blake3::hash(cwd.as_os_str().as_bytes()).to_hex().as_str());
    if marker.exists() {
        return true;
    }
    if let Err(e) = private::make_dir(&dir).and_then(|()| private::write_quick(&marker, b"")) {
        tracing::warn!("`{}` was not written: {e}", marker.display());
    }
    false
}

struct StartCard {
    place: String,
    /// The model, at length and in short.
    model: (String, String),
    mode: Mode,
    mode_style: Style,
    label: Style,
}

impl StartCard {
    fn of(context: &CommandContext<'_>) -> StartCard {
        let theme = &context.output.theme;
        let (provider, model) = context.conversation.answered_by();
        let (long, short) = match context.conversation.lacks_model() {
            true => (format!("none yet: {ADD_A_MODEL}"), "no model".to_string()),
            false if provider == model => (visible::name(&model).into_owned(), visible::name(&model).into()),
            false => {
                let (model, provider) = (visible::name(&model), visible::name(&provider));
                (format!("{model} ({provider})"), model.to_string())
            }
        };
        let mode = context.app.mode.load();
        StartCard {
            place: place(context),
            model: (long, short),
            mode,
            mode_style: theme.style(mode_label(mode)),
            label: theme.style("hint"),
        }
    }

    /// At most four lines; each is cut at words where it is too long.
    fn full(self, columns: usize) -> Vec<Line<'static>> {
        let mode = Span::styled(self.mode.name(), self.mode_style);
        let rows = [
            ("", Line::raw(self.place)),
            ("model", Line::raw(self.model.0)),
            ("mode", Line::from(vec![mode, Span::raw(format!(": {}", meaning(self.mode)))])),
            ("keys", Line::raw(KEYS)),
        ];
        rows.into_iter().flat_map(|(label, text)| wrapped(label, &text, columns, self.label)).collect()
    }

    fn short(self, columns: usize) -> Vec<Line<'static>> {
        let text = format!("{} · {} · {} mode · ? keys", self.place, self.model.1, self.mode);
        wrapped("", &Line::styled(text, self.label), columns, self.label)
    }
}

fn wrapped(label: &str, text: &Line<'_>, columns: usize, label_style: Style) -> Vec<Line<'static>> {
    let indent = if label.is_empty() { 0 } else { LABEL };
    let room = columns.saturating_sub(margin_mark::UNDER.len() + indent);
    let rows = wrap::wrap(text, room).into_iter().enumerate();
    rows.map(|(at, mut row)| {
        let lead = if at == 0 { label } else { "" };
        row.spans.insert(0, Span::styled(format!("{lead:indent$}"), label_style));
        row
    })
    .collect()
}

/// `~/src/demo on main`.
fn place(context: &CommandContext<'_>) -> String {
    let cwd = context.app.cwd();
    let below = context.app.workspace.home().and_then(|home| cwd.strip_prefix(home).ok());
    let dir = match below {
        Some(below) if below.as_os_str().is_empty() => "~".into(),
        Some(below) => format!("~/{}", visible::path_name(below)),
        None => visible::path_name(cwd),
    };
    match head_of(cwd) {
        Some(HeadPosition::Branch(name)) => {
            let name = name.strip_prefix("refs/heads").unwrap_or(&name);
            format!("{dir} on {}", visible::path_name(name))
        }
        Some(HeadPosition::Detached(id)) => format!("{dir} at {id}"),
        None => dir,
    }
}

/// What the mode means for the person, in a few words.
fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::None => "no tool runs; Shift+Tab changes the mode",
        Mode::Read => "the agent changes nothing; Shift+Tab changes the mode",
        Mode::Ask => "changes wait until you approve them; Shift+Tab changes the mode",
        Mode::Write => "changes are applied at once, /undo reverts them; Shift+Tab changes the mode",
        Mode::Unrestricted => "commands run without a sandbox; Shift+Tab changes the mode",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> StartCard {
        let plain = Style::default();
        StartCard {
            place: "~/demo on main".into(),
            model: (format!("none yet: {ADD_A_MODEL}"), "no model".into()),
            mode: Mode::Ask,
            mode_style: plain,
            label: plain,
        }
    }

    fn text(lines: &[Line<'_>]) -> String {
        lines.iter().map(|line| line.to_string().trim_end().to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_card_has_four_lines_and_is_cut_at_words() {
        assert_eq!(card().full(200).len(), 4);
        insta::assert_snapshot!(text(&card().full(80)));
        insta::assert_snapshot!(text(&card().full(40)));
        insta::assert_snapshot!(text(&card().short(80)));
    }

    #[test]
    fn a_directory_is_remembered_and_no_other() {
        let cache = tempfile::tempdir().unwrap();
        let shown = |dir: &str| remember(cache.path(), Path::new(dir));
        assert_eq!([shown("/a"), shown("/a"), shown("/b"), shown("/b")], [false, true, false, true]);
    }
}
