//! Background commands, from the prompt: `/jobs`, word of what has ended, and what becomes of them when placet leaves.

use super::Shell;
use super::command_table::CommandFollowUp;
use super::prompt::PromptEditor;
use crate::text::{sanitize, visible};
use crate::tools::Job;
use crate::ui::ansi;
use std::sync::Arc;

/// Lines of output that `/jobs N` shows.
const LINES: usize = 20;

impl Shell<'_> {
    /// Tells what ends while a line is typed, above it.
    pub(super) fn watch_jobs(&self, prompter: &PromptEditor) -> Option<tokio::task::JoinHandle<()>> {
        if self.app.jobs().list().is_empty() {
            return None;
        }
        let (jobs, theme, tell) = (self.app.jobs().clone(), self.theme.clone(), prompter.printer()?);
        let agent = self.conversation.agent.as_ref();
        let view = agent.and_then(|agent| agent.env().workspace.view()).map(|view| view.dir().to_path_buf());
        Some(self.runtime.spawn(async move {
            loop {
                for words in jobs.next_for_person(view.as_deref()).await {
                    let lines = crate::ui::scrollback::notice(&words, &theme);
                    // The terminal is in raw mode while a line is typed, so `\n` alone would not return to
                    // the first column.
                    tell(lines.iter().map(ansi::line).collect::<Vec<_>>().join("\r\n"));
                }
            }
        }))
    }

    /// What is not to stay ends with placet, and is said to.
    pub(super) fn stop_jobs(&self) {
        for words in self.runtime.block_on(self.app.jobs().stop_all()) {
            self.note(&words);
        }
    }
}

/// `/jobs`, `/jobs N`, `/jobs kill N|all`, `/jobs keep N`.
pub(super) fn jobs(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words.as_slice() {
        [] => list(shell),
        ["kill", "all"] => {
            for job in shell.app.jobs().running() {
                end(shell, &job);
            }
        }
        ["kill", number] => {
            if let Some(job) = find(shell, number) {
                end(shell, &job);
            }
        }
        ["keep", number] => {
            if let Some(job) = find(shell, number) {
                keep(shell, &job);
            }
        }
        ["kill" | "keep"] => shell.error("which job?", Some(USAGE)),
        [number] => {
            if let Some(job) = find(shell, number) {
                show(shell, &job);
            }
        }
        _ => shell.error(&format!("unknown argument `{rest}` of /jobs"), Some(USAGE)),
    }
    None
}

const USAGE: &str = "/jobs, /jobs N for the output, /jobs kill N, /jobs kill all, /jobs keep N";

fn find(shell: &Shell<'_>, number: &str) -> Option<Arc<Job>> {
    let found = number.parse().ok().and_then(|number| shell.app.jobs().find(number));
    if found.is_none() {
        shell.error(&format!("no job `{number}`"), Some(USAGE));
    }
    found
}

fn list(shell: &Shell<'_>) {
    let jobs = shell.app.jobs().list();
    if jobs.is_empty() {
        return shell.note("no jobs: the model starts one when it runs a command in the background");
    }
    let rows: Vec<(String, String)> = jobs
        .iter()
        .map(|job| {
            job.tell_person_once();
            let shown = job.shown();
            let at = visible::path(&shown.cwd);
            (format!("{} {}", shown.number, shown.state), format!("{} · in {at}", shown.line))
        })
        .collect();
    shell.rows(&rows);
}

fn show(shell: &Shell<'_>, job: &Job) {
    let shown = job.shown();
    let (state, at) = (sanitize::line(&shown.state), visible::path(&shown.cwd));
    shell.note(&format!("job {} · {state} · {} · in {at}", shown.number, shown.line));
    match job.last_lines(LINES) {
        Ok((text, before)) => {
            if before > 0 {
                shell.hint(&format!("{before} lines before these, in {}", job.log().display()));
            }
            shell.quote(&text);
        }
        Err(e) => shell.error(&format!("cannot read its output: {e}"), None),
    }
}

fn end(shell: &Shell<'_>, job: &Job) {
    if !job.is_running() {
        return shell.note(&format!("job {} has ended already", job.number));
    }
    job.stop();
    shell.runtime.block_on(job.ended());
    job.tell_person_once();
    let effects = if job.is_walled() { "; its changes were discarded" } else { "" };
    shell.note(&format!("ended job {} and everything it started{effects}: {}", job.number, job.shown_line()));
}

fn keep(shell: &Shell<'_>, job: &Job) {
    match job.keep() {
        Ok(()) => {
            // 0 would be the group of the person's own shell.
            let ends = job.stays().map(|pid| format!("; `kill {pid}` ends it")).unwrap_or_default();
            shell.note(&format!(
                "job {} continues after placet ends{ends}; its output is in {}",
                job.number,
                job.log().display()
            ));
        }
        Err(e) => shell.error(&e.message, e.hint.map(|hint| hint.to_string()).as_deref()),
    }
}
