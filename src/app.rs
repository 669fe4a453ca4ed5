//! The wiring: settings become each module's own options, and the parts are built and joined here.

mod error;
mod views;
use crate::agent::{
    ActiveModel, Agent, AgentConfig, AgentLimits, CallInterceptors, CostBudget, SelectedModel, SubagentPool,
    SystemPrompt, TurnLimits,
};
use crate::config::{
    AppDirs, Config, ConfigProblem, ProjectSettings, SettingOrigin, SettingsLayer, SettingsSources,
    TrustStore,
};
use crate::guidance::{Guidance, GuidancePlaces};
use crate::http::PageClient;
use crate::permission::{
    Access, AccessLocation, Mode, ModeCell, Policy, Rule, RuleError, RuleVerdict, Taint,
};
use crate::private;
use crate::provider::{OfflineProvider, ProviderPreset, catalog};
use crate::repl::{ConversationBuilder, EarlierPending, ToolServices, UserContext, UserError};
use crate::session::{OpenSession, Scratchpads, SessionRow, SessionStore};
use crate::text::regular_file;
use crate::tools::{
    CommandSettings, JobRegistry, SEARCH_WEB, SearchEngine, ServerPool, ToolContext, ToolLimits,
    ToolRegistry, ToolSet, WebPages,
};
use crate::workspace::Workspace;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

mod amount;
mod checks;
pub mod configured_provider;
mod damage;
pub(crate) mod devices;
pub mod interceptors;
pub mod keys;
pub mod model_selection;
mod modes;
mod mounts;
mod moved_directory;
mod program_access;
mod runtime;
mod servers;
mod session_directory;
mod sessions;
mod tool_sets;
mod web_search;

pub use mounts::AppMounts;

pub use error::AppError;
pub use moved_directory::{MovedDirectory, follow_moved};
pub use program_access::ProgramAccess;
pub use runtime::runtime;
pub use session_directory::{session_directory, view_directory};
pub use views::run_views::RunViewChoice;

/// What the person asked for on the command line, beside settings.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    pub cwd: PathBuf,
    pub add_dirs: Vec<PathBuf>,
    pub record: Option<PathBuf>,
    pub replay: Option<PathBuf>,
    /// The program that becomes the supervisor of a command; `None` is this program itself.
    pub supervisor: Option<PathBuf>,
    /// The flags, and whether the project's file counts: for reading the settings again.
    pub flags: SettingsLayer,
    pub project: IncludeProject,
}

impl LaunchOptions {
    fn supervisor(&self) -> PathBuf {
        self.supervisor.clone().unwrap_or_else(own_program)
    }
}

/// This program, which also supervises commands.
pub fn own_program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("placet"))
}

/// Everything that outlives a conversation.
pub struct App {
    pub config: Config,
    pub paths: AppDirs,
    pub mode: ModeCell,
    pub modes: Vec<Mode>,
    pub policy: Arc<Mutex<Policy>>,
    pub registry: Arc<ToolRegistry>,
    pub dialect: ToolSet,
    pub mounts: AppMounts,
    pub workspace: Workspace,
    /// Commands in the background, of all conversations.
    jobs: JobRegistry,
    /// Servers with tools. Each conversation has processes of its own; this pool starts none.
    servers: ServerPool,
    pub gate: Arc<CallInterceptors>,
    /// Instructions, skills and commands of the person and of the project.
    guidance: Arc<Guidance>,
    request: LaunchOptions,
    /// The settings of who answers, where they were read again.
    reread_config: RwLock<Option<Arc<Config>>>,
}

