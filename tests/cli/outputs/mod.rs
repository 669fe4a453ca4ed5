//! What every command prints: standard output, standard error and exit code, compared with snapshots in
//! `tests/snapshots/outputs/`, one file per command line. The harness is `tests/support/output.rs`; its header names
//! the command that updates the snapshots.

mod changes;
mod help;
mod information;
mod journal;
mod permission;
mod print;
mod providers;
mod sandbox;
mod sessions;
mod settings;
mod shell;
mod tools;
mod usage_errors;

use std::path::Path;

/// A reader takes every snapshot for what placet prints, also one whose case was removed.
#[test]
fn every_snapshot_has_its_case() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(root.join("tests/snapshots/outputs")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = file.strip_suffix(".snap") else { continue };
        let (group, case) = name.split_once("__").unwrap_or_else(|| panic!("{file}: no group"));
        let cases = std::fs::read_to_string(root.join(format!("tests/cli/outputs/{group}.rs"))).unwrap();
        assert!(cases.contains(&format!("\"{case}\"")), "{file}: {group}.rs has no case of this name");
        count += 1;
    }
    assert!(count >= 120, "{count} snapshots");
}
