//! apply_patch: many files or none, inside the workspace, and honest about every liberty taken.

use crate::support::require::require;
use crate::support::tool_bench::Bench;
use placet::permission::Mode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn patch(text: &str) -> Value {
    json!({ "patch": text })
}

const OLD: &str = "one\ntwo\nthree\n";
const EDIT: &str = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

#[test]
fn one_file_is_patched_without_a_read_and_the_result_says_what_changed() {
    let bench = Bench::new();
    bench.write("f", OLD);
    let got = bench.call("apply_patch", patch(EDIT));
    assert_eq!(got.0.for_person.line, "patch f +1 -1");
    assert_eq!(got.done(), "M f +1 -1\n--- f\n+++ f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    assert_eq!(bench.text("f"), "one\n2\nthree\n");
    // What was written counts as seen.
    bench.call("edit_file", json!({"path": "f", "old_string": "2", "new_string": "zwei"})).done();
}

#[test]
fn files_are_made_deleted_renamed_copied_and_made_executable_in_one_patch() {
    let bench = Bench::new();
    bench.write("gone", "x\n");
    bench.write("old name", OLD);
    bench.write("source", "s\n");
    bench.write("script", "#!/bin/sh\n");
    let text = "diff --git a/new/deep/file b/new/deep/file\nnew file mode 100755\n--- /dev/null\n+++ b/new/deep/file\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n\
        diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
        diff --git a/old name b/new name\nsimilarity index 66%\nrename from old name\nrename to new name\n--- a/old name\t\n+++ b/new name\t\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\
        diff --git a/source b/copy\nsimilarity index 100%\ncopy from source\ncopy to copy\n\
        diff --git a/script b/script\nold mode 100644\nnew mode 100755\n";
    let body = bench.call("apply_patch", patch(text)).done();
    assert!(
        body.starts_with("A new/deep/file +2 -0 mode 100755\nD gone +0 -1\nR old name -> new name +1 -1\nC source -> copy +0 -0\nM script +0 -0 mode 100755\n"),
        "{body}"
    );
    assert_eq!(bench.names(), ["copy", "new", "new name", "script", "source"]);
    assert_eq!(bench.text("new/deep/file"), "a\nb");
    assert_eq!(bench.text("new name"), "one\n2\nthree\n");
    assert_eq!(bench.text("copy"), "s\n");
    for name in ["script", "new/deep/file"] {
        let mode = std::fs::metadata(bench.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{name}: {mode:o}");
    }
}

#[test]
fn two_files_may_change_places_and_a_later_part_sees_an_earlier_one() {
    let bench = Bench::new();
    bench.write("a", "is a\n");
    bench.write("b", "is b\n");
    let swap = "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\ndiff --git a/b b/a\nsimilarity index 100%\nrename from b\nrename to a\n";
    bench.call("apply_patch", patch(swap)).done();
    assert_eq!((bench.text("a"), bench.text("b")), ("is b\n".into(), "is a\n".into()));
    let twice =
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-is b\n+was b\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-was b\n+ends\n";
    bench.call("apply_patch", patch(twice)).done();
    assert_eq!(bench.text("a"), "ends\n");
    let envelope = "*** Begin Patch\n*** Delete File: a\n*** Add File: a\n+again\n*** End Patch\n";
    bench.call("apply_patch", patch(envelope)).done();
    assert_eq!(bench.text("a"), "again\n");
}

#[test]
fn when_the_seventh_of_ten_fails_nothing_is_written() {
    let bench = Bench::new();
    let mut text = String::new();
    for n in 1..=10 {
        bench.write(&format!("f{n}"), OLD);
        let two = if n == 7 { "zwei" } else { "two" };
        text.push_str(&format!("--- a/f{n}\n+++ b/f{n}\n@@ -1,3 +1,3 @@\n one\n-{two}\n+2\n three\n"));
    }
    let error = bench.call("apply_patch", patch(&text)).failed();
    assert_eq!(
        error,
        "error: `f7`: hunk 1 of 1 (@@ -1,3 +1,3 @@) does not match: 1 of its 3 lines differs at the nearest place\n      1│one\n!     2│two\n  patch│zwei\n      3│three\n`!`: the file's line, and below it what the patch expects\n1 of 10 files failed; nothing was written\nhint: copy context and removed lines exactly as they are in the file now"
    );
    for n in 1..=10 {
        assert_eq!(bench.text(&format!("f{n}")), OLD);
    }
    // The lines that the error showed count as read.
    bench.call("edit_file", json!({"path": "f7", "old_string": "two", "new_string": "2"})).done();
}

#[test]
fn a_patch_stays_inside_the_workspace() {
    let bench = Bench::new();
    let outside = bench.outside("secret");
    std::fs::write(&outside, OLD).unwrap();
    std::os::unix::fs::symlink(&outside, bench.path("link")).unwrap();
    std::os::unix::fs::symlink(bench.outside(""), bench.path("up")).unwrap();
    bench.write("x/y", "");
    let absolute = outside.to_str().unwrap().to_string();
    for name in ["../secret", "x/../../secret", &absolute, "link", "up/secret"] {
        for text in [
            format!("--- {name}\n+++ {name}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"),
            format!("*** Begin Patch\n*** Update File: {name}\n@@\n-two\n+2\n*** End Patch\n"),
            format!("*** Begin Patch\n*** Delete File: {name}\n*** End Patch\n"),
            format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n"),
            format!("diff --git a/f b/f\nrename from f\nrename to {name}\n"),
        ] {
            bench.write("f", OLD);
            let error = bench.call("apply_patch", patch(&text)).failed();
            assert!(error.contains("outside the workspace"), "{name}: {error}");
            assert_eq!(std::fs::read_to_string(&outside).unwrap(), OLD);
        }
    }
    let error =
        bench.call("apply_patch", patch(&EDIT.replace("a/f", "~root/f").replace("b/f", "~root/f"))).failed();
    assert!(error.contains("only `~/` is"), "{error}");
    // The call's own `path` goes through the same question as every tool's.
    bench.call("apply_patch", json!({"patch": EDIT, "path": absolute})).done();
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "one\n2\nthree\n");
}

#[test]
fn a_pending_change_is_patched_and_stays_pending() {
    let mut bench = Bench::new();
    bench.write("f", OLD);
    bench.mode = Mode::Ask;
    let got = bench.call("apply_patch", patch(EDIT));
    assert_eq!(got.0.for_person.line, "patch f +1 -1 · pending");
    got.done();
    assert_eq!(bench.text("f"), OLD);
    let on_top = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-2\n+zwei\n three\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n";
    bench.call("apply_patch", patch(on_top)).done();
    let body = bench.call("read_file", json!({"path": "f"})).done();
    assert!(body.contains("2│zwei"), "{body}");
    assert!(bench.call("read_file", json!({"path": "n"})).done().contains("1│n"));
    assert_eq!(bench.names(), ["f"]);
}

#[test]
fn a_dry_run_reads_and_tells_and_writes_nothing() {
    let mut bench = Bench::new();
    bench.write("f", format!("zero\n{OLD}"));
    bench.mode = Mode::Read;
    let body = bench.call("apply_patch", json!({"patch": EDIT, "dry_run": true})).done();
    assert_eq!(
        body,
        "M f +1 -1\n  hunk 1 of 1 applied at line 2 (offset +1 line)\nnothing was written; the patch would do this:\n--- f\n+++ f\n@@ -1,4 +1,4 @@\n zero\n one\n-two\n+2\n three\n"
    );
    assert_eq!(bench.text("f"), format!("zero\n{OLD}"));
    bench.call("apply_patch", patch(EDIT)).failed();
    let error =
        bench.call("apply_patch", json!({"patch": EDIT.replace("-two", "-tow"), "dry_run": true})).failed();
    assert!(error.contains("patch│tow"), "{error}");
}

#[test]
fn lines_that_the_patch_does_not_quote_must_have_been_read() {
    let bench = Bench::new();
    bench.write("f", "0\none\ntwo\nthree\n4\n");
    let fuzzy = json!({"patch": "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n eins\n-two\n+2\n three\n", "fuzz": 1});
    let error = bench.call("apply_patch", fuzzy.clone()).failed();
    let reason =
        "error: the patch does not quote the lines at its place, and `f` has not been read in this session\n";
    assert!(error.starts_with(reason), "{error}");
    let blind = patch("--- a/f\n+++ b/f\n@@ -2,0 +3 @@\n+x\n");
    assert!(bench.call("apply_patch", blind.clone()).failed().contains("has not been read"));
    let delete = patch("*** Begin Patch\n*** Delete File: f\n*** End Patch\n");
    assert!(bench.call("apply_patch", delete.clone()).failed().contains("has not been read"));
    bench.call("read_file", json!({"path": "f", "offset": 4, "limit": 1})).done();
    assert!(bench.call("apply_patch", fuzzy.clone()).failed().contains("line 3 of `f` was not shown to you"));
    bench.call("read_file", json!({"path": "f"})).done();
    let body = bench.call("apply_patch", fuzzy).done();
    assert!(body.contains("applied with fuzz"), "{body}");
    assert!(
        bench.call("apply_patch", blind).done().contains("has no context: placed by its line number only")
    );
    assert_eq!(bench.text("f"), "0\none\nx\n2\nthree\n4\n");
    bench.call("apply_patch", delete).done();
    assert_eq!(bench.names(), Vec::<String>::new());
    let error = bench.call("apply_patch", json!({"patch": EDIT, "fuzz": 4})).failed();
    assert!(error.contains("`fuzz` must be 0 to 3, not 4"), "{error}");
}

#[test]
fn a_renamed_file_is_as_well_known_as_it_was() {
    let bench = Bench::new();
    bench.write("f", (1..=50).map(|n| format!("l{n}\n")).collect::<String>());
    let text = "diff --git a/f b/g\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -9,3 +9,3 @@\n l9\n-l10\n+L10\n l11\n";
    bench.call("apply_patch", patch(text)).done();
    bench.call("edit_file", json!({"path": "g", "old_string": "L10", "new_string": "x"})).done();
    let error =
        bench.call("edit_file", json!({"path": "g", "old_string": "l40", "new_string": "x"})).failed();
    assert!(error.contains("line 40 of `g` was not shown to you"), "{error}");
}

#[test]
fn a_file_that_somebody_changed_is_patched_where_the_hunks_still_fit_and_that_is_said() {
    let bench = Bench::new();
    bench.write("f", OLD);
    bench.call("read_file", json!({"path": "f"})).done();
    bench.write("f", format!("new\n{OLD}"));
    let body = bench.call("apply_patch", patch(EDIT)).done();
    assert!(
        body.ends_with("the person or another program changed f since you read it (an edit, a rejected change or an undo); placet keeps it so:\n@@ -1,3 +1,4 @@\n+new\n one\n two\n three\n"),
        "{body}"
    );
    assert_eq!(bench.text("f"), "new\none\n2\nthree\n");
}

#[test]
fn a_change_between_preview_and_write_loses_nothing() {
    let bench = Bench::new();
    bench.write("f", OLD);
    bench.write("g", OLD);
    let both = format!("{EDIT}{}", EDIT.replace("/f", "/g"));
    let got = bench
        .call_with("apply_patch", patch(&both), |root| std::fs::write(root.join("g"), "mine\n").unwrap());
    let error = got.failed();
    assert!(error.contains("nothing was overwritten"), "{error}");
    assert_eq!((bench.text("f"), bench.text("g")), (OLD.into(), "mine\n".into()));
}

#[test]
fn a_patch_without_file_names_takes_them_from_the_call() {
    let bench = Bench::new();
    bench.write("src/config.ts", "const x = 1;\nexport { x };\n");
    let bare = "@@ -1,3 +1,3 @@\n-const x = 1;\n+const x = 2;\n export { x };\n";
    let error = bench.call("apply_patch", patch(bare)).failed();
    assert_eq!(error, "error: the patch names no file\nhint: name it: path: \"src/main.rs\"");
    let body = bench.call("apply_patch", json!({"patch": bare, "path": "src/config.ts"})).done();
    assert!(body.starts_with("M src/config.ts +1 -1\n(patch: line 1: the hunk's header has -3 +3 lines, its body -2 +2; placet uses the body)\n"), "{body}");
    assert_eq!(bench.text("src/config.ts"), "const x = 2;\nexport { x };\n");
    bench.call("apply_patch", json!({"patch": "@@ -0,0 +1 @@\n+x\n", "path": "new.txt"})).done();
    assert_eq!(bench.text("new.txt"), "x\n");
    let two = format!("{EDIT}{}", EDIT.replace("/f", "/g"));
    let error = bench.call("apply_patch", json!({"patch": two, "path": "f"})).failed();
    assert!(error.contains("`path` names one file, and the patch has 2"), "{error}");
}

#[test]
fn names_that_leave_a_choice_are_settled_by_what_is_there_and_told() {
    let bench = Bench::new();
    bench.write("f", OLD);
    bench.write("f.orig", OLD);
    let body = bench.call("apply_patch", patch(&EDIT.replace("a/f", "f.orig").replace("b/f", "f"))).done();
    assert!(body.starts_with("M f +1 -1\n  the patch names `f.orig` and `f`; not `f.orig`\n"), "{body}");
    assert_eq!(bench.text("f.orig"), OLD);
    bench.write("f", OLD);
    let body = bench.call("apply_patch", patch(&EDIT.replace("b/f", "a/f"))).done();
    assert!(body.contains("`a/f` does not exist, but `f` does"), "{body}");
    let error = bench.call("apply_patch", patch(&EDIT.replace("/f", "/missing"))).failed();
    assert!(error.contains("missing` does not exist"), "{error}");
    let error = bench.call("apply_patch", patch("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n")).failed();
    assert!(error.contains("`f` already exists"), "{error}");
}

#[test]
fn files_in_other_encodings_keep_them() {
    let bench = Bench::new();
    let gbk = |text: &str| encoding_rs::GBK.encode(text).0.into_owned();
    let old = "// 测试文件\nint a = 1;\n// 结束了\n";
    bench.write("f", gbk(old));
    let text =
        "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n // 测试文件\n-int a = 1;\n+int a = 2; // 改变\n // 结束了\n";
    let body = bench.call("apply_patch", patch(text)).done();
    assert!(body.contains("  the file is GBK; the result is written in that encoding\n"), "{body}");
    assert_eq!(bench.bytes("f"), gbk(&old.replace("1;", "2; // 改变")));
    let wide = |text: &str| -> Vec<u8> {
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    bench.write("g", wide("one\r\ntwo\r\nthree\r\n"));
    bench.call("apply_patch", patch(&EDIT.replace("/f", "/g"))).done();
    assert_eq!(bench.bytes("g"), wide("one\r\n2\r\nthree\r\n"));
    bench.write("f", gbk(old));
    let error = bench.call("apply_patch", patch(&text.replace("改变", "🙂"))).failed();
    assert!(error.contains("U+1F642") && error.contains("GBK"), "{error}");
}

#[test]
fn a_patch_that_cannot_be_read_teaches() {
    let bench = Bench::new();
    for (text, want) in [
        ("just words", "error: no patch found: expected"),
        (
            "*** Begin Patch\n*** Update File: f\n-x\n",
            "hint: send the whole patch, with `*** End Patch` as its last line",
        ),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n x\n", "error: the patch changes nothing"),
    ] {
        let error = bench.call("apply_patch", patch(text)).failed();
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn a_link_is_not_deleted_by_its_target_and_a_protected_file_asks() {
    let mut bench = Bench::new();
    bench.write("real", "x\n");
    std::os::unix::fs::symlink("real", bench.path("link")).unwrap();
    bench.call("read_file", json!({"path": "real"})).done();
    let error =
        bench.call("apply_patch", patch("*** Begin Patch\n*** Delete File: link\n*** End Patch\n")).failed();
    assert!(error.contains("is a link to"), "{error}");
    assert_eq!(bench.text("real"), "x\n");
    bench.mode = Mode::Read;
    let error = bench.call("apply_patch", patch("--- /dev/null\n+++ b/.envrc\n@@ -0,0 +1 @@\n+x\n")).failed();
    assert!(!error.contains("exists"), "{error}");
    assert_eq!(bench.names(), ["link", "real"]);
}

/// What `sh` makes of a tree, as patches of git and of GNU diff, on three programs.
#[test]
fn trees_patched_by_git_gnu_patch_and_placet_are_the_same() {
    if !(require("git") && require("patch") && require("diff")) {
        return;
    }
    let setup = "mkdir src; seq 40 > src/a; seq 50 90 > src/b; printf 'no end' > c; printf 'x\\r\\ny\\r\\n' > crlf; echo run > run; \
         echo old > gone; echo s > 'two words'; echo q > 'quo\"te'; head -c 3000 /dev/zero | tr '\\0' 'z' > bin; printf '\\0' >> bin";
    let change = "sed -i 's/^7$/seven/; s/^33$/x\\ny/' src/a; mv src/b src/moved; sed -i 1d src/moved; cp src/a copy; printf 'an end\\n' > c; \
         sed -i s/x/X/ crlf; chmod 755 run; rm gone; echo more >> 'two words'; echo more >> 'quo\"te'; printf 'new\\n' > d; printf 'b\\0' >> bin; : > empty";
    let dir = tempfile::tempdir().unwrap();
    sh(dir.path(), &format!("mkdir a; cd a; {setup}; cp -a . ../b; cd ../b; {change}"));
    let git = "git -c core.autocrlf=false";
    sh(
        dir.path(),
        &format!(
            "cp -a a repo; cd repo; git init -q .; git add -A; git -c user.name=x -c user.email=x@x commit -qm x; cp -a .git ../b/; cd ../b; git add -A; \
         {git} diff --cached --binary > ../plain.git; {git} diff --cached --binary -M -C --find-copies-harder > ../moved.git; \
         {git} diff --cached --binary --no-prefix > ../bare.git; rm -rf .git"
        ),
    );
    sh(dir.path(), "diff -ruN --exclude=bin a b > all.gnu || true");
    for (name, level, programs) in
        [("plain.git", 1, "git"), ("moved.git", 1, "git"), ("bare.git", 0, "git"), ("all.gnu", 1, "patch")]
    {
        let patch = std::fs::read_to_string(dir.path().join(name)).unwrap();
        let bench = Bench::new();
        sh(&bench.root, setup);
        let body = bench.call("apply_patch", json!({"patch": patch})).done();
        let other = "rm -rf other; cp -a a other; cd other; git init -q .";
        match programs {
            "git" => sh(dir.path(), &format!("{other}; git apply -p{level} ../{name}; rm -rf .git")),
            _ => sh(dir.path(), &format!("{other}; patch -s --binary -p{level} -i ../{name}; rm -rf .git")),
        }
        let theirs = tree(&dir.path().join("other"));
        assert_eq!(tree(&bench.root), theirs, "{name}\n{body}");
        if name.ends_with(".git") {
            assert_eq!(theirs, tree(&dir.path().join("b")), "{name}");
        }
    }
}

fn sh(dir: &Path, line: &str) {
    let done = std::process::Command::new("sh")
        .args(["-ec", line])
        .current_dir(dir)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    assert!(done.status.success(), "{line}\n{}", String::from_utf8_lossy(&done.stderr));
}

/// Each file's path, content and whether it can be run.
fn tree(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, bool)> {
    let mut files = BTreeMap::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(at) = dirs.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let runs = std::fs::metadata(&path).unwrap().permissions().mode() & 0o100 != 0;
                files.insert(
                    path.strip_prefix(dir).unwrap().to_path_buf(),
                    (std::fs::read(&path).unwrap(), runs),
                );
            }
        }
    }
    files
}
