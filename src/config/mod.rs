//! Settings: layers of values, each of which knows where it came from.
//!
//! Knows nobody: it yields plain values, and `app` maps them to each module's options. A mistake in a file is told
//! with its place and the rest applies, except where permissions are concerned: there every doubt falls to the
//! stricter side.

mod dirs;
mod hook_settings;
mod layer;
mod merge;
mod origin;
mod problem;
mod rule_settings;
mod settings;
mod shown_once;
mod toml_value;
mod trust;
mod value;
mod values;

pub use dirs::{AppDirs, NoHomeError, home_dir};
pub use hook_settings::HookSettings;
pub use layer::SettingsLayer;
pub use merge::{Config, SettingsSources};
pub use origin::{AuthorTrust, SettingOrigin};
pub use problem::ConfigProblem;
pub use rule_settings::RuleSettings;
pub use settings::{
    BackendSetting, ColorSetting, ConversationSettings, EditModeSetting, GuardSettings, HookList,
    LinksSetting, MotionSetting, MountSettings, NetworkSettings, PictureSetting, ProviderSettings, RuleList,
    SandboxSettings, SettingKey, SettingKind, SettingTexts, Settings, StorageSettings, ToolsSettings,
    TrustRequirement, UiSettings, WrapSetting,
};
pub use shown_once::is_shown_first;
pub use trust::{ProjectSettings, TrustStore};
pub use value::SettingValue;
