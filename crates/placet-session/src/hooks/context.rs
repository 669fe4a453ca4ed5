//! The points at which hooks are asked, and their input.

use placet_permission::Access;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// The points, with the names that Triggerfish uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HookPoint {
    /// A request is about to be sent to the provider.
    PreContextInjection,
    /// A call was parsed, and is not decided yet.
    PreToolCall,
    /// A call has run; its result has not been sent anywhere yet.
    PostToolResponse,
    /// An answer is complete, and is not shown yet.
    PreOutput,
    /// The provider's key is about to be used for the first time in a conversation.
    SecretAccess,
    /// A conversation is about to be left for a new one.
    SessionReset,
    /// The agent gets a task.
    AgentInvocation,
    /// A call came from an MCP client; asked before PRE_TOOL_CALL.
    McpToolCall,
    /// The first message of a conversation in this process.
    SessionStart,
    /// A conversation ends in this process. Nothing can be refused any more.
    SessionEnd,
    /// A turn is about to end. A hook that blocks gives the model another message: its reason.
    TurnEnd,
    /// The same for a sub-agent.
    SubagentEnd,
    /// The beginning of the conversation is about to be summarized.
    PreCompact,
    /// placet asks the person something.
    Notification,
}

impl HookPoint {
    pub const ALL: [HookPoint; 14] = [
        HookPoint::PreContextInjection,
        HookPoint::PreToolCall,
        HookPoint::PostToolResponse,
        HookPoint::PreOutput,
        HookPoint::SecretAccess,
        HookPoint::SessionReset,
        HookPoint::AgentInvocation,
        HookPoint::McpToolCall,
        HookPoint::SessionStart,
        HookPoint::SessionEnd,
        HookPoint::TurnEnd,
        HookPoint::SubagentEnd,
        HookPoint::PreCompact,
        HookPoint::Notification,
    ];

    pub fn name(self) -> &'static str {
        match self {
            HookPoint::PreContextInjection => "PRE_CONTEXT_INJECTION",
            HookPoint::PreToolCall => "PRE_TOOL_CALL",
            HookPoint::PostToolResponse => "POST_TOOL_RESPONSE",
            HookPoint::PreOutput => "PRE_OUTPUT",
            HookPoint::SecretAccess => "SECRET_ACCESS",
            HookPoint::SessionReset => "SESSION_RESET",
            HookPoint::AgentInvocation => "AGENT_INVOCATION",
            HookPoint::McpToolCall => "MCP_TOOL_CALL",
            HookPoint::SessionStart => "SESSION_START",
            HookPoint::SessionEnd => "SESSION_END",
            HookPoint::TurnEnd => "TURN_END",
            HookPoint::SubagentEnd => "SUBAGENT_END",
            HookPoint::PreCompact => "PRE_COMPACT",
            HookPoint::Notification => "NOTIFICATION",
        }
    }

    pub fn parse(name: &str) -> Option<HookPoint> {
        HookPoint::ALL.into_iter().find(|point| point.name() == name)
    }

    pub(super) fn has_tool(self) -> bool {
        matches!(self, HookPoint::PreToolCall | HookPoint::PostToolResponse | HookPoint::McpToolCall)
    }

    /// True if the point has a text that can be changed.
    pub fn can_redact(self) -> bool {
        matches!(self, HookPoint::PostToolResponse | HookPoint::PreOutput)
    }
}

/// The classification of a call; a program reads `true` and `false` as words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookFlow {
    pub write_down: bool,
    pub resource_write_down: bool,
    pub read_ceiling: bool,
}

/// The input of a hook. A program gets it as one JSON object.
#[derive(Clone, Debug, Default)]
pub struct HookContext {
    pub tool: Option<String>,
    /// The call's arguments; at other points the subject of the question.
    pub input: Value,
    /// The result, the answer, or the content of the request.
    pub text: Option<String>,
    pub session_id: Option<String>,
    pub mode: String,
    pub session_taint: String,
    pub flow: HookFlow,
    pub cwd: PathBuf,
    /// placet's own name of the tool, whatever a tool set calls it.
    pub native: String,
    pub call_id: Option<String>,
    /// What the call touches.
    pub reach: Vec<Access>,
    /// The call has failed.
    pub has_failed: bool,
}

impl HookContext {
    /// The JSON that a program reads on its standard input.
    pub(super) fn json(&self, point: HookPoint) -> Value {
        let mut all = self.words(point);
        all.insert("input".into(), self.input.clone());
        if let Some(text) = &self.text {
            all.insert("text".into(), text.clone().into());
        }
        Value::Object(all)
    }

    /// Everything except the subject: `when` compares these values too.
    pub(super) fn words(&self, point: HookPoint) -> serde_json::Map<String, Value> {
        let flag = |is: bool| Value::from(if is { "true" } else { "false" });
        let mut all = serde_json::Map::new();
        all.insert("hook".into(), point.name().into());
        all.insert("tool".into(), self.tool.clone().unwrap_or_default().into());
        all.insert("session_id".into(), self.session_id.clone().unwrap_or_default().into());
        all.insert("mode".into(), self.mode.clone().into());
        all.insert("session_taint".into(), self.session_taint.clone().into());
        all.insert("write_down_violation".into(), flag(self.flow.write_down));
        all.insert("resource_write_down_violation".into(), flag(self.flow.resource_write_down));
        all.insert("resource_read_ceiling_violation".into(), flag(self.flow.read_ceiling));
        all.insert("cwd".into(), self.cwd.to_string_lossy().into());
        all
    }

    /// The text that a pattern is compared with: an argument, the text of the point, or all arguments as JSON.
    pub(super) fn subject(&self, argument: Option<&str>) -> Option<String> {
        let plain = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match argument {
            Some(path) => {
                let found = path.split('.').try_fold(&self.input, |value, name| value.get(name));
                found.map(plain)
            }
            None => Some(self.text.clone().unwrap_or_else(|| self.input.to_string())),
        }
    }
}
