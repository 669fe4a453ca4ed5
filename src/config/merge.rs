//! All layers together: the effective value of each key, and where it came from.

use super::hook_settings::HookSettings;
use super::key::{SettingKey, SettingKind, TrustRequirement};
use super::layer::{SettingOrigin, SettingValue, SettingsLayer};
use super::problem::ConfigProblem;
use super::rule_settings::RuleSettings;
use super::trust::ProjectSettings;
use std::collections::BTreeMap;

/// The layers, weakest first.
#[derive(Debug, Default)]
pub struct SettingsSources {
    pub user: SettingsLayer,
    pub project: Option<ProjectSettings>,
    pub environment: SettingsLayer,
    pub flags: SettingsLayer,
}

/// Effective settings. Lists are joined over all layers; of everything else the strongest layer's word counts.
#[derive(Debug, Default)]
pub struct Config {
    values: BTreeMap<String, (SettingValue, SettingOrigin)>,
    lists: BTreeMap<String, Vec<(String, SettingOrigin)>>,
    rules: BTreeMap<String, Vec<(RuleSettings, SettingOrigin)>>,
    hooks: Vec<(HookSettings, SettingOrigin, AuthorTrust)>,
    pub problems: Vec<ConfigProblem>,
    /// Settings of an untrusted project that were left out, as `key = value`.
    pub untrusted: Vec<String>,
    /// A permission could not be read somewhere: see [`Config::strict`].
    strict: bool,
}

/// Whether who wrote a setting has the person's trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorTrust {
    Trusted,
    Untrusted,
}

impl Config {
    pub fn merge(sources: SettingsSources) -> Config {
        let mut config = Config::default();
        for key in SettingKey::all().filter(|k| !k.default.is_empty() && !k.name.contains('*')) {
            config.take_default(key);
        }
        config.take_layer(sources.user);
        if let Some(project) = sources.project {
            config.take_project(project);
        }
        config.take_layer(sources.environment);
        config.take_layer(sources.flags);
        config
    }

    /// True when some permission setting could not be understood: then nothing is allowed beyond reading, every call
    /// asks, and rules that allow are void, because a rule that denies may have been lost.
    pub fn strict(&self) -> bool {
        self.strict
    }

    /// A mistake about permissions that shows only when the values are used.
    pub fn add_permission_problem(&mut self, problem: ConfigProblem) {
        self.take_problems(vec![problem]);
    }

