//! What the agent's repository would change in the person's, read before the question is asked.
//!
//! After reading, everything that is shown and applied comes from values and from the quarantine, by hash.

use crate::clean_directory::refuse_special_objects;
use crate::compare::{Comparison, RepositoryItem, different};
use crate::error::{GitError, Result};
use crate::git_file::{GitFileClass, class_of, operation_around, worktree_path};
use crate::git_name::GitName;
use crate::group::WaitingGroup;
use crate::limit;
use crate::object_id::ObjectId;
use crate::on_top;
use crate::quarantine::{Quarantine, WantedObjects, stored};
use crate::repository_move::{Moved, RepositoryMove, branches_to_return_to};
use crate::runner::{GitCall, GitRunner, run_one};
use crate::source::RepositorySource;
use crate::state::{CheckoutName, RefTarget, RepositoryState, branch_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the sides of a question are.
#[derive(Clone, Copy)]
pub struct QuestionSides<'a> {
    /// What the person's repository was when the agent began to change it.
    pub base: &'a RepositoryState,
    pub person: &'a dyn RepositorySource,
    pub agent: &'a dyn RepositorySource,
}

/// A change of a repository that waits for an answer.
#[derive(Debug)]
pub struct RepositoryQuestion {
    pub base: RepositoryState,
    pub person: RepositoryState,
    pub agent: RepositoryState,
    pub comparison: Comparison,
    /// What waits for an answer of its own.
    pub groups: BTreeSet<WaitingGroup>,
    /// Names below the git directory that differ and are not applied.
    pub not_carried: Vec<GitName>,
    /// For each ref that the agent put on top of commits of the person: paths of those commits that are as they were before
    /// them, because the agent's index was older.
    pub taken_back: BTreeMap<GitName, Vec<GitName>>,
    pub(crate) quarantine: Quarantine,
    /// The clean git directory of the agent's state.
    pub(crate) agent_copy: PathBuf,
}

impl RepositoryQuestion {
    /// Reads what changed, `None` if nothing did that could be applied.
    ///
    /// `scratch` is a directory of the caller's that does not exist yet. It has the quarantine, and is needed until the
    /// change was applied or discarded. Errors mean that the repository waits as a whole.
    pub fn read(
        sides: QuestionSides<'_>,
        scratch: &Path,
        runner: &dyn GitRunner,
    ) -> Result<Option<RepositoryQuestion>> {
        refuse_special_objects(sides.agent)?;
        let (agent, copy) = RepositoryState::read_with_copy(sides.agent, &scratch.join("agent"), runner)?;
        let base = sides.base;
        let person = base.read_again(sides.person, &scratch.join("person"), runner)?;
        if agent.format != person.format || base.format != person.format {
            return Err(GitError::FormatChanged);
        }
        if let Some(name) = agent.unreadable.iter().find(|name| !base.unreadable.contains(name)) {
            return Err(GitError::UnreadableRefs(name.escaped()));
        }
        if agent.shallow != base.shallow && agent.shallow != person.shallow {
            return Err(GitError::ShallowChanged);
        }
        let mut comparison = Comparison::of(base, &person, &agent);
        let on_top = on_top::refs(&comparison, [base, &person, &agent], &copy.path, runner)?;
        if !on_top.is_empty() {
            let base = on_top::base(base, &person, &on_top, &copy.path, runner)?;
            comparison = Comparison::of(&base, &person, &agent);
        }
        let not_carried = not_carried(&comparison, [base, &person, &agent]);
        if comparison.moved.is_empty() && comparison.conflicts.is_empty() {
            return Ok(None);
        }
        if comparison.moved.refs.len() > limit::MOVED_REFS {
            return Err(GitError::TooMany("changed refs", limit::MOVED_REFS));
        }
        let wanted = wanted(&comparison, &person, &agent);
        let shallow = person.shallow.clone();
        let path = scratch.join("quarantine");
        let quarantine = Quarantine::fill(&copy, sides.person, shallow.as_ref(), &wanted, &path, runner)?;
        let groups = comparison.groups();
        let (base, taken_back) = (base.clone(), BTreeMap::new());
        let mut question = RepositoryQuestion {
            base,
            person,
            agent,
            comparison,
            groups,
            not_carried,
            taken_back,
            quarantine,
            agent_copy: copy.path,
        };
        for name in on_top {
            let paths = question.paths_taken_back(&name, runner)?;
            if !paths.is_empty() {
                question.taken_back.insert(name, paths);
            }
        }
        Ok(Some(question))
    }

