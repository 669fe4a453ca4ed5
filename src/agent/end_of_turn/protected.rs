//! What is approved by itself at the end of a turn: large losses and paths that run later.

use super::super::event::{
    ApprovalReply, ApprovalRequest, ChoiceQuestion, ChoiceSubject, QuestionChoice, TurnEvent,
};
use super::TurnDecision;
use super::words::{counted, losses, overview};
use crate::agent::agent::Agent;
use crate::audit::AuditKind;
use crate::conversation::CallId;
use crate::text::{sanitize, visible};
use crate::tools::{CallPreview, DisplayDetail};
use crate::workspace::{
    ChangeApproval, ChangeClasses, ChangeSelection, ChangeSet, DiscardBackup, FileChange, LayerKind,
    SelectedPart, View, Workspace,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

impl Agent {
    /// What is taken away on a large scale needs its name typed, as a destroyer does.
    pub(super) async fn confirm_losses(
        &self,
        classes: &ChangeClasses,
        workspace: &Workspace,
        events: &UnboundedSender<TurnEvent>,
    ) -> bool {
        let Some(loss) = classes.losses.first() else { return true };
        let all = losses(classes, workspace);
        let word = loss.word(&|path: &Path| workspace.shortened(path));
        let (reply, answer) = oneshot::channel();
        drop(events.send(TurnEvent::Question(ApprovalRequest {
            id: CallId::new("apply"),
            tool: "apply".into(),
            reason: all.join("; "),
            preview: CallPreview { line: "apply all".into(), detail: DisplayDetail::Text(all.join("\n")) },
            always: None,
            pattern: None,
            typed: Some(word),
            why: String::new(),
            flag: None,
            reply,
        })));
        matches!(answer.await, Ok(ApprovalReply::Yes))
    }

    /// Asks about each path that runs later, by itself and with another key than the rest.
    pub(super) async fn approve_protected(
        &self,
        view: &View,
        workspace: &Workspace,
        mut settled: TurnDecision,
        events: &UnboundedSender<TurnEvent>,
    ) -> TurnDecision {
        let mut asked: BTreeSet<PathBuf> = BTreeSet::new();
        loop {
            let Ok(set) = view.changes(LayerKind::Pending) else { return settled };
            let classes = view.classify(&set);
            let Some(path) = self.waiting(&set, &classes).into_iter().find(|path| !asked.contains(path))
            else {
                break;
            };
            let Some(change) = set.get(&path) else { break };
            let (reply, answer) = oneshot::channel();
            drop(events.send(TurnEvent::Choice(about_one(&set, &classes, change, (view, workspace), reply))));
            let answer = answer.await.unwrap_or('k');
            let _still = view.lock_commands().await;
            let now = view.changes(LayerKind::Pending).ok();
            if now.and_then(|now| now.get(&path).cloned()).as_ref() != Some(change) {
                let words = "pending changes were updated in the meantime; showing them again";
                drop(events.send(TurnEvent::Notice(words.into())));
                // Not added to `asked`: the person is asked again about the new content.
                continue;
            }
            asked.insert(path.clone());
            let only: ChangeSelection =
                set.below(&path).into_iter().map(|path| (path, SelectedPart::Whole)).collect();
            match answer {
                'y' => {
                    // All that goes with a directory was shown with it.
                    let approval = ChangeApproval::none().shown(change);
                    let losses = classes.unapproved_losses(&set, &only, &approval);
                    let approval = approval.seen(&losses);
                    if let Some(TurnDecision::Applied) =
                        self.apply_chosen(&set, only, &approval, (view, workspace), events).await
                    {
                        settled = TurnDecision::Applied;
                    }
                }
                'd' => {
                    let name = visible::path(&workspace.shortened(&path));
                    drop(events.send(TurnEvent::Notice(self.discard_one(view, &only, &name))));
                    if settled == TurnDecision::Kept {
                        settled = TurnDecision::Discarded;
                    }
                }
                'r' => return TurnDecision::Review,
                'n' => {}
                _ => break,
            }
        }
        if let Ok(set) = view.changes(LayerKind::Pending)
            && !set.is_empty()
        {
            let said = format!("{} pending: /changes, /apply, /discard", counted(&set, &view.classify(&set)));
            drop(events.send(TurnEvent::Notice(said)));
        }
        settled
    }

    fn discard_one(&self, view: &View, only: &ChangeSelection, name: &str) -> String {
        let back = match view.set_aside(only) {
            Ok(DiscardBackup::Kept) => "/undo restores it",
            Ok(DiscardBackup::TooLarge) => "too large for undo",
            Err(e) => return format!("could not be discarded: {e}"),
        };
        self.log_outcome(AuditKind::Discard, format!("discarded: {name}; {back}"))
    }
}

/// The question about one path that runs later.
fn about_one(
    set: &ChangeSet,
    classes: &ChangeClasses,
    change: &FileChange,
    (view, workspace): (&View, &Workspace),
    reply: oneshot::Sender<char>,
) -> ChoiceQuestion {
    let name = visible::path(&workspace.shortened(&change.path));
    let why = classes.runner(&change.path).map(|r| sanitize::line(&r.why).into_owned()).unwrap_or_default();
    let part = set.part(|c| c.path.starts_with(&change.path));
    ChoiceQuestion {
        subject: ChoiceSubject::Protected { path: change.path.clone(), set: Box::new(set.clone()) },
        title: format!("! {name} ({}): apply this file?", change.verb().word()),
        reason: why,
        detail: DisplayDetail::Changes(Box::new(overview(&part, view, workspace))),
        choices: vec![
            QuestionChoice::consent('y', "yes, apply this file"),
            QuestionChoice::plain('n', "no, keep it pending"),
            QuestionChoice::plain('r', "review"),
            QuestionChoice::plain('k', "keep the rest pending"),
            QuestionChoice::for_good('d', "discard it"),
        ],
        reply,
    }
}
