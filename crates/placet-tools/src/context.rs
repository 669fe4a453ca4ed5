//! What tools work with: the workspace, the ledger, the scratchpads, the limits.

use super::{
    JobRegistry, SaidHints, ServerPool, ServerRequestHost, StopStageCell, ToolError, ToolOutput, WebPages,
};
use placet_checks::ProjectChecks;
use placet_permission::{ModeCell, WritePolicy};
use placet_process::SupervisorReserve;
use placet_sandbox::{self as sandbox, FileCopy, SandboxBackend};
use placet_session::guidance::Guidance;
use placet_session::session::Scratchpads;
use placet_session::storage::StoreMounts;
use placet_text::conversation::{CallOutcome, ToolSpec};
use placet_text::text::regular_file;
use placet_text::text::secret::without_secrets;
use placet_workspace::{ReadLedger, WalkBudget, Workspace};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Shared by all calls of a session.
pub struct ToolContext {
    pub workspace: Workspace,
    /// The present mode, and whether a plan waits for approval.
    pub mode: ModeCell,
    pub ledger: Mutex<ReadLedger>,
    pub scratchpads: Arc<Scratchpads>,
    pub limits: ToolLimits,
    pub commands: CommandSettings,
    /// Stores that are mounted in addition to the workspace.
    pub mounts: Arc<StoreMounts>,
    /// Commands that run in the background.
    pub jobs: JobRegistry,
    /// Pages of the web.
    pub pages: Arc<WebPages>,
    /// The instructions and skills of the person and of the project.
    pub guidance: Arc<Guidance>,
    /// Servers with tools.
    pub servers: ServerPool,
    /// The checks of the settings.
    pub checks: Arc<ProjectChecks>,
}

impl ToolContext {
    /// The same context for a sub-agent, which has not read anything yet.
    pub fn for_child(&self) -> ToolContext {
        ToolContext {
            workspace: self.workspace.clone(),
            mode: self.mode.clone(),
            ledger: Mutex::default(),
            scratchpads: Arc::clone(&self.scratchpads),
            limits: self.limits.clone(),
            commands: self.commands.clone(),
            mounts: Arc::clone(&self.mounts),
            jobs: self.jobs.clone(),
            pages: Arc::clone(&self.pages),
            guidance: Arc::clone(&self.guidance),
            servers: self.servers.clone(),
            checks: Arc::clone(&self.checks),
        }
    }
}

/// Caps on what goes to the model. Every cut is reported.
#[derive(Clone, Debug)]
pub struct ToolLimits {
    /// Bytes of text a result may have before it goes to a scratchpad: 30,000.
    pub inline_bytes: usize,
    /// The room in the model's window, if that is less.
    pub room: ResultBudget,
    /// What hints may name.
    pub offered: ToolOffer,
    /// The largest file read as text without a range: 16 MB.
    pub read_bytes: u64,
    /// The largest picture sent, in bytes before base64: 3,750,000.
    pub image_bytes: usize,
    /// How long one search may take: one minute.
    pub search_time: Duration,
}

impl Default for ToolLimits {
    fn default() -> ToolLimits {
        ToolLimits {
            inline_bytes: 30_000,
            room: ResultBudget::default(),
            offered: ToolOffer::default(),
            read_bytes: 16_000_000,
            image_bytes: 3_750_000,
            search_time: Duration::from_secs(60),
        }
    }
}

impl ToolLimits {
    /// The time budget of a search that starts now.
    pub fn search(&self) -> WalkBudget {
        WalkBudget::of(self.search_time)
    }

    /// How many bytes the model's window has room for.
    pub fn window(&self) -> usize {
        self.room.0.load(Ordering::Relaxed)
    }

    /// How many bytes of text a result may have now.
    pub fn inline(&self) -> usize {
        self.inline_bytes.min(self.window())
    }
}

