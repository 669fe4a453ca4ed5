//! job: reads the output and the state of background commands, waits for them, and ends them.

use super::Job;
use crate::arguments::ToolSchema;
use crate::output::interrupted;
use crate::{
    CallPreview, CallSummary, DisplayDetail, OutputFacts, Plan, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use placet_permission::{Access, Permit};
use placet_text::conversation::{CallFact, CallOutcome, Part, ToolSpec};
use placet_text::text::sanitize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "job";
/// How long `wait` waits by default, and at most.
const WAIT: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_secs(3600);
/// How often the output is searched for the text that a call waits for.
const LOOK: Duration = Duration::from_millis(50);
/// Lines that are shown to the person.
const SHOWN: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum JobAction {
    List,
    Output,
    Wait,
    Kill,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    action: JobAction,
    job: Option<u32>,
    /// Only the last.
    lines: Option<usize>,
    until: Option<String>,
    timeout_ms: Option<u64>,
}

pub(crate) struct JobTool(ToolSchema);

impl Default for JobTool {
    fn default() -> JobTool {
        JobTool(ToolSchema::of::<Args>(NAME, include_str!("../../../prompts/tools/job.md")))
    }
}

impl Tool for JobTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        // In order, and after the command that they ask about.
        TouchedPaths { anything: true, ..TouchedPaths::default() }
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        if args.action == JobAction::List {
            return Ok(Box::new(JobPlan { args, job: None }));
        }
        let job = match args.job {
            Some(number) => env.jobs.find(number),
            None => {
                let running = env.jobs.running();
                match <[Arc<Job>; 1]>::try_from(running) {
                    Ok([job]) => Some(job),
                    Err(_) => return Err(ToolError::hint("`job` is missing", numbers(env))),
                }
            }
        };
        if args.until.as_deref() == Some("") {
            return Err(ToolError::hint("`until` is empty", "leave it out to wait for the end"));
        }
        match job {
            Some(job) => Ok(Box::new(JobPlan { args, job: Some(job) })),
            None => {
                let number = args.job.unwrap_or_default();
                Err(ToolError::hint(format!("no job {number}"), numbers(env)))
            }
        }
    }
}

/// The jobs that exist, for an error about a wrong number.
fn numbers(env: &ToolContext) -> String {
    let numbers: Vec<String> = env.jobs.list().iter().map(|job| job.number.to_string()).collect();
    match numbers.is_empty() {
        true => "no jobs are running; run_command with `background` starts one".into(),
        false => format!("the jobs are {}", numbers.join(", ")),
    }
}

struct JobPlan {
    args: Args,
    job: Option<Arc<Job>>,
}

impl Plan for JobPlan {
    fn reach(&self) -> Vec<Access> {
        vec![Access::Session]
    }

    fn title(&self) -> String {
        let verb = match self.args.action {
            JobAction::List => return "jobs".into(),
            JobAction::Output => "read",
            JobAction::Wait => "wait for",
            JobAction::Kill => "end",
        };
        let until = self.args.until.as_deref().map_or(String::new(), |text| {
            let text: String = text.chars().take(60).collect();
            format!(" until `{}`", sanitize::line(&text))
        });
        self.job
            .as_ref()
            .map_or(String::new(), |job| format!("{verb} job {}{until}: {}", job.number, job.shown_line()))
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            let title = self.title();
            let Some(job) = &self.job else { return listed(&ctx.env, &title) };
            let waited = match self.args.action {
                JobAction::Wait => {
                    tokio::select! {
                        waited = self.wait(job) => waited,
                        () = ctx.cancel.cancelled() => return interrupted(&title),
                    }
                }
                JobAction::Kill => {
                    job.stop();
                    job.ended().await;
                    JobWaitOutcome::Not
                }
                JobAction::List | JobAction::Output => {
                    job.settled().await;
                    JobWaitOutcome::Not
                }
            };
            if self.args.action == JobAction::Kill {
                // The person who ended the job knows about its end.
                job.tell_person_once();
            }
            match self.read(job) {
                Ok(text) => said(job, (text, &ctx.env.full_name(&job.cwd)), &waited, title),
                Err(e) => {
                    let why = ToolError::new(format!("its output cannot be read: {e}"));
                    crate::output::failed(&title, &why)
                }
            }
        })
    }
}

