//! `placet changes`, `discard`, `undo` and `redo`, and what other subcommands need for pending changes.

use super::killed::take_over_killed;
use super::{applied_changes, apply_progress};
use crate::agent::Agent;
use crate::app::App;
use crate::audit::{AuditError, AuditKind};
use crate::cli::command_line::options::Options;
use crate::cli::command_line::session_selector::{SessionSelector, session_of};
use crate::cli::report::{self, CliError, UNDO, print, print_foreign, print_list, print_own, warn};
use crate::cli::run::{LiveChanges, live_changes};
use crate::cli::startup::start;
use crate::repl::retract_undone;
use crate::serve::changes::{self, ApplyRequest, UndoTarget, UserReport};
use crate::text::{count, visible};
use crate::ui::{Theme, verbatim};
use crate::workspace::{
    ApprovedBy, ChangeApproval, ChangeClass, ChangeSet, LargeLoss, LayerKind, ListedChange, RepositoryEvents,
    ShownChanges, TransactionLabel, View, Workspace, care_first, patch, without_repositories,
};
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// How the names of views end that have the changes of a program in the home directory.
pub(in crate::cli) const HOME_CHANGES: &str = "-home";

/// The view that is meant, and the workspace through it.
pub(in crate::cli) struct SelectedView {
    pub(in crate::cli) name: String,
    pub(in crate::cli) view: View,
    pub(in crate::cli) workspace: Workspace,
}

pub(in crate::cli) fn chosen(app: &App, which: &SessionSelector) -> Result<Option<SelectedView>, CliError> {
    take_over_killed(app);
    // Before the views: both read the records, of which there may be very many.
    let damage = app.pending_damage_here();
    let (mut waiting, unread) = match &which.session {
        Some(prefix) => app.waiting_named(prefix),
        None => app.waiting_and_unread(),
    };
    if let Some(line) = changes::damage_line(&damage).or_else(|| unread.into_iter().next()) {
        let line = format!("cannot read the pending changes: {}", visible::guard(&line));
        if waiting.is_empty() {
            return Err(CliError::new(line));
        }
        warn(&format!("warning: {line}"));
    }
    // What a program left in the home directory is meant only by its own name.
    let is_at_home = |name: &str| name.ends_with(HOME_CHANGES);
    let of_try = which.try_name.as_ref().map(|name| session_of(app, name)).transpose()?;
    if let Some(id) = &of_try {
        waiting.retain(|w| w.name == id.as_str());
        return Ok(waiting.pop().map(|w| SelectedView::of(app, w.name, w.view)));
    }
    if let Some(prefix) = &which.session {
        waiting.retain(|w| w.name.starts_with(prefix.as_str()) && is_at_home(&w.name) <= is_at_home(prefix));
        if waiting.is_empty() {
            return Err(CliError::new(format!("no session that starts with `{prefix}` has pending changes")));
        }
    } else {
        let (at_home, here): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|w| is_at_home(&w.name));
        if let (Some(first), true) = (at_home.first(), here.is_empty()) {
            warn("note: a program left changes in your home directory");
            warn(&format!("hint: `placet changes --session {}` shows them", first.name));
        }
        waiting = here;
    }
    let others = waiting.len().saturating_sub(1);
    let first = waiting.into_iter().next();
    if others > 0
        && let Some(first) = &first
    {
        let more = count::of(others, "more session");
        let have = if others == 1 { "has" } else { "have" };
        warn(&format!("note: using session {}; {more} {have} pending changes", first.name));
        warn("hint: choose a session with --session");
    }
    Ok(first.map(|w| SelectedView::of(app, w.name, w.view)))
}

impl SelectedView {
    pub(in crate::cli) fn of(app: &App, name: String, view: View) -> SelectedView {
        let workspace = app.workspace.with_view(view.clone());
        SelectedView { name, view, workspace }
    }
}

