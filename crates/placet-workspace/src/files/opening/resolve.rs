//! From the words of a path to the object they mean: every link followed, once, by hand.
//!
//! Unlike `realpath` this also resolves what does not exist yet, by its deepest existing directory, so that a new
//! file below a link that leads outside is known to be outside. What it returns contains no link and no `..`.

use super::symlinks::{RealPath, real_path};
pub(crate) use super::symlinks::{own_without_links, without_links};
use crate::repository::flat;
use crate::{LayerKind, Workspace, WorkspaceError};
use placet_permission::{Access, AccessLocation};
use placet_text::text::visible;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The most bytes of an absolute path: PATH_MAX of Linux without its NUL. A longer one can only be walked part by part,
/// and as a pending path it would slow every later call.
const LONGEST: usize = 4095;

/// The length of a sign such as `<U+200B>`.
const SIGN: usize = 8;

/// A path, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// Absolute, without links: what the kernel would open.
    pub path: PathBuf,
    pub place: AccessLocation,
    /// As it was written in the call.
    pub written: String,
    pub exists: bool,
    /// The file that is where the path needs a directory: see [`Workspace::resolve_staged`].
    pub below_file: Option<PathBuf>,
    links: LinkQuestion,
}

/// Whether a program runs or obeys the file by another name: asked where the file is to be written, and once.
#[derive(Clone, Debug)]
struct LinkQuestion {
    workspace: Workspace,
    answer: Arc<OnceLock<bool>>,
}

/// The same question has the same answer.
impl PartialEq for LinkQuestion {
    fn eq(&self, _: &LinkQuestion) -> bool {
        true
    }
}

impl Eq for LinkQuestion {}

impl ResolvedPath {
    pub fn read(&self) -> Access {
        let place = match self.place {
            AccessLocation::ReadOnly => AccessLocation::Inside,
            place => place,
        };
        Access::Read { path: self.path.clone(), place }
    }

    /// The same path in a call whose steps fail each for itself: a read-only file is the failure of its own step, and no
    /// question about the whole call.
    #[must_use]
    pub fn of_own_step(self) -> ResolvedPath {
        let place = match self.place {
            AccessLocation::ReadOnly => AccessLocation::Inside,
            place => place,
        };
        ResolvedPath { place, ..self }
    }

    /// Looks for links to the file.
    pub fn write(&self) -> Access {
        let is_reached = || *self.links.answer.get_or_init(|| self.links.workspace.is_reached(&self.path));
        let place = match self.place {
            AccessLocation::Inside | AccessLocation::ReadOnly if is_reached() => AccessLocation::Protected,
            place => place,
        };
        Access::Write { path: self.path.clone(), place }
    }
}

impl Workspace {
    /// Resolves a path from a call: absolute, relative to the working directory, or below `~/`. Touches no content.
    pub fn resolve(&self, written: &str) -> Result<ResolvedPath, WorkspaceError> {
        let at = self.resolve_staged(written)?;
        match at.below_file {
            Some(file) => Err(WorkspaceError::NotDirectory(file)),
            None => Ok(at),
        }
    }

    /// The same for a call of several steps: a file that is in the way of a path now may be gone before the step that
    /// names the path.
    pub fn resolve_staged(&self, written: &str) -> Result<ResolvedPath, WorkspaceError> {
        if written.is_empty() {
            return Err(WorkspaceError::Empty);
        }
        // Before any of it is copied. Each byte may be written as a sign.
        if written.len() > LONGEST * SIGN {
            return Err(WorkspaceError::TooLong { bytes: written.len(), most: LONGEST });
        }
        let given = self.expand(written)?;
        let literal = real_path(&self.cwd().join(&given), &|path| self.real(path));
        let found = match (self.as_listed(&given), literal) {
            (Some(listed), Ok(RealPath { exists: false, .. }) | Err(_)) => listed,
            (_, found) => found?,
        };
        let RealPath { path, exists, mut below_file } = found;
        // `file/` and `file/.` mean a directory, for the system too.
        if exists && (written.ends_with('/') || written.ends_with("/.")) && !self.is_dir(&path) {
            below_file = Some(path.clone());
        }
        let bytes = path.as_os_str().len();
        if bytes > LONGEST {
            return Err(WorkspaceError::TooLong { bytes, most: LONGEST });
        }
        let place = match self.place_of(&path) {
            AccessLocation::Inside if exists && self.is_read_only(&path) => AccessLocation::ReadOnly,
            place => place,
        };
        Ok(ResolvedPath { exists, below_file, ..self.resolved(path, place, written.into()) })
    }