impl App {
    /// Mistakes in rules of the settings are added to `config.problems`; one in a flag is an error.
    pub fn new(mut config: Config, paths: AppDirs, request: LaunchOptions) -> Result<App, AppError> {
        // A mistake in these is a doubt that the rules must know of.
        let labels = interceptors::labels(&mut config);
        let keys = withheld(&config);
        let gate = interceptors::gate(&mut config, &paths, (request.supervisor(), keys))?;
        config.problems.extend(own_models(&paths.models_file()));
        let dialect = ToolSet::parse(&config.settings().tools.dialect).unwrap_or_default();
        let registry = ToolRegistry::of_dialect(dialect, &tool_sets::settings(&config));
        // Other tool sets have the tools of their systems.
        let can_search = web_search::is_usable(&mut config) && dialect == ToolSet::Native;
        let registry = if can_search { registry.with_search() } else { registry };
        let servers = ServerPool::new(servers::definitions(&mut config), paths.state.join("mcp"));
        let mounts = AppMounts::read(&mut config, &paths)?;
        let aliases = mounts.stores.iter().map(|m| (m.prefix.clone(), m.dir().to_path_buf())).collect();
        let workspace = Workspace::with_aliases(request.cwd.clone(), request.add_dirs.clone(), aliases)?;
        let mut rules = match dialect {
            // The same tools: to describe them all once more would take a part of the start.
            ToolSet::Native => rules(&mut config, &registry, workspace.roots())?,
            _ => rules(&mut config, &ToolRegistry::native(), workspace.roots())?,
        };
        let is_short = dialect == ToolSet::Native && !config.settings().tools.rare_in_full;
        let registry = if is_short { registry.with_rare_looked_up() } else { registry };
        rules = rules.into_iter().map(|rule| rule.mounted(workspace.aliases())).collect::<Result<_, _>>()?;
        rules.extend(own_files(&paths)?);
        let hidden: Vec<String> =
            rules.iter().filter_map(Rule::denied_read_pattern).map(String::from).collect();
        workspace.set_hidden(&hidden)?;
        workspace.protect(interceptors::protected(&mut config));
        config.restrict_mode();
        if dialect == ToolSet::Agsh {
            // agsh itself starts in read mode, and its prompts rely on that.
            config.default_mode(Mode::Read.name());
        }
        let permitted = modes::permitted(&mut config);
        let mode = modes::first(&config, &permitted);
        if !permitted.contains(&mode) {
            return Err(AppError::Mode { mode, permitted });
        }
        let mut modes = modes::cycle(&mut config);
        modes.retain(|mode| permitted.contains(mode) && (*mode <= Mode::Ask || !config.strict()));
        let mode = ModeCell::limited(mode, permitted);
        let home = crate::config::home_dir();
        let guidance = guidance(&paths, home.clone(), &workspace, &rules);
        let taint = Taint::default();
        if !labels.is_off() {
            let (labels, taint, roots) = (labels.clone(), taint.clone(), workspace.roots().to_vec());
            workspace.set_path_filter(Box::new(move |path| labels.of_path(path, &roots) > taint.load()));
        }
        let policy = Policy::new(mode.clone(), rules, workspace.roots().to_vec()).at_home(home);
        let policy = policy.classified(labels, taint).protecting(workspace.protected());
        let paths_jobs = paths.state.join("jobs");
        Ok(App {
            gate: Arc::new(gate),
            guidance: Arc::new(guidance),
            config,
            paths,
            mode,
            modes,
            policy: Arc::new(Mutex::new(policy)),
            registry: Arc::new(registry),
            dialect,
            mounts,
            jobs: JobRegistry::at(paths_jobs),
            servers,
            workspace,
            request,
            reread_config: RwLock::default(),
        })
    }

    pub fn cwd(&self) -> &Path {
        self.workspace.cwd()
    }

    /// The servers of the settings; none of them is started here.
    /// The search engine of the settings; `None` where none is configured, or where it cannot be used.
    pub fn search_engine(&self) -> Option<SearchEngine> {
        web_search::engine(&self.config, self.client())?.ok()
    }

    pub fn servers(&self) -> &ServerPool {
        &self.servers
    }

