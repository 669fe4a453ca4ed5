//! Themes: a label for every kind of text, and a file that says how it looks.
//!
//! Code names labels, never colours. Meaning never hangs on colour alone: what a colour says, a word or a sign says
//! as well.

use super::contrast::{ContrastAdjuster, hue_of, is_faint, readable_head, readable_shade, text_on};
use super::syntax_themes::{THEMES, theme_named};
use crate::terminal::ansi::{self, ColorDepth, ColorName};
use placet_text::text::regular_file;
use ratatui::style::{Color, Modifier, Style};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

/// Every label there is; a theme must style each of them.
pub const LABELS: &[&str] = &[
    "text",
    "dim",
    "strong",
    "emphasis",
    "code",
    "heading",
    "link",
    "quote",
    "rule",
    "thinking",
    "prompt",
    "said",
    "mode.none",
    "mode.read",
    "mode.ask",
    "mode.write",
    "mode.unrestricted",
    "call",
    "call.done",
    "call.failed",
    "call.denied",
    "call.running",
    "output",
    "diff.add",
    "diff.remove",
    "diff.hunk",
    "diff.add.line",
    "diff.remove.line",
    "diff.add.word",
    "diff.remove.word",
    "diff.moved",
    "gutter",
    "select",
    "match",
    "border",
    "title",
    "accepted",
    "rejected",
    "comment",
    "seen",
    "question",
    "key",
    "notice",
    "warning",
    "error",
    "status",
    "hint",
];

/// Labels of titles: without a colour that can be read they are bold, which says enough.
const TITLES: [&str; 3] = ["heading", "title", "question"];

/// The two kinds of changed lines.
const CHANGES: [&str; 2] = ["diff.add", "diff.remove"];

/// Labels of words that are green in some themes.
const GREEN_WORDS: [&str; 2] = ["accepted", "mode.read"];

/// Name, what it is for, and its file.
const BUILT_IN: [(&str, &str, &str); 8] = [
    ("dark", "for dark backgrounds", include_str!("../../themes/dark.toml")),
    ("light", "for light backgrounds", include_str!("../../themes/light.toml")),
    ("neutral", "for any background", include_str!("../../themes/neutral.toml")),
    ("high-contrast", "highest contrast", include_str!("../../themes/high-contrast.toml")),
    ("mono", "no colour: bold and italic", include_str!("../../themes/mono.toml")),
    ("solarized-dark", "for Solarized's dark colours", include_str!("../../themes/solarized-dark.toml")),
    ("solarized-light", "for Solarized's light colours", include_str!("../../themes/solarized-light.toml")),
    ("colorblind", "dark; blue and orange, not green and red", include_str!("../../themes/colorblind.toml")),
];

#[derive(Clone, Debug)]
pub struct Theme {
    pub name: String,
    styles: HashMap<&'static str, Style>,
    /// The syntax theme for code, `ansi` for the terminal's own palette, `none` for plain code.
    pub syntax: String,
    pub depth: ColorDepth,
    /// The backgrounds it is for, where it says so.
    pub backgrounds: Vec<Color>,
}

