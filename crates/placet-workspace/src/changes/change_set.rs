//! A change set: what is pending, path by path, with what was there before and what would be there after.

use crate::Hash;
use crate::files::metadata::attributes;
use crate::files::metadata::path_state::PathState;
use crate::files::metadata::shared_state::SharedState;
use crate::history::objects::ObjectStore;
use crate::history::origin::{ChangeOrigin, OriginStep};
use crate::repository::{ConfiguredFiles, RepositoryChange, RepositorySet};
use placet_text::text::{DetectedEncoding, LineDiff, regular_file};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest content that is read whole, in bytes.
const READ_WHOLE: u64 = 16 << 20;

/// One path's pending change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Absolute, without links.
    pub path: Arc<Path>,
    pub before: SharedState,
    pub after: SharedState,
    /// The layer that has the new file's content.
    pub content: Option<Arc<ContentLayer>>,
    /// The old path of a moved file: that path is deleted in the same set.
    pub moved_from: Option<Arc<Path>>,
    /// The path is another name of this file.
    pub twin: Option<Arc<Path>>,
    /// Somebody else changed the file while the command ran that changed it.
    pub raced: bool,
    /// A file tool made the change: all names of the file change with it.
    pub by_tool: bool,
    /// The calls that changed it, in their order, with the contents that were stored between them.
    pub steps: Arc<[OriginStep]>,
}

/// A layer of the view that has contents of changed files. One value for all of them: a change set may have hundreds of
/// thousands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentLayer {
    pub(crate) dir: PathBuf,
    /// What the layer is over: the same names are below both.
    pub(crate) root: PathBuf,
}

impl ContentLayer {
    /// The file of the layer that has the content of `path`.
    pub(crate) fn file(&self, path: &Path) -> std::io::Result<PathBuf> {
        self.at(path).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    fn at(&self, path: &Path) -> Option<PathBuf> {
        path.strip_prefix(&self.root).ok().map(|rel| self.dir.join(rel))
    }
}

/// What happened to a path, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// There was nothing, and there will be something.
    Created,
    /// The content changes, or what kind of thing it is.
    Modified,
    /// There will be nothing.
    Deleted,
    /// It was created, and the same content was deleted elsewhere.
    Renamed,
    /// Mode, owner or attributes alone.
    Mode,
    /// It becomes a pipe, a socket or a device, which is never applied.
    Special,
}

impl ChangeKind {
    /// In lower case: `created`.
    pub fn word(self) -> &'static str {
        match self {
            ChangeKind::Created => "created",
            ChangeKind::Modified => "modified",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Renamed => "renamed",
            ChangeKind::Mode => "mode",
            ChangeKind::Special => "special",
        }
    }

    /// The letter of `git status`.
    pub fn letter(self) -> char {
        match self {
            ChangeKind::Created => 'A',
            ChangeKind::Modified | ChangeKind::Mode => 'M',
            ChangeKind::Deleted => 'D',
            ChangeKind::Renamed => 'R',
            ChangeKind::Special => '!',
        }
    }
}

impl FileChange {
    /// The path of the new file's content.
    pub fn content_path(&self) -> Option<PathBuf> {
        self.content.as_ref()?.at(&self.path)
    }

    /// The calls that changed the path, in order. A call is listed twice when another call came between.
    pub fn made_by(&self) -> Vec<&ChangeOrigin> {
        self.steps.iter().filter_map(|step| step.origin.as_deref()).collect()
    }

    pub fn verb(&self) -> ChangeKind {
        match (&*self.before, &*self.after) {
            (_, PathState::Special { .. }) => ChangeKind::Special,
            (PathState::Absent, _) if self.moved_from.is_some() => ChangeKind::Renamed,
            (PathState::Absent, _) => ChangeKind::Created,
            (_, PathState::Absent) => ChangeKind::Deleted,
            (before, after) if before.same_content(after) => ChangeKind::Mode,
            _ => ChangeKind::Modified,
        }
    }

