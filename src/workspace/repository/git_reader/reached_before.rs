//! Which commits the person's repository led to before. A commit that is only stored there is as new as one that was not
//! there: the row of such an object does not have to be opened.

use super::ancestry::commits_only_in;
use super::budget::ReadBudget;
use super::git_sides::RepositorySide;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::refs::RefChange;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// Refs of the state before that are looked at.
const MOST_REFS: usize = 5_000;
/// A tag may name a tag.
pub(super) const DEEPEST_TAG: usize = 8;

pub(super) struct ReachedBefore<'r, 'a> {
    side: &'r RepositorySide<'a>,
    budget: &'r ReadBudget,
    /// `HEAD` and what the changed refs named: one of these nearly always leads to a commit.
    likely: Vec<ObjectId>,
    all: OnceCell<Option<Vec<ObjectId>>>,
    known: RefCell<BTreeMap<ObjectId, bool>>,
    is_unsure: Cell<bool>,
}

impl<'r, 'a> ReachedBefore<'r, 'a> {
    pub(super) fn new(
        side: &'r RepositorySide<'a>,
        changes: &[RefChange],
        budget: &'r ReadBudget,
    ) -> ReachedBefore<'r, 'a> {
        let likely: BTreeSet<ObjectId> =
            changes.iter().filter_map(|change| change.old).chain(side.refs.head_commit()).collect();
        let likely = likely.into_iter().map(|id| peeled(&side.objects, id)).collect();
        let (all, known, is_unsure) = (OnceCell::new(), RefCell::default(), Cell::new(false));
        ReachedBefore { side, budget, likely, all, known, is_unsure }
    }

    /// True for a commit to which no ref led.
    pub(super) fn is_new(&self, id: &ObjectId) -> bool {
        if !self.side.objects.has(id) {
            return true;
        }
        if self.likely.contains(id) {
            return false;
        }
        if let Some(is_new) = self.known.borrow().get(id) {
            return *is_new;
        }
        let is_new = self.is_only_stored(id);
        *self.known.borrow_mut().entry(*id).or_insert(is_new)
    }

    /// For some commit that is not known.
    pub(super) fn is_unsure(&self) -> bool {
        self.is_unsure.get()
    }

    fn is_only_stored(&self, id: &ObjectId) -> bool {
        // A tag may lead to a tree or a blob, whose content its row has.
        if self.side.objects.get_of(id, "commit").is_none() {
            return false;
        }
        let all = self.all.get_or_init(|| self.all_refs()).as_ref();
        if all.is_some_and(|all| all.contains(id)) {
            return false;
        }
        let objects = [&self.side.objects];
        let only =
            |others: &[ObjectId]| commits_only_in(&objects, *id, others, &BTreeSet::new(), self.budget);
        let of_likely = only(&self.likely);
        if of_likely.commits.is_empty() && !of_likely.at_least {
            return false;
        }
        let Some(all) = all else {
            self.is_unsure.set(true);
            return false;
        };
        let of_all = only(all);
        if of_all.at_least {
            self.is_unsure.set(true);
            return false;
        }
        let mut known = self.known.borrow_mut();
        known.extend(of_all.commits.iter().map(|(id, _)| (*id, true)));
        known.contains_key(id)
    }

    fn all_refs(&self) -> Option<Vec<ObjectId>> {
        let refs = self.side.refs.all(self.budget).filter(|refs| refs.len() <= MOST_REFS)?;
        let ids: BTreeSet<ObjectId> = refs.into_values().chain(self.likely.iter().copied()).collect();
        let peel = |id| self.budget.has_time().then(|| peeled(&self.side.objects, id));
        ids.into_iter().map(peel).collect()
    }
}

/// What a tag leads to; every other object is what it is.
pub(super) fn peeled(objects: &ObjectReader<'_>, mut id: ObjectId) -> ObjectId {
    for _ in 0..DEEPEST_TAG {
        let Some(tag) = objects.get_of(&id, "tag") else { break };
        let line = tag.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let Some(next) = line.strip_prefix(b"object ").and_then(ObjectId::from_hex) else { break };
        id = next;
    }
    id
}
