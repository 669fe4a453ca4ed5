//! Commands that create very many files: the memory that a list of them takes grows by little for each file, and what is
//! listed is applied and undone as always. The real binary.

use crate::support::is_full;
use crate::support::program::placet;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Bytes for each changed file that a process may need. A record, a change and their path take some 400.
const MOST: u64 = 700;
const FILES: usize = 10_000;

fn ground() -> Option<Txn> {
    if !has_view() || !require("git") {
        return None;
    }
    let txn = Txn::on_disk();
    let setup = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e; \
                 git init -q -b main . && git commit -q --allow-empty -m first";
    assert_eq!(txn.sh(&txn.tree, setup), 0);
    Some(txn)
}

/// The most memory that the program had with these arguments, in bytes, and what it printed.
fn peak(txn: &Txn, args: &[&str]) -> (u64, String) {
    let home = txn.base.join("home");
    let printed = txn.base.join("printed");
    let mut command = Command::new(placet());
    command.args(args).current_dir(&txn.tree).env("HOME", &home).env("XDG_CONFIG_HOME", home.join("config"));
    command.env("XDG_STATE_HOME", home.join("state")).env("XDG_CACHE_HOME", home.join("cache"));
    command.stdin(Stdio::null()).stdout(std::fs::File::create(&printed).unwrap()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let now = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or(0) << 10);
        std::thread::sleep(Duration::from_millis(2));
    }
    (most, std::fs::read_to_string(printed).unwrap())
}

/// Bytes of memory for each more file.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BytesForEach {
    ran: u64,
    listed: u64,
    applied: u64,
    undone: u64,
}

/// Runs `line` for some files and for twice as many, lists, applies and undoes the changes.
fn bytes_for_each(line: &dyn Fn(usize) -> String, apply: &[&str]) -> Option<BytesForEach> {
    if !is_full() {
        return None;
    }
    let mut peaks = Vec::new();
    for files in [FILES, 2 * FILES] {
        let txn = ground()?;
        let (ran, _) = peak(&txn, &["sandbox", "run", "--", &line(files)]);
        let (listed, rows) = peak(&txn, &["changes"]);
        assert!(rows.lines().count() < 600 && rows.contains(&files.to_string()), "{rows:.600}");
        let (applied, said) = peak(&txn, apply);
        assert!(said.starts_with("applied changes to "), "{said:.600}");
        let (undone, said) = peak(&txn, &["undo"]);
        assert!(said.starts_with("undid changes to "), "{said:.600}");
        peaks.push([ran, listed, applied, undone]);
    }
    let [few, many] = peaks.as_slice() else { return None };
    let each = |n: usize| many[n].saturating_sub(few[n]) / FILES as u64;
    Some(BytesForEach { ran: each(0), listed: each(1), applied: each(2), undone: each(3) })
}

fn is_little(each: &BytesForEach) -> bool {
    [each.ran, each.listed, each.applied, each.undone].iter().all(|bytes| *bytes < MOST)
}

/// Story: 500,000 refs of a command took 757 MB, and an apply of them 522 MB.
#[test]
fn loose_refs_take_little_memory_each() {
    let line = |files: usize| {
        format!(
            "mkdir -p .git/refs/heads/x; yes $(git rev-parse HEAD) | head -n {files} | split -l 1 -a 5 - .git/refs/heads/x/b"
        )
    };
    // So many refs are not read for commits with protected files: the repository waits.
    let apply = ["apply", "--apply-protected", ".git"];
    let Some(each) = bytes_for_each(&line, &apply) else { return };
    assert!(is_little(&each), "for each ref: {each:?}");
}

#[test]
fn new_files_take_little_memory_each() {
    let line = |files: usize| format!("mkdir -p new/d; seq {files} | split -l 1 -a 5 - new/d/f");
    let Some(each) = bytes_for_each(&line, &["apply"]) else { return };
    assert!(is_little(&each), "for each file: {each:?}");
}

