//! Undo of several transactions, where others changed the same file between two of them.
//!
//! The content before the first transaction does not have the others' work and must not be copied back. Each
//! transaction is removed from the present content by itself, the newest first.

use crate::apply::{ApplyStep, ContentSource};
use crate::files::content::sparse;
use crate::files::metadata::path_state::PathState;
use crate::history::journal::{AppliedChange, JournalEntry};
use crate::view::View;
use crate::view::layers::stack::node_at;
use placet_text::text::hunk;
use placet_text::text::sided_merge::merged;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Why a change cannot be undone while the person's own change to the same lines is there.
pub const SAME_LINES: &str = "the same lines changed in the meantime";
/// The same where only lines directly above or below changed.
pub const NEXT_LINES: &str = "lines next to the change changed in the meantime";

/// Why `base` cannot be merged with the present content and with the content that an undo wants.
pub(in crate::view) fn why_not_merged(base: &[u8], now: &[u8], wanted: &[u8]) -> &'static str {
    if hunk::change_same_lines(base, now, wanted) { SAME_LINES } else { NEXT_LINES }
}

/// What an undo does to a path.
pub(in crate::view) enum UndoAction {
    Nothing,
    Step(ApplyStep),
    Merged(ApplyStep),
    Left(String),
    Lost(String),
}

/// The changes of the paths that do not follow each other, in the order of `entries`.
pub(in crate::view) fn interrupted(entries: &[JournalEntry]) -> BTreeMap<Arc<Path>, Vec<AppliedChange>> {
    let mut parts: BTreeMap<Arc<Path>, Vec<AppliedChange>> = BTreeMap::new();
    // Paths that one entry alone has follow each other, and there may be hundreds of thousands.
    let (mut once, mut again): (BTreeSet<&Path>, BTreeSet<&Path>) = Default::default();
    if entries.len() > 1 {
        let paths = entries.iter().flat_map(|entry| &entry.changes).map(|change| &*change.path);
        again.extend(paths.filter(|path| !once.insert(path)));
    }
    let changes = entries.iter().flat_map(|entry| &entry.changes);
    for change in changes.filter(|change| again.contains(&*change.path)) {
        let known = parts.entry(change.path.clone()).or_default();
        match known.last_mut() {
            Some(last) if follows(last, change) => last.after = change.after.clone(),
            _ => known.push(change.clone()),
        }
    }
    parts.retain(|_, parts| parts.len() > 1);
    parts
}

/// A change of mode or owner in between is not work that could be lost.
fn follows(last: &AppliedChange, next: &AppliedChange) -> bool {
    last.after == next.before || last.after.same_content(&next.before)
}

impl View {
    pub(in crate::view) fn back_in_parts(&self, parts: &[AppliedChange]) -> io::Result<UndoAction> {
        let left = |why: &str| Ok(UndoAction::Left(why.into()));
        let Some(last) = parts.last() else { return Ok(UndoAction::Nothing) };
        let now = node_at(&last.path)?;
        let (PathState::File { attrs, .. }, Ok(mut bytes)) = (&now, sparse::read_small_at(&last.path)) else {
            return left("it changed in the meantime, in a way that cannot be merged");
        };
        for part in parts.iter().rev() {
            let (PathState::File { hash: base, .. }, PathState::File { hash: before, .. }) =
                (&*part.after, &*part.before)
            else {
                return left("it changed in the meantime, in a way that cannot be merged");
            };
            let (Ok(base), Ok(before)) = (self.objects().get(*base), self.objects().get(*before)) else {
                return left("it changed in the meantime");
            };
            bytes = match merged(&base, &bytes, &before) {
                Some(merged) => merged,
                None => return left(why_not_merged(&base, &bytes, &before)),
            };
        }
        let (hash, size) = (blake3::hash(&bytes), bytes.len() as u64);
        let after = PathState::File { hash, size, attrs: attrs.clone() };
        if after.same_content(&now) {
            return Ok(UndoAction::Nothing);
        }
        Ok(UndoAction::Merged(ApplyStep {
            path: Arc::clone(&last.path),
            before: now.into(),
            after: after.into(),
            source: ContentSource::Bytes(Arc::new(bytes)),
            twin: None,
            was_twin: None,
            keep_names: parts.iter().any(|part| part.in_place),
            fresh: false,
            unread: false,
            seen: None,
            history: std::sync::Arc::default(),
        }))
    }
}
