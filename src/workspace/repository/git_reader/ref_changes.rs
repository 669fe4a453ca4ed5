//! Refs that differ between the two states, and the commits that are new.

use super::ancestry::{OnlyCommits, commits_only_in, only_in};
use super::bisect_marks::bisect_marks;
use super::budget::ReadBudget;
use super::commit::Commit;
use super::commit_patch::CommitPatch;
use super::event::{DroppedCommits, GitEvent, HeadPosition, RefKind, RefTarget, StoredContent};
use super::git_sides::RepositorySide;
use super::object_id::ObjectId;
use super::packed_refs::RefMap;
use super::person_identity::PersonIdentity;
use super::reached_before::{ReachedBefore, peeled};
use super::refs::{RefChange, RefReader};
use super::stored_content::{ContentFate, note_events, ref_content, removed_notes};
use super::tree_diff::{TreeChanges, compare_trees, with_message};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// New commits that have a row.
const MOST_COMMITS: usize = 200;
/// Refs that have a row; a fetch of a large project may bring more.
const MOST_REFS: usize = 500;
/// Commits that the row of a ref names of those that it drops.
const MOST_NAMED: usize = 3;
/// Other refs that may have a commit which one ref drops.
const MOST_OTHER_REFS: usize = 2_000;

pub(super) struct ChangedRefs {
    pub(super) changes: Vec<RefChange>,
    /// Files among the refs that are none.
    pub(super) broken: Vec<PathBuf>,
    /// The rows of refs that lead to another ref than before.
    pub(super) other_names: Vec<GitEvent>,
    /// Refs that were not looked at.
    pub(super) left_out: usize,
}

/// The rows about refs, and the objects to which changed refs lead.
pub(super) struct RefEvents {
    pub(super) events: Vec<GitEvent>,
    pub(super) tips: Vec<ObjectId>,
    /// The commits that have rows.
    pub(super) commits: Vec<ObjectId>,
}

