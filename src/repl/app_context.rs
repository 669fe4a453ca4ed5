//! What the shell needs from the program around it: settings, and the building of conversations.

use crate::agent::{Agent, CallInterceptors, SelectedModel, TurnStart};
use crate::config::Config;
use crate::permission::{Mode, ModeCell, Policy};
use crate::session::{OpenSession, SessionStore};
use crate::tools::{JobRegistry, ToolRegistry};
use crate::workspace::Workspace;
use std::path::Path;
use std::sync::{Arc, Mutex};
use thiserror::Error;

/// Something that could not be built, with what to do about it.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct UserError {
    pub message: String,
    pub hint: Option<String>,
    /// The person asked for something that there is not.
    pub usage: bool,
}

/// The program around the shell.
pub trait AppContext {
    fn config(&self) -> &Config;
    /// Where themes of the person's own are.
    fn config_dir(&self) -> &Path;
    fn mode(&self) -> &ModeCell;
    /// What Shift+Tab goes through.
    fn modes(&self) -> &[Mode];
    fn policy(&self) -> &Arc<Mutex<Policy>>;
    /// What surrounds every call.
    fn gate(&self) -> &Arc<CallInterceptors>;
    fn registry(&self) -> &Arc<ToolRegistry>;
    /// Commands in the background.
    fn jobs(&self) -> &JobRegistry;
    /// The turn that a line is when it is a batch of operations.
    fn operations(&self, line: &str) -> Option<TurnStart>;
    /// Whether such a line runs as it is typed, without `/batch`.
    fn typed_batches(&self) -> bool;
    fn workspace(&self) -> &Workspace;
    /// Carries what landed in mounts to their stores; the sentences say what could not be.
    fn upload_mounts(&self) -> Vec<String>;
    /// The workspace through a view in which nothing is pending: its journal is this directory's.
    fn viewed(&self) -> Workspace;
    /// The last session of this directory that left something pending, and the workspace through its view.
    fn earlier(&self) -> Option<(String, Workspace)>;
    /// Opens the session store; the sentences say what was wrong with it.
    fn store(&self) -> Result<(SessionStore, Vec<String>), UserError>;
    /// Removes sessions that the settings do not keep, once a day; the sentence says what went.
    fn prune_sessions(&self, store: &SessionStore) -> Option<String>;
    /// Who answers: as named, or as the settings say.
    fn answerer(&self, provider: Option<&str>, model: Option<&str>) -> Result<SelectedModel, UserError>;
    /// A conversation stored in `session`, or only in memory.
    fn agent(&self, answerer: SelectedModel, session: Option<OpenSession>) -> Result<Agent, UserError>;

    fn cwd(&self) -> &Path {
        self.workspace().cwd()
    }
}
