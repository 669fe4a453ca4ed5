//! What the shell gets from the program around it: settings, rules and tools, and somebody who builds conversations.

use super::error::UserError;
use crate::agent::{Agent, CallInterceptors, SelectedModel};
use crate::config::{AppDirs, Config};
use crate::guidance::Guidance;
use crate::permission::{Access, ClassificationLevel, Mode, ModeCell, Policy};
use crate::session::{OpenSession, SessionRow, SessionStore};
use crate::storage::StoreMounts;
use crate::tools::{JobRegistry, ServerPool, ToolRegistry, ToolSet};
use crate::workspace::Workspace;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The program around the shell, as `app` has put it together.
pub struct UserContext<'a> {
    pub config: &'a Config,
    pub dirs: &'a AppDirs,
    pub mode: &'a ModeCell,
    /// What Shift+Tab goes through.
    pub modes: &'a [Mode],
    pub policy: &'a Arc<Mutex<Policy>>,
    pub workspace: &'a Workspace,
    pub tools: ToolServices<'a>,
    pub guidance: &'a Arc<Guidance>,
    pub builder: &'a dyn ConversationBuilder,
}

/// The tools, and what surrounds their calls.
pub struct ToolServices<'a> {
    pub registry: &'a ToolRegistry,
    pub tool_set: ToolSet,
    /// Commands in the background.
    pub jobs: &'a JobRegistry,
    /// Servers with tools, without their processes: these are in the agent's context.
    pub servers: &'a ServerPool,
    pub mounts: &'a StoreMounts,
    pub interceptors: &'a CallInterceptors,
}

/// What other sessions of a directory left pending.
pub struct EarlierPending {
    /// The name of the newest of them that no other process works on, and the workspace through its view.
    pub newest: Option<(String, Workspace)>,
    /// The names of the others.
    pub others: Vec<String>,
    /// Why views cannot be read. They may have pending changes.
    pub unread: Vec<String>,
}

/// What cannot be built before the shell runs. Each of these reads the disk or the environment at the moment in which
/// it is asked for, and from settings that are one floor above: how a provider is chosen, where a view is stored, which
/// sessions are stored. Everything else is a field of [`UserContext`].
pub trait ConversationBuilder {
    /// Who answers: as named, or as the settings say. `/model` and `/new` ask again.
    fn answerer(&self, provider: Option<&str>, model: Option<&str>) -> Result<SelectedModel, UserError>;
    /// Reads the settings again for who answers, and for nothing else: `placet setup` has changed them.
    fn reread_provider(&self);
    /// True when a provider is configured or a key selects one. False when the offline provider answers instead.
    fn has_provider(&self) -> bool;
    /// The variable to set where this provider wants a key and there is none.
    fn missing_key(&self, provider: &str) -> Option<String>;
    /// The base URL of this provider, and the environment variable that names it, where one does.
    fn address(&self, provider: &str) -> Option<(String, Option<String>)>;
    /// A conversation stored in `session`, or only in memory.
    fn agent(&self, answerer: SelectedModel, session: Option<OpenSession>) -> Result<Agent, UserError>;
    /// What running a command would access here and now: whether it is confined is found by trying.
    fn command_access(&self, command: String) -> Access;
    /// The workspace through a view in which nothing is pending: its journal is this directory's.
    fn empty_view(&self) -> Workspace;
    /// What sessions of this directory other than `own` left pending.
    fn earlier(&self, own: Option<&str>) -> EarlierPending;
    /// The workspace through the view of this session of the directory.
    fn workspace_of(&self, session: &str) -> Workspace;
    /// How many changes are pending in each session, of every directory.
    fn pending_counts(&self) -> HashMap<String, usize>;
    /// The directory of this session, where that is not the directory of the workspace. Fails where it does not exist.
    fn session_directory(&self, row: &SessionRow) -> Result<Option<PathBuf>, UserError>;
    /// Removes sessions that the settings do not keep, once a day; the sentence says what went. The session that was
    /// resumed is open by then, and an open session is never removed.
    fn prune_sessions(&self, store: &SessionStore) -> Option<String>;
}

impl UserContext<'_> {
    pub(super) fn cwd(&self) -> &Path {
        self.workspace.cwd()
    }

    pub(super) fn settings_file(&self) -> PathBuf {
        self.dirs.user_file()
    }

    /// The policy at this moment; a poisoned lock is still a policy.
    pub(super) fn with_policy<T>(&self, work: impl FnOnce(&mut Policy) -> T) -> T {
        work(&mut self.policy.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How high the conversation is classified; PUBLIC where nothing is.
    pub(super) fn level(&self) -> ClassificationLevel {
        self.with_policy(|policy| {
            if policy.labels().is_off() { ClassificationLevel::Public } else { policy.taint().load() }
        })
    }
}
