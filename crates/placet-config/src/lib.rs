//! Settings: layers of values, each of which knows its origin.
//!
//! This module depends on no other module: it returns plain values, and `app` maps them to each module's options. An
//! error in a file is reported with its position, and the rest of the file applies. Permissions are the exception:
//! every uncertain permission setting makes the session stricter.

mod dirs;
mod hook_settings;
pub mod keyring;
mod layer;
mod mcp_file;
mod merge;
mod origin;
mod problem;
mod rule_settings;
mod server_source;
mod settings;
mod shown_once;
mod toml_text;
mod toml_value;
mod trust;
mod untrusted;
mod value;
mod values;

pub use dirs::{AppDirs, NoHomeError, home_dir};
pub use hook_settings::HookSettings;
pub use layer::SettingsLayer;
pub use merge::{Config, SettingsSources};
pub use origin::{AuthorTrust, SettingOrigin};
pub use problem::ConfigProblem;
pub use rule_settings::RuleSettings;
pub use server_source::ShadowedServer;
pub use settings::{
    AppliedSetting, BackendSetting, CheckSettings, ColorSetting, ConversationSettings, EditModeSetting,
    GuardSettings, HookList, LinksSetting, McpServerSettings, MenusSetting, MotionSetting, MountSettings,
    NetworkSettings, PictureSetting, ProviderSettings, RuleList, RunPresetSettings, RunSettings,
    SandboxSettings, SearchSettings, SettingKey, SettingKind, SettingTexts, Settings, SignSetting,
    StorageSettings, ToolsSettings, UiSettings, WrapSetting,
};
pub use shown_once::is_shown_first;
pub use toml_text::TomlText;
pub use trust::{ProjectSettings, ProposedSettings, TrustStore};
pub use untrusted::TrustRequirement;
pub use value::SettingValue;
