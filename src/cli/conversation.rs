//! Conversations: with a screen, for one turn, or line by line from a pipe.

use super::changes::{killed, pending};
use super::command_line::options::{Options, OutputFormat};
use super::custom_prompt;
use super::report::{self, CliError, code_for, warn, written};
use super::startup::moved::start_again;
use super::startup::resumed_directory::in_session_directory;
use super::startup::signals::{self, CurrentTurn};
use super::startup::start::{LoadedApp, StartedFor, load, note_untrusted, runtime};
use crate::agent::{Agent, GoalEnd, TurnStart};
use crate::app::App;
use crate::config::is_shown_first;
use crate::conversation::{Part, SessionId};
use crate::provider::OfflineProvider;
use crate::repl::{self, ShellDirectory};
use crate::serve::changes::{ChangeReport, TurnChanges};
use crate::serve::headless::{self, AnswerAudience, HeadlessFormat, NoticeAudience};
use crate::session::{DATABASE_LOCKED, DatabaseWait, ONE_SHOT, OpenSession, SessionStateKey, SessionStore};
use crate::ui::term;
use crate::workspace::LayerKind;
use std::io::{self, BufRead, IsTerminal, Read};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long work in the background may take to end before placet starts in another directory.
const LAST_WORK: Duration = Duration::from_secs(2);

pub(super) fn converse(prompt: Option<String>, options: &Options) -> Result<u8, CliError> {
    let options = &in_session_directory(options)?;
    let has_shell = options.print.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal();
    if has_shell {
        needs_print(options)?;
    }
    if let Some(text) = &options.print {
        return print(text, load(options, StartedFor::Program)?, options);
    }
    if !has_shell {
        let loaded = load(options, StartedFor::Program)?;
        // With a prompt there is nothing to wait for: an inherited standard input may never end.
        return match prompt {
            Some(prompt) => print(&prompt, loaded, options),
            None => lines(loaded, options),
        };
    }
    let loaded = load(options, StartedFor::Shell)?;
    let runtime = runtime()?;
    let current = CurrentTurn::default();
    let watching = current.clone();
    // Signals are watched from the first turn or prompt on; registering costs nothing that is felt.
    signals::watch(&runtime, watching);
    let opened = repl::ShellOptions {
        prompt,
        resume: resume_of(options),
        is_tour: options.own.tour.is_some(),
        directory: ShellDirectory {
            previous: options.own.moved_from.clone(),
            fixed: fixed_directory(options),
            next: None,
            proposed: None,
        },
        trust: loaded.untrusted,
        on_turn: Box::new(move |stop| current.set(stop)),
    };
    let end = repl::run(&loaded.app.user_context(), &runtime, opened)?;
    let Some(change) = end.next else { return Ok(end.code) };
    // Everything of this directory is closed and written before placet starts in the other one.
    drop(loaded.app);
    runtime.shutdown_timeout(LAST_WORK);
    Err(start_again(&change, options))
}

/// Why the shell cannot change its directory.
fn fixed_directory(options: &Options) -> Option<String> {
    match (&options.own.tour, &options.recording.record, &options.recording.replay) {
        (Some(_), ..) => Some("the tour has a directory of its own".into()),
        (_, Some(_), _) => Some("`--record` records one process".into()),
        (.., Some(_)) => Some("`--replay` replays one process".into()),
        _ => None,
    }
}

/// Refuses options that decide about the changes of a single turn where they would have no effect: in a shell, where
/// the person answers for each turn, and with a subcommand. Anyone who gives such an option expects it to take effect.
pub(super) fn needs_print(options: &Options) -> Result<(), CliError> {
    let given = [
        (options.changes.dry_run, "--dry-run"),
        (options.changes.apply, "--apply"),
        (options.until.is_some(), "--until"),
    ];
    match given.iter().find(|(given, _)| *given) {
        Some((_, name)) => Err(CliError::usage(format!("`{name}` needs `--print`"))
            .hint(format!("for example: placet {name} --print \"show README.md\""))),
        None => Ok(()),
    }
}

