//! Every key there is: a table for each section, and together they check files, feed `config show` and make the
//! reference page. What a key means to the program is decided where it is read, not here.

mod conversation;
mod guard;
mod name;
mod network;
mod providers;
mod sandbox;
mod storage;
mod tools;
mod ui;

pub use name::name_of;
pub(super) use name::{first, segment};

use name::segments;

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

/// In the order in which they are told. `*` in a name stands for any one segment.
const SECTIONS: &[&[SettingKey]] = &[
    conversation::KEYS,
    guard::KEYS,
    tools::KEYS,
    sandbox::KEYS,
    storage::KEYS,
    network::KEYS,
    ui::KEYS,
    providers::KEYS,
];

const fn key(
    name: &'static str,
    kind: SettingKind,
    default: &'static str,
    trust: TrustRequirement,
    help: &'static str,
) -> SettingKey {
    SettingKey { name, kind, default, trust, help }
}

impl SettingKey {
    /// All of them, section after section.
    pub fn all() -> impl Iterator<Item = &'static SettingKey> {
        SECTIONS.iter().copied().flatten()
    }

    /// The key that `name` is an instance of: `providers.mine.model` is one of `providers.*.model`, and so is
    /// `providers."llama.cpp".model`.
    pub fn find(name: &str) -> Option<&'static SettingKey> {
        // Nearly all names are those of the table: the others are taken apart.
        let whole = SettingKey::all().find(|key| key.name == name && !name.contains('*'));
        whole.or_else(|| SettingKey::find_below(name))
    }

    pub(super) fn find_below(name: &str) -> Option<&'static SettingKey> {
        SettingKey::all().find(|key| {
            let (mut pattern, mut named) = (key.name.split('.'), segments(name));
            loop {
                match (pattern.next(), named.next()) {
                    (None, None) => return true,
                    (Some("*"), Some(segment)) if !segment.is_empty() => {}
                    (Some(p), Some(s)) if p == s => {}
                    _ => return false,
                }
            }
        })
    }

    /// True when `prefix` is a table that holds keys.
    pub(super) fn is_table(prefix: &str) -> bool {
        let depth = segments(prefix).count();
        SettingKey::all().any(|key| {
            let names: Vec<&str> = key.name.split('.').collect();
            let heads = names.iter().take(depth).zip(segments(prefix)).all(|(k, p)| *k == p || *k == "*");
            names.len() > depth && heads
        })
    }
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
