//! The viewer's screen: numbers, marks, moving, and files of any size.

use super::*;
use crate::keymap::Keymap;
use crate::test_screen::{self, dark};
use placet_text::text::TextEncoding;
use proptest::prelude::*;
use std::cell::RefCell;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::rc::Rc;

fn hands() -> (ViewerCallbacks<'static>, Rc<RefCell<Vec<String>>>) {
    let done: Rc<RefCell<Vec<String>>> = Rc::default();
    let (copies, edits) = (Rc::clone(&done), Rc::clone(&done));
    let hands = ViewerCallbacks {
        keys: Keymap::new("viewer", KEYS, &[]).unwrap(),
        pager: Keymap::new("pager", pager::KEYS, &[]).unwrap(),
        copy: Box::new(move |text| {
            copies.borrow_mut().push(text.into());
            "copied".into()
        }),
        edit: Box::new(move |line| {
            edits.borrow_mut().push(format!("edit {line}"));
            Ok(())
        }),
    };
    (hands, done)
}

fn opened(text: &str, line: Option<usize>, columns: u16, rows: u16) -> Viewer<'static> {
    let mut pane = Viewer::new(ViewerText::in_memory(text.into()), "src/a.rs", line, &dark(), hands().0);
    pane.resize(columns, rows);
    pane
}

fn wait_until_idle(pane: &mut Viewer<'_>) {
    let size = pane.screen.size;
    test_screen::wait_until_idle(pane, size);
}

fn press(pane: &mut Viewer<'_>, keys: &str) {
    for key in keys.chars() {
        test_screen::press(pane, key);
    }
}

fn screen(pane: &Viewer<'_>) -> String {
    test_screen::rows(&test_screen::drawn(pane, pane.screen.size)).join("\n")
}

/// Lines with the turn in which they were seen; 0 where that is not known.
fn seen(all: &[(Range<usize>, u32)]) -> SeenLines {
    let mut seen = SeenLines::default();
    for (lines, turn) in all {
        seen.lines.insert(lines.clone());
        seen.turns.show(&RangeSet::of(lines.clone()), *turn);
    }
    seen
}

fn window(lines: Range<usize>, bytes: &[u8]) -> SeenWindow {
    SeenWindow { lines, hash: blake3::hash(bytes), turn: 7, message: 0 }
}

const CODE: &str = "//! A tail.\n\nfn tail(of: &str) -> &str {\n\tlet end = of.len(); // 日本\n\tof.get(end - 1..).unwrap_or(\"\u{1b}[2J\")\n}\n";

