//! Keys of the full-screen panes: a table of actions for each screen, the person's settings for them, and the `?` page
//! that shows the result.
//!
//! A binding is one press: no key waits for another. Settings replace all keys of an action. Two actions of one screen
//! with the same key are an error when the settings are read.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;
use thiserror::Error;

/// One action of a screen.
#[derive(Debug)]
pub struct KeyBinding<A: 'static> {
    pub action: A,
    /// As settings name it: `keys.review.accept`.
    pub name: &'static str,
    /// Its keys, with blanks between them.
    pub keys: &'static str,
    pub help: &'static str,
}

/// A row of a screen's table.
pub const fn row<A: Copy>(
    action: A,
    name: &'static str,
    keys: &'static str,
    help: &'static str,
) -> KeyBinding<A> {
    KeyBinding { action, name, keys, help }
}

/// One press: `a`, `A`, `Enter`, `Ctrl-D`, `Alt-x`, `Space`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyChord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum KeymapError {
    #[error("`{word}` is not a key; write keys as `a`, `A`, `Enter`, `Space`, `Ctrl-D`, `Alt-x`, `F2`")]
    Unknown { word: String },
    #[error("`keys.{screen}.{first}` and `keys.{screen}.{second}` are both `{key}`")]
    Twice { screen: String, first: String, second: String, key: String },
    #[error("`keys.{screen}.{name}`: unknown action; the actions are {known}")]
    Action { screen: String, name: String, known: String },
    #[error("`keys.{screen}.{name}` has no key; remove the setting to use the default")]
    Empty { screen: String, name: String },
}

/// What a movement key does, the same on every screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    Up,
    Down,
    HalfUp,
    HalfDown,
    PageUp,
    PageDown,
    Top,
    Bottom,
    Left,
    Right,
}

impl Move {
    /// The row that this leads to from row `at`, on a screen of `page` rows; `last` is the last row there is.
    pub fn row(self, at: usize, page: usize, last: usize) -> usize {
        let to = match self {
            Move::Up => at.saturating_sub(1),
            Move::Down => at + 1,
            Move::HalfUp => at.saturating_sub(page / 2),
            Move::HalfDown => at + page / 2,
            Move::PageUp => at.saturating_sub(page),
            Move::PageDown => at + page,
            Move::Top => 0,
            Move::Bottom => last,
            Move::Left | Move::Right => at,
        };
        to.min(last)
    }
}

/// The bindings of one screen.
#[derive(Clone, Debug)]
pub struct Keymap<A: 'static> {
    rows: Vec<(Vec<KeyChord>, &'static KeyBinding<A>)>,
}

impl<A: Copy + PartialEq> Keymap<A> {
    /// The bindings of the table, with those of `settings` (name and keys) in place of its own.
    pub fn new(
        screen: &str,
        table: &'static [KeyBinding<A>],
        settings: &[(String, String)],
    ) -> Result<Keymap<A>, KeymapError> {
        if let Some((name, _)) = settings.iter().find(|(name, _)| table.iter().all(|row| row.name != name)) {
            let known = table.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
            return Err(KeymapError::Action { screen: screen.into(), name: name.clone(), known });
        }
        let mut rows: Vec<(Vec<KeyChord>, &'static KeyBinding<A>)> = Vec::new();
        for row in table {
            let own = settings.iter().find(|(name, _)| name == row.name).map(|(_, keys)| keys.as_str());
            let words = own.unwrap_or(row.keys).split_whitespace();
            let chords = words.map(KeyChord::parse).collect::<Result<Vec<_>, _>>()?;
            if chords.is_empty() {
                return Err(KeymapError::Empty { screen: screen.into(), name: row.name.into() });
            }
            for chord in &chords {
                if let Some((_, first)) = rows.iter().find(|(taken, _)| taken.contains(chord)) {
                    return Err(KeymapError::Twice {
                        screen: screen.into(),
                        first: first.name.into(),
                        second: row.name.into(),
                        key: chord.to_string(),
                    });
                }
            }
            rows.push((chords, row));
        }
        Ok(Keymap { rows })
    }

    /// The table's own bindings. A table that contradicts itself binds what it can; a test checks that no table does.
    pub fn usual(screen: &str, table: &'static [KeyBinding<A>]) -> Keymap<A> {
        Keymap::new(screen, table, &[]).unwrap_or(Keymap { rows: Vec::new() })
    }

    pub fn action(&self, key: KeyEvent) -> Option<A> {
        // No table names these modifiers: a key that is pressed with one of them is another key.
        if key.modifiers.intersects(KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META) {
            return None;
        }
        let chord = KeyChord::of(key);
        self.rows.iter().find(|(chords, _)| chords.contains(&chord)).map(|(_, row)| row.action)
    }

    /// The first key of an action: what a hint names.
    pub fn key(&self, action: A) -> String {
        let row = self.rows.iter().find(|(_, row)| row.action == action);
        row.and_then(|(chords, _)| chords.first()).map_or_else(String::new, KeyChord::to_string)
    }

    /// The same, for a person who knows no letters: a named key such as `Down`, where there is one.
    pub fn plain_key(&self, action: A) -> String {
        let row = self.rows.iter().find(|(_, row)| row.action == action);
        let named =
            row.and_then(|(chords, _)| chords.iter().map(KeyChord::to_string).find(|key| key.len() > 1));
        named.unwrap_or_else(|| self.key(action))
    }

    /// Every action with its keys and what it does: the `?` page.
    pub fn help(&self) -> Vec<(String, &'static str)> {
        let keys = |chords: &[KeyChord]| chords.iter().map(KeyChord::to_string).collect::<Vec<_>>().join(" ");
        self.rows.iter().map(|(chords, row)| (keys(chords), row.help)).collect()
    }
}

impl KeyChord {
    pub fn parse(word: &str) -> Result<KeyChord, KeymapError> {
        let unknown = || KeymapError::Unknown { word: word.into() };
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = word;
        while let Some((lead, after)) = rest.split_once('-').filter(|(_, after)| !after.is_empty()) {
            modifiers |= match lead.to_ascii_lowercase().as_str() {
                "ctrl" | "c" => KeyModifiers::CONTROL,
                "alt" | "m" => KeyModifiers::ALT,
                "shift" | "s" => KeyModifiers::SHIFT,
                _ => return Err(unknown()),
            };
            rest = after;
        }
        let mut letters = rest.chars();
        let code = match (letters.next(), letters.next()) {
            (Some(c), None) => KeyCode::Char(c),
            _ => named(rest).ok_or_else(unknown)?,
        };
        Ok(KeyChord::new(code, modifiers))
    }

