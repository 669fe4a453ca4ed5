//! Single operations on staged files. Native batches and the batches of other systems consist of these operations.

use crate::files::edit::UnreadPolicy;
use crate::files::edit_errors::{bad_text, changed, column_of, never_read, not_shown, unshown, would_lose};
use crate::files::staged_files::{StagedFiles, in_words};
use crate::files::write::{WriteEncoding, appended, encode_like};
use crate::{CallFailure, HintTool, ToolContext, ToolError, hint};
use placet_text::text::RangeSet;
use placet_workspace::{
    KnownLines, OpenConsent, ReadStatus, Replacement, ResolvedPath, TextFile, WorkspaceError,
    without_overlaps,
};
use std::ops::Range;
use std::sync::Arc;

/// One operation, with resolved paths.
#[derive(Clone, Debug)]
pub(crate) enum FileOperation {
    Read { at: ResolvedPath },
    Write { at: ResolvedPath, content: String, form: WriteEncoding },
    Create { at: ResolvedPath, content: String },
    Append { at: ResolvedPath, content: String, form: WriteEncoding },
    Replace { at: ResolvedPath, old: String, new: String, how: ReplacePolicy },
    Delete { at: ResolvedPath },
    Move { from: ResolvedPath, to: ResolvedPath },
    Copy { from: ResolvedPath, to: ResolvedPath },
}

/// Which occurrences a replacement takes, and what it does when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplacePolicy {
    /// Exactly one occurrence; anything else is an error.
    One,
    /// All occurrences, at least one.
    All,
    /// All occurrences, byte for byte; no occurrence is not an error.
    Bytes,
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperationResult {
    /// The present content of the file; absent if the file was removed.
    pub(crate) content: Option<Arc<Vec<u8>>>,
    pub(crate) places: usize,
}