#[test]
fn a_file_has_numbers_marks_and_nothing_that_a_terminal_would_act_on() {
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let mut pane = opened(CODE, Some(4), 80, 24)
        .with_seen(seen(&[(2..3, 0), (3..4, 12)]))
        .with_facts(vec!["pending".into()])
        .with_provenance(Box::new(move || {
            let _ = gate.recv();
            vec![String::new(), String::new(), "turn 2".into()]
        }));
    wait_until_idle(&mut pane);
    insta::assert_snapshot!(screen(&pane), @r#"
          1  //! A tail.
          2
       ▎  3  fn tail(of: &str) -> &str {
    ❯12▎  4  ⇥   let end = of.len(); // 日本
          5  ⇥   of.get(end - 1..).unwrap_or("␛[2J")
          6  }

















     src/a.rs  4 of 6  ▎seen in turn 12  pending          / search  ? keys  q close
    "#);
    let plain = screen(&pane);
    press(&mut pane, "bj");
    assert!(screen(&pane).contains("❯     5 working out…"), "keys work meanwhile:\n{}", screen(&pane));
    press(&mut pane, "k");
    drop(open);
    wait_until_idle(&mut pane);
    assert!(screen(&pane).contains("3 turn 2"), "{}", screen(&pane));
    assert!(!screen(&pane).contains("working out"), "{}", screen(&pane));
    press(&mut pane, "b");
    assert_eq!(screen(&pane), plain);
    let colours: std::collections::HashSet<_> =
        test_screen::drawn(&pane, pane.screen.size).content.iter().map(|cell| cell.fg).collect();
    assert!(colours.len() > 5, "{colours:?}");
}

#[test]
fn a_narrow_screen_cuts_lines_or_wraps_them() {
    let mut pane = opened(CODE, None, 40, 12);
    wait_until_idle(&mut pane);
    press(&mut pane, "jjjw");
    insta::assert_snapshot!(screen(&pane), @r#"
        1  //! A tail.
        2
        3  fn tail(of: &str) -> &str {
    ❯   4  ⇥   let end = of.len(); // 日本
        5  ⇥   of.get(end - 1..).unwrap_or("
           ␛[2J")
        6  }




     src/a.rs  4 of 6       ? keys  q close
    "#);
}

#[test]
fn a_line_is_gone_to_found_copied_and_edited() {
    let text: String = (1..=5000).map(|n| format!("\tnumber {n}\n")).collect();
    let (hands, done) = hands();
    let mut pane = Viewer::new(ViewerText::in_memory(text.into()), "n.txt", Some(4321), &dark(), hands);
    pane.resize(60, 10);
    wait_until_idle(&mut pane);
    assert!(screen(&pane).contains("❯ 4321"), "{}", screen(&pane));
    press(&mut pane, "y:17\ny/number 44\n");
    wait_until_idle(&mut pane);
    press(&mut pane, "ye");
    pane.run_released();
    assert_eq!(*done.borrow(), ["\tnumber 4321", "\tnumber 17", "\tnumber 44", "edit 44"]);
    press(&mut pane, ":99999\n");
    assert!(screen(&pane).contains("the last line is 5000"), "{}", screen(&pane));
}

#[test]
fn a_gigabyte_opens_before_it_is_read_and_its_end_is_found() {
    let mut file = tempfile::tempfile().unwrap();
    let block = "a line of some words that are all alike\n".repeat(10_000);
    for _ in 0..10 {
        file.write_all(block.as_bytes()).unwrap();
    }
    // The rest is a hole: one very long line of zeros.
    file.seek(SeekFrom::Start(1 << 30)).unwrap();
    file.write_all(b"\nthe last line\n").unwrap();
    let size = file.metadata().unwrap().len();
    let mut pane =
        Viewer::new(ViewerText::on_disk(file, size, TextEncoding::Utf8), "big.log", None, &dark(), hands().0);
    pane.resize(80, 24);
    let first = screen(&pane);
    assert!(first.contains("1  a line of some words"), "{first}");
    press(&mut pane, ":100002\n");
    wait_until_idle(&mut pane);
    assert!(screen(&pane).contains("100002  the last line"), "{}", screen(&pane));
}

#[test]
fn a_window_that_was_shown_is_marked_only_while_it_is_the_same() {
    let text: String = (0..900).map(|n| format!("line {n}\n")).collect();
    let lines = |range: Range<usize>| range.map(|n| format!("line {n}\n")).collect::<String>();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let text = ViewerText::on_disk(file, text.len() as u64, TextEncoding::Utf8);
    let windows = vec![window(250..260, lines(250..260).as_bytes()), window(600..610, b"other")];
    let mut pane = Viewer::new(text, "x.log", None, &dark(), hands().0).with_windows(windows);
    pane.resize(40, 8);
    wait_until_idle(&mut pane);
    assert_eq!(pane.lines.seen, seen(&[(250..260, 7)]));
    press(&mut pane, "s");
    assert!(screen(&pane).contains("\n❯7▎251  line 250\n"), "{}", screen(&pane));
}

#[test]
fn without_a_screen_lines_are_told_with_the_turn_in_which_they_were_seen() {
    use crate::line_ui::script::ScriptedLineUi;
    let text: String = (1..=45).map(|n| format!("line {n}\t\u{1b}[2J\n")).collect();
    let pane = Viewer::new(ViewerText::in_memory(text.into()), "src/a.rs", Some(18), &dark(), hands().0);
    let mut pane = pane.with_seen(seen(&[(18..20, 3), (20..21, 0)]));
    let mut script = ScriptedLineUi::of(&["", "/LINE 2\t", "99", "/nowhere", "44", "", "more"]);
    pane.run_line_ui(&mut script);
    let said = script.transcript();
    assert!(
        said.starts_with(
            "src/a.rs: 45 lines\n18: line 18⇥␛[2J\n19, seen in turn 3: line 19⇥␛[2J\n20: line 20⇥␛[2J\n\
         21, seen by the model: line 21⇥␛[2J\n22, not seen: line 22⇥␛[2J\n23: line 23⇥␛[2J\n"
        ),
        "{said}"
    );
    let asked: Vec<&String> = script.said.iter().filter(|line| line.contains("searches")).collect();
    let rest = "a number goes there, `/words` searches, `q` leaves: ";
    assert_eq!(asked[0], &format!("Enter continues, {rest}"));
    assert!(said.contains("no line `99`; the last line is 45") && said.contains("no match for `nowhere`"));
    assert!(said.ends_with(&format!("45: line 45⇥␛[2J\nend of file; {rest}")), "{said}");
}

#[test]
fn keys_contradict_neither_each_other_nor_those_of_the_pager() {
    test_screen::assert_no_key_of_the_pager("viewer", KEYS);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_key_at_any_size_breaks_it(
        keys in "[gGjkhlwnNbsye?:/1-9\n\u{1b} ]{0,40}", text in "([a-z\t 日\r\n\u{1b}]{0,30}\n){0,9}",
        columns in 1u16..200, rows in 1u16..60,
    ) {
        let mut pane = opened(&text, Some(3), columns, rows);
        for c in keys.chars() {
            press(&mut pane, &c.to_string());
            pane.tick();
            screen(&pane);
        }
        pane.resize(rows, columns.min(60));
        screen(&pane);
    }
}

/// The file read to its end, with the gutter of each line.
fn read(text: &str) -> String {
    drawn(&opened(text, None, 80, 24).lines)
}

fn drawn(lines: &ViewerLines) -> String {
    let blocks = (0..lines.blocks()).flat_map(|block| {
        let rows = lines.lines(block);
        (0..rows.len())
            .map(|at| {
                format!(
                    "{}{}\n",
                    lines.gutter(pager::PagerPosition::of(block, at), pager::RowFocus::Elsewhere),
                    rows[at]
                )
            })
            .collect::<Vec<_>>()
    });
    blocks.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn two_files_that_differ_look_different(
        (_, one, other) in placet_text::text::visible::samples::three_versions(),
        long in prop_oneof![4 => Just(0usize), 1 => 16_300usize..16_400],
    ) {
        let text = |bytes: &[u8]| format!("{}{}", "x".repeat(long), String::from_utf8_lossy(bytes));
        let (one, other) = (text(&one), text(&other));
        let (a, b) = (read(&one), read(&other));
        prop_assert!(one == other || a != b, "{one:?} and {other:?} look the same:\n{a}");
        prop_assert!(!a.chars().any(placet_text::text::visible::samples::acts), "{a:?}");
    }
}

/// A file of any size that is read from the disk, drawn to its end.
fn read_from_disk(bytes: &[u8]) -> String {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let text = ViewerText::on_disk(file, bytes.len() as u64, TextEncoding::Utf8);
    let pane = Viewer::new(text, "a.txt", None, &dark(), hands().0);
    drawn(&pane.lines)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// Story: every byte that is not UTF-8 was drawn as the same sign.
    #[test]
    fn two_files_with_stray_bytes_that_differ_look_different(
        (_, one, other) in placet_text::text::visible::samples::three_versions(),
        stray in prop::array::uniform2(0x80_u8..=0xff),
        long in prop_oneof![4 => Just(0usize), 1 => 16_300usize..16_400],
    ) {
        let text = |bytes: &[u8], stray: u8| [&vec![b'x'; long][..], bytes, &[stray], b"\n"].concat();
        let (one, other) = (text(&one, stray[0]), text(&other, stray[1]));
        let (a, b) = (read_from_disk(&one), read_from_disk(&other));
        prop_assert!(one == other || a != b, "{one:?} and {other:?} look the same:\n{a}");
        prop_assert!(!a.chars().any(placet_text::text::visible::samples::acts), "{a:?}");
    }
}
