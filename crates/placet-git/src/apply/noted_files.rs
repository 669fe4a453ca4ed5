//! Notes in the indexes what the files of an applied change are: until then `git merge --abort` takes them for changed.
//!
//! This is the last step, when nothing is done to the files any more: git notes the time of the inode, too, which changes with
//! each name that a file gets or loses. It is no part of the transaction: where a note is missing, git reads the file when it
//! looks. git reads the files here with the person's settings of what an unchanged file is, and without their filters, which
//! the agent's attributes could run: a file that only a filter makes the same is not noted.

use super::git_program::settings_of_files;
use super::journal::ApplyJournal;
use super::lock::FileLock;
use crate::clean_directory::{format_of, make};
use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::limit;
use crate::runner::{GitCall, GitRunner, PlainRunner};
use crate::source::{PlainSource, RepositorySource, identity_of};
use crate::state::{CheckoutName, RefStorage, RepositoryFormat};
use std::ffi::OsString;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};

/// Notes the files of the checkouts that the change in `journal` moved. Those of the main checkout are in `work_tree`, and
/// `scratch` is an empty directory.
pub fn note_files(journal: &Path, git_dir: &Path, work_tree: Option<&Path>, scratch: &Path) -> Result<()> {
    let source = PlainSource::new(git_dir);
    let format = format_of(&source, scratch, &PlainRunner)?;
    let format = RepositoryFormat { refs: RefStorage::Files, promisor: None, ..format };
    let clean = scratch.join("clean");
    make(&clean, &format, &source.stores())?;
    let checkouts = match ApplyJournal::load(journal) {
        Ok(journal) => journal.change.checkouts.into_keys().collect(),
        // A repository that comes back as it was: its files are new ones.
        Err(_) => vec![CheckoutName::Main],
    };
    for name in checkouts {
        let place = match name {
            CheckoutName::Main => work_tree.map(Path::to_path_buf),
            CheckoutName::Linked(_) => linked_place(&source, &name),
        };
        if let Some(place) = place {
            note(&clean, &git_dir.join(name.directory()), &place)?;
        }
    }
    Ok(())
}

/// Where the files of a linked worktree are, as it is registered.
fn linked_place(source: &PlainSource, name: &CheckoutName) -> Option<PathBuf> {
    let registered = source.read(&name.directory().join("gitdir"), limit::REF).ok()??;
    let git_file = GitName::new(registered.bytes.trim_ascii_end());
    Some(source.path().join(name.directory()).join(git_file.as_path()).parent()?.to_path_buf())
}

/// Notes the files of one index. Where another program writes it meanwhile, its notes are as good.
fn note(clean: &Path, own: &Path, work_tree: &Path) -> Result<()> {
    let (index, copy) = (own.join("index"), clean.join("index"));
    let Ok(before) = index.symlink_metadata() else { return Ok(()) };
    if !before.is_file() {
        return Ok(());
    }
    fs::copy(&index, &copy).map_err(GitError::io("copy", &index))?;
    // git looks again at files that are as new as the index that it reads.
    let old = before.modified().map_err(GitError::io("read", &index))?;
    let copied = File::options().write(true).open(&copy);
    let copied = copied.and_then(|copy| copy.set_times(FileTimes::new().set_modified(old)));
    copied.map_err(GitError::io("write", &copy))?;
    let settings = settings_of_files(work_tree)?.into_iter();
    let settings = settings.flat_map(|setting| [OsString::from("-c"), setting]);
    let args = settings.chain(["update-index", "-q", "--refresh"].map(OsString::from));
    let call = GitCall::new(clean, args).directory(work_tree).env("GIT_WORK_TREE", work_tree);
    // Its status says whether files differ.
    drop(PlainRunner.run(&[call.env("GIT_INDEX_FILE", &copy).transfer()]));
    let time = copy.metadata().and_then(|copy| copy.modified()).map_err(GitError::io("read", &copy))?;
    if time == old {
        return Ok(());
    }
    let lock = FileLock::take(own, "index")?;
    let is_same = index.symlink_metadata().is_ok_and(|now| identity_of(&now) == identity_of(&before));
    let noted = lock.fill(&copy, time).and_then(|()| if is_same { lock.commit() } else { Ok(()) });
    lock.release();
    noted
}
