//! A tree, a state directory and the real binary over both: for tests of what lands and what comes back.

use super::binary::{Out, Run};
use super::program::{placet, placet_with_points};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// In memory where the machine has such a place: syncing is what takes the time here.
pub fn fast_dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(dir) = TempDir::new_in(memory)
    {
        return dir;
    }
    TempDir::new().unwrap()
}

/// A user of [`Txn::user`] is also in this group.
pub const USERS_GROUP: u32 = 2002;

pub struct Txn {
    _dir: TempDir,
    pub base: PathBuf,
    pub tree: PathBuf,
    /// Run everything as this user; only root can.
    pub user: Option<u32>,
}

impl Drop for Txn {
    fn drop(&mut self) {
        super::program::forget_layers(&self.state());
    }
}

impl Txn {
    /// On a real disk.
    pub fn on_disk() -> Txn {
        Txn::in_dir(TempDir::new().unwrap(), None)
    }

    pub fn in_dir(dir: TempDir, user: Option<u32>) -> Txn {
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let tree = base.join("tree");
        for made in [&tree, &base.join("home"), &base.join("plain")] {
            std::fs::create_dir(made).unwrap();
        }
        if let Some(uid) = user {
            for path in [&base, &tree, &base.join("home"), &base.join("plain")] {
                std::os::unix::fs::chown(path, Some(uid), Some(uid)).unwrap();
            }
        }
        Txn { _dir: dir, base, tree, user }
    }

    /// Where placet keeps what it keeps.
    pub fn state(&self) -> PathBuf {
        self.base.join("home/state/placet")
    }

    fn dressed(&self, program: &str) -> Command {
        let mut command = match self.user {
            None => Command::new(program),
            Some(uid) => {
                let mut command = Command::new("setpriv");
                let groups = format!("--groups={USERS_GROUP}");
                command.args([format!("--reuid={uid}"), format!("--regid={uid}"), groups]);
                command.arg(program);
                command
            }
        };
        let home = self.base.join("home");
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("HOME", &home).env("TZ", "UTC").env("LC_ALL", "C.UTF-8").env("TMPDIR", &self.base);
        command.env("XDG_CONFIG_HOME", home.join("config")).env("XDG_CACHE_HOME", home.join("cache"));
        command.env("XDG_STATE_HOME", home.join("state")).current_dir(&self.tree);
        command
    }

    /// `sh -c` in a directory, outside of any view.
    #[track_caller]
    pub fn sh(&self, dir: &Path, line: &str) -> i32 {
        let out = self.dressed("sh").args(["-c", line]).current_dir(dir).output().unwrap();
        if !out.status.success() {
            eprintln!("{line}: {}", String::from_utf8_lossy(&out.stderr));
        }
        out.status.code().unwrap_or(-1)
    }

    pub fn placet<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        let mut command = self.dressed(placet());
        command.args(args);
        Run::of(command)
    }

    pub fn placet_that_crashes<S: AsRef<std::ffi::OsStr>>(
        &self,
        at: u32,
        args: impl IntoIterator<Item = S>,
    ) -> Run {
        let mut command = self.dressed(placet_with_points());
        command.args(args).env("PLACET_CRASH_AT", at.to_string());
        Run::of(command)
    }

    /// The debug build, which has bounds and stages that tests can set.
    pub fn placet_with_points<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        let mut command = self.dressed(placet_with_points());
        command.args(args);
        Run::of(command)
    }

    pub fn run<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Out {
        self.placet(args).go()
    }

    /// Runs a line in the view and leaves what it did pending.
    #[track_caller]
    pub fn hold(&self, line: &str) -> Out {
        let out = self.run(["sandbox", "run", "--", line]);
        assert!(!out.stderr.contains("error:"), "{line}: {out:#?}");
        out
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.tree.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// `None` where there is no file.
    pub fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.tree.join(name)).ok()
    }

    pub fn snap(&self) -> Snap {
        snap(&self.tree)
    }

    /// Names that only placet makes, below the tree.
    pub fn strays(&self) -> Vec<PathBuf> {
        let ours = |p: &&PathBuf| p.file_name().is_some_and(|n| n.as_bytes().starts_with(b".placet-"));
        self.snap().keys().filter(ours).cloned().collect()
    }
}

/// Every path of a tree, the tree itself among them, with all that placet promises about it.
pub type Snap = BTreeMap<PathBuf, String>;

pub fn snap(root: &Path) -> Snap {
    let mut found: BTreeMap<PathBuf, (String, Option<(u64, u64)>)> = BTreeMap::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(path) = todo.pop() {
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        let mut words = format!("{:o} {}:{}", meta.mode(), meta.uid(), meta.gid());
        let mut shared = None;
        if meta.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else if meta.is_symlink() {
            words.push_str(&format!(" -> {:?}", std::fs::read_link(&path).unwrap()));
        } else if meta.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let short = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
            words.push_str(&format!(" {} {} {short:?}", bytes.len(), blake3::hash(&bytes).to_hex()));
            shared = (meta.nlink() > 1).then(|| (meta.dev(), meta.ino()));
        }
        if !meta.is_symlink() {
            words.push_str(&xattrs(&path));
        }
        let rel = path.strip_prefix(root).unwrap().to_path_buf();
        found.insert(rel, (words, shared));
    }
    let mut first: BTreeMap<(u64, u64), PathBuf> = BTreeMap::new();
    let mut snap = Snap::new();
    for (path, (mut words, shared)) in found {
        if let Some(inode) = shared {
            match first.get(&inode) {
                Some(twin) => words.push_str(&format!(" same file as {}", twin.display())),
                None => drop(first.insert(inode, path.clone())),
            }
        }
        snap.insert(path, words);
    }
    snap
}

fn xattrs(path: &Path) -> String {
    let mut names = vec![0u8; 65_536];
    let Ok(length) = rustix::fs::llistxattr(path, &mut names[..]) else { return String::new() };
    let mut found = Vec::new();
    for name in names[..length].split(|b| *b == 0).filter(|n| !n.is_empty()) {
        let mut value = vec![0u8; 65_536];
        let length = rustix::fs::lgetxattr(path, name, &mut value[..]).unwrap_or(0);
        let name = String::from_utf8_lossy(name).into_owned();
        if name.starts_with("user.") || name.starts_with("system.posix_acl") {
            found.push(format!(
                " {name}={:?}",
                OsString::from(String::from_utf8_lossy(&value[..length]).as_ref())
            ));
        }
    }
    found.sort();
    found.concat()
}

/// What differs between two trees, a line for each path.
pub fn differences(one: &Snap, other: &Snap) -> Vec<(PathBuf, String)> {
    let paths: std::collections::BTreeSet<&PathBuf> = one.keys().chain(other.keys()).collect();
    let absent = "(absent)".to_string();
    let line = |path: &&PathBuf| {
        let (a, b) = (one.get(*path).unwrap_or(&absent), other.get(*path).unwrap_or(&absent));
        (a != b).then(|| ((*path).clone(), format!("{:?}: {a}  |  {b}", path)))
    };
    paths.iter().filter_map(line).collect()
}
