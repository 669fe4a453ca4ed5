//! Pending changes, apply and undo on the command line, as a person meets them.

use crate::support::binary::Place;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;
use std::os::unix::fs::PermissionsExt;

#[test]
fn what_is_pending_ends_with_three_and_lands_when_it_is_applied() {
    let place = Place::with_notes();
    let asked = ["-p", "create a.txt with \"x\"", "--mode", "ask"];
    place.run(asked).code(3).warns("A a.txt").warns("placet apply --session");
    assert!(!place.tree.join("a.txt").exists());
    place.run(["changes"]).code(0).says("A a.txt");
    place.run(["apply"]).code(0).says("applied changes to 1 file");
    assert_eq!(place.read("a.txt"), "x");
    place.run(["changes"]).code(0).warns("nothing is pending");
    place.run(["undo"]).code(0).says("D a.txt");
    assert!(!place.tree.join("a.txt").exists());
    place.run(["redo"]).code(0).says("A a.txt");
    assert_eq!(place.read("a.txt"), "x");
}

/// Story: `placet changes --patch | git apply`, and `placet apply` ended with "nothing was applied: files changed in the meantime".
#[test]
fn what_the_workspace_has_already_counts_as_applied() {
    if !has_view() || !require("git") {
        return;
    }
    const CHANGE: &str = "sed -i s/b/B/ a.txt; rm gone.txt; mkdir d; echo q > d/q.txt; chmod +x x.sh";
    let place = Place::new().file("a.txt", "a\nb\n").file("gone.txt", "gone\n").file("x.sh", "x\n");
    let sh = |line: &str| {
        let done = std::process::Command::new("sh").args(["-c", line]).current_dir(&place.tree).status();
        assert!(done.unwrap().success(), "{line}");
    };
    place.run(["sandbox", "run", "--", CHANGE]).code(3);
    let patch = place.run(["changes", "--patch"]).code(0).stdout.clone();
    place.write("../p.patch", &patch);
    sh("git apply ../p.patch");
    place
        .run(["apply", "--yes"])
        .code(0)
        .says("5 paths in the workspace already had the change: a.txt, d, d/q.txt, ...");
    place.run(["changes"]).code(0).warns("nothing is pending");
    place.run(["undo"]).code(0).says("nothing to undo");

    // The rest is applied, and an undo leaves what the person wrote.
    place.run(["sandbox", "run", "--", "echo c >> a.txt; echo new > n.txt"]).code(3);
    place.write("a.txt", "a\nB\nc\n");
    let said = place.run(["apply", "--yes"]).code(0).stdout.clone();
    assert!(
        said.contains("applied changes to 1 file") && said.contains("already had the change: a.txt"),
        "{said}"
    );
    assert_eq!(place.read("n.txt"), "new\n");
    place.run(["undo"]).code(0).says("undid changes to 1 file");
    assert_eq!(place.read("a.txt"), "a\nB\nc\n");
    assert!(!place.tree.join("n.txt").exists());

    // Another byte, another mode, or another kind of file is not the same.
    for other in
        ["echo N > n.txt", "echo n > n.txt; chmod 600 n.txt", "echo n > m; ln -s m n.txt", "mkdir n.txt"]
    {
        place.run(["sandbox", "run", "--", "echo n > n.txt"]).code(3);
        sh(other);
        place.run(["apply", "--yes"]).code(1).warns("nothing was applied: files changed in the meantime");
        place.run(["discard"]).code(0);
        sh("rm -rf n.txt m");
    }
}

/// Story: two applies of one session, an hour apart, went with one undo.
#[test]
fn each_apply_of_the_command_line_is_a_turn_of_its_own() {
    let place = Place::with_notes();
    let asked = ["-p", "create a.txt with \"x\" and then create b.txt with \"y\"", "--mode", "ask"];
    place.run(asked).code(3);
    place.run(["apply", "a.txt"]).code(0);
    place.run(["apply", "b.txt"]).code(0);
    place.run(["undo"]).code(0).says("undid changes to 1 file").says("D b.txt");
    assert_eq!(place.read("a.txt"), "x");
    place.run(["undo"]).code(0).says("D a.txt");
}

