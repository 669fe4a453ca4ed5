//! Tools: parse, describe, run.
//!
//! A call becomes a [`Plan`]. The plan lists its accesses, the policy decides on these accesses, and the very same plan
//! runs. A plan touches nothing until it gets a [`Permit`], which only the policy can make.

mod argument_repair;
mod argument_size;
mod arguments;
mod ask_person;
mod batch;
mod blocking;
mod command;
mod command_to_approve;
mod context;
mod error;
mod files;
mod hint;
mod matched_text;
mod output;
mod patch;
mod rare;
mod registry;
mod remember;
mod request_host;
mod result;
mod scratchpad;
mod servers;
mod skill;
mod stop_stage;
mod subagent;
mod todo;
mod todo_item;
mod tool_names;
mod toolset;
mod web;

pub use arguments::ToolSchema;
pub use command::check_board::{CheckBoard, CheckStart};
pub use command::check_run::{CheckRunError, CheckRunRequest, CheckedState, run_check};
pub use command::command_hint::SaidHints;
pub use command::git_runner::SandboxedGit;
pub use command::jobs::{ForegroundCall, Job, JobRegistry, JobSummary};
pub use command::network_summary::NetworkSummary;
pub use command::passed_checks::{UnmetCheck, passed_checks, passed_words};
pub use command::program_view::ProgramView;
pub use command::sandboxed::{ProgramCommand, publish_ports, run_confined, with_end, withheld_line};
pub use command::signature_client::answer_git;
pub use command::terminal::{TerminalRun, prepare_in_terminal};
pub use command_to_approve::CommandToApprove;
pub use context::{
    AskUser, BackgroundCheck, CommandSandbox, CommandSettings, MixedSettings, OutputInspector, ProgressSink,
    ReadScope, RunContext, SubagentReport, SubagentSpawner, SubagentTask, ToolContext, ToolLimits, UserReply,
    WithheldReport,
};
pub use error::{CallFailure, ToolError};
pub use files::content_type::named as data_kind;
use hint::hint;
pub use hint::{Hint, HintPiece, HintTool};
pub use matched_text::MatchedText;
pub use registry::ToolRegistry;
pub use remember::{CHECKS_TOOL, INIT_TOOL, REMEMBER_TOOL};
pub use request_host::{NoRequestHost, ServerConsent, ServerConsentQuestion, ServerRequestHost};
pub use result::{
    CallPreview, CallSummary, ChangeOverview, CommandEnd, CommandResult, DiffText, DisplayDetail, EditedFile,
    FileDiff, LeftOut, OutputFacts, ToolOutput,
};
pub use servers::{
    PROMPT_TOOL, RESOURCE_TOOL, START_TOOL, ServerPool, ServerState, ServerStatus, ServerTools, UnreadServer,
    read_server_tools,
};
pub use skill::SKILL_TOOL;
pub use stop_stage::{StopStage, StopStageCell};
pub use todo::list_in as todos_in;
pub use todo_item::{TodoItem, TodoStatus, lines_of as todo_lines};
pub use toolset::{DeepagentsVersion, ToolSet, ToolSetSettings, TypestackBases, is_batch};

pub use web::{SEARCH_WEB, SearchEngine, SearchSetupError, WebPages};

use placet_permission::{Access, Permit};
use placet_text::conversation::ToolSpec;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;

/// A call that was parsed, or what is wrong with it.
type PlanResult = Result<Box<dyn Plan>, ToolError>;

pub type RunFuture = Pin<Box<dyn Future<Output = ToolOutput> + Send>>;

/// A tool: its name, its description for the model, and how it reads its arguments.
pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// The name in [`Tool::spec`], without the description of the parameters.
    fn name(&self) -> String {
        self.spec().name
    }

    /// What the call touches, by the text of its arguments alone: only for the order of calls. An argument that cannot
    /// be read touches nothing; `plan` reports what is wrong with it.
    fn touches(&self, input: &Value) -> TouchedPaths;

    /// The name of placet's own tool that rules use: `run(rm *)` and `run_command(rm *)` apply whatever a tool set
    /// calls its tools. For a tool with several actions, the action of this call decides.
    fn judged_as(&self, _: &Value) -> String {
        self.name()
    }

    /// How its results are delivered to the model.
    fn delivery(&self) -> OutputDelivery {
        OutputDelivery::Spilled
    }

    /// The tool is useful only within a conversation with a model: other programs do not get it.
    fn is_of_conversation(&self) -> bool {
        false
    }

    /// Reads the arguments and resolves the paths. Reads no content and changes nothing.
    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError>;
}

/// What happens to a long result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputDelivery {
    /// It goes to a scratchpad, with a preview.
    Spilled,
    /// The model gets the whole result.
    Whole,
}

/// One parsed call. `prepare` runs once, after the policy did not deny the call; then `run`, at most once.
pub trait Plan: Send {
    /// Everything that the call will touch, resolved. It never changes.
    fn reach(&self) -> Vec<Access>;

    /// True if something that the call starts continues after the call.
    fn outlasts_call(&self) -> bool {
        false
    }

    /// The line for the screen while it runs: `edit src/app.rs`.
    fn title(&self) -> String;

    /// Reads what the call needs and works out the exact effect, and so a call that cannot succeed fails before the
    /// person is asked. With [`ReadScope::InsideOnly`] it must not read outside the workspace: consent is still to
    /// come.
    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError>;

    /// The text for the model if the call is refused and the reason itself must not be shown: the reason names resolved
    /// paths, and some tool sets hide where the workspace is.
    fn refusal(&self, _: &ToolContext) -> Option<String> {
        None
    }

    /// Does what was previewed, or fails because something changed since. When `ctx.cancel` is cancelled, it ends
    /// within a second and leaves no file half written.
    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture;
}

/// What a call touches, for the order of calls: see [`Tool::touches`].
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

    /// The files that it writes, without placet's own lists.
    pub fn written_files(&self) -> impl Iterator<Item = &str> {
        const OWN: [&str; 3] = ["scratchpad:", "todo:", "remember:"];
        let is_file = |name: &&str| !OWN.iter().any(|own| name.starts_with(own));
        self.writes.iter().map(String::as_str).filter(is_file)
    }

    /// The same with each path as `resolve` names it: two spellings of one file become equal. A path that cannot be
    /// resolved remains as written.
    #[must_use]
    pub fn resolved(self, resolve: impl Fn(&str) -> Option<String>) -> TouchedPaths {
        let each = |paths: Vec<String>| paths.into_iter().map(|p| resolve(&p).unwrap_or(p)).collect();
        TouchedPaths { reads: each(self.reads), writes: each(self.writes), anything: self.anything }
    }

    /// True if the two calls must not overlap in time, and the later call must be planned after the earlier call ran.
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
