//! Background commands, from the prompt: `/jobs`, word of what has ended, and what becomes of them when placet leaves.

use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::output::is_interactive;
use crate::sandbox::{BoundPort, PortMapping, PortMappingError};
use crate::text::{sanitize, visible};
use crate::tools::Job;
use crate::ui::{ansi, margin_mark, scrollback};
use crate::workspace::{ChangeCount, View};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Lines of output that `/jobs N` shows.
const LINES: usize = 20;

/// Tells what ends while a line is typed, above it, and has the prompt renewed where the number of pending changes or of
/// running jobs is another by then. `running` is the number of jobs that the prompt shows.
pub(in crate::repl) fn watch(
    context: &CommandContext<'_>,
    running: usize,
    tell: impl Fn(String) + Send + 'static,
    renew: impl Fn() + Send + 'static,
) -> Option<JoinHandle<()>> {
    let jobs = context.app.tools.jobs.clone();
    if jobs.list().is_empty() {
        return None;
    }
    let theme = context.output.theme.clone();
    let width = context.output.width();
    let workspace = context.conversation.own_workspace();
    let view = workspace.and_then(|workspace| workspace.view()).cloned();
    let dir = view.as_ref().map(|view| view.dir().to_path_buf());
    Some(context.runtime.spawn(async move {
        let mut shown = (pending(view.clone()).await, running);
        loop {
            for words in jobs.next_for_person(dir.as_deref()).await {
                let lines = margin_mark::broken(scrollback::notice(&words, &theme), width);
                // The terminal is in raw mode while a line is typed, so `\n` alone would not return to
                // the first column.
                tell(lines.iter().map(ansi::line).collect::<Vec<_>>().join("\r\n"));
            }
            let now = (pending(view.clone()).await, jobs.running().len());
            if now != shown {
                renew();
            }
            shown = now;
        }
    }))
}

/// How much is pending in `view`; `None` where that cannot be counted.
async fn pending(view: Option<View>) -> Option<ChangeCount> {
    let view = view?;
    let count = move || view.pending_count().ok();
    tokio::task::spawn_blocking(count).await.ok().flatten()
}

/// False where jobs are running that would end with placet, and the person has not been told: who leaves again has been.
pub(in crate::repl) fn may_leave(context: &mut CommandContext<'_>) -> bool {
    let running = context.app.tools.jobs.running();
    let told = &mut context.conversation.told_of_jobs;
    let new: Vec<&Arc<Job>> =
        running.iter().filter(|job| job.stays().is_none() && !told.contains(&job.number)).collect();
    if new.is_empty() || !is_interactive() {
        return true;
    }
    told.extend(new.iter().map(|job| job.number));
    for job in &new {
        context.output.note(&format!(
            "job {} is running and would end with placet: {}",
            job.number,
            job.shown_line()
        ));
    }
    context.output.hint("leave again to end it; `/jobs keep N` lets a job continue");
    false
}

/// Stops the jobs that must not outlive placet, and reports every job that was running.
pub(in crate::repl) fn stop(context: &CommandContext<'_>) {
    for words in context.runtime.block_on(context.app.tools.jobs.stop_all()) {
        context.output.note(&words);
    }
}

/// `/jobs`, `/jobs N`, `/jobs kill N|all`, `/jobs keep N`, `/jobs open N [PORT]`.
pub(super) fn jobs(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words.as_slice() {
        [] => list(context),
        ["kill" | "stop", "all"] => context.app.tools.jobs.running().iter().for_each(|job| end(context, job)),
        ["kill" | "stop", number] => end(context, find(context, number)?.as_ref()),
        ["keep", number] => keep(context, find(context, number)?.as_ref())?,
        ["open", number] => open(context, find(context, number)?.as_ref(), None)?,
        ["open", number, port] => open(context, find(context, number)?.as_ref(), Some(port))?,
        ["kill" | "stop" | "keep" | "open"] => return Err(CommandStop::with_hint("which job?", USAGE)),
        [number] => show(context, find(context, number)?.as_ref())?,
        _ => return Err(CommandStop::with_hint(format!("unknown argument `{rest}` of /jobs"), USAGE)),
    }
    Ok(CommandFollowUp::Nothing)
}

