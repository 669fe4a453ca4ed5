//! Applying and discarding what is pending.

use super::conflicts::merged_attrs;
use super::selection::ResolvedPart;
pub use super::selection::{ApplyOutcome, ChangeSelection, SelectedPart, repository_of};
use super::shown::ShownChanges;
use crate::apply::{ApplyError, ApplyStep, ContentSource, GIVE_BACK, crash_point, fault};
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::changes::classify::{ChangeApproval, ChangeClasses};
use crate::files::metadata::path_state::PathState;
use crate::files::metadata::shared_state::SharedState;
use crate::history::file_rename::FileRename;
use crate::history::journal::{JournalEntry, TransactionKind, TransactionLabel};
use crate::hold_point;
use crate::view::layers::base::BaseRecord;
use crate::view::layers::stack::node_at;
use crate::view::stage::StagedEntry;
use crate::view::{LayerKind, View};
use placet_text::text::count;
use placet_text::text::hunk::{hunks, with_hunks};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which caller checks the losses of an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::view) enum LossPolicy {
    /// The apply: a loss that was not approved is an error.
    Refused,
    LookedAt,
}

impl View {
    /// Everything, whole.
    pub fn everything(set: &ChangeSet) -> ChangeSelection {
        set.changes.iter().map(|c| (c.path.clone(), SelectedPart::Whole)).collect()
    }

