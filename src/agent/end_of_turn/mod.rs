//! The end of a turn: placet shows the pending changes, and the person decides what to do with them.

mod applied;
mod apply;
mod checks;
mod commit_parts;
mod protected;
mod words;

use super::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, ReasonReader, TurnEvent, TurnEvents};
use super::services::SharedServices;
use crate::audit::AuditKind;
use crate::permission::{Mode, ModeCell};
use crate::text::visible;
use crate::tools::{DisplayDetail, ToolContext};
use crate::workspace::{
    ApprovedBy, ChangeApproval, ChangeClasses, ChangeSelection, ChangeSet, DiscardBackup, LayerKind,
    TransactionLabel, View, Workspace,
};
pub use protected::{ProtectedAnswer, ask_about_losses, ask_about_path};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
pub use words::{NOTHING_APPLIED, PENDING_COMMANDS, applied_overview, overview, pending_words};
use words::{apply_words, conflicts, headline, reason};

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
    /// The same of what a program changed in the home directory.
    ReviewAtHome,
    /// It stays pending, and the program that made it is to get a message and to continue. Only where
    /// [`CommandLineQuestion::sends_to`] names a program.
    SendBack,
}

/// Where the apply question is asked.
#[derive(Clone, Debug)]
pub enum ApplyQuestionPlace {
    /// At the end of a turn of a conversation.
    Conversation,
    /// In a conversation, by a command of the person's, about what may be of several turns. The label is for the journal.
    ShellCommand(Box<TransactionLabel>),
    /// By a subcommand, about a command of the person's own.
    CommandLine(Box<CommandLineQuestion>),
}

/// What a subcommand asks about.
#[derive(Clone, Debug)]
pub struct CommandLineQuestion {
    /// For the journal.
    pub label: TransactionLabel,
    /// The program that can get a message about the changes.
    pub sends_to: Option<MessageReceiver>,
}

/// The program that made the changes, and how a message of the person reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageReceiver {
    pub program: String,
    /// The program starts again with the message. Otherwise the person copies it, and passes it on after the start.
    pub resumes: bool,
}

impl ApplyQuestionPlace {
    /// The command that reverts what was applied or discarded.
    fn undo(&self) -> &'static str {
        match self {
            ApplyQuestionPlace::Conversation | ApplyQuestionPlace::ShellCommand(_) => "/undo",
            ApplyQuestionPlace::CommandLine(_) => "placet undo",
        }
    }
}

/// What the apply question needs in addition to the pending changes.
#[derive(Clone)]
pub struct ApplyQuestionContext<'a> {
    pub workspace: &'a Workspace,
    /// The changes that a program left in the home directory: a part of the same question.
    pub home: Option<&'a Workspace>,
    pub mode: &'a ModeCell,
    /// What checks run with; `None` where no check runs.
    pub env: Option<&'a Arc<ToolContext>>,
    pub place: ApplyQuestionPlace,
    /// Cancelled when the person stops: until the first file changes, an apply then ends without a change.
    pub stop: &'a CancellationToken,
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
    stop: &CancellationToken,
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
    let (workspace, mode) = (&env.workspace, &env.mode);
    let context =
        ApplyQuestionContext { workspace, home: None, mode, env: Some(env), place, stop, record: &record };
    ask_about_pending(context, events).await
}

/// The apply question: what is asked about the pending changes of a view, and what an answer does.
struct ApplyQuestionFlow<'a> {
    context: ApplyQuestionContext<'a>,
    events: &'a TurnEvents,
    view: View,
    /// The same for the home directory.
    home: Option<Box<ApplyQuestionFlow<'a>>>,
    /// How often a yes was refused because a required check had not passed, or because of a conflict.
    refused: AtomicU32,
}

/// What is pending in one view.
struct PendingSet {
    set: Arc<ChangeSet>,
    classes: ChangeClasses,
    /// How many paths must be approved by themselves.
    waiting: usize,
}

