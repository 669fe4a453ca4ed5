//! One step of the model's list, and the list as lines.

use placet_text::text::sanitize;
use schemars::JsonSchema;
use serde::Deserialize;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct TodoItem {
    pub text: String,
    pub status: TodoStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Done,
}

impl TodoStatus {
    /// A mark and a word, because the list is also read without colours.
    pub fn mark(self) -> &'static str {
        match self {
            TodoStatus::Pending => "[ ]",
            TodoStatus::InProgress => "[>]",
            TodoStatus::Done => "[x]",
        }
    }
}

/// `[x] read the code`, a line each.
pub fn lines_of(items: &[TodoItem]) -> Vec<String> {
    items.iter().map(|item| format!("{} {}", item.status.mark(), sanitize::line(&item.text))).collect()
}
