//! The end of a turn: placet shows the pending changes, and the person decides what to do with them.

mod apply;
mod protected;
mod words;

use super::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, TurnEvent, TurnEvents};
use super::services::SharedServices;
use crate::audit::AuditKind;
use crate::permission::{Mode, ModeCell};
use crate::tools::DisplayDetail;
use crate::workspace::{
    ApprovedBy, ChangeApproval, ChangeClasses, ChangeSelection, ChangeSet, DiscardBackup, LayerKind,
    TransactionLabel, View, Workspace,
};
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedSender;
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

/// Where the apply question is asked.
#[derive(Clone, Debug)]
pub enum ApplyQuestionPlace {
    /// At the end of a turn of a conversation.
    Conversation,
    /// By a subcommand about a command of the person's own; the label is what the journal says of it.
    CommandLine(Box<TransactionLabel>),
}

impl ApplyQuestionPlace {
    /// The command that reverts what was applied or discarded.
    fn undo(&self) -> &'static str {
        match self {
            ApplyQuestionPlace::Conversation => "/undo",
            ApplyQuestionPlace::CommandLine(_) => "placet undo",
        }
    }
}

/// What the apply question needs in addition to the pending changes.
pub struct ApplyQuestionContext<'a> {
    pub workspace: &'a Workspace,
    pub mode: &'a ModeCell,
    pub place: ApplyQuestionPlace,
    /// Records what was applied or discarded, and returns what of that failed.
    pub record: &'a (dyn Fn(AuditKind, &str) -> Vec<String> + Send + Sync),
}

/// Asks what to do with all pending changes in the view of `context`. Without an answer they stay pending.
pub async fn ask_about_pending(
    context: ApplyQuestionContext<'_>,
    events: &UnboundedSender<TurnEvent>,
) -> TurnDecision {
    let events = TurnEvents::new(events.clone());
    match ApplyQuestionFlow::new(context, &events) {
        Some(question) => question.ask().await,
        None => TurnDecision::Nothing,
    }
}

/// Asks what becomes of the changes that a turn left pending. Without an answer they stay pending.
pub(super) async fn ask_after_turn(
    services: &SharedServices,
    events: &UnboundedSender<TurnEvent>,
) -> TurnDecision {
    let (env, origin) = (&services.env, &services.origin);
    let Some(view) = env.workspace.view() else { return TurnDecision::Nothing };
    // A background command may have ended between two turns: that is asked about as well.
    // `&`, not `&&`: the second flag must be cleared even if the first is set, or the next turn would
    // ask again.
    if !view.turn().held & !view.take_background_pending() {
        return TurnDecision::Nothing;
    }
    let record = |kind, report: &str| {
        let by = "the question at the end of a turn";
        match origin.interceptors.log_decision(kind, by, origin.session.clone(), report) {
            Ok(()) => {
                let failures = env.mounts.push_all().into_iter();
                failures.map(|why| format!("not saved to the store: {why}")).collect()
            }
            Err(e) => vec![format!("this is not recorded in the audit log: {e}")],
        }
    };
    let place = ApplyQuestionPlace::Conversation;
    let context = ApplyQuestionContext { workspace: &env.workspace, mode: &env.mode, place, record: &record };
    ask_about_pending(context, events).await
}

/// The apply question: what is asked about the pending changes of a view, and what an answer does.
struct ApplyQuestionFlow<'a> {
    context: ApplyQuestionContext<'a>,
    events: &'a TurnEvents,
    view: View,
}

impl<'a> ApplyQuestionFlow<'a> {
    /// `None` where no view holds changes back.
    fn new(context: ApplyQuestionContext<'a>, events: &'a TurnEvents) -> Option<ApplyQuestionFlow<'a>> {
        let view = context.workspace.view()?.clone();
        Some(ApplyQuestionFlow { context, events, view })
    }

    async fn ask(&self) -> TurnDecision {
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
        // The answer counts only for the changes that were shown: a background command may have ended while the
        // question was open. The lock prevents commands from adding changes until the answer takes effect.
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
                self.name_pending(&set);
                Some(TurnDecision::Kept)
            }
        }
    }

    /// Discards what is chosen: `what` names it, `failed` begins the sentence of an error.
    fn discard(&self, chosen: &ChangeSelection, what: &str, failed: &str) -> String {
        let back = match self.view.set_aside(chosen) {
            Ok(DiscardBackup::Kept) => format!("{} restores it", self.context.place.undo()),
            Ok(DiscardBackup::TooLarge) => "too large for undo".into(),
            Err(e) => return format!("{failed}: {e}"),
        };
        let report = format!("discarded: {what}; {back}");
        let remarks = (self.context.record)(AuditKind::Discard, &report);
        remarks.into_iter().fold(report, |report, remark| format!("{report}; {remark}"))
    }

    /// Says that `set` is pending. A subcommand does that itself, when it ends.
    fn name_pending(&self, set: &ChangeSet) {
        if let ApplyQuestionPlace::Conversation = self.context.place {
            self.events.notice(pending_words(set, &self.view.classify(set)));
        }
    }

    /// The label of the journal entry for the changes that are applied.
    fn label(&self) -> TransactionLabel {
        match &self.context.place {
            ApplyQuestionPlace::CommandLine(label) => (**label).clone(),
            ApplyQuestionPlace::Conversation => {
                let label = self.view.turn().label.clone();
                TransactionLabel { assent: ApprovedBy::you("the question"), ..label }
            }
        }
    }

    /// The paths that are asked about one by one: in unrestricted mode none.
    fn waiting(&self, set: &ChangeSet, classes: &ChangeClasses) -> Vec<PathBuf> {
        match self.context.mode.load() {
            Mode::Unrestricted => Vec::new(),
            _ => classes.to_approve(set).into_iter().map(|(path, _)| path.to_path_buf()).collect(),
        }
    }

    fn approval_of_mode(&self, set: &ChangeSet, classes: &ChangeClasses) -> ChangeApproval {
        match self.context.mode.load() {
            Mode::Unrestricted => set
                .changes
                .iter()
                .filter(|c| classes.runner(&c.path).is_some())
                .fold(ChangeApproval::none(), ChangeApproval::shown),
            _ => ChangeApproval::none(),
        }
    }

    /// The agent gets the reason of a no, where there is one.
    fn takes_reason(&self) -> bool {
        matches!(self.context.place, ApplyQuestionPlace::Conversation)
    }

    fn ask_about_all(
        &self,
        set: &ChangeSet,
        classes: &ChangeClasses,
        waiting: usize,
    ) -> oneshot::Receiver<char> {
        let (view, workspace) = (&self.view, self.context.workspace);
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
                takes_reason: self.takes_reason(),
                reply,
            })
        })
    }
}

/// The pending changes differ from those that were shown.
const UPDATED: &str = "pending changes were updated in the meantime; showing them again";
