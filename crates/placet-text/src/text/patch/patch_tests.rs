//! The formats of patches, one by one.

use super::*;

fn parsed(text: &str) -> PatchSet {
    parse(text.as_bytes(), StripLevels::Auto).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn refused(text: &str) -> PatchError {
    parse(text.as_bytes(), StripLevels::Auto).unwrap_err()
}

/// The names and kind of the only file.
fn names(text: &str) -> (Option<String>, Option<String>, FilePatchKind) {
    let patch = parsed(text);
    let [file] = patch.files.as_slice() else { panic!("{patch:?}") };
    (file.old.clone(), file.new.clone(), file.kind)
}

fn edit(name: &str) -> (Option<String>, Option<String>, FilePatchKind) {
    (Some(name.into()), Some(name.into()), FilePatchKind::Edit)
}

/// The only file's hunks on `old`.
fn on(text: &str, old: &str) -> Result<PatchedContent, PatchApplyError> {
    let patch = parsed(text);
    let [file] = patch.files.as_slice() else { panic!("{patch:?}") };
    apply(file, old.as_bytes(), Options::default())
}

#[track_caller]
fn gives(text: &str, old: &str, new: &str) -> Vec<String> {
    let applied = on(text, old).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(String::from_utf8_lossy(&applied.bytes), new, "{text}");
    applied.notes
}

const NO_NOTES: [&str; 0] = [];
const HUNK: &str = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
const OLD: &str = "one\ntwo\nthree\n";
const NEW: &str = "one\n2\nthree\n";

#[test]
fn names_lose_prefixes_quotes_and_times() {
    for (header, want) in [
        ("--- a/x.c\n+++ b/x.c\n", edit("x.c")),
        ("--- x.c\n+++ x.c\n", edit("x.c")),
        ("--- a/x.c\n+++ a/x.c\n", edit("a/x.c")),
        ("--- a/a/x.c\n+++ b/a/x.c\n", edit("a/x.c")),
        (
            "--- old/src/x.c\t2024-05-01 12:00:00.000000000 +0200\n+++ new/src/x.c\t2024-05-02 12:00:00 +0200\n",
            edit("src/x.c"),
        ),
        ("--- x.c 2024-05-01 12:00:00\n+++ x.c 2024-05-02 12:00:00\n", edit("x.c")),
        ("diff --git i/x.c w/x.c\nindex 1234567..89abcde 100644\n--- i/x.c\n+++ w/x.c\n", edit("x.c")),
        ("diff --git b/x.c b/x.c\n--- b/x.c\n+++ b/x.c\n", edit("b/x.c")),
        (
            "--- \"a/\\303\\244 \\\"q\\\"\\t.c\"\n+++ \"b/\\303\\244 \\\"q\\\"\\t.c\"\n",
            edit("\u{e4} \"q\"\t.c"),
        ),
        ("--- a/two words.c\t\n+++ b/two words.c\t\n", edit("two words.c")),
        (
            "Index: x.c\n===================================================================\n--- x.c\t(revision 7)\n+++ x.c\t(working copy)\n",
            edit("x.c"),
        ),
        ("--- a/o.c\n+++ b/n.c\n", (Some("o.c".into()), Some("n.c".into()), FilePatchKind::Edit)),
        ("+++ b/x.c\n", (None, Some("x.c".into()), FilePatchKind::Edit)),
        ("", (None, None, FilePatchKind::Edit)),
    ] {
        assert_eq!(names(&format!("{header}{HUNK}")), want, "{header}");
    }
    let levels =
        parse(format!("--- q/a/x.c\n+++ q/a/x.c\n{HUNK}").as_bytes(), StripLevels::Levels(2)).unwrap();
    assert_eq!(levels.files[0].new.as_deref(), Some("x.c"));
}

#[test]
fn kinds_of_changes_are_told_apart() {
    let some = |name: &str| Some(name.to_string());
    for (text, want) in [
        ("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", (None, some("n"), FilePatchKind::Create)),
        ("--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", (some("o"), None, FilePatchKind::Delete)),
        (
            "--- a/n\t1970-01-01 00:00:00.000000000 +0000\n+++ b/n\t2024-01-01 00:00:00\n@@ -0,0 +1 @@\n+x\n",
            (None, some("n"), FilePatchKind::Create),
        ),
        (
            "--- a/o\t2024-01-01 00:00:00\n+++ b/o\t1970-01-01 01:00:00.000000000 +0100\n@@ -1 +0,0 @@\n-x\n",
            (some("o"), None, FilePatchKind::Delete),
        ),
        (
            "diff --git a/e b/e\nnew file mode 100755\nindex 0000000..e69de29\n",
            (None, some("e"), FilePatchKind::Create),
        ),
        (
            "diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000\n",
            (some("e"), None, FilePatchKind::Delete),
        ),
        (
            "diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n",
            (some("o"), some("n"), FilePatchKind::Rename),
        ),
        (
            "diff --git a/o b/n\nsimilarity index 90%\ncopy from o\ncopy to n\n--- a/o\n+++ b/n\n@@ -1 +1 @@\n-x\n+y\n",
            (some("o"), some("n"), FilePatchKind::Copy),
        ),
        (
            "diff --git b/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
            (None, some("b/n"), FilePatchKind::Create),
        ),
        ("diff --git a/two words b/two words\nold mode 100644\nnew mode 100755\n", edit("two words")),
    ] {
        assert_eq!(names(text), want, "{text}");
    }
    // If another file shows that there are no prefixes, `b/` is a directory.
    let mixed = parsed(&format!("--- x\n+++ x\n{HUNK}--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"));
    assert_eq!(mixed.files[1].new.as_deref(), Some("b/n"));
    let modes = parsed("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n");
    assert_eq!((modes.files[0].old_mode, modes.files[0].new_mode), (Some(0o100_644), Some(0o100_755)));
}

#[test]
fn what_stands_around_a_patch_is_passed_over_and_told() {
    let fenced = format!(
        "Here is the change:\n\n```diff\n--- a/x\n+++ b/x\n{HUNK}```\n\n- it replaces two\n+ and adds 2\n"
    );
    assert!(gives(&fenced, OLD, NEW).is_empty());
    let indented: String = fenced.lines().skip(2).take(8).map(|l| format!("  {l}\n")).collect();
    assert_eq!(gives(&format!("1. First:\n\n{indented}"), OLD, NEW), NO_NOTES);
    let other = format!("```sh\nmake\n```\n--- a/x\n+++ b/x\n{HUNK}");
    gives(&other, OLD, NEW);
    let mailed = format!(
        "From 1234\nSubject: x\n\n---\n x | 2 +-\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n{HUNK}-- \n2.47.3\n\n"
    );
    assert_eq!(parsed(&mailed).notes, ["skipped 6 lines around the patch"]);
    assert!(gives(&mailed, OLD, NEW).is_empty());
    let prose = format!("--- a/x\n+++ b/x\n{HUNK}\nHope this helps!\n");
    assert_eq!(parsed(&prose).notes, ["skipped 1 line around the patch"]);
    gives(&prose, OLD, NEW);
}

#[test]
fn headers_of_hunks_may_be_wrong_or_missing() {
    for header in [
        "@@ -1,3 +1,3 @@",
        "@@ -1,3 +1,3 @@ fn x",
        "@@ -1,9 +1,2 @@",
        "@@ -1 +1 @@",
        "@@",
        "@@ @@",
        "@@ ... @@",
        "@@ -1,3 +1,3",
        "@@ -7,3 +7,3 @@",
    ] {
        let body = " one\n-two\n+2\n three\n";
        gives(&format!("--- a/x\n+++ b/x\n{header}\n{body}"), OLD, NEW);
        gives(&format!("--- a/x\n+++ b/x\n{header}\n{body}\n"), OLD, NEW);
        gives(&format!("{header}\n{body}"), OLD, NEW);
    }
    let wrong = parsed("--- a/x\n+++ b/x\n@@ -1,4 +1,3 @@\n one\n-two\n+2\n three\n");
    assert_eq!(
        wrong.notes,
        ["line 3: the hunk's header has -4 +3 lines, its body -3 +3; placet uses the body"]
    );
    // Counts that are too small lose nothing, with or without spaces before the following text.
    let (old, new) = ("one\ntwo\nthree\nfour\n", "one\n2\nthree\n4\n");
    for rest in [" three\n-four\n+4\n", "three\n-four\n+4\n", "\n"] {
        let (old, new) = if rest == "\n" { ("one\ntwo\n", "one\n2\n") } else { (old, new) };
        gives(&format!("@@ -1,2 +1,2 @@\n one\n-two\n+2\n{rest}"), old, new);
    }
    gives(
        "@@ -1,2 +1,2 @@\n one\n-two\n+2\n\n- so\n\nand:\n\n- a list\n- of words\n",
        "one\ntwo\n",
        "one\n2\n",
    );
    // A removed line `-- x` and an added line `++ y` are not a file header if the counts are right.
    gives("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n--- x\n+++ y\n", "one\n-- x\n", "one\n++ y\n");
}

#[test]
fn context_may_lack_its_blank() {
    gives("@@ -1,4 +1,4 @@\n one\n\n-two\n+2\n three\n", "one\n\ntwo\nthree\n", "one\n\n2\nthree\n");
    gives("@@ -1,3 +1,3 @@\none\n-two\n+2\nthree\n", OLD, NEW);
    let old = "fn a() {\n    let x = 1;\n    done();\n}\n";
    let notes = gives(
        "@@ -1,3 +1,3 @@\nfn a() {\n-    let x = 1;\n+    let x = 2;\n    done();\n",
        old,
        &old.replace('1', "2"),
    );
    assert_eq!(notes, ["hunk 1 of 1: its context lines lack the leading blank; read without it"]);
}

#[test]
fn a_hunk_goes_where_it_fits_and_says_so() {
    let body = " one\n-two\n+2\n three\n";
    let notes =
        gives(&format!("@@ -1,3 +1,3 @@\n{body}"), &format!("new\nnew\n{OLD}"), &format!("new\nnew\n{NEW}"));
    assert_eq!(notes, ["hunk 1 of 1 applied at line 3 (offset +2 lines)"]);
    // At the stated line other places do not matter; elsewhere they do.
    let twice = format!("{OLD}x\n{OLD}");
    gives(&format!("@@ -5,3 +5,3 @@\n{body}"), &twice, &format!("{OLD}x\n{NEW}"));
    let notes = gives(&format!("@@ -3,3 +3,3 @@\n{body}"), &twice, &format!("{OLD}x\n{NEW}"));
    assert_eq!(notes, ["hunk 1 of 1 applied at line 5 (offset +2 lines), the nearest of 2 places"]);
    // The hunk before shows how far the lines have moved.
    let two = format!("@@ -1,2 +1,2 @@\n-head\n+HEAD\n x\n@@ -3,3 +3,3 @@\n{body}");
    let old = format!("new\nhead\nx\n{OLD}{OLD}");
    let notes = gives(&two, &old, &format!("new\nHEAD\nx\n{NEW}{OLD}"));
    assert_eq!(
        notes,
        ["hunk 1 of 2 applied at line 2 (offset +1 line)", "hunk 2 of 2 applied at line 4 (offset +1 line)"]
    );
}

#[test]
fn a_hunk_that_does_not_fit_shows_the_place_and_the_difference() {
    let error = on("@@ -1,3 +1,3 @@\n one\n-tow\n+2\n three\n", "zero\none\ntwo\nthree\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "hunk 1 of 1 (@@ -1,3 +1,3 @@) does not match: 1 of its 3 lines differs at the nearest place\n      2│one\n!     3│two\n  patch│tow\n      4│three\n`!`: the file's line, and below it what the patch expects"
    );
    let error = on("@@ -1 +1 @@\n-\tone\n+1\n", "    one\n").unwrap_err();
    assert!(error.to_string().contains("!     1│····one\n  patch│→one\n"), "{error}");
    let error = on("@@ -2 +2 @@\n-x\n+y\n", "").unwrap_err();
    assert_eq!(error.to_string(), "hunk 1 of 1 (@@ -2 +2 @@) does not match: no similar text in the file");
}

#[test]
fn fuzz_is_used_only_when_asked_for() {
    let patch = parsed("@@ -1,3 +1,3 @@\n ONE\n-two\n+2\n three\n");
    let old = OLD.as_bytes();
    assert!(apply(&patch.files[0], old, Options { fuzz: 0 }).is_err());
    let applied = apply(&patch.files[0], old, Options { fuzz: 1 }).unwrap();
    assert_eq!(applied.bytes, NEW.as_bytes());
    assert_eq!(
        applied.notes,
        ["hunk 1 of 1 applied with fuzz: 1 context lines above and 1 below were not compared"]
    );
    assert_eq!(applied.known, crate::text::RangeSet::of(1..2));
    // The context that does not match may be missing altogether.
    let applied = apply(&patch.files[0], b"two\n", Options { fuzz: 1 }).unwrap();
    assert_eq!(applied.bytes, b"2\n");
}

#[test]
fn line_ends_are_the_files_own() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let patch = format!("--- a/x\n+++ b/x\n{HUNK}");
    let notes = gives(&patch, &crlf(OLD), &crlf(NEW));
    assert_eq!(notes, ["line ends: the patch has LF, the file has CRLF; used those of the file"]);
    let notes = gives(&crlf(&patch), OLD, NEW);
    assert_eq!(notes, ["line ends: the patch has CRLF, the file has LF; used those of the file"]);
    assert!(gives(&crlf(&patch), &crlf(OLD), &crlf(NEW)).is_empty());
    // git writes the lines of a CRLF file unchanged, and its own lines with LF.
    assert!(
        gives(
            &format!("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n{}", crlf(" one\n-two\n+2\n three\n")),
            &crlf(OLD),
            &crlf(NEW)
        )
        .is_empty()
    );
    // A change of only the line end is a change.
    assert!(gives("@@ -1 +1 @@\n-x\r\n+x\n", "x\r\n", "x\n").is_empty());
    // In a mixed file every line retains its own line end.
    gives(&patch, "one\r\ntwo\r\nthree\nfour\r\n", "one\r\n2\r\nthree\nfour\r\n");
}

