//! Passing on what changes in the view to the background commands that run, path by path: see [`super::updates`].
//!
//! A path that the command has changed itself is left to the merge at its end, and so is whatever fails here. Of a repository
//! nothing is passed on: a part of it is worse than all of it as it was.

use super::passed::PassedPath;
use super::running_name::{LARGEST, NameOutcome, RunningName, open_inside, read_small};
use super::updates::{JobUpdates, UpdateProgress, UpdatedRoot};
use crate::files::metadata::path_state::PathState;
use crate::view::View;
use crate::view::layers::layer::{LayerLookup, is_dir};
use crate::view::layers::stack::{ContentLocation, LayerStack, join};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

/// The most paths of one change that are passed on, and the most bytes that are read for that: for more, the command is
/// started again.
const MOST_PATHS: usize = 1000;
const MOST_BYTES: u64 = 256 << 20;

impl View {
    /// From now on this command gets what changes.
    pub(in crate::view) fn add_updates(&self, updates: &Arc<JobUpdates>) {
        self.updates().push(Arc::downgrade(updates));
    }

    fn updates(&self) -> MutexGuard<'_, Vec<Weak<JobUpdates>>> {
        self.0.commands.updates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any background command gets what changes.
    pub(in crate::view) fn updates_jobs(&self) -> bool {
        self.updates().iter().any(|one| one.strong_count() > 0)
    }

    /// Passes the present state of these paths on to the background commands that run. A failure is logged: the command sees
    /// the path as before, and the merge at its end decides.
    pub(in crate::view) fn update_jobs<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) {
        let running: Vec<Arc<JobUpdates>> = {
            let mut updates = self.updates();
            updates.retain(|one| one.strong_count() > 0);
            updates.iter().filter_map(Weak::upgrade).collect()
        };
        if running.is_empty() {
            return;
        }
        let paths: Vec<&Path> = paths.into_iter().take(MOST_PATHS + 1).collect();
        if paths.len() > MOST_PATHS {
            tracing::warn!("a change of more than {MOST_PATHS} paths does not reach the background commands");
            return;
        }
        let located = paths.into_iter().filter_map(|path| self.locate(path));
        let is_gone = |(index, rel): &(usize, PathBuf)| {
            self.stack(*index, 1).stat(rel).is_ok_and(|stat| stat.is_none())
        };
        let (mut gone, mut present): (Vec<_>, Vec<_>) = located.partition(is_gone);
        // What takes the place of a directory is not passed on. Without it, the command would find an empty directory.
        let is_replaced = |(index, rel): &PassedPath| {
            let is_other = |above: &Path| {
                self.stack(*index, 1).stat(above).is_ok_and(|stat| stat.is_some_and(|stat| !is_dir(&stat)))
            };
            rel.ancestors().skip(1).any(is_other)
        };
        gone.retain(|path| !is_replaced(path));
        // A directory is removed after what is in it.
        gone.sort_by(|a, b| b.cmp(a));
        present.sort();
        gone.extend(present);
        running.iter().for_each(|one| one.pass_on(self, &gone));
    }
}

impl JobUpdates {
    fn pass_on(&self, view: &View, paths: &[PassedPath]) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(progress) = progress.as_mut() else { return };
        let (mut wanted, mut read) = (Vec::new(), 0);
        for (index, rel) in paths {
            match self.state_to_pass(progress, view, (*index, rel)) {
                Ok(None) => {}
                Ok(Some(now)) => {
                    read += now.size();
                    wanted.push(((*index, rel.clone()), now));
                }
                Err(e) => warn(rel, &e),
            }
            if read > MOST_BYTES {
                tracing::warn!(
                    "a change of more than {MOST_BYTES} bytes reaches a background command in part"
                );
                break;
            }
        }
        // What is passed on without a record would count as the command's doing after a kill.
        if let Err(e) = progress.passed.announce(&wanted) {
            tracing::warn!("a change does not reach a background command, as it cannot be recorded: {e}");
            return;
        }
        let mut passed = Vec::new();
        for (key, now) in wanted {
            if let Err(e) = self.pass(progress, view, (&key, now), &mut passed) {
                warn(&key.1, &e);
            }
        }
        if let Err(e) = progress.passed.confirm(&passed) {
            tracing::warn!("that a change reached a background command is not recorded: {e}");
        }
    }

    /// The present state of a path, if the command is to get it and does not have it already.
    fn state_to_pass(
        &self,
        progress: &mut UpdateProgress,
        view: &View,
        (index, rel): (usize, &Path),
    ) -> io::Result<Option<PathState>> {
        let is_in_repository = rel.iter().any(|name| name == ".git");
        if is_in_repository || rel.as_os_str().is_empty() || (self.is_hidden)(&join(view.root(index), rel)) {
            return Ok(None);
        }
        let Some(root) = self.roots.get(index) else { return Ok(None) };
        let now = small_state(&view.stack(index, 1), rel)?.filter(|now| !now.is_directory());
        let at_start = root.at_start(view.root(index));
        let known = match progress.passed.get(index, rel) {
            Some(passed) => Some(passed.clone()),
            // What was applied is in the workspace, too.
            None if at_start.backing(rel)? == ContentLocation::Plain => None,
            None => small_state(&at_start, rel)?,
        };
        let is_new = now.is_some() && known != now;
        if !is_new || self.open(progress, index)?.is_none() {
            return Ok(None);
        }
        Ok(now)
    }

    /// Passes one path on. `passed` gets what the command has then.
    fn pass(
        &self,
        progress: &mut UpdateProgress,
        view: &View,
        (key, now): (&PassedPath, PathState),
        passed: &mut Vec<PassedPath>,
    ) -> io::Result<()> {
        let (index, rel) = (key.0, &*key.1);
        let (Some(root), Some(name)) = (self.roots.get(index), rel.file_name()) else { return Ok(()) };
        let Some(top) = self.open(progress, index)? else { return Ok(()) };
        let Some((dir, missing)) = parents_inside(&top, rel)? else { return Ok(()) };
        if let Some(first) = missing.first() {
            // A directory that the command got, or had, and that is not there: the command has removed it.
            let was_passed = progress.passed.get(index, first).is_some_and(PathState::is_directory);
            let is_removed = was_passed || !matches!(root.upper.find(first)?, LayerLookup::Through);
            if now.is_absent() || is_removed {
                return Ok(());
            }
        }
        let at = RunningName { dir: &dir, name, staged: &self.staged };
        let found = if missing.is_empty() { at.state()? } else { PathState::Absent };
        let received = progress.passed.get(index, rel).cloned();
        if found.is_directory() {
            let is_received = match received {
                Some(received) => received.is_directory(),
                // One that the command made hides what is below.
                None => !matches!(
                    root.upper.find(rel)?,
                    LayerLookup::Gone | LayerLookup::Here { opaque: true, .. }
                ),
            };
            // Only an empty one is removed.
            let is_removed = now.is_absent()
                && is_received
                && rustix::fs::unlinkat(&dir, name, AtFlags::REMOVEDIR).is_ok();
            if is_removed {
                progress.passed.set(key.clone(), now);
                passed.push(key.clone());
            }
            return Ok(());
        }
        let is_untouched = match received {
            Some(received) => received == found,
            None => {
                let is_through = matches!(root.upper.find(rel)?, LayerLookup::Through);
                is_through || small_state(&root.at_start(view.root(index)), rel)?.as_ref() == Some(&found)
            }
        };
        if !is_untouched || now.is_absent() && found.is_absent() {
            return Ok(());
        }
        let outcome = if now.is_absent() {
            at.remove(&found)?
        } else {
            let seen = view.stack(index, 1);
            let bytes = content(&seen, rel, &now)?;
            if let Some(hash) = now.hash() {
                progress.passed.store(hash, &bytes)?;
            }
            let made = make_directories(dir.try_clone()?, &missing, &seen, |path, state| {
                progress.passed.set((index, path.to_path_buf()), state);
                passed.push((index, path.to_path_buf()));
            })?;
            let at = RunningName { dir: &made, ..at };
            at.stage(&now, &bytes)?;
            at.put(&found, &now)?
        };
        if outcome == NameOutcome::Done {
            progress.passed.set(key.clone(), now);
            passed.push(key.clone());
        }
        Ok(())
    }
}

