//! A session: one conversation in one directory, and what is pending in it.

use super::Error;
use super::apply::{Applied, ChangeChoice, Discarded};
use super::changes::PendingChanges;
use super::turn::RunningTurn;
use super::undo::Undone;
use super::worker::SessionWorker;
use std::fmt;

/// One conversation in one directory.
///
/// A session has a thread and a small runtime of its own, so it works in programs with any async runtime or none. Every
/// method except [`Session::send`] reads or writes files and waits until that is done: in async code, call it where
/// blocking is allowed. If a turn was dropped before its end, the method first waits until the turn has stopped.
///
/// Dropping a session ends it as [`Session::close`] does, without waiting. Changes that are pending stay pending, also
/// after the program ends: `placet changes` shows them, and a resumed session has them.
pub struct Session {
    worker: SessionWorker,
    facts: SessionFacts,
}

/// What does not change in a session.
pub(super) struct SessionFacts {
    pub(super) id: Option<String>,
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) warnings: Vec<String>,
}

impl Session {
    pub(super) fn new(worker: SessionWorker, facts: SessionFacts) -> Session {
        Session { worker, facts }
    }

    /// The session's ID, for [`SessionBuilder::resume`](crate::SessionBuilder::resume) and `placet --resume`; `None`
    /// for a session that is in memory only.
    pub fn id(&self) -> Option<&str> {
        self.facts.id.as_deref()
    }

    /// The name of the provider that answers.
    pub fn provider(&self) -> &str {
        &self.facts.provider
    }

    /// The name of the model.
    pub fn model(&self) -> &str {
        &self.facts.model
    }

    /// What is to be known at the start, as sentences: mistakes in settings files, settings of a project that is not
    /// trusted and so left out, an apply of an earlier program that was completed.
    pub fn warnings(&self) -> &[String] {
        &self.facts.warnings
    }

    /// Sends a message. The turn begins at once; read its events from the returned value.
    ///
    /// Nothing is sent to a provider that the permission rules, the classification or a hook forbid, and no call runs
    /// without a permission: by the mode, by a rule, or by your answer to a question.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyMessage`] and [`Error::Ended`]. Later errors are in the turn's outcome.
    pub fn send(&mut self, message: impl Into<String>) -> Result<RunningTurn<'_>, Error> {
        let message = message.into();
        if message.trim().is_empty() {
            return Err(Error::EmptyMessage);
        }
        RunningTurn::begin(&self.worker, message)
    }

    /// What is pending now.
    pub fn pending(&mut self) -> Result<PendingChanges, Error> {
        self.worker.call(|state| state.pending())?
    }

    /// Applies what `choice` chooses of `changes`: all of it or nothing. What is not chosen stays pending.
    ///
    /// A file that a program runs later and a large loss stay pending unless the choice approves them;
    /// [`Applied::protected`] and [`Applied::losses`] name them. Everything else that is chosen is applied.
    ///
    /// # Errors
    ///
    /// [`Error::Outdated`] if something else is pending now, [`Error::Changed`] if files of the workspace changed since
    /// the changes were made, [`Error::NotPending`] and [`Error::NoHunk`] if the choice does not fit,
    /// [`Error::NotApplied`] if a file cannot be written. In all these cases no file of the workspace is changed. After
    /// [`Error::Incomplete`] some may be.
    pub fn apply(&mut self, changes: &PendingChanges, choice: &ChangeChoice) -> Result<Applied, Error> {
        let (changes, choice) = (changes.clone(), choice.clone());
        self.worker.call(move |state| state.apply(&changes, &choice))?
    }

    /// Discards what `choice` chooses of `changes`. Approvals play no part: the workspace is not changed.
    ///
    /// # Errors
    ///
    /// [`Error::Outdated`], [`Error::NotPending`], [`Error::NoHunk`], [`Error::Pending`]: nothing was discarded.
    pub fn discard(&mut self, changes: &PendingChanges, choice: &ChangeChoice) -> Result<Discarded, Error> {
        let (changes, choice) = (changes.clone(), choice.clone());
        self.worker.call(move |state| state.discard(&changes, &choice))?
    }

    /// Undoes the last thing that was applied or discarded: everything that the last turn in this directory applied, of
    /// whatever session, or the last discard of this session if that came later. Files that changed in the meantime are
    /// merged. Nothing to undo is not an error: [`Undone::paths`] is empty.
    ///
    /// # Errors
    ///
    /// [`Error::NotUndone`]: nothing was changed, because some of the changes cannot be undone or the journal is
    /// damaged.
    pub fn undo(&mut self) -> Result<Undone, Error> {
        self.worker.call(|state| state.undo())?
    }

    /// Applies again what the last [`Session::undo`] reverted, if nothing was applied since. Nothing to redo is not an
    /// error.
    ///
    /// # Errors
    ///
    /// [`Error::NotUndone`]: nothing was changed.
    pub fn redo(&mut self) -> Result<Undone, Error> {
        self.worker.call(|state| state.redo())?
    }

    /// Ends the session: waits until a cancelled turn has stopped, and ends background commands. Returns what is to be
    /// known of these, as sentences.
    pub fn close(self) -> Result<Vec<String>, Error> {
        self.worker.join()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SessionFacts { id, provider, model, .. } = &self.facts;
        let mut out = f.debug_struct("Session");
        out.field("id", id).field("provider", provider).field("model", model).finish_non_exhaustive()
    }
}
