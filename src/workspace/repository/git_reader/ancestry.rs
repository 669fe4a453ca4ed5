//! Which commits one history has and others lack.

use super::budget::ReadBudget;
use super::commit::Commit;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Commits that are looked at for one count.
const MOST_COMMITS: usize = 5_000;

/// How many commits there are, or at least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CommitCount {
    pub(super) number: usize,
    /// Counting was cut off.
    pub(super) at_least: bool,
}

/// The commit can be reached from the history that is counted, or from one of the others.
const COUNTED: u8 = 1;
const OTHER: u8 = 2;

/// The commits that one history has and others lack.
pub(super) struct OnlyCommits {
    /// Those that can be read, the oldest first.
    pub(super) commits: Vec<(ObjectId, Commit)>,
    pub(super) number: usize,
    /// There are more, or some cannot be read.
    pub(super) at_least: bool,
}

/// The number of [`commits_only_in`].
pub(super) fn only_in(
    objects: &[&ObjectReader<'_>],
    from: ObjectId,
    others: &[ObjectId],
    budget: &ReadBudget,
) -> CommitCount {
    let Walked { marks, at_least, .. } = walk(objects, from, others, &BTreeSet::new(), budget);
    CommitCount { number: counted(&marks).count(), at_least }
}

/// Commits that can be reached from `from` and from none of `others`. The parents of the commits in `shallow` are not
/// looked for.
pub(super) fn commits_only_in(
    objects: &[&ObjectReader<'_>],
    from: ObjectId,
    others: &[ObjectId],
    shallow: &BTreeSet<ObjectId>,
    budget: &ReadBudget,
) -> OnlyCommits {
    let Walked { marks, mut commits, at_least } = walk(objects, from, others, shallow, budget);
    let number = counted(&marks).count();
    let only = counted(&marks).filter_map(|id| Some((*id, commits.remove(id)??)));
    let mut only: Vec<(ObjectId, Commit)> = only.collect();
    only.sort_by_key(|(id, commit)| (commit.time, *id));
    OnlyCommits { commits: only, number, at_least }
}

/// The commits that a walk has seen, each with who leads to it.
struct Walked {
    marks: BTreeMap<ObjectId, u8>,
    commits: BTreeMap<ObjectId, Option<Commit>>,
    at_least: bool,
}

/// Walks the newest commits first, until nothing is left that only `from` reaches. A commit is read where the first of
/// `objects` has it.
fn walk(
    objects: &[&ObjectReader<'_>],
    from: ObjectId,
    others: &[ObjectId],
    shallow: &BTreeSet<ObjectId>,
    budget: &ReadBudget,
) -> Walked {
    let read = |id: &ObjectId| objects.iter().find_map(|objects| Commit::read(objects, id));
    let mut marks: BTreeMap<ObjectId, u8> = BTreeMap::new();
    let mut commits: BTreeMap<ObjectId, Option<Commit>> = BTreeMap::new();
    let mut queue = BinaryHeap::new();
    for (id, mark) in std::iter::once((from, COUNTED)).chain(others.iter().map(|id| (*id, OTHER))) {
        *marks.entry(id).or_default() |= mark;
        let commit = commits.entry(id).or_insert_with(|| read(&id));
        queue.push((commit.as_ref().map_or(0, |commit| commit.time), id));
    }
    // Queued commits that no other history is known to have. The rest of the walk cannot change the count without them.
    let mut open: BTreeSet<ObjectId> =
        marks.iter().filter(|(_, mark)| **mark == COUNTED).map(|(id, _)| *id).collect();
    // The oldest commit that was read while no other history was known to have it.
    let mut oldest = i64::MAX;
    while let Some((time, id)) = queue.pop() {
        // Commits of one second come in any order: another history may still lead to one that was counted.
        if open.is_empty() && time < oldest {
            break;
        }
        if marks.get(&id) == Some(&COUNTED) {
            oldest = oldest.min(time);
        }
        if commits.len() > MOST_COMMITS || !budget.has_time() {
            return Walked { marks, commits, at_least: true };
        }
        open.remove(&id);
        let mark = marks.get(&id).copied().unwrap_or_default();
        let commit = commits.get(&id).and_then(Option::as_ref).filter(|_| !shallow.contains(&id));
        let parents = commit.map(|commit| commit.parents.clone()).unwrap_or_default();
        for parent in parents {
            let known = marks.entry(parent).or_default();
            if *known | mark == *known {
                continue;
            }
            *known |= mark;
            match *known {
                COUNTED => drop(open.insert(parent)),
                _ => drop(open.remove(&parent)),
            }
            let commit = commits.entry(parent).or_insert_with(|| read(&parent));
            queue.push((commit.as_ref().map_or(0, |commit| commit.time), parent));
        }
    }
    // Behind a commit that cannot be read there may be more.
    let is_unread = |id: &ObjectId| marks.get(id) == Some(&COUNTED);
    let at_least = commits.iter().any(|(id, commit)| commit.is_none() && is_unread(id));
    Walked { marks, commits, at_least }
}

fn counted(marks: &BTreeMap<ObjectId, u8>) -> impl Iterator<Item = &ObjectId> {
    marks.iter().filter(|(_, mark)| **mark == COUNTED).map(|(id, _)| id)
}