    /// `choice` with the changes that it needs: directories, all of a repository's own files, both ends of a move. A
    /// repository's hooks and settings that run programs are not part of its state: they are applied when they are
    /// chosen themselves.
    pub(in crate::view) fn completed<'a>(
        set: &ChangeSet,
        classes: &ChangeClasses,
        choice: Cow<'a, ChangeSelection>,
    ) -> Cow<'a, ChangeSelection> {
        // Sets of hundreds of thousands of paths are not made to find that nothing is missing.
        if set.changes.iter().all(|change| choice.contains_key(&change.path)) {
            return choice;
        }
        let plain = |path: &&Arc<Path>| classes.runner(path).is_none();
        let whole = |paths: &BTreeSet<Arc<Path>>| -> BTreeSet<Arc<Path>> {
            let whole = set.with_whole_repositories(paths.iter().filter(plain).cloned().collect());
            whole.iter().filter(plain).chain(paths).cloned().collect()
        };
        // Twice: a file of a repository may need a directory that is none of its own, and the other way round.
        let all = whole(&set.closed(&choice.keys().cloned().collect()));
        let all = whole(&set.closed(&all));
        // Nothing was added: a second map of a large choice takes as much memory again.
        if all.len() == choice.len() {
            return choice;
        }
        let part = |path: Arc<Path>| {
            let part = choice.get(&path).cloned().unwrap_or(SelectedPart::Whole);
            (path, part)
        };
        Cow::Owned(all.into_iter().map(part).collect())
    }

    /// Applies what was chosen, all of it or nothing. Everything else stays pending. Refused where a chosen change runs
    /// later. For a caller that has shown nothing, and has checked losses, as [`View::apply_within_limit`] does: whatever
    /// was shown is decided about by [`View::decide`].
    pub fn apply(
        &self,
        choice: &ChangeSelection,
        label: TransactionLabel,
    ) -> Result<ApplyOutcome, ApplyError> {
        if self.is_empty(LayerKind::Pending) {
            return Ok(ApplyOutcome::Nothing);
        }
        self.claim().map_err(ApplyError::of_claim)?;
        let now = self.shown_in_apply()?;
        self.apply_shown(now, Cow::Borrowed(choice), (&ChangeApproval::none(), LossPolicy::LookedAt), label)
    }

    /// What is pending now. Reading takes seconds where there are very many files, and the person may stop the apply in it.
    pub(in crate::view) fn shown_in_apply(&self) -> Result<ShownChanges, ApplyError> {
        let stop = || match self.apply_progress().is_cancelled() {
            true => Err(ApplyError::Cancelled { left: 0 }),
            false => Ok(()),
        };
        stop()?;
        let now = self.shown().map_err(ApplyError::Journal)?;
        stop().map(|()| now)
    }

    /// Applies `choice` of `shown`, which is what is pending now: this view has its lock.
    pub(in crate::view) fn apply_shown(
        &self,
        shown: ShownChanges,
        choice: Cow<'_, ChangeSelection>,
        (approval, losses): (&ChangeApproval, LossPolicy),
        label: TransactionLabel,
    ) -> Result<ApplyOutcome, ApplyError> {
        let (set, classes) = shown.into_parts();
        let (refs, choice) = self.split_single_refs(&set, choice);
        let choice = View::completed(&set, &classes, choice);
        refuse_unapproved(&set, &classes, &choice, approval)?;
        if losses == LossPolicy::Refused
            && let Some(loss) = classes.unapproved_losses(&set, &choice, approval).into_iter().next()
        {
            return Err(ApplyError::Loss(loss));
        }
        let chosen = || set.changes.iter().filter(|c| choice.contains_key(&c.path));
        let unmoved = set.unmoved();
        // A file at the path of a pipe, a socket or a device stays, with everything in it. So does such a file that was
        // moved.
        let has_special = set.changes.iter().any(|c| matches!(*c.after, PathState::Special { .. }));
        let stays: BTreeSet<Arc<Path>> = chosen()
            .filter(|c| has_special && set.special_at(&c.path).is_some() || unmoved.contains(&c.path))
            .map(|c| Arc::clone(&c.path))
            .collect();
        let special = chosen().find_map(|c| set.special_at(&c.path).filter(|_| has_special));
        let special = special.map(|c| (c.path.clone(), c.after.to_state()));
        let (mut git, of_git) = self.repositories_to_apply((&set, &classes), &choice, &label.title)?;
        self.apply_single_refs((&set, &classes), &refs, &mut git)?;
        let is_file = |c: &&FileChange| !of_git.contains(&c.path);
        let raced: Vec<PathBuf> =
            chosen().filter(is_file).filter(|c| c.raced).map(|c| c.path.to_path_buf()).collect();
        let left = LeftChange::of(&set, &choice);
        let is_chosen = |one: &&FileRename| choice.contains_key(&one.from) && choice.contains_key(&one.to);
        let renames = self.renamed(&set).list().iter().filter(is_chosen).cloned().collect();
        let is_in_part = |(_, part): &(&Arc<Path>, &SelectedPart)| !matches!(part, SelectedPart::Whole);
        let parts: ChangeSelection =
            choice.iter().filter(is_in_part).map(|(path, part)| (Arc::clone(path), part.clone())).collect();
        let ChangeSet { mut changes, .. } = set;
        changes.retain(|c| {
            choice.contains_key(&c.path) && !stays.contains(&c.path) && !of_git.contains(&c.path)
        });
        // Each of these lists may have hundreds of thousands of paths: none is kept longer than it is needed.
        drop((choice, stays, unmoved));
        let steps = self.steps(changes, &parts)?;
        if steps.is_empty() && git.is_empty() {
            return match special {
                Some((path, PathState::Special { what, .. })) => {
                    Err(ApplyError::Special { path: path.to_path_buf(), what })
                }
                _ => Ok(ApplyOutcome::Nothing),
            };
        }
        if !raced.is_empty() {
            return Ok(ApplyOutcome::Changed { merged: Vec::new(), conflicts: raced });
        }
        drop((parts, classes, of_git));
        let kind = TransactionKind::Apply;
        // A call has entries of its own.
        let marks = self.log_marks().filter(|_| losses == LossPolicy::Refused);
        // A choice without a recorded approval was made by the person.
        let label = TransactionLabel { assent: label.assent.clone().or_you("apply"), ..label };
        let label = self.with_origin(label, &steps);
        let (mark, _landing) = self.mark_applying().map_err(ApplyError::Journal)?;
        let applied = match self.commit_with_repositories((label, kind, marks), (steps, git), renames) {
            Ok(mut entry) => {
                let dropped = fault("drop").and_then(|()| self.drop_applied(&left, &entry));
                crash_point();
                if let Err(e) = dropped {
                    // While the mark exists, the next look at what is pending separates the applied changes from the
                    // rest.
                    let words = "the changes may still be listed as pending until placet can write again";
                    entry.shortfalls.push(format!("{words}: {e}"));
                    return Ok(ApplyOutcome::Landed(entry));
                }
                self.note_files(&entry);
                if !refs.is_empty() {
                    // Looking drops a repository in which nothing else is pending.
                    drop(self.shown());
                }
                Ok(ApplyOutcome::Landed(entry))
            }
            Err(ApplyError::Changed(paths)) => {
                let set = self.changes(LayerKind::Pending).map_err(ApplyError::Journal);
                set.and_then(|set| self.rebase(&set, paths).map_err(ApplyError::Journal))
            }
            Err(e) => Err(e),
        };
        // A mark that stays only makes the next look at what is pending compare it once more.
        drop(std::fs::remove_file(mark));
        hold_point("applied");
        applied
    }

    /// An apply outside of a turn, as after a resume, is attributed to the last turn that made a part of it: it is
    /// undone with that turn.
    fn with_origin(&self, label: TransactionLabel, steps: &[ApplyStep]) -> TransactionLabel {
        let label = with_program(label, steps);
        let origins =
            steps.iter().flat_map(|step| step.history.iter()).filter_map(|made| made.origin.as_deref());
        let last =
            origins.filter(|origin| TransactionLabel::is_turn(&origin.turn)).max_by_key(|origin| origin.at);
        let Some(last) = last else { return label };
        let outside = self.dir().file_name().is_some_and(|name| name == label.turn.as_str());
        let label = match label.title.is_empty() {
            true => TransactionLabel { title: self.title_of(steps), ..label },
            false => label,
        };
        let turn = if outside { last.turn.clone() } else { label.turn };
        TransactionLabel { turn, session: label.session.or_else(|| last.session.clone()), ..label }
    }

    /// What the journal calls an apply that the person asks for after the turn, or after several: the words of the turn
    /// that made all of it, or else the calls that made it.
    fn title_of(&self, steps: &[ApplyStep]) -> String {
        const MOST: usize = 3;
        let made = || steps.iter().flat_map(|step| step.history.iter()).filter_map(|m| m.origin.as_deref());
        let own = self.turn().label.clone();
        if !own.title.is_empty() && made().all(|origin| origin.turn == own.turn) {
            return own.title;
        }
        let mut calls: Vec<(u64, &str)> = Vec::new();
        for origin in made().filter(|origin| !origin.title.is_empty()) {
            if !calls.iter().any(|(_, title)| *title == origin.title) {
                calls.push((origin.at, &origin.title));
            }
        }
        calls.sort_unstable();
        let mut titles: Vec<String> =
            calls.iter().take(MOST).map(|(_, title)| (*title).to_string()).collect();
        if calls.len() > MOST {
            titles.push(format!("and {} more", count::of(calls.len() - MOST, "call")));
        }
        titles.join("; ")
    }

    /// The steps that make `changes`, of which `parts` are not made whole. The memory of the changes is given back on the
    /// way: there may be hundreds of thousands.
    fn steps(
        &self,
        mut changes: Vec<FileChange>,
        parts: &ChangeSelection,
    ) -> Result<Vec<ApplyStep>, ApplyError> {
        let mut steps = Vec::with_capacity(changes.len());
        changes.reverse();
        while let Some(change) = changes.pop() {
            if changes.len().is_multiple_of(GIVE_BACK) {
                changes.shrink_to_fit();
            }
            let part = parts.get(&change.path).unwrap_or(&SelectedPart::Whole);
            steps.push(self.step(&change, part)?);
        }
        Ok(steps)
    }

    fn step(&self, change: &FileChange, part: &SelectedPart) -> Result<ApplyStep, ApplyError> {
        let whole = |source| ApplyStep {
            path: change.path.clone(),
            before: change.before.clone(),
            after: change.after.clone(),
            source,
            twin: change.twin.clone(),
            was_twin: None,
            keep_names: change.by_tool,
            fresh: false,
            unread: false,
            seen: None,
            history: Arc::clone(&change.steps),
        };
        let bytes = match part {
            SelectedPart::Whole => {
                return Ok(whole(match &change.content {
                    Some(layer) => ContentSource::Layer(Arc::clone(layer)),
                    None => ContentSource::Nothing,
                }));
            }
            SelectedPart::Resolved(resolved) => {
                let source = match &change.content {
                    Some(layer) => ContentSource::Layer(Arc::clone(layer)),
                    None => ContentSource::Nothing,
                };
                return self.resolved_step(change, resolved, whole(source));
            }
            SelectedPart::Content(bytes) => Arc::clone(bytes),
            SelectedPart::Hunks(chosen) => {
                let bytes = self.with_part(change, |index| chosen.contains(&index));
                Arc::new(bytes.ok_or_else(|| ApplyError::Failed {
                    path: change.path.to_path_buf(),
                    error: io::Error::other("it has no hunks to choose from"),
                    left: 0,
                })?)
            }
        };
        let attrs = change.after.attrs().or(change.before.attrs()).cloned().unwrap_or_default();
        let after = PathState::File { hash: blake3::hash(&bytes), size: bytes.len() as u64, attrs };
        Ok(ApplyStep { after: after.into(), ..whole(ContentSource::Bytes(bytes)) })
    }

    /// The content that `change` has with only some of its hunks made.
    pub(in crate::view) fn with_part(
        &self,
        change: &FileChange,
        chosen: impl Fn(usize) -> bool,
    ) -> Option<Vec<u8>> {
        let (before, after) = change.bytes(self.objects()).filter(|_| change.is_between_files())?;
        Some(with_hunks(&before, &after, &hunks(&before, &after), chosen))
    }

    fn drop_applied(&self, left: &[LeftChange], entry: &JournalEntry) -> io::Result<()> {
        let mut keep = Vec::new();
        for change in left {
            let Some(base) = self.layer_set(LayerKind::Pending).bases().get(&change.path) else {
                continue;
            };
            if !change.is_chosen_in_part {
                keep.push((base, StagedEntry::Keep));
                continue;
            }
            let landed = entry.changes.iter().find(|c| *c.path == *change.path);
            let node = landed.map_or(base.node.clone(), |c| c.after.clone());
            if let Some(resolved) = &change.resolved {
                // The pending copy is a change of what was there before the person's.
                if let Some(left) =
                    resolved.left.as_ref().filter(|left| node.hash() != Some(blake3::hash(left)))
                {
                    let attrs = node.attrs().cloned().unwrap_or_default();
                    keep.push((BaseRecord { node, ..base }, StagedEntry::File(left.clone(), attrs)));
                }
                continue;
            }
            if node.hash() != change.after.hash() {
                keep.push((BaseRecord { node, ..base }, StagedEntry::Keep));
            }
        }
        self.rebuild(keep)
    }

    /// Discards what was chosen.
    pub fn discard(&self, choice: &ChangeSelection) -> io::Result<()> {
        if self.is_empty(LayerKind::Pending) {
            return Ok(());
        }
        self.claim()?;
        let set = self.changes(LayerKind::Pending)?;
        let all = set.discarded_with(&set.with_whole_repositories(choice.keys().cloned().collect()));
        let mut keep = Vec::new();
        for change in &set.changes {
            let Some(base) = self.layer_set(LayerKind::Pending).bases().get(&change.path) else {
                continue;
            };
            match (choice.get(&change.path), all.contains(&change.path)) {
                (Some(SelectedPart::Hunks(gone)), _) => {
                    match self.with_part(change, |index| !gone.contains(&index)) {
                        Some(bytes) if Some(blake3::hash(&bytes)) != change.before.hash() => {
                            keep.push((base, StagedEntry::Bytes(bytes)));
                        }
                        Some(_) => {}
                        None => keep.push((base, StagedEntry::Keep)),
                    }
                }
                (Some(SelectedPart::Content(bytes)), _) => {
                    if Some(blake3::hash(bytes)) != change.before.hash() {
                        keep.push((base, StagedEntry::Bytes(bytes.to_vec())));
                    }
                }
                (_, true) => {}
                (_, false) => keep.push((base, StagedEntry::Keep)),
            }
        }
        self.rebuild(keep)
    }

    /// Discards all that is pending, for changes that nobody was to keep: of a dry run, and of a home directory that ends
    /// with its view. Undo does not restore it.
    pub fn discard_everything(&self) -> io::Result<()> {
        self.discard(&View::everything(&self.changes(LayerKind::Pending)?))
    }

    /// Forgets files that calls changed and changed back: a copy of them in the layer would hide what the
    /// person does to them from now on.
    pub fn drop_unchanged(&self) -> io::Result<()> {
        if self.is_empty(LayerKind::Pending) {
            return Ok(());
        }
        // Whoever puts effects here now would lose them: the next turn looks again.
        let Ok(_held) = self.0.commands.gate.try_lock() else { return Ok(()) };
        let changed: BTreeSet<Arc<Path>> = self.changes(LayerKind::Pending)?.paths();
        let is_file = |base: &BaseRecord| !base.node.is_directory() && !base.raced;
        let is_same = |base: &BaseRecord| is_file(base) && !changed.contains(&base.path);
        if !self.layer_set(LayerKind::Pending).bases().iter().any(|base| is_same(&base)) {
            return Ok(());
        }
        let bases: Vec<BaseRecord> = self.layer_set(LayerKind::Pending).bases().iter().collect();
        self.claim()?;
        let keep = bases.into_iter().filter(|base| !is_same(base)).map(|base| (base, StagedEntry::Keep));
        self.rebuild(keep.collect())
    }

    /// The files at `paths` differ from the base of the changes: each change is merged with the present file, and is
    /// pending in its merged form; a change that cannot be merged stays as it was.
    fn rebase(&self, set: &ChangeSet, paths: Vec<PathBuf>) -> io::Result<ApplyOutcome> {
        let (mut merged, mut conflicts, mut keep) = (Vec::new(), Vec::new(), Vec::new());
        let paths: BTreeSet<PathBuf> = paths.into_iter().collect();
        for change in &set.changes {
            let Some(base) = self.layer_set(LayerKind::Pending).bases().get(&change.path) else {
                continue;
            };
            if !paths.contains(&*change.path) {
                keep.push((base, StagedEntry::Keep));
                continue;
            }
            let now = node_at(&change.path)?;
            if now == change.after {
                // The file has the new content already: the person wrote it, or an apply that a crash interrupted.
                continue;
            }
            match self.merge(change, &now).zip(merged_attrs(change, &now)) {
                Some((bytes, attrs)) => {
                    merged.push(change.path.to_path_buf());
                    keep.push((BaseRecord { node: now.into(), ..base }, StagedEntry::File(bytes, attrs)));
                }
                None => {
                    conflicts.push(change.path.to_path_buf());
                    keep.push((base, StagedEntry::Keep));
                }
            }
        }
        self.rebuild(keep)?;
        Ok(ApplyOutcome::Changed { merged, conflicts })
    }
}