/// The rows about commits, branches, tags and `HEAD`. `loose` are the refs whose files changed, `others` the names of other
/// files with the commits in them.
pub(super) fn ref_events(
    before: &RepositorySide<'_>,
    after: &RepositorySide<'_>,
    (loose, others): (BTreeSet<&Path>, &[(PathBuf, ObjectId)]),
    person: &PersonIdentity,
    budget: &ReadBudget,
) -> RefEvents {
    let mut events = Vec::new();
    let changes = match changed_refs(before, after, loose, MOST_REFS, budget) {
        Some(ChangedRefs { changes, broken, other_names, left_out }) => {
            events.extend(other_names);
            events.extend((left_out > 0).then_some(GitEvent::MoreRefs(left_out)));
            events.extend(
                broken.into_iter().map(|name| GitEvent::BrokenRef { kind: RefKind::of(&name), name }),
            );
            changes
        }
        None => {
            events.push(GitEvent::RefsNotRead("packed-refs is no regular file, is large and not sorted, or says that it is sorted and is not"));
            Vec::new()
        }
    };
    let (old_head, new_head) = (before.refs.head(), after.refs.head());
    let renamed = renamed_branches(&changes, &after.refs);
    let tips: Vec<ObjectId> = changes.iter().filter_map(|change| change.new).collect();
    let reached = ReachedBefore::new(before, &changes, budget);
    let new_commits =
        NewCommits::find((before, after), (&changes, others), new_head.as_ref(), &reached, budget);
    events.extend(new_commits.events(after, person, budget));
    events.extend(note_events(after, &changes, &reached, budget));
    let renamed_names: BTreeSet<&PathBuf> = renamed.iter().flat_map(|(from, to)| [from, to]).collect();
    events.extend(
        renamed.iter().map(|(from, to)| GitEvent::BranchRenamed { from: from.clone(), to: to.clone() }),
    );
    let mut other_refs = None;
    let has_bisect = |side: &RepositorySide<'_>| side.refs.has_file("BISECT_LOG");
    let (has_begun, has_ended) =
        (has_bisect(after) && !has_bisect(before), has_bisect(before) && !has_bisect(after));
    let (marks, marked) = bisect_marks((before, after), &changes, budget).unzip();
    events.extend(marks.map(GitEvent::BisectMarked));
    let marked = marked.unwrap_or_default();
    let has_row = |name: &PathBuf| renamed_names.contains(name) || marked.contains(name);
    for change in changes.iter().filter(|change| !has_row(&change.name)) {
        // Stash entries are counted in their reflog: as a ref, each of them seems to drop the one before.
        let is_bisect = change.name.starts_with("refs/bisect")
            && (has_begun && leads_to_commit(after, change) || has_ended && change.new.is_none());
        if change.name == Path::new("refs/stash") || is_bisect {
            continue;
        }
        let mut all_after = || other_refs.get_or_insert_with(|| after.refs.all(budget)).clone();
        events.extend(ref_event(change, (before, after), (&new_commits, &tips), &mut all_after, budget));
    }
    let follows = |from: &HeadPosition, to: &HeadPosition| match (from, to) {
        (HeadPosition::Branch(from), HeadPosition::Branch(to)) => {
            renamed.iter().any(|(old, new)| old == from && new == to)
        }
        _ => false,
    };
    if new_head.is_none() {
        events.push(GitEvent::RefsNotRead("HEAD is no regular file, or names no ref"));
    }
    // Commits on top of a detached HEAD have rows that say so.
    let goes_on = before.refs.head_commit().is_some_and(|old| new_commits.continues(Path::new("HEAD"), &old));
    if let Some(to) = new_head
        && old_head.as_ref() != Some(&to)
        && !old_head.as_ref().is_some_and(|from| follows(from, &to))
        && !(goes_on && matches!(old_head, Some(HeadPosition::Detached(_))))
    {
        // A detached HEAD is what has its commits, as a branch is.
        let dropped = match (&old_head, before.refs.head_commit()) {
            (Some(HeadPosition::Detached(_)), Some(old)) => {
                let mut all_after = || other_refs.get_or_insert_with(|| after.refs.all(budget)).clone();
                dropped_commits((before, after), old, None, &mut all_after, budget)
            }
            _ => DroppedCommits::default(),
        };
        let is_unborn = after.refs.head_commit().is_none();
        events.push(GitEvent::Head { from: old_head, to, is_unborn, dropped });
    }
    RefEvents { events, tips, commits: new_commits.shown().iter().map(|(id, ..)| *id).collect() }
}

/// The refs that differ, `most` of them.
pub(super) fn changed_refs(
    before: &RepositorySide<'_>,
    after: &RepositorySide<'_>,
    loose: BTreeSet<&Path>,
    most: usize,
    budget: &ReadBudget,
) -> Option<ChangedRefs> {
    let packed = before.refs.packed_differences(&after.refs, budget)?;
    let mut names: BTreeSet<&Path> = loose;
    names.extend(packed.names.iter().map(PathBuf::as_path));
    // The branch that the person is on has its row, however many there are.
    let current = match after.refs.head() {
        Some(HeadPosition::Branch(name)) => names.take(&*name),
        _ => None,
    };
    let (mut changes, mut broken, mut other_names) = (Vec::new(), Vec::new(), Vec::new());
    let mut left_out = packed.left_out;
    for name in current.into_iter().chain(names) {
        if changes.len() >= most || !budget.has_time() {
            left_out += 1;
            continue;
        }
        let (old, new) = (before.refs.get(name), after.refs.get(name));
        let (was, is) = (before.refs.symbolic(name), after.refs.symbolic(name));
        if old.is_some() && new.is_some() && was != is {
            other_names.push(GitEvent::OtherName { name: name.to_path_buf(), of: is });
        }
        if new.is_none() && after.refs.is_broken(name) {
            broken.push(name.to_path_buf());
        } else if old != new {
            changes.push(RefChange { name: name.to_path_buf(), old, new });
        }
    }
    changes.sort_by(|a, b| a.name.cmp(&b.name));
    Some(ChangedRefs { changes, broken, other_names, left_out })
}

