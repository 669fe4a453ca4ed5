//! Three states, item by item: what only the agent moved is applied, what only the person moved is left alone, and what
//! both moved is a conflict.

use crate::error::GitError;
use crate::git_file::{GitFileContent, operation_around, operation_of};
use crate::git_name::GitName;
use crate::object_id::ObjectId;
use crate::operation_state::OperationState;
use crate::repository_move::{
    CheckoutMove, Moved, MovedItems, RepositoryMove, branch_to_return_to, branches_to_return_to,
};
use crate::state::{CheckoutName, Head, IndexState, RefsState, RepositoryState, StashEntry, resolve_by};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An item of a repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepositoryItem {
    Ref(GitName),
    OwnRef(CheckoutName, GitName),
    Head(CheckoutName),
    /// A path of an index.
    Index(CheckoutName, GitName),
    Stash,
    File(GitName),
}

impl RepositoryItem {
    fn words(&self) -> String {
        match self {
            RepositoryItem::Ref(name) | RepositoryItem::OwnRef(_, name) => name.escaped(),
            RepositoryItem::Head(_) => "HEAD".into(),
            RepositoryItem::Index(_, path) => format!("the staged entry `{}`", path.escaped()),
            RepositoryItem::Stash => "the stash".into(),
            RepositoryItem::File(name) => format!("`{}`", name.escaped()),
        }
    }

    pub(crate) fn conflict(&self) -> GitError {
        GitError::Conflict(self.words())
    }

    pub(crate) fn changed(&self) -> GitError {
        GitError::Changed(self.words())
    }
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// From the person's state to what it becomes.
    pub moved: RepositoryMove,
    /// What both moved, each to something else.
    pub conflicts: BTreeSet<RepositoryItem>,
    /// Where the person's `HEAD`s are.
    pub(crate) heads: BTreeMap<CheckoutName, Head>,
    /// Checkouts of the person in which git leaves files out: there, a new entry without a file hides nothing.
    pub(crate) sparse: BTreeSet<CheckoutName>,
    /// Checkouts of the person in which git has not finished an operation: whatever moves there belongs to it.
    pub(crate) in_progress: BTreeSet<CheckoutName>,
}

impl Comparison {
    /// Compares the base, which both started from, with the person's state and the agent's.
    #[must_use]
    pub fn of(base: &RepositoryState, person: &RepositoryState, agent: &RepositoryState) -> Comparison {
        let states = [base, person, agent];
        Comparison::with_commits(states, &|name| commit_of_agent(states, name))
    }

    /// `commit_of` says to which commit the index of a checkout belongs after the move.
    fn with_commits(
        states: [&RepositoryState; 3],
        commit_of: &dyn Fn(&CheckoutName) -> Option<ObjectId>,
    ) -> Comparison {
        let [base, person, agent] = states;
        let nothing = RepositoryMove::nothing(person.format.clone());
        let heads =
            person.checkouts.iter().map(|(name, checkout)| (name.clone(), checkout.head.clone())).collect();
        let is_sparse = |index: &IndexState| index.values().flatten().any(|entry| entry.skip_worktree);
        let sparse = person.checkouts.iter().filter(|(_, checkout)| is_sparse(&checkout.index));
        let sparse = sparse.map(|(name, _)| name.clone()).collect();
        let stopped = |name: &&CheckoutName| OperationState::of(&person.files, name).is_some();
        let in_progress = person.checkouts.keys().filter(stopped).cloned().collect();
        let conflicts = BTreeSet::new();
        let mut comparison = Comparison { moved: nothing, conflicts, heads, sparse, in_progress };
        comparison.moved.refs =
            comparison.items(&base.refs, &person.refs, &agent.refs, |name| RepositoryItem::Ref(name.clone()));
        let names: BTreeSet<&CheckoutName> = states.iter().flat_map(|state| state.checkouts.keys()).collect();
        for name in names {
            comparison.checkout(states, name, commit_of(name));
        }
        comparison.stash(&base.stash, &person.stash, &agent.stash);
        let [b, p, a] = states.map(|state| &state.files.named);
        comparison.moved.files = comparison.items(b, p, a, |name| RepositoryItem::File(name.clone()));
        comparison.operations([b, p, a]);
        // A rebase returns to the branch on which it began, and would find another commit there.
        for branch in branches_to_return_to(&comparison.moved.files) {
            let [b, p, a] = states.map(|state| state.refs.get(&branch));
            if p != b && p == a {
                comparison.conflicts.insert(RepositoryItem::Ref(branch));
            }
        }
        let in_progress = |name: &GitName| p.contains_key(name) && !comparison.moved.files.contains_key(name);
        let of_person = p.iter().filter(|(name, _)| in_progress(name));
        let of_person: Vec<GitName> =
            of_person.filter_map(|(name, file)| branch_to_return_to(name, file)).collect();
        let moved = of_person.into_iter().filter(|branch| comparison.moved.refs.contains_key(branch));
        let moved: Vec<RepositoryItem> = moved.map(RepositoryItem::Ref).collect();
        comparison.conflicts.extend(moved);
        comparison
    }

