//! Every colour as it is drawn: each cell of the review, the transcript, the viewer, the lists, the prompt, the question
//! and Markdown, in every theme and with 16, 256 and 16 million colours, can be read on what is behind it.
//!
//! The tests of themes judge labels; this one judges cells, so that a label on a ground that nobody thought of is found.

use super::screens::{press, screen, settled};
use placet::config::WrapSetting;
use placet::ui::ansi::{self, ColorDepth, ColorName};
use placet::ui::prose::ProseWidth;
use placet::ui::{Theme, markdown, sample};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::text::Line;
use std::collections::BTreeSet;
use std::path::Path;

type Rgb = (u8, u8, u8);

const SIZE: (u16, u16) = (120, 40);
const DEPTHS: [ColorDepth; 3] = [ColorDepth::Sixteen, ColorDepth::Indexed, ColorDepth::True];
const MARKDOWN: &str = "# Title\n\nText with `code`, **weight**, *stress* and [a link](https://example.org).\n\n> a quote\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\n/// Twice is enough.\nfn retry(limit: u8) -> Option<&'static str> {\n    (limit > 2).then_some(\"no\") // 3\n}\n```\n\n---\n";

fn place_of_sixteen(color: Color) -> Option<usize> {
    ansi::number_of_sixteen(color).map(usize::from)
}

fn rgb(color: Color) -> Rgb {
    ansi::rgb(color)
        .or_else(|| Some(ansi::SIXTEEN[place_of_sixteen(color)?].1))
        .unwrap_or_else(|| panic!("{color:?}"))
}

fn luminance((r, g, b): Rgb) -> f64 {
    let part = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
}