impl<'a> ApplyQuestionFlow<'a> {
    /// `None` where no view holds changes back.
    fn new(context: ApplyQuestionContext<'a>, events: &'a TurnEvents) -> Option<ApplyQuestionFlow<'a>> {
        let view = context.workspace.view()?.clone();
        let home = context.home.and_then(|workspace| {
            // Checks run on the workspace.
            let context = ApplyQuestionContext { workspace, home: None, env: None, ..context.clone() };
            ApplyQuestionFlow::new(context, events).map(Box::new)
        });
        Some(ApplyQuestionFlow { context, events, view, home, refused: AtomicU32::new(0) })
    }

    async fn ask(&self) -> TurnDecision {
        loop {
            if let Some(decision) = self.ask_once().await {
                return decision;
            }
        }
    }

    /// A yes was refused: whether the question comes again.
    fn asks_again(&self) -> bool {
        self.refused.fetch_add(1, Ordering::Relaxed) < MOST_REFUSED
    }

    /// What is pending; the decision where it cannot be read.
    fn pending(&self) -> Result<PendingSet, TurnDecision> {
        let read = || {
            let set = self.view.changes(LayerKind::Pending)?;
            match self.view.follow_repositories(&set)? {
                true => self.view.changes(LayerKind::Pending),
                false => Ok(set),
            }
        };
        let set = read().map(Arc::new).map_err(|e: std::io::Error| {
            self.events.notice(format!("cannot read the pending changes: {e}"));
            TurnDecision::Nothing
        })?;
        let classes = self.view.classify(&set);
        let waiting = self.waiting(&set, &classes).len();
        Ok(PendingSet { set, classes, waiting })
    }

    /// Asks once about everything that is pending. `None` when it is to be asked again, because that has changed.
    async fn ask_once(&self) -> Option<TurnDecision> {
        let view = &self.view;
        let here = match self.pending() {
            Ok(here) => here,
            Err(decision) => return Some(decision),
        };
        let at_home = match self.home.as_deref().map(|home| Ok((home, home.pending()?))).transpose() {
            Ok(at_home) => at_home.filter(|(_, pending)| !pending.set.is_empty()),
            Err(decision) => return Some(decision),
        };
        let PendingSet { set, classes, waiting } = &here;
        match &at_home {
            Some((home, _)) if set.is_empty() => return Box::pin(home.ask_once()).await.map(at_home_too),
            None if set.is_empty() => {
                // It stays in the turn: without a person it is the reason of the exit code.
                view.turn().unread.clone().into_iter().for_each(|words| self.events.notice(words));
                return Some(TurnDecision::Nothing);
            }
            _ => {}
        }
        // Where every path must be approved by itself, the question about all of them could apply nothing.
        let is_waiting = |pending: &PendingSet| pending.waiting == pending.set.listed(&pending.classes);
        if *waiting == set.listed(classes) && at_home.as_ref().is_none_or(|(_, home)| is_waiting(home)) {
            let decision = self.approve_protected(TurnDecision::Kept).await;
            return Some(self.approve_at_home(decision).await);
        }
        let mut answer = self.ask_about_all(&here, at_home.as_ref()).await.unwrap_or('k');
        let losses_at_home = match &at_home {
            Some((home, pending)) if answer == 'a' => home.confirm_losses(&pending.classes).await,
            _ => true,
        };
        if answer == 'a' && (!losses_at_home || !self.confirm_losses(classes).await) {
            answer = 'k';
        }
        // The answer counts only for the changes that were shown: a background command may have ended while the
        // question was open. The lock prevents commands from adding changes until the answer takes effect.
        let commands = view.lock_commands().await;
        let is_changed =
            |view: &View, set| view.is_unchanged(LayerKind::Pending, set).is_ok_and(|same| !same);
        let moved_at_home = at_home.as_ref().is_some_and(|(home, now)| is_changed(&home.view, &now.set));
        // The mode may have changed: rows that it left out need not have been seen.
        let leaves_out =
            |flow: &Self, now: &PendingSet| flow.waiting(&now.set, &now.classes).len() == now.waiting;
        let same_mode =
            leaves_out(self, &here) && at_home.as_ref().is_none_or(|(home, now)| leaves_out(home, now));
        if answer == 'a' && !same_mode {
            self.events.notice(UPDATED);
            return None;
        }
        if matches!(answer, 'a' | 'd') && (is_changed(view, set) || moved_at_home) {
            self.events.notice(UPDATED);
            return None;
        }
        match answer {
            'a' => {
                let checks = match self.passed_checks(&here).await {
                    Ok(checks) => checks,
                    Err(why) => {
                        self.events.notice(why.to_string());
                        // A front end that does not show the checks could answer the same for ever.
                        return (!self.asks_again()).then_some(TurnDecision::Kept);
                    }
                };
                let approval = self.approval_of_mode(set, classes).seen(&classes.losses);
                // Without an answer they changed meanwhile and were merged: that is another question.
                let decision = self.apply_all(set, &approval, checks).await?;
                // Released first: `approve_protected` takes the same lock.
                drop(commands);
                if let Some((home, PendingSet { set, classes, .. })) = &at_home {
                    let approval = home.approval_of_mode(set, classes).seen(&classes.losses);
                    home.apply_all(set, &approval, Vec::new()).await;
                }
                let decision = self.approve_protected(decision).await;
                Some(self.approve_at_home(decision).await)
            }
            'r' => Some(TurnDecision::Review),
            's' => Some(TurnDecision::SendBack),
            'd' => {
                let discard = |flow: &Self, set: &ChangeSet| {
                    let what = flow.view.count(set).to_string();
                    flow.events.notice(flow.discard(&View::everything(set), &what, "not discarded"));
                };
                discard(self, set);
                at_home.iter().for_each(|(home, pending)| discard(home, &pending.set));
                Some(TurnDecision::Discarded)
            }
            _ => {
                self.name_pending(set);
                Some(TurnDecision::Kept)
            }
        }
    }

    /// Asks about each path of the home directory that runs later, after those of the workspace.
    async fn approve_at_home(&self, decision: TurnDecision) -> TurnDecision {
        match (&self.home, decision) {
            (Some(home), TurnDecision::Applied | TurnDecision::Kept | TurnDecision::Nothing) => {
                at_home_too(home.approve_protected(decision).await)
            }
            _ => decision,
        }
    }

    /// Discards what is chosen: `what` names it, `failed` begins the sentence of an error.
    fn discard(&self, chosen: &ChangeSelection, what: &str, failed: &str) -> String {
        let back = match self.view.set_aside(chosen) {
            Ok(DiscardBackup::Kept) => format!("{} restores them", self.context.place.undo()),
            Ok(DiscardBackup::TooLarge) => "too large for undo".into(),
            Err(e) => return format!("{failed}: {e}"),
        };
        let report = format!("discarded changes to {what}; {back}");
        let remarks = (self.context.record)(AuditKind::Discard, &report);
        remarks.into_iter().fold(report, |report, remark| format!("{report}; {remark}"))
    }

    /// Says that `set` is pending. A subcommand does that itself, when it ends.
    fn name_pending(&self, set: &ChangeSet) {
        match self.context.place {
            ApplyQuestionPlace::Conversation | ApplyQuestionPlace::ShellCommand(_) => {
                self.events.notice(pending_words(self.view.count(set)));
            }
            ApplyQuestionPlace::CommandLine(_) => {}
        }
    }

    /// The label of the journal entry for the changes that are applied.
    fn label(&self) -> TransactionLabel {
        match &self.context.place {
            ApplyQuestionPlace::CommandLine(asked) => asked.label.clone(),
            ApplyQuestionPlace::ShellCommand(label) => (**label).clone(),
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
            Mode::Unrestricted => {
                let files = set.changes.iter().filter(|c| classes.runner(&c.path).is_some());
                let approval = files.fold(ChangeApproval::none(), ChangeApproval::shown);
                classes.waiting_repositories().fold(approval, ChangeApproval::shown_repository)
            }
            _ => ChangeApproval::none(),
        }
    }

    /// The answer that sends a message to the program, where the changes are those of one.
    fn send_back(&self) -> Option<QuestionChoice> {
        let ApplyQuestionPlace::CommandLine(asked) = &self.context.place else { return None };
        let MessageReceiver { program, resumes } = asked.sends_to.as_ref()?;
        let program = visible::name(program);
        let words = match resumes {
            true => format!("send back to {program}"),
            false => format!("copy a message, run {program} again"),
        };
        Some(QuestionChoice::plain('s', &words))
    }

    /// The agent gets the reason of a no, where there is one.
    fn reasons_for(&self) -> ReasonReader {
        match self.context.place {
            ApplyQuestionPlace::Conversation => ReasonReader::Agent,
            _ => ReasonReader::Nobody,
        }
    }

    fn ask_about_all(
        &self,
        here: &PendingSet,
        at_home: Option<&(&ApplyQuestionFlow<'a>, PendingSet)>,
    ) -> oneshot::Receiver<char> {
        let (view, workspace) = (&self.view, self.context.workspace);
        let mut shown = overview(&here.set, view, workspace);
        let mut parts = vec![(&*here.set, &here.classes, view, workspace)];
        let mut waiting = here.waiting;
        if let Some((home, pending)) = at_home {
            shown.append(overview(&pending.set, &home.view, home.context.workspace));
            waiting += pending.waiting;
            parts.push((&pending.set, &pending.classes, &home.view, home.context.workspace));
        }
        if waiting == 0 {
            // The mode approves them.
            shown.list.iter_mut().for_each(|row| row.is_left_out = false);
        }
        let (title, reason) = (headline(&parts), reason(view, &shown.list));
        self.events.ask(|reply| {
            TurnEvent::Choice(ChoiceQuestion {
                subject: ChoiceSubject::Pending(Arc::clone(&here.set)),
                title,
                reason,
                choices: [
                    // It could apply nothing before the person has chosen.
                    (conflicts(&shown.list) == 0)
                        .then(|| QuestionChoice::consent('a', &apply_words(waiting))),
                    Some(QuestionChoice::plain('r', "review")),
                    self.send_back(),
                    Some(QuestionChoice::plain('k', "keep pending")),
                    Some(QuestionChoice::for_good('d', "discard")),
                ]
                .into_iter()
                .flatten()
                .collect(),
                detail: DisplayDetail::Changes(Box::new(shown)),
                checks: self.checks_of(here),
                reasons_for: self.reasons_for(),
                reply,
            })
        })
    }
}

/// What was decided about the home directory.
fn at_home_too(decision: TurnDecision) -> TurnDecision {
    match decision {
        TurnDecision::Review => TurnDecision::ReviewAtHome,
        other => other,
    }
}

/// How often the question comes again after a yes that was refused.
const MOST_REFUSED: u32 = 3;

/// The pending changes differ from those that were shown.
const UPDATED: &str = "pending changes were updated in the meantime; showing them again";
