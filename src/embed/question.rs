//! Questions of a turn, and the answers that each takes.
//!
//! Answers are methods that use the question up, so that no question is answered twice or with what it does not offer.

use super::Error;
use super::changes::PendingChanges;
use crate::agent::{ApprovalReply, ApprovalRequest, ChoiceQuestion, ChoiceSubject, LoopQuestion, UserPrompt};
use crate::tools::{DisplayDetail, MatchedText, UserReply};
use crate::workspace::{ListedChange, Workspace};
use std::path::PathBuf;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A question that the turn waits on. Dropping it gives the answer that does nothing.
///
/// Every answer fails with [`Error::NotOpen`] if the turn was cancelled in the meantime.
#[derive(Debug)]
#[non_exhaustive]
pub enum Question {
    /// A call needs permission.
    Permission(PermissionQuestion),
    /// The turn is over: are its changes applied?
    Apply(ApplyQuestion),
    /// Is this change applied, to a file that a program runs or obeys later?
    Protected(ProtectedQuestion),
    /// Does the turn continue?
    Continue(ContinueQuestion),
    /// The model asks something.
    Model(ModelQuestion),
}

/// A call needs permission, or a large loss needs to be confirmed (then `tool` is `apply`). Dropping it refuses.
#[derive(Debug)]
#[non_exhaustive]
pub struct PermissionQuestion {
    /// The call.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// What the call is, in a line.
    pub title: String,
    /// Why it needs permission.
    pub reason: String,
    /// What the call would do: a unified diff, a command line or a text.
    pub preview: String,
    /// Changed lines that the preview leaves out, because there are too many.
    pub left_out: usize,
    /// The rule or flag that would permit such calls without asking.
    pub rule: Option<String>,
    /// What [`PermissionQuestion::allow_always`] would allow, as text for a person; absent where it is not offered.
    pub always: Option<String>,
    /// The word that [`PermissionQuestion::allow_with_word`] needs, for destructive commands and large losses. A person
    /// should type it.
    pub word: Option<String>,
    reply: OpenReply<ApprovalReply>,
}

/// What is pending at the end of a turn, to be applied, discarded or left pending. Dropping it leaves all pending.
#[derive(Debug)]
#[non_exhaustive]
pub struct ApplyQuestion {
    /// Everything that is pending. Only exactly this is applied: if it has changed when the answer comes, placet asks
    /// again.
    pub changes: PendingChanges,
    /// The question in a line.
    pub title: String,
    /// Why it is asked.
    pub reason: String,
    reply: OpenReply<char>,
}

/// One pending change to a file that a program runs or obeys later. Dropping it leaves this and the others pending.
#[derive(Debug)]
#[non_exhaustive]
pub struct ProtectedQuestion {
    /// The file. Absolute.
    pub path: PathBuf,
    /// Everything that is pending, this change included.
    pub changes: PendingChanges,
    /// Which program runs or obeys the file, and when.
    pub reason: String,
    reply: OpenReply<char>,
}

/// Whether the turn continues. Dropping it stops what it asks about.
#[derive(Debug)]
#[non_exhaustive]
pub struct ContinueQuestion {
    /// Why the turn waits.
    pub cause: ContinueCause,
    /// The question in a line.
    pub title: String,
    /// Why it is asked.
    pub reason: String,
    /// What a hook or a server wants to have looked at; empty for other causes.
    pub detail: String,
    reply: ContinueReply,
}

/// Why a turn waits for a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContinueCause {
    /// The model made the same call with the same result again and again.
    Repeated {
        /// The tool's name; empty where the tools differ, and no call worked.
        tool: String,
        /// How often.
        times: u32,
    },
    /// The budget is used up; yes allows as much again.
    Budget,
    /// A hook asks.
    Hook,
    /// A server of tools asks for input or for an answer of the model, or git in a command for a signature; yes agrees to
    /// what `detail` says.
    Server,
}

#[derive(Debug)]
enum ContinueReply {
    Loop(OpenReply<bool>),
    /// The key of each answer.
    Choice {
        reply: OpenReply<char>,
        yes: char,
        no: char,
    },
}