impl FileOperation {
    pub(crate) fn writes(&self) -> Vec<&ResolvedPath> {
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

    pub(crate) fn reads(&self) -> Vec<&ResolvedPath> {
        match self {
            FileOperation::Read { at } | FileOperation::Copy { from: at, .. } => vec![at],
            _ => Vec::new(),
        }
    }

    /// Performs the operation on the staged files. An operation that fails leaves them unchanged.
    pub(crate) fn perform(
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
                    allowed(env, draft, (at, &at.written), NeededLines::All, unread)?;
                }
                let bytes = match old.and_then(|old| TextFile::new(old).ok()) {
                    Some(old) => encode_like(content, &old, *form).map_err(|e| bad_text(&e))?,
                    None => content.clone().into_bytes(),
                };
                put(env, draft, at, bytes, consent)
            }
            FileOperation::Append { at, content, form } => {
                let old = draft.held(env, at, consent).map_err(fail)?.bytes().cloned().unwrap_or_default();
                allowed(env, draft, (at, &at.written), NeededLines::Of(&[]), unread)?;
                let bytes = match (TextFile::new(old.clone()).ok().filter(|_| !old.is_empty()), form) {
                    (Some(file), WriteEncoding::OfTheFile) => appended(&old, &file, content)?,
                    (Some(file), WriteEncoding::Exact) => {
                        file.refuse_guess(content).map_err(|e| bad_text(&e))?;
                        [old.as_slice(), content.as_bytes()].concat()
                    }
                    _ => [old.as_slice(), content.as_bytes()].concat(),
                };
                put(env, draft, at, bytes, consent)
            }
            FileOperation::Replace { at, old, new, how } => {
                self.replace(env, draft, (at, consent, unread), (old, new, *how))
            }
            FileOperation::Delete { at } => {
                draft.held(env, at, consent).map_err(fail)?;
                allowed(env, draft, (at, &at.written), NeededLines::All, unread)?;
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
        let (file, replacement) = match how {
            ReplacePolicy::Bytes => (TextFile::of_bytes(bytes.clone()), Replacement::of_bytes(old, new)),
            ReplacePolicy::One | ReplacePolicy::All => {
                let text = TextFile::new(bytes.clone()).map_err(|_| {
                    ToolError::new(format!("`{}` is not text", at.written)).because(CallFailure::NotText)
                })?;
                (text, Replacement::of_text(old, new))
            }
        };
        if old.is_empty() && how == ReplacePolicy::Bytes {
            return Ok(OperationResult { content: Some(bytes), places: 0 });
        }
        if old.is_empty() {
            return Err(ToolError::new("the text to replace is empty"));
        }
        allowed(env, draft, (at, &at.written), NeededLines::Of(&[]), unread)?;
        let spans = without_overlaps(file.places(&replacement, usize::MAX).map_err(|e| bad_text(&e))?);
        match (spans.len(), how) {
            (0, how) if how == ReplacePolicy::Bytes || file.has_line_ends_of(&replacement) => {
                return Ok(OperationResult { content: Some(bytes), places: 0 });
            }
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
        allowed(env, draft, (at, &at.written), NeededLines::Of(&spans), unread)?;
        let places = spans.len();
        let spliced = file.splice(&spans, &replacement).map_err(|e| bad_text(&e))?;
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

/// The lines that must have been shown before an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NeededLines<'a> {
    /// The file must have been read, and the lines of these bytes shown.
    Of(&'a [Range<usize>]),
    /// All lines are lost.
    All,
}

/// Checks whether these lines of the present content of a path may be lost. Lines that this batch wrote or printed may
/// be lost, and so may the lines of a copy. `name` is the path as messages show it.
pub(crate) fn allowed(
    env: &ToolContext,
    draft: &StagedFiles,
    (at, name): (&ResolvedPath, &str),
    needed: NeededLines<'_>,
    unread: UnreadPolicy,
) -> Result<(), ToolError> {
    let Some(source) = draft.source(at).filter(|source| !source.bytes.is_empty()) else { return Ok(()) };
    let refuses = unread == UnreadPolicy::Refuse;
    let Ok(file) = TextFile::new(source.bytes.clone()) else {
        return match needed {
            NeededLines::All if refuses => Err(data(name)),
            _ => Ok(()),
        };
    };
    let index = file.index();
    let lines = |range: &Range<usize>| file.part(index.bytes_of(range));
    let standing = env.ledger().read_status(&source.at.path, source.bytes, source.hash, &[], lines);
    match standing {
        ReadStatus::Never if refuses && !source.is_printed() => return Err(never_read(name)),
        ReadStatus::Changed(change) => {
            return Err(changed(env, source.at, name, &file, source.hash, &change));
        }
        _ => {}
    }
    let known = env.ledger().known_now(&source.at.path, source.bytes, source.hash, lines);
    // The usual cases do not need a comparison of the contents.
    let all_seen = !refuses || known.seen.covers(&(0..index.len()));
    if known.foreign.is_empty() && all_seen || matches!(needed, NeededLines::Of([])) {
        return Ok(());
    }
    let Ok(now) = TextFile::new(source.now.clone()) else { return Ok(()) };
    let after = source.known(&known);
    let (targets, column): (Vec<Range<usize>>, _) = match needed {
        NeededLines::All => (std::iter::once(0..now.line_count()).collect(), None),
        NeededLines::Of(spans) => {
            let targets = after.needed(&now.index(), spans);
            let missing = gaps(&after, &targets);
            (targets, column_of(&now, spans, &missing))
        }
    };
    if targets.iter().any(|target| !after.foreign.within(&RangeSet::of(target.clone())).is_empty()) {
        return Err(unshown(env, source.at, name, (&file, source.hash), &known.foreign));
    }
    if refuses { shown(name, &after, &targets, column, needed) } else { Ok(()) }
}

fn shown(
    name: &str,
    known: &KnownLines,
    targets: &[Range<usize>],
    column: Option<usize>,
    needed: NeededLines<'_>,
) -> Result<(), ToolError> {
    let missing = gaps(known, targets);
    match (missing.ranges().next(), needed) {
        (None, _) => Ok(()),
        (Some(first), NeededLines::All) => Err(would_lose(name, &known.seen, first.start)),
        (Some(_), NeededLines::Of(_)) => Err(not_shown(name, &known.seen, &missing, column)),
    }
}

fn gaps(known: &KnownLines, targets: &[Range<usize>]) -> RangeSet {
    let mut missing = RangeSet::new();
    targets.iter().filter_map(|target| known.seen.first_gap(target)).for_each(|gap| missing.insert(gap));
    missing
}

fn data(name: &str) -> ToolError {
    let force = HintTool::WriteFile.parameter("force");
    let error = ToolError::hint(
        format!("`{name}` contains data, not text: nothing of it was shown to you"),
        hint!["set ", force, " to lose it anyway"],
    );
    error.because(CallFailure::NotText)
}