#[test]
fn a_missing_newline_at_the_end_is_kept_made_and_removed() {
    let none = "\\ No newline at end of file\n";
    assert!(gives(&format!("@@ -1 +1 @@\n-x\n{none}+y\n{none}"), "x", "y").is_empty());
    assert!(gives(&format!("@@ -1 +1 @@\n-x\n{none}+x\n"), "x", "x\n").is_empty());
    assert!(gives(&format!("@@ -1 +1 @@\n-x\n+x\n{none}"), "x\n", "x").is_empty());
    let wrong = ["the patch is wrong about the line end of the file's last line; used that of the file"];
    assert_eq!(gives("@@ -1 +1 @@\n-x\n+y\n", "x", "y"), wrong);
    assert_eq!(gives(&format!("@@ -1 +1 @@\n-x\n{none}+y\n{none}"), "x\n", "y\n"), wrong);
    assert_eq!(gives("@@ -1,2 +1,3 @@\n a\n x\n+y\n", "a\nx", "a\nx\ny"), wrong);
    // The patch itself may lack its last line end.
    gives("@@ -1 +1 @@\n-x\n+y", "x\n", "y\n");
}

#[test]
fn bytes_that_are_no_text_and_a_byte_order_mark_stay() {
    let patch = parse(b"@@ -1,3 +1,3 @@\n \xFF\xFE\n-\xE4\n+\xF6\n \x80\n\\ No newline\n", StripLevels::Auto)
        .unwrap();
    let applied = apply(&patch.files[0], b"\xFF\xFE\n\xE4\n\x80", Options::default()).unwrap();
    assert_eq!(applied.bytes, b"\xFF\xFE\n\xF6\n\x80");
    gives("@@ -1 +1 @@\n-x\n+y\n", "\u{FEFF}x\n", "\u{FEFF}y\n");
    assert!(gives("@@ -1 +1 @@\n-\u{FEFF}x\n+x\n", "\u{FEFF}x\n", "x\n").is_empty());
}