/// A question of the model. Dropping it tells the model that nobody is here.
#[derive(Debug)]
#[non_exhaustive]
pub struct ModelQuestion {
    /// What the model asks.
    pub question: String,
    /// Answers that the model offers, at most nine; any other text is an answer too.
    pub choices: Vec<String>,
    reply: OpenReply<UserReply>,
}

impl PermissionQuestion {
    /// Allows this one call. Fails, and refuses the call, where a word is needed.
    pub fn allow(self) -> Result<(), Error> {
        match self.word {
            Some(word) => Err(Error::WordRequired(word)),
            None => send(self.reply, ApprovalReply::Yes),
        }
    }

    /// Allows this one call by its word. Fails, and refuses the call, where the word is another one.
    pub fn allow_with_word(self, word: &str) -> Result<(), Error> {
        match self.word {
            Some(needed) if needed != word => Err(Error::WordRequired(needed)),
            _ => send(self.reply, ApprovalReply::Yes),
        }
    }

    /// Allows this call and, for the session, what `always` says. Fails, and refuses the call, where it is not offered.
    pub fn allow_always(self) -> Result<(), Error> {
        match (self.word, self.always) {
            (Some(word), _) => Err(Error::WordRequired(word)),
            (None, None) => Err(Error::NotAlways),
            (None, Some(_)) => send(self.reply, ApprovalReply::Always),
        }
    }

    /// Refuses the call. The model reads `why`, which may be empty.
    pub fn refuse(self, why: &str) -> Result<(), Error> {
        send(self.reply, ApprovalReply::No(why.into()))
    }

    /// Refuses this call and the same call for the rest of the session.
    pub fn refuse_always(self) -> Result<(), Error> {
        send(self.reply, ApprovalReply::Never)
    }
}

impl ApplyQuestion {
    /// Applies everything, except files that a program runs later, which are asked about one by one. If much would be
    /// lost, a [`PermissionQuestion`] with a word comes first.
    pub fn apply(self) -> Result<(), Error> {
        send(self.reply, 'a')
    }

    /// Leaves everything pending.
    pub fn keep(self) -> Result<(), Error> {
        send(self.reply, 'k')
    }

    /// Discards everything. [`Session::undo`](crate::Session::undo) restores it, unless it is larger than 512 MiB.
    pub fn discard(self) -> Result<(), Error> {
        send(self.reply, 'd')
    }
}

impl ProtectedQuestion {
    /// Applies exactly this change.
    pub fn apply(self) -> Result<(), Error> {
        send(self.reply, 'y')
    }

    /// Leaves this change pending. The next one is asked about.
    pub fn keep(self) -> Result<(), Error> {
        send(self.reply, 'n')
    }

    /// Discards this change. The next one is asked about.
    pub fn discard(self) -> Result<(), Error> {
        send(self.reply, 'd')
    }
}

impl ContinueQuestion {
    /// The turn continues.
    pub fn yes(self) -> Result<(), Error> {
        match self.reply {
            ContinueReply::Loop(reply) => send(reply, true),
            ContinueReply::Choice { reply, yes, .. } => send(reply, yes),
        }
    }

    /// The turn stops, or does without what the hook asks about.
    pub fn no(self) -> Result<(), Error> {
        match self.reply {
            ContinueReply::Loop(reply) => send(reply, false),
            ContinueReply::Choice { reply, no, .. } => send(reply, no),
        }
    }
}

impl ModelQuestion {
    /// Answers with a text: one of the choices, or any other.
    pub fn answer(self, text: &str) -> Result<(), Error> {
        send(self.reply, UserReply::Words(text.into()))
    }

    /// Leaves the question open: the model learns that it was seen and not answered.
    pub fn skip(self) -> Result<(), Error> {
        send(self.reply, UserReply::Open)
    }
}

impl Question {
    pub(super) fn of_call(asked: ApprovalRequest, stop: &CancellationToken) -> Question {
        let (preview, left_out) = preview(asked.preview.detail);
        Question::Permission(PermissionQuestion {
            id: asked.id.to_string(),
            tool: asked.tool,
            title: asked.preview.line,
            reason: asked.reason,
            preview,
            left_out,
            rule: asked.flag,
            always: asked.always.map(|grant| grant.describe()),
            word: asked.typed,
            reply: until_cancelled(asked.reply, stop),
        })
    }

