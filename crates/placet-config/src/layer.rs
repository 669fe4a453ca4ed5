//! One layer: a file, the environment or the flags, as checked values with their positions.

use super::hook_settings::HookSettings;
use super::origin::SettingOrigin;
use super::problem::ConfigProblem;
use super::rule_settings::RuleSettings;
use super::settings::{SettingKey, SettingKind, segment};
use super::toml_value::found;
use super::value::SettingValue;
use placet_text::text::nearest;
use std::path::Path;
use toml_edit::{Document, Item, TableLike};

/// Checked values of one source, in the order of the source.
#[derive(Clone, Debug, Default)]
pub struct SettingsLayer {
    pub values: Vec<(String, SettingValue, SettingOrigin)>,
    pub problems: Vec<ConfigProblem>,
}

#[derive(Clone, Copy)]
enum SettingsOwner {
    User,
    Project,
}

impl SettingsLayer {
    pub fn user_file(path: &Path, text: &str) -> SettingsLayer {
        SettingsLayer::file(path, text, SettingsOwner::User)
    }

    pub fn project_file(path: &Path, text: &str) -> SettingsLayer {
        SettingsLayer::file(path, text, SettingsOwner::Project)
    }

    fn file(path: &Path, text: &str, owner: SettingsOwner) -> SettingsLayer {
        let mut layer = SettingsLayer::default();
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        match Document::parse(text) {
            Ok(document) => {
                let reader = SettingsReader { path, text, owner };
                reader.table(document.as_table(), "", &mut layer);
            }
            Err(e) => {
                let (line, column) = line_column(text, e.span().map_or(0, |s| s.start));
                layer.problems.push(ConfigProblem {
                    place: Some((path.into(), line, column)),
                    message: e.message().to_string(),
                    hint: Some("the file is ignored until it is fixed; calls that it would allow ask".into()),
                    permission: true,
                });
            }
        }
        layer
    }

    /// `PLACET_UI_THEME=dark` sets `ui.theme`; lists are split at commas. Variables with other purposes are ignored.
    pub fn environment(variables: impl IntoIterator<Item = (String, String)>) -> SettingsLayer {
        let mut layer = SettingsLayer::default();
        for (name, text) in variables.into_iter().filter(|(name, _)| name.starts_with("PLACET_")) {
            let Some(key) = SettingKey::all().find(|k| !k.name.contains('*') && variable(k.name) == name)
            else {
                continue;
            };
            layer.take_text(key, key.name, &text, SettingOrigin::Environment(name.clone()), &name);
        }
        layer
    }

    /// Sets a default of one entry point.
    pub fn default_of(&mut self, name: &str, text: &str) {
        self.values.push((name.into(), SettingValue::Text(text.into()), SettingOrigin::Default));
    }

    /// `KEY=VALUE` as given to `--set`.
    pub fn set(&mut self, assignment: &str) {
        let flag = format!("--set {assignment}");
        match assignment.split_once('=') {
            Some((name, text)) => self.assign(name, text, "--set", &flag),
            None => self.problem(&flag, "expected KEY=VALUE".into(), None, false),
        }
    }

    /// A key that `origin` sets; `whence` names the source in error messages.
    pub fn assign(&mut self, name: &str, text: &str, origin: &str, whence: &str) {
        match SettingKey::find(name) {
            Some(key) => self.take_text(key, name, text, SettingOrigin::Flag(origin.into()), whence),
            None => {
                let (message, hint) = unknown(name);
                self.problem(whence, message, hint, is_permission(name));
            }
        }
    }

    /// A flag that sets a key.
    pub fn flag(&mut self, name: &str, text: &str, flag: &str) {
        if let Some(key) = SettingKey::find(name) {
            self.take_text(key, name, text, SettingOrigin::Flag(flag.into()), flag);
        }
    }

    /// A list from a repeatable flag: each text is one item, including its commas.
    pub fn flag_list(&mut self, name: &str, items: &[String], flag: &str) {
        if !items.is_empty() {
            let setting = match SettingKey::find(name).map(|key| key.kind) {
                Some(SettingKind::Rules) => {
                    SettingValue::Rules(items.iter().map(|item| RuleSettings::plain(item)).collect())
                }
                _ => SettingValue::Texts(items.to_vec()),
            };
            self.values.push((name.into(), setting, SettingOrigin::Flag(flag.into())));
        }
    }

