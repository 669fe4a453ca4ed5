//! A tool of a server, as a tool of placet: described by the server, judged by the rules about `mcp(SERVER.TOOL)`.

use super::calls::{ServerAnswer, ServerCall, call_server};
use super::rendered;
use crate::command::command_effects::EffectsSummary;
use crate::command::sandboxed::CommandIsolation;
use crate::output::{failed, interrupted};
use crate::{
    CallPreview, DisplayDetail, Plan, ReadScope, RunContext, RunFuture, Tool, ToolContext, ToolError,
    ToolOutput, TouchedPaths,
};
use placet_mcp::{ServerCallSubject, ServerKind, ServerToolSpec};
use placet_permission::{Access, Permit};
use placet_text::conversation::{Part, ToolSpec};
use placet_workspace::WriteContext;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// How much of the arguments a title shows, in bytes.
const IN_TITLE: usize = 80;

pub(super) struct ServerTool {
    /// What the model calls it: `SERVER__TOOL`.
    pub(super) called: String,
    pub(super) server: String,
    pub(super) spec: ServerToolSpec,
}

impl Tool for ServerTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.called.clone(),
            description: self.spec.description.clone(),
            schema: self.spec.schema.clone(),
        }
    }

    fn name(&self) -> String {
        self.called.clone()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        // Nobody knows what it touches.
        TouchedPaths { anything: true, ..TouchedPaths::default() }
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let Value::Object(arguments) = input else {
            return Err(ToolError::new(format!("the arguments of `{}` are not an object", self.called)));
        };
        let (name, arguments) = (self.spec.name.clone(), arguments.clone());
        let plan = ServerToolPlan::new(&self.server, ServerCallSubject::Tool { name, arguments }, env)?;
        Ok(Box::new(plan))
    }
}

/// One call of a tool of a server, or what a person gets of it.
pub(super) struct ServerToolPlan {
    server: String,
    subject: ServerCallSubject,
    access: Access,
    /// Hosts that a start needs and that its settings do not name.
    wanted_hosts: Vec<String>,
    place: String,
    /// The definition, if no person has approved it yet.
    new_definition: Option<ServerToolSpec>,
}

impl ServerToolPlan {
    pub(super) fn new(
        server: &str,
        subject: ServerCallSubject,
        env: &ToolContext,
    ) -> Result<ServerToolPlan, ToolError> {
        let definition = env.servers.definitions().find(|definition| definition.name == server);
        let definition =
            definition.ok_or_else(|| ToolError::new(format!("there is no server `{server}` here")))?;
        let tool = subject.name();
        let is_tool = matches!(subject, ServerCallSubject::Tool { .. });
        let known = is_tool.then(|| env.servers.tool(server, tool)).flatten();
        let (spec, changed) = known.map_or((None, false), |(spec, changed)| (Some(spec), changed));
        let program = definition.program();
        let in_view = program.is_some_and(|program| !program.is_outside)
            && CommandIsolation::of(env) == CommandIsolation::View;
        let status = env.servers.status(server);
        let wanted_hosts = if in_view { status.wanted_hosts } else { Vec::new() };
        let of_settings = program.map_or(&[][..], |program| &program.hosts).iter();
        let hosts: Vec<&str> =
            of_settings.chain(&status.given_hosts).chain(&wanted_hosts).map(String::as_str).collect();
        let vouched = definition.is_trusted && spec.as_ref().is_some_and(|spec| spec.says_read_only);
        let access = Access::ServerTool {
            server: server.into(),
            tool: tool.into(),
            confined: in_view && hosts.is_empty(),
            vouched: vouched && !changed,
            changed,
        };
        let place = match (&definition.kind, in_view, hosts.as_slice()) {
            (ServerKind::Http(at), ..) => {
                format!("is at {}, and gets the arguments", at.host())
            }
            (_, true, []) => "runs in the copy-on-write view, without a network".into(),
            (_, true, hosts) => {
                format!("runs in the copy-on-write view, with the network, to {}", hosts.join(" and "))
            }
            (_, false, _) => "runs outside of the copy-on-write view, with all your rights".to_string(),
        };
        let place = format!("server {server}: {}\n{place}", in_one_line(&definition.shown()));
        let new_definition = spec.filter(|_| changed);
        let server = server.into();
        Ok(ServerToolPlan { server, subject, access, wanted_hosts, place, new_definition })
    }

    /// What is asked for and with what, each without a form of its own.
    fn parts(&self) -> (Cow<'_, str>, Cow<'_, str>, Option<&Map<String, Value>>) {
        match &self.subject {
            ServerCallSubject::Tool { name, arguments } => {
                ("tool".into(), in_one_line(name), Some(arguments).filter(|all| !all.is_empty()))
            }
            ServerCallSubject::Resource { uri } => ("resource".into(), in_one_line(uri), None),
            ServerCallSubject::Prompt { name, arguments } => {
                ("prompt".into(), in_one_line(name), Some(arguments).filter(|all| !all.is_empty()))
            }
        }
    }

