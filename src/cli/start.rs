//! Conversations: with a screen, for one turn, or line by line from a pipe.

use super::args::{Options, OutputFormat};
use super::log_file;
use super::report::{self, CliError, code_for, warn, written};
use super::signals::{self, CurrentTurn};
use crate::agent::{Agent, TurnStart};
use crate::app::{self, App, IncludeProject};
use crate::config::{AppDirs, Config, ConfigProblem, ProjectSettings, TrustStore};
use crate::conversation::Part;
use crate::repl;
use crate::serve::changes::{ChangeReport, TurnChanges};
use crate::serve::headless::{self, AnswerAudience, HeadlessFormat, NoticeAudience};
use crate::session::{OpenSession, SessionStore};
use crate::ui::term;
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// An application, with the project's file when it waits for the person's trust.
pub(super) struct LoadedApp {
    pub(super) app: App,
    pub(super) untrusted: Option<(ProjectSettings, TrustStore)>,
}

pub(super) fn paths() -> AppDirs {
    AppDirs::from_variables(|name| std::env::var(name).ok())
}

/// Reads the settings and builds the application. Mistakes in settings are told and do not stop it.
pub(super) fn load(options: &Options) -> Result<LoadedApp, CliError> {
    let paths = paths();
    log_file::start(&paths.log_file(), options.verbose);
    let cwd = working_directory(options)?;
    let with = if options.no_project { IncludeProject::No } else { IncludeProject::Yes };
    let (mut sources, trust) = app::sources(&paths, &cwd, with);
    let flags = &mut sources.flags;
    for (key, value, flag) in [
        ("mode", &options.mode, "--mode"),
        ("provider", &options.provider, "--provider"),
        ("model", &options.model, "--model"),
        ("base_url", &options.base_url, "--base-url"),
        ("tools.dialect", &options.dialect, "--dialect"),
        ("append_system_prompt", &options.append_system_prompt, "--append-system-prompt"),
    ] {
        if let Some(value) = value {
            flags.flag(key, value, flag);
        }
    }
    // An empty setting is the default; an empty word of the command line is a variable that is not set.
    if options.base_url.as_deref() == Some("") {
        return Err(CliError::usage("`--base-url` is empty"));
    }
    if options.no_stream {
        flags.flag("stream", "false", "--no-stream");
    }
    if options.dry_run && options.mode.is_none() {
        flags.flag("mode", "ask", "--dry-run");
    }
    if let Some(most) = options.max_turns {
        flags.flag("max_turns", &most.to_string(), "--max-turns");
    }
    flags.flag_list("permission.allow", &options.allow, "--allow");
    flags.flag_list("permission.deny", &options.deny, "--deny");
    let accessible = std::env::var("ACCESSIBLE").is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
    if options.linear {
        flags.flag("ui.linear", "true", "--linear");
    } else if accessible {
        flags.flag("ui.linear", "true", "ACCESSIBLE");
    } else if term::is_dumb() {
        flags.flag("ui.linear", "true", "TERM=dumb");
    }
    for assignment in &options.set {
        flags.set(assignment);
    }
    // What was typed just now is a usage error; what stands in a file is told, and the rest applies.
    if let Some(problem) = flags.problems.first() {
        return Err(CliError { hint: problem.hint.clone(), ..CliError::usage(&problem.message) });
    }
    let untrusted = sources.project.as_ref().filter(|p| !p.trusted).map(|p| ProjectSettings {
        path: p.path.clone(),
        text: p.text.clone(),
        hash: p.hash.clone(),
        layer: p.layer.clone(),
        trusted: false,
    });
    let config = Config::merge(sources);
    print_problems(&config.problems);
    let told = config.problems.len();
    let untrusted = untrusted.filter(|_| !config.untrusted.is_empty()).map(|p| (p, trust));
    let request = app::LaunchOptions {
        cwd,
        add_dirs: options.add_dir.clone(),
        record: options.record.clone(),
        replay: options.replay.clone(),
    };
    let app = App::new(config, paths, request)?;
    if options.dry_run && app.mode.load() > crate::permission::Mode::Ask {
        return Err(CliError::usage("--dry-run needs read or ask mode"));
    }
    match app.recover() {
        None => {}
        Some(Ok(recovered)) => warn(&format!("note: {}", recovered.words())),
        Some(Err(e)) => warn(&format!("an apply that was interrupted cannot be completed: {e}")),
    }
    if let Some(line) = crate::serve::changes::damage_line(&app.damage_at_start()) {
        warn(&format!("warning: {line}"));
    }
    print_problems(app.config.problems.get(told..).unwrap_or_default());
    Ok(LoadedApp { app, untrusted })
}

