//! All tools under their names, and the entry point of every call.

use super::argument_repair::{self, ArgumentRepair};
use super::argument_size;
use super::batch::operations;
use super::command::jobs;
use super::command::run;
use super::files::{edit, find, list, read};
use super::files::{search, write};
use super::output;
use super::patch::apply_patch;
use super::rare::{InnerCall, MORE_TOOLS, MoreTools, is_rare};
use super::servers::person_tools;
use super::tool_names::ToolNames;
use super::web::{fetch_url, search_web};
use super::{
    CallPreview, OutputDelivery, Plan, ReadScope, RunContext, RunFuture, ServerTools, Tool, ToolContext,
    ToolError, TouchedPaths,
};
use super::{ask_person, remember, scratchpad, skill, subagent, todo};
use placet_permission::{Access, Permit};
use placet_session::session::check_name;
use placet_text::conversation::{CallFact, CallFailure, CallInput, ToolCall, ToolSpec};
use placet_text::text::nearest;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// The tools of a session, in the order in which they are advertised.
#[derive(Clone)]
pub struct ToolRegistry {
    tools: Arc<[Arc<dyn Tool>]>,
    /// The tools' own names, in the same order.
    called: Arc<[String]>,
    /// The names that providers get, in the same order: see [`wire_names`].
    wire: Arc<[String]>,
    /// Tools of which the model gets a line: `more_tools`, the last of `tools`, calls them.
    rare: Option<Arc<MoreTools>>,
    /// Tools that no model gets: text that a person types runs them.
    unlisted: Arc<[Arc<dyn Tool>]>,
    /// The tools of servers, which come after the others.
    servers: Arc<ServerTools>,
    names: ToolNames,
    /// The prefix that a tool name may have: `tool::`.
    prefix: Option<&'static str>,
}

/// Names that providers accept: letters, digits, `_` and `-`, at most 64 characters. Two names never become equal.
fn wire_names(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut wire: Vec<String> = Vec::new();
    for name in names {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
        let plain: String = name.chars().map(plain).take(64).collect();
        let numbered = |n: usize| plain.chars().take(60).chain(format!("_{n}").chars()).collect::<String>();
        let free = |candidate: &String| !candidate.is_empty() && !wire.contains(candidate);
        let name = std::iter::once(plain.clone()).chain((2..).map(numbered)).find(free);
        wire.extend(name);
    }
    wire
}

impl ToolRegistry {
    /// placet's own tools. They have no state, and so all registries share them: to describe them takes a part of a start.
    pub fn native() -> ToolRegistry {
        static NATIVE: LazyLock<ToolRegistry> = LazyLock::new(ToolRegistry::made);
        NATIVE.clone()
    }

    fn made() -> ToolRegistry {
        ToolRegistry::of(vec![
            Arc::new(read::ReadFile::default()),
            Arc::new(edit::EditFile::default()),
            Arc::new(write::WriteFile::default()),
            Arc::new(apply_patch::ApplyPatch::default()),
            Arc::new(operations::OperationsTool::default()),
            Arc::new(list::ListDirectory::default()),
            Arc::new(find::FindFiles::default()),
            Arc::new(search::SearchContents::default()),
            Arc::new(run::RunCommand::default()),
            Arc::new(jobs::JobTool::default()),
            Arc::new(fetch_url::FetchUrl::default()),
            Arc::new(scratchpad::ScratchpadTool::default()),
            Arc::new(todo::TodoTool::default()),
            Arc::new(ask_person::AskPerson::default()),
            Arc::new(subagent::SubagentTool::default()),
            Arc::new(skill::SkillTool::default()),
            Arc::new(remember::RememberTool::default()),
        ])
    }

    /// The same registry for a conversation, which chooses the tools of servers for itself.
    #[must_use]
    pub fn for_conversation(&self) -> ToolRegistry {
        ToolRegistry { servers: Arc::default(), ..self.clone() }
    }

