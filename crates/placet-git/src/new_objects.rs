//! What is read of the objects of a question, from its quarantine and by hash. Nothing that the repository names runs.

use crate::error::Result;
use crate::git_name::GitName;
use crate::large_files::patch_of_small_files;
use crate::object_id::ObjectId;
use crate::question::RepositoryQuestion;
use crate::runner::{GitCall, GitRunner, run_all, run_one};
use crate::tree_lines::parse_links;

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
        let call = |commit: &ObjectId| {
            let mut call = GitCall::new(&self.quarantine.path, ["ls-tree", "-r", "-z", "--full-tree"]);
            call.args.push(commit.to_string().into());
            call
        };
        let outputs = run_all(runner, &commits.iter().map(call).collect::<Vec<_>>())?;
        let links = |output: &[u8]| parse_links(output).map(|(path, (_, id))| (path, id)).collect();
        Ok(outputs.iter().map(|output| links(&output.stdout)).collect())
    }

    /// The content of an object.
    pub fn object(&self, id: ObjectId, runner: &dyn GitRunner) -> Result<Vec<u8>> {
        let mut call = GitCall::new(&self.quarantine.path, ["cat-file", "-p"]);
        call.args.push(id.to_string().into());
        Ok(run_one(runner, call)?.stdout)
    }
}
