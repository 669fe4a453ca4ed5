//! Build output in the layer of a check: what git ignores, and caches. Only that stays for the next run.

use crate::files::metadata::path_state::{dir_anyway, open_anyway};
use crate::files::walking::ignore_rules::IgnoreRules;
use crate::view::layers::layer::{self, Layer, entry, is_dir, is_opaque, is_whiteout};
use crate::view::layers::stack::{LayerStack, join};
use rustix::fs::{AtFlags, FileType, OFlags};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that marks a directory as a cache, by the convention that cargo, pytest and others follow.
const CACHE_MARK: &str = "CACHEDIR.TAG";
/// Directories of caches without a mark.
const CACHES: [&str; 2] = ["__pycache__", ".pytest_cache"];

/// Which paths of a state are build output.
pub(in crate::view) struct OutputRules<'a> {
    below: LayerStack<'a>,
    /// The output of accepted files: a directory there may have the mark of a cache.
    kept: Option<PathBuf>,
    rules: HashMap<PathBuf, Arc<IgnoreRules>>,
}

impl<'a> OutputRules<'a> {
    /// `below` is the state without what the check wrote.
    pub(in crate::view) fn new(below: LayerStack<'a>) -> OutputRules<'a> {
        OutputRules { below, kept: None, rules: HashMap::new() }
    }

    pub(in crate::view) fn above(self, kept: Option<PathBuf>) -> OutputRules<'a> {
        OutputRules { kept, ..self }
    }

    /// True for a cache whose mark an earlier run wrote.
    fn is_marked_below(&self, rel: &Path) -> bool {
        let mark = self.kept.as_ref().map(|kept| kept.join(rel).join(CACHE_MARK));
        mark.is_some_and(|mark| std::fs::symlink_metadata(mark).is_ok_and(|found| found.is_file()))
    }

    /// The rules that hold in the directory `rel`.
    fn rules_in(&mut self, rel: &Path) -> io::Result<Arc<IgnoreRules>> {
        if let Some(known) = self.rules.get(rel) {
            return Ok(Arc::clone(known));
        }
        let above = match rel.parent() {
            Some(parent) => self.rules_in(parent)?,
            None => Arc::default(),
        };
        let holder = |name: &str| -> Option<OwnedFd> {
            let real = self.below.real(&rel.join(name)).ok()??;
            std::fs::symlink_metadata(&real).ok()?;
            dir_anyway(real.parent()?).ok()
        };
        let [own, git, exclude] = [".ignore", ".gitignore", ".git"].map(holder);
        let path = join(self.below.root, rel);
        let rules = IgnoreRules::of(&path, &above, |name| match name {
            ".ignore" => own.as_ref(),
            ".gitignore" => git.as_ref(),
            _ => exclude.as_ref(),
        });
        self.rules.insert(rel.to_path_buf(), Arc::clone(&rules));
        Ok(rules)
    }

    fn is_ignored(&mut self, rel: &Path, is_dir: bool) -> io::Result<bool> {
        let rules = self.rules_in(rel.parent().unwrap_or(Path::new("")))?;
        Ok(rules.ignores(&join(self.below.root, rel), is_dir))
    }

    /// True for a directory that is output with all that is in it. git's own directory never is.
    fn is_output_dir(&mut self, rel: &Path, has_mark: bool) -> io::Result<bool> {
        let name = rel.file_name().unwrap_or_default();
        if name == ".git" {
            return Ok(false);
        }
        Ok(has_mark || CACHES.iter().any(|cache| name == *cache) || self.is_ignored(rel, true)?)
    }

    /// True for a path that is output or below output, as far as the state itself tells.
    pub(in crate::view) fn is_output_path(&mut self, rel: &Path) -> io::Result<bool> {
        let mut dirs: Vec<&Path> = rel.ancestors().skip(1).filter(|d| !d.as_os_str().is_empty()).collect();
        dirs.reverse();
        for dir in dirs {
            let has_mark = self.below.stat(&dir.join(CACHE_MARK))?.is_some();
            if self.is_output_dir(dir, has_mark)? {
                return Ok(true);
            }
        }
        self.is_ignored(rel, false)
    }
}

/// Removes everything from the directory `rel` of a check's layer that is not build output, and adds the removed paths to
/// `changed`. Ignored files that the state has itself are removed as well, without a report: they are no output.
pub(in crate::view) fn prune_output(
    rules: &mut OutputRules<'_>,
    upper: &OwnedFd,
    rel: &Path,
    changed: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for name in layer::list(upper)? {
        let rel = rel.join(&name);
        let Some(stat) = entry(upper, &name)? else { continue };
        let path = join(rules.below.root, &rel);
        if is_dir(&stat) {
            prune_directory(rules, (upper, &name), &rel, changed)?;
            continue;
        }
        let below = rules.below.stat(&rel)?;
        // Output of an earlier run that this one removed; it is in the layer below.
        if is_whiteout(&stat) && below.is_none() {
            continue;
        }
        let is_ignored = rules.is_ignored(&rel, below.as_ref().is_some_and(is_dir))?;
        let is_new_file = below.is_none() && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if is_ignored && is_new_file {
            continue;
        }
        let is_same = || -> io::Result<bool> {
            use crate::files::metadata::path_state::PathState;
            Ok(PathState::read(upper, &name)? == rules.below.node(&rel)?)
        };
        // The overlay copies a file up for an `open` that writes nothing.
        let is_change = match is_whiteout(&stat) {
            true => below.is_some(),
            false => !is_same()?,
        };
        if is_change && !is_ignored {
            changed.push(path);
        }
        Layer::clear(upper, &name)?;
    }
    Ok(())
}

fn prune_directory(
    rules: &mut OutputRules<'_>,
    (upper, name): (&OwnedFd, &OsStr),
    rel: &Path,
    changed: &mut Vec<PathBuf>,
) -> io::Result<()> {
    let (file, _) = open_anyway(upper, name, OFlags::DIRECTORY)?;
    let fd = OwnedFd::from(file);
    let below = rules.below.stat(rel)?;
    let has_mark = entry(&fd, OsStr::new(CACHE_MARK))?.is_some() || rules.is_marked_below(rel);
    // A file of the state must not be hidden by output.
    let may_stay = below.as_ref().is_none_or(is_dir);
    if may_stay && rules.is_output_dir(rel, has_mark)? {
        return Ok(());
    }
    let path = join(rules.below.root, rel);
    if !may_stay || below.is_some() && is_opaque(&fd)? {
        // The check put another directory in the place of what was there.
        changed.push(path);
        return Layer::clear(upper, name);
    }
    let before = changed.len();
    prune_output(rules, &fd, rel, changed)?;
    if below.is_none() {
        // Output in a directory that the state does not have would add the directory to the state.
        drop(fd);
        if changed.len() == before {
            changed.push(path);
        }
        return Layer::clear(upper, name);
    }
    drop(fd);
    match rustix::fs::unlinkat(upper, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(rustix::io::Errno::NOTEMPTY) => Ok(()),
        Err(e) => Err(e.into()),
    }
}
