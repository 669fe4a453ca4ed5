//! Keys of the screens: `[keys.SCREEN]`.
//!
//! A row without a typed field, because each screen knows its own actions and this module does not.
//! `Config::screen_keys` reads them.

use super::key::{SettingKey, SettingKind};

pub(super) const KEYS: &[SettingKey] = &[SettingKey {
    name: "keys.*.*",
    kind: SettingKind::Text,
    default: "",
    help: "Keys of an action on a screen, with blanks between them: `keys.review.accept = \"a y\"`.",
}];
