//! run_command: a command line, supervised to its end.
//!
//! An exit code other than 0 is a result like any other, and the model reads it. A call fails only if the command had
//! to be stopped or never started.

use super::command_effects::{EffectsSummary, SandboxedRun, with_network};
use super::command_hint::{new_hints, shown_dirs};
use super::ended_command::EndedCommand;
use super::jobs::{DetachedCommand, Job, JobState, MOST_PUBLISHED};
use super::sandboxed;
use super::sandboxed::{CommandIsolation, RunMode};
use super::signature_server::SignatureServer;
use super::to_background::{detached, no_view};
use crate::arguments::ToolSchema;
use crate::output::{failed, floor, interrupted, preview};
use crate::{
    CallPreview, CallSummary, CommandEnd, CommandResult, CommandToApprove, DisplayDetail, OutputFacts, Plan,
    ReadScope, RunContext, RunFuture, StopStage, Tool, ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use placet_permission::{Access, Permit, WritePolicy};
use placet_process::{
    BackgroundSupervisor, CommandExit, FinishedCommand, OutputCapture, ProcessError, ShellCommand,
};
use placet_sandbox::{BoundPort, HostRule, PortMapping, names_private_host};
use placet_session::session::ScratchpadEntry;
use placet_text::conversation::{CallFact, CallId, CallOutcome, Part, ToolSpec};
use placet_workspace::{ResolvedPath, WriteContext};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The part of an output that the screen shows: beginning and end, in bytes.
const SCREEN: (usize, usize) = (16_000, 8_000);

/// How a command became a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobStart {
    ByModel,
    /// The person sent it to the background.
    Moved,
}

impl JobStart {
    /// A job that ends within this time is reported like a foreground command.
    fn at_once(self) -> Duration {
        match self {
            JobStart::ByModel => Duration::from_secs(1),
            // It has run for a while: only an end at the moment of the key press comes so soon.
            JobStart::Moved => Duration::from_millis(50),
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Args {
    pub(crate) command: String,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) cwd: Option<String>,
    /// Hosts it must reach (crates.io, *.npmjs.org:443); otherwise none.
    pub(crate) network: Option<Vec<String>>,
    /// As a job, without a time limit.
    pub(crate) background: Option<bool>,
    /// With `background`: ports on which it listens, for the person's browser.
    pub(crate) publish: Option<Vec<u16>>,
    pub(crate) stdin_scratchpad: Option<String>,
    #[serde(rename = "scratchpad")]
    pub(crate) _scratchpad: Option<String>,
}

pub(crate) struct RunCommand(ToolSchema);

impl Default for RunCommand {
    fn default() -> RunCommand {
        RunCommand(ToolSchema::of::<Args>("run_command", include_str!("../../prompts/tools/run_command.md")))
    }
}

impl Tool for RunCommand {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _input: &Value) -> TouchedPaths {
        TouchedPaths { anything: true, ..TouchedPaths::default() }
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        Ok(Box::new(RunPlan::new(args, env)?))
    }
}

impl RunPlan {
    pub(crate) fn new(args: Args, env: &ToolContext) -> Result<RunPlan, ToolError> {
        if args.command.trim().is_empty() {
            return Err(ToolError::new("`command` is empty"));
        }
        if args.command.contains('\0') {
            return Err(ToolError::new("`command` contains a NUL character, which is not allowed"));
        }
        if args.timeout_ms == Some(0) {
            return Err(ToolError::hint("`timeout_ms` is 0", "leave it out for the default timeout"));
        }
        // A command may read anywhere, and so every mounted store must be ready.
        env.mounts.ready().map_err(|e| ToolError::new(format!("a mounted store cannot be used: {e}")))?;
        let cwd = env.resolve(args.cwd.as_deref().unwrap_or("."))?;
        let stdin = match &args.stdin_scratchpad {
            None => None,
            Some(name) => match env.scratchpads.get(name).map_err(|e| ToolError::new(e.to_string()))? {
                ScratchpadEntry::Text(text) => Some(text.into_bytes()),
                ScratchpadEntry::Image(image) => Some(image.bytes.to_vec()),
            },
        };
        let pace = if args.background == Some(true) { RunMode::Background } else { RunMode::Foreground };
        if pace == RunMode::Background && !env.jobs.has_place() {
            return Err(ToolError::hint(
                "background commands need a session, and there is none here",
                "run it without `background`",
            ));
        }
        let usual = if pace == RunMode::Background { Duration::MAX } else { env.commands.timeout };
        let timeout = args.timeout_ms.map_or(usual, Duration::from_millis);
        let hosts = args.network.unwrap_or_default();
        if let Some(error) = hosts.iter().find_map(|host| HostRule::parse(host).err()) {
            return Err(ToolError::hint(
                format!("{error} (in `network`)"),
                "use host names only, such as crates.io or *.npmjs.org:443",
            ));
        }
        let published = published_ports(args.publish.unwrap_or_default(), pace)?;
        let walls = CommandIsolation::of(env);
        let cwd_name = env.full_name(&cwd.path);
        Ok(RunPlan { line: args.command, cwd, cwd_name, stdin, timeout, hosts, published, walls, pace })
    }
}

/// Each port once.
fn published_ports(mut ports: Vec<u16>, pace: RunMode) -> Result<Vec<u16>, ToolError> {
    ports.sort_unstable();
    ports.dedup();
    if ports.is_empty() {
        return Ok(ports);
    }
    if pace == RunMode::Foreground {
        return Err(ToolError::hint(
            "`publish` needs `background`",
            "a server runs as a job: `background`: true",
        ));
    }
    if ports.first() == Some(&0) {
        return Err(ToolError::new("`publish` names port 0; a port is a number from 1 to 65535"));
    }
    if ports.len() > MOST_PUBLISHED {
        return Err(ToolError::new(format!("`publish` names more than {MOST_PUBLISHED} ports")));
    }
    Ok(ports)
}

pub(crate) struct RunPlan {
    line: String,
    cwd: ResolvedPath,
    /// The directory as results name it.
    cwd_name: String,
    stdin: Option<Vec<u8>>,
    timeout: Duration,
    hosts: Vec<String>,
    published: Vec<u16>,
    walls: CommandIsolation,
    pace: RunMode,
}

impl Plan for RunPlan {
    fn reach(&self) -> Vec<Access> {
        let confined = self.walls == CommandIsolation::View;
        let run = Access::Run { command: self.line.clone(), cwd: self.cwd.path.clone(), confined };
        let hosts = self.hosts.iter().map(|host| Access::Network { host: host.clone() });
        let ports = self.published.iter().map(|&port| Access::Publish { port });
        std::iter::once(run).chain(hosts).chain(ports).collect()
    }

