//! Replaying a file's history, so that each line ends with the mark of its author.
//!
//! Within a transaction the calls come one after the other, by the contents stored between them. A line that the whole
//! transaction left in place keeps its mark, whatever a call did to it in between: text that was removed and restored
//! was not written. An undo gives the lines their marks back; where a content is missing, blame does not guess.

use super::annotate::AnnotatedContent;
use super::file_history::{FileHistory, FileRevision};
use super::{LineAttribution, LineStatus, MOST};
use crate::Hash;
use crate::files::content::sparse::read_small_at;
use crate::files::metadata::path_state::PathState;
use crate::history::journal::TransactionKind;
use crate::history::objects::ObjectStore;
use crate::history::origin::{ApprovedBy, ChangeOrigin, OriginStep};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What is known of the file at one moment.
#[derive(Clone, Debug)]
enum ContentState {
    Gone,
    Here(AnnotatedContent),
    /// Its content is not known; this is the last one that is.
    Lost(Option<AnnotatedContent>),
}

/// The file before and after a transaction, for an undo and a redo of it.
struct RevisionContents {
    before: ContentState,
    after: ContentState,
}

pub(super) struct BlameReplay<'a> {
    objects: &'a ObjectStore,
    path: &'a Path,
    current: Arc<Vec<u8>>,
    current_hash: Hash,
    claims: Vec<Arc<LineAttribution>>,
    saved: BTreeMap<u64, RevisionContents>,
    /// Lines without a transaction may be of one that was pruned.
    pruned: bool,
    /// The transaction that came last.
    last: Option<u64>,
}

