//! A tool of another system: its arguments and its words around one of placet's own plans.
//!
//! No file is opened here. A foreign tool reads its arguments, makes a plan of the operations every surface shares, and
//! puts what comes of it (or what went wrong) into the words its callers were trained on.

use super::super::output::failed;
use super::super::{
    CallFailure, CallPreview, OutputDelivery, OutputFacts, Plan, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use crate::conversation::{CallId, Part, ToolSpec};
use crate::permission::{Access, Permit};
use crate::tools::arguments::ToolSchema;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

type PlanFn<A, S> = fn(&A, &ToolContext, &Arc<S>) -> Result<Box<dyn Plan>, ToolError>;
/// The words for what was done; `None` keeps placet's own.
type ResultTextFn<A, S> = fn(&A, &S, &FinishedCall<'_>) -> Option<String>;
/// The words for what went wrong; `None` keeps placet's own.
type ErrorTextFn<A, S> = fn(&A, &ToolContext, &S, &ToolError) -> Option<String>;

/// A call that ran, for the code that words it.
pub(super) struct FinishedCall<'a> {
    pub(super) env: &'a ToolContext,
    pub(super) call: &'a CallId,
    pub(super) output: &'a ToolOutput,
}

/// See the module. `S` is what the tools of one surface share.
pub(super) struct ForeignTool<A, S> {
    shape: ToolSchema,
    /// The native tool that rules mean, where it has another name.
    native: fn(&Value) -> Option<&'static str>,
    shared: Arc<S>,
    touches: fn(&Value, &S) -> TouchedPaths,
    /// Looks at the raw arguments first: for systems that have words of their own for those that do not fit.
    check: fn(&Value) -> Option<String>,
    plan: PlanFn<A, S>,
    words: ResultTextFn<A, S>,
    faults: ErrorTextFn<A, S>,
    /// Whether refusals are put in the words of `faults` too, because the usual ones name resolved paths.
    masks: fn(&S) -> bool,
    delivery: OutputDelivery,
}

impl<A: JsonSchema, S> ForeignTool<A, S> {
    pub(super) fn new(
        name: &str,
        description: &str,
        shared: &Arc<S>,
        plan: PlanFn<A, S>,
    ) -> ForeignTool<A, S> {
        ForeignTool {
            shape: ToolSchema::of::<A>(name, description),
            native: |_| None,
            shared: Arc::clone(shared),
            touches: |_, _| TouchedPaths { anything: true, ..TouchedPaths::default() },
            check: |_| None,
            plan,
            words: |_, _, _| None,
            delivery: OutputDelivery::Spilled,
            faults: |_, _, _, _| None,
            masks: |_| false,
        }
    }

    /// Rules speak of such a call as of this native tool.
    #[must_use]
    pub(super) fn with_rule_name(self, native: fn(&Value) -> Option<&'static str>) -> Self {
        ForeignTool { native, ..self }
    }

    #[must_use]
    pub(super) fn touching(self, touches: fn(&Value, &S) -> TouchedPaths) -> Self {
        ForeignTool { touches, ..self }
    }

    #[must_use]
    pub(super) fn checking(self, check: fn(&Value) -> Option<String>) -> Self {
        ForeignTool { check, ..self }
    }

    #[must_use]
    pub(super) fn saying(self, words: ResultTextFn<A, S>) -> Self {
        ForeignTool { words, ..self }
    }

    /// Its results go out as they are: it keeps them short itself, or they would be of no use in parts.
    #[must_use]
    pub(super) fn whole(self) -> Self {
        ForeignTool { delivery: OutputDelivery::Whole, ..self }
    }

    #[must_use]
    pub(super) fn masking(self, masks: fn(&S) -> bool) -> Self {
        ForeignTool { masks, ..self }
    }

    #[must_use]
    pub(super) fn failing(self, faults: ErrorTextFn<A, S>) -> Self {
        ForeignTool { faults, ..self }
    }
}

impl<A, S> Tool for ForeignTool<A, S>
where
    A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    S: Send + Sync + 'static,
{
    fn spec(&self) -> ToolSpec {
        self.shape.spec()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        (self.touches)(input, &self.shared)
    }

    fn judged_as(&self, input: &Value) -> String {
        (self.native)(input).map_or_else(|| self.shape.spec().name, String::from)
    }

    fn delivery(&self) -> OutputDelivery {
        self.delivery
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        if let Some(words) = (self.check)(input) {
            return Err(ToolError::worded(words));
        }
        let args: Arc<A> = Arc::new(self.shape.parse(input)?);
        let voice = ResultFormatter {
            args,
            shared: Arc::clone(&self.shared),
            words: self.words,
            faults: self.faults,
            masks: self.masks,
        };
        let inner = (self.plan)(&voice.args, env, &self.shared).map_err(|e| voice.error(env, e))?;
        Ok(Box::new(ForeignPlan { inner, voice }))
    }
}

/// How one call's results and failures are put.
struct ResultFormatter<A, S> {
    args: Arc<A>,
    shared: Arc<S>,
    words: ResultTextFn<A, S>,
    faults: ErrorTextFn<A, S>,
    masks: fn(&S) -> bool,
}

impl<A, S> ResultFormatter<A, S> {
    fn refusal(&self, env: &ToolContext) -> Option<String> {
        let denied = ToolError::new("permission denied").because(CallFailure::Denied);
        let words = || (self.faults)(&self.args, env, &self.shared, &denied);
        (self.masks)(&self.shared).then(words).flatten()
    }

    fn error(&self, env: &ToolContext, error: ToolError) -> ToolError {
        match (self.faults)(&self.args, env, &self.shared, &error) {
            Some(words) if error.fault != CallFailure::Worded => ToolError::worded(words),
            _ => error,
        }
    }

    fn output(&self, env: &ToolContext, title: &str, call: &CallId, output: ToolOutput) -> ToolOutput {
        if let OutputFacts::Failed(error) = &output.facts {
            return failed(title, &self.error(env, error.clone()));
        }
        match (self.words)(&self.args, &self.shared, &FinishedCall { env, call, output: &output }) {
            Some(words) => ToolOutput { for_model: vec![Part::text(words)], ..output },
            None => output,
        }
    }
}

struct ForeignPlan<A, S> {
    inner: Box<dyn Plan>,
    voice: ResultFormatter<A, S>,
}

impl<A: Send + Sync + 'static, S: Send + Sync + 'static> Plan for ForeignPlan<A, S> {
    fn reach(&self) -> Vec<Access> {
        self.inner.reach()
    }

    fn title(&self) -> String {
        self.inner.title()
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        self.inner.prepare(env, sight).map_err(|e| self.voice.error(env, e))
    }

    fn refusal(&self, env: &ToolContext) -> Option<String> {
        self.voice.refusal(env)
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        let ForeignPlan { inner, voice } = *self;
        let (title, env, call) = (inner.title(), Arc::clone(&ctx.env), permit.call().clone());
        let running = inner.run(permit, ctx);
        Box::pin(async move { voice.output(&env, &title, &call, running.await) })
    }
}

/// What a call touches when it reads the path in this argument.
pub(super) fn reads(input: &Value, argument: &str, otherwise: &str) -> TouchedPaths {
    let path = input.get(argument).and_then(Value::as_str).unwrap_or(otherwise);
    TouchedPaths { reads: vec![path.into()], ..TouchedPaths::default() }
}

pub(super) fn writes(input: &Value, argument: &str) -> TouchedPaths {
    let path = input.get(argument).and_then(Value::as_str).map(String::from);
    TouchedPaths { writes: path.into_iter().collect(), ..TouchedPaths::default() }
}