    fn outlasts_call(&self) -> bool {
        self.pace == RunMode::Background
    }

    fn title(&self) -> String {
        let first = self.line.lines().next().unwrap_or_default();
        let cut = floor(first, 200);
        let more = if cut < self.line.len() { " ..." } else { "" };
        let kind = if self.pace == RunMode::Background { "run in the background:" } else { "run" };
        format!("{kind} {}{more}", first.get(..cut).unwrap_or(first))
    }

    fn prepare(&mut self, env: &ToolContext, _sight: ReadScope) -> Result<CallPreview, ToolError> {
        if !env.workspace.is_dir(&self.cwd.path) {
            return Err(self.no_directory(env));
        }
        let usual = self.timeout == env.commands.timeout || self.pace == RunMode::Background;
        let private = env.commands.confining.as_ref().map_or(&[][..], |confining| &confining.private_hosts);
        let shown = |host: &String| match names_private_host(private, host) {
            true => format!("{host} (in a private network)"),
            false => host.clone(),
        };
        let command = CommandToApprove {
            cwd: (self.cwd.path != env.workspace.cwd()).then(|| self.cwd.path.clone()),
            background: self.pace == RunMode::Background,
            limit: (!usual).then_some(self.timeout),
            hosts: self.hosts.iter().map(shown).collect(),
            published: self.published.clone(),
            line: self.line.clone(),
            stdin: self.stdin.clone().unwrap_or_default(),
        };
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::Command(Box::new(command)) })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            let title = self.title();
            let reach = self.reach();
            if !reach.iter().all(|one| permit.covers(one)) {
                return failed(&title, &ToolError::new("nobody approved this command"));
            }
            let view = ctx.env.workspace.view();
            let writer = view.map_or_else(|| permit.write_policy().into(), |view| view.writer(&permit));
            let call = permit.call().clone();
            match self.execute(writer, call, &ctx).await {
                Ok(output) => output,
                Err(error) => failed(&title, &error),
            }
        })
    }
}

