//! Carrying a review out.
//!
//! Whatever face asked, the decisions are in one [`Review`]; carrying them out is one apply (all of it or nothing), and
//! only when that succeeded are the rejected parts discarded, so that `/undo` can bring them back.

use crate::audit::AuditKind;
use crate::serve::changes::UserReport;
use crate::text::{regular_file, visible};
use crate::ui::review::{
    self, AppliedPart, CombinedDecision, DecidedConflict, MergeOutlook, PendingPart, Review, ReviewDecision,
    ReviewFile, ReviewSubject, SavedReview, commit_files,
};
use crate::workspace::{
    ApplyError, ApplyReport, ChangeApproval, ChangeSelection, ChangeSet, DiscardBackup, DiscardMoment,
    FileChange, GitEvent, LargeLoss, LayerKind, SelectedPart, TransactionLabel, View, Workspace,
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
    for file in &mut files {
        let path = file.renamed.as_ref().unwrap_or(&file.path);
        let Some(change) = set.get(path) else { continue };
        let before = change.before.hash();
        if before.is_none() && !change.before.is_absent() {
            continue;
        }
        let fact = match regular_file::read(path, LARGEST) {
            Ok(now) if Some(blake3::hash(&now)) != before => Some(changed_fact(file, change, &now)),
            Err(e) if e.kind() == io::ErrorKind::NotFound && before.is_some() => Some(
                "the file was deleted in the workspace since: reject the change, and let the agent make it again"
                    .into(),
            ),
            Ok(_) | Err(_) => None,
        };
        file.facts.splice(0..0, fact);
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
                if let (GitEvent::Commit { id, .. }, Some(patch)) = (event, &row.patch) {
                    commits.extend(commit_files(file, id, &patch.bytes, &patch.runs_later));
                    let left_out = format!("{} more bytes of this commit are not shown", patch.left_out);
                    file.facts.extend((patch.left_out > 0).then_some(left_out));
                }
            }
        }
        // Behind the repository, and behind those of another one in it.
        let is_commit = |file: &&ReviewFile| file.decided_with.is_some() && !file.is_explained();
        let after = files.iter().skip(at + 1).take_while(is_commit).count();
        files.splice(at + 1 + after..at + 1 + after, commits);
    }
    let mut review = Review::new("pending changes", ReviewSubject::Pending, files);
    review.partial = !only.is_empty();
    review.pending =
        set.changes.iter().map(|change| (Arc::clone(&change.path), change.after.clone())).collect();
    (review.count, review.line_counts) = (set.count(&renamed), set.lines(view.objects(), &renamed));
    Ok(Some(review))
}

/// Says that the file has other content now than when the agent changed it. In a conflict the lines show the rest.
fn changed_fact(file: &mut ReviewFile, change: &FileChange, now: &[u8]) -> String {
    let now_hash = blake3::hash(now);
    let is_plain = change.after.is_file()
        && change.moved_from.is_none()
        && file.renamed.is_none()
        && change.after.hash() != Some(now_hash);
    let lines = file.lines_mut().filter(|_| is_plain);
    let outlook = lines.map_or(MergeOutlook::Unknown, |lines| lines.compare_with_workspace(now));
    if outlook == MergeOutlook::Conflict {
        // An edit or a decision about the file belongs to the content that is shown.
        file.key = blake3::hash(format!("{}\0{now_hash}", file.key).as_bytes()).to_hex().to_string();
    }
    let then = match outlook {
        MergeOutlook::Merged => ": to apply the change, placet first merges both, and you review the result",
        MergeOutlook::Conflict => {
            ", in the same lines: each conflict below shows yours and the agent's, and you choose one"
        }
        MergeOutlook::Unknown => {
            ": both changes are merged if possible; if not, reject the lines that changed on both sides"
        }
    };
    format!("the file in the workspace changed since (by an edit, an apply or an undo){then}")
}

/// The apply of a review, which a front end runs and shows.
pub type ReviewApply<'a> = Box<dyn FnOnce() -> ApplyReport + 'a>;

/// Applies what was accepted, discards what was rejected, and stores what the agent should know. `confirm` asks about large
/// losses in what was accepted; it is true where there are none. `run` runs the apply and shows how far it is. Applying is
/// all or nothing; when it fails every decision stays remembered, and when the person stopped it nothing is discarded. Nothing is done where other changes are pending now than the review showed.
pub fn apply_review(
    workspace: &Workspace,
    view: &View,
    review: &Review,
    (confirm, run): (impl FnOnce(&[LargeLoss]) -> bool, impl FnOnce(ReviewApply<'_>) -> ApplyReport),
    label: TransactionLabel,
    undo: &str,
) -> io::Result<AppliedReview> {
    let (land, drop_out) = choices(review);
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
    if let Some(path) = base_on_workspace(view, review)? {
        let name = visible::path_name(&workspace.shortened(&path));
        let why = format!(
            "nothing was applied: `{name}` changed again in the workspace since it was shown: review it again"
        );
        return Ok(AppliedReview { steps: vec![(AuditKind::Apply, UserReport::failed(why))], outbox: None });
    }
    set = view.changes(LayerKind::Pending)?;
    let applies = !land.is_empty();
    // A person expects that undo reverts what was applied, and that the next undo restores what was rejected.
    let decided = DiscardMoment::before_now();
    let mut steps = Vec::new();
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
            if !rejections.is_empty() && !is_stopped {
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
        match view.set_aside_as_of(&drop_out, decided) {
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

/// Makes each decided change of a file in conflict one of the content that the workspace has, as the review showed it.
/// Returns a file that has another content by now; then nothing was done.
fn base_on_workspace(view: &View, review: &Review) -> io::Result<Option<PathBuf>> {
    let files: Vec<_> = review.files.iter().filter_map(ReviewFile::resolved_conflict).collect();
    if files.is_empty() {
        return Ok(None);
    }
    let of =
        |file: &DecidedConflict<'_>| (file.path.to_path_buf(), (file.mine.to_vec(), file.merged.to_vec()));
    view.base_on_workspace(files.iter().map(of).collect())
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