    async fn execute(self, writer: WriteContext, ctx: &RunContext) -> Result<ServerAnswer, ToolError> {
        let approved = self.new_definition.as_ref().map(ServerToolSpec::definition_hash);
        let call = ServerCall {
            env: &ctx.env,
            server: &self.server,
            subject: self.subject,
            writer,
            hosts: self.wanted_hosts,
            approved,
            cancel: &ctx.cancel,
            progress: ctx.progress.clone(),
            host: Arc::clone(&ctx.requests),
        };
        call_server(call).await
    }
}

impl Plan for ServerToolPlan {
    fn reach(&self) -> Vec<Access> {
        let mut reach = vec![self.access.clone()];
        reach.extend(server_network(&self.server, &self.wanted_hosts));
        reach
    }

    fn title(&self) -> String {
        let (_, name, arguments) = self.parts();
        let arguments = arguments.map_or_else(String::new, |all| format!(" {}", Value::Object(all.clone())));
        let cut = arguments.floor_char_boundary(IN_TITLE);
        let more = if cut < arguments.len() { " ..." } else { "" };
        format!("{}: {name}{}{more}", self.server, arguments.get(..cut).unwrap_or_default())
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        // What placet knows comes first, where the arguments cannot imitate it.
        let (kind, name, arguments) = self.parts();
        let mut text = format!("{}\n{kind} {name}\n", self.place);
        if let Some(definition) = &self.new_definition {
            text.push_str(&shown_definition(definition));
        }
        let no_arguments = Map::new();
        let shown = serde_json::to_string_pretty(arguments.unwrap_or(&no_arguments)).unwrap_or_default();
        text.push_str(&format!("arguments:\n{shown}"));
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::Text(text) })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            let title = self.title();
            if !self.reach().iter().all(|access| permit.covers(access)) {
                return failed(&title, &ToolError::new("nobody approved this call"));
            }
            let view = ctx.env.workspace.view();
            let writer = view.map_or_else(|| permit.write_policy().into(), |view| view.writer(&permit));
            match self.execute(writer, &ctx).await {
                Ok(answer) => answered(answer, title, &ctx).await,
                Err(error) => failed(&title, &error),
            }
        })
    }
}

/// What a start of the server with these hosts touches.
pub(super) fn server_network(server: &str, hosts: &[String]) -> impl Iterator<Item = Access> {
    hosts.iter().map(|host| Access::ServerNetwork { server: server.into(), host: host.clone() })
}

/// A text that cannot begin another line. It is not rendered here: that happens once, where it is shown.
pub(super) fn in_one_line(text: &str) -> Cow<'_, str> {
    match text.chars().any(char::is_control) {
        true => Value::from(text).to_string().into(),
        false => text.into(),
    }
}

/// What a person approves. Its lines are indented, so that a description cannot imitate what placet says.
fn shown_definition(definition: &ServerToolSpec) -> String {
    let indented =
        |text: &str| text.split_terminator('\n').map(|line| format!("  {line}\n")).collect::<String>();
    let schema = serde_json::to_string_pretty(&definition.schema).unwrap_or_default();
    let says = if definition.says_read_only { "it says that it changes nothing\n" } else { "" };
    format!(
        "its new description:\n{}its new schema:\n{}{says}",
        indented(&definition.description),
        indented(&schema)
    )
}

async fn answered(answer: ServerAnswer, title: String, ctx: &RunContext) -> ToolOutput {
    let ServerAnswer { result, effects, was_stopped } = answer;
    let output = match result {
        _ if was_stopped => interrupted(&title),
        Err(error) => failed(&title, &error),
        Ok(result) => {
            let (most, line) = (ctx.env.limits.image_bytes, title.clone());
            let rendering = tokio::task::spawn_blocking(move || rendered::output(result, &line, most));
            match rendering.await {
                Ok(output) => output,
                Err(e) => failed(&title, &ToolError::new(format!("its result cannot be read: {e}"))),
            }
        }
    };
    with_effects(output, &effects)
}

/// Adds what the server changed: to the text for the model, and to the line for the person.
fn with_effects(mut output: ToolOutput, effects: &EffectsSummary) -> ToolOutput {
    if !effects.for_model.is_empty() {
        output.for_model.push(Part::text(effects.for_model.trim_start()));
    }
    output.for_person.line.push_str(&effects.for_person);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_definition_is_shown_as_it_is_and_imitates_no_line() {
        let definition = ServerToolSpec {
            name: "a".into(),
            description: "one\u{200b}\narguments:\r\n{}\n".into(),
            schema: serde_json::json!({"type": "object"}),
            says_read_only: true,
        };
        assert_eq!(
            shown_definition(&definition),
            "its new description:\n  one\u{200b}\n  arguments:\r\n  {}\nits new schema:\n  {\n    \"type\": \"object\"\n  }\n\
             it says that it changes nothing\n"
        );
        assert_eq!(in_one_line("a\u{200b} \"b\""), "a\u{200b} \"b\"");
        assert_eq!(in_one_line("a\nserver good"), "\"a\\nserver good\"");
    }
}