    fn checkout(
        &mut self,
        [base, person, agent]: [&RepositoryState; 3],
        name: &CheckoutName,
        commit_of_index: Option<ObjectId>,
    ) {
        let [b, p, a] = [base, person, agent].map(|state| state.checkouts.get(name));
        let heads = [b, p, a].map(|checkout| {
            let head = checkout.map(|checkout| checkout.head.clone());
            head.map(|head| (GitName::default(), head)).into_iter().collect::<BTreeMap<GitName, Head>>()
        });
        let [head_b, head_p, head_a] = &heads;
        let mut found = CheckoutMove::default();
        let item = |_: &GitName| RepositoryItem::Head(name.clone());
        found.head = self.items(head_b, head_p, head_a, item).into_values().next();
        let refs =
            [b, p, a].map(|checkout| checkout.map(|checkout| checkout.own_refs.clone()).unwrap_or_default());
        let [refs_b, refs_p, refs_a] = &refs;
        found.own_refs =
            self.items(refs_b, refs_p, refs_a, |own| RepositoryItem::OwnRef(name.clone(), own.clone()));
        let none = IndexState::default();
        let [index_b, index_p, index_a] =
            [b, p, a].map(|checkout| checkout.map_or(&none, |checkout| &checkout.index));
        found.index =
            self.items(index_b, index_p, index_a, |path| RepositoryItem::Index(name.clone(), path.clone()));
        // A checkout that goes takes nothing along that was made there since.
        if found.head.as_ref().is_some_and(|head| head.after.is_none()) {
            let own = different(refs_b, refs_p).into_iter();
            self.conflicts.extend(own.map(|own| RepositoryItem::OwnRef(name.clone(), own.clone())));
            let staged = different(index_b, index_p).into_iter();
            self.conflicts.extend(staged.map(|path| RepositoryItem::Index(name.clone(), path.clone())));
        }
        let moves_index = found.head.is_some() || !found.index.is_empty();
        let person_head = p.map(|checkout| checkout.head.clone());
        let head = found.head.as_ref().map_or(person_head, |moved| moved.after.clone());
        let commit = match &head {
            Some(Head::Branch(branch)) => resolve_by(branch, |name| match self.moved.refs.get(name) {
                Some(moved) => moved.after.as_ref(),
                None => person.refs.get(name),
            }),
            Some(Head::Detached(id)) => Some(*id),
            None => None,
        };
        found.commit = Moved { before: person.head_commit(name), after: commit };
        // An index belongs to the commit at HEAD, and moves with it: without the other, each would undo in the next commit what
        // the branch got.
        let moves_commit = found.commit.before != found.commit.after;
        // A branch whose name is in the way of its new one is gone while the change is made.
        let is_from_base = found.commit.before.is_none() || base.head_commit(name) == found.commit.before;
        let is_of_index = commit == commit_of_index && (!moves_commit || is_from_base || b.is_none());
        if (moves_index || moves_commit) && head.is_some() && !is_of_index {
            let is_here = b.map(|checkout| &checkout.head) == p.map(|checkout| &checkout.head);
            self.conflicts.insert(match head {
                Some(Head::Branch(branch))
                    if is_here && person.refs.get(&branch) != base.refs.get(&branch) =>
                {
                    RepositoryItem::Ref(branch)
                }
                _ => RepositoryItem::Head(name.clone()),
            });
        }
        if !found.is_empty() {
            self.moved.checkouts.insert(name.clone(), found);
        }
    }

