//! What changes while a background command runs reaches it, and is not taken for its doing.

use crate::support::job_calls::{background, begun, call, pending, results};
use crate::support::mock_server::{Reply, Say};
use crate::support::require::{has_view, require};
use crate::support::wait::until;
use rustix::process::Signal;
use serde_json::json;

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

fn wait_for(text: &str) -> String {
    json!({"action": "wait", "until": text, "job": 1, "timeout_ms": 20000}).to_string()
}

fn wait() -> (&'static str, String) {
    ("job", json!({"action": "wait", "job": 1, "timeout_ms": 30000}).to_string())
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
        assert!(told[0].contains("it sees later edits too"), "{mode}: {told:?}");
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

/// Story: an edit of a file in it brought the directory back that the job had removed.
#[test]
fn what_it_removed_or_replaced_stays_its_own() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    let outside = place.beside("outside.txt");
    std::fs::write(&outside, "outside\n").unwrap();
    for name in ["dist/a.txt", "kept/a.txt", "pipe.txt", "link.txt", "late.txt"] {
        place.write(name, "old\n");
    }
    let line = format!(
        "rm -r dist; rm -r kept; ln -s /tmp kept; rm pipe.txt; mkfifo pipe.txt; ln -sf {} link.txt; echo ready; \
         until grep -q new late.txt; do sleep 0.02; done; \
         [ -e dist ] || echo no dist; [ -e /tmp/a.txt ] || echo no file; [ -p pipe.txt ] && readlink link.txt",
        outside.display()
    );
    let mut calls = vec![
        ("run_command", background(&line)),
        ("job", json!({"action": "wait", "until": "ready", "job": 1}).to_string()),
    ];
    for name in ["dist/a.txt", "dist/b.txt", "kept/a.txt", "pipe.txt", "link.txt", "late.txt"] {
        calls.push(("run_command", json!({"command": format!("echo new > {name}")}).to_string()));
    }
    calls.push(wait());
    calls.push(command("cat dist/a.txt dist/b.txt kept/a.txt late.txt"));
    let (told, _) = results(&place, &server, "ask", &calls);
    let end = &told[told.len() - 2];
    assert!(
        end.starts_with(&format!("no dist\nno file\n{}\n[job 1: exit code 0", outside.display())),
        "{told:?}"
    );
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "outside\n");
    assert!(told.last().unwrap().starts_with("new\nnew\nnew\nnew\n[exit code 0"), "{told:?}");
}

/// A directory that it got goes with what was in it; of one that it has files in, these stay.
#[test]
fn directories_that_were_made_for_it_go_again() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    place.write("had/old.txt", "old\n");
    let line = "until [ -e new/sub/x ]; do sleep 0.02; done; echo got; until ! [ -e new ]; do sleep 0.02; done; echo gone; \
                until ! [ -e had/old.txt ]; do sleep 0.02; done; echo all";
    let calls = [
        ("run_command", background(line)),
        write("new/sub/x", "x\n"),
        ("job", json!({"action": "wait", "until": "got", "job": 1}).to_string()),
        command("rm -r new"),
        command("rm -r had"),
        wait(),
    ];
    let (told, _) = results(&place, &server, "ask", &calls);
    assert!(told[5].starts_with("gone\nall\n[job 1: exit code 0"), "{told:?}");
    assert!(!told[5].contains("[effects") && !told[5].contains("job-1"), "{told:?}");
    assert_eq!(pending(&place), ["deleted had", "deleted had/old.txt"]);
}

/// Story: as root, an edit of a hidden file took the cover away that hides it from the job.
#[test]
fn what_is_hidden_from_it_stays_hidden() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    place.write("private.txt", "SECRET\n");
    place.write("private/x.txt", "SECRET\n");
    let config = place.config_dir().join("config.toml");
    let settings = std::fs::read_to_string(&config).unwrap();
    let mask = format!("sandbox.mask = [\"{0}/private.txt\", \"{0}/private\"]\n", place.tree.display());
    std::fs::write(&config, mask + &settings).unwrap();
    let line =
        "echo ready; until grep -q new a.txt; do sleep 0.02; done; cat private.txt private/*; echo end";
    let edit =
        |path: &str| json!({"path": path, "old_string": "SECRET", "new_string": "SECRET2"}).to_string();
    let read = |path: &str| ("read_file", json!({"path": path}).to_string());
    let calls = [
        ("run_command", background(line)),
        read("private.txt"),
        ("edit_file", edit("private.txt")),
        read("private/x.txt"),
        ("edit_file", edit("private/x.txt")),
        write("private/y.txt", "SECRET\n"),
        command("echo new > a.txt"),
        wait(),
    ];
    let (told, _) = results(&place, &server, "ask", &calls);
    let seen = [&*told[0], told.last().unwrap()].concat();
    assert!(seen.contains("end\n[job 1: exit code 0") && !seen.contains("SECRET"), "{told:?}");
}

/// Story: after a kill in the middle, a file of placet's own was shown as a change.
#[test]
fn a_kill_while_it_gets_an_edit_leaves_nothing_of_that() {
    if !has_view() {
        return;
    }
    let line = background("echo own > own; echo written; exec sleep 1000");
    let (told, edit) = (wait_for("written"), write("b.txt", "new\n").1);
    for step in ["update staged", "update exchanged"] {
        let (place, server) = begun();
        place.write("b.txt", "old\n");
        let read = json!({"path": "b.txt"}).to_string();
        let calls = [("run_command", &line), ("job", &told), ("read_file", &read), ("write_file", &edit)];
        for (tool, input) in calls {
            server.push(Reply::anthropic(&[call(tool, tool, input)]));
        }
        let hold = place.home.join("hold");
        std::fs::write(&hold, "").unwrap();
        let running = place.placet_that_holds((step, &hold), ["-p", "go", "--mode", "ask"]).start();
        until(step, || hold.with_file_name("hold.reached").exists());
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, 137);
        server.push(Reply::anthropic(&[Say::Text("yes")]));
        let out = place.run(["-c", "-p", "and on", "--mode", "ask"]);
        assert!(out.stderr.contains("what it changed is pending (1 file)"), "{step}: {out:?}");
        assert_eq!(pending(&place), ["modified b.txt", "created own"], "{step}");
    }
}

