//! The screen of scratchpads: what each key asks for, and that nothing is asked for by accident.

use super::*;
use crate::test_screen;

fn pad(name: &str, kind: ScratchpadItemKind) -> ScratchpadItem {
    ScratchpadItem { name: name.into(), bytes: name.len(), head: format!("{name} begins\nso"), kind }
}

fn opened(columns: u16, rows: u16) -> ScratchpadBrowser {
    let pads = vec![
        pad("log", ScratchpadItemKind::Text),
        pad("notes", ScratchpadItemKind::Text),
        pad("shot", ScratchpadItemKind::Picture),
    ];
    let keys = Keymap::new("scratchpads", KEYS, &[]).unwrap();
    let mut pane = ScratchpadBrowser::new(pads, &Theme::plain(), keys, Keymap::usual("pager", pager::KEYS));
    pane.resize(columns, rows);
    pane
}

/// Presses these keys; what the last of them did.
fn press(pane: &mut ScratchpadBrowser, keys: &str) -> PaneFlow {
    keys.chars().map(|key| test_screen::press(pane, key)).last().unwrap()
}

fn screen(pane: &ScratchpadBrowser) -> String {
    test_screen::rows(&test_screen::drawn(pane, pane.size)).join("\n")
}

#[test]
fn each_key_asks_for_its_own_and_closes_with_the_wish() {
    for (keys, want) in [
        ("⏎", ScratchpadRequest::View("log".into())),
        ("jv", ScratchpadRequest::View("notes".into())),
        ("Gv", ScratchpadRequest::View("shot".into())),
        ("je", ScratchpadRequest::Edit("notes".into())),
        ("P", ScratchpadRequest::Pin("log".into())),
        ("GP", ScratchpadRequest::Pin("shot".into())),
        ("⇥⇥d", ScratchpadRequest::Diff("log".into(), "notes".into())),
        ("j⇥kk⇥d", ScratchpadRequest::Diff("notes".into(), "log".into())),
        ("⇥⇥⇥d", ScratchpadRequest::Diff("notes".into(), "shot".into())),
        ("xy", ScratchpadRequest::Delete("log".into())),
        ("p a b.txt ⏎", ScratchpadRequest::Promote { name: "log".into(), path: "a b.txt".into() }),
    ] {
        let mut pane = opened(80, 10);
        assert_eq!((press(&mut pane, keys), pane.take_wish()), (PaneFlow::Close, Some(want)), "{keys}");
    }
}

#[test]
fn what_is_half_asked_is_not_done() {
    for (keys, note) in [
        ("xn", Some("not deleted")),
        ("x⏎", Some("not deleted")),
        ("x⎋", Some("not deleted")),
        ("d", Some("mark two with Tab to compare them")),
        ("⇥d", Some("mark two with Tab to compare them")),
        ("⇥k⇥d", Some("mark two with Tab to compare them")),
        ("Ge", Some("`shot` is a picture: only text can be edited or saved as a file")),
        ("Gp", Some("`shot` is a picture: only text can be edited or saved as a file")),
        ("p⏎", None),
        ("pxy⎋", None),
        ("?j", None),
    ] {
        let mut pane = opened(80, 10);
        let flow = press(&mut pane, keys);
        assert_eq!((flow, pane.take_wish(), pane.note.as_deref()), (PaneFlow::Stay, None, note), "{keys}");
    }
    let mut pane = opened(80, 10);
    press(&mut pane, "x");
    pane.paste("y");
    assert_eq!(pane.take_wish(), None);
    assert!(matches!(pane.focus, ScratchpadBrowserFocus::Delete), "a paste answers nothing");
    assert_eq!(press(&mut opened(80, 10), "q"), PaneFlow::Close);
}

#[test]
fn a_path_is_typed_pasted_and_edited() {
    let mut pane = opened(80, 10);
    let ctrl =
        |pane: &mut ScratchpadBrowser, c| pane.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
    press(&mut pane, "pxa");
    ctrl(&mut pane, 'u');
    pane.paste("rc/a\nsecond line");
    assert!(screen(&pane).contains(" file for `log`: rc/a second line"), "{}", screen(&pane));
    ctrl(&mut pane, 'w');
    ctrl(&mut pane, 'w');
    ctrl(&mut pane, 'w');
    ctrl(&mut pane, 'a');
    press(&mut pane, "s");
    ctrl(&mut pane, 'e');
    assert!(screen(&pane).contains(" file for `log`: src/ "), "{}", screen(&pane));
    press(&mut pane, "b⏎");
    assert_eq!(
        pane.take_wish(),
        Some(ScratchpadRequest::Promote { name: "log".into(), path: "src/b".into() })
    );
}

#[test]
fn the_list_shows_names_sizes_marks_and_the_beginning() {
    let mut pane = opened(104, 7);
    press(&mut pane, "j⇥");
    insta::assert_snapshot!(screen(&pane));
    pane.tell(vec![pad("log", ScratchpadItemKind::Text)], Some("deleted `notes`".into()));
    assert_eq!((pane.cursor.selected, pane.marked.len()), (0, 0));
    let foot = screen(&pane).lines().last().unwrap().to_string();
    assert!(foot.starts_with(" deleted `notes` ") && foot.ends_with("  ? keys  q close"), "{foot}");
    pane.tell(Vec::new(), None);
    assert!(screen(&pane).contains("no scratchpads"));
    assert_eq!(press(&mut pane, "v"), PaneFlow::Stay, "there is nothing to look at");
}

#[test]
fn no_key_at_any_size_breaks_it() {
    for (columns, rows) in [(1, 1), (3, 2), (20, 3), (101, 6)] {
        let mut pane = opened(columns, rows);
        for c in "jkgG⇥⇥d?⎋xnpq⎋j ".chars() {
            press(&mut pane, &c.to_string());
            screen(&pane);
        }
    }
}

#[test]
fn without_a_screen_a_word_and_a_number_ask_for_the_same() {
    use crate::line_ui::script::ScriptedLineUi;
    for (answers, want) in [
        (&["2"][..], Some(ScratchpadRequest::View("notes".into()))),
        (&["notes"], Some(ScratchpadRequest::View("notes".into()))),
        (&["diff 1 2"], Some(ScratchpadRequest::Diff("log".into(), "notes".into()))),
        (&["edit 3", "edit 1"], Some(ScratchpadRequest::Edit("log".into()))),
        (&["attach 3"], Some(ScratchpadRequest::Pin("shot".into()))),
        (
            &["file 2 a b.txt"],
            Some(ScratchpadRequest::Promote { name: "notes".into(), path: "a b.txt".into() }),
        ),
        (&["delete 1", "yes"], Some(ScratchpadRequest::Delete("log".into()))),
        (&["delete 1", "y", ""], None),
        (&["9", "delete", ""], None),
        (&[], None),
    ] {
        let mut pane = opened(80, 24);
        let mut script = ScriptedLineUi::of(answers);
        pane.run_line_ui(&mut script);
        assert_eq!(pane.take_wish(), want, "{answers:?}: {}", script.transcript());
        assert_eq!(
            script.said[1..4],
            ["1: log, 3 bytes", "2: notes, 5 bytes", "3: shot, a picture, 4 bytes"]
        );
    }
}