    /// In doubt about permissions the mode is at most `read`, and is shown to be.
    pub fn restrict_mode(&mut self) {
        let mode = self.text("mode").unwrap_or_default();
        if self.strict && !matches!(mode, "none" | "read") {
            self.values.insert("mode".into(), (SettingValue::Text("read".into()), SettingOrigin::Doubt));
        }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some((SettingValue::Text(text), _)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        match self.values.get(name) {
            Some((SettingValue::Number(n), _)) => Some(*n),
            _ => None,
        }
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.values.get(name) {
            Some((SettingValue::Flag(b), _)) => Some(*b),
            _ => None,
        }
    }

    /// The items of a joined list, each with its origin.
    pub fn list(&self, name: &str) -> &[(String, SettingOrigin)] {
        self.lists.get(name).map_or(&[], Vec::as_slice)
    }

    /// The rules of a joined list, each with its origin.
    pub fn rules(&self, name: &str) -> &[(RuleSettings, SettingOrigin)] {
        self.rules.get(name).map_or(&[], Vec::as_slice)
    }

    /// The hooks of all layers, each with its origin.
    pub fn hooks(&self) -> &[(HookSettings, SettingOrigin, AuthorTrust)] {
        &self.hooks
    }

    pub fn origin(&self, name: &str) -> Option<&SettingOrigin> {
        self.values.get(name).map(|(_, origin)| origin)
    }

    /// The middle segments of keys like `providers.NAME.model`.
    pub fn names_below(&self, table: &str) -> Vec<String> {
        let prefix = format!("{table}.");
        let mut names: Vec<String> = self
            .values
            .keys()
            .filter_map(|key| super::key::first(key.strip_prefix(&prefix)?).map(String::from))
            .collect();
        names.dedup();
        names
    }

    /// Every effective value, by name.
    pub fn all(&self) -> Vec<(String, String, String)> {
        let mut rows: Vec<(String, String, String)> =
            self.values.iter().map(|(k, (v, o))| (k.clone(), v.to_string(), o.to_string())).collect();
        for (name, items) in &self.lists {
            let texts = SettingValue::Texts(items.iter().map(|(t, _)| t.clone()).collect());
            rows.push((name.clone(), texts.to_string(), joined(items.iter().map(|(_, o)| o))));
        }
        for (name, items) in &self.rules {
            let rules = SettingValue::Rules(items.iter().map(|(r, _)| r.clone()).collect());
            rows.push((name.clone(), rules.to_string(), joined(items.iter().map(|(_, o)| o))));
        }
        let hooks = SettingValue::Hooks(self.hooks.iter().map(|(h, ..)| h.clone()).collect());
        rows.push(("hooks".into(), hooks.to_string(), joined(self.hooks.iter().map(|(_, o, _)| o))));
        rows.sort();
        rows
    }

    fn take_default(&mut self, key: &SettingKey) {
        if let Some(setting) = plain_default(key) {
            return self.put(key.name.into(), setting, SettingOrigin::Default);
        }
        for (name, setting, _) in written_default(key).values {
            self.put(name, setting, SettingOrigin::Default);
        }
    }

    fn take_layer(&mut self, layer: SettingsLayer) {
        self.take_problems(layer.problems);
        for (name, setting, origin) in layer.values {
            self.put(name, setting, origin);
        }
    }

    fn take_project(&mut self, project: ProjectSettings) {
        self.take_problems(project.layer.problems);
        for (name, setting, origin) in project.layer.values {
            if let (SettingValue::Hooks(hooks), false) = (&setting, project.trusted) {
                self.take_foreign(hooks, &origin);
            } else if project.trusted || self.only_tightens(&name, &setting) {
                self.put(name, setting, origin);
            } else {
                self.untrusted.push(format!("{name} = {setting}"));
            }
        }
    }

    /// Hooks of a project that is not trusted: those that can only refuse or ask.
    fn take_foreign(&mut self, hooks: &[HookSettings], origin: &SettingOrigin) {
        for hook in hooks {
            if hook.only_tightens() {
                self.hooks.push((hook.clone(), origin.at_line(hook.line), AuthorTrust::Untrusted));
            } else {
                self.untrusted.push(format!("hooks = [{hook}]"));
            }
        }
    }

    fn take_problems(&mut self, problems: Vec<ConfigProblem>) {
        self.strict |= problems.iter().any(|p| p.permission);
        self.problems.extend(problems);
    }

    fn only_tightens(&self, name: &str, setting: &SettingValue) -> bool {
        match SettingKey::find(name).map(|k| k.trust) {
            Some(TrustRequirement::Harmless) => true,
            Some(TrustRequirement::Tightens) => match (setting, self.values.get(name).map(|(s, _)| s)) {
                (SettingValue::Number(new), Some(SettingValue::Number(old))) => {
                    *new != 0 && (*old == 0 || new < old)
                }
                (SettingValue::Text(new), Some(SettingValue::Text(old))) => {
                    let Some(SettingKind::Word(words)) = SettingKey::find(name).map(|k| k.kind) else {
                        return false;
                    };
                    let rank = |word: &String| words.iter().position(|w| w == word);
                    rank(new) < rank(old)
                }
                _ => false,
            },
            Some(TrustRequirement::Needed) | None => false,
        }
    }

    fn put(&mut self, name: String, setting: SettingValue, origin: SettingOrigin) {
        match setting {
            // A list that is a choice of its own replaces the default; rules add up over all layers.
            SettingValue::Texts(items) => {
                let items = items.into_iter().map(|item| (item, origin.clone()));
                // No layer takes away what another one protects.
                if name == "permission.protected" {
                    self.lists.entry(name).or_default().extend(items);
                } else {
                    self.lists.insert(name, items.collect());
                }
            }
            SettingValue::Rules(items) => {
                let list = self.rules.entry(name).or_default();
                list.extend(items.into_iter().map(|rule| {
                    let origin = origin.at_line(rule.line);
                    (rule, origin)
                }));
            }
            SettingValue::Hooks(items) => {
                self.hooks.extend(items.into_iter().map(|hook| {
                    let origin = origin.at_line(hook.line);
                    (hook, origin, AuthorTrust::Trusted)
                }));
            }
            setting => {
                self.values.insert(name, (setting, origin));
            }
        }
    }
}

/// Where the items of a list came from.
fn joined<'a>(origins: impl Iterator<Item = &'a SettingOrigin>) -> String {
    let mut told: Vec<String> = origins.map(ToString::to_string).collect();
    told.dedup();
    if told.is_empty() { SettingOrigin::Default.to_string() } else { told.join("; ") }
}

/// A default as it would be read from a file.
fn written_default(key: &SettingKey) -> SettingsLayer {
    SettingsLayer::user_file(std::path::Path::new(""), &format!("{} = {}", key.name, key.default))
}

/// The same where it is one plain value, without all that a file may hold: every start reads every default.
fn plain_default(key: &SettingKey) -> Option<SettingValue> {
    match key.kind {
        SettingKind::Number => key.default.parse().ok().map(SettingValue::Number),
        SettingKind::Flag => key.default.parse().ok().map(SettingValue::Flag),
        SettingKind::Text | SettingKind::Word(_) => {
            let text = key.default.strip_prefix('"')?.strip_suffix('"')?;
            (!text.contains(['"', '\\'])).then(|| SettingValue::Text(text.into()))
        }
        SettingKind::Texts | SettingKind::Rules | SettingKind::Hooks => None,
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
