//! Single operations on files, done on a draft: what batches are made of, native ones and those of other systems.

use crate::text::RangeSet;
use crate::tools::files::edit::UnreadPolicy;
use crate::tools::files::edit_errors::{bad_text, never_read};
use crate::tools::files::staged_files::{StagedFiles, in_words};
use crate::tools::files::write::{appended, encode_like};
use crate::tools::{CallFailure, ToolContext, ToolError};
use crate::workspace::{OpenConsent, ReadStatus, ResolvedPath, TextFile, WorkspaceError};
use std::sync::Arc;

/// One operation, its paths resolved.
#[derive(Clone, Debug)]
pub(in crate::tools) enum FileOperation {
    Read { at: ResolvedPath },
    Write { at: ResolvedPath, content: String, form: WriteEncoding },
    Create { at: ResolvedPath, content: String },
    Append { at: ResolvedPath, content: String, form: WriteEncoding },
    Replace { at: ResolvedPath, old: String, new: String, how: ReplacePolicy },
    Delete { at: ResolvedPath },
    Move { from: ResolvedPath, to: ResolvedPath },
    Copy { from: ResolvedPath, to: ResolvedPath },
}

/// How a text becomes the content of a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum WriteEncoding {
    /// Byte for byte, as UTF-8.
    Exact,
    /// In the file's own encoding, with its mark and line ends.
    OfTheFile,
}

/// Which places a replacement takes, and what it does where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum ReplacePolicy {
    /// Exactly one place; anything else is an error.
    One,
    /// All of them, at least one.
    All,
    /// All of them; none is no error.
    AllOrNone,
}

/// What an operation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct OperationResult {
    /// What the file holds by now; absent where it is gone.
    pub(in crate::tools) content: Option<Arc<Vec<u8>>>,
    pub(in crate::tools) places: usize,
}

impl FileOperation {
    pub(in crate::tools) fn writes(&self) -> Vec<&ResolvedPath> {
        match self {
            FileOperation::Read { .. } => Vec::new(),
            FileOperation::Write { at, .. }
            | FileOperation::Create { at, .. }
            | FileOperation::Append { at, .. }
            | FileOperation::Replace { at, .. }
            | FileOperation::Delete { at } => vec![at],
            FileOperation::Move { from, to } => vec![from, to],
            FileOperation::Copy { to, .. } => vec![to],
        }
    }

    pub(in crate::tools) fn reads(&self) -> Vec<&ResolvedPath> {
        match self {
            FileOperation::Read { at } | FileOperation::Copy { from: at, .. } => vec![at],
            _ => Vec::new(),
        }
    }

    /// Does it on the draft. An operation that fails leaves the draft as it was.
    pub(in crate::tools) fn perform(
        &self,
        env: &ToolContext,
        draft: &mut StagedFiles,
        consent: OpenConsent<'_>,
        unread: UnreadPolicy,
    ) -> Result<OperationResult, ToolError> {
        let fail = |e: WorkspaceError| in_words(env, &e);
        match self {
            FileOperation::Read { at } => {
                let content = draft.bytes(env, at, consent).map_err(fail)?;
                saw(env, draft, at);
                Ok(OperationResult { content: Some(content), places: 0 })
            }
            FileOperation::Create { at, content } => {
                if draft.held(env, at, consent).map_err(fail)?.bytes().is_some() {
                    return Err(fail(WorkspaceError::Exists(at.path.clone())));
                }
                put(env, draft, at, content.clone().into_bytes(), consent)
            }
            FileOperation::Write { at, content, form } => {
                let old = draft.held(env, at, consent).map_err(fail)?.bytes().cloned();
                if old.is_some() {
                    allowed(env, draft, at, unread)?;
                }
                let bytes = match (old.and_then(|old| TextFile::new(old).ok()), form) {
                    (Some(old), WriteEncoding::OfTheFile) => {
                        encode_like(content, &old).map_err(|e| bad_text(&e))?
                    }
                    _ => content.clone().into_bytes(),
                };
                put(env, draft, at, bytes, consent)
            }
            FileOperation::Append { at, content, form } => {
                let old = draft.held(env, at, consent).map_err(fail)?.bytes().cloned().unwrap_or_default();
                let bytes = match (TextFile::new(old.clone()).ok().filter(|_| !old.is_empty()), form) {
                    (Some(file), WriteEncoding::OfTheFile) => appended(&old, &file, content)?,
                    _ => [old.as_slice(), content.as_bytes()].concat(),
                };
                put(env, draft, at, bytes, consent)
            }
            FileOperation::Replace { at, old, new, how } => {
                self.replace(env, draft, (at, consent, unread), (old, new, *how))
            }
            FileOperation::Delete { at } => {
                allowed_if_there(env, draft, at, consent, unread)?;
                draft.remove(env, at, consent).map_err(fail)?;
                Ok(OperationResult { content: None, places: 0 })
            }
            FileOperation::Move { from, to } => {
                draft.rename(env, from, to, consent).map_err(fail)?;
                Ok(OperationResult { content: draft.bytes(env, to, consent).ok(), places: 0 })
            }
            FileOperation::Copy { from, to } => {
                draft.copy(env, from, to, consent).map_err(fail)?;
                Ok(OperationResult { content: draft.bytes(env, to, consent).ok(), places: 0 })
            }
        }
    }