#[test]
fn hunks_without_context_stand_by_their_number() {
    gives("@@ -1,0 +2 @@\n+x\n", "a\nb\n", "a\nx\nb\n");
    gives("@@ -0,0 +1 @@\n+x\n", "a\n", "x\na\n");
    assert_eq!(
        on("@@ -9,0 @@\n+x\n", "a\n").unwrap_err().to_string(),
        "hunk 1 of 1 (@@ -9,0 @@) belongs after line 9, but the file has 1"
    );
    assert_eq!(
        on("@@\n+x\n", "a\n").unwrap_err().to_string(),
        "hunk 1 of 1 (@@) has no context and no line number, so its place is unknown"
    );
}

#[test]
fn hunks_neither_overlap_nor_change_their_order() {
    let refused = |patch: &str, old: &str| on(patch, old).unwrap_err().to_string();
    let wrap = |body: &str| format!("*** Begin Patch\n*** Update File: x\n{body}*** End Patch\n");
    // Both insert between the same two lines, which occur once.
    let above = "(@@ -1,2 +2,3 @@) matches only at line 1, above the end of hunk 1";
    let error = refused("@@ -1,2 +1,3 @@\n one\n+a\n two\n@@ -1,2 +2,3 @@\n one\n+b\n two\n", OLD);
    assert_eq!(error, format!("hunk 2 of 2 {above}"));
    let error = refused("@@ -1,2 +1,3 @@\n one\n+a\n two\n@@ -7,2 +8,3 @@\n one\n+b\n two\n", OLD);
    assert!(error.starts_with("hunk 2 of 2 (@@ -7,2 +8,3 @@) matches only at line 1, above"), "{error}");
    let error = refused(&wrap("@@\n one\n+a\n two\n@@\n one\n+b\n two\n"), OLD);
    assert!(error.starts_with("hunk 2 of 2 (@@) matches only at line 1, above"), "{error}");
    // Lines of the envelope without any context go to the end, whatever follows them.
    gives(&wrap("@@\n+end\n@@\n one\n-two\n+2\n"), OLD, "one\n2\nthree\nend\n");
    gives(&wrap("@@\n+end\n@@\n-three\n+3\n@@\n+last\n"), OLD, "one\ntwo\n3\nend\nlast\n");
    // The hunks are not in the order of the file.
    let turned = "@@ -3,2 +3,2 @@\n-three\n+3\n x\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
    let error = refused(turned, &format!("{OLD}x\n"));
    assert_eq!(error, "hunk 2 of 2 (@@ -1,2 +1,2 @@) matches only at line 1, above the end of hunk 1");
    let error = refused("@@ -2,0 +3 @@\n+x\n@@ -1,0 +2 @@\n+y\n", OLD);
    assert!(error.starts_with("hunk 2 of 2 (@@ -1,0 +2 @@) matches only at line 2, above"), "{error}");
    // A hunk may begin with the context below the hunk before it, and not with a removed line.
    let two = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -3,2 +3,2 @@\n three\n-x\n+y\n";
    gives(two, &format!("{OLD}x\n"), &format!("{NEW}y\n"));
    let moved = two.replace("-3,2 +3,2", "-9,2 +9,2");
    let error = refused(&moved, &format!("{OLD}x\n"));
    assert!(error.starts_with("hunk 2 of 2 (@@ -9,2 +9,2 @@) matches only at line 3, above"), "{error}");
    let gone = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -2,2 +2,3 @@\n two\n three\n+y\n";
    assert!(refused(gone, OLD).starts_with("hunk 2 of 2 (@@ -2,2 +2,3 @@) matches only at line 2, above"));
}

