//! The servers of a conversation: each is started when it is first needed, used by one call at a time, and ended with
//! the conversation.

use super::home_writes::ServerHome;
use super::running::{RunningServer, last_lines};
use super::status::{ServerState, ServerStatus};
use crate::ToolError;
use crate::command::command_effects::EffectsSummary;
use placet_http::{HttpClient, HttpClientSettings, PageClient};
use placet_mcp::{
    HttpAccess, KnownTools, LoginState, LoginStore, McpClientError, ServerDefinition, ServerKind,
    ServerLogLevel, ServerTemplate, ServerToolSpec,
};
use placet_permission::WritePolicy;
use placet_text::text::{human_size, visible};
use placet_workspace::{Workspace, WriteContext};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Mutex as AsyncMutex;

/// How long a server may take for what is not a call: its log level, its new tools.
const ASIDE: Duration = Duration::from_secs(5);

/// A cheap handle; clones share the servers. The default pool has none.
#[derive(Clone, Default)]
pub struct ServerPool(Arc<PoolState>);

#[derive(Default)]
struct PoolState {
    slots: Vec<ServerSlot>,
    /// Where lists of tools and logs are stored.
    dir: PathBuf,
    client: Arc<HttpClient>,
    pages: Arc<PageClient>,
    /// Shared by all conversations of the process: a login that cannot be stored is in it.
    logins: LoginStore,
    /// The pool of the conversation that began last: menus have the pool of the settings, in which nothing runs.
    latest: Mutex<Weak<PoolState>>,
}

pub(super) struct ServerSlot {
    pub(super) definition: ServerDefinition,
    /// One call at a time: what a server changed belongs to the call that ran.
    pub(super) running: AsyncMutex<Option<RunningServer>>,
    status: Mutex<ServerStatus>,
}

impl ServerSlot {
    pub(super) fn status(&self) -> MutexGuard<'_, ServerStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerPool {
    pub fn new(definitions: Vec<ServerDefinition>, dir: PathBuf) -> ServerPool {
        let logins = LoginStore::new(dir.clone());
        ServerPool::with_client(definitions, (dir, logins), HttpClientSettings::default())
    }

    fn with_client(
        definitions: Vec<ServerDefinition>,
        (dir, logins): (PathBuf, LoginStore),
        client: HttpClientSettings,
    ) -> ServerPool {
        let pages = Arc::new(PageClient::new(client.clone()));
        let client = Arc::new(HttpClient::new(client));
        let slot =
            |definition| ServerSlot { definition, running: AsyncMutex::default(), status: Mutex::default() };
        ServerPool(Arc::new(PoolState {
            slots: definitions.into_iter().map(slot).collect(),
            dir,
            client,
            pages,
            logins,
            latest: Mutex::default(),
        }))
    }

