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
