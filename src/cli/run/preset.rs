//! Presets: what a program needs that is not in its workspace. The built-in table is `agents.toml`; the person's settings
//! add to it.

use crate::cli::report::CliError;
use crate::config::{Config, RunPresetSettings};
use crate::text::nearest;
use crate::workspace::{KeptPath, is_home_match, is_home_pattern};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The built-in presets.
const BUILT_IN: &str = include_str!("agents.toml");

/// One row. The fields mean what the comment in `agents.toml` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RunPreset {
    #[serde(skip)]
    pub(super) name: String,
    /// Empty: the name.
    pub(super) program: String,
    pub(super) hosts: Vec<String>,
    pub(super) keep: Vec<String>,
    pub(super) credentials: Vec<String>,
    pub(super) later: Vec<String>,
    pub(super) later_keys: Vec<String>,
    pub(super) harmless_keys: Vec<String>,
    pub(super) harmless_hosts: Vec<String>,
    pub(super) rebuilt: Vec<String>,
    pub(super) flags: Vec<String>,
    pub(super) environment: Vec<String>,
    pub(super) keys: Vec<String>,
    pub(super) sessions: Vec<String>,
    pub(super) headless: Vec<String>,
    pub(super) resume: Vec<String>,
    pub(super) resume_headless: Vec<String>,
    pub(super) repeat: Vec<String>,
}

/// What a preset says of a file in the home directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateKind {
    Credential,
    Kept,
    RunsLater,
    /// Neither: it ends with the run.
    Dropped,
}

impl RunPreset {
    /// All presets by name: the built-in ones and those of the settings.
    pub(super) fn all(config: &Config) -> Result<BTreeMap<String, RunPreset>, CliError> {
        let mut all = built_in()?;
        for (name, settings) in config.run_presets() {
            let preset = all.entry(name.clone()).or_insert_with(|| RunPreset::named(&name));
            preset.extend(&settings);
            preset.check()?;
        }
        Ok(all)
    }

    /// The preset of this name, or an error with the most similar one.
    pub(super) fn find(config: &Config, name: &str) -> Result<RunPreset, CliError> {
        let mut all = RunPreset::all(config)?;
        if let Some(preset) = all.remove(name) {
            return Ok(preset);
        }
        let quoted = crate::text::shell_word::quoted(name);
        let similar = nearest(name, all.keys().map(String::as_str));
        let similar = similar.map(|near| format!("did you mean `{near}`?\n      ")).unwrap_or_default();
        Err(CliError::usage(format!("there is no preset `{name}`")).hint(format!(
            "{similar}`placet run --list` lists the presets; `placet run -- {quoted}` runs a command without one"
        )))
    }

    fn named(name: &str) -> RunPreset {
        RunPreset { name: name.into(), program: name.into(), ..RunPreset::default() }
    }

    fn extend(&mut self, settings: &RunPresetSettings) {
        if let Some(program) = &settings.program {
            self.program.clone_from(program);
        }
        for (list, own) in [
            (&mut self.flags, &settings.flags),
            (&mut self.resume, &settings.resume),
            (&mut self.resume_headless, &settings.resume_headless),
        ] {
            if !own.is_empty() {
                *list = own.to_vec();
            }
        }
        for (list, more) in [
            (&mut self.hosts, &settings.hosts),
            (&mut self.keep, &settings.keep),
            (&mut self.credentials, &settings.credentials),
            (&mut self.later, &settings.later),
            (&mut self.later_keys, &settings.later_keys),
            (&mut self.harmless_keys, &settings.harmless_keys),
            (&mut self.harmless_hosts, &settings.harmless_hosts),
            (&mut self.environment, &settings.environment),
            (&mut self.keys, &settings.keys),
            (&mut self.sessions, &settings.sessions),
            (&mut self.headless, &settings.headless),
            (&mut self.repeat, &settings.repeat),
        ] {
            for text in more.iter().map(String::from) {
                if !list.contains(&text) {
                    list.push(text);
                }
            }
        }
    }

    /// Mistakes that would otherwise show only while the program runs.
    fn check(&self) -> Result<(), CliError> {
        let wrong = |key: &str, text: &str, why: &str| {
            Err(CliError::usage(format!("run.presets.{}.{key}: `{text}` {why}", self.name)))
        };
        for (key, list) in [("keep", &self.keep), ("credentials", &self.credentials), ("later", &self.later)]
        {
            for path in list {
                if !is_home_pattern(path) {
                    return wrong(key, path, "is not a path below the home directory");
                }
            }
        }
        if let Some(path) = self.credentials.iter().find(|path| path.contains('*') || path.ends_with('/')) {
            return wrong("credentials", path, "is not the path of one file");
        }
        if let Some(text) = self.environment.iter().find(|text| !is_assignment(text)) {
            return wrong("environment", text, "has not the form NAME=VALUE");
        }
        for (key, list) in [("resume", &self.resume), ("resume_headless", &self.resume_headless)] {
            if !list.is_empty() && !list.iter().any(|word| word == "{message}") {
                return wrong(key, &list.join(" "), "has no word `{message}`");
            }
        }
        for (key, list) in [("later_keys", &self.later_keys), ("harmless_keys", &self.harmless_keys)] {
            if let Some(text) = list.iter().find(|text| text.split_once(':').is_none()) {
                return wrong(key, text, "has not the form FILE:KEY");
            }
        }
        Ok(())
    }