    /// The same servers for another conversation, with processes and connections of its own.
    #[must_use]
    pub fn fresh(&self, client: HttpClientSettings) -> ServerPool {
        let place = (self.0.dir.clone(), self.0.logins.clone());
        let pool = ServerPool::with_client(self.definitions().cloned().collect(), place, client);
        *self.0.latest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&pool.0);
        pool
    }

    /// The connections to servers over HTTP, and their logins.
    pub fn access(&self) -> HttpAccess {
        HttpAccess {
            client: Arc::clone(&self.0.client),
            pages: Arc::clone(&self.0.pages),
            logins: self.0.logins.clone(),
        }
    }

    /// What is stored of the login at a server; `None` if it has none, and did not ask for one.
    pub fn login(&self, definition: &ServerDefinition) -> Option<LoginState> {
        let ServerKind::Http(server) = &definition.kind else { return None };
        if server.has_key() {
            return None;
        }
        let stored = self.0.logins.load(&definition.name, &server.login_address());
        match stored {
            Ok(stored) => stored.map(|stored| stored.state()),
            Err(_) => Some(LoginState::Unusable),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.slots.is_empty()
    }

    pub fn definitions(&self) -> impl Iterator<Item = &ServerDefinition> {
        self.0.slots.iter().map(|slot| &slot.definition)
    }

    pub(super) fn slot(&self, server: &str) -> Result<&ServerSlot, ToolError> {
        let found = self.0.slots.iter().find(|slot| slot.definition.name == server);
        found.ok_or_else(|| ToolError::new(format!("there is no server `{server}` in this session")))
    }

    /// The state of a server, with the stored list of its tools.
    pub fn status(&self, server: &str) -> ServerStatus {
        let Ok(slot) = self.slot(server) else { return ServerStatus::default() };
        let mut status = slot.status();
        if status.known.is_none() {
            status.known = KnownTools::load(&self.list_file(&slot.definition));
        }
        status.clone()
    }

    /// The hosts that the last start of a server needed and was refused.
    pub fn wanted_hosts(&self, server: &str) -> Vec<String> {
        self.slot(server).map(|slot| slot.status().wanted_hosts.clone()).unwrap_or_default()
    }

    /// The last log messages that the server sent over the protocol: hostile text. Empty while it is used.
    pub fn messages(&self, server: &str) -> Vec<String> {
        let Ok(slot) = self.slot(server) else { return Vec::new() };
        let running = slot.running.try_lock();
        running.ok().and_then(|running| Some(running.as_ref()?.connection.messages())).unwrap_or_default()
    }

    /// Asks a server that runs for log messages from this level on.
    pub async fn set_log_level(&self, server: &str, level: ServerLogLevel) -> Result<(), ToolError> {
        let slot = self.slot(server)?;
        let running = slot.running.try_lock();
        let running = running.map_err(|_| ToolError::new(format!("a call uses {server} now")))?;
        let Some(running) = running.as_ref() else {
            let hint = "a call of one of its tools starts it; repeat the line then";
            return Err(ToolError::hint(format!("{server} is not running"), hint));
        };
        if !running.connection.has_log_levels() {
            return Err(ToolError::new(format!("{server} does not log over the protocol")));
        }
        let asked = running.connection.set_log_level(level, ASIDE).await;
        asked.map_err(|error| ToolError::new(format!("{server} did not set its log level: {error}")))
    }

    /// What `typed`, the address of a resource after the server's name, could become by a template of a server that runs.
    /// For a thread that may wait a moment; no server is started.
    pub fn completions(&self, server: &str, typed: &str) -> Vec<String> {
        let latest = self.0.latest.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let pool = latest.map_or_else(|| self.clone(), ServerPool);
        let Ok(slot) = pool.slot(server) else { return Vec::new() };
        let known = self.status(server).known.unwrap_or_default();
        let open = |template: &ServerTemplate| Some((template.clone(), template.open_variable(typed)?));
        let Some((template, open)) = known.offers.templates.iter().find_map(open) else { return Vec::new() };
        // A call that runs is not held up.
        let Ok(running) = slot.running.try_lock() else { return Vec::new() };
        let Some(running) = running.as_ref() else { return Vec::new() };
        let values = running.connection.complete(&template, &open);
        values.into_iter().map(|value| format!("{}{value}", open.before)).collect()
    }

    /// What a tool is, as far as its server's stored list says.
    pub(super) fn tool(&self, server: &str, tool: &str) -> Option<(ServerToolSpec, bool)> {
        let known = self.status(server).known?;
        Some((known.find(tool)?.clone(), known.changed.contains(tool)))
    }

    fn list_file(&self, definition: &ServerDefinition) -> PathBuf {
        self.0.dir.join(format!("{}-{}.json", definition.name, definition.identity()))
    }

    /// The file with the standard error of a server.
    pub fn log_file(&self, server: &str) -> PathBuf {
        self.0.dir.join(format!("{server}.log"))
    }

    pub(super) fn store(&self, definition: &ServerDefinition, known: &KnownTools) {
        if let Err(e) = known.store(&self.list_file(definition)) {
            tracing::warn!("the tools of the server `{}` are not stored: {e}", definition.name);
        }
    }

    pub(super) fn failed(&self, slot: &ServerSlot, error: &ToolError) -> ToolError {
        let why = &error.message;
        slot.status().failed(why);
        let name = &slot.definition.name;
        if self.login(&slot.definition) == Some(LoginState::Needed) {
            // The person may log in at any moment, and the next call uses that.
            slot.status().may_start();
        }
        let message = format!("the server `{name}` failed: {why}");
        match &error.hint {
            Some(hint) => ToolError::hint(message, hint.clone()),
            None => ToolError::hint(message, "/mcp shows the person its log; continue without it"),
        }
    }

    pub(super) fn make_dir(&self) -> Result<(), ToolError> {
        let mut builder = std::fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(&self.0.dir);
        made.map_err(|e| ToolError::new(format!("cannot create `{}`: {e}", self.0.dir.display())))
    }

    /// Asks a server that runs for its tools, and stores them: they are offered from the next conversation on.
    pub(super) async fn read_tools(
        &self,
        slot: &ServerSlot,
        server: &RunningServer,
        timeout: Duration,
    ) -> Result<(), McpClientError> {
        let definition = &slot.definition;
        let fetched = server.connection.tools(timeout).await?;
        let before = self.status(&definition.name).known.unwrap_or_default();
        let known = before.updated(visible::line(&server.called).into_owned(), fetched);
        if known != before {
            self.store(definition, &known);
        }
        slot.status().known = Some(known);
        Ok(())
    }

    /// Ends the process in `running`, if there is one, and collects its changes.
    pub(super) async fn end(
        &self,
        slot: &ServerSlot,
        running: &mut Option<RunningServer>,
        workspace: &Workspace,
        writer: &WriteContext,
    ) -> Result<EffectsSummary, ToolError> {
        let Some(server) = running.take() else { return Ok(EffectsSummary::default()) };
        {
            let mut status = slot.status();
            status.state = ServerState::Idle;
            status.given_hosts.clear();
        }
        server.end(workspace, writer.clone(), &slot.definition.name).await
    }

    /// Ends the servers that have changed files since their last call, or files at home that they keep, at the end of a turn:
    /// the changes are pending when the person is asked about them. Reads the lists of tools that changed, and tries again to store logins. Returns
    /// a sentence for each.
    pub async fn settle(&self, workspace: &Workspace) -> Vec<String> {
        let mut told = self.0.logins.retry().await;
        for slot in &self.0.slots {
            let Ok(mut running) = slot.running.try_lock() else { continue };
            if let Some(server) = running.as_ref().filter(|server| server.connection.take_list_changed())
                && let Err(e) = self.read_tools(slot, server, ASIDE).await
            {
                told.push(format!(
                    "the new tools of the server `{}` are not known: {e}",
                    slot.definition.name
                ));
            }
            let name = &slot.definition.name;
            let Some(server) = running.as_ref() else { continue };
            let left = |home: &ServerHome| home.left(name, &mut slot.status().said_home);
            told.extend(server.home.as_ref().and_then(left));
            let has_written = server.has_written(workspace);
            if !has_written && !server.has_kept_files() {
                continue;
            }
            let writer = WriteContext::from(WritePolicy::Hold);
            let what =
                if has_written { "changed files after its call" } else { "wrote to your home directory" };
            match self.end(slot, &mut running, workspace, &writer).await {
                Ok(effects) if effects.for_person.is_empty() => {}
                Ok(effects) => told.push(format!("the server `{name}` {what}{}", effects.for_person)),
                Err(e) => told.push(format!("the server `{name}`: {}", e.message)),
            }
        }
        told
    }

    /// The process ends: revokes logins that could not be stored. Returns a sentence for each.
    pub async fn end_logins(&self) -> Vec<String> {
        self.0.logins.end(&self.0.pages).await
    }

    /// Ends a server at the person's request. Its changes are collected.
    pub async fn stop(
        &self,
        workspace: &Workspace,
        landing: WritePolicy,
        server: &str,
    ) -> Result<String, ToolError> {
        let slot = self.slot(server)?;
        let mut running = slot.running.lock().await;
        let effects = self.end(slot, &mut running, workspace, &WriteContext::from(landing)).await?;
        Ok(effects.for_person)
    }

    /// What a person can do about a server that needs a login.
    pub fn login_hint(&self, server: &str) -> Option<String> {
        let slot = self.slot(server).ok()?;
        let needed = self.login(&slot.definition) == Some(LoginState::Needed);
        needed.then(|| format!("`placet mcp login {server}` logs in"))
    }

    /// The last lines of a log, at most `most`, rendered.
    pub fn log_end(&self, server: &str, most: usize) -> Vec<String> {
        let lines = last_lines(&self.log_file(server), most);
        lines.iter().map(|line| visible::output_line(line).into_owned()).collect()
    }

    /// How much of a log is stored, and where, for a list.
    pub fn log_line(&self, server: &str) -> Option<String> {
        let file = self.log_file(server);
        let size = std::fs::metadata(&file).ok().map(|meta| meta.len()).filter(|size| *size > 0)?;
        Some(format!("{} in {}", human_size::of(size), visible::path(&file)))
    }
}