/// How many bytes one result may have of the rest of the model's window; unbounded until a conversation sets it.
#[derive(Debug)]
pub struct ResultBudget(AtomicUsize);

/// A result of fewer bytes would be almost useless.
const LEAST: usize = 2_000;

impl ResultBudget {
    pub fn leave(&self, bytes: usize) {
        self.0.store(bytes.max(LEAST), Ordering::Relaxed);
    }
}

impl Default for ResultBudget {
    fn default() -> ResultBudget {
        ResultBudget(AtomicUsize::new(usize::MAX))
    }
}

impl Clone for ResultBudget {
    /// A clone belongs to another conversation, which has a window of its own.
    fn clone(&self) -> ResultBudget {
        ResultBudget::default()
    }
}

/// The tools that the model of a conversation is offered; everything where there is no conversation.
#[derive(Debug, Default)]
pub struct ToolOffer(Mutex<Option<Arc<[ToolSpec]>>>);

impl ToolOffer {
    pub fn set(&self, specs: &Arc<[ToolSpec]>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(specs));
    }

    pub(super) fn specs(&self) -> Option<Arc<[ToolSpec]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Clone for ToolOffer {
    /// A clone belongs to another conversation.
    fn clone(&self) -> ToolOffer {
        ToolOffer::default()
    }
}

#[derive(Clone)]
pub struct CommandSettings {
    /// The program that supervises a command's processes: placet itself.
    pub supervisor: PathBuf,
    /// A supervisor that is started before its command.
    pub reserve: SupervisorReserve,
    pub timeout: Duration,
    /// Names of environment variables that no command sees: the API keys.
    pub withheld: Vec<String>,
    /// How commands are sandboxed. Without it a command runs with all rights of placet; only tests do so.
    pub confining: Option<Arc<CommandSandbox>>,
}

impl CommandSettings {
    /// Starts the supervisor of a command that will probably come. In a mode without a view a command gets one of its own,
    /// whose environment has no withheld variables.
    pub fn expect(&self, mode: &ModeCell) {
        if self.confining.is_some() && mode.load().write_policy() != WritePolicy::Direct {
            self.reserve.fill(&self.supervisor);
        }
    }
}

/// The sandbox of a command.
pub struct CommandSandbox {
    /// What this machine offers, tested at the first question, and why in one sentence.
    pub backend: Box<dyn Fn() -> (SandboxBackend, String) + Send + Sync>,
    /// Where the result of that test is recorded.
    pub probe_record: Option<PathBuf>,
    /// The home directory, which gets a layer of its own.
    pub home: Option<PathBuf>,
    /// Files and directories that no command sees, in addition to what rules hide.
    pub masked: Vec<PathBuf>,
    /// Files that commands see without their secrets, where they are below the home directory.
    pub mixed: Vec<MixedSettings>,
    /// Directories that commands write without the view.
    pub writable: Vec<PathBuf>,
    /// Directories and files that commands see wherever they are, read-only.
    pub readable: Vec<PathBuf>,
    pub limits: sandbox::ResourceLimits,
    /// Bytes of the session's `/tmp` above which it is emptied after a command.
    pub most_tmp: Option<u64>,
    pub keep_env: Vec<String>,
    /// Whether this conversation already reported the variables that its commands do not get.
    pub withheld: WithheldReport,
    /// Which hints this conversation already got.
    pub hints: SaidHints,
    /// The person is asked to sign the commits of commands; otherwise they are not signed.
    pub asks_for_signatures: bool,
    /// Hosts that every command may access.
    pub hosts: Vec<String>,
    /// Hosts of a private network that commands may access if they are allowed, as `name` or `name:port`.
    pub private_hosts: Vec<String>,
}

impl CommandSandbox {
    /// The files that are hidden where no copy can be shown.
    pub(super) fn mixed_paths(&self) -> Vec<PathBuf> {
        self.mixed.iter().filter(|file| file.is_credential_file).map(|file| file.path.clone()).collect()
    }

