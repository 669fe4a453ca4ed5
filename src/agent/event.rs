//! What a face hears of a turn: the screen, the pipe and the JSON stream all live on these.

use super::turn::ending::TurnEnding;
use crate::conversation::{CallId, CallOutcome, TokenUsage};
use crate::permission::{Grant, Mode};
use crate::provider::ProviderError;
use crate::provider::catalog::Money;
use crate::tools::{CallPreview, CallSummary, DisplayDetail, TodoItem, UserReply};
use crate::workspace::ChangeSet;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

#[derive(Debug)]
pub enum TurnEvent {
    /// A request goes out; the model's answer comes next.
    Requested,
    Text(String),
    Thinking(String),
    /// The model is writing a call; its arguments are still arriving.
    CallComing {
        id: CallId,
        name: String,
    },
    CallArguments {
        bytes: usize,
    },
    /// The call is understood: `title` names its object.
    CallPlanned {
        id: CallId,
        name: String,
        title: String,
    },
    CallRunning {
        id: CallId,
    },
    /// Output of a running command; for the screen only.
    CallOutput {
        id: CallId,
        text: String,
    },
    /// The line of a running command that has no end yet; the next output replaces it.
    CallLine {
        id: CallId,
        text: String,
    },
    CallEnded {
        id: CallId,
        name: String,
        outcome: CallOutcome,
        summary: CallSummary,
    },
    Question(ApprovalRequest),
    LoopQuestion(LoopQuestion),
    Choice(ChoiceQuestion),
    Enquiry(UserPrompt),
    /// The model's list of steps is this now.
    Todos(Vec<TodoItem>),
    Retrying {
        attempt: u32,
        of: u32,
        wait: Duration,
        error: ProviderError,
    },
    Silent {
        since: Duration,
    },
    /// Tokens so far in this session, and how full the window is.
    Usage {
        total: TokenUsage,
        prompt: u64,
        window: u64,
        /// What the session cost, where any price is known.
        cost: Option<Money>,
    },
    /// What the person wrote meanwhile goes to the model with the next request.
    Steered(String),
    /// One sentence for the person.
    Notice(String),
    /// This mode refused a call, or discarded what a command changed: another mode would allow it.
    LimitedByMode(Mode),
    Ended(TurnEnding),
}

/// Where a turn reports to. A front end that has gone away is no reason to stop: the turn is still saved.
#[derive(Clone)]
pub(super) struct TurnEvents(UnboundedSender<TurnEvent>);

impl TurnEvents {
    pub(super) fn new(sender: UnboundedSender<TurnEvent>) -> TurnEvents {
        TurnEvents(sender)
    }

    pub(super) fn send(&self, event: TurnEvent) {
        drop(self.0.send(event));
    }

    pub(super) fn notice(&self, words: impl Into<String>) {
        self.send(TurnEvent::Notice(words.into()));
    }

    /// Sends the question that `question` makes of its reply channel. Where the question is dropped there is no answer.
    pub(super) fn ask<A>(
        &self,
        question: impl FnOnce(oneshot::Sender<A>) -> TurnEvent,
    ) -> oneshot::Receiver<A> {
        let (reply, answer) = oneshot::channel();
        self.send(question(reply));
        answer
    }
}

/// A call that needs a person. Dropping it is a no.
#[derive(Debug)]
pub struct ApprovalRequest {
    pub id: CallId,
    pub tool: String,
    pub reason: String,
    pub preview: CallPreview,
    /// What "always" would allow; absent where every call must be asked about again.
    pub always: Option<Grant>,
    /// What "always for commands of this kind" would allow.
    pub pattern: Option<Grant>,
    /// The word that must be typed to say yes, where a key is not enough.
    pub typed: Option<String>,
    /// How each part of the call was judged, in lines.
    pub why: String,
    /// The flag that would have permitted it without asking.
    pub flag: Option<String>,
    /// The words of a no reach the model.
    pub takes_reason: bool,
    pub reply: oneshot::Sender<ApprovalReply>,
}

impl ApprovalRequest {
    /// One that only a yes or a no answers.
    pub(super) fn once(
        (id, tool): (CallId, &str),
        reason: String,
        preview: CallPreview,
        reply: oneshot::Sender<ApprovalReply>,
    ) -> ApprovalRequest {
        let (always, pattern, typed, flag, why, takes_reason) = Default::default();
        let tool = tool.into();
        ApprovalRequest { id, tool, reason, preview, always, pattern, typed, why, flag, takes_reason, reply }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalReply {
    Yes,
    Always,
    /// Yes, and to all commands of this kind.
    Pattern,
    /// No, with a word to the model if there is one.
    No(String),
    /// No, and not again in this session.
    Never,
    /// No, and stop the turn.
    Cancel,
    /// There is no person here: the call is refused, and the flag that permits it is named.
    Nobody,
}

/// A question with answers of its own. Dropping it answers nothing: the asker takes the harmless way.
#[derive(Debug)]
pub struct ChoiceQuestion {
    pub subject: ChoiceSubject,
    pub title: String,
    pub reason: String,
    pub detail: DisplayDetail,
    pub choices: Vec<QuestionChoice>,
    /// Words of the person in place of a choice are the next message to the agent.
    pub takes_reason: bool,
    /// Gets the key of what was chosen.
    pub reply: oneshot::Sender<char>,
}

/// What a question is about, for a face that does not read its sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceSubject {
    /// Whether more may be spent.
    Budget,
    /// What a hook wants to have asked.
    Hook,
    /// Everything that is pending.
    Pending(Box<ChangeSet>),
    /// The change at one path, which a program runs or obeys later, in what is pending.
    Protected { path: PathBuf, set: Box<ChangeSet> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionChoice {
    pub key: char,
    pub words: String,
    /// It does something: all of the question must have been seen, or the key is pressed twice.
    pub consents: bool,
    /// There is no way back from it: the key is pressed twice in any case.
    pub twice: bool,
}

impl QuestionChoice {
    pub fn plain(key: char, words: &str) -> QuestionChoice {
        QuestionChoice { key, words: words.into(), consents: false, twice: false }
    }

    pub fn consent(key: char, words: &str) -> QuestionChoice {
        QuestionChoice { key, words: words.into(), consents: true, twice: false }
    }

    /// What cannot be undone.
    pub fn for_good(key: char, words: &str) -> QuestionChoice {
        QuestionChoice { key, words: words.into(), consents: true, twice: true }
    }
}

/// A question of the model's own. Dropping it says that nobody is here.
#[derive(Debug)]
pub struct UserPrompt {
    pub question: String,
    /// At most nine; other words are an answer too.
    pub choices: Vec<String>,
    pub reply: oneshot::Sender<UserReply>,
}

#[derive(Debug)]
pub struct LoopQuestion {
    pub tool: String,
    pub times: u32,
    /// Tokens of this turn so far.
    pub spent: TokenUsage,
    pub reply: oneshot::Sender<bool>,
}
