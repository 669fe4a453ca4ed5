//! run_command: a command line, supervised to its end.
//!
//! An exit code other than 0 is a result like any other: the model reads it. Only a command that had to be stopped,
//! or never started, has failed.

use super::confined::{self, Entered, Pace, Told, Walls};
use super::input::Shape;
use super::jobs::{Job, Lasting, Standing};
use super::output::{failed, floor, interrupted, preview};
use super::{
    Detail, Env, Facts, Output, Plan, Preview, Ran, RunCtx, Running, Sight, Summary, Tool, ToolError, Touches,
};
use crate::conversation::{Fact, Outcome, Part, ToolSpec};
use crate::permission::{Permit, Reach};
use crate::process::{Capture, Command, Ending, Finished, ProcessError};
use crate::session::Entry;
use crate::text::visible;
use crate::workspace::{Resolved, Writer};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What the screen keeps of an output: beginning and end, in bytes.
const SCREEN: (usize, usize) = (16_000, 8_000);

/// A job that ends within this is told as if it had not been one.
const AT_ONCE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Args {
    pub(super) command: String,
    pub(super) timeout_ms: Option<u64>,
    /// Directory to run in, for this call only.
    pub(super) cwd: Option<String>,
    /// Hosts it must reach, such as crates.io or *.npmjs.org:443; without it there is no network.
    pub(super) network: Option<Vec<String>>,
    /// Go on by itself, as a job; no time limit unless `timeout_ms` sets one.
    pub(super) background: Option<bool>,
    /// Scratchpad that becomes its standard input.
    pub(super) stdin_scratchpad: Option<String>,
    /// Store the output under this name instead of showing it.
    #[serde(rename = "scratchpad")]
    pub(super) _scratchpad: Option<String>,
}

pub(super) struct RunCommand(Shape);

impl Default for RunCommand {
    fn default() -> RunCommand {
        RunCommand(Shape::of::<Args>("run_command", include_str!("../../prompts/tools/run_command.md")))
    }
}

impl Tool for RunCommand {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn touches(&self, _input: &Value) -> Touches {
        Touches { anything: true, ..Touches::default() }
    }

    fn plan(&self, input: &Value, env: &Env) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        Ok(Box::new(RunPlan::new(args, env)?))
    }
}

impl RunPlan {
    pub(super) fn new(args: Args, env: &Env) -> Result<RunPlan, ToolError> {
        if args.command.trim().is_empty() {
            return Err(ToolError::new("`command` is empty"));
        }
        if args.command.contains('\0') {
            return Err(ToolError::new("`command` holds a NUL character, which no command line can"));
        }
        if args.timeout_ms == Some(0) {
            return Err(ToolError::hint("`timeout_ms` is 0", "leave it out for the usual time"));
        }
        // A command may look anywhere.
        env.mounts.ready().map_err(|e| ToolError::new(format!("a mounted store cannot be used: {e}")))?;
        let cwd = env.resolve(args.cwd.as_deref().unwrap_or("."))?;
        let stdin = match &args.stdin_scratchpad {
            None => None,
            Some(name) => match env.scratchpads.get(name).map_err(|e| ToolError::new(e.to_string()))? {
                Entry::Text(text) => Some(text.into_bytes()),
                Entry::Image(image) => Some(image.bytes.to_vec()),
            },
        };
        let pace = if args.background == Some(true) { Pace::Background } else { Pace::Foreground };
        if pace == Pace::Background && !env.jobs.has_place() {
            return Err(ToolError::hint(
                "there is no session here that a background command could belong to",
                "run it without `background`",
            ));
        }
        let usual = if pace == Pace::Background { Duration::MAX } else { env.commands.timeout };
        let timeout = args.timeout_ms.map_or(usual, Duration::from_millis);
        let hosts = args.network.unwrap_or_default();
        if let Some(bad) = hosts.iter().find(|h| h.trim().is_empty() || h.contains(['/', ' ', '@'])) {
            return Err(ToolError::hint(
                format!("`{bad}` in `network` is not a host"),
                "name hosts alone, such as crates.io or *.npmjs.org:443",
            ));
        }
        let walls = Walls::of(env);
        Ok(RunPlan { line: args.command, cwd, stdin, timeout, hosts, walls, pace })
    }
}

/// What a person is asked about before a command runs.
pub(crate) struct CommandToApprove<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) background: bool,
    /// Where it is not the usual one.
    pub(crate) limit: Option<Duration>,
    pub(crate) hosts: &'a [String],
    pub(crate) line: &'a str,
    pub(crate) stdin: &'a [u8],
}

