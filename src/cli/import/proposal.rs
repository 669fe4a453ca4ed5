//! What an import would change: a value, made before anything is written, so that it can be shown.

use super::args::ImportScope;
use super::skip_reason::SkipReason;
use super::source_file;
use crate::config::HookSettings;
use crate::permission::{Rule, RuleVerdict};
use crate::text::visible;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml_edit::Table;

/// The most rules, hooks, servers and files of one kind that are imported.
pub(super) const MOST: usize = 500;

/// See the module.
#[derive(Debug)]
pub(super) struct ImportProposal {
    pub(super) scope: ImportScope,
    pub(super) home: PathBuf,
    /// The root of the project, for its own files.
    pub(super) root: PathBuf,
    tools: Vec<String>,
    /// The files that were read.
    pub(super) read: Vec<PathBuf>,
    /// Texts by their keys.
    pub(super) settings: Vec<(Vec<String>, String)>,
    pub(super) rules: Vec<(RuleVerdict, String)>,
    pub(super) hooks: Vec<HookSettings>,
    pub(super) servers: Vec<(String, Table)>,
    /// Commands, by their paths below the directory of commands.
    pub(super) commands: Vec<ImportedCommand>,
    pub(super) links: Vec<ProposedLink>,
    pub(super) skipped: Vec<SkippedSetting>,
    /// Variables that must be set, and what needs them.
    pub(super) variables: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(super) struct ImportedCommand {
    /// `review.md`, `git/commit.md`
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) from: PathBuf,
}

/// A link at a place of placet's own that leads to a file of the other program.
#[derive(Debug)]
pub(super) struct ProposedLink {
    pub(super) at: PathBuf,
    pub(super) to: PathBuf,
}

/// Something that is not imported.
#[derive(Debug)]
pub(super) struct SkippedSetting {
    /// `permissions.allow: Bash(ls)`; without values that may be secrets.
    pub(super) what: String,
    pub(super) file: PathBuf,
    pub(super) why: SkipReason,
}

impl ImportProposal {
    pub(super) fn new(scope: ImportScope, home: &Path, root: &Path, tools: Vec<String>) -> ImportProposal {
        ImportProposal {
            scope,
            home: home.into(),
            root: root.into(),
            tools,
            read: Vec::new(),
            settings: Vec::new(),
            rules: Vec::new(),
            hooks: Vec::new(),
            servers: Vec::new(),
            commands: Vec::new(),
            links: Vec::new(),
            skipped: Vec::new(),
            variables: BTreeMap::new(),
        }
    }

    pub(super) fn is_project(&self) -> bool {
        self.scope == ImportScope::Project
    }

    /// True for a path in the project that is elsewhere: a project's links are not followed.
    pub(super) fn leads_out(&self, path: &Path) -> bool {
        self.is_project() && path.starts_with(&self.root) && leads_out(path, &self.root)
    }

    /// True if nothing would be written.
    pub(super) fn is_empty(&self) -> bool {
        self.settings.is_empty()
            && self.rules.is_empty()
            && self.hooks.is_empty()
            && self.servers.is_empty()
            && self.commands.is_empty()
            && self.links.is_empty()
    }

    /// The value of a file, which is noted as read. A file that cannot be read is listed with the reason.
    pub(super) fn file(&mut self, path: &Path) -> Option<Value> {
        if self.leads_out(path) {
            self.skip("the file", path, SkipReason::Link);
            return None;
        }
        match source_file::read(path) {
            Ok(value) => {
                if value.is_some() {
                    self.read.push(path.into());
                }
                value
            }
            Err(e) => {
                self.skip("the file", path, SkipReason::Unreadable(e.to_string()));
                None
            }
        }
    }

    pub(super) fn skip(&mut self, what: &str, file: &Path, why: SkipReason) {
        self.skipped.push(SkippedSetting { what: what.into(), file: file.into(), why });
    }

    /// Lists the keys of a file that no other function read.
    pub(super) fn skip_rest(&mut self, value: &Value, known: &[&str], before: &str, file: &Path) {
        for key in value.as_object().into_iter().flat_map(|table| table.keys()) {
            if !known.contains(&key.as_str()) && !key.starts_with('$') {
                self.skip(&format!("{before}{key}"), file, SkipReason::NoSetting);
            }
        }
    }

    /// A setting with a text. The first file that sets it wins.
    pub(super) fn set(&mut self, path: &[&str], text: &str) {
        let path: Vec<String> = path.iter().map(|key| (*key).to_string()).collect();
        if self.settings.iter().all(|(known, _)| *known != path) {
            self.settings.push((path, text.into()));
        }
    }

    /// A rule that placet understands, or the reason why it is not imported.
    pub(super) fn rule(&mut self, verdict: RuleVerdict, text: &str, what: &str, file: &Path) {
        if super::plain_text::has_secret(text) {
            return self.skip(what, file, SkipReason::Secret);
        }
        match Rule::parse(text, verdict, "", &self.tools) {
            Err(error) => self.skip(what, file, error.into()),
            Ok(_) if self.rules.len() >= MOST => self.skip(what, file, SkipReason::TooMany(MOST)),
            Ok(_) => {
                let rule = (verdict, text.to_string());
                if !self.rules.contains(&rule) {
                    self.rules.push(rule);
                }
            }
        }
    }

    /// Proposes a link where nothing is yet and where its target exists.
    pub(super) fn link(&mut self, at: PathBuf, to: PathBuf) {
        if at.symlink_metadata().is_err() && to.exists() {
            self.links.push(ProposedLink { at, to });
        }
    }

    /// A path as a person reads it, with `~` for the home directory.
    pub(super) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(below) => format!("~/{}", visible::path(below)),
            Err(_) => visible::path(path),
        }
    }
}

/// True if `path`, or the nearest directory above it that exists, is not below `root`.
pub(super) fn leads_out(path: &Path, root: &Path) -> bool {
    // A link that leads nowhere may lead somewhere when it is written through.
    let nearest = path.ancestors().find(|path| path.symlink_metadata().is_ok());
    let real = nearest.and_then(|path| path.canonicalize().ok());
    let root = root.canonicalize().ok();
    real.zip(root).is_none_or(|(path, root)| !path.starts_with(root))
}

/// The texts of a list; a single text is a list of one.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(String::from).collect(),
        _ => Vec::new(),
    }
}

/// The entries of a table whose values are texts, numbers or switches.
pub(super) fn pairs(value: Option<&Value>) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(switch) => Some(switch.to_string()),
        _ => None,
    };
    let table = value.and_then(Value::as_object).into_iter().flatten();
    table.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
}