impl UpdatedRoot {
    /// What the command had at its start; in the workspace itself, what is there now.
    fn at_start<'a>(&'a self, root: &'a Path) -> LayerStack<'a> {
        LayerStack { layers: self.frozen.iter().collect(), root }
    }
}

fn warn(rel: &Path, error: &io::Error) {
    tracing::warn!("`{}` does not reach a background command: {error}", rel.display());
}

/// The state of a path of placet's own layers. `None` for a large file and for a pipe, a socket or a device.
fn small_state(stack: &LayerStack<'_>, rel: &Path) -> io::Result<Option<PathState>> {
    let Some(stat) = stack.stat(rel)? else { return Ok(Some(PathState::Absent)) };
    let is_passed = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => u64::try_from(stat.st_size).is_ok_and(|size| size <= LARGEST),
        kind => matches!(kind, FileType::Directory | FileType::Symlink),
    };
    is_passed.then(|| stack.node(rel)).transpose()
}

/// The content of a file that has the state `now`; of a link there is none.
fn content(stack: &LayerStack<'_>, rel: &Path, now: &PathState) -> io::Result<Vec<u8>> {
    let Some(hash) = now.hash() else { return Ok(Vec::new()) };
    let bytes = read_small(&stack.open(rel)?)?;
    match blake3::hash(&bytes) == hash {
        true => Ok(bytes),
        false => Err(io::Error::other("it is being changed")),
    }
}

/// The lowest directory above a path that the command has, and the paths of those that it does not have. `None` where it has
/// something else there, and where something is mounted.
fn parents_inside(top: &OwnedFd, rel: &Path) -> io::Result<Option<(OwnedFd, Vec<PathBuf>)>> {
    let above: Vec<PathBuf> = rel.ancestors().skip(1).map(Path::to_path_buf).collect();
    let mut at = top.try_clone()?;
    let mut above = above.into_iter().rev().skip(1).peekable();
    while let Some(dir) = above.peek() {
        match open_inside(&at, last(dir), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()) {
            Ok(next) => at = next,
            Err(Errno::NOENT) => break,
            Err(Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => return Ok(None),
            Err(e) => return Err(e.into()),
        }
        above.next();
    }
    Ok(Some((at, above.collect())))
}

/// Makes these directories, each in the one before, with the modes that they have in `seen`. `note` gets each that was made.
fn make_directories(
    dir: OwnedFd,
    missing: &[PathBuf],
    seen: &LayerStack<'_>,
    mut note: impl FnMut(&Path, PathState),
) -> io::Result<OwnedFd> {
    let mut at = dir;
    for path in missing {
        let PathState::Directory { attrs } = seen.node(path)? else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        let name = last(path);
        let is_new = match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o700)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(e) => return Err(e.into()),
        };
        let made = open_inside(&at, name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        if is_new {
            rustix::fs::fchmod(&made, Mode::from_raw_mode(attrs.mode))?;
            note(path, PathState::Directory { attrs });
        }
        at = made;
    }
    Ok(at)
}

fn last(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

#[cfg(test)]
#[path = "pass_tests.rs"]
mod tests;