impl CommandToApprove<'_> {
    /// All of it, and how it runs: what is approved is what runs. How it runs comes first, where the command cannot
    /// imitate it.
    pub(crate) fn words(&self) -> String {
        let mut how = vec![format!("in {}", visible::path(self.cwd))];
        if self.background {
            how.push("in the background".into());
        }
        how.extend(self.limit.map(|limit| format!("for at most {} s", limit.as_secs_f64())));
        if !self.hosts.is_empty() {
            how.push(format!("with the network, to {}", self.hosts.join(" and ")));
        }
        if self.stdin.is_empty() {
            return format!("{}:\n{}", how.join(", "), self.line);
        }
        let (size, s) = (self.stdin.len(), if self.stdin.len() == 1 { "" } else { "s" });
        how.push(format!("with {size} byte{s} of standard input, which follow the command"));
        let input = match std::str::from_utf8(self.stdin) {
            Ok(text) => text.into(),
            Err(_) => visible::visible(self.stdin, visible::Breaks::Kept),
        };
        format!("{}:\n{}\nstandard input:\n{input}", how.join(", "), self.line)
    }
}

pub(super) struct RunPlan {
    line: String,
    cwd: Resolved,
    stdin: Option<Vec<u8>>,
    timeout: Duration,
    hosts: Vec<String>,
    walls: Walls,
    pace: Pace,
}

impl Plan for RunPlan {
    fn reach(&self) -> Vec<Reach> {
        let confined = self.walls == Walls::View;
        let run = Reach::Run { command: self.line.clone(), cwd: self.cwd.path.clone(), confined };
        let hosts = self.hosts.iter().map(|host| Reach::Network { host: host.clone() });
        std::iter::once(run).chain(hosts).collect()
    }

    fn outlasts_call(&self) -> bool {
        self.pace == Pace::Background
    }

    fn title(&self) -> String {
        let first = self.line.lines().next().unwrap_or_default();
        let cut = floor(first, 200);
        let more = if cut < self.line.len() { " ..." } else { "" };
        let kind = if self.pace == Pace::Background { "run in the background:" } else { "run" };
        format!("{kind} {}{more}", first.get(..cut).unwrap_or(first))
    }

    fn prepare(&mut self, env: &Env, _sight: Sight) -> Result<Preview, ToolError> {
        if !env.workspace.is_dir(&self.cwd.path) {
            return Err(self.no_directory(env));
        }
        let usual = self.timeout == env.commands.timeout || self.pace == Pace::Background;
        let text = CommandToApprove {
            cwd: &self.cwd.path,
            background: self.pace == Pace::Background,
            limit: (!usual).then_some(self.timeout),
            hosts: &self.hosts,
            line: &self.line,
            stdin: self.stdin.as_deref().unwrap_or_default(),
        }
        .words();
        Ok(Preview { line: self.title(), detail: Detail::Text(text) })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunCtx) -> Running {
        Box::pin(async move {
            let title = self.title();
            let reach = self.reach();
            if !reach.iter().all(|one| permit.covers(one)) {
                return failed(&title, &ToolError::new("nobody has consented to this command"));
            }
            let view = ctx.env.workspace.view();
            let writer = view.map_or_else(|| permit.landing().into(), |view| view.writer(&permit));
            match self.execute(writer, &ctx).await {
                Ok(output) => output,
                Err(error) => failed(&title, &error),
            }
        })
    }
}

impl RunPlan {
    fn no_directory(&self, env: &Env) -> ToolError {
        ToolError::hint(
            format!("the directory `{}` does not exist", env.named(&self.cwd.path).display()),
            "commands start in the working directory unless `cwd` names another that is there",
        )
    }

    async fn execute(mut self: Box<Self>, writer: Writer, ctx: &RunCtx) -> Result<Output, ToolError> {
        let settings = &ctx.env.commands;
        let mut command = Command {
            line: self.line.clone(),
            cwd: self.cwd.path.clone(),
            supervisor: settings.supervisor.clone(),
            timeout: self.timeout,
            withheld: settings.withheld.clone(),
            stdin: self.stdin.take().into(),
            sandbox: None,
        };
        let entering = confined::enter(&ctx.env, &self.cwd.path, &self.hosts, (writer, self.pace));
        let confined = match entering.await? {
            None => None,
            Some((entered, words)) => {
                command.sandbox = Some(words);
                // The directory may be there in the view alone.
                command.cwd = ctx.env.workspace.cwd().to_path_buf();
                Some(entered)
            }
        };
        if self.pace == Pace::Background {
            return self.let_go(command, confined, ctx).await;
        }
        let progress = ctx.progress.clone();
        let finished = command.run(&ctx.cancel, |bytes| progress.send(&String::from_utf8_lossy(bytes))).await;
        let finished = finished.map_err(|e| self.not_started(&ctx.env, e))?;
        let effects = match confined {
            None => None,
            Some(entered) => Some(entered.leave(ctx, finished.ending).await?),
        };
        Ok(self.report(finished, effects))
    }

