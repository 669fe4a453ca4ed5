//! What is approved by itself at the end of a turn: large losses and paths that run later.

use super::words::{all_conflicts, blocked_words, losses, overview};
use super::{ApplyQuestionFlow, TurnDecision};
use crate::event::{
    ApprovalReply, ApprovalRequest, ChoiceQuestion, ChoiceSubject, QuestionChoice, ReasonReader, TurnEvent,
    TurnEvents,
};
use placet_text::conversation::CallId;
use placet_text::text::{sanitize, visible};
use placet_tools::{CallPreview, DisplayDetail};
use placet_workspace::{
    ChangeApproval, ChangeDecision, ChangeSelection, LargeLoss, SelectedPart, ShownChanges, Workspace,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc::UnboundedSender;

/// The answer to the question about one path that runs later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtectedAnswer {
    Apply,
    /// The path stays pending.
    Keep,
    /// The path stays pending, and so do those that were not asked about yet.
    KeepRest,
    Discard,
    Review,
    /// The program that made the change gets a message.
    SendBack,
}

/// Asks for the word that approves large losses. True without a question where there is none.
pub async fn ask_about_losses(
    losses: &[LargeLoss],
    workspace: &Workspace,
    events: &UnboundedSender<TurnEvent>,
) -> bool {
    confirmed(losses, workspace, &TurnEvents::new(events.clone())).await
}

/// Asks about one path of [`ChangeClasses::to_approve`], by itself. Without an answer it stays pending.
pub async fn ask_about_path(
    shown: &ShownChanges,
    path: &Path,
    workspace: &Workspace,
    events: &UnboundedSender<TurnEvent>,
) -> ProtectedAnswer {
    let question = ProtectedPathQuestion { workspace, is_of_agent: false, send_back: None, has_more: true };
    question.ask(shown, path, &TurnEvents::new(events.clone())).await
}

/// What is taken away on a large scale needs its name typed, as a destroyer does.
async fn confirmed(all: &[LargeLoss], workspace: &Workspace, events: &TurnEvents) -> bool {
    let Some(loss) = all.first() else { return true };
    let all = losses(all, workspace);
    let word = loss.word(&|path: &Path| workspace.shortened(path));
    let answer = events.ask(|reply| {
        let detail = DisplayDetail::Text(all.join("\n"));
        let preview = CallPreview { line: "apply all".into(), detail };
        let asked = (CallId::new("apply"), "apply");
        let request = ApprovalRequest::once(asked, all.join("; "), preview, reply);
        TurnEvent::Question(ApprovalRequest { typed: Some(word), ..request })
    });
    matches!(answer.await, Ok(ApprovalReply::Yes))
}

/// The question about one path that runs later, or one repository with commits that have such a path.
struct ProtectedPathQuestion<'a> {
    workspace: &'a Workspace,
    /// The agent gets the reason of a no.
    is_of_agent: bool,
    send_back: Option<QuestionChoice>,
    /// Other files wait for this question.
    has_more: bool,
}

impl ProtectedPathQuestion<'_> {
    async fn ask(&self, of: &ShownChanges, path: &Path, events: &TurnEvents) -> ProtectedAnswer {
        let (set, classes) = (of.set(), of.classes());
        let name = visible::path(&self.workspace.shortened(path));
        let why = classes.reason_to_wait(path).map(|r| sanitize::line(&r.why).into_owned());
        let why = why.unwrap_or_default();
        let with = classes.approved_with(set, path);
        let part = of.part(|c| with.contains(&c.path));
        let (what, verb) = match (classes.waiting_repository(path), set.get(path)) {
            (None, Some(change)) => ("file", change.verb().word()),
            _ => ("repository", "changed"),
        };
        let mut shown = overview(&part, self.workspace);
        // It could not be applied before the person has chosen.
        let in_conflict = all_conflicts(&shown.list);
        let reason = match in_conflict {
            0 => {
                // The reason is next to the question.
                shown.list.iter_mut().for_each(|row| row.note = without_reason(&row.note, &why));
                why
            }
            _ => blocked_words(&shown.list),
        };
        let review = || QuestionChoice::plain('r', "review");
        let answer = events.ask(|reply| {
            TurnEvent::Choice(ChoiceQuestion {
                subject: ChoiceSubject::Protected { path: path.to_path_buf(), shown: of.clone() },
                title: format!("! {name} ({verb}): apply this {what}?"),
                reason,
                detail: DisplayDetail::Changes(Box::new(shown)),
                choices: [
                    (in_conflict == 0)
                        .then(|| QuestionChoice::consent('y', &format!("yes, apply this {what}"))),
                    (in_conflict > 0).then(review),
                    Some(QuestionChoice::plain('n', "no, keep it pending")),
                    (in_conflict == 0).then(review),
                    self.send_back.clone(),
                    self.has_more.then(|| QuestionChoice::plain('k', "keep the rest pending")),
                    Some(QuestionChoice::for_good('d', "discard it")),
                ]
                .into_iter()
                .flatten()
                .collect(),
                checks: None,
                reasons_for: if self.is_of_agent { ReasonReader::Agent } else { ReasonReader::Nobody },
                reply,
            })
        });
        match answer.await {
            Ok('y') => ProtectedAnswer::Apply,
            Ok('n') => ProtectedAnswer::Keep,
            Ok('d') => ProtectedAnswer::Discard,
            Ok('r') => ProtectedAnswer::Review,
            Ok('s') => ProtectedAnswer::SendBack,
            _ => ProtectedAnswer::KeepRest,
        }
    }
}

