//! The origin of calls, and the interceptors around them: one value for the whole program. The default value is empty
//! and allows everything.

use super::interceptor::secrets::SecretFilter;
use placet_session::audit::{AuditError, AuditEvent, AuditKind, AuditLog};
use placet_session::hooks::HookSet;
use placet_session::metrics::MetricsFile;
use placet_workspace::{ChangeCount, JournalEntry, LogMarks, PassedCheck, ProgramRun, TransactionKind};
use std::sync::Arc;

/// The interceptors of every call; `super::interceptor` has the order.
#[derive(Default)]
pub struct CallInterceptors {
    pub hooks: HookSet,
    pub audit: Option<AuditLog>,
    pub metrics: Option<MetricsFile>,
    pub secrets: SecretFilter,
    /// Decisions of this process that the audit log has no entry of yet.
    pub unlogged: LogMarks,
}

/// The origin of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// From the model, or typed by the person in a conversation.
    Conversation,
    /// From the command line.
    CommandLine,
    Mcp,
}

/// The interceptors, as one conversation or one caller uses them.
#[derive(Clone)]
pub struct CallOrigin {
    pub interceptors: Arc<CallInterceptors>,
    pub session: Option<String>,
    pub entry_point: EntryPoint,
}

impl CallInterceptors {
    /// Logs the decision about pending or applied changes; `shown` is what the person saw.
    pub fn log_decision(
        &self,
        kind: AuditKind,
        by: &str,
        session: Option<String>,
        shown: &str,
    ) -> Result<(), AuditError> {
        self.log_decision_on(Vec::new(), kind, (by, session), shown)
    }

    /// The same for the changes of a program of the person's own: the entry names the program and how it ended.
    pub fn log_program_decision(
        &self,
        kind: AuditKind,
        by: &str,
        program: &ProgramRun,
        shown: &str,
    ) -> Result<(), AuditError> {
        let what = format!("run {} ({})", program.line(), program.ending());
        self.log_decision_on(vec![self.secrets.redact(&what).into_owned()], kind, (by, None), shown)
    }

    /// The same with the checks that passed on exactly what was applied: each is in the entry, with the hash of the state.
    pub fn log_checked_decision(
        &self,
        kind: AuditKind,
        by: &str,
        checks: &[PassedCheck],
        shown: &str,
    ) -> Result<(), AuditError> {
        let passed = |one: &PassedCheck| format!("check {} passed in state {}", one.check, one.state);
        self.log_decision_on(checks.iter().map(passed).collect(), kind, (by, None), shown)
    }

    fn log_decision_on(
        &self,
        reach: Vec<String>,
        kind: AuditKind,
        (by, session): (&str, Option<String>),
        shown: &str,
    ) -> Result<(), AuditError> {
        let Some(log) = &self.audit else { return Ok(()) };
        let entry = AuditEvent {
            reach,
            session,
            tool: Some(by.into()),
            decision: Some("yes".into()),
            why: Some("approved by the person".into()),
            preview_hash: Some(placet_session::audit::digest(shown)),
            outcome: Some(shown.lines().next().unwrap_or_default().chars().take(300).collect()),
            ..AuditEvent::of(kind)
        };
        self.unlogged.logged(|transactions| log.append(AuditEvent { transactions, ..entry })).map(|_| ())
    }

    /// Logs a decision whose process was killed after it had done it, unless the process had logged it.
    pub fn log_recovered(&self, made: &JournalEntry, transaction: String) -> Result<(), AuditError> {
        let Some(log) = &self.audit else { return Ok(()) };
        if log.has_transaction(&transaction)? {
            return Ok(());
        }
        let (kind, done) = match &made.kind {
            TransactionKind::Apply => (AuditKind::Apply, "applied"),
            TransactionKind::Undo { .. } => (AuditKind::Undo, "undid"),
            TransactionKind::Redo { .. } => (AuditKind::Undo, "redid"),
        };
        let count = ChangeCount::of_entry(made);
        let entry = AuditEvent {
            session: made.label.session.clone(),
            tool: Some("next start".into()),
            decision: Some("yes".into()),
            why: Some("placet was killed before it could record this".into()),
            outcome: Some(format!("{done} changes to {count}, number {} in the journal", made.id)),
            transactions: vec![transaction],
            ..AuditEvent::of(kind)
        };
        log.append(entry).map(|_| ())
    }
}

impl CallOrigin {
    /// An empty origin, for tests of other things.
    pub fn open(entry_point: EntryPoint) -> CallOrigin {
        CallOrigin { interceptors: Arc::default(), session: None, entry_point }
    }
}
