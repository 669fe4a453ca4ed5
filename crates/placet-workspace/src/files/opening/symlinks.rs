//! A path without links.

use crate::WorkspaceError;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

/// As many as Linux follows in one path (path_resolution(7)).
pub(in crate::files) const MOST_LINKS: usize = 40;

/// `path` with every link in it followed, as far as it exists.
pub(crate) fn without_links(path: &Path) -> PathBuf {
    real_path(path, &|p| Ok(Some(p.to_path_buf()))).map_or_else(|_| path.to_path_buf(), |found| found.path)
}

/// The same for a path of placet's own files, whose directories are looked up once in a process: each view asks for four
/// such paths, and a start opens several views. The last part may become a link at any time.
pub(crate) fn own_without_links(path: &Path) -> PathBuf {
    /// Enough for the directories of one user. Tests have more, which are looked up each time.
    const MOST: usize = 64;
    static DIRS: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return without_links(path) };
    let mut dirs = DIRS.lock().unwrap_or_else(PoisonError::into_inner);
    let real = match dirs.get(dir) {
        Some(real) => real.join(name),
        None => {
            let real = without_links(dir);
            let found = real.join(name);
            // What is missing may be made as a link.
            if real.is_dir() && dirs.len() < MOST {
                dirs.insert(dir.to_path_buf(), real);
            }
            found
        }
    };
    drop(dirs);
    match fs::symlink_metadata(&real) {
        Ok(meta) if meta.is_symlink() => without_links(path),
        _ => real,
    }
}

/// A path without links.
pub(in crate::files) struct RealPath {
    pub(in crate::files) path: PathBuf,
    pub(in crate::files) exists: bool,
    /// The file that is where the path needs a directory.
    pub(in crate::files) below_file: Option<PathBuf>,
}

/// The absolute path `from` without links. `real` returns the place of a path's own entry, or that there is none.
pub(in crate::files) fn real_path(
    from: &Path,
    real_of: &dyn Fn(&Path) -> io::Result<Option<PathBuf>>,
) -> Result<RealPath, WorkspaceError> {
    let absent = |path, below_file| RealPath { path, exists: false, below_file };
    let mut todo: Vec<OsString> = Vec::new();
    push_parts(&mut todo, from);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = todo.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        let lies = real_of(&next).map_err(|e| WorkspaceError::from_io(&next, e))?;
        let Some(lies) = lies else { return missing(next, todo).map(|p| absent(p, None)) };
        match fs::symlink_metadata(&lies) {
            Ok(meta) if meta.file_type().is_symlink() => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(WorkspaceError::Loop(from.to_path_buf()));
                }
                let target = fs::read_link(&lies).map_err(|e| WorkspaceError::from_io(&next, e))?;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                push_parts(&mut todo, &target);
            }
            Ok(meta) => {
                if !meta.is_dir() && !todo.is_empty() {
                    return missing(next.clone(), todo).map(|p| absent(p, Some(next)));
                }
                real = next;
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return missing(next, todo).map(|p| absent(p, None));
            }
            Err(e) => return Err(WorkspaceError::from_io(&next, e)),
        }
    }
    Ok(RealPath { path: real, exists: true, below_file: None })
}

/// Nothing below a missing directory can be a link, so the rest is taken as it is; `..` there means nothing.
pub(in crate::files) fn missing(
    mut path: PathBuf,
    mut todo: Vec<OsString>,
) -> Result<PathBuf, WorkspaceError> {
    while let Some(part) = todo.pop() {
        if part == ".." {
            return Err(WorkspaceError::Missing(path));
        }
        path.push(part);
    }
    Ok(path)
}

pub(in crate::files) fn push_parts(todo: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().filter_map(|c| match c {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    let parts: Vec<OsString> = parts.collect();
    todo.extend(parts.into_iter().rev());
}
