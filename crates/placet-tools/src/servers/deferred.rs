//! Deferred tools: above a limit the schemas of servers are not part of each request. `find_tool` has a line for each
//! tool and gives the whole description as a result, and `call_tool` calls the tool. The beginning of each request
//! remains the same.

use super::server_tool::{ServerTool, ServerToolPlan};
use crate::arguments::ToolSchema;
use crate::{
    CallPreview, CallSummary, DisplayDetail, Plan, ReadScope, RunContext, RunFuture, Tool, ToolContext,
    ToolError, ToolOutput, TouchedPaths,
};
use placet_mcp::ServerCallSubject;
use placet_permission::{Access, Permit};
use placet_text::conversation::ToolSpec;
use placet_text::text::nearest;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::sync::Arc;

pub(super) const FIND: &str = "find_tool";
pub(super) const CALL: &str = "call_tool";

/// How much of a description its line has, and all lines together, in bytes.
const LINE: usize = 100;
const ALL_LINES: usize = 12_000;
/// How many tools one `find_tool` describes.
const MOST_FOUND: usize = 8;

type DeferredTools = Arc<[Arc<ServerTool>]>;

#[derive(Debug, Deserialize, JsonSchema)]
struct FindArgs {
    /// Names of tools, or words of their descriptions.
    query: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CallArgs {
    tool: String,
    /// As the schema of the tool describes them.
    arguments: Option<Map<String, Value>>,
}

pub(super) struct FindTool {
    schema: ToolSchema,
    tools: DeferredTools,
}

pub(super) struct CallTool {
    schema: ToolSchema,
    tools: DeferredTools,
}

/// The two tools that stand for all of `tools`.
pub(super) fn instead_of(tools: &[Arc<ServerTool>]) -> [Arc<dyn Tool>; 2] {
    let tools: DeferredTools = tools.into();
    let description = include_str!("../../prompts/tools/find_tool.md").trim();
    let find = ToolSchema::of::<FindArgs>(FIND, &format!("{description}\n{}", lines(&tools)));
    let call = ToolSchema::of::<CallArgs>(CALL, include_str!("../../prompts/tools/call_tool.md"));
    [
        Arc::new(FindTool { schema: find, tools: Arc::clone(&tools) }),
        Arc::new(CallTool { schema: call, tools }),
    ]
}

fn lines(tools: &[Arc<ServerTool>]) -> String {
    let mut out = String::new();
    for (at, tool) in tools.iter().enumerate() {
        let line = format!("{}: {}\n", tool.called, tool.spec.first_line(LINE));
        if out.len() + line.len() > ALL_LINES {
            out.push_str(&format!("and {} more, which `query` finds\n", tools.len() - at));
            break;
        }
        out.push_str(&line);
    }
    out
}

/// The tools that a query names, and after them those that have its other words, the best first.
fn found(tools: &[Arc<ServerTool>], query: &str) -> Vec<Arc<ServerTool>> {
    let query = query.to_lowercase();
    let mut words: Vec<&str> = query
        .split(|c: char| c.is_whitespace() || ",;".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let is_name = |tool: &ServerTool, word: &str| {
        [&tool.called, &tool.spec.name].iter().any(|name| name.to_lowercase() == word)
    };
    let is_named = |tool: &&Arc<ServerTool>| words.iter().any(|word| is_name(tool, word));
    let (mut found, others): (Vec<_>, Vec<_>) = tools.iter().partition(is_named);
    words.retain(|word| !found.iter().any(|tool| is_name(tool, word)));
    let score = |tool: &Arc<ServerTool>| {
        let text = format!("{} {}", tool.called, tool.spec.description).to_lowercase();
        words.iter().filter(|word| text.contains(*word)).count()
    };
    let mut scored: Vec<_> =
        others.into_iter().map(|tool| (score(tool), tool)).filter(|(score, _)| *score > 0).collect();
    scored.sort_by_key(|(score, _)| Reverse(*score));
    found.extend(scored.into_iter().map(|(_, tool)| tool));
    found.into_iter().take(MOST_FOUND).cloned().collect()
}

impl Tool for FindTool {
    fn spec(&self) -> ToolSpec {
        self.schema.spec()
    }

    fn name(&self) -> String {
        self.schema.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths::default()
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, _: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: FindArgs = self.schema.parse(input)?;
        let found = found(&self.tools, &args.query);
        if found.is_empty() {
            return Err(ToolError::hint(
                format!("no tool matches `{}`", args.query),
                "use a name of the list in the description of find_tool",
            ));
        }
        Ok(Box::new(FindToolPlan { query: args.query, found }))
    }
}

struct FindToolPlan {
    query: String,
    found: Vec<Arc<ServerTool>>,
}

impl Plan for FindToolPlan {
    fn reach(&self) -> Vec<Access> {
        vec![Access::Session]
    }

    fn title(&self) -> String {
        let cut = self.query.floor_char_boundary(80);
        format!("find tool {}", placet_text::text::visible::line(self.query.get(..cut).unwrap_or_default()))
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, _: RunContext) -> RunFuture {
        let describe = |tool: &Arc<ServerTool>| {
            let ToolSpec { name, description, schema } = tool.spec();
            format!("{name}\n{}\narguments: {schema}\n", description.trim())
        };
        let text = self.found.iter().map(describe).collect::<Vec<_>>().join("\n");
        let names: Vec<&str> = self.found.iter().map(|tool| tool.called.as_str()).collect();
        let line = format!("{}: {}", self.title(), names.join(", "));
        Box::pin(std::future::ready(ToolOutput::done(text, CallSummary::line(line))))
    }
}

impl Tool for CallTool {
    fn spec(&self) -> ToolSpec {
        self.schema.spec()
    }

    fn name(&self) -> String {
        self.schema.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths { anything: true, ..TouchedPaths::default() }
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: CallArgs = self.schema.parse(input)?;
        let Some(tool) = self.tools.iter().find(|tool| tool.called == args.tool) else {
            let meant = nearest(&args.tool, self.tools.iter().map(|tool| tool.called.as_str()));
            let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            return Err(ToolError::hint(
                format!("no server has the tool `{}`{meant}", args.tool),
                "find_tool has the names",
            ));
        };
        let arguments = args.arguments.unwrap_or_default();
        let subject = ServerCallSubject::Tool { name: tool.spec.name.clone(), arguments };
        Ok(Box::new(ServerToolPlan::new(&tool.server, subject, env)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_mcp::ServerToolSpec;

    fn tool(called: &str, description: &str) -> Arc<ServerTool> {
        let (server, name) = called.split_once("__").unwrap();
        let spec = ServerToolSpec {
            name: name.into(),
            description: description.into(),
            schema: serde_json::json!({"type": "object"}),
            says_read_only: false,
        };
        Arc::new(ServerTool { called: called.into(), server: server.into(), spec })
    }

    #[test]
    fn a_query_names_tools_or_describes_them() {
        let tools = [
            tool("git__log", "Shows commits"),
            tool("git__diff", "Shows changes of files"),
            tool("x__y", "z"),
        ];
        let names = |query: &str| -> Vec<String> {
            found(&tools, query).iter().map(|tool| tool.called.clone()).collect()
        };
        assert_eq!(names("git__log"), ["git__log"]);
        assert_eq!(names("diff, y"), ["git__diff", "x__y"]);
        assert_eq!(names("changes of files"), ["git__diff"]);
        // Some tools have one word and some the other: the better come first, and a name before them.
        assert_eq!(names("shows changes"), ["git__diff", "git__log"]);
        assert_eq!(names("y commits"), ["x__y", "git__log"]);
        assert_eq!(names("git__log git__log"), ["git__log"]);
        assert!(names("nothing like that here").is_empty());
    }

    #[test]
    fn the_list_is_bounded() {
        let many: Vec<_> = (0..500).map(|n| tool(&format!("s__tool{n}"), &"long ".repeat(50))).collect();
        let text = lines(&many);
        assert!(text.len() < ALL_LINES + 100 && text.contains("more, which `query` finds"));
    }
}
