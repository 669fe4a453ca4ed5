//! Staged files: the files as a call would leave them, worked out in memory and written together.
//!
//! A call with several steps or several files (a patch, a batch of operations) makes its steps here. Later steps see
//! the results of earlier steps, also where a file became a directory or the reverse: a path is what the call has made
//! of it, and what the disk has only as long as the call has not touched it. Nothing on disk changes before [`StagedFiles::commit`], which writes all the changes
//! or none.

use crate::{DiffText, ToolContext, ToolError};
use placet_permission::Permit;
use placet_text::text::{LineDiff, RangeSet, UnifiedDiff};
use placet_workspace::{
    ExpectedContent, FileAttrs, FileRewrite, Hash, KnownLines, LineEdit, OpenConsent, PathState,
    ResolvedPath, RewriteAction, TextFile, WorkspaceError, WriteOutcome, hunks,
};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest file that can be staged, in bytes.
const LARGEST: u64 = 1 << 30;

/// The content of a path, at the beginning or now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum StagedState {
    #[default]
    Absent,
    File {
        bytes: Arc<Vec<u8>>,
        /// The attributes of the file on disk, or of the file that it was copied from; a new file has none yet.
        attrs: Option<FileAttrs>,
    },
}

impl StagedState {
    pub(crate) fn bytes(&self) -> Option<&Arc<Vec<u8>>> {
        match self {
            StagedState::Absent => None,
            StagedState::File { bytes, .. } => Some(bytes),
        }
    }
}

/// One path of the staged files.
#[derive(Clone, Debug)]
pub(crate) struct StagedFile {
    pub(crate) at: ResolvedPath,
    pub(crate) was: StagedState,
    pub(crate) now: StagedState,
    hash: Option<Hash>,
    /// The former path of the content, if the file was copied or renamed.
    origin: Option<PathBuf>,
    /// The path was a directory whose files the call has all removed.
    was_directory: bool,
    /// The content is a copy: the file that it was copied from still has it, or loses it by an operation of its own.
    copied: bool,
    /// Lines of a content of this path that the call's answer prints.
    printed: Option<(Arc<Vec<u8>>, RangeSet)>,
}

impl StagedFile {
    fn is_file(&self) -> bool {
        self.now != StagedState::Absent
    }

    pub(crate) fn changed(&self) -> bool {
        self.was != self.now
    }

    /// Both sides as text, if they are text.
    fn texts(&self) -> Option<(String, String)> {
        let text = |held: &StagedState| match held.bytes() {
            None => Some(String::new()),
            Some(bytes) => TextFile::new(bytes.clone()).ok().map(|file| file.text().to_string()),
        };
        Some((text(&self.was)?, text(&self.now)?))
    }

    /// A unified diff of at most `most` bytes without a header, and the lines added and removed; empty for binary data.
    pub(crate) fn diff(&self, most: usize) -> (UnifiedDiff, (usize, usize)) {
        let Some((before, after)) = self.texts() else { return (UnifiedDiff::default(), (0, 0)) };
        let diff = LineDiff::new(&before, &after);
        (diff.unified(3, most), diff.counts())
    }
}

#[derive(Debug, Default)]
pub(crate) struct StagedFiles {
    leaves: BTreeMap<PathBuf, StagedFile>,
    /// The diff as it is shown, cached until the next change: the comparison of long files is slow.
    pub(crate) shown: OnceCell<(DiffText, (usize, usize))>,
}

