//! The review shows exactly what would be applied: two changes that differ in any byte are drawn differently when read
//! to the end, a line of any length is shown whole, and what was not on the screen is named.

use super::action::TABLE;
use super::content::file::{ReviewBody, ReviewDecision, ReviewFile, ReviewLines};
use super::content::inline_diff::InlineDiffCache;
use super::content::side_text::SideText;
use super::picture::paint::{DrawContext, NoAnnotations, ReviewPainter};
use super::state::{Review, ReviewSubject};
use crate::Theme;
use crate::keymap::Keymap;
use placet_text::text::patch::StripLevels;
use placet_text::text::visible::samples;
use placet_workspace::{
    ChangeClasses, ChangeSet, FileAttrs, FileChange, ObjectStore, PathState, RenamedFiles, shown_patch,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

fn file(name: &str, old: &[u8], new: &[u8]) -> Option<ReviewFile> {
    let lines = ReviewLines::new(SideText::new(old.to_vec())?, SideText::new(new.to_vec())?);
    Some(ReviewFile {
        name: name.into(),
        path: format!("/w/{name}").into(),
        paths: vec![std::path::PathBuf::from(format!("/w/{name}")).into()],
        renamed: None,
        letter: 'M',
        facts: super::content::load::encodings(old, new).into_iter().collect(),
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body: ReviewBody::Lines(lines),
        key: name.into(),
    })
}

fn review(files: Vec<ReviewFile>, columns: u16, rows: u16) -> Review {
    let mut review = Review::new("a turn", ReviewSubject::Pending, files);
    review.resize(columns, rows);
    review
}

/// Every row, read to the end.
fn drawn(review: &Review) -> String {
    let (theme, keys, inside) = (Theme::plain(), Keymap::usual("review", TABLE), InlineDiffCache::default());
    let scene = DrawContext { theme: &theme, keys: &keys, annotations: &NoAnnotations, inline: &inside };
    let painter = ReviewPainter::new(review, &scene, review.places().columns);
    let rows = (0..review.rows.list.len()).flat_map(|at| painter.rows(at));
    rows.map(|row| row.iter().map(|cell| cell.text.as_str()).collect::<String>() + "\n").collect()
}

fn scroll_to_cursor(review: &mut Review) {
    let (theme, keys, inside) = (Theme::plain(), Keymap::usual("review", TABLE), InlineDiffCache::default());
    review.scroll_to_cursor(&DrawContext {
        theme: &theme,
        keys: &keys,
        annotations: &NoAnnotations,
        inline: &inside,
    });
}

/// Story: a line was cut after 4,000 bytes, and the hidden rest was accepted with it.
#[test]
fn a_line_of_a_megabyte_is_shown_to_its_end_and_only_what_is_in_view_is_laid_out() {
    let line = format!("{}; evil()\n", "x = 1; ".repeat(1 << 17));
    let mut review = review(vec![file("app.js", b"", line.as_bytes()).unwrap()], 80, 24);
    let since = Instant::now();
    for _ in 0..10 {
        scroll_to_cursor(&mut review);
    }
    assert!(since.elapsed() < Duration::from_secs(20), "every frame lays out the whole line");
    let shown = drawn(&review);
    let text: String = shown.lines().skip(1).map(|row| row.get(11..).unwrap_or("")).collect();
    assert!(text.replace("↪ ", "").replace("↪", "").contains("; evil()"), "the end is not shown");
    review.look.wrap = false;
    assert!(drawn(&review).contains('›'), "a cut line says that it goes on");
}

#[test]
fn what_was_not_on_the_screen_is_named_when_it_is_accepted() {
    let long = format!("{}; evil()\n", "x = 1; ".repeat(500));
    let other: String = (0..100).map(|n| format!("line {n}\n")).collect();
    let files = vec![file("a.js", b"", long.as_bytes()).unwrap(), file("b", b"", other.as_bytes()).unwrap()];
    let mut review = review(files, 80, 24);
    scroll_to_cursor(&mut review);
    review.decide_all(ReviewDecision::Accepted);
    assert_eq!(
        review.footer.message.as_deref(),
        Some("accepted 2 hunks; not on the screen: a.js (1 line), b (100 lines)")
    );
    let summary: Vec<String> = review.summary().into_iter().map(|(line, _)| line).collect();
    assert!(
        summary.contains(&"not seen   a.js (1 line): accepted, and not on the screen".to_string()),
        "{summary:?}"
    );
    // Read to the end, screen by screen, all of it was seen.
    for at in 0..review.rows.list.len() {
        review.window.cursor = at;
        scroll_to_cursor(&mut review);
        let (theme, keys, inside) =
            (Theme::plain(), Keymap::usual("review", TABLE), InlineDiffCache::default());
        let scene = DrawContext { theme: &theme, keys: &keys, annotations: &NoAnnotations, inline: &inside };
        while review.scroll_in_row(true, &scene) {}
    }
    assert!(review.unseen_summary().is_empty(), "{:?}", review.unseen_summary());
}

#[test]
fn line_ends_and_encodings_are_shown() {
    for (a, b) in [
        (&b"x\r\n"[..], &b"x\n"[..]),
        (b"x\n", b"x"),
        (b"x\n", b"x  (no line end)"),
        (b"x\xe9y\n", "xéy\n".as_bytes()),
        // A decoder makes one U+FFFD of either.
        (b"\xc3\xa9 \xf0\x9f y\n", b"\xc3\xa9 \x9f y\n"),
        ("é \u{9f}".as_bytes(), b"\xc3\xa9 \x9f"),
        (b"\xef\xbb\xbfx\n", b"x\n"),
        (b"x\ry\n", b"x\ny\n"),
    ] {
        let of = |new: &[u8]| drawn(&review(vec![file("f", b"", new).unwrap()], 80, 24));
        assert_ne!(of(a), of(b), "{a:?} {b:?}");
    }
}

/// Story: both halves of a surrogate pair were decoded as U+FFFD, so two contents looked the same.
#[test]
fn half_a_surrogate_pair_is_no_text() {
    let utf16 = |units: &[u16]| -> Vec<u8> {
        [0xFEFF].iter().chain(units).flat_map(|unit| unit.to_le_bytes()).collect()
    };
    let (whole, high, low) =
        (utf16(&[0x61, 0xD83D, 0xDE00, 10]), utf16(&[0x61, 0xD83D, 10]), utf16(&[0x61, 0xDE00, 10]));
    let (words, left_out) = super::content::load::wide_text(b"", &whole).unwrap();
    assert!(left_out == 0 && words.iter().any(|line| line.contains("a😀")), "{words:?}");
    assert!(
        super::content::load::wide_text(b"", &high).is_none()
            && super::content::load::wide_text(&low, &whole).is_none()
    );
}

/// Story: a script that begins with the mark of UTF-16 was one line of Chinese letters, and `sh` runs its lines.
#[test]
fn lines_that_a_shell_reads_in_utf_16_are_shown() {
    let script = b"\xff\xfe\n\necho PWNED > pwned\n##\n";
    let (words, left_out) = super::content::load::wide_text(b"echo safe\n", script).unwrap();
    assert!(left_out == 0 && words.contains(&"  echo PWNED > pwned".to_string()), "{words:?}");
    let many = [&b"\xff\xfe"[..], &b"\n\necho\n".repeat(3_000)].concat();
    let (_, left_out) = super::content::load::wide_text(b"", &many).unwrap();
    assert!(left_out >= 1_000, "{left_out}");
    let latin: Vec<u8> = "\u{feff}Write-Host 'one'\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (words, _) = super::content::load::wide_text(b"", &latin).unwrap();
    assert!(words.iter().all(|line| !line.contains("a program")), "{words:?}");
}

/// Stories: a directory that became an executable file was shown as a removed directory, and a link that became a file as
/// too large to be shown.
#[test]
fn what_takes_the_place_of_anything_is_shown_in_the_review_and_at_the_question() {
    let dir = tempfile::TempDir::new().unwrap();
    let objects = ObjectStore::new(dir.path().join("objects"));
    let file = |text: &str, mode: u32| PathState::File {
        hash: objects.put(text.as_bytes()).unwrap(),
        size: text.len() as u64,
        attrs: FileAttrs { mode, ..FileAttrs::default() },
    };
    let link = |target: &str| PathState::Link { target: target.into() };
    let directory = PathState::Directory { attrs: FileAttrs { mode: 0o755, ..FileAttrs::default() } };
    let olds = [PathState::Absent, file("old\n", 0o644), link("old"), directory];
    for old in olds {
        for new in [file("payload\n", 0o644), file("payload\n", 0o755), link("payload")] {
            let change = |path: &str, before: &PathState, after: &PathState| FileChange {
                path: Path::new(path).into(),
                before: before.clone().into(),
                after: after.clone().into(),
                content: None,
                moved_from: None,
                twin: None,
                raced: false,
                by_tool: false,
                steps: std::sync::Arc::default(),
            };
            let mut changes = vec![change("/w/s", &old, &new)];
            if old.is_directory() {
                changes.push(change("/w/s/inside", &file("gone\n", 0o644), &PathState::Absent));
            }
            let set = ChangeSet::new(changes);
            let (classes, renamed) = (ChangeClasses::default(), RenamedFiles::default());
            let files = super::pending(&set, &classes, &renamed, &objects, &|path| path.into());
            let decided: BTreeSet<_> = files.iter().flat_map(|file| file.paths.clone()).collect();
            assert_eq!(decided, set.paths(), "{old:?} {new:?}");
            let shown = drawn(&review(files, 80, 24));
            assert!(shown.contains("payload"), "{old:?} {new:?}\n{shown}");
            let rows = set.listing(&objects, &classes, &[], |path| path.into());
            let mut asked: String = rows.iter().map(|row| row.line() + "\n").collect();
            if !set.changes[0].is_link_alone() {
                let patch = shown_patch(&set, &set.changes[0], &renamed, &objects, Path::new("/w"));
                let patch = placet_text::text::patch::parse(&patch.bytes, StripLevels::default());
                let drawn =
                    drawn(&review(super::of_patch(&patch.expect("a patch that can be drawn")), 80, 24));
                asked.push_str(&drawn);
            }
            assert!(asked.contains("payload"), "{old:?} {new:?}\n{asked}");
            if old.is_directory() {
                assert!(
                    shown.contains("D /w/s/inside") && asked.contains("everything in it"),
                    "{shown}{asked}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn two_changes_that_differ_are_drawn_differently(
        (before, after, other) in samples::three_versions(),
        columns in prop::sample::select(vec![24u16, 60, 100, 160]),
        side in any::<bool>(),
    ) {
        let of = |new: &[u8]| {
            let file = file("f", &before, new)?;
            let mut review = review(vec![file], columns, 24);
            review.layout.side = side;
            review.lay_out();
            Some(drawn(&review))
        };
        if let (Some(a), Some(b)) = (of(&after), of(&other)) {
            prop_assert!(after == other || a != b, "{:?} and {:?} look the same:\n{}", after, other, a);
            prop_assert!(!a.chars().any(samples::acts), "{:?}", a);
        }
    }
}