/// Each call of the command line is a turn of its own: undo takes back one of them at a time.
pub(in crate::cli) fn cli_label(name: &str, title: &str) -> TransactionLabel {
    let now = jiff::Timestamp::now().as_millisecond();
    TransactionLabel {
        turn: format!("{name}-cli-{now}"),
        session: Some(name.into()),
        title: title.into(),
        assent: ApprovedBy::you(title),
        program: None,
        checks: Vec::new(),
    }
}

/// Writes down what was done, and tells it.
pub(in crate::cli) fn report_outcome(
    app: &App,
    kind: AuditKind,
    by: &str,
    told: &UserReport,
    apply_loss: Option<usize>,
) -> Result<u8, CliError> {
    report_outcome_and(app, (kind, by), told, apply_loss, || Ok(()))
}

/// The same, with the rows of what was applied in the view.
pub(in crate::cli) fn report_applied(
    app: &App,
    (kind, by): (AuditKind, &str),
    told: &UserReport,
    (place, label): ((&View, &Workspace), &TransactionLabel),
    apply_loss: Option<usize>,
) -> Result<u8, CliError> {
    report_outcome_and(app, (kind, by), told, apply_loss, || match told.applied {
        Some(id) => applied_changes::print(app, place, (id, label)),
        None => Ok(()),
    })
}

/// `details` prints what follows the sentences, before any hint.
fn report_outcome_and(
    app: &App,
    (kind, by): (AuditKind, &str),
    told: &UserReport,
    apply_loss: Option<usize>,
    details: impl FnOnce() -> Result<(), CliError>,
) -> Result<u8, CliError> {
    let mut incomplete = told.incomplete;
    if told.done {
        if let Err(e) = app.gate.log_checked_decision(kind, by, &told.checks, &told.lines.join("\n")) {
            incomplete = true;
            not_audited(&e);
        }
        for why in app.mounts.stores.push_all() {
            warn(&format!("not saved to the store: {}", visible::guard(&why)));
        }
    }
    let text = told.lines.join("\n");
    if told.done {
        let printed = print_own(&(text + "\n")).and_then(|()| details());
        printed.map_err(|e| CliError { code: report::INCOMPLETE, ..e })?;
        name_waiting(told, apply_loss);
        Ok(match told.all_done() {
            _ if incomplete => report::INCOMPLETE,
            true => report::DONE,
            false => report::REFUSED,
        })
    } else {
        warn(&visible::guard(&text));
        Ok(report::ERROR)
    }
}

/// What was done is done: that the log does not have it must not make it look otherwise.
fn not_audited(error: &AuditError) {
    warn(&visible::guard(&format!("warning: done, but not recorded in the audit log: {error}")));
    warn(&format!("hint: {}", error.hint()));
}

/// How what stays pending is approved without a screen.
pub(in crate::cli) fn name_waiting(told: &UserReport, apply_loss: Option<usize>) {
    for loss in &told.losses {
        if let (LargeLoss::Files { files, .. }, Some(named)) = (loss, apply_loss) {
            let removed = count::of(*files, "file");
            warn(&format!("error: the loss is {removed}, not {named}"));
        }
        warn(&format!("hint: `{}` applies it", loss.flag()));
    }
    if let Some(path) = told.approvable().next() {
        let path = visible::path(path);
        warn(&format!(
            "hint: `--apply-protected {path}` applies this change too; the option can be repeated"
        ));
    }
}

