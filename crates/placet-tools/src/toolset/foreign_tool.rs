//! A tool of another system: its arguments and its wording around one of placet's own plans.
//!
//! No file is opened here. A foreign tool reads its arguments, makes a plan from the operations that all tool sets
//! share, and converts the result (or the error) into the wording that its callers were trained on. Names, paths and
//! templates are rows of data; code is only for what a template cannot express.

use super::super::output::failed;
use super::super::{
    CallFailure, CallPreview, CommandResult, EditedFile, OutputDelivery, OutputFacts, Plan, PlanResult,
    ReadScope, RunContext, RunFuture, Tool, ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use crate::arguments::ToolSchema;
use placet_permission::{Access, Permit};
use placet_text::conversation::{CallId, Part, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::mem::discriminant;
use std::sync::Arc;

/// What the tools of one set share.
pub(super) trait ToolSetState: Send + Sync + 'static {
    /// The path of a call that names none.
    fn start(&self) -> &'static str {
        "."
    }

    /// The path as the workspace knows it. Nothing is read, because this serves the order of calls only.
    fn spelled(&self, path: &str) -> String {
        path.into()
    }

    /// Whether refusals use the set's own wording too, because the usual refusals name resolved paths.
    fn hides_paths(&self) -> bool {
        false
    }
}

impl ToolSetState for () {}

/// The failure, and the text for it. In the text, `{full}` is the whole path of the argument `path`, `{times}` the
/// number of occurrences of a text, and `{NAME}` the argument of that name.
pub(super) type ErrorRow = (CallFailure, &'static str);

type RuleNameFn = Box<dyn Fn(&Value) -> Option<&'static str> + Send + Sync>;
type TouchesFn<S> = Box<dyn Fn(&Value, &S) -> TouchedPaths + Send + Sync>;
type PlanFn<A, S> = fn(&A, &ToolContext, &Arc<S>) -> PlanResult;
/// The text for what was done; `None` retains placet's own.
type ResultTextFn<A, S> = fn(&A, &S, &FinishedCall<'_>) -> Option<String>;
/// The text for what went wrong; `None` retains placet's own.
type ErrorTextFn<A, S> = fn(&A, &ToolContext, &S, &ToolError) -> Option<String>;

/// A call that ran, for the code that words its result.
pub(super) struct FinishedCall<'a> {
    pub(super) env: &'a ToolContext,
    pub(super) call: &'a CallId,
    pub(super) output: &'a ToolOutput,
}

impl<'a> FinishedCall<'a> {
    /// The file that the call changed.
    pub(super) fn file(&self) -> Option<&'a EditedFile> {
        match &self.output.facts {
            OutputFacts::Changed { changes, .. } => changes.first(),
            _ => None,
        }
    }

    /// The output of a command, followed by a status on a line of its own; `None` if no command ended.
    pub(super) fn command_text(&self, status: impl Fn(&CommandResult, i32) -> String) -> Option<String> {
        let OutputFacts::Ran(ran) = &self.output.facts else { return None };
        let (output, status) = (&ran.output, status(ran, ran.code?));
        let is_open = !status.is_empty() && !output.is_empty() && !output.ends_with('\n');
        Some(format!("{output}{}{status}{}", if is_open { "\n" } else { "" }, ran.effects))
    }
}

/// See the module. `S` is the state that the tools of one tool set share.
pub(super) struct ForeignTool<A, S> {
    shape: ToolSchema,
    /// The native tool to which rules refer, if it has another name.
    rule: RuleNameFn,
    shared: Arc<S>,
    touches: TouchesFn<S>,
    /// Checks the raw arguments first: for systems that have their own text for invalid arguments.
    check: fn(&Value) -> Option<String>,
    plan: PlanFn<A, S>,
    words: CallWords<A, S>,
    delivery: OutputDelivery,
}

