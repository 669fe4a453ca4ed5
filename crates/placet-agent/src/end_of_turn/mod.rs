//! The end of a turn: placet shows the pending changes, and the person decides what to do with them.

mod applied;
mod apply;
mod checks;
mod commit_parts;
mod protected;
mod reviewed;
mod words;

use super::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, ReasonReader, TurnEvent, TurnEvents};
use super::services::SharedServices;
use placet_permission::{Mode, ModeCell};
use placet_session::audit::AuditKind;
use placet_text::text::visible;
use placet_tools::{DisplayDetail, ToolContext};
use placet_workspace::{
    ApprovedBy, ChangeApproval, ChangeDecision, LargeLoss, LayerKind, ListedChange, PassedCheck,
    ShownChanges, TransactionLabel, View, Workspace,
};
pub use protected::{ProtectedAnswer, ask_about_losses, ask_about_path};
pub use reviewed::{FindReviewed, ReviewedDecision, never_reviewed};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
pub use words::{NOTHING_APPLIED, PENDING_COMMANDS, applied_overview, overview, pending_words};
use words::{apply_words, conflicts, headline, named_pending_words, reason, still_pending_words};

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
    /// What a review of the same changes decided.
    pub reviewed: FindReviewed,
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
    reviewed: FindReviewed,
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
    let (workspace, mode, env) = (&env.workspace, &env.mode, Some(env));
    let context =
        ApplyQuestionContext { workspace, home: None, mode, env, place, reviewed, stop, record: &record };
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
    fn shown(&self) -> Result<ShownChanges, TurnDecision> {
        self.view.shown().map_err(|e| {
            self.events.notice(format!("cannot read the pending changes: {e}"));
            TurnDecision::Nothing
        })
    }

    /// Asks once about everything that is pending. `None` when it is to be asked again, because that has changed.
    async fn ask_once(&self) -> Option<TurnDecision> {
        let held_some = self.view.has_changes(LayerKind::Pending).unwrap_or(false);
        let here = match self.shown() {
            Ok(here) => here,
            Err(decision) => return Some(decision),
        };
        let at_home = match self.home.as_deref().map(|home| Ok((home, home.shown()?))).transpose() {
            Ok(at_home) => at_home.filter(|(_, shown)| !shown.is_empty()),
            Err(decision) => return Some(decision),
        };
        match &at_home {
            Some((home, _)) if here.is_empty() => {
                return Box::pin(home.ask_once()).await.map(at_home_too);
            }
            None if here.is_empty() => {
                // It stays in the turn: without a person it is the reason of the exit code.
                self.view.turn().unread.clone().into_iter().for_each(|words| self.events.notice(words));
                // The calls called it pending.
                if held_some {
                    self.events.notice("nothing is pending: the repository is as it was");
                }
                return Some(TurnDecision::Nothing);
            }
            _ => {}
        }
        let reviewed = (self.context.reviewed)(self.context.workspace, &here);
        if reviewed.is_none() && at_home.is_none() && self.unasked(&here).is_empty() {
            self.name_pending(&here);
            return Some(TurnDecision::Kept);
        }
        let waiting = self.waiting(&here).len();
        let waiting_at_home = at_home.as_ref().map_or(0, |(home, shown)| home.waiting(shown).len());
        // The question about all of them is not asked where its yes would apply nothing.
        if reviewed.is_none()
            && !self.applies_some(&here)
            && at_home.as_ref().is_none_or(|(home, shown)| !home.applies_some(shown))
        {
            let decision = self.approve_protected(TurnDecision::Kept).await;
            return Some(self.approve_at_home(decision).await);
        }
        let asked = self.ask_about_all(&here, at_home.as_ref(), waiting + waiting_at_home, reviewed.as_ref());
        let mut answer = asked.await.unwrap_or('k');
        let losses_at_home = match &at_home {
            Some((home, shown)) if answer == 'a' => home.confirm_losses(shown).await,
            _ => true,
        };
        if answer == 'a' && (!losses_at_home || !self.confirm_losses(&here).await) {
            answer = 'k';
        }
        match answer {
            'a' => {
                // The mode may have changed: rows that it left out need not have been seen.
                if waiting != self.waiting(&here).len()
                    || at_home
                        .as_ref()
                        .is_some_and(|(home, shown)| waiting_at_home != home.waiting(shown).len())
                {
                    self.events.notice("the mode changed; showing the changes again");
                    return None;
                }
                let checks = match self.passed_checks(&here, reviewed.as_ref()).await {
                    Ok(checks) => checks,
                    Err(why) => {
                        self.events.notice(why.to_string());
                        // A front end that does not show the checks could answer the same for ever.
                        return (!self.asks_again()).then_some(TurnDecision::Kept);
                    }
                };
                // Without an answer the changes moved: that is another question.
                let decision = self.apply_all(here, checks, reviewed).await?;
                if let Some((home, shown)) = at_home {
                    home.apply_all(shown, Vec::new(), None).await?;
                }
                let decision = self.approve_protected(decision).await;
                Some(self.approve_at_home(decision).await)
            }
            'r' => Some(TurnDecision::Review),
            's' => Some(TurnDecision::SendBack),
            'd' => {
                let decision = self.discard_all(here).await?;
                match at_home {
                    Some((home, shown)) => home.discard_all(shown).await,
                    None => Some(decision),
                }
            }
            _ => {
                self.name_pending(&here);
                Some(TurnDecision::Kept)
            }
        }
    }

    /// Applies everything except files that run later and were not approved, and does what a review decided.
    async fn apply_all(
        &self,
        shown: ShownChanges,
        checks: Vec<PassedCheck>,
        reviewed: Option<ReviewedDecision>,
    ) -> Option<TurnDecision> {
        let label = TransactionLabel { checks, ..self.label() };
        let decision = ChangeDecision { label, ..self.decision_of_yes(&shown, reviewed.as_ref()) };
        self.decide(shown, decision, reviewed).await
    }

    /// What a yes to everything decides.
    fn decision_of_yes(&self, shown: &ShownChanges, reviewed: Option<&ReviewedDecision>) -> ChangeDecision {
        let everything = ChangeDecision {
            apply: View::everything(shown.set()),
            approval: self.approval_of_yes(shown),
            ..ChangeDecision::default()
        };
        match reviewed {
            Some(reviewed) => everything.with_review(&reviewed.decision),
            None => everything,
        }
    }

    /// Whether a yes to everything applies a part of it: the rest waits for answers of its own.
    fn applies_some(&self, shown: &ShownChanges) -> bool {
        let ChangeDecision { apply, approval, .. } = self.decision_of_yes(shown, None);
        !shown.permitted(apply, &approval).choice.is_empty()
    }

    async fn discard_all(&self, shown: ShownChanges) -> Option<TurnDecision> {
        let discard = View::everything(shown.set());
        self.decide(shown, ChangeDecision { discard, ..ChangeDecision::default() }, None).await
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

    /// Says what is pending. A subcommand does that itself, when it ends.
    fn name_pending(&self, shown: &ShownChanges) {
        match self.context.place {
            ApplyQuestionPlace::Conversation | ApplyQuestionPlace::ShellCommand(_) => {
                let names =
                    self.waiting(shown).into_iter().map(|path| self.context.workspace.shortened(&path));
                let names: Vec<PathBuf> = names.collect();
                self.events.notice(named_pending_words(shown.count(), &names));
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
    fn waiting(&self, shown: &ShownChanges) -> Vec<PathBuf> {
        let paths =
            || shown.classes().to_approve(shown.set()).into_iter().map(|(path, _)| path.to_path_buf());
        match self.context.mode.load() {
            Mode::Unrestricted => Vec::new(),
            _ => paths().collect(),
        }
    }

    /// True where what the person was asked about before is not asked again. A command of the person's asks again.
    fn asks_once(&self) -> bool {
        matches!(self.context.place, ApplyQuestionPlace::Conversation)
    }

    /// What waits, without what the person was asked about before.
    fn unasked(&self, shown: &ShownChanges) -> ShownChanges {
        if self.asks_once() && self.context.mode.load() != Mode::Unrestricted {
            shown.unasked()
        } else {
            shown.clone()
        }
    }

    /// The large losses that are confirmed by a yes to everything.
    fn losses_to_ask(&self, shown: &ShownChanges) -> Vec<LargeLoss> {
        self.unasked(shown).classes().losses.clone()
    }

    /// What the person was asked about before, and left pending.
    fn still_pending(&self, shown: &ShownChanges) -> Option<String> {
        let fresh = self.unasked(shown);
        (fresh.set().len() != shown.set().len()).then(|| {
            let asked = shown.asked_paths();
            still_pending_words(&asked, &shown.losses_by_asked().0, self.context.workspace)
        })
    }

    /// What a yes to everything approves: the losses that were confirmed, and what the mode approves.
    fn approval_of_yes(&self, shown: &ShownChanges) -> ChangeApproval {
        let (set, classes) = (shown.set(), shown.classes());
        let of_mode = match self.context.mode.load() {
            Mode::Unrestricted => {
                let files = set.changes.iter().filter(|c| classes.runner(&c.path).is_some());
                let approval = files.fold(ChangeApproval::none(), ChangeApproval::shown);
                classes.waiting_repositories().fold(approval, ChangeApproval::shown_repository)
            }
            _ => ChangeApproval::none(),
        };
        of_mode.seen(&self.losses_to_ask(shown))
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
        here: &ShownChanges,
        at_home: Option<&(&ApplyQuestionFlow<'a>, ShownChanges)>,
        waiting: usize,
        reviewed: Option<&ReviewedDecision>,
    ) -> oneshot::Receiver<char> {
        let fresh = self.unasked(here);
        let mut shown = overview(&fresh, self.context.workspace);
        let mut parts = vec![(&fresh, self.context.workspace)];
        if let Some((home, at_home)) = at_home {
            shown.append(overview(at_home, home.context.workspace));
            parts.push((at_home, home.context.workspace));
        }
        if waiting == 0 {
            // The mode approves them.
            shown.list.iter_mut().for_each(|row| row.is_left_out = false);
        }
        if let Some(reviewed) = reviewed {
            reviewed.mark(&mut shown.list);
        }
        let is_blocked = match reviewed {
            Some(reviewed) => reviewed.has_open_conflict || shown.list.iter().any(ListedChange::is_blocked),
            None => conflicts(&shown.list) > 0,
        };
        let reason = match reviewed.filter(|_| !is_blocked) {
            Some(reviewed) => reviewed.words.clone(),
            None => reason(&self.view, &shown.list),
        };
        let still = self.still_pending(here);
        let reason = still.map_or(reason.clone(), |still| format!("{reason}; {still}"));
        let marked = waiting - (self.waiting(here).len() - self.waiting(&fresh).len());
        let yes =
            if reviewed.is_some() { "apply as reviewed".into() } else { apply_words(marked, &shown.list) };
        let title = headline(&parts);
        self.events.ask(|reply| {
            TurnEvent::Choice(ChoiceQuestion {
                subject: ChoiceSubject::Pending(here.clone()),
                title,
                reason,
                choices: [
                    // It could apply nothing before the person has chosen.
                    (!is_blocked).then(|| QuestionChoice::consent('a', &yes)),
                    Some(QuestionChoice::plain('r', "review")),
                    self.send_back(),
                    Some(QuestionChoice::plain('k', "keep pending")),
                    Some(QuestionChoice::for_good('d', "discard")),
                ]
                .into_iter()
                .flatten()
                .collect(),
                detail: DisplayDetail::Changes(Box::new(shown)),
                checks: self.checks_of(here, reviewed),
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