/// Branches that are gone and new at the same commit. `git branch --copy` makes one there, too: the reflog of a new
/// branch says what it comes from.
fn renamed_branches(changes: &[RefChange], refs: &RefReader<'_>) -> Vec<(PathBuf, PathBuf)> {
    let branches = || changes.iter().filter(|change| change.name.starts_with("refs/heads"));
    let mut created: Vec<&RefChange> = branches().filter(|c| c.old.is_none()).collect();
    let gone = branches().filter(|c| c.new.is_none());
    gone.filter_map(|gone| {
        let renamed = format!("Branch: renamed {} to", gone.name.display());
        let says = |log: &[u8], text: &str| memchr::memmem::find(log, text.as_bytes()).is_some();
        let likely = |new: &RefChange| match refs.log(&new.name) {
            log if says(&log, &renamed) => 2,
            log if says(&log, "Branch: copied ") => 0,
            _ => 1,
        };
        let same = created.iter().enumerate().filter(|(_, new)| new.new == gone.old);
        // The first of the most likely.
        let found = same.map(|(at, new)| (likely(new), std::cmp::Reverse(at))).max()?;
        let (1.., std::cmp::Reverse(at)) = found else { return None };
        Some((gone.name.clone(), created.remove(at).name.clone()))
    })
    .collect()
}

/// True also for a ref that is gone.
fn leads_to_commit(after: &RepositorySide<'_>, change: &RefChange) -> bool {
    change.new.is_none_or(|id| Commit::read(&after.objects, &id).is_some())
}

fn ref_event(
    change: &RefChange,
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    (new_commits, new_tips): (&NewCommits, &[ObjectId]),
    all_after: &mut dyn FnMut() -> Option<RefMap>,
    budget: &ReadBudget,
) -> Option<GitEvent> {
    let kind = RefKind::of(&change.name);
    let name = change.name.clone();
    let may_drop = matches!(kind, RefKind::Branch | RefKind::RemoteBranch);
    match (change.old, change.new) {
        (None, Some(new)) => {
            let content = ref_content(after, new, ContentFate::Added, budget);
            Some(GitEvent::RefCreated { kind, name, at: new.short(), content })
        }
        (Some(old), None) => {
            let commit = peeled(&before.objects, old);
            let is_commit = before.objects.get_of(&commit, "commit").is_some();
            let dropped = match kind {
                RefKind::Notes | RefKind::Replacement => DroppedCommits::default(),
                _ if is_commit => dropped_commits((before, after), commit, None, all_after, budget),
                _ => DroppedCommits::default(),
            };
            let content = match kind {
                RefKind::Notes if is_commit => removed_notes(before, commit, budget),
                _ => ref_content(before, old, ContentFate::Removed, budget),
            };
            let content = content.filter(|_| !new_tips.contains(&old));
            Some(GitEvent::RefDeleted { kind, name, at: old.short(), dropped, content })
        }
        (Some(old), Some(new)) => {
            let lost = match may_drop {
                true => new_commits.unshown_difference((before, after), (old, new), budget),
                false => None,
            };
            // The rows of the new commits already show that the branch continues.
            if lost.is_none() && new_commits.continues(&change.name, &old) {
                return None;
            }
            let content = lost.or_else(|| ref_content(after, new, ContentFate::Added, budget));
            let dropped = if may_drop {
                let dropped = dropped_commits((before, after), old, Some(new), all_after, budget);
                rewritten((before, after), (old, new), new_commits.shown(), dropped, budget)
            } else {
                DroppedCommits::default()
            };
            Some(GitEvent::RefMoved { kind, name, from: old.short(), to: new.short(), dropped, content })
        }
        (None, None) => None,
    }
}

