//! What is known of the terminal's background: from `COLORFGBG`, or from what the terminal answered, now or in an earlier
//! session. The setting comes first: only the theme `auto` needs to know.

use crate::private;
use crate::text::regular_file;
use crate::ui::Theme;
use crate::ui::ansi::ColorDepth;
use crate::ui::input::background::{TerminalBackground, may_ask};
use std::path::{Path, PathBuf};

/// Terminals that are remembered at most; the file is read at each start.
const MOST: usize = 50;

/// The terminal of this session, as far as the environment names it.
pub struct RememberedBackground {
    file: PathBuf,
    terminal: String,
    known: Option<TerminalBackground>,
}

impl RememberedBackground {
    pub fn load(state: &Path) -> RememberedBackground {
        let file = state.join("backgrounds");
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let names = ["TERM", "TERM_PROGRAM", "COLORTERM", "SSH_CLIENT"].map(variable);
        let [term, program, color, ssh] = &names;
        let far = ssh.split(' ').next().unwrap_or("");
        let terminal =
            [term, program, color, far].map(|name| name.replace(['\t', '\n', '\r'], " ")).join(" ");
        let text = regular_file::read_to_string(&file, regular_file::SETTINGS).unwrap_or_default();
        let known = text.lines().find_map(|line| {
            let (word, name) = line.split_once('\t')?;
            (name == terminal).then(|| background_of(word)).flatten()
        });
        RememberedBackground { file, terminal, known }
    }

    /// The variable of the environment; where `COLORFGBG` is not set, what is remembered in its form.
    pub fn variable(&self, name: &str) -> Option<String> {
        let set = std::env::var(name).ok().filter(|value| name != "COLORFGBG" || !value.is_empty());
        if name == "COLORFGBG" { set.or_else(|| self.known.map(colorfgbg)) } else { set }
    }

    /// The theme for the background that the terminal has just answered with.
    pub(super) fn theme_for(found: TerminalBackground, dir: &Path, depth: ColorDepth) -> Option<Theme> {
        let variable = |name: &str| match name {
            "COLORFGBG" => Some(colorfgbg(found)),
            name => std::env::var(name).ok(),
        };
        Theme::load("auto", dir, depth, variable).ok()
    }

    /// True where an earlier session had an answer of this terminal.
    pub fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// True where an answer of the terminal would decide something.
    pub fn is_wanted(theme: &str) -> bool {
        let variable = |name: &str| std::env::var(name).ok();
        theme == "auto" && variable("COLORFGBG").is_none_or(|value| value.is_empty()) && may_ask(variable)
    }

    /// Keeps an answer for the screens of later commands.
    pub fn remember(&mut self, found: TerminalBackground) {
        if self.known.replace(found) == Some(found) {
            return;
        }
        let word = match found {
            TerminalBackground::Dark => "dark",
            TerminalBackground::Light => "light",
        };
        let text = regular_file::read_to_string(&self.file, regular_file::SETTINGS).unwrap_or_default();
        let is_other = |line: &&str| line.split_once('\t').is_some_and(|(_, name)| name != self.terminal);
        let own = format!("{word}\t{}", self.terminal);
        let lines: Vec<&str> =
            std::iter::once(own.as_str()).chain(text.lines().filter(is_other).take(MOST)).collect();
        let written = (self.file.parent().map_or(Ok(()), private::make_dir))
            .and_then(|()| private::write(&self.file, (lines.join("\n") + "\n").as_bytes()));
        if let Err(e) = written {
            tracing::warn!("the terminal's background is not remembered: {e}");
        }
    }
}

/// A background in the form of the variable `COLORFGBG`.
fn colorfgbg(background: TerminalBackground) -> String {
    match background {
        TerminalBackground::Dark => "15;0".into(),
        TerminalBackground::Light => "0;15".into(),
    }
}

fn background_of(word: &str) -> Option<TerminalBackground> {
    match word {
        "dark" => Some(TerminalBackground::Dark),
        "light" => Some(TerminalBackground::Light),
        _ => None,
    }
}
