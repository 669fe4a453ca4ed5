//! Reads a state by git in a clean git directory: two starts at most, whose calls do not depend on each other.

use super::{
    CheckoutName, CheckoutState, Head, IndexState, RefStorage, RefsState, RepositoryState, index, refs, stash,
};
use crate::clean_directory::CleanDirectory;
use crate::error::{GitError, Result};
use crate::git_file::GitFiles;
use crate::git_name::GitName;
use crate::limit;
use crate::object_id::ObjectId;
use crate::runner::{GitCall, GitOutput, GitRunner, PlainRunner};
use crate::source::RepositorySource;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// What a call of the first start is about.
#[derive(Clone, PartialEq, Eq)]
enum Asked {
    Refs,
    LooseRefs,
    Stash,
    OwnRefs(CheckoutName),
    Index(CheckoutName),
    Branch(CheckoutName),
    Commit(CheckoutName),
}

impl RepositoryState {
    /// Reads the state of a repository. `scratch` is a directory that does not exist yet.
    pub fn read(
        source: &dyn RepositorySource,
        scratch: &Path,
        runner: &dyn GitRunner,
    ) -> Result<RepositoryState> {
        Ok(RepositoryState::read_with_copy(source, scratch, runner)?.0)
    }

    pub(crate) fn read_with_copy(
        source: &dyn RepositorySource,
        scratch: &Path,
        runner: &dyn GitRunner,
    ) -> Result<(RepositoryState, CleanDirectory)> {
        let clean = CleanDirectory::copy(source, scratch, runner)?;
        let state = RepositoryState::read_from_copy(GitFiles::read(source)?, &clean, runner)?;
        Ok((state, clean))
    }

    /// The state of a repository that was read before, and may not have changed.
    pub(crate) fn read_again(
        &self,
        source: &dyn RepositorySource,
        scratch: &Path,
        runner: &dyn GitRunner,
    ) -> Result<RepositoryState> {
        if CleanDirectory::is_unchanged(source, &self.read_from)? {
            return Ok(RepositoryState { files: GitFiles::read(source)?, ..self.clone() });
        }
        RepositoryState::read(source, scratch, runner)
    }

    fn read_from_copy(
        files: GitFiles,
        clean: &CleanDirectory,
        runner: &dyn GitRunner,
    ) -> Result<RepositoryState> {
        let asked = questions(clean);
        let calls: Vec<GitCall> = asked.iter().map(|asked| call(clean, asked)).collect();
        let mut state = RepositoryState {
            format: clean.format.clone(),
            refs: RefsState::default(),
            checkouts: BTreeMap::new(),
            stash: Vec::new(),
            shallow: clean.shallow.clone(),
            unreadable: clean.unreadable.clone(),
            files,
            read_from: clean.identities.clone(),
        };
        let results = runner.run(&calls);
        let mut answers: Vec<(Asked, GitOutput)> = Vec::new();
        for (asked, result) in asked.into_iter().zip(results) {
            answers.push((asked, result?));
        }
        for (asked, output) in &answers {
            state.take(asked, output)?;
        }
        for checkout in &clean.checkouts {
            let found = read_checkout(clean, checkout, &answers)?;
            state.checkouts.insert(checkout.clone(), found);
        }
        // A loose ref counts, and not a packed one of the same name, also where it cannot be read.
        let refs = Arc::make_mut(&mut state.refs);
        for name in &state.unreadable {
            refs.remove(name);
        }
        for (name, target) in &clean.symbolic {
            if !name.starts_with("worktrees/") && !super::is_own_ref(name) {
                refs.insert(name.clone(), target.clone());
            }
        }
        let own: RefsState = Arc::new(refs.extract_if(.., |name, _| super::is_own_ref(name)).collect());
        refs.remove(&GitName::from(stash::REF));
        if let Some(main) = state.checkouts.get_mut(&CheckoutName::Main) {
            main.own_refs = own;
        }
        mark_announced(clean, &mut state, runner)?;
        state.unreadable.retain(|name| !clean.symbolic.iter().any(|(symbolic, _)| symbolic == name));
        state.unreadable.sort();
        state.unreadable.dedup();
        Ok(state)
    }

    fn take(&mut self, asked: &Asked, output: &GitOutput) -> Result<()> {
        match asked {
            Asked::Refs | Asked::LooseRefs | Asked::OwnRefs(_) => {
                if output.status != 0 {
                    return Err(output.failure("for-each-ref"));
                }
                self.unreadable.extend(refs::unreadable(&output.stderr));
                match asked {
                    Asked::Refs => self.refs = refs::parse(&output.stdout)?,
                    Asked::LooseRefs => {
                        let loose = Arc::unwrap_or_clone(refs::parse(&output.stdout)?);
                        Arc::make_mut(&mut self.refs).extend(loose);
                    }
                    _ => {}
                }
            }
            // Without a stash there is no ref, which is an error of this command only.
            Asked::Stash if output.status == 0 => self.stash = stash::parse(&output.stdout)?,
            _ => {}
        }
        Ok(())
    }
}

/// A state that was copied, and is read when somebody asks: until then it costs no call of git.
#[derive(Debug)]
pub struct StateCopy {
    clean: CleanDirectory,
    files: GitFiles,
}

impl StateCopy {
    /// Copies a state into a directory that does not exist yet, and that the caller keeps as long as the copy.
    pub fn take(source: &dyn RepositorySource, scratch: &Path) -> Result<StateCopy> {
        let clean = CleanDirectory::copy(source, scratch, &PlainRunner)?;
        Ok(StateCopy { clean, files: GitFiles::read(source)? })
    }

