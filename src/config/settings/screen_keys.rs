//! Keys of the screens: `[keys.SCREEN]`.
//!
//! A row without a typed field, because which actions there are is known to each screen and not here. `Config::screen_keys`
//! reads them.

use super::key::{SettingKey, SettingKind, TrustRequirement};

pub(super) const KEYS: &[SettingKey] = &[SettingKey {
    name: "keys.*.*",
    kind: SettingKind::Text,
    default: "",
    trust: TrustRequirement::Needed,
    help: "Keys of an action on a screen, with blanks between them: `keys.review.accept = \"a y\"`.",
}];
