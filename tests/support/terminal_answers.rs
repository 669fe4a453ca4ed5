//! What a terminal answers to questions: where its cursor is, and which colours it has.

use std::collections::BTreeMap;

/// Whether the terminal tells its colours.
#[derive(Clone, Debug)]
pub enum TerminalColors {
    Untold,
    /// It answers nothing at all.
    Mute,
    /// By what comes before the value in an OSC string, such as `4;1` and `11`.
    Told(BTreeMap<String, String>),
}

pub struct TerminalAnswers {
    colors: TerminalColors,
    /// What was written since the last question or string.
    rest: Vec<u8>,
}

impl TerminalAnswers {
    pub fn new(colors: TerminalColors) -> TerminalAnswers {
        TerminalAnswers { colors, rest: Vec::new() }
    }

    /// The bytes in pieces that end where something may have to be answered.
    pub fn pieces(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        bytes.split_inclusive(|byte| matches!(byte, b'n' | 0x07 | b'\\')).map(<[u8]>::to_vec).collect()
    }

    /// The answer to what `piece` ends with. `cursor` is the row and the column, from 0.
    pub fn take(&mut self, piece: &[u8], cursor: (u16, u16)) -> Option<String> {
        if let TerminalColors::Mute = self.colors {
            return None;
        }
        self.rest.extend_from_slice(piece);
        if self.rest.ends_with(b"\x1b[6n") {
            self.rest.clear();
            return Some(format!("\x1b[{};{}R", cursor.0 + 1, cursor.1 + 1));
        }
        let text = String::from_utf8_lossy(&self.rest).into_owned();
        let content = text.strip_suffix("\x1b\\").or(text.strip_suffix('\x07'));
        let content =
            content.and_then(|text| text.rsplit_once("\x1b]")).map(|(_, content)| content.to_string());
        if content.is_some() || self.rest.len() > 64 * 1024 {
            self.rest.clear();
        }
        self.color(&content?)
    }

    fn color(&mut self, content: &str) -> Option<String> {
        let TerminalColors::Told(colors) = &mut self.colors else { return None };
        let (slot, value) = content.rsplit_once(';')?;
        if value == "?" {
            return colors.get(slot).map(|value| format!("\x1b]{slot};{value}\x1b\\"));
        }
        colors.get_mut(slot).map(|color| *color = value.into())?;
        None
    }
}