/// Story: `undid changes to 3 files` listed five entries, two of them directories.
#[test]
fn the_files_that_an_undo_lists_are_those_that_it_counts() {
    let place = Place::with_notes();
    let line = "create src/deep/a.txt with \"x\" and then create src/b.txt with \"y\"";
    place.run(["-p", line, "--mode", "write"]).code(0);
    let undone = place.run(["undo"]).code(0).stdout.clone();
    assert_eq!(undone, "undid changes to 2 files\nD src/b.txt\nD src/deep/a.txt\n");
    assert!(!place.tree.join("src").exists());
    let redone = place.run(["redo"]).code(0).stdout.clone();
    assert_eq!(redone, "redid changes to 2 files\nA src/b.txt\nA src/deep/a.txt\n");
}

/// Story: a renamed file counted as one file, and its two names were two lines.
#[test]
fn a_renamed_file_is_one_line_of_an_undo() {
    let place = Place::with_notes();
    place.write("a.txt", "one\ntwo\nthree\nfour\n");
    place.write("same.txt", "as it was\n");
    place
        .run(["-p", "run mv a.txt b.txt; sed -i s/two/2/ b.txt; mv same.txt moved.txt", "--mode", "write"])
        .code(0);
    assert_eq!(
        (place.read("b.txt"), place.read("moved.txt")),
        ("one\n2\nthree\nfour\n".into(), "as it was\n".into())
    );
    let undone = place.run(["undo"]).code(0).stdout.clone();
    assert_eq!(undone, "undid changes to 2 files\nR b.txt -> a.txt\nR moved.txt -> same.txt\n");
    let redone = place.run(["redo"]).code(0).stdout.clone();
    assert_eq!(redone, "redid changes to 2 files\nR a.txt -> b.txt\nR same.txt -> moved.txt\n");
    place.run(["journal", "show", "1"]).code(0).says("R a.txt -> b.txt");
}

/// Story: `placet undo 0` undid a turn.
#[test]
fn to_undo_no_turn_is_an_error() {
    let place = Place::with_notes();
    place.run(["-p", "create a.txt with \"x\"", "--mode", "write"]).code(0);
    place.run(["undo", "0"]).code(2).warns("undo needs a number of turns of 1 or more, or a path");
    assert_eq!(place.read("a.txt"), "x");
}

/// Story: after the undo of a path `redo` knew nothing, and the next undo brought the change back.
#[test]
fn an_undo_of_a_path_is_redone_and_leaves_the_rest_of_its_turn() {
    let place = Place::with_notes();
    place.run(["-p", "create a.txt with \"1\"", "--mode", "write"]).code(0);
    let both =
        ["-p", "overwrite a.txt with \"2\" anyway and then create b.txt with \"2\"", "--mode", "write"];
    place.run(both).code(0);
    let undone = || place.run(["undo", "a.txt"]).code(0).says("undid changes to 1 file").says("M a.txt");
    undone();
    assert_eq!((place.read("a.txt").as_str(), place.read("b.txt").as_str()), ("1", "2"));
    place.run(["journal", "list"]).code(0).says("undo of ").says(" in part  1 file");
    // Without a number it is the newest.
    place.run(["journal", "show"]).code(0).says("a.txt").says("undo of ");
    place.run(["redo"]).code(0).says("redid changes to 1 file").says("M a.txt");
    assert_eq!(place.read("a.txt"), "2");
    place.run(["redo"]).code(0).says("nothing to redo");
    undone();
    // The rest of the turn, and both back in the other order.
    place.run(["undo"]).code(0).says("undid changes to 1 file").says("D b.txt");
    place.run(["redo"]).code(0).says("A b.txt");
    place.run(["redo"]).code(0).says("M a.txt");
    assert_eq!((place.read("a.txt").as_str(), place.read("b.txt").as_str()), ("2", "2"));
    undone();
    // The same path again: the turn before.
    place.run(["undo", "a.txt"]).code(0).says("D a.txt");
    assert!(!place.tree.join("a.txt").exists());
    place.run(["undo", "a.txt"]).code(1).warns("nothing to undo: no applied change to `a.txt`");
    place.run(["undo"]).code(0).says("D b.txt");
    place.run(["undo"]).code(0).says("nothing to undo");
}

