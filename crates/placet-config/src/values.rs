//! The values of all layers, by name. Only `settings/` reads a key by its name: all other code reads the typed fields.

use super::hook_settings::HookSettings;
use super::origin::{AuthorTrust, SettingOrigin};
use super::rule_settings::RuleSettings;
use super::settings::{SettingKey, first};
use super::value::SettingValue;
use std::collections::BTreeMap;

/// Lists are joined over all layers; for everything else the value of the strongest layer applies.
#[derive(Debug, Default)]
pub(super) struct MergedSettings {
    values: BTreeMap<String, (SettingValue, SettingOrigin)>,
    lists: BTreeMap<String, Vec<(String, SettingOrigin)>>,
    rules: BTreeMap<String, Vec<(RuleSettings, SettingOrigin)>>,
    hooks: Vec<(HookSettings, SettingOrigin, AuthorTrust)>,
}

impl MergedSettings {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some((SettingValue::Text(text), _)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        match self.values.get(name) {
            Some((SettingValue::Number(n), _)) => Some(*n),
            _ => None,
        }
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.values.get(name) {
            Some((SettingValue::Flag(b), _)) => Some(*b),
            _ => None,
        }
    }

    /// The items of a joined list, each with its origin.
    pub(super) fn list(&self, name: &str) -> &[(String, SettingOrigin)] {
        self.lists.get(name).map_or(&[], Vec::as_slice)
    }

    /// The rules of a joined list, each with its origin.
    pub(super) fn rules(&self, name: &str) -> &[(RuleSettings, SettingOrigin)] {
        self.rules.get(name).map_or(&[], Vec::as_slice)
    }

    /// The hooks of all layers, each with its origin.
    pub(super) fn hooks(&self) -> &[(HookSettings, SettingOrigin, AuthorTrust)] {
        &self.hooks
    }

    pub(super) fn value(&self, name: &str) -> Option<&SettingValue> {
        self.values.get(name).map(|(value, _)| value)
    }

    /// True if a layer has a value for the key. An empty text does not count.
    pub(super) fn is_set(&self, name: &str) -> bool {
        match self.values.get(name) {
            None | Some((_, SettingOrigin::Default)) => false,
            Some((SettingValue::Text(text), _)) => !text.is_empty(),
            Some(_) => true,
        }
    }

    /// The middle segments of keys like `providers.NAME.model`.
    pub(super) fn names_below(&self, table: &str) -> Vec<String> {
        let prefix = format!("{table}.");
        let mut names: Vec<String> = self
            .values
            .keys()
            .chain(self.lists.keys())
            .filter_map(|key| first(key.strip_prefix(&prefix)?).map(String::from))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Every effective value, by name.
    pub(super) fn all(&self) -> Vec<(String, String, String)> {
        let mut rows: Vec<(String, String, String)> =
            self.values.iter().map(|(k, (v, o))| (k.clone(), v.to_string(), o.to_string())).collect();
        for (name, items) in &self.lists {
            let texts = SettingValue::Texts(items.iter().map(|(t, _)| t.clone()).collect());
            let texts = setting_as_shown(name, &texts);
            rows.push((name.clone(), texts, joined(items.iter().map(|(_, o)| o))));
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

    /// A hook of a project that the person does not trust.
    pub(super) fn put_foreign(&mut self, hook: HookSettings, origin: &SettingOrigin) {
        let origin = origin.at_line(hook.line);
        self.hooks.push((hook, origin, AuthorTrust::Untrusted));
    }

    pub(super) fn put(&mut self, name: String, setting: SettingValue, origin: SettingOrigin) {
        match setting {
            // A list that is a choice replaces the default; rules add up over all layers.
            SettingValue::Texts(items) => {
                let items = items.into_iter().map(|item| (item, origin.clone()));
                if SettingKey::find(&name).is_some_and(SettingKey::only_grows) {
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

/// The origins of the items of a list.
fn joined<'a>(origins: impl Iterator<Item = &'a SettingOrigin>) -> String {
    let mut told: Vec<String> = origins.map(ToString::to_string).collect();
    told.dedup();
    if told.is_empty() { SettingOrigin::Default.to_string() } else { told.join("; ") }
}

/// A value as the person sees it. That of a header may be a key, and that of a secret is one.
pub(super) fn setting_as_shown(name: &str, setting: &SettingValue) -> String {
    match setting {
        SettingValue::Texts(headers) if name.ends_with(".headers") => {
            let hidden = |line: &String| match line.split_once(':') {
                Some((header, _)) => format!("{header}: [hidden]"),
                None => "[hidden]".into(),
            };
            SettingValue::Texts(headers.iter().map(hidden).collect()).to_string()
        }
        SettingValue::Text(_) if name.ends_with(".oauth_client_secret") => "[hidden]".into(),
        other => other.to_string(),
    }
}
