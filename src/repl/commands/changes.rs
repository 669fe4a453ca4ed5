//! `/changes`, `/apply`, `/discard`, `/undo`, `/redo`, `/journal`: what is pending, and what was applied.

use super::review::reviewed_at;
use crate::agent::{applied_overview, overview};
use crate::audit::AuditKind;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::output::is_interactive;
use crate::repl::pending_elsewhere::lines_about_others;
use crate::repl::prompt::words;
use crate::serve::changes::{self, ApplyRequest, UserReport};
use crate::text::visible;
use crate::tools::{ChangeOverview, DisplayDetail};
use crate::ui::{line_ui, margin_mark, scrollback};
use crate::workspace::{
    ApprovedBy, ChangeApproval, ShownChanges, TransactionLabel, View, Workspace, WorkspaceError,
};
use ratatui::text::Line;
use std::path::{Path, PathBuf};

/// Words of a command as paths of pending changes; quotes hold blanks together.
pub(super) fn paths(workspace: &Workspace, rest: &str) -> Result<Vec<PathBuf>, WorkspaceError> {
    words(rest).iter().map(|word| workspace.pending_path(word)).collect()
}

/// An apply of what may be of earlier turns: the journal names what is applied.
pub(in crate::repl) fn apply_label(view: &View, title: &str) -> TransactionLabel {
    TransactionLabel { title: String::new(), ..label(view, title) }
}

pub(super) fn label(view: &View, title: &str) -> TransactionLabel {
    let turn = view.turn().label.clone();
    let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let fresh = || TransactionLabel { turn: name, title: title.into(), ..TransactionLabel::default() };
    let label = if turn.turn.is_empty() { fresh() } else { turn };
    TransactionLabel { assent: ApprovedBy::you(title), ..label }
}

/// What waits in a view.
fn pending_in(view: &View) -> Result<ShownChanges, CommandStop> {
    view.shown().map_err(|e| CommandStop::error(format!("cannot read the pending changes: {e}")))
}

/// Records what was done; the command is done with it.
pub(super) fn finish(
    context: &CommandContext<'_>,
    kind: AuditKind,
    by: &str,
    report: UserReport,
) -> SlashCommandResult {
    context.record(kind, by, report);
    Ok(CommandFollowUp::Nothing)
}

pub(super) fn changes(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (workspace, view) = context.viewed()?;
    let of = pending_in(&view)?;
    if of.is_empty() {
        lines_about_others(context).iter().for_each(|line| context.output.note(line));
        return Err(CommandStop::note("nothing is pending"));
    }
    let only = paths(&workspace, rest)?;
    let shown = |path: &Path| workspace.shortened(path);
    if only.is_empty() {
        let listing = of.lines(shown);
        context.output.say_list(listing.into_iter().map(Line::raw));
        let hint = "/changes PATH shows the diff; /apply and /discard accept paths, too";
        context.output.hint(&format!("{}: {hint}", view.count(of.set())));
        return Ok(CommandFollowUp::Nothing);
    }
    let part = of.part(|c| only.iter().any(|path| c.path.starts_with(path)));
    if part.is_empty() {
        return Err(CommandStop::note(format!("nothing is pending at `{}`", visible::line(rest))));
    }
    print_changes(context, overview(&part, &workspace));
    Ok(CommandFollowUp::Nothing)
}

/// Rows and differences, all of them.
fn print_changes(context: &CommandContext<'_>, overview: ChangeOverview) {
    let rows = overview.list.len();
    let all = DisplayDetail::Changes(Box::new(overview));
    let mut list = scrollback::detail(&all, &context.output.theme, usize::MAX);
    let differences = list.split_off(rows.min(list.len()));
    context.output.print(&margin_mark::broken_list(list, context.output.width()));
    context.output.print(&differences);
}

