//! Which new commits, and which entries of a new index, change a file that a program runs or obeys later.
//!
//! With the repository a person applies that change, too, whatever becomes of the same file in the work tree: the next push
//! takes the commit along. So everything that cannot be read counts as such a change.

mod patches;
mod protected_content;
mod rebase_refs;
mod reflog;
mod state_files;
mod unfinished;

use super::ancestry::{OnlyCommits, commits_only_in};
use super::budget::{ReadBudget, ReadLimit};
use super::changed_stores;
use super::commit::Commit;
use super::commit_tree::CommitTree;
use super::committed_links::{CommittedLinks, FileJudge, LINK, TreeLink, runner_by_link};
use super::event::{HeadPosition, IndexNotRead, RefKind};
use super::git_index::{GitIndex, IndexEntry, read_index};
use super::git_sides::{GitSides, RepositorySide, common_dir, width};
use super::looks;
use super::loose_objects;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::ref_changes::{ChangedRefs, changed_refs};
use super::refs::RefReader;
use super::repository_files::{RepositoryFiles, exists, read};
use super::sparse_directories;
use super::tree_diff::{DIRECTORY, TreeEntry, entries};
use crate::permission::Runner;
use crate::workspace::repository::StateFileReader;
pub(in crate::workspace) use protected_content::ProtectedContent;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Refs that may differ. Each costs a walk of its own.
const MOST_REFS: usize = 5_000;
/// Refs before the change that a new ref is compared with. Without them more commits count as new.
const MOST_OTHERS: usize = 2_000;
/// Findings that are collected; the first is shown, and the rest is counted.
const MOST_FOUND: usize = 100;
const DEEPEST_TREE: usize = 256;
/// A tag may name a tag.
const DEEPEST_TAG: usize = 8;
/// Names of commits in `shallow` and `MERGE_HEAD`.
const LARGEST_LIST: u64 = 4 << 20;

/// An object is missing, damaged, or over a bound.
struct UnreadObject;

const UNREAD: &str = "an object is missing, damaged or too large";