    fn items<T: Clone + PartialEq>(
        &mut self,
        base: &BTreeMap<GitName, T>,
        person: &BTreeMap<GitName, T>,
        agent: &BTreeMap<GitName, T>,
        item: impl Fn(&GitName) -> RepositoryItem,
    ) -> MovedItems<T> {
        let mut moved = MovedItems::new();
        for name in different(base, agent) {
            let (before, after) = (person.get(name), agent.get(name));
            if before == after {
                continue;
            }
            if before == base.get(name) {
                moved.insert(name.clone(), Moved { before: before.cloned(), after: after.cloned() });
            } else {
                self.conflicts.insert(item(name));
            }
        }
        moved
    }

    /// Git writes the traces of an operation over whatever is there: they go with the operation, and are nothing without one.
    /// Of two operations in one checkout, each would end the other.
    fn operations(&mut self, [base, person, agent]: [&BTreeMap<GitName, GitFileContent>; 3]) {
        let moved: BTreeSet<CheckoutName> = self.moved.files.keys().filter_map(operation_of).collect();
        let is_moved = |checkout: Option<CheckoutName>| checkout.is_some_and(|one| moved.contains(&one));
        for name in different(base, agent).into_iter().filter(|name| operation_of(name).is_none()) {
            let Some(checkout) = operation_around(name) else { continue };
            self.conflicts.remove(&RepositoryItem::File(name.clone()));
            self.moved.files.remove(name);
            let (before, after) = (person.get(name).cloned(), agent.get(name).cloned());
            if before != after && is_moved(Some(checkout)) {
                self.moved.files.insert(name.clone(), Moved { before, after });
            }
        }
        let of_person = different(base, person).into_iter();
        let of_person = of_person.filter(|name| agent.get(*name) != person.get(*name));
        let of_person = of_person.filter(|name| is_moved(operation_of(name)));
        self.conflicts.extend(of_person.map(|name| RepositoryItem::File(name.clone())));
    }

    /// Entries that the agent pushed are put on top of the person's, and those that it dropped are dropped there.
    fn stash(&mut self, base: &[StashEntry], person: &[StashEntry], agent: &[StashEntry]) {
        if agent == base || agent == person {
            return;
        }
        let after = if person == base { Some(agent.to_vec()) } else { merged_stash(base, person, agent) };
        match after {
            Some(after) => {
                self.moved.stash = Some(Moved { before: Some(person.to_vec()), after: Some(after) });
            }
            None => {
                self.conflicts.insert(RepositoryItem::Stash);
            }
        }
    }
}

/// The commit to which the agent's index belongs. A view shows the person's present value of what the agent did not move, and the
/// agent has worked on that of the base.
fn commit_of_agent([base, person, agent]: [&RepositoryState; 3], name: &CheckoutName) -> Option<ObjectId> {
    let head = |state: &RepositoryState| state.checkouts.get(name).map(|checkout| checkout.head.clone());
    let own = if head(agent) == head(person) { head(base).or(head(agent)) } else { head(agent) };
    match own? {
        Head::Detached(id) => Some(id),
        Head::Branch(branch) => {
            let of_then = |name: &GitName| match agent.refs.get(name) {
                shown if shown == person.refs.get(name) => base.refs.get(name),
                own => own,
            };
            resolve_by(&branch, of_then).or(agent.resolve(&branch))
        }
    }
}

fn merged_stash(base: &[StashEntry], person: &[StashEntry], agent: &[StashEntry]) -> Option<Vec<StashEntry>> {
    let kept = |list: &[StashEntry], of: &[StashEntry]| -> Vec<StashEntry> {
        list.iter().filter(|entry| of.contains(entry)).cloned().collect()
    };
    // What both still have must be in the same order, and what the agent added must be on top.
    if kept(agent, base) != kept(base, agent) || kept(person, base) != kept(base, person) {
        return None;
    }
    let added = agent.iter().take_while(|entry| !base.contains(entry)).cloned().collect::<Vec<_>>();
    if added.len() + kept(agent, base).len() != agent.len() {
        return None;
    }
    let dropped = |entry: &StashEntry| base.contains(entry) && !agent.contains(entry);
    Some(added.into_iter().chain(person.iter().filter(|entry| !dropped(entry)).cloned()).collect())
}