/// The texts for the results and failures of a tool: templates, and code for what a template cannot express.
struct CallWords<A, S> {
    result: ResultTextFn<A, S>,
    error: ErrorTextFn<A, S>,
    answer: Option<&'static str>,
    errors: Vec<&'static [ErrorRow]>,
}

impl<A, S> Clone for CallWords<A, S> {
    fn clone(&self) -> CallWords<A, S> {
        CallWords { errors: self.errors.clone(), ..*self }
    }
}

impl<A, S> ForeignTool<A, S>
where
    A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    S: ToolSetState,
{
    pub(super) fn new(
        name: &str,
        description: &str,
        shared: &Arc<S>,
        plan: PlanFn<A, S>,
    ) -> ForeignTool<A, S> {
        ForeignTool {
            shape: ToolSchema::of::<A>(name, description),
            rule: Box::new(|_| None),
            shared: Arc::clone(shared),
            touches: Box::new(|_, _| TouchedPaths { anything: true, ..TouchedPaths::default() }),
            check: |_| None,
            plan,
            words: CallWords {
                result: |_, _, _| None,
                error: |_, _, _, _| None,
                answer: None,
                errors: Vec::new(),
            },
            delivery: OutputDelivery::Spilled,
        }
    }

    /// Without one of its arguments, which an earlier version of the tool did not have.
    #[must_use]
    pub(super) fn without(self, parameter: &'static str) -> Self {
        ForeignTool { shape: self.shape.without(parameter), ..self }
    }

    /// Rules treat such a call as a call of this native tool.
    #[must_use]
    pub(super) fn rule(self, native: &'static str) -> Self {
        self.rule_of(move |_| Some(native))
    }

    #[must_use]
    pub(super) fn rule_of(
        self,
        native: impl Fn(&Value) -> Option<&'static str> + Send + Sync + 'static,
    ) -> Self {
        ForeignTool { rule: Box::new(native), ..self }
    }

    /// A call reads the path in this argument.
    #[must_use]
    pub(super) fn reading(self, argument: &'static str) -> Self {
        self.touching(move |input, shared| {
            TouchedPaths::reading(input, argument, shared.start()).resolved(|p| Some(shared.spelled(p)))
        })
    }

    #[must_use]
    pub(super) fn writing(self, argument: &'static str) -> Self {
        self.touching(move |input, shared| {
            TouchedPaths::writing(input, argument).resolved(|p| Some(shared.spelled(p)))
        })
    }

    #[must_use]
    pub(super) fn touching(
        self,
        touches: impl Fn(&Value, &S) -> TouchedPaths + Send + Sync + 'static,
    ) -> Self {
        ForeignTool { touches: Box::new(touches), ..self }
    }

    #[must_use]
    pub(super) fn checking(self, check: fn(&Value) -> Option<String>) -> Self {
        ForeignTool { check, ..self }
    }

    /// The text for a changed file: `{size}`, `{shown}` and `{places}` are of the change, `{NAME}` is an argument.
    #[must_use]
    pub(super) fn answer(mut self, template: &'static str) -> Self {
        self.words.answer = Some(template);
        self
    }

    #[must_use]
    pub(super) fn errors(mut self, rows: &'static [ErrorRow]) -> Self {
        self.words.errors.push(rows);
        self
    }

    #[must_use]
    pub(super) fn saying(mut self, words: ResultTextFn<A, S>) -> Self {
        self.words.result = words;
        self
    }

    #[must_use]
    pub(super) fn failing(mut self, words: ErrorTextFn<A, S>) -> Self {
        self.words.error = words;
        self
    }

    /// Its results are not spilled: the tool limits their length itself, or parts of them would be useless.
    #[must_use]
    pub(super) fn whole(self) -> Self {
        ForeignTool { delivery: OutputDelivery::Whole, ..self }
    }

    pub(super) fn build(self) -> Arc<dyn Tool> {
        Arc::new(self)
    }
}

