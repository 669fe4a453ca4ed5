//! Commits that are new or dropped, with their paths: a few calls of `git log` for all refs.

use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::limit;
use crate::object_id::ObjectId;
use crate::quarantine::lines;
use crate::question::RepositoryQuestion;
use crate::repository_move::Moved;
use crate::runner::{GitCall, GitRunner, run_all, run_one};
use crate::state::{CheckoutName, IndexEntry, RefTarget, RepositoryState, StashEntry, branch_of};
use crate::tree_lines::{PathChange, parse_changes, parse_raw, parse_tree, take_lines};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One commit. Subject and names are as in the repository: hostile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitFact {
    pub id: ObjectId,
    pub parents: Vec<ObjectId>,
    pub author: GitName,
    pub author_email: GitName,
    pub committer_email: GitName,
    pub subject: GitName,
    /// All of the message.
    pub message: GitName,
    /// Against the first parent; none of a commit that is dropped.
    pub changes: Vec<PathChange>,
}

/// What several rows are made from.
#[derive(Debug, Default)]
pub(super) struct CommitLog {
    pub(super) commits: Vec<CommitFact>,
    pub(super) dropped: Vec<CommitFact>,
    pub(super) more_commits: usize,
    pub(super) more_dropped: usize,
    pub(super) stash: BTreeMap<ObjectId, CommitFact>,
    /// For each moved ref: commits that it has more, and fewer.
    pub(super) counts: BTreeMap<(ObjectId, ObjectId), (usize, usize)>,
    /// Entries of the commits at `HEAD`, before and after, for the paths of the index that move.
    pub(super) trees: BTreeMap<(CheckoutName, CommitSide), BTreeMap<GitName, (GitName, ObjectId)>>,
    /// For moved branches whose new commits do not say it: what is different in the commit that they lead to.
    pub(super) tips: BTreeMap<(ObjectId, ObjectId), Vec<PathChange>>,
    /// Paths in which the commits at `HEAD` differ.
    pub(super) between: BTreeMap<CheckoutName, Vec<PathChange>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CommitSide {
    Person,
    Agent,
}

enum AskedCommit {
    New,
    Dropped,
    Stash,
    Count(ObjectId, ObjectId),
    Tree(CheckoutName, CommitSide),
    /// Paths that the commits at `HEAD` do not differ in.
    SameInBothTrees(CheckoutName),
    Between(CheckoutName),
}

const LOG: [&str; 5] = [
    "log",
    "--stdin",
    "--ignore-missing",
    "--format=%x01%H%x00%P%x00%an%x00%ae%x00%ce%x00%s%x00%B%x00",
    "-z",
];
/// Dropped commits are only named: a partial clone may not have their files.
const CHANGES: [&str; 7] = [
    "--raw",
    "--numstat",
    "--no-abbrev",
    "--no-renames",
    "--diff-merges=first-parent",
    "--no-ext-diff",
    "--no-textconv",
];

impl CommitLog {
    /// Whether the person's index has something that their commit at `HEAD` has not.
    pub(super) fn has_staged(&self, question: &RepositoryQuestion, name: &CheckoutName) -> bool {
        let Some(checkout) = question.person.checkouts.get(name) else { return false };
        let none = BTreeMap::new();
        let tree = self.trees.get(&(name.clone(), CommitSide::Person)).unwrap_or(&none);
        let is_same = |(path, entries): (&GitName, &Vec<IndexEntry>)| match entries.as_slice() {
            [entry] => tree.get(path).is_some_and(|(mode, id)| *mode == entry.mode && *id == entry.id),
            _ => false,
        };
        tree.len() != checkout.index.len() || !checkout.index.iter().all(is_same)
    }

    /// Two starts at most for usual changes: new commits, and what they do not say about the rest.
    pub(super) fn read(question: &RepositoryQuestion, runner: &dyn GitRunner) -> Result<CommitLog> {
        let mut log = CommitLog::default();
        log.ask(CommitLog::about_new_commits(question), runner)?;
        log.derive(question);
        log.ask(log.about_the_rest(question), runner)?;
        // What was staged is the second parent of an entry, and untracked files are the third, if there are any.
        let parts = log.stash.values().flat_map(|entry| entry.parents.iter().skip(1).copied());
        let parts: Vec<ObjectId> = parts.collect();
        if !parts.is_empty() {
            let output = run_one(runner, stash_call(&question.quarantine.path, &parts))?.stdout;
            log.stash.extend(parse_log(&output)?.into_iter().map(|commit| (commit.id, commit)));
        }
        log.count_the_rest(question, runner)?;
        log.compare_tips(question, runner)?;
        Ok(log)
    }

