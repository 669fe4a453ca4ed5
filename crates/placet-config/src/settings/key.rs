//! One row of the table of settings.

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    Number,
    Flag,
    /// A list of texts; lists of several layers are joined.
    Texts,
    /// A list of rules, each a text or a table; lists of several layers are joined.
    Rules,
    /// A list of tables, each a hook; lists of several layers are joined.
    Hooks,
}

#[derive(Debug)]
pub struct SettingKey {
    pub name: &'static str,
    pub kind: SettingKind,
    /// As it would be written in a file; empty without a default.
    pub default: &'static str,
    pub help: &'static str,
}

impl SettingKind {
    /// The words that the value may be; empty for every other kind.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            SettingKind::Word(words) => words,
            _ => &[],
        }
    }

    /// The expected type, as text for an error.
    pub fn describe(self) -> String {
        match self {
            SettingKind::Text => "a string".into(),
            SettingKind::Word(words) => format!("one of {}", words.join(", ")),
            SettingKind::Number => "a whole number, 0 or more".into(),
            SettingKind::Flag => "true or false".into(),
            SettingKind::Texts => "a list of strings".into(),
            SettingKind::Rules => "a list of rules".into(),
            SettingKind::Hooks => "a list of hooks".into(),
        }
    }
}
