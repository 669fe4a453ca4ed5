//! The names of placet's own tools in the present tool set, for the texts that name a tool.
//!
//! Errors help by naming the next call. Another tool set has another name for that tool, or does not have the tool;
//! then the hint is omitted, because it would name a tool that does not exist.

use super::hint::HintNames;
use super::{HintTool, OutputFacts, Tool, ToolError, ToolOutput};
use placet_text::conversation::{CallOutcome, Part};
use serde_json::Value;
use std::sync::Arc;

/// See the module.
#[derive(Clone)]
pub(super) struct ToolNames {
    /// The tools that hints name, with their names in this tool set.
    tools: Arc<[(HintTool, Option<RenamedTool>)]>,
    /// The call that reads the text of a scratchpad, up to the name.
    page: Option<&'static str>,
}

/// A tool in this tool set.
#[derive(Clone)]
struct RenamedTool {
    name: String,
    parameters: ToolParameters,
}

/// Where the names of parameters are. Only an error needs them, and to describe a tool takes a part of a start.
#[derive(Clone)]
enum ToolParameters {
    Of(Arc<dyn Tool>),
    None,
    #[cfg(test)]
    Listed(Vec<String>),
}

impl ToolParameters {
    fn names(&self) -> Vec<String> {
        match self {
            ToolParameters::Of(tool) => {
                let schema = tool.spec().schema;
                let properties = schema.get("properties").and_then(Value::as_object);
                properties.into_iter().flat_map(|all| all.keys().cloned()).collect()
            }
            ToolParameters::None => Vec::new(),
            #[cfg(test)]
            ToolParameters::Listed(names) => names.clone(),
        }
    }
}

/// Other names for a parameter of placet's own tools.
const SYNONYMS: [(&str, &[&str]); 3] = [
    ("path", &["file_path"]),
    ("old_string", &["old_text", "old_str"]),
    ("new_string", &["new_text", "new_str"]),
];

impl RenamedTool {
    fn parameter(&self, native: &str) -> Option<String> {
        let synonyms = SYNONYMS.iter().find(|(name, _)| *name == native).map_or(&[][..], |(_, all)| all);
        let mut names = std::iter::once(native).chain(synonyms.iter().copied());
        let parameters = self.parameters.names();
        names.find(|name| parameters.iter().any(|has| has == name)).map(String::from)
    }
}

impl ToolNames {
    /// `called` are the names of `tools`.
    pub(super) fn of(tools: &[Arc<dyn Tool>], called: &[String]) -> ToolNames {
        let has = |name: &str| called.iter().any(|called| called == name);
        let find = |is: &dyn Fn(&dyn Tool, &str) -> bool| {
            let mut all = tools.iter().zip(called);
            let found = all.find(|(tool, called)| is(tool.as_ref(), called));
            let parameters = |tool: &Arc<dyn Tool>| ToolParameters::Of(Arc::clone(tool));
            found.map(|(tool, called)| RenamedTool { name: called.clone(), parameters: parameters(tool) })
        };
        let call = |name: &str| Some(RenamedTool { name: name.into(), parameters: ToolParameters::None });
        let named = |tool: HintTool| match tool {
            HintTool::ScratchpadList if has("scratchpad_list") => call("scratchpad_list()"),
            HintTool::ScratchpadList => call(tool.native()).filter(|_| has("scratchpad")),
            _ => find(&|_, called| called == tool.native())
                .or_else(|| find(&|like, _| like.judged_as(&Value::Null) == tool.native())),
        };
        let page = match (has("scratchpad"), has("scratchpad_read")) {
            (true, _) => Some("scratchpad(action: \"read\", name: "),
            (false, true) => Some("scratchpad_read(name: "),
            (false, false) => None,
        };
        ToolNames { tools: HintTool::ALL.into_iter().map(|tool| (tool, named(tool))).collect(), page }
    }

    /// ` Page with scratchpad(...)`, if the tool set can read scratchpads.
    pub(super) fn page(&self, pad: &str) -> String {
        self.page.map(|call| format!(" Page with {call}\"{pad}\", offset, limit)")).unwrap_or_default()
    }

    pub(super) fn error(&self, error: ToolError) -> ToolError {
        let hint = error.hint.and_then(|hint| hint.named(self));
        ToolError { hint, ..error }
    }

    /// The same for a call that failed while it ran: its text is rebuilt from the error.
    pub(super) fn output(&self, output: ToolOutput) -> ToolOutput {
        match &output.facts {
            OutputFacts::Failed(error) if output.outcome == CallOutcome::Failed => {
                let error = self.error(error.clone());
                ToolOutput {
                    for_model: vec![Part::text(error.for_model())],
                    facts: OutputFacts::Failed(error),
                    ..output
                }
            }
            _ => output,
        }
    }

    fn called(&self, wanted: HintTool) -> Option<&RenamedTool> {
        self.tools.iter().find(|(tool, _)| *tool == wanted).and_then(|(_, called)| called.as_ref())
    }
}

impl HintNames for ToolNames {
    fn tool(&self, tool: HintTool) -> Option<String> {
        self.called(tool).map(|called| called.name.clone())
    }

    fn parameter(&self, tool: HintTool, native: &str) -> Option<String> {
        self.called(tool).and_then(|called| called.parameter(native))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hint::hint;
    use super::*;

    #[test]
    fn a_hint_names_the_tool_as_it_is_called_here_or_is_left_out() {
        let parameters = ToolParameters::Listed(vec!["file_path".to_string()]);
        let file_read = RenamedTool { name: "file_read".into(), parameters };
        let tools = [(HintTool::ReadFile, Some(file_read)), (HintTool::EditFile, None)];
        let names = ToolNames { tools: tools.into(), page: None };
        let named = |hint| names.error(ToolError::hint("no", hint)).hint.map(|hint| hint.to_string());
        // A file may have the name of a tool: only the tool is renamed.
        let read = hint![HintTool::ReadFile, "(path: \"read_file (1)\"), then edit_file by hand"];
        assert_eq!(
            named(read).as_deref(),
            Some("file_read(path: \"read_file (1)\"), then edit_file by hand")
        );
        assert_eq!(named(hint!["look again"]).as_deref(), Some("look again"));
        assert_eq!(named(hint!["read it, then use ", HintTool::EditFile]), None);
    }

    #[test]
    fn a_hint_names_parameters_as_they_are_called_here_or_says_something_else() {
        let parameters = ToolParameters::Listed(vec!["file_path".to_string(), "limit".to_string()]);
        let file_read = RenamedTool { name: "file_read".into(), parameters };
        let names = ToolNames { tools: [(HintTool::ReadFile, Some(file_read))].into(), page: None };
        let named = |hint| names.error(ToolError::hint("no", hint)).hint.map(|hint| hint.to_string());
        let path = HintTool::ReadFile.parameter("path");
        assert_eq!(named(hint!["give ", path]).as_deref(), Some("give file_path"));
        let pattern = hint!["give ", HintTool::ReadFile.parameter("pattern")];
        let limit = hint!["give ", HintTool::ReadFile.parameter("limit")];
        assert_eq!(named(pattern.clone().or(limit)).as_deref(), Some("give limit"));
        assert_eq!(named(pattern), None);
    }
}