#[test]
fn a_hunk_that_shows_nothing_below_its_changes_goes_to_the_end() {
    let more = format!("{OLD}four\n");
    for (patch, old) in [
        ("@@ -2,2 +2,3 @@\n two\n three\n+x\n", more.as_str()),
        ("@@ -1,2 +1,2 @@\n one\n-two\n+2\n", OLD),
        ("*** Begin Patch\n*** Update File: x\n@@\n-one\n+1\n*** End of File\n*** End Patch\n", OLD),
    ] {
        let error = on(patch, old).unwrap_err().to_string();
        assert!(error.contains("but not at the end of the file, where it belongs"), "{error}");
    }
    // The end of the file decides between places, even against the line number.
    let twice = format!("{OLD}{OLD}");
    gives("@@ -2,2 +2,3 @@\n two\n three\n+x\n", &twice, &format!("{twice}x\n"));
    // Writers who do not count, or write the envelope, omit context below without meaning the end of the file; so does
    // `-U0`.
    for patch in [
        "@@\n one\n-two\n+2\n",
        "@@ -1,9 +1,9 @@\n one\n-two\n+2\n",
        "*** Begin Patch\n*** Update File: x\n@@\n one\n-two\n+2\n*** End Patch\n",
        "@@ -2 +2 @@\n-two\n+2\n",
    ] {
        gives(patch, OLD, NEW);
    }
    // Fuzz that skips all context above leaves the end open too.
    let patch = parsed("@@ -1,2 +1,2 @@\n ONE\n-two\n+2\n");
    assert!(apply(&patch.files[0], OLD.as_bytes(), Options { fuzz: 0 }).is_err());
    assert_eq!(apply(&patch.files[0], OLD.as_bytes(), Options { fuzz: 1 }).unwrap().bytes, NEW.as_bytes());
}

