//! The agent's git directory, through the layers of a view.

use super::super::{LayerKind, View};
use crate::view::layers::layer::is_whiteout;
use placet_git::{
    GitError, GitName, PlainSource, RepositorySource, SourceEntry, SourceFile, SourceIdentity, SourceKind,
};
use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A git directory as it would be with the pending changes.
pub(super) struct LayerSource<'a> {
    view: &'a View,
    git_dir: PathBuf,
    /// Directories that have its objects, the layer's first.
    stores: Vec<PathBuf>,
}

impl<'a> LayerSource<'a> {
    pub(super) fn of(view: &'a View, git_dir: &Path) -> LayerSource<'a> {
        let mut stores = Vec::new();
        if let Some((index, rel)) = view.locate(git_dir) {
            let layers = view.stack_of(view.layer_set(LayerKind::Pending), index).layers;
            let own = layers.iter().map(|layer| layer.dir().join(&rel).join("objects"));
            stores.extend(own.filter(|dir| dir.is_dir()));
        }
        let plain = git_dir.join("objects");
        stores.extend(plain.is_dir().then_some(plain));
        LayerSource { view, git_dir: git_dir.to_path_buf(), stores }
    }

    /// Where the content of a path is; `None` where nothing is there.
    fn real(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        let whole = self.git_dir.join(path);
        let Some((index, rel)) = self.view.locate(&whole) else { return Ok(None) };
        let stack = self.view.stack_of(self.view.layer_set(LayerKind::Pending), index);
        let real = stack.real(&rel).map_err(failed("find", &whole))?;
        Ok(real.filter(|real| real.symlink_metadata().is_ok()))
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> GitError {
    let path = path.to_path_buf();
    move |source| GitError::Io { action, path, source }
}

/// Objects are listed in each store, because git reads all of them.
fn is_of_objects(path: &Path) -> bool {
    let mut names = path.iter();
    names.next().is_some_and(|name| name == "objects")
        && names.next().is_none_or(|name| name != "info" && name != "pack")
}

impl RepositorySource for LayerSource<'_> {
    fn entries(&self, directory: &Path) -> Result<Vec<SourceEntry>, GitError> {
        if is_of_objects(directory) {
            return self.objects(directory);
        }
        let whole = self.git_dir.join(directory);
        let Some((index, rel)) = self.view.locate(&whole) else { return Ok(Vec::new()) };
        let stack = self.view.stack_of(self.view.layer_set(LayerKind::Pending), index);
        let names = stack.children(&rel).map_err(failed("list", &whole))?;
        let mut found = Vec::new();
        for name in names {
            let Some(real) = self.real(&directory.join(&name))? else { continue };
            let Ok(meta) = real.symlink_metadata() else { continue };
            let kind = match meta.file_type() {
                kind if kind.is_file() => SourceKind::File,
                kind if kind.is_dir() => SourceKind::Directory,
                kind if kind.is_symlink() => SourceKind::Link,
                _ => SourceKind::Other,
            };
            found.push(SourceEntry { name: GitName::from(Path::new(&name)), kind });
        }
        Ok(found)
    }

    fn read(&self, file: &Path, most: u64) -> Result<Option<SourceFile>, GitError> {
        let Some(real) = self.real(file)? else { return Ok(None) };
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else { return Ok(None) };
        PlainSource::new(parent).read(Path::new(name), most)
    }

    fn identity(&self, file: &Path) -> Result<Option<SourceIdentity>, GitError> {
        let Some(real) = self.real(file)? else { return Ok(None) };
        PlainSource::new(Path::new("/")).identity(&real)
    }

    fn path(&self) -> &Path {
        &self.git_dir
    }

    fn stores(&self) -> Vec<PathBuf> {
        self.stores.clone()
    }
}

impl LayerSource<'_> {
    fn objects(&self, directory: &Path) -> Result<Vec<SourceEntry>, GitError> {
        let below = directory.strip_prefix("objects").unwrap_or(directory);
        let plain = self.git_dir.join("objects");
        let mut found: BTreeMap<GitName, SourceKind> = BTreeMap::new();
        for store in &self.stores {
            let dir = store.join(below);
            let Ok(entries) = std::fs::read_dir(&dir) else { continue };
            for entry in entries {
                let entry = entry.map_err(failed("list", &dir))?;
                let mut kind = entry.file_type().map_err(failed("list", &dir))?;
                // git follows the person's own links. It would wait for a pipe of theirs, too.
                if kind.is_symlink() && *store == plain {
                    let Ok(meta) = entry.path().metadata() else { continue };
                    kind = meta.file_type();
                }
                let kind = match kind {
                    kind if kind.is_file() => SourceKind::File,
                    kind if kind.is_dir() => SourceKind::Directory,
                    kind if kind.is_symlink() => SourceKind::Link,
                    kind if kind.is_char_device() && is_removed(&entry.path()) => continue,
                    _ => SourceKind::Other,
                };
                let known = found.entry(GitName::from(Path::new(&entry.file_name()))).or_insert(kind);
                if matches!(kind, SourceKind::Link | SourceKind::Other) {
                    *known = kind;
                }
            }
        }
        Ok(found.into_iter().map(|(name, kind)| SourceEntry { name, kind }).collect())
    }
}

/// What the layer says is gone.
fn is_removed(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|stat| is_whiteout(&stat))
}