    /// A directory is made or removed: what is in it has changes of its own.
    pub fn is_directory_alone(&self) -> bool {
        match (&*self.before, &*self.after) {
            (PathState::Directory { .. }, after) => after.is_absent(),
            (before, PathState::Directory { .. }) => before.is_absent(),
            _ => false,
        }
    }

    /// Both contents as text, if both are: a file that is not there is empty.
    pub fn texts(&self, objects: &ObjectStore) -> Option<(String, String)> {
        let (before, after) = self.bytes(objects)?;
        Some((as_text(&before)?, as_text(&after)?))
    }

    /// True where [`FileChange::bytes`] reads nothing because of the size.
    pub fn is_too_large(&self) -> bool {
        self.before.size().max(self.after.size()) > READ_WHOLE
    }

    /// Both sides are files, or nothing: the change consists of content. Where a link or a directory becomes a file, the
    /// new content has no old one whose parts could be kept.
    pub fn is_between_files(&self) -> bool {
        let has_content = |node: &PathState| node.is_file() || node.is_absent();
        has_content(&self.before) && has_content(&self.after)
    }

    /// Both contents; empty for a side that is no file. `None` when one of them is too large (16 MiB), or cannot be read
    /// any more.
    pub fn bytes(&self, objects: &ObjectStore) -> Option<(Vec<u8>, Vec<u8>)> {
        if self.is_too_large() {
            return None;
        }
        let before = match &*self.before {
            PathState::File { hash, .. } => {
                objects.get(*hash).ok().or_else(|| regular_file::read(&self.path, READ_WHOLE).ok())?
            }
            _ => Vec::new(),
        };
        let after = match (&*self.after, self.content_path()) {
            (PathState::File { .. }, Some(path)) => regular_file::read(&path, READ_WHOLE).ok()?,
            // What was applied is on the disk, until something else is written there.
            (PathState::File { hash, .. }, None) => {
                objects.get(*hash).ok().or_else(|| regular_file::read(&self.path, READ_WHOLE).ok())?
            }
            _ => Vec::new(),
        };
        let named = |bytes: &Vec<u8>, node: &PathState| node.hash().is_none_or(|h| blake3::hash(bytes) == h);
        (named(&before, &self.before) && named(&after, &self.after)).then_some((before, after))
    }

    /// What it does to mode, owner, attributes and access list, a few words each; `from` is what was at the other end
    /// of a move.
    pub fn attribute_words(&self, from: Option<&PathState>) -> Vec<String> {
        attributes::words(from.unwrap_or(&self.before), &self.after)
    }

    /// Lines added and removed; `None` for a content that is not text, and where no side is a file.
    pub fn counts(&self, objects: &ObjectStore) -> Option<(usize, usize)> {
        let has_file = self.before.is_file() || self.after.is_file();
        let (before, after) = self.bytes(objects).filter(|_| has_file)?;
        line_counts(&before, &after)
    }
}

/// Lines added and removed between two contents, as a patch of them shows it; `None` for a content that is not text.
pub(super) fn line_counts(before: &[u8], after: &[u8]) -> Option<(usize, usize)> {
    // A byte order mark that comes or goes changes the first line.
    let marked = |bytes: &[u8]| {
        let has_mark = DetectedEncoding::of(bytes).is_ok_and(|detected| detected.mark > 0);
        let text = as_text(bytes)?;
        Some(if has_mark { format!("\u{feff}{text}") } else { text })
    };
    Some(LineDiff::new(&marked(before)?, &marked(after)?).counts())
}

fn as_text(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some(String::new());
    }
    let detected = DetectedEncoding::of(bytes).ok().filter(|detected| !detected.is_unreadable(bytes))?;
    Some(detected.encoding.decode(bytes.get(detected.mark..)?).into_owned())
}