impl RunPlan {
    fn no_directory(&self, env: &ToolContext) -> ToolError {
        ToolError::hint(
            format!("the directory `{}` does not exist", env.named(&self.cwd.path).display()),
            "commands start in the working directory unless `cwd` names another existing directory",
        )
    }

    async fn execute(
        mut self: Box<Self>,
        writer: WriteContext,
        call: CallId,
        ctx: &RunContext,
    ) -> Result<ToolOutput, ToolError> {
        let settings = &ctx.env.commands;
        let mut command = ShellCommand {
            line: self.line.clone(),
            cwd: self.cwd.path.clone(),
            supervisor: settings.supervisor.clone(),
            timeout: self.timeout,
            withheld: settings.withheld.clone(),
            stdin: self.stdin.take().into(),
            sandbox: None,
        };
        let may_sign = self.pace == RunMode::Foreground && writer.landing != WritePolicy::Discard;
        let mut signer = None;
        let entering = sandboxed::describe(&ctx.env, &self.cwd.path, &self.hosts, (writer, self.pace));
        let confined = match entering.await? {
            None => None,
            Some((entered, mut spec)) => {
                signer = may_sign.then(|| SignatureServer::open(&ctx.env, &mut spec)).flatten();
                command.sandbox = Some(spec.to_words());
                // The directory may exist in the view only.
                command.cwd = ctx.env.workspace.cwd().to_path_buf();
                Some(entered)
            }
        };
        if self.pace == RunMode::Background {
            return self.start_job(command, confined, ctx).await;
        }
        self.run_in_foreground(command, (confined, signer), call, ctx).await
    }

