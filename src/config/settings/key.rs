//! One row of the table of settings.

/// What a value must be.
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

/// What a project's file may say before the person trusts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustRequirement {
    /// Looks only: always taken.
    Harmless,
    /// Taken only where it makes things stricter.
    Tightens,
    /// Not taken.
    Needed,
}

#[derive(Debug)]
pub struct SettingKey {
    pub name: &'static str,
    pub kind: SettingKind,
    /// As it would stand in a file; empty where there is none.
    pub default: &'static str,
    pub trust: TrustRequirement,
    pub help: &'static str,
}

impl SettingKind {
    /// What was wanted, as words for an error.
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
