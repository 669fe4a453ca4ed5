//! Tools: parse, say, run.
//!
//! A call becomes a [`Plan`]; the plan says its reach; the policy decides on that reach; and the very same plan
//! runs. A plan touches nothing until it is handed a [`Permit`], which only the policy can make.

mod arguments;
mod ask_person;
mod batch;
mod blocking;
mod command;
mod context;
mod error;
mod files;
mod hint;
mod output;
mod patch;
mod registry;
mod result;
mod scratchpad;
mod subagent;
mod todo;
mod todo_item;
mod tool_names;
mod toolset;

pub use command::jobs::{Job, JobRegistry, JobSummary};
#[cfg(test)]
pub(crate) use command::run::CommandToApprove;
pub use command::sandboxed::{run_confined, withheld_line};
pub use context::{
    AskUser, CommandSandbox, CommandSettings, OutputInspector, ProgressSink, ReadScope, RunContext,
    SubagentReport, SubagentSpawner, SubagentTask, ToolContext, ToolLimits, UserReply, WithheldReport,
};
pub use error::{CallFailure, ToolError};
pub use files::content_type::named as data_kind;
use hint::hint;
pub use hint::{Hint, HintPiece, HintTool};
pub use registry::ToolRegistry;
pub use result::{
    CallPreview, CallSummary, ChangeOverview, CommandEnd, CommandResult, DiffText, DisplayDetail, EditedFile,
    FileDiff, LeftOut, OutputFacts, ToolOutput,
};
pub use todo::list_in as todos_in;
pub use todo_item::{TodoItem, TodoStatus, lines_of as todo_lines};
pub use toolset::{DeepagentsVersion, ToolSet, ToolSetSettings, TypestackBases, is_batch};

use crate::conversation::ToolSpec;
use crate::permission::{Access, Permit};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;

/// A call that was understood, or what is wrong with it.
type PlanResult = Result<Box<dyn Plan>, ToolError>;

pub type RunFuture = Pin<Box<dyn Future<Output = ToolOutput> + Send>>;

/// A tool. Its name, its words for the model, and how it reads its arguments.
pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// What the call touches, by the words of its arguments alone: only for putting calls in order. An argument that
    /// cannot be read touches nothing; `plan` will say what is wrong with it.
    fn touches(&self, input: &Value) -> TouchedPaths;

    /// The name of placet's own tool that rules mean: `run(rm *)` and `run_command(rm *)` hold whatever a surface calls
    /// its tools. One that does several things is judged by what this call does.
    fn judged_as(&self, _: &Value) -> String {
        self.spec().name
    }

    /// How its results reach the model.
    fn delivery(&self) -> OutputDelivery {
        OutputDelivery::Spilled
    }

    /// It means something only within a conversation with a model: no other program is offered it.
    fn is_of_conversation(&self) -> bool {
        false
    }

    /// Reads the arguments and resolves the paths. Reads no content and changes nothing.
    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError>;
}

/// What becomes of a long result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputDelivery {
    /// It goes to a scratchpad, with a preview.
    Spilled,
    /// It goes out whole.
    Whole,
}

/// One call, understood. `prepare` comes once, after the policy did not deny; then `run`, at most once.
pub trait Plan: Send {
    /// Everything the call will touch, resolved. Fixed from the beginning.
    fn reach(&self) -> Vec<Access>;

    /// What it starts goes on when the call has ended.
    fn outlasts_call(&self) -> bool {
        false
    }

    /// The line for the screen while it runs: `edit src/app.rs`.
    fn title(&self) -> String;

    /// Reads what it needs and works out the exact effect, so that a call that cannot succeed fails before anybody
    /// is asked. With [`ReadScope::InsideOnly`] it must not read outside the workspace: consent is still to come.
    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError>;

    /// What the model is told where the call is refused, if the reason itself must not be shown: it names resolved paths,
    /// and some tool sets hide where the workspace is.
    fn refusal(&self, _: &ToolContext) -> Option<String> {
        None
    }

    /// Does what was previewed, or fails because the world changed since. Cancelling `ctx.cancel` ends it within a
    /// second and leaves no file half written.
    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture;
}

/// What a call touches, for ordering: see [`Tool::touches`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedPaths {
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    /// A command may touch anything.
    pub anything: bool,
}

impl TouchedPaths {
    /// A call that reads the path in this argument, or `otherwise` without it.
    fn reading(input: &Value, argument: &str, otherwise: &str) -> TouchedPaths {
        let path = input.get(argument).and_then(Value::as_str).unwrap_or(otherwise);
        TouchedPaths { reads: vec![path.into()], ..TouchedPaths::default() }
    }

    fn writing(input: &Value, argument: &str) -> TouchedPaths {
        let path = input.get(argument).and_then(Value::as_str).map(String::from);
        TouchedPaths { writes: path.into_iter().collect(), ..TouchedPaths::default() }
    }

    /// The same with each path as `resolve` names it, so that two spellings of one file are one; what cannot be
    /// resolved keeps its words.
    #[must_use]
    pub fn resolved(self, resolve: impl Fn(&str) -> Option<String>) -> TouchedPaths {
        let each = |paths: Vec<String>| paths.into_iter().map(|p| resolve(&p).unwrap_or(p)).collect();
        TouchedPaths { reads: each(self.reads), writes: each(self.writes), anything: self.anything }
    }

    /// True when the two must not overlap in time, and the later one must be planned after the earlier one ran.
    pub fn conflicts(&self, earlier: &TouchedPaths) -> bool {
        let writes = |t: &TouchedPaths| t.anything || !t.writes.is_empty();
        if self.anything || earlier.anything {
            return self.anything && writes(earlier) || earlier.anything && writes(self);
        }
        // A directory is shared with everything below it: a search there sees what was written.
        let below = |path: &str, dir: &str| {
            path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/') || dir == "/")
        };
        let same = |a: &str, b: &str| a == b || below(a, b) || below(b, a);
        let shares = |a: &[String], b: &[String]| a.iter().any(|p| b.iter().any(|q| same(p, q)));
        shares(&self.writes, &earlier.writes)
            || shares(&self.writes, &earlier.reads)
            || shares(&self.reads, &earlier.writes)
    }
}
