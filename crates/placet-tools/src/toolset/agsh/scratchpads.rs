//! The scratchpad tools: placet's scratchpad tool, with a name for each action and the parameters of that action.

use super::super::super::scratchpad::ScratchpadTool;
use super::super::super::{PlanResult, Tool, ToolContext, TouchedPaths};
use crate::arguments::ToolSchema;
use placet_text::conversation::ToolSpec;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Name, action, description, and parameters: a parameter that ends in `?` is optional.
const PADS: [(&str, &str, &str, &[&str]); 9] = [
    ("scratchpad_write", "write", "Write a scratchpad.", &["name", "content"]),
    ("scratchpad_read", "read", "Read a scratchpad.", &["name", "offset?", "limit?"]),
    ("scratchpad_edit", "edit", "Replace text in a scratchpad.", &["name", "old_string", "new_string"]),
    ("scratchpad_list", "list", "List the scratchpads.", &[]),
    ("scratchpad_delete", "delete", "Delete a scratchpad.", &["name"]),
    ("scratchpad_merge", "merge", "Merge scratchpads into one.", &["name", "from"]),
    ("scratchpad_rename", "rename", "Rename a scratchpad.", &["name", "to"]),
    ("scratchpad_load_file", "load", "Load a file into a scratchpad.", &["name", "path"]),
    ("scratchpad_save_file", "save", "Save a scratchpad to a file.", &["name", "path", "force?"]),
];

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let tool = |(name, action, description, parameters): (&str, &'static str, &str, &[&str])| {
        let inner = ScratchpadTool::default();
        let shape = inner.shape_of(name, description, parameters);
        Arc::new(AgshScratchpad { action, shape, inner }) as Arc<dyn Tool>
    };
    PADS.into_iter().map(tool).collect()
}

struct AgshScratchpad {
    action: &'static str,
    shape: ToolSchema,
    inner: ScratchpadTool,
}

impl AgshScratchpad {
    fn with_action(&self, mut input: Map<String, Value>) -> Value {
        input.insert("action".into(), json!(self.action));
        input.into()
    }
}

impl Tool for AgshScratchpad {
    fn spec(&self) -> ToolSpec {
        self.shape.spec()
    }

    fn name(&self) -> String {
        self.shape.name()
    }

    fn judged_as(&self, _: &Value) -> String {
        "scratchpad".into()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        let input = input.as_object().cloned().unwrap_or_default();
        self.inner.touches(&self.with_action(input))
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> PlanResult {
        // The schema of placet's own tool would name an action, which these tools do not have.
        let input: Map<String, Value> = self.shape.parse(input)?;
        self.inner.plan(&self.with_action(input), env)
    }
}
