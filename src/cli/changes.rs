//! `placet changes`, `apply`, `discard`, `undo`, `redo` and `sandbox run`.

use super::args::{Options, Which};
use super::feed::Feed;
use super::report::{self, Failure, print, print_foreign, warn};
use super::start;
use crate::agent::Agent;
use crate::app::App;
use crate::audit::Kind;
use crate::permission::Level;
use crate::process::Ending;
use crate::serve::changes::{self, Back, Told, Wanted};
use crate::session::Scratchpads;
use crate::text::visible;
use crate::tools::{run_confined, withheld_line};
use crate::ui::{Theme, exact, talk};
use crate::workspace::{Assent, ChangeClass, ChangeSet, Label, Shelf, View, Workspace, patch};
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The view that is meant, and the workspace through it.
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) view: View,
    pub(super) workspace: Workspace,
}

pub(super) fn chosen(app: &App, which: &Which) -> Result<Option<Chosen>, Failure> {
    let mut waiting = app.waiting();
    let damage = app.pending_damage_here();
    if waiting.is_empty()
        && let Some(line) = changes::damage_line(&damage)
    {
        return Err(Failure::new(format!("what is pending cannot be read: {line}")));
    }
    if let Some(prefix) = &which.session {
        waiting.retain(|w| w.name.starts_with(prefix.as_str()));
        if waiting.is_empty() {
            return Err(Failure::new(format!(
                "nothing is pending in a session `{prefix}` of this directory"
            )));
        }
    }
    let others = waiting.len().saturating_sub(1);
    let first = waiting.into_iter().next();
    if others > 0
        && let Some(first) = &first
    {
        warn(&format!("note: this is about {}; {others} more wait: --session names one", first.name));
    }
    Ok(first.map(|w| {
        let workspace = app.workspace.with_view(w.view.clone());
        Chosen { name: w.name, view: w.view, workspace }
    }))
}

/// Each call of the command line is a turn of its own: undo takes back one of them at a time.
pub(super) fn cli_label(name: &str, title: &str) -> Label {
    let now = jiff::Timestamp::now().as_millisecond();
    Label {
        turn: format!("{name}-cli-{now}"),
        session: Some(name.into()),
        title: title.into(),
        assent: Assent::you(title),
    }
}

/// Writes down what was done, and tells it.
pub(super) fn tell(app: &App, kind: Kind, by: &str, told: &Told) -> Result<u8, Failure> {
    if told.done {
        app.gate.settled(kind, by, None, &told.lines.join("\n"))?;
        for why in app.mounts.push_all() {
            warn(&format!("not carried to its store: {}", visible::guard(&why)));
        }
    }
    let text = told.lines.join("\n");
    if told.done {
        print_foreign(&(text + "\n"))?;
        name_waiting(told);
        Ok(if told.waiting.is_empty() { report::DONE } else { report::REFUSED })
    } else {
        warn(&visible::guard(&text));
        Ok(report::ERROR)
    }
}

/// How what runs later is approved without a screen.
fn name_waiting(told: &Told) {
    if let Some(path) = told.waiting.first() {
        let path = visible::name(&path.to_string_lossy()).into_owned();
        warn(&format!("hint: `--apply-protected {path}` applies exactly this file; it may be repeated"));
    }
}

