//! What placet's own tools are called in the tool set in use, for the texts that name one.
//!
//! Errors teach by naming the next call. Another tool set has another name for that tool, or does not have the tool; then
//! the hint is left out, since it would lead nowhere.

use super::{Facts, HintTool, Output, Tool, ToolError};
use crate::conversation::{Outcome, Part};
use serde_json::Value;
use std::sync::Arc;

/// See the module.
#[derive(Clone)]
pub(super) struct Names {
    /// The tools that hints name, and their names here.
    tools: Arc<[(HintTool, Option<String>)]>,
    /// How the text of a scratchpad is asked for, up to the name.
    page: Option<&'static str>,
}

impl Names {
    /// `called` are the names of `tools`: to ask a tool for its name makes all that a model is told of it.
    pub(super) fn of(tools: &[Arc<dyn Tool>], called: &[String]) -> Names {
        let has = |name: &str| called.iter().any(|called| called == name);
        let like = |native: &str| {
            let mut all = tools.iter().zip(called);
            all.find(|(tool, _)| tool.judged_as(&Value::Null) == native).map(|(_, called)| called.clone())
        };
        let named = |tool: HintTool| match tool {
            HintTool::ScratchpadList if has("scratchpad_list") => Some("scratchpad_list()".into()),
            HintTool::ScratchpadList => has("scratchpad").then(|| tool.native().into()),
            _ if has(tool.native()) => Some(tool.native().into()),
            _ => like(tool.native()),
        };
        let page = match (has("scratchpad"), has("scratchpad_read")) {
            (true, _) => Some("scratchpad(action: \"read\", name: "),
            (false, true) => Some("scratchpad_read(name: "),
            (false, false) => None,
        };
        Names { tools: HintTool::ALL.into_iter().map(|tool| (tool, named(tool))).collect(), page }
    }

    /// ` Page with scratchpad(...)`, where scratchpads can be read.
    pub(super) fn page(&self, pad: &str) -> String {
        self.page.map(|call| format!(" Page with {call}\"{pad}\", offset, limit)")).unwrap_or_default()
    }

    pub(super) fn error(&self, error: ToolError) -> ToolError {
        let hint = error.hint.and_then(|hint| hint.named(|tool| self.tool(tool)));
        ToolError { hint, ..error }
    }

    /// The same for a call that failed when it ran: its text is made again from the error.
    pub(super) fn output(&self, output: Output) -> Output {
        match &output.facts {
            Facts::Failed(error) if output.outcome == Outcome::Failed => {
                let error = self.error(error.clone());
                Output {
                    for_model: vec![Part::text(error.for_model())],
                    facts: Facts::Failed(error),
                    ..output
                }
            }
            _ => output,
        }
    }

    fn tool(&self, wanted: HintTool) -> Option<String> {
        self.tools.iter().find(|(tool, _)| *tool == wanted).and_then(|(_, name)| name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::hint::hint;
    use super::*;

    #[test]
    fn a_hint_names_the_tool_as_it_is_called_here_or_is_left_out() {
        let tools = [(HintTool::ReadFile, Some("file_read".to_string())), (HintTool::EditFile, None)];
        let names = Names { tools: tools.into(), page: None };
        let named = |hint| names.error(ToolError::hint("no", hint)).hint.map(|hint| hint.to_string());
        // A file may be called like a tool: only the tool is renamed.
        let read = hint![HintTool::ReadFile, "(path: \"read_file (1)\"), then edit_file by hand"];
        assert_eq!(
            named(read).as_deref(),
            Some("file_read(path: \"read_file (1)\"), then edit_file by hand")
        );
        assert_eq!(named(hint!["look again"]).as_deref(), Some("look again"));
        assert_eq!(named(hint!["read it, then use ", HintTool::EditFile]), None);
    }
}
