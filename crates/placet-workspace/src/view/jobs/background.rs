//! A background command in the view: its own view does not change, and its changes are merged with changes that others
//! made in the meantime.
//!
//! Other calls run at the same time, and the kernel requires that the lower layers of a mounted overlay do not change.
//! The layers that the command sees are therefore copied when it begins: the cost grows with what is pending. When the
//! command has ended, each path of its layer is compared with the present state. A file that only the command changed
//! is folded as always. A file that others changed as well is merged; if it cannot be merged, it stays as the others
//! left it, and the command's version is stored next to it under another name. Nothing is lost and nothing is applied:
//! all of it is pending.

pub(in crate::view) use super::layer_snapshot::LayerSnapshot;
use crate::files::content::sparse;
use crate::files::metadata::path_state::{PathState, WritableDirGuard, open_anyway};
use crate::history::journal::JournalEntry;
use crate::view::command::collect::CommandEffects;
use crate::view::command::command_view::{CommandDir, CommandView};
use crate::view::command::run_clock::{RunPeriod, RunStart};
use crate::view::layers::layer::{self, Layer, entry, is_dir, is_opaque, is_whiteout, list};
use crate::view::layers::stack::{ContentLocation, LayerStack, join, node_at, stat_at};
use crate::view::{LayerKind, View};
use placet_text::text::regular_file;
use placet_text::text::sided_merge::merged;
use rustix::fs::{FileType, OFlags, RenameFlags, Stat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// The largest file that is merged, in bytes.
const MERGEABLE: u64 = 16 << 20;

impl View {
    /// Copies the layers above the workspace to `dir`: from `depth` on, as [`View::stack`] counts.
    pub(in crate::view) fn snapshot_layers(
        &self,
        depth: usize,
        dir: CommandDir,
    ) -> io::Result<LayerSnapshot> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let mut frozen = LayerSnapshot { dir, roots: Vec::new(), at };
        for index in 0..self.roots().len() {
            let mut layers = Vec::new();
            for (number, layer) in self.stack(index, depth).layers.into_iter().enumerate() {
                if layer.is_blank() || !layer.dir().is_dir() {
                    continue;
                }
                let to = frozen.dir.path().join(format!("{index}-{number}"));
                std::fs::create_dir_all(&to)?;
                layer::copy_tree(&open_dir(layer.dir())?, &open_dir(&to)?)?;
                layers.push(Layer::at(to));
            }
            frozen.roots.push(layers);
        }
        Ok(frozen)
    }

    /// Folds what a background command did, after it and all it started have died. `suffix` names its versions of what
    /// cannot be merged. Waits for a command that runs now; not to be called on an asynchronous thread.
    pub fn finish_background(
        &self,
        mut command: CommandView,
        suffix: &str,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<CommandEffects> {
        let _gate = self.0.commands.gate.clone().blocking_lock_owned();
        let settled = self.merge_background(&mut command, Some(suffix), hidden);
        let mut effects = settled.map_err(|e| self.collect_failed(&mut command, e))?;
        effects.renamed = self.renamed_by(&effects, LayerKind::Pending);
        effects.home = match command.home.take() {
            None => 0,
            Some((view, mut home)) => {
                let _gate = view.0.commands.gate.clone().blocking_lock_owned();
                // Nothing of the home directory is ever applied: what others changed there simply stays.
                view.merge_background(&mut home, None, hidden)?.paths.len()
            }
        };
        Ok(effects)
    }

    pub(in crate::view) fn merge_background(
        &self,
        command: &mut CommandView,
        suffix: Option<&str>,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<CommandEffects> {
        if command.shelf == LayerKind::Scratch {
            return Ok(CommandEffects::default());
        }
        self.drop_scratch()?;
        let frozen = command.frozen.take().ok_or_else(|| io::Error::other("not a background command"))?;
        let own = command.own_mounts().to_vec();
        // Without the journal, placet does not know what others applied in the meantime.
        if let Some(damage) = self.journal().unlisted() {
            return Err(damage.into());
        }
        let (mut merged, mut beside) = (Vec::new(), Vec::new());
        let journal = self.journal().entries().into_iter().filter(|entry| entry.at >= frozen.at).collect();
        let mut journal: Vec<JournalEntry> = journal;
        journal.sort_by_key(|entry| entry.id);
        for (index, mount) in own.iter().enumerate() {
            let mut meeting = BackgroundMerge {
                view: self,
                index,
                frozen: frozen.roots.get(index).map_or(&[], Vec::as_slice),
                period: command.since.period(self.root(index)),
                journal: &journal,
                suffix,
                hidden,
                merged: Vec::new(),
                beside: Vec::new(),
            };
            meeting.directory(Path::new(""), &layer::open_readable(&mount.upper)?)?;
            merged.append(&mut meeting.merged);
            beside.append(&mut meeting.beside);
        }
        // What moved before this was met just now; only what moves while it is folded is still a race.
        command.since = RunStart::now(self.root(0));
        let mut effects = self.fold(command, hidden)?;
        (effects.merged, effects.beside) = (merged, beside);
        if !effects.is_empty() {
            self.0.asked.late.store(true, Ordering::Release);
        }
        Ok(effects)
    }
}

pub(in crate::view) fn open_dir(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, layer::dir_flags(), rustix::fs::Mode::empty())?)
}