/// Stories: the edit ended as a deletion where a directory was made again, as bundlers do.
#[test]
fn a_directory_that_it_makes_again_keeps_what_it_got() {
    if !has_view() {
        return;
    }
    let cases: [(&str, &[&str], &str); 4] = [
        ("", &["modified d/f", "created d/new"], "one"),
        ("sed -i s/9/nine/ d/f", &["modified d/f", "created d/new"], "nine"),
        ("rm d/f", &["deleted d/f", "created d/new"], "No such file"),
        ("rm d/new", &["modified d/f"], "one"),
    ];
    for (more, expected, content) in cases {
        let (place, server) = begun();
        place.write("d/f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        place.write("d/g", "1\n");
        let line = format!(
            "until [ -e d/new ] && grep -q one d/f; do sleep 0.02; done; cp -rp d /tmp/bak; rm -r d; mkdir d; cp -rp /tmp/bak/. d; {more}"
        );
        let calls = [
            ("run_command", background(&line)),
            ("read_file", json!({"path": "d/f"}).to_string()),
            ("edit_file", json!({"path": "d/f", "old_string": "1", "new_string": "one"}).to_string()),
            write("d/new", "new\n"),
            wait(),
            command("cat d/f"),
        ];
        let (told, _) = results(&place, &server, "ask", &calls);
        assert_eq!(pending(&place), expected, "{more}: {told:?}");
        assert!(told[5].contains(content) && !told[4].contains("job-1"), "{more}: {told:?}");
        assert_eq!(told[4].contains("[effects"), !more.is_empty(), "{more}: {told:?}");
    }
}

/// Story: the edit came back with the command's line.
#[test]
fn an_edit_that_is_taken_back_does_not_return_with_its_line() {
    if !has_view() {
        return;
    }
    for mode in ["ask", "write"] {
        let (place, server) = begun();
        let line = "until grep -q one a.txt; do sleep 0.02; done; sed -i s/9/nine/ a.txt; echo edited; \
                    until [ -e go ]; do sleep 0.02; done; cat a.txt";
        let calls = [
            ("run_command", background(line)),
            read(),
            edit("1", "one"),
            ("job", wait_for("edited")),
            edit("one", "1"),
            write("go", ""),
            wait(),
            command("cat a.txt"),
        ];
        let (told, _) = results(&place, &server, mode, &calls);
        assert!(told[6].starts_with("one\n2\n"), "{mode}: {told:?}");
        assert!(told[7].starts_with("1\n2\n3\n4\n5\n6\n7\n8\nnine\n[exit code 0"), "{mode}: {told:?}");
    }
}

/// Story: what a server wrote to its log or database went to a file without a name.
#[test]
fn a_file_that_it_has_open_for_writing_is_left_to_the_merge() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    let line = "exec 3>>a.txt; echo ready; until grep -q x b.txt 2>/dev/null; do sleep 0.02; done; echo line >&3; cat a.txt";
    let calls = [
        ("run_command", background(line)),
        ("job", wait_for("ready")),
        read(),
        edit("1", "one"),
        write("b.txt", "x\n"),
        wait(),
        command("cat a.txt"),
    ];
    let (told, _) = results(&place, &server, "ask", &calls);
    assert!(told[5].starts_with("1\n2\n3\n4\n5\n6\n7\n8\n9\nline\n[job 1: exit code 0"), "{told:?}");
    assert!(told[6].starts_with("one\n2\n3\n4\n5\n6\n7\n8\n9\nline\n[exit code 0"), "{told:?}");
}

/// Story: what the command had got came back as its own doing, though it was removed or taken back since.
#[test]
fn after_a_kill_what_it_got_is_known() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    place.write("old.txt", "1\n");
    // What it has open, and what it changed, is left as it is.
    let line = "rm old.txt; echo own > own; until grep -q one a.txt && [ -e new ]; do sleep 0.02; done; exec 3>>new; \
                sed -i s/9/nine/ a.txt; echo got; exec sleep 1000";
    let calls = [
        ("run_command", background(line)),
        read(),
        edit("1", "one"),
        write("new", "new\n"),
        ("job", wait_for("got")),
        edit("one", "1"),
        command("rm new"),
        command("echo 2 > old.txt"),
        command("sleep 1000"),
    ];
    for (tool, input) in &calls {
        server.push(Reply::anthropic(&[call(tool, tool, input)]));
    }
    let running = place.placet(["-p", "go", "--mode", "ask"]).start();
    until("all but the last has ended", || server.requests().len() == calls.len());
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, 137);
    let kept =
        format!("others changed what it deleted, which is kept: {}", place.tree.join("old.txt").display());
    place.run(["changes"]).warns(&kept);
    assert_eq!(pending(&place), ["modified a.txt", "modified old.txt", "created own"]);
    let patch = place.run(["changes", "--patch"]).stdout;
    assert!(patch.contains("+nine") && !patch.contains("one"), "{patch}");
}
