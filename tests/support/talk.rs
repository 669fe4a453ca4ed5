//! A conversation in this process: the agent, a scripted server, a store, and a tool that does what its call says.

use super::mock_server::MockServer;
use placet::agent::{
    ActiveModel, Agent, AgentConfig, AgentLimits, CallInterceptors, CostBudget, SubagentPool, TurnEnding,
    TurnEvent, TurnLimits, TurnStart,
};
use placet::conversation::{CallOutcome, Part, SessionId, ToolSpec};
use placet::guidance::Guidance;
use placet::permission::{Access, ClassificationRules, Mode, ModeCell, Permit, Policy, Rule, Taint};
use placet::provider::{
    AnthropicFormat, ApiKeySource, Endpoint, GeminiFormat, HttpProvider, HttpProviderSettings, ModelLimits,
    ModelSpec, OpenAiChatFormat, OpenAiResponsesFormat, Provider, RetryPolicy, WireFormat,
};
use placet::session::{LoadedSession, SessionStore};
use placet::tools::{
    CallPreview, CallSummary, CommandSettings, JobRegistry, Plan, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolLimits, ToolOutput, ToolRegistry, TouchedPaths,
};
use placet::workspace::{ReadLedger, Workspace};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    OpenAi,
    Responses,
    Gemini,
}

/// The two whose requests are lists of messages.
pub const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

pub const ALL_WIRES: [Wire; 4] = [Wire::Anthropic, Wire::OpenAi, Wire::Responses, Wire::Gemini];

impl Wire {
    /// As the setting `dialect` of a provider names it.
    pub fn setting(self) -> &'static str {
        match self {
            Wire::Anthropic => "anthropic",
            Wire::OpenAi => "openai-chat",
            Wire::Responses => "openai-responses",
            Wire::Gemini => "gemini",
        }
    }

    pub fn dialect(self) -> Arc<dyn WireFormat> {
        match self {
            Wire::Anthropic => Arc::new(AnthropicFormat::default()),
            Wire::OpenAi => Arc::new(OpenAiChatFormat::default()),
            Wire::Responses => Arc::new(OpenAiResponsesFormat::default()),
            Wire::Gemini => Arc::new(GeminiFormat::default()),
        }
    }

    /// A whole answer as this wire sends it.
    pub fn reply(self, said: &[super::mock_server::Say]) -> super::mock_server::Reply {
        match self {
            Wire::Anthropic => super::mock_server::Reply::anthropic(said),
            Wire::OpenAi => super::mock_server::Reply::openai(said),
            _ => super::mock_server::Reply::sse(self.events(said).concat()),
        }
    }

    /// The events of a whole answer, one string each.
    pub fn events(self, said: &[super::mock_server::Say]) -> Vec<String> {
        use super::mock_server::{anthropic_events, gemini_events, openai_events, responses_events};
        match self {
            Wire::Anthropic => anthropic_events(said),
            Wire::OpenAi => openai_events(said),
            Wire::Responses => responses_events(said),
            Wire::Gemini => gemini_events(said),
        }
    }

    /// Where a request's history stands in its body.
    pub fn history(self) -> &'static str {
        match self {
            Wire::Anthropic | Wire::OpenAi => "messages",
            Wire::Responses => "input",
            Wire::Gemini => "contents",
        }
    }
}

/// What conversations of one test share.
pub struct Talk {
    pub dir: tempfile::TempDir,
    pub root: PathBuf,
    pub server: MockServer,
    pub wire: Wire,
    pub mode: ModeCell,
    pub rules: Vec<Rule>,
    pub registry: Arc<ToolRegistry>,
    /// The names of the probes that ran, in the order in which they began.
    pub ran: Arc<Mutex<Vec<String>>>,
    pub figures: ModelLimits,
    pub max_rounds: u32,
    pub max_repeats: u32,
    pub sum_up_at: f64,
    /// The provider and the model.
    pub named: (&'static str, &'static str),
    pub budget: CostBudget,
    pub first_wait: Duration,
    /// How long the server may say nothing.
    pub silence: Duration,
    pub gate: Arc<CallInterceptors>,
    pub labels: ClassificationRules,
    pub guidance: Arc<Guidance>,
}

