//! `placet sandbox run`: one command of the person's own in the view, and what becomes of its changes.

use super::apply_question;
use super::approvals;
use super::approvals::PathOutcome;
use super::args::Options;
use super::changes::{SelectedView, list, name_waiting, named_and_pending, waits};
use super::report::{self, CliError, warn};
use super::review;
use super::review_args::ReviewArgs;
use super::start;
use super::stdin_forwarder::StdinForwarder;
use crate::agent::TurnDecision;
use crate::app::App;
use crate::audit::AuditKind;
use crate::permission::ClassificationLevel;
use crate::process::CommandExit;
use crate::serve::changes::{self, ApplyRequest, UserReport};
use crate::session::Scratchpads;
use crate::text::placet_mark::MarkEscaper;
use crate::text::{shell_word, visible};
use crate::tools::{ToolContext, run_confined, withheld_line};
use crate::ui::term::{self, BaseMode};
use crate::workspace::{ApprovedBy, LayerKind, TransactionLabel, View, Workspace};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// What happens to the effects of `sandbox run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SandboxRunAction {
    Ask,
    Apply,
    Discard,
}

impl SandboxRunAction {
    pub(super) fn of(apply: bool, discard: bool) -> SandboxRunAction {
        match (apply, discard) {
            (true, _) => SandboxRunAction::Apply,
            (_, true) => SandboxRunAction::Discard,
            _ => SandboxRunAction::Ask,
        }
    }
}

pub(super) fn run(
    command: &[String],
    hosts: &[String],
    then: SandboxRunAction,
    options: &Options,
) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let (backend, sentence) = app.backend();
    if backend != crate::sandbox::SandboxBackend::Overlay {
        return Err(CliError::new(format!("`sandbox run` needs a copy-on-write view: {sentence}"))
            .hint("`placet doctor` shows what this machine supports; see the guide's page on the sandbox"));
    }
    let name = app.fresh_view();
    // The person's own command sees what the person does, whatever is classified.
    if let Ok(policy) = app.policy.lock() {
        policy.taint().begin(ClassificationLevel::Restricted);
    }
    let env = app.env(Arc::new(Scratchpads::in_memory()), &name);
    let line = match command {
        [line] => line.clone(),
        words => words.iter().map(|word| shell_word::quoted(word)).collect::<Vec<_>>().join(" "),
    };
    let runtime = start::runtime()?;
    let stop = CancellationToken::new();
    let current = super::signals::CurrentTurn::default();
    current.set(Some(stop.clone()));
    super::signals::watch(&runtime, current.clone());
    let withheld = withheld_line(&env);
    let (mut broken, mut in_line) = (None, false);
    let mut stream = io::stdout().is_terminal().then(|| {
        let margin = MarkEscaper::new(usize::from(term::size().0));
        (visible::VisibleStream::new(visible::VisibleMode::Output), margin)
    });
    let (input, feed) =
        StdinForwarder::start().map_err(|e| CliError::new(format!("cannot pass standard input on: {e}")))?;
    let running = run_confined(&env, &line, (hosts, input), &stop, |bytes| {
        let mut out = io::stdout().lock();
        let shown = stream.as_mut().map(|(stream, margin)| margin.feed(&stream.feed_bytes(bytes)));
        let bytes = shown.as_ref().map_or(bytes, |shown| shown.as_bytes());
        in_line = bytes.last().map_or(in_line, |last| *last != b'\n');
        if let Err(e) = out.write_all(bytes).and_then(|()| out.flush()) {
            broken.get_or_insert(e);
        }
    });
    let ran = runtime.block_on(running);
    // Before any question: keys that are typed from here on are not input of the command.
    drop(feed);
    if let Some((mut stream, mut margin)) = stream {
        let rest = margin.feed(&stream.finish());
        // The next output of placet begins at the margin.
        let end = if in_line || !rest.is_empty() { "\n" } else { "" };
        drop(io::stdout().lock().write_all((rest + end).as_bytes()));
    }
    reset_terminal();
    let (finished, _) = ran.map_err(|e| CliError {
        hint: e.hint.as_ref().map(ToString::to_string),
        ..CliError::new(e.message)
    })?;
    current.set(None);
    if let Some(line) = withheld {
        warn(&format!("note: {line}"));
    }
    let code = match finished.ending {
        CommandExit::Exit(code) => u8::try_from(code).unwrap_or(report::ERROR),
        CommandExit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(report::ERROR),
        CommandExit::Cancelled => return Ok(report::INTERRUPTED),
        CommandExit::TimedOut | CommandExit::Lost => report::ERROR,
    };
    let label = TransactionLabel {
        turn: name.clone(),
        title: line,
        assent: ApprovedBy::you("placet sandbox run"),
        ..TransactionLabel::default()
    };
    settle(&app, &env, (then, options), (code, label), &runtime)
}

