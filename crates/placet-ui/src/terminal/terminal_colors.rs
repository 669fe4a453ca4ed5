//! The colours that a program can give the terminal: the palette, and those of text, ground, cursor and selection.
//!
//! A person's shell may have set them on purpose, so they are not reset but set back to what the terminal answered
//! before the program had it. Only for a colour that the terminal did not tell the reset of the terminal itself is
//! left.

use std::collections::BTreeMap;

/// The colours outside of the palette that a question can be made unreadable with: text, ground, cursor, and ground
/// and text of the selection. Each is a number of OSC; its reset is 100 more.
const NAMED: [u16; 5] = [10, 11, 12, 17, 19];
/// xterm's colours of bold, underlined, blinking, inverse and italic text, about which nobody is asked: reset, and off.
const ATTRIBUTES: &str = "\x1b]105\x1b\\\x1b]106;0;0\x1b\\\x1b]106;1;0\x1b\\\x1b]106;2;0\x1b\\\x1b]106;3;0\x1b\\\x1b]106;4;0\x1b\\";
/// The reset of everything else, for a terminal that does not answer. `ESC ] R` is the Linux console's, and an empty
/// string elsewhere.
const RESET: &str =
    "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\\x1b]117\x1b\\\x1b]119\x1b\\\x1b]R\x1b\\";
/// The longest value of a colour.
const LONGEST: usize = 40;

/// One colour of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColorSlot {
    Palette(u8),
    Named(u16),
}

/// Whether the program may have changed colours, as far as its output was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramColors {
    #[default]
    Untouched,
    MaybeChanged,
}

/// What the terminal answered, as it wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalColors(BTreeMap<ColorSlot, String>);

impl ColorSlot {
    fn all() -> impl Iterator<Item = ColorSlot> {
        (0..=u8::MAX).map(ColorSlot::Palette).chain(NAMED.map(ColorSlot::Named))
    }

    fn set(self, value: &str) -> String {
        match self {
            ColorSlot::Palette(n) => format!("\x1b]4;{n};{value}\x1b\\"),
            ColorSlot::Named(n) => format!("\x1b]{n};{value}\x1b\\"),
        }
    }

    fn reset(self) -> String {
        match self {
            ColorSlot::Palette(n) => format!("\x1b]104;{n}\x1b\\"),
            ColorSlot::Named(n) => format!("\x1b]{}\x1b\\", n + 100),
        }
    }
}

impl TerminalColors {
    /// Asks for all of them, each by itself: some terminals read only the beginning of a longer question.
    pub fn question() -> String {
        ColorSlot::all().map(|slot| slot.set("?")).collect()
    }

    pub fn note(&mut self, slot: ColorSlot, value: String) {
        self.0.insert(slot, value);
    }

    /// Sets back what is no longer as it was. `now` is what the terminal answers after the program.
    pub fn set_back(&self, now: &TerminalColors, program: ProgramColors) -> Vec<u8> {
        let mut out = String::new();
        if program == ProgramColors::MaybeChanged {
            out.push_str(ATTRIBUTES);
            if self.0.is_empty() && now.0.is_empty() {
                out.push_str(RESET);
            }
        }
        for slot in ColorSlot::all() {
            match (self.0.get(&slot), now.0.get(&slot)) {
                (Some(before), after) if after != Some(before) => out.push_str(&slot.set(before)),
                (None, Some(_)) => out.push_str(&slot.reset()),
                // A multiplexer answers for a colour only while a program has set it.
                _ => {}
            }
        }
        out.into_bytes()
    }
}

/// The colour that the content of an OSC string answers with. Only what can be nothing else is one, because it is sent
/// back to the terminal.
pub fn answered(content: &[u8]) -> Option<(ColorSlot, String)> {
    let text = std::str::from_utf8(content).ok()?;
    let (number, rest) = text.split_once(';')?;
    let (slot, value) = match number.parse::<u16>().ok()? {
        4 => {
            let (index, value) = rest.split_once(';')?;
            (ColorSlot::Palette(index.parse().ok()?), value)
        }
        n => (ColorSlot::Named(NAMED.into_iter().find(|named| *named == n)?), rest),
    };
    let digits = value.strip_prefix("rgb:").or(value.strip_prefix("rgba:"))?;
    let is_value = value.len() <= LONGEST && digits.bytes().all(|b| b.is_ascii_hexdigit() || b == b'/');
    is_value.then(|| (slot, value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colors(answers: &[&str]) -> TerminalColors {
        TerminalColors(answers.iter().filter_map(|answer| answered(answer.as_bytes())).collect())
    }

    #[test]
    fn only_a_colour_is_an_answer() {
        for (content, is_answer) in [
            ("4;231;rgb:ffff/ffff/ffff", true),
            ("11;rgba:0000/0000/0000/ffff", true),
            ("4;256;rgb:0/0/0", false),
            ("4;1;?", false),
            ("13;rgb:0/0/0", false),
            ("52;c;rgb:0/0/0", false),
            ("11;rgb:0/0/0\n", false),
            ("11;red", false),
        ] {
            assert_eq!(answered(content.as_bytes()).is_some(), is_answer, "{content:?}");
        }
    }

    #[test]
    fn what_differs_is_set_back_and_nothing_else() {
        let before = colors(&["4;1;rgb:11/11/11", "4;2;rgb:22/22/22", "10;rgb:ff/ff/ff"]);
        let set_back = |now: &[&str], program| {
            String::from_utf8(before.set_back(&colors(now), program)).unwrap().replace('\x1b', "^")
        };
        let same = ["4;1;rgb:11/11/11", "4;2;rgb:22/22/22", "10;rgb:ff/ff/ff"];
        assert_eq!(set_back(&same, ProgramColors::Untouched), "");
        let changed = ["4;1;rgb:00/00/00", "4;2;rgb:22/22/22", "4;3;rgb:33/33/33", "10;rgb:ff/ff/ff"];
        assert_eq!(set_back(&changed, ProgramColors::Untouched), "^]4;1;rgb:11/11/11^\\^]104;3^\\");
        // A terminal that answered and does not answer any more: what it had is set.
        let all = "^]4;1;rgb:11/11/11^\\^]4;2;rgb:22/22/22^\\^]10;rgb:ff/ff/ff^\\";
        assert_eq!(set_back(&[], ProgramColors::Untouched), all);
    }

    #[test]
    fn a_terminal_that_answers_nothing_is_reset_where_the_program_may_have_changed_colours() {
        let none = TerminalColors::default();
        assert_eq!(none.set_back(&none, ProgramColors::Untouched), b"");
        let reset = none.set_back(&none, ProgramColors::MaybeChanged);
        for number in [104, 110, 111, 112, 117, 119] {
            let part = format!("\x1b]{number}\x1b\\");
            assert!(reset.windows(part.len()).any(|bytes| bytes == part.as_bytes()), "{number}");
        }
    }
}