fn print_problems(problems: &[ConfigProblem]) {
    problems.iter().for_each(|problem| warn(&crate::text::sanitize::block(&problem.to_string())));
}

/// One spelling for one place: trust and sessions are kept by it.
pub(super) fn working_directory(options: &Options) -> Result<PathBuf, CliError> {
    let here = std::env::current_dir()
        .map_err(|e| CliError::new(format!("the working directory does not exist: {e}")))?;
    let Some(dir) = &options.cwd else { return Ok(here) };
    let dir = here.join(dir);
    match dir.canonicalize() {
        Ok(dir) if dir.is_dir() => Ok(dir),
        _ => Err(CliError::usage(format!("`{}` is not a directory", dir.display()))),
    }
}

/// The runtime beside the main thread.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    const FILES: usize = 32;
    const MORE_THREADS: usize = 8;
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    crate::process::check_room(FILES, workers + MORE_THREADS)
        .map_err(|e| CliError::new(e.to_string()).hint(e.hint()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .thread_keep_alive(DAY)
        .enable_all()
        .build()
        .map_err(|e| CliError::new(format!("cannot start threads: {e}")))?;
    // One thread for blocking work stays: where no other can be started later, work waits for it instead of breaking.
    drop(runtime.spawn_blocking(|| ()));
    Ok(runtime)
}

pub(super) fn conversation(prompt: Option<String>, options: &Options) -> Result<u8, CliError> {
    let loaded = load(options)?;
    if let Some(text) = &options.print {
        return print(text, loaded, options);
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        // With a prompt there is nothing to wait for: an inherited standard input may never end.
        return match prompt {
            Some(prompt) => print(&prompt, loaded, options),
            None => lines(loaded, options),
        };
    }
    let runtime = runtime()?;
    let current = CurrentTurn::default();
    let watching = current.clone();
    // Signals are watched from the first turn or prompt on; registering costs nothing that is felt.
    signals::watch(&runtime, watching);
    let opened = repl::ShellOptions {
        prompt,
        resume: resume_of(options),
        trust: loaded.untrusted,
        on_turn: Box::new(move |stop| current.set(stop)),
    };
    repl::run(&loaded.app.user_context(), &runtime, opened).map_err(CliError::from)
}

fn resume_of(options: &Options) -> repl::ResumeTarget {
    match (&options.resume, options.continue_last) {
        (Some(prefix), _) if prefix.is_empty() => repl::ResumeTarget::Choose,
        (Some(prefix), _) => repl::ResumeTarget::Named(prefix.clone()),
        (None, true) => repl::ResumeTarget::Last,
        (None, false) => repl::ResumeTarget::No,
    }
}

/// One turn without a screen.
fn print(text: &str, loaded: LoadedApp, options: &Options) -> Result<u8, CliError> {
    note_untrusted(&loaded);
    let mut prompt = text.to_string();
    let piped = prompt == "-";
    if piped {
        prompt.clear();
        let mut stdin = io::stdin().lock();
        stdin
            .read_to_string(&mut prompt)
            .map_err(|e| CliError::new(format!("cannot read standard input: {e}")))?;
    }
    if prompt.trim().is_empty() {
        return Err(CliError::usage("the prompt is empty")
            .hint("pass it as an argument (`placet -p \"show README.md\"`) or on standard input"));
    }
    let runtime = runtime()?;
    let current = CurrentTurn::default();
    signals::watch(&runtime, current.clone());
    let start = begin(&loaded.app, prompt.trim_end(), !piped || options.batch);
    let mut agent = headless_agent(&loaded.app, options, &prompt, &start)?;
    let turn = turn(&runtime, &current, &mut agent, start, options.output_format)?;
    turn.end(&agent, options, || stop_jobs(&runtime, &agent))
}

/// What a prompt starts: what the person wrote out as a batch needs no model. Text that came through a pipe may be
/// anybody's.
fn begin(app: &App, prompt: &str, own_words: bool) -> TurnStart {
    match TurnStart::of_operations(prompt, app.dialect).filter(|_| own_words) {
        Some(start) => start,
        None => TurnStart::Say(vec![Part::text(prompt)]),
    }
}

/// What runs in the background without a screen ends with the last turn.
fn stop_jobs(runtime: &tokio::runtime::Runtime, agent: &Agent) {
    runtime.block_on(agent.env().jobs.stop_all()).iter().for_each(|words| warn(words));
}

/// What is pending after a turn without a screen.
fn settled(agent: &Agent, options: &Options, code: u8) -> Result<u8, CliError> {
    let workspace = &agent.env().workspace;
    match super::changes::settle(agent, options, code)? {
        Some(code) => Ok(code),
        None => Ok(super::changes::after(workspace, code)),
    }
}

/// Prompts line by line from a pipe, answered plainly, in one conversation.
fn lines(loaded: LoadedApp, options: &Options) -> Result<u8, CliError> {
    note_untrusted(&loaded);
    let runtime = runtime()?;
    let current = CurrentTurn::default();
    signals::watch(&runtime, current.clone());
    let mut agent: Option<Agent> = None;
    let mut worst = report::DONE;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|e| CliError::new(format!("cannot read standard input: {e}")))?;
        if line.trim().is_empty() {
            continue;
        }
        if agent.is_none() {
            let start = begin(&loaded.app, &line, options.batch);
            agent = Some(headless_agent(&loaded.app, options, &line, &start)?);
        }
        let Some(agent) = agent.as_mut() else { continue };
        let start = begin(&loaded.app, &line, options.batch);
        let turn = turn(&runtime, &current, agent, start, options.output_format)?;
        let code = turn.end(agent, options, || ())?;
        worst = worst.max(code);
        if code == report::INTERRUPTED {
            break;
        }
    }
    if let Some(agent) = &agent {
        stop_jobs(&runtime, agent);
    }
    Ok(worst)
}