    /// `None` for a question about changes where there are none: it is answered with what does nothing.
    pub(super) fn of_choice(
        asked: ChoiceQuestion,
        workspace: &Workspace,
        stop: &CancellationToken,
    ) -> Option<Question> {
        let ChoiceQuestion { subject, title, reason, detail, reply, .. } = asked;
        let reply = until_cancelled(reply, stop);
        let keys = |reply, yes, no| ContinueReply::Choice { reply, yes, no };
        let (cause, reply) = match subject {
            ChoiceSubject::Pending(shown) => {
                let changes = PendingChanges::new(shown, workspace);
                return Some(Question::Apply(ApplyQuestion { changes, title, reason, reply }));
            }
            ChoiceSubject::Protected { path, shown } => {
                let changes = PendingChanges::new(shown, workspace);
                return Some(Question::Protected(ProtectedQuestion { path, changes, reason, reply }));
            }
            ChoiceSubject::Budget => (ContinueCause::Budget, keys(reply, 'g', 's')),
            ChoiceSubject::Hook => (ContinueCause::Hook, keys(reply, 'y', 'n')),
            ChoiceSubject::Server => (ContinueCause::Server, keys(reply, 'y', 'n')),
        };
        let detail = preview(detail).0;
        Some(Question::Continue(ContinueQuestion { cause, title, reason, detail, reply }))
    }

    pub(super) fn of_loop(asked: LoopQuestion, stop: &CancellationToken) -> Question {
        let LoopQuestion { tool, times, reply, .. } = asked;
        Question::Continue(ContinueQuestion {
            title: format!("{}: continue?", crate::agent::loop_words(&tool, times)),
            reason: "the model repeats itself".into(),
            detail: String::new(),
            cause: ContinueCause::Repeated { tool, times },
            reply: ContinueReply::Loop(until_cancelled(reply, stop)),
        })
    }

    pub(super) fn of_model(asked: UserPrompt, stop: &CancellationToken) -> Question {
        let UserPrompt { question, choices, reply, .. } = asked;
        Question::Model(ModelQuestion { question, choices, reply: until_cancelled(reply, stop) })
    }
}

/// The receiver of the answer, as long as the turn is not cancelled.
#[derive(Debug)]
struct OpenReply<T> {
    to: oneshot::Sender<T>,
    stop: CancellationToken,
}

fn send<T>(reply: OpenReply<T>, answer: T) -> Result<(), Error> {
    // The turn may not have noticed yet that it was cancelled.
    match reply.stop.is_cancelled() {
        true => Err(Error::NotOpen),
        false => reply.to.send(answer).map_err(|_| Error::NotOpen),
    }
}

/// A reply for `reply` that is closed when the turn is cancelled: a question that the program still has must not hold
/// up the end of the turn.
fn until_cancelled<T: Send + 'static>(reply: oneshot::Sender<T>, stop: &CancellationToken) -> OpenReply<T> {
    let (to, answer) = oneshot::channel();
    let stopped = stop.clone();
    drop(tokio::spawn(async move {
        tokio::select! {
            // An answer that was given before the cancellation counts.
            biased;
            answer = answer => {
                if let Ok(answer) = answer {
                    // The turn may have stopped waiting for it.
                    drop(reply.send(answer));
                }
            }
            () = stopped.cancelled() => {}
        }
    }));
    OpenReply { to, stop: stop.clone() }
}

/// What a question shows, as text, and how many changed lines are not in it.
fn preview(detail: DisplayDetail) -> (String, usize) {
    match detail {
        DisplayDetail::None => (String::new(), 0),
        DisplayDetail::Text(text)
        | DisplayDetail::Report(text)
        | DisplayDetail::Matches(MatchedText { text, .. }) => (text, 0),
        DisplayDetail::Command(command) => (command.words(), 0),
        DisplayDetail::Diff(diff) => (diff.text, diff.left_out),
        DisplayDetail::Changes(changes) => {
            (changes.list.iter().map(ListedChange::line).collect::<Vec<_>>().join("\n"), 0)
        }
        DisplayDetail::Image(image) => (image.describe(), 0),
    }
}
