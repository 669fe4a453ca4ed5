//! Every key: a table for each section. The checks of a file, `config show`, the reference page and the typed values of
//! the program come from these tables.

mod checks;
mod conversation;
mod field;
mod guard;
mod key;
mod mcp;
mod mounts;
mod name;
mod network;
mod providers;
mod run;
mod run_presets;
mod sandbox;
mod screen_keys;
mod search;
mod storage;
mod table;
mod tools;
mod ui;

pub use checks::CheckSettings;
pub use conversation::ConversationSettings;
pub(super) use field::FieldReader;
pub use field::{HookList, RuleList, SettingTexts};
pub use guard::GuardSettings;
pub use key::{SettingKey, SettingKind};
pub use mcp::McpServerSettings;
pub use mounts::MountSettings;
pub(super) use name::{first, segment};
pub use network::NetworkSettings;
pub use providers::ProviderSettings;
pub use run::RunSettings;
pub use run_presets::RunPresetSettings;
pub use sandbox::{BackendSetting, SandboxSettings, SignSetting};
pub use search::SearchSettings;
pub use storage::StorageSettings;
pub use tools::ToolsSettings;
pub use ui::{
    AppliedSetting, ColorSetting, EditModeSetting, LinksSetting, MenusSetting, MotionSetting, PictureSetting,
    UiSettings, WrapSetting,
};

use name::segments;

/// In the order of the reference page. `*` in a name matches any one segment.
const SECTIONS: &[&[SettingKey]] = &[
    conversation::KEYS,
    guard::KEYS,
    tools::KEYS,
    sandbox::KEYS,
    run::KEYS,
    run_presets::KEYS,
    checks::KEYS,
    mcp::KEYS,
    search::KEYS,
    mounts::KEYS,
    storage::KEYS,
    network::KEYS,
    ui::KEYS,
    screen_keys::KEYS,
    providers::KEYS,
];

/// The value of every key except those of tables that repeat: `Config::provider`, `Config::mounts`,
/// `Config::mcp_servers`, `Config::run_presets`, `Config::checks` and `Config::screen_keys` read these.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub conversation: ConversationSettings,
    pub guard: GuardSettings,
    pub tools: ToolsSettings,
    pub search: SearchSettings,
    pub sandbox: SandboxSettings,
    pub run: RunSettings,
    pub storage: StorageSettings,
    pub network: NetworkSettings,
    pub ui: UiSettings,
}

impl Settings {
    pub(super) fn read(reader: FieldReader<'_>) -> Settings {
        Settings {
            conversation: ConversationSettings::read(reader),
            guard: GuardSettings::read(reader),
            tools: ToolsSettings::read(reader),
            search: SearchSettings::read(reader),
            sandbox: SandboxSettings::read(reader),
            run: RunSettings::read(reader),
            storage: StorageSettings::read(reader),
            network: NetworkSettings::read(reader),
            ui: UiSettings::read(reader),
        }
    }
}

impl SettingKey {
    /// All keys, section after section.
    pub fn all() -> impl Iterator<Item = &'static SettingKey> {
        SECTIONS.iter().copied().flatten()
    }

    /// The key of which `name` is an instance: `providers.mine.model` is an instance of `providers.*.model`, and so is
    /// `providers."llama.cpp".model`.
    pub fn find(name: &str) -> Option<&'static SettingKey> {
        // Nearly all names are those of the table: only the others are split.
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

    /// True if `prefix` is a table that contains keys.
    pub(super) fn is_table(prefix: &str) -> bool {
        let depth = segments(prefix).count();
        SettingKey::all().any(|key| {
            let names: Vec<&str> = key.name.split('.').collect();
            let heads = names.iter().take(depth).zip(segments(prefix)).all(|(k, p)| *k == p || *k == "*");
            names.len() > depth && heads
        })
    }
}