fn note_untrusted(loaded: &LoadedApp) {
    if let Some((project, _)) = &loaded.untrusted {
        let left_out = loaded.app.config.untrusted.join(", ");
        warn(&format!(
            "note: {} is not trusted; ignored: {}\nhint: review and trust it with `placet config trust`",
            project.path.display(),
            crate::text::sanitize::line(&left_out)
        ));
    }
}

/// A conversation without a screen. One that cannot be saved is held all the same, and said not to be.
fn headless_agent(app: &App, options: &Options, first: &str, start: &TurnStart) -> Result<Agent, CliError> {
    let answerer = app.answerer(None, None)?;
    // Who would answer does not matter where nobody is asked.
    if let Some(note) = answerer.note.as_ref().filter(|_| matches!(start, TurnStart::Say(_))) {
        warn(&format!("note: {note}"));
    }
    let store = match app.store() {
        Ok((store, notes)) => {
            notes.iter().for_each(|n| warn(&format!("note: {n}")));
            Some(store)
        }
        Err(e) => {
            warn(&format!("note: this conversation is not saved: {e}"));
            None
        }
    };
    let Some(store) = store else { return Ok(app.agent(answerer, None)?) };
    let (session, resumed) = open_session(&store, app, options, first)?;
    let loaded = if resumed { Some(store.load_for_resume(session.id())?) } else { None };
    let mut agent = app.agent(answerer, Some(session))?;
    if let Some(loaded) = loaded {
        for note in agent.resume(loaded)? {
            warn(&format!("note: {note}"));
        }
    }
    // Now that this one is open, it cannot be among those that go.
    if let Some(note) = app.prune_daily(&store) {
        warn(&format!("note: {note}"));
    }
    Ok(agent)
}