    fn ask(&mut self, asked: Vec<(AskedCommit, GitCall)>, runner: &dyn GitRunner) -> Result<()> {
        let (asked, calls): (Vec<AskedCommit>, Vec<GitCall>) = asked.into_iter().unzip();
        if calls.is_empty() {
            return Ok(());
        }
        for (asked, output) in asked.into_iter().zip(run_all(runner, &calls)?) {
            let out = &output.stdout;
            match asked {
                AskedCommit::New => self.commits = parse_log(out)?,
                AskedCommit::Dropped => self.dropped = parse_log(out)?,
                AskedCommit::Stash => {
                    self.stash = parse_log(out)?.into_iter().map(|commit| (commit.id, commit)).collect()
                }
                AskedCommit::Count(old, id) => {
                    let words: Vec<&[u8]> = out.split(|byte| byte.is_ascii_whitespace()).collect();
                    if let [ahead, behind, ..] = words.as_slice() {
                        self.counts.insert((old, id), (number(ahead)?, number(behind)?));
                    }
                }
                AskedCommit::Between(checkout) => drop(self.between.insert(checkout, parse_changes(out))),
                AskedCommit::Tree(checkout, side) => {
                    self.trees.entry((checkout, side)).or_default().extend(parse_tree(out));
                }
                AskedCommit::SameInBothTrees(checkout) => {
                    for side in [CommitSide::Person, CommitSide::Agent] {
                        let tree = self.trees.entry((checkout.clone(), side)).or_default();
                        tree.extend(parse_tree(out));
                    }
                }
            }
        }
        Ok(())
    }

    /// What the new commits say by themselves: refs that moved forward, and what a commit on top of `HEAD` changes.
    fn derive(&mut self, question: &RepositoryQuestion) {
        let commits: BTreeMap<ObjectId, &CommitFact> =
            self.commits.iter().map(|commit| (commit.id, commit)).collect();
        for (old, id) in moved_pairs(question).into_iter().take(limit::COUNTED_REFS) {
            self.counts.extend(forward(&commits, old, id).map(|ahead| ((old, id), (ahead, 0))));
        }
        for name in question.person.checkouts.keys() {
            let (old, new) = (question.person.head_commit(name), question.agent.head_commit(name));
            let changes = match new.and_then(|new| commits.get(&new)) {
                _ if old == new => Vec::new(),
                Some(commit) if commit.parents.first().copied() == old && is_moved(question, name) => {
                    commit.changes.clone()
                }
                _ => continue,
            };
            self.between.insert(name.clone(), changes);
        }
        for name in question.comparison.moved.checkouts.keys() {
            let Some(changes) = self.between.get(name) else { continue };
            let side = |side,
                        state: &RepositoryState,
                        entry: fn(&PathChange) -> &Option<(GitName, ObjectId)>| {
                state.head_commit(name)?;
                let entries =
                    changes.iter().filter_map(|change| Some((change.path.clone(), entry(change).clone()?)));
                Some(((name.clone(), side), entries.collect()))
            };
            self.trees.extend(side(CommitSide::Person, &question.person, |change| &change.before));
            self.trees.extend(side(CommitSide::Agent, &question.agent, |change| &change.after));
        }
    }

    /// The number of commits is exact where not all are listed.
    fn count_the_rest(&mut self, question: &RepositoryQuestion, runner: &dyn GitRunner) -> Result<()> {
        let (new, old) = moved_commits(question);
        let sides = [
            (&self.commits, &mut self.more_commits, new, CommitSide::Person),
            (&self.dropped, &mut self.more_dropped, old, CommitSide::Agent),
        ];
        for (listed, more, tips_of, not) in sides {
            if listed.len() < limit::LISTED_COMMITS {
                continue;
            }
            let input = [lines(&tips_of, ""), lines(&tips(question, not), "^")].concat();
            let call = GitCall::new(
                &question.quarantine.path,
                ["rev-list", "--count", "--stdin", "--ignore-missing"],
            );
            let output = run_one(runner, call.transfer().input(input))?;
            *more = number(&output.stdout)?.saturating_sub(listed.len());
        }
        Ok(())
    }