pub(super) fn show(json: bool, as_patch: bool, which: &Which, options: &Options) -> Result<u8, Failure> {
    let app = start::app(options)?;
    let Some(Chosen { view, workspace, .. }) = chosen(&app, which)? else {
        if json {
            print("[]\n")?;
        } else {
            warn("nothing is pending");
        }
        return Ok(report::DONE);
    };
    let set = view.changes(Shelf::Pending).map_err(Failure::new)?;
    if as_patch {
        let bytes = patch(&set, view.objects(), workspace.cwd());
        if io::stdout().is_terminal() {
            // A person looks at it: nothing in it may act, and nothing may hide. A pipe gets the bytes.
            let lines = exact::diff(&bytes, &Theme::plain());
            return print(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
                .map(|()| report::DONE);
        }
        let mut out = io::stdout().lock();
        report::written(out.write_all(&bytes).and_then(|()| out.flush()))?;
    } else if json {
        print_foreign(&(as_json(&set, &view) + "\n"))?;
    } else {
        print_foreign(
            &(set.listing(view.objects(), &view.classify(&set), |p| workspace.shown(p)).join("\n") + "\n"),
        )?;
    }
    Ok(report::DONE)
}

fn as_json(set: &ChangeSet, view: &View) -> String {
    let classes = view.classify(set);
    let each = |change: &crate::workspace::PathChange| {
        let counts = change.counts(view.objects());
        json!({
            "path": change.path.to_string_lossy(),
            "change": change.verb().word(),
            "from": change.moved_from.as_ref().map(|p| p.to_string_lossy()),
            "added": counts.map(|c| c.0),
            "removed": counts.map(|c| c.1),
            "runs_later": classes.runner(&change.path),
            "runs_with_build": match classes.of(&change.path) {
                ChangeClass::RunsWithBuild(runner) => Some(runner),
                _ => None,
            },
            "removes_repository": matches!(classes.of(&change.path), ChangeClass::LargeLoss(_)),
            "made_by": change.made_by(),
            "before": change.before,
            "after": change.after,
        })
    };
    serde_json::to_string_pretty(&set.changes.iter().map(each).collect::<Vec<_>>()).unwrap_or_default()
}

/// Paths of the command line, as the view knows them.
fn resolved(workspace: &Workspace, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let one = |path: &PathBuf| workspace.resolve(&path.to_string_lossy()).map(|at| at.path);
    paths.iter().map(one).collect::<Result<_, _>>().map_err(Failure::new)
}

pub(super) fn apply(paths: &[PathBuf], which: &Which, options: &Options) -> Result<u8, Failure> {
    let app = start::app(options)?;
    let Some(Chosen { name, view, workspace }) = chosen(&app, which)? else {
        warn("nothing is pending");
        return Ok(report::DONE);
    };
    let approved = resolved(&workspace, &options.apply_protected)?;
    let wanted = Wanted { paths: resolved(&workspace, paths)?, approved, only_approved: false };
    let told =
        changes::apply(&view, &wanted, cli_label(&name, "placet apply"), &|path| workspace.shown(path));
    tell(&app, Kind::Apply, "placet apply", &told)
}

pub(super) fn discard(paths: &[PathBuf], which: &Which, options: &Options) -> Result<u8, Failure> {
    let app = start::app(options)?;
    let Some(Chosen { view, workspace, .. }) = chosen(&app, which)? else {
        warn("nothing is pending");
        return Ok(report::DONE);
    };
    let paths = resolved(&workspace, paths)?;
    let told = changes::discard(&view, &paths, "placet undo", &|path| workspace.shown(path));
    tell(&app, Kind::Discard, "placet discard", &told)
}

pub(super) fn undo(what: Option<&str>, rest: bool, options: &Options) -> Result<u8, Failure> {
    let app = start::app(options)?;
    let view = app.view("undo");
    let back = match what {
        None => Back::Turns(1),
        Some(text) => match text.parse::<usize>() {
            Ok(count) => Back::Turns(count.max(1)),
            Err(_) => Back::Path(app.workspace.resolve(text).map_err(Failure::new)?.path),
        },
    };
    let shown = |path: &Path| app.workspace.shown(path);
    if what.is_none()
        && !rest
        && let Some(told) = changes::undo_discard(&app.discarded(), &view, &shown)
    {
        return tell(&app, Kind::Undo, "placet undo", &told);
    }
    let label = cli_label("undo", "placet undo");
    let told = changes::undo_saying(&view, &back, (rest, "placet undo --rest"), &label, &shown);
    tell(&app, Kind::Undo, "placet undo", &told)
}

pub(super) fn redo(rest: bool, options: &Options) -> Result<u8, Failure> {
    let app = start::app(options)?;
    let shown = |path: &Path| app.workspace.shown(path);
    let label = cli_label("redo", "placet redo");
    let told = changes::redo_saying(&app.view("undo"), (rest, "placet redo --rest"), &label, &shown);
    tell(&app, Kind::Undo, "placet redo", &told)
}

/// What happens to the effects of `sandbox run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Ask,
    Apply,
    Discard,
}

impl Then {
    pub(super) fn of(apply: bool, discard: bool) -> Then {
        match (apply, discard) {
            (true, _) => Then::Apply,
            (_, true) => Then::Discard,
            _ => Then::Ask,
        }
    }
}

