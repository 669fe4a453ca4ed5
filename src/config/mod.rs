//! Settings: layers of values, each of which knows where it came from.
//!
//! Knows nobody: it yields plain values, and `app` maps them to each module's options. A mistake in a file is told
//! with its place and the rest applies, except where permissions are concerned: there every doubt falls to the
//! stricter side.

mod dirs;
mod hook_settings;
mod key;
mod layer;
mod merge;
mod origin;
mod problem;
mod rule_settings;
mod toml_value;
mod trust;

pub use dirs::AppDirs;
pub use hook_settings::HookSettings;
pub use key::{SettingKey, SettingKind, TrustRequirement, name_of};
pub use layer::{SettingOrigin, SettingValue, SettingsLayer};
pub use merge::{AuthorTrust, Config, SettingsSources};
pub use problem::ConfigProblem;
pub use rule_settings::RuleSettings;
pub use trust::{ProjectSettings, TrustStore};
