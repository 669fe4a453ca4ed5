//! todo: the model's list of steps, which the person sees while the model works.
//!
//! Each call replaces the whole list. There is only one version of it, and the model cannot confuse step numbers. The
//! conversation itself stores the list: the last successful call contains the present list, also after a resume.

use super::arguments::ToolSchema;
use super::todo_item::{TodoItem, TodoStatus};
use super::{
    CallPreview, CallSummary, DisplayDetail, OutputFacts, Plan, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use placet_permission::{Access, Permit};
use placet_text::conversation::{AssistantBlock, CallOutcome, Message, ToolSpec, Transcript};
use placet_text::text::count;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

const NAME: &str = "todo";
/// Steps at most.
const MOST: usize = 50;
/// Characters of a step at most.
const LONGEST: usize = 300;

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    items: Vec<TodoItem>,
}

pub(super) struct TodoTool(ToolSchema);

impl Default for TodoTool {
    fn default() -> TodoTool {
        TodoTool(ToolSchema::of::<Args>(NAME, include_str!("../prompts/tools/todo.md")))
    }
}

impl Tool for TodoTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        // The calls run one after the other.
        TouchedPaths { writes: vec!["todo:".into()], ..TouchedPaths::default() }
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, _: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let Args { items } = self.0.parse(input)?;
        if items.len() > MOST {
            let hint = "put several of them into one step";
            return Err(ToolError::hint(format!("{} steps, but {MOST} are allowed", items.len()), hint));
        }
        if let Some(at) = items.iter().position(|item| item.text.trim().is_empty()) {
            return Err(ToolError::new(format!("items[{at}].text is empty")));
        }
        if let Some(at) = items.iter().position(|item| item.text.chars().count() > LONGEST) {
            return Err(ToolError::new(format!("items[{at}].text is longer than {LONGEST} characters")));
        }
        Ok(Box::new(TodoPlan { items }))
    }
}

/// The list after the last successful call.
pub fn list_in(transcript: &Transcript) -> Vec<TodoItem> {
    let found = list_of(transcript.since(transcript.begins()));
    found.or_else(|| list_of(&transcript.earlier_round(NAME))).unwrap_or_default()
}

fn list_of(messages: &[Message]) -> Option<Vec<TodoItem>> {
    for (at, message) in messages.iter().enumerate().rev() {
        let Message::Assistant(answer) = message else { continue };
        let done = |call: &placet_text::conversation::ToolCall| match messages.get(at + 1) {
            Some(Message::Results { results }) => {
                results.iter().any(|r| r.id == call.id && r.outcome == CallOutcome::Done)
            }
            _ => false,
        };
        let calls = answer.blocks.iter().rev().filter_map(|block| match block {
            AssistantBlock::Call(call) if call.name == NAME && done(call) => Some(call),
            _ => None,
        });
        for call in calls {
            if let placet_text::conversation::CallInput::Object(value) = &call.input
                && let Ok(args) = serde_json::from_value::<Args>(value.clone())
            {
                return Some(args.items);
            }
        }
    }
    None
}

struct TodoPlan {
    items: Vec<TodoItem>,
}

impl TodoPlan {
    fn counts(&self) -> String {
        let done = self.items.iter().filter(|item| item.status == TodoStatus::Done).count();
        format!("{done} of {} done", self.items.len())
    }
}

impl Plan for TodoPlan {
    fn reach(&self) -> Vec<Access> {
        vec![Access::Session]
    }

    fn title(&self) -> String {
        if self.items.is_empty() { "todo: cleared".into() } else { format!("todo: {}", self.counts()) }
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        // Not rendered here: each user interface renders the list. A step of several lines has only one mark.
        let row = |item: &TodoItem| format!("{} {}", item.status.mark(), item.text.replace('\n', "\n  "));
        let rows: Vec<String> = self.items.iter().map(row).collect();
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::Text(rows.join("\n")) })
    }

    fn run(self: Box<Self>, _: Permit, _: RunContext) -> RunFuture {
        let text = match self.items.is_empty() {
            true => "the list is empty now".to_string(),
            false => format!("the list has {}, {}", count::of(self.items.len(), "step"), self.counts()),
        };
        // The screen shows the list in its own pane.
        let summary = CallSummary::line(self.title());
        let output = ToolOutput::done(text, summary).with(OutputFacts::Todos(self.items));
        Box::pin(std::future::ready(output))
    }
}