/// Names whose values differ. Both maps are sorted, so that equal ones cost one walk.
pub(crate) fn different<'a, T: PartialEq>(
    one: &'a BTreeMap<GitName, T>,
    other: &'a BTreeMap<GitName, T>,
) -> Vec<&'a GitName> {
    let mut names = Vec::new();
    if std::ptr::eq(one, other) {
        return names;
    }
    let (mut ones, mut others) = (one.iter().peekable(), other.iter().peekable());
    loop {
        match (ones.peek(), others.peek()) {
            (None, None) => return names,
            (Some((a, x)), Some((b, y))) if a == b => {
                if x != y {
                    names.push(*a);
                }
                ones.next();
                others.next();
            }
            (Some((a, _)), other) if other.is_none_or(|(b, _)| a < b) => {
                names.push(*a);
                ones.next();
            }
            (_, Some((b, _))) => {
                names.push(*b);
                others.next();
            }
            (Some(_), None) => {
                ones.next();
            }
        }
    }
}

impl Comparison {
    /// Compares a change that was applied with a state: what is still at `before` can be moved to `after`.
    #[must_use]
    pub fn again(change: &RepositoryMove, now: &RepositoryState) -> Comparison {
        let base = change.put_on(now, MoveSide::Before);
        let goal = change.put_on(now, MoveSide::After);
        let commit_of = |name: &CheckoutName| match change.checkouts.get(name) {
            Some(checkout) => checkout.commit.after,
            None => now.head_commit(name),
        };
        Comparison::with_commits([&base, now, &goal], &commit_of)
    }
}

#[derive(Clone, Copy)]
enum MoveSide {
    Before,
    After,
}

impl RepositoryMove {
    /// A state with the items of this change as they were before or after it, and everything else as it is.
    fn put_on(&self, now: &RepositoryState, side: MoveSide) -> RepositoryState {
        let mut state = now.clone();
        put(Arc::make_mut(&mut state.refs), &self.refs, side);
        put(&mut state.files.named, &self.files, side);
        for (name, change) in &self.checkouts {
            if let Some(head) = &change.head {
                match (one(head, side), state.checkouts.get_mut(name)) {
                    (Some(new), Some(checkout)) => {
                        checkout.head = new.clone();
                        // One that comes or goes is known as a whole.
                        if head.before.is_none() || head.after.is_none() {
                            checkout.own_refs = RefsState::default();
                            checkout.index = IndexState::default();
                        }
                    }
                    (Some(head), None) => {
                        let checkout = crate::state::CheckoutState {
                            head: head.clone(),
                            own_refs: RefsState::default(),
                            index: IndexState::default(),
                        };
                        state.checkouts.insert(name.clone(), checkout);
                    }
                    (None, _) => {
                        state.checkouts.remove(name);
                    }
                }
            }
            if let Some(checkout) = state.checkouts.get_mut(name) {
                put(Arc::make_mut(&mut checkout.own_refs), &change.own_refs, side);
                put(Arc::make_mut(&mut checkout.index), &change.index, side);
            }
        }
        if let Some(stash) = &self.stash {
            state.stash = one(stash, side).cloned().unwrap_or_default();
        }
        state
    }
}

fn one<T>(moved: &Moved<T>, side: MoveSide) -> Option<&T> {
    match side {
        MoveSide::Before => moved.before.as_ref(),
        MoveSide::After => moved.after.as_ref(),
    }
}

fn put<T: Clone>(state: &mut BTreeMap<GitName, T>, items: &MovedItems<T>, side: MoveSide) {
    for (name, moved) in items {
        match one(moved, side) {
            Some(value) => state.insert(name.clone(), value.clone()),
            None => state.remove(name),
        };
    }
}
