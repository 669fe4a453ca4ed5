//! The types of the tables of commands. Each table explains its lists and columns.

use super::row::CommandRow;
use serde::Deserialize;
use std::sync::LazyLock;

/// `read_only.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::permission) struct ReadOnlyTable {
    pub(in crate::permission) usual_dirs: Vec<String>,
    pub(in crate::permission) git_globals: Vec<String>,
    pub(in crate::permission) shell_options: Vec<String>,
    pub(in crate::permission) talk: Vec<String>,
    pub(in crate::permission) look: Vec<String>,
    pub(in crate::permission) patterns: Vec<String>,
    pub(in crate::permission) walks: Vec<CommandRow>,
    pub(in crate::permission) reads: Vec<CommandRow>,
    pub(in crate::permission) refused: Vec<CommandRow>,
}

/// `dangerous.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::permission) struct DangerTable {
    pub(in crate::permission) brace_lists: Vec<String>,
    pub(in crate::permission) find_narrows: Vec<String>,
    pub(in crate::permission) databases: DatabaseList,
    pub(in crate::permission) interpreters: InterpreterList,
    pub(in crate::permission) dangerous: Vec<CommandRow>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::permission) struct DatabaseList {
    pub(in crate::permission) programs: Vec<String>,
    pub(in crate::permission) statements: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::permission) struct InterpreterList {
    pub(in crate::permission) programs: Vec<String>,
    pub(in crate::permission) inline: Vec<String>,
    pub(in crate::permission) deletes: Vec<String>,
    pub(in crate::permission) fetchers: Vec<String>,
}

/// `files.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::permission) struct FileTable {
    pub(in crate::permission) prints: Vec<String>,
    pub(in crate::permission) any_word: Vec<String>,
    pub(in crate::permission) messages: Vec<String>,
    pub(in crate::permission) repositories: Vec<String>,
    pub(in crate::permission) writes_last: Vec<String>,
    pub(in crate::permission) writes: Vec<CommandRow>,
}

/// `families.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::permission) struct FamilyTable {
    pub(in crate::permission) family: Vec<CommandFamily>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::permission) struct CommandFamily {
    pub(in crate::permission) programs: Vec<String>,
    pub(in crate::permission) whole: bool,
    pub(in crate::permission) sub: Vec<String>,
    pub(in crate::permission) deeper: Vec<String>,
    pub(in crate::permission) then: Vec<String>,
    pub(in crate::permission) targets: bool,
    pub(super) examples: Vec<String>,
    pub(super) not: Vec<String>,
}

pub(in crate::permission) fn read_only() -> &'static ReadOnlyTable {
    static TABLE: LazyLock<ReadOnlyTable> =
        LazyLock::new(|| toml::from_str(include_str!("read_only.toml")).unwrap_or_default());
    &TABLE
}

pub(in crate::permission) fn dangerous() -> &'static DangerTable {
    static TABLE: LazyLock<DangerTable> = LazyLock::new(|| DangerTable::read(include_str!("dangerous.toml")));
    &TABLE
}

pub(in crate::permission) fn files() -> &'static FileTable {
    static TABLE: LazyLock<FileTable> = LazyLock::new(|| FileTable::read(include_str!("files.toml")));
    &TABLE
}

pub(in crate::permission) fn families() -> &'static FamilyTable {
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