    /// Opens the session store.
    pub fn store(&self) -> Result<(SessionStore, Vec<String>), AppError> {
        Ok(SessionStore::open(&self.paths.state)?)
    }

    /// What the tools of one conversation work with; `name` is that of its view: the session's.
    pub fn env(&self, scratchpads: Arc<Scratchpads>, name: &str) -> Arc<ToolContext> {
        // A single call has no place for jobs: they would end with it.
        Arc::new(self.env_with(JobRegistry::default(), scratchpads, (name, &ProgramAccess::default())))
    }

    /// `access` is what commands may see in addition to what every command sees.
    fn env_with(
        &self,
        jobs: JobRegistry,
        scratchpads: Arc<Scratchpads>,
        (name, access): (&str, &ProgramAccess),
    ) -> ToolContext {
        let view = self.view(name);
        let settings = &self.config.settings().tools;
        let limits = ToolLimits {
            inline_bytes: settings.inline_bytes,
            search_time: Duration::from_secs(settings.search_seconds.max(1)),
            ..ToolLimits::default()
        };
        let commands = CommandSettings {
            supervisor: self.request.supervisor(),
            reserve: crate::process::SupervisorReserve::default(),
            timeout: Duration::from_millis(settings.command_timeout_ms),
            withheld: withheld(&self.config),
            confining: Some(Arc::new(self.confining_for(&view, access))),
        };
        let (workspace, ledger) = (self.workspace.with_view(view), Mutex::default());
        let mode = self.mode.clone();
        let mounts = Arc::clone(&self.mounts.stores);
        self.mounts.pads.are(&scratchpads);
        let pages = WebPages::new(
            PageClient::new(self.client()),
            self.config.settings().network.private_hosts.iter(),
        );
        let pages = Arc::new(pages.searching(self.search_engine()));
        let (guidance, servers) = (Arc::clone(&self.guidance), self.servers.fresh(self.client()));
        ToolContext {
            workspace,
            mode,
            mounts,
            ledger,
            scratchpads,
            limits,
            commands,
            jobs,
            pages,
            guidance,
            servers,
            checks: Arc::new(self.project_checks()),
        }
    }

    /// What the settings allow to be spent.
    pub fn budget(&self) -> Result<CostBudget, AppError> {
        let settings = &self.config.settings().conversation;
        let limit = |key: &'static str, text: Option<&String>| match text {
            None => Ok(None),
            Some(text) => {
                amount::dollars(text).map(Some).ok_or_else(|| AppError::Dollars { key, value: text.clone() })
            }
        };
        Ok(CostBudget {
            session: limit("budget.session", settings.budget_session.as_ref())?,
            day: limit("budget.day", settings.budget_day.as_ref())?,
        })
    }

    /// A conversation kept in `session`, or only in memory.
    pub fn agent(&self, answerer: SelectedModel, session: Option<OpenSession>) -> Result<Agent, AppError> {
        let scratchpads = match &session {
            Some(session) => session.scratchpads()?,
            None => Arc::new(Scratchpads::in_memory()),
        };
        if let Some(session) = &session {
            let row = session.store().find(session.id().as_str())?;
            if let Some(dir) = self.session_directory(&row)? {
                return Err(AppError::OtherDirectory { id: row.id.to_string(), dir });
            }
        }
        let name = session.as_ref().map_or_else(views::fresh_name, |s| s.id().to_string());
        if let Err(e) = self.take_over_jobs_of(&name) {
            tracing::warn!("what interrupted jobs wrote cannot be read: {e}");
        }
        let settings = &self.config.settings().conversation;
        Ok(Agent::new(AgentConfig {
            model: ActiveModel {
                provider: answerer.provider,
                spec: answerer.model,
                max_output: answerer.max_output,
            },
            system: self.system_prompt(),
            registry: Arc::new(self.registry.for_conversation()),
            env: Arc::new(self.env_with(self.jobs.clone(), scratchpads, (&name, &ProgramAccess::default()))),
            policy: Arc::clone(&self.policy),
            limits: AgentLimits {
                turn: TurnLimits { rounds: settings.max_turns, repeats: settings.max_repeats },
                compact_at: settings.compact_percent.min(100) as f64 / 100.0,
                budget: self.budget()?,
            },
            interceptors: Arc::clone(&self.gate),
            subagents: SubagentPool::new(settings.agents_at_once),
            session,
        }))
    }

    /// The fixed words every request starts with. They hold nothing that changes within a session: no clock, no mode.
    fn system_prompt(&self) -> SystemPrompt {
        let files = match self.dialect {
            ToolSet::Native => include_str!("../prompts/files/native.md"),
            _ => include_str!("../prompts/files/foreign.md"),
        };
        let mut out = String::new();
        let roots: Vec<String> = self.workspace.roots().iter().map(|r| r.display().to_string()).collect();
        let cwd = self.cwd().display().to_string();
        match roots.as_slice() {
            [only] if *only == cwd => out.push_str(&format!("\nWorkspace and working directory: {cwd}.\n")),
            roots => {
                out.push_str(&format!("\nWorkspace: {}. Working directory: {cwd}.\n", roots.join(", ")));
            }
        }
        for mount in self.mounts.stores.iter() {
            out.push_str(&format!("Mounted: {}, in commands {}.\n", mount.prefix, mount.dir().display()));
        }
        if let Some(more) = &self.config.settings().conversation.append_system_prompt {
            out.push_str(&format!("\n{more}\n"));
        }
        SystemPrompt {
            whole: include_str!("../prompts/system.md").replace("{files}\n", files) + &out,
            short: include_str!("../prompts/short.md").to_string() + &out,
        }
    }
}

