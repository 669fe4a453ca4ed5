//! Contrast of two colours as WCAG reckons it, and colours of code moved until they can be read where they stand.
//!
//! Syntax themes are made for one background and know nothing of a changed line's. It judges colours whose parts are
//! known; the terminal's own sixteen are the person's, and stay. Only a theme for any background replaces them: on one of
//! black and white most of them cannot be read. Where there are no others, the shade that is read better is taken.

use crate::terminal::ansi::{self, ColorDepth, ColorName};
use ratatui::style::{Color, Style};
use std::collections::HashMap;

/// What WCAG AA wants of text.
pub(crate) const READABLE: f64 = 4.5;
/// Steps on the way from a colour to white or black.
const STEPS: u32 = 50;

type Rgb = (u8, u8, u8);

fn luminance((r, g, b): Rgb) -> f64 {
    let part = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
}

/// From 1 to 21.
pub(crate) fn ratio(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// What is hardly seen: of one of the terminal's own sixteen the other shade may be better.
const FAINT: f64 = 3.0;

/// One of the terminal's own sixteen, or its other shade where that is usually read better on these grounds: dark blue
/// on black is not seen.
pub(crate) fn readable_shade(color: Color, grounds: &[Color]) -> Color {
    let grounds: Vec<Rgb> = grounds.iter().filter_map(|c| ansi::rgb(*c).or(ansi::usual_rgb(*c))).collect();
    let worst = |color: Color| {
        let parts = ansi::usual_rgb(color).unwrap_or_default();
        grounds.iter().map(|ground| ratio(parts, *ground)).fold(f64::INFINITY, f64::min)
    };
    match ansi::other_shade(color) {
        // Neither yellow can be read on white. Red and green have a meaning of their own, magenta has none.
        Some(other) if is_yellow(color) && worst(color) < FAINT && worst(other) < FAINT => Color::Magenta,
        // Nor can either cyan.
        Some(other) if is_cyan(color) && worst(color) < FAINT && worst(other) < FAINT => {
            if worst(Color::Blue) < FAINT { Color::LightBlue } else { Color::Blue }
        }
        Some(other) if worst(color) < FAINT && worst(other) > worst(color) => other,
        _ => color,
    }
}

/// A colour for a title on these grounds, in this shade or the other one, if one of the two can be read.
pub(crate) fn readable_head(color: Color, grounds: &[Color]) -> Option<Color> {
    let shades = [Some(color), ansi::other_shade(color)];
    shades.into_iter().flatten().find(|shade| is_readable(*shade, grounds))
}

/// True where one of the terminal's own sixteen, as it usually is, can be read on all of these grounds.
pub(crate) fn is_readable(color: Color, grounds: &[Color]) -> bool {
    let Some(parts) = ansi::usual_rgb(color) else { return true };
    let mut grounds = grounds.iter().filter_map(|c| ansi::rgb(*c).or(ansi::usual_rgb(*c)));
    grounds.all(|ground| ratio(parts, ground) >= READABLE)
}

/// Black or white, whichever is read better on one of the terminal's own sixteen.
pub(crate) fn text_on(color: Color) -> Color {
    let ground = ansi::usual_rgb(color).unwrap_or_default();
    if ratio((0, 0, 0), ground) >= ratio((255, 255, 255), ground) { Color::Black } else { Color::White }
}

/// True where one of the terminal's own sixteen is hardly seen on one of these grounds.
pub(crate) fn is_faint(color: Color, grounds: &[Color]) -> bool {
    let Some(parts) = ansi::usual_rgb(color) else { return false };
    let grounds = grounds.iter().filter_map(|c| ansi::rgb(*c).or(ansi::usual_rgb(*c)));
    grounds.map(|ground| ratio(parts, ground)).any(|ratio| ratio < FAINT)
}

fn is_cyan(color: Color) -> bool {
    ansi::usual_rgb(color).and_then(ColorName::of) == Some(ColorName::Cyan)
}

fn is_yellow(color: Color) -> bool {
    ansi::usual_rgb(color).and_then(ColorName::of) == Some(ColorName::Yellow)
}

/// The hues of the terminal's own colours 1 to 6 as they can be read on black and on white, and the same in 256 colours, of
/// which few can.
const ON_ANY_GROUND: [(Rgb, u8); 6] = [
    ((0xd8, 0x3a, 0x3a), 131),
    ((0x2e, 0x85, 0x40), 29),
    ((0x9c, 0x6d, 0x05), 131),
    ((0x3a, 0x74, 0xd0), 63),
    ((0xd7, 0x00, 0xaf), 163),
    ((0x1f, 0x7e, 0xa6), 98),
];

/// Makes colours readable on all of its grounds.
#[derive(Clone, Debug)]
pub(crate) struct ContrastAdjuster {
    grounds: Vec<Rgb>,
    depth: ColorDepth,
    known: HashMap<Color, Color>,
    /// Black and white are both among the grounds.
    is_any_ground: bool,
    /// Hues that say something else where the colours are used.
    taken: Vec<ColorName>,
}

/// What is taken in place of a hue that has a meaning: the first that has none.
const IN_PLACE_OF_WARM: [ColorName; 4] =
    [ColorName::Magenta, ColorName::Yellow, ColorName::Blue, ColorName::Cyan];
const IN_PLACE_OF_COLD: [ColorName; 4] =
    [ColorName::Cyan, ColorName::Blue, ColorName::Magenta, ColorName::Yellow];

impl ContrastAdjuster {
    /// Grounds whose parts are not known do not count.
    pub(crate) fn new(grounds: &[Color], depth: ColorDepth) -> ContrastAdjuster {
        let grounds: Vec<Rgb> = grounds.iter().filter_map(|c| ansi::rgb(*c)).collect();
        let is_any_ground = grounds.contains(&(0, 0, 0)) && grounds.contains(&(255, 255, 255));
        ContrastAdjuster { grounds, depth, known: HashMap::new(), is_any_ground, taken: Vec::new() }
    }

    /// Its colours never have these hues: next to removed and added lines a red keyword would read as removed.
    pub(crate) fn without_hues(self, taken: Vec<ColorName>) -> ContrastAdjuster {
        ContrastAdjuster { taken, known: HashMap::new(), ..self }
    }

    fn is_taken(&self, colour: Color) -> bool {
        hue_of(colour).is_some_and(|hue| self.taken.contains(&hue))
    }

    /// The colour in a hue without a meaning.
    fn turned(&self, colour: Color) -> Color {
        let Some(hue) = hue_of(colour).filter(|hue| self.taken.contains(hue)) else { return colour };
        let others = match hue {
            ColorName::Red | ColorName::Yellow | ColorName::Magenta => IN_PLACE_OF_WARM,
            ColorName::Green | ColorName::Cyan | ColorName::Blue => IN_PLACE_OF_COLD,
        };
        let Some(other) = others.into_iter().find(|other| !self.taken.contains(other)) else { return colour };
        match ansi::rgb(colour) {
            // There are few that can be read on black and on white: they have a table of their own.
            _ if self.is_any_ground => other.sixteen(false),
            Some((r, g, b)) => {
                let (r, g, b) = other.with_shades(r.max(g).max(b), r.min(g).min(b));
                self.depth.limit(Style::new().fg(Color::Rgb(r, g, b))).fg.unwrap_or(colour)
            }
            None => other.sixteen(ansi::number_of_sixteen(colour).is_some_and(|number| number > 7)),
        }
    }

    /// One of the terminal's own sixteen.
    fn of_terminal(&self, colour: Color) -> Color {
        let Some(number) = ansi::number_of_sixteen(colour) else { return colour };
        if self.depth == ColorDepth::Sixteen {
            let grounds: Vec<Color> = self.grounds.iter().map(|(r, g, b)| Color::Rgb(*r, *g, *b)).collect();
            let shade = readable_shade(ansi::of_sixteen(number), &grounds);
            // In code no hue has a meaning: green on white gives way.
            return match is_faint(shade, &grounds) {
                true => readable_shade(Color::Blue, &grounds),
                false => shade,
            };
        }
        if !self.is_any_ground {
            return colour;
        }
        let Some((parts, indexed)) = ON_ANY_GROUND.get((usize::from(number) % 8).wrapping_sub(1)) else {
            return colour;
        };
        match self.depth {
            ColorDepth::True => Color::Rgb(parts.0, parts.1, parts.2),
            ColorDepth::Indexed => Color::Indexed(*indexed),
            ColorDepth::Sixteen | ColorDepth::None => colour,
        }
    }

    pub(crate) fn style(&mut self, style: Style) -> Style {
        Style { fg: style.fg.map(|fg| self.colour(fg)), ..style }
    }

    /// The nearest colour towards white or black that can be read on every ground, in the colours there are; where
    /// there is none, the best that was met.
    pub(crate) fn colour(&mut self, colour: Color) -> Color {
        if let Some(known) = self.known.get(&colour) {
            return *known;
        }
        let mut lifted = self.nearest(self.turned(colour));
        // On the way to a readable colour it may get such a hue again.
        if self.is_taken(lifted) {
            lifted = self.nearest(self.turned(lifted));
        }
        self.known.insert(colour, lifted);
        lifted
    }

    fn nearest(&self, colour: Color) -> Color {
        let Some(from) = ansi::rgb(colour) else { return self.of_terminal(colour) };
        let mut best = (self.worst(colour), colour);
        if self.grounds.is_empty() || best.0 >= READABLE {
            return colour;
        }
        let toward = if self.grounds.iter().all(|g| luminance(*g) < 0.18) { 255 } else { 0 };
        for step in 1..=STEPS {
            let part = |c: u8| mix(c, toward, step);
            let there = Color::Rgb(part(from.0), part(from.1), part(from.2));
            let there = self.depth.limit(Style::new().fg(there)).fg.unwrap_or(there);
            let contrast = self.worst(there);
            if contrast > best.0 {
                best = (contrast, there);
            }
            if contrast >= READABLE {
                break;
            }
        }
        best.1
    }

    /// The contrast on the ground where it is least.
    fn worst(&self, colour: Color) -> f64 {
        let Some(parts) = ansi::rgb(colour) else { return f64::INFINITY };
        self.grounds.iter().map(|ground| ratio(parts, *ground)).fold(f64::INFINITY, f64::min)
    }
}

/// The hue of a colour; of the terminal's own colours, the hue that they usually have.
pub(crate) fn hue_of(colour: Color) -> Option<ColorName> {
    let own = || ansi::number_of_sixteen(colour).and_then(|number| ansi::usual_rgb(ansi::of_sixteen(number)));
    ansi::rgb(colour).or_else(own).and_then(ColorName::of)
}

fn mix(from: u8, to: u8, step: u32) -> u8 {
    let sum = u32::from(from) * (STEPS - step) + u32::from(to) * step;
    u8::try_from(sum / STEPS).unwrap_or(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_that_of_wcag() {
        assert_eq!(ratio((0, 0, 0), (255, 255, 255)), 21.0);
        assert_eq!(ratio((9, 9, 9), (9, 9, 9)), 1.0);
        assert_eq!((ratio((0x76, 0x76, 0x76), (255, 255, 255)) * 100.0).round(), 454.0);
    }

    #[test]
    fn a_colour_moves_only_as_far_as_it_has_to() {
        let lift = |grounds: &[Color], depth| ContrastAdjuster::new(grounds, depth);
        let grey = Color::Rgb(0x99, 0x99, 0x99);
        let white = [Color::Rgb(255, 255, 255)];
        let Color::Rgb(r, g, b) = lift(&white, ColorDepth::True).colour(grey) else { unreachable!() };
        assert!(ratio((r, g, b), (255, 255, 255)) >= READABLE && (0x70..0x78).contains(&r), "{r} {g} {b}");
        let black = Color::Rgb(0, 0, 0);
        assert_eq!(lift(&white, ColorDepth::True).colour(black), black, "it can be read already");
        assert_eq!(lift(&[], ColorDepth::True).colour(grey), grey, "nothing is known of the ground");
        assert_eq!(lift(&white, ColorDepth::True).colour(Color::Yellow), Color::Yellow, "the terminal's own");
        let any = [Color::Rgb(0, 0, 0), Color::Rgb(255, 255, 255)];
        for depth in [ColorDepth::True, ColorDepth::Indexed] {
            for number in (1..=6).chain(9..=14) {
                let shown = ansi::rgb(lift(&any, depth).colour(Color::Indexed(number))).unwrap();
                assert!(ratio(shown, (0, 0, 0)) >= READABLE, "{number} {depth:?}");
                assert!(ratio(shown, (255, 255, 255)) >= READABLE, "{number} {depth:?}");
            }
        }
        assert_eq!(lift(&any, ColorDepth::Sixteen).colour(Color::Indexed(4)), Color::LightBlue);
        let dark = Color::Rgb(0x60, 0, 0);
        let lifted = lift(&[Color::Rgb(0, 0, 0)], ColorDepth::Indexed).colour(dark);
        let Color::Indexed(n) = lifted else { panic!("{lifted:?}") };
        assert!(ratio(ansi::rgb(Color::Indexed(n)).unwrap(), (0, 0, 0)) >= READABLE);
    }
}