    /// The rows of commits say what each changed against its first parent. Where a ref was somewhere else, as before an amend
    /// or as the second parent of a merge, that is not what changes for who has the ref.
    fn compare_tips(&mut self, question: &RepositoryQuestion, runner: &dyn GitRunner) -> Result<()> {
        let parents: BTreeMap<ObjectId, Option<ObjectId>> =
            self.commits.iter().map(|commit| (commit.id, commit.parents.first().copied())).collect();
        let is_explained = |(old, id): (ObjectId, ObjectId)| {
            let mut at = id;
            while let Some(Some(parent)) = parents.get(&at) {
                at = *parent;
            }
            at == old
        };
        let branches =
            question.comparison.moved.refs.iter().filter(|(name, _)| name.starts_with("refs/heads/"));
        let pair = |moved: &Moved<RefTarget>| {
            Some((moved.before.as_ref()?.object()?, moved.after.as_ref()?.object()?))
        };
        let pairs: BTreeSet<(ObjectId, ObjectId)> = branches
            .filter_map(|(_, moved)| pair(moved))
            .filter(|pair| self.counts.contains_key(pair) && !is_explained(*pair))
            .collect();
        let call = |(old, id): &(ObjectId, ObjectId)| {
            let args = ["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-renames"];
            let mut call = GitCall::new(&question.quarantine.path, args).transfer();
            call.args.extend([old.to_string().into(), id.to_string().into()]);
            call
        };
        let calls: Vec<GitCall> = pairs.iter().map(call).collect();
        for (pair, output) in pairs.into_iter().zip(run_all(runner, &calls)?) {
            self.tips.insert(pair, parse_changes(&output.stdout));
        }
        Ok(())
    }

    fn about_new_commits(question: &RepositoryQuestion) -> Vec<(AskedCommit, GitCall)> {
        let mut asked = Vec::new();
        let (new, _) = moved_commits(question);
        if !new.is_empty() {
            let known = tips(question, CommitSide::Person);
            asked.push((AskedCommit::New, log_call(question, &CHANGES, &new, &known)));
        }
        let stash = changed_stash(question);
        if !stash.is_empty() {
            asked.push((AskedCommit::Stash, stash_call(&question.quarantine.path, &stash)));
        }
        asked
    }

