//! Every key there is: a table for each section, and together they check files, feed `config show` and make the
//! reference page. What a key means to the program is decided where it is read, not here.

mod conversation;
mod guard;
mod name;
mod network;
mod providers;
mod row;
mod sandbox;
mod storage;
mod tools;
mod ui;

pub use name::name_of;
pub(super) use name::{first, segment};
pub use row::{SettingKey, SettingKind, TrustRequirement};

use name::segments;

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
