//! Styles as escape sequences, at the depth of colour the terminal has.

use placet_config::ColorSetting;
use placet_text::text::visible;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use std::fmt::Write;

/// How many colours may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColorDepth {
    /// Bold, dim, underline and reverse only.
    None,
    Sixteen,
    Indexed,
    True,
}

impl ColorDepth {
    /// From `ui.color` (`auto`, `always`, `never`) and the environment. A terminal whose environment names no depth
    /// gets 16 colours.
    pub fn detect(setting: ColorSetting, variable: impl Fn(&str) -> Option<String>) -> ColorDepth {
        let set = |name: &str| variable(name).filter(|v| !v.is_empty());
        let term = set("TERM").unwrap_or_default();
        let unwanted = set("NO_COLOR").is_some() || term == "dumb";
        if setting == ColorSetting::Never || setting == ColorSetting::Auto && unwanted {
            return ColorDepth::None;
        }
        match set("COLORTERM").as_deref() {
            Some("truecolor" | "24bit") => ColorDepth::True,
            _ if term.contains("direct") || term.contains("truecolor") => ColorDepth::True,
            _ if term.contains("256") => ColorDepth::Indexed,
            _ => ColorDepth::Sixteen,
        }
    }

    /// `style` in the colours there are.
    pub fn limit(self, style: Style) -> Style {
        let limit = |color: Option<Color>| color.map(|c| self.color(c));
        let mut out = style;
        out.fg = style.fg.map(|c| self.ink(c));
        out.bg = limit(style.bg);
        out.underline_color = None;
        out
    }

    /// The colour of a letter has a meaning, and keeps its hue: the nearest of few colours is often a grey.
    fn ink(self, color: Color) -> Color {
        let hue = rgb(color).and_then(ColorName::of);
        match (self, color, hue) {
            (ColorDepth::Indexed, Color::Rgb(r, g, b), Some(hue)) => {
                Color::Indexed(nearest_of(hue, (r, g, b)))
            }
            (ColorDepth::Sixteen, _, Some(hue)) => hue.sixteen(rgb(color).is_some_and(is_light)),
            _ => self.color(color),
        }
    }

    fn color(self, color: Color) -> Color {
        match (self, color) {
            (ColorDepth::None, _) => Color::Reset,
            (ColorDepth::Indexed, Color::Rgb(r, g, b)) => Color::Indexed(nearest_indexed(r, g, b)),
            (ColorDepth::Sixteen, Color::Rgb(r, g, b)) => nearest_sixteen(r, g, b),
            (ColorDepth::Sixteen, Color::Indexed(n)) if n >= 16 => {
                let (r, g, b) = rgb_of(n);
                nearest_sixteen(r, g, b)
            }
            _ => color,
        }
    }
}

/// Writes the sequence that sets exactly `style`, whatever style was set before.
pub fn push_style(out: &mut String, style: Style) {
    let style = without_bright_black(style);
    out.push_str("\x1b[0");
    for (modifier, code) in [
        (Modifier::BOLD, 1),
        (Modifier::DIM, 2),
        (Modifier::ITALIC, 3),
        (Modifier::UNDERLINED, 4),
        (Modifier::REVERSED, 7),
        (Modifier::CROSSED_OUT, 9),
    ] {
        if style.add_modifier.contains(modifier) {
            let _ = write!(out, ";{code}");
        }
    }
    push_color(out, style.fg, 30);
    push_color(out, style.bg, 40);
    out.push('m');
}

/// Bold black is black: xterm and others draw bold text of the first eight colours in the bright form of the colour, which
/// is a grey for black. Text without a background gets the terminal's own colour of text, and stays bold.
fn without_bright_black(style: Style) -> Style {
    if style.fg != Some(Color::Black) || !style.add_modifier.contains(Modifier::BOLD) {
        return style;
    }
    match style.bg {
        None | Some(Color::Reset) => Style { fg: None, ..style },
        Some(_) => style.remove_modifier(Modifier::BOLD),
    }
}