/// Story: a line was added below the change, and the message said that the same lines had changed.
#[test]
fn an_undo_says_that_lines_next_to_the_change_are_in_the_way() {
    let place = Place::with_notes();
    place.run(["-p", "replace \"two\" with \"2\" in notes.txt", "--mode", "write"]).code(0);
    place.write("notes.txt", "one\n2\n// the end\n");
    let out = place.run(["undo"]);
    out.code(1)
        .warns("notes.txt: lines next to the change changed in the meantime")
        .warns("change these lines back by hand");
}

/// Story: `placet undo` told people to type `/undo rest`, and with it said that everything was fine.
#[test]
fn an_undo_that_can_do_nothing_says_what_is_in_the_way() {
    let place = Place::with_notes();
    place.run(["-p", "overwrite notes.txt with \"three\" anyway", "--mode", "write"]).code(0);
    place.write("notes.txt", "four");
    place.run(["undo"]).code(1).warns("notes.txt: the same lines changed in the meantime");
    place.run(["undo", "--rest"]).code(1).warns("notes.txt: the same lines changed in the meantime");
    place.write("notes.txt", "one\ntwo\n");
    place.run(["undo"]).code(0).says("already").says("undo 2");

    let both = [
        "-p",
        "create k.txt with \"x\" and then overwrite notes.txt with \"three\" anyway",
        "--mode",
        "write",
    ];
    place.run(both).code(0);
    place.write("notes.txt", "four");
    place.run(["undo"]).code(1).warns("hint: `placet undo --rest` handles the changes to the other 1 file");
    place.run(["undo", "--rest"]).code(0).says("D k.txt").says("skipped notes.txt");
}

/// Story: a pipe among the changes kept all the others from being applied.
#[test]
fn a_pipe_is_left_out_and_the_rest_lands() {
    let place = Place::with_notes();
    if !place.run(["doctor"]).stdout.contains("copy-on-write view") {
        eprintln!("skipped: there is no view here");
        return;
    }
    place.run(["-p", "run mkfifo pipe; echo a > a.txt", "--mode", "ask"]).code(3).warns("! pipe");
    place.run(["apply"]).code(0).says("applied changes to 1 file").says("pipe: a pipe, socket or device");
    assert_eq!(place.read("a.txt"), "a\n");
    assert!(!place.tree.join("pipe").exists());
    place.run(["changes"]).code(0).warns("nothing is pending");
}

/// Story: a file that lost its byte order mark had no figures, and the difference below it had two lines.
#[test]
fn a_byte_order_mark_that_goes_is_a_changed_line_in_every_figure() {
    let mark = "\u{feff}";
    let place = Place::with_notes().file("gone", format!("{mark}one\ntwo\n")).file("comes", "one\n");
    place.write("stays", format!("{mark}one\ntwo\n"));
    if !place.run(["doctor"]).stdout.contains("copy-on-write view") {
        eprintln!("skipped: there is no view here");
        return;
    }
    place.write("new", format!("{mark}one\n"));
    place.write("comes.new", format!("{mark}one\n"));
    place.write("gone.new", "one\ntwo\n");
    place.run([
        "-p",
        "run cat gone.new > gone; cat comes.new > comes; cp new made; sed -i s/two/2/ stays",
        "--mode",
        "ask",
    ]);
    let changes = place.run(["changes"]).code(0);
    for row in ["M gone +1 -1", "M comes +1 -1", "M stays +1 -1", "A made +1 -0"] {
        assert!(changes.stdout.contains(row), "{row}: {changes:#?}");
    }
    let patch = place.run(["changes", "--patch"]).code(0).stdout;
    for line in ["-\u{feff}one", "+\u{feff}one"] {
        assert!(patch.lines().any(|found| found == line), "{line:?}: {patch}");
    }
}