impl<A, S> Tool for ForeignTool<A, S>
where
    A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    S: ToolSetState,
{
    fn spec(&self) -> ToolSpec {
        self.shape.spec()
    }

    fn name(&self) -> String {
        self.shape.name()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        (self.touches)(input, &self.shared)
    }

    fn judged_as(&self, input: &Value) -> String {
        (self.rule)(input).map_or_else(|| self.shape.name(), String::from)
    }

    fn delivery(&self) -> OutputDelivery {
        self.delivery
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> PlanResult {
        self.shape.refuse_long(input)?;
        if let Some(words) = (self.check)(input) {
            return Err(ToolError::worded(words));
        }
        let args: A = self.shape.parse(input)?;
        let (input, shared) = (input.clone(), Arc::clone(&self.shared));
        let voice = ResultFormatter { args, input, shared, words: self.words.clone() };
        let inner = (self.plan)(&voice.args, env, &self.shared).map_err(|e| voice.error(env, e))?;
        Ok(Box::new(ForeignPlan { inner, voice }))
    }
}

/// The texts for one call's results and failures.
struct ResultFormatter<A, S> {
    args: A,
    /// The same arguments by name.
    input: Value,
    shared: Arc<S>,
    words: CallWords<A, S>,
}

impl<A, S: ToolSetState> ResultFormatter<A, S> {
    fn refusal(&self, env: &ToolContext) -> Option<String> {
        let denied = ToolError::new("permission denied").because(CallFailure::Denied);
        self.shared.hides_paths().then(|| self.error_words(env, &denied)).flatten()
    }

    fn error(&self, env: &ToolContext, error: ToolError) -> ToolError {
        match self.error_words(env, &error) {
            Some(words) if error.fault != CallFailure::Worded => ToolError::worded(words),
            _ => error,
        }
    }

    fn error_words(&self, env: &ToolContext, error: &ToolError) -> Option<String> {
        let kind = discriminant(&error.fault);
        let Some((_, template)) =
            self.words.errors.iter().copied().flatten().find(|row| discriminant(&row.0) == kind)
        else {
            return (self.words.error)(&self.args, env, &self.shared, error);
        };
        filled(template, |name| match (name, error.fault) {
            ("full", _) => Some(env.workspace.cwd().join(self.argument("path")).display().to_string()),
            ("times", CallFailure::Ambiguous(times)) => Some(times.to_string()),
            _ => Some(self.argument(name).into()),
        })
    }

    /// The text for a file that was changed.
    fn answer(&self, said: &FinishedCall<'_>) -> Option<String> {
        let OutputFacts::Changed { places, .. } = said.output.facts else { return None };
        filled(self.words.answer?, |name| match name {
            "size" => said.file().map(|file| file.size().to_string()),
            "shown" => said.file().map(|file| said.env.workspace.shown(&file.path)),
            "places" => Some(places.to_string()),
            _ => Some(self.argument(name).into()),
        })
    }

    fn argument(&self, name: &str) -> &str {
        self.input.get(name).and_then(Value::as_str).unwrap_or(self.shared.start())
    }

    fn output(&self, env: &ToolContext, title: &str, call: &CallId, output: ToolOutput) -> ToolOutput {
        if let OutputFacts::Failed(error) = &output.facts {
            return failed(title, &self.error(env, error.clone()));
        }
        let said = FinishedCall { env, call, output: &output };
        match (self.words.result)(&self.args, &self.shared, &said).or_else(|| self.answer(&said)) {
            Some(words) => ToolOutput { for_model: vec![Part::text(words)], ..output },
            None => output,
        }
    }
}

/// A template with a value for each `{NAME}`; `None` if a value is missing. A value is never read as a template.
fn filled(template: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (mut out, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        out.push_str(before);
        out.push_str(&value(name)?);
        rest = after;
    }
    Some(out + rest)
}

struct ForeignPlan<A, S> {
    inner: Box<dyn Plan>,
    voice: ResultFormatter<A, S>,
}

impl<A: Send + Sync + 'static, S: ToolSetState> Plan for ForeignPlan<A, S> {
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