    /// The same registry with `search_web`, for a person who has configured a search engine. It comes last, so that the
    /// other tools stay where they are.
    #[must_use]
    pub fn with_search(self) -> ToolRegistry {
        let search: Arc<dyn Tool> = Arc::new(search_web::SearchWeb::default());
        let tools = self.tools.iter().cloned().chain([search]).collect();
        let ToolRegistry { tools, called, wire, names, .. } = ToolRegistry::of(tools);
        ToolRegistry { tools, called, wire, names, ..self }
    }

    #[cfg(test)]
    pub(super) fn hint_names(&self) -> &ToolNames {
        &self.names
    }

    pub fn of(tools: Vec<Arc<dyn Tool>>) -> ToolRegistry {
        let called: Vec<String> = tools.iter().map(|tool| tool.name()).collect();
        let wire = wire_names(called.iter().cloned());
        let names = ToolNames::of(&tools, &called, &wire);
        ToolRegistry {
            tools: tools.into(),
            called: called.into(),
            wire: wire.into(),
            rare: None,
            unlisted: Arc::new([]),
            servers: Arc::default(),
            names,
            prefix: None,
        }
    }

    /// The same registry, in which the model looks up what is seldom used. Hints still name all tools.
    #[must_use]
    pub fn with_rare_looked_up(self) -> ToolRegistry {
        let (rare, mut tools): (Vec<_>, Vec<_>) = self.every().partition(|tool| is_rare(&tool.name()));
        if rare.is_empty() {
            return self;
        }
        let more = Arc::new(MoreTools::of(rare.into()));
        tools.push(Arc::clone(&more) as Arc<dyn Tool>);
        let ToolRegistry { tools, called, wire, .. } = ToolRegistry::of(tools);
        ToolRegistry { tools, called, wire, rare: Some(more), ..self }
    }

    /// All tools, those that are looked up included, and not the one that looks them up.
    fn every(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        let rare = self.rare.iter().flat_map(|more| more.tools());
        let is_more = |tool: &&Arc<dyn Tool>| self.rare.is_some() && tool.name() == MORE_TOOLS;
        self.tools.iter().filter(move |tool| !is_more(tool)).chain(rare).cloned()
    }

    /// The call that `more_tools` is asked to make; any other call unchanged.
    pub fn unwrapped(&self, call: ToolCall) -> ToolCall {
        let inner = |input: &CallInput| {
            let (tool, arguments) = self.looked_up(&call.name, input)?;
            Some((tool.name(), CallInput::Object(Value::Object(arguments.clone()))))
        };
        match inner(&call.input) {
            Some((name, input)) => ToolCall { name, input, ..call },
            None => call,
        }
    }

    fn looked_up<'a>(&'a self, name: &str, input: &'a CallInput) -> Option<InnerCall<'a>> {
        let more = self.rare.as_ref().filter(|_| self.unprefixed(name) == MORE_TOOLS)?;
        let CallInput::Object(input) = input else { return None };
        more.inner(input)
    }

    /// The same registry with tools that can be called but are not advertised.
    #[must_use]
    pub fn with_unlisted(self, unlisted: Vec<Arc<dyn Tool>>) -> ToolRegistry {
        ToolRegistry { unlisted: unlisted.into(), ..self }
    }

    /// The same registry with the tools of servers.
    #[must_use]
    pub fn with_servers(self, servers: Arc<ServerTools>) -> ToolRegistry {
        ToolRegistry { servers, ..self }
    }

    pub fn servers(&self) -> &ServerTools {
        &self.servers
    }

    /// The same registry, in which calls may put `prefix` before a tool's name.
    #[must_use]
    pub fn with_prefix(self, prefix: &'static str) -> ToolRegistry {
        ToolRegistry { prefix: Some(prefix), ..self }
    }

