//! Carrying a review out.
//!
//! Whatever face asked, the decisions are in one [`Review`]; carrying them out is one apply (all of it or nothing), and
//! only when that succeeded are the rejected parts discarded, so that `/undo` can bring them back.

use crate::audit::AuditKind;
use crate::serve::changes::UserReport;
use crate::text::{regular_file, visible};
use crate::ui::review::{
    self, AppliedPart, CombinedDecision, DecidedConflict, MergeOutlook, PendingPart, Review, ReviewBody,
    ReviewDecision, ReviewFile, ReviewSubject, SavedReview, SideConflict, SideContents, commit_files,
    unreached_file,
};
use crate::workspace::{
    ApplyError, ApplyReport, ChangeApproval, ChangeSelection, ChangeSet, DiscardBackup, DiscardMoment,
    FileAttrs, FileChange, FoundConflicts, GitEvent, GitFileKind, LargeLoss, LayerKind, PathState,
    ResolvedPart, SelectedPart, StoredKind, TransactionLabel, View, Workspace,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a view's review is remembered.
pub fn memory_of(view: &View) -> PathBuf {
    view.dir().join("review.json")
}

/// What carrying out came to.
pub struct AppliedReview {
    /// What was done, in the order in which it was done.
    pub steps: Vec<(AuditKind, UserReport)>,
    /// What the agent should learn; it is remembered until it was.
    pub outbox: Option<String>,
}

/// The largest file that is compared with what it was when the change was made.
const LARGEST: u64 = 64 << 20;

/// What is pending at these paths as a review; `None` when nothing is.
pub fn review_of(workspace: &Workspace, view: &View, only: &[PathBuf]) -> io::Result<Option<Review>> {
    let mut set = view.changes(LayerKind::Pending)?;
    if !only.is_empty() {
        set.changes.retain(|c| only.iter().any(|p| c.path.starts_with(p)));
    }
    let classes = view.classify(&set);
    let renamed = view.renamed(&set);
    let mut files =
        review::pending(&set, &classes, &renamed, view.objects(), &|path| workspace.shortened(path));
    if files.is_empty() {
        return Ok(None);
    }
    let conflicts = view.reviewed_conflicts(&set);
    for file in &mut files {
        compare_with_workspace(file, &set, (view, &conflicts), &|path| {
            visible::path_name(&workspace.shortened(path))
        });
    }
    for repository in view.git_events(&set) {
        let Some(outermost) = set.repositories.of(&repository.path) else { continue };
        let name = |path: &Path| visible::path_name(&workspace.shortened(path));
        let Some(at) = files.iter().position(|file| file.path == outermost) else { continue };
        let rows = repository.rows(outermost, &name);
        let mut commits = Vec::new();
        if let Some(file) = files.get_mut(at) {
            for (event, row) in repository.events.iter().zip(&rows) {
                file.facts.push(row.line());
                file.care.extend(row.needs_care.then(|| row.line()));
                if let Some(patch) = row.patch.as_ref().filter(|_| !is_in_words(event)) {
                    let name = event.content_name();
                    match patch.is_unreached {
                        true => commits.push(unreached_file(file, &name, &patch.bytes)),
                        false => commits.extend(commit_files(file, &name, &patch.bytes, &patch.runs_later)),
                    }
                    let left_out = format!("{} more bytes of {name} are not shown", patch.left_out);
                    file.facts.extend((patch.left_out > 0).then_some(left_out));
                }
            }
        }
        // Behind the repository, and behind those of another one in it.
        let is_commit = |file: &&ReviewFile| file.decided_with.is_some() && !file.is_explained();
        let after = files.iter().skip(at + 1).take_while(is_commit).count();
        files.splice(at + 1 + after..at + 1 + after, commits);
    }
    for (repository, words) in view.moved_repository_facts(&set, &classes) {
        let Some(file) = files.iter_mut().find(|file| file.path == repository) else { continue };
        file.facts.insert(0, words.clone());
        file.care.insert(0, words);
    }
    let mut review = Review::new("pending changes", ReviewSubject::Pending, files);
    review.partial = !only.is_empty();
    review.pending =
        set.changes.iter().map(|change| (Arc::clone(&change.path), change.after.clone())).collect();
    (review.count, review.line_counts) = (set.count(&renamed), set.lines(view.objects(), &renamed, &classes));
    Ok(Some(review))
}

/// True for a file of git whose text is among the rows of its repository.
fn is_in_words(event: &GitEvent) -> bool {
    let GitEvent::Stored { kind: StoredKind::StateFile(file), .. } = event else { return false };
    GitFileKind::at(file) == Some(GitFileKind::Text)
}

/// Says where the workspace has something else now than the agent changed, and lets the person choose where both cannot be
/// merged: by lines, or by side.
fn compare_with_workspace(
    file: &mut ReviewFile,
    set: &ChangeSet,
    (view, known): (&View, &FoundConflicts),
    name: &dyn Fn(&Path) -> String,
) {
    if file.decided_with.is_some() || set.repository_of(&file.path).is_some() {
        return;
    }
    let changes: Vec<&FileChange> = file.paths.iter().filter_map(|path| set.get(path)).collect();
    let renamed = file.renamed.as_ref().and_then(|path| set.get(path));
    let changes = || changes.iter().copied().chain(renamed);
    let conflicts: Vec<(&FileChange, &PathState)> =
        changes().filter_map(|change| Some((change, known.now_at(&change.path)?))).collect();
    let Some(change) = changes().next() else { return };
    let is_text = |state: &PathState| state.is_file() || state.is_absent();
    let is_alone = changes().count() == 1 && change.after.is_file() && is_text(&change.before);
    if is_alone && let Some(fact) = changed_fact(file, change, view) {
        file.facts.insert(0, fact);
        return;
    }
    let Some((_, now)) = conflicts.first() else { return };
    if let Some((change, now)) = conflicts.iter().find(|(change, _)| *change.path == *file.path) {
        name_attributes(file, change, now, (view, "with the agent's content"));
    }
    // A decision about the file belongs to what is shown.
    let key = format!("{}\0{now:?}", file.key);
    file.key = blake3::hash(key.as_bytes()).to_hex().to_string();
    let sides: Vec<SideConflict<'_>> = conflicts
        .iter()
        .map(|(change, now)| {
            let is_named = *change.path != *file.path || conflicts.len() > 1;
            SideConflict {
                change,
                now: (*now).clone(),
                name: is_named.then(|| name(&change.path)),
                contents: side_contents((change, now), set.get(&file.path), view, name),
            }
        })
        .collect();
    file.decide_by_side(&sides);
}

/// The contents of a conflict that is decided as a whole. Where the agent moved the file, its own is at the other path:
/// `file` is the change there.
fn side_contents(
    (change, now): (&FileChange, &PathState),
    file: Option<&FileChange>,
    view: &View,
    name: &dyn Fn(&Path) -> String,
) -> Option<SideContents> {
    let mine = match now {
        PathState::Absent => Vec::new(),
        PathState::File { hash, .. } => {
            regular_file::read(&change.path, LARGEST).ok().filter(|bytes| blake3::hash(bytes) == *hash)?
        }
        _ => return None,
    };
    let elsewhere =
        file.filter(|file| file.path != change.path && change.after.is_absent() && file.after.is_file());
    let of_agent = elsewhere.unwrap_or(change);
    let agents = match &*of_agent.after {
        PathState::Absent => Vec::new(),
        PathState::File { .. } => of_agent.bytes(view.objects())?.1,
        // Your lines go.
        PathState::Directory { .. } | PathState::Link { .. } => Vec::new(),
        PathState::Special { .. } => return None,
    };
    Some(SideContents { mine, agents, agents_name: elsewhere.map(|file| name(&file.path)) })
}

/// The fact about a file with other content than the agent changed, where the lines show the rest. `None` for a file that
/// is as it was, and for one that is decided by side.
fn changed_fact(file: &mut ReviewFile, change: &FileChange, view: &View) -> Option<String> {
    let now = regular_file::read(&change.path, LARGEST).ok()?;
    let now_hash = blake3::hash(&now);
    if Some(now_hash) == change.before.hash() || Some(now_hash) == change.after.hash() {
        return None;
    }
    let lines = file.lines_mut()?;
    let then = match lines.compare_with_workspace(&now) {
        MergeOutlook::Merged | MergeOutlook::Unknown if view.conflict(change).is_some() => return None,
        MergeOutlook::Merged => ": to apply the change, placet first merges both, and you review the result",
        MergeOutlook::Conflict => {
            ", in the same lines: each conflict below shows yours and the agent's, and you choose one"
        }
        MergeOutlook::Unknown => ": placet merges both changes when it applies them",
    };
    if lines.is_on_workspace {
        // An edit or a decision about the file belongs to the content that is shown.
        file.key = blake3::hash(format!("{}\0{now_hash}", file.key).as_bytes()).to_hex().to_string();
        if let Some(state) = view.current_state(&change.path) {
            name_attributes(file, change, &state, (view, "with whatever part is accepted"));
        }
    }
    Some(format!("the file in the workspace changed since (by an edit, an apply or an undo){then}"))
}

/// Says what an apply does to mode, owner and attributes of the file that is there now.
fn name_attributes(file: &mut ReviewFile, change: &FileChange, now: &PathState, (view, when): (&View, &str)) {
    let before = change.attribute_words(None);
    file.facts.retain(|fact| !before.iter().any(|words| fact.starts_with(words.as_str())));
    let words = view.resolved_attribute_words(change, now);
    file.facts.extend(words.into_iter().map(|words| format!("{words}, {when}")));
}

/// The apply of a review, which a front end runs and shows.
pub type ReviewApply<'a> = Box<dyn FnOnce() -> ApplyReport + 'a>;

/// Applies what was accepted, discards what was rejected, and stores what the agent should know. `confirm` asks about large
/// losses in what was accepted; it is true where there are none. `run` runs the apply and shows how far it is. Applying is
/// all or nothing; when it fails every decision stays remembered, and when the person stopped it nothing is discarded.
/// Nothing is done where other changes are pending now than the review showed, or a repository changed since.
pub fn apply_review(
    workspace: &Workspace,
    view: &View,
    review: &Review,
    (confirm, run): (impl FnOnce(&[LargeLoss]) -> bool, impl FnOnce(ReviewApply<'_>) -> ApplyReport),
    label: TransactionLabel,
    undo: &str,
) -> io::Result<AppliedReview> {
    let (mut land, drop_out) = choices(review);
    let mut set = view.changes(LayerKind::Pending)?;
    if let Some(path) = changed_since(&set, review, land.keys().chain(drop_out.keys())) {
        let name = visible::path_name(&workspace.shortened(path));
        let why = format!("nothing was applied: `{name}` has changed since it was shown: review it again");
        return Ok(AppliedReview { steps: vec![(AuditKind::Apply, UserReport::failed(why))], outbox: None });
    }
    if let Some(why) = review.open_conflict() {
        let why = format!("nothing was applied: {why}");
        return Ok(AppliedReview { steps: vec![(AuditKind::Apply, UserReport::failed(why))], outbox: None });
    }
    if view.follow_repositories(&set)? {
        let why = "nothing was applied: a repository changed since it was shown: review it again";
        return Ok(AppliedReview { steps: vec![(AuditKind::Apply, UserReport::failed(why))], outbox: None });
    }
    let conflicts: Vec<DecidedConflict<'_>> =
        review.files.iter().filter_map(ReviewFile::resolved_conflict).collect();
    if let Some(path) = changed_again(view, review, &conflicts) {
        let name = visible::path_name(&workspace.shortened(&path));
        let why = format!(
            "nothing was applied: `{name}` changed again in the workspace since it was shown: review it again"
        );
        return Ok(AppliedReview { steps: vec![(AuditKind::Apply, UserReport::failed(why))], outbox: None });
    }
    resolve(&mut land, review, &conflicts);
    set = view.changes(LayerKind::Pending)?;
    let applies = !land.is_empty();
    // A person expects that undo reverts what was applied, and that the next undo restores what was rejected.
    let decided = DiscardMoment::before_now();
    let mut steps = Vec::new();
    // Before the apply: after it, what was rejected would be a change of the person's own lines, and no conflict any more.
    let is_early = conflicts.iter().any(|conflict| conflict.applied.is_some()) && applies;
    let early = if is_early { rejections(review) } else { ChangeSelection::new() };
    let mut early_backup = None;
    if !early.is_empty() {
        early_backup = Some(view.set_aside_as_of(&early, decided)?);
        set = view.changes(LayerKind::Pending)?;
    }
    if applies {
        // A file that runs later is accepted by itself, with its content in sight: the review sees to that.
        let own =
            review.files.iter().filter(|f| f.runs_later.is_some() && f.verdict().0 != AppliedPart::Nothing);
        let approval = own.flat_map(|f| &f.paths).fold(ChangeApproval::none(), |all, path| all.named(path));
        let losses = view.classify(&set).unapproved_losses(&set, &land, &approval);
        let approval = if confirm(&losses) { approval.seen(&losses) } else { approval };
        let report = run(Box::new(|| view.apply_and_report(&set, land, &approval, label)));
        let is_stopped = matches!(report.result, Err(ApplyError::Cancelled { .. }));
        let mut told = UserReport::of(&report, undo, &|path| workspace.shortened(path));
        if told.done {
            steps.push((AuditKind::Apply, told));
        } else {
            let saved =
                "the accepted changes stay pending, and your decisions are saved: the next review continues";
            told.lines.push(saved.into());
            steps.push((AuditKind::Apply, told));
            // What was rejected goes all the same: it may be what cannot be merged with what is there now.
            let rejections = rejections(review);
            if early_backup.is_some() && is_stopped {
                // The person stopped it: nothing is discarded.
                let restored = view.last_discard().map_err(io::Error::other)?.map(|last| view.restore(&last));
                if let Some(Err(e)) = restored {
                    tracing::warn!("the rejected changes were not restored: {e}");
                }
            } else if let Some(backup) = early_backup {
                let told = rejected(review.tally().1, backup, undo);
                steps.extend(told.map(|told| (AuditKind::Discard, told)));
            } else if !rejections.is_empty() && !is_stopped {
                let discarded = "discarded the rejected changes";
                let (line, done) = match view.set_aside(&rejections) {
                    Ok(DiscardBackup::Kept) => (format!("{discarded}; {undo} restores them"), true),
                    Ok(DiscardBackup::TooLarge) => {
                        (format!("{discarded} permanently: too large for undo"), true)
                    }
                    Err(e) => (format!("the rejected changes are still pending: {e}"), false),
                };
                steps.push((
                    AuditKind::Discard,
                    UserReport { lines: vec![line], done, ..UserReport::default() },
                ));
            }
            return Ok(AppliedReview { steps, outbox: None });
        }
    }
    if !drop_out.is_empty() {
        let back = match applies {
            true => format!("a second {undo}"),
            false => undo.to_string(),
        };
        let aside = match early_backup {
            Some(backup) => discard_rest(view, drop_out, &early).map(|()| backup),
            None => view.set_aside_as_of(&drop_out, decided),
        };
        match aside {
            Ok(aside) => {
                let told = rejected(review.tally().1, aside, &back);
                steps.extend(told.map(|told| (AuditKind::Discard, told)));
            }
            Err(e) => {
                let lines = vec![format!("the rejected changes are still pending: {e}")];
                steps.push((AuditKind::Discard, UserReport { lines, ..UserReport::default() }));
            }
        }
    }
    let file = memory_of(view);
    let before = SavedReview::load(&file);
    let unsent = before.outbox.as_deref().and_then(|unsent| review::without_undone(unsent, review));
    let outbox = join(unsent, review::report(review));
    // What is still pending keeps its reviewed marks; what was decided is decided no more.
    let memory = match review_of(workspace, view, &[]) {
        Ok(Some(mut rest)) => {
            drop(before.restore_into(&mut rest));
            rest.comments.retain(|c| !review.is_here(c));
            rest.reopen(|file| !review.partial || review.files.iter().any(|f| f.path == file.path));
            SavedReview::of(&rest, outbox.clone())
        }
        Ok(None) | Err(_) => SavedReview::only(outbox.clone()),
    };
    // What landed has landed: a full disk here must not make it look otherwise.
    if let Err(e) = memory.save(&file) {
        let lines = vec![format!("applied, but the report for the agent could not be saved: {e}")];
        steps.push((AuditKind::Discard, UserReport { lines, ..UserReport::default() }));
    }
    Ok(AppliedReview { steps, outbox })
}

/// Discards what is left of files of which the rejected part was discarded before.
fn discard_rest(view: &View, mut rest: ChangeSelection, early: &ChangeSelection) -> io::Result<()> {
    rest.retain(|path, part| !early.contains_key(path) && *part == SelectedPart::Whole);
    if rest.is_empty() { Ok(()) } else { view.discard(&rest) }
}

/// A file in conflict that has something else in the workspace than the review showed.
fn changed_again(view: &View, review: &Review, conflicts: &[DecidedConflict<'_>]) -> Option<PathBuf> {
    let by_lines = conflicts.iter().find(|conflict| {
        let now = view.current_state(conflict.path).and_then(|now| now.hash());
        now != Some(blake3::hash(conflict.mine))
    });
    let by_side = || {
        let accepted = review.files.iter().filter(|file| file.verdict().0 != AppliedPart::Nothing);
        let shown = accepted.filter_map(|file| match &file.body {
            ReviewBody::Whole(whole) => Some(&whole.conflict),
            ReviewBody::Lines(_) => None,
        });
        let is_same = |path: &Path, shown: &PathState| {
            view.current_state(path).is_some_and(|now| now.same_content(shown))
        };
        shown.flatten().find(|(path, state)| !is_same(path, state)).map(|(path, _)| path.clone())
    };
    by_lines.map(|conflict| conflict.path.to_path_buf()).or_else(by_side)
}

/// Makes what is applied of files in conflict changes of what the workspace has, as the review showed it.
fn resolve(land: &mut ChangeSelection, review: &Review, conflicts: &[DecidedConflict<'_>]) {
    for conflict in conflicts {
        let Some(content) = &conflict.applied else { continue };
        let (mine, size) = (blake3::hash(conflict.mine), conflict.mine.len() as u64);
        let resolved = ResolvedPart {
            mine: PathState::File { hash: mine, size, attrs: FileAttrs::default() },
            content: Some(content.clone()),
            left: (*content != conflict.left).then(|| conflict.left.clone()),
        };
        land.insert(conflict.path.into(), SelectedPart::Resolved(Arc::new(resolved)));
    }
    for file in review.files.iter().filter(|file| file.verdict().0 != AppliedPart::Nothing) {
        let ReviewBody::Whole(whole) = &file.body else { continue };
        for (path, mine) in &whole.conflict {
            let resolved = ResolvedPart { mine: mine.clone(), content: None, left: None };
            land.insert(path.as_path().into(), SelectedPart::Resolved(Arc::new(resolved)));
        }
    }
}

/// A path whose pending change is not the one that the review was made of.
fn changed_since<'p>(
    now: &ChangeSet,
    review: &Review,
    mut paths: impl Iterator<Item = &'p Arc<Path>>,
) -> Option<&'p Arc<Path>> {
    paths.find(|path| now.get(path).map(|change| &change.after) != review.pending.get(*path))
}

/// What [`send_back_review`] would report. Nothing changes.
pub fn unsent_review(workspace: &Workspace, view: &View) -> io::Result<Option<String>> {
    let memory = SavedReview::load(&memory_of(view));
    let Some(mut review) = review_of(workspace, view, &[])? else { return Ok(memory.outbox) };
    drop(memory.restore_into(&mut review));
    Ok(join(memory.outbox, review::report(&review)))
}

/// Ends a review without applying anything, because the changes go back to the program that made them: what was rejected
/// is discarded, what was edited is pending with the person's text, and the rest is pending as it was. The report is
/// removed from what is saved: it must be sent.
pub fn send_back_review(workspace: &Workspace, view: &View, undo: &str) -> io::Result<AppliedReview> {
    let file = memory_of(view);
    let mut memory = SavedReview::load(&file);
    let (mut steps, mut outbox) = (Vec::new(), memory.outbox.take());
    if let Some(mut review) = review_of(workspace, view, &[])? {
        drop(memory.restore_into(&mut review));
        // A conflict stays one: both sides have the person's changes now.
        let aside = view.set_aside(&without_applying(&review))?;
        steps.extend(rejected(review.tally().1, aside, undo).map(|told| (AuditKind::Discard, told)));
        outbox = join(outbox, review::report(&review));
        memory = memory.after_sending_back(&review, review_of(workspace, view, &[])?);
    }
    memory.save(&file)?;
    Ok(AppliedReview { steps, outbox })
}

/// Reports what was rejected, and how it is brought back.
fn rejected(count: usize, aside: DiscardBackup, undo: &str) -> Option<UserReport> {
    let (s, them) = if count == 1 { ("", "it") } else { ("s", "them") };
    let back = match aside {
        DiscardBackup::Kept => format!("{undo} restores {them}"),
        DiscardBackup::TooLarge => "too large for undo".into(),
    };
    let lines = vec![format!("{count} hunk{s} rejected; {back}")];
    (count > 0).then(|| UserReport { lines, done: true, ..UserReport::default() })
}

/// What is accepted in the review of two tries.
pub fn taken_by(review: &Review) -> ChangeSelection {
    choices(review).0
}

/// What is applied, and what is discarded after that.
fn choices(review: &Review) -> (ChangeSelection, ChangeSelection) {
    let (mut land, mut out) = (ChangeSelection::new(), ChangeSelection::new());
    for file in &review.files {
        let (landing, leaving) = file.verdict();
        if let Some(old) = &file.renamed {
            match file.old_path_goes() {
                Some(true) => drop(land.insert(old.as_path().into(), SelectedPart::Whole)),
                Some(false) => drop(out.insert(old.as_path().into(), SelectedPart::Whole)),
                None => {}
            }
        }
        for path in &file.paths {
            let part = match &landing {
                AppliedPart::Nothing => None,
                AppliedPart::Whole => Some(SelectedPart::Whole),
                AppliedPart::Content(bytes) => Some(SelectedPart::Content(Arc::new(bytes.clone()))),
            };
            let whole = part == Some(SelectedPart::Whole);
            if let Some(part) = part {
                land.insert(path.clone(), part);
            }
            match &leaving {
                PendingPart::AsItIs => {}
                PendingPart::Nothing if whole => {}
                PendingPart::Nothing => drop(out.insert(path.clone(), SelectedPart::Whole)),
                PendingPart::Content(bytes) => {
                    drop(out.insert(path.clone(), SelectedPart::Content(Arc::new(bytes.clone()))))
                }
            }
        }
    }
    (land, out)
}

/// What was rejected and nothing else: what was accepted stays pending.
fn rejections(review: &Review) -> ChangeSelection {
    left_over(review, ReviewFile::is_rejected_in_part)
}

/// What was rejected, and the person's own text where a file was edited.
fn without_applying(review: &Review) -> ChangeSelection {
    left_over(review, |file| file.is_rejected_in_part() || file.lines().is_some_and(|lines| lines.edited))
}

/// For each of these files, what stays pending without what was rejected.
fn left_over(review: &Review, is_meant: impl Fn(&ReviewFile) -> bool) -> ChangeSelection {
    let mut out = ChangeSelection::new();
    for file in review.files.iter().filter(|file| is_meant(file)) {
        let part =
            match file.lines().filter(|_| file.standing() != CombinedDecision::All(ReviewDecision::Rejected))
            {
                Some(lines) => SelectedPart::Content(Arc::new(lines.unrejected_content())),
                None => SelectedPart::Whole,
            };
        if let (Some(old), SelectedPart::Whole) = (&file.renamed, &part) {
            out.insert(old.as_path().into(), SelectedPart::Whole);
        }
        out.extend(file.paths.iter().map(|path| (path.clone(), part.clone())));
    }
    out
}

/// After an undo of a discard: what was restored is not rejected any more, and is not reported as that.
pub fn retract_undone(workspace: &Workspace, views: &[View]) {
    for view in views {
        let file = memory_of(view);
        let mut memory = SavedReview::load(&file);
        let (Some(unsent), Ok(Some(pending))) = (memory.outbox.take(), review_of(workspace, view, &[]))
        else {
            continue;
        };
        memory.outbox = review::without_undone(&unsent, &pending);
        if let Err(e) = memory.save(&file) {
            tracing::warn!("the state of the review was not saved: {e}");
        }
    }
}

fn join(before: Option<String>, now: Option<String>) -> Option<String> {
    match (before, now) {
        (Some(before), Some(now)) => Some(format!("{before}\n{now}")),
        (before, now) => before.or(now),
    }
}