pub(super) fn sandbox(
    command: &[String],
    hosts: &[String],
    then: Then,
    options: &Options,
) -> Result<u8, Failure> {
    let app = start::app(options)?;
    let (backend, sentence) = app.backend();
    if backend != crate::sandbox::Backend::Overlay {
        return Err(Failure::new(format!("`sandbox run` needs a copy-on-write view: {sentence}"))
            .hint("`placet doctor` says what this machine can do; see `When it cannot be had` in the guide's page on the sandbox"));
    }
    let name = app.fresh_view();
    // The person's own command sees what the person does, whatever is classified.
    if let Ok(policy) = app.policy.lock() {
        policy.taint().begin(Level::Restricted);
    }
    let env = app.env(Arc::new(Scratchpads::in_memory()), &name);
    let line = match command {
        [line] => line.clone(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    let runtime = start::runtime()?;
    let stop = CancellationToken::new();
    let current = super::signals::Current::default();
    current.set(Some(stop.clone()));
    super::signals::watch(&runtime, current.clone());
    let withheld = withheld_line(&env);
    let mut broken = None;
    let mut stream = io::stdout().is_terminal().then(|| visible::Stream::new(visible::Manner::Output));
    let (input, feed) =
        Feed::start().map_err(|e| Failure::new(format!("cannot pass standard input on: {e}")))?;
    let running = run_confined(&env, &line, (hosts, input), &stop, |bytes| {
        let mut out = io::stdout().lock();
        let shown = stream.as_mut().map(|stream| stream.feed_bytes(bytes));
        let bytes = shown.as_ref().map_or(bytes, |shown| shown.as_bytes());
        if let Err(e) = out.write_all(bytes).and_then(|()| out.flush()) {
            broken.get_or_insert(e);
        }
    });
    let ran = runtime.block_on(running);
    // Before anything is asked: what is typed from here on is no input of the command.
    drop(feed);
    if let Some(mut stream) = stream {
        drop(io::stdout().lock().write_all(stream.finish().as_bytes()));
    }
    reset_terminal();
    let (finished, _) = ran.map_err(|e| Failure { hint: e.hint.clone(), ..Failure::new(e.message) })?;
    current.set(None);
    if let Some(line) = withheld {
        warn(&format!("note: {line}"));
    }
    let code = match finished.ending {
        Ending::Exit(code) => u8::try_from(code).unwrap_or(report::ERROR),
        Ending::Signal(signal) => u8::try_from(128 + signal).unwrap_or(report::ERROR),
        Ending::Cancelled => return Ok(report::INTERRUPTED),
        Ending::TimedOut | Ending::Lost => report::ERROR,
    };
    let Some(view) = env.workspace.view() else { return Ok(code) };
    let approved = named_and_pending(view, &env.workspace, options)?;
    let set = view.changes(Shelf::Pending).map_err(Failure::new)?;
    if set.is_empty() {
        warn("it changes nothing");
        return Ok(code);
    }
    let shown = |path: &Path| env.workspace.shown(path);
    list(&set, view, &env.workspace);
    let then = if then == Then::Ask && approved.is_empty() { ask()? } else { then };
    let label = Label {
        turn: name.clone(),
        title: line,
        assent: Assent::you("placet sandbox run"),
        ..Label::default()
    };
    match then {
        Then::Ask if approved.is_empty() => {
            waits(&name);
            Ok(report::REFUSED)
        }
        Then::Apply | Then::Ask => {
            let wanted = Wanted { approved, only_approved: then == Then::Ask, ..Wanted::default() };
            let told = changes::apply(view, &wanted, label, &shown);
            if told.done {
                app.gate.settled(Kind::Apply, "placet sandbox run", None, &told.lines.join("\n"))?;
            }
            warn(&visible::guard(&told.lines.join("\n")));
            name_waiting(&told);
            let left = view.changes(Shelf::Pending).map_err(Failure::new)?;
            if told.done && !left.is_empty() {
                waits(&name);
                return Ok(report::REFUSED);
            }
            Ok(if told.done { code } else { report::ERROR })
        }
        Then::Discard => {
            let told = changes::discard(view, &[], "placet undo", &shown);
            warn(&visible::guard(&told.lines.join("\n")));
            Ok(if told.done { code } else { report::ERROR })
        }
    }
}

/// Takes back what output that went to the terminal by another way (a pipe to `cat`) may have set: colours, concealed
/// text, a character set, a hidden cursor.
fn reset_terminal() {
    let mut err = io::stderr().lock();
    if io::stderr().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb") {
        drop(err.write_all(b"\x1b[!p\x1b[0m\x1b(B\x0f").and_then(|()| err.flush()));
    }
}

/// A word as `sh` reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Asks on the terminal; without one the changes stay pending.
fn ask() -> Result<Then, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(Then::Ask);
    }
    loop {
        let answer = talk::consent_alone("apply, discard, or Enter to keep it pending? ");
        match answer.as_deref().map(str::trim) {
            Some("apply" | "a") => return Ok(Then::Apply),
            Some("discard" | "d") => return Ok(Then::Discard),
            None | Some("" | "keep" | "k") => return Ok(Then::Ask),
            Some(_) => warn("not an answer: type `apply`, `discard` or `keep`, and Enter"),
        }
    }
}