    /// An existing path that was found by a walk, and has no links.
    pub fn found(&self, path: PathBuf, written: String) -> ResolvedPath {
        let place = self.place_of(&path);
        self.resolved(path, place, written)
    }

    fn resolved(&self, path: PathBuf, place: AccessLocation, written: String) -> ResolvedPath {
        let links = LinkQuestion { workspace: self.clone(), answer: Arc::default() };
        ResolvedPath { path, place, written, exists: true, below_file: None, links }
    }

    /// What a path means that is written as lists show it, where it means something: names that are not UTF-8 cannot be
    /// written otherwise in JSON.
    fn as_listed(&self, given: &Path) -> Option<RealPath> {
        let listed = self.cwd().join(read_back(given)?);
        let found = real_path(&listed, &|path| self.real(path)).ok().filter(|f| f.below_file.is_none())?;
        let is_in = |path: &Path| path.parent().is_some_and(|dir| self.is_dir(dir));
        // A new file goes where a directory is that lists show so.
        (found.exists || is_in(&found.path) && !is_in(&self.cwd().join(given))).then_some(found)
    }

    /// The path of a pending change that a person names, by the names alone: a link is itself and never its target. The
    /// agent makes links; a name that followed them would approve another file than the person typed. Only the way to a
    /// root may lead through links, because no change set can replace these links.
    ///
    /// A name may be written as lists show it, with signs for a line break and the like: such a name cannot be typed
    /// otherwise. Where both readings of it are pending, it is the one that a list shows so.
    pub fn pending_path(&self, written: &str) -> Result<PathBuf, WorkspaceError> {
        if written.is_empty() {
            return Err(WorkspaceError::Empty);
        }
        let given = self.expand(written)?;
        let literal = self.pending_at(&given);
        let Some(listed) = read_back(&given) else { return Ok(literal) };
        let listed = self.pending_at(&listed);
        let pending = self.view().and_then(|view| view.changes(LayerKind::Pending).ok());
        let is_pending = |path: &Path| pending.as_ref().is_some_and(|set| !set.below(path).is_empty());
        let is_there = |path: &Path| is_pending(path) || path.symlink_metadata().is_ok();
        let is_listed = is_pending(&listed) || is_there(&listed) && !is_there(&literal);
        Ok(if is_listed { listed } else { literal })
    }

    /// The path of a pending change that is named `given`, without `~` and aliases.
    fn pending_at(&self, given: &Path) -> PathBuf {
        let path = flat(&self.cwd().join(given));
        let inside = |path: &Path| self.roots().iter().any(|root| path.starts_with(root));
        if inside(&path) {
            return path;
        }
        let ways: Vec<&Path> = path.ancestors().collect();
        for way in ways.into_iter().rev() {
            if let (Ok(real), Ok(rest)) = (fs::canonicalize(way), path.strip_prefix(way))
                && self.roots().contains(&real)
            {
                return real.join(rest);
            }
        }
        // What file tools changed outside of the roots is named by its real directory.
        let parent = path.parent().and_then(|parent| fs::canonicalize(parent).ok());
        match (parent.filter(|parent| !inside(parent)), path.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => path,
        }
    }

    fn expand(&self, written: &str) -> Result<PathBuf, WorkspaceError> {
        for (prefix, dir) in &self.0.aliases {
            let rest = written.strip_prefix(prefix.as_str());
            let rest = rest.or_else(|| (written == prefix.trim_end_matches('/')).then_some(""));
            let Some(path) = rest.map(|rest| dir.join(rest.trim_start_matches('/'))) else { continue };
            // What is above such a directory has no name of this kind.
            let leaves = !flat(&path).starts_with(dir);
            return if leaves { Err(WorkspaceError::Missing(written.into())) } else { Ok(path) };
        }
        let Some(rest) = written.strip_prefix('~') else { return Ok(PathBuf::from(written)) };
        // A file may be called `~backup`: the person then writes `./~backup`.
        let (Some(home), true) = (&self.0.home, rest.is_empty() || rest.starts_with('/')) else {
            return Err(WorkspaceError::Tilde { path: written.into() });
        };
        Ok(home.join(rest.trim_start_matches('/')))
    }
}

/// A path that is written with the signs of lists; `None` where it has none.
fn read_back(given: &Path) -> Option<PathBuf> {
    let text = given.to_str().filter(|text| !text.is_ascii() || text.contains('<'))?;
    let bytes = visible::read_back(text);
    let is_other = bytes != text.as_bytes() && !bytes.contains(&0);
    is_other.then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
}
