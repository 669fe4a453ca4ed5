//! Applies a patch to staged files, file by file.
//!
//! Sources of renames and copies are read as they were before the patch, and so two files can swap names; edits see the
//! result of earlier steps. Every file is tried, and so one answer reports every failure.

use super::ledger_check::{LedgerVerdict, judge, told_near};
use super::resolve::ResolvedFilePatch;
use crate::files::edit::UnreadPolicy;
use crate::files::edit_errors::{bad_text, changed_lead};
use crate::files::staged_files::{StagedFiles, StagedState, in_words};
use crate::{CallFailure, ToolContext, ToolError};
use placet_text::text::TextEncoding;
use placet_text::text::patch::{
    FilePatch, FilePatchBody, FilePatchKind, HunkError, HunkErrorKind, Options, PatchApplyError,
    PatchLineKind, PatchedContent, apply,
};
use placet_workspace::{EditError, OpenConsent, ResolvedPath, TextFile, WorkspaceError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// How many files whose hunks failed one answer reports.
const TOLD: usize = 10;

/// The result of a patch.
#[derive(Debug, Default)]
pub(crate) struct PatchReport {
    /// A line for each file, followed by its adaptations.
    pub(crate) lines: Vec<String>,
    /// The adaptations of all files.
    pub(crate) notes: Vec<String>,
    /// What others changed since the files were read.
    pub(crate) others: String,
}

pub(crate) fn work(
    steps: &[ResolvedFilePatch],
    options: (Options, UnreadPolicy),
    env: &ToolContext,
    draft: &mut StagedFiles,
    consent: OpenConsent<'_>,
) -> Result<PatchReport, ToolError> {
    let mut working = PatchStaging::new(steps, options, env, draft, consent)?;
    let mut errors = Vec::new();
    for step in steps {
        if let Err(error) = working.step(step) {
            errors.push(error);
        }
    }
    match failed(errors, steps.len()) {
        Some(error) => Err(error),
        None => working.finish(),
    }
}

/// All failures as one error.
fn failed(errors: Vec<ToolError>, of: usize) -> Option<ToolError> {
    let count = errors.len();
    let mut errors = errors.into_iter();
    let first = errors.next()?;
    if of == 1 {
        return Some(ToolError { message: format!("{}\nnothing was written", first.message), ..first });
    }
    let mut message = first.message;
    for error in errors.by_ref().take(TOLD - 1) {
        message.push('\n');
        message.push_str(&error.message);
    }
    match errors.count() {
        0 => {}
        more => message.push_str(&format!("\n[... {more} more]")),
    }
    message.push_str(&format!("\n{count} of {of} files failed; nothing was written"));
    Some(ToolError { message, hint: first.hint, fault: first.fault })
}

struct PatchStaging<'w> {
    options: Options,
    unread: UnreadPolicy,
    env: &'w ToolContext,
    draft: &'w mut StagedFiles,
    consent: OpenConsent<'w>,
    /// Sources of renames and copies before the patch.
    sources: BTreeMap<PathBuf, StagedState>,
    /// The paths that the patch removes in the end.
    leaving: BTreeSet<PathBuf>,
    now: BTreeMap<PathBuf, (ResolvedPath, StagedState)>,
    /// The sources of the contents of renamed and copied files.
    origins: BTreeMap<PathBuf, PathBuf>,
    /// The new modes of files whose executable bit changes.
    modes: BTreeMap<PathBuf, u32>,
    done: PatchReport,
}