impl App {
    /// What the shell gets of it.
    pub fn user_context(&self) -> UserContext<'_> {
        UserContext {
            config: &self.config,
            dirs: &self.paths,
            mode: &self.mode,
            modes: &self.modes,
            policy: &self.policy,
            workspace: &self.workspace,
            tools: ToolServices {
                registry: &self.registry,
                tool_set: self.dialect,
                jobs: &self.jobs,
                servers: &self.servers,
                mounts: &self.mounts.stores,
                interceptors: &self.gate,
            },
            guidance: &self.guidance,
            builder: self,
        }
    }
}

impl ConversationBuilder for App {
    fn answerer(&self, provider: Option<&str>, model: Option<&str>) -> Result<SelectedModel, UserError> {
        Ok(self.answerer_or(OfflineProvider::in_shell(), provider, model)?)
    }

    fn address(&self, provider: &str) -> Option<(String, Option<String>)> {
        let server = self.server(provider).ok()?;
        Some((server.preset.base_url, server.address_variable))
    }

    fn reread_provider(&self) {
        App::reread_provider(self);
    }

    fn has_provider(&self) -> bool {
        self.request.replay.is_some() || self.chosen().is_some()
    }

    fn missing_key(&self, provider: &str) -> Option<String> {
        self.missing_key_variable(provider)
    }

    fn agent(&self, answerer: SelectedModel, session: Option<OpenSession>) -> Result<Agent, UserError> {
        Ok(App::agent(self, answerer, session)?)
    }

    fn command_access(&self, command: String) -> Access {
        App::command_access(self, command)
    }

    fn empty_view(&self) -> Workspace {
        self.workspace.with_view(self.view("none"))
    }

    fn earlier(&self, own: Option<&str>) -> EarlierPending {
        let (waiting, unread) = self.waiting_and_unread();
        let mut theirs = waiting.into_iter().filter(|w| !w.busy && own != Some(w.name.as_str()));
        let newest = theirs.next().map(|w| (w.name, self.workspace.with_view(w.view)));
        EarlierPending { newest, others: theirs.map(|w| w.name).collect(), unread }
    }

