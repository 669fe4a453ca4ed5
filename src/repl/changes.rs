//! `/changes`, `/apply`, `/discard`, `/undo`, `/redo`, `/journal`: what is pending, and what was applied.

use super::Shell;
use super::command_table::CommandFollowUp;
use crate::agent::overview;
use crate::audit::AuditKind;
use crate::serve::changes::{self, ApplyRequest, UndoTarget, UserReport};
use crate::text::visible;
use crate::tools::DisplayDetail;
use crate::ui::line_ui;
use crate::ui::scrollback;
use crate::workspace::{ApprovedBy, ChangeApproval, LayerKind, TransactionLabel, View, Workspace};
use std::path::{Path, PathBuf};

impl Shell<'_> {
    /// The conversation's workspace and view; before the first message there is none.
    pub(super) fn viewed(&self) -> Option<(Workspace, View)> {
        let waits =
            |workspace: &&Workspace| workspace.view().is_some_and(|v| !v.is_empty(LayerKind::Pending));
        let own = self.conversation.agent.as_ref().map(|agent| &agent.env().workspace);
        // What an earlier session left comes into sight again when this one has nothing of its own.
        let workspace = match own.filter(waits).or(self.earlier.as_ref().filter(waits)).or(own) {
            Some(workspace) => workspace.clone(),
            None => self.app.viewed(),
        };
        let view = workspace.view()?.clone();
        Some((workspace, view))
    }

    /// Every view in which something may have been discarded.
    fn views(&self) -> Vec<View> {
        let own = self.conversation.agent.as_ref().map(|agent| &agent.env().workspace);
        own.into_iter().chain(&self.earlier).filter_map(|workspace| workspace.view().cloned()).collect()
    }

    /// Changes that wait for the person.
    pub(super) fn pending(&self) -> usize {
        let view = self.viewed();
        let count =
            |view: View| view.changes(LayerKind::Pending).map_or(0, |set| set.listed(&view.classify(&set)));
        view.filter(|(_, view)| !view.is_empty(LayerKind::Pending)).map_or(0, |(_, view)| count(view))
    }

    /// Writes down what was done, and tells it.
    pub(super) fn done(&mut self, kind: AuditKind, by: &str, told: UserReport) -> CommandFollowUp {
        if told.done {
            let session = self.conversation.agent.as_ref().and_then(|a| a.session());
            let session = session.map(|s| s.id().to_string());
            if let Err(e) = self.app.gate().log_decision(kind, by, session, &told.lines.join("\n")) {
                self.error(&format!("this is not recorded in the audit log: {e}"), Some(&e.hint()));
            }
            for why in self.app.upload_mounts() {
                self.error(&format!("not saved to the store: {why}"), None);
            }
        }
        self.told(told)
    }

    pub(super) fn told(&mut self, told: UserReport) -> CommandFollowUp {
        let mut lines = told.lines.into_iter();
        let first = lines.next().unwrap_or_default();
        let mut all = match told.done {
            true => scrollback::notice(&first, &self.theme),
            false => scrollback::error(&first, None, &self.theme),
        };
        all.extend(lines.flat_map(|line| scrollback::under(&line, &self.theme)));
        self.print(&all);
        None
    }
}

/// Words of a command as paths of pending changes; quotes hold blanks together.
pub(super) fn paths(workspace: &Workspace, rest: &str) -> Result<Vec<PathBuf>, String> {
    let words = super::prompt_input::words(rest);
    words.iter().map(|word| workspace.pending_path(word).map_err(|e| e.to_string())).collect()
}

pub(super) fn label(view: &View, title: &str) -> TransactionLabel {
    let turn = view.turn().label.clone();
    let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let fresh = || TransactionLabel { turn: name, title: title.into(), ..TransactionLabel::default() };
    let label = if turn.turn.is_empty() { fresh() } else { turn };
    TransactionLabel { assent: ApprovedBy::you(title), ..label }
}

pub(super) fn changes(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let (workspace, view) = shell.viewed()?;
    let set = match view.changes(LayerKind::Pending) {
        Ok(set) => set,
        Err(e) => {
            shell.error(&format!("cannot read the pending changes: {e}"), None);
            return None;
        }
    };
    if set.is_empty() {
        shell.note("nothing is pending");
        return None;
    }
    let only = match paths(&workspace, rest) {
        Ok(only) => only,
        Err(e) => {
            shell.error(&e, None);
            return None;
        }
    };
    let shown = |path: &Path| workspace.shortened(path);
    if only.is_empty() {
        let list = view.listing(&set, &view.classify(&set), shown);
        shell.say_lines(list.into_iter().map(ratatui::text::Line::raw));
        shell.hint("/changes PATH shows the diff; /apply and /discard accept paths, too");
        return None;
    }
    let mut part = set.clone();
    part.changes.retain(|c| only.iter().any(|path| c.path.starts_with(path)));
    if part.is_empty() {
        shell.note(&format!("nothing is pending at `{}`", crate::text::visible::line(rest)));
        return None;
    }
    let all = overview(&part, &view, &workspace);
    shell.print(&scrollback::detail(&DisplayDetail::Changes(Box::new(all)), &shell.theme, usize::MAX));
    None
}

