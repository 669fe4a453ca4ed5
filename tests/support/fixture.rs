//! Files that a test compares with, byte for byte. `PLACET_UPDATE=1` writes them anew: read the difference in git.

use std::path::Path;

pub fn same(path: &Path, found: &str) {
    if std::env::var_os("PLACET_UPDATE").is_some() {
        std::fs::write(path, found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if found != expected {
        let changes = similar::TextDiff::from_lines(expected.as_str(), found);
        panic!("{}\n{}", path.display(), changes.unified_diff().header("expected", "found"));
    }
}

/// A picture of one point.
pub const PNG: [u8; 67] = [
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 58,
    126, 155, 85, 0, 0, 0, 10, 73, 68, 65, 84, 120, 156, 99, 96, 0, 0, 0, 2, 0, 1, 72, 175, 164, 113, 0, 0,
    0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];
