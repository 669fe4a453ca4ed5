//! Resources and prompts of servers, for a person who names them. They are tools, so that they go through the gate of
//! every call; no model is offered them, and none can call them.

use super::server_tool::ServerToolPlan;
use crate::arguments::ToolSchema;
use crate::{Plan, Tool, ToolContext, ToolError, TouchedPaths};
use placet_mcp::ServerCallSubject;
use placet_text::conversation::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The names of the two tools.
pub const RESOURCE_TOOL: &str = "server_resource";
pub const PROMPT_TOOL: &str = "server_prompt";

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

pub(crate) struct ServerResourceTool(ToolSchema);
pub(crate) struct ServerPromptTool(ToolSchema);

impl Default for ServerResourceTool {
    fn default() -> ServerResourceTool {
        ServerResourceTool(ToolSchema::of::<ResourceArgs>(RESOURCE_TOOL, "Reads a resource of a server"))
    }
}

impl Default for ServerPromptTool {
    fn default() -> ServerPromptTool {
        ServerPromptTool(ToolSchema::of::<PromptArgs>(PROMPT_TOOL, "Gets a prompt of a server"))
    }
}

impl Tool for ServerResourceTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths { anything: true, ..TouchedPaths::default() }
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let ResourceArgs { server, uri } = self.0.parse(input)?;
        Ok(Box::new(ServerToolPlan::new(&server, ServerCallSubject::Resource { uri }, env)?))
    }
}

impl Tool for ServerPromptTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths { anything: true, ..TouchedPaths::default() }
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let PromptArgs { server, name, arguments } = self.0.parse(input)?;
        Ok(Box::new(ServerToolPlan::new(&server, ServerCallSubject::Prompt { name, arguments }, env)?))
    }
}
