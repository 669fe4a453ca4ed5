//! The contents of files that a running command changes, for a person who looks: before the command, and as they are now.
//!
//! The command goes on: a file may be half written, or be something else by the time it is opened.

use super::running_changes::{RunningChanges, RunningLayer};
use crate::files::opening::open_at::open_beneath_slash;
use placet_text::text::LineDiff;
use placet_text::text::patch::{quoted, unified};
use rustix::fs::{FileType, OFlags, Stat, fstat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// The largest file that is shown or counted.
const LARGEST: u64 = 1 << 20;

/// The most bytes that are read for the counts of one look: the next look continues.
const READ_AT_ONCE: u64 = 8 << 20;

/// Why the difference of a path cannot be shown.
#[derive(Debug, Error)]
pub enum RunningFileError {
    #[error("it is not part of the workspace")]
    Elsewhere,
    #[error("it is not a regular file")]
    NoFile,
    #[error("it is larger than {} bytes", LARGEST)]
    TooLarge,
    #[error("it is not text")]
    NoText,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// One side of a change; `None` where there is no file.
type Side = Option<Vec<u8>>;

/// The difference of `path` as a patch, with `name` as its name; empty where there is none.
pub fn running_patch(layers: &[RunningLayer], path: &Path, name: &Path) -> Result<Vec<u8>, RunningFileError> {
    let (before, after) = sides(layers, path)?;
    let mut out = Vec::new();
    // Written again with the same content, or made and removed.
    if before == after {
        return Ok(out);
    }
    let name = name.as_os_str().as_bytes();
    let (a, b) = (quoted("a/", name), quoted("b/", name));
    let kind = match (&before, &after) {
        (None, _) => "new file mode 100644\n",
        (_, None) => "deleted file mode 100644\n",
        _ => "",
    };
    let from = if before.is_some() { &a } else { "/dev/null" };
    let to = if after.is_some() { &b } else { "/dev/null" };
    out.extend_from_slice(format!("diff --git {a} {b}\n{kind}--- {from}\n+++ {to}\n").as_bytes());
    unified(&before.unwrap_or_default(), &after.unwrap_or_default(), &mut out);
    Ok(out)
}

/// How many lines were added and removed in files, remembered as long as a file does not change.
#[derive(Debug, Default)]
pub struct RunningCounts {
    known: HashMap<PathBuf, (FileMark, Option<(usize, usize)>)>,
}

/// What changes when a file is written.
type FileMark = (u64, u64, i64, i64);

impl RunningCounts {
    /// The counts of each of these changes, in their order; `None` where a path is no text, or was not read yet.
    pub fn of(&mut self, layers: &[RunningLayer], changes: &RunningChanges) -> Vec<Option<(usize, usize)>> {
        let mut left = READ_AT_ONCE;
        changes.changes.iter().map(|(path, _)| self.count(layers, path, &mut left)).collect()
    }

    fn count(&mut self, layers: &[RunningLayer], path: &Path, left: &mut u64) -> Option<(usize, usize)> {
        let (layer, relative) = layer_of(layers, path)?;
        // A deleted file has no mark of its own, and does not change.
        let mark = match open(&layer.upper.join(relative)) {
            Ok((_, stat)) => mark_of(&stat),
            Err(_) => FileMark::default(),
        };
        if let Some((known, counts)) = self.known.get(path)
            && *known == mark
        {
            return *counts;
        }
        if *left == 0 {
            return None;
        }
        let counts = sides(layers, path).ok().and_then(|(before, after)| {
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            *left = left.saturating_sub((before.len() + after.len()) as u64);
            let texts = (std::str::from_utf8(&before).ok()?, std::str::from_utf8(&after).ok()?);
            Some(LineDiff::new(texts.0, texts.1).counts()).filter(|counts| *counts != (0, 0))
        });
        self.known.insert(path.to_path_buf(), (mark, counts));
        counts
    }
}

#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "the types of the fields differ between systems"
)]
fn mark_of(stat: &Stat) -> FileMark {
    (
        stat.st_ino as u64,
        u64::try_from(stat.st_size).unwrap_or(0),
        stat.st_mtime as i64,
        stat.st_mtime_nsec as i64,
    )
}

fn layer_of<'a>(layers: &'a [RunningLayer], path: &'a Path) -> Option<(&'a RunningLayer, &'a Path)> {
    layers.iter().find_map(|layer| Some((layer, path.strip_prefix(&layer.target).ok()?)))
}