/// Story: set-user-id bits, and files that everybody may write, were applied and nowhere shown.
#[test]
fn modes_owners_and_attributes_are_told_wherever_a_change_is() {
    let place = Place::with_notes();
    let made = "run umask 022; echo n > n.txt; chmod 4755 n.txt; mkdir -m 777 pub; echo s > pub/s.txt; \
                chmod 666 pub/s.txt; mv notes.txt m.txt; chmod 600 m.txt; echo plain > p.txt";
    let setuid = "n.txt mode 4755 (anyone who runs it gets the rights of its owner)";
    let told = place.run(["-p", made, "--mode", "ask"]).code(3).warns(setuid);
    let listed = place.run(["changes"]).code(0).says(setuid);
    for out in [&told.stderr, &listed.stdout] {
        for row in ["A pub/ mode 777", "A pub/s.txt mode 666", "R notes.txt -> m.txt mode 644 to 600"] {
            assert!(out.contains(row), "{row}: {out}");
        }
        assert!(out.contains("A p.txt +1"), "{out}");
    }
    let patch = place.run(["changes", "--patch"]).code(0);
    let patch = patch.says("# n.txt: mode 4755").says("# pub: mode 777").says("# m.txt: mode 644 to 600");
    let check = ["apply", "--check", "-"];
    let mut git = std::process::Command::new("git");
    let mut git =
        git.args(check).current_dir(&place.tree).stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut git.stdin.take().unwrap(), patch.stdout.as_bytes()).unwrap();
    assert!(git.wait().unwrap().success(), "{}", patch.stdout);
}

/// Story: `apply a.txt` of a move to b.txt removed a.txt, and b.txt stayed pending.
#[test]
fn both_ends_of_a_move_go_together() {
    for (verb, end) in
        [("apply", "notes.txt"), ("apply", "moved.txt"), ("discard", "notes.txt"), ("discard", "moved.txt")]
    {
        let place = Place::with_notes();
        place.run(["-p", "run mv notes.txt moved.txt", "--mode", "ask"]).code(3);
        place.run([verb, end]).code(0);
        place.run(["changes"]).code(0).warns("nothing is pending");
        let moved = place.tree.join("moved.txt").exists();
        let stayed = place.tree.join("notes.txt").exists();
        assert_eq!((moved, stayed), (verb == "apply", verb == "discard"), "{verb} {end}");
    }
}

/// Story: of a file that was renamed and changed, `apply` of one name left the other pending; the question counted two
/// files, the command's line one created and one deleted, and the end of the run two changes.
#[test]
fn a_file_that_was_renamed_and_changed_is_one_file_everywhere_and_goes_as_one() {
    if !has_view() {
        return;
    }
    let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let line = "mv old.txt new.txt; sed -i s/line.7$/seven/ new.txt; mv plain.txt moved.txt";
    for (verb, end) in
        [("apply", "old.txt"), ("apply", "new.txt"), ("discard", "old.txt"), ("discard", "new.txt")]
    {
        let place = Place::with_notes().file("old.txt", &text).file("plain.txt", "plain\n");
        place.run(["-p", &format!("run {line}"), "--mode", "ask"]).code(3).warns("· 2 renamed, pending");
        let done = if verb == "apply" { "applied" } else { "discarded" };
        let said = format!("`old.txt` was renamed to `new.txt`: both names are {done}");
        place.run([verb, end]).code(0).says(&format!("{done} changes to 1 file")).says(&said);
        place.run(["changes"]).code(0).says("R plain.txt -> moved.txt");
        place.run([verb]).code(0).says(&format!("{done} changes to 1 file"));
        place.run(["changes"]).code(0).warns("nothing is pending");
        let there = |name: &str| place.tree.join(name).exists();
        let is_applied = verb == "apply";
        assert_eq!((there("new.txt"), there("old.txt")), (is_applied, !is_applied), "{verb} {end}");
        if is_applied {
            place.run(["journal", "list"]).code(0).says("1 file  placet apply");
            place.run(["undo", "2"]).code(0).says("undid changes to 2 files");
            assert_eq!((place.read("old.txt"), there("new.txt")), (text.clone(), false));
            place.run(["redo"]).code(0).says("redid changes to 2 files");
        }
    }
    let place = Place::with_notes().file("old.txt", &text).file("plain.txt", "plain\n");
    place.run(["run", "--apply", "--", "sh", "-c", line]).code(0).warns("applied changes to 2 files");
}

