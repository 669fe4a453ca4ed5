//! A tool of another system: its arguments and its words around one of placet's own plans.
//!
//! No file is opened here. A foreign tool reads its arguments, makes a plan of the operations every surface shares, and
//! puts what comes of it (or what went wrong) into the words its callers were trained on.

use super::super::input::Shape;
use super::super::output::failed;
use super::super::{
    CallFailure, Delivery, Env, Facts, Output, Plan, Preview, RunCtx, Running, Sight, Tool, ToolError,
    Touches,
};
use crate::conversation::{CallId, Part, ToolSpec};
use crate::permission::{Access, Permit};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

type Planner<A, S> = fn(&A, &Env, &Arc<S>) -> Result<Box<dyn Plan>, ToolError>;
/// The words for what was done; `None` keeps placet's own.
type Words<A, S> = fn(&A, &S, &Said<'_>) -> Option<String>;
/// The words for what went wrong; `None` keeps placet's own.
type Faults<A, S> = fn(&A, &Env, &S, &ToolError) -> Option<String>;

/// A call that ran, for whoever finds the words.
pub(super) struct Said<'a> {
    pub(super) env: &'a Env,
    pub(super) call: &'a CallId,
    pub(super) output: &'a Output,
}

/// See the module. `S` is what the tools of one surface share.
pub(super) struct Foreign<A, S> {
    shape: Shape,
    /// The native tool that rules mean, where it has another name.
    native: fn(&Value) -> Option<&'static str>,
    shared: Arc<S>,
    touches: fn(&Value, &S) -> Touches,
    /// Looks at the raw arguments first: for systems that have words of their own for those that do not fit.
    check: fn(&Value) -> Option<String>,
    plan: Planner<A, S>,
    words: Words<A, S>,
    faults: Faults<A, S>,
    delivery: Delivery,
}

impl<A: JsonSchema, S> Foreign<A, S> {
    pub(super) fn new(name: &str, description: &str, shared: &Arc<S>, plan: Planner<A, S>) -> Foreign<A, S> {
        Foreign {
            shape: Shape::of::<A>(name, description),
            native: |_| None,
            shared: Arc::clone(shared),
            touches: |_, _| Touches { anything: true, ..Touches::default() },
            check: |_| None,
            plan,
            words: |_, _, _| None,
            delivery: Delivery::Spilled,
            faults: |_, _, _, _| None,
        }
    }

    /// Rules speak of such a call as of this native tool.
    #[must_use]
    pub(super) fn judged_like(self, native: fn(&Value) -> Option<&'static str>) -> Self {
        Foreign { native, ..self }
    }

    #[must_use]
    pub(super) fn touching(self, touches: fn(&Value, &S) -> Touches) -> Self {
        Foreign { touches, ..self }
    }

    #[must_use]
    pub(super) fn checking(self, check: fn(&Value) -> Option<String>) -> Self {
        Foreign { check, ..self }
    }

    #[must_use]
    pub(super) fn saying(self, words: Words<A, S>) -> Self {
        Foreign { words, ..self }
    }

    /// Its results go out as they are: it keeps them short itself, or they would be of no use in parts.
    #[must_use]
    pub(super) fn whole(self) -> Self {
        Foreign { delivery: Delivery::Whole, ..self }
    }

    #[must_use]
    pub(super) fn failing(self, faults: Faults<A, S>) -> Self {
        Foreign { faults, ..self }
    }
}

impl<A, S> Tool for Foreign<A, S>
where
    A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    S: Send + Sync + 'static,
{
    fn spec(&self) -> ToolSpec {
        self.shape.spec()
    }

    fn touches(&self, input: &Value) -> Touches {
        (self.touches)(input, &self.shared)
    }

    fn judged_as(&self, input: &Value) -> String {
        (self.native)(input).map_or_else(|| self.shape.spec().name, String::from)
    }

    fn delivery(&self) -> Delivery {
        self.delivery
    }

    fn plan(&self, input: &Value, env: &Env) -> Result<Box<dyn Plan>, ToolError> {
        if let Some(words) = (self.check)(input) {
            return Err(ToolError::worded(words));
        }
        let args: Arc<A> = Arc::new(self.shape.parse(input)?);
        let voice = Voice { args, shared: Arc::clone(&self.shared), words: self.words, faults: self.faults };
        let inner = (self.plan)(&voice.args, env, &self.shared).map_err(|e| voice.error(env, e))?;
        Ok(Box::new(Worded { inner, voice }))
    }
}

/// How one call's results and failures are put.
struct Voice<A, S> {
    args: Arc<A>,
    shared: Arc<S>,
    words: Words<A, S>,
    faults: Faults<A, S>,
}

impl<A, S> Voice<A, S> {
    fn error(&self, env: &Env, error: ToolError) -> ToolError {
        match (self.faults)(&self.args, env, &self.shared, &error) {
            Some(words) if error.fault != CallFailure::Worded => ToolError::worded(words),
            _ => error,
        }
    }

    fn output(&self, env: &Env, title: &str, call: &CallId, output: Output) -> Output {
        if let Facts::Failed(error) = &output.facts {
            return failed(title, &self.error(env, error.clone()));
        }
        match (self.words)(&self.args, &self.shared, &Said { env, call, output: &output }) {
            Some(words) => Output { for_model: vec![Part::text(words)], ..output },
            None => output,
        }
    }
}

struct Worded<A, S> {
    inner: Box<dyn Plan>,
    voice: Voice<A, S>,
}

impl<A: Send + Sync + 'static, S: Send + Sync + 'static> Plan for Worded<A, S> {
    fn reach(&self) -> Vec<Access> {
        self.inner.reach()
    }

    fn title(&self) -> String {
        self.inner.title()
    }

    fn prepare(&mut self, env: &Env, sight: Sight) -> Result<Preview, ToolError> {
        self.inner.prepare(env, sight).map_err(|e| self.voice.error(env, e))
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunCtx) -> Running {
        let Worded { inner, voice } = *self;
        let (title, env, call) = (inner.title(), Arc::clone(&ctx.env), permit.call().clone());
        let running = inner.run(permit, ctx);
        Box::pin(async move { voice.output(&env, &title, &call, running.await) })
    }
}

/// What a call touches when it reads the path in this argument.
pub(super) fn reads(input: &Value, argument: &str, otherwise: &str) -> Touches {
    let path = input.get(argument).and_then(Value::as_str).unwrap_or(otherwise);
    Touches { reads: vec![path.into()], ..Touches::default() }
}

pub(super) fn writes(input: &Value, argument: &str) -> Touches {
    let path = input.get(argument).and_then(Value::as_str).map(String::from);
    Touches { writes: path.into_iter().collect(), ..Touches::default() }
}
