//! The names of placet's own tools in the present tool set, for the texts that name a tool.
//!
//! Errors help by naming the next call. Another tool set has another name for that tool, or does not have the tool, or
//! the model is not offered it; then the hint is omitted, because it would name a tool that does not exist.

use super::context::ToolOffer;
use super::hint::HintNames;
use super::rare::{MORE_TOOLS, is_rare};
use super::{HintTool, OutputFacts, Tool, ToolError, ToolOutput};
use placet_text::conversation::{CallOutcome, Part};
use serde_json::Value;
use std::sync::Arc;

/// See the module.
#[derive(Clone)]
pub(super) struct ToolNames {
    /// The tools that hints name, with their names in this tool set.
    tools: Arc<[(HintTool, Option<RenamedTool>)]>,
    /// The tool that reads the text of a scratchpad, and its call up to the name.
    page: Option<(&'static str, &'static str)>,
}

/// A tool in this tool set.
#[derive(Clone)]
struct RenamedTool {
    name: String,
    /// The name under which the model is offered it.
    wire: String,
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
    /// `called` are the names of `tools`, and `wire` those that providers get.
    pub(super) fn of(tools: &[Arc<dyn Tool>], called: &[String], wire: &[String]) -> ToolNames {
        let has = |name: &str| called.iter().any(|called| called == name);
        let find = |is: &dyn Fn(&dyn Tool, &str) -> bool| {
            let mut all = tools.iter().zip(called).zip(wire);
            let ((tool, name), wire) = all.find(|((tool, called), _)| is(tool.as_ref(), called))?;
            let parameters = ToolParameters::Of(Arc::clone(tool));
            Some(RenamedTool { name: name.clone(), wire: wire.clone(), parameters })
        };
        let call = |wire: &str, name: &str| {
            let parameters = ToolParameters::None;
            has(wire).then(|| RenamedTool { name: name.into(), wire: wire.into(), parameters })
        };
        let named = |tool: HintTool| match tool {
            HintTool::ScratchpadList => {
                call("scratchpad_list", "scratchpad_list()").or_else(|| call("scratchpad", tool.native()))
            }
            _ => find(&|_, called| called == tool.native())
                .or_else(|| find(&|like, _| like.judged_as(&Value::Null) == tool.native())),
        };
        let page = match (has("scratchpad"), has("scratchpad_read")) {
            (true, _) => Some(("scratchpad", "scratchpad(action: \"read\", name: ")),
            (false, true) => Some(("scratchpad_read", "scratchpad_read(name: ")),
            (false, false) => None,
        };
        ToolNames { tools: HintTool::ALL.into_iter().map(|tool| (tool, named(tool))).collect(), page }
    }

    /// ` Page with scratchpad(...)`, if the model can read scratchpads.
    pub(super) fn page(&self, pad: &str, offered: &ToolOffer) -> String {
        let page = self.page.filter(|(tool, _)| is_offered(offered, tool, None));
        page.map(|(_, call)| format!(" Page with {call}\"{pad}\", offset, limit)")).unwrap_or_default()
    }

    pub(super) fn error(&self, error: ToolError, offered: &ToolOffer) -> ToolError {
        let hint = error.hint.and_then(|hint| hint.named(&NamesOfOffered { names: self, offered }));
        ToolError { hint, ..error }
    }

