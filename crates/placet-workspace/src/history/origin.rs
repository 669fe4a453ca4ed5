//! Origins: which call changed a path, and who approved the change.
//!
//! A call's permit names the call, and the view knows every running call by that name. The origin therefore reaches
//! everything that the call writes, also when several calls run at the same time. This module does not look at
//! contents: [`super::blame`] finds out later which line came from which origin, from the contents that were stored
//! between two origins.

pub use super::approved_by::ApprovedBy;
use super::program_run::ProgramRun;
use crate::Hash;
use crate::files::metadata::path_state::hash_text;
use placet_permission::WritePolicy;
use placet_text::text::{sanitize, width};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// The longest title that is stored, in columns.
const TITLE: usize = 200;

/// What changed a path: one call of one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOrigin {
    /// The turn, as the journal names it.
    pub turn: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The call's id; empty for a change without a call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// What the call says of itself, in one line that is fit for a terminal.
    #[serde(default)]
    pub title: String,
    /// Milliseconds since 1970.
    pub at: u64,
    /// The program of the person's own that made the change (`placet run`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Box<ProgramRun>>,
    /// The server that made the change, where a tool of a server was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl ChangeOrigin {
    /// The same for a change that a server made.
    #[must_use]
    pub fn of_server(self, name: &str) -> ChangeOrigin {
        ChangeOrigin { server: Some(name.into()), ..self }
    }

    /// An origin of now. `title` may come from a model: its first line is cleaned and cut.
    pub fn new(label: &crate::TransactionLabel, call: &str, tool: &str, title: &str) -> ChangeOrigin {
        let title = sanitize::line(title.lines().next().unwrap_or_default().trim_end()).into_owned();
        let title = width::cut_words(&title, TITLE);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        ChangeOrigin {
            turn: label.turn.clone(),
            session: label.session.clone(),
            call: call.into(),
            tool: sanitize::line(tool).into_owned(),
            title,
            at: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            program: label.program.clone(),
            server: None,
        }
    }
}

/// One call's share in a path. Steps are in the order in which the calls changed the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginStep {
    /// Absent for changes that were made before origins were recorded.
    pub origin: Option<Arc<ChangeOrigin>>,
    /// The content after the step, if that content is stored. The present content is the result of the last step.
    pub content: Option<Hash>,
}

/// A step as it is written down: its origin by number, because one command changes many paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginMark {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<usize>,
    #[serde(default, with = "hash_option", skip_serializing_if = "Option::is_none")]
    pub content: Option<Hash>,
}

/// The steps of one path, written down. One value for all paths that one command changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginMarks(Arc<[OriginMark]>);

impl OriginMarks {
    /// `marks`, or `last` where both are equal.
    pub(crate) fn like(last: &OriginMarks, marks: OriginMarks) -> OriginMarks {
        if *last == marks { last.clone() } else { marks }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

impl Deref for OriginMarks {
    type Target = [OriginMark];

    fn deref(&self) -> &[OriginMark] {
        &self.0
    }
}

impl FromIterator<OriginMark> for OriginMarks {
    fn from_iter<T: IntoIterator<Item = OriginMark>>(all: T) -> OriginMarks {
        OriginMarks(all.into_iter().collect())
    }
}

impl Serialize for OriginMarks {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(out)
    }
}

impl<'de> Deserialize<'de> for OriginMarks {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OriginMarks, D::Error> {
        Ok(OriginMarks(Vec::deserialize(from)?.into()))
    }
}

/// The origins that marks name by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct OriginTable(Vec<Arc<ChangeOrigin>>);

impl OriginTable {
    /// The number of `origin`, and whether it is new here.
    pub(crate) fn number(&mut self, origin: &Arc<ChangeOrigin>) -> (usize, bool) {
        // The call that writes now is nearly always the call that wrote last.
        match self.0.iter().rposition(|known| known == origin) {
            Some(at) => (at, false),
            None => {
                self.0.push(Arc::clone(origin));
                (self.0.len() - 1, true)
            }
        }
    }

    pub(crate) fn push(&mut self, origin: ChangeOrigin) {
        self.0.push(Arc::new(origin));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn get(&self, by: Option<usize>) -> Option<Arc<ChangeOrigin>> {
        self.0.get(by?).cloned()
    }

    pub(crate) fn steps(&self, marks: &[OriginMark]) -> Vec<OriginStep> {
        marks.iter().map(|m| OriginStep { origin: self.get(m.by), content: m.content }).collect()
    }

    pub(crate) fn marks(&mut self, steps: &[OriginStep]) -> OriginMarks {
        let mark = |step: &OriginStep| OriginMark {
            by: step.origin.as_ref().map(|origin| self.number(origin).0),
            content: step.content,
        };
        steps.iter().map(mark).collect()
    }

    pub(crate) fn into_vec(self) -> Vec<ChangeOrigin> {
        self.0.into_iter().map(Arc::unwrap_or_clone).collect()
    }
}

/// The calls that run now, by their ids.
#[derive(Debug, Default)]
pub(crate) struct RunningCalls(Arc<Mutex<HashMap<String, Arc<ChangeOrigin>>>>);

impl RunningCalls {
    pub(crate) fn enter(&self, origin: ChangeOrigin) -> OriginGuard {
        let call = origin.call.clone();
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(call.clone(), Arc::new(origin));
        OriginGuard { running: Arc::clone(&self.0), call }
    }

    pub(crate) fn get(&self, call: &str) -> Option<Arc<ChangeOrigin>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(call).cloned()
    }
}

/// While it exists, a write with the call's permit gets the call's origin.
#[derive(Debug)]
#[must_use = "the origin is forgotten when this is dropped"]
pub struct OriginGuard {
    running: Arc<Mutex<HashMap<String, Arc<ChangeOrigin>>>>,
    call: String,
}

impl Drop for OriginGuard {
    fn drop(&mut self) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.call);
    }
}

/// Who writes, who approved it, and where the change goes.
#[derive(Clone, Debug)]
pub struct WriteContext {
    pub landing: WritePolicy,
    pub origin: Option<Arc<ChangeOrigin>>,
    pub assent: ApprovedBy,
}

impl From<WritePolicy> for WriteContext {
    fn from(landing: WritePolicy) -> WriteContext {
        WriteContext { landing, origin: None, assent: ApprovedBy::Unknown }
    }
}

mod hash_option {
    use super::{Hash, hash_text};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct HashText(#[serde(with = "hash_text")] Hash);

    pub(super) fn serialize<S: Serializer>(hash: &Option<Hash>, out: S) -> Result<S::Ok, S::Error> {
        hash.map(HashText).serialize(out)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Hash>, D::Error> {
        Ok(Option::<HashText>::deserialize(from)?.map(|text| text.0))
    }
}