impl StagedFiles {
    /// The present state of a path, read on first use.
    pub(crate) fn held(
        &mut self,
        env: &ToolContext,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<&StagedState, WorkspaceError> {
        Ok(&self.leaf(env, at, consent)?.now)
    }

    /// The present content of a path; a missing file is an error.
    pub(crate) fn bytes(
        &mut self,
        env: &ToolContext,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<Arc<Vec<u8>>, WorkspaceError> {
        let held = self.held(env, at, consent)?;
        held.bytes().cloned().ok_or_else(|| WorkspaceError::Missing(at.path.clone()))
    }

    /// Replaces the content of a path; the path retains its attributes.
    pub(crate) fn put(
        &mut self,
        env: &ToolContext,
        at: &ResolvedPath,
        bytes: Vec<u8>,
        consent: OpenConsent<'_>,
    ) -> Result<(), WorkspaceError> {
        let leaf = self.writable(env, at, consent)?;
        let attrs = match &leaf.now {
            StagedState::File { attrs, .. } => attrs.clone(),
            StagedState::Absent => None,
        };
        leaf.now = StagedState::File { bytes: Arc::new(bytes), attrs };
        Ok(())
    }

    /// Sets the content and attributes of a path, which derive from the first state of `origin`.
    pub(crate) fn set(
        &mut self,
        env: &ToolContext,
        at: &ResolvedPath,
        (held, origin): (StagedState, Option<PathBuf>),
        consent: OpenConsent<'_>,
    ) -> Result<(), WorkspaceError> {
        let leaf = self.writable(env, at, consent)?;
        leaf.now = held;
        leaf.origin = origin;
        Ok(())
    }

    /// Removes a file. A link is refused and not followed, because the removal would affect its target.
    pub(crate) fn remove(
        &mut self,
        env: &ToolContext,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<(), WorkspaceError> {
        refuse_link(env, at)?;
        let leaf = self.writable(env, at, consent)?;
        if leaf.now == StagedState::Absent {
            return Err(WorkspaceError::Missing(at.path.clone()));
        }
        leaf.now = StagedState::Absent;
        Ok(())
    }

    /// Gives `to` the content and attributes of `from`; `to` must not exist.
    pub(crate) fn copy(
        &mut self,
        env: &ToolContext,
        from: &ResolvedPath,
        to: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<(), WorkspaceError> {
        let source = self.leaf(env, from, consent)?.clone();
        self.receive(env, StagedFile { copied: true, ..source }, to, consent)
    }

    /// Puts what `source` has at another path, where nothing is.
    fn receive(
        &mut self,
        env: &ToolContext,
        source: StagedFile,
        to: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<(), WorkspaceError> {
        if source.now == StagedState::Absent {
            return Err(WorkspaceError::Missing(source.at.path));
        }
        let target = self.writable(env, to, consent)?;
        if target.now != StagedState::Absent {
            return Err(WorkspaceError::Exists(to.path.clone()));
        }
        target.now = source.now;
        target.origin = source.origin.or(Some(source.at.path));
        (target.copied, target.printed) = (source.copied, source.printed);
        Ok(())
    }

    pub(crate) fn rename(
        &mut self,
        env: &ToolContext,
        from: &ResolvedPath,
        to: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<(), WorkspaceError> {
        refuse_link(env, from)?;
        if from.path == to.path {
            return Err(WorkspaceError::Exists(to.path.clone()));
        }
        let source = self.writable(env, from, consent)?;
        let (moved, left) = (source.clone(), std::mem::take(&mut source.now));
        // The new path may be below the old one, or above it.
        let received = self.receive(env, moved, to, consent);
        if received.is_err() {
            self.leaf(env, from, consent)?.now = left;
        }
        received
    }

    /// Sets the bits of `chmod` that git records: whether a file is executable.
    pub(crate) fn set_mode(
        &mut self,
        env: &ToolContext,
        at: &ResolvedPath,
        mode: u32,
        consent: OpenConsent<'_>,
    ) -> Result<(), WorkspaceError> {
        let leaf = self.writable(env, at, consent)?;
        if let StagedState::File { attrs, .. } = &mut leaf.now {
            let mut given = attrs.clone().unwrap_or_else(FileAttrs::of_new_file);
            given.mode = match mode & 0o111 {
                0 => given.mode & !0o111,
                // A user who may read the file may run it.
                _ => given.mode | (given.mode & 0o444) >> 2,
            };
            *attrs = Some(given);
        }
        Ok(())
    }

    /// Records that the answer of the call prints these lines of the present content of a path.
    pub(crate) fn print(&mut self, at: &ResolvedPath, lines: RangeSet) {
        if let Some(leaf) = self.leaves.get_mut(&at.path)
            && let Some(content) = leaf.now.bytes().cloned()
        {
            leaf.printed = Some((content, lines));
        }
    }

    /// The present state of a path, and the content on disk that its content was at first: its own, or that of the file
    /// that was moved here.
    pub(crate) fn source(&self, at: &ResolvedPath) -> Option<StagedSource<'_>> {
        let leaf = self.leaves.get(&at.path).filter(|leaf| !leaf.copied)?;
        let origin = self.origin(leaf);
        let (now, bytes, hash) = (leaf.now.bytes()?, origin.was.bytes()?, origin.hash?);
        Some(StagedSource { leaf, now, at: &origin.at, bytes, hash })
    }

    /// Lines that the answer prints count as seen once the answer is sent.
    pub(crate) fn credit(&self, env: &ToolContext) {
        for leaf in self.leaves.values() {
            let Some(now) = leaf.now.bytes() else { continue };
            let lines = leaf.printed_now(now);
            if !lines.is_empty() {
                env.ledger().record_read_ranges(&leaf.at.path, now, blake3::hash(now), &lines);
            }
        }
    }

    /// The paths that would change, sorted.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &StagedFile> {
        self.leaves.values().filter(|leaf| leaf.changed())
    }

    /// Writes all the changes or none, and updates the ledger.
    pub(crate) fn commit(
        &self,
        env: &ToolContext,
        permit: &Permit,
    ) -> Result<Vec<WriteOutcome>, WorkspaceError> {
        let batch: Vec<FileRewrite> = self.changes().map(|leaf| self.rewrite(leaf)).collect();
        let known: Vec<_> = self.changes().map(|leaf| seen_before(env, self.origin(leaf))).collect();
        let written = env.workspace.write_all(&batch, permit)?;
        for ((leaf, known), written) in self.changes().zip(known).zip(&written) {
            let mut ledger = env.ledger();
            match leaf.now.bytes() {
                None => ledger.forget(&leaf.at.path),
                Some(bytes) => {
                    let origin = self.origin(leaf);
                    let edits = line_edits(origin, bytes);
                    ledger.wrote(&leaf.at.path, (bytes, written.hash), &edits, &known);
                    if let (false, Some(before), Ok(file)) =
                        (known.parts.is_empty(), origin.was.bytes(), TextFile::new(bytes.clone()))
                    {
                        let parts = parts_outside(&known, before, bytes);
                        ledger.record_parts(&leaf.at.path, &file, written.hash, &parts);
                    }
                }
            }
        }
        Ok(written)
    }

    /// The staged file whose first content became the content of this file: itself, or the file that it was copied
    /// from.
    fn origin<'d>(&'d self, leaf: &'d StagedFile) -> &'d StagedFile {
        leaf.origin.as_ref().and_then(|path| self.leaves.get(path)).unwrap_or(leaf)
    }

    fn leaf(
        &mut self,
        env: &ToolContext,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<&mut StagedFile, WorkspaceError> {
        self.shown = OnceCell::new();
        if let Some(file) = at.path.ancestors().skip(1).find(|dir| self.is_made(dir)) {
            return Err(WorkspaceError::NotDirectory(file.to_path_buf()));
        }
        if self.below(&at.path).any(StagedFile::is_file) {
            return Err(WorkspaceError::Directory(at.path.clone()));
        }
        if !self.leaves.contains_key(&at.path) {
            let leaf = self.loaded(env, at, consent)?;
            self.leaves.insert(at.path.clone(), leaf);
        }
        self.leaves.get_mut(&at.path).ok_or_else(|| WorkspaceError::Missing(at.path.clone()))
    }

    /// A path that a step changes: what the write would refuse is the step's own error.
    fn writable(
        &mut self,
        env: &ToolContext,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<&mut StagedFile, WorkspaceError> {
        env.workspace.refuse_unwritable(at)?;
        self.leaf(env, at, consent)
    }

    /// What is on disk at a path that no step has named yet.
    fn loaded(
        &self,
        env: &ToolContext,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<StagedFile, WorkspaceError> {
        if let Some(file) = at.below_file.as_ref().filter(|file| !self.is_removed(file)) {
            return Err(WorkspaceError::NotDirectory(file.clone()));
        }
        let absent = |was_directory| StagedFile {
            at: at.clone(),
            was: StagedState::Absent,
            now: StagedState::Absent,
            hash: None,
            origin: None,
            was_directory,
            copied: false,
            printed: None,
        };
        if at.below_file.is_some() {
            return Ok(absent(false));
        }
        match env.workspace.load(at, consent, LARGEST) {
            Ok((bytes, hash)) => {
                let was = StagedState::File { bytes, attrs: attrs(env, at, consent)? };
                Ok(StagedFile { now: was.clone(), was, hash: Some(hash), ..absent(false) })
            }
            Err(WorkspaceError::Missing(_)) => Ok(absent(false)),
            Err(WorkspaceError::Directory(_)) if self.empties(env, at)? => Ok(absent(true)),
            Err(e) => Err(e),
        }
    }

    /// True if the call has removed everything in a directory, but for the directories that this leaves empty.
    fn empties(&self, env: &ToolContext, at: &ResolvedPath) -> Result<bool, WorkspaceError> {
        if self.below(&at.path).next().is_none() {
            return Ok(false);
        }
        let entries = env.workspace.entries_below(&at.path)?;
        Ok(entries.iter().all(|(path, is_dir)| match is_dir {
            true => self.below(path).next().is_some(),
            false => self.is_removed(path),
        }))
    }

    fn below<'d>(&'d self, dir: &'d Path) -> impl Iterator<Item = &'d StagedFile> {
        let rest = self.leaves.range::<Path, _>((Bound::Excluded(dir), Bound::Unbounded));
        rest.take_while(move |(path, _)| path.starts_with(dir)).map(|(_, leaf)| leaf)
    }

    fn is_made(&self, path: &Path) -> bool {
        self.leaves.get(path).is_some_and(StagedFile::is_file)
    }

    fn is_removed(&self, path: &Path) -> bool {
        self.leaves.get(path).is_some_and(|leaf| leaf.changed() && !leaf.is_file())
    }

    fn rewrite(&self, leaf: &StagedFile) -> FileRewrite {
        let before = match (leaf.hash, leaf.was_directory) {
            (Some(hash), _) => ExpectedContent::Content(hash),
            (None, true) => ExpectedContent::EmptiedDirectory,
            (None, false) => ExpectedContent::Absent,
        };
        let after = match &leaf.now {
            StagedState::Absent if self.below(&leaf.at.path).any(StagedFile::is_file) => {
                RewriteAction::Directory
            }
            StagedState::Absent => RewriteAction::Gone,
            StagedState::File { bytes, attrs } => {
                RewriteAction::Content { bytes: bytes.clone(), attrs: attrs.clone() }
            }
        };
        FileRewrite { at: leaf.at.clone(), before, after }
    }
}

/// See [`StagedFiles::source`].
pub(crate) struct StagedSource<'d> {
    leaf: &'d StagedFile,
    pub(crate) now: &'d Arc<Vec<u8>>,
    /// The file on disk, its content and its hash.
    pub(crate) at: &'d ResolvedPath,
    pub(crate) bytes: &'d Arc<Vec<u8>>,
    pub(crate) hash: Hash,
}

impl StagedSource<'_> {
    pub(crate) fn is_printed(&self) -> bool {
        self.leaf.printed.is_some()
    }

    /// What the caller knows of the present lines; `known` is what the caller knew of the lines on disk.
    pub(crate) fn known(&self, known: &KnownLines) -> KnownLines {
        let mut after = match self.now == self.bytes {
            true => known.clone(),
            false => {
                let (mut after, written) = known.through(&edits_between(self.bytes, self.now));
                after.seen.extend(&written);
                after.parts = parts_outside(known, self.bytes, self.now);
                after
            }
        };
        let printed = self.leaf.printed_now(self.now);
        after.seen.extend(&printed);
        after.foreign = after.foreign.without(&printed);
        after
    }
}

impl StagedFile {
    /// The printed lines, at their present positions.
    fn printed_now(&self, now: &Arc<Vec<u8>>) -> RangeSet {
        match &self.printed {
            None => RangeSet::new(),
            Some((content, lines)) if content == now => lines.clone(),
            Some((content, lines)) => {
                let known = KnownLines { seen: lines.clone(), ..KnownLines::default() };
                known.through(&edits_between(content, now)).0.seen
            }
        }
    }
}

/// The error of a staged operation as a tool error.
pub(crate) fn in_words(env: &ToolContext, error: &WorkspaceError) -> ToolError {
    match error {
        WorkspaceError::Exists(path) => ToolError::hint(
            format!("`{}` already exists", env.workspace.shown(path)),
            "delete it first, or choose another name",
        ),
        other => env.path_error(other),
    }
}

fn attrs(
    env: &ToolContext,
    at: &ResolvedPath,
    consent: OpenConsent<'_>,
) -> Result<Option<FileAttrs>, WorkspaceError> {
    match env.workspace.node(at, consent)? {
        PathState::File { attrs, .. } => Ok(Some(attrs)),
        _ => Ok(None),
    }
}

fn seen_before(env: &ToolContext, leaf: &StagedFile) -> KnownLines {
    let (Some(bytes), Some(hash)) = (leaf.was.bytes(), leaf.hash) else {
        return KnownLines::default();
    };
    let Ok(file) = TextFile::new(bytes.clone()) else { return KnownLines::default() };
    let index = file.index();
    env.ledger().known_now(&leaf.at.path, bytes, hash, |lines| file.part(index.bytes_of(lines)))
}

/// What changed, as line edits: a caller has seen what its own call wrote.
fn line_edits(from: &StagedFile, after: &[u8]) -> Vec<LineEdit> {
    let empty = Vec::new();
    edits_between(from.was.bytes().map_or(&empty, |b| b.as_ref()), after)
}

/// The parts of long lines that are known of a content, before and after what changed in it.
fn parts_outside(known: &KnownLines, before: &[u8], after: &[u8]) -> RangeSet {
    if known.parts.is_empty() {
        return RangeSet::new();
    }
    let most = before.len().min(after.len());
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let tails = before.iter().rev().zip(after.iter().rev());
    let tail = tails.take(most - head).take_while(|(a, b)| a == b).count();
    let (gone, put) = (head..before.len() - tail, head..after.len() - tail);
    known.parts_through(&[(gone, put.len())]).without(&RangeSet::of(put))
}

fn edits_between(before: &[u8], after: &[u8]) -> Vec<LineEdit> {
    let edit = |hunk: placet_workspace::Hunk| LineEdit { old: hunk.old_lines, new_len: hunk.new_lines.len() };
    hunks(before, after).into_iter().map(edit).collect()
}

fn refuse_link(env: &ToolContext, at: &ResolvedPath) -> Result<(), WorkspaceError> {
    if is_link(env, at)? { Err(WorkspaceError::Link(at.path.clone())) } else { Ok(()) }
}

/// True if the written name of a path is a link to the path.
pub(crate) fn is_link(env: &ToolContext, at: &ResolvedPath) -> Result<bool, WorkspaceError> {
    let written = std::path::Path::new(&at.written);
    let (Some(parent), Some(name)) = (written.parent(), written.file_name()) else { return Ok(false) };
    let parent = if parent.as_os_str().is_empty() { ".".into() } else { parent.to_string_lossy() };
    Ok(env.workspace.resolve_staged(&parent)?.path.join(name) != at.path)
}
