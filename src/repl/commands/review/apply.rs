//! Carrying a review out.
//!
//! Whatever face asked, the decisions are in one [`Review`]; carrying them out is one apply (all of it or nothing), and
//! only when that succeeded are the rejected parts discarded, so that `/undo` can bring them back.

use crate::audit::AuditKind;
use crate::serve::changes::UserReport;
use crate::text::{regular_file, visible};
use crate::ui::review::{
    self, AppliedPart, CombinedDecision, MergeOutlook, Review, ReviewBody, ReviewDecision, ReviewEnd,
    ReviewFile, ReviewSubject, SavedReview, SideConflict, SideContents, commit_files, ref_file,
};
use crate::workspace::{
    ApplyError, ChangeApproval, ChangeDecision, ChangeKind, ChangeSelection, ChangeSet, DecisionReport,
    FileAttrs, FileChange, FoundConflicts, GitEventKind, LargeLoss, MovedChanges, PathState, ResolvedPart,
    SelectedPart, ShownChanges, TransactionLabel, View, Workspace,
};
use std::collections::HashMap;
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

/// What is pending, and the review of it at these paths; `None` when nothing is.
pub fn review_of(
    workspace: &Workspace,
    view: &View,
    only: &[PathBuf],
) -> io::Result<Option<(ShownChanges, Review)>> {
    let shown = view.shown()?;
    let review = review_shown(workspace, &shown, only);
    Ok(review.map(|review| (shown, review)))
}

/// The review of the changes that are shown at these paths; `None` when there are none.
pub(super) fn review_shown(workspace: &Workspace, shown: &ShownChanges, only: &[PathBuf]) -> Option<Review> {
    let view = shown.view();
    let of = match only {
        [] => shown.clone(),
        _ => shown.part(|change| only.iter().any(|path| change.path.starts_with(path))),
    };
    let (set, classes) = (of.set(), of.classes());
    let renamed = view.renamed(set);
    let mut files =
        review::pending(set, classes, &renamed, view.objects(), &|path| workspace.shortened(path));
    if files.is_empty() {
        return None;
    }
    // As the changes are: below, conflicts may change what is decided about.
    let counted = |file: &ReviewFile| Some((file.path.clone(), file.line_counts()?));
    let counted: HashMap<PathBuf, (usize, usize)> = files.iter().filter_map(counted).collect();
    let line_counts = set.lines_with(view.objects(), &renamed, classes, &|path| counted.get(path).copied());
    let conflicts = view.reviewed_conflicts(set);
    for file in &mut files {
        compare_with_workspace(file, set, (view, &conflicts), &|path| {
            visible::path_name(&workspace.shortened(path))
        });
    }
    for repository in view.git_events(set) {
        let Some(outermost) = set.repositories.of(&repository.path) else { continue };
        let name = |path: &Path| visible::path_name(&workspace.shortened(path));
        let Some(at) = files.iter().position(|file| file.path == outermost) else { continue };
        let rows = repository.rows(outermost, &name);
        let (mut commits, mut refs) = (Vec::new(), Vec::new());
        if let Some(file) = files.get_mut(at) {
            for (event, row) in repository.events.iter().zip(&rows) {
                file.facts.push(row.line());
                file.care.extend(row.needs_care.then(|| row.line()));
                if let Some(patch) = row.patch.as_ref() {
                    let name = event.content_name();
                    commits.extend(commit_files(file, &name, &patch.bytes, &patch.runs_later));
                    let left_out = format!("{} more bytes of {name} are not shown", patch.left_out);
                    file.facts.extend((patch.left_out > 0).then_some(left_out));
                }
                let path = event.name.as_ref().map(|name| repository.path.join(name));
                let one = path.zip(kind_of_ref(event.kind)).filter(|(path, _)| view.is_single_ref(set, path));
                refs.extend(one.map(|(path, kind)| ref_file(file, path, kind, &row.line())));
            }
        }
        refs.sort_by(|one: &ReviewFile, other| one.path.cmp(&other.path));
        commits.extend(refs);
        // Behind the repository, and behind those of another one in it.
        let is_commit = |file: &&ReviewFile| file.decided_with.is_some() && !file.is_explained();
        let after = files.iter().skip(at + 1).take_while(is_commit).count();
        files.splice(at + 1 + after..at + 1 + after, commits);
    }
    for (repository, words) in view.moved_repository_facts(set) {
        let Some(file) = files.iter_mut().find(|file| file.path == repository) else { continue };
        file.facts.insert(0, words.clone());
        file.care.insert(0, words);
    }
    let mut review = Review::new("pending changes", ReviewSubject::Pending, files);
    review.task.partial = !only.is_empty();
    (review.task.count, review.task.line_counts) = (set.count(&renamed), line_counts);
    Some(review)
}