#[test]
fn marks_of_the_envelope_may_be_padded() {
    let patch = parsed(
        "  *** Begin Patch\n  *** Update File: a\n  *** Move to: b\n@@\n-x\n+y\n *** Delete File: c \n\t*** Add File: d\n+new\n  *** Update File: e\n@@\n-x\n+y\n *** End of File\n *** End Patch\n",
    );
    let names: Vec<(Option<&str>, Option<&str>, FilePatchKind)> =
        patch.files.iter().map(|f| (f.old.as_deref(), f.new.as_deref(), f.kind)).collect();
    assert_eq!(
        names,
        [
            (Some("a"), Some("b"), FilePatchKind::Rename),
            (Some("c"), None, FilePatchKind::Delete),
            (None, Some("d"), FilePatchKind::Create),
            (Some("e"), Some("e"), FilePatchKind::Edit),
        ]
    );
    assert!(patch.files[3].hunks()[0].at_end);
    // A padded end is a line of context if the real end is still to come: nothing is cut off.
    gives(
        "*** Begin Patch\n*** Update File: x\n@@\n *** End Patch\n-two\n+2\n*** End Patch\n",
        "one\n*** End Patch\ntwo\n",
        "one\n*** End Patch\n2\n",
    );
}

#[test]
fn the_envelope_is_read() {
    let patch = parsed(
        "Sure:\n*** Begin Patch\n*** Add File: n.txt\n+one\n+\n+two\n*** Delete File: gone\n*** Update File: a.py\n*** Move to: b.py\n@@ class A\n@@     def f(self):\n-        return 1\n+        return 2\n*** End Patch\nthanks\n",
    );
    let kinds: Vec<(Option<&str>, Option<&str>, FilePatchKind)> =
        patch.files.iter().map(|f| (f.old.as_deref(), f.new.as_deref(), f.kind)).collect();
    assert_eq!(
        kinds,
        [
            (None, Some("n.txt"), FilePatchKind::Create),
            (Some("gone"), None, FilePatchKind::Delete),
            (Some("a.py"), Some("b.py"), FilePatchKind::Rename)
        ]
    );
    assert_eq!(patch.notes, ["skipped 1 line after `*** End Patch`"]);
    assert_eq!(apply(&patch.files[0], b"", Options::default()).unwrap().bytes, b"one\n\ntwo\n");
    let old = "class B:\n    def f(self):\n        return 1\nclass A:\n    def e(self):\n        return 1\n    def f(self):\n        return 1\n";
    let new = format!("{}return 2\n", old.strip_suffix("return 1\n").unwrap());
    assert_eq!(apply(&patch.files[2], old.as_bytes(), Options::default()).unwrap().bytes, new.as_bytes());
}

