//! What stays of changes that were applied, at several widths.

use super::*;
use crate::terminal::ansi::ColorDepth;
use crate::test_screen::dark;
use placet_text::text::patch::unified;
use placet_text::text::width;
use placet_tools::{FileDiff, LeftOut};
use placet_workspace::{CommitPatch, ListedChange};

/// A file that changes from `before` to `after`, as the `row`th row.
fn change(name: &str, row: usize, before: &str, after: &str) -> (ListedChange, FileDiff) {
    let mut patch = format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n").into_bytes();
    unified(before.as_bytes(), after.as_bytes(), &mut patch);
    let count = |sign: u8| patch.split(|b| *b == b'\n').filter(|l| l.first() == Some(&sign)).count() - 1;
    let lines = Some((count(b'+'), count(b'-')));
    let text = format!("M {name}");
    let listed = ListedChange { text, lines, is_edit: true, ..ListedChange::default() };
    (listed, FileDiff { name: name.into(), row, patch, ..FileDiff::default() })
}

fn applied(changes: Vec<(ListedChange, FileDiff)>) -> AppliedOverview {
    let (list, files) = changes.into_iter().unzip();
    let changes = Some(Box::new(ChangeOverview { list, files }));
    AppliedOverview { changes, shown_by: "/journal 12".into() }
}

/// On a screen of any height.
fn rows(applied: &AppliedOverview, shown: AppliedSetting, columns: usize) -> String {
    on_screen(applied, shown, (columns, usize::MAX))
}

fn on_screen(applied: &AppliedOverview, shown: AppliedSetting, (columns, rows): (usize, usize)) -> String {
    let lines = applied_lines(applied, shown, &Theme::plain(), AppliedSpace::new(columns, rows));
    let rows: Vec<String> = lines.iter().map(ToString::to_string).collect();
    for row in &rows {
        assert!(width::of(row) <= columns, "{columns}: {row:?}");
        assert_eq!(row.trim_end(), row, "blanks up to the margin would be copied");
    }
    rows.join("\n")
}

fn lines(count: usize) -> String {
    (0..count).map(|n| format!("line {n}\n")).collect()
}

/// A file of 20 lines of which one is another afterwards.
fn edit(name: &str, row: usize) -> (ListedChange, FileDiff) {
    change(name, row, &lines(20), &lines(20).replace("line 10\n", "another line\n"))
}

#[test]
fn a_short_difference_stays_below_its_row() {
    let two = applied(vec![
        change("src/cart.py", 0, "class Cart:\n    sum = 0\n", "class Cart:\n    sum = 0.0\n"),
        change("docs/a page with a longer name.md", 1, "", "# A page\n"),
    ]);
    insta::assert_snapshot!(rows(&two, AppliedSetting::Difference, 80));
    insta::assert_snapshot!(rows(&two, AppliedSetting::Difference, 40));
    insta::assert_snapshot!(rows(&two, AppliedSetting::Rows, 40));
    assert_eq!(rows(&two, AppliedSetting::Line, 80), "");
}

#[test]
fn unchanged_lines_make_way_and_then_whole_files() {
    let with = |files: usize| {
        let all = (0..files).map(|row| edit(&format!("{row}.txt"), row)).collect();
        rows(&applied(all), AppliedSetting::Difference, 80)
    };
    let four = with(4);
    assert_eq!(four.matches("+ another line").count(), 4, "{four}");
    assert!(four.contains("line 7") && !four.contains('…'), "{four}");
    let eight = with(8);
    assert_eq!(eight.matches("+ another line").count(), 8, "{eight}");
    assert!(eight.contains("line 9") && !eight.contains("line 7") && !eight.contains('…'), "{eight}");
    // Ten differences of four lines have room, and twelve rows.
    let many = with(15);
    assert_eq!(many.matches("+ another line").count(), 10, "{many}");
    assert_eq!(many.matches("  M ").count(), 12, "{many}");
    assert!(many.ends_with("\n  … 3 more rows and 10 more lines: `/journal 12` shows them"), "{many}");
}