/// What a row about one ref says of it.
fn kind_of_ref(kind: GitEventKind) -> Option<ChangeKind> {
    match kind {
        GitEventKind::RefCreated => Some(ChangeKind::Created),
        GitEventKind::RefDeleted => Some(ChangeKind::Deleted),
        GitEventKind::RefMoved | GitEventKind::RefSymbolic => Some(ChangeKind::Modified),
        _ => None,
    }
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

/// What became of the decisions.
pub type ReviewDecided = Result<DecisionReport, Box<MovedChanges>>;

/// Carrying out a review, which a front end runs while it shows how far it is.
pub type ReviewApply<'a> = Box<dyn FnOnce() -> ReviewDecided + 'a>;

/// The decision that the marks of a review make about the changes that it shows.
pub(super) fn decision_of(review: &Review, label: TransactionLabel) -> ChangeDecision {
    let mut apply = accepted_changes(review);
    resolve(&mut apply, review);
    // A file that runs later is accepted by itself, with its content in sight: the review sees to that.
    let own = review.files.iter().filter(|f| f.runs_later.is_some() && f.verdict().0 != AppliedPart::Nothing);
    let approval = own.flat_map(|f| &f.paths).fold(ChangeApproval::none(), |all, path| all.named(path));
    ChangeDecision { apply, discard: without_applying(review), approval, label }
}

/// Applies what was accepted, discards what was rejected, and stores what the agent should know. `confirm` asks about large
/// losses in what was accepted; it is true where there are none. `run` runs it and shows how far it is. Where nothing is
/// applied, nothing is discarded, and every decision stays remembered.
pub fn apply_review(
    workspace: &Workspace,
    (shown, review): (ShownChanges, &Review),
    (confirm, run): (impl FnOnce(&[LargeLoss]) -> bool, impl FnOnce(ReviewApply<'_>) -> ReviewDecided),
    label: TransactionLabel,
    undo: &str,
) -> AppliedReview {
    const SAVED: &str = "the changes stay pending, and your decisions are saved: the next review continues";
    let failed = |mut lines: Vec<String>| {
        lines.push(SAVED.into());
        let told = UserReport { lines, ..UserReport::default() };
        AppliedReview { steps: vec![(AuditKind::Apply, told)], outbox: None }
    };
    if let Some(why) = review.open_conflict() {
        return failed(vec![format!("nothing was applied: {why}")]);
    }
    let view = shown.view().clone();
    let mut decision = decision_of(review, label);
    let applies = !decision.apply.is_empty();
    let losses = shown.permitted(decision.apply.clone(), &decision.approval).losses;
    if let (Some(loss), false) = (losses.first(), confirm(&losses)) {
        return failed(vec![format!("not applied: {}", ApplyError::Loss(loss.clone()))]);
    }
    decision.approval = decision.approval.seen(&losses);
    let name = |path: &Path| workspace.shortened(path);
    let report = match run(Box::new(|| view.decide(shown, decision))) {
        Ok(report) if report.applied.is_err() => return failed(report.lines(None, &name)),
        Ok(report) => report,
        Err(moved) => return failed(moved.lines(&name)),
    };
    let mut steps = Vec::new();
    if applies {
        let lines = report.lines(Some(undo), &name).into_iter().chain(report.left.lines(&name)).collect();
        steps.push((
            AuditKind::Apply,
            UserReport { lines, done: true, ..UserReport::of_report(&report, undo, &name) },
        ));
    }
    steps.extend(rejected(&report, review, undo));
    let (outbox, error) = remember_carried_out(workspace, &view, review);
    // What was applied is applied: a full disk here must not make it look otherwise.
    steps.extend(
        error.map(|line| (AuditKind::Discard, UserReport { lines: vec![line], ..UserReport::default() })),
    );
    AppliedReview { steps, outbox }
}

/// After its decisions were carried out: what was decided is decided no more, and what is still pending has its reviewed
/// marks. Returns what the agent is to learn, which is stored until it was sent, and why that is not stored.
pub(super) fn remember_carried_out(
    workspace: &Workspace,
    view: &View,
    review: &Review,
) -> (Option<String>, Option<String>) {
    let file = memory_of(view);
    let before = SavedReview::load(&file);
    let unsent = before.outbox.as_deref().and_then(|unsent| review::without_undone(unsent, review));
    let outbox = join(unsent, review::report(review, ReviewEnd::CarriedOut));
    let memory = match review_of(workspace, view, &[]) {
        Ok(Some((_, mut rest))) => {
            drop(before.restore_into(&mut rest));
            rest.comments.list.retain(|c| !review.is_here(c));
            rest.reopen(|file| !review.task.partial || review.files.iter().any(|f| f.path == file.path));
            SavedReview::of(&rest, outbox.clone())
        }
        Ok(None) | Err(_) => SavedReview::only(outbox.clone()),
    };
    let error = memory.save(&file).err();
    (outbox, error.map(|e| format!("applied, but the report for the agent could not be saved: {e}")))
}

/// Makes what is applied of files in conflict changes of what the workspace has, as the review showed it.
fn resolve(land: &mut ChangeSelection, review: &Review) {
    for conflict in review.files.iter().filter_map(ReviewFile::resolved_conflict) {
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

/// Ends a review without applying anything, because the changes go back to the program that made them: what was rejected
/// is discarded, what was edited is pending with the person's text, and the rest is pending as it was. The report is
/// removed from what is saved: it must be sent.
pub fn send_back_review(workspace: &Workspace, view: &View, undo: &str) -> io::Result<AppliedReview> {
    let file = memory_of(view);
    let mut memory = SavedReview::load(&file);
    let (mut steps, mut outbox) = (Vec::new(), memory.outbox.take());
    if let Some((shown, mut review)) = review_of(workspace, view, &[])? {
        drop(memory.restore_into(&mut review));
        // A conflict stays one: both sides have the person's changes now.
        let decision = ChangeDecision { discard: without_applying(&review), ..ChangeDecision::default() };
        let report = view
            .decide(shown, decision)
            .map_err(|moved| io::Error::other(moved.lines(&|path| workspace.shortened(path)).join("; ")))?;
        steps.extend(rejected(&report, &review, undo));
        outbox = join(outbox, review::report(&review, ReviewEnd::CarriedOut));
        memory = memory.after_sending_back(&review, review_of(workspace, view, &[])?.map(|(_, rest)| rest));
    }
    memory.save(&file)?;
    Ok(AppliedReview { steps, outbox })
}

/// Reports what was rejected, and how it is brought back.
fn rejected(report: &DecisionReport, review: &Review, undo: &str) -> Option<(AuditKind, UserReport)> {
    let lines = vec![report.rejected_line(review.tally().1, undo)?];
    let done = matches!(report.discarded, Some(Ok(_)));
    Some((AuditKind::Discard, UserReport { lines, done, ..UserReport::default() }))
}

/// What is accepted.
pub fn accepted_changes(review: &Review) -> ChangeSelection {
    let mut land = ChangeSelection::new();
    for file in &review.files {
        let part = match file.verdict().0 {
            AppliedPart::Nothing => continue,
            AppliedPart::Whole => SelectedPart::Whole,
            AppliedPart::Content(bytes) => SelectedPart::Content(Arc::new(bytes)),
        };
        if let (Some(old), Some(true)) = (&file.renamed, file.old_path_goes()) {
            land.insert(old.as_path().into(), SelectedPart::Whole);
        }
        land.extend(file.paths.iter().map(|path| (path.clone(), part.clone())));
    }
    land
}

/// What was rejected, and the person's own text where a file was edited: what stays pending without applying anything.
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
        let (Some(unsent), Ok(Some((_, pending)))) = (memory.outbox.take(), review_of(workspace, view, &[]))
        else {
            continue;
        };
        memory.outbox = review::without_undone(&unsent, &pending);
        if let Err(e) = memory.save(&file) {
            tracing::warn!("the state of the review was not saved: {e}");
        }
    }
}

pub(super) fn join(before: Option<String>, now: Option<String>) -> Option<String> {
    match (before, now) {
        (Some(before), Some(now)) => Some(format!("{before}\n{now}")),
        (before, now) => before.or(now),
    }
}
