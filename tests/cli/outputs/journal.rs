//! `undo`, `redo`, `journal`, `blame` and `review`.

use crate::support::output::{Project, snapshot, snapshots};

const GROUP: &str = "journal";

#[test]
fn nothing_was_applied() {
    let cases = [
        ("empty_undo", "undo"),
        ("empty_redo", "redo"),
        ("empty_undo_of_a_path", "undo notes.txt"),
        ("empty_list", "journal list"),
        ("empty_list_json", "journal list --json"),
        ("empty_show", "journal show 1"),
        ("empty_prune", "journal prune"),
        ("empty_repair", "journal repair"),
        ("empty_blame", "blame notes.txt"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn two_turns_are_undone_and_redone() {
    let project = Project::offline();
    project.prepare("-p 'create a.txt with \"x\\n\"' --mode write", 0);
    project.prepare("-p 'append \"y\\n\" to a.txt anyway and then create b.txt with \"z\"' --mode write", 0);
    let cases = [
        // Its ids are those of which `blame` shows the ends.
        ("blame_json", "blame a.txt --json"),
        ("blame", "blame a.txt"),
        ("blame_lines", "blame a.txt 2"),
        ("list", "journal list"),
        ("list_json", "journal list --json --limit 1"),
        ("show", "journal show 2"),
        ("show_unknown", "journal show 99"),
        ("undo", "undo"),
        ("redo", "redo"),
        ("redo_nothing", "redo"),
        ("undo_of_a_path", "undo a.txt"),
        ("redo_of_a_path", "redo"),
        ("undo_unknown_word", "undo nope"),
        ("undo_two", "undo 2"),
        ("undo_too_many", "undo 9"),
        ("list_after", "journal list"),
    ];
    snapshots(GROUP, &project, &cases);
}

#[test]
fn an_undo_meets_a_file_that_changed_since() {
    let project = Project::offline();
    project.prepare(
        "-p 'create k.txt with \"x\" and then overwrite notes.txt with \"three\\n\" anyway' --mode write",
        0,
    );
    project.place.write("notes.txt", "four\n");
    let cases = [
        ("undo_conflict", "undo"),
        ("undo_conflict_of_the_path", "undo notes.txt"),
        ("undo_rest", "undo --rest"),
    ];
    snapshots(GROUP, &project, &cases);
}

#[test]
fn blame_of_what_it_cannot_read() {
    let project = Project::offline().file("zeros.bin", [0; 9]);
    let cases = [
        ("blame_missing_file", "blame nope.txt"),
        ("blame_directory", "blame src"),
        ("blame_binary_file", "blame zeros.bin"),
        ("blame_wrong_range", "blame notes.txt x"),
        ("blame_range_past_the_end", "blame notes.txt 7,9"),
    ];
    snapshots(GROUP, &project, &cases);
}

const PATCH: &str = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n";

#[test]
fn a_review_without_a_terminal() {
    let project = Project::offline().file("fix.patch", PATCH).file("text.patch", "no patch\n");
    let cases = [
        ("review_of_a_patch", "review fix.patch"),
        ("review_of_a_patch_line_by_line", "review --linear fix.patch"),
        ("review_of_no_patch", "review text.patch"),
    ];
    snapshots(GROUP, &project, &cases);
    snapshot(GROUP, "review_of_standard_input", &project.piped("review -", PATCH));
    project.prepare("-p 'create a.txt with \"x\\n\"' --mode ask", 3);
    snapshot(GROUP, "review_of_pending", &project.run("review"));
}