fn open_session(
    store: &SessionStore,
    app: &App,
    options: &Options,
    first: &str,
) -> Result<(OpenSession, bool), CliError> {
    let id = match resume_of(options) {
        repl::ResumeTarget::No => None,
        repl::ResumeTarget::Last => match store.latest(app.cwd())? {
            Some(id) => Some(id),
            None => {
                return Err(CliError::new("no earlier session in this directory"));
            }
        },
        repl::ResumeTarget::Named(prefix) => Some(store.find(&prefix)?.id),
        repl::ResumeTarget::Choose => {
            return Err(CliError::usage("--resume needs a session ID when there is no terminal")
                .hint("`placet session list` lists the sessions"));
        }
    };
    match id {
        Some(id) => Ok((store.resume(&id)?, true)),
        None => Ok((store.create(app.cwd(), &repl::title_of(first))?, false)),
    }
}

/// A turn that was run, and of which the end is not written yet.
struct CliTurn {
    done: headless::HeadlessTurn,
    format: OutputFormat,
}

fn turn(
    runtime: &tokio::runtime::Runtime,
    current: &CurrentTurn,
    agent: &mut Agent,
    start: TurnStart,
    format: OutputFormat,
) -> Result<CliTurn, CliError> {
    let columns = usize::from(term::size().0);
    let reader =
        if io::stdout().is_terminal() { AnswerAudience::Person { columns } } else { AnswerAudience::Program };
    let side = if io::stderr().is_terminal() { NoticeAudience::Person } else { NoticeAudience::Program };
    let how = match format {
        OutputFormat::Text => HeadlessFormat::Text(reader, side),
        OutputFormat::Json => HeadlessFormat::Json,
        OutputFormat::StreamJson => HeadlessFormat::StreamJson,
    };
    let stop = CancellationToken::new();
    current.set(Some(stop.clone()));
    let done = runtime.block_on(headless::run(agent, start, how, stop, &mut io::stdout(), &mut io::stderr()));
    current.set(None);
    Ok(CliTurn { done, format })
}

impl CliTurn {
    /// Settles what is pending and writes the end of the turn. `last` ends what must have ended before that. The answer
    /// as text comes first, so that a person reads it above what was applied; JSON comes last, and says what was.
    fn end(self, agent: &Agent, options: &Options, last: impl FnOnce()) -> Result<u8, CliError> {
        let code = code_for(&self.done.ending, self.done.refused);
        if self.format == OutputFormat::Text {
            let code = ended(self.done, Vec::new(), code)?;
            last();
            return settled(agent, options, code);
        }
        last();
        let view = agent.env().workspace.view();
        let before = view.map(TurnChanges::of);
        let settled = settled(agent, options, code);
        let changes = before.zip(view).map(|(before, view)| before.reports(view)).unwrap_or_default();
        let code = settled.as_ref().map_or(code, |code| *code);
        let code = ended(self.done, changes, code)?;
        settled.map(|_| code)
    }
}

/// Writes the end. Somebody who closed the pipe wants no more of it, and that is no failure.
fn ended(done: headless::HeadlessTurn, changes: Vec<ChangeReport>, code: u8) -> Result<u8, CliError> {
    let output = done.end(changes, &mut io::stdout(), &mut io::stderr());
    let closed = output.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
    written(output)?;
    Ok(if closed { report::DONE } else { code })
}

/// For subcommands that need the application.
pub(super) fn app(options: &Options) -> Result<App, CliError> {
    let loaded = load(options)?;
    note_untrusted(&loaded);
    Ok(loaded.app)
}