    /// The same for a call that failed while it ran: its text is rebuilt from the error.
    pub(super) fn output(&self, output: ToolOutput, offered: &ToolOffer) -> ToolOutput {
        match &output.facts {
            OutputFacts::Failed(error) if output.outcome == CallOutcome::Failed => {
                let error = self.error(error.clone(), offered);
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

/// Whether the model is offered the tool, and this parameter of it. What is looked up has all of its parameters.
fn is_offered(offered: &ToolOffer, tool: &str, parameter: Option<&str>) -> bool {
    let Some(specs) = offered.specs() else { return true };
    let find = |name: &str| specs.iter().find(|spec| spec.name == name);
    match find(tool) {
        Some(spec) => parameter
            .is_none_or(|name| spec.schema.get("properties").is_some_and(|all| all.get(name).is_some())),
        None => is_rare(tool) && find(MORE_TOOLS).is_some(),
    }
}

/// The names of the tools and parameters that the model is offered.
struct NamesOfOffered<'n> {
    names: &'n ToolNames,
    offered: &'n ToolOffer,
}

impl HintNames for NamesOfOffered<'_> {
    fn tool(&self, tool: HintTool) -> Option<String> {
        let called = self.names.called(tool)?;
        is_offered(self.offered, &called.wire, None).then(|| called.name.clone())
    }

    fn parameter(&self, tool: HintTool, native: &str) -> Option<String> {
        let called = self.names.called(tool)?;
        called.parameter(native).filter(|name| is_offered(self.offered, &called.wire, Some(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hint::hint;
    use super::*;

    #[test]
    fn a_hint_names_the_tool_as_it_is_called_here_or_is_left_out() {
        let parameters = ToolParameters::Listed(vec!["file_path".to_string()]);
        let file_read = RenamedTool { name: "file_read".into(), wire: "file_read".into(), parameters };
        let tools = [(HintTool::ReadFile, Some(file_read)), (HintTool::EditFile, None)];
        let names = ToolNames { tools: tools.into(), page: None };
        let named = |hint| {
            names.error(ToolError::hint("no", hint), &ToolOffer::default()).hint.map(|hint| hint.to_string())
        };
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
        let file_read = RenamedTool { name: "file_read".into(), wire: "file_read".into(), parameters };
        let names = ToolNames { tools: [(HintTool::ReadFile, Some(file_read))].into(), page: None };
        let named = |hint| {
            names.error(ToolError::hint("no", hint), &ToolOffer::default()).hint.map(|hint| hint.to_string())
        };
        let path = HintTool::ReadFile.parameter("path");
        assert_eq!(named(hint!["give ", path]).as_deref(), Some("give file_path"));
        let pattern = hint!["give ", HintTool::ReadFile.parameter("pattern")];
        let limit = hint!["give ", HintTool::ReadFile.parameter("limit")];
        assert_eq!(named(pattern.clone().or(limit)).as_deref(), Some("give limit"));
        assert_eq!(named(pattern), None);
    }
    #[test]
    fn a_hint_names_only_what_the_model_is_offered() {
        let registry = crate::ToolRegistry::native();
        let search = hint!["find it with ", HintTool::SearchContents];
        let column = hint!["give ", HintTool::ReadFile.parameter("column")];
        let list = hint!["see ", HintTool::ScratchpadList];
        let named = |offered: &ToolOffer| {
            let of = |hint: &super::super::Hint| {
                registry
                    .hint_names()
                    .error(ToolError::hint("no", hint.clone()), offered)
                    .hint
                    .map(|h| h.to_string())
            };
            (
                [of(&search), of(&column), of(&list)].map(|hint| hint.is_some()),
                registry.hint_names().page("p", offered),
            )
        };
        let offered = ToolOffer::default();
        assert_eq!(named(&offered).0, [true; 3]);
        let page = " Page with scratchpad(action: \"read\", name: \"p\", offset, limit)";
        assert_eq!(named(&offered).1, page);
        let mut specs = registry.wire_specs();
        specs.retain(|spec| spec.name == "read_file" || spec.name == "search_contents");
        offered.set(&specs.clone().into());
        assert_eq!(named(&offered).0, [true, true, false]);
        assert_eq!(named(&offered).1, "");
        specs.retain(|spec| spec.name == "read_file");
        specs[0].schema["properties"].as_object_mut().unwrap().retain(|name, _| name != "column");
        offered.set(&specs.into());
        assert_eq!(named(&offered).0, [false; 3]);
    }
}
