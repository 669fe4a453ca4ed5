//! Which settings name a program: the table `config_keys.toml`, and the question about one setting.

use super::command_words::GitCommandForm;
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GitKeyRow {
    keys: Vec<String>,
    why: String,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    only: Vec<String>,
    #[serde(default)]
    command: bool,
}

impl GitKeyRow {
    /// `name` in lower case.
    fn is_about(&self, name: &str, value: &str) -> bool {
        let begins = |only: &String| match only.as_str() {
            "::" => value.contains("::"),
            start => value.starts_with(start),
        };
        self.keys.iter().any(|key| matches(key, name))
            && !self.unless.contains(&value.to_lowercase())
            && (self.only.is_empty() || self.only.iter().any(begins))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GitKeyTable {
    ordinary: Vec<String>,
    ordinary_in_new_file: Vec<String>,
    setting: Vec<GitKeyRow>,
}

// Where the table cannot be read, no setting is ordinary: the test below reads every row of it.
static TABLE: LazyLock<GitKeyTable> =
    LazyLock::new(|| toml::from_str(include_str!("config_keys.toml")).unwrap_or_default());

/// What happens because of this setting, if it makes git run something or look elsewhere. `name` is the full name.
pub(super) fn consequence(name: &[u8], value: Option<&[u8]>) -> Option<&'static str> {
    let name = String::from_utf8_lossy(name).to_lowercase();
    let value = value.map_or("true".into(), |value| String::from_utf8_lossy(value).into_owned());
    let row = TABLE.setting.iter().find(|row| row.is_about(&name, &value));
    row.map(|row| row.why.as_str())
}

/// Why a setting waits that is in no row of the table. `is_new` for one in a file that is new.
pub(super) fn unknown(name: &[u8], is_new: bool) -> Option<&'static str> {
    let name = String::from_utf8_lossy(name).to_lowercase();
    let is_in = |keys: &[String]| keys.iter().any(|key| matches(key, &name));
    let mut rows = TABLE.setting.iter();
    let is_known = is_in(&TABLE.ordinary)
        || is_new && is_in(&TABLE.ordinary_in_new_file)
        || rows.any(|row| is_in(&row.keys));
    (!is_known).then_some("placet does not know what this setting does")
}

/// Why a value waits that has a word like an option. git and its tools put values of many settings into the command lines of
/// other programs, some of them word by word (`remotes.NAME`, `gui.diffopts`).
pub(super) fn option_in(name: &[u8], value: Option<&[u8]>) -> Option<&'static str> {
    /// A list of names of which some begin with a minus sign, and free text.
    const PLAIN: [&str; 2] = ["core.whitespace", "branch.*.description"];
    let name = String::from_utf8_lossy(name).to_lowercase();
    let is_option = |word: &[u8]| {
        let dashes = word.iter().take_while(|byte| **byte == b'-').count();
        dashes > 0 && word.get(dashes).is_some_and(u8::is_ascii_alphanumeric)
    };
    let mut words = value?.split(u8::is_ascii_whitespace);
    let has_option = !PLAIN.iter().any(|plain| matches(plain, &name)) && words.any(is_option);
    has_option.then_some("git may take a part of it for an option of a command")
}

/// How git runs the value of this setting, and the command in it, where the value is one.
pub(super) fn command_form<'v>(name: &[u8], value: &'v [u8]) -> Option<(GitCommandForm, &'v [u8])> {
    let name = String::from_utf8_lossy(name).to_lowercase();
    let text = String::from_utf8_lossy(value);
    TABLE.setting.iter().find(|row| row.command && row.is_about(&name, &text))?;
    Some(match value.strip_prefix(b"!") {
        Some(command) => (GitCommandForm::Command, command),
        None if name.starts_with("alias.") => (GitCommandForm::GitWords, value),
        None => (GitCommandForm::Command, value),
    })
}

/// Where the key is in the table, which begins with what runs most often.
pub(super) fn rank(name: &str) -> usize {
    let name = name.to_lowercase();
    let at = TABLE.setting.iter().position(|row| row.keys.iter().any(|key| matches(key, &name)));
    at.unwrap_or(usize::MAX)
}

