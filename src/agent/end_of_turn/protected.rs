//! What is approved by itself at the end of a turn: large losses and paths that run later.

use super::words::{losses, overview};
use super::{ApplyQuestionFlow, TurnDecision, UPDATED};
use crate::agent::event::{
    ApprovalReply, ApprovalRequest, ChoiceQuestion, ChoiceSubject, QuestionChoice, TurnEvent,
};
use crate::conversation::CallId;
use crate::text::{sanitize, visible};
use crate::tools::{CallPreview, DisplayDetail};
use crate::workspace::{
    ChangeApproval, ChangeClasses, ChangeSelection, ChangeSet, FileChange, LayerKind, SelectedPart,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;

impl ApplyQuestionFlow<'_> {
    /// What is taken away on a large scale needs its name typed, as a destroyer does.
    pub(super) async fn confirm_losses(&self, classes: &ChangeClasses) -> bool {
        let Some(loss) = classes.losses.first() else { return true };
        let all = losses(classes, self.context.workspace);
        let word = loss.word(&|path: &Path| self.context.workspace.shortened(path));
        let answer = self.events.ask(|reply| {
            let detail = DisplayDetail::Text(all.join("\n"));
            let preview = CallPreview { line: "apply all".into(), detail };
            let asked = (CallId::new("apply"), "apply");
            let request = ApprovalRequest::once(asked, all.join("; "), preview, reply);
            TurnEvent::Question(ApprovalRequest { typed: Some(word), ..request })
        });
        matches!(answer.await, Ok(ApprovalReply::Yes))
    }

    /// Asks about each path that runs later, by itself and with another key than the rest.
    pub(super) async fn approve_protected(&self, mut decision: TurnDecision) -> TurnDecision {
        let view = &self.view;
        let mut asked: BTreeSet<PathBuf> = BTreeSet::new();
        loop {
            let Ok(set) = view.changes(LayerKind::Pending) else { return decision };
            let classes = view.classify(&set);
            let waiting = self.waiting(&set, &classes);
            let Some(path) = waiting.into_iter().find(|path| !asked.contains(path)) else { break };
            let Some(change) = set.get(&path) else { break };
            let answer = self.ask_about_one(&set, &classes, change).await.unwrap_or('k');
            let _commands = view.lock_commands().await;
            let now = view.changes(LayerKind::Pending).ok();
            if now.and_then(|now| now.get(&path).cloned()).as_ref() != Some(change) {
                self.events.notice(UPDATED);
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
                    if let Some(TurnDecision::Applied) = self.apply_chosen(&set, only, &approval).await {
                        decision = TurnDecision::Applied;
                    }
                }
                'd' => {
                    let name = visible::path(&self.context.workspace.shortened(&path));
                    self.events.notice(self.discard(&only, &name, "could not be discarded"));
                    if decision == TurnDecision::Kept {
                        decision = TurnDecision::Discarded;
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
            self.name_pending(&set);
        }
        decision
    }

    fn ask_about_one(
        &self,
        set: &ChangeSet,
        classes: &ChangeClasses,
        change: &FileChange,
    ) -> oneshot::Receiver<char> {
        let (view, workspace) = (&self.view, self.context.workspace);
        let name = visible::path(&workspace.shortened(&change.path));
        let why =
            classes.runner(&change.path).map(|r| sanitize::line(&r.why).into_owned()).unwrap_or_default();
        let part = set.part(|c| c.path.starts_with(&change.path));
        self.events.ask(|reply| {
            TurnEvent::Choice(ChoiceQuestion {
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
                takes_reason: self.takes_reason(),
                reply,
            })
        })
    }
}
