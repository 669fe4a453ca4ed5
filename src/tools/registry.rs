//! All tools under their names, and the front every call comes through.

use super::{Env, Output, Plan, Preview, RunCtx, Running, Sight, Tool, ToolError, Touches};
use super::{edit_file, find_files, list_directory, output, read_file, run_command};
use super::{scratchpad, search_contents, write_file};
use crate::conversation::{Input, ToolSpec};
use crate::permission::{Permit, Reach};
use crate::session::check_name;
use crate::text::nearest;
use serde_json::Value;
use std::sync::Arc;

/// The tools of a session, in the order in which they are advertised.
#[derive(Clone)]
pub struct Registry {
    tools: Arc<[Arc<dyn Tool>]>,
}

impl Registry {
    /// placet's own tools.
    pub fn native() -> Registry {
        Registry::of(vec![
            Arc::new(read_file::ReadFile::default()),
            Arc::new(edit_file::EditFile::default()),
            Arc::new(write_file::WriteFile::default()),
            Arc::new(list_directory::ListDirectory::default()),
            Arc::new(find_files::FindFiles::default()),
            Arc::new(search_contents::SearchContents::default()),
            Arc::new(run_command::RunCommand::default()),
            Arc::new(scratchpad::Scratchpad::default()),
        ])
    }

    pub fn of(tools: Vec<Arc<dyn Tool>>) -> Registry {
        Registry { tools: tools.into() }
    }

    /// What the model is told of them. The same bytes each time.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }

    pub fn names(&self) -> Vec<String> {
        self.specs().into_iter().map(|spec| spec.name).collect()
    }

    pub fn get(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        let found = self.tools.iter().find(|tool| tool.spec().name == name);
        found.ok_or_else(|| {
            let names = self.names();
            let meant = nearest(name, names.iter().map(String::as_str));
            let meant = meant.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            ToolError::hint(
                format!("there is no tool `{name}`{meant}"),
                format!("the tools are {}", names.join(", ")),
            )
        })
    }

    /// What a call touches, for putting calls in order; one that cannot be planned touches nothing.
    pub fn touches(&self, name: &str, input: &Input) -> Touches {
        match (self.get(name), input) {
            (Ok(tool), Input::Object(value)) => tool.touches(value),
            _ => Touches::default(),
        }
    }

    /// Plans a call. Arguments that are no object are refused; the plan's result is cut, spilled or put into the
    /// scratchpad the call names.
    pub fn plan(&self, name: &str, input: &Input, env: &Env) -> Result<Box<dyn Plan>, ToolError> {
        let tool = self.get(name)?;
        let value = match input {
            Input::Object(value) => value,
            Input::Malformed { reason, .. } => {
                let hint = "nothing was run; send the call again with one complete JSON object";
                return Err(ToolError::hint(reason.clone(), hint));
            }
        };
        let inner = tool.plan(value, env)?;
        // Only where the tool knows the parameter: its plan has refused it otherwise.
        let scratchpad = value.get("scratchpad").and_then(Value::as_str).map(String::from);
        if let Some(pad) = &scratchpad {
            check_name(pad).map_err(|e| ToolError::new(e.to_string()))?;
        }
        Ok(Box::new(Fronted { inner, tool: name.into(), scratchpad }))
    }
}

/// A plan whose output goes through [`output::deliver`].
struct Fronted {
    inner: Box<dyn Plan>,
    tool: String,
    scratchpad: Option<String>,
}

impl Plan for Fronted {
    fn reach(&self) -> Vec<Reach> {
        let mut reach = self.inner.reach();
        if self.scratchpad.is_some() && !reach.contains(&Reach::Session) {
            reach.push(Reach::Session);
        }
        reach
    }

    fn title(&self) -> String {
        self.inner.title()
    }

    fn prepare(&mut self, env: &Env, sight: Sight) -> Result<Preview, ToolError> {
        self.inner.prepare(env, sight)
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunCtx) -> Running {
        let Fronted { inner, tool, scratchpad } = *self;
        let (env, inspect) = (ctx.env.clone(), ctx.inspect.clone());
        let running = inner.run(permit, ctx);
        Box::pin(async move {
            let done: Output = inspect.look(running.await).await;
            output::deliver(done, &tool, scratchpad.as_deref(), &env)
        })
    }
}