    /// What the preset says of a file, by its path below the home directory.
    pub(super) fn kind_of(&self, path: &Path) -> StateKind {
        let listed = |list: &[String]| list.iter().any(|pattern| is_home_match(pattern, path));
        // Strictest first: `later` has exceptions of what `keep` covers.
        if self.credentials.iter().any(|credential| Path::new(credential) == path) {
            StateKind::Credential
        } else if listed(&self.rebuilt) {
            StateKind::Dropped
        } else if listed(&self.later) {
            StateKind::RunsLater
        } else {
            match KeptPath::of(path, &self.keep) {
                KeptPath::No => StateKind::Dropped,
                KeptPath::Yes => StateKind::Kept,
                KeptPath::RunsLater => StateKind::RunsLater,
            }
        }
    }

    /// The same preset for a home directory in which some of its directories are links to others below it.
    pub(super) fn resolved_at(mut self, home: &Path) -> RunPreset {
        for list in [&mut self.keep, &mut self.credentials, &mut self.later, &mut self.sessions] {
            let more: Vec<String> = list.iter().filter_map(|pattern| behind_links(home, pattern)).collect();
            list.extend(more);
        }
        for list in [&mut self.later_keys, &mut self.harmless_keys] {
            let more = list.iter().filter_map(|text| {
                let (file, keys) = text.split_once(':')?;
                Some(format!("{}:{keys}", behind_links(home, file)?))
            });
            let more: Vec<String> = more.collect();
            list.extend(more);
        }
        self
    }

    /// Files and directories that the program must be able to read although they hold secrets.
    pub(super) fn own_files(&self, home: &Path) -> Vec<PathBuf> {
        let own = self.credentials.iter().chain(&self.keep).chain(&self.later);
        own.map(|path| home.join(path.trim_end_matches('/'))).collect()
    }

    /// All files of which a change can make something run later.
    pub(super) fn all_later(&self) -> Vec<String> {
        let by_key = self.later_keys.iter().filter_map(|text| Some(text.split_once(':')?.0.to_owned()));
        self.later.iter().cloned().chain(by_key).collect()
    }

    /// The keys of this JSON file that make something run later, each as its names.
    pub(super) fn later_keys_of(&self, path: &Path) -> Vec<Vec<&str>> {
        keys_of(&self.later_keys, path)
    }

    /// The keys of this settings file that make nothing run later.
    pub(super) fn harmless_keys_of(&self, path: &Path) -> Vec<Vec<&str>> {
        keys_of(&self.harmless_keys, path)
    }
}

/// The keys of one file in a list of `FILE:KEY`, each as its names.
fn keys_of<'a>(list: &'a [String], path: &Path) -> Vec<Vec<&'a str>> {
    let own = |text: &&String| text.split_once(':').is_some_and(|(file, _)| Path::new(file) == path);
    let names = |text: &'a String| Some(text.split_once(':')?.1.split('.').collect());
    list.iter().filter(own).filter_map(names).collect()
}

/// The presets in the program.
fn built_in() -> Result<BTreeMap<String, RunPreset>, CliError> {
    let mut all: BTreeMap<String, RunPreset> = toml::from_str(BUILT_IN).map_err(CliError::new)?;
    for (name, preset) in &mut all {
        preset.name.clone_from(name);
        if preset.program.is_empty() {
            preset.program.clone_from(name);
        }
    }
    Ok(all)
}

fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// The pattern with its leading directories resolved, if one of them is a link to a place below the home directory.
fn behind_links(home: &Path, pattern: &str) -> Option<String> {
    let mut known = home.to_path_buf();
    let mut rest: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    while let Some(name) = rest.first() {
        if name.contains('*') || std::fs::symlink_metadata(known.join(name)).is_err() {
            break;
        }
        known.push(name);
        rest.remove(0);
    }
    let real = known.canonicalize().ok().filter(|real| *real != known)?;
    let below = real.strip_prefix(home).ok()?.to_str()?;
    let slash = if pattern.ends_with('/') { "/" } else { "" };
    let joined: Vec<&str> = std::iter::once(below).chain(rest).filter(|part| !part.is_empty()).collect();
    Some(joined.join("/") + slash).filter(|path| path != slash)
}

#[cfg(test)]
#[path = "preset_tests.rs"]
mod tests;
