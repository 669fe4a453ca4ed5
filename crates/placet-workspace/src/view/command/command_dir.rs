//! The directory of a running command. A command that wrote nothing leaves it for the next one: to make and to remove
//! directories takes longer than a short command.

use crate::view::layers::layer::{Layer, dir_flags, remove_dir_all};
use crate::view::layers::removal::remove_later;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, RenameFlags, Timestamps, UTIME_NOW};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// One overlay: topmost lower directory first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayMount {
    pub target: PathBuf,
    pub lowers: Vec<PathBuf>,
    pub upper: PathBuf,
    pub work: PathBuf,
}

/// A directory for one command, with a lock on it for as long as the command's view is there. Pids do not say whether
/// it is in use: another pid namespace counts on its own.
#[derive(Debug)]
pub(in crate::view) struct CommandDir {
    path: PathBuf,
    _lock: OwnedFd,
    /// It is removed while placet goes on.
    is_removed_later: bool,
}

impl CommandDir {
    pub(in crate::view) fn make(base: &Path) -> io::Result<CommandDir> {
        use std::os::unix::fs::DirBuilderExt;
        let mut attempts = 0;
        loop {
            let path = new_name(base);
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                // Another pid namespace counts processes on its own, so the name may be taken.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                // Another process took the directory, which was empty, for one that nobody needs.
                Err(e) if e.kind() == io::ErrorKind::NotFound && attempts < 3 => {
                    attempts += 1;
                    private(base)?;
                    continue;
                }
                made => made?,
            }
            let lock = rustix::fs::open(&path, dir_flags(), Mode::empty())?;
            rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            return Ok(CommandDir { path, _lock: lock, is_removed_later: false });
        }
    }

    /// The directory of a command whose process no longer exists. `None` while a process has it.
    pub(in crate::view) fn take_over(path: PathBuf) -> Option<CommandDir> {
        let lock = rustix::fs::open(&path, dir_flags(), Mode::empty()).ok()?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(CommandDir { path, _lock: lock, is_removed_later: false })
    }

    /// Lets it be removed in the background. The process waits for that before it ends: [`crate::view::layers::removal::wait_for_removals`].
    #[must_use]
    pub(in crate::view) fn removed_later(self) -> CommandDir {
        let mut dir = self;
        dir.is_removed_later = true;
        dir
    }

    pub(in crate::view) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it a name under which it is not swept.
    pub(in crate::view) fn keep(&mut self) -> io::Result<PathBuf> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut number = 0;
        let kept = loop {
            let kept = self.path.with_file_name(format!("kept-{name}-{number}"));
            if !kept.exists() {
                break kept;
            }
            number += 1;
        };
        std::fs::rename(&self.path, &kept)?;
        Ok(kept)
    }
}

impl Drop for CommandDir {
    fn drop(&mut self) {
        if self.path.exists()
            && !(self.is_removed_later && remove_later(&self.path, self._lock.try_clone().ok()))
        {
            drop(remove_dir_all(&self.path));
        }
    }
}

/// A name that no command of this process had.
fn new_name(base: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    base.join(format!("run-{}-{count}", std::process::id()))
}

/// Only its owner may read a layer: it may contain what the workspace hides from others.
pub(in crate::view) fn private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// The directory of a command that wrote nothing, for the next one.
#[derive(Debug)]
pub(in crate::view) struct SpareDir {
    dir: CommandDir,
    layers: Vec<UsedLayer>,
}

/// The name of a directory that a command of another process left, and of the file in it that says how its layers were made.
pub(in crate::view) const SPARE: &str = "spare";
const LAYERS: &str = "layers.json";

/// The most bytes of that file: each layer takes less than a kilobyte, and its attributes are bounded by the kernel.
const MOST_RECORD: u64 = 1 << 20;

/// A layer that is used a second time must be like a new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::view) struct UsedLayer {
    /// The directory whose mode and owner the layer got, as it was then.
    model: DirState,
    upper: DirState,
    /// When the directory was changed last, as the file system counts.
    changed: (i64, i64),
    work: PathBuf,
}

/// What an overlay shows of a directory itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct DirState {
    path: PathBuf,
    place: (u64, u64),
    owner: (u32, u32),
    mode: u32,
    /// Names and values.
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// What `chattr` sets, where the file system has such flags.
    flags: Option<u32>,
}