    /// The tools under their own names. The bytes are the same each time.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().chain(self.servers.advertised()).map(|tool| tool.spec()).collect()
    }

    /// The tools whose names pass `keep`.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> ToolRegistry {
        let kept = self.every().filter(|tool| keep(&tool.name())).collect();
        let kept = ToolRegistry { names: self.names.clone(), prefix: self.prefix, ..ToolRegistry::of(kept) };
        if self.rare.is_some() { kept.with_rare_looked_up() } else { kept }
    }

    /// The same as [`ToolRegistry::only`], with the tools of servers.
    #[must_use]
    pub fn only_and_servers(&self, keep: impl Fn(&str) -> bool) -> ToolRegistry {
        self.only(keep).with_servers(Arc::clone(&self.servers))
    }

    /// placet's own tools for what the person runs directly, whatever the model's tools are called. Hints name the
    /// model's tools.
    #[must_use]
    pub fn for_person(&self) -> ToolRegistry {
        let of_servers = person_tools().into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>);
        let native = ToolRegistry::native().with_unlisted(of_servers.collect());
        ToolRegistry { names: self.names.clone(), ..native }
    }

    /// The tools that a program which calls tools directly gets: all except those that need a conversation. No other
    /// tool can be called.
    #[must_use]
    pub fn for_programs(&self) -> ToolRegistry {
        let kept = self.every().filter(|tool| !tool.is_of_conversation()).collect();
        let unlisted = self.unlisted.iter().filter(|tool| !tool.is_of_conversation()).cloned().collect();
        ToolRegistry { names: self.names.clone(), prefix: self.prefix, unlisted, ..ToolRegistry::of(kept) }
    }

    /// The same registry with more tools after the others, except those whose name is taken.
    #[must_use]
    pub fn and(self, more: Vec<Arc<dyn Tool>>) -> ToolRegistry {
        let more = more.into_iter().filter(|tool| self.get(&tool.name()).is_err());
        let tools = self.tools.iter().cloned().chain(more).collect();
        let ToolRegistry { unlisted, servers, names, prefix, .. } = self.clone();
        ToolRegistry { unlisted, servers, names, prefix, ..ToolRegistry::of(tools) }
    }

    /// The descriptions of [`ToolRegistry::for_programs`]. A command in the background belongs to a conversation, and so
    /// the schemas do not offer it.
    pub fn specs_for_programs(&self) -> Vec<ToolSpec> {
        let offered = |tool: &Arc<dyn Tool>| {
            let mut spec = tool.spec();
            if let Some(parameters) = spec.schema.get_mut("properties").and_then(Value::as_object_mut) {
                parameters.shift_remove("background");
                parameters.shift_remove("publish");
            }
            spec
        };
        self.tools.iter().filter(|tool| !tool.is_of_conversation()).map(offered).collect()
    }

    /// The tools as a provider gets them: under names that providers accept.
    pub fn wire_specs(&self) -> Vec<ToolSpec> {
        let named = |(spec, wire): (ToolSpec, &String)| ToolSpec { name: wire.clone(), ..spec };
        let own = self.tools.iter().map(|tool| tool.spec()).zip(self.wire.iter()).map(named);
        // The names of servers' tools are made so that providers accept them.
        own.chain(self.servers.advertised().iter().map(|tool| tool.spec())).collect()
    }

    /// The native tool to which rules about this call refer.
    pub fn judged_as(&self, name: &str, input: &CallInput) -> String {
        if let Some((tool, arguments)) = self.looked_up(name, input) {
            return tool.judged_as(&Value::Object(arguments.clone()));
        }
        self.get(name).map_or_else(|_| name.into(), |tool| tool.judged_as(&read_as(tool, input)))
    }

    /// The tools that are looked up.
    pub fn looked_up_specs(&self) -> Vec<ToolSpec> {
        self.rare.iter().flat_map(|more| more.tools()).map(|tool| tool.spec()).collect()
    }

    pub fn names(&self) -> Vec<String> {
        let servers = self.servers.advertised().iter().map(|tool| tool.name());
        self.called.iter().cloned().chain(servers).collect()
    }

    /// The tool's own name with the prefix of the tool set, where `name` may lack it or may be the name that providers get.
    pub fn full_name(&self, name: &str) -> String {
        let plain = self.unprefixed(name);
        let own = || self.called.iter().find(|called| *called == plain);
        let by_wire = || self.called.get(self.wire.iter().position(|wire| wire == name)?);
        let found = own().or_else(by_wire);
        found.map_or(name.to_string(), |own| format!("{}{own}", self.prefix.unwrap_or_default()))
    }

    fn unprefixed<'n>(&self, name: &'n str) -> &'n str {
        self.prefix.and_then(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
    }

    pub fn get(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        let name = self.unprefixed(name);
        let named = |names: &[String]| names.iter().position(|n| n == name).and_then(|at| self.tools.get(at));
        let unlisted = || self.unlisted.iter().find(|tool| tool.name() == name);
        let of_servers = || self.servers.find(name);
        // A model that has seen the name calls it directly now and then.
        let rare = || self.rare.as_ref()?.tools().find(|tool| tool.name() == name);
        let found = named(&self.called).or_else(unlisted).or_else(|| named(&self.wire));
        let found = found.or_else(rare).or_else(of_servers);
        found.ok_or_else(|| {
            let (names, name) = (self.names(), argument_size::beginning(name));
            let meant = nearest(name, names.iter().map(String::as_str));
            let meant = meant.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            ToolError::hint(
                format!("unknown tool `{name}`{meant}"),
                format!("the tools are {}", names.join(", ")),
            )
        })
    }

    /// What a call touches, for the order of calls; a call that cannot be planned touches nothing.
    pub fn touches(&self, name: &str, input: &CallInput) -> TouchedPaths {
        if let Some((tool, arguments)) = self.looked_up(name, input) {
            return tool.touches(&Value::Object(arguments.clone()));
        }
        let tool = self.get(name).ok();
        tool.map(|tool| tool.touches(&read_as(tool, input))).unwrap_or_default()
    }

    /// Plans a call. Arguments must be an object. The plan's result is cut, spilled, or stored in the scratchpad that
    /// the call names. Arguments that do not fit and can mean one thing only are taken so, and the result says it.
    pub fn plan(&self, name: &str, input: &CallInput, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let tool = self.get(name)?;
        let refusal = match self.plan_as_given(tool, name, input, env) {
            Ok(plan) => return Ok(Box::new(plan)),
            Err(refusal) => refusal,
        };
        let is_repairable = refusal.fault == CallFailure::Other;
        let repair = || argument_repair::repaired(input, &tool.spec().schema);
        let Some((value, repairs)) = is_repairable.then(repair).flatten() else {
            return Err(refusal);
        };
        // If something is wrong besides, the model reads about its own arguments and not about repaired ones.
        let plan = self.plan_as_given(tool, name, &CallInput::Object(value), env).map_err(|_| refusal)?;
        Ok(Box::new(DeliveredPlan { repairs, ..plan }))
    }

    fn plan_as_given(
        &self,
        tool: &Arc<dyn Tool>,
        name: &str,
        input: &CallInput,
        env: &ToolContext,
    ) -> Result<DeliveredPlan, ToolError> {
        let value = match input {
            CallInput::Object(value) => value,
            CallInput::Malformed { reason, is_cut, .. } => {
                let hint = match is_cut {
                    true => {
                        "nothing was run; the same call would be cut again: send its text in parts, each well below this limit"
                    }
                    false => "nothing was run; send the whole call again",
                };
                return Err(ToolError::hint(reason.clone(), hint));
            }
        };
        let inner = tool.plan(value, env).map_err(|e| self.names.error(e, &env.limits.offered))?;
        // Only if the tool has this parameter: otherwise its plan has refused the parameter already.
        let named = value.get("scratchpad").and_then(Value::as_str).filter(|name| !name.is_empty());
        let scratchpad = named.map(String::from);
        if let Some(pad) = &scratchpad {
            check_name(pad).map_err(|e| ToolError::new(e.to_string()))?;
        }
        let names = self.names.clone();
        let (tool, delivery) = (name.into(), tool.delivery());
        Ok(DeliveredPlan { inner, tool, scratchpad, delivery, names, repairs: Vec::new() })
    }
}

