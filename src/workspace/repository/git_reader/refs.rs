//! Refs of a repository in one state: one file each, or a line of `packed-refs`.

use super::budget::ReadBudget;
use super::event::{HeadPosition, RefKind};
use super::object_id::ObjectId;
use super::packed_refs::{PackedDifferences, PackedRefs, RefMap};
use super::repository_files::{RepositoryFiles, exists, read};
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const LARGEST_REF: u64 = 4 << 10;
/// The largest reflog.
pub(super) const LARGEST_LOG: u64 = 4 << 20;
/// Refs that are looked at where all of them count.
const MOST_REFS: usize = 100_000;
/// A ref may name another, which may name a third. git follows five.
const MOST_STEPS: usize = 5;

pub(super) struct RefReader<'a> {
    files: &'a dyn RepositoryFiles,
    /// The directory with `HEAD`: that of a linked worktree has its own.
    own: &'a Path,
    /// The directory with the refs.
    common: &'a Path,
    packed: OnceCell<Option<PackedRefs>>,
}

enum StoredRef {
    Object(ObjectId),
    Symbolic(PathBuf),
}

impl<'a> RefReader<'a> {
    pub(super) fn new(files: &'a dyn RepositoryFiles, own: &'a Path, common: &'a Path) -> RefReader<'a> {
        RefReader { files, own, common, packed: OnceCell::new() }
    }

    /// The refs of `packed-refs`; `None` where it cannot be read.
    pub(super) fn packed(&self) -> Option<&PackedRefs> {
        let open = || PackedRefs::open(self.files, &self.common.join("packed-refs"));
        self.packed.get_or_init(open).as_ref()
    }

    /// The refs in which the `packed-refs` of both states differ. `None` where one of them cannot be read.
    pub(super) fn packed_differences(
        &self,
        new: &RefReader<'_>,
        budget: &ReadBudget,
    ) -> Option<PackedDifferences> {
        let file = |refs: &RefReader<'_>| refs.files.real(&refs.common.join("packed-refs"));
        let (old_packed, new_packed) = (self.packed()?, new.packed()?);
        match file(self) == file(new) {
            true => Some(PackedDifferences::default()),
            false => old_packed.differences(new_packed, budget),
        }
    }

    pub(super) fn head(&self) -> Option<HeadPosition> {
        Some(match self.stored(&self.own.join("HEAD"))? {
            StoredRef::Object(id) => HeadPosition::Detached(id.short()),
            StoredRef::Symbolic(name) => {
                HeadPosition::Branch(Some(name).filter(|name| name.starts_with("refs"))?)
            }
        })
    }

    /// True where the directory with `HEAD` has such a file.
    pub(super) fn has_file(&self, name: &str) -> bool {
        exists(self.files, &self.own.join(name))
    }

    /// True where the refs are in another format, which is not read.
    pub(super) fn is_reftable(&self) -> bool {
        exists(self.files, &self.common.join("reftable"))
    }

    /// True where there is something of that name which is neither a ref nor a directory of refs.
    pub(super) fn is_broken(&self, name: &Path) -> bool {
        self.is_there(name) && self.get(name).is_none()
    }

    /// The ref that git reads and writes in place of this one.
    pub(super) fn symbolic(&self, name: &Path) -> Option<PathBuf> {
        match self.stored(&self.common.join(name))? {
            StoredRef::Symbolic(to) => Some(to),
            StoredRef::Object(_) => None,
        }
    }

    /// Anything but a directory.
    fn is_there(&self, name: &Path) -> bool {
        let found = self.files.real(&self.common.join(name)).and_then(|path| path.symlink_metadata().ok());
        found.is_some_and(|found| !found.is_dir())
    }

    /// The commit that `HEAD` leads to; `None` on a branch without one.
    pub(super) fn head_commit(&self) -> Option<ObjectId> {
        self.head_commit_at(self.own)
    }

    /// The same of the `HEAD` in the directory of a linked worktree.
    pub(super) fn head_commit_at(&self, own: &Path) -> Option<ObjectId> {
        match self.stored(&own.join("HEAD"))? {
            StoredRef::Object(id) => Some(id),
            StoredRef::Symbolic(name) => self.get(&name),
        }
    }

    /// `None` also for a ref that leads to one of another kind, or to a file that is no ref: what that file names changes
    /// without any change among the refs.
    pub(super) fn get(&self, name: &Path) -> Option<ObjectId> {
        let kind = RefKind::of(name);
        let mut name = name.to_path_buf();
        for _ in 0..MOST_STEPS {
            // A name with `..` would lead out of the repository.
            let plain = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
            if !plain || !name.starts_with("refs") {
                return None;
            }
            match self.stored(&self.common.join(&name)) {
                Some(StoredRef::Object(id)) => return Some(id),
                Some(StoredRef::Symbolic(next)) if RefKind::of(&next) != kind => return None,
                Some(StoredRef::Symbolic(next)) => name = next,
                // git may read a ref there, and then does not look at `packed-refs`.
                None if self.is_there(&name) => return None,
                None => return self.packed()?.get(&name),
            }
        }
        None
    }

    /// The reflog of a ref; nothing where it has none, or too large a one.
    pub(super) fn log(&self, name: &Path) -> Vec<u8> {
        read(self.files, &self.common.join("logs").join(name), LARGEST_LOG).unwrap_or_default()
    }

    fn stored(&self, file: &Path) -> Option<StoredRef> {
        let bytes = read(self.files, file, LARGEST_REF)?;
        let text = bytes.trim_ascii();
        match text.strip_prefix(b"ref:") {
            Some(name) => Some(StoredRef::Symbolic(PathBuf::from(OsStr::from_bytes(name.trim_ascii())))),
            None => ObjectId::from_hex(text).map(StoredRef::Object),
        }
    }

    /// All of them. `None` where there are too many, or no time is left.
    pub(super) fn all(&self, budget: &ReadBudget) -> Option<RefMap> {
        let mut all = self.packed()?.all()?.clone();
        let mut todo = vec![PathBuf::from("refs")];
        let mut seen = all.len();
        while let Some(dir) = todo.pop() {
            for name in self.files.names(&self.common.join(&dir)) {
                seen += 1;
                if seen > MOST_REFS || !budget.has_time() {
                    return None;
                }
                let name = dir.join(name);
                match self.stored(&self.common.join(&name)) {
                    Some(StoredRef::Object(id)) => drop(all.insert(name, id)),
                    // Another ref has what it names.
                    Some(StoredRef::Symbolic(_)) => {}
                    None if name.components().count() < 64 => todo.push(name),
                    None => return None,
                }
            }
        }
        Some(all)
    }
}

/// A ref that differs.
#[derive(Clone, Debug)]
pub(super) struct RefChange {
    pub(super) name: PathBuf,
    pub(super) old: Option<ObjectId>,
    pub(super) new: Option<ObjectId>,
}
