//! Notices that a person reads once: that no provider is configured, that nothing is known of a model. Where a program
//! starts placet a hundred times, the hundredth time says nothing new.
//!
//! What was shown is a file of hashes in the state directory. Where it cannot be read or written, notices are shown again,
//! and nothing else fails.

use super::AppDirs;
use placet_text::private;
use placet_text::text::regular_file;

/// Notices that are remembered; the oldest go.
const REMEMBERED: usize = 500;
/// Bytes of the file: more is not ours.
const LARGEST: u64 = 64 << 10;

/// True the first time that this installation shows `text`; it counts as shown from now on.
pub fn is_shown_first(dirs: &AppDirs, text: &str) -> bool {
    let file = dirs.state.join("notices");
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let hash = hash.get(..32).unwrap_or_default();
    let shown = regular_file::read_to_string(&file, LARGEST).unwrap_or_default();
    if shown.lines().any(|line| line == hash) {
        return false;
    }
    let mut lines: Vec<&str> = shown.lines().filter(|line| line.len() == hash.len()).collect();
    lines.push(hash);
    let from = lines.len().saturating_sub(REMEMBERED);
    let all = lines.get(from..).unwrap_or_default().join("\n") + "\n";
    // In one step: another placet that starts now reads the old file or the new one.
    if let Err(e) = private::make_dir(&dirs.state).and_then(|()| private::write(&file, all.as_bytes())) {
        tracing::warn!("`{}` was not written: {e}", file.display());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_notice_is_shown_once_and_again_where_nothing_can_be_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home").display().to_string();
        let dirs = AppDirs::from_variables(|name| (name == "HOME").then(|| home.clone())).unwrap();
        let shown = ["one", "one", "two", "one"].map(|text| is_shown_first(&dirs, text));
        assert_eq!(shown, [true, false, true, false]);
        let file = dirs.state.join("notices");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&file, "garbage\n\u{fffd}").unwrap();
        assert_eq!(["one", "one"].map(|text| is_shown_first(&dirs, text)), [true, false]);
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        std::fs::write(file.join("x"), "").unwrap();
        assert_eq!(["one", "one"].map(|text| is_shown_first(&dirs, text)), [true, true]);
    }
}
