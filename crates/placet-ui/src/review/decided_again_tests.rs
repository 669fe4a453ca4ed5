//! Decisions that are made again, and what the first screen of the review says.

use super::*;

/// Story: `g a a` on a file of one hunk decided nothing: the second key took back what the first had done.
#[test]
fn the_same_key_again_keeps_the_decision_and_goes_on() {
    let mut desk = ReviewHarness::new(80, 30);
    assert_eq!(desk.press("a[a").marks(), "aaa oo o/oo/o");
    assert!(desk.screen().contains("accepted already"), "{}", desk.screen());
    assert!(desk.here().contains("line 30"), "{}", desk.here());
    assert_eq!(desk.press("gaga").marks(), "aaa aa a/oo/o");
    assert_eq!(desk.press("AA").marks(), "aaa aa a/aa/o");
    assert_eq!(desk.press("gp").marks(), "ooo oo o/aa/o");
    assert_eq!(desk.press("uXu").marks(), "aaa aa a/aa/o");
}

/// Story: 300 bytes that are no text filled pages with `<BC><A1>`.
#[test]
fn the_bytes_of_what_is_not_text_are_behind_a_key() {
    let words = vec!["not text: 10 bytes becomes 20 bytes".into()];
    let bytes: Vec<u8> = (0xe0..0xf4).collect();
    let body = WholeChange {
        words,
        bytes: Some(crate::review::content::file::BinaryContent::new(&bytes)),
        ..WholeChange::default()
    };
    let files = vec![file("a.bin", 'M', ReviewBody::Whole(body))];
    let mut desk = ReviewHarness::with(files, 100, 12, Theme::plain());
    assert!(
        desk.screen().contains("+ shows the bytes") && !desk.screen().contains("e0e1"),
        "{}",
        desk.screen()
    );
    desk.press("++");
    let rows = "00000000: e0e1 e2e3 e4e5 e6e7 e8e9 eaeb eced eeef  ................";
    assert_eq!(desk.screen().matches(rows).count(), 1, "{}", desk.screen());
    assert!(desk.screen().contains("00000010: f0f1 f2f3"), "{}", desk.screen());
    desk.press("--");
    assert!(!desk.screen().contains("e0e1") && desk.screen().contains("20 bytes"), "{}", desk.screen());
}

/// Story: the first screen of the review had no word about the conflict, because its rows were above or below.
#[test]
fn the_title_says_that_a_file_is_in_conflict() {
    let new = numbered(60).replace("line ", "row ");
    let mut body = lines(&numbered(60), &new);
    if let ReviewBody::Lines(lines) = &mut body {
        lines.compare_with_workspace(numbered(60).replace("line 5\n", "mine\n").as_bytes());
    }
    for columns in [40, 80, 120] {
        let desk =
            ReviewHarness::with(vec![file("src/app.rs", 'M', body.clone())], columns, 12, Theme::plain());
        let title = desk.screen().lines().next().unwrap_or_default().to_string();
        assert!(title.contains("1 in conflict"), "{columns}: {title}");
    }
}
