//! Commands in the view, end to end: what each mode makes of their effects, what they cannot see, and what holds where
//! there is no view.

use crate::support::binary::Place;
use crate::support::require::has_view;

#[test]
fn read_mode_throws_away_what_commands_change_and_says_so() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    let before = place.read("notes.txt");
    let out = place.run(["-p", "run echo x > new.txt; rm notes.txt; ls"]).code(0);
    assert!(out.stdout.contains("new.txt") && !out.stdout.contains("notes.txt\n"), "{out:?}");
    out.warns("read mode: discarded changes to 2 files made by commands");
    assert_eq!(place.read("notes.txt"), before);
    assert!(!place.tree.join("new.txt").exists());
}

#[test]
fn a_turn_in_ask_mode_lands_by_flag_by_command_or_not_at_all() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    let run = |more: &[&str]| place.run(["-p", "run echo x > new.txt"].iter().chain(more));
    run(&["--dry-run"]).code(0).warns("A new.txt +1 -0").warns("nothing was changed");
    place.run(["changes"]).code(0).warns("nothing is pending");
    run(&["--mode", "ask"]).code(3).warns("A new.txt +1 -0").warns("placet apply --session");
    assert!(!place.tree.join("new.txt").exists());
    place.run(["changes"]).code(0).says("A new.txt +1 -0");
    place.run(["discard", "new.txt"]).code(0).says("discarded changes to 1 file");
    run(&["--mode", "ask", "--apply"]).code(0).warns("applied changes to 1 file");
    assert_eq!(place.read("new.txt"), "x\n");
    place.run(["undo"]).code(0).says("undid changes to 1 file");
    assert!(!place.tree.join("new.txt").exists());
    place.run(["redo"]).code(0).says("redid changes to 1 file");
    assert_eq!(place.read("new.txt"), "x\n");
    run(&["--mode", "write", "--dry-run"]).code(2);
}

#[test]
fn write_mode_applies_at_once_and_the_brake_holds_losses_repositories_and_protected_files() {
    if !has_view() {
        return;
    }
    let mut place = Place::with_notes();
    for n in 0..25 {
        place = place.file(&format!("many/{n}"), "old");
    }
    let write = |line: &str| place.run(["-p", &format!("run {line}"), "--mode", "write"]);
    write("echo x > new.txt; rm many/0").code(0);
    assert!(place.tree.join("new.txt").exists() && !place.tree.join("many/0").exists());
    write("rm -r many").code(3).warns("left pending").warns("24 files");
    assert!(place.tree.join("many/1").exists());
    place.run(["discard"]).code(0);
    write("echo x > .envrc").code(3).warns(".envrc` is protected");
    assert!(!place.tree.join(".envrc").exists());
    place.run(["discard"]).code(0);
    // What adds is applied, and what takes away waits.
    write("git init -q .").code(0);
    assert!(place.tree.join(".git/HEAD").exists());
    write("rm -rf .git").code(3).warns("repository");
    assert!(place.tree.join(".git/HEAD").exists());
    place.run(["apply", "--apply-protected", ".git"]).code(0);
    assert!(!place.tree.join(".git").exists());
}

#[test]
fn a_denied_path_gives_no_byte_to_a_command_and_nothing_asks() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes().file(".env", "CANARY=1").file("sub/.env", "CANARY=2");
    let line =
        "grep -rn CANARY . ; tar cf - . | grep -c CANARY; python3 -c \"print(open('.'+'env').read())\"; true";
    let out = place.run(["-p", &format!("run {line}"), "--deny", "read(.env)"]).code(0);
    assert!(!format!("{out:?}").contains("CANARY=") && !out.stderr.contains("needs a person"), "{out:?}");
    // What stands in the line itself is judged by its words as well.
    place.run(["-p", "run cat .env", "--deny", "read(.env)"]).code(3).warns("denies it");
}