    /// Whether commands do not see this path as it is, whatever the rules of the workspace say.
    pub(super) fn covers(&self, path: &Path) -> bool {
        let mut covered = self.masked.iter().chain(self.mixed.iter().map(|file| &file.path));
        covered.any(|covered| path.starts_with(covered))
    }

    /// The files that commands see without their secrets, and those that stay hidden because they cannot be read with
    /// certainty. Read for each command: the person may log in or out at any time.
    pub(super) fn copies(&self) -> (Vec<FileCopy>, Vec<PathBuf>, Vec<String>) {
        let (mut copies, mut hidden, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        let Some(home) = &self.home else { return (copies, self.mixed_paths(), missing) };
        for MixedSettings { path, is_credential_file } in &self.mixed {
            // Most of them do not exist, and to resolve a path takes a call for each directory.
            if !path.exists() {
                continue;
            }
            // The file itself is covered, where the path is a link.
            let Ok(real) = std::fs::canonicalize(path) else { continue };
            let text = regular_file::read_to_string(&real, regular_file::SETTINGS).ok();
            match text.and_then(|text| without_secrets(path, home, &text)) {
                // The person may log in while the command runs; where programs put logins, it sees what was there before.
                Some(copy) if copy.missing.is_empty() && !is_credential_file => {}
                Some(copy) => {
                    let name = path.strip_prefix(home).unwrap_or(path).display();
                    if !copy.missing.is_empty() {
                        missing.push(format!("~/{name} ({})", copy.missing.join(", ")));
                    }
                    copies.push(FileCopy { path: real, text: copy.text });
                }
                None if *is_credential_file => hidden.push(path.clone()),
                None => {}
            }
        }
        (copies, hidden, missing)
    }
}

/// A file that commands see without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedSettings {
    pub path: PathBuf,
    /// Programs keep logins there. Other files are replaced only where they have a secret, because commands may write them.
    pub is_credential_file: bool,
}

/// The report of variables that are withheld from commands; each conversation reports them once.
#[derive(Debug, Default)]
pub struct WithheldReport(std::sync::atomic::AtomicBool);

impl WithheldReport {
    /// The names to report: empty if there are none, or if they were reported already.
    pub(super) fn take(&self, keep: &[String]) -> Vec<String> {
        if self.0.swap(true, std::sync::atomic::Ordering::AcqRel) {
            return Vec::new();
        }
        sandbox::withheld_secrets(std::env::vars_os(), keep)
    }
}

/// How far `prepare` may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadScope {
    InsideOnly,
    Everywhere,
}

/// The context of one run.
pub struct RunContext {
    pub env: Arc<ToolContext>,
    pub cancel: CancellationToken,
    /// What remains of the call after a stop.
    pub stop_stage: StopStageCell,
    pub progress: ProgressSink,
    /// Whether the person may send the call's command to the background.
    pub may_detach: BackgroundCheck,
    pub inspect: OutputInspector,
    pub enquire: AskUser,
    pub children: SubagentSpawner,
    /// Answers what servers ask for during the call.
    pub requests: Arc<dyn ServerRequestHost>,
}

/// A task for a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentTask {
    pub name: Option<String>,
    pub text: String,
    /// The sub-agent gets no tool that changes anything.
    pub read_only: bool,
}

/// The result of a sub-agent.
#[derive(Clone, Debug)]
pub struct SubagentReport {
    pub name: String,
    pub outcome: CallOutcome,
    pub text: String,
    /// The work of the sub-agent, line by line.
    pub log: String,
    /// `12 requests, $0.03`
    pub cost: String,
}

impl Default for SubagentReport {
    fn default() -> SubagentReport {
        let (name, text, log, cost) = Default::default();
        SubagentReport { name, outcome: CallOutcome::Failed, text, log, cost }
    }
}

type SubagentFuture = Pin<Box<dyn Future<Output = SubagentReport> + Send>>;