    fn workspace_of(&self, session: &str) -> Workspace {
        self.workspace.with_view(self.view(session))
    }

    fn pending_counts(&self) -> HashMap<String, usize> {
        App::pending_counts(self)
    }

    fn session_directory(&self, row: &SessionRow) -> Result<Option<PathBuf>, UserError> {
        Ok(App::session_directory(self, row)?)
    }

    fn prune_sessions(&self, store: &SessionStore) -> Option<String> {
        self.prune_daily(store)
    }
}

/// Lays the person's models over the built-in catalog; what is wrong in them is told and left out.
fn own_models(path: &Path) -> Vec<ConfigProblem> {
    let problem = |message: String| ConfigProblem {
        place: Some((path.into(), 1, 1)),
        message,
        hint: Some("the built-in values are used for the entries that cannot be read".into()),
        permission: false,
    };
    match regular_file::read_to_string(path, regular_file::SETTINGS) {
        Ok(text) => catalog::install(&text).iter().map(|p| problem(p.to_string())).collect(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(e) => vec![problem(format!("cannot be read: {e}"))],
    }
}

/// Where instructions, skills and commands are, and which of them no rule hides from the model. Reads nothing.
fn guidance(paths: &AppDirs, home: Option<PathBuf>, workspace: &Workspace, rules: &[Rule]) -> Guidance {
    let denies: Vec<Rule> = rules.iter().filter(|rule| rule.verdict == RuleVerdict::Deny).cloned().collect();
    let roots = workspace.roots().to_vec();
    let may_read = move |path: &Path| {
        let access = Access::Read { path: path.into(), place: AccessLocation::Inside };
        !denies.iter().any(|rule| rule.matches("read_file", &access, &roots))
    };
    let places = GuidancePlaces {
        cwd: workspace.cwd().to_path_buf(),
        home,
        config: paths.config.clone(),
        trust: paths.trust_file(),
    };
    Guidance::new(places, Box::new(may_read))
}

/// Keys that no command sees.
fn withheld(config: &Config) -> Vec<String> {
    let own = config.provider_names().into_iter();
    let own = own.filter_map(|name| config.provider(&name).key_env);
    ProviderPreset::all().iter().map(|p| p.key_variable.clone()).chain(own).collect()
}

/// Reads the settings: the user's file, the project's, the environment; `flags` come on top. Mistakes are in
/// `Config::problems`; the project, when there is one, comes back for the question of trust.
pub fn sources(paths: &AppDirs, cwd: &Path, project: IncludeProject) -> (SettingsSources, TrustStore) {
    // What others could read until now, they can read no more; the files below are out of reach with it.
    for own in [&paths.config, &paths.state, &paths.cache, &paths.user_file()] {
        if let Err(e) = crate::private::tighten(own) {
            tracing::warn!("`{}` keeps its mode: {e}", own.display());
        }
    }
    let trust = TrustStore::open(&paths.trust_file());
    let user_file = paths.user_file();
    let user = match regular_file::read_to_string(&user_file, regular_file::SETTINGS) {
        Ok(text) => SettingsLayer::user_file(&user_file, &text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => SettingsLayer::default(),
        Err(e) => unreadable(&user_file, &e),
    };
    let home = crate::config::home_dir();
    let found = match project {
        IncludeProject::Yes => AppDirs::project_file(cwd, home.as_deref()),
        IncludeProject::No => None,
    };
    let project_wanted = project;
    let project = found.map(|path| {
        ProjectSettings::read(&path, &trust).unwrap_or_else(|e| ProjectSettings {
            layer: unreadable(&path, &e),
            ..ProjectSettings::none(&path)
        })
    });
    let mcp_file = match project_wanted {
        IncludeProject::Yes => AppDirs::mcp_file(cwd, home.as_deref()),
        IncludeProject::No => None,
    };
    let mcp_file = mcp_file.map(|path| {
        ProjectSettings::read_mcp(&path, &trust).unwrap_or_else(|e| ProjectSettings {
            layer: unreadable_servers(&path, &e),
            ..ProjectSettings::none(&path)
        })
    });
    let environment = SettingsLayer::environment(
        std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))),
    );
    (SettingsSources { user, project, mcp_file, environment, ..SettingsSources::default() }, trust)
}

