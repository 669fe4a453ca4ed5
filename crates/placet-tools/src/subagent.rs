//! agent: a task for a sub-agent, which works in a conversation of its own and reports back.
//!
//! The tool only describes the work; the `agent` module runs it. The tool itself needs no permission: everything that
//! the sub-agent does is checked like any other call.

use super::arguments::ToolSchema;
use super::context::{SubagentReport, SubagentTask};
use super::output::interrupted;
use super::{
    CallPreview, CallSummary, DisplayDetail, OutputFacts, Plan, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use placet_permission::{Access, Permit};
use placet_session::session::{ScratchpadEntry, check_name};
use placet_text::conversation::{CallOutcome, Part, ToolSpec};
use placet_text::text::sanitize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

const NAME: &str = "agent";

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    task: String,
    name: Option<String>,
    read_only: Option<bool>,
}

pub(super) struct SubagentTool(ToolSchema);

impl Default for SubagentTool {
    fn default() -> SubagentTool {
        SubagentTool(ToolSchema::of::<Args>(NAME, include_str!("../prompts/tools/agent.md")))
    }
}

impl Tool for SubagentTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        // The calls of the sub-agent are ordered where they run.
        TouchedPaths::default()
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, _: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        if args.task.trim().is_empty() {
            return Err(ToolError::new("`task` is empty"));
        }
        if let Some(name) = &args.name {
            check_name(name).map_err(|e| ToolError::new(e.to_string()))?;
        }
        let task = SubagentTask { name: args.name, text: args.task, read_only: args.read_only == Some(true) };
        Ok(Box::new(SubagentPlan { task }))
    }
}

struct SubagentPlan {
    task: SubagentTask,
}

impl Plan for SubagentPlan {
    fn reach(&self) -> Vec<Access> {
        vec![Access::Session]
    }

    fn title(&self) -> String {
        let first = sanitize::line(self.task.text.lines().next().unwrap_or_default()).into_owned();
        match &self.task.name {
            Some(name) => format!("agent {name}: {first}"),
            None => format!("agent: {first}"),
        }
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::Text(self.task.text.clone()) })
    }

    fn run(self: Box<Self>, _: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            let title = self.title();
            let report = ctx.children.run(self.task, ctx.progress, ctx.cancel).await;
            if report.outcome == CallOutcome::Interrupted && report.text.is_empty() {
                return interrupted(&title);
            }
            told(report, &title, &ctx.env)
        })
    }
}

fn told(report: SubagentReport, title: &str, env: &ToolContext) -> ToolOutput {
    // It did not begin, so that there is neither a name nor a log.
    if report.name.is_empty() {
        return ToolOutput {
            outcome: report.outcome,
            for_model: vec![Part::text(report.text.clone())],
            for_person: CallSummary::new(title.to_string(), DisplayDetail::Report(report.text)),
            facts: OutputFacts::None,
            recorded: Vec::new(),
        };
    }
    let pad = format!("agent-{}", report.name);
    let kept = match env.scratchpads.put(&pad, ScratchpadEntry::Text(report.log)) {
        Ok(()) => format!("its log is in the scratchpad `{pad}`"),
        Err(e) => format!("its log could not be stored: {e}"),
    };
    let head = format!("[sub-agent {}: {}; {kept}]", report.name, report.cost);
    let line = format!("{title} · {}", report.cost);
    ToolOutput {
        outcome: report.outcome,
        for_model: vec![Part::text(format!("{head}\n{}", report.text))],
        for_person: CallSummary::new(line, DisplayDetail::Report(report.text)),
        facts: OutputFacts::None,
        recorded: Vec::new(),
    }
}
