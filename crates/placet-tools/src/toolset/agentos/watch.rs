//! file_watch: waits for changes below a path and reports them together once no more changes come.
//!
//! The watch observes the disk: what anybody else changes, and what placet applies. A change that is only pending in
//! the view changes nothing on disk and causes no event.

use super::super::super::output::{failed, interrupted};
use super::super::super::{
    CallPreview, CallSummary, DisplayDetail, Plan, PlanResult, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use super::path::contained;
use crate::toolset::foreign_tool::ForeignTool;
use crate::toolset::json_answer::answer;
use notify::event::ModifyKind;
use notify::{Event, EventKind, RecursiveMode, Watcher};
use placet_permission::{Access, Permit};
use placet_workspace::{OpenConsent, ResolvedPath};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::Instant;

/// How long no event must come before the events are reported, and the longest delay of the report.
const QUIET: Duration = Duration::from_millis(150);
const LATEST: Duration = Duration::from_secs(2);
const USUAL: u64 = 30_000;
const LONGEST: u64 = 600_000;
/// The most events that are reported.
const MOST: usize = 500;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentosWatch {
    /// File or directory, relative to workspace root.
    path: Option<String>,
    /// Directories below it too (default: true).
    recursive: Option<bool>,
    /// How long to wait for the first change (30000, at most 600000).
    timeout_ms: Option<u64>,
}

pub(super) fn file_watch(nothing: &Arc<()>) -> Arc<dyn Tool> {
    let description = "Wait for changes of a file or below a directory. Returns once changes have come and settled, or at the timeout.";
    ForeignTool::new("file_watch", description, nothing, plan)
        .rule("read_file")
        .whole()
        .touching(|_, ()| TouchedPaths::default())
        .build()
}

fn plan(args: &AgentosWatch, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let at = contained(env, args.path.as_deref().unwrap_or("."))?;
    let timeout = Duration::from_millis(args.timeout_ms.unwrap_or(USUAL).clamp(1, LONGEST));
    let depth =
        if args.recursive == Some(false) { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
    let title = format!("watch {}", env.workspace.shown(&at.path));
    Ok(Box::new(AgentosWatchPlan { at, timeout, depth, title }))
}

struct AgentosWatchPlan {
    at: ResolvedPath,
    timeout: Duration,
    depth: RecursiveMode,
    title: String,
}

impl Plan for AgentosWatchPlan {
    fn reach(&self) -> Vec<Access> {
        vec![self.at.read()]
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title.clone(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            match self.watch(&permit, &ctx).await {
                Ok(output) => output,
                Err(error) => failed(&self.title, &error),
            }
        })
    }
}

impl AgentosWatchPlan {
    async fn watch(&self, permit: &Permit, ctx: &RunContext) -> Result<ToolOutput, ToolError> {
        // One read proves that this path may be read at all.
        ctx.env.workspace.node(&self.at, OpenConsent::Permit(permit)).map_err(|e| ctx.env.path_error(&e))?;
        let (send, mut events) = unbounded_channel();
        let cannot =
            |e: notify::Error| ToolError::new(format!("`{}` cannot be watched: {e}", self.at.written));
        let mut watcher = notify::recommended_watcher(move |event| drop(send.send(event))).map_err(cannot)?;
        watcher.watch(self.nearest(), self.depth).map_err(cannot)?;
        let first = tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => return Ok(interrupted(&self.title)),
            first = self.next(&mut events, ctx) => first,
            () = tokio::time::sleep(self.timeout) => None,
        };
        let Some(first) = first else {
            let answer = json!({"path": ctx.env.real_name(&self.at.path), "events": [], "timedOut": true});
            return Ok(ToolOutput::done(
                answer.to_string(),
                CallSummary::line(format!("{}: nothing", self.title)),
            ));
        };
        let gathered = self.gather(first, &mut events, ctx).await;
        Ok(self.report(gathered, ctx))
    }

    /// The path itself, or for a path that does not exist yet the directory that would contain it.
    fn nearest(&self) -> &Path {
        self.at.path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"))
    }

    /// The next event about this path, shown on the screen at once.
    async fn next(
        &self,
        events: &mut UnboundedReceiver<notify::Result<Event>>,
        ctx: &RunContext,
    ) -> Option<Event> {
        loop {
            let mut event = match events.recv().await? {
                Ok(event) => event,
                Err(_) => continue,
            };
            event.paths.retain(|path| path.starts_with(&self.at.path) && !ctx.env.workspace.is_hidden(path));
            let Some(kind) = word(&event.kind).filter(|_| !event.paths.is_empty()) else { continue };
            for path in &event.paths {
                ctx.progress.send(&format!("{kind} {}\n", ctx.env.workspace.shown(path)));
            }
            return Some(event);
        }
    }

    async fn gather(
        &self,
        first: Event,
        events: &mut UnboundedReceiver<notify::Result<Event>>,
        ctx: &RunContext,
    ) -> BTreeMap<PathBuf, &'static str> {
        let mut told = BTreeMap::new();
        let latest = Instant::now() + LATEST;
        let mut next = Some(first);
        while let Some(event) = next {
            let kind = word(&event.kind).unwrap_or("modified");
            for path in event.paths {
                let known = told.get(&path).copied();
                told.insert(path, joined(known, kind));
            }
            let until = (Instant::now() + QUIET).min(latest);
            next = tokio::select! {
                event = self.next(events, ctx) => event,
                () = tokio::time::sleep_until(until) => None,
                () = ctx.cancel.cancelled() => None,
            };
        }
        told
    }

    fn report(&self, told: BTreeMap<PathBuf, &'static str>, ctx: &RunContext) -> ToolOutput {
        let all = told.len();
        let now = jiff::Timestamp::now().to_string();
        let one = |(path, kind): (PathBuf, &str)| {
            // Whether the path exists in the end decides between deleted and changed.
            let kind = if kind != "deleted" && !path.exists() { "deleted" } else { kind };
            json!({"type": kind, "path": ctx.env.real_name(&path), "timestamp": now})
        };
        let events: Vec<Value> = told.into_iter().take(MOST).map(one).collect();
        let truncated = (all > MOST).then(|| json!(format!("{MOST} of {all} paths")));
        let fields = json!({"path": ctx.env.real_name(&self.at.path), "events": events, "timedOut": false});
        let line = format!("{}: {all} changed", self.title);
        ToolOutput::done(answer(fields, [("truncated", truncated)]), CallSummary::line(line))
    }
}

/// The combined kind of several events of one path.
fn joined(known: Option<&'static str>, next: &'static str) -> &'static str {
    match (known, next) {
        (Some("created"), "modified") => "created",
        (Some("deleted"), "created") => "modified",
        _ => next,
    }
}

fn word(kind: &EventKind) -> Option<&'static str> {
    match kind {
        EventKind::Create(_) => Some("created"),
        EventKind::Remove(_) => Some("deleted"),
        EventKind::Modify(ModifyKind::Name(_)) => Some("renamed"),
        EventKind::Modify(ModifyKind::Metadata(_)) => None,
        EventKind::Modify(_) => Some("modified"),
        _ => None,
    }
}