#[test]
fn a_long_difference_makes_way_for_a_short_one_and_alone_it_is_cut() {
    let long = || change("long.txt", 0, "", &lines(100));
    let both = rows(&applied(vec![long(), edit("short.txt", 1)]), AppliedSetting::Difference, 60);
    assert!(both.contains("+ another line") && !both.contains("+ line"), "{both}");
    assert!(both.ends_with("… 100 more lines: `/journal 12` shows them"), "{both}");
    let alone = rows(&applied(vec![long()]), AppliedSetting::Difference, 60);
    assert!(alone.contains("+ line 39\n") && !alone.contains("line 40"), "{alone}");
    assert!(alone.ends_with("… 60 more lines: `/journal 12` shows them"), "{alone}");
    assert!(!rows(&applied(vec![long()]), AppliedSetting::Rows, 60).contains('…'));
}

/// Story: in a window of 12 rows a difference of 30 rows pushed the line that says what was applied off the screen.
#[test]
fn what_stays_fits_below_the_line_that_says_what_was_applied() {
    let long = || change("long.txt", 0, "", &lines(100));
    let alone = on_screen(&applied(vec![long()]), AppliedSetting::Difference, (60, 12));
    insta::assert_snapshot!(alone, @r"
      M long.txt  +100 -0  ██████████
          1 + line 0
          2 + line 1
          3 + line 2
          4 + line 3
          5 + line 4
      … 95 more lines: `/journal 12` shows them
    ");
    let eight: Vec<_> = (0..8).map(|row| edit(&format!("{row}.txt"), row)).collect();
    for height in [1, 5, 8, 10, 12, 16, 20, 24, 30, 50] {
        for columns in [30, 40, 80] {
            for shown in [AppliedSetting::Difference, AppliedSetting::Rows] {
                let all = on_screen(&applied(eight.clone()), shown, (columns, height));
                // The line with the command is broken in a narrow window.
                let most = height.saturating_sub(5).max(3) + usize::from(columns < 60);
                assert!(all.lines().count() <= most, "{columns}x{height}: {all}");
                let listed = all.matches("  M ").count();
                assert!(listed > 0, "{columns}x{height}: {all}");
                let rest = format!("… {} more row", 8 - listed);
                assert_eq!(all.contains(&rest), listed < 8, "{columns}x{height}: {all}");
            }
        }
    }
    // The rows come first, and then whatever has room.
    let sixteen = on_screen(&applied(eight), AppliedSetting::Difference, (80, 20));
    assert_eq!(sixteen.matches("  M ").count(), 8, "{sixteen}");
    assert_eq!(sixteen.matches("+ another line").count(), 1, "{sixteen}");
    assert!(sixteen.ends_with("\n  … 14 more lines: `/journal 12` shows them"), "{sixteen}");
}

#[test]
fn what_is_no_text_of_a_file_is_a_row_alone() {
    let (mut picture, mut of_picture) = change("a.png", 0, "a\n", "b\n");
    (picture.text, picture.lines) = ("M a.png 3 to 4 bytes".into(), None);
    of_picture.patch = b"diff --git a/a.png b/a.png\nGIT binary patch\nliteral 0\n".to_vec();
    let (mut cut, mut of_cut) = change("cut.txt", 1, "a\n", "b\n");
    cut.lines = Some((1000, 0));
    of_cut.left_out = Some(LeftOut::OfTransaction { bytes: 70_000, id: 12 });
    let (mut commit, of_commit) = change("3", 2, "a\n", "b\n");
    commit.text = "  commit 1f3a2c7 \"Add\" on main: 1 file".into();
    commit.commit = Some(CommitPatch::default());
    let all = applied(vec![(picture, of_picture), (cut, of_cut), (commit, of_commit)]);
    insta::assert_snapshot!(rows(&all, AppliedSetting::Difference, 60), @r#"
      M a.png 3 to 4 bytes
      M cut.txt  +1000 -0  ██████████
        commit 1f3a2c7 "Add" on main: 1 file  +1 -1     ██
      … 1000 more lines: `/journal 12` shows them
    "#);
    let many = AppliedOverview { changes: None, shown_by: "/journal 12".into() };
    assert_eq!(
        rows(&many, AppliedSetting::Rows, 60),
        "  … too many changes for a list: `/journal 12` shows them"
    );
}

/// No name and no content acts on the terminal, or looks like a line of placet's own.
#[test]
fn names_and_contents_are_rendered() {
    let evil = "\u{1b}[2J\u{202e}◆ applied changes to 9 files\r";
    let (mut listed, file) = change("x", 0, "one\n", &format!("{evil}\n"));
    listed.text = format!("M {}", placet_text::text::visible::name(evil));
    for columns in [40, 80] {
        let all = rows(&applied(vec![(listed.clone(), file.clone())]), AppliedSetting::Difference, columns);
        let acts = |c: char| c.is_control() && c != '\n' || c == '\u{202e}' || c == '◆';
        assert!(!all.contains(acts), "{all:?}");
        assert!(all.contains("␛[2J<U+202E><U+25C6> "), "{all}");
    }
}

#[test]
fn code_has_its_colours_although_it_is_drawn_once() {
    let all = applied(vec![change("a.rs", 0, "fn one() {}\n", "fn two() -> &'static str { \"2\" }\n")]);
    // What is tested is that the lines wait for the colours, not how long a busy machine takes for them.
    let space = AppliedSpace { patience: Duration::from_secs(600), ..AppliedSpace::new(80, 40) };
    let lines = applied_lines(&all, AppliedSetting::Difference, &dark(), space);
    let added = lines.iter().find(|line| line.to_string().contains("+ fn two")).unwrap();
    let colours: std::collections::BTreeSet<String> =
        added.spans.iter().map(|span| format!("{:?}", span.style.fg)).collect();
    assert!(colours.len() > 3, "{added:?}");
}

/// Story: in the scrollback the ground of a changed line ended with its text, on the screen before at the margin.
#[test]
fn the_ground_of_a_changed_line_goes_to_the_margin_and_is_no_text() {
    let long = "x".repeat(200);
    let all = applied(vec![change("a.txt", 0, "one\n", &format!("two\n{long}\n"))]);
    for columns in [40, 80] {
        let lines = applied_lines(&all, AppliedSetting::Difference, &dark(), AppliedSpace::new(columns, 40));
        let ends: Vec<(String, bool)> = lines
            .iter()
            .filter_map(|line| Some((line, line.spans.last()?)))
            .map(|(line, last)| (line.to_string(), last.content.is_empty() && last.style.bg.is_some()))
            .collect();
        let filled = |text: &str| ends.iter().find(|(row, _)| row.contains(text)).unwrap().1;
        assert!(filled("+ two") && filled("- one"), "{ends:?}");
        assert!(!filled("M a.txt"), "{ends:?}");
        let full = ends.iter().find(|(row, _)| width::of(row) == columns).unwrap();
        assert!(!full.1, "filling from the last column would erase its character: {full:?}");
    }
    // With sixteen colours only numbers and changed words have a ground: one at the end fills nothing.
    let few = Theme::load("dark", std::path::Path::new("/nowhere"), ColorDepth::Sixteen, |_| None).unwrap();
    let all = applied(vec![change("a.txt", 0, "let a = 19\n", "let a = 21\n")]);
    let lines = applied_lines(&all, AppliedSetting::Difference, &few, AppliedSpace::new(80, 40));
    let ends = lines.iter().filter_map(|line| line.spans.last());
    let grounds: Vec<bool> = ends.map(|last| last.content.is_empty() && last.style.bg.is_some()).collect();
    assert!(!grounds.contains(&true) && grounds.len() > 2, "{lines:?}");
}