#[test]
fn hunks_of_the_envelope_are_found_by_their_lines() {
    let wrap = |body: &str| format!("*** Begin Patch\n*** Update File: x\n{body}*** End Patch\n");
    gives(&wrap("@@\n one\n-two\n+2\n three\n"), OLD, NEW);
    gives(&wrap(" one\n-two\n+2\n"), OLD, NEW);
    gives(&wrap("@@\n+end\n"), OLD, "one\ntwo\nthree\nend\n");
    gives(&wrap("@@\n-x\n+y\n*** End of File\n"), "x\na\nx\n", "x\na\ny\n");
    gives(&wrap("@@\n one\n-two\n+2\n@@\n-x\n+y\n"), "x\none\ntwo\nx\n", "x\none\n2\ny\n");
    let error = on(&wrap("@@\n-x\n+y\n"), "x\na\nx\n").unwrap_err();
    assert_eq!(error.to_string(), "hunk 1 of 1 (@@) matches at 2 places, lines 1, 3");
    let error = on(&wrap("@@ def f():\n+y\n"), "x\ndef f():\n").unwrap_err();
    assert!(error.to_string().contains("no context"), "{error}");
}

#[test]
fn what_must_not_be_guessed_at_is_refused() {
    for (text, want) in [
        ("", "no patch found: expected"),
        ("hello\n", "no patch found: expected"),
        ("*** a/x\t2024\n--- b/x\t2024\n***************\n*** 1 ****\n", "line 1 starts a context diff"),
        ("diff --cc x\n--- a/x\n+++ b/x\n@@@ -1,2 -1,2 +1,3 @@@\n", "a combined diff of a merge"),
        (
            "diff --git a/x b/x\nBinary files a/x and b/x differ\n",
            "`x` is a binary file, and the patch does not contain its content",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+to\n",
            "`l` is a symbolic link",
        ),
        (
            "diff --git a/m b/m\nindex 1234567..89abcde 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n-x\n+y\n",
            "`m` is a submodule",
        ),
        ("--- a/x\n+++ b/x\n", "line 1: `x` has no hunk"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "line 3: hunk without lines"),
        (
            "--- \"a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n",
            "line 1: invalid file name: the closing quote is missing",
        ),
        ("*** Begin Patch\n*** Update File: x\n@@\n-x\n+y\n", "no `*** End Patch`"),
        ("*** Begin Patch\n*** Rename File: x\n*** End Patch\n", "line 2: unexpected `*** Rename File: x`"),
        ("*** Begin Patch\n*** Update File: x\n*** End Patch\n", "line 2: `x` has no hunk"),
    ] {
        let error = refused(text).to_string();
        assert!(error.contains(want), "{error}\n{text}");
    }
    let overlap = on("@@ -1,2 +1,1 @@\n-one\n-two\n+x\n@@ -2 +2 @@\n-two\n+y\n", OLD).unwrap_err();
    assert_eq!(overlap.to_string(), "hunk 2 of 2 (@@ -2 +2 @@) changes lines that hunk 1 changes too");
    let again = on(HUNK, NEW).unwrap_err().to_string();
    assert_eq!(
        again,
        "hunk 1 of 1 (@@ -1,3 +1,3 @@) does not match: its result is already in the file, at line 1"
    );
    let partly = on("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", OLD).unwrap_err();
    assert!(
        partly.to_string().ends_with("and does not contain all lines of it: lines left over: 2"),
        "{partly}"
    );
}