pub(super) fn apply(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let (workspace, view) = shell.viewed()?;
    let shown = |path: &Path| workspace.shortened(path);
    let told = match paths(&workspace, rest) {
        Ok(paths) => {
            let mut wanted = wanted(&view, paths);
            wanted.approval = with_losses(&workspace, &view, &wanted);
            changes::apply(&view, &wanted, label(&view, "/apply"), &shown)
        }
        Err(e) => UserReport { lines: vec![e], ..UserReport::default() },
    };
    let waiting: Vec<String> =
        told.waiting.iter().map(|path| visible::path(&workspace.shortened(path))).collect();
    let after = shell.done(AuditKind::Apply, "/apply", told);
    if let Some(first) = waiting.first() {
        shell.hint(&format!("/changes {first} shows it; `/apply {first}` applies it"));
    }
    after
}

/// A path that a person types to its end is approved by that, if it runs later; a directory approves nothing in it.
fn wanted(view: &View, paths: Vec<PathBuf>) -> ApplyRequest {
    let Ok(set) = view.changes(LayerKind::Pending) else {
        return ApplyRequest { paths, ..ApplyRequest::default() };
    };
    let classes = view.classify(&set);
    let (approved, rest): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| classes.runner(path).is_some());
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

pub(super) fn discard(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let (workspace, view) = shell.viewed()?;
    let told = match paths(&workspace, rest) {
        Ok(paths) if !meant(&workspace, &view, &paths) => {
            shell.note("nothing was discarded");
            return None;
        }
        Ok(paths) => changes::discard(&view, &paths, "/undo", &|path| workspace.shortened(path)),
        Err(e) => UserReport { lines: vec![e], ..UserReport::default() },
    };
    shell.done(AuditKind::Discard, "/discard", told)
}

/// The work of more than one turn is not thrown away by one line: asks, and is true when the person meant it.
fn meant(workspace: &Workspace, view: &View, paths: &[PathBuf]) -> bool {
    let Ok(set) = view.changes(LayerKind::Pending) else { return true };
    let Ok(chosen) = changes::choice(&set, paths, &|path| workspace.shortened(path)) else { return true };
    let turns = changes::turns_in(&set, &chosen);
    if turns < 2 {
        return true;
    }
    let count = chosen.len();
    let question = format!(
        "discard {count} change{} of {turns} turns? Type `discard` and Enter; Enter alone keeps them: ",
        if count == 1 { "" } else { "s" }
    );
    line_ui::consent(&question).is_some_and(|answer| answer.trim() == "discard")
}

pub(super) fn undo(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let (workspace, view) = shell.viewed()?;
    let (rest, others) = match rest.strip_suffix("rest") {
        Some(before) if before.is_empty() || before.ends_with(' ') => (before.trim(), true),
        _ => (rest, false),
    };
    let back = match rest.parse::<usize>() {
        _ if rest.is_empty() => UndoTarget::Turns(1),
        Ok(count) => UndoTarget::Turns(count.max(1)),
        Err(_) => match workspace.pending_path(rest) {
            Ok(path) => UndoTarget::Path(path),
            Err(e) => return shell.told(UserReport { lines: vec![e.to_string()], ..UserReport::default() }),
        },
    };
    if rest.is_empty()
        && !others
        && let Some(told) = changes::undo_discard(&shell.views(), &view, &|path| workspace.shortened(path))
    {
        return shell.done(AuditKind::Undo, "/undo", told);
    }
    let told = changes::undo(&view, &back, others, &label(&view, "/undo"), &|path| workspace.shortened(path));
    shell.done(AuditKind::Undo, "/undo", told)
}

pub(super) fn redo(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let (workspace, view) = shell.viewed()?;
    let told =
        changes::redo(&view, rest == "rest", &label(&view, "/redo"), &|path| workspace.shortened(path));
    shell.done(AuditKind::Undo, "/redo", told)
}

pub(super) fn journal(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let (workspace, view) = shell.viewed()?;
    if let Ok(id) = rest.parse::<u64>() {
        match view.journal().entry(id) {
            Err(damage) => {
                let hint = "`placet journal repair` moves damaged records aside";
                shell.error(&damage.to_string(), Some(hint));
            }
            Ok(None) => shell.error(&format!("no transaction {id}"), Some("/journal lists them")),
            Ok(Some(entry)) => {
                let mut lines = scrollback::notice(&changes::entry_line(&entry), &shell.theme);
                for change in &entry.changes {
                    let name = visible::path(&workspace.shortened(&change.path));
                    lines.extend(scrollback::under(&format!("{} {name}", change.letter()), &shell.theme));
                }
                shell.print(&lines);
            }
        }
        return None;
    }
    let lines = changes::journal_lines(view.journal(), 20);
    if lines.is_empty() {
        shell.note("no transactions in this directory");
    }
    shell.say_lines(lines.into_iter().map(ratatui::text::Line::raw));
    None
}

pub(super) fn review(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    shell.review = Some(rest.to_string());
    None
}

pub(super) fn rewind(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    shell.rewind(rest);
    None
}