impl DirState {
    fn of(path: &Path) -> io::Result<DirState> {
        let dir = std::fs::File::from(rustix::fs::open(path, dir_flags(), Mode::empty())?);
        let meta = dir.metadata()?;
        let mut names = vec![0; 4096];
        let length = rustix::fs::flistxattr(&dir, &mut names)?;
        let mut attributes = Vec::new();
        for name in names.get(..length).unwrap_or_default().split(|byte| *byte == 0) {
            // The kernel gives each overlay a number, and a second use keeps it. A command cannot write this name.
            if name.is_empty() || name == b"user.overlay.uuid" {
                continue;
            }
            let mut value = vec![0; 4096];
            let length = rustix::fs::fgetxattr(&dir, name, value.as_mut_slice())?;
            value.truncate(length);
            attributes.push((name.to_vec(), value));
        }
        let (place, owner) = ((meta.dev(), meta.ino()), (meta.uid(), meta.gid()));
        #[cfg(target_os = "linux")]
        let flags = rustix::fs::ioctl_getflags(&dir).ok().map(|flags| flags.bits());
        #[cfg(not(target_os = "linux"))]
        let flags = None;
        Ok(DirState { path: path.to_path_buf(), place, owner, mode: meta.mode(), attributes, flags })
    }
}

impl UsedLayer {
    /// Of a layer that was made just now.
    pub(in crate::view) fn of(mount: &OverlayMount) -> Option<UsedLayer> {
        let model = mount.lowers.first().unwrap_or(&mount.target);
        let state = |path: &Path| DirState::of(path).ok();
        let (model, upper) = (state(model)?, state(&mount.upper)?);
        Some(UsedLayer { model, upper, changed: changed(&mount.upper)?, work: mount.work.clone() })
    }

    /// True if nothing in the layer, and nothing about its directory, shows that it was used.
    fn is_as_new(&self) -> bool {
        let is_empty =
            |path: &Path| std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        let upper = &self.upper.path;
        is_empty(upper)
            && changed(upper) == Some(self.changed)
            && DirState::of(upper).is_ok_and(|now| now == self.upper)
    }

    /// Removes what says that the layer was used without syncing: with it, the kernel refuses the layer.
    fn clear_mark(&self) -> io::Result<()> {
        let used = self.work.join("work");
        let open =
            |path: &Path| std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700));
        open(&used)?;
        let (all, volatile) = (used.join("incompat"), used.join("incompat/volatile"));
        open(&all)?;
        open(&volatile)?;
        std::fs::remove_file(volatile.join("dirty"))?;
        std::fs::remove_dir(&volatile)?;
        std::fs::remove_dir(&all)
    }
}