fn push_color(out: &mut String, color: Option<Color>, base: u8) {
    let plain = |n: u8| base + n;
    let bright = |n: u8| base + 60 + n;
    let code = match color {
        None | Some(Color::Reset) => return,
        Some(Color::Rgb(r, g, b)) => {
            let _ = write!(out, ";{};2;{r};{g};{b}", base + 8);
            return;
        }
        Some(Color::Indexed(n)) => {
            let _ = write!(out, ";{};5;{n}", base + 8);
            return;
        }
        Some(Color::Black) => plain(0),
        Some(Color::Red) => plain(1),
        Some(Color::Green) => plain(2),
        Some(Color::Yellow) => plain(3),
        Some(Color::Blue) => plain(4),
        Some(Color::Magenta) => plain(5),
        Some(Color::Cyan) => plain(6),
        Some(Color::Gray) => plain(7),
        Some(Color::DarkGray) => bright(0),
        Some(Color::LightRed) => bright(1),
        Some(Color::LightGreen) => bright(2),
        Some(Color::LightYellow) => bright(3),
        Some(Color::LightBlue) => bright(4),
        Some(Color::LightMagenta) => bright(5),
        Some(Color::LightCyan) => bright(6),
        Some(Color::White) => bright(7),
    };
    let _ = write!(out, ";{code}");
}

/// A styled line as text for the terminal, without its line break. Only the styles act on the terminal, whatever the
/// line holds. An empty last span with a background gives the rest of the row that background: the terminal erases with it,
/// so that no blanks are copied with the line.
pub fn line(line: &Line<'_>) -> String {
    let mut out = String::new();
    let last = line.spans.len().saturating_sub(1);
    for (at, span) in line.spans.iter().enumerate() {
        let style = line.style.patch(span.style);
        if span.content.is_empty() {
            if at == last && style.bg.is_some_and(|ground| ground != Color::Reset) {
                push_style(&mut out, style);
                out.push_str("\x1b[K\x1b[0m");
            }
            continue;
        }
        let content = match span.content.contains(|c| c != '\n' && visible::acts(c)) {
            true => visible::guard(&span.content),
            false => span.content.as_ref().into(),
        };
        if style == Style::default() || style == Style::reset() {
            out.push_str(&content);
        } else {
            push_style(&mut out, style);
            out.push_str(&content);
            out.push_str("\x1b[0m");
        }
    }
    out
}

const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

fn rgb_of(index: u8) -> (u8, u8, u8) {
    if index >= 232 {
        let grey = 8 + (index - 232) * 10;
        return (grey, grey, grey);
    }
    let n = usize::from(index.saturating_sub(16));
    let level = |n: usize| LEVELS.get(n % 6).copied().unwrap_or(0);
    (level(n / 36), level(n / 6), level(n))
}

/// The parts of a colour that is the same on every terminal; the first sixteen are the person's.
pub fn rgb(color: Color) -> Option<(u8, u8, u8)> {
    match color {
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(n) if n >= 16 => Some(rgb_of(n)),
        _ => None,
    }
}

/// A colour's name, as a person would call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorName {
    Red,
    Yellow,
    Green,
    Cyan,
    Blue,
    Magenta,
}

impl ColorName {
    /// `None` for a grey.
    pub fn of((r, g, b): (u8, u8, u8)) -> Option<ColorName> {
        let (most, least) = (r.max(g).max(b), r.min(g).min(b));
        let spread = i32::from(most - least);
        // What is nearly black is black, and text of a muted theme is a grey that leans to blue.
        if most < 0x50 || spread * 100 < i32::from(most) * 28 {
            return None;
        }
        let part = |a: u8, b: u8| 60 * (i32::from(a) - i32::from(b)) / spread;
        let degrees = match most {
            _ if most == r => part(g, b).rem_euclid(360),
            _ if most == g => 120 + part(b, r),
            _ => 240 + part(r, g),
        };
        Some(match degrees {
            30..65 => ColorName::Yellow,
            65..166 => ColorName::Green,
            166..200 => ColorName::Cyan,
            200..260 => ColorName::Blue,
            260..330 => ColorName::Magenta,
            _ => ColorName::Red,
        })
    }