    fn replace(
        &self,
        env: &ToolContext,
        draft: &mut StagedFiles,
        (at, consent, unread): (&ResolvedPath, OpenConsent<'_>, UnreadPolicy),
        (old, new, how): (&str, &str, ReplacePolicy),
    ) -> Result<OperationResult, ToolError> {
        let bytes = draft.bytes(env, at, consent).map_err(|e| in_words(env, &e))?;
        let file = TextFile::new(bytes.clone()).map_err(|_| {
            ToolError::new(format!("`{}` is not text", at.written)).because(CallFailure::NotText)
        })?;
        if old.is_empty() && how == ReplacePolicy::AllOrNone {
            return Ok(OperationResult { content: Some(bytes), places: 0 });
        }
        if old.is_empty() {
            return Err(ToolError::new("the text to replace is empty"));
        }
        allowed(env, draft, at, unread)?;
        let mut spans = file.find(old, usize::MAX).map_err(|e| bad_text(&e))?;
        let mut end = 0;
        spans.retain(|span| span.start >= end && std::mem::replace(&mut end, span.end) <= span.start);
        match (spans.len(), how) {
            (0, ReplacePolicy::AllOrNone) => return Ok(OperationResult { content: Some(bytes), places: 0 }),
            (0, _) => {
                let words = format!("the text to replace is not in `{}`", at.written);
                return Err(ToolError::new(words).because(CallFailure::TextMissing));
            }
            (n, ReplacePolicy::One) if n > 1 => {
                let words = format!("the text to replace occurs {n} times in `{}`", at.written);
                return Err(ToolError::new(words).because(CallFailure::Ambiguous(n)));
            }
            _ => {}
        }
        let places = spans.len();
        let spliced = file.splice(&spans, old, new).map_err(|e| bad_text(&e))?;
        put(env, draft, at, spliced.bytes, consent).map(|done| OperationResult { places, ..done })
    }
}

fn put(
    env: &ToolContext,
    draft: &mut StagedFiles,
    at: &ResolvedPath,
    bytes: Vec<u8>,
    consent: OpenConsent<'_>,
) -> Result<OperationResult, ToolError> {
    draft.put(env, at, bytes, consent).map_err(|e| in_words(env, &e))?;
    let content = draft.bytes(env, at, consent).map_err(|e| in_words(env, &e))?;
    Ok(OperationResult { content: Some(content), places: 1 })
}

fn allowed_if_there(
    env: &ToolContext,
    draft: &mut StagedFiles,
    at: &ResolvedPath,
    consent: OpenConsent<'_>,
    unread: UnreadPolicy,
) -> Result<(), ToolError> {
    draft.held(env, at, consent).map_err(|e| in_words(env, &e))?;
    allowed(env, draft, at, unread)
}

/// May the content that is on disk be lost? What this batch itself wrote may always be.
fn allowed(
    env: &ToolContext,
    draft: &StagedFiles,
    at: &ResolvedPath,
    unread: UnreadPolicy,
) -> Result<(), ToolError> {
    let Some((bytes, hash)) = draft.original(at) else { return Ok(()) };
    let Ok(file) = TextFile::new(bytes.clone()) else { return Ok(()) };
    let index = file.index();
    let lines = |range: &std::ops::Range<usize>| file.part(index.bytes_of(range));
    match env.ledger().read_status(&at.path, bytes, hash, &[], lines) {
        ReadStatus::Never if unread == UnreadPolicy::Refuse && !bytes.is_empty() => {
            Err(never_read(&at.written))
        }
        ReadStatus::Changed(_) => Err(ToolError::hint(
            format!("`{}` changed since you read it", at.written),
            "read it again, then repeat the change on the current content",
        )
        .because(CallFailure::Unread)),
        _ => Ok(()),
    }
}

/// What a batch hands out whole was seen whole.
fn saw(env: &ToolContext, draft: &StagedFiles, at: &ResolvedPath) {
    let Some((bytes, hash)) = draft.original(at) else { return };
    if let Ok(file) = TextFile::new(bytes.clone()) {
        env.ledger().record_read_ranges(&at.path, bytes, hash, &RangeSet::of(0..file.line_count()));
    }
}
