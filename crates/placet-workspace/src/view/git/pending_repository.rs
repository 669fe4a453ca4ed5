//! A repository with pending changes: what it is a question about, with rows and patches.

use crate::apply::AskedRepository;
use crate::hash::Hash;
use crate::repository::CommitPatch;
use placet_git::{CheckoutName, GitRunner, NewRepository, ObjectId, RepositoryQuestion, RepositoryRows};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// Bytes of one difference; more is not read by anybody.
const LARGEST_PATCH: usize = 1 << 20;

/// Starts git where nothing but `writable` can be written, and without network: for the agent's side.
pub trait GitRunnerStart: Send + Sync {
    /// One start, for all calls of a question.
    fn start(&self, writable: &Path) -> Result<Box<dyn GitRunner>, GitNotConfined>;
}

/// Why git cannot run for the agent's side, in a sentence of the sandbox.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct GitNotConfined(pub String);

/// What starts git for a view; none where commands are not confined, either.
#[derive(Default)]
pub(in crate::view) struct GitRunnerPlace(pub(super) OnceLock<Arc<dyn GitRunnerStart>>);

impl fmt::Debug for GitRunnerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GitRunnerPlace").field(&self.0.get().is_some()).finish()
    }
}

/// What was read.
#[derive(Debug)]
pub(super) enum PendingContent {
    Changed(Box<RepositoryQuestion>),
    Created(Box<NewRepository>),
    /// Nothing that is applied.
    Same,
    /// Nothing of it can be applied; the sentence says why.
    Refused(String),
}

/// A repository with pending changes.
#[derive(Debug)]
pub(super) struct PendingRepository {
    pub(super) path: PathBuf,
    pub(super) content: PendingContent,
    pub(super) rows: Option<RepositoryRows>,
    /// Write mode waits for it.
    pub(super) takes_away: bool,
    pub(super) patches: BTreeMap<ObjectId, Vec<u8>>,
    pub(super) staged: BTreeMap<CheckoutName, StagedOnly>,
    /// Names that files of new commits have through links of these commits.
    pub(super) through_links: Vec<(ObjectId, PathBuf)>,
    /// The address of the person, if git knows it: commits of others say so.
    pub(super) person: Option<OsString>,
    /// New commits without a signature, where the person's are signed.
    pub(super) unsigned: BTreeSet<ObjectId>,
    /// The new objects, until the last value that needs them.
    _scratch: Option<Arc<tempfile::TempDir>>,
}

impl AskedRepository for PendingRepository {
    fn question(&self) -> Option<&RepositoryQuestion> {
        self.question()
    }

    fn created(&self) -> Option<&NewRepository> {
        match &self.content {
            PendingContent::Created(new) => Some(new),
            _ => None,
        }
    }
}

impl PendingRepository {
    pub(super) fn question(&self) -> Option<&RepositoryQuestion> {
        match &self.content {
            PendingContent::Changed(question) => Some(question),
            PendingContent::Created(new) => new.question.as_ref(),
            PendingContent::Same | PendingContent::Refused(_) => None,
        }
    }

    /// What was read, before its rows; `scratch` has the new objects.
    pub(super) fn of(
        path: &Path,
        content: PendingContent,
        scratch: Arc<tempfile::TempDir>,
    ) -> PendingRepository {
        PendingRepository {
            content,
            _scratch: Some(scratch),
            ..PendingRepository::refused(path, String::new())
        }
    }

    pub(super) fn refused(path: &Path, why: String) -> PendingRepository {
        let content = PendingContent::Refused(why);
        PendingRepository {
            path: path.to_path_buf(),
            content,
            rows: None,
            takes_away: false,
            patches: BTreeMap::new(),
            staged: BTreeMap::new(),
            through_links: Vec::new(),
            person: None,
            unsigned: BTreeSet::new(),
            _scratch: None,
        }
    }
}

/// The differences of what is staged, where it is not what the file of the work tree has.
#[derive(Debug, Default)]
pub(super) struct StagedOnly {
    pub(super) patch: Vec<u8>,
    /// Files that are not shown.
    pub(super) left_out: usize,
    /// What was staged, and is in no commit and no file any more.
    pub(super) lost: Vec<u8>,
    /// The files that were compared, and the state that they had then: in another state, the differences are others.
    pub(super) compared: Vec<PathBuf>,
    pub(super) state: Option<Hash>,
}

impl StagedOnly {
    pub(super) fn lost_patch(&self) -> Option<CommitPatch> {
        let (bytes, left_out) = cut(&self.lost);
        (!bytes.is_empty()).then(|| CommitPatch { bytes, left_out, ..CommitPatch::default() })
    }
}

pub(super) fn cut(patch: &[u8]) -> (Vec<u8>, usize) {
    let end = match patch.len() > LARGEST_PATCH {
        true => patch
            .get(..LARGEST_PATCH)
            .and_then(|part| part.iter().rposition(|byte| *byte == b'\n'))
            .unwrap_or(0),
        false => patch.len(),
    };
    (patch.get(..end).unwrap_or_default().to_vec(), patch.len() - end)
}