/// The arguments as a call is planned with them.
fn read_as<'i>(tool: &Arc<dyn Tool>, input: &'i CallInput) -> Cow<'i, Value> {
    match (argument_repair::repaired(input, &tool.spec().schema), input) {
        (Some((value, _)), _) => Cow::Owned(value),
        (None, CallInput::Object(value)) => Cow::Borrowed(value),
        (None, CallInput::Malformed { .. }) => Cow::Owned(Value::Null),
    }
}

/// A plan whose output goes through [`output::deliver`].
struct DeliveredPlan {
    inner: Box<dyn Plan>,
    tool: String,
    scratchpad: Option<String>,
    delivery: OutputDelivery,
    names: ToolNames,
    /// What was changed in the arguments.
    repairs: Vec<ArgumentRepair>,
}

impl Plan for DeliveredPlan {
    fn reach(&self) -> Vec<Access> {
        let mut reach = self.inner.reach();
        if self.scratchpad.is_some() && !reach.contains(&Access::Session) {
            reach.push(Access::Session);
        }
        reach
    }

    fn title(&self) -> String {
        self.inner.title()
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        self.inner.prepare(env, sight).map_err(|e| self.names.error(e, &env.limits.offered))
    }

    fn refusal(&self, env: &ToolContext) -> Option<String> {
        self.inner.refusal(env)
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        let DeliveredPlan { inner, tool, scratchpad, delivery, names, repairs } = *self;
        let (env, inspect) = (ctx.env.clone(), ctx.inspect.clone());
        // A page has had no effect: a person who stops the call need not wait until it is inspected and stored.
        let reach = inner.reach();
        let is_page = !reach.is_empty() && reach.iter().all(|one| matches!(one, Access::Fetch { .. }));
        let (title, cancel) = (inner.title(), ctx.cancel.clone());
        let running = inner.run(permit, ctx);
        let delivering = async move {
            let inspecting = async {
                let output = names.output(running.await, &env.limits.offered);
                output::record(inspect.look(output).await)
            };
            let done = match is_page {
                true => cancel.run_until_cancelled(inspecting).await,
                false => Some(inspecting.await),
            };
            let Some(done) = done.filter(|_| !is_page || !cancel.is_cancelled()) else {
                return output::interrupted(&title);
            };
            if matches!(delivery, OutputDelivery::Whole) && scratchpad.is_none() {
                return done;
            }
            if !is_page {
                return output::deliver(done, &tool, scratchpad.as_deref(), (&env, &names));
            }
            output::deliver_page(done, (tool, scratchpad), (env, names), &cancel).await
        };
        Box::pin(async move {
            let mut done = delivering.await;
            if !repairs.is_empty() {
                let changes = argument_repair::line(&repairs);
                done.recorded.push(CallFact::ArgumentsChanged { changes });
            }
            done
        })
    }
}

#[cfg(test)]
mod tests {
    use super::wire_names;

    #[test]
    fn names_become_what_providers_accept_and_stay_different() {
        let long = "x".repeat(70);
        let names = ["exec.run", "exec_run", "tool::file_read", "été", long.as_str(), long.as_str()];
        let wire = wire_names(names.into_iter().map(String::from));
        assert_eq!(wire[..4], ["exec_run", "exec_run_2", "tool__file_read", "_t_"]);
        assert_eq!((wire[4].len(), wire[5].as_str()), (64, format!("{}_2", "x".repeat(60)).as_str()));
    }
}