fn sides(layers: &[RunningLayer], path: &Path) -> Result<(Side, Side), RunningFileError> {
    let (layer, relative) = layer_of(layers, path).ok_or(RunningFileError::Elsewhere)?;
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(RunningFileError::NoFile);
    }
    let mut before = Entry::Absent;
    for lower in &layer.lowers {
        before = read(&lower.join(relative))?;
        if !matches!(before, Entry::Absent) {
            break;
        }
    }
    let after = match read(&layer.upper.join(relative))? {
        // Nothing in the layer: the program took its change back.
        Entry::Absent => before.clone(),
        found => found,
    };
    Ok((before.file()?, after.file()?))
}

/// What is at a place of a layer.
#[derive(Clone)]
enum Entry {
    Absent,
    Whiteout,
    File(Vec<u8>),
    Other,
}

impl Entry {
    fn file(self) -> Result<Side, RunningFileError> {
        match self {
            Entry::Absent | Entry::Whiteout => Ok(None),
            Entry::File(bytes) if bytes.contains(&0) => Err(RunningFileError::NoText),
            Entry::File(bytes) => Ok(Some(bytes)),
            Entry::Other => Err(RunningFileError::NoFile),
        }
    }
}

fn read(path: &Path) -> Result<Entry, RunningFileError> {
    let (file, stat) = match open(path) {
        Ok(opened) => opened,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Entry::Absent),
        // A link, a socket, a device without a driver: the whiteout of an overlay is one.
        Err(Errno::LOOP | Errno::NXIO | Errno::NODEV) => return Ok(special(path)),
        Err(e) => return Err(io::Error::from(e).into()),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::CharacterDevice => return Ok(special(path)),
        _ => return Ok(Entry::Other),
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(RunningFileError::TooLarge);
    }
    Ok(Entry::File(bytes))
}

fn special(path: &Path) -> Entry {
    let is_whiteout =
        rustix::fs::lstat(path).is_ok_and(|stat| crate::view::layers::layer::is_whiteout(&stat));
    if is_whiteout { Entry::Whiteout } else { Entry::Other }
}

/// Opens a path without following links: the program chose all of them. A fifo does not make anybody wait.
fn open(path: &Path) -> Result<(File, Stat), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open_beneath_slash(path, flags)?;
    let stat = fstat(&file)?;
    Ok((File::from(file), stat))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::change_set::ChangeKind;
    use std::fs;

    fn layers(base: &Path) -> Vec<RunningLayer> {
        let (root, upper) = (base.join("w"), base.join("upper"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&upper).unwrap();
        vec![RunningLayer { target: root.clone(), lowers: vec![root], upper }]
    }

    #[test]
    fn a_difference_follows_no_link_and_waits_for_no_fifo() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let layers = layers(&base);
        fs::write(base.join("secret"), "outside\n").unwrap();
        fs::write(base.join("w/a"), "one\ntwo\n").unwrap();
        fs::write(base.join("upper/a"), "one\n2\n").unwrap();
        let patch = running_patch(&layers, &base.join("w/a"), Path::new("a")).unwrap();
        let expected = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
        assert_eq!(String::from_utf8_lossy(&patch), expected);
        std::os::unix::fs::symlink(base.join("secret"), base.join("upper/link")).unwrap();
        std::os::unix::fs::symlink(&base, base.join("upper/dir")).unwrap();
        placet_text::text::regular_file::make_pipe(&base.join("upper/fifo"));
        fs::write(base.join("upper/binary"), b"a\0b").unwrap();
        fs::write(base.join("upper/large"), vec![b'x'; 2 << 20]).unwrap();
        let why =
            |path: &str| running_patch(&layers, &base.join("w").join(path), Path::new(path)).unwrap_err();
        assert!(matches!(why("link"), RunningFileError::NoFile));
        assert!(matches!(why("dir/secret"), RunningFileError::NoFile | RunningFileError::Io(_)));
        assert!(matches!(why("fifo"), RunningFileError::NoFile));
        assert!(matches!(why("binary"), RunningFileError::NoText));
        assert!(matches!(why("large"), RunningFileError::TooLarge));
        assert!(matches!(why("../secret"), RunningFileError::NoFile | RunningFileError::Io(_)));
    }

    #[test]
    fn lines_are_counted_again_when_a_file_changes() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let layers = layers(&base);
        fs::write(base.join("upper/new"), "1\n2\n").unwrap();
        let changes =
            RunningChanges { changes: vec![(base.join("w/new"), ChangeKind::Created)], is_cut: false };
        let mut counts = RunningCounts::default();
        assert_eq!(counts.of(&layers, &changes), [Some((2, 0))]);
        fs::write(base.join("upper/new"), "1\n2\n3\n").unwrap();
        assert_eq!(counts.of(&layers, &changes), [Some((3, 0))]);
    }
}
