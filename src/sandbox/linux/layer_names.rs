//! The names in those directories of a layer in which many paths are masked. To read such a directory once takes less time
//! than to look up two hundred names that it does not have.

use super::super::spec::SandboxSpec;
use rustix::fs::{Dir, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A directory with fewer masked paths in it is not read.
const MANY: usize = 8;

/// A directory with more names is not read to its end: a lookup does not depend on their number.
const MOST: usize = 1000;

/// The number of a layer below its overlay's target.
type LayerNumber<'a> = (&'a Path, usize);

/// What was read so far.
pub(super) struct LayerNames {
    /// Directories in which many paths are masked.
    worth: HashSet<PathBuf>,
    read: HashMap<(PathBuf, usize, PathBuf), NamesIn>,
}

#[derive(Debug, PartialEq, Eq)]
enum NamesIn {
    /// No directory is there.
    Missing,
    /// In lower case: a file system may not tell letters by their case.
    All(HashSet<Vec<u8>>),
    Unknown,
}

impl LayerNames {
    pub(super) fn of(spec: &SandboxSpec) -> LayerNames {
        let mut masked: HashMap<&Path, usize> = HashMap::new();
        for dir in spec.masked.iter().flat_map(|path| path.ancestors().skip(1)) {
            let count = masked.entry(dir).or_default();
            *count += 1;
        }
        let worth = masked.into_iter().filter(|(_, count)| *count >= MANY).map(|(dir, _)| dir.to_path_buf());
        LayerNames { worth: worth.collect(), read: HashMap::new() }
    }

    /// False if a directory on the way to `rel` in this layer is missing, or does not have the next name. Everything that
    /// is not certain is true.
    pub(super) fn may_have(
        &mut self,
        (target, number): LayerNumber<'_>,
        layer: &OwnedFd,
        rel: &Path,
    ) -> bool {
        let mut dir = PathBuf::new();
        for name in rel {
            if self.worth.contains(&target.join(&dir)) {
                let key = (target.to_path_buf(), number, dir.clone());
                let names = self.read.entry(key).or_insert_with(|| NamesIn::of(layer, &dir));
                if !names.may_have(name) {
                    return false;
                }
            }
            dir.push(name);
        }
        true
    }
}

impl NamesIn {
    fn of(layer: &OwnedFd, dir: &Path) -> NamesIn {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // As in the lookup of a path: a link may lead out of the layer, and a mount hides what the overlay shows.
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let opened = match openat2(layer, dir, flags, Mode::empty(), resolve) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return NamesIn::Missing,
            Err(_) => return NamesIn::Unknown,
        };
        let Ok(entries) = Dir::new(opened) else { return NamesIn::Unknown };
        let mut names = HashSet::new();
        for entry in entries {
            let Ok(entry) = entry else { return NamesIn::Unknown };
            let name = entry.file_name().to_bytes();
            if is_odd(name) || names.len() >= MOST {
                return NamesIn::Unknown;
            }
            names.insert(name.to_ascii_lowercase());
        }
        NamesIn::All(names)
    }

    fn may_have(&self, name: &OsStr) -> bool {
        match self {
            NamesIn::Missing => false,
            NamesIn::All(names) => !name.is_ascii() || names.contains(&name.as_bytes().to_ascii_lowercase()),
            NamesIn::Unknown => true,
        }
    }
}

/// Letters that a comparison of names may skip.
const SKIPPED: [char; 6] = ['\u{115f}', '\u{1160}', '\u{17b4}', '\u{17b5}', '\u{3164}', '\u{ffa0}'];

/// True for a name that a file system which ignores case may take for a name in ASCII letters: some letters have a
/// counterpart there, and some characters are skipped. One letter of another script makes it a different name.
fn is_odd(name: &[u8]) -> bool {
    let is_other = |c: char| {
        let cases = || c.to_lowercase().chain(c.to_uppercase());
        c.is_alphabetic() && !SKIPPED.contains(&c) && cases().all(|c| !c.is_ascii())
    };
    !name.is_ascii() && !std::str::from_utf8(name).is_ok_and(|name| name.chars().any(is_other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn opened(dir: &Path) -> OwnedFd {
        rustix::fs::open(dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
    }

    fn names(target: &Path, masked: &[&str]) -> LayerNames {
        let masked = masked.iter().map(|path| target.join(path));
        let more =
            (0..MANY).flat_map(|n| [target.join(format!(".m{n}")), target.join(format!(".config/m{n}"))]);
        LayerNames::of(&SandboxSpec { masked: masked.chain(more).collect(), ..SandboxSpec::default() })
    }

    #[test]
    fn a_path_is_missing_only_if_a_directory_on_its_way_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let target = Path::new("/home/me");
        for made in [".ssh", ".CONFIG", ".config/gh", ".few/deep"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        let layer = opened(dir.path());
        let mut known = names(target, &[]);
        let mut may = |path: &str| known.may_have((target, 0), &layer, Path::new(path));
        assert!(may(".ssh") && may(".config") && may(".config/gh") && may(".few"));
        // Not many paths are masked there: the lookup says whether it exists.
        assert!(may(".few/deep") && may(".few/other"));
        assert!(!may(".aws") && !may(".aws/credentials") && !may(".config/other") && !may(".config/other/x"));
        // Another case may be the same name.
        assert!(may(".SSH") && may(".config/GH"));
        // Of another layer nothing is known yet.
        let empty = tempfile::tempdir().unwrap();
        assert!(!known.may_have((target, 1), &opened(empty.path()), Path::new(".ssh")));
        assert!(known.may_have((target, 0), &layer, Path::new(".ssh")));
    }

    #[test]
    fn what_is_not_certain_is_looked_up() {
        let target = Path::new("/home/me");
        let has = |make: &dyn Fn(&Path), path: &str| {
            let dir = tempfile::tempdir().unwrap();
            make(dir.path());
            names(target, &[]).may_have((target, 0), &opened(dir.path()), Path::new(path))
        };
        let touch = |name: &'static str| move |dir: &Path| fs::write(dir.join(name), "").unwrap();
        assert!(!has(&|_| {}, ".ssh"));
        assert!(!has(&|_| {}, ".config/gh"), "the directory itself is missing");
        for other in ["Téléchargements", "Документы", "文書", "a~1"] {
            assert!(!has(&touch(other), ".ssh"), "{other}");
        }
        for odd in [".\u{17f}\u{17f}h", ".s\u{200d}sh", ".\u{115f}ssh"] {
            assert!(has(&touch(odd), ".ssh"), "{odd:?} may be the same name");
        }
        let many = |dir: &Path| (0..=MOST).for_each(|n| fs::write(dir.join(n.to_string()), "").unwrap());
        assert!(has(&many, ".ssh"));
        let linked = |dir: &Path| std::os::unix::fs::symlink("/", dir.join(".config")).unwrap();
        assert!(has(&linked, ".config/gh"), "a link may lead anywhere");
        let file = |dir: &Path| fs::write(dir.join(".config"), "").unwrap();
        assert!(has(&file, ".config/gh"));
    }
}
