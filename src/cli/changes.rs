//! `placet changes`, `apply`, `discard`, `undo`, `redo`, `journal` and `sandbox run`.

use super::args::{JournalCommand, Options, Which};
use super::report::{self, Failure, print, print_foreign, warn};
use super::start;
use crate::agent::Agent;
use crate::app::App;
use crate::audit::Kind;
use crate::permission::Level;
use crate::process::Ending;
use crate::serve::changes::{self, Back, Told};
use crate::session::Scratchpads;
use crate::text::sanitize;
use crate::tools::run_confined;
use crate::workspace::{Assent, ChangeSet, Label, Shelf, View, Workspace, patch, prune};
use serde_json::json;
use std::io::{self, BufRead, IsTerminal, Write};
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
            warn(&format!("not carried to its store: {}", sanitize::block(&why)));
        }
    }
    let text = told.lines.join("\n");
    if told.done {
        print_foreign(&(text + "\n"))?;
        Ok(report::DONE)
    } else {
        warn(&sanitize::block(&text));
        Ok(report::ERROR)
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
        let mut out = io::stdout().lock();
        report::written(out.write_all(&bytes).and_then(|()| out.flush()))?;
    } else if json {
        print(&(as_json(&set, &view) + "\n"))?;
    } else {
        print_foreign(&(set.listing(view.objects(), |p| workspace.shown(p)).join("\n") + "\n"))?;
    }
    Ok(report::DONE)
}

