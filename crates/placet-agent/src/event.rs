//! The events of a turn for user interfaces: the screen, the pipe and the JSON stream all use them.

use super::turn::ending::TurnEnding;
use placet_permission::{Grant, Mode};
use placet_provider::ProviderError;
use placet_provider::catalog::Money;
use placet_text::conversation::{CallId, CallOutcome, TokenUsage};
use placet_tools::{
    CallPreview, CallSummary, ChangeOverview, CheckBoard, DisplayDetail, TodoItem, UserReply,
};
use placet_workspace::{ApplyPhase, ShownChanges};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

#[derive(Debug)]
pub enum TurnEvent {
    /// A request is sent; the model's answer comes next.
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
    /// The call was parsed: `title` names its object.
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
    /// The present list of the model's steps.
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
    /// Tokens until now in this session, and how full the window is: `window` is without what is reserved for the answer.
    Usage {
        total: TokenUsage,
        prompt: u64,
        window: u64,
        /// The cost of the session, if any price is known.
        cost: Option<Money>,
    },
    /// A line that the person wrote meanwhile, sent to the model with the next request.
    Steered(String),
    /// How far an apply is that takes longer: files of `all` are done; 0 where the number is not known.
    Applying {
        phase: ApplyPhase,
        done: usize,
        all: usize,
    },
    /// One sentence for the person.
    Notice(String),
    /// What an apply changed, after the sentences about it; for the screen only.
    Applied(Box<AppliedOverview>),
    /// This mode refused a call, or discarded what a command changed: another mode would allow it.
    LimitedByMode(Mode),
    Ended(TurnEnding),
}

/// What an apply changed, for a person who has just said yes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppliedOverview {
    /// `None` where it is too much for a list.
    pub changes: Option<Box<ChangeOverview>>,
    /// The command that shows all of it.
    pub shown_by: String,
}

/// Where a turn sends its events. A front end that has gone away does not stop the turn: the turn is still saved.
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

    /// Sends the question that `question` makes of its reply channel. A dropped question has no answer.
    pub(super) fn ask<A>(
        &self,
        question: impl FnOnce(oneshot::Sender<A>) -> TurnEvent,
    ) -> oneshot::Receiver<A> {
        let (reply, answer) = oneshot::channel();
        self.send(question(reply));
        answer
    }
}

/// A call that needs a person's answer. Dropping it counts as a no.
#[derive(Debug)]
pub struct ApprovalRequest {
    pub id: CallId,
    pub tool: String,
    pub reason: String,
    pub preview: CallPreview,
    /// What "always" would allow; absent if every call must be asked about again.
    pub always: Option<Grant>,
    /// What "always for commands of this kind" would allow.
    pub pattern: Option<Grant>,
    /// The word that the person must type to agree, if a key is not enough.
    pub typed: Option<String>,
    /// It destroys data that no undo brings back, or writes a protected file: the answer that is marked at first is no.
    pub needs_care: bool,
    /// How each part of the call was decided, in lines.
    pub why: String,
    /// The flag that would have permitted the call without a question.
    pub flag: Option<String>,
    /// The text of a refusal reaches the model.
    pub takes_reason: bool,
    pub reply: oneshot::Sender<ApprovalReply>,
}

impl ApprovalRequest {
    /// A request that accepts only yes or no.
    pub(super) fn once(
        (id, tool): (CallId, &str),
        reason: String,
        preview: CallPreview,
        reply: oneshot::Sender<ApprovalReply>,
    ) -> ApprovalRequest {
        let (always, pattern, typed, needs_care, flag, why, takes_reason) = Default::default();
        let tool = tool.into();
        ApprovalRequest {
            id,
            tool,
            reason,
            preview,
            always,
            pattern,
            typed,
            needs_care,
            why,
            flag,
            takes_reason,
            reply,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalReply {
    Yes,
    Always,
    /// Yes, also for all commands of this kind.
    Pattern,
    /// No, with a text for the model if there is one.
    No(String),
    /// No, and not again in this session.
    Never,
    /// No, and stop the turn.
    Cancel,
    /// There is no person: the call is refused, and the error names the flag that permits it.
    Nobody,
}

/// A question with answers of its own. Dropping it gives no answer: the asker takes the harmless choice.
#[derive(Debug)]
pub struct ChoiceQuestion {
    pub subject: ChoiceSubject,
    pub title: String,
    pub reason: String,
    pub detail: DisplayDetail,
    pub choices: Vec<QuestionChoice>,
    /// The checks of the changes that are asked about; runs of them end with the question.
    pub checks: Option<Arc<CheckBoard>>,
    pub reasons_for: ReasonReader,
    /// Receives the key of the choice.
    pub reply: oneshot::Sender<char>,
}

/// Who gets text that the person types instead of a choice: why not.
#[derive(Debug)]
pub enum ReasonReader {
    Nobody,
    /// The agent, as its next message.
    Agent,
    /// The server that asks.
    Server(oneshot::Sender<String>),
}

/// The subject of a question, for a user interface that does not read its sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceSubject {
    /// Whether more may be spent.
    Budget,
    /// What a hook demands to ask.
    Hook,
    /// What a server gets of the person or of the model, and what git in a command gets signed.
    Server,
    /// All pending changes.
    Pending(ShownChanges),
    /// The pending change at one path that a program later runs or obeys.
    Protected { path: PathBuf, shown: ShownChanges },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionChoice {
    pub key: char,
    pub words: String,
    /// The choice changes something: the person must have seen the whole question, or is asked once more.
    pub consents: bool,
    /// The choice throws something away: the person is asked once more in any case.
    pub twice: bool,
}

impl QuestionChoice {
    pub fn plain(key: char, words: &str) -> QuestionChoice {
        QuestionChoice { key, words: words.into(), consents: false, twice: false }
    }

    pub fn consent(key: char, words: &str) -> QuestionChoice {
        QuestionChoice { consents: true, ..QuestionChoice::plain(key, words) }
    }

    /// A choice that cannot be undone.
    pub fn for_good(key: char, words: &str) -> QuestionChoice {
        QuestionChoice { twice: true, ..QuestionChoice::consent(key, words) }
    }
}

/// What placet does with a message to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageUse {
    /// The program gets it when it starts again.
    Sent,
    /// It is copied, and the person pastes it.
    Copied,
}

/// Who asks a question that is answered with text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptAsker {
    Model,
    /// placet itself, for a message to a program.
    Placet(MessageUse),
    /// A server whose tool runs; the question names it.
    Server,
}

/// A question that is answered with text. Dropping it means that nobody is here.
#[derive(Debug)]
pub struct UserPrompt {
    pub asker: PromptAsker,
    pub question: String,
    /// At most nine; any other text is an answer too.
    pub choices: Vec<String>,
    pub reply: oneshot::Sender<UserReply>,
}

#[derive(Debug)]
pub struct LoopQuestion {
    /// Empty where the tools differ, and no call worked.
    pub tool: String,
    pub times: u32,
    /// Tokens of this turn until now.
    pub spent: TokenUsage,
    pub reply: oneshot::Sender<bool>,
}