    fn about_the_rest(&self, question: &RepositoryQuestion) -> Vec<(AskedCommit, GitCall)> {
        let git_dir = &question.quarantine.path;
        let mut asked = Vec::new();
        let is_kept = |id: &ObjectId| self.counts.keys().any(|(old, _)| old == id);
        let old: Vec<ObjectId> = moved_commits(question).1.into_iter().filter(|id| !is_kept(id)).collect();
        if !old.is_empty() {
            let kept = tips(question, CommitSide::Agent);
            asked.push((AskedCommit::Dropped, log_call(question, &[], &old, &kept)));
        }
        let pairs = moved_pairs(question).into_iter().filter(|pair| !self.counts.contains_key(pair));
        for (old, id) in pairs.take(limit::COUNTED_REFS) {
            let mut call = GitCall::new(git_dir, ["rev-list", "--left-right", "--count"]).transfer();
            call.args.push(format!("{id}...{old}").into());
            asked.push((AskedCommit::Count(old, id), call));
        }
        let heads = question.person.checkouts.keys().filter(|name| !self.between.contains_key(name));
        asked
            .extend(heads.filter_map(|name| {
                Some((AskedCommit::Between(name.clone()), between_call(question, name)?))
            }));
        for (name, checkout) in &question.comparison.moved.checkouts {
            if checkout.index.is_empty() && checkout.head.is_none() {
                continue;
            }
            let tree = |side: CommitSide, paths: Option<Vec<&GitName>>| {
                let state = match side {
                    CommitSide::Person => &question.person,
                    CommitSide::Agent => &question.agent,
                };
                let mut call = GitCall::new(git_dir, ["ls-tree", "-r", "-z", "--full-tree"]);
                call.args.push(state.head_commit(name)?.to_string().into());
                if let Some(paths) = paths.filter(|paths| paths.len() <= limit::ARGUMENT_PATHS) {
                    call.args.push("--".into());
                    call.args.extend(paths.into_iter().map(|path| path.as_os_str().to_os_string()));
                }
                Some(call)
            };
            let mut ask =
                |asks: AskedCommit, call: Option<GitCall>| asked.extend(call.map(|call| (asks, call)));
            let paths = || checkout.index.keys().collect();
            // Whether a switch leaves something staged behind is a question about all paths.
            let whole = checkout.head.is_some();
            match self.between.get(name).filter(|_| !whole) {
                Some(between) => {
                    let between: BTreeSet<&GitName> = between.iter().map(|change| &change.path).collect();
                    let rest: Vec<&GitName> =
                        checkout.index.keys().filter(|path| !between.contains(path)).collect();
                    if !rest.is_empty() {
                        ask(AskedCommit::SameInBothTrees(name.clone()), tree(CommitSide::Agent, Some(rest)));
                    }
                }
                None => {
                    let person = AskedCommit::Tree(name.clone(), CommitSide::Person);
                    ask(person, tree(CommitSide::Person, (!whole).then(paths)));
                    ask(
                        AskedCommit::Tree(name.clone(), CommitSide::Agent),
                        tree(CommitSide::Agent, Some(paths())),
                    );
                }
            }
        }
        asked
    }
}

/// How many commits a ref has more, where all that it has more are listed and it has none fewer.
fn forward(commits: &BTreeMap<ObjectId, &CommitFact>, old: ObjectId, id: ObjectId) -> Option<usize> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![id]);
    while let Some(id) = next.pop() {
        if id == old || !seen.insert(id) {
            continue;
        }
        let parents = &commits.get(&id)?.parents;
        if parents.is_empty() {
            return None;
        }
        next.extend(parents);
    }
    Some(seen.len())
}

fn log_call(question: &RepositoryQuestion, options: &[&str], tips: &[ObjectId], not: &[ObjectId]) -> GitCall {
    let mut call = GitCall::new(&question.quarantine.path, LOG.iter().chain(options)).transfer();
    call.args.push(format!("--max-count={}", limit::LISTED_COMMITS).into());
    call.input([lines(tips, ""), lines(not, "^")].concat())
}

/// Whether another commit is at `HEAD` of a checkout afterwards.
fn is_moved(question: &RepositoryQuestion, name: &CheckoutName) -> bool {
    let moved = &question.comparison.moved;
    let branch = question.agent.checkouts.get(name).and_then(|checkout| branch_of(Some(&checkout.head)));
    branch.is_some_and(|branch| moved.refs.contains_key(branch))
        || moved.checkouts.get(name).is_some_and(|checkout| checkout.head.is_some())
}

/// The difference between the commits at `HEAD`, where it moved.
fn between_call(question: &RepositoryQuestion, name: &CheckoutName) -> Option<GitCall> {
    // A branch without a commit has no files.
    let tree = |commit: Option<ObjectId>| {
        commit.map_or(question.agent.format.objects.empty_tree().into(), |id| id.to_string())
    };
    let args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"];
    let mut call = GitCall::new(&question.quarantine.path, args);
    call.args.extend([&question.person, &question.agent].map(|state| tree(state.head_commit(name)).into()));
    is_moved(question, name).then_some(call)
}

fn stash_call(git_dir: &Path, commits: &[ObjectId]) -> GitCall {
    let args = [&LOG[..], &CHANGES, &["--no-walk=unsorted"]].concat();
    GitCall::new(git_dir, args).transfer().input(lines(commits, ""))
}

/// Entries that come or go.
fn changed_stash(question: &RepositoryQuestion) -> Vec<ObjectId> {
    let Some(stash) = &question.comparison.moved.stash else { return Vec::new() };
    let [before, after] = [&stash.before, &stash.after].map(|list| list.as_deref().unwrap_or_default());
    let missing = |list: &'_ [StashEntry], other: &'_ [StashEntry]| -> Vec<ObjectId> {
        list.iter().filter(|entry| !other.contains(entry)).map(|entry| entry.id).collect()
    };
    [missing(after, before), missing(before, after)].concat()
}