fn as_json(set: &ChangeSet, view: &View) -> String {
    let each = |change: &crate::workspace::PathChange| {
        let counts = change.counts(view.objects());
        json!({
            "path": change.path.to_string_lossy(),
            "change": change.verb().word(),
            "from": change.moved_from.as_ref().map(|p| p.to_string_lossy()),
            "added": counts.map(|c| c.0),
            "removed": counts.map(|c| c.1),
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
    let paths = resolved(&workspace, paths)?;
    let told = changes::apply(&view, &paths, cli_label(&name, "placet apply"), &|path| workspace.shown(path));
    tell(&app, Kind::Apply, "placet apply", &told)
}

pub(super) fn discard(paths: &[PathBuf], which: &Which, options: &Options) -> Result<u8, Failure> {
    let app = start::app(options)?;
    let Some(Chosen { view, workspace, .. }) = chosen(&app, which)? else {
        warn("nothing is pending");
        return Ok(report::DONE);
    };
    let paths = resolved(&workspace, paths)?;
    let told = changes::discard(&view, &paths, &|path| workspace.shown(path));
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

pub(super) fn journal(command: JournalCommand, options: &Options) -> Result<u8, Failure> {
    let app = start::app(options)?;
    let view = app.view("journal");
    match command {
        JournalCommand::List { limit, json } => {
            let mut entries = view.journal().entries();
            entries.reverse();
            entries.truncate(limit);
            if json {
                let text = serde_json::to_string_pretty(&entries).map_err(Failure::new)?;
                print(&(text + "\n"))?;
            } else {
                let lines: Vec<String> = entries.iter().map(changes::entry_line).collect();
                print_foreign(&lines.iter().map(|l| format!("{l}\n")).collect::<String>())?;
            }
        }
        JournalCommand::Show { id } => {
            let entry = view.journal().entry(id);
            let entry = entry.ok_or_else(|| {
                Failure::new(format!("there is no transaction {id} here"))
                    .hint("`placet journal list` shows them")
            })?;
            let shown = |path: &Path| app.workspace.shown(path);
            let mut lines = vec![changes::entry_line(&entry)];
            lines.extend(changes::entry_paths(&entry, &shown));
            print_foreign(&(lines.join("\n") + "\n"))?;
        }
        JournalCommand::Prune => {
            let (journals, _) = app.journals();
            let pending = app.pending_contents();
            let pruned = prune(&journals, view.objects(), app.keep(), &pending).map_err(Failure::new)?;
            print(&format!(
                "removed {} transactions and {} contents, {} bytes\n",
                pruned.entries, pruned.objects, pruned.bytes
            ))?;
        }
    }
    Ok(report::DONE)
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
        return Err(Failure::new(format!("no copy-on-write view here: {sentence}")));
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
    let mut broken = None;
    let running = run_confined(&env, &line, hosts, &stop, |bytes| {
        let mut out = io::stdout().lock();
        if let Err(e) = out.write_all(bytes).and_then(|()| out.flush()) {
            broken.get_or_insert(e);
        }
    });
    let ran = runtime.block_on(running);
    let (finished, _) = ran.map_err(|e| Failure { hint: e.hint.clone(), ..Failure::new(e.message) })?;
    current.set(None);
    let code = match finished.ending {
        Ending::Exit(code) => u8::try_from(code).unwrap_or(report::ERROR),
        Ending::Signal(signal) => u8::try_from(128 + signal).unwrap_or(report::ERROR),
        Ending::Cancelled => return Ok(report::INTERRUPTED),
        Ending::TimedOut | Ending::Lost => report::ERROR,
    };
    let Some(view) = env.workspace.view() else { return Ok(code) };
    let set = view.changes(Shelf::Pending).map_err(Failure::new)?;
    if set.is_empty() {
        warn("it changes nothing");
        return Ok(code);
    }
    for line in set.listing(view.objects(), |p| env.workspace.shown(p)) {
        warn(&sanitize::line(&line));
    }
    let then = if then == Then::Ask { ask()? } else { then };
    let shown = |path: &Path| env.workspace.shown(path);
    let label = Label {
        turn: name.clone(),
        title: line,
        assent: Assent::you("placet sandbox run"),
        ..Label::default()
    };
    match then {
        Then::Apply => {
            let told = changes::apply(view, &[], label, &shown);
            if told.done {
                app.gate.settled(Kind::Apply, "placet sandbox run", None, &told.lines.join("\n"))?;
            }
            warn(&sanitize::block(&told.lines.join("\n")));
            Ok(if told.done { code } else { report::ERROR })
        }
        Then::Discard => {
            view.discard_all(Shelf::Pending).map_err(Failure::new)?;
            warn("discarded");
            Ok(code)
        }
        Then::Ask => {
            waits(&name);
            Ok(report::REFUSED)
        }
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
        let mut err = io::stderr().lock();
        drop(write!(err, "apply, discard, or Enter to keep it pending? ").and_then(|()| err.flush()));
        drop(err);
        let mut answer = String::new();
        if io::stdin().lock().read_line(&mut answer).map_err(Failure::new)? == 0 {
            return Ok(Then::Ask);
        }
        match answer.trim() {
            "apply" | "a" => return Ok(Then::Apply),
            "discard" | "d" => return Ok(Then::Discard),
            "" => return Ok(Then::Ask),
            _ => {}
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
    for line in set.listing(view.objects(), |p| workspace.shown(p)) {
        warn(&sanitize::line(&line));
    }
    let braked = view.turn().braked.join("; ");
    if !braked.is_empty() {
        warn(&format!("held back: {}", sanitize::line(&braked)));
    }
    waits(&view.dir().file_name().unwrap_or_default().to_string_lossy());
    if code == report::DONE { report::REFUSED } else { code }
}

/// `--apply`: lands what is pending at the end of a turn. `--dry-run`: shows it and throws it away.
pub(super) fn settle(agent: &Agent, options: &Options, code: u8) -> Result<Option<u8>, Failure> {
    let workspace = &agent.env().workspace;
    let Some(view) = workspace.view().filter(|v| v.turn().held) else { return Ok(None) };
    let shown = |path: &Path| workspace.shown(path);
    if options.apply {
        let label = Label { assent: Assent::you("--apply"), ..view.turn().label.clone() };
        let told = changes::apply(view, &[], label, &shown);
        if told.done {
            let session = agent.session().map(|s| s.id().to_string());
            agent.gate().settled(Kind::Apply, "--apply", session, &told.lines.join("\n"))?;
        }
        warn(&sanitize::block(&told.lines.join("\n")));
        return Ok(Some(if told.done { code } else { report::REFUSED }));
    }
    if options.dry_run {
        let set = view.changes(Shelf::Pending).map_err(Failure::new)?;
        for line in set.listing(view.objects(), shown) {
            warn(&sanitize::line(&line));
        }
        view.discard_all(Shelf::Pending).map_err(Failure::new)?;
        warn("nothing was changed (--dry-run)");
        return Ok(Some(code));
    }
    Ok(None)
}