fn waits(name: &str) {
    warn(&format!(
        "pending: `placet apply --session {name}` lands it, `placet changes --patch` shows it, `placet discard` throws it away"
    ));
}

/// After a call or a turn without a screen: says what is pending, and the exit code that tells it.
pub(super) fn after(workspace: &Workspace, code: u8) -> u8 {
    let Some(view) = workspace.view().filter(|v| v.turn().held) else { return code };
    let Ok(set) = view.changes(Shelf::Pending) else { return code };
    if set.is_empty() {
        return code;
    }
    list(&set, view, workspace);
    let braked = view.turn().braked.join("; ");
    if !braked.is_empty() {
        warn(&format!("held back: {}", visible::guard_line(&braked)));
    }
    waits(&view.dir().file_name().unwrap_or_default().to_string_lossy());
    if code == report::DONE { report::REFUSED } else { code }
}

/// `--apply`: lands what is pending at the end of a turn. `--dry-run`: shows it and throws it away.
pub(super) fn settle(agent: &Agent, options: &Options, code: u8) -> Result<Option<u8>, Failure> {
    let workspace = &agent.env().workspace;
    let Some(view) = workspace.view().filter(|v| v.turn().held) else { return Ok(None) };
    let shown = |path: &Path| workspace.shown(path);
    let approved = named_and_pending(view, workspace, options)?;
    if options.apply || !approved.is_empty() {
        let label = Label { assent: Assent::you("--apply"), ..view.turn().label.clone() };
        let wanted = Wanted { approved, only_approved: !options.apply, ..Wanted::default() };
        let told = changes::apply(view, &wanted, label, &shown);
        if told.done {
            let session = agent.session().map(|s| s.id().to_string());
            agent.gate().settled(Kind::Apply, "--apply", session, &told.lines.join("\n"))?;
        }
        warn(&visible::guard(&told.lines.join("\n")));
        name_waiting(&told);
        return Ok(Some(if told.done { after(workspace, code) } else { report::REFUSED }));
    }
    if options.dry_run {
        let set = view.changes(Shelf::Pending).map_err(Failure::new)?;
        list(&set, view, workspace);
        view.discard_all(Shelf::Pending).map_err(Failure::new)?;
        warn("nothing was changed (--dry-run)");
        return Ok(Some(code));
    }
    Ok(None)
}

/// What is pending, on standard error: what it takes away first, then a line for each path.
fn list(set: &ChangeSet, view: &View, workspace: &Workspace) {
    let classes = view.classify(set);
    let shown = |path: &Path| workspace.shown(path);
    for loss in &classes.losses {
        warn(&visible::guard_line(&crate::agent::loss_words(loss, workspace)));
    }
    for line in set.listing(view.objects(), &classes, shown) {
        warn(&visible::guard_line(&line));
    }
}

/// The paths of `--apply-protected` that are pending. What is not pending is reported, and is no error: it may not have
/// been changed this time.
fn named_and_pending(view: &View, workspace: &Workspace, options: &Options) -> Result<Vec<PathBuf>, Failure> {
    if options.apply_protected.is_empty() {
        return Ok(Vec::new());
    }
    let set = view.changes(Shelf::Pending).map_err(Failure::new)?;
    let mut named = resolved(workspace, &options.apply_protected)?;
    named.retain(|path| {
        let pending = set.get(path).is_some();
        if !pending {
            warn(&format!("note: nothing is pending at `{}`", visible::name(&workspace.shown(path))));
        }
        pending
    });
    Ok(named)
}