/// A change of which an apply leaves all or a part.
struct LeftChange {
    path: Arc<Path>,
    after: SharedState,
    is_chosen_in_part: bool,
    resolved: Option<Arc<ResolvedPart>>,
}

impl LeftChange {
    fn of(set: &ChangeSet, choice: &ChangeSelection) -> Vec<LeftChange> {
        let left = |change: &FileChange| {
            let chosen = choice.get(&change.path);
            (chosen != Some(&SelectedPart::Whole)).then(|| LeftChange {
                path: Arc::clone(&change.path),
                after: change.after.clone(),
                is_chosen_in_part: chosen.is_some(),
                resolved: match chosen {
                    Some(SelectedPart::Resolved(resolved)) => Some(Arc::clone(resolved)),
                    _ => None,
                },
            })
        };
        set.changes.iter().filter_map(left).collect()
    }
}

/// A change that runs later is applied only with an approval of its own, no matter who asks for the apply.
fn refuse_unapproved(
    set: &ChangeSet,
    classes: &ChangeClasses,
    choice: &ChangeSelection,
    approval: &ChangeApproval,
) -> Result<(), ApplyError> {
    let mut chosen = set.changes.iter().filter(|c| choice.contains_key(&c.path));
    match chosen.find(|c| classes.waits(set, c, approval)) {
        None => Ok(()),
        Some(change) => {
            let repository = classes.waiting_repository(&change.path);
            let path = repository.map_or(&*change.path, |repository| &repository.path).to_path_buf();
            let why = classes.reason_to_wait(&path).map(|r| r.why.clone()).unwrap_or_default();
            Err(ApplyError::Protected { path, why })
        }
    }
}

/// What a program of the person's own changed names that program, also when it is applied later by another command.
fn with_program(label: TransactionLabel, steps: &[ApplyStep]) -> TransactionLabel {
    let mut programs =
        steps.iter().flat_map(|step| step.history.iter()).filter_map(|made| made.origin.as_deref());
    let Some(first) = programs.next().filter(|_| label.program.is_none()) else { return label };
    let program = first.program.clone().filter(|_| programs.all(|origin| origin.program == first.program));
    TransactionLabel { program, ..label }
}