    pub fn read(&self) -> Result<RepositoryState> {
        RepositoryState::read_from_copy(self.files.clone(), &self.clean, &PlainRunner)
    }
}

fn questions(clean: &CleanDirectory) -> Vec<Asked> {
    let is_reftable = clean.format.refs == RefStorage::Reftable;
    let mut asked = vec![Asked::Refs];
    asked.extend(clean.loose.is_some().then_some(Asked::LooseRefs));
    if is_reftable || clean.has(Path::new("logs/refs/stash")) {
        asked.push(Asked::Stash);
    }
    for checkout in &clean.checkouts {
        if clean.has(&checkout.directory().join("index")) {
            asked.push(Asked::Index(checkout.clone()));
        }
        if *checkout != CheckoutName::Main
            && (is_reftable || clean.path.join(checkout.directory()).join("refs").exists())
        {
            asked.push(Asked::OwnRefs(checkout.clone()));
        }
        if is_reftable {
            asked.push(Asked::Branch(checkout.clone()));
            asked.push(Asked::Commit(checkout.clone()));
        }
    }
    asked
}

fn call(clean: &CleanDirectory, asked: &Asked) -> GitCall {
    let of = |checkout: &CheckoutName| clean.git_dir(checkout);
    match asked {
        Asked::Refs => GitCall::new(&clean.path, ["for-each-ref", refs::FORMAT]),
        Asked::LooseRefs => {
            GitCall::new(clean.loose.as_deref().unwrap_or(&clean.path), ["for-each-ref", refs::FORMAT])
        }
        Asked::Stash => GitCall::new(&clean.path, stash::LOG),
        Asked::OwnRefs(checkout) => {
            let [bisect, worktree, rewritten] = refs::OWN;
            GitCall::new(&of(checkout), ["for-each-ref", refs::FORMAT, bisect, worktree, rewritten])
        }
        Asked::Index(checkout) => GitCall::new(&of(checkout), ["ls-files", "-s", "-v", "-z"]),
        Asked::Branch(checkout) => GitCall::new(&of(checkout), ["symbolic-ref", "-q", "HEAD"]),
        Asked::Commit(checkout) => GitCall::new(&of(checkout), ["rev-parse", "-q", "--verify", "HEAD"]),
    }
}

fn read_checkout(
    clean: &CleanDirectory,
    checkout: &CheckoutName,
    answers: &[(Asked, GitOutput)],
) -> Result<CheckoutState> {
    let answer = |wanted: Asked| answers.iter().find(|(asked, _)| *asked == wanted).map(|(_, output)| output);
    let index = match answer(Asked::Index(checkout.clone())) {
        Some(output) if output.status == 0 => index::parse(&output.stdout)?,
        Some(output) => return Err(output.failure("ls-files")),
        None => IndexState::default(),
    };
    let own_refs = match answer(Asked::OwnRefs(checkout.clone())) {
        Some(output) => refs::parse(&output.stdout)?,
        None => RefsState::default(),
    };
    let head = match (answer(Asked::Branch(checkout.clone())), answer(Asked::Commit(checkout.clone()))) {
        (Some(branch), _) if branch.status == 0 => {
            Some(Head::Branch(GitName::new(branch.stdout.trim_ascii_end())))
        }
        (Some(_), Some(commit)) => ObjectId::from_hex(commit.stdout.trim_ascii_end()).map(Head::Detached),
        _ => {
            let path = clean.git_dir(checkout).join("HEAD");
            let bytes = std::fs::read(&path).map_err(GitError::io("read", &path))?;
            match refs::symbolic(&bytes) {
                Some(name) => refs::is_valid_ref(&name).then_some(Head::Branch(name)),
                None => ObjectId::from_hex(bytes.trim_ascii_end()).map(Head::Detached),
            }
        }
    };
    let head = head.ok_or_else(|| GitError::UnreadableRefs("HEAD".into()))?;
    Ok(CheckoutState { head, own_refs, index })
}

/// Asks which entries only announce a path, where an index may have some.
fn mark_announced(clean: &CleanDirectory, state: &mut RepositoryState, runner: &dyn GitRunner) -> Result<()> {
    let format = clean.format.objects;
    let mut asked = Vec::new();
    for (name, checkout) in &state.checkouts {
        let path = clean.git_dir(name).join("index");
        let mut header = Vec::new();
        if let Ok(file) = File::open(&path) {
            file.take(8).read_to_end(&mut header).map_err(GitError::io("read", &path))?;
        }
        if !index::may_have_announced(&header, &checkout.index, format) {
            continue;
        }
        let args =
            ["diff-index", "--cached", "--ita-invisible-in-index", "--name-only", "-z", "--no-renames"];
        let mut call = GitCall::new(&clean.git_dir(name), args);
        call.args.extend([format.empty_tree().into(), "--".into()]);
        let empty = ObjectId::from_hex(format.empty_blob().as_bytes());
        let paths =
            checkout.index.iter().filter(|(_, entries)| entries.iter().any(|entry| Some(entry.id) == empty));
        let paths: Vec<_> = paths.map(|(path, _)| path.as_os_str().to_os_string()).collect();
        if paths.len() <= limit::ARGUMENT_PATHS {
            call.args.extend(paths);
        }
        asked.push((name.clone(), call));
    }
    let calls: Vec<GitCall> = asked.iter().map(|(_, call)| call.clone()).collect();
    if calls.is_empty() {
        return Ok(());
    }
    for ((name, _), output) in asked.iter().zip(crate::runner::run_all(runner, &calls)?) {
        if let Some(checkout) = state.checkouts.get_mut(name) {
            index::mark_announced(&mut checkout.index, &output.stdout, format);
        }
    }
    Ok(())
}