    fn not_started(&self, env: &Env, error: ProcessError) -> ToolError {
        match error {
            ProcessError::NoDirectory(_) => self.no_directory(env),
            other => ToolError::new(other.to_string()),
        }
    }

    /// Starts it as a job. What ends at once is told like any other command: a mistake in its line, a port that is taken.
    async fn let_go(
        self: Box<Self>,
        command: Command,
        entered: Option<Entered>,
        ctx: &RunCtx,
    ) -> Result<Output, ToolError> {
        let jobs = &ctx.env.jobs;
        let (number, log) = jobs.place()?;
        let background = command.begin(&log).map_err(|e| self.not_started(&ctx.env, e))?;
        let lasting = Lasting {
            line: self.line.clone(),
            cwd: self.cwd.path.clone(),
            background,
            entered,
            workspace: ctx.env.workspace.clone(),
            timeout: self.timeout,
            no_way_out: self.hosts.is_empty(),
        };
        let job = Job::begin(jobs, (number, log), lasting);
        jobs.add(Arc::clone(&job));
        tokio::select! {
            () = job.ended() => {}
            () = tokio::time::sleep(AT_ONCE) => {}
            () = ctx.cancel.cancelled() => {
                job.stop();
                job.ended().await;
            }
        }
        let failed = |e: std::io::Error| ToolError::new(format!("its output cannot be read: {e}"));
        let text = job.read_first().map_err(failed)?;
        match job.standing() {
            Standing::Running | Standing::Settling(..) => Ok(self.going_on(&job, text)),
            Standing::Failed(why) => {
                jobs.remove(number);
                Err(ToolError::new(why))
            }
            Standing::Ended { ending, elapsed, for_model, for_person } => {
                jobs.remove(number);
                let mut output = Capture::default();
                output.push(text.as_bytes());
                Ok(self.report(Finished { ending, output, elapsed }, Some(Told { for_model, for_person })))
            }
        }
    }

    fn going_on(&self, job: &Job, mut text: String) -> Output {
        let (screen, _) = preview(&text, SCREEN.0, SCREEN.1);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let number = job.number;
        text.push_str(&format!(
            "[job {number} runs in the background, in {}; `job` reads, waits for and ends it",
            self.cwd.path.display()
        ));
        text.push_str(match self.walls {
            Walls::View if job.is_walled() => "; it sees what is pending as it is now, not later edits]",
            _ => "]",
        });
        Output {
            outcome: Outcome::Done,
            for_model: vec![Part::text(text)],
            for_person: Summary::text(format!("{} · job {number}", self.title()), screen),
            facts: Facts::None,
            recorded: vec![Fact::JobStarted { job: number }],
        }
    }

    fn report(&self, finished: Finished, effects: Option<Told>) -> Output {
        let (outcome, how) = self.verdict(finished.ending);
        let Finished { output, ending, elapsed } = finished;
        let mut text = output.text();
        let facts = Ran {
            output: text.clone(),
            code: match ending {
                Ending::Exit(code) => Some(code),
                Ending::Signal(signal) => Some(128 + signal),
                _ => None,
            },
            elapsed,
            effects: effects.as_ref().map(|told| told.for_model.clone()).unwrap_or_default(),
        };
        let (screen, _) = preview(&text, SCREEN.0, SCREEN.1);
        let line = match ending {
            Ending::Exit(0) => self.title(),
            _ => format!("{}: {how}", self.title()),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let seconds = elapsed.as_secs_f64();
        text.push_str(&format!("[{how}, {seconds:.1} s, in {}]", self.cwd.path.display()));
        let mut line = line;
        if let Some(told) = effects {
            text.push_str(&told.for_model);
            line.push_str(&told.for_person);
        }
        if outcome == Outcome::Interrupted {
            text = format!("{}\n{text}", crate::conversation::text_of(&interrupted("").for_model));
        }
        let for_person = Summary::text(line, screen);
        let (for_model, facts) = (vec![Part::text(text)], Facts::Ran(facts));
        Output { outcome, for_model, for_person, facts, recorded: Vec::new() }
    }

    fn verdict(&self, ending: Ending) -> (Outcome, String) {
        let all = "everything it started was ended";
        match ending {
            Ending::Exit(code) => (Outcome::Done, format!("exit code {code}")),
            Ending::Signal(signal) => (Outcome::Done, format!("killed by signal {signal}")),
            Ending::TimedOut => {
                let seconds = self.timeout.as_secs_f64();
                (
                    Outcome::Failed,
                    format!("timed out after {seconds} s, {all}; `timeout_ms` gives it more time"),
                )
            }
            Ending::Cancelled => (Outcome::Interrupted, format!("interrupted, {all}")),
            Ending::Lost => (Outcome::Failed, "its supervisor was killed".into()),
        }
    }
}