/// What a ref had at `old` and has no more, and whether any other ref has it. The change may also have removed what no
/// ref leads to: then the state before it has the objects.
pub(super) fn dropped_commits(
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    old: ObjectId,
    new: Option<ObjectId>,
    all_after: &mut dyn FnMut() -> Option<RefMap>,
    budget: &ReadBudget,
) -> DroppedCommits {
    let objects = [&after.objects, &before.objects];
    let only = |others: &[ObjectId]| commits_only_in(&objects, old, others, &BTreeSet::new(), budget);
    let gone = new.map(|new| only(&[new]));
    if gone.as_ref().is_some_and(|gone| gone.number == 0 && !gone.at_least) {
        return DroppedCommits::default();
    }
    let lost = match all_after() {
        Some(refs) if refs.len() <= MOST_OTHER_REFS => {
            let tips: BTreeSet<ObjectId> = refs.into_values().chain(after.refs.head_commit()).collect();
            only(&tips.into_iter().collect::<Vec<_>>())
        }
        // Not known: the worse case is assumed.
        _ => {
            let number = gone.as_ref().map_or(1, |gone| gone.number.max(1));
            OnlyCommits { commits: Vec::new(), number, at_least: true }
        }
    };
    let are_lost = lost.number > 0;
    if gone.is_none() && !are_lost {
        return DroppedCommits::default();
    }
    let OnlyCommits { mut commits, number, at_least } = gone.unwrap_or(lost);
    sort_by_history(old, &mut commits);
    let named = if at_least { Vec::new() } else { subjects(&commits) };
    DroppedCommits { number, at_least, are_lost, named, rewritten: 0 }
}

/// Sorts commits in the history of `tip`. Commits of one second come in any order otherwise.
fn sort_by_history(tip: ObjectId, commits: &mut [(ObjectId, Commit)]) {
    let first: BTreeMap<ObjectId, Option<ObjectId>> =
        commits.iter().map(|(id, commit)| (*id, commit.parents.first().copied())).collect();
    let (mut order, mut at) = (BTreeMap::new(), Some(tip));
    while let Some(id) = at.filter(|id| first.contains_key(id) && !order.contains_key(id)) {
        order.insert(id, order.len());
        at = first.get(&id).copied().flatten();
    }
    commits.sort_by_key(|(id, _)| Reverse(order.get(id).copied()));
}

/// The subjects of the first commits.
fn subjects(commits: &[(ObjectId, Commit)]) -> Vec<String> {
    commits.iter().take(MOST_NAMED).map(|(_, commit)| commit.subject.clone()).collect()
}

/// Without the commits for which the ref has a new one with the same subject and author, and with a row.
fn rewritten(
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    (old, new): (ObjectId, ObjectId),
    shown: &[(ObjectId, Commit, PathBuf)],
    dropped: DroppedCommits,
    budget: &ReadBudget,
) -> DroppedCommits {
    let objects = [&after.objects, &before.objects];
    let only = |from, other| commits_only_in(&objects, from, &[other], &BTreeSet::new(), budget);
    let gone = only(old, new);
    if dropped.number == 0 || dropped.at_least || gone.at_least || gone.commits.len() != dropped.number {
        return dropped;
    }
    let mut made = only(new, old).commits;
    made.retain(|(id, _)| shown.iter().any(|(known, ..)| known == id));
    let mut left = gone.commits;
    sort_by_history(old, &mut left);
    left.retain(|(_, gone)| {
        let is_it = |(_, made): &(ObjectId, Commit)| {
            (&made.subject, &made.author) == (&gone.subject, &gone.author)
                && made.parents.len() == gone.parents.len()
        };
        made.iter().position(is_it).map(|at| made.remove(at)).is_none()
    });
    let rewritten = dropped.number - left.len();
    if rewritten == 0 {
        return dropped;
    }
    let are_lost = dropped.are_lost && !left.is_empty();
    let number = left.len();
    DroppedCommits { number, are_lost, rewritten, named: subjects(&left), at_least: false }
}