/// What the repository has of such changes, in the order of the refs.
pub(in crate::workspace) fn protected_contents(
    sides: &GitSides<'_>,
    judge: FileJudge<'_>,
    has_known_place: bool,
) -> Vec<ProtectedContent> {
    let touches = |name: &str| {
        let at = sides.dir.join(name);
        sides.changed.iter().any(|(path, _)| path.starts_with(&at))
    };
    if touches_shared_index(sides) {
        return vec![ProtectedContent::IndexNotRead(IndexNotRead::Split)];
    }
    if sides.changed.is_empty() && sides.loose_objects.is_empty() {
        return Vec::new();
    }
    if !has_known_place && names_commits(sides) {
        return vec![ProtectedContent::NotRead("it is not known where its files are checked out")];
    }
    let budget = ReadBudget::new(sides.deadline);
    let common = common_dir(sides.after, sides.dir);
    // A worktree that is new has the objects and refs of the repository that was there.
    let is_new = !exists(sides.before, sides.dir);
    let old_common = if is_new { common.clone() } else { common_dir(sides.before, sides.dir) };
    let (Some(common), Some(old_common)) = (common, old_common) else {
        return vec![ProtectedContent::NotRead("its objects are in another repository")];
    };
    if touches("reftable") {
        return vec![ProtectedContent::NotRead("its refs are in the reftable format")];
    }
    // What was there counts as known only in a repository: before it was one, nothing in it was looked at.
    let had = |dir: &Path, name: &str| exists(sides.before, &dir.join(name));
    let was_complete = had(sides.dir, "HEAD") && had(&old_common, "objects");
    let had_part = !was_complete && looks::has_part(sides.before, sides.dir);
    let has = |dir: &Path, name: &str| exists(sides.after, &dir.join(name));
    let is_complete = has(sides.dir, "HEAD") && has(&common, "objects");
    if had_part && is_complete {
        return vec![ProtectedContent::NotRead("it was no whole repository before")];
    }
    if touches("shallow") && was_complete {
        return vec![ProtectedContent::NotRead("`shallow`, which names commits without parents, changed")];
    }
    // Only those of its own differ, and the reader looks at the common ones. git makes an empty directory for them.
    let refs = sides.dir.join("refs");
    let is_file = |path: &Path| {
        let found = sides.after.real(path).and_then(|path| path.symlink_metadata().ok());
        found.is_some_and(|found| !found.is_dir())
    };
    let has_refs = || sides.changed.iter().any(|(path, _)| path.starts_with(&refs) && is_file(path));
    if common != sides.dir && has_refs() {
        return vec![ProtectedContent::NotRead("a linked worktree has refs of its own")];
    }
    let old_refs = RefReader::new(sides.before, sides.dir, &old_common);
    let new_refs = RefReader::new(sides.after, sides.dir, &common);
    let width = width(&[&new_refs, &old_refs]);
    let old_objects = ObjectReader::new(sides.before, &old_common, width, &budget);
    let new_objects = ObjectReader::new(sides.after, &common, width, &budget);
    // Of a repository that was there the old list counts: one that cannot be read names no commit.
    let listed = if had(&common, "HEAD") { sides.before } else { sides.after };
    let shallow = read(listed, &common.join("shallow"), LARGEST_LIST).unwrap_or_default();
    let before = RepositorySide { objects: old_objects, refs: old_refs };
    let after = RepositorySide { objects: new_objects, refs: new_refs };
    let mut search = ContentSearch {
        before: &before,
        after: &after,
        judge,
        links: CommittedLinks::new(&after.objects, judge),
        budget: &budget,
        shallow: ids_of_lines(&shallow, 0).collect(),
        others: None,
        commits: BTreeMap::new(),
        found: Vec::new(),
    };
    let loose = sides.changed.iter().filter_map(|(path, _)| path.strip_prefix(sides.dir).ok());
    // git takes no name that ends with `.lock` for a ref.
    let is_ref = |path: &&Path| path.starts_with("refs") && path.extension().is_none_or(|end| end != "lock");
    search.refs(loose.filter(is_ref).collect());
    if touches("HEAD") {
        search.head();
    }
    if touches("logs/refs/stash") {
        search.stash(sides);
    }
    if touches("MERGE_HEAD") {
        search.merge(sides);
    }
    search.autostashes(sides, &touches);
    if touches("rebase-merge") || touches("rebase-apply") {
        search.rebase_refs(sides);
    }
    search.state_files(sides, width);
    if (touches("index") || touches("HEAD")) && !search.is_decided() {
        search.index(sides, width, touches("index"));
    }
    // Last, because it takes longest: where the rest has a reason, that one is named.
    if !search.is_decided() {
        let (readers, objects) = ((&before.objects, &after.objects), common.join("objects"));
        let files = (sides.after, width);
        let why = changed_stores::not_checked(sides.changed.iter(), &objects, readers, files, &budget);
        let loose = if looks::is_of_git(sides.after, sides.dir, Path::new("objects")) {
            sides.loose_objects
        } else {
            &[]
        };
        let why = why.or_else(|| loose_objects::not_checked(sides.after, sides.dir, loose));
        why.into_iter().for_each(|why| search.unread_but_for_limits(why));
    }
    let mut found = search.found;
    found.extend(budget.reached().into_iter().map(ReadLimit::words).map(ProtectedContent::NotRead));
    found
}

/// True where a changed file may name commits, so that it has to be known where their files are.
fn names_commits(sides: &GitSides<'_>) -> bool {
    use StateFileReader::{Facts, Leftover, LfsObject, Text};
    sides.changed.iter().any(|(path, _)| {
        let reader = path.strip_prefix(sides.dir).ok().and_then(StateFileReader::of);
        reader.is_some_and(|reader| !matches!(reader, Facts | Leftover | LfsObject | Text))
    })
}

/// A split index has entries in another file (gitformat-index(5)).
fn touches_shared_index(sides: &GitSides<'_>) -> bool {
    let is_shared = |path: &Path| {
        let name = path.strip_prefix(sides.dir).ok().and_then(Path::to_str);
        name.is_some_and(|name| name.starts_with("sharedindex."))
    };
    sides.changed.iter().any(|(path, is_gone)| !is_gone && is_shared(path))
}

/// The name of a commit that is the word with this number in each line.
fn ids_of_lines(text: &[u8], word: usize) -> impl Iterator<Item = ObjectId> {
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter_map(move |line| ObjectId::from_hex(line.split(u8::is_ascii_whitespace).nth(word)?))
}

/// A file that runs later: its path, its new state, and the program.
type FileFinding = (Vec<u8>, Option<TreeEntry>, Runner);
/// What one commit changes of such files.
type CommitFindings = Rc<Vec<FileFinding>>;

