//! ask_person: a question from the model to the person, with choices or free text.
//!
//! The tool changes nothing and needs no permission. Its cost is the person's time. Without a person the tool reports
//! at once that nobody can answer, and the model continues without an answer.

use super::arguments::ToolSchema;
use super::context::UserReply;
use super::{
    CallPreview, CallSummary, DisplayDetail, Plan, ReadScope, RunContext, RunFuture, Tool, ToolContext,
    ToolError, ToolOutput, TouchedPaths,
};
use placet_permission::{Access, Permit};
use placet_text::conversation::ToolSpec;
use placet_text::text::sanitize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// There is a key for each choice: 1 to 9.
const MOST: usize = 9;
const LONGEST: usize = 4000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    question: String,
    choices: Option<Vec<String>>,
}

pub(super) struct AskPerson(ToolSchema);

impl Default for AskPerson {
    fn default() -> AskPerson {
        AskPerson(ToolSchema::of::<Args>("ask_person", include_str!("../prompts/tools/ask_person.md")))
    }
}

impl Tool for AskPerson {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths::default()
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, _: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        let choices = args.choices.unwrap_or_default();
        if args.question.trim().is_empty() {
            return Err(ToolError::new("`question` is empty"));
        }
        if args.question.chars().count() > LONGEST {
            return Err(ToolError::hint(
                format!("the question is longer than {LONGEST} characters"),
                "put the details into your answer, and ask a short question",
            ));
        }
        if choices.len() > MOST || choices.iter().any(|c| c.trim().is_empty()) {
            return Err(ToolError::new(format!("`choices` has at most {MOST} items, and none may be empty")));
        }
        Ok(Box::new(AskPlan { question: args.question, choices }))
    }
}

struct AskPlan {
    question: String,
    choices: Vec<String>,
}

impl Plan for AskPlan {
    fn reach(&self) -> Vec<Access> {
        vec![Access::Session]
    }

    fn title(&self) -> String {
        format!("ask: {}", sanitize::line(self.question.lines().next().unwrap_or_default()))
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            let title = self.title();
            let answering = ctx.enquire.ask(self.question, self.choices);
            let said = tokio::select! {
                said = answering => said,
                () = ctx.cancel.cancelled() => return super::output::interrupted(&title),
            };
            let (text, shown) = match said {
                UserReply::Words(words) => (format!("the person answers: {words}"), words),
                UserReply::Open => (
                    "the person leaves it open: decide yourself and state your assumption".into(),
                    "left open".into(),
                ),
                UserReply::Nobody => (
                    "nobody can answer: decide yourself and state your assumption".into(),
                    "nobody can answer".into(),
                ),
            };
            ToolOutput::done(text, CallSummary::text(title, shown))
        })
    }
}