pub(in crate::cli) fn show(
    json: bool,
    as_patch: bool,
    which: &SessionSelector,
    options: &Options,
) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let live = live_changes(&app, which);
    let selected = match chosen(&app, which) {
        Err(error) if !live.is_empty() => {
            warn(&visible::guard(&format!("note: {}", error.message)));
            None
        }
        selected => selected?,
    };
    let shown = selected.as_ref().map(|selected| listed(&selected.view)).transpose()?;
    if json {
        let pending = shown.iter().flat_map(values);
        let all: Vec<_> = pending.chain(live.iter().flat_map(LiveChanges::values)).collect();
        print_foreign(&(serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"))?;
        return Ok(report::DONE);
    }
    if let Some((SelectedView { name, view, workspace }, shown)) = selected.as_ref().zip(shown.as_ref()) {
        let rows = || shown.rows(|p| workspace.shortened(p));
        let again = format!("placet changes --patch --session {name}");
        match as_patch {
            true => print_patch(shown.set(), rows, (view, workspace), &again)?,
            false => print_list(&(shown.lines(|p| workspace.shortened(p)).join("\n") + "\n"))?,
        }
    } else if live.is_empty() {
        warn("nothing is pending");
    }
    for run in &live {
        match as_patch {
            true => print_live_patch(&app, run)?,
            false => print_list(&(run.lines().join("\n") + "\n"))?,
        }
    }
    Ok(report::DONE)
}

/// A patch says nothing about itself: what it is goes to standard error.
fn print_live_patch(app: &App, run: &LiveChanges) -> Result<(), CliError> {
    warn(&format!("note: {}", run.heading()));
    let (bytes, left_out) = run.patch(|path| app.workspace.shortened(path));
    left_out.iter().for_each(|line| warn(&format!("not in the patch: {line}")));
    print_bytes(&bytes)
}

/// A person looks at a patch at a terminal: nothing in it may act, and nothing may hide. A pipe gets the bytes.
fn print_bytes(patch: &[u8]) -> Result<(), CliError> {
    if !io::stdout().is_terminal() {
        let mut out = io::stdout().lock();
        return report::written(out.write_all(patch).and_then(|()| out.flush()));
    }
    print(&verbatim::diff(patch, &Theme::plain()).iter().map(|line| format!("{line}\n")).collect::<String>())
}

/// What is pending, to be listed: nothing changes.
fn listed(view: &View) -> Result<ShownChanges, CliError> {
    view.changes(LayerKind::Pending).map(|set| view.shown_as(set)).map_err(CliError::new)
}

/// The pending changes cannot be read.
pub(in crate::cli) fn unread(error: &io::Error) -> CliError {
    CliError::new(format!("cannot read the pending changes: {error}"))
}

/// One object for each path.
pub(in crate::cli) fn values(shown: &ShownChanges) -> Vec<serde_json::Value> {
    let (set, classes, view) = (shown.set(), shown.classes(), shown.view());
    let lost = classes.lost_paths(set);
    let git = view.git_events(set);
    // Those of a repository are with the first path in it, or in the one around it: nothing may change in a linked worktree itself.
    let first = |repository: &RepositoryEvents| {
        let in_it = |dir: &Path| set.changes.iter().map(|c| &c.path).find(|path| path.starts_with(dir));
        repository.path.ancestors().find_map(in_it)
    };
    let conflicts = view.conflicts(set);
    let each = |change: &crate::workspace::FileChange| {
        let counts = change.counts(view.objects());
        let own = git.iter().filter(|repository| first(repository) == Some(&change.path));
        let events: Vec<_> = own.flat_map(changes::git_reports).collect();
        let mut value = json!({
            "path": change.path.to_string_lossy(),
            "change": change.verb().word(),
            "from": change.moved_from.as_ref().map(|p| p.to_string_lossy()),
            "added": counts.map(|c| c.0),
            "removed": counts.map(|c| c.1),
            "classification": changes::classification(classes, &lost, &change.path),
            "runs_later": classes.reason_to_wait(&change.path),
            "runs_with_build": match classes.of(&change.path) {
                ChangeClass::RunsWithBuild(runner) => Some(runner),
                _ => None,
            },
            "removes_repository": matches!(classes.of(&change.path), ChangeClass::LargeLoss(_)),
            "is_conflict": conflicts.at(&change.path),
            "made_by": change.made_by(),
            "before": change.before,
            "after": change.after,
        });
        let Some(fields) = value.as_object_mut() else { return value };
        if let Some(twin) = &change.twin {
            fields.insert("another_name_of".into(), json!(twin.to_string_lossy()));
        }
        if !events.is_empty() {
            fields.insert("git".into(), json!(events));
        }
        value
    };
    set.changes.iter().map(each).collect()
}

/// Rows of what is not in a patch that are named.
pub(in crate::cli) const MOST_NOT_IN_PATCH: usize = 20;

/// Prints a patch without the files that git writes. `listed` has what they mean, which a person sees as well; `again` is
/// the command that shows it at a terminal.
pub(in crate::cli) fn print_patch(
    set: &ChangeSet,
    listed: impl FnOnce() -> Vec<ListedChange>,
    (view, workspace): (&View, &Workspace),
    again: &str,
) -> Result<(), CliError> {
    let (part, left_out) = without_repositories(set);
    let listed = if left_out > 0 { listed() } else { Vec::new() };
    if left_out > 0 {
        let (s, are) = if left_out == 1 { ("", "is") } else { ("s", "are") };
        warn(&format!(
            "note: {left_out} file{s} of git repositories {are} not in the patch: `git apply` does not accept them"
        ));
        if !io::stdout().is_terminal() {
            let with_content: Vec<&ListedChange> = listed.iter().filter(|row| row.commit.is_some()).collect();
            let named = with_content.iter().take(MOST_NOT_IN_PATCH);
            named.for_each(|row| warn(&format!("not in the patch: {}", row.line().trim_start())));
            if let Some(more) = with_content.len().checked_sub(MOST_NOT_IN_PATCH).filter(|more| *more > 0) {
                warn(&format!("not in the patch: {more} more"));
            }
            if !with_content.is_empty() {
                warn(&format!("hint: at a terminal `{again}` shows their contents"));
            }
        }
    }
    // The patch of a project that is gone has the paths of that project.
    let gone = view.roots().first().filter(|dir| !dir.exists());
    let bytes = patch(&part, view.objects(), gone.map_or(workspace.cwd(), PathBuf::as_path));
    print_bytes(&bytes)?;
    if !io::stdout().is_terminal() {
        return Ok(());
    }
    let mut text = String::new();
    for commit in listed {
        let Some(patch) = &commit.commit else { continue };
        text.push_str(&format!("\n{}\n", commit.text.trim_start()));
        let lines = verbatim::diff(&patch.bytes, &Theme::plain());
        text.extend(lines.iter().map(|line| format!("{line}\n")));
        if patch.left_out > 0 {
            text.push_str(&format!("{} more bytes are not shown: `git show` shows them\n", patch.left_out));
        }
    }
    print(&text)
}

/// Paths of pending changes on the command line.
pub(in crate::cli) fn resolved(workspace: &Workspace, paths: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let one = |path: &PathBuf| workspace.pending_path(&path.to_string_lossy());
    paths.iter().map(one).collect::<Result<_, _>>().map_err(CliError::new)
}

pub(in crate::cli) fn discard(
    paths: &[PathBuf],
    which: &SessionSelector,
    options: &Options,
) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let Some(SelectedView { name, view, workspace }) = chosen(&app, which)? else {
        warn("nothing is pending");
        return Ok(report::DONE);
    };
    let paths = resolved(&workspace, paths)?;
    let undo = match view.roots().first() == Some(&app.cwd().to_path_buf()) {
        true => "placet undo".to_string(),
        false => format!("`placet undo --session {name}`"),
    };
    let shown = view.shown().map_err(|e| unread(&e))?;
    let told = changes::discard(shown, &paths, &undo, &|path| workspace.shortened(path));
    report_outcome(&app, AuditKind::Discard, "placet discard", &told, options.changes.apply_loss)
}