impl<'w> PatchStaging<'w> {
    fn new(
        steps: &[ResolvedFilePatch],
        (options, unread): (Options, UnreadPolicy),
        env: &'w ToolContext,
        draft: &'w mut StagedFiles,
        consent: OpenConsent<'w>,
    ) -> Result<PatchStaging<'w>, ToolError> {
        let (mut sources, mut leaving) = (BTreeMap::new(), BTreeSet::new());
        for step in steps {
            let Some(from) = &step.from else { continue };
            if matches!(step.kind, FilePatchKind::Rename | FilePatchKind::Copy) {
                let held = draft.held(env, from, consent).map_err(|e| in_words(env, &e))?;
                sources.insert(from.path.clone(), held.clone());
            }
            if matches!(step.kind, FilePatchKind::Rename | FilePatchKind::Delete) {
                leaving.insert(from.path.clone());
            }
        }
        let (now, origins, modes, done) = Default::default();
        Ok(PatchStaging { options, unread, env, draft, consent, sources, leaving, now, origins, modes, done })
    }

    fn held(&mut self, at: &ResolvedPath) -> Result<StagedState, WorkspaceError> {
        if let Some((_, held)) = self.now.get(&at.path) {
            return Ok(held.clone());
        }
        self.draft.held(self.env, at, self.consent).cloned()
    }

    fn step(&mut self, step: &ResolvedFilePatch) -> Result<(), ToolError> {
        let env = self.env;
        let fail = |e: WorkspaceError| in_words(env, &e);
        let old = match (&step.from, step.kind) {
            (None, _) => StagedState::Absent,
            (Some(from), FilePatchKind::Rename | FilePatchKind::Copy) => match self.sources.get(&from.path) {
                Some(held @ StagedState::File { .. }) => held.clone(),
                // The patch itself made the file.
                _ => self.held(from).map_err(fail)?,
            },
            (Some(from), _) => self.held(from).map_err(fail)?,
        };
        if let (Some(from), StagedState::Absent) = (&step.from, &old) {
            return Err(fail(WorkspaceError::Missing(from.path.clone())));
        }
        if step.kind != FilePatchKind::Edit
            && let Some(to) = &step.to
        {
            self.free(step, to)?;
        }
        let name = step.shown(self.env);
        let empty = Arc::default();
        let bytes = old.bytes().unwrap_or(&empty).clone();
        let applied =
            patched(&step.patch, &bytes, self.options).map_err(|e| self.unfit(step, &name, &bytes, e))?;
        let judged = match &step.from {
            Some(from) if step.kind != FilePatchKind::Copy => {
                judge(self.env, (from, self.unread), step, &bytes, &applied)?
            }
            _ => LedgerVerdict::Fine,
        };
        self.told(step, &name, &applied, judged);
        self.keep(step, old, applied.bytes);
        Ok(())
    }

    /// A new file must not exist already, unless the patch itself removes the old file.
    fn free(&mut self, step: &ResolvedFilePatch, to: &ResolvedPath) -> Result<(), ToolError> {
        let same = step.from.as_ref().is_some_and(|from| from.path == to.path);
        let leaves = !self.now.contains_key(&to.path) && self.leaving.contains(&to.path);
        if same || leaves {
            return Ok(());
        }
        match self.held(to) {
            Ok(StagedState::File { .. }) => {}
            // Only the removals of the whole patch show whether the place is free.
            Ok(StagedState::Absent) | Err(WorkspaceError::NotDirectory(_) | WorkspaceError::Directory(_)) => {
                return Ok(());
            }
            Err(e) => return Err(in_words(self.env, &e)),
        }
        let name = self.env.workspace.shown(&to.path);
        let hint = match step.kind {
            FilePatchKind::Create => {
                "change its lines with an update; to replace all of it, read it, then delete it and add it in one patch"
            }
            _ => "choose another name; to replace it, read it, then delete it in the same patch",
        };
        Err(ToolError::hint(format!("`{name}` already exists"), hint).because(CallFailure::Exists))
    }

    fn keep(&mut self, step: &ResolvedFilePatch, old: StagedState, bytes: Vec<u8>) {
        let attrs = match old {
            StagedState::File { attrs, .. } => attrs,
            StagedState::Absent => None,
        };
        if let Some(from) =
            step.from.as_ref().filter(|_| matches!(step.kind, FilePatchKind::Delete | FilePatchKind::Rename))
        {
            // A file that has taken the old name since then remains.
            self.now.entry(from.path.clone()).or_insert((from.clone(), StagedState::Absent));
            if step.kind == FilePatchKind::Delete {
                self.now.insert(from.path.clone(), (from.clone(), StagedState::Absent));
            }
        }
        if let Some(to) = &step.to {
            if let Some(mode) = new_mode(step) {
                self.modes.insert(to.path.clone(), mode);
            }
            if let Some(from) = step.from.as_ref().filter(|from| from.path != to.path) {
                self.origins.insert(to.path.clone(), from.path.clone());
            }
            self.now
                .insert(to.path.clone(), (to.clone(), StagedState::File { bytes: Arc::new(bytes), attrs }));
        }
    }

    fn told(
        &mut self,
        step: &ResolvedFilePatch,
        name: &str,
        applied: &PatchedContent,
        judged: LedgerVerdict,
    ) {
        let letter = match step.kind {
            FilePatchKind::Edit => 'M',
            FilePatchKind::Create => 'A',
            FilePatchKind::Delete => 'D',
            FilePatchKind::Rename => 'R',
            FilePatchKind::Copy => 'C',
        };
        let counts = match &step.patch.body {
            FilePatchBody::Binary(_) => format!("{} bytes of data", applied.bytes.len()),
            FilePatchBody::Hunks(_) => {
                let (added, removed) =
                    applied.edits.iter().fold((0, 0), |(a, r), e| (a + e.new, r + e.old.len()));
                format!("+{added} -{removed}")
            }
        };
        let mode = new_mode(step).map_or(String::new(), |mode| format!(" mode {mode:o}"));
        self.done.lines.push(format!("{letter} {name} {counts}{mode}"));
        let notes: Vec<String> = step.note.iter().chain(&applied.notes).cloned().collect();
        self.done.lines.extend(notes.iter().map(|note| format!("  {note}")));
        self.done.notes.extend(notes);
        if let LedgerVerdict::ChangedSince(diff) = judged {
            self.done.others.push_str(&changed_lead(name));
            self.done.others.push_str(&diff);
        }
    }

    fn unfit(
        &self,
        step: &ResolvedFilePatch,
        name: &str,
        bytes: &Arc<Vec<u8>>,
        error: PatchFailure,
    ) -> ToolError {
        match error {
            PatchFailure::Text(error) => {
                let error = bad_text(&error);
                ToolError { message: format!("`{name}`: {}", error.message), ..error }
            }
            PatchFailure::Patch(error) => {
                if let (
                    Some(from),
                    PatchApplyError::Hunk(HunkError { why: HunkErrorKind::NoPlace(Some(near)), .. }),
                ) = (&step.from, &error)
                {
                    told_near(self.env, from, bytes, near);
                }
                let fault = match &error {
                    PatchApplyError::Hunk(HunkError { why: HunkErrorKind::Ambiguous(places), .. }) => {
                        CallFailure::Ambiguous(places.len())
                    }
                    _ => CallFailure::TextMissing,
                };
                ToolError::hint(format!("`{name}`: {error}"), error.hint()).because(fault)
            }
        }
    }

    /// Stages all results: first the removals, then the new contents.
    fn finish(mut self) -> Result<PatchReport, ToolError> {
        let now = std::mem::take(&mut self.now);
        let gone = now.values().filter(|(_, held)| *held == StagedState::Absent);
        for (at, _) in gone {
            let there = self.draft.held(self.env, at, self.consent).map_err(|e| in_words(self.env, &e))?;
            if *there != StagedState::Absent {
                self.draft.remove(self.env, at, self.consent).map_err(|e| in_words(self.env, &e))?;
            }
        }
        for (at, held) in now.into_values().filter(|(_, held)| *held != StagedState::Absent) {
            let mode = self.modes.get(&at.path).copied();
            let origin = self.origins.get(&at.path).cloned();
            let set = self.draft.set(self.env, &at, (held, origin), self.consent);
            let set = set.and_then(|()| match mode {
                Some(mode) => self.draft.set_mode(self.env, &at, mode, self.consent),
                None => Ok(()),
            });
            set.map_err(|e| in_words(self.env, &e))?;
        }
        Ok(self.done)
    }
}