/// The note of a row, in which `(why)` or `(why; SETTINGS)` may be.
fn without_reason(note: &str, why: &str) -> String {
    let rest = note.replacen(&format!("({why}; "), "(", 1);
    rest.replacen(&format!("({why})"), "", 1).trim_end().to_string()
}

impl ApplyQuestionFlow<'_> {
    pub(super) async fn confirm_losses(&self, shown: &ShownChanges) -> bool {
        let losses = self.losses_to_ask(shown);
        let is_confirmed = confirmed(&losses, self.context.workspace, self.events).await;
        if !is_confirmed {
            self.view.note_asked(&ChangeApproval::none().seen(&losses));
        }
        is_confirmed
    }

    /// Asks about each path that runs later, by itself and with another key than the rest.
    pub(super) async fn approve_protected(&self, mut decision: TurnDecision) -> TurnDecision {
        let mut asked: BTreeSet<PathBuf> = BTreeSet::new();
        loop {
            let Ok(shown) = self.view.shown() else { return decision };
            let waiting = self.waiting(&self.unasked(&shown));
            let mut unasked = waiting.into_iter().filter(|path| !asked.contains(path));
            let Some(path) = unasked.next() else { break };
            if self.context.stop.is_cancelled() {
                break;
            }
            let others: Vec<PathBuf> = unasked.collect();
            let has_more = !others.is_empty();
            let is_of_agent = matches!(self.reasons_for(), ReasonReader::Agent);
            let send_back = self.send_back();
            let question =
                ProtectedPathQuestion { workspace: self.context.workspace, is_of_agent, send_back, has_more };
            let answer = question.ask(&shown, &path, self.events).await;
            asked.insert(path.clone());
            let (set, classes) = (shown.set(), shown.classes());
            let kept = match answer {
                ProtectedAnswer::Keep => Some(&[][..]),
                ProtectedAnswer::KeepRest => Some(&*others),
                _ => None,
            };
            for path in kept.into_iter().flat_map(|others| std::iter::once(&path).chain(others)) {
                self.view.note_asked(&classes.approval_of(set, path));
            }
            let with = classes.approved_with(set, &path);
            let only: ChangeSelection = with.into_iter().map(|path| (path, SelectedPart::Whole)).collect();
            let decided = match answer {
                ProtectedAnswer::Apply => {
                    // All that goes with a directory was shown with it.
                    let approval = classes.approval_of(set, &path);
                    ChangeDecision { apply: only, approval, label: self.label(), ..ChangeDecision::default() }
                }
                ProtectedAnswer::Discard => ChangeDecision { discard: only, ..ChangeDecision::default() },
                ProtectedAnswer::Review => return TurnDecision::Review,
                ProtectedAnswer::SendBack => return TurnDecision::SendBack,
                ProtectedAnswer::Keep => continue,
                ProtectedAnswer::KeepRest => break,
            };
            match self.decide(shown, decided, None).await {
                Some(TurnDecision::Applied) => decision = TurnDecision::Applied,
                Some(TurnDecision::Discarded) if decision == TurnDecision::Kept => {
                    decision = TurnDecision::Discarded;
                }
                // It is another change now: the person is asked again.
                None => drop(asked.remove(&path)),
                Some(_) => {}
            }
        }
        if let Ok(shown) = self.view.shown()
            && !shown.is_empty()
        {
            self.name_pending(&shown);
        }
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::without_reason;

    #[test]
    fn a_reason_that_is_next_to_the_question_is_not_in_the_row() {
        assert_eq!(without_reason("(direnv runs it)", "direnv runs it"), "");
        assert_eq!(without_reason("(git runs it; sets a = b)", "git runs it"), "(sets a = b)");
        assert_eq!(without_reason("(by the server x) (git runs it)", "git runs it"), "(by the server x)");
    }
}
