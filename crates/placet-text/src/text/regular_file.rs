//! Reads a file of unknown origin: only a regular file, up to a size that the caller sets.
//!
//! `std::fs::read` waits for ever on a pipe and fills the memory from `/dev/zero`, and a workspace may contain links to
//! both. Links are followed here: a person may have `AGENTS.md` as a link. `workspace::open` opens files without
//! following links.

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest file of settings, keys, a theme or a catalog. No person writes a larger one.
pub const SETTINGS: u64 = 4 << 20;

/// Opens a regular file for reading. Never waits: a pipe, a device or a directory is an error.
pub fn open(path: &Path) -> io::Result<File> {
    // Before the open, because the open of some devices already has an effect.
    refuse_special(&std::fs::metadata(path)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    refuse_special(&file.metadata()?)?;
    Ok(file)
}

/// Checks a file that is opened for writing next: a pipe, a device or a directory is an error. A missing file is not an
/// error.
pub fn check(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(meta) => refuse_special(&meta),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// Reads a regular file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than allowed shows that a file is larger than its stated size, as in /proc.
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {most} bytes")));
    }
    Ok(bytes)
}

/// The same as text in UTF-8.
pub fn read_to_string(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not valid UTF-8"))
}

fn refuse_special(meta: &std::fs::Metadata) -> io::Result<()> {
    match meta.is_file() {
        true => Ok(()),
        false if meta.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// A named pipe for a test. Not every system has the call that makes one at a path.
#[cfg(any(test, feature = "test-support"))]
#[allow(clippy::unwrap_used, reason = "a helper of tests")]
pub fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success(), "{}", path.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_a_device_and_a_large_file_are_errors_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("f"), "text").unwrap();
        make_pipe(&at("pipe"));
        for (target, link) in [("f", "link"), ("/dev/zero", "zero"), ("pipe", "to-pipe"), ("loop", "loop")] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        assert_eq!(read(&at("f"), 4).unwrap(), b"text");
        assert_eq!(read_to_string(&at("link"), 4).unwrap(), "text");
        assert_eq!(read(&at("f"), 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(dir.path(), 3).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        for name in ["pipe", "zero", "to-pipe"] {
            assert_eq!(read(&at(name), 9).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        assert!(read(&at("loop"), 9).is_err());
        std::fs::write(at("f"), b"\xff").unwrap();
        assert_eq!(read_to_string(&at("f"), 9).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
