//! placet's own files: settings, state, logs. Only their owner may read them, whatever the umask is.
//!
//! The umask cannot do this for us: commands inherit it, and what they create in the workspace must have the modes that
//! the person is used to. So each file that placet makes for itself gets its mode here.

use crate::text::regular_file;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The mode of a file of placet's own.
pub const FILE: u32 = 0o600;
/// The mode of a directory of placet's own.
pub const DIR: u32 = 0o700;
/// What anybody but the owner may do.
const OTHERS: u32 = 0o077;

/// Replaces a file in one step: a reader, and a crash, meet the old content or the new one.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A temporary file has the mode 0600 from the start.
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// The same in place and without waiting for the disk, for marks whose loss does no harm.
pub fn write_quick(path: &Path, bytes: &[u8]) -> io::Result<()> {
    regular_file::check(path)?;
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(FILE).open(path)?;
    file.write_all(bytes)
}

/// Makes a directory and what is missing above it. One that is there keeps its mode.
pub fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIR).create(path)
}

/// Takes from others what they may do with a file or a directory of ours; the mode it had, if that was more than it
/// should. A link, another owner's file and what is not there stay as they are.
pub fn tighten(path: &Path) -> io::Result<Option<u32>> {
    let meta = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mode = meta.mode() & 0o7777;
    let ours = meta.uid() == rustix::process::geteuid().as_raw();
    if meta.is_symlink() || !ours || mode & OTHERS == 0 {
        return Ok(None);
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode & !OTHERS))?;
    Ok(Some(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looser_is_tightened_once_and_links_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("f"), dir.path().join("l"));
        fs::write(&file, "x").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(tighten(&link).unwrap(), None);
        assert_eq!(tighten(&file).unwrap(), Some(0o666));
        assert_eq!(tighten(&file).unwrap(), None);
        assert_eq!(tighten(&dir.path().join("none")).unwrap(), None);
        write(&file, b"new").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, FILE);
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }
}
