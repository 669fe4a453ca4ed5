//! `placet changes` while a program of `placet run` is running: its changes so far, said to be that.

use crate::support::binary::Place;
use crate::support::require::has_view;

#[test]
fn the_changes_of_a_running_program_are_listed_as_such_and_nothing_else_takes_them() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("a.txt", "one\n").file("gone.txt", "gone\n");
    let line = "echo two >> a.txt; rm gone.txt; mkdir d; echo new > d/new.txt; printf '\\0' > bin; echo done; exec sleep 987.1";
    let mut running = place.placet(["run", "--", line]).start();
    running.line_where(|line| line == "done");
    let says = "is running (process ";
    let listed = place.run(["changes"]).code(0).stdout;
    let (heading, rows) = listed.split_once('\n').unwrap();
    assert!(heading.starts_with("sh -c 'echo two >> a.txt") && heading.contains(says), "{listed}");
    assert!(heading.ends_with("; its changes so far, none of them applied or pending:"), "{listed}");
    assert_eq!(rows, "M a.txt +1 -0\nA bin\nA d/new.txt +1 -0\nD gone.txt +0 -1\n");
    let found = place.run(["changes", "--json"]).code(0).json();
    let found = found.as_array().unwrap();
    let kinds: Vec<&str> = found.iter().map(|one| one["change"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["modified", "created", "created", "deleted"]);
    let session = found[0]["running"]["session"].as_str().unwrap();
    assert!(session.starts_with("run-") && found.iter().all(|one| one["running"]["session"] == session));
    let patch = place.run(["changes", "--patch"]).code(0).warns("note: ").warns(says);
    let patch = patch.warns("not in the patch: bin: it is not text").stdout;
    assert!(patch.starts_with("diff --git a/a.txt b/a.txt\n") && !patch.contains(says), "{patch}");
    assert!(
        patch.contains("\n+two\n") && patch.contains("\n-gone\n") && patch.contains("\n+new\n"),
        "{patch}"
    );
    // By its session, but not that of another, nor from another directory.
    place.run(["changes", "--session", session]).code(0).says(says);
    place.run(["changes", "--session", "run-other"]).code(1).warns("no session that starts with");
    let other = place.beside("other");
    std::fs::create_dir(&other).unwrap();
    assert_eq!(place.placet(["changes"]).cwd(&other).go().code(0).stdout, "");
    // They are not pending.
    place.run(["apply"]).warns("nothing is pending");
    assert_eq!(place.read("a.txt"), "one\n");
    running.signal(rustix::process::Signal::TERM);
    drop(running.end());
    let listed = place.run(["changes"]).code(0).stdout;
    assert!(!listed.contains(says) && listed.contains("M a.txt +1 -0"), "{listed}");
    assert!(place.run(["changes", "--json"]).json()[0]["running"].is_null());
}

#[test]
fn a_program_that_has_changed_nothing_says_so_and_what_is_pending_comes_first() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("a.txt", "one\n");
    place.run(["run", "--", "touch earlier"]).code(3);
    let mut running = place.placet(["run", "--", "echo done; exec sleep 987.2"]).start();
    running.line_where(|line| line == "done");
    let listed = place.run(["changes"]).code(0).stdout;
    let rows: Vec<&str> = listed.lines().collect();
    assert_eq!(rows.len(), 2, "{listed}");
    assert!(rows[0].starts_with("A earlier"), "{listed}");
    assert!(rows[1].ends_with("), without changes so far"), "{listed}");
    running.signal(rustix::process::Signal::TERM);
    drop(running.end());
}
