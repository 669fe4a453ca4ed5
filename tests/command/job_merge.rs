//! What a background command did is merged with what others did meanwhile, by what it found and what it left.

use crate::support::job_calls::{background, begun, pending, results};
use crate::support::require::has_view;
use serde_json::json;

/// A job does `first`; then `path` is edited, its 1 becomes one; then the job does `rest`. Returns the result of the job, and
/// what is pending then.
fn around_an_edit(files: &[(&str, &str)], first: &str, path: &str, rest: &str) -> (String, Vec<String>) {
    let (place, server) = begun();
    files.iter().for_each(|(name, text)| drop(place.write(name, text)));
    let line = format!("{first}; echo ready; until [ -e go ]; do sleep 0.02; done; {rest}");
    let calls = [
        ("run_command", background(&line)),
        ("job", json!({"action": "wait", "until": "ready", "job": 1}).to_string()),
        ("read_file", json!({"path": path}).to_string()),
        ("edit_file", json!({"path": path, "old_string": "1", "new_string": "one"}).to_string()),
        ("write_file", json!({"path": "go", "content": ""}).to_string()),
        ("job", json!({"action": "wait", "job": 1, "timeout_ms": 30000}).to_string()),
    ];
    let (told, _) = results(&place, &server, "ask", &calls);
    assert!(told[5].contains("[job 1: exit code 0"), "{told:?}");
    let mut pending = pending(&place);
    pending.retain(|row| row != "created go");
    (told[5].clone(), pending)
}

/// Story: such a directory, as bundlers make it, ended as a deletion of the edit, or lay next to the old one.
#[test]
fn a_directory_that_it_makes_again_counts_by_what_is_in_it() {
    if !has_view() {
        return;
    }
    let files = [("d/f", "1\n2\n3\n"), ("d/s/g", "1\n"), ("d/h", "1\n")];
    // From then on no edit in it reaches the job.
    let moved = "cp -rp d /tmp/bak; rm -r d";
    let (told, pending) = around_an_edit(&files, moved, "d/f", "cp -rp /tmp/bak d");
    assert!(!told.contains("[effects"), "{told}");
    assert_eq!(pending, ["modified d/f"]);
    let make = "cp -rp /tmp/bak d; sed -i s/3/three/ d/f; rm d/h; echo new > d/i";
    let (told, pending) = around_an_edit(&files, moved, "d/f", make);
    assert!(told.contains("[effects: 1 created, 1 modified, 1 deleted: d/f, d/h, d/i; pending"), "{told}");
    assert!(told.contains("[changed by others as well, and merged: d/f]"), "{told}");
    assert_eq!(pending, ["modified d/f", "deleted d/h", "created d/i"]);
}

/// Story: such a deletion was dropped without a word where it was the only effect.
#[test]
fn a_deletion_that_is_not_carried_is_reported() {
    if !has_view() {
        return;
    }
    for (name, first) in [("d/f", "rm d/f"), ("d/f", "rm -r d"), ("d/f", "rm -r d; mkdir d")] {
        let (told, pending) = around_an_edit(&[(name, "1\n")], first, name, "true");
        let kept = format!(
            "[kept as others left them in the meantime, although this command deleted or changed them: {name}]"
        );
        assert!(told.contains(&kept) && !told.contains("[effects"), "{first}: {told}");
        assert_eq!(pending, [format!("modified {name}")], "{first}");
    }
}