    fn take_text(&mut self, key: &SettingKey, name: &str, text: &str, origin: SettingOrigin, whence: &str) {
        let parsed = match key.kind {
            SettingKind::Text => Some(SettingValue::Text(text.into())),
            SettingKind::Word(words) => words.contains(&text).then(|| SettingValue::Text(text.into())),
            SettingKind::Number => text.trim().parse().ok().map(SettingValue::Number),
            SettingKind::Flag => text.trim().parse().ok().map(SettingValue::Flag),
            SettingKind::Texts => list_in(text).map(SettingValue::Texts),
            SettingKind::Hooks => HookSettings::read_text(text).map(SettingValue::Hooks),
            SettingKind::Rules => list_in(text).map(|items| {
                SettingValue::Rules(items.iter().map(|item| RuleSettings::plain(item)).collect())
            }),
        };
        match parsed {
            Some(setting) => self.values.push((name.into(), setting, origin)),
            None => {
                let message = format!("`{name}` must be {}, not `{text}`", key.kind.describe());
                self.problem(whence, message, None, is_permission(name));
            }
        }
    }

    fn problem(&mut self, whence: &str, message: String, hint: Option<String>, permission: bool) {
        self.problems.push(ConfigProblem {
            place: None,
            message: format!("{whence}: {message}"),
            hint,
            permission,
        });
    }
}

/// The environment variable of a key.
pub(super) fn variable(name: &str) -> String {
    format!("PLACET_{}", name.replace('.', "_").to_uppercase())
}

/// A list as in a file, `["a", "b"]`, or its items with commas between them.
fn list_in(text: &str) -> Option<Vec<String>> {
    if !text.trim_start().starts_with('[') {
        return Some(split_list(text));
    }
    let table: toml::Table = format!("list = {text}").parse().ok()?;
    table.get("list")?.as_array()?.iter().map(|item| item.as_str().map(String::from)).collect()
}

fn split_list(text: &str) -> Vec<String> {
    text.split(',').map(|item| item.trim().to_string()).filter(|item| !item.is_empty()).collect()
}

fn is_permission(name: &str) -> bool {
    let guards = ["permission", "hooks", "classification"];
    name == "mode" || name == "modes" || guards.iter().any(|guard| name.starts_with(guard))
}

fn unknown(name: &str) -> (String, Option<String>) {
    let all = || SettingKey::all().map(|k| k.name);
    // A key of a table that the person names, such as a provider: only keys of such a table can be meant.
    let hint = match name.rsplit_once('.').map(|(table, key)| (table, key, keys_of(table, all()))) {
        Some((table, key, keys)) if !keys.is_empty() => Some(match nearest(key, keys.iter().copied()) {
            Some(near) => format!("did you mean `{table}.{near}`?"),
            None => format!("the keys of `{table}` are {}", keys.join(", ")),
        }),
        _ => nearest(name, all()).map(|near| format!("did you mean `{near}`?")),
    };
    (
        format!("unknown setting `{name}`"),
        hint.or_else(|| Some("`placet config show` lists the settings".into())),
    )
}

/// The keys of the table `table`, if the person chooses its name: a `*` in the names of the settings.
fn keys_of<'n>(table: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let is_table = |pattern: &str| {
        pattern.contains('*')
            && pattern.split('.').count() == table.split('.').count()
            && pattern.split('.').zip(table.split('.')).all(|(one, other)| one == "*" || one == other)
    };
    names
        .filter_map(|name| name.rsplit_once('.'))
        .filter(|(own, _)| is_table(own))
        .map(|(_, key)| key)
        .collect()
}

pub(super) fn line_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// Reads one parsed file.
struct SettingsReader<'a> {
    path: &'a Path,
    text: &'a str,
    owner: SettingsOwner,
}