    /// The sizes of objects in bytes, of those that are there.
    pub fn sizes(&self, ids: &[ObjectId], runner: &dyn GitRunner) -> Result<BTreeMap<ObjectId, u64>> {
        let stored = stored(&self.quarantine.path, ids, runner)?;
        Ok(stored.into_iter().map(|(id, (_, size))| (id, size)).collect())
    }

    /// Whether a ref that the agent moved can be decided by itself: no `HEAD` is on it, before or after, no operation returns
    /// to it, and it is no half of a branch that was renamed.
    #[must_use]
    pub fn is_single_ref(&self, name: &GitName) -> bool {
        let (moved, conflicts) = (&self.comparison.moved, &self.comparison.conflicts);
        let states = [&self.base, &self.person, &self.agent];
        let mut heads = states.into_iter().flat_map(|state| state.checkouts.values());
        let is_on = heads.any(|checkout| branch_of(Some(&checkout.head)) == Some(name));
        let own = moved.refs.get(name);
        let is_half = |other: &Moved<RefTarget>| {
            own.is_some_and(|own| own.before == other.after && own.after == other.before)
        };
        (own.is_some() || conflicts.contains(&RepositoryItem::Ref(name.clone())))
            && !is_on
            && !branches_to_return_to(&moved.files).contains(name)
            && !moved.refs.values().any(is_half)
    }

    /// Whether git has the path in the index of a checkout, before or after.
    #[must_use]
    pub fn is_tracked(&self, checkout: &CheckoutName, path: &GitName) -> bool {
        let states = [&self.person, &self.agent].into_iter();
        states.filter_map(|state| state.checkouts.get(checkout)).any(|one| one.index.contains_key(path))
    }

    /// Where the files of a linked worktree are, as its registration says.
    #[must_use]
    pub fn worktree_path(&self, name: &GitName) -> Option<PathBuf> {
        worktree_path(&self.agent.files, name).or_else(|| worktree_path(&self.person.files, name))
    }

    /// A base for which the agent did not move these refs: it has what they became, and is no state of the person's.
    #[must_use]
    pub fn base_with_refs(&self, names: &BTreeSet<GitName>) -> RepositoryState {
        let mut base = RepositoryState { read_from: Vec::new(), ..self.base.clone() };
        let refs = Arc::make_mut(&mut base.refs);
        refs.retain(|name, _| !names.contains(name));
        let theirs = self.agent.refs.iter().filter(|(name, _)| names.contains(*name));
        refs.extend(theirs.map(|(name, target)| (name.clone(), target.clone())));
        base
    }

    /// The change of these refs alone.
    pub fn only_refs(&self, names: &BTreeSet<GitName>) -> Result<RepositoryMove> {
        let conflict =
            |name: &&GitName| self.comparison.conflicts.contains(&RepositoryItem::Ref((*name).clone()));
        if let Some(name) = names.iter().find(conflict) {
            return Err(RepositoryItem::Ref(name.clone()).conflict());
        }
        let refs = self.comparison.moved.refs.iter().filter(|(name, _)| names.contains(*name));
        let refs = refs.map(|(name, moved)| (name.clone(), moved.clone())).collect();
        Ok(RepositoryMove { refs, ..RepositoryMove::nothing(self.person.format.clone()) })
    }

