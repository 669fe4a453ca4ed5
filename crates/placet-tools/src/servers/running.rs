//! One process of a server that has answered: whether a call may use it, its end, and its changes.

use super::home_writes::ServerHome;
use crate::ToolError;
use crate::command::command_effects::{EffectsSummary, SandboxedRun};
use placet_mcp::{ServerConnection, ServerDefinition};
use placet_permission::WritePolicy;
use placet_process::BackgroundSupervisor;
use placet_workspace::{ChangeOrigin, View, Workspace, WriteContext};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long a server may take to end after its input was closed.
const GRACE: Duration = Duration::from_secs(2);
/// How much of a log an error quotes, in bytes for each line, and in lines: the reason is rarely in the last one.
const QUOTED: usize = 600;
const QUOTED_LINES: usize = 5;

/// A server that runs and has answered.
pub(super) struct RunningServer {
    pub(super) connection: ServerConnection,
    /// Its name and version: hostile text.
    pub(super) called: String,
    /// Absent over HTTP.
    pub(super) supervisor: Option<BackgroundSupervisor>,
    /// Absent outside of the view.
    pub(super) run: Option<SandboxedRun>,
    /// Absent where it writes to the home directory itself, or not at all.
    pub(super) home: Option<ServerHome>,
    pub(super) landing: WritePolicy,
    pub(super) stamp: ViewStamp,
}

/// What was pending and applied at a moment. Another value means that files have changed through placet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ViewStamp(Vec<(u64, Option<SystemTime>)>);

impl ViewStamp {
    pub(super) fn of(view: Option<&View>) -> ViewStamp {
        let Some(view) = view else { return ViewStamp::default() };
        let record = |kind: &str| view.dir().join(kind).join("base.jsonl");
        let files = [record("pending"), record("scratch"), view.journal().dir().to_path_buf()];
        let stamp = |file: std::path::PathBuf| {
            let meta = std::fs::metadata(file).ok();
            (meta.as_ref().map_or(0, std::fs::Metadata::len), meta.and_then(|meta| meta.modified().ok()))
        };
        ViewStamp(files.into_iter().map(stamp).collect())
    }
}

impl RunningServer {
    /// True if a call with `landing` may use this process.
    pub(super) fn fits(
        &self,
        definition: &ServerDefinition,
        workspace: &Workspace,
        landing: WritePolicy,
    ) -> bool {
        if self.connection.is_closed() {
            return false;
        }
        let Some(program) = definition.program().filter(|program| !program.is_outside) else { return true };
        self.landing == landing
            && (self.run.is_none() || program.keeps_running || self.stamp == ViewStamp::of(workspace.view()))
    }

    /// True if it has changed files that could be applied.
    pub(super) fn has_written(&self, workspace: &Workspace) -> bool {
        self.run.as_ref().is_some_and(|run| run.has_written(workspace))
    }

    /// True if it has written files at home that its settings keep, which waits for its end.
    pub(super) fn has_kept_files(&self) -> bool {
        self.home.as_ref().is_some_and(ServerHome::has_kept)
    }

    /// Ends the server and everything that it started, and puts its changes where its mode says.
    pub(super) async fn end(
        self,
        workspace: &Workspace,
        writer: WriteContext,
        name: &str,
    ) -> Result<EffectsSummary, ToolError> {
        let RunningServer { connection, supervisor, run, home, landing, .. } = self;
        connection.close().await;
        if let Some(supervisor) = supervisor {
            let _ = ended(supervisor, GRACE).await;
        }
        let Some(run) = run else { return Ok(EffectsSummary::default()) };
        if landing == WritePolicy::Discard && run.has_written(workspace) {
            return Ok(EffectsSummary {
                for_model: "\n[read mode: its changes were discarded]".into(),
                for_person: " · its changes were discarded (read mode)".into(),
            });
        }
        let writer = WriteContext { origin: origin_of(&writer, workspace, name), ..writer };
        let Some(home) = home.filter(|home| !home.keep.is_empty()) else {
            return run.finish_server(workspace, writer, (name.to_string(), 0)).await;
        };
        let place = home.home.clone();
        // Before the layer becomes a part of the session's.
        let writes = tokio::task::spawn_blocking(move || home.keep()).await;
        let writes = writes.map_err(|e| ToolError::new(e.to_string()))?;
        let mut effects = run.finish_server(workspace, writer, (name.to_string(), writes.kept.len())).await?;
        if let Some(view) = workspace.view() {
            writes.forget(view, &place)?;
        }
        effects.for_person.push_str(&writes.for_person());
        Ok(effects)
    }
}

/// The call that made the server change files, or the turn after which it did so; with the name of the server.
fn origin_of(writer: &WriteContext, workspace: &Workspace, name: &str) -> Option<Arc<ChangeOrigin>> {
    let of_turn = || {
        let label = workspace.view()?.label();
        Some(ChangeOrigin::new(&label, "", "mcp", &format!("the server {name}, after its call")))
    };
    let origin = writer.origin.as_deref().cloned().or_else(of_turn)?;
    Some(Arc::new(origin.of_server(name)))
}

/// Waits for the end, for `grace`; then ends it. Returns what its sandbox reported.
pub(super) async fn ended(
    mut supervisor: BackgroundSupervisor,
    grace: Duration,
) -> Result<Option<String>, ToolError> {
    let (never, stay) = (CancellationToken::new(), Notify::new());
    let end = supervisor.ended(grace, &never, &stay).await;
    end.map(|_| supervisor.sandbox_report()).map_err(|e| ToolError::new(e.to_string()))
}

/// The last lines of a log, for an error: hostile until they are rendered.
pub(super) fn quoted(log: &Path) -> String {
    match last_lines(log, QUOTED_LINES) {
        lines if lines.is_empty() => String::new(),
        lines => format!("; its log ends: {}", lines.join(" | ")),
    }
}

/// The last lines of a log that are not empty: hostile until they are rendered.
pub(super) fn last_lines(log: &Path, most: usize) -> Vec<String> {
    let bytes = std::fs::read(log).unwrap_or_default();
    let start = bytes.len().saturating_sub(QUOTED.saturating_mul(most));
    let text = String::from_utf8_lossy(bytes.get(start..).unwrap_or(&bytes));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(most)..).unwrap_or_default();
    last.iter().map(|line| (*line).to_string()).collect()
}