impl<'a> BlameReplay<'a> {
    pub(super) fn new(
        objects: &'a ObjectStore,
        path: &'a Path,
        current: Arc<Vec<u8>>,
        pruned: bool,
    ) -> BlameReplay<'a> {
        let current_hash = blake3::hash(&current);
        let (claims, saved) = (Vec::new(), BTreeMap::new());
        BlameReplay { objects, path, current, current_hash, claims, saved, pruned, last: None }
    }

    /// The claims, and for each line of the current content the number of its claim.
    pub(super) fn run(mut self, past: &FileHistory) -> (Vec<Arc<LineAttribution>>, Vec<usize>) {
        let mut now: Option<ContentState> = None;
        for moment in &past.0 {
            let before = match now {
                None => self.beginning(moment),
                Some(known) => self.reconciled(known, moment),
            };
            let after = self.played(&before, moment);
            if let Some(id) = moment.entry {
                self.saved.insert(id, RevisionContents { before, after: after.clone() });
                self.last = Some(id);
            }
            now = Some(after);
        }
        let current = Arc::clone(&self.current);
        let end = match now {
            None => {
                let mark = self.before_all();
                AnnotatedContent::all(current, mark)
            }
            Some(now) => self.outside(&now, current, None),
        };
        (self.claims, end.marks.to_vec())
    }

    fn mark(&mut self, claim: LineAttribution) -> usize {
        if let Some(at) = self.claims.iter().rposition(|known| **known == claim) {
            return at;
        }
        self.claims.push(Arc::new(claim));
        self.claims.len() - 1
    }

    fn unknown(&mut self, why: impl Into<String>) -> usize {
        self.mark(LineAttribution::nobody(LineStatus::Unknown { why: why.into() }))
    }

    fn before_all(&mut self) -> usize {
        match self.pruned {
            true => self.unknown("the transactions with this information were pruned from the journal"),
            false => self.mark(LineAttribution::nobody(LineStatus::Before)),
        }
    }

    fn content(&self, hash: Hash, size: u64, at: &Path) -> Option<Arc<Vec<u8>>> {
        if size > MOST {
            return None;
        }
        if self.current_hash == hash {
            return Some(Arc::clone(&self.current));
        }
        let on_disk = || read_small_at(at).ok().filter(|bytes| blake3::hash(bytes) == hash);
        let elsewhere =
            || on_disk().or_else(|| read_small_at(self.path).ok().filter(|b| blake3::hash(b) == hash));
        self.objects.get(hash).ok().or_else(elsewhere).map(Arc::new)
    }

    /// The file as its first transaction found it.
    fn beginning(&mut self, moment: &FileRevision) -> ContentState {
        let PathState::File { hash, size, .. } = &moment.before else { return ContentState::Gone };
        let mark = self.before_all();
        match self.content(*hash, *size, &moment.path) {
            Some(bytes) => ContentState::Here(AnnotatedContent::all(bytes, mark)),
            None => ContentState::Lost(None),
        }
    }

    /// The file as the next transaction found it: what differs from how the last one left it came past placet.
    fn reconciled(&mut self, known: ContentState, moment: &FileRevision) -> ContentState {
        let PathState::File { hash, size, .. } = &moment.before else { return ContentState::Gone };
        match (self.content(*hash, *size, &moment.path), known) {
            (Some(bytes), known) => ContentState::Here(self.outside(&known, bytes, moment.entry)),
            (None, ContentState::Here(last) | ContentState::Lost(Some(last))) => {
                ContentState::Lost(Some(last))
            }
            (None, ContentState::Gone | ContentState::Lost(None)) => ContentState::Lost(None),
        }
    }

    /// `bytes` as they follow on `now` without a transaction in between.
    fn outside(&mut self, now: &ContentState, bytes: Arc<Vec<u8>>, before: Option<u64>) -> AnnotatedContent {
        let past_placet = LineAttribution::nobody(LineStatus::Outside { after: self.last, before });
        match now {
            ContentState::Here(last) if last.bytes == bytes => last.clone(),
            ContentState::Here(last) => last.next(bytes, self.mark(past_placet)),
            ContentState::Gone => AnnotatedContent::all(bytes, self.mark(past_placet)),
            ContentState::Lost(last) => {
                let mark = self.unknown(self.lost());
                last.as_ref().map_or_else(
                    || AnnotatedContent::all(Arc::clone(&bytes), mark),
                    |l| l.next(bytes.clone(), mark),
                )
            }
        }
    }

    fn lost(&self) -> String {
        match self.last {
            Some(id) => format!("the content after transaction {id} is no longer stored"),
            None => "the content before the first transaction is no longer stored".into(),
        }
    }

    /// The file after a transaction.
    fn played(&mut self, before: &ContentState, moment: &FileRevision) -> ContentState {
        let PathState::File { hash, size, .. } = &moment.after else { return ContentState::Gone };
        let Some(bytes) = self.content(*hash, *size, &moment.path) else {
            return ContentState::Lost(match before {
                ContentState::Here(last) | ContentState::Lost(Some(last)) => Some(last.clone()),
                ContentState::Gone | ContentState::Lost(None) => None,
            });
        };
        let (begin, sure) = match before {
            ContentState::Here(last) => (last.clone(), true),
            ContentState::Gone => (AnnotatedContent::default(), true),
            ContentState::Lost(last) => (last.clone().unwrap_or_default(), false),
        };
        if !sure {
            // What the transaction found and what it wrote cannot be distinguished.
            let why = format!("{}, so later changes cannot be attributed", self.lost());
            let mark = self.unknown(why);
            return ContentState::Here(begin.next(bytes, mark));
        }
        let written = match self.brought_back(moment) {
            Some(saved) => saved.kept(&bytes),
            None => Vec::new(),
        };
        let by_calls = self.by_calls(&begin, moment, &bytes);
        let marks = begin.kept(&bytes).into_iter().enumerate().map(|(at, stayed)| {
            let back = written.get(at).copied().flatten();
            stayed.or(back).or_else(|| by_calls.marks.get(at).copied()).unwrap_or(0)
        });
        let marks = Arc::new(marks.collect());
        ContentState::Here(AnnotatedContent { bytes, marks })
    }

    /// The content whose marks come back: the target of an undo or a redo.
    fn brought_back(&self, moment: &FileRevision) -> Option<AnnotatedContent> {
        let here = |now: &ContentState| match now {
            ContentState::Here(marked) => Some(marked.clone()),
            ContentState::Gone | ContentState::Lost(_) => None,
        };
        let saved = |id: &u64| self.saved.get(id);
        match &moment.kind {
            TransactionKind::Undo { of, .. } => of.iter().filter_map(saved).find_map(|s| here(&s.before)),
            TransactionKind::Redo { of, .. } => {
                of.iter().rev().filter_map(saved).find_map(|s| here(&s.after))
            }
            // Earlier versions wrote an undo of a path as an apply that no call made.
            TransactionKind::Apply if moment.steps.is_empty() => {
                let hash = moment.after.hash();
                let same = |now: &ContentState| here(now).filter(|m| Some(blake3::hash(&m.bytes)) == hash);
                self.saved.values().rev().find_map(|s| same(&s.before))
            }
            TransactionKind::Apply => None,
        }
    }

    /// Every line with the mark of the call that wrote it, as far as the contents between the calls are
    /// stored.
    fn by_calls(
        &mut self,
        begin: &AnnotatedContent,
        moment: &FileRevision,
        after: &Arc<Vec<u8>>,
    ) -> AnnotatedContent {
        let mut now = begin.clone();
        let mut open: Vec<&OriginStep> = Vec::new();
        let last = moment.steps.len().saturating_sub(1);
        for (at, step) in moment.steps.iter().enumerate() {
            open.push(step);
            let content = step.content.filter(|_| at < last).and_then(|h| self.content(h, 0, &moment.path));
            if let Some(content) = content {
                let mark = self.claimed(&open, moment);
                now = now.next(content, mark);
                open.clear();
            }
        }
        let mark = self.claimed(&open, moment);
        now.next(Arc::clone(after), mark)
    }

    /// The mark of lines that one of these steps wrote.
    fn claimed(&mut self, steps: &[&OriginStep], moment: &FileRevision) -> usize {
        let mut origins: Vec<&Option<Arc<ChangeOrigin>>> = steps.iter().map(|s| &s.origin).collect();
        origins.dedup();
        let standing = if moment.entry.is_some() { LineStatus::Workspace } else { LineStatus::Pending };
        let origin = match origins.as_slice() {
            [one] => (*one).clone(),
            [] => None,
            several => {
                let name = |o: &&Option<Arc<ChangeOrigin>>| {
                    o.as_ref().map_or_else(
                        || "an unrecorded call".to_string(),
                        |o| format!("{} ({})", o.title, o.call),
                    )
                };
                let names: Vec<String> = several.iter().map(name).collect();
                return self.unknown(format!("one of these calls wrote it: {}", names.join(", ")));
            }
        };
        let label = &moment.label;
        let of_entry = || {
            let ApprovedBy::You { how } = &label.assent else { return label.title.clone() };
            if matches!(moment.kind, TransactionKind::Apply) { label.title.clone() } else { how.clone() }
        };
        let origin = origin.or_else(|| {
            moment.entry.map(|_| {
                Arc::new(ChangeOrigin {
                    turn: label.turn.clone(),
                    session: label.session.clone(),
                    title: of_entry(),
                    at: moment.at,
                    ..ChangeOrigin::default()
                })
            })
        });
        self.mark(LineAttribution { standing, origin, assent: label.assent.clone(), entry: moment.entry })
    }
}