/// Everything that is pending, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    pub changes: Vec<FileChange>,
    /// The repositories that the changes belong to.
    pub repositories: RepositorySet,
    /// What the set does to each of them.
    pub repository_changes: Vec<RepositoryChange>,
    /// What git's settings name outside of repositories, before the set and after it.
    pub(crate) configured: ConfiguredFiles,
}

impl ChangeSet {
    /// Finds moved files: a deleted file and a new file with the same content. The nearest name wins.
    pub fn new(mut changes: Vec<FileChange>) -> ChangeSet {
        let mut gone: HashMap<Hash, Vec<Arc<Path>>> = HashMap::new();
        for change in &changes {
            if let (PathState::File { hash, size, .. }, PathState::Absent) = (&*change.before, &*change.after)
                // Every empty file equals every other one, which says nothing about a move.
                && *size > 0
            {
                gone.entry(*hash).or_default().push(Arc::clone(&change.path));
            }
        }
        for change in &mut changes {
            let (PathState::Absent, Some(hash)) = (&*change.before, change.after.hash()) else { continue };
            let Some(from) = gone.get_mut(&hash) else { continue };
            let same_name = from.iter().position(|p| p.file_name() == change.path.file_name());
            let at = same_name.unwrap_or(0);
            if at < from.len() {
                change.moved_from = Some(from.remove(at));
            }
        }
        // A sort that keeps equal paths in order would need as much memory again, and no two paths are equal.
        changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        // By name alone: a view adds the other repositories.
        let paths = changes.iter().map(|c| &*c.path);
        let repositories = RepositorySet::recognise(paths, &[], &|_| false);
        ChangeSet {
            changes,
            repositories,
            repository_changes: Vec::new(),
            configured: ConfiguredFiles::default(),
        }
    }

    /// The repository that this path is applied with, as a whole.
    pub fn repository_of(&self, path: &Path) -> Option<PathBuf> {
        self.repositories.of(path).map(Path::to_path_buf)
    }

    /// The same set with only these changes.
    #[must_use]
    pub fn part(&self, chosen: impl Fn(&FileChange) -> bool) -> ChangeSet {
        let changes = self.changes.iter().filter(|c| chosen(c)).cloned().collect();
        // Field by field: `..self.clone()` would copy all changes once more, only to drop them.
        ChangeSet {
            changes,
            repositories: self.repositories.clone(),
            repository_changes: self.repository_changes.clone(),
            configured: self.configured.clone(),
        }
    }

    /// `paths` with all of each repository that has one of them: a ref without its objects is broken.
    pub(crate) fn with_whole_repositories(&self, mut paths: BTreeSet<Arc<Path>>) -> BTreeSet<Arc<Path>> {
        let whole: BTreeSet<&Path> = paths.iter().filter_map(|path| self.repositories.of(path)).collect();
        let whole: BTreeSet<PathBuf> = whole.into_iter().map(Path::to_path_buf).collect();
        let in_one = |c: &&FileChange| self.repositories.of(&c.path).is_some_and(|r| whole.contains(r));
        paths.extend(self.changes.iter().filter(in_one).map(|c| c.path.clone()));
        paths
    }

    /// The repositories whose work tree may contain one of `paths`. A repository that is not a `.git` directory next to
    /// its files may have its work tree anywhere.
    pub(crate) fn repositories_around(&self, paths: &BTreeSet<&Path>) -> BTreeSet<&Path> {
        let may_have = |repository: &Path| {
            let is_plain = repository.ends_with(".git");
            let work_tree = repository.parent().filter(|_| is_plain);
            paths.iter().any(|path| match work_tree {
                Some(dir) => path.starts_with(dir),
                None => true,
            })
        };
        self.repositories.outermost().filter(|r| may_have(r)).collect()
    }