/// Story: `placet changes --patch | git apply --check` failed as soon as a commit was pending.
#[test]
fn a_patch_leaves_a_repositorys_own_files_out_and_says_so() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    let who = "git -c user.name=n -c user.email=e@x";
    assert_eq!(txn.sh(&txn.tree, &format!("git init -q . && {who} commit -q --allow-empty -m i")), 0);
    txn.hold(&format!("echo t > t.sh; git add t.sh; {who} commit -qm t"));
    let out = txn.run(["changes", "--patch"]);
    assert_eq!(out.code, 0, "{out:#?}");
    assert!(out.stdout.contains("+++ b/t.sh") && !out.stdout.contains(".git/"), "{out:#?}");
    assert!(out.stderr.contains("files of git repositories are not in the patch"), "{out:#?}");
    // Story: only their number was there, and what they are had to be guessed.
    let names = |stderr: &str| {
        let commit = stderr.lines().find(|line| line.starts_with("not in the patch: commit ")).unwrap_or("");
        commit.contains("\"t\"") && commit.contains("1 file")
    };
    assert!(names(&out.stderr), "{out:#?}");
    assert!(out.stderr.contains("hint: at a terminal `placet changes --patch --session "), "{out:#?}");
    let patch = txn.base.join("patch");
    std::fs::write(&patch, out.stdout).unwrap();
    assert_eq!(txn.sh(&txn.tree, &format!("git apply --check '{}'", patch.display())), 0);
    assert_eq!(txn.run(["apply"]).code, 0);
    let out = txn.run(["journal", "show", "--patch"]);
    assert!(names(&out.stderr), "{out:#?}");
    assert!(out.stderr.contains("hint: `git show` shows the contents of commits"), "{out:#?}");
}

/// Story: a commit that added a file, and one that removed it again, were `M .git (12 files of the repository)`.
#[test]
fn the_journal_names_commits() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    let who = "git -c user.name=n -c user.email=e@x";
    assert_eq!(txn.sh(&txn.tree, &format!("git init -q . && {who} commit -q --allow-empty -m i")), 0);
    txn.hold(&format!(
        "echo t > t.sh; git add t.sh; {who} commit -qm t; git rm -q t.sh; {who} commit -qm u; echo n > n"
    ));
    assert_eq!(txn.run(["apply"]).code, 0);
    let shown = txn.run(["journal", "show"]).stdout;
    for line in [
        "A n\n",
        "\nin .git:\n  commit ",
        " \"t\" on ",
        "1 file +1 -0 (t.sh)\n",
        " \"u\" on ",
        "1 file +0 -1 (t.sh)\n",
    ] {
        assert!(shown.contains(line), "{line:?} in {shown}");
    }
    // What happened is in the journal, also where the repository is gone.
    std::fs::remove_dir_all(txn.tree.join(".git")).unwrap();
    let shown = txn.run(["journal", "show"]);
    assert!(
        shown.code == 0 && shown.stdout.contains("A n\n") && shown.stdout.contains("\nin .git:\n  commit "),
        "{shown:#?}"
    );
}