pub(in crate::cli) fn undo(what: Option<&str>, rest: bool, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    take_over_killed(&app);
    let view = app.view("undo");
    let back = match what {
        None => UndoTarget::Turns(1),
        Some(text) => match text.parse::<usize>() {
            Ok(0) => return Err(CliError::usage(UndoTarget::NO_TURNS)),
            Ok(count) => UndoTarget::Turns(count),
            Err(_) => UndoTarget::Path(app.workspace.pending_path(text).map_err(CliError::new)?),
        },
    };
    let shown = |path: &Path| app.workspace.shortened(path);
    if what.is_none() && !rest {
        let told = match app.discarded() {
            Ok(views) => {
                let told = changes::undo_discard(&views, &view, &shown);
                if told.as_ref().is_some_and(|told| told.done) {
                    retract_undone(&app.workspace, &views);
                }
                told
            }
            Err(damage) => Some(changes::nothing_undone(&damage)),
        };
        if let Some(told) = told {
            return report_outcome(&app, AuditKind::Undo, "placet undo", &told, options.changes.apply_loss);
        }
    }
    let label = cli_label("undo", "placet undo");
    let told = apply_progress::shown(&view, || {
        changes::undo_saying(&view, &back, (rest, "placet undo --rest"), &label, &shown)
    });
    report_outcome(&app, AuditKind::Undo, "placet undo", &told, options.changes.apply_loss)
}