impl Talk {
    pub fn new(wire: Wire) -> Talk {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        let ran = Arc::new(Mutex::new(Vec::new()));
        Talk {
            dir,
            root,
            server: MockServer::start([]),
            wire,
            mode: ModeCell::new(Mode::Read),
            rules: Vec::new(),
            registry: Arc::new(ToolRegistry::of(vec![Arc::new(Probe { ran: Arc::clone(&ran) })])),
            ran,
            figures: ModelLimits { window: 200_000, max_output: 8_000, vision: true },
            max_rounds: 0,
            max_repeats: 5,
            sum_up_at: 0.0,
            named: ("mock", "mock-1"),
            budget: CostBudget::default(),
            first_wait: Duration::from_millis(1),
            silence: Duration::from_secs(180),
            gate: Arc::default(),
            labels: ClassificationRules::default(),
            guidance: Arc::default(),
        }
    }

    /// With placet's own tools instead of the probe.
    pub fn native(wire: Wire) -> Talk {
        Talk { registry: Arc::new(ToolRegistry::native()), ..Talk::new(wire) }
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.root.join(name), content).unwrap();
    }

    pub fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }

    pub fn store(&self) -> SessionStore {
        let (store, notes) = SessionStore::open(&self.dir.path().join("state")).unwrap();
        assert_eq!(notes, Vec::<String>::new());
        store
    }

    pub fn provider(&self) -> (Arc<dyn Provider>, ModelSpec) {
        let retry =
            RetryPolicy { attempts: 3, first_wait: self.first_wait, longest_wait: self.first_wait * 4 };
        let settings = HttpProviderSettings {
            retry,
            jitter: || 0.0,
            silence_limit: self.silence,
            ..HttpProviderSettings::default()
        };
        let endpoint = Endpoint { base_url: self.server.url(), ..Endpoint::default() };
        let live =
            HttpProvider::new(self.named.0, self.wire.dialect(), endpoint, ApiKeySource::None, settings);
        (Arc::new(live), self.figures.model(self.named.1))
    }

    fn parts(&self) -> AgentConfig {
        let workspace = Workspace::new(self.root.clone(), Vec::new()).unwrap();
        let workspace = super::tool_bench::viewed(workspace, self.dir.path());
        let policy = Policy::new(self.mode.clone(), self.rules.clone(), workspace.roots().to_vec())
            .classified(self.labels.clone(), Taint::default());
        let (provider, model) = self.provider();
        let env = ToolContext {
            mounts: Arc::default(),
            pages: Arc::default(),
            guidance: Arc::clone(&self.guidance),
            jobs: JobRegistry::default(),
            servers: Default::default(),
            checks: Default::default(),
            mode: self.mode.clone(),
            workspace,
            ledger: Mutex::new(ReadLedger::default()),
            scratchpads: Arc::new(placet::session::Scratchpads::in_memory()),
            limits: ToolLimits::default(),
            commands: CommandSettings {
                supervisor: PathBuf::from(crate::support::program::placet()),
                reserve: Default::default(),
                timeout: Duration::from_secs(20),
                withheld: Vec::new(),
                confining: None,
            },
        };
        AgentConfig {
            model: ActiveModel { provider, spec: model, max_output: self.figures.max_output },
            system: "You are a test.".to_string().into(),
            registry: Arc::clone(&self.registry),
            env: Arc::new(env),
            policy: Arc::new(Mutex::new(policy)),
            limits: AgentLimits {
                turn: TurnLimits { rounds: self.max_rounds, repeats: self.max_repeats },
                compact_at: self.sum_up_at,
                budget: self.budget,
            },
            interceptors: Arc::clone(&self.gate),
            subagents: SubagentPool::default(),
            session: None,
        }
    }

    /// A new conversation, kept in the store.
    pub fn begin(&self) -> Agent {
        let session = self.store().create(&self.root, "test").unwrap();
        Agent::new(AgentConfig { session: Some(session), ..self.parts() })
    }

    /// The last conversation, read back from the store by another agent.
    pub fn resume(&self) -> Agent {
        self.resume_with(self.store().load(&self.last()).unwrap())
    }

    /// The same as a person takes it up: what is not needed is read later.
    pub fn take_up(&self) -> Agent {
        self.resume_with(self.store().load_for_resume(&self.last()).unwrap())
    }

    fn resume_with(&self, loaded: LoadedSession) -> Agent {
        let session = self.store().resume(&self.last()).unwrap();
        let mut agent = Agent::new(AgentConfig { session: Some(session), ..self.parts() });
        agent.resume(loaded).unwrap();
        agent
    }

    pub fn last(&self) -> SessionId {
        self.store().latest(&self.root).unwrap().unwrap()
    }

    /// What the store holds of the last conversation, as JSON.
    pub fn stored(&self) -> Vec<Value> {
        let loaded = self.store().load(&self.last()).unwrap();
        loaded.transcript.messages().iter().map(|m| serde_json::to_value(m).unwrap()).collect()
    }

    /// The messages of each request so far, without the marks for the cache, which move.
    pub fn sent(&self) -> Vec<Vec<Value>> {
        let bodies = self.server.requests().into_iter().map(|r| r.body);
        bodies.map(|body| unmarked(body)[self.wire.history()].as_array().unwrap().clone()).collect()
    }

    #[track_caller]
    pub fn is_lawful(&self) {
        assert_eq!(self.server.violations(), Vec::<String>::new());
    }
}

