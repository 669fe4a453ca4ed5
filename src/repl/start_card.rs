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
pub(super) const ADD_A_MODEL: &str =
    "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or see /provider; `help` lists what works offline";

/// Columns of the labels.
const LABEL: usize = 7;

/// What to type.
const KEYS: &str = "/ commands · @ attaches a file · ! runs a command · ? keys";

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

/// One row's words with their style.
type CardText = (String, Style);

struct StartCard {
    place: CardText,
    /// The model, at length and in short.
    model: (CardText, String),
    mode: CardText,
    mode_name: &'static str,
    label: Style,
}

impl StartCard {
    fn of(context: &CommandContext<'_>) -> StartCard {
        let theme = &context.output.theme;
        let (provider, model) = context.conversation.answered_by();
        let (long, short) = match context.conversation.lacks_model() {
            true => (format!("none yet. {ADD_A_MODEL}"), "no model".to_string()),
            false if provider == model => (visible::name(&model).into_owned(), visible::name(&model).into()),
            false => {
                let (model, provider) = (visible::name(&model), visible::name(&provider));
                (format!("{model} ({provider})"), model.to_string())
            }
        };
        let mode = context.app.mode.load();
        StartCard {
            place: (place(context), theme.style("text")),
            model: ((long, theme.style("text")), short),
            mode: (format!("{mode}: {}", meaning(mode)), theme.style(mode_label(mode))),
            mode_name: mode.name(),
            label: theme.style("hint"),
        }
    }

    /// At most four lines; each is cut at words where it is too long.
    fn full(self, columns: usize) -> Vec<Line<'static>> {
        let keys = (KEYS.to_string(), self.label);
        let rows = [("model", self.model.0), ("mode", self.mode), ("keys", keys)];
        let mut lines = wrapped("", self.place, columns, self.label);
        lines.extend(rows.into_iter().flat_map(|(label, text)| wrapped(label, text, columns, self.label)));
        lines
    }

    fn short(self, columns: usize) -> Vec<Line<'static>> {
        let text = format!("{} · {} · {} mode · ? keys", self.place.0, self.model.1, self.mode_name);
        wrapped("", (text, self.label), columns, self.label)
    }
}

fn wrapped(label: &str, (text, style): CardText, columns: usize, label_style: Style) -> Vec<Line<'static>> {
    let indent = if label.is_empty() { 0 } else { LABEL };
    let room = columns.saturating_sub(margin_mark::UNDER.len() + indent);
    let rows = wrap::wrap(&Line::styled(text, style), room).into_iter().enumerate();
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
            place: ("~/demo on main".into(), plain),
            model: ((format!("none yet. {ADD_A_MODEL}"), plain), "no model".into()),
            mode: (format!("ask: {}", meaning(Mode::Ask)), plain),
            mode_name: "ask",
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