/// What becomes of what the command changed. The exit code is the command's, unless something stays pending.
fn settle(
    app: &App,
    env: &ToolContext,
    (then, options): (SandboxRunAction, &Options),
    (code, label): (u8, TransactionLabel),
    runtime: &Runtime,
) -> Result<u8, CliError> {
    let workspace = &env.workspace;
    let Some(view) = workspace.view() else { return Ok(code) };
    let name = label.turn.clone();
    let approval = named_and_pending(view, workspace, options)?;
    let set = view.changes(LayerKind::Pending).map_err(CliError::new)?;
    if set.is_empty() {
        warn("no changes");
        return Ok(code);
    }
    let shown = |path: &Path| workspace.shortened(path);
    if then == SandboxRunAction::Ask
        && approval.is_none()
        && approvals::can_ask()
        && let Ok(base) = BaseMode::enter_any()
    {
        let decision = runtime.block_on(apply_question::ask(app, env, label, "placet sandbox run"))?;
        drop(base);
        if decision == TurnDecision::Review {
            let chosen =
                SelectedView { name: name.clone(), view: view.clone(), workspace: workspace.clone() };
            review::pending(&ReviewArgs::default(), app, &chosen)?;
        }
        return Ok(if is_left(view, &name)? { report::REFUSED } else { code });
    }
    list(&set, view, workspace);
    match then {
        SandboxRunAction::Ask if approval.is_none() => {
            waits(&name);
            Ok(report::REFUSED)
        }
        SandboxRunAction::Apply | SandboxRunAction::Ask => {
            let wanted = ApplyRequest {
                approval,
                only_approved: then == SandboxRunAction::Ask,
                ..ApplyRequest::default()
            };
            apply(app, view, workspace, wanted, (code, label))
        }
        SandboxRunAction::Discard => {
            let told = changes::discard(view, &[], "placet undo", &shown);
            warn(&visible::guard(&told.lines.join("\n")));
            Ok(if told.done { code } else { report::ERROR })
        }
    }
}

/// Returns true when changes are still pending, and reports them.
fn is_left(view: &View, name: &str) -> Result<bool, CliError> {
    let is_left = !view.changes(LayerKind::Pending).map_err(CliError::new)?.is_empty();
    if is_left {
        waits(name);
    }
    Ok(is_left)
}

/// Applies what is wanted, and asks where a person is about what needs an approval of its own.
fn apply(
    app: &App,
    view: &View,
    workspace: &Workspace,
    mut wanted: ApplyRequest,
    (code, label): (u8, TransactionLabel),
) -> Result<u8, CliError> {
    if approvals::can_ask() {
        approvals::confirm_losses(view, workspace, &mut wanted);
    }
    let told = changes::apply(view, &wanted, label.clone(), &|path: &Path| workspace.shortened(path));
    if told.done && approvals::can_ask() {
        record(app, AuditKind::Apply, &told.before_questions())?;
        for PathOutcome { kind, told } in approvals::one_by_one(view, workspace, &told.waiting, &label) {
            record(app, kind, &told)?;
        }
    } else {
        record(app, AuditKind::Apply, &told)?;
        name_waiting(&told, None);
    }
    match told.done {
        true if is_left(view, &label.turn)? => Ok(report::REFUSED),
        true => Ok(code),
        false => Ok(report::ERROR),
    }
}

/// Into the audit log, and to the person.
fn record(app: &App, kind: AuditKind, told: &UserReport) -> Result<(), CliError> {
    let text = told.lines.join("\n");
    if told.done && !text.is_empty() {
        app.gate.log_decision(kind, "placet sandbox run", None, &text)?;
    }
    if !text.is_empty() {
        warn(&visible::guard(&text));
    }
    Ok(())
}

/// Takes back what output that went to the terminal by another way (a pipe to `cat`) may have set: colours, concealed
/// text, a character set, a hidden cursor.
fn reset_terminal() {
    let mut err = io::stderr().lock();
    if io::stderr().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb") {
        drop(err.write_all(b"\x1b[!p\x1b[0m\x1b(B\x0f").and_then(|()| err.flush()));
    }
}