/// Restores the last discard of one session, also where something was applied after it.
pub(in crate::cli) fn undo_discard_of(prefix: &str, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let shown = |path: &Path| app.workspace.shortened(path);
    for view in app.discarded_of(prefix).map_err(CliError::new)? {
        if let Some(discarded) = view.last_discard().map_err(CliError::new)? {
            let told = changes::restored(&view, &discarded, &shown);
            return report_outcome(&app, AuditKind::Undo, "placet undo", &told, options.changes.apply_loss);
        }
    }
    Err(CliError::new(format!("no session that starts with `{prefix}` has discarded changes")))
}

pub(in crate::cli) fn redo(rest: bool, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    take_over_killed(&app);
    let shown = |path: &Path| app.workspace.shortened(path);
    let label = cli_label("redo", "placet redo");
    let view = app.view("undo");
    let told = apply_progress::shown(&view, || {
        changes::redo_saying(&view, (rest, "placet redo --rest"), &label, &shown)
    });
    report_outcome(&app, AuditKind::Undo, "placet redo", &told, options.changes.apply_loss)
}

pub(in crate::cli) fn waits(name: &str) {
    warn(&format!(
        "pending: `placet changes --patch` shows the changes, `placet apply --session {name}` applies them, \
         `placet discard --session {name}` discards them"
    ));
}

/// After a call or a turn without a screen: says what is pending, and the exit code that tells it.
pub(in crate::cli) fn after(workspace: &Workspace, code: u8) -> u8 {
    let Some(view) = workspace.view().filter(|v| v.turn().held) else { return code };
    let shown = match view.changes(LayerKind::Pending) {
        Ok(set) => view.shown_as(set),
        Err(e) => {
            warn(&format!("error: cannot read the pending changes: {}", visible::guard_line(&e.to_string())));
            return report::ERROR;
        }
    };
    let unread = view.turn().unread.join("; ");
    if !unread.is_empty() {
        warn(&format!("error: {}", visible::guard_line(&unread)));
    }
    if shown.is_empty() {
        return if unread.is_empty() || code != report::DONE { code } else { report::ERROR };
    }
    list(&[&shown], workspace);
    let braked = view.turn().braked.join("; ");
    if !braked.is_empty() {
        warn(&format!("left pending: {}", visible::guard_line(&braked)));
    }
    waits(&view.dir().file_name().unwrap_or_default().to_string_lossy());
    if code == report::DONE { report::REFUSED } else { code }
}

