//! One entry, and the line in which it is written.

use super::chain::{AuditKey, AuditMac};
use serde::{Deserialize, Serialize};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditKind {
    /// A call was decided: allowed, asked about, or refused.
    Decision,
    /// A permitted call is about to run.
    Intent,
    /// The call ended.
    Result,
    /// A hook was asked, and made a decision.
    Hook,
    /// Pending changes were applied to the workspace.
    Apply,
    /// Pending changes were discarded.
    Discard,
    /// Applied changes were undone, or redone.
    Undo,
    /// A conversation was left, and its classification with it.
    Reset,
    /// The log changed since placet last wrote it.
    Alarm,
}

impl AuditKind {
    pub const fn name(self) -> &'static str {
        match self {
            AuditKind::Decision => "decision",
            AuditKind::Intent => "intent",
            AuditKind::Result => "result",
            AuditKind::Hook => "hook",
            AuditKind::Apply => "apply",
            AuditKind::Discard => "discard",
            AuditKind::Undo => "undo",
            AuditKind::Reset => "reset",
            AuditKind::Alarm => "alarm",
        }
    }
}

/// The content of an entry. Fields that do not apply are omitted from the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEvent {
    pub kind: AuditKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tool; of a hook, its point; of an apply, the command that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What it touches: `read /a/b`, `run cargo test`; of an apply, the checks that passed on what was applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<String>,
    /// `allow`, `ask`, `deny`, `yes`, `no`; of a hook `ALLOW`, `BLOCK`, `REDACT`, `REQUIRE_APPROVAL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Who consented or refused, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// SHA-256 of the preview that the person saw, or would have seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The session's classification, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taint: Option<String>,
    /// What was applied or undone: the directory of the journal, and the number there. A start after a kill finds the entry
    /// by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<String>,
}

impl AuditEvent {
    pub fn of(kind: AuditKind) -> AuditEvent {
        AuditEvent {
            kind,
            session: None,
            tool: None,
            call: None,
            reach: Vec::new(),
            decision: None,
            why: None,
            preview_hash: None,
            outcome: None,
            taint: None,
            transactions: Vec::new(),
        }
    }
}

/// An entry as it is in the log, without its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// 1 for the first.
    pub seq: u64,
    /// When it was written, RFC 3339 in UTC.
    pub time: String,
    #[serde(flatten)]
    pub note: AuditEvent,
    /// The code of the entry before; zeros for the first.
    pub prev: String,
}

/// A parsed line. The code is over the bytes of `body`, so no other spelling of the same JSON passes.
pub(super) struct AuditLine {
    pub(super) entry: AuditEntry,
    pub(super) mac: String,
    body: String,
}

const MAC: &str = ",\"mac\":\"";
const END: &str = "\"}";

impl AuditEntry {
    /// The line without its line end, and the entry's code.
    pub(super) fn sealed(&self, key: &AuditKey) -> Result<(String, AuditMac), serde_json::Error> {
        let body = serde_json::to_string(self)?;
        let mac = key.seal(body.as_bytes());
        let open = body.strip_suffix('}').unwrap_or(&body);
        Ok((format!("{open}{MAC}{mac}{END}"), mac))
    }
}

impl AuditLine {
    /// `None` for a line that placet did not write.
    pub(super) fn read(line: &str) -> Option<AuditLine> {
        let (open, mac) = line.strip_suffix(END)?.rsplit_once(MAC)?;
        let body = format!("{open}}}");
        let entry = serde_json::from_str(&body).ok()?;
        Some(AuditLine { entry, mac: mac.into(), body })
    }

    pub(super) fn is_genuine(&self, key: &AuditKey) -> bool {
        key.seal(self.body.as_bytes()).to_string() == self.mac
    }
}

/// SHA-256 of a text, in hexadecimal.
pub fn digest(text: &str) -> String {
    use sha2::Digest;
    super::chain::hex(&sha2::Sha256::digest(text.as_bytes()))
}