/// Story: "nothing is pending", because the directory could not be read.
#[test]
fn what_cannot_be_read_is_never_nothing() {
    let root = rustix::process::geteuid().is_root();
    if !has_view() || root && !require("setpriv") {
        return;
    }
    let txn = Txn::in_dir(tempfile::TempDir::new().unwrap(), root.then_some(1000));
    assert_eq!(txn.sh(&txn.tree, "umask 022; echo a > a"), 0);
    txn.hold("echo n > n");
    let views = txn.state().join("views");
    let session = std::fs::read_dir(&views).unwrap().next().unwrap().unwrap().path();
    for dir in [views.clone(), session.clone(), session.join("pending"), session.join("pending/0")] {
        std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o000)).unwrap();
        let (changes, apply, doctor) = (txn.run(["changes"]), txn.run(["apply"]), txn.run(["doctor"]));
        std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o700)).unwrap();
        for out in [&changes, &apply] {
            assert!(
                out.code == 1 && out.stderr.contains("cannot read the pending changes"),
                "{dir:?} {out:#?}"
            );
            assert!(out.stderr.contains(&dir.display().to_string()), "{dir:?} {out:#?}");
        }
        assert!((doctor.stdout + &doctor.stderr).contains(&dir.display().to_string()), "{dir:?}");
    }
    assert!(txn.run(["changes"]).stdout.contains("A n"));
}

/// One failing `fstat` of the record made `placet apply` say that nothing is pending.
#[test]
fn a_record_whose_time_cannot_be_read_is_never_nothing() {
    if !has_view() {
        return;
    }
    let txn = Txn::in_dir(tempfile::TempDir::new().unwrap(), None);
    txn.hold("echo n > n");
    let views = txn.state().join("views");
    let session = std::fs::read_dir(&views).unwrap().next().unwrap().unwrap().path();
    let (record, kept) = (session.join("pending/base.jsonl"), session.join("kept.jsonl"));
    std::fs::rename(&record, &kept).unwrap();
    // A link to itself is an error of `stat` for every user.
    std::os::unix::fs::symlink("base.jsonl", &record).unwrap();
    for command in ["changes", "apply", "discard"] {
        let out = txn.run([command]);
        assert!(
            out.code == 1 && out.stderr.contains("cannot read the pending changes"),
            "{command}: {out:#?}"
        );
    }
    std::fs::remove_file(&record).unwrap();
    std::fs::rename(&kept, &record).unwrap();
    assert!(txn.run(["changes"]).stdout.contains("A n"));
}

/// Story: of a command that shut a directory, half was pending, and an apply lost the rest.
#[test]
fn a_directory_that_nobody_may_enter_is_pending_and_applied_with_all_that_is_in_it() {
    let root = rustix::process::geteuid().is_root();
    if !has_view() || root && !require("setpriv") {
        return;
    }
    let txn = Txn::in_dir(tempfile::TempDir::new().unwrap(), root.then_some(1000));
    assert_eq!(txn.sh(&txn.tree, "umask 022; mkdir old; echo a > old/a"), 0);
    txn.hold("umask 022; echo z > top; mkdir s; echo y > s/f; echo b > old/b; chmod 000 s old");
    let changes = txn.run(["changes"]).stdout;
    for line in ["A s/f", "A top", "A old/b", "M old/ mode 755 to 0"] {
        assert!(changes.contains(line), "{line}: {changes}");
    }
    let applied = txn.run(["apply"]);
    assert_eq!(applied.code, 0, "{applied:#?}");
    for dir in ["s", "old"] {
        assert_eq!(std::fs::metadata(txn.tree.join(dir)).unwrap().permissions().mode() & 0o7777, 0, "{dir}");
    }
    assert_eq!(txn.sh(&txn.tree, "chmod 700 s old; grep -q y s/f && grep -q b old/b && grep -q z top"), 0);
}
