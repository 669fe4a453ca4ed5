//! Commits of the agent on top of commits that the person made after the base: both moved the ref, and nothing of the
//! person's is lost where the agent's commits contain theirs. Their commits are the base then.

use crate::compare::{Comparison, RepositoryItem, different};
use crate::error::Result;
use crate::git_name::GitName;
use crate::object_id::ObjectId;
use crate::runner::{GitCall, GitRunner, run_one};
use crate::state::{RepositoryState, branch_of};
use crate::tree_lines::parse_tree;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Refs in conflict that the person moved forward, and whose commit of the agent contains the person's. A commit that the
/// person took away does not come back. A ref that the agent did not move shows the person's commit: nothing is on top of it.
pub(crate) fn refs(
    comparison: &Comparison,
    [base, person, agent]: [&RepositoryState; 3],
    git_dir: &Path,
    runner: &dyn GitRunner,
) -> Result<BTreeSet<GitName>> {
    let pairs: Vec<_> = comparison
        .conflicts
        .iter()
        .filter_map(|item| match item {
            RepositoryItem::Ref(name) if agent.refs.get(name) != person.refs.get(name) => {
                Some((name, [base.resolve(name)?, person.resolve(name)?, agent.resolve(name)?]))
            }
            _ => None,
        })
        .collect();
    let call = |older: ObjectId, newer: ObjectId| {
        GitCall::new(git_dir, ["merge-base", "--is-ancestor", &older.to_string(), &newer.to_string()])
    };
    let mut found = BTreeSet::new();
    for (name, [base, person, agent]) in pairs {
        let results = runner.run(&[call(base, person), call(person, agent)]);
        let statuses: Result<Vec<i32>> = results.into_iter().map(|result| Ok(result?.status)).collect();
        if statuses? == [0, 0] {
            found.insert(name.clone());
        }
    }
    Ok(found)
}

/// The base with the person's commits, and with what of their index these commits have. What they staged is not in it.
pub(crate) fn base(
    base: &RepositoryState,
    person: &RepositoryState,
    on_top: &BTreeSet<GitName>,
    git_dir: &Path,
    runner: &dyn GitRunner,
) -> Result<RepositoryState> {
    let mut state = base.clone();
    for name in on_top {
        Arc::make_mut(&mut state.refs)
            .extend(person.refs.get(name).map(|target| (name.clone(), target.clone())));
    }
    for (name, checkout) in &mut state.checkouts {
        let Some(now) = person.checkouts.get(name).filter(|now| now.head == checkout.head) else { continue };
        let is_on_top = branch_of(Some(&now.head)).is_some_and(|branch| on_top.contains(branch));
        let Some(commit) = person.head_commit(name).filter(|_| is_on_top) else { continue };
        let mut call = GitCall::new(git_dir, ["ls-tree", "-r", "-z", "--full-tree"]);
        call.args.push(commit.to_string().into());
        let tree = parse_tree(&run_one(runner, call)?.stdout);
        let paths: Vec<GitName> = different(&checkout.index, &now.index).into_iter().cloned().collect();
        for path in paths {
            let entries = now.index.get(&path);
            let staged = entries.map(|entries| match entries.as_slice() {
                [entry] if entry.stage == 0 => Some((entry.mode.clone(), entry.id)),
                _ => None,
            });
            match (entries, staged, tree.get(&path)) {
                (Some(entries), Some(Some(staged)), Some(committed)) if staged == *committed => {
                    Arc::make_mut(&mut checkout.index).insert(path, entries.clone());
                }
                (None, _, None) => drop(Arc::make_mut(&mut checkout.index).remove(&path)),
                _ => {}
            }
        }
    }
    Ok(state)
}
