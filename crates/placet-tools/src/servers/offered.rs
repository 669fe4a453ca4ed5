//! The tools of servers that a conversation offers to its models: chosen once, before the first request, and then the same
//! for every request, whatever servers do: a list that changes would make providers read the conversation again.

use super::calls::read_server_tools;
use super::deferred::instead_of;
use super::server_tool::ServerTool;
use crate::{Tool, ToolContext, ToolError};
use futures_util::future::join_all;
use placet_mcp::{KnownTools, ServerDefinition};
use placet_text::text::{count, visible};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// Above this size of descriptions and schemas, in bytes, the tools are deferred.
const MOST_SCHEMAS: usize = 3_000;
/// The longest name that providers accept.
const LONGEST_NAME: usize = 64;

/// The tools of all servers for a conversation. Empty until [`ServerTools::choose`].
#[derive(Default)]
pub struct ServerTools(OnceLock<OfferedTools>);

/// A server whose tools could not be read.
pub struct UnreadServer {
    pub name: String,
    /// What the person should know.
    pub words: String,
}

/// What was chosen.
#[derive(Default)]
struct OfferedTools {
    /// What requests contain.
    advertised: Vec<Arc<dyn Tool>>,
    /// Tools that can be called, also if requests do not contain them, by their names.
    by_name: HashMap<String, Arc<dyn Tool>>,
}

impl ServerTools {
    /// The tools that requests contain, in their order.
    pub(crate) fn advertised(&self) -> &[Arc<dyn Tool>] {
        self.0.get().map_or(&[], |offered| &offered.advertised)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.0.get()?.by_name.get(name)
    }

    /// Starts the servers whose tools are not stored. Returns those that did not start; `None` where the tools were chosen
    /// before.
    pub async fn read_unknown(
        &self,
        env: &ToolContext,
        cancel: &CancellationToken,
        on_start: impl Fn(&str),
    ) -> Option<Vec<UnreadServer>> {
        if self.0.get().is_some() {
            return None;
        }
        let unknown: Vec<&ServerDefinition> =
            enabled(env).filter(|d| env.servers.status(&d.name).known.is_none()).collect();
        if !unknown.is_empty() {
            let names: Vec<&str> = unknown.iter().map(|definition| definition.name.as_str()).collect();
            on_start(&format!("starting {} to read the tools", names.join(", ")));
        }
        let reading = join_all(unknown.iter().map(|d| read_server_tools(env, &d.name, cancel))).await;
        let unread = |(definition, result): (&&ServerDefinition, Result<KnownTools, ToolError>)| {
            let words = format!("{}; its tools are not offered", result.err()?.message);
            let name = definition.name.clone();
            Some(UnreadServer { name, words })
        };
        Some(unknown.iter().zip(reading).filter_map(unread).collect())
    }

    /// Chooses the tools, once: later calls do nothing. Returns what the person should know.
    pub fn choose(&self, env: &ToolContext, taken: &[String]) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        let lists = enabled(env).filter_map(|d| Some((d, env.servers.status(&d.name).known?)));
        let tools = named(lists, taken, &mut told);
        let chosen = self.0.set(offered(tools)).is_ok();
        if chosen { told } else { Vec::new() }
    }
}

fn enabled(env: &ToolContext) -> impl Iterator<Item = &ServerDefinition> {
    env.servers.definitions().filter(|definition| definition.is_enabled)
}