/// Reads the record of a directory that was left. Never waits: a pipe or a link in its place is an error.
fn read_record(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() > MOST_RECORD {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the record of layers"));
    }
    let mut bytes = Vec::new();
    file.take(MOST_RECORD).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The time of its last change of entries: a command that makes a file in it and removes the file changes it, too.
fn changed(dir: &Path) -> Option<(i64, i64)> {
    let meta = std::fs::symlink_metadata(dir).ok()?;
    Some((meta.mtime(), meta.mtime_nsec()))
}

impl SpareDir {
    /// `None` if the command left anything. It must have ended.
    pub(in crate::view) fn of(dir: CommandDir, layers: Vec<UsedLayer>) -> Option<SpareDir> {
        let is_spare = layers.iter().all(|layer| layer.is_as_new() && layer.clear_mark().is_ok());
        is_spare.then_some(SpareDir { dir, layers })
    }

    /// Leaves the directory for the first command of the next process. Where that cannot be, the directory is removed.
    pub(in crate::view) fn leave(self) {
        let SpareDir { dir, layers } = self;
        let Ok(record) = serde_json::to_vec(&layers) else { return };
        if std::fs::write(dir.path.join(LAYERS), record).is_ok() {
            // Nothing is replaced: another directory has something in it. The directory of `dir` has no name any more then.
            drop(std::fs::rename(&dir.path, dir.path.with_file_name(SPARE)));
        }
    }

    /// What a process that has ended left in `base`. Whether it may be used again is for [`SpareDir::reuse`] to say.
    pub(in crate::view) fn left_in(base: &Path) -> Option<SpareDir> {
        let left = CommandDir::take_over(base.join(SPARE))?;
        let path = new_name(base);
        rustix::fs::renameat_with(CWD, &left.path, CWD, &path, RenameFlags::NOREPLACE).ok()?;
        let mut dir = left.removed_later();
        dir.path = path;
        let record = dir.path.join(LAYERS);
        let layers: Vec<UsedLayer> = serde_json::from_slice(&read_record(&record).ok()?).ok()?;
        std::fs::remove_file(record).ok()?;
        let moved = |(index, mut layer): (usize, UsedLayer)| {
            let place = dir.path.join(index.to_string());
            (layer.upper.path, layer.work) = (place.join("upper"), place.join("work"));
            layer
        };
        let layers = layers.into_iter().enumerate().map(moved).collect();
        Some(SpareDir { dir, layers })
    }

    /// Gives the directory to a command with the layers `wanted`: targets with their lower layers. `None` if they would not
    /// be like new ones.
    pub(in crate::view) fn reuse(
        self,
        wanted: &[(PathBuf, Vec<PathBuf>)],
    ) -> Option<(CommandDir, Vec<OverlayMount>, Vec<UsedLayer>)> {
        let SpareDir { dir, layers } = self;
        let fits = wanted.len() == layers.len()
            && layers.iter().zip(wanted).all(|(layer, (target, lowers))| {
                let model = lowers.first().unwrap_or(target);
                DirState::of(model).is_ok_and(|now| now == layer.model) && layer.is_as_new()
            });
        if !fits {
            return None;
        }
        // The time at which the command began, for one that is killed.
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        rustix::fs::futimens(&dir._lock, &times).ok()?;
        let mount = |(layer, (target, lowers)): (&UsedLayer, &(PathBuf, Vec<PathBuf>))| OverlayMount {
            target: target.clone(),
            lowers: lowers.clone(),
            upper: layer.upper.path.clone(),
            work: layer.work.clone(),
        };
        let mounts = layers.iter().zip(wanted).map(mount).collect();
        Some((dir, mounts, layers))
    }
}

pub(in crate::view) fn make(target: &Path, lowers: Vec<PathBuf>, place: &Path) -> io::Result<OverlayMount> {
    let (upper, work) = (place.join("upper"), place.join("work"));
    placet_text::private::make_dir(&work)?;
    // A command sees the topmost directory's mode.
    let layer = Layer::at(upper.clone());
    layer.open_like(lowers.first().map_or(target, PathBuf::as_path))?;
    Ok(OverlayMount { target: target.to_path_buf(), lowers, upper, work })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, UNIX_EPOCH};

    /// A layer over `root`, as the kernel leaves it.
    fn used(base: &Path, root: &Path) -> (CommandDir, OverlayMount, Vec<UsedLayer>) {
        let dir = CommandDir::make(base).unwrap();
        let mount = make(root, vec![root.to_path_buf()], &dir.path().join("0")).unwrap();
        let layers = vec![UsedLayer::of(&mount).unwrap()];
        fs::create_dir_all(mount.work.join("work/incompat/volatile")).unwrap();
        fs::write(mount.work.join("work/incompat/volatile/dirty"), "").unwrap();
        (dir, mount, layers)
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_layer_is_used_again_only_if_nothing_shows_that_it_was_used() {
        let temporary = tempfile::tempdir().unwrap();
        let (base, root) = (temporary.path().join("layers"), temporary.path().join("w"));
        fs::create_dir(&base).unwrap();
        fs::create_dir(&root).unwrap();
        let wanted = [(root.clone(), vec![root.clone()])];
        let (dir, mount, layers) = used(&base, &root);
        let (dir, again, layers) = SpareDir::of(dir, layers).unwrap().reuse(&wanted).unwrap();
        assert_eq!(again, std::slice::from_ref(&mount));
        assert!(!mount.work.join("work/incompat").exists());
        drop((dir, layers));
        assert!(!mount.upper.exists(), "it ends with its last use");
        type LayerChange = fn(&Path);
        let changes: [(&str, LayerChange); 3] = [
            ("a file", |upper| fs::write(upper.join("file"), "").unwrap()),
            ("another mode", |upper| mode(upper, 0o701)),
            ("another time", |upper| {
                let time = UNIX_EPOCH + Duration::from_secs(1);
                fs::File::open(upper).unwrap().set_modified(time).unwrap();
            }),
        ];
        for (what, change) in changes {
            let (dir, mount, layers) = used(&base, &root);
            change(&mount.upper);
            assert!(SpareDir::of(dir, layers).is_none(), "{what}");
        }
    }

    /// A layer with a mode of its own would be a change that nobody made.
    #[test]
    fn a_layer_without_the_mode_of_its_directory_is_not_made() {
        let temporary = tempfile::tempdir().unwrap();
        let unreadable = temporary.path().join("x".repeat(300));
        assert!(make(&unreadable, Vec::new(), &temporary.path().join("0")).is_err());
        assert!(!temporary.path().join("0/upper").exists());
    }

    #[test]
    fn a_directory_that_a_process_left_is_used_only_as_it_was_left() {
        let temporary = tempfile::tempdir().unwrap();
        let (base, root) = (temporary.path().join("layers"), temporary.path().join("w"));
        fs::create_dir(&base).unwrap();
        fs::create_dir(&root).unwrap();
        let wanted = [(root.clone(), vec![root.clone()])];
        let leave = || {
            let (dir, mount, layers) = used(&base, &root);
            SpareDir::of(dir, layers).unwrap().leave();
            assert!(!mount.upper.exists() && base.join(SPARE).is_dir());
        };
        let names = || fs::read_dir(&base).unwrap().count();
        // A process that another test starts has the locks of this one until it executes its program.
        let found = || loop {
            let left = SpareDir::left_in(&base);
            if left.is_some() || !base.join(SPARE).exists() {
                return left;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        assert!(SpareDir::left_in(&base).is_none());
        leave();
        let (dir, mounts, _) = found().unwrap().reuse(&wanted).unwrap();
        assert!(
            mounts[0].upper.starts_with(dir.path()) && mounts[0].upper.is_dir() && mounts[0].work.is_dir()
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the record is gone");
        assert!(SpareDir::left_in(&base).is_none(), "one command has it");
        drop(dir);
        crate::view::layers::removal::wait_for_removals();
        assert_eq!(names(), 0);

        // A second one is not kept, and one that another process has is left alone.
        leave();
        let (second, _, layers) = used(&base, &root);
        SpareDir::of(second, layers).unwrap().leave();
        assert_eq!(names(), 1);
        let lock = CommandDir::take_over(base.join(SPARE)).unwrap();
        assert!(SpareDir::left_in(&base).is_none());
        drop(lock);

        let replaced = |spare: &Path| {
            fs::remove_file(spare.join(LAYERS)).unwrap();
            spare.join(LAYERS)
        };
        let changes: [&dyn Fn(&Path); 6] = [
            // Without a reader or a writer, the open of a pipe waits.
            &|spare| placet_text::text::regular_file::make_pipe(&replaced(spare)),
            &|spare| std::os::unix::fs::symlink("/dev/zero", replaced(spare)).unwrap(),
            &|spare| fs::write(spare.join("0/upper/file"), "").unwrap(),
            &|spare| mode(&spare.join("0/upper"), 0o701),
            &|spare| fs::write(spare.join(LAYERS), "[]").unwrap(),
            &|spare| fs::write(spare.join(LAYERS), "x").unwrap(),
        ];
        for change in changes {
            if !base.join(SPARE).exists() {
                leave();
            }
            change(&base.join(SPARE));
            assert!(found().and_then(|left| left.reuse(&wanted)).is_none());
            crate::view::layers::removal::wait_for_removals();
            assert_eq!(names(), 0);
        }
    }

    #[test]
    fn a_layer_is_not_used_again_over_another_directory() {
        let temporary = tempfile::tempdir().unwrap();
        let (base, root) = (temporary.path().join("layers"), temporary.path().join("w"));
        let other = temporary.path().join("pending");
        for dir in [&base, &root, &other] {
            fs::create_dir(dir).unwrap();
        }
        let spare = || {
            let (dir, _, layers) = used(&base, &root);
            SpareDir::of(dir, layers).unwrap()
        };
        assert!(spare().reuse(&[(root.clone(), vec![root.clone()])]).is_some());
        // The first change became pending, and so another directory gives the mode.
        assert!(spare().reuse(&[(root.clone(), vec![other.clone(), root.clone()])]).is_none());
        assert!(spare().reuse(&[]).is_none());
        let before = spare();
        mode(&root, 0o705);
        assert!(before.reuse(&[(root.clone(), vec![root.clone()])]).is_none());
    }
}