    pub fn of(key: KeyEvent) -> KeyChord {
        KeyChord::new(key.code, key.modifiers)
    }

    #[cfg(test)]
    pub(super) fn event(&self) -> KeyEvent {
        KeyEvent::new(self.code, self.modifiers)
    }

    /// Shift is part of the letter itself, and control ignores case: terminals differ in what else they report.
    fn new(code: KeyCode, modifiers: KeyModifiers) -> KeyChord {
        let kept = modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        match code {
            KeyCode::Char(c) if kept.contains(KeyModifiers::CONTROL) => KeyChord {
                code: KeyCode::Char(c.to_ascii_lowercase()),
                modifiers: kept.difference(KeyModifiers::SHIFT),
            },
            KeyCode::Char(c) if kept.contains(KeyModifiers::SHIFT) => KeyChord {
                code: KeyCode::Char(c.to_ascii_uppercase()),
                modifiers: kept.difference(KeyModifiers::SHIFT),
            },
            KeyCode::BackTab => KeyChord { code, modifiers: kept.difference(KeyModifiers::SHIFT) },
            _ => KeyChord { code, modifiers: kept },
        }
    }
}

const NAMES: [(&str, KeyCode); 16] = [
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("BackTab", KeyCode::BackTab),
    ("Space", KeyCode::Char(' ')),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("Insert", KeyCode::Insert),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
];

fn named(word: &str) -> Option<KeyCode> {
    let found = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, code)| *code);
    found.or_else(|| {
        let number: u8 = word.strip_prefix(['F', 'f'])?.parse().ok()?;
        (1..=12).contains(&number).then_some(KeyCode::F(number))
    })
}

impl fmt::Display for KeyChord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, word) in
            [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-"), (KeyModifiers::SHIFT, "Shift-")]
        {
            if self.modifiers.contains(modifier) {
                f.write_str(word)?;
            }
        }
        match self.code {
            KeyCode::F(n) => write!(f, "F{n}"),
            KeyCode::Char(c) if c != ' ' && self.modifiers.contains(KeyModifiers::CONTROL) => {
                write!(f, "{}", c.to_ascii_uppercase())
            }
            code => match NAMES.iter().find(|(_, named)| *named == code) {
                Some((name, _)) => f.write_str(name),
                None => match code {
                    KeyCode::Char(c) => write!(f, "{c}"),
                    // No setting can name such a key.
                    _ => f.write_str("another key"),
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum KeymapTestAction {
        Down,
        Apply,
    }

    const TABLE: &[KeyBinding<KeymapTestAction>] = &[
        KeyBinding { action: KeymapTestAction::Down, name: "down", keys: "j Down", help: "a line down" },
        KeyBinding { action: KeymapTestAction::Apply, name: "apply", keys: "Enter Ctrl-S", help: "apply" },
    ];

    fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn keys_are_read_and_written_alike() {
        for word in ["a", "A", "Enter", "Space", "Ctrl-D", "Alt-x", "F2", "[", "-", "Ctrl--", "Shift-Up"] {
            assert_eq!(KeyChord::parse(word).unwrap().to_string(), word);
        }
        for word in ["", "Foo", "Hyper-x", "F13", "ab"] {
            assert!(KeyChord::parse(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_press_finds_its_action_however_the_terminal_tells_it() {
        let map = Keymap::usual("x", TABLE);
        assert_eq!(map.action(press(KeyCode::Char('j'), KeyModifiers::NONE)), Some(KeymapTestAction::Down));
        assert_eq!(
            map.action(press(KeyCode::Char('S'), KeyModifiers::CONTROL)),
            Some(KeymapTestAction::Apply)
        );
        assert_eq!(map.action(press(KeyCode::Char('j'), KeyModifiers::ALT)), None);
        let upper = KeyChord::parse("J").unwrap();
        assert_eq!(KeyChord::of(press(KeyCode::Char('j'), KeyModifiers::SHIFT)), upper);
        assert_eq!(KeyChord::of(press(KeyCode::Char('J'), KeyModifiers::SHIFT)), upper);
    }

    #[test]
    fn settings_replace_keys_and_contradictions_are_told() {
        let with = |name: &str, keys: &str| Keymap::new("x", TABLE, &[(name.into(), keys.into())]);
        let map = with("down", "n").unwrap();
        assert_eq!(map.action(press(KeyCode::Char('j'), KeyModifiers::NONE)), None);
        assert_eq!(map.action(press(KeyCode::Char('n'), KeyModifiers::NONE)), Some(KeymapTestAction::Down));
        assert_eq!(
            with("down", "Enter").unwrap_err().to_string(),
            "`keys.x.down` and `keys.x.apply` are both `Enter`"
        );
        assert!(matches!(with("up", "k"), Err(KeymapError::Action { .. })));
        assert!(matches!(with("down", " "), Err(KeymapError::Empty { .. })));
    }
}