/// All tools under names that are different from each other and from `taken`.
fn named<'a>(
    lists: impl Iterator<Item = (&'a ServerDefinition, KnownTools)>,
    taken: &[String],
    told: &mut Vec<String>,
) -> Vec<Arc<ServerTool>> {
    let mut tools: Vec<Arc<ServerTool>> = Vec::new();
    for (definition, known) in lists {
        let server = &definition.name;
        if known.left_out.is_endless {
            told.push(format!(
                "the server `{server}` has too many tools: {} of them are used",
                known.tools.len()
            ));
        }
        if known.left_out.unusable > 0 {
            let tools = count::of(known.left_out.unusable, "tool");
            told.push(format!("the server `{server}` has {tools} that no model can use; not offered"));
        }
        for spec in known.tools {
            let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
            let name: String = format!("{server}__{}", spec.name).chars().map(plain).collect();
            let free = |name: &String| !taken.contains(name) && tools.iter().all(|tool| tool.called != *name);
            let cut = |most: usize| name.chars().take(most).collect::<String>();
            let numbered = |n: usize| format!("{}_{n}", cut(LONGEST_NAME - 4));
            let called = std::iter::once(cut(LONGEST_NAME)).chain((2..1000).map(numbered)).find(free);
            let Some(called) = called else { continue };
            if called.len() < name.len() {
                told.push(format!("`{}` is called `{called}`", visible::line(&name)));
            }
            tools.push(Arc::new(ServerTool { called, server: server.clone(), spec }));
        }
    }
    tools
}

fn offered(tools: Vec<Arc<ServerTool>>) -> OfferedTools {
    let size = |tool: &Arc<ServerTool>| {
        let spec = tool.spec();
        spec.name.len() + spec.description.len() + spec.schema.to_string().len()
    };
    let total: usize = tools.iter().map(size).sum();
    let all = || tools.iter().map(|tool| Arc::clone(tool) as Arc<dyn Tool>);
    let advertised: Vec<Arc<dyn Tool>> =
        if total <= MOST_SCHEMAS { all().collect() } else { instead_of(&tools).into() };
    let by_name = advertised.iter().cloned().chain(all()).map(|tool| (tool.name(), tool)).collect();
    OfferedTools { advertised, by_name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_mcp::{FetchedTools, LeftOutTools, ServerKind, ServerProgram, ServerToolSpec};
    use std::time::Duration;

    fn definition(name: &str) -> ServerDefinition {
        ServerDefinition {
            name: name.into(),
            kind: ServerKind::Program(ServerProgram { command: "x".into(), ..ServerProgram::default() }),
            is_trusted: false,
            is_enabled: true,
            timeout: Duration::from_secs(1),
        }
    }

    fn known(names: &[&str], description: &str) -> KnownTools {
        let spec = |name: &&str| ServerToolSpec {
            name: (*name).into(),
            description: description.into(),
            schema: serde_json::json!({"type": "object"}),
            says_read_only: false,
        };
        let (tools, left_out) = (names.iter().map(spec).collect(), LeftOutTools::default());
        KnownTools::default()
            .updated(String::new(), FetchedTools { tools, left_out, ..FetchedTools::default() })
    }

    #[test]
    fn names_cannot_imitate_each_other_or_ours() {
        let long = "x".repeat(100);
        let (a, b) = (definition("a"), definition("b"));
        let lists = [(&a, known(&["read_file", "é", "ê", &long], "")), (&b, known(&["read_file"], ""))];
        let mut told = Vec::new();
        let tools = named(lists.into_iter(), &["a__read_file".into()], &mut told);
        let names: Vec<&str> = tools.iter().map(|tool| tool.called.as_str()).collect();
        assert_eq!(names[..3], ["a__read_file_2", "a___", "a____2"]);
        assert_eq!((names[3].len(), names[4]), (64, "b__read_file"));
    }

    #[test]
    fn many_schemas_are_deferred_and_can_still_be_called() {
        let server = definition("s");
        let few = named([(&server, known(&["a"], "short"))].into_iter(), &[], &mut Vec::new());
        let few = offered(few);
        assert_eq!((few.advertised.len(), few.by_name.len()), (1, 1));
        let many =
            named([(&server, known(&["a", "b", "c"], &"w".repeat(1500)))].into_iter(), &[], &mut Vec::new());
        let many = offered(many);
        let names: Vec<String> = many.advertised.iter().map(|tool| tool.name()).collect();
        assert_eq!((names, many.by_name.len()), (vec!["find_tool".into(), "call_tool".into()], 5));
    }
}
