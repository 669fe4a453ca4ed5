//! Merges all layers: the effective value of each key, and its origin.

use super::hook_settings::HookSettings;
use super::layer::SettingsLayer;
use super::origin::SettingOrigin;
use super::problem::ConfigProblem;
use super::server_source::{self, ShadowedServer};
use super::settings::{
    CheckSettings, FieldReader, McpServerSettings, MountSettings, ProviderSettings, RunPresetSettings,
    SettingKey, SettingKind, Settings,
};
use super::trust::ProjectSettings;
use super::untrusted::TrustRequirement;
use super::value::SettingValue;
use super::values::{MergedSettings, setting_as_shown};
use std::collections::BTreeSet;

/// The layers, weakest first.
#[derive(Debug, Default)]
pub struct SettingsSources {
    /// Defaults that differ from the table: the shell has its own mode.
    pub defaults: SettingsLayer,
    pub user: SettingsLayer,
    pub project: Option<ProjectSettings>,
    /// The project's `.mcp.json`; its settings file is stronger.
    pub mcp_file: Option<ProjectSettings>,
    pub environment: SettingsLayer,
    pub flags: SettingsLayer,
}

/// Effective settings: by name for lists of settings, and as typed values for the program.
#[derive(Debug)]
pub struct Config {
    merged: MergedSettings,
    settings: Settings,
    pub problems: Vec<ConfigProblem>,
    /// Settings of an untrusted project that were ignored, as `key = value`.
    pub untrusted: Vec<String>,
    /// The names of these settings.
    untrusted_names: Vec<String>,
    /// MCP servers of a project that are not used, because a stronger source defines them.
    pub shadowed_servers: Vec<ShadowedServer>,
    /// Some permission setting could not be parsed: see [`Config::strict`].
    strict: bool,
}

impl Config {
    pub fn merge(sources: SettingsSources) -> Config {
        let merged = defaults();
        let mut config = Config {
            settings: Settings::read(FieldReader::of(&merged)),
            merged,
            problems: Vec::new(),
            untrusted: Vec::new(),
            untrusted_names: Vec::new(),
            shadowed_servers: Vec::new(),
            strict: false,
        };
        let own = [&sources.defaults, &sources.user, &sources.environment, &sources.flags];
        let (mut project, mut mcp_file) = (sources.project, sources.mcp_file);
        config.shadowed_servers = server_source::separate(&own, project.as_mut(), mcp_file.as_mut());
        config.take_layer(sources.defaults);
        config.take_layer(sources.user);
        for file in mcp_file.into_iter().chain(project) {
            config.take_project(file);
        }
        config.take_layer(sources.environment);
        config.take_layer(sources.flags);
        config.settings = Settings::read(FieldReader::of(&config.merged));
        config
    }

    /// The typed values.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The names of all `[providers.NAME]`.
    pub fn provider_names(&self) -> Vec<String> {
        self.merged.names_below("providers")
    }

    /// The settings of `[providers.NAME]`: empty if the table is missing.
    pub fn provider(&self, name: &str) -> ProviderSettings {
        ProviderSettings::read(FieldReader::named(&self.merged, name))
    }

    /// Every `[mounts.NAME]`.
    pub fn mounts(&self) -> Vec<(String, MountSettings)> {
        let names = self.merged.names_below("mounts").into_iter();
        names
            .map(|name| {
                let mount = MountSettings::read(FieldReader::named(&self.merged, &name));
                (name, mount)
            })
            .collect()
    }

    /// Every `[mcp.servers.NAME]`.
    pub fn mcp_servers(&self) -> Vec<(String, McpServerSettings)> {
        let names = self.merged.names_below("mcp.servers").into_iter();
        let read = |name: String| {
            let server = McpServerSettings::read(FieldReader::named(&self.merged, &name));
            (name, server)
        };
        names.map(read).collect()
    }

    /// Every `[run.presets.NAME]`.
    pub fn run_presets(&self) -> Vec<(String, RunPresetSettings)> {
        let names = self.merged.names_below("run.presets").into_iter();
        let read = |name: String| {
            let preset = RunPresetSettings::read(FieldReader::named(&self.merged, &name));
            (name, preset)
        };
        names.map(read).collect()
    }

    /// Every `[checks.NAME]`.
    pub fn checks(&self) -> Vec<(String, CheckSettings)> {
        let names = self.merged.names_below("checks").into_iter();
        let read = |name: String| {
            let check = CheckSettings::read(FieldReader::named(&self.merged, &name));
            (name, check)
        };
        names.map(read).collect()
    }

    /// Whether a project that is not trusted has a server of this name.
    pub fn has_untrusted_server(&self, name: &str) -> bool {
        let table = format!("mcp.servers.{name}.");
        self.untrusted_names.iter().any(|setting| setting.starts_with(&table))
    }

    /// How many checks an untrusted project sets.
    pub fn untrusted_checks(&self) -> usize {
        let fields = self.untrusted_names.iter().filter_map(|name| name.strip_prefix("checks."));
        fields.filter_map(|field| field.rsplit_once('.')).map(|(name, _)| name).collect::<BTreeSet<_>>().len()
    }

    /// The actions of a screen whose keys were changed, and these keys.
    pub fn screen_keys(&self, screen: &str) -> Vec<(String, String)> {
        let table = format!("keys.{screen}");
        let keys = |name: String| {
            let keys = self.merged.text(&format!("{table}.{name}"))?.to_string();
            Some((name, keys))
        };
        self.merged.names_below(&table).into_iter().filter_map(keys).collect()
    }

