//! The end of a turn: what is pending is shown, and the person says what becomes of it.

mod apply;
mod protected;
mod words;

use super::agent::Agent;
use super::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, TurnEvent};
use crate::audit::AuditKind;
use crate::permission::Mode;
use crate::tools::DisplayDetail;
use crate::workspace::{ChangeApproval, ChangeClasses, ChangeSet, DiscardBackup, LayerKind, View, Workspace};
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
pub use words::overview;
use words::{apply_words, counted, headline, reason};

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

impl Agent {
    /// Asks what becomes of the changes that this turn left pending. Without an answer they stay pending.
    pub async fn ask_to_apply(&mut self, events: &UnboundedSender<TurnEvent>) -> TurnDecision {
        let workspace = self.env().workspace.clone();
        let Some(view) = workspace.view().cloned() else { return TurnDecision::Nothing };
        // A background command may have ended between two turns: that is asked about as well.
        // `&`, not `&&`: the second flag must be cleared even if the first is set, or the next turn would
        // ask again.
        if !view.turn().held & !view.take_background_pending() {
            return TurnDecision::Nothing;
        }
        loop {
            if let Some(settled) = self.ask_to_apply_once(&view, &workspace, events).await {
                return settled;
            }
        }
    }

    /// Asks once about everything that is pending. `None` when it is to be asked again, because that has changed.
    async fn ask_to_apply_once(
        &self,
        view: &View,
        workspace: &Workspace,
        events: &UnboundedSender<TurnEvent>,
    ) -> Option<TurnDecision> {
        let notice = |words: String| drop(events.send(TurnEvent::Notice(words)));
        let set = match view.changes(LayerKind::Pending) {
            Ok(set) => set,
            Err(e) => {
                notice(format!("cannot read the pending changes: {e}"));
                return Some(TurnDecision::Nothing);
            }
        };
        if set.is_empty() {
            // It stays in the turn: without a person it is the reason of the exit code.
            view.turn().unread.clone().into_iter().for_each(notice);
            return Some(TurnDecision::Nothing);
        }
        let classes = view.classify(&set);
        // Where every path must be approved by itself, the question about all of them could apply nothing.
        let waiting = self.waiting(&set, &classes).len();
        if waiting == set.listed(&classes) {
            return Some(self.approve_protected(view, workspace, TurnDecision::Kept, events).await);
        }
        let (question, answer) = about_all(&set, &classes, waiting, (view, workspace));
        drop(events.send(TurnEvent::Choice(question)));
        let mut answer = answer.await.unwrap_or('k');
        if answer == 'a' && !self.confirm_losses(&classes, workspace, events).await {
            answer = 'k';
        }
        // What was shown is what is decided on: a background command may have ended under the question, and none puts
        // anything there until this is done.
        let still = view.lock_commands().await;
        if matches!(answer, 'a' | 'd') && view.changes(LayerKind::Pending).is_ok_and(|now| now != set) {
            let words = "pending changes were updated in the meantime; showing them again";
            drop(events.send(TurnEvent::Notice(words.into())));
            return None;
        }
        let said = match answer {
            'a' => {
                let approval = self.approval_of_mode(&set, &classes).seen(&classes.losses);
                // Without an answer they changed meanwhile and were merged: that is another question.
                let settled = self.apply_all(&set, &approval, view, workspace, events).await?;
                // Released first: `approve_protected` takes the same lock.
                drop(still);
                return Some(self.approve_protected(view, workspace, settled, events).await);
            }
            'r' => return Some(TurnDecision::Review),
            'd' => self.discard_all(view, &set, &classes),
            _ => format!("{} pending: /changes, /apply, /discard", counted(&set, &classes)),
        };
        drop(events.send(TurnEvent::Notice(said)));
        Some(if answer == 'd' { TurnDecision::Discarded } else { TurnDecision::Kept })
    }

    fn discard_all(&self, view: &View, set: &ChangeSet, classes: &ChangeClasses) -> String {
        let back = match view.set_aside(&View::everything(set)) {
            Ok(DiscardBackup::Kept) => "/undo restores it",
            Ok(DiscardBackup::TooLarge) => "too large for undo",
            Err(e) => return format!("not discarded: {e}"),
        };
        self.log_outcome(AuditKind::Discard, format!("discarded: {}; {back}", counted(set, classes)))
    }

    /// The paths that are asked about one by one: in unrestricted mode none.
    fn waiting(&self, set: &ChangeSet, classes: &ChangeClasses) -> Vec<PathBuf> {
        match self.env().mode.load() {
            Mode::Unrestricted => Vec::new(),
            _ => classes.to_approve(set).into_iter().map(|(path, _)| path.to_path_buf()).collect(),
        }
    }

    fn approval_of_mode(&self, set: &ChangeSet, classes: &ChangeClasses) -> ChangeApproval {
        match self.env().mode.load() {
            Mode::Unrestricted => set
                .changes
                .iter()
                .filter(|c| classes.runner(&c.path).is_some())
                .fold(ChangeApproval::none(), ChangeApproval::shown),
            _ => ChangeApproval::none(),
        }
    }
}

/// The question about everything that is pending.
fn about_all(
    set: &ChangeSet,
    classes: &ChangeClasses,
    waiting: usize,
    (view, workspace): (&View, &Workspace),
) -> (ChoiceQuestion, oneshot::Receiver<char>) {
    let (reply, answer) = oneshot::channel();
    let question = ChoiceQuestion {
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
    };
    (question, answer)
}
