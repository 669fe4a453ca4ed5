//! What is read of the objects of a question, from its quarantine and by hash. Nothing that the repository names runs.

use crate::error::Result;
use crate::git_name::GitName;
use crate::large_files::patch_of_small_files;
use crate::object_id::ObjectId;
use crate::question::RepositoryQuestion;
use crate::runner::{GitCall, GitOutput, GitRunner, run_all, run_one};
use crate::state::{CheckoutName, IndexState};
use crate::tree_lines::{parse_changes, parse_links};
use std::collections::BTreeMap;
use std::path::PathBuf;

impl RepositoryQuestion {
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
        let asked: Vec<_> = commits.iter().map(|commit| (commit, self.index_of(*commit))).collect();
        let call = |(commit, index): &(&ObjectId, Option<(PathBuf, &IndexState)>)| {
            let call = match index {
                Some((git_dir, _)) => {
                    let args = ["diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames"];
                    let objects = self.quarantine.path.join("objects");
                    GitCall::new(git_dir, args).env("GIT_OBJECT_DIRECTORY", objects)
                }
                None => GitCall::new(&self.quarantine.path, ["ls-tree", "-r", "-z", "--full-tree"]),
            };
            GitCall { args: [call.args, vec![commit.to_string().into()]].concat(), ..call }
        };
        let outputs = run_all(runner, &asked.iter().map(call).collect::<Vec<_>>())?;
        let is_link = |mode: &GitName| mode.as_bytes() == b"120000";
        let links = |((_, index), output): (&(_, Option<(_, &IndexState)>), &GitOutput)| match index {
            Some((_, index)) => {
                let entries = index.iter().filter_map(|(path, entries)| Some((path, entries.first()?)));
                let entries = entries.filter(|(_, entry)| is_link(&entry.mode));
                let mut links: BTreeMap<GitName, ObjectId> =
                    entries.map(|(path, entry)| (path.clone(), entry.id)).collect();
                for change in parse_changes(&output.stdout) {
                    links.remove(&change.path);
                    let committed = change.before.filter(|(mode, _)| is_link(mode));
                    links.extend(committed.map(|(_, id)| (change.path, id)));
                }
                links.into_iter().collect()
            }
            None => parse_links(&output.stdout).map(|(path, (_, id))| (path, id)).collect(),
        };
        Ok(asked.iter().zip(&outputs).map(links).collect())
    }

    /// The index of a checkout at this commit, and the directory in which it was read: where it differs from the commit is a
    /// smaller question than what a large commit has. A conflict hides what the commit has.
    fn index_of(&self, commit: ObjectId) -> Option<(PathBuf, &IndexState)> {
        let is_at = |name: &CheckoutName| self.agent.head_commit(name) == Some(commit);
        let (name, checkout) = self.agent.checkouts.iter().find(|(name, _)| is_at(name))?;
        let has_conflict = checkout.index.values().flatten().any(|entry| entry.stage > 0);
        let git_dir = self.agent_copy.join(name.directory());
        (!has_conflict && git_dir.join("index").exists()).then_some((git_dir, &checkout.index))
    }

    /// The content of an object.
    pub fn object(&self, id: ObjectId, runner: &dyn GitRunner) -> Result<Vec<u8>> {
        let mut call = GitCall::new(&self.quarantine.path, ["cat-file", "-p"]);
        call.args.push(id.to_string().into());
        Ok(run_one(runner, call)?.stdout)
    }
}