#[test]
fn temporary_files_have_a_place_that_tools_and_commands_share() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    let out = place.run(["-p", "run echo kept > $PLACET_SCRATCH/t; echo at $PLACET_SCRATCH/t"]).code(0);
    let path = out.stdout.lines().find_map(|l| l.strip_prefix("at ")).unwrap().to_string();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept\n");
    use std::os::unix::fs::PermissionsExt;
    let dir = std::path::Path::new(&path).parent().unwrap();
    assert_eq!(std::fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700);
    place.run(["changes"]).code(0).warns("nothing is pending");
}

#[test]
fn the_network_is_off_and_a_host_is_asked_for() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    let call = |mode: &str, allow: &[&str]| {
        let input = r#"{"command":"true","network":["example.org"]}"#;
        place.run(["tool", "call", "run_command", input, "--mode", mode].iter().chain(allow))
    };
    call("read", &[]).code(3).warns("in read mode commands have no network");
    call("ask", &[]).code(3).warns("--allow 'network(example.org)'");
    call("ask", &["--allow", "network(example.org)"]).code(0);
    let bad = r#"{"command":"true","network":["https://example.org/"]}"#;
    place.run(["tool", "call", "run_command", bad]).code(1).warns("use host names only");
    // The result names what was refused.
    let input = r#"{"command":"getent ahostsv4 pkg.example.net; getent ahostsv4 example.org","network":["example.org"]}"#;
    let allow = ["--mode", "ask", "--allow", "network(example.org)"];
    let out = place.run(["tool", "call", "run_command", input].iter().chain(&allow)).code(0);
    assert!(out.stdout.starts_with("198.18.0."), "{out:#?}");
    assert!(out.stdout.contains("[refused: pkg.example.net"), "{out:#?}");
    // Without any host as well.
    let input = r#"{"command":"getent hosts a.example"}"#;
    let out = place.run(["tool", "call", "run_command", input, "--mode", "ask"]);
    assert!(out.stdout.contains("[refused: a.example"), "{out:#?}");
    // A port of this machine is not among the hosts that a wildcard allows.
    let input = r#"{"command":"true","network":["localhost:5432"]}"#;
    let call = ["tool", "call", "run_command", input, "--mode", "ask", "--allow", "network(*)"];
    place.run(call).code(3).warns("--allow 'network(localhost:5432)'");
    let bad = ["tool", "call", "run_command", r#"{"command":"true"}"#, "--set", "sandbox.hosts=192.0.2.1"];
    place.run(bad).code(1).warns("is an address");
}

#[test]
fn without_a_view_commands_ask_and_what_they_changed_is_found_and_undone() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes()
        .file("a", "one\n")
        .file("b", "b\n")
        .file(".gitignore", "out\n")
        .file("out/x", "x");
    let snapshot = ["--set", "sandbox.backend=snapshot"];
    let line =
        "run echo two > a; mv b c; echo n > new; echo y > out/x; touch /opt/placet-no 2>/dev/null || true";
    let go = |more: &[&str]| place.run(["-p", line].iter().chain(&snapshot).chain(more));
    go(&[]).code(3).warns("and this command would run outside of it");
    go(&["--mode", "write"]).code(3).warns("--allow run_command");
    let out = go(&["--mode", "write", "--allow", "run_command"]).code(0);
    assert!(out.stdout.contains("2 created, 1 modified, 1 deleted"), "{out:?}");
    assert_eq!((place.read("a"), place.read("c")), ("two\n".to_string(), "b\n".to_string()));
    assert!(!std::path::Path::new("/opt/placet-no").exists());
    place.run(["undo"]).code(0).says("undid changes to 3 files");
    assert_eq!((place.read("a"), place.read("b")), ("one\n".to_string(), "b\n".to_string()));
    // What the project ignores was not watched, and it is said.
    assert_eq!(place.read("out/x"), "y\n");
    assert!(out.stdout.contains("ignored files"), "{out:?}");
}