/// Without `cache_control`.
pub fn unmarked(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(|v| *v = unmarked(v.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|v| *v = unmarked(v.take())),
        _ => {}
    }
    value
}

/// One turn; `hear` gets every event and may stop it.
pub async fn turn(
    agent: &mut Agent,
    text: &str,
    hear: impl FnMut(TurnEvent, &CancellationToken),
) -> TurnEnding {
    start(agent, TurnStart::Say(vec![Part::text(text)]), hear).await
}

pub async fn start(
    agent: &mut Agent,
    start: TurnStart,
    mut hear: impl FnMut(TurnEvent, &CancellationToken),
) -> TurnEnding {
    let (events, mut inbox) = tokio::sync::mpsc::unbounded_channel();
    let stop = CancellationToken::new();
    let running = agent.run(start, events, stop.clone());
    let hearing = async {
        while let Some(event) = inbox.recv().await {
            hear(event, &stop);
        }
    };
    tokio::time::timeout(Duration::from_secs(30), async { tokio::join!(running, hearing).0 }).await.unwrap()
}

/// `{"name": ..., "do": "done" | "fail" | "count" | "wait" | "deaf" | "panic", "reach": "session" | "run"}`: notes its name and does that; `wait`
/// waits to be cancelled, and `deaf` ends when it wants to, after six seconds.
struct Probe {
    ran: Arc<Mutex<Vec<String>>>,
}

impl Tool for Probe {
    fn spec(&self) -> ToolSpec {
        let text = serde_json::json!({"type": "string"});
        let schema = serde_json::json!({"type": "object", "required": ["name"],
            "properties": {"name": text, "do": text, "reach": text}});
        ToolSpec { name: "probe".into(), description: "Does as told.".into(), schema }
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths::default()
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let word = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
        if word("name").is_empty() {
            return Err(ToolError::hint("`name` is missing", "probe(name)"));
        }
        let reach = match word("reach").as_str() {
            "run" => {
                Access::Run { command: word("name"), cwd: env.workspace.cwd().to_path_buf(), confined: false }
            }
            _ => Access::Session,
        };
        let ran = Arc::clone(&self.ran);
        Ok(Box::new(Probing { name: word("name"), what: word("do"), reach, ran }))
    }
}

struct Probing {
    name: String,
    what: String,
    reach: Access,
    ran: Arc<Mutex<Vec<String>>>,
}

impl Plan for Probing {
    fn reach(&self) -> Vec<Access> {
        vec![self.reach.clone()]
    }

    fn title(&self) -> String {
        format!("probe {}", self.name)
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: placet::tools::DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            let count = {
                let mut ran = self.ran.lock().unwrap();
                ran.push(self.name.clone());
                ran.len()
            };
            let line = CallSummary::line(self.title());
            let output = |outcome, text: &str| ToolOutput {
                outcome,
                for_model: vec![Part::text(format!("{text} {}", self.name))],
                for_person: line.clone(),
                facts: placet::tools::OutputFacts::None,
                recorded: Vec::new(),
            };
            match self.what.as_str() {
                "wait" => {
                    ctx.cancel.cancelled().await;
                    output(CallOutcome::Interrupted, "stopped")
                }
                "deaf" => {
                    tokio::time::sleep(Duration::from_secs(6)).await;
                    output(CallOutcome::Done, "heard nothing")
                }
                "fail" => output(CallOutcome::Failed, "cannot"),
                "count" => output(CallOutcome::Done, &format!("run {count} of")),
                "panic" => panic!("as told"),
                _ => output(CallOutcome::Done, "did"),
            }
        })
    }
}
