//! Variables that change which command runs: `variables.toml`.

use crate::command::ShellWord;
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariableTable {
    pub(super) safe: Vec<String>,
    steering: Vec<String>,
    steering_starts: Vec<String>,
    steering_ends: Vec<String>,
}

static TABLE: LazyLock<VariableTable> = LazyLock::new(|| VariableTable::read(include_str!("variables.toml")));

pub(super) fn read() {
    LazyLock::force(&TABLE);
}

/// True when setting `name` for a command does not change what the command is.
pub(crate) fn is_safe_variable(name: &str, value: &ShellWord) -> bool {
    let pager = matches!(name, "PAGER" | "GIT_PAGER" | "MANPAGER") && (value.is("cat") || value.is(""));
    pager || name.starts_with("LC_") || TABLE.safe.iter().any(|safe| safe == name)
}

/// True when setting `name` for the rest of a line may change what later commands are.
pub(crate) fn steers_later_commands(name: &str) -> bool {
    TABLE.steers(name)
}

impl VariableTable {
    pub(super) fn read(text: &str) -> VariableTable {
        toml::from_str(text).unwrap_or_else(|_| VariableTable {
            safe: Vec::new(),
            steering: Vec::new(),
            steering_starts: Vec::new(),
            // Every name ends with the empty text.
            steering_ends: vec![String::new()],
        })
    }

    pub(super) fn steers(&self, name: &str) -> bool {
        let upper = name.chars().any(|c| c.is_ascii_uppercase());
        self.steering.iter().any(|known| known == name)
            || upper && self.steering_starts.iter().any(|start| name.starts_with(start))
            || self.steering_ends.iter().any(|end| name.ends_with(end))
            || name.to_ascii_lowercase().ends_with("_proxy")
    }
}
