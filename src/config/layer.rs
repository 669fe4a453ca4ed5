//! One layer: a file, the environment or the flags, as checked values with their places.

use super::hook_text::HookText;
use super::key::{Key, Kind};
use super::problem::Problem;
use super::rule_text::RuleText;
use crate::text::nearest;
use std::fmt;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item, TableLike, Value};

/// Where a value came from. Later ones win over earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    User {
        path: PathBuf,
        line: usize,
    },
    Project {
        path: PathBuf,
        line: usize,
    },
    Environment(String),
    Flag(String),
    /// Held down because some permission setting cannot be read.
    Doubt,
}

impl Origin {
    /// The same place, but another line of it.
    pub(super) fn at_line(&self, other: Option<usize>) -> Origin {
        match (self, other) {
            (Origin::User { path, .. }, Some(line)) => Origin::User { path: path.clone(), line },
            (Origin::Project { path, .. }, Some(line)) => Origin::Project { path: path.clone(), line },
            (origin, _) => origin.clone(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::User { path, line } => write!(f, "user file {}, line {line}", path.display()),
            Origin::Project { path, line } => write!(f, "project file {}, line {line}", path.display()),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::Flag(flag) => write!(f, "flag {flag}"),
            Origin::Doubt => f.write_str("held down: a permission setting cannot be read"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    Text(String),
    Number(u64),
    Flag(bool),
    Texts(Vec<String>),
    Rules(Vec<RuleText>),
    Hooks(Vec<HookText>),
}

impl fmt::Display for Setting {
    /// As it would stand in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Text(text) => write!(f, "{}", Value::from(text.as_str()).to_string().trim()),
            Setting::Number(n) => write!(f, "{n}"),
            Setting::Flag(b) => write!(f, "{b}"),
            Setting::Texts(list) => {
                let quoted: Vec<String> =
                    list.iter().map(|t| Value::from(t.as_str()).to_string().trim().to_string()).collect();
                write!(f, "[{}]", quoted.join(", "))
            }
            Setting::Rules(list) => {
                let shown: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", shown.join(", "))
            }
            Setting::Hooks(list) => {
                let shown: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", shown.join(", "))
            }
        }
    }
}

/// Checked values of one source, in the order in which they stand.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    pub values: Vec<(String, Setting, Origin)>,
    pub problems: Vec<Problem>,
}

#[derive(Clone, Copy)]
enum Owner {
    User,
    Project,
}

impl Layer {
    pub fn user_file(path: &Path, text: &str) -> Layer {
        Layer::file(path, text, Owner::User)
    }

    pub fn project_file(path: &Path, text: &str) -> Layer {
        Layer::file(path, text, Owner::Project)
    }

    fn file(path: &Path, text: &str, owner: Owner) -> Layer {
        let mut layer = Layer::default();
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        match Document::parse(text) {
            Ok(document) => {
                let reader = Reader { path, text, owner };
                reader.table(document.as_table(), "", &mut layer);
            }
            Err(e) => {
                let (line, column) = line_column(text, e.span().map_or(0, |s| s.start));
                layer.problems.push(Problem {
                    place: Some((path.into(), line, column)),
                    message: e.message().to_string(),
                    hint: Some("nothing of this file applies until it is mended; calls that would have been allowed ask".into()),
                    permission: true,
                });
            }
        }
        layer
    }

    /// `PLACET_UI_THEME=dark` sets `ui.theme`; lists are split at commas. Variables of other purposes are left alone.
    pub fn environment(variables: impl IntoIterator<Item = (String, String)>) -> Layer {
        let mut layer = Layer::default();
        for (name, text) in variables.into_iter().filter(|(name, _)| name.starts_with("PLACET_")) {
            let Some(key) =
                super::key::Key::all().find(|k| !k.name.contains('*') && variable(k.name) == name)
            else {
                continue;
            };
            layer.take_text(key, key.name, &text, Origin::Environment(name.clone()), &name);
        }
        layer
    }

    /// `KEY=VALUE` as given to `--set`.
    pub fn set(&mut self, assignment: &str) {
        let flag = format!("--set {assignment}");
        let Some((name, text)) = assignment.split_once('=') else {
            self.problem(&flag, "the form is KEY=VALUE".into(), None, false);
            return;
        };
        match Key::find(name) {
            Some(key) => self.take_text(key, name, text, Origin::Flag("--set".into()), &flag),
            None => {
                let (message, hint) = unknown(name);
                self.problem(&flag, message, hint, is_permission(name));
            }
        }
    }

    /// A flag of its own that stands for a key.
    pub fn flag(&mut self, name: &str, text: &str, flag: &str) {
        if let Some(key) = Key::find(name) {
            self.take_text(key, name, text, Origin::Flag(flag.into()), flag);
        }
    }

    /// A list from a repeatable flag: each text is one item, commas and all.
    pub fn flag_list(&mut self, name: &str, items: &[String], flag: &str) {
        if !items.is_empty() {
            let setting = match Key::find(name).map(|key| key.kind) {
                Some(Kind::Rules) => Setting::Rules(items.iter().map(|item| RuleText::plain(item)).collect()),
                _ => Setting::Texts(items.to_vec()),
            };
            self.values.push((name.into(), setting, Origin::Flag(flag.into())));
        }
    }