impl JobPlan {
    fn read(&self, job: &Job) -> std::io::Result<String> {
        let Some(lines) = self.args.lines else { return job.read_new_output() };
        drop(job.read_new_output()?);
        let (text, before) = job.last_lines(lines)?;
        Ok(if before > 0 { format!("[{before} lines before these]\n{text}") } else { text })
    }

    /// Waits for the end of the job, or for a text in its output.
    async fn wait(&self, job: &Job) -> JobWaitOutcome {
        let limit = self.args.timeout_ms.map_or(WAIT, Duration::from_millis).min(LONGEST);
        let timer = tokio::time::sleep(limit);
        tokio::pin!(timer);
        let mut look = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                biased;
                () = job.ended() => return JobWaitOutcome::Not,
                _ = look.tick(), if self.args.until.is_some() => {
                    let until = self.args.until.as_deref().unwrap_or_default();
                    if job.peek_output().is_ok_and(|text| text.contains(until)) {
                        return JobWaitOutcome::Heard;
                    }
                }
                () = &mut timer => {
                    return JobWaitOutcome::InVain(limit);
                }
            }
        }
    }
}

/// Why the wait ended.
enum JobWaitOutcome {
    /// The call did not wait, or the job has ended.
    Not,
    Heard,
    InVain(Duration),
}

impl JobWaitOutcome {
    fn words(&self) -> String {
        match self {
            JobWaitOutcome::Not => String::new(),
            JobWaitOutcome::Heard => "; its output contains it".into(),
            JobWaitOutcome::InVain(limit) => {
                format!("; still running after {} s of waiting", limit.as_secs_f64())
            }
        }
    }
}

/// `place` is the directory of the job as results name it.
fn said(job: &Job, (mut text, place): (String, &str), waited: &JobWaitOutcome, title: String) -> ToolOutput {
    let mut recorded = Vec::new();
    // A wait without result is progress each time, because the call asked for the wait.
    let steady = format!("{}\n{}{}", job.state_without_times(), text, job.effects());
    let facts = if matches!(waited, JobWaitOutcome::InVain(_)) {
        OutputFacts::None
    } else {
        OutputFacts::Steady(steady)
    };
    if !job.is_running() {
        recorded.push(CallFact::JobEnded { job: job.number });
        job.tell_model_once();
        // The call's own line reports the end to the person.
        job.tell_person_once();
    }
    let shown = crate::output::preview(&text, 4000, 4000).0;
    let shown: Vec<&str> = shown.lines().collect();
    let shown = shown.get(shown.len().saturating_sub(SHOWN)..).unwrap_or_default().join("\n");
    let nothing = text.is_empty();
    if !nothing && !text.ends_with('\n') {
        text.push('\n');
    }
    let state = job.state();
    let nothing = if nothing { ", nothing new" } else { "" };
    let waited = waited.words();
    text.push_str(&format!("[job {}: {state}{nothing}{waited}, in {place}]", job.number));
    text.push_str(&job.effects());
    ToolOutput {
        outcome: CallOutcome::Done,
        for_model: vec![Part::text(text)],
        for_person: CallSummary::text(format!("{title} · {}", sanitize::line(&state)), shown),
        facts,
        recorded,
    }
}

fn listed(env: &ToolContext, title: &str) -> ToolOutput {
    let jobs = env.jobs.list();
    for job in &jobs {
        job.tell_model_once();
    }
    let ended = jobs.iter().filter(|job| !job.is_running());
    let recorded = ended.map(|job| CallFact::JobEnded { job: job.number }).collect();
    let steady = jobs.iter().map(|job| format!("{} {}\n", job.number, job.state_without_times())).collect();
    let lines: Vec<String> = jobs
        .iter()
        .map(|job| {
            let shown = job.shown();
            format!("{} · {} · {} · in {}", shown.number, shown.state, shown.line, env.full_name(&shown.cwd))
        })
        .collect();
    let text = if lines.is_empty() { "no jobs".to_string() } else { lines.join("\n") };
    let output = ToolOutput::text(title.to_string(), text);
    ToolOutput { recorded, ..output.with(OutputFacts::Steady(steady)) }
}