    /// Every change of these repositories.
    pub(crate) fn changes_of(&self, repositories: &BTreeSet<&Path>) -> impl Iterator<Item = &Path> {
        let all = self.changes.iter().map(|c| &*c.path);
        all.filter(|path| self.repositories.of(path).is_some_and(|r| repositories.contains(r)))
    }

    /// What was where `change` comes from, if it is a move.
    pub fn moved_node(&self, change: &FileChange) -> Option<&PathState> {
        change.moved_from.as_ref().and_then(|from| self.get(from)).map(|old| &*old.before)
    }

    /// `paths` with the other end of each moved file: one end without the other loses the file, or doubles it.
    #[must_use]
    pub fn with_other_ends(&self, mut paths: BTreeSet<Arc<Path>>) -> BTreeSet<Arc<Path>> {
        for change in &self.changes {
            let Some(from) = &change.moved_from else { continue };
            if paths.contains(from) || paths.contains(&change.path) {
                paths.extend([from.clone(), change.path.clone()]);
            }
        }
        paths
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub fn len(&self) -> usize {
        self.changes.len()
    }

    pub fn get(&self, path: &Path) -> Option<&FileChange> {
        let at = self.changes.binary_search_by(|c| (*c.path).cmp(path)).ok()?;
        self.changes.get(at)
    }

    /// The paths at or below `path`.
    pub fn below(&self, path: &Path) -> BTreeSet<Arc<Path>> {
        // In their order, they follow the path.
        let from = self.changes.partition_point(|change| &*change.path < path);
        let rest = self.changes.get(from..).unwrap_or_default().iter();
        rest.map(|c| &c.path).take_while(|p| p.starts_with(path)).cloned().collect()
    }

    pub fn paths(&self) -> BTreeSet<Arc<Path>> {
        self.changes.iter().map(|c| c.path.clone()).collect()
    }

    /// `paths` with the changes that must be applied together with them: the directories that a new file needs, and
    /// everything in a directory that is removed.
    pub fn closed(&self, paths: &BTreeSet<Arc<Path>>) -> BTreeSet<Arc<Path>> {
        if paths.len() >= self.changes.len() {
            return paths.clone();
        }
        let goes = |dir: &Path| {
            let change = self.get(dir).filter(|_| paths.contains(dir));
            change.is_some_and(|c| c.before.is_directory() && !c.after.is_directory())
        };
        let mut closed = paths.clone();
        for FileChange { path, before, after, .. } in &self.changes {
            let needed = after.is_directory() && !before.is_directory() && holds_some(paths, path);
            let dragged = after.is_absent() && path.ancestors().skip(1).any(goes);
            if needed || dragged {
                closed.insert(path.clone());
            }
        }
        closed
    }

    /// `paths` with the changes that cannot stay pending when they are discarded: everything new in a directory that is
    /// removed, and the removal of a directory whose content stays.
    pub(crate) fn discarded_with(&self, paths: &BTreeSet<Arc<Path>>) -> BTreeSet<Arc<Path>> {
        let mut all = paths.clone();
        if all.len() >= self.changes.len() {
            return all;
        }
        loop {
            let before = all.len();
            for FileChange { path, before, after, .. } in &self.changes {
                let vanishes =
                    |dir: &Path| all.contains(dir) && self.get(dir).is_some_and(|c| !c.before.is_directory());
                let holds_kept = before.is_directory() && !after.is_directory() && holds_some(&all, path);
                if holds_kept || path.ancestors().skip(1).any(vanishes) {
                    all.insert(path.clone());
                }
            }
            if all.len() == before {
                return all;
            }
        }
    }
}

/// True when something strictly below `dir` is among `paths`: in their order, such a path directly follows `dir`.
fn holds_some(paths: &BTreeSet<Arc<Path>>, dir: &Path) -> bool {
    use std::ops::Bound::{Excluded, Unbounded};
    paths.range::<Path, _>((Excluded(dir), Unbounded)).next().is_some_and(|next| next.starts_with(dir))
}