    fn paths_taken_back(&self, name: &GitName, runner: &dyn GitRunner) -> Result<Vec<GitName>> {
        let [base, person, agent] = [&self.base, &self.person, &self.agent].map(|state| state.resolve(name));
        let (Some(base), Some(person), Some(agent)) = (base, person, agent) else { return Ok(Vec::new()) };
        let changed = |to: ObjectId| -> Result<BTreeSet<Vec<u8>>> {
            let mut call =
                GitCall::new(&self.quarantine.path, ["diff-tree", "-r", "-z", "--name-only", "--no-renames"]);
            call.args.extend([base.to_string().into(), to.to_string().into()]);
            let output = run_one(runner, call)?.stdout;
            Ok(output.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
        };
        let (person, agent) = (changed(person)?, changed(agent)?);
        Ok(person.difference(&agent).map(|path| GitName::new(path)).collect())
    }
}

/// What differs and is not applied: caches and messages, and traces of operations without one.
fn not_carried(comparison: &Comparison, states: [&RepositoryState; 3]) -> Vec<GitName> {
    let [base, person, agent] = states.map(|state| &state.files.others);
    let names: BTreeSet<&GitName> = agent.keys().chain(person.keys()).collect();
    let differs = |name: &&GitName| {
        let of = |files: &BTreeMap<GitName, crate::source::SourceIdentity>| files.get(*name).map(|f| f.size);
        of(agent) != of(person) && (base.is_empty() || of(agent) != of(base))
    };
    let [base, person, agent] = states.map(|state| &state.files.named);
    let traces = different(base, agent).into_iter().filter(|name| {
        matches!(class_of(name), GitFileClass::OperationTrace(_))
            && agent.get(*name) != person.get(*name)
            && !comparison.moved.files.contains_key(*name)
    });
    names.into_iter().filter(differs).chain(traces).cloned().collect()
}

fn wanted(comparison: &Comparison, person: &RepositoryState, agent: &RepositoryState) -> WantedObjects {
    let known = known_tips(person, comparison);
    let has: BTreeSet<ObjectId> = person.tips().into_iter().collect();
    let (before, after) = comparison.moved.objects();
    let before: BTreeSet<ObjectId> = before.into_iter().collect();
    let mut tips: BTreeSet<ObjectId> =
        after.into_iter().filter(|id| !has.contains(id) && !before.contains(id)).collect();
    // What is in conflict has rows, too, and an index is compared with the commit at its HEAD.
    let conflicts = comparison.conflicts.iter().filter_map(|item| match item {
        RepositoryItem::Ref(name) => agent.resolve(name),
        RepositoryItem::Head(checkout) => agent.head_commit(checkout),
        _ => None,
    });
    let heads = comparison.moved.checkouts.keys().filter_map(|checkout| agent.head_commit(checkout));
    tips.extend(conflicts.chain(heads).filter(|id| !has.contains(id)));
    let mut mentioned = BTreeSet::new();
    for (name, moved) in &comparison.moved.files {
        let content = moved.after.as_ref().filter(|_| operation_around(name).is_some());
        if let Some(bytes) = content.and_then(|content| content.bytes()) {
            let words = bytes.split(|byte| !byte.is_ascii_hexdigit());
            mentioned.extend(words.filter_map(ObjectId::from_hex).filter(|id| !id.is_zero()));
        }
    }
    WantedObjects { tips, mentioned, known }
}

/// What the person has, the most useful first: a transfer excludes only so many.
fn known_tips(person: &RepositoryState, comparison: &Comparison) -> Vec<ObjectId> {
    let mut known = Vec::new();
    let mut seen = BTreeSet::new();
    let heads = person.checkouts.keys().filter_map(|name| person.head_commit(name));
    let moved = comparison.moved.refs.keys().filter_map(|name| person.resolve(name));
    let branches = person.refs.iter().filter(|(name, _)| name.starts_with("refs/heads/"));
    let branches = branches.filter_map(|(_, target)| target.object());
    for id in heads.chain(moved).chain(branches).chain(person.tips()) {
        if known.len() >= limit::EXCLUDED_TIPS {
            break;
        }
        if seen.insert(id) {
            known.push(id);
        }
    }
    known
}
