//! What changes while a background command runs reaches it, and is not taken for its doing.

use crate::support::job_calls::{background, begun, results};
use crate::support::require::{has_view, require};
use serde_json::{Value, json};

fn edit(old: &str, new: &str) -> (&'static str, String) {
    ("edit_file", json!({"path": "a.txt", "old_string": old, "new_string": new}).to_string())
}

fn read() -> (&'static str, String) {
    ("read_file", json!({"path": "a.txt"}).to_string())
}

fn command(line: &str) -> (&'static str, String) {
    ("run_command", json!({"command": line}).to_string())
}

fn write(path: &str, content: &str) -> (&'static str, String) {
    ("write_file", json!({"path": path, "content": content}).to_string())
}

fn wait() -> (&'static str, String) {
    ("job", json!({"action": "wait", "job": 1, "timeout_ms": 30000}).to_string())
}

/// What is pending, as `placet changes --json` names it: a letter and a path each.
fn pending(place: &crate::support::binary::Place) -> Vec<String> {
    let found = place.run(["changes", "--json"]).json();
    let text = |change: &Value, key: &str| change[key].as_str().unwrap().to_owned();
    let row = |change: &Value| {
        let path = text(change, "path");
        let path = std::path::Path::new(&path).strip_prefix(&place.tree).unwrap();
        format!("{} {}", text(change, "change"), path.display())
    };
    found.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn edits_new_files_and_removed_ones_reach_it_and_are_not_its_effects() {
    if !has_view() {
        return;
    }
    for mode in ["ask", "write"] {
        let (place, server) = begun();
        std::fs::write(place.tree.join("old.txt"), "old\n").unwrap();
        // Whatever it waits for comes from a call after its start; then that goes again.
        let line = "until grep -q one a.txt; do sleep 0.02; done; echo edited\n\
                    until [ -h sub/link ] && grep -qs deep sub/dir/new.txt && [ -x sub/dir/run.sh ]; do sleep 0.02; done; stat -c %a sub/dir/run.sh\n\
                    until ! [ -e old.txt ]; do sleep 0.02; done; echo removed\n\
                    until ! [ -e sub/dir/new.txt ]; do sleep 0.02; done; readlink sub/link; echo all";
        let calls = [
            ("run_command", background(line)),
            read(),
            edit("1", "one"),
            command(
                "mkdir -p sub/dir; echo '#!/bin/sh' > sub/dir/run.sh; chmod 755 sub/dir/run.sh; ln -s dir sub/link; echo deep > sub/dir/new.txt",
            ),
            command("rm old.txt"),
            command("rm sub/dir/new.txt"),
            wait(),
        ];
        let (told, _) = results(&place, &server, mode, &calls);
        assert!(told[0].contains("it sees later changes too"), "{mode}: {told:?}");
        assert!(
            told[6].starts_with("edited\n755\nremoved\ndir\nall\n[job 1: exit code 0 after "),
            "{mode}: {told:?}"
        );
        assert!(!told[6].contains("[effects"), "{mode}: {told:?}");
        if mode == "ask" {
            let expected = [
                "modified a.txt",
                "deleted old.txt",
                "created sub",
                "created sub/dir",
                "created sub/dir/run.sh",
                "created sub/link",
            ];
            assert_eq!(pending(&place), expected);
        } else {
            assert_eq!(pending(&place), Vec::<String>::new());
            assert!(place.read("a.txt").starts_with("one\n2\n"));
        }
    }
}

#[test]
fn what_it_does_to_a_file_that_it_got_counts_from_there() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    let calls = [
        (
            "run_command",
            background(
                "until grep -q one a.txt; do sleep 0.02; done; sed -i s/one/ONE/ a.txt; echo x > b.txt",
            ),
        ),
        read(),
        edit("1", "one"),
        wait(),
        command("cat a.txt b.txt"),
    ];
    let (told, _) = results(&place, &server, "ask", &calls);
    assert!(told[3].contains("[effects: 1 created, 1 modified: a.txt, b.txt; pending"), "{told:?}");
    assert!(!told[3].contains("job-1") && !told[3].contains("merged"), "{told:?}");
    assert!(told[4].starts_with("ONE\n2\n3\n4\n5\n6\n7\n8\n9\nx\n"), "{told:?}");
}

#[test]
fn a_file_that_it_has_changed_itself_stays_its_own_until_the_end() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    let calls = [
        (
            "run_command",
            background("sed -i s/9/nine/ a.txt; until [ -e go ]; do sleep 0.02; done; cat a.txt"),
        ),
        read(),
        edit("1", "one"),
        write("go", ""),
        wait(),
        command("cat a.txt"),
    ];
    let (told, _) = results(&place, &server, "ask", &calls);
    assert!(told[4].starts_with("1\n2\n3\n4\n5\n6\n7\n8\nnine\n[job 1: exit code 0"), "{told:?}");
    assert!(told[4].contains("[changed by others as well, and merged: a.txt]"), "{told:?}");
    assert!(told[5].starts_with("one\n2\n3\n4\n5\n6\n7\n8\nnine\n"), "{told:?}");
}

#[test]
fn a_watcher_gets_the_event_of_an_edit() {
    if !has_view() || !require("python3") {
        return;
    }
    let (place, server) = begun();
    let watch = "import ctypes, os\n\
                 c = ctypes.CDLL(None)\n\
                 fd = c.inotify_init1(0)\n\
                 # IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_TO, IN_CREATE\n\
                 assert c.inotify_add_watch(fd, b'.', 0x2 | 0x8 | 0x80 | 0x100) >= 0\n\
                 open('/tmp/ready', 'w').close()\n\
                 while b'a.txt\\0' not in os.read(fd, 4096): pass\n\
                 print('event:', open('a.txt').readline().strip())\n";
    std::fs::write(place.tree.join("watch.py"), watch).unwrap();
    let calls = [
        (
            "run_command",
            background("python3 watch.py & until [ -e /tmp/ready ]; do sleep 0.02; done; echo ready; wait"),
        ),
        ("job", json!({"action": "wait", "until": "ready", "job": 1}).to_string()),
        read(),
        edit("1", "one"),
        wait(),
    ];
    let (told, _) = results(&place, &server, "ask", &calls);
    assert!(told[4].contains("event: one"), "{told:?}");
}
