//! TypeStack Magic: batches of `aOperations`, with the field names and the rules of its prompt documentation.
//!
//! A batch reports each operation separately and repeats the request. The successful operations are written together.

mod agent_prompt;
mod batch;

use super::super::Tool;
use super::{ToolSetSettings, TypestackBases};
use std::sync::Arc;

/// The tool that takes a batch, also if another tool set is in use.
pub(crate) fn tools(settings: &ToolSetSettings) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(agent_prompt::TypestackPrompt::new(settings.bases.clone()))]
}

/// True for a text that is a batch: an object with a list `aOperations`.
pub fn is_batch(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && serde_json::from_str::<serde_json::Value>(text)
            .is_ok_and(|value| value.get("aOperations").is_some_and(serde_json::Value::is_array))
}