/// What differs between two trees.
#[derive(Default)]
struct TreeFindings {
    found: Vec<FileFinding>,
    /// Files with plain names.
    plain: Vec<(Vec<u8>, Option<TreeEntry>)>,
    /// The links of the new tree in directories that differ.
    links: Vec<TreeLink>,
    /// Links with everyday names that may be the beginning of protected paths.
    leading: Vec<(Vec<u8>, TreeEntry)>,
}

/// A list of lines; empty where there is none. `None` where there is something else, or a larger one.
fn list(files: &dyn RepositoryFiles, path: &Path, most: u64) -> Option<Vec<u8>> {
    if exists(files, path) { read(files, path, most) } else { Some(Vec::new()) }
}

struct ContentSearch<'a> {
    before: &'a RepositorySide<'a>,
    after: &'a RepositorySide<'a>,
    judge: FileJudge<'a>,
    links: CommittedLinks<'a>,
    budget: &'a ReadBudget,
    /// Commits whose parents this repository does not have.
    shallow: BTreeSet<ObjectId>,
    /// The refs before the change.
    others: Option<Vec<ObjectId>>,
    commits: BTreeMap<ObjectId, CommitFindings>,
    found: Vec<ProtectedContent>,
}

impl ContentSearch<'_> {
    fn not_read(&mut self, why: &'static str) {
        let why = ProtectedContent::NotRead(why);
        if !self.found.contains(&why) {
            self.found.push(why);
        }
    }

    /// Where a limit was reached, it is the reason.
    fn unread(&mut self) {
        self.unread_but_for_limits(UNREAD);
    }

    fn unread_but_for_limits(&mut self, why: &'static str) {
        if self.budget.reached().is_empty() {
            self.not_read(why);
        }
    }

    /// What else there is changes nothing: the repository waits, and there are reasons enough.
    fn is_decided(&self) -> bool {
        let is_unread = |found: &ProtectedContent| found.runner().is_none();
        self.found.len() >= MOST_FOUND
            || self.found.iter().any(is_unread)
            || !self.budget.reached().is_empty()
    }

    fn refs(&mut self, loose: BTreeSet<&Path>) {
        let Some(ChangedRefs { changes, broken, left_out, other_names: _ }) =
            changed_refs(self.before, self.after, loose, MOST_REFS, self.budget)
        else {
            return self.not_read("packed-refs is no regular file, is damaged, is large and not sorted, or says that it is sorted and is not");
        };
        if !broken.is_empty() {
            self.not_read("a file among the refs is not a ref");
        }
        if left_out > 0 {
            self.unread_but_for_limits("more than 5,000 refs changed");
        }
        for change in &changes {
            if let Some(new) = change.new {
                if RefKind::of(&change.name) == RefKind::Replacement {
                    return self.not_read("a ref below refs/replace gives an object another content");
                }
                self.tip(&change.name, new, change.old);
            }
        }
    }

    fn head(&mut self) {
        match self.after.refs.head() {
            None => self.not_read("HEAD is no regular file, or names no ref"),
            Some(HeadPosition::Branch(_)) => {}
            Some(HeadPosition::Detached(_)) => {
                if let Some(id) = self.after.refs.head_commit() {
                    self.tip(Path::new("HEAD"), id, self.before.refs.head_commit());
                }
            }
        }
    }

    /// The refs before the change, and the commit of `HEAD`.
    fn others(&mut self) -> Vec<ObjectId> {
        if let Some(others) = &self.others {
            return others.clone();
        }
        let refs = self.before.refs.all(self.budget).filter(|refs| refs.len() <= MOST_OTHERS);
        let all: BTreeSet<ObjectId> =
            refs.into_iter().flat_map(BTreeMap::into_values).chain(self.before.refs.head_commit()).collect();
        let readers = [&self.before.objects];
        let others: Vec<ObjectId> = all.into_iter().map(|id| peeled(&readers, id).unwrap_or(id)).collect();
        self.others.insert(others).clone()
    }

    /// The commits that are new where the ref `name` was at `old` and is at `id`.
    ///
    /// A branch that moves gets what it did not have, also where another ref had it before: the next push of the branch
    /// takes it along. Every other ref gets only what no ref had.
    fn tip(&mut self, name: &Path, id: ObjectId, old: Option<ObjectId>) {
        if self.is_decided() {
            return;
        }
        let old = old.map(|old| peeled(&[&self.before.objects], old).unwrap_or(old));
        let mut others: Vec<ObjectId> = old.into_iter().collect();
        if old.is_none() || RefKind::of(name) != RefKind::Branch {
            others.extend(self.others());
        }
        let objects = &self.after.objects;
        let Some(id) = peeled(&[objects], id) else { return self.unread() };
        if others.contains(&id) {
            return;
        }
        if objects.get_of(&id, "commit").is_none() {
            return self.other_object(name, &id);
        }
        let readers = [objects, &self.before.objects];
        let OnlyCommits { commits, at_least, .. } =
            commits_only_in(&readers, id, &others, &self.shallow, self.budget);
        if at_least {
            self.unread_but_for_limits("it has more than 5,000 new commits, or some cannot be read");
        }
        // What the person has is not new, although an amended or rebased commit has it.
        let had = old.or_else(|| self.before.refs.head_commit());
        let mut had = CommitTree::new(&self.before.objects, had);
        for (id, commit) in &commits {
            let findings = match self.commit(id, commit) {
                Ok(findings) => findings,
                Err(UnreadObject) => return self.unread(),
            };
            for (path, now, runner) in findings.iter() {
                let is_known = had.has_commit() && had.get(path).is_ok_and(|had| had == *now);
                if !is_known && self.found.len() < MOST_FOUND {
                    let (on, file) = (name.to_path_buf(), PathBuf::from(OsStr::from_bytes(path)));
                    let (commit, runner) = (id.short(), runner.clone());
                    self.found.push(ProtectedContent::Committed { commit, on, file, runner });
                }
            }
        }
        if let Some(old) = old.filter(|_| RefKind::of(name) == RefKind::Branch) {
            self.moved(name, &old, &id);
        }
    }

    /// Where a branch goes back, or a merge takes what an old commit had, no commit has a new change.
    fn moved(&mut self, name: &Path, old: &ObjectId, new: &ObjectId) {
        let (Some(old), Some(tree)) = (self.tree_of(old), self.tree_of(new)) else { return self.unread() };
        let Ok(found) = self.differing(Some(old), tree) else { return self.unread() };
        for (path, _, runner) in found {
            let file = PathBuf::from(OsStr::from_bytes(&path));
            let is_it = |known: &ProtectedContent| matches!(known, ProtectedContent::Committed { on, file: known, .. } if on == name && *known == file);
            if !self.found.iter().any(is_it) && self.found.len() < MOST_FOUND {
                let (commit, on) = (new.short(), name.to_path_buf());
                self.found.push(ProtectedContent::Committed { commit, on, file, runner });
            }
        }
    }

    /// The tree of a commit, which either state may have.
    fn tree_of(&self, commit: &ObjectId) -> Option<ObjectId> {
        let read = |objects| Commit::read(objects, commit).map(|commit| commit.tree);
        read(&self.after.objects).or_else(|| read(&self.before.objects))
    }

    /// A ref may name a tree or a file.
    fn other_object(&mut self, name: &Path, id: &ObjectId) {
        match self.after.objects.get(id).map(|object| object.kind) {
            Some("blob") => {}
            Some("tree") => {
                let Ok(found) = self.differing(None, *id) else { return self.unread() };
                for (path, _, runner) in found.into_iter().take(MOST_FOUND) {
                    let (on, file) = (name.to_path_buf(), PathBuf::from(OsStr::from_bytes(&path)));
                    self.found.push(ProtectedContent::Committed { commit: id.short(), on, file, runner });
                }
            }
            _ => self.unread(),
        }
    }

    /// What the commit has in another state than each of its parents.
    fn commit(&mut self, id: &ObjectId, commit: &Commit) -> Result<CommitFindings, UnreadObject> {
        if let Some(known) = self.commits.get(id) {
            return Ok(Rc::clone(known));
        }
        let objects = &self.after.objects;
        let parents = if self.shallow.contains(id) { &[][..] } else { commit.parents.as_slice() };
        let first = parents.first().map(|id| self.tree_of(id).ok_or(UnreadObject)).transpose()?;
        let mut found = self.differing(first, commit.tree)?;
        for parent in parents.iter().skip(1) {
            let mut tree = CommitTree::new(objects, Some(*parent));
            let mut differing = Vec::new();
            for one in found {
                if tree.get(&one.0).map_err(|_| UnreadObject)? != one.1 {
                    differing.push(one);
                }
            }
            found = differing;
        }
        let found = Rc::new(found);
        self.commits.insert(*id, Rc::clone(&found));
        Ok(found)
    }

    /// The files that run later and differ between two trees, by their names or by links of the new one.
    fn differing(&self, before: Option<ObjectId>, after: ObjectId) -> Result<Vec<FileFinding>, UnreadObject> {
        let mut findings = TreeFindings::default();
        self.changed((before, Some(after)), &mut Vec::new(), 0, &mut findings)?;
        let TreeFindings { mut found, plain, links, leading } = findings;
        if !links.is_empty() {
            found.extend(plain.into_iter().filter_map(|(path, is)| {
                let mode = is.map_or(0, |is| is.mode);
                let runner = runner_by_link(&links, Path::new(OsStr::from_bytes(&path)), mode, self.judge)?;
                Some((path, is, runner))
            }));
        }
        for (path, is) in leading {
            let by_name = || (self.judge)(Path::new(OsStr::from_bytes(&path)), DIRECTORY);
            let below = self.links.below_plain_link(&path, &is.id, &after);
            let runner = below.unwrap_or_else(|()| by_name());
            found.extend(runner.map(|runner| (path.clone(), Some(is), runner)));
        }
        Ok(found)
    }

    fn changed(
        &self,
        (before, after): (Option<ObjectId>, Option<ObjectId>),
        path: &mut Vec<u8>,
        depth: usize,
        found: &mut TreeFindings,
    ) -> Result<(), UnreadObject> {
        if before == after {
            return Ok(());
        }
        if depth > DEEPEST_TREE || !self.budget.has_time() {
            return Err(UnreadObject);
        }
        let read = |tree: Option<ObjectId>| match tree {
            Some(tree) => entries(&self.after.objects, &tree)
                .or_else(|| entries(&self.before.objects, &tree))
                .ok_or(UnreadObject),
            None => Ok(BTreeMap::new()),
        };
        let (old, new) = (read(before)?, read(after)?);
        self.links.of_directory(path, &new, &mut found.links);
        let removed = old.keys().filter(|name| !new.contains_key(*name));
        for name in new.keys().chain(removed) {
            let (was, is) = (old.get(name), new.get(name));
            if was == is {
                continue;
            }
            let above = path.len();
            path.extend_from_slice(name);
            let directory =
                |entry: Option<&TreeEntry>| entry.filter(|entry| entry.mode == DIRECTORY).map(|e| e.id);
            let dirs = (directory(was), directory(is));
            if dirs != (None, None) {
                path.push(b'/');
                self.changed(dirs, path, depth + 1, found)?;
                path.pop();
            }
            let file = |entry: Option<&TreeEntry>| entry.filter(|entry| entry.mode != DIRECTORY).copied();
            let (was, is) = (file(was), file(is));
            if let Some(mode) = is.or(was).map(|entry| entry.mode)
                && was != is
            {
                match (self.judge)(Path::new(OsStr::from_bytes(path)), mode) {
                    Some(runner) => found.found.push((path.clone(), is, runner)),
                    None => {
                        let leads = |is: &TreeEntry| {
                            let path = Path::new(OsStr::from_bytes(path));
                            is.mode == LINK && (self.judge)(path, DIRECTORY).is_some()
                        };
                        found.leading.extend(is.filter(leads).map(|is| (path.clone(), is)));
                        found.plain.push((path.clone(), is));
                    }
                }
            }
            path.truncate(above);
        }
        Ok(())
    }

    /// The files that run later and differ between the commits at `HEAD`. On a branch without a commit there is none that
    /// the next commit could change.
    fn of_heads(&self) -> Result<Vec<FileFinding>, UnreadObject> {
        let (old, new) = (self.before.refs.head_commit(), self.after.refs.head_commit());
        let Some(new) = new.filter(|new| old != Some(*new)) else { return Ok(Vec::new()) };
        let old = old.and_then(|old| self.tree_of(&old));
        self.differing(old, self.tree_of(&new).ok_or(UnreadObject)?)
    }

    /// What is staged in it for the next commit, and was not before. What was staged for a commit on one branch is new to
    /// another.
    fn index(&mut self, sides: &GitSides<'_>, width: usize, has_changed: bool) {
        let Ok(differing) = self.of_heads() else { return self.unread() };
        if !has_changed && (differing.is_empty() || !exists(sides.after, &sides.dir.join("index"))) {
            return;
        }
        let is_known = !self.after.refs.is_reftable();
        let read = read_index(sides.after, sides.dir, width);
        let mut new = match read.and_then(|new| is_known.then_some(new).ok_or(IndexNotRead::Reftable)) {
            Ok(new) => new,
            Err(why) => return self.found.push(ProtectedContent::IndexNotRead(why)),
        };
        let mut entries = sparse_directories::SparseEntries::new(&new, &self.after.objects);
        for (path, committed, runner) in differing {
            let entry = match entries.get(&path) {
                Ok(entry) => entry,
                Err(why) => return self.found.push(ProtectedContent::IndexNotRead(why)),
            };
            let is_in_conflict = entry.is_some_and(|entry| entry.staged.is_none());
            let staged = entry.filter(|entry| !entry.is_intent).and_then(|entry| entry.staged);
            if staged != committed && !is_in_conflict && self.found.len() < MOST_FOUND {
                let file = PathBuf::from(OsStr::from_bytes(&path));
                self.found.push(ProtectedContent::Staged { file, runner });
            }
        }
        if has_changed {
            self.entries(sides, width, &mut new);
        }
    }

    /// What differs in the index itself.
    fn entries(&mut self, sides: &GitSides<'_>, width: usize, new: &mut GitIndex) {
        // An index that could not be read before has nothing that is known.
        let mut old = read_index(sides.before, sides.dir, width).unwrap_or_default();
        let objects = (&self.before.objects, &self.after.objects);
        if let Err(why) = sparse_directories::expand_differing((&mut old, new), objects, self.budget) {
            return self.found.push(ProtectedContent::IndexNotRead(why));
        }
        let mut head = CommitTree::new(&self.after.objects, self.after.refs.head_commit());
        for conflict in new.resolved.iter().filter(|conflict| !old.resolved.contains(conflict)) {
            if !self.resolved_is_known(conflict, &mut head) {
                return self.unread();
            }
        }
        let (old, new) = (&old.entries, &new.entries);
        let removed = old.keys().filter(|path| !new.contains_key(*path));
        for path in new.keys().chain(removed).take_while(|_| self.budget.has_time()) {
            let (was, is) = (old.get(path), new.get(path));
            // A refresh of the index writes the times of files again.
            if was.map(|was| was.without_stat()) == is.map(|is| is.without_stat()) {
                continue;
            }
            // What is in conflict is no part of a commit, but `git checkout --ours` writes it.
            if let Some(is) = is.filter(|is| is.staged.is_none()) {
                if !self.sides_are_known(path, is, &mut head) {
                    return self.unread();
                }
                continue;
            }
            let file = Path::new(OsStr::from_bytes(path));
            let is_shown = was.zip(is).is_some_and(|(was, is)| was.is_hidden && !is.is_hidden);
            if let Some(is) = is.filter(|_| is_shown && self.found.len() < MOST_FOUND) {
                let runner = is.staged.and_then(|staged| (self.judge)(file, staged.mode));
                let looked_at = |runner| ProtectedContent::LookedAt { file: file.to_path_buf(), runner };
                self.found.extend(runner.map(looked_at));
            }
            // Of an announced file only the name is there, and the next commit does not have it.
            let staged =
                |entry: Option<&IndexEntry>| entry.filter(|is| !is.is_intent).and_then(|is| is.staged);
            let (was, is) = (staged(was), staged(is));
            let Some(mode) = is.or(was).map(|entry| entry.mode) else { continue };
            let by_name = || (self.judge)(file, DIRECTORY).filter(|_| mode == LINK);
            let Some(runner) = (self.judge)(file, mode).or_else(by_name) else { continue };
            match head.get(path) {
                Ok(committed) if committed == is => {}
                Ok(_) => {
                    let staged = ProtectedContent::Staged { file: file.to_path_buf(), runner };
                    if self.found.len() < MOST_FOUND && !self.found.contains(&staged) {
                        self.found.push(staged);
                    }
                }
                Err(_) => return self.unread(),
            }
        }
    }
}

/// What a tag leads to; every other object is what it is. `None` where a tag cannot be read.
fn peeled(objects: &[&ObjectReader<'_>], mut id: ObjectId) -> Option<ObjectId> {
    for _ in 0..DEEPEST_TAG {
        let object = objects.iter().find_map(|objects| objects.get(&id))?;
        if object.kind != "tag" {
            return Some(id);
        }
        let line = object.content.split(|byte| *byte == b'\n').next()?;
        id = ObjectId::from_hex(line.strip_prefix(b"object ")?)?;
    }
    None
}