/// Records are written for many files before any of them is moved: none may be lost between two groups.
#[test]
fn every_file_of_a_large_command_is_applied_and_undone() {
    let Some(txn) = ground() else { return };
    let count = |dir: &Path| std::fs::read_dir(dir).map_or(0, Iterator::count);
    std::fs::create_dir_all(txn.tree.join("kept")).unwrap();
    for n in 0..600 {
        std::fs::write(txn.tree.join(format!("kept/{n}")), "old").unwrap();
    }
    // New files, changed ones, removed ones, a file in place of a directory and the other way round.
    let line = "mkdir new; seq 700 | split -l 1 -a 4 - new/f; \
                for n in $(seq 0 299); do echo longer > kept/$n; done; for n in $(seq 300 399); do echo OLD | head -c 3 > kept/$n; done; \
                rm -r kept/4??; rm kept/599; mkdir kept/599; seq 300 | split -l 1 -a 4 - kept/599/x; rm kept/598; ln -s x kept/598";
    assert_eq!(txn.run(["sandbox", "run", "--", line]).code, 3);
    assert_eq!((count(&txn.tree.join("kept")), count(&txn.tree.join("new"))), (600, 0));
    // A second command sees all of it, and adds to it.
    let more = "test $(ls new | wc -l) = 700 && test $(ls kept/599 | wc -l) = 300 && seq 500 | split -l 1 -a 4 - new/g";
    let input = serde_json::json!({ "command": more }).to_string();
    let out = txn.run(["apply", "--apply-loss", "102"]);
    assert_eq!(out.code, 0, "{out:#?}");
    assert_eq!((count(&txn.tree.join("kept")), count(&txn.tree.join("new"))), (500, 700));
    assert_eq!(count(&txn.tree.join("kept/599")), 300);
    assert_eq!(std::fs::read_to_string(txn.tree.join("kept/350")).unwrap(), "OLD");
    let out = txn.run(["tool", "call", "run_command", input.as_str(), "--mode", "write"]);
    assert_eq!(out.code, 0, "{out:#?}");
    assert_eq!(count(&txn.tree.join("new")), 1200);
    for _ in 0..2 {
        let out = txn.run(["undo"]);
        assert_eq!(out.code, 0, "{out:#?}");
    }
    assert_eq!((count(&txn.tree.join("kept")), count(&txn.tree.join("new"))), (600, 0));
    assert!((0..600).all(|n| std::fs::read(txn.tree.join(format!("kept/{n}"))).unwrap() == b"old"));
}

/// Story: a discard of 20,000 new files took ten seconds, because each of them was linked.
#[test]
fn a_discard_of_everything_comes_back_whole() {
    let Some(txn) = ground() else { return };
    std::fs::write(txn.tree.join("old"), "old").unwrap();
    let line = "mkdir new; seq 1200 | split -l 1 -a 4 - new/f; echo more > old; git commit -q --allow-empty -m second";
    let env = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e;";
    let line = format!("{env} {line}");
    assert_eq!(txn.run(["sandbox", "run", "--", line.as_str()]).code, 3);
    let listed = txn.run(["changes"]).stdout;
    assert!(listed.contains("A new/ (1200 files") && listed.contains("second"), "{listed}");
    // Nothing is pending, and all of it comes back, twice.
    for _ in 0..2 {
        assert_eq!(txn.run(["discard"]).code, 0);
        assert_eq!(txn.run(["changes"]).stdout, "");
        let out = txn.run(["undo"]);
        assert_eq!((out.code, txn.run(["changes"]).stdout), (0, listed.clone()), "{out:#?}");
    }
    // Another change may become pending after a discard.
    assert_eq!(txn.run(["discard"]).code, 0);
    assert_eq!(txn.run(["sandbox", "run", "--", "echo other > other"]).code, 3);
    assert_eq!(txn.run(["changes"]).stdout, "A other +1\n".replace("+1", "+1 -0"));
    assert_eq!(txn.run(["apply"]).code, 0);
    assert_eq!(std::fs::read_to_string(txn.tree.join("old")).unwrap(), "old");
}