/// Without a path a person is asked, and sees what is applied first; a path is applied at once.
pub(super) fn apply(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (workspace, view) = context.viewed()?;
    let shown = pending_in(&view)?;
    if rest.is_empty() && is_interactive() && !shown.is_empty() {
        return Ok(CommandFollowUp::AskAboutPending);
    }
    let name = |path: &Path| workspace.shortened(path);
    let paths = paths(&workspace, rest)?;
    let reviewed = reviewed_at(&workspace, &shown, &paths);
    let mut wanted = wanted(&shown, paths);
    wanted.reviewed = reviewed.as_ref().map(|reviewed| reviewed.decision.clone());
    let losses = wanted.losses(&shown, &name);
    if line_ui::confirm_losses(&losses, &name, line_ui::consent) {
        wanted.approval = wanted.approval.seen(&losses);
    }
    let report = context.with_apply_progress(&view, || {
        changes::apply(shown, &wanted, apply_label(&view, "/apply"), "/undo", &name)
    });
    let waiting: Vec<String> =
        report.approvable().map(|path| visible::path(&workspace.shortened(path))).collect();
    let is_done = report.done;
    context.record(AuditKind::Apply, "/apply", report);
    if let Some(reviewed) = reviewed.filter(|_| is_done) {
        context.output.note(&format!("as reviewed: {}", reviewed.words));
        (reviewed.finish)().iter().for_each(|line| context.output.note(line));
    }
    match waiting.as_slice() {
        [] => {}
        [one] => context.output.hint(&format!("/changes {one} shows it; `/apply {one}` applies it")),
        // A commit waits with its repository, and both are named.
        [first, second] => {
            let hint = format!("/changes {first} shows one; `/apply {first} {second}` applies both");
            context.output.hint(&hint);
        }
        _ => context.output.hint("/changes PATH shows one of them; `/apply PATH` applies it"),
    }
    Ok(CommandFollowUp::Nothing)
}

/// A path that a person types to its end is approved by that, if it runs later, as is a repository that waits as a
/// whole; any other directory approves nothing in it.
fn wanted(shown: &ShownChanges, paths: Vec<PathBuf>) -> ApplyRequest {
    let (approved, rest): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| shown.classes().reason_to_wait(path).is_some());
    let only_approved = !approved.is_empty() && rest.is_empty();
    let approval = approved.iter().fold(ChangeApproval::none(), |all, path| all.named(path));
    ApplyRequest { paths: rest, approval, only_approved, reviewed: None }
}

pub(super) fn discard(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (workspace, view) = context.viewed()?;
    let paths = paths(&workspace, rest)?;
    let shown = pending_in(&view)?;
    if !meant(&workspace, &shown, &paths) {
        return Err(CommandStop::note("nothing was discarded"));
    }
    let report = changes::discard(shown, &paths, "/undo", &|path| workspace.shortened(path));
    finish(context, AuditKind::Discard, "/discard", report)
}

/// The work of more than one turn is not thrown away by one line: asks, and is true when the person meant it.
fn meant(workspace: &Workspace, shown: &ShownChanges, paths: &[PathBuf]) -> bool {
    let Ok(chosen) = changes::choice(shown, paths, &|path| workspace.shortened(path)) else {
        return true;
    };
    let turns = changes::turns_in(shown.set(), &chosen);
    if turns < 2 {
        return true;
    }
    let count = shown.view().count_of(shown.set(), |change| chosen.contains_key(&change.path));
    let question = format!(
        "discard changes to {count} of {turns} turns? Type `discard` and Enter; Enter alone keeps them: "
    );
    line_ui::is_confirmed_by("discard", &question)
}

pub(super) fn journal(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (workspace, view) = context.viewed()?;
    let Ok(id) = rest.parse::<u64>() else {
        let lines = changes::journal_lines(view.journal(), 20);
        if lines.is_empty() {
            return Err(CommandStop::note("no transactions in this directory"));
        }
        context.output.say_list(lines.into_iter().map(Line::raw));
        return Ok(CommandFollowUp::Nothing);
    };
    let entry = view.journal().entry(id).map_err(|damage| {
        let hint = "`placet journal repair` moves damaged records aside";
        CommandStop::with_hint(damage.to_string(), hint)
    })?;
    let missing = || CommandStop::with_hint(format!("no transaction {id}"), "/journal lists them");
    let entry = entry.ok_or_else(missing)?;
    context.output.note(&changes::entry_line(&entry));
    print_changes(context, applied_overview(&entry, &view, &workspace));
    Ok(CommandFollowUp::Nothing)
}