/// One `*` at most.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_found_by_each_of_its_names() {
        let table: GitKeyTable = toml::from_str(include_str!("config_keys.toml")).unwrap();
        assert!(table.setting.len() > 15);
        for row in &table.setting {
            let value = row.only.first().map_or("/tmp/x".to_string(), |only| format!("{only}x"));
            for key in &row.keys {
                assert!(key.matches('*').count() < 2 && *key == key.to_lowercase(), "{key}");
                let name = key.replace('*', "Some.Name/x y");
                assert!(consequence(name.as_bytes(), Some(value.as_bytes())).is_some(), "{key} = {value}");
            }
            for harmless in &row.unless {
                let name = row.keys[0].replace('*', "n");
                assert_eq!(
                    consequence(name.as_bytes(), Some(harmless.as_bytes())),
                    None,
                    "{name}={harmless}"
                );
            }
        }
    }

    #[test]
    fn a_setting_that_is_in_no_list_is_not_known() {
        for name in ["user.name", "color.ui", "branch.a.b.merge", "remote.o.url", "alias.x", "core.fsmonitor"]
        {
            assert_eq!(unknown(name.as_bytes(), false), None, "{name}");
        }
        for name in
            ["core.newone", "mytool.hook", "http.extraheader", "extensions.objectformat", "remote.o.x", ""]
        {
            assert!(unknown(name.as_bytes(), false).is_some(), "{name}");
        }
        assert_eq!(unknown(b"extensions.objectFormat", true), None);
        for key in TABLE.ordinary.iter().chain(&TABLE.ordinary_in_new_file) {
            assert!(key.matches('*').count() < 2 && *key == key.to_lowercase(), "{key}");
        }
    }

    #[test]
    fn a_word_like_an_option_waits_wherever_it_is() {
        for value in ["--upload-pack=./x.sh", "origin -pP", "a\t--output=.envrc", "-x"] {
            assert!(option_in(b"remotes.default", Some(value.as_bytes())).is_some(), "{value}");
        }
        for (name, value) in [
            ("core.whitespace", "trailing-space,-space-before-tab"),
            ("core.whitespace", "-trailing-space"),
            ("branch.main.description", "see --help"),
            ("pretty.mine", "%h -- %s - %an"),
            ("user.name", "Jean-Luc - P"),
        ] {
            assert_eq!(option_in(name.as_bytes(), Some(value.as_bytes())), None, "{name} = {value}");
        }
        assert_eq!(option_in(b"commit.gpgsign", None), None);
    }

    #[test]
    fn what_names_no_program_has_no_consequence() {
        for (name, value) in [
            ("core.fsmonitor", Some("true")),
            ("core.fsmonitor", None),
            ("core.bare", Some("true")),
            ("remote.origin.url", Some("https://example.org/a.git")),
            ("remote.origin.url", Some("git@example.org:a.git")),
            ("branch.main.remote", Some("origin")),
            ("submodule.a.update", Some("rebase")),
            ("filter.lfs.required", Some("true")),
            ("user.name", Some("!rm")),
        ] {
            assert_eq!(consequence(name.as_bytes(), value.map(str::as_bytes)), None, "{name}");
        }
        assert_eq!(command_form(b"core.worktree", b"/x"), None);
        assert_eq!(command_form(b"submodule.a.update", b"rebase"), None);
        assert_eq!(command_form(b"alias.x", b"!./y"), Some((GitCommandForm::Command, b"./y".as_slice())));
        assert_eq!(command_form(b"alias.x", b"log y"), Some((GitCommandForm::GitWords, b"log y".as_slice())));
        for (name, value) in [
            ("remote.o.url", "ext::sh -c x"),
            ("submodule.a.update", "!x"),
            ("alias.st", "!x"),
            ("core.fsmonitor", "/x"),
        ] {
            assert!(consequence(name.as_bytes(), Some(value.as_bytes())).is_some(), "{name}");
        }
    }
}
