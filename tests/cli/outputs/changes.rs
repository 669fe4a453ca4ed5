//! What is pending, and `apply` and `discard`, where no command ran: these are the same on a machine without a sandbox.

use crate::support::output::{Project, snapshots};

const GROUP: &str = "changes";
const THREE: &str = r#"-p 'call operations {"operations":[{"op":"delete","path":"notes.txt"},{"op":"move","path":"src/main.rs","to":"src/app.rs"},{"op":"create","path":"new.txt","content":"x\n"}],"force":true}' --mode ask"#;
const ONE: &str = "-p 'create a.txt with \"x\\n\"' --mode ask";

#[test]
fn nothing_is_pending() {
    let cases = [
        ("none", "changes"),
        ("none_json", "changes --json"),
        ("none_patch", "changes --patch"),
        ("none_apply", "apply"),
        ("none_apply_path", "apply notes.txt"),
        ("none_discard", "discard"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn one_change_is_pending() {
    let project = Project::offline();
    let cases = [
        ("one_made", ONE),
        ("one", "changes"),
        ("one_json", "changes --json"),
        ("one_patch", "changes --patch"),
        ("one_apply_another_path", "apply notes.txt"),
        ("one_apply", "apply"),
        ("one_apply_again", "apply"),
    ];
    snapshots(GROUP, &project, &cases);
}

#[test]
fn one_change_is_discarded() {
    let project = Project::offline();
    project.prepare(ONE, 3);
    let cases = [
        ("one_discard_another_path", "discard notes.txt"),
        ("one_discard", "discard"),
        ("one_after_discard", "changes"),
        ("one_undo_discard", "undo"),
        ("one_after_undo", "changes"),
    ];
    snapshots(GROUP, &project, &cases);
}

#[test]
fn a_deletion_a_move_and_a_new_file_are_pending() {
    let project = Project::offline();
    let cases = [
        ("several_made", THREE),
        ("several", "changes"),
        ("several_json", "changes --json"),
        ("several_patch", "changes --patch"),
        ("several_apply_one", "apply new.txt"),
        ("several_after_one", "changes"),
        ("several_apply_one_end_of_a_move", "apply src/app.rs"),
        ("several_discard_rest", "discard"),
    ];
    snapshots(GROUP, &project, &cases);
}

#[test]
fn two_sessions_have_changes() {
    let project = Project::offline();
    project.prepare(ONE, 3);
    project.prepare("-p 'create b.txt with \"y\"' --mode ask", 3);
    let cases =
        [("two_sessions", "changes"), ("two_sessions_apply", "apply"), ("two_sessions_the_other", "changes")];
    snapshots(GROUP, &project, &cases);
}

#[test]
fn a_file_changed_since() {
    let project = Project::offline();
    project.prepare("-p 'overwrite notes.txt with \"three\\n\" anyway' --mode ask", 3);
    project.place.write("notes.txt", "four\n");
    let cases = [
        ("conflict_apply", "apply"),
        ("conflict", "changes"),
        ("conflict_patch", "changes --patch"),
        ("conflict_discard", "discard"),
    ];
    snapshots(GROUP, &project, &cases);
}

#[test]
fn another_part_of_a_file_changed_since() {
    let lines = |first: &str| format!("{first}\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let project = Project::offline().file("long.txt", lines("1"));
    project.prepare("-p 'replace 9 with nine in long.txt anyway' --mode ask", 3);
    project.place.write("long.txt", lines("one"));
    snapshots(
        GROUP,
        &project,
        &[("merge_apply", "apply"), ("merge", "changes --patch"), ("merge_apply_again", "apply")],
    );
    assert_eq!(project.place.read("long.txt"), lines("one").replace('9', "nine"));
}

#[test]
fn a_file_that_a_program_runs_later() {
    let project = Project::offline();
    let cases = [
        ("protected_made", "-p 'create .git/hooks/pre-commit with \"x\"' --mode ask"),
        ("protected", "changes"),
        ("protected_apply", "apply"),
        ("protected_apply_another", "apply --apply-protected notes.txt"),
        ("protected_apply_it", "apply --apply-protected .git/hooks/pre-commit"),
        ("protected_in_write_mode", "-p 'create .bashrc with \"x\"' --mode write"),
        (
            "protected_by_a_setting",
            "-p 'create notes.d/a with \"x\"' --mode write --set permission.protected=notes.d/**",
        ),
    ];
    snapshots(GROUP, &project, &cases);
}