/// Starts sub-agents; each ends within moments when it is cancelled.
#[derive(Clone)]
pub struct SubagentSpawner(
    Arc<dyn Fn(SubagentTask, ProgressSink, CancellationToken) -> SubagentFuture + Send + Sync>,
);

impl SubagentSpawner {
    pub fn new(
        begin: impl Fn(SubagentTask, ProgressSink, CancellationToken) -> SubagentFuture + Send + Sync + 'static,
    ) -> SubagentSpawner {
        SubagentSpawner(Arc::new(begin))
    }

    /// A spawner for surroundings without a model to do the work.
    pub fn none() -> SubagentSpawner {
        SubagentSpawner::new(|_, _, _| {
            let text = "sub-agents need a model, and there is none here".to_string();
            Box::pin(std::future::ready(SubagentReport { text, ..SubagentReport::default() }))
        })
    }

    pub(super) async fn run(
        &self,
        task: SubagentTask,
        progress: ProgressSink,
        cancel: CancellationToken,
    ) -> SubagentReport {
        (self.0)(task, progress, cancel).await
    }
}

/// The outcome of a question to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserReply {
    Words(String),
    /// The person was asked and left the question open.
    Open,
    Nobody,
}

type UserReplyFuture = Pin<Box<dyn Future<Output = UserReply> + Send>>;

/// The way to ask the person: a question, and choices for the answer if there are any.
#[derive(Clone)]
pub struct AskUser(Arc<dyn Fn(String, Vec<String>) -> UserReplyFuture + Send + Sync>);

impl AskUser {
    pub fn new(ask: impl Fn(String, Vec<String>) -> UserReplyFuture + Send + Sync + 'static) -> AskUser {
        AskUser(Arc::new(ask))
    }

    pub(super) async fn ask(&self, question: String, choices: Vec<String>) -> UserReply {
        (self.0)(question, choices).await
    }
}

type InspectionFuture = Pin<Box<dyn Future<Output = ToolOutput> + Send>>;

/// Inspects a result before it goes anywhere: to the model, to the screen, to a scratchpad.
#[derive(Clone)]
pub struct OutputInspector(Arc<dyn Fn(ToolOutput) -> InspectionFuture + Send + Sync>);

impl OutputInspector {
    pub fn new(look: impl Fn(ToolOutput) -> InspectionFuture + Send + Sync + 'static) -> OutputInspector {
        OutputInspector(Arc::new(look))
    }

    /// Lets everything through unchanged.
    pub fn nothing() -> OutputInspector {
        OutputInspector::new(|output| Box::pin(std::future::ready(output)))
    }

    pub(super) async fn look(&self, output: ToolOutput) -> ToolOutput {
        (self.0)(output).await
    }
}

/// Whether a command that runs in the foreground may go to the background now.
#[derive(Clone)]
pub struct BackgroundCheck(Arc<dyn Fn() -> Result<(), ToolError> + Send + Sync>);

impl BackgroundCheck {
    pub fn new(check: impl Fn() -> Result<(), ToolError> + Send + Sync + 'static) -> BackgroundCheck {
        BackgroundCheck(Arc::new(check))
    }

    /// Any command may.
    pub fn always() -> BackgroundCheck {
        BackgroundCheck::new(|| Ok(()))
    }

    pub(super) fn check(&self) -> Result<(), ToolError> {
        (self.0)()
    }
}

/// Where the output of a running command goes while it runs: to the screen only, and parts may be dropped.
#[derive(Clone)]
pub struct ProgressSink(Arc<dyn Fn(&str) + Send + Sync>);

impl ProgressSink {
    pub fn new(send: impl Fn(&str) + Send + Sync + 'static) -> ProgressSink {
        ProgressSink(Arc::new(send))
    }

    pub fn silent() -> ProgressSink {
        ProgressSink::new(|_| {})
    }

    pub fn send(&self, text: &str) {
        (self.0)(text);
    }
}
