//! What a review lists: renamed files, repositories, operations, paths, patches of others.

use super::review::{ask_mode, decide_by, layered, leave_pending, review, reviewing};
use crate::support::binary::Place;
use crate::support::pty::shell;
use crate::support::tool_bench::Bench;
use placet::permission::Mode;
use placet::ui::review::ReviewBody;
use serde_json::json;

/// Story: the question had a deleted file and a new one with all of their lines, and the review one file with a line.
#[test]
fn a_renamed_file_is_one_row_of_the_question_with_the_lines_that_changed() {
    let text = |word: &str| (1..=30).map(|n| format!("{word} {n}\n")).collect::<String>();
    let start = ask_mode().size(100, 40).file("a.txt", text("line")).file("b.txt", text("row"));
    let mut pty = start.file(".envrc", "export A=1\nexport B=2\nexport C=3\n").open();
    pty.line(
        "run mv a.txt c.txt; mv b.txt d.txt; sed -i s/row.7$/seven/ d.txt; mv .envrc e.txt; echo x >> e.txt",
    );
    pty.until("the question", |s| {
        let rows = ["R a.txt -> c.txt", "R b.txt -> d.txt", "seven"];
        rows.iter().all(|row| s.contains(row))
    });
    // A path that runs later is a row of its own, whatever its text became.
    pty.until("what runs later", |s| s.contains("D .envrc") && s.contains("A e.txt"));
    pty.until("the lines of both", |s| s.contains("4 files, +5 -4 lines: apply?") && !s.contains("D b.txt"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("±"));
    pty.line("/changes");
    pty.until("the list", |s| s.matches("R b.txt -> d.txt +1 -1").count() > 0);
}

/// Story: the files next to it had their counts in the tree, and a directory that went had none.
#[test]
fn a_directory_that_is_removed_has_its_lines_counted() {
    let mut pty = shell()
        .size(120, 30)
        .file("gone/a.txt", "line\n".repeat(3))
        .file("gone/deep/b.txt", "line\n".repeat(4))
        .file("stays.txt", "one\n")
        .open();
    pty.line("run rm -r gone; echo two >> stays.txt");
    pty.until("the question", |s| s.contains("+1 -7 lines: apply?"));
    pty.answer("r");
    // In the title, in the tree and above the file.
    pty.until("the review", |s| {
        s.contains("3 files +1 -7") && s.contains("+0 -7│") && s.contains("gone/  +0 -7")
    });
}

/// Story: three empty files made the review show "the repository's own files" and no line of the code it applied.
#[test]
fn a_directory_that_only_looks_like_a_repository_hides_no_line() {
    for dir in ["src", "."] {
        let mut bench = Bench::new();
        bench.mode = Mode::Ask;
        for (name, text) in [("HEAD", "x\n"), ("objects/x", "x\n"), ("refs/y", "y\n"), ("z.py", "print(1)\n")]
        {
            let path = bench.root.join(dir).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let at = |name: &str| format!("{dir}/{name}");
        layered(
            &bench,
            &at("z.py"),
            b"print(1)
import os; os.system(0)
",
        );
        layered(
            &bench,
            &at("objects/new.py"),
            b"import objects_evil
",
        );
        layered(
            &bench,
            &at("refs/new.py"),
            b"import refs_evil
",
        );
        layered(
            &bench,
            &at("refs/heads/main"),
            b"0123456789abcdef0123456789abcdef01234567
",
        );
        let review = review(&bench).unwrap();
        assert_eq!(review.files.len(), 1, "it is applied as a whole");
        let ReviewBody::Whole(whole) = &review.files[0].body else { panic!("it has no lines of its own") };
        let text = whole.words.join("\n");
        for line in ["+import os; os.system(0)", "+import objects_evil", "+import refs_evil", " print(1)"] {
            assert!(text.contains(line), "{dir}: {line}: {text}");
        }
        assert!(
            text.contains("0123456789abcdef"),
            "{dir}: its HEAD names nothing, so that it is no ref: {text}"
        );
    }
}

/// A repository in the workspace, as far as it needs to be one.
fn repository_in(bench: &Bench) {
    for (name, text) in [("HEAD", "ref: refs/heads/main\n"), ("objects/x", "x\n"), ("refs/y", "y\n")] {
        let path = bench.root.join(".git").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// No byte of them is applied: git carries what they mean, and says it in rows.
#[test]
fn files_that_git_carries_are_not_listed_in_a_review() {
    let mut bench = Bench::new();
    bench.mode = Mode::Ask;
    repository_in(&bench);
    layered(&bench, ".git/objects/a1/0123456789abcdef0123456789abcdef012345", b"zlib");
    layered(&bench, ".git/refs/heads/main", b"0123456789abcdef0123456789abcdef01234567\n");
    layered(&bench, ".git/logs/HEAD", b"a line\n");
    layered(&bench, ".git/objects/evil.py", b"import objects_evil\n");
    // A content of LFS is written as a file: its name, which is proved, says what is in it.
    let content = format!(".git/lfs/objects/ab/cd/abcd{}", "0".repeat(60));
    layered(&bench, &content, b"large\n");
    layered(&bench, ".git/lfs/tmp/left", b"over\n");
    // What is applied by its name is shown with its lines.
    layered(&bench, ".git/info/attributes", b"* text\n");
    let review = review(&bench).unwrap();
    let words = review.files.iter().map(|file| match &file.body {
        ReviewBody::Whole(whole) => whole.words.join("\n"),
        ReviewBody::Lines(lines) => format!("{lines:?}"),
    });
    let words = words.collect::<Vec<_>>().join("\n");
    for name in [".git/objects", "refs/heads", "logs/HEAD", "evil", "large", "tmp/left"] {
        assert!(!words.contains(name), "{name}: {words}");
    }
    assert!(words.contains("* text") && words.contains(&content), "{words}");
}

/// Story: the review of a stopped rebase listed 16 and more files of git row by row, with nothing to read in them.
#[test]
fn files_of_an_operation_are_one_row_that_opens() {
    let mut bench = Bench::new();
    bench.mode = Mode::Ask;
    repository_in(&bench);
    layered(&bench, ".git/rebase-merge/drop_redundant_commits", b"");
    layered(&bench, ".git/rebase-merge/quiet", b"");
    // What has something to read is shown.
    layered(&bench, ".git/rebase-merge/evil.py", b"import evil\n");
    let review = review(&bench).unwrap();
    let words = |file: usize| match &review.files[file].body {
        ReviewBody::Whole(whole) => whole.words.join("\n"),
        ReviewBody::Lines(_) => panic!("it has no lines of its own"),
    };
    let at = review.files.iter().position(|file| file.name == ".git/2 files of the operation").unwrap();
    assert!(words(at).contains("A .git/rebase-merge/quiet"), "{}", words(at));
    assert!(!words(0).contains("rebase-merge/quiet") && words(0).contains("+import evil"), "{}", words(0));
    assert!(review.layout.folded.contains(&at) && review.files[at].units() == 0);
}

/// A copy of what it was stayed on the shelf, and the person's later edit was not seen through it.
#[test]
fn a_file_that_was_changed_and_changed_back_is_the_persons_again() {
    let mut bench = Bench::new();
    bench.mode = Mode::Ask;
    bench.write("a.txt", "one\n");
    bench.write("b.txt", "b\n");
    for (path, old, new) in [("a.txt", "one", "two"), ("a.txt", "two", "one"), ("b.txt", "b", "B")] {
        bench.call("read_file", json!({"path": path})).done();
        bench.call("edit_file", json!({"path": path, "old_string": old, "new_string": new})).done();
    }
    let view = bench.env.workspace.view().unwrap().clone();
    view.drop_unchanged().unwrap();
    bench.write("a.txt", "the person's\n");
    assert!(bench.call("read_file", json!({"path": "a.txt"})).done().contains("the person's"));
    assert!(bench.call("read_file", json!({"path": "b.txt"})).done().contains('B'));
    assert_eq!(view.changes(placet::workspace::LayerKind::Pending).unwrap().len(), 1);
}

#[test]
fn a_review_of_one_path_leaves_decisions_and_comments_on_the_others() {
    let pty = ask_mode().size(100, 30).file("a.txt", "a\n").file("b.txt", "b\n").open();
    let mut pty = reviewing(pty, "sed -i s/a/A/ a.txt; sed -i s/b/B/ b.txt");
    decide_by(&mut pty, "r", "1/2 hunks");
    pty.send("gcnot this one\r");
    pty.until("a comment", |s| s.contains("» ") && s.contains("not this one"));
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±2 >"));
    pty.line("/review b.txt");
    pty.until("one file", |s| {
        s.contains("1 file ") && s.contains("0/1 hunks") && !s.contains("not this one")
    });
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("accepted   1 hunk in 1 file") && !s.contains("comments"));
    pty.answer("a");
    pty.until("it landed", |s| s.contains("applied changes to 1 file") && s.contains("±1 >"));
    assert_eq!((pty.read("a.txt").as_str(), pty.read("b.txt").as_str()), ("a\n", "B\n"));
    pty.line("/review");
    pty.until("the other is as it was", |s| {
        s.contains("1/1 hunks") && s.contains("✗1") && s.contains("not this one")
    });
}

/// Story: three lines about one build were above each of 33 files.
#[test]
fn a_command_is_named_once_for_all_files_that_it_changed() {
    let place = Place::new();
    place.run(["sandbox", "run", "--", "echo 1 > a; echo 2 > b; echo 3 > c"]).code(3);
    let said = place.run(["review"]).code(0);
    assert_eq!(said.stdout.matches("by this command").count(), 1, "{}", said.stdout);
    let named = "by this command, as are the 2 files below: echo 1 > a";
    assert!(said.stdout.contains(named), "{}", said.stdout);
    // Story: a path with pending changes was read as a patch.
    let said = place.run(["review", "b"]).code(0);
    assert!(said.stdout.contains("hunk 1 of 1, b"), "{}", said.stdout);
    assert!(!said.stdout.contains(", a,") && !said.stdout.contains(", c,"), "{}", said.stdout);
}

/// What git says of a binary file without `--binary` cannot be applied, and can be named.
#[test]
fn a_difference_with_a_binary_file_shows_the_other_files() {
    let place = Place::new();
    let patch = "diff --git a/p.png b/p.png\nindex 1111111..2222222 100644\nBinary files a/p.png and b/p.png differ\n\
                 diff --git a/x b/x\nindex 3333333..4444444 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    let said = place.placet(["review", "-"]).stdin(patch).go();
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stdout.starts_with("hunk 1 of 2, x, line 1, 1 removed, 1 added, undecided"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("hunk 2 of 2, p.png, a binary file"), "{}", said.stdout);
    let said = place.placet(["review", "-"]).stdin("\n").go();
    assert_eq!((said.code, said.stderr.trim()), (0, "nothing to review"));
    let said = place.placet(["review", "-", "--json"]).stdin(patch).go();
    assert_eq!(said.code, 2, "{}", said.stdout);
}

/// Story: a new binary file was in the list twice: empty, and without contents.
#[test]
fn a_new_binary_file_of_a_patch_is_one_file() {
    let place = Place::new();
    let patch = "diff --git a/n.png b/n.png\nnew file mode 100755\nindex 0000000..2222222\n\
                 Binary files /dev/null and b/n.png differ\n\
                 diff --git \"a/\\303\\244.png\" \"b/\\303\\244.png\"\ndeleted file mode 100644\nindex 2222222..0000000\n\
                 Binary files \"a/\\303\\244.png\" and /dev/null differ\n";
    let said = place.placet(["review", "-"]).stdin(patch).go();
    assert_eq!(said.code, 0, "{}", said.stderr);
    insta::assert_snapshot!(said.stdout, @r"
    hunk 1 of 2, n.png, a binary file; the diff has no more information, undecided
      executable
    hunk 2 of 2, ä.png, a binary file; the diff has no more information, undecided
    ");
}