impl SettingsReader<'_> {
    fn table(&self, table: &dyn TableLike, prefix: &str, layer: &mut SettingsLayer) {
        for (name, item) in table.iter() {
            let segment = segment(name);
            let full = if prefix.is_empty() { segment.into_owned() } else { format!("{prefix}.{segment}") };
            let span = table.get_key_value(name).and_then(|(key, _)| key.span()).or_else(|| item.span());
            let place = line_column(self.text, span.map_or(0, |s| s.start));
            match (SettingKey::find(&full), item.as_table_like()) {
                (Some(key), _) if key.kind == SettingKind::Rules => self.rules(&full, item, place, layer),
                (Some(key), _) if key.kind == SettingKind::Hooks => self.hooks(&full, item, place, layer),
                (Some(key), _) => match convert(key.kind, item) {
                    Some(setting) => layer.values.push((full, setting, self.origin(place.0))),
                    None => {
                        let message =
                            format!("`{full}` must be {}, not {}", key.kind.describe(), found(item));
                        self.problem(layer, place, message, None, is_permission(&full));
                    }
                },
                (None, Some(inner)) if SettingKey::is_table(&full) => self.table(inner, &full, layer),
                (None, _) => {
                    let (message, hint) = unknown(&full);
                    self.problem(layer, place, message, hint, is_permission(&full));
                }
            }
        }
    }

    fn rules(&self, name: &str, item: &Item, place: (usize, usize), layer: &mut SettingsLayer) {
        match RuleSettings::read(item) {
            Ok(found) => {
                let line = |at: Option<usize>| at.map(|at| line_column(self.text, at).0);
                let rules =
                    found.into_iter().map(|(rule, at)| RuleSettings { line: line(at), ..rule }).collect();
                layer.values.push((name.into(), SettingValue::Rules(rules), self.origin(place.0)));
            }
            Err((what, at)) => {
                let place = at.map_or(place, |at| line_column(self.text, at));
                self.problem(layer, place, format!("`{name}` {what}"), None, true);
            }
        }
    }

    fn hooks(&self, name: &str, item: &Item, place: (usize, usize), layer: &mut SettingsLayer) {
        match HookSettings::read(item) {
            Ok(found) => {
                let line = |at: Option<usize>| at.map(|at| line_column(self.text, at).0);
                let hooks =
                    found.into_iter().map(|(hook, at)| HookSettings { line: line(at), ..hook }).collect();
                layer.values.push((name.into(), SettingValue::Hooks(hooks), self.origin(place.0)));
            }
            Err((what, at)) => {
                let place = at.map_or(place, |at| line_column(self.text, at));
                self.problem(layer, place, format!("`{name}` {what}"), None, true);
            }
        }
    }

    fn origin(&self, line: usize) -> SettingOrigin {
        let path = self.path.into();
        match self.owner {
            SettingsOwner::User => SettingOrigin::User { path, line },
            SettingsOwner::Project => SettingOrigin::Project { path, line },
        }
    }

    fn problem(
        &self,
        layer: &mut SettingsLayer,
        (line, column): (usize, usize),
        message: String,
        hint: Option<String>,
        permission: bool,
    ) {
        let strict = permission.then(|| "until it is fixed, calls that would be allowed ask".to_string());
        let hint = hint.or(strict);
        layer.problems.push(ConfigProblem {
            place: Some((self.path.into(), line, column)),
            message,
            hint,
            permission,
        });
    }
}

fn convert(kind: SettingKind, item: &Item) -> Option<SettingValue> {
    match kind {
        SettingKind::Text => item.as_str().map(|t| SettingValue::Text(t.into())),
        SettingKind::Word(words) => {
            item.as_str().filter(|t| words.contains(t)).map(|t| SettingValue::Text(t.into()))
        }
        SettingKind::Number => {
            item.as_integer().and_then(|n| u64::try_from(n).ok()).map(SettingValue::Number)
        }
        SettingKind::Flag => item.as_bool().map(SettingValue::Flag),
        SettingKind::Rules | SettingKind::Hooks => None,
        SettingKind::Texts => {
            let list: Option<Vec<String>> =
                item.as_array()?.iter().map(|v| v.as_str().map(String::from)).collect();
            list.map(SettingValue::Texts)
        }
    }
}
