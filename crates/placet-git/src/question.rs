//! What the agent's repository would change in the person's, read before the question is asked.
//!
//! After reading, everything that is shown and applied comes from values and from the quarantine, by hash.

use crate::clean_directory::refuse_special_objects;
use crate::compare::{Comparison, RepositoryItem};
use crate::error::{GitError, Result};
use crate::git_file::{GitFileClass, class_of};
use crate::git_name::GitName;
use crate::group::WaitingGroup;
use crate::large_files::patch_of_small_files;
use crate::limit;
use crate::object_id::ObjectId;
use crate::on_top;
use crate::quarantine::{Quarantine, WantedObjects};
use crate::runner::{GitCall, GitRunner, run_all, run_one};
use crate::source::RepositorySource;
use crate::state::{CheckoutName, Head, RepositoryState};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

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
        let not_carried = drop_what_is_not_carried(&mut comparison, base, &person, &agent);
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
        };
        for name in on_top {
            let paths = question.paths_taken_back(&name, runner)?;
            if !paths.is_empty() {
                question.taken_back.insert(name, paths);
            }
        }
        Ok(Some(question))
    }

    /// The changes from commits or trees to others, or from and to nothing, as patches with whole names of objects, in one
    /// start. Nothing that the repository names runs.
    pub fn tree_patches(
        &self,
        sides: &[(Option<ObjectId>, Option<ObjectId>)],
        runner: &dyn GitRunner,
    ) -> Result<Vec<Vec<u8>>> {
        let nothing = self.agent.format.objects.empty_tree();
        let calls: Vec<GitCall> = sides
            .iter()
            .map(|(from, to)| {
                let args = ["diff-tree", "-p", "-r", "--full-index", "--no-ext-diff", "--no-textconv"];
                let mut call = GitCall::new(&self.quarantine.path, args);
                call.args.extend([from, to].map(|id| id.map_or(nothing.into(), |id| id.to_string().into())));
                call
            })
            .collect();
        let mut patches = Vec::new();
        for (result, (from, to)) in runner.run(&calls).into_iter().zip(sides) {
            let output = result?;
            patches.push(match output.status {
                0 => output.stdout,
                _ => patch_of_small_files(self, [*from, *to], &output, runner)?,
            });
        }
        Ok(patches)
    }

    /// The difference between two blobs, as a patch.
    pub fn blob_patch(&self, one: ObjectId, other: ObjectId, runner: &dyn GitRunner) -> Result<Vec<u8>> {
        let mut call =
            GitCall::new(&self.quarantine.path, ["diff", "--full-index", "--no-ext-diff", "--no-textconv"]);
        call.args.extend([one.to_string().into(), other.to_string().into()]);
        Ok(run_one(runner, call)?.stdout)
    }

    /// Files of a commit below a directory, or the file with this name.
    pub fn files_below(
        &self,
        commit: ObjectId,
        directory: &GitName,
        runner: &dyn GitRunner,
    ) -> Result<Vec<GitName>> {
        let mut call =
            GitCall::new(&self.quarantine.path, ["ls-tree", "-r", "-z", "--name-only", "--full-tree"]);
        call.args.extend([commit.to_string().into(), "--".into()]);
        call.args.extend((!directory.as_bytes().is_empty()).then(|| directory.as_os_str().into()));
        let output = run_one(runner, call)?.stdout;
        Ok(output.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(GitName::new).collect())
    }

    /// The links in the trees of commits, with the blobs that have their targets, in one start.
    pub fn links(
        &self,
        commits: &[ObjectId],
        runner: &dyn GitRunner,
    ) -> Result<Vec<Vec<(GitName, ObjectId)>>> {
        let call = |commit: &ObjectId| {
            let mut call = GitCall::new(&self.quarantine.path, ["ls-tree", "-r", "-z", "--full-tree"]);
            call.args.push(commit.to_string().into());
            call
        };
        let outputs = run_all(runner, &commits.iter().map(call).collect::<Vec<_>>())?;
        let links =
            |output: &[u8]| crate::rows::parse_links(output).map(|(path, (_, id))| (path, id)).collect();
        Ok(outputs.iter().map(|output| links(&output.stdout)).collect())
    }

    /// The content of an object.
    pub fn object(&self, id: ObjectId, runner: &dyn GitRunner) -> Result<Vec<u8>> {
        let mut call = GitCall::new(&self.quarantine.path, ["cat-file", "-p"]);
        call.args.push(id.to_string().into());
        Ok(run_one(runner, call)?.stdout)
    }

    /// The sizes of objects in bytes, of those that are there.
    pub fn sizes(&self, ids: &[ObjectId], runner: &dyn GitRunner) -> Result<BTreeMap<ObjectId, u64>> {
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
        let call = GitCall::new(&self.quarantine.path, args).input(input.into_bytes());
        let output = run_one(runner, call)?.stdout;
        let sizes = output.split(|byte| *byte == b'\n').filter_map(|line| {
            let (id, size) = line.split_at_checked(line.iter().position(|byte| *byte == b' ')?)?;
            Some((ObjectId::from_hex(id)?, std::str::from_utf8(size.get(1..)?).ok()?.parse().ok()?))
        });
        Ok(sizes.collect())
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

    pub(crate) fn quarantine_path(&self) -> PathBuf {
        self.quarantine.path.clone()
    }
}

/// Takes out of the moves what means nothing by itself, and lists what differs and is not applied.
fn drop_what_is_not_carried(
    comparison: &mut Comparison,
    base: &RepositoryState,
    person: &RepositoryState,
    agent: &RepositoryState,
) -> Vec<GitName> {
    let (base, person, agent) = (&base.files.others, &person.files.others, &agent.files.others);
    let names: BTreeSet<&GitName> = agent.keys().chain(person.keys()).collect();
    let differs = |name: &&&GitName| {
        let of = |files: &BTreeMap<GitName, crate::source::SourceIdentity>| files.get(**name).map(|f| f.size);
        of(agent) != of(person) && (base.is_empty() || of(agent) != of(base))
    };
    let mut not_carried: Vec<GitName> = names.iter().filter(differs).map(|name| (*name).clone()).collect();
    let operations: Vec<CheckoutName> = comparison.moved.files.keys().filter_map(operation_of).collect();
    comparison.conflicts.retain(|item| match item {
        RepositoryItem::File(name) => !matches!(class_of(name), GitFileClass::OperationTrace(_)),
        _ => true,
    });
    comparison.moved.files.retain(|name, _| {
        let GitFileClass::OperationTrace(checkout) = class_of(name) else { return true };
        let is_kept = operations.contains(&checkout);
        if !is_kept {
            not_carried.push(name.clone());
        }
        is_kept
    });
    not_carried
}

pub(crate) fn operation_of(name: &GitName) -> Option<CheckoutName> {
    match class_of(name) {
        GitFileClass::Operation(checkout) => Some(checkout),
        _ => None,
    }
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
        let is_of_operation =
            matches!(class_of(name), GitFileClass::Operation(_) | GitFileClass::OperationTrace(_));
        if let Some(bytes) =
            moved.after.as_ref().and_then(|content| content.bytes()).filter(|_| is_of_operation)
        {
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

/// The branch that `HEAD` names.
pub(crate) fn branch_of(head: Option<&Head>) -> Option<&GitName> {
    match head? {
        Head::Branch(name) => Some(name),
        Head::Detached(_) => None,
    }
}