/// What became of a path while the command ran.
enum ConcurrentChange {
    Nothing,
    /// The path has another state now; this is the content that the command had found, where it is known.
    Changed(Option<Vec<u8>>),
}

/// One root of a command's layer, merged with the present state.
struct BackgroundMerge<'a> {
    view: &'a View,
    index: usize,
    frozen: &'a [Layer],
    period: RunPeriod,
    /// What was applied while the command ran, the oldest first.
    journal: &'a [JournalEntry],
    /// `None` drops what cannot be merged.
    suffix: Option<&'a str>,
    hidden: &'a dyn Fn(&Path) -> bool,
    merged: Vec<PathBuf>,
    beside: Vec<PathBuf>,
}

impl BackgroundMerge<'_> {
    fn root(&self) -> &Path {
        self.view.root(self.index)
    }

    fn now(&self) -> LayerStack<'_> {
        self.view.stack(self.index, 1)
    }

    fn then(&self) -> LayerStack<'_> {
        LayerStack { layers: self.frozen.iter().collect(), root: self.root() }
    }

    fn directory(&mut self, rel: &Path, upper: &OwnedFd) -> io::Result<()> {
        for name in list(upper)? {
            let rel = rel.join(&name);
            if (self.hidden)(&join(self.root(), &rel)) {
                continue;
            }
            let Some(stat) = entry(upper, &name)? else { continue };
            if is_whiteout(&stat) {
                if self.has_moved(&rel)? {
                    // The command deleted a file that others have changed since: the file stays.
                    Layer::clear(upper, &name)?;
                    self.beside.push(join(self.root(), &rel));
                }
            } else if is_dir(&stat) {
                self.below(&rel, upper, &name)?;
            } else {
                self.leaf(&rel, upper, &name, &stat)?;
            }
        }
        Ok(())
    }

    fn below(&mut self, rel: &Path, upper: &OwnedFd, name: &OsStr) -> io::Result<()> {
        let (then, now) = (self.then().stat(rel)?, self.now().stat(rel)?);
        let (was_dir, is_now) = (then.is_some_and(|s| is_dir(&s)), now.as_ref().map(is_dir));
        let (file, _) = open_anyway(upper, name, OFlags::DIRECTORY)?;
        let fd = OwnedFd::from(file);
        match (then.is_some(), is_now) {
            // Both made it: what is in one joins what is in the other.
            (false, Some(true)) => {
                // An opaque mark would hide files that others put there; usually there is none.
                layer::clear_opaque(&fd)?;
                self.directory(rel, &fd)
            }
            (true, _) if !was_dir || is_opaque(&fd)? => {
                if self.has_moved(rel)? {
                    self.set_aside(rel, upper, name)
                } else {
                    Ok(())
                }
            }
            (true, Some(true)) => self.directory(rel, &fd),
            (false, None) => Ok(()),
            _ => self.set_aside(rel, upper, name),
        }
    }

    fn leaf(&mut self, rel: &Path, upper: &OwnedFd, name: &OsStr, stat: &Stat) -> io::Result<()> {
        let base = match self.concurrent_change(rel)? {
            ConcurrentChange::Changed(base) => base,
            // The command replaced a directory in which others changed something.
            ConcurrentChange::Nothing
                if self.now().stat(rel)?.is_some_and(|s| is_dir(&s)) && self.has_moved(rel)? =>
            {
                None
            }
            ConcurrentChange::Nothing => return Ok(()),
        };
        let (now, own) = (self.now().node(rel)?, PathState::read(upper, name)?);
        if now == own {
            return Ok(());
        }
        let both = now.is_file() && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if let (true, Some(base)) = (both && now.size().max(own.size()) <= MERGEABLE, base)
            && let Some(bytes) = self.merge(rel, upper, name, &base)?
        {
            let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(upper, name, flags, rustix::fs::Mode::empty())?;
            File::from(file).write_all(&bytes)?;
            self.merged.push(join(self.root(), rel));
            return Ok(());
        }
        self.set_aside(rel, upper, name)
    }

    /// Both changes in one text, where they do not touch the same lines.
    fn merge(&self, rel: &Path, upper: &OwnedFd, name: &OsStr, base: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let others = sparse::read_small(&self.now().open(rel)?)?;
        let own = sparse::read_small(&open_anyway(upper, name, OFlags::empty())?.0)?;
        let is_text = |bytes: &[u8]| !bytes.contains(&0);
        if ![base, &others, &own].into_iter().all(is_text) {
            return Ok(None);
        }
        Ok(merged(base, &others, &own))
    }

    /// Renames the command's version; the present file stays at the old name.
    fn set_aside(&mut self, rel: &Path, upper: &OwnedFd, name: &OsStr) -> io::Result<()> {
        let Some(suffix) = self.suffix else { return Layer::clear(upper, name) };
        let free = |candidate: &OsStr| -> io::Result<bool> {
            Ok(entry(upper, candidate)?.is_none()
                && self.now().stat(&rel.with_file_name(candidate))?.is_none())
        };
        let mut chosen: OsString = [name, OsStr::new("."), OsStr::new(suffix)].into_iter().collect();
        for number in 2.. {
            if free(&chosen)? {
                break;
            }
            chosen = [name, OsStr::new("."), OsStr::new(suffix), OsStr::new(&format!("-{number}"))]
                .into_iter()
                .collect();
        }
        let _eased = WritableDirGuard::of(upper);
        rustix::fs::renameat_with(upper, name, upper, &chosen, RenameFlags::NOREPLACE)?;
        self.beside.push(join(self.root(), &rel.with_file_name(&chosen)));
        Ok(())
    }

    /// Whether others changed anything at or below `rel`.
    fn has_moved(&self, rel: &Path) -> io::Result<bool> {
        if let ConcurrentChange::Changed(_) = self.concurrent_change(rel)? {
            return Ok(true);
        }
        let mut names = self.then().children(rel)?;
        names.extend(self.now().children(rel)?);
        for name in names {
            if self.has_moved(&rel.join(name))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn concurrent_change(&self, rel: &Path) -> io::Result<ConcurrentChange> {
        let (then, now) = (self.then().backing(rel)?, self.now().backing(rel)?);
        let found = match &then {
            ContentLocation::Gone => PathState::Absent,
            ContentLocation::Layer(path) => node_at(path)?,
            ContentLocation::Plain => {
                let path = join(self.root(), rel);
                let stat = stat_at(&path)?;
                let moved = |s: &Stat| !is_dir(s) && self.period.has_change_of(s);
                let landed = self.state_before_apply(&path);
                match landed {
                    Some(node) => node.clone(),
                    None if stat.is_some_and(|s| moved(&s)) => return Ok(ConcurrentChange::Changed(None)),
                    None if now == ContentLocation::Plain => return Ok(ConcurrentChange::Nothing),
                    None => node_at(&path)?,
                }
            }
        };
        let lies = self.now().node(rel)?;
        // The time of a directory moves with what is in it, which is asked about by itself.
        if found == lies || found.is_directory() && lies.is_directory() {
            return Ok(ConcurrentChange::Nothing);
        }
        let base = match (&then, &found) {
            (ContentLocation::Layer(path), PathState::File { size, .. }) if *size <= MERGEABLE => {
                regular_file::read(path, *size).ok()
            }
            (_, PathState::File { hash, size, .. }) if *size <= MERGEABLE => self
                .view
                .objects()
                .get(*hash)
                .ok()
                .or_else(|| sparse::read_small_at(&join(self.root(), rel)).ok())
                .filter(|bytes| blake3::hash(bytes) == *hash),
            _ => None,
        };
        Ok(ConcurrentChange::Changed(base))
    }

    /// The state of the workspace at a path before a change was applied there.
    fn state_before_apply(&self, path: &Path) -> Option<&PathState> {
        let mut changes = self.journal.iter().flat_map(|entry| &entry.changes);
        changes.find(|change| *change.path == *path).map(|change| &*change.before)
    }
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
