//! The end of a turn: what is pending is shown, and the person says what becomes of it.

mod apply;
mod protected;
mod words;

use super::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, TurnEvent, TurnEvents};
use super::services::SharedServices;
use crate::audit::AuditKind;
use crate::permission::Mode;
use crate::tools::DisplayDetail;
use crate::workspace::{
    ChangeApproval, ChangeClasses, ChangeSelection, ChangeSet, DiscardBackup, LayerKind, View, Workspace,
};
use std::path::PathBuf;
use tokio::sync::oneshot;
pub use words::overview;
use words::{apply_words, counted, headline, pending_words, reason};

/// What the person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnDecision {
    /// Nothing was pending from this turn.
    Nothing,
    Applied,
    Discarded,
    /// It stays pending.
    Kept,
    /// It stays pending, and the person wants to look at it file by file.
    Review,
}

/// The apply question: what is asked about the pending changes of a view, and what an answer does.
pub(super) struct ApplyQuestionFlow<'a> {
    services: &'a SharedServices,
    events: &'a TurnEvents,
    workspace: Workspace,
    view: View,
}

impl<'a> ApplyQuestionFlow<'a> {
    /// `None` where no view holds changes back.
    pub(super) fn new(services: &'a SharedServices, events: &'a TurnEvents) -> Option<ApplyQuestionFlow<'a>> {
        let workspace = services.env.workspace.clone();
        let view = workspace.view()?.clone();
        Some(ApplyQuestionFlow { services, events, workspace, view })
    }

    /// Asks what becomes of the changes that this turn left pending. Without an answer they stay pending.
    pub(super) async fn ask(&self) -> TurnDecision {
        // A background command may have ended between two turns: that is asked about as well.
        // `&`, not `&&`: the second flag must be cleared even if the first is set, or the next turn would
        // ask again.
        if !self.view.turn().held & !self.view.take_background_pending() {
            return TurnDecision::Nothing;
        }
        loop {
            if let Some(decision) = self.ask_once().await {
                return decision;
            }
        }
    }

    /// Asks once about everything that is pending. `None` when it is to be asked again, because that has changed.
    async fn ask_once(&self) -> Option<TurnDecision> {
        let view = &self.view;
        let set = match view.changes(LayerKind::Pending) {
            Ok(set) => set,
            Err(e) => {
                self.events.notice(format!("cannot read the pending changes: {e}"));
                return Some(TurnDecision::Nothing);
            }
        };
        if set.is_empty() {
            // It stays in the turn: without a person it is the reason of the exit code.
            view.turn().unread.clone().into_iter().for_each(|words| self.events.notice(words));
            return Some(TurnDecision::Nothing);
        }
        let classes = view.classify(&set);
        // Where every path must be approved by itself, the question about all of them could apply nothing.
        let waiting = self.waiting(&set, &classes).len();
        if waiting == set.listed(&classes) {
            return Some(self.approve_protected(TurnDecision::Kept).await);
        }
        let mut answer = self.ask_about_all(&set, &classes, waiting).await.unwrap_or('k');
        if answer == 'a' && !self.confirm_losses(&classes).await {
            answer = 'k';
        }
        // What was shown is what is decided on: a background command may have ended under the question, and none puts
        // anything there until this is done.
        let commands = view.lock_commands().await;
        if matches!(answer, 'a' | 'd') && view.changes(LayerKind::Pending).is_ok_and(|now| now != set) {
            self.events.notice(UPDATED);
            return None;
        }
        match answer {
            'a' => {
                let approval = self.approval_of_mode(&set, &classes).seen(&classes.losses);
                // Without an answer they changed meanwhile and were merged: that is another question.
                let decision = self.apply_all(&set, &approval).await?;
                // Released first: `approve_protected` takes the same lock.
                drop(commands);
                Some(self.approve_protected(decision).await)
            }
            'r' => Some(TurnDecision::Review),
            'd' => {
                let what = counted(&set, &classes);
                self.events.notice(self.discard(&View::everything(&set), &what, "not discarded"));
                Some(TurnDecision::Discarded)
            }
            _ => {
                self.events.notice(pending_words(&set, &classes));
                Some(TurnDecision::Kept)
            }
        }
    }

    /// Discards what is chosen: `what` names it, `failed` begins the sentence of an error.
    fn discard(&self, chosen: &ChangeSelection, what: &str, failed: &str) -> String {
        let back = match self.view.set_aside(chosen) {
            Ok(DiscardBackup::Kept) => "/undo restores it",
            Ok(DiscardBackup::TooLarge) => "too large for undo",
            Err(e) => return format!("{failed}: {e}"),
        };
        let report = format!("discarded: {what}; {back}");
        let remarks = self.record(AuditKind::Discard, &report);
        remarks.into_iter().fold(report, |report, remark| format!("{report}; {remark}"))
    }

    /// Records `report` and uploads what was applied in mounts. Returns what of that failed.
    fn record(&self, kind: AuditKind, report: &str) -> Vec<String> {
        let origin = &self.services.origin;
        let by = "the question at the end of a turn";
        match origin.interceptors.log_decision(kind, by, origin.session.clone(), report) {
            Ok(()) => {
                let failures = self.services.env.mounts.push_all().into_iter();
                failures.map(|why| format!("not saved to the store: {why}")).collect()
            }
            Err(e) => vec![format!("this is not recorded in the audit log: {e}")],
        }
    }

    /// The paths that are asked about one by one: in unrestricted mode none.
    fn waiting(&self, set: &ChangeSet, classes: &ChangeClasses) -> Vec<PathBuf> {
        match self.services.env.mode.load() {
            Mode::Unrestricted => Vec::new(),
            _ => classes.to_approve(set).into_iter().map(|(path, _)| path.to_path_buf()).collect(),
        }
    }

    fn approval_of_mode(&self, set: &ChangeSet, classes: &ChangeClasses) -> ChangeApproval {
        match self.services.env.mode.load() {
            Mode::Unrestricted => set
                .changes
                .iter()
                .filter(|c| classes.runner(&c.path).is_some())
                .fold(ChangeApproval::none(), ChangeApproval::shown),
            _ => ChangeApproval::none(),
        }
    }

    fn ask_about_all(
        &self,
        set: &ChangeSet,
        classes: &ChangeClasses,
        waiting: usize,
    ) -> oneshot::Receiver<char> {
        let ApplyQuestionFlow { view, workspace, .. } = self;
        self.events.ask(|reply| {
            TurnEvent::Choice(ChoiceQuestion {
                subject: ChoiceSubject::Pending(Box::new(set.clone())),
                title: headline(set, classes, view, workspace),
                reason: reason(view),
                detail: DisplayDetail::Changes(Box::new(overview(set, view, workspace))),
                choices: vec![
                    QuestionChoice::consent('a', &apply_words(waiting)),
                    QuestionChoice::plain('r', "review"),
                    QuestionChoice::plain('k', "keep pending"),
                    QuestionChoice::for_good('d', "discard all"),
                ],
                reply,
            })
        })
    }
}

/// What was shown is no longer what is pending.
const UPDATED: &str = "pending changes were updated in the meantime; showing them again";