/// Commits to which only refs of the state after the change lead, the oldest first.
#[derive(Default)]
struct NewCommits {
    list: Vec<(ObjectId, Commit, PathBuf)>,
    /// Where the refs were before that have new commits.
    old_tips: BTreeMap<PathBuf, ObjectId>,
    more: bool,
    /// The refs whose new commits lead back to the commit where the ref was before.
    continued: BTreeSet<(PathBuf, ObjectId)>,
    /// The parent against which each commit with a row counts.
    counted_from: BTreeMap<ObjectId, ObjectId>,
}

/// True where `commit` is in the history of `parent`.
fn leads_on(after: &RepositorySide<'_>, commit: ObjectId, parent: ObjectId, budget: &ReadBudget) -> bool {
    let left = only_in(&[&after.objects], commit, &[parent], budget);
    left.number == 0 && !left.at_least
}

impl NewCommits {
    fn find(
        (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
        (changes, others): (&[RefChange], &[(PathBuf, ObjectId)]),
        head: Option<&HeadPosition>,
        reached: &ReachedBefore<'_, '_>,
        budget: &ReadBudget,
    ) -> NewCommits {
        let mut found = NewCommits::default();
        let mut seen: BTreeMap<ObjectId, bool> = BTreeMap::new();
        let current = match head {
            Some(HeadPosition::Branch(name)) => Some(name.clone()),
            _ => None,
        };
        // Notes and stash entries have rows of their own.
        let counts = |change: &&RefChange| {
            RefKind::of(&change.name) != RefKind::Notes && change.name != Path::new("refs/stash")
        };
        let mut tips: Vec<(PathBuf, ObjectId, Option<ObjectId>)> = changes
            .iter()
            .filter(counts)
            .filter_map(|change| Some((change.name.clone(), peeled(&after.objects, change.new?), change.old)))
            .collect();
        tips.extend(others.iter().map(|(name, id)| (name.clone(), peeled(&after.objects, *id), None)));
        if let (Some(HeadPosition::Detached(_)), Some(id)) = (head, after.refs.head_commit()) {
            tips.push((PathBuf::from("HEAD"), id, before.refs.head_commit()));
        }
        // A commit is named with the branch that the person is on where several lead to it, then with other branches.
        let is_file = |name: &Path| !name.starts_with("refs");
        tips.sort_by_key(|(name, ..)| {
            (Some(name) != current.as_ref(), RefKind::of(name), is_file(name), name.clone())
        });
        for (name, tip, old) in tips {
            found.walk((reached, after), &mut seen, (&name, tip, old), budget);
            found.old_tips.extend(old.map(|old| (name, old)));
        }
        found.more |= reached.is_unsure();
        found.choose_parents(after, budget);
        found
    }

    /// Parents come before their children.
    fn walk(
        &mut self,
        (reached, after): (&ReachedBefore<'_, '_>, &RepositorySide<'_>),
        seen: &mut BTreeMap<ObjectId, bool>,
        (name, tip, old): (&Path, ObjectId, Option<ObjectId>),
        budget: &ReadBudget,
    ) {
        let mut todo: Vec<(ObjectId, Option<Commit>)> = vec![(tip, None)];
        while let Some((id, commit)) = todo.pop() {
            if let Some(commit) = commit {
                self.list.push((id, commit, name.to_path_buf()));
                continue;
            }
            if Some(id) == old {
                self.continued.insert((name.to_path_buf(), id));
            }
            if seen.contains_key(&id) {
                continue;
            }
            // What is begun is listed, and its parents are not looked for any more: they are the older ones.
            if self.list.len() + todo.len() > 4 * MOST_COMMITS || !budget.has_time() {
                self.more = true;
                continue;
            }
            let is_new = reached.is_new(&id);
            seen.insert(id, is_new);
            let Some(commit) = Some(id).filter(|_| is_new).and_then(|id| Commit::read(&after.objects, &id))
            else {
                continue;
            };
            let parents = commit.parents.clone();
            todo.push((id, Some(commit)));
            todo.extend(parents.into_iter().rev().map(|parent| (parent, None)));
        }
    }

    /// True where the new commits of the ref are on top of `old`.
    fn continues(&self, name: &Path, old: &ObjectId) -> bool {
        self.continued.contains(&(name.to_path_buf(), *old))
    }

    /// The newest where there are too many.
    fn shown(&self) -> &[(ObjectId, Commit, PathBuf)] {
        self.list.get(self.list.len().saturating_sub(MOST_COMMITS)..).unwrap_or_default()
    }

    /// The parent against which a commit counts: the first. A merge counts against the parent through which the branch
    /// continues. A merge with `-s ours` that is made elsewhere takes commits of the branch away, and is the same as its first
    /// parent.
    fn choose_parents(&mut self, after: &RepositorySide<'_>, budget: &ReadBudget) {
        let chosen = self.shown().iter().filter_map(|(id, commit, on)| {
            let old = self.old_tips.get(on).filter(|_| commit.parents.len() > 1);
            let own = old
                .and_then(|old| commit.parents.iter().find(|parent| leads_on(after, *old, **parent, budget)));
            Some((*id, *own.or(commit.parents.first())?))
        });
        self.counted_from = chosen.collect();
    }

    /// What a branch lost or got where the rows of its new commits do not show that: a merge has one row, and counts there
    /// against a parent which another branch had.
    fn unshown_difference(
        &self,
        (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
        (old, new): (ObjectId, ObjectId),
        budget: &ReadBudget,
    ) -> Option<(RefTarget, StoredContent)> {
        let (mut at, mut has_merge) = (new, false);
        while let Some(parent) = self.counted_from.get(&at) {
            has_merge |= self.shown().iter().any(|(id, commit, _)| *id == at && commit.parents.len() > 1);
            at = *parent;
        }
        // Without a merge, the commits that the branch had and has no more are named.
        if !has_merge || leads_on(after, old, at, budget) || !leads_on(after, old, new, budget) {
            return None;
        }
        let tree = |side: &RepositorySide<'_>, id| Commit::read(&side.objects, &id).map(|commit| commit.tree);
        let (changes, patch) = match (tree(before, old), tree(after, new)) {
            (Some(old), Some(new)) => compare_trees(&after.objects, Some(old), Some(new), budget),
            _ => (TreeChanges { at_least: true, ..TreeChanges::default() }, CommitPatch::default()),
        };
        let is_any = changes.files + changes.submodules > 0 || changes.at_least;
        let content = StoredContent { id: new.short(), changes, patch, ..StoredContent::default() };
        is_any.then_some((RefTarget { is_annotated: false, kind: "commit" }, content))
    }

    fn events(
        &self,
        after: &RepositorySide<'_>,
        person: &PersonIdentity,
        budget: &ReadBudget,
    ) -> Vec<GitEvent> {
        let left_out = self.list.len() - self.shown().len();
        let mut events = Vec::new();
        for (id, commit, on) in self.shown() {
            let parent = self.counted_from.get(id).and_then(|id| Commit::read(&after.objects, id));
            let before = parent.map(|parent| parent.tree);
            let (changes, patch) = compare_trees(&after.objects, before, Some(commit.tree), budget);
            events.push(GitEvent::Commit {
                id: id.short(),
                subject: commit.subject.clone(),
                author: person.made_by_other(commit),
                on: on.clone(),
                is_merge: commit.parents.len() > 1,
                changes,
                patch: with_message(patch, commit, budget),
            });
        }
        if left_out > 0 || self.more {
            events.insert(0, GitEvent::MoreCommits { at_least: left_out.max(1) });
        }
        events
    }
}