    /// A colour of this hue with these parts as its strongest and its weakest one.
    pub(crate) fn with_shades(self, most: u8, least: u8) -> (u8, u8, u8) {
        let twelfths = |part: u16| {
            let spread = u16::from(most.saturating_sub(least)) * part / 12;
            u8::try_from(u16::from(least) + spread).unwrap_or(most)
        };
        match self {
            ColorName::Red => (most, least, least),
            ColorName::Yellow => (most, twelfths(10), least),
            ColorName::Green => (least, most, least),
            ColorName::Cyan => (least, twelfths(11), most),
            ColorName::Blue => (least, twelfths(4), most),
            ColorName::Magenta => (twelfths(11), least, most),
        }
    }

    pub(crate) fn sixteen(self, light: bool) -> Color {
        match (self, light) {
            (ColorName::Red, false) => Color::Red,
            (ColorName::Red, true) => Color::LightRed,
            (ColorName::Yellow, false) => Color::Yellow,
            (ColorName::Yellow, true) => Color::LightYellow,
            (ColorName::Green, false) => Color::Green,
            (ColorName::Green, true) => Color::LightGreen,
            (ColorName::Cyan, false) => Color::Cyan,
            (ColorName::Cyan, true) => Color::LightCyan,
            (ColorName::Blue, false) => Color::Blue,
            (ColorName::Blue, true) => Color::LightBlue,
            (ColorName::Magenta, false) => Color::Magenta,
            (ColorName::Magenta, true) => Color::LightMagenta,
        }
    }
}

/// Nearer to white than a colour of middle lightness.
fn is_light((r, g, b): (u8, u8, u8)) -> bool {
    u16::from(r.max(g).max(b)) + u16::from(r.min(g).min(b)) > 280
}

fn nearest_of(hue: ColorName, (r, g, b): (u8, u8, u8)) -> u8 {
    let same = (16..=255).filter(|n| ColorName::of(rgb_of(*n)) == Some(hue));
    same.min_by_key(|n| distance(rgb_of(*n), (r, g, b))).unwrap_or_else(|| nearest_indexed(r, g, b))
}

fn nearest_indexed(r: u8, g: u8, b: u8) -> u8 {
    (16..=255).min_by_key(|n| distance(rgb_of(*n), (r, g, b))).unwrap_or(7)
}

/// The first sixteen as xterm has them. They are the person's and may be others, but what is dark here is seldom light
/// elsewhere.
pub const SIXTEEN: [(Color, (u8, u8, u8)); 16] = [
    (Color::Black, (0, 0, 0)),
    (Color::Red, (205, 0, 0)),
    (Color::Green, (0, 205, 0)),
    (Color::Yellow, (205, 205, 0)),
    (Color::Blue, (0, 0, 238)),
    (Color::Magenta, (205, 0, 205)),
    (Color::Cyan, (0, 205, 205)),
    (Color::Gray, (229, 229, 229)),
    (Color::DarkGray, (127, 127, 127)),
    (Color::LightRed, (255, 0, 0)),
    (Color::LightGreen, (0, 255, 0)),
    (Color::LightYellow, (255, 255, 0)),
    (Color::LightBlue, (92, 92, 255)),
    (Color::LightMagenta, (255, 0, 255)),
    (Color::LightCyan, (0, 255, 255)),
    (Color::White, (255, 255, 255)),
];

/// The number of one of the first sixteen, however it is named.
pub fn number_of_sixteen(color: Color) -> Option<u8> {
    match color {
        Color::Indexed(number) if number < 16 => Some(number),
        _ => SIXTEEN.into_iter().position(|(known, _)| known == color).and_then(|at| u8::try_from(at).ok()),
    }
}

pub(crate) fn of_sixteen(number: u8) -> Color {
    SIXTEEN.get(usize::from(number)).map_or(Color::Reset, |(color, _)| *color)
}

/// The normal colour of a hue for its bright one.
pub(crate) fn normal_shade(color: Color) -> Color {
    match number_of_sixteen(color) {
        Some(number @ 9..=14) => of_sixteen(number - 8),
        _ => color,
    }
}

/// The parts that one of the first sixteen usually has.
pub(crate) fn usual_rgb(color: Color) -> Option<(u8, u8, u8)> {
    SIXTEEN.into_iter().find(|(known, _)| *known == color).map(|(_, parts)| parts)
}

