//! What a running command has changed so far, for a person who looks: read from its layer, and nothing is folded.
//!
//! The list is as good as one look at a tree that changes: a file may be half written. A file that the overlay copied up
//! and that nobody changed is recognised by its size and time.

use crate::changes::change_set::ChangeKind;
use crate::view::command::command_view::{CommandView, OverlayMount};
use crate::view::layers::layer::{entry, is_dir, is_whiteout, list};
use placet_permission::is_git_name;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, openat, statat};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The changes of a running command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningChanges {
    /// In the order of their paths.
    pub changes: Vec<(PathBuf, ChangeKind)>,
    /// There are more than were asked for.
    pub is_cut: bool,
}

/// Where the changes of a running command to one root are. Another process of placet can read them there, too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningLayer {
    pub target: PathBuf,
    /// The topmost first.
    pub lowers: Vec<PathBuf>,
    pub upper: PathBuf,
}

impl CommandView {
    /// The layers of the roots, without the home directory's.
    pub fn running_layers(&self) -> Vec<RunningLayer> {
        let layer = |mount: &OverlayMount| RunningLayer {
            target: mount.target.clone(),
            lowers: mount.lowers.clone(),
            upper: mount.upper.clone(),
        };
        self.own_mounts().iter().map(layer).collect()
    }

    /// At most `most` of the changes so far, without those that `hidden` names.
    pub fn changes_so_far(&self, most: usize, hidden: &dyn Fn(&Path) -> bool) -> io::Result<RunningChanges> {
        RunningChanges::read(&self.running_layers(), most, hidden)
    }
}

impl RunningChanges {
    /// At most `most` of the changes so far, without those that `hidden` names.
    pub fn read(
        layers: &[RunningLayer],
        most: usize,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<RunningChanges> {
        let mut found = RunningChanges::default();
        for layer in layers {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let upper = openat(CWD, &layer.upper, flags, Mode::empty())?;
            let look = Look { target: &layer.target, lowers: &layer.lowers, hidden, most };
            look.below(Path::new(""), &upper, &mut found);
        }
        found.changes.sort();
        Ok(found)
    }
}

struct Look<'a> {
    target: &'a Path,
    lowers: &'a [PathBuf],
    hidden: &'a dyn Fn(&Path) -> bool,
    most: usize,
}

impl Look<'_> {
    /// What disappears while it is read is not listed.
    fn below(&self, rel: &Path, dir: &OwnedFd, found: &mut RunningChanges) {
        for name in list(dir).unwrap_or_default() {
            let rel = rel.join(&name);
            let path = self.target.join(&rel);
            if (self.hidden)(&path) {
                continue;
            }
            if found.changes.len() >= self.most {
                found.is_cut = true;
                return;
            }
            let Ok(Some(stat)) = entry(dir, &name) else { continue };
            let before = self.before(&rel);
            if is_whiteout(&stat) {
                found.changes.extend(before.map(|_| (path, ChangeKind::Deleted)));
            } else if is_dir(&stat) && is_objects_of_git(&rel) {
                // A commit may write thousands of them: no look has to find more than that there are some.
                let mut inside = RunningChanges::default();
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                if let Ok(below) = openat(dir, &name, flags, Mode::empty()) {
                    Look { most: 1, ..*self }.below(&rel, &below, &mut inside);
                }
                if before.is_none() {
                    found.changes.push((path, ChangeKind::Created));
                } else if !inside.changes.is_empty() {
                    found.changes.push((path, ChangeKind::Modified));
                }
            } else if is_dir(&stat) {
                if before.is_none() {
                    found.changes.push((path, ChangeKind::Created));
                }
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                if let Ok(below) = openat(dir, &name, flags, Mode::empty()) {
                    self.below(&rel, &below, found);
                }
            } else if let Some(kind) = changed(before.as_ref(), &stat) {
                found.changes.push((path, kind));
            }
        }
    }

    /// The topmost entry below the command's layer.
    fn before(&self, rel: &Path) -> Option<Stat> {
        let stat =
            self.lowers.iter().find_map(|lower| statat(CWD, lower.join(rel), AtFlags::SYMLINK_NOFOLLOW).ok());
        stat.filter(|stat| !is_whiteout(stat))
    }
}

/// The directory of the objects of a repository in its usual place.
fn is_objects_of_git(rel: &Path) -> bool {
    rel.ends_with("objects") && rel.parent().is_some_and(is_git_name)
}

fn changed(before: Option<&Stat>, now: &Stat) -> Option<ChangeKind> {
    let Some(before) = before else { return Some(ChangeKind::Created) };
    let is_same = (before.st_size, before.st_mtime, before.st_mtime_nsec, before.st_mode)
        == (now.st_size, now.st_mtime, now.st_mtime_nsec, now.st_mode);
    (!is_same).then_some(ChangeKind::Modified)
}
