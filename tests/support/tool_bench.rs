//! A bench for tools: a temporary directory, an environment, a policy whose questions are answered.

use placet::conversation::{CallFact, CallId, CallInput, CallOutcome, Part, words_of};
use placet::permission::{Decision, Mode, ModeCell, Policy};
use placet::session::Scratchpads;
use placet::tools::{
    AskUser, CommandSettings, JobRegistry, OutputInspector, ProgressSink, ReadScope, RunContext, ToolContext,
    ToolLimits, ToolOutput, ToolRegistry, ToolSet, ToolSetSettings, UserReply,
};
use placet::workspace::{ReadLedger, View, ViewPaths, Workspace};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub struct Bench {
    _dir: tempfile::TempDir,
    pub root: PathBuf,
    pub env: Arc<ToolContext>,
    pub registry: ToolRegistry,
    pub cancel: CancellationToken,
    /// What looks at each result before it is stored.
    pub inspect: OutputInspector,
    /// The mode the policy judges by.
    pub mode: Mode,
    pub person: Person,
    runtime: tokio::runtime::Runtime,
}

/// Who answers what the policy asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    SaysYes,
    /// Nobody is there: a question is a refusal.
    Away,
}

/// The workspace seen through a view whose state lies in `beside`.
pub fn viewed(workspace: Workspace, beside: &Path) -> Workspace {
    let state = beside.join("view-state");
    let places = ViewPaths {
        view: state.join("views/test"),
        layers: Vec::new(),
        objects: state.join("objects"),
        journal: state.join("journal"),
        scratch: state.join("scratch"),
    };
    let view = View::at(places, workspace.roots());
    workspace.with_view(view)
}

impl Bench {
    pub fn new() -> Bench {
        Bench::with_limits(ToolLimits::default())
    }

    /// With the tools of another system and its default settings.
    pub fn of(set: ToolSet) -> Bench {
        Bench::new().speaking(set, &ToolSetSettings::default())
    }

    /// In write mode.
    pub fn writing() -> Bench {
        let mut bench = Bench::new();
        bench.mode = Mode::Write;
        bench
    }

    pub fn with_limits(limits: ToolLimits) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        let env = ToolContext {
            mounts: Arc::default(),
            pages: Arc::default(),
            guidance: Arc::default(),
            jobs: JobRegistry::default(),
            servers: Default::default(),
            checks: Default::default(),
            mode: ModeCell::new(Mode::Unrestricted),
            workspace: viewed(Workspace::new(root.clone(), Vec::new()).unwrap(), root.parent().unwrap()),
            ledger: Mutex::new(ReadLedger::default()),
            scratchpads: Arc::new(Scratchpads::in_memory()),
            limits,
            commands: CommandSettings {
                supervisor: PathBuf::from(crate::support::program::placet()),
                reserve: Default::default(),
                timeout: Duration::from_secs(20),
                withheld: vec!["PLACET_TEST_KEY".into()],
                confining: None,
            },
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Bench {
            _dir: dir,
            root,
            env: Arc::new(env),
            registry: ToolRegistry::native(),
            cancel: CancellationToken::new(),
            inspect: OutputInspector::nothing(),
            mode: Mode::Unrestricted,
            person: Person::SaysYes,
            runtime,
        }
    }

    /// The same bench with the tools of another surface.
    pub fn speaking(self, dialect: ToolSet, settings: &ToolSetSettings) -> Bench {
        Bench { registry: ToolRegistry::of_dialect(dialect, settings), ..self }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A directory beside the workspace: outside of it.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.root.parent().unwrap().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// Plans, asks the policy and the person, prepares and runs.
    pub fn call(&self, tool: &str, input: Value) -> Got {
        self.runtime.block_on(self.call_async(tool, input))
    }

    pub async fn call_async(&self, tool: &str, input: Value) -> Got {
        match self.try_call(tool, input, |_| {}).await {
            Ok(output) => Got(output),
            Err(message) => Got(ToolOutput {
                outcome: CallOutcome::Failed,
                for_model: vec![Part::text(message)],
                for_person: placet::tools::CallSummary::line(""),
                facts: placet::tools::OutputFacts::None,
                recorded: Vec::new(),
            }),
        }
    }

    /// As [`Bench::call`], with something happening between the preview and the run.
    pub fn call_with(&self, tool: &str, input: Value, between: impl FnOnce(&Path)) -> Got {
        let done = self.runtime.block_on(self.try_call(tool, input, between));
        Got(done.unwrap_or_else(|m| panic!("{m}")))
    }

    async fn try_call(
        &self,
        tool: &str,
        input: Value,
        between: impl FnOnce(&Path),
    ) -> Result<ToolOutput, String> {
        let mut plan =
            self.registry.plan(tool, &CallInput::Object(input), &self.env).map_err(|e| e.for_model())?;
        self.env.mode.store(self.mode);
        let policy = Policy::new(self.env.mode.clone(), Vec::new(), self.env.workspace.roots().to_vec());
        let (permit, sight) = match policy.decide(&CallId::new("c"), tool, plan.reach()) {
            Decision::Allow(permit) => (permit, ReadScope::Everywhere),
            Decision::Ask(question) if self.person == Person::SaysYes => {
                (question.allow(), ReadScope::InsideOnly)
            }
            Decision::Ask(question) => {
                // As when somebody is asked: the preview is made before the answer is known.
                let _ = plan.prepare(&self.env, ReadScope::InsideOnly);
                return Err(question.deny("nobody is there").reason);
            }
            Decision::Deny(denial) => return Err(denial.reason),
        };
        plan.prepare(&self.env, sight).map_err(|e| e.for_model())?;
        between(&self.root);
        let ctx = RunContext {
            env: self.env.clone(),
            cancel: self.cancel.clone(),
            stop_stage: placet::tools::StopStageCell::default(),
            progress: ProgressSink::silent(),
            may_detach: placet::tools::BackgroundCheck::always(),
            inspect: self.inspect.clone(),
            children: placet::tools::SubagentSpawner::none(),
            requests: Arc::new(placet::tools::NoRequestHost),
            enquire: AskUser::new(|_, _| Box::pin(std::future::ready(UserReply::Nobody))),
        };
        Ok(plan.run(permit, ctx).await)
    }

    pub fn pad(&self, name: &str) -> String {
        match self.env.scratchpads.get(name).unwrap() {
            placet::session::ScratchpadEntry::Text(text) => text,
            placet::session::ScratchpadEntry::Image(image) => panic!("{name} is {}", image.describe()),
        }
    }

    /// The names in the workspace's directory, for "no stray files".
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.root).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// A result, with the questions tests ask of it.
#[derive(Debug)]
pub struct Got(pub ToolOutput);

impl Got {
    pub fn body(&self) -> String {
        let notes = self.0.recorded.iter().filter_map(CallFact::note).map(Part::Note);
        words_of(&self.0.for_model.iter().cloned().chain(notes).collect::<Vec<_>>())
    }

    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.0.outcome, CallOutcome::Done, "{}", self.body());
        self.body()
    }

    #[track_caller]
    pub fn failed(self) -> String {
        assert_eq!(self.0.outcome, CallOutcome::Failed, "{}", self.body());
        self.body()
    }
}
