//! The devices of this machine that the setting `sandbox.devices` names.

use crate::text::NameGlob;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How deep devices are: `/dev/bus/usb/001/002`.
const DEEPEST: usize = 4;

/// The character devices below `/dev` that match a pattern, in order. A pattern that cannot be read matches nothing.
pub(crate) fn matching<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Vec<PathBuf> {
    let patterns: Vec<NameGlob> =
        patterns.into_iter().filter_map(|pattern| NameGlob::of_path(pattern).ok()).collect();
    let mut found = Vec::new();
    if !patterns.is_empty() {
        add(Path::new("/dev"), DEEPEST, &mut found);
        found.retain(|path| patterns.iter().any(|pattern| pattern.is_match(path)));
    }
    found.sort();
    found
}

/// Adds all devices of one file system: `shm` and `pts` are others.
fn add(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let device = |path: &Path| path.metadata().ok().map(|known| known.dev());
    let here = device(dir);
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && depth > 1 && device(&path) == here {
            add(&path, depth - 1, found);
        } else if kind.is_char_device() {
            found.push(path);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_character_devices_below_dev_and_nothing_else() {
        let all = |patterns: &[&str]| matching(patterns.iter().copied());
        assert_eq!(all(&["/dev/null", "/dev/zer?"]), ["/dev/null", "/dev/zero"].map(PathBuf::from));
        for none in ["/dev", "/dev/shm", "/dev/fd", "/dev/[", "/etc/passwd", "null", "/dev/../dev/null", ""] {
            assert_eq!(all(&[none]), Vec::<PathBuf>::new(), "{none}");
        }
        assert!(all(&["/dev/*"]).iter().all(|path| path.parent() == Some(Path::new("/dev"))));
        assert!(matching([]).is_empty());
    }
}
