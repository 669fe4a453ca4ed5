//! Resources and prompts of servers, for a person who names them, and a start with hosts that its settings do not name.
//! They are tools, so that they go through the gate of every call; no model is offered them, and none can call them.

use super::calls::read_tools_with;
use super::server_tool::{ServerToolPlan, in_one_line, server_network};
use crate::arguments::ToolSchema;
use crate::output::failed;
use crate::{
    CallPreview, CallSummary, DisplayDetail, Plan, ReadScope, RunContext, RunFuture, Tool, ToolContext,
    ToolError, ToolOutput, TouchedPaths,
};
use placet_mcp::ServerCallSubject;
use placet_permission::{Access, Permit};
use placet_text::conversation::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The names of the tools.
pub const RESOURCE_TOOL: &str = "server_resource";
pub const PROMPT_TOOL: &str = "server_prompt";
pub const START_TOOL: &str = "server_start";

#[derive(Debug, Deserialize, JsonSchema)]
struct ResourceArgs {
    server: String,
    uri: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct PromptArgs {
    server: String,
    name: String,
    arguments: Map<String, Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct StartArgs {
    server: String,
}

type Planned = Result<Box<dyn Plan>, ToolError>;

/// One of these tools: what a call names, and its plan.
pub(crate) struct PersonTool {
    schema: ToolSchema,
    planned: fn(&ToolSchema, &Value, &ToolContext) -> Planned,
}

pub(crate) fn person_tools() -> [PersonTool; 3] {
    let resource = ToolSchema::of::<ResourceArgs>(RESOURCE_TOOL, "Reads a resource of a server");
    let prompt = ToolSchema::of::<PromptArgs>(PROMPT_TOOL, "Gets a prompt of a server");
    let start = ToolSchema::of::<StartArgs>(START_TOOL, "Starts a server with the hosts that it was refused");
    [
        PersonTool { schema: resource, planned: resource_plan },
        PersonTool { schema: prompt, planned: prompt_plan },
        PersonTool { schema: start, planned: start_plan },
    ]
}

impl Tool for PersonTool {
    fn spec(&self) -> ToolSpec {
        self.schema.spec()
    }

    fn name(&self) -> String {
        self.schema.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths { anything: true, ..TouchedPaths::default() }
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Planned {
        (self.planned)(&self.schema, input, env)
    }
}

fn resource_plan(schema: &ToolSchema, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
    let ResourceArgs { server, uri } = schema.parse(input)?;
    Ok(Box::new(ServerToolPlan::new(&server, ServerCallSubject::Resource { uri }, env)?))
}

fn prompt_plan(schema: &ToolSchema, input: &Value, env: &ToolContext) -> Planned {
    let PromptArgs { server, name, arguments } = schema.parse(input)?;
    Ok(Box::new(ServerToolPlan::new(&server, ServerCallSubject::Prompt { name, arguments }, env)?))
}

fn start_plan(schema: &ToolSchema, input: &Value, env: &ToolContext) -> Planned {
    let StartArgs { server } = schema.parse(input)?;
    let definition = env.servers.definitions().find(|definition| definition.name == server);
    let shown = definition.map(|definition| in_one_line(&definition.shown()).into_owned());
    let hosts = env.servers.status(&server).wanted_hosts;
    Ok(Box::new(ServerStartPlan { server, shown: shown.unwrap_or_default(), hosts }))
}

struct ServerStartPlan {
    server: String,
    shown: String,
    hosts: Vec<String>,
}

impl Plan for ServerStartPlan {
    fn reach(&self) -> Vec<Access> {
        server_network(&self.server, &self.hosts).collect()
    }

    fn title(&self) -> String {
        format!("start {} with {}", self.server, self.hosts.join(" and "))
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        let text = format!(
            "server {}: {}\nruns in the copy-on-write view, with the network, to {}\n`hosts` in its settings allows them \
             without a question",
            self.server,
            self.shown,
            self.hosts.join(" and ")
        );
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::Text(text) })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            let title = self.title();
            if self.hosts.is_empty() || !self.reach().iter().all(|access| permit.covers(access)) {
                return failed(&title, &ToolError::new("nobody approved this start"));
            }
            match read_tools_with(&ctx.env, &self.server, &self.hosts, &ctx.cancel).await {
                Ok(_) => ToolOutput::done("started", CallSummary::line(title)),
                Err(error) => failed(&title, &error),
            }
        })
    }
}
