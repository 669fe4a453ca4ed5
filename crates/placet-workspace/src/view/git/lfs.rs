//! Contents of Git LFS: like git's own objects, they are named by a hash of what is in them, and a commit without them loses
//! its files. New ones are applied as files, after their names were proved; of what else is in `lfs/`, nothing is applied.

use super::super::{LayerKind, View};
use crate::apply::ApplyError;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::opening::open::open_regular;
use crate::repository::{GitEvent, GitEventKind};
use placet_text::text::{count, human_size};
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The new contents of a repository.
pub(super) fn contents<'a>(set: &'a ChangeSet, git_dir: &'a Path) -> impl Iterator<Item = &'a FileChange> {
    let is_content = move |change: &&FileChange| {
        set.repositories.common(&change.path) == Some(git_dir) && set.repositories.is_lfs_content(change)
    };
    set.changes.iter().filter(is_content)
}

/// One row for all of them.
pub(super) fn event(set: &ChangeSet, git_dir: &Path) -> Option<GitEvent> {
    let (files, bytes) =
        contents(set, git_dir).fold((0, 0), |(files, bytes), one| (files + 1, bytes + one.after.size()));
    let text = format!("LFS: {}, {}", count::of(files, "content"), human_size::of(bytes));
    (files > 0).then(|| GitEvent::new(GitEventKind::LfsContents, text))
}

impl View {
    /// Refuses a content whose name is not its hash: git would put it into a file of another commit. Returns where it is.
    pub(super) fn prove_content(&self, path: &Path) -> Result<PathBuf, ApplyError> {
        let failed = |error| ApplyError::Failed { path: path.to_path_buf(), error, left: 0 };
        let real = self.place_of_pending(path).map_err(failed)?;
        let hash = sha256_of(&real).map_err(failed)?;
        match path.file_name().is_some_and(|name| *name == *hash) {
            true => Ok(real),
            false => Err(ApplyError::Repository(format!(
                "`{}` is not the LFS content that its name says; `placet discard {0}` drops it",
                self.name_of(path)
            ))),
        }
    }

    fn place_of_pending(&self, path: &Path) -> io::Result<PathBuf> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let (index, rel) = self.locate(path).ok_or_else(gone)?;
        let real = self.stack(index, self.layer_set(LayerKind::Pending).depth).real(&rel)?;
        real.ok_or_else(gone)
    }
}

fn sha256_of(file: &Path) -> io::Result<String> {
    let mut content = open_regular(file, OFlags::NOFOLLOW).map_err(io::Error::other)?;
    let mut hash = Sha256::new();
    let mut part = vec![0; 64 << 10];
    loop {
        let read = content.file.read(&mut part)?;
        if read == 0 {
            break;
        }
        hash.update(part.get(..read).unwrap_or_default());
    }
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