    fn take_text(&mut self, key: &Key, name: &str, text: &str, origin: Origin, whence: &str) {
        let parsed = match key.kind {
            Kind::Text => Some(Setting::Text(text.into())),
            Kind::Word(words) => words.contains(&text).then(|| Setting::Text(text.into())),
            Kind::Number => text.trim().parse().ok().map(Setting::Number),
            Kind::Flag => text.trim().parse().ok().map(Setting::Flag),
            Kind::Texts => list_in(text).map(Setting::Texts),
            Kind::Hooks => HookText::read_text(text).map(Setting::Hooks),
            Kind::Rules => {
                Some(Setting::Rules(split_list(text).iter().map(|item| RuleText::plain(item)).collect()))
            }
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
        self.problems.push(Problem {
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

/// A list as it would stand in a file, `["a", "b"]`, or its items with commas between them.
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
    let names = super::key::Key::all().map(|k| k.name);
    let hint = nearest(name, names).map(|near| format!("did you mean `{near}`?"));
    (
        format!("there is no setting `{name}`"),
        hint.or_else(|| Some("`placet config show` lists them all".into())),
    )
}

fn line_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// Walks one parsed file.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    owner: Owner,
}

impl Reader<'_> {
    fn table(&self, table: &dyn TableLike, prefix: &str, layer: &mut Layer) {
        for (name, item) in table.iter() {
            let segment = super::key::segment(name);
            let full = if prefix.is_empty() { segment.into_owned() } else { format!("{prefix}.{segment}") };
            let span = table.get_key_value(name).and_then(|(key, _)| key.span()).or_else(|| item.span());
            let place = line_column(self.text, span.map_or(0, |s| s.start));
            match (Key::find(&full), item.as_table_like()) {
                (Some(key), _) if key.kind == Kind::Rules => self.rules(&full, item, place, layer),
                (Some(key), _) if key.kind == Kind::Hooks => self.hooks(&full, item, place, layer),
                (Some(key), _) => match convert(key.kind, item) {
                    Some(setting) => layer.values.push((full, setting, self.origin(place.0))),
                    None => {
                        let message =
                            format!("`{full}` must be {}, not {}", key.kind.describe(), item.type_name());
                        self.problem(layer, place, message, None, is_permission(&full));
                    }
                },
                (None, Some(inner)) if Key::is_table(&full) => self.table(inner, &full, layer),
                (None, _) => {
                    let (message, hint) = unknown(&full);
                    self.problem(layer, place, message, hint, is_permission(&full));
                }
            }
        }
    }

    fn rules(&self, name: &str, item: &Item, place: (usize, usize), layer: &mut Layer) {
        match RuleText::read(item) {
            Ok(found) => {
                let line = |at: Option<usize>| at.map(|at| line_column(self.text, at).0);
                let rules = found.into_iter().map(|(rule, at)| RuleText { line: line(at), ..rule }).collect();
                layer.values.push((name.into(), Setting::Rules(rules), self.origin(place.0)));
            }
            Err((what, at)) => {
                let place = at.map_or(place, |at| line_column(self.text, at));
                self.problem(layer, place, format!("`{name}` {what}"), None, true);
            }
        }
    }

    fn hooks(&self, name: &str, item: &Item, place: (usize, usize), layer: &mut Layer) {
        match HookText::read(item) {
            Ok(found) => {
                let line = |at: Option<usize>| at.map(|at| line_column(self.text, at).0);
                let hooks = found.into_iter().map(|(hook, at)| HookText { line: line(at), ..hook }).collect();
                layer.values.push((name.into(), Setting::Hooks(hooks), self.origin(place.0)));
            }
            Err((what, at)) => {
                let place = at.map_or(place, |at| line_column(self.text, at));
                self.problem(layer, place, format!("`{name}` {what}"), None, true);
            }
        }
    }

    fn origin(&self, line: usize) -> Origin {
        let path = self.path.into();
        match self.owner {
            Owner::User => Origin::User { path, line },
            Owner::Project => Origin::Project { path, line },
        }
    }

    fn problem(
        &self,
        layer: &mut Layer,
        (line, column): (usize, usize),
        message: String,
        hint: Option<String>,
        permission: bool,
    ) {
        let strict =
            permission.then(|| "until it is mended, calls that would have been allowed ask".to_string());
        let hint = hint.or(strict);
        layer.problems.push(Problem {
            place: Some((self.path.into(), line, column)),
            message,
            hint,
            permission,
        });
    }
}

fn convert(kind: Kind, item: &Item) -> Option<Setting> {
    match kind {
        Kind::Text => item.as_str().map(|t| Setting::Text(t.into())),
        Kind::Word(words) => item.as_str().filter(|t| words.contains(t)).map(|t| Setting::Text(t.into())),
        Kind::Number => item.as_integer().and_then(|n| u64::try_from(n).ok()).map(Setting::Number),
        Kind::Flag => item.as_bool().map(Setting::Flag),
        Kind::Rules | Kind::Hooks => None,
        Kind::Texts => {
            let list: Option<Vec<String>> =
                item.as_array()?.iter().map(|v| v.as_str().map(String::from)).collect();
            list.map(Setting::Texts)
        }
    }
}