/// Every tip of a side. What is no commit is ignored by git.
fn tips(question: &RepositoryQuestion, side: CommitSide) -> Vec<ObjectId> {
    let (state, other) = match side {
        CommitSide::Person => (&question.person, &question.agent),
        CommitSide::Agent => (&question.agent, &question.person),
    };
    let heads: BTreeSet<ObjectId> = other.tips().into_iter().collect();
    // Tips that both have do not matter for many refs; those that one has alone come first.
    let mut tips = state.tips();
    tips.extend(state.checkouts.keys().filter_map(|name| state.head_commit(name)));
    let stash: BTreeSet<ObjectId> = state.stash.iter().map(|entry| entry.id).collect();
    tips.retain(|id| !stash.contains(id));
    tips.sort_by_key(|id| heads.contains(id));
    tips.truncate(limit::EXCLUDED_TIPS);
    tips
}

fn targets<'a>(question: &'a RepositoryQuestion) -> impl Iterator<Item = Moved<ObjectId>> + 'a {
    let moved = &question.comparison.moved;
    let own = moved.checkouts.values().flat_map(|checkout| checkout.own_refs.values());
    let refs = moved.refs.values().chain(own).map(|moved| Moved {
        before: moved.before.as_ref().and_then(RefTarget::object),
        after: moved.after.as_ref().and_then(RefTarget::object),
    });
    let heads = moved.checkouts.iter().filter(|(_, checkout)| checkout.head.is_some()).map(|(name, _)| {
        Moved { before: question.person.head_commit(name), after: question.agent.head_commit(name) }
    });
    refs.chain(heads)
}

fn moved_commits(question: &RepositoryQuestion) -> (Vec<ObjectId>, Vec<ObjectId>) {
    let conflicts = question.comparison.conflicts.iter().filter_map(|item| match item {
        crate::RepositoryItem::Ref(name) => question.agent.resolve(name),
        _ => None,
    });
    let new: BTreeSet<ObjectId> =
        targets(question).filter_map(|moved| moved.after).chain(conflicts).collect();
    let old: BTreeSet<ObjectId> = targets(question).filter_map(|moved| moved.before).collect();
    (new.difference(&old).copied().collect(), old.difference(&new).copied().collect())
}

/// Refs that moved from one object to another.
fn moved_pairs(question: &RepositoryQuestion) -> BTreeSet<(ObjectId, ObjectId)> {
    let pairs = question.comparison.moved.refs.iter().filter(|(name, _)| !name.starts_with("refs/tags/"));
    pairs
        .filter_map(|(_, moved)| Some((moved.before.as_ref()?.object()?, moved.after.as_ref()?.object()?)))
        .filter(|(old, new)| old != new)
        .collect()
}

fn number(bytes: &[u8]) -> Result<usize> {
    let text = std::str::from_utf8(bytes.trim_ascii()).ok();
    text.and_then(|text| text.parse().ok()).ok_or(GitError::Unexpected { command: "rev-list" })
}

/// Commits of [`LOG`]: fields that end with NUL, then raw and numstat lines.
fn parse_log(output: &[u8]) -> Result<Vec<CommitFact>> {
    let mut fields = output.split(|byte| *byte == 0).peekable();
    let mut commits: Vec<CommitFact> = Vec::new();
    while let Some(field) = fields.next() {
        let field = field.strip_prefix(b"\n").unwrap_or(field);
        if let Some(id) = field.strip_prefix(b"\x01") {
            let mut next = || fields.next().unwrap_or_default();
            let ids =
                |bytes: &[u8]| bytes.split(|byte| *byte == b' ').filter_map(ObjectId::from_hex).collect();
            commits.push(CommitFact {
                id: ObjectId::from_hex(id).ok_or(GitError::Unexpected { command: "log" })?,
                parents: ids(next()),
                author: GitName::new(next()),
                author_email: GitName::new(next()),
                committer_email: GitName::new(next()),
                subject: GitName::new(next()),
                message: GitName::new(next().trim_ascii()),
                changes: Vec::new(),
            });
        } else if let (Some(raw), Some(commit)) = (field.strip_prefix(b":"), commits.last_mut()) {
            let path = fields.next().unwrap_or_default();
            commit.changes.extend(parse_raw(raw, path));
        } else if let Some(commit) = commits.last_mut() {
            take_lines(field, &mut commit.changes);
        }
    }
    Ok(commits)
}
