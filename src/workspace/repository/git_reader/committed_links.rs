//! Links in the tree of a commit: a program that reads `.envrc` reads what that link leads to.
//!
//! The links of a work tree are known elsewhere. A bare repository has none, and another branch may have other links. As
//! there, those count that are in the directories above a changed file, or in a directory with a protected name in one of
//! them.

use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::tree_diff::{DIRECTORY, TreeEntry, entries};
use crate::permission::Runner;
use crate::workspace::repository::flat;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Who runs or obeys the file at a path of a work tree, by its path and mode.
pub(in crate::workspace) type FileJudge<'a> = &'a dyn Fn(&Path, u32) -> Option<Runner>;

pub(super) const LINK: u32 = 0o120_000;
/// Levels of directories with a protected name.
const DEEPEST: usize = 3;
/// The longest path of a link.
const LONGEST: usize = 4_096;
/// A link may lead to a link.
const MOST_STEPS: usize = 8;
/// Links of one commit.
const MOST_LINKS: usize = 1_000;
/// Names below a link of a commit.
const MOST_BELOW: usize = 20_000;

#[derive(Clone)]
pub(super) struct TreeLink {
    path: PathBuf,
    target: PathBuf,
    /// Who runs or obeys what the link leads to.
    runner: Option<Runner>,
}

/// The directory of a tree, and the tree.
type DirectoryKey = (Vec<u8>, ObjectId);

pub(super) struct CommittedLinks<'a> {
    objects: &'a ObjectReader<'a>,
    judge: FileJudge<'a>,
    /// Directories with a protected name, each read once.
    known: RefCell<BTreeMap<DirectoryKey, Rc<Vec<TreeLink>>>>,
    leads: RefCell<BTreeMap<Vec<u8>, bool>>,
}

impl<'a> CommittedLinks<'a> {
    pub(super) fn new(objects: &'a ObjectReader<'a>, judge: FileJudge<'a>) -> CommittedLinks<'a> {
        CommittedLinks { objects, judge, known: RefCell::default(), leads: RefCell::default() }
    }

    /// The links in the directory `path`, which ends with a slash or is empty, and in those below with a protected name.
    pub(super) fn of_directory(
        &self,
        path: &[u8],
        names: &BTreeMap<Vec<u8>, TreeEntry>,
        found: &mut Vec<TreeLink>,
    ) {
        self.look_in(path, names, DEEPEST, found);
    }

    fn look_in(
        &self,
        path: &[u8],
        names: &BTreeMap<Vec<u8>, TreeEntry>,
        depth: usize,
        found: &mut Vec<TreeLink>,
    ) {
        for (name, entry) in names {
            if found.len() >= MOST_LINKS {
                return;
            }
            let at = || [path, name].concat();
            if entry.mode == LINK {
                found.extend(self.link(&at(), &entry.id));
            } else if entry.mode == DIRECTORY && depth > 0 && self.leads(at()) {
                let key = ([path, name, b"/"].concat(), entry.id);
                let known = self.known.borrow().get(&key).cloned();
                let below = known.unwrap_or_else(|| {
                    let mut below = Vec::new();
                    if let Some(names) = entries(self.objects, &entry.id) {
                        self.look_in(&key.0, &names, depth - 1, &mut below);
                    }
                    let below = Rc::new(below);
                    self.known.borrow_mut().insert(key, Rc::clone(&below));
                    below
                });
                found.extend(below.iter().cloned());
            }
        }
    }

    /// True where programs run files below a link of that name.
    fn leads(&self, path: Vec<u8>) -> bool {
        if let Some(known) = self.leads.borrow().get(&path) {
            return *known;
        }
        let leads = (self.judge)(Path::new(OsStr::from_bytes(&path)), DIRECTORY).is_some();
        self.leads.borrow_mut().insert(path, leads);
        leads
    }

    /// Who runs or obeys a file below the link at `path` of the tree `root`, which has an everyday name such as `lib`. `Err`
    /// where not all of it is read.
    pub(super) fn below_plain_link(
        &self,
        path: &[u8],
        id: &ObjectId,
        root: &ObjectId,
    ) -> Result<Option<Runner>, ()> {
        let TreeLink { path, target, .. } = self.link(path, id).ok_or(())?;
        let mut tree = *root;
        for name in &target {
            let names = entries(self.objects, &tree).ok_or(())?;
            match names.get(name.as_bytes()) {
                Some(entry) if entry.mode == DIRECTORY => tree = entry.id,
                Some(entry) if entry.mode == LINK => return Err(()),
                // What comes there later is judged by the link.
                _ => return Ok(None),
            }
        }
        let mut todo = vec![(path, target, tree, 0)];
        let mut left = MOST_BELOW;
        while let Some((name, own, tree, depth)) = todo.pop() {
            for (entry_name, entry) in entries(self.objects, &tree).ok_or(())? {
                left = left.checked_sub(1).ok_or(())?;
                let part = OsStr::from_bytes(&entry_name);
                let (name, own) = (name.join(part), own.join(part));
                if entry.mode == DIRECTORY && depth < DEEPEST {
                    todo.push((name, own, entry.id, depth + 1));
                } else if entry.mode != DIRECTORY
                    && (self.judge)(&own, entry.mode).is_none()
                    && let Some(runner) = (self.judge)(&name, entry.mode)
                {
                    return Ok(Some(runner));
                }
            }
        }
        Ok(None)
    }

    fn link(&self, path: &[u8], id: &ObjectId) -> Option<TreeLink> {
        let path = PathBuf::from(OsStr::from_bytes(path));
        let target = self.objects.get_of(id, "blob").filter(|target| target.len() <= LONGEST)?;
        let target = Path::new(OsStr::from_bytes(&target));
        if target.is_absolute() {
            return None;
        }
        let target = flat(&path.parent()?.join(target));
        let runner = (self.judge)(&path, LINK);
        Some(TreeLink { path, target, runner })
    }
}

/// Who runs or obeys what is at `path` by one of the links.
pub(super) fn runner_by_link(
    links: &[TreeLink],
    path: &Path,
    mode: u32,
    judge: FileJudge<'_>,
) -> Option<Runner> {
    // `.envrc -> scripts/env` leads to another file when `scripts` becomes a link.
    let mut through = links.iter().filter(|link| link.target != path && link.target.starts_with(path));
    if mode == LINK
        && let Some(runner) = through.find_map(|link| link.runner.clone())
    {
        return Some(runner);
    }
    let mut names = vec![path.to_path_buf()];
    for _ in 0..MOST_STEPS {
        let mut more = Vec::new();
        for name in &names {
            for link in links {
                let Ok(rest) = name.strip_prefix(&link.target) else { continue };
                let by_name = || judge(&link.path.join(rest), mode);
                if let Some(runner) = link.runner.clone().or_else(by_name) {
                    return Some(runner);
                }
                // A link to a directory that contains it gives every path infinitely many names.
                if !link.path.starts_with(&link.target) && more.len() < MOST_LINKS {
                    more.push(link.path.join(rest));
                }
            }
        }
        if more.is_empty() {
            break;
        }
        names = more;
    }
    None
}
