//! A patch that is drawn shows what would be applied: two patches that differ in any byte are drawn differently, or are not
//! drawn at all.

use super::picture::difference::{Differences, UnchangedText};
use crate::Theme;
use placet_text::text::patch::{unified, write_binary};
use placet_text::text::visible::samples;
use proptest::prelude::*;

fn patch(before: &[u8], after: &[u8]) -> Vec<u8> {
    let mut out = b"diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n".to_vec();
    unified(before, after, &mut out);
    out
}

/// All rows, or `None` where the patch is read as text.
fn drawn(patch: &[u8], columns: usize) -> Option<String> {
    let theme = Theme::plain();
    let rows =
        Differences::new([patch].into_iter(), &theme).rows(0, &theme, (columns, UnchangedText::All))?;
    for row in &rows {
        assert!(row.width() <= columns, "{} columns of {columns}: {row}", row.width());
    }
    Some(rows.iter().map(|row| format!("{row}\n")).collect())
}

#[test]
fn a_change_has_numbers_and_signs_and_no_header_of_git() {
    let shown = drawn(&patch(b"one\ntwo\nthree\n", b"one\n2\nthree\n"), 40).unwrap();
    assert_eq!(shown, " 1   one\n 2 - two\n 2 + 2\n 3   three\n");
}

/// Story: in one question the code of one file had colours, and that of the next had none.
#[test]
fn the_code_of_all_files_has_colours() {
    let theme = crate::test_screen::dark();
    let of = |name: &str| {
        let text =
            String::from_utf8(patch(b"def one(a):\n    return a\n", b"def one(a):\n    return a + 1\n"));
        text.unwrap().replace("x.rs", name).into_bytes()
    };
    let patches: Vec<Vec<u8>> = (0..12).map(|n| of(&format!("src/file{n}.py"))).collect();
    let mut all = Differences::new(patches.iter().map(Vec::as_slice), &theme);
    let rows = |all: &Differences, at| all.rows(at, &theme, (60, UnchangedText::All)).unwrap();
    (0..patches.len()).for_each(|at| drop(rows(&all, at)));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while all.is_busy() {
        all.poll();
        assert!(std::time::Instant::now() < until);
        std::thread::yield_now();
    }
    let coloured = |at: usize| {
        let rows = rows(&all, at);
        let keyword = rows.iter().flat_map(|row| &row.spans).find(|span| span.content.contains('d'));
        keyword.unwrap().style.fg
    };
    let first = coloured(0);
    assert!(first.is_some());
    (0..patches.len()).for_each(|at| assert_eq!(coloured(at), first, "{at}"));
}

#[test]
fn what_the_drawing_cannot_show_is_left_to_the_text_of_the_patch() {
    // UTF-16 has no lines for the review.
    assert_eq!(drawn(&patch(b"", b"\xff\xfea\0\n\0"), 80), None);
    assert_eq!(drawn(b"", 80), None);
    assert_eq!(drawn(b"# mode of x/\n", 80), None);
    let large: Vec<u8> = "a line of text\n".repeat(30_000).into_bytes();
    assert_eq!(drawn(&patch(b"", &large), 80), None);
}

/// Nobody can compare the names that git gives to contents.
#[test]
fn what_is_no_text_is_drawn_as_its_sizes() {
    let shown = |header: &str, before: &[u8], after: &[u8]| {
        let mut patch = format!("diff --git a/x b/x\n{header}").into_bytes();
        write_binary(before, after, &mut patch);
        drawn(&patch, 80).unwrap().trim().to_string()
    };
    let created = shown("new file mode 100644\n", b"", b"\0\x01+-\n+x\n");
    assert_eq!(created, "not text: new, 8 bytes");
    assert_eq!(shown("", b"\0a", b"\0bc"), "not text: 2 to 3 bytes");
    assert_eq!(shown("deleted file mode 100644\n", b"\0a", b""), "not text: removed, 2 bytes");
    let large: Vec<u8> = (0..400_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert_eq!(shown("new file mode 100644\n", b"", &large), "not text: new, 400000 bytes");
}

#[test]
fn a_link_is_drawn_as_where_it_leads() {
    let link = |mode: &str, names: &str, lines: &str| {
        let patch = format!("diff --git a/l b/l\n{mode}{names}{lines}");
        drawn(patch.as_bytes(), 80).unwrap().trim().to_string()
    };
    let new = "@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n";
    let shown = link("new file mode 120000\n", "--- /dev/null\n+++ b/l\n", new);
    assert_eq!(shown, "link -> /etc/passwd");
    let other = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
    assert_eq!(link("index 2e65efe..63d8dbd 120000\n", "--- a/l\n+++ b/l\n", other), "link -> b, was -> a");
    // A file that becomes a link goes first.
    let gone = "@@ -1 +0,0 @@\n-text\n";
    let file = format!("deleted file mode 100644\n--- a/l\n+++ /dev/null\n{gone}diff --git a/l b/l\n");
    let both = link(&file, "new file mode 120000\n--- /dev/null\n+++ b/l\n", new);
    assert!(
        both.contains("- text") && both.contains("link -> /etc/passwd") && !both.contains("--git"),
        "{both}"
    );
}

/// Lines that look like the headers of a patch are lines.
#[test]
fn lines_that_look_like_headers_are_drawn_as_lines() {
    let hostile =
        b"--- a/y\n+++ b/y\n@@ -1 +1 @@\n-x\n+y\ndiff --git a/z b/z\nGIT binary patch\n\\ No newline\n";
    for (before, after) in [(&b""[..], &hostile[..]), (hostile, b""), (b"-- a\n", b"++ b\n")] {
        let shown = drawn(&patch(before, after), 80).unwrap();
        let lines = before.split(|b| *b == b'\n').chain(after.split(|b| *b == b'\n'));
        for line in lines.filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            assert!(shown.contains(&*line), "{line} is not in {shown}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn patches_that_differ_are_drawn_differently(
        (before, after, other) in samples::three_versions(),
        columns in prop::sample::select(vec![24_usize, 60, 100, 160]),
    ) {
        let (one, two) = (patch(&before, &after), patch(&before, &other));
        if let (Some(a), Some(b)) = (drawn(&one, columns), drawn(&two, columns)) {
            prop_assert!(one == two || a != b, "{:?} and {:?} after {:?} look the same:\n{}", after, other, before, a);
            prop_assert!(!a.chars().any(samples::acts), "{:?}", a);
        }
    }
}

#[test]
fn each_file_of_a_commit_is_named() {
    let two = [patch(b"a\n", b"b\n"), b"diff --git a/y b/y\nnew file mode 100644\n".to_vec()].concat();
    let shown = drawn(&two, 40).unwrap();
    assert!(shown.starts_with("M x.rs  +1 -1") && shown.contains("\nA y "), "{shown}");
}
