//! `/changes`, `/apply`, `/discard`, `/undo`, `/redo`, `/journal`: what is pending, and what was applied.

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
    ApprovedBy, ChangeApproval, ChangeSet, LayerKind, TransactionLabel, View, Workspace, WorkspaceError,
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
fn pending_in(view: &View) -> Result<ChangeSet, CommandStop> {
    view.changes(LayerKind::Pending)
        .map_err(|e| CommandStop::error(format!("cannot read the pending changes: {e}")))
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
    let set = pending_in(&view)?;
    if set.is_empty() {
        lines_about_others(context).iter().for_each(|line| context.output.note(line));
        return Err(CommandStop::note("nothing is pending"));
    }
    let only = paths(&workspace, rest)?;
    let shown = |path: &Path| workspace.shortened(path);
    if only.is_empty() {
        let listing = view.listing(&set, &view.classify(&set), shown);
        context.output.say_list(listing.into_iter().map(Line::raw));
        let hint = "/changes PATH shows the diff; /apply and /discard accept paths, too";
        context.output.hint(&format!("{}: {hint}", view.count(&set)));
        return Ok(CommandFollowUp::Nothing);
    }
    let mut part = set.clone();
    part.changes.retain(|c| only.iter().any(|path| c.path.starts_with(path)));
    if part.is_empty() {
        return Err(CommandStop::note(format!("nothing is pending at `{}`", visible::line(rest))));
    }
    print_changes(context, overview(&part, &view, &workspace));
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
    if rest.is_empty() && is_interactive() && !pending_in(&view)?.is_empty() {
        // Else another placet could change what is on the screen before the person decides.
        view.claim().map_err(|e| CommandStop::with_hint(e.to_string(), "/changes shows them"))?;
        return Ok(CommandFollowUp::AskAboutPending);
    }
    let shown = |path: &Path| workspace.shortened(path);
    let mut wanted = wanted(&view, paths(&workspace, rest)?);
    wanted.approval = with_losses(&workspace, &view, &wanted);
    let report = context.with_apply_progress(&view, || {
        changes::apply(&view, &wanted, apply_label(&view, "/apply"), "/undo", &shown)
    });
    let waiting: Vec<String> =
        report.waiting.iter().map(|path| visible::path(&workspace.shortened(path))).collect();
    context.record(AuditKind::Apply, "/apply", report);
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
fn wanted(view: &View, paths: Vec<PathBuf>) -> ApplyRequest {
    let Ok(set) = view.changes(LayerKind::Pending) else {
        return ApplyRequest { paths, ..ApplyRequest::default() };
    };
    let classes = view.classify(&set);
    let (approved, rest): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| classes.reason_to_wait(path).is_some());
    let only_approved = !approved.is_empty() && rest.is_empty();
    let approval = approved.iter().fold(ChangeApproval::none(), |all, path| all.named(path));
    ApplyRequest { paths: rest, approval, only_approved }
}

/// The approval with the large losses for which the person typed the word.
fn with_losses(workspace: &Workspace, view: &View, wanted: &ApplyRequest) -> ChangeApproval {
    let approval = wanted.approval.clone();
    let shown = |path: &Path| workspace.shortened(path);
    let losses = changes::losses_of(view, wanted, &shown);
    if line_ui::confirm_losses(&losses, &shown, line_ui::consent) { approval.seen(&losses) } else { approval }
}

pub(super) fn discard(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (workspace, view) = context.viewed()?;
    let paths = paths(&workspace, rest)?;
    if !meant(&workspace, &view, &paths) {
        return Err(CommandStop::note("nothing was discarded"));
    }
    let report = changes::discard(&view, &paths, "/undo", &|path| workspace.shortened(path));
    finish(context, AuditKind::Discard, "/discard", report)
}

/// The work of more than one turn is not thrown away by one line: asks, and is true when the person meant it.
fn meant(workspace: &Workspace, view: &View, paths: &[PathBuf]) -> bool {
    let Ok(set) = view.changes(LayerKind::Pending) else { return true };
    let Ok(chosen) = changes::choice(view, &set, paths, &|path| workspace.shortened(path)) else {
        return true;
    };
    let turns = changes::turns_in(&set, &chosen);
    if turns < 2 {
        return true;
    }
    let count = view.count_of(&set, |change| chosen.contains_key(&change.path));
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