const USAGE: &str = "/jobs, /jobs N for the output, /jobs kill N, /jobs kill all, /jobs keep N, /jobs open N";

fn find(context: &CommandContext<'_>, number: &str) -> Result<Arc<Job>, CommandStop> {
    let found = number.parse().ok().and_then(|number| context.app.tools.jobs.find(number));
    found.ok_or_else(|| CommandStop::with_hint(format!("no job `{number}`"), USAGE))
}

fn list(context: &CommandContext<'_>) {
    let jobs = context.app.tools.jobs.list();
    if jobs.is_empty() {
        return context.output.note("no jobs: the model starts one when it runs a command in the background");
    }
    let row = |job: &Arc<Job>| {
        job.tell_person_once();
        let shown = job.shown();
        let at = visible::path(&shown.cwd);
        (format!("{} {}", shown.number, shown.state), format!("{} · in {at}", shown.line))
    };
    context.output.rows(&jobs.iter().map(row).collect::<Vec<_>>());
}

fn show(context: &CommandContext<'_>, job: &Job) -> Result<(), CommandStop> {
    let shown = job.shown();
    let (state, at) = (sanitize::line(&shown.state), visible::path(&shown.cwd));
    context.output.note(&format!("job {} · {state} · {} · in {at}", shown.number, shown.line));
    let (text, before) = job.last_lines(LINES).map_err(|e| format!("cannot read its output: {e}"))?;
    if before > 0 {
        context.output.hint(&format!("{before} lines before these, in {}", job.log().display()));
    }
    context.output.quote(&text);
    Ok(())
}

fn end(context: &CommandContext<'_>, job: &Job) {
    if !job.is_running() {
        return context.output.note(&format!("job {} has ended already", job.number));
    }
    job.stop();
    context.runtime.block_on(job.ended());
    job.tell_person_once();
    let (number, line) = (job.number, job.shown_line());
    let effects = if job.is_walled() { "; its changes were discarded" } else { "" };
    context.output.note(&format!("ended job {number} and everything it started{effects}: {line}"));
}

fn keep(context: &CommandContext<'_>, job: &Job) -> Result<(), CommandStop> {
    job.keep()?;
    // 0 would be the group of the person's own shell.
    let ends = job.stays().map(|pid| format!("; `kill {pid}` ends it")).unwrap_or_default();
    context.output.note(&format!(
        "job {} continues after placet ends{ends}; its output is in {}",
        job.number,
        job.log().display()
    ));
    Ok(())
}

/// Publishes a port of a job, so that the person's browser reaches it. The person typed the command, and so nothing is
/// asked.
fn open(context: &CommandContext<'_>, job: &Job, port: Option<&str>) -> Result<(), CommandStop> {
    let number = job.number;
    if !job.is_running() {
        return Err(CommandStop::error(format!("job {number} has ended")));
    }
    let published = job.published_ports();
    let mapping = match (port, job.listening_ports().as_slice()) {
        (Some(text), _) => text.parse().map_err(|e: PortMappingError| e.to_string())?,
        (None, [only]) => PortMapping::same(*only),
        (None, []) => {
            let hint = format!(
                "`/jobs {number}` shows its output; `/jobs open {number} PORT` publishes a port before"
            );
            return Err(CommandStop::with_hint(format!("job {number} listens on no port yet"), hint));
        }
        (None, ports) => {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            let what = format!("job {number} listens on the ports {}", ports.join(", "));
            return Err(CommandStop::with_hint(
                what,
                format!("`/jobs open {number} PORT` opens one of them"),
            ));
        }
    };
    let known = published
        .iter()
        .find(|known| known.inside == mapping.inside && (port.is_none() || **known == mapping));
    let url = match known {
        Some(known) => known.url(),
        // Without the view its ports are those of the machine.
        None if !job.is_walled() => PortMapping::same(mapping.inside).url(),
        None => {
            let bound = BoundPort::bind(mapping).map_err(|e| {
                let hint = format!(
                    "`/jobs open {number} OTHER:{}` takes another port of this machine",
                    mapping.inside
                );
                CommandStop::with_hint(e.to_string(), hint)
            })?;
            job.publish(bound)?;
            mapping.url()
        }
    };
    context.output.note(&format!("port {} of job {number}, until it ends: {url}", mapping.inside));
    Ok(())
}
