//! Every key of the field, what a paste becomes, and what is shown of a text that does not fit.

use super::*;
use crate::keymap::KeyChord;

/// A field with `text`, the cursor where `|` is.
fn field(kind: TextFieldKind, text: &str) -> TextField {
    let (before, after) = text.split_once('|').unwrap();
    TextField { at: before.len(), text: format!("{before}{after}"), ..TextField::new(kind) }
}

fn shown(field: &TextField) -> String {
    format!("{}|{}", field.before(), field.after())
}

/// Presses keys that are written as in the settings.
fn press(field: &mut TextField, keys: &str) -> bool {
    keys.split(' ').map(|key| field.key(KeyChord::parse(key).unwrap().event())).last().unwrap()
}

#[test]
fn each_key_moves_or_edits_as_in_bash() {
    use TextFieldKind::{Line, Lines, Path};
    for (kind, before, keys, after) in [
        (Line, "ab|c", "x", "abx|c"),
        (Line, "ab|c", "Left", "a|bc"),
        (Line, "ab|c", "Ctrl-B", "a|bc"),
        (Line, "|ab", "Left", "|ab"),
        (Line, "a|bc", "Right", "ab|c"),
        (Line, "a|bc", "Ctrl-F", "ab|c"),
        (Line, "ab|", "Right", "ab|"),
        (Line, "ab|c", "Home", "|abc"),
        (Line, "ab|c", "Ctrl-A", "|abc"),
        (Line, "a|bc", "End", "abc|"),
        (Line, "a|bc", "Ctrl-E", "abc|"),
        (Line, "one two-three |", "Alt-b", "one two-|three "),
        (Line, "one two-thr|ee", "Ctrl-Left", "one two-|three"),
        (Line, "one two|", "Alt-Left Alt-Left Alt-Left", "|one two"),
        (Line, "on|e two", "Alt-f", "one| two"),
        (Line, "one| two ", "Ctrl-Right", "one two| "),
        (Line, "one| ", "Alt-Right", "one |"),
        (Line, "ab|c", "Backspace", "a|c"),
        (Line, "ab|c", "Ctrl-H", "a|c"),
        (Line, "|ab", "Backspace", "|ab"),
        (Line, "a|bc", "Delete", "a|c"),
        (Line, "a|bc", "Ctrl-D", "a|c"),
        (Line, "ab|", "Delete", "ab|"),
        (Line, "one src/main.rs |x", "Ctrl-W", "one |x"),
        (Path, "one src/main.rs|", "Ctrl-W", "one src/|"),
        (Path, "one src/ui/|", "Ctrl-W", "one src/|"),
        (Line, "one src/main.rs|", "Alt-Backspace", "one src/main.|"),
        (Line, "one src/main|", "Ctrl-Backspace", "one src/|"),
        (Line, "|one two", "Alt-d", "| two"),
        (Line, "one| two", "Ctrl-Delete", "one|"),
        (Line, "one |two", "Ctrl-U", "|two"),
        (Line, "one |two", "Ctrl-K", "one |"),
        (Line, "one |two", "Ctrl-U Ctrl-E Ctrl-Y Ctrl-Y", "twoone one |"),
        (Line, "one |two", "Ctrl-K Ctrl-A Ctrl-Y", "two|one "),
        (Line, "a|", "Ctrl-Y", "a|"),
        // Keys for the owner of the field, and unused keys.
        (Line, "a|", "Enter", "a|"),
        (Line, "a|", "Alt-Enter Ctrl-J Up Tab F2 Alt-x Ctrl-X", "a|"),
        (Lines, "a|b", "Enter", "a|b"),
        (Lines, "a|b", "Alt-Enter", "a\n|b"),
        (Lines, "a|b", "Ctrl-J", "a\n|b"),
        // What a person sees as one character is one character.
        (Line, "a👩\u{200d}👧|é b", "Backspace", "a|é b"),
        (Line, "|e\u{301}x", "Right", "e\u{301}|x"),
        (Line, "e\u{301}|x", "Backspace", "|x"),
        (Line, "|日本", "Delete", "|本"),
        (Line, "na\u{308}her kom|", "Alt-b Alt-b", "|na\u{308}her kom"),
    ] {
        let mut field = field(kind, before);
        let text = field.text().to_string();
        let changed = press(&mut field, keys);
        assert_eq!(shown(&field), after, "{keys} in {before}");
        assert!(keys.contains(' ') || changed == (field.text() != text), "{keys} in {before}: {changed}");
    }
}

#[test]
fn nothing_of_a_paste_is_lost() {
    for (kind, text, after) in [
        (TextFieldKind::Line, "one\r\ntwo\rthree\n\n", "<one two three|>"),
        (TextFieldKind::Path, "src/a b", "<src/a b|>"),
        (TextFieldKind::Lines, "one\r\ntwo\rthree\n", "<one\ntwo\nthree\n|>"),
    ] {
        let mut field = field(kind, "<|>");
        field.insert(text);
        assert_eq!(shown(&field), after);
    }
}

#[test]
fn the_view_keeps_the_cursor_in_sight() {
    let view = |text: &str, columns| field(TextFieldKind::Lines, text).view(columns);
    assert_eq!(view("hello|", 20), ("hello".into(), 5));
    assert_eq!(view("0123456789|abc", 6), ("56789".into(), 5));
    assert_eq!(view("012|3456789", 6), ("01234".into(), 3));
    assert_eq!(view("a\nb|", 20), ("a↵b".into(), 3));
    assert_eq!(view("日本語|", 5), ("本語".into(), 4));
    assert_eq!(view("e\u{301}e\u{301}e\u{301}|", 3), ("e\u{301}e\u{301}".into(), 2));
}