fn resume_of(options: &Options) -> repl::ResumeTarget {
    if let Some(name) = &options.session.try_name {
        return repl::ResumeTarget::Try(name.clone());
    }
    match (&options.session.resume, options.session.continue_last) {
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
    let mut start = begin(&loaded.app, prompt.trim_end(), piped, options)?;
    needs_model(&loaded.app, prompt.trim(), &start, options)?;
    let mut agent = headless_agent(&loaded.app, options, (prompt.as_str(), &start), (&runtime, &current))?;
    // Text that came through a pipe may be anybody's, and names no commands.
    if !piped && matches!(start, TurnStart::Say(_)) {
        let stop = CancellationToken::new();
        current.set(Some(stop.clone()));
        let parts = custom_prompt::parts(prompt.trim(), (&loaded.app, &runtime), &mut agent, &stop)?;
        start = parts.map_or(start, TurnStart::Say);
    }
    if let Some(goal) = &options.until {
        super::checks::needs_checks(&loaded.app, &goal.checks)?;
        agent.set_goal(goal.clone());
    }
    let turn = turn(&runtime, &current, &mut agent, start, options.output_format)?;
    let code = turn.end(&agent, options, || end_conversation(&runtime, &agent))?;
    Ok(match agent.goal_end() {
        // Whatever is pending: the person asked for checks that pass.
        Some(GoalEnd::Failed) => code.max(report::ERROR),
        _ => code,
    })
}

/// What a prompt starts: what the person wrote out as a batch needs no model. Text that came through a pipe may be
/// anybody's.
fn begin(app: &App, prompt: &str, piped: bool, options: &Options) -> Result<TurnStart, CliError> {
    match TurnStart::of_operations(prompt, app.dialect).filter(|_| !piped || options.changes.batch) {
        Some(start) => Ok(start),
        // Who announced operations did not mean to send half of one to a model.
        None if options.changes.batch => {
            let place = if piped { "standard input" } else { "the prompt" };
            Err(CliError::usage(format!("{place} is not a batch")).hint(
                "a batch is one JSON object with a list `aOperations`, on one line unless `-p -` reads it",
            ))
        }
        None => Ok(TurnStart::Say(vec![Part::text(prompt)])),
    }
}

/// Refuses a message that needs a model where none is configured: a script must not take advice for an answer.
fn needs_model(app: &App, text: &str, start: &TurnStart, options: &Options) -> Result<(), CliError> {
    let nobody =
        app.chosen().is_none() && options.recording.replay.is_none() && matches!(start, TurnStart::Say(_));
    if !nobody || OfflineProvider::understands(text) {
        return Ok(());
    }
    let near: Vec<String> = OfflineProvider::similar(text).iter().map(|form| format!("`{form}`")).collect();
    let without = match near.is_empty() {
        true => "`placet -p help` lists the requests that work without one".into(),
        false => format!("without a model, placet understands {}", near.join(", ")),
    };
    let error = CliError::new("no model is configured, so nothing was sent")
        .hint(format!("`placet setup` adds a model; {without}"));
    Err(CliError { code: report::PROVIDER, ..error })
}

/// What runs in the background without a screen ends with the last turn, and hooks learn of the end.
fn end_conversation(runtime: &tokio::runtime::Runtime, agent: &Agent) {
    runtime.block_on(agent.env().jobs.stop_all()).iter().for_each(|words| warn(words));
    let mut said = runtime.block_on(agent.end_session("other"));
    said.extend(runtime.block_on(agent.env().servers.end_logins()));
    said.iter().for_each(|words| warn(&crate::text::visible::guard(words)));
}

/// What is pending after a turn without a screen.
fn settled(agent: &Agent, options: &Options, code: u8) -> Result<u8, CliError> {
    let workspace = &agent.env().workspace;
    match pending::settle(agent, options, code)? {
        Some(code) => Ok(code),
        None => Ok(pending::after(workspace, code)),
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
    let mut unread = Ok(());
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|e| CliError::new(format!("cannot read standard input: {e}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let start = match begin(&loaded.app, &line, true, options) {
            Ok(start) => start,
            Err(e) => {
                unread = Err(e);
                break;
            }
        };
        if let Err(error) = needs_model(&loaded.app, line.trim(), &start, options) {
            error.report();
            worst = worst.max(error.code);
            continue;
        }
        if agent.is_none() {
            agent =
                Some(headless_agent(&loaded.app, options, (line.as_str(), &start), (&runtime, &current))?);
        }
        let Some(agent) = agent.as_mut() else { continue };
        let turn = turn(&runtime, &current, agent, start, options.output_format)?;
        let code = turn.end(agent, options, || ())?;
        worst = worst.max(code);
        if code == report::INTERRUPTED {
            break;
        }
    }
    match &agent {
        Some(agent) => end_conversation(&runtime, agent),
        // Nothing was sent, and a session that does not exist is an error all the same.
        None if worst == report::DONE && unread.is_ok() && names_session(options) => {
            earlier_session(&loaded.app.store()?.0, &loaded.app, options)?;
        }
        None => {}
    }
    unread.map(|()| worst)
}

/// The options name a session that must exist.
fn names_session(options: &Options) -> bool {
    options.session.resume.is_some() || options.session.continue_last
}

/// A conversation without a screen. If it cannot be saved, placet reports that and runs it all the same.
fn headless_agent(
    app: &App,
    options: &Options,
    (first, start): (&str, &TurnStart),
    (runtime, current): (&tokio::runtime::Runtime, &CurrentTurn),
) -> Result<Agent, CliError> {
    let answerer = app.answerer(None, None)?;
    // Who would answer does not matter where nobody is asked.
    // What the offline provider does not understand it answers with the same advice.
    let has_advice = app.chosen().is_none() && !OfflineProvider::understands(first);
    let note = answerer.note.as_ref().filter(|_| matches!(start, TurnStart::Say(_)) && !has_advice);
    if let Some(note) = note.filter(|note| is_shown_first(&app.paths, note)) {
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
    wait_for_database(&store, (runtime, current))?;
    let (session, resumed) = open_session(&store, app, options, first)?;
    let loaded = if resumed { Some(store.load_for_resume(session.id())?) } else { None };
    if resumed {
        match app.take_over_jobs_of(session.id().as_str()) {
            Ok(taken) => {
                killed::warn_of_killed_jobs("a command of this conversation", &taken);
                if options.changes.apply && taken.count.total() > 0 {
                    // Nobody has seen it, and nothing would list it before it is applied.
                    let why = "`--apply` would apply what was interrupted, and nobody has seen it";
                    let hint = "`placet changes` lists it; then `placet apply` or `placet discard`";
                    return Err(CliError { code: report::REFUSED, ..CliError::new(why) }.hint(hint));
                }
            }
            Err(e) => warn(&format!("warning: what an interrupted job wrote cannot be read: {e}")),
        }
    }
    let mut agent = app.agent(answerer, Some(session))?;
    let view = agent.env().workspace.view();
    if options.changes.dry_run
        && view.is_some_and(|view| view.has_changes(LayerKind::Pending).unwrap_or(true))
    {
        let why = "the session has pending changes, and `--dry-run` would discard them with its own";
        return Err(CliError { code: report::REFUSED, ..CliError::new(why) }
            .hint("`placet changes` lists them; then `placet apply` or `placet discard`"));
    }
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

/// Waits while another program has the session database locked. The wait is named, and Ctrl-C stops it.
fn wait_for_database(
    store: &SessionStore,
    (runtime, current): (&tokio::runtime::Runtime, &CurrentTurn),
) -> Result<(), CliError> {
    let stop = CancellationToken::new();
    current.set(Some(stop.clone()));
    let waited = runtime.block_on(store.until_writable(&stop, |words| warn(&format!("note: {words}"))));
    current.set(None);
    let nothing = "nothing was sent";
    match waited {
        DatabaseWait::Free => Ok(()),
        DatabaseWait::Stopped => {
            Err(CliError { code: report::INTERRUPTED, ..CliError::new(format!("stopped: {nothing}")) })
        }
        DatabaseWait::TimedOut => Err(CliError::new(DATABASE_LOCKED).hint(nothing)),
    }
}

fn open_session(
    store: &SessionStore,
    app: &App,
    options: &Options,
    first: &str,
) -> Result<(OpenSession, bool), CliError> {
    match (earlier_session(store, app, options)?, resume_of(options)) {
        (Some(id), _) => Ok((store.resume(&id)?, true)),
        (None, repl::ResumeTarget::Try(name)) => Ok((store.create_try(app.cwd(), &name)?, false)),
        (None, _) => {
            let session = store.create(app.cwd(), &repl::title_of(first))?;
            // Only for lists: they fold what nobody talked in.
            drop(session.set(SessionStateKey::Origin, ONE_SHOT));
            Ok((session, false))
        }
    }
}

/// The stored session that the options name; `None` where a new one begins.
fn earlier_session(
    store: &SessionStore,
    app: &App,
    options: &Options,
) -> Result<Option<SessionId>, CliError> {
    match resume_of(options) {
        repl::ResumeTarget::No => Ok(None),
        repl::ResumeTarget::Last => match store.latest(app.cwd())? {
            Some(id) => Ok(Some(id)),
            None => Err(CliError::new("no earlier session in this directory")),
        },
        repl::ResumeTarget::Named(prefix) => Ok(Some(store.find(&prefix)?.id)),
        repl::ResumeTarget::Try(name) => Ok(store.find_try(app.cwd(), &name)?.map(|row| row.id)),
        repl::ResumeTarget::Choose => {
            Err(CliError::usage("--resume needs a session ID when there is no terminal")
                .hint("`placet session list` lists the sessions"))
        }
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
        let code = code_for(&self.done.ending, self.done.trouble);
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
