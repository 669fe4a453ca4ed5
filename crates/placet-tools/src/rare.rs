//! Tools that are seldom used, with a line each instead of their schemas: `more_tools` describes one, and calls it. A
//! request is shorter by a fifth, and the first use of such a tool takes one request more.
//!
//! A call through `more_tools` is the call of the tool everywhere but in the conversation, where the answer stays as it
//! came: see [`ToolRegistry::unwrapped`](super::ToolRegistry::unwrapped).

use super::arguments::ToolSchema;
use super::{
    CallPreview, CallSummary, DisplayDetail, OutputDelivery, Plan, PlanResult, ReadScope, RunContext,
    RunFuture, Tool, ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use placet_permission::{Access, Permit};
use placet_text::conversation::ToolSpec;
use placet_text::text::nearest;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;

pub(super) const MORE_TOOLS: &str = "more_tools";

/// The tools, each with its line. What the first two do, others do as well; the rest is for a few conversations.
const RARE: [(&str, &str); 7] = [
    ("apply_patch", "edits by a unified diff"),
    ("operations", "several file operations at once"),
    ("job", "commands in the background"),
    ("fetch_url", "a web page"),
    ("agent", "a task for a sub-agent"),
    ("skill", "reads a skill of the list"),
    ("remember", "a line for later conversations"),
];

pub(super) fn is_rare(name: &str) -> bool {
    RARE.iter().any(|(rare, _)| *rare == name)
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    tool: String,
    arguments: Option<Map<String, Value>>,
}

/// The tool that is meant, and its arguments.
pub(super) type InnerCall<'a> = (&'a Arc<dyn Tool>, &'a Map<String, Value>);

pub(super) struct MoreTools {
    schema: ToolSchema,
    rare: Arc<[Arc<dyn Tool>]>,
}

impl MoreTools {
    pub(super) fn of(rare: Arc<[Arc<dyn Tool>]>) -> MoreTools {
        let mut description = include_str!("../prompts/tools/more_tools.md").trim().to_string();
        let is_here = |name: &str| rare.iter().any(|tool| tool.name() == name);
        for (name, line) in RARE.iter().filter(|(name, _)| is_here(name)) {
            description.push_str(&format!("\n{name}: {line}"));
        }
        MoreTools { schema: ToolSchema::of::<Args>(MORE_TOOLS, &description), rare }
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.rare.iter()
    }

    /// The tool and the arguments of a call through this one; `None` where it only asks for a description.
    pub(super) fn inner<'a>(&'a self, input: &'a Value) -> Option<InnerCall<'a>> {
        let arguments = input.get("arguments")?.as_object()?;
        let name = input.get("tool")?.as_str()?;
        Some((self.rare.iter().find(|tool| tool.name() == name)?, arguments))
    }
}

impl Tool for MoreTools {
    fn spec(&self) -> ToolSpec {
        self.schema.spec()
    }

    fn name(&self) -> String {
        self.schema.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths::default()
    }

    fn delivery(&self) -> OutputDelivery {
        OutputDelivery::Whole
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> PlanResult {
        let args: Args = self.schema.parse(input)?;
        let Some(tool) = self.rare.iter().find(|tool| tool.name() == args.tool) else {
            let names: Vec<String> = self.rare.iter().map(|tool| tool.name()).collect();
            let meant = nearest(&args.tool, names.iter().map(String::as_str));
            let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            return Err(ToolError::hint(
                format!("no tool `{}` in this list{meant}", args.tool),
                format!("its tools are {}; the others are called by their own names", names.join(", ")),
            ));
        };
        match args.arguments {
            Some(arguments) => tool.plan(&Value::Object(arguments), env),
            None => Ok(Box::new(DescribePlan { spec: tool.spec() })),
        }
    }
}

struct DescribePlan {
    spec: ToolSpec,
}

impl Plan for DescribePlan {
    fn reach(&self) -> Vec<Access> {
        vec![Access::Session]
    }

    fn title(&self) -> String {
        format!("description of {}", self.spec.name)
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, _: RunContext) -> RunFuture {
        let title = self.title();
        let ToolSpec { name, description, schema } = self.spec;
        let text = format!("{name}\n{}\narguments: {schema}\n", description.trim());
        Box::pin(std::future::ready(ToolOutput::done(text, CallSummary::line(title))))
    }
}