/// `--apply`: lands what is pending at the end of a turn. `--dry-run`: shows it and throws it away.
pub(in crate::cli) fn settle(agent: &Agent, options: &Options, code: u8) -> Result<Option<u8>, CliError> {
    let workspace = &agent.env().workspace;
    let Some(view) = workspace.view().filter(|v| v.turn().held) else { return Ok(None) };
    let shown = |path: &Path| workspace.shortened(path);
    // Half of what a command did is not applied unseen.
    let unread = view.turn().unread.join("; ");
    if !unread.is_empty() && options.changes.dry_run {
        warn(&format!("error: {}", visible::guard_line(&unread)));
        view.discard_everything().map_err(CliError::new)?;
        warn("nothing was changed (--dry-run)");
        return Ok(Some(if code == report::DONE { report::ERROR } else { code }));
    }
    if !unread.is_empty() {
        return Ok(Some(after(workspace, code)));
    }
    let of = view.shown().map_err(|e| self::unread(&e))?;
    let approval = named_and_pending(&[&of], workspace, options)?.pop().unwrap_or_else(ChangeApproval::none);
    if options.changes.apply || !approval.is_none() {
        let label = TransactionLabel { assent: ApprovedBy::you("--apply"), ..view.turn().label.clone() };
        let wanted =
            ApplyRequest { approval, only_approved: !options.changes.apply, ..ApplyRequest::default() };
        let told = changes::apply(of, &wanted, label, UNDO, &shown);
        let mut incomplete = told.incomplete;
        if told.done {
            let session = agent.session().map(|s| s.id().to_string());
            if let Err(e) = agent.interceptors().log_decision(
                AuditKind::Apply,
                "--apply",
                session,
                &told.lines.join("\n"),
            ) {
                incomplete = true;
                not_audited(&e);
            }
        }
        warn(&visible::guard(&told.lines.join("\n")));
        name_waiting(&told, options.changes.apply_loss);
        return Ok(Some(match told.done {
            true => {
                let code = after(workspace, code);
                if incomplete { report::INCOMPLETE } else { code }
            }
            false => report::REFUSED,
        }));
    }
    if options.changes.dry_run {
        list(&[&of], workspace);
        view.discard_everything().map_err(CliError::new)?;
        warn("nothing was changed (--dry-run)");
        return Ok(Some(code));
    }
    Ok(None)
}

/// What is pending, on standard error: what it takes away first, then a line for each path.
/// That of several views is one list.
pub(in crate::cli) fn list(parts: &[&ShownChanges], workspace: &Workspace) {
    let name = |path: &Path| workspace.shortened(path);
    let (mut losses, mut rows) = (Vec::new(), Vec::new());
    for shown in parts.iter().filter(|shown| !shown.is_empty()) {
        losses.extend(shown.classes().losses.iter().map(|loss| loss.words(&name)));
        rows.extend(shown.rows(name));
    }
    let rows = care_first(rows);
    let all = losses.into_iter().chain(rows.iter().map(ListedChange::line));
    warn(&all.map(|line| visible::guard_line(&line).into_owned()).collect::<Vec<_>>().join("\n"));
}

/// What the flags approve of each of these. A path at which nothing is pending is reported, and is no
/// error: it may not have been changed this time.
pub(in crate::cli) fn named_and_pending(
    parts: &[&ShownChanges],
    workspace: &Workspace,
    options: &Options,
) -> Result<Vec<ChangeApproval>, CliError> {
    let named = resolved(workspace, &options.changes.apply_protected)?;
    let mut found = vec![Vec::new(); parts.len()];
    for (shown, found) in parts.iter().zip(&mut found) {
        let is_there = |path: &&PathBuf| !shown.classes().goes_with(shown.set(), path).is_empty();
        found.extend(named.iter().filter(is_there).cloned());
    }
    for path in named.iter().filter(|path| !found.iter().any(|found| found.contains(path))) {
        warn(&format!("note: nothing is pending at `{}`", visible::path(&workspace.shortened(path))));
    }
    Ok(found.into_iter().map(|named| approval(named, options)).collect())
}

pub(in crate::cli) fn approval(named: Vec<PathBuf>, options: &Options) -> ChangeApproval {
    let approval = named.iter().fold(ChangeApproval::none(), |all, path| all.named(path));
    match options.changes.apply_loss {
        Some(files) => approval.removal_of(files),
        None => approval,
    }
}