    /// Runs the command until it ends, or until the person sends it to the background.
    async fn run_in_foreground(
        self: Box<Self>,
        command: ShellCommand,
        (mut entered, signer): (Option<SandboxedRun>, Option<SignatureServer>),
        call: CallId,
        ctx: &RunContext,
    ) -> Result<ToolOutput, ToolError> {
        let commands = &ctx.env.commands;
        let ready = commands.reserve.take();
        let mut running = command.begin_foreground_below(ready).map_err(|e| self.not_started(&ctx.env, e))?;
        // Most commands are followed by another one.
        commands.expect(&ctx.env.mode);
        let refusal = match &entered {
            Some(run) if !run.has_layers() => Some(no_view()),
            _ => ctx.may_detach.check().err(),
        };
        let place = ctx.env.jobs.has_place().then(|| ctx.env.jobs.in_foreground(call, refusal));
        if entered.as_ref().is_some_and(SandboxedRun::has_layers) {
            ctx.stop_stage.enter(StopStage::CommandRuns);
        }
        let nobody = Notify::new();
        let asked = place.as_ref().map_or(&nobody, |place| place.asked());
        let clock = running.clock();
        let signing = async {
            match signer {
                Some(signer) => signer.serve(ctx, &clock).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(signing);
        loop {
            let show = |bytes: &[u8]| ctx.progress.send(&String::from_utf8_lossy(bytes));
            let ending = tokio::select! {
                ending = running.ended(&ctx.cancel, asked, show) => ending,
                never = &mut signing => match never {},
            };
            if let Some(ending) = ending.map_err(|e| self.not_started(&ctx.env, e))? {
                drop(place);
                let finished = running.finish(ending);
                let effects = match entered {
                    None => None,
                    Some(run) => {
                        let effects =
                            run.finish(&ctx.env.workspace, ending, (&ctx.cancel, &ctx.stop_stage)).await?;
                        let said = commands.confining.as_deref().map(|confining| &confining.hints);
                        Some(with_network(effects, finished.sandbox_report.as_deref(), said))
                    }
                };
                return Ok(self.report(finished, effects, &ctx.env));
            }
            let had_view = entered.is_some();
            match detached(&mut running, &mut entered, ctx).await {
                Ok((number, path, log)) => {
                    let started = running.started();
                    let job = self.job(running.into_background(log), entered, started, ctx);
                    drop(place);
                    let job = ctx.env.jobs.begin((number, path), job);
                    return self.begun(&job, JobStart::Moved, ctx).await;
                }
                // The view is lost: what the command writes from now on would be lost with it.
                Err(error) if had_view && entered.is_none() => return Err(error),
                Err(error) => {
                    if let Some(place) = &place {
                        place.refuse(error);
                    }
                }
            }
        }
    }

    /// Adds why the command failed, where the view is the cause and its own message does not say so.
    fn add_hints(&self, told: &mut EffectsSummary, (code, output): (Option<i32>, &str), env: &ToolContext) {
        let Some((code, confining)) = code.filter(|code| *code != 0).zip(env.commands.confining.as_ref())
        else {
            return;
        };
        let missing = || confining.copies().2;
        let roots = shown_dirs(env.workspace.roots(), confining.home.as_deref());
        let ended = EndedCommand { line: &self.line, output, code, roots: &roots, missing: &missing };
        for hint in new_hints(&ended, &confining.hints) {
            told.for_model.push_str(&format!("\n[hint: {hint}]"));
            told.for_person.push_str(&format!(" · hint: {hint}"));
        }
    }

    fn not_started(&self, env: &ToolContext, error: ProcessError) -> ToolError {
        match error {
            ProcessError::NoDirectory(_) => self.no_directory(env),
            other => ToolError::new(other.to_string()),
        }
    }

    /// Starts the command as a job.
    async fn start_job(
        self: Box<Self>,
        command: ShellCommand,
        entered: Option<SandboxedRun>,
        ctx: &RunContext,
    ) -> Result<ToolOutput, ToolError> {
        let jobs = &ctx.env.jobs;
        // Before the command runs: a port may be in use. Without the view its ports are those of the machine.
        let ports = self.published.iter().filter(|_| entered.is_some());
        let bound =
            ports.map(|&port| BoundPort::bind(PortMapping::same(port))).collect::<Result<Vec<_>, _>>();
        let bound = bound.map_err(|e| {
            ToolError::hint(e.to_string(), "let the program listen on another port, and publish that one")
        })?;
        let place = jobs.place()?;
        let background = command.begin(&place.1).map_err(|e| self.not_started(&ctx.env, e))?;
        let job = jobs.begin(place, self.job(background, entered, Instant::now(), ctx));
        for port in bound {
            if let Err(error) = job.publish(port) {
                job.stop();
                job.ended().await;
                jobs.remove(job.number);
                return Err(error);
            }
        }
        self.begun(&job, JobStart::ByModel, ctx).await
    }

    fn job(
        &self,
        background: BackgroundSupervisor,
        entered: Option<SandboxedRun>,
        started: Instant,
        ctx: &RunContext,
    ) -> DetachedCommand {
        // The usual limit of the foreground is not for jobs; a limit that the model chose is.
        let usual = self.pace == RunMode::Foreground && self.timeout == ctx.env.commands.timeout;
        let timeout = if usual { Duration::MAX } else { self.timeout.saturating_sub(started.elapsed()) };
        let (workspace, sandbox) = (ctx.env.workspace.clone(), ctx.env.commands.confining.clone());
        let is_hidden = move |path: &std::path::Path| {
            workspace.is_hidden(path) || sandbox.as_ref().is_some_and(|sandbox| sandbox.covers(path))
        };
        DetachedCommand {
            line: self.line.clone(),
            cwd: self.cwd.path.clone(),
            background,
            entered,
            workspace: ctx.env.workspace.clone(),
            is_hidden: Box::new(is_hidden),
            placet: ctx.env.commands.supervisor.clone(),
            started,
            timeout,
            no_way_out: self.hosts.is_empty(),
        }
    }

    /// The result of a call whose command is a job now. A command that ends at once is reported like any other command:
    /// its line has a mistake, or a port is in use.
    async fn begun(&self, job: &Job, start: JobStart, ctx: &RunContext) -> Result<ToolOutput, ToolError> {
        tokio::select! {
            () = job.ended() => {}
            () = tokio::time::sleep(start.at_once()) => {}
            () = ctx.cancel.cancelled() => {
                job.stop();
                job.ended().await;
            }
        }
        let failed = |e: std::io::Error| ToolError::new(format!("its output cannot be read: {e}"));
        let text = job.read_first().map_err(failed)?;
        match job.standing() {
            JobState::Running | JobState::Settling(..) => Ok(self.going_on(job, start, text)),
            JobState::Failed(why) => {
                ctx.env.jobs.remove(job.number);
                Err(ToolError::new(why))
            }
            JobState::Ended { ending, elapsed, for_model, for_person } => {
                ctx.env.jobs.remove(job.number);
                let mut output = OutputCapture::default();
                output.push(text.as_bytes());
                Ok(self.report(
                    FinishedCommand { ending, output, elapsed, sandbox_report: None },
                    Some(EffectsSummary { for_model, for_person }),
                    &ctx.env,
                ))
            }
        }
    }

    fn going_on(&self, job: &Job, start: JobStart, mut text: String) -> ToolOutput {
        let (screen, _) = preview(&text, SCREEN.0, SCREEN.1);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let (number, cwd) = (job.number, &self.cwd_name);
        let use_job = "`job` reads, waits for and ends it";
        text.push_str(&match start {
            JobStart::ByModel => format!("[job {number} runs in the background, in {cwd}; {use_job}"),
            JobStart::Moved => format!(
                "[the person moved the command to the background: it runs as job {number}, in {cwd}; {use_job}"
            ),
        });
        for &port in &self.published {
            let url = PortMapping::same(port).url();
            text.push_str(&format!("; the person reaches its port {port} at {url} until it ends"));
        }
        text.push_str(match (self.walls, start) {
            (CommandIsolation::View, JobStart::ByModel) if job.is_walled() => "; it sees later edits too]",
            (CommandIsolation::View, JobStart::Moved) if job.is_walled() => {
                "; it sees later edits too, and its own changes are pending when it has ended]"
            }
            _ => "]",
        });
        let urls = self.published.iter().map(|&port| format!(" · {}", PortMapping::same(port).url()));
        let line = match start {
            JobStart::ByModel => format!("{} · job {number}{}", self.title(), urls.collect::<String>()),
            JobStart::Moved => format!("{} · moved to the background as job {number}", self.title()),
        };
        ToolOutput {
            outcome: CallOutcome::Done,
            for_model: vec![Part::text(text)],
            for_person: CallSummary::text(line, screen),
            facts: OutputFacts::None,
            recorded: vec![CallFact::JobStarted { job: number }],
        }
    }

    fn report(
        &self,
        finished: FinishedCommand,
        mut effects: Option<EffectsSummary>,
        env: &ToolContext,
    ) -> ToolOutput {
        let (outcome, how) = self.verdict(finished.ending);
        let FinishedCommand { output, ending, elapsed, .. } = finished;
        let lines = output.lines();
        let mut text = output.text();
        let code = match ending {
            CommandExit::Exit(code) => Some(code),
            CommandExit::Signal(signal) => Some(128 + signal),
            _ => None,
        };
        if let Some(told) = &mut effects {
            self.add_hints(told, (code, &text), env);
        }
        let facts = CommandResult {
            output: text.clone(),
            code,
            elapsed,
            effects: effects.as_ref().map(|told| told.for_model.clone()).unwrap_or_default(),
        };
        let (screen, _) = preview(&text, SCREEN.0, SCREEN.1);
        let line = match ending {
            CommandExit::Exit(0) => self.title(),
            _ => format!("{}: {how}", self.title()),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let seconds = elapsed.as_secs_f64();
        text.push_str(&format!("[{how}, {seconds:.1} s, in {}]", self.cwd_name));
        let mut line = line;
        if let Some(told) = effects {
            text.push_str(&told.for_model);
            line.push_str(&told.for_person);
        }
        if outcome == CallOutcome::Interrupted {
            text = format!("{}\n{text}", placet_text::conversation::text_of(&interrupted("").for_model));
        }
        let command = facts.code.map(|code| CommandEnd { code, lines });
        let for_person = CallSummary { command, ..CallSummary::text(line, screen) };
        let (for_model, facts) = (vec![Part::text(text)], OutputFacts::Ran(facts));
        ToolOutput { outcome, for_model, for_person, facts, recorded: Vec::new() }
    }

    fn verdict(&self, ending: CommandExit) -> (CallOutcome, String) {
        let all = "everything it started was ended";
        match ending {
            CommandExit::Exit(code) => (CallOutcome::Done, format!("exit code {code}")),
            CommandExit::Signal(signal) => (CallOutcome::Done, format!("killed by signal {signal}")),
            CommandExit::TimedOut => {
                let seconds = self.timeout.as_secs_f64();
                (
                    CallOutcome::Failed,
                    format!("timed out after {seconds} s, {all}; `timeout_ms` gives it more time"),
                )
            }
            CommandExit::Cancelled => (CallOutcome::Interrupted, format!("interrupted, {all}")),
            CommandExit::Lost => (CallOutcome::Failed, "its supervisor was killed".into()),
        }
    }
}