/// Whether the project's own settings are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeProject {
    #[default]
    Yes,
    No,
}

/// A settings file that is there and cannot be read may have held a rule that denies.
fn unreadable(path: &Path, error: &std::io::Error) -> SettingsLayer {
    let problem = crate::config::ConfigProblem {
        place: Some((path.into(), 1, 1)),
        message: format!("cannot be read: {error}"),
        hint: None,
        permission: true,
    };
    SettingsLayer { problems: vec![problem], ..SettingsLayer::default() }
}

/// A file that names servers only: nothing in it can forbid anything.
fn unreadable_servers(path: &Path, error: &std::io::Error) -> SettingsLayer {
    let mut layer = unreadable(path, error);
    layer.problems.iter_mut().for_each(|problem| problem.permission = false);
    layer
}

fn rules(config: &mut Config, registry: &ToolRegistry, roots: &[PathBuf]) -> Result<Vec<Rule>, AppError> {
    let mut tools = registry.names();
    // A rule about the tool stays a rule when no engine is configured.
    tools.push(SEARCH_WEB.into());
    let mut out = Vec::new();
    let guard = &config.settings().guard;
    for (rules, verdict) in [
        (guard.permission_deny.clone(), RuleVerdict::Deny),
        (guard.permission_ask.clone(), RuleVerdict::Ask),
        (guard.permission_allow.clone(), RuleVerdict::Allow),
    ] {
        for (text, origin) in rules {
            match Rule::parse(&text.rule, verdict, &origin.to_string(), &tools) {
                Ok(rule) => {
                    // A rule that does not do what its examples say may be meant to forbid more than it does.
                    if let Err(e) = rule.check(&text.matching, &text.other, roots) {
                        config.add_permission_problem(ConfigProblem::of_value(&origin, e.to_string()));
                    }
                    out.push(rule.because(text.reason));
                }
                // What was typed just now is put right at once; a file may be older or newer than this program.
                Err(e) if matches!(origin, SettingOrigin::Flag(_)) => return Err(e.into()),
                Err(e) => config.add_permission_problem(ConfigProblem::of_value(&origin, e.to_string())),
            }
        }
    }
    // In doubt about permissions, what allows is void and everything asks.
    if config.strict() {
        out.retain(|rule| rule.verdict != RuleVerdict::Allow);
        out.push(Rule::parse("*", RuleVerdict::Ask, "a permission setting that cannot be read", &tools)?);
    }
    Ok(out)
}

/// placet's own files: the keys, the trust and the sessions are nobody's to read or write through a tool, and the
/// settings are changed only when a person says so each time.
fn own_files(paths: &AppDirs) -> Result<Vec<Rule>, RuleError> {
    let below = |dir: &Path, rest: &str| format!("{}{rest}", globset::escape(&dir.to_string_lossy()));
    let mut out = Vec::new();
    for head in ["read", "write"] {
        let guards = interceptors::audit_places(paths);
        for pattern in [
            below(&paths.keys_file(), ""),
            below(&private::unfinished(&paths.keys_file()), ""),
            below(&guards.key, ""),
            below(&guards.anchor, ""),
            below(&paths.state, ""),
            below(&paths.state, "/**"),
        ] {
            out.push(Rule::parse(
                &format!("{head}({pattern})"),
                RuleVerdict::Deny,
                "placet's own files",
                &[],
            )?);
        }
    }
    let settings = format!("write({})", below(&paths.config, "/**"));
    out.push(Rule::parse(&settings, RuleVerdict::Ask, "placet's own settings", &[])?);
    Ok(out)
}