    /// Every effective value by name, with its origin: for the person, not for the program.
    pub fn all(&self) -> Vec<(String, String, String)> {
        self.merged.all()
    }

    /// True if some permission setting could not be parsed: then only reads are allowed, every call asks, and rules
    /// that allow are ignored, because a rule that denies may have been lost.
    pub fn strict(&self) -> bool {
        self.strict
    }

    /// Records an error about permissions that appears only when the values are used.
    pub fn add_permission_problem(&mut self, problem: ConfigProblem) {
        self.take_problems(vec![problem]);
    }

    /// If permissions are uncertain, the mode is at most `read`, and the screen shows it. Only the mode changes after
    /// the layers are merged: here and in [`Config::default_mode`].
    pub fn restrict_mode(&mut self) {
        if self.strict && !matches!(self.settings.conversation.mode.as_str(), "none" | "read") {
            self.merged.put("mode".into(), SettingValue::Text("read".into()), SettingOrigin::Doubt);
            self.settings = Settings::read(FieldReader::of(&self.merged));
        }
    }

    /// The mode if nobody sets a mode: that of the other system whose tools are in use.
    pub fn default_mode(&mut self, mode: &str) {
        if !self.merged.is_set("mode") {
            self.merged.put("mode".into(), SettingValue::Text(mode.into()), SettingOrigin::Default);
            self.settings = Settings::read(FieldReader::of(&self.merged));
        }
    }

    /// True if the mode is a default and nobody's choice.
    pub fn has_default_mode(&self) -> bool {
        !self.merged.is_set("mode")
    }

    fn take_layer(&mut self, layer: SettingsLayer) {
        self.take_problems(layer.problems);
        for (name, setting, origin) in layer.values {
            self.merged.put(name, setting, origin);
        }
    }

    fn take_project(&mut self, project: ProjectSettings) {
        self.take_problems(project.layer.problems);
        for (name, setting, origin) in project.layer.values {
            if let (SettingValue::Hooks(hooks), false) = (&setting, project.trusted) {
                self.take_foreign(hooks, &origin);
            } else if project.trusted && is_personal(&name) {
                let message = format!("`{name}` is ignored: only your own settings can contain it");
                let problem = ConfigProblem::of_value(&origin, message);
                self.take_problems(vec![ConfigProblem { hint: None, permission: false, ..problem }]);
            } else if project.trusted || self.is_tightened_by(&name, &setting) {
                self.merged.put(name, setting, origin);
            } else {
                self.untrusted.push(format!("{name} = {}", setting_as_shown(&name, &setting)));
                self.untrusted_names.push(name);
            }
        }
    }

    /// Takes the hooks of an untrusted project: only those that can only refuse or ask.
    fn take_foreign(&mut self, hooks: &[HookSettings], origin: &SettingOrigin) {
        for hook in hooks {
            if hook.only_tightens() {
                self.merged.put_foreign(hook.clone(), origin);
            } else {
                self.untrusted.push(format!("hooks = [{hook}]"));
            }
        }
    }

    fn take_problems(&mut self, problems: Vec<ConfigProblem>) {
        self.strict |= problems.iter().any(|p| p.permission);
        self.problems.extend(problems);
    }

    fn is_tightened_by(&self, name: &str, setting: &SettingValue) -> bool {
        SettingKey::find(name).is_some_and(|key| key.is_tightened_by(setting, self.merged.value(name)))
    }
}

/// True for a key that no project may set.
fn is_personal(name: &str) -> bool {
    SettingKey::find(name).is_some_and(|key| key.trust() == TrustRequirement::Never)
}

/// The values without any layer. Tables that repeat have no default values until they exist.
fn defaults() -> MergedSettings {
    let mut merged = MergedSettings::default();
    for key in SettingKey::all().filter(|k| !k.default.is_empty() && !k.name.contains('*')) {
        if let Some(setting) = plain_default(key) {
            merged.put(key.name.into(), setting, SettingOrigin::Default);
            continue;
        }
        for (name, setting, _) in written_default(key).values {
            merged.put(name, setting, SettingOrigin::Default);
        }
    }
    merged
}

/// A default as a file would set it.
fn written_default(key: &SettingKey) -> SettingsLayer {
    SettingsLayer::user_file(std::path::Path::new(""), &format!("{} = {}", key.name, key.default))
}

/// The same for plain values, without the general parser: every start reads every default.
fn plain_default(key: &SettingKey) -> Option<SettingValue> {
    match key.kind {
        SettingKind::Number => key.default.parse().ok().map(SettingValue::Number),
        SettingKind::Flag => key.default.parse().ok().map(SettingValue::Flag),
        SettingKind::Text | SettingKind::Word(_) => {
            let text = key.default.strip_prefix('"')?.strip_suffix('"')?;
            (!text.contains(['"', '\\'])).then(|| SettingValue::Text(text.into()))
        }
        SettingKind::Texts => plain_list(key.default).map(SettingValue::Texts),
        SettingKind::Rules => plain_list(key.default)?.is_empty().then(|| SettingValue::Rules(Vec::new())),
        SettingKind::Hooks => plain_list(key.default)?.is_empty().then(|| SettingValue::Hooks(Vec::new())),
    }
}

/// A list of texts without quotes, escapes and commas in them.
fn plain_list(text: &str) -> Option<Vec<String>> {
    let items = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    if items.is_empty() {
        return Some(Vec::new());
    }
    let plain = |item: &str| {
        let item = item.trim().strip_prefix('"')?.strip_suffix('"')?;
        (!item.contains(['"', '\\'])).then(|| item.to_string())
    };
    items.split(',').map(plain).collect()
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