/// The bright colour of a hue for the normal colour, and the other way round.
pub(crate) fn other_shade(color: Color) -> Option<Color> {
    let at = SIXTEEN.into_iter().position(|(known, _)| known == color)?;
    // Black, white and the greys are not shades of each other.
    let is_hue = !matches!(at % 8, 0 | 7);
    SIXTEEN.get((at + 8) % 16).map(|(other, _)| *other).filter(|_| is_hue)
}

fn nearest_sixteen(r: u8, g: u8, b: u8) -> Color {
    SIXTEEN
        .into_iter()
        .min_by_key(|(_, rgb)| distance(*rgb, (r, g, b)))
        .map_or(Color::Reset, |(color, _)| color)
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let part = |x: u8, y: u8, weight: u32| u32::from(x.abs_diff(y)).pow(2) * weight;
    part(a.0, b.0, 3) + part(a.1, b.1, 4) + part(a.2, b.2, 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::text::Span;

    fn detect(setting: ColorSetting, variables: &[(&str, &str)]) -> ColorDepth {
        ColorDepth::detect(setting, |name| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_string())
        })
    }

    #[test]
    fn colour_follows_the_terminal_and_no_color() {
        assert_eq!(detect(ColorSetting::Auto, &[("TERM", "xterm-256color")]), ColorDepth::Indexed);
        assert_eq!(
            detect(ColorSetting::Auto, &[("TERM", "xterm"), ("COLORTERM", "truecolor")]),
            ColorDepth::True
        );
        assert_eq!(detect(ColorSetting::Auto, &[("TERM", "xterm"), ("NO_COLOR", "1")]), ColorDepth::None);
        assert_eq!(detect(ColorSetting::Auto, &[("TERM", "xterm"), ("NO_COLOR", "")]), ColorDepth::Sixteen);
        assert_eq!(
            detect(ColorSetting::Always, &[("TERM", "xterm"), ("NO_COLOR", "1")]),
            ColorDepth::Sixteen
        );
        assert_eq!(
            detect(ColorSetting::Auto, &[("TERM", "dumb"), ("COLORTERM", "truecolor")]),
            ColorDepth::None
        );
        assert_eq!(detect(ColorSetting::Never, &[("COLORTERM", "truecolor")]), ColorDepth::None);
    }

    /// Story: in xterm with a light background the keys of a question were paler than their words.
    #[test]
    fn bold_black_is_not_drawn_as_grey() {
        let written = |style: Style| {
            let mut out = String::new();
            push_style(&mut out, style.add_modifier(Modifier::BOLD));
            out
        };
        assert_eq!(written(Style::new().fg(Color::Black)), "\x1b[0;1m");
        assert_eq!(written(Style::new().fg(Color::Black).bg(Color::Gray)), "\x1b[0;30;47m");
        assert_eq!(written(Style::new().fg(Color::Red)), "\x1b[0;1;31m");
    }

    #[test]
    fn an_empty_span_with_a_background_fills_the_row_and_adds_no_text() {
        let ground = Style::new().bg(Color::Green);
        let filled = Line::from(vec![Span::styled("+ a", ground), Span::styled("", ground)]);
        assert_eq!(line(&filled), "\x1b[0;42m+ a\x1b[0m\x1b[0;42m\x1b[K\x1b[0m");
        let empty = Line::from(vec![Span::styled("", Style::new().fg(Color::Red)), Span::raw("")]);
        assert_eq!(line(&empty), "");
    }

    #[test]
    fn without_colour_no_colour_code_is_written() {
        let style = Style::new().fg(Color::Rgb(200, 30, 30)).bg(Color::Blue).add_modifier(Modifier::BOLD);
        let mut out = String::new();
        push_style(&mut out, ColorDepth::None.limit(style));
        assert_eq!(out, "\x1b[0;1m");
        assert_eq!(ColorDepth::Indexed.limit(style).fg, Some(Color::Indexed(160)));
        assert_eq!(ColorDepth::Sixteen.limit(style).fg, Some(Color::Red));
    }
}
