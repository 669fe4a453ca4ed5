//! Files against the clock: searching a tree of 50,000 files (beside `rg`), editing in 100 MB, a window in 1 GB.
//!
//! `cargo bench --bench files`. Prints ratios, because milliseconds are the machine's and ratios are ours.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a bench stops at the first surprise and prints"
)]

mod desk;

use desk::{Bench, median, other, report};
use serde_json::json;
use std::path::Path;

fn tree(root: &Path) {
    for dir in 0..500 {
        let path = root.join(format!("d{:02}/s{dir:03}", dir % 20));
        std::fs::create_dir_all(&path).unwrap();
        for file in 0..100 {
            let lines = (0..40).map(|n| format!("let value_{n} = compute({dir}, {file}, {n});\n"));
            let needle = if (dir * 100 + file) % 997 == 0 { "// NEEDLE here\n" } else { "" };
            std::fs::write(path.join(format!("file{file}.rs")), lines.collect::<String>() + needle).unwrap();
        }
    }
    std::fs::write(root.join(".gitignore"), "*.o\n/target/\nbuild/\n").unwrap();
    std::fs::create_dir(root.join(".git")).unwrap();
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    tree(&root);
    let bench = Bench::new(&root);
    let ours = median(|| drop(bench.call("search_contents", json!({"pattern": "NEEDLE"}))));
    report("search_contents, 50,000 files", ours, "rg", other(&root, "rg", &["-n", "NEEDLE"]));
    let ours = median(|| drop(bench.call("search_contents", json!({"pattern": "value_3[0-9] = .*99, 7"}))));
    report("search_contents by regex", ours, "rg", other(&root, "rg", &["-n", "value_3[0-9] = .*99, 7"]));
    let ours = median(|| drop(bench.call("find_files", json!({"pattern": "*.rs"}))));
    report("find_files, 50,000 files", ours, "rg", other(&root, "rg", &["--files", "-g", "*.rs"]));
    report("(rg --files alone)", ours, "rg", other(&root, "rg", &["--files"]));
    let line = format!("{}\n", "y".repeat(99));
    std::fs::write(root.join("big"), line.repeat(1_000_000) + "the end\n").unwrap();
    bench.call("read_file", json!({"path": "big", "offset": 1_000_000, "limit": 1}));
    let mut turn = false;
    let ours = median(|| {
        turn = !turn;
        let (old, new) = if turn { ("the end", "an end") } else { ("an end", "the end") };
        bench.call("edit_file", json!({"path": "big", "old_string": old, "new_string": new}));
    });
    report("edit_file in 100 MB", ours, "", None);
    let big = std::fs::File::create(root.join("huge")).unwrap();
    let chunk = line.repeat(100_000);
    for _ in 0..100 {
        std::io::Write::write_all(&mut &big, chunk.as_bytes()).unwrap();
    }
    for offset in [100, 5_000_000, 9_999_000] {
        let input = json!({"path": "huge", "offset": offset, "limit": 100});
        report(
            &format!("read_file in 1 GB at line {offset}"),
            median(|| drop(bench.call("read_file", input.clone()))),
            "",
            None,
        );
    }
}