fn ratio(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The text of the terminal on a background of the theme.
fn usual_text(ground: Rgb) -> Rgb {
    if luminance(ground) < 0.18 { (229, 229, 229) } else { (0, 0, 0) }
}

/// The pairs of text and ground that a cell may be on a terminal for which the theme is.
fn pairs(theme: &Theme, cell: &Cell) -> Vec<(Rgb, Rgb)> {
    let grounds: Vec<Rgb> = theme.backgrounds.iter().map(|ground| rgb(*ground)).collect();
    let on = |ground: Rgb| {
        let front = if cell.fg == Color::Reset { usual_text(ground) } else { rgb(cell.fg) };
        let back = if cell.bg == Color::Reset { ground } else { rgb(cell.bg) };
        match cell.modifier.contains(Modifier::REVERSED) {
            true => (back, front),
            false => (front, back),
        }
    };
    grounds.into_iter().map(on).collect()
}

/// Where the palette is the person's, the shade of a hue that is read better is all that placet can choose.
fn is_best_shade(cell: &Cell, (front, back): (Rgb, Rgb)) -> bool {
    let Some(at) = place_of_sixteen(cell.fg) else { return false };
    let back = if cell.modifier.contains(Modifier::REVERSED) { front } else { back };
    let other = ansi::SIXTEEN[(at + 8) % 16].1;
    // A grey has more shades, and for yellow on white there is another hue.
    !matches!(at % 8, 0 | 3 | 7) && ratio(ansi::SIXTEEN[at].1, back) >= ratio(other, back)
}

fn buffer_of(lines: &[Line<'_>]) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, SIZE.0, u16::try_from(lines.len()).unwrap()));
    for (y, line) in lines.iter().enumerate() {
        buffer.set_line(0, u16::try_from(y).unwrap(), line, SIZE.0);
    }
    buffer
}

fn drawn(theme: &Theme) -> Vec<(&'static str, Buffer)> {
    let mut all = Vec::new();
    for name in ["review", "transcript", "viewer", "picker"] {
        let (mut pane, keys) = screen(name, theme);
        pane.resize(SIZE.0, SIZE.1);
        all.push((name, settled(&mut *pane, SIZE)));
        press(&mut *pane, keys, SIZE);
        all.push((name, settled(&mut *pane, SIZE)));
    }
    let width = ProseWidth::new(usize::from(SIZE.0), WrapSetting::Words);
    all.push(("markdown", buffer_of(&markdown::render(MARKDOWN, theme, width))));
    all.push(("prompt and question", buffer_of(&sample::sample(theme, usize::from(SIZE.0)))));
    all
}

fn themes() -> impl Iterator<Item = Theme> {
    let all = Theme::names().into_iter().flat_map(|name| DEPTHS.map(|depth| (name, depth)));
    all.map(|(name, depth)| Theme::load(name, Path::new("/nowhere"), depth, |_| None).unwrap())
}

#[test]
fn every_cell_can_be_read_in_every_theme_at_every_depth() {
    let (mut faint, mut judged) = (BTreeSet::new(), 0_usize);
    for theme in themes().filter(|theme| !theme.backgrounds.is_empty()) {
        let quiet = ["border", "rule", "gutter"].map(|label| theme.style(label).fg);
        for (name, buffer) in drawn(&theme) {
            for cell in buffer.content().iter().filter(|cell| !cell.symbol().trim().is_empty()) {
                // The sixteen are the person's: what they are on this terminal nobody knows.
                let is_quiet = quiet.contains(&Some(cell.fg)) || theme.depth == ColorDepth::Sixteen;
                let least = if is_quiet { 3.0 } else { 4.5 };
                for (front, back) in pairs(&theme, cell) {
                    judged += 1;
                    let ratio = ratio(front, back);
                    if ratio < least && !is_best_shade(cell, (front, back)) {
                        let (fg, bg) = (cell.fg, cell.bg);
                        let what = format!("{} {:?} {name}: {fg:?} on {bg:?}", theme.name, theme.depth);
                        faint.insert(format!("{what} ({back:?}): {ratio:.2}"));
                    }
                }
            }
        }
    }
    assert!(judged > 100_000, "only {judged}");
    assert!(faint.is_empty(), "{}", faint.into_iter().collect::<Vec<_>>().join("\n"));
}

fn hue(color: Color) -> Option<ColorName> {
    (color != Color::Reset).then(|| ColorName::of(rgb(color)))?
}

/// The theme `colorblind` has blue and orange instead, `mono` and `high-contrast` have no colours: their lines have the
/// same signs.
#[test]
fn added_lines_are_green_and_removed_lines_red_in_the_review() {
    let mut seen = 0;
    for theme in
        themes().filter(|theme| !["mono", "high-contrast", "colorblind"].contains(&theme.name.as_str()))
    {
        let (mut pane, _) = screen("review", &theme);
        pane.resize(SIZE.0, SIZE.1);
        let buffer = settled(&mut *pane, SIZE);
        for (sign, label, wanted) in
            [("+", "diff.add", ColorName::Green), ("-", "diff.remove", ColorName::Red)]
        {
            let line = theme.style(&format!("{label}.line"));
            // Where no shade of the colour can be read, it is the ground of the sign.
            let ground = theme.sign(label).bg;
            let fg = if ground.is_some() { theme.sign(label).fg } else { line.fg.or(theme.style(label).fg) };
            // The same letter in the same colour is in other texts, too: without the ground.
            let needed = ground.or(line.bg.filter(|_| line.fg.is_some()));
            let on = |cell: &Cell| needed.is_none_or(|ground| cell.bg == ground);
            let signs = buffer.content().iter();
            let signs = signs.filter(|cell| cell.symbol() == sign && Some(cell.fg) == fg && on(cell));
            let hues: BTreeSet<String> = signs
                .map(|cell| match ground {
                    Some(_) => format!("{:?}", hue(cell.bg)),
                    None => format!("{:?}", hue(cell.fg).or_else(|| hue(cell.bg))),
                })
                .collect();
            assert!(!hues.is_empty(), "{} {:?}: no {sign} is drawn", theme.name, theme.depth);
            assert_eq!(
                hues,
                BTreeSet::from([format!("{:?}", Some(wanted))]),
                "{} {:?}",
                theme.name,
                theme.depth
            );
            seen += 1;
        }
    }
    assert!(seen >= 30, "{seen}");
}
