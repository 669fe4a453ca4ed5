//! The types of the tables of commands. Each table explains its lists and columns.

use super::row::CommandRow;
use serde::Deserialize;
use std::sync::LazyLock;

/// `read_only.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadOnlyTable {
    pub(crate) usual_dirs: Vec<String>,
    pub(crate) git_globals: Vec<String>,
    pub(crate) shell_options: Vec<String>,
    pub(crate) talk: Vec<String>,
    pub(crate) look: Vec<String>,
    pub(crate) patterns: Vec<String>,
    pub(crate) walks: Vec<CommandRow>,
    pub(crate) reads: Vec<CommandRow>,
    pub(crate) refused: Vec<CommandRow>,
}

/// `dangerous.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DangerTable {
    pub(crate) brace_lists: Vec<String>,
    pub(crate) find_narrows: Vec<String>,
    pub(crate) databases: DatabaseList,
    pub(crate) interpreters: InterpreterList,
    pub(crate) dangerous: Vec<CommandRow>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseList {
    pub(crate) programs: Vec<String>,
    pub(crate) statements: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InterpreterList {
    pub(crate) programs: Vec<String>,
    pub(crate) inline: Vec<String>,
    pub(crate) deletes: Vec<String>,
    pub(crate) fetchers: Vec<String>,
}

/// `files.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileTable {
    pub(crate) prints: Vec<String>,
    pub(crate) any_word: Vec<String>,
    pub(crate) messages: Vec<String>,
    pub(crate) repositories: Vec<String>,
    pub(crate) writes_last: Vec<String>,
    pub(crate) writes: Vec<CommandRow>,
}

/// `families.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FamilyTable {
    pub(crate) family: Vec<CommandFamily>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CommandFamily {
    pub(crate) programs: Vec<String>,
    pub(crate) whole: bool,
    pub(crate) sub: Vec<String>,
    pub(crate) deeper: Vec<String>,
    pub(crate) then: Vec<String>,
    pub(crate) targets: bool,
    pub(super) examples: Vec<String>,
    pub(super) not: Vec<String>,
}

pub(crate) fn read_only() -> &'static ReadOnlyTable {
    static TABLE: LazyLock<ReadOnlyTable> =
        LazyLock::new(|| toml::from_str(include_str!("read_only.toml")).unwrap_or_default());
    &TABLE
}

pub(crate) fn dangerous() -> &'static DangerTable {
    static TABLE: LazyLock<DangerTable> = LazyLock::new(|| DangerTable::read(include_str!("dangerous.toml")));
    &TABLE
}

pub(crate) fn files() -> &'static FileTable {
    static TABLE: LazyLock<FileTable> = LazyLock::new(|| FileTable::read(include_str!("files.toml")));
    &TABLE
}

pub(crate) fn families() -> &'static FamilyTable {
    static TABLE: LazyLock<FamilyTable> =
        LazyLock::new(|| toml::from_str(include_str!("families.toml")).unwrap_or_default());
    &TABLE
}

impl DangerTable {
    pub(super) fn read(text: &str) -> DangerTable {
        toml::from_str(text).unwrap_or_else(|_| {
            let all =
                CommandRow::of_everything("may destroy data: the list of dangerous commands is invalid");
            DangerTable { dangerous: vec![all], ..DangerTable::default() }
        })
    }
}

impl FileTable {
    pub(super) fn read(text: &str) -> FileTable {
        toml::from_str(text).unwrap_or_else(|_| FileTable {
            writes: vec![CommandRow::of_everything("")],
            ..FileTable::default()
        })
    }
}