/// A theme that can be chosen.
#[derive(Debug)]
pub struct ThemeEntry {
    pub name: String,
    /// What it is for, or where its file is.
    pub about: String,
    /// Why it cannot be taken, where it is broken.
    pub broken: Option<ThemeError>,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum ThemeError {
    #[error("unknown theme `{name}`; the themes are {known}")]
    Unknown { name: String, known: String },
    #[error("cannot read the theme `{name}`: {fault}")]
    Bad { name: String, fault: ThemeFault },
}

/// What is wrong with the file of a theme.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ThemeFault {
    #[error("cannot read `{}`: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: String },
    /// In a list, where the path is next to it.
    #[error("{0}")]
    Io(String),
    #[error("{}", .0.message())]
    Toml(toml::de::Error),
    #[error("the label `{0}` is missing")]
    MissingLabel(&'static str),
    #[error("unknown label `{0}`")]
    UnknownLabel(String),
    #[error("`background` must be a colour or a list of colours")]
    Background,
    #[error("invalid colour `{0}` in `background`")]
    BackgroundColor(String),
    #[error("`{label}` must be a string, not {kind}")]
    NotAString { label: String, kind: &'static str },
    #[error("`syntax` cannot be `{name}`: it is one of {}, none", THEMES.map(|(known, _)| known).join(", "))]
    Syntax { name: String },
    #[error("`{0}` is neither a colour nor a style")]
    UnknownWord(String),
}

impl Theme {
    /// The theme of this name: a file `NAME.toml` in `dir`, or a built-in one. `auto` follows COLORFGBG, and is
    /// `neutral` where the background is not known.
    pub fn load(
        name: &str,
        dir: &Path,
        depth: ColorDepth,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Theme, ThemeError> {
        let name = match name {
            _ if depth == ColorDepth::None => "mono",
            "auto" => background(variable("COLORFGBG").as_deref()),
            name => name,
        };
        if name.contains('/') {
            return Err(unknown(name));
        }
        let path = dir.join("themes").join(format!("{name}.toml"));
        let own = match regular_file::read_to_string(&path, regular_file::SETTINGS) {
            Ok(text) => Some(text),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
            Err(e) => {
                let fault = ThemeFault::Unreadable { path, cause: e.to_string() };
                return Err(ThemeError::Bad { name: name.into(), fault });
            }
        };
        let built_in = BUILT_IN.iter().find(|(n, ..)| *n == name).map(|(.., text)| (*text).to_string());
        let text = own.or(built_in).ok_or_else(|| unknown(name))?;
        Theme::parse(name, &text, depth)
    }

    /// The theme of the settings: where it cannot be loaded, `auto`, and the reason. No setting of the display keeps a
    /// screen from being shown.
    pub fn of_settings(
        name: &str,
        dir: &Path,
        depth: ColorDepth,
        variable: impl Fn(&str) -> Option<String>,
    ) -> (Theme, Option<ThemeError>) {
        match Theme::load(name, dir, depth, &variable) {
            Ok(theme) => (theme, None),
            Err(why) => {
                let auto = Theme::load("auto", dir, depth, variable).unwrap_or_else(|_| Theme::plain());
                (auto, Some(why))
            }
        }
    }

    pub fn parse(name: &str, text: &str, depth: ColorDepth) -> Result<Theme, ThemeError> {
        let bad = |fault: ThemeFault| ThemeError::Bad { name: name.into(), fault };
        let mut table: toml::Table = text.parse().map_err(|e| bad(ThemeFault::Toml(e)))?;
        let backgrounds = table.remove("background").map_or(Ok(Vec::new()), |v| colours(&v)).map_err(bad)?;
        let mut found = HashMap::new();
        flatten("", &table, &mut found).map_err(bad)?;
        let syntax = found.remove("syntax").unwrap_or_else(|| "none".into());
        if syntax != "none" && theme_named(&syntax).is_none() {
            return Err(bad(ThemeFault::Syntax { name: syntax }));
        }
        let mut styles = HashMap::new();
        for label in LABELS {
            // Themes that people wrote before there was this label still work.
            let usual = || (*label == "said").then(|| "bold".to_string());
            let words = found.remove(*label).or_else(usual);
            let words = words.ok_or_else(|| bad(ThemeFault::MissingLabel(label)))?;
            let mut style = depth.limit(parse_style(&words, depth).map_err(bad)?);
            // Sixteen colours have no faint ones: the two kinds of lines would look alike.
            if depth == ColorDepth::Sixteen && matches!(*label, "diff.add.line" | "diff.remove.line") {
                (style.fg, style.bg) = (None, None);
            }
            // The words have the ground of the sign, which no other text of the line has. Underlined, they are marked
            // where a theme without colours has no ground for them, too.
            if depth == ColorDepth::Sixteen
                && let Some(of_line) = label.strip_suffix(".word")
            {
                let sign = styles.get(of_line).copied().and_then(sign_with_ground);
                style = sign.unwrap_or(style).add_modifier(Modifier::UNDERLINED);
            }
            if depth == ColorDepth::Sixteen {
                let own: Vec<Color> = style.bg.into_iter().collect();
                let grounds = if own.is_empty() { &backgrounds } else { &own };
                style.fg = style.fg.map(|fg| readable_shade(fg, grounds));
                if TITLES.contains(label) {
                    style.fg = style.fg.and_then(|fg| readable_head(fg, grounds));
                }
                // Their words and signs say the same: green on white cannot be read.
                if GREEN_WORDS.contains(label) && style.fg.is_some_and(|fg| is_faint(fg, grounds)) {
                    style.fg = None;
                }
            }
            styles.insert(*label, style);
        }
        match found.keys().next() {
            Some(extra) => Err(bad(ThemeFault::UnknownLabel(extra.clone()))),
            None => Ok(Theme { name: name.into(), styles, syntax, depth, backgrounds }),
        }
    }

    pub fn plain() -> Theme {
        let styles = LABELS.iter().map(|l| (*l, Style::default())).collect();
        Theme {
            name: "plain".into(),
            styles,
            syntax: "none".into(),
            depth: ColorDepth::None,
            backgrounds: Vec::new(),
        }
    }

    /// The style of a label. Labels are checked by a test; one that is not there is plain.
    pub fn style(&self, label: &str) -> Style {
        self.styles.get(label).copied().unwrap_or_default()
    }

    /// True where a selection swaps the colours of the terminal.
    pub fn select_is_reversed(&self) -> bool {
        self.style("select").add_modifier.contains(Modifier::REVERSED)
    }

    /// A style on the row that is selected. Swapped, each colour of the row would be a block of its own: the row is one
    /// even band, and keeps only what is not a colour.
    pub fn selected(&self, style: Style) -> Style {
        if !self.select_is_reversed() {
            return style.patch(self.style("select"));
        }
        // A terminal draws what is dim as a grey, and swapped that is a grey ground.
        Style { fg: None, bg: None, ..style }.remove_modifier(Modifier::DIM).patch(self.style("select"))
    }

    /// The names of the built-in themes.
    pub fn names() -> Vec<&'static str> {
        BUILT_IN.iter().map(|(name, ..)| *name).collect()
    }

    /// The style of the sign, the line number and the counts of changed lines. Of sixteen colours none is faint enough to
    /// be the ground of a line, and as text both shades may be unreadable, as green on white: the colour is the ground of
    /// the sign and of the number.
    pub fn sign(&self, label: &str) -> Style {
        let style = self.style(label);
        let (ColorDepth::Sixteen, None, Some(fg)) = (self.depth, style.bg, style.fg) else { return style };
        match readable_head(fg, &self.backgrounds).filter(|_| !CHANGES.contains(&label)) {
            Some(shade) => Style { fg: Some(shade), ..style },
            None => sign_with_ground(style).unwrap_or(style),
        }
    }

    /// The style for the text of a changed line, of which the sign has the style of `label`: with sixteen colours on
    /// white, green is for the sign alone, and so is red next to it.
    pub fn changed_text(&self, label: &str) -> Style {
        let style = self.style(label);
        let is_faint = |label: &&str| {
            let style = self.style(label);
            style.bg.is_none() && style.fg.is_some_and(|fg| is_faint(fg, &self.backgrounds))
        };
        let is_hidden = self.depth == ColorDepth::Sixteen
            && (is_faint(&label) || CHANGES.contains(&label) && CHANGES.iter().any(is_faint));
        if is_hidden { Style { fg: None, ..style } } else { style }
    }

    /// True for a changed line whose colours are adjusted to its ground when they are drawn: it has a text of its own, or
    /// there are so few colours that its ground is lighter than the others.
    pub(crate) fn adjusts_on(&self, line: Style) -> bool {
        line.fg.is_some() || self.depth == ColorDepth::Indexed
    }

    /// True for a theme that is used where the background is not known.
    pub fn is_for_any_background(&self) -> bool {
        [Color::Rgb(0, 0, 0), Color::Rgb(255, 255, 255)]
            .iter()
            .all(|ground| self.backgrounds.contains(ground))
    }

    /// A style on the ground of the lines that the person sent, with a colour that can be read there; the style itself where
    /// they have no ground.
    pub fn on_said(&self, style: Style) -> Style {
        let said = self.style("said");
        let Some(ground) = said.bg else { return style };
        let mut adjuster = ContrastAdjuster::new(&[ground], self.depth);
        Style { fg: style.fg.map(|fg| adjuster.colour(fg)).or(said.fg), bg: Some(ground), ..style }
    }

    /// The same for a mark that has to stand out there. On the ground for an unknown background, colours that can be read are
    /// all near white: the colour is the ground of the mark.
    pub fn mark_on_said(&self, style: Style) -> Style {
        let on_said = self.on_said(style);
        let takes_ground = self.is_for_any_background() && self.depth != ColorDepth::Sixteen;
        match (style.fg, on_said.bg) {
            (Some(own), Some(_)) if takes_ground => {
                let text = ContrastAdjuster::new(&[own], self.depth).colour(on_said.fg.unwrap_or(own));
                Style { fg: Some(text), bg: Some(own), ..style }
            }
            _ => on_said,
        }
    }

    /// Everything on which code can stand: the backgrounds of the theme, of what is selected, and of changed lines to
    /// whose ground no colour is adjusted when they are drawn.
    fn grounds(&self) -> Vec<Color> {
        let changed = ["diff.add.line", "diff.remove.line"].map(|label| self.style(label));
        let changed = changed.into_iter().filter(|line| !self.adjusts_on(*line));
        let select = Some(self.style("select")).filter(|select| select.fg.is_none());
        let lines = changed.chain(select).filter_map(|style| style.bg);
        self.backgrounds.iter().copied().chain(lines).collect()
    }

    /// Makes colours of code readable on all of them.
    pub(crate) fn lift(&self) -> ContrastAdjuster {
        ContrastAdjuster::new(&self.grounds(), self.depth)
    }

    /// The same for code next to added and removed lines: no colour of code has their hue, nor red or green.
    pub(crate) fn lift_in_difference(&self) -> ContrastAdjuster {
        self.lift().without_hues(self.hues_of_changes())
    }

    pub(crate) fn hues_of_changes(&self) -> Vec<ColorName> {
        let colors = CHANGES.map(|label| self.style(label).fg);
        let own = colors.into_iter().flatten().filter_map(hue_of);
        own.chain([ColorName::Red, ColorName::Green]).collect()
    }

    /// Every theme there is: the built-in ones, then the files of `dir`, broken ones too.
    pub fn all(dir: &Path) -> Vec<ThemeEntry> {
        let dir = dir.join("themes");
        let names = std::fs::read_dir(&dir).into_iter().flatten().flatten().filter_map(|entry| {
            entry.file_name().to_str().and_then(|name| name.strip_suffix(".toml")).map(String::from)
        });
        let mut own: Vec<String> = names.collect();
        own.sort();
        let listed = |name: &str| {
            let path = dir.join(format!("{name}.toml"));
            let broken = match regular_file::read_to_string(&path, regular_file::SETTINGS) {
                Ok(text) => Theme::parse(name, &text, ColorDepth::True).err(),
                Err(e) => Some(ThemeError::Bad { name: name.into(), fault: ThemeFault::Io(e.to_string()) }),
            };
            ThemeEntry { name: name.into(), about: path.display().to_string(), broken }
        };
        let built_in = BUILT_IN.iter().filter(|(name, ..)| own.iter().all(|o| o != name));
        let built_in = built_in.map(|(name, about, _)| ThemeEntry {
            name: (*name).into(),
            about: (*about).into(),
            broken: None,
        });
        built_in.chain(own.iter().map(|name| listed(name))).collect()
    }
}

/// The same colour as the ground of a text that can be read on it.
fn sign_with_ground(style: Style) -> Option<Style> {
    let ground = ansi::normal_shade(style.fg?);
    Some(Style { fg: Some(text_on(ground)), bg: Some(ground), ..style })
}

fn unknown(name: &str) -> ThemeError {
    ThemeError::Unknown { name: name.into(), known: format!("auto, {}", Theme::names().join(", ")) }
}

/// COLORFGBG is `foreground;background`, or with a word between; 0 to 6 and 8 are dark.
fn background(colorfgbg: Option<&str>) -> &'static str {
    match colorfgbg.and_then(|v| v.rsplit(';').next()).and_then(|v| v.parse::<u8>().ok()) {
        Some(0..=6 | 8) => "dark",
        Some(7 | 9..=15) => "light",
        _ => "neutral",
    }
}

/// One colour or a list of them.
fn colours(value: &toml::Value) -> Result<Vec<Color>, ThemeFault> {
    let all = match value {
        toml::Value::Array(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    let colour = |value: &toml::Value| {
        let word = value.as_str().ok_or(ThemeFault::Background)?;
        Color::from_str(word).map_err(|_| ThemeFault::BackgroundColor(word.into()))
    };
    all.iter().map(colour).collect()
}

fn flatten(prefix: &str, table: &toml::Table, out: &mut HashMap<String, String>) -> Result<(), ThemeFault> {
    for (key, value) in table {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::String(text) => drop(out.insert(name, text.clone())),
            toml::Value::Table(inner) => flatten(&name, inner, out)?,
            other => return Err(ThemeFault::NotAString { label: name, kind: other.type_str() }),
        }
    }
    Ok(())
}

/// `#8fd9a8 on #10281a/22 bold`: behind the slash stands what a terminal of 256 colours gets, where the nearest of its
/// colours would say something else.
fn parse_style(words: &str, depth: ColorDepth) -> Result<Style, ThemeFault> {
    let mut style = Style::default();
    let mut on = false;
    for word in words.split_whitespace() {
        let modifier = match word {
            "bold" => Modifier::BOLD,
            "dim" => Modifier::DIM,
            "italic" => Modifier::ITALIC,
            "underline" => Modifier::UNDERLINED,
            "reverse" => Modifier::REVERSED,
            "on" => {
                on = true;
                continue;
            }
            color => {
                let (color, indexed) = color.split_once('/').map_or((color, None), |(c, n)| (c, Some(n)));
                let color = indexed.filter(|_| depth == ColorDepth::Indexed).unwrap_or(color);
                let color = Color::from_str(color).map_err(|_| ThemeFault::UnknownWord(color.into()))?;
                style = if on { style.bg(color) } else { style.fg(color) };
                continue;
            }
        };
        style = style.add_modifier(modifier);
    }
    Ok(style)
}

#[cfg(test)]
#[path = "theme_tests.rs"]
mod tests;