/// The mode that a step sets, if it is neither the usual mode nor the mode that the file has.
fn new_mode(step: &ResolvedFilePatch) -> Option<u32> {
    let mode = step.patch.new_mode?;
    let usual = if step.kind == FilePatchKind::Create { Some(0o100_644) } else { step.patch.old_mode };
    (usual != Some(mode)).then_some(mode)
}

enum PatchFailure {
    Patch(PatchApplyError),
    Text(EditError),
}

/// Applies the patch to a content in any encoding: the text of a call is UTF-8, but the file may not be.
fn patched(
    patch: &FilePatch,
    bytes: &Arc<Vec<u8>>,
    options: Options,
) -> Result<PatchedContent, PatchFailure> {
    let plain = || apply(patch, bytes, options).map_err(PatchFailure::Patch);
    let Ok(file) = TextFile::new(bytes.clone()) else { return plain() };
    if file.detected().stray && !matches!(patch.body, FilePatchBody::Binary(_)) {
        let added =
            patch.hunks().iter().flat_map(|hunk| &hunk.lines).filter(|l| l.sign == PatchLineKind::Add);
        for line in added {
            file.refuse_guess(&String::from_utf8_lossy(line.text())).map_err(PatchFailure::Text)?;
        }
    }
    let wide = matches!(file.encoding(), TextEncoding::Utf16Le | TextEncoding::Utf16Be);
    let ascii = patch.hunks().iter().flat_map(|hunk| &hunk.lines).all(|line| line.text().is_ascii());
    if file.encoding() == TextEncoding::Utf8
        || ascii && !wide
        || matches!(patch.body, FilePatchBody::Binary(_))
    {
        return plain();
    }
    let (encoding, mark) = (file.encoding(), file.detected().mark);
    let text = file.text();
    let encoded = |text: &str| -> Result<Vec<u8>, PatchFailure> {
        let encoded = encoding.encode(text).map_err(|e| PatchFailure::Text(EditError::Unencodable(e)))?;
        Ok(encoded.into_owned())
    };
    if encoded(&text)? != file.part(mark..bytes.len()) {
        let line = text.lines().position(|l| l.contains('\u{FFFD}')).map_or(1, |n| n + 1);
        return Err(PatchFailure::Text(EditError::Undecodable { encoding, line }));
    }
    let mut applied = apply(patch, text.as_bytes(), options).map_err(PatchFailure::Patch)?;
    let new = String::from_utf8_lossy(&applied.bytes);
    applied.bytes = [file.part(0..mark), &encoded(&new)?].concat();
    applied.notes.push(format!("the file is {encoding}; the result is written in that encoding"));
    Ok(applied)
}
