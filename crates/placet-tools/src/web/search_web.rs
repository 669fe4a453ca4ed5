//! search_web: a query to the search engine of the settings, and its results as a list of sources.

use super::answer_wait::{in_time, until_stopped};
use super::search_answer::SearchAnswer;
use super::search_engine::SearchEngine;
use crate::arguments::ToolSchema;
use crate::{
    CallPreview, CallSummary, DisplayDetail, OutputFacts, Plan, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use placet_permission::{Access, Permit};
use placet_text::conversation::{CallOutcome, Part, ToolSpec};
use placet_text::text::{count, visible};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;

/// The name of the tool, which rules may use whether an engine is configured or not.
pub const SEARCH_WEB: &str = "search_web";
/// The longest query, in characters.
const LONGEST: usize = 400;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    query: String,
}

pub(crate) struct SearchWeb(ToolSchema);

impl Default for SearchWeb {
    fn default() -> SearchWeb {
        SearchWeb(ToolSchema::of::<Args>(SEARCH_WEB, include_str!("../../prompts/tools/search_web.md")))
    }
}

impl Tool for SearchWeb {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths::default()
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        let query = args.query.split_whitespace().collect::<Vec<_>>().join(" ");
        if query.is_empty() {
            return Err(ToolError::new("the query is empty"));
        }
        if query.chars().count() > LONGEST {
            return Err(ToolError::new(format!("the query is longer than {LONGEST} characters")));
        }
        let engine = env.pages.search.clone();
        let engine = engine.ok_or_else(|| {
            ToolError::hint("no search engine is configured", "the person can set `search.engine`")
        })?;
        Ok(Box::new(WebSearchPlan { query, engine }))
    }
}

struct WebSearchPlan {
    query: String,
    engine: Arc<SearchEngine>,
}

impl Plan for WebSearchPlan {
    fn reach(&self) -> Vec<Access> {
        vec![Access::Fetch { host: self.engine.host() }]
    }

    fn title(&self) -> String {
        format!("search {} for {}", self.engine.name(), self.query)
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            let title = self.title();
            let work = async {
                let searching = async {
                    let found = self.engine.search(&self.query).await;
                    found.map_err(|error| ToolError::new(error.to_string()))
                };
                let late = ("the search engine did not answer", "with another query");
                let answer = in_time(self.engine.patience(), late, searching).await?;
                Ok(self.output(&answer))
            };
            until_stopped(&ctx, &title, work).await
        })
    }
}

impl WebSearchPlan {
    fn output(&self, answer: &SearchAnswer) -> ToolOutput {
        let SearchAnswer { text: written, pages } = answer;
        let found = count::of(pages.len(), "result");
        let mut text = format!("{found} from {} for: {}\n", self.engine.name(), self.query);
        if let Some(written) = written {
            let _ = write!(
                text,
                "\nIts model wrote, with the numbers of the sources:\n{}\n",
                visible::guard(written.trim())
            );
        }
        let mut sources = String::new();
        for (number, page) in (1..).zip(pages) {
            let date =
                page.date.as_ref().map(|date| format!(" ({})", visible::guard(date))).unwrap_or_default();
            let (title, url) = (visible::guard(&page.title), visible::guard(&page.url));
            let _ = write!(text, "\n[{number}] {title}{date}\n{url}\n");
            if !page.text.is_empty() {
                let _ = writeln!(text, "{}", visible::guard(&page.text));
            }
            let _ = writeln!(sources, "[{number}] {title} {url}");
        }
        let line = format!("{}: {found}", self.title());
        let detail = if sources.is_empty() { DisplayDetail::None } else { DisplayDetail::Text(sources) };
        ToolOutput {
            outcome: CallOutcome::Done,
            for_model: vec![Part::text(text)],
            for_person: CallSummary::new(line, detail),
            facts: OutputFacts::None,
            recorded: Vec::new(),
        }
    }
}
