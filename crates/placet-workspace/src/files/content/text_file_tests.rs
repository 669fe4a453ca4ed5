#![allow(clippy::single_range_in_vec_init, reason = "a range of bytes or lines is one thing")]

use super::*;
use crate::Replacement;
use proptest::prelude::*;

fn file(bytes: &[u8]) -> TextFile {
    TextFile::new(Arc::new(bytes.to_vec())).unwrap()
}

fn edit(bytes: &[u8], old: &str, new: &str) -> Result<Vec<u8>, EditError> {
    let file = file(bytes);
    let spans = file.find(old, 10)?;
    assert_eq!(spans.len(), 1, "{old:?} in {:?}", String::from_utf8_lossy(bytes));
    file.splice(&spans, &Replacement::of_text(old, new)).map(|s| s.bytes)
}

#[test]
fn line_ends_of_the_surroundings_are_taken() {
    for (bytes, old, new, want) in [
        (&b"a\r\nb\r\nc\r\n"[..], "b", "b\nbb", &b"a\r\nb\r\nbb\r\nc\r\n"[..]),
        (b"a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", b"a\r\nB\nc\r\n"),
        (b"a\r\nb\nc\r\n", "c", "c\nd", b"a\r\nb\nc\r\nd\r\n"),
        (b"a\nb\r\nc", "c", "c\nd", b"a\nb\r\nc\r\nd"),
        (b"a\rb\nc\n", "a\rb", "a\rB", b"a\rB\nc\n"),
        (b"a\nb\n", "a\r\nb", "x\r\ny", b"x\ny\n"),
        (b"one", "one", "one\r\ntwo", b"one\r\ntwo"),
        (b"\xEF\xBB\xBFa\r\n", "a", "b\nc", b"\xEF\xBB\xBFb\r\nc\r\n"),
        (b"a\n\n\nb\n", "a\n\n\nb", "a\n\nb", b"a\n\nb\n"),
    ] {
        assert_eq!(
            edit(bytes, old, new).unwrap(),
            want,
            "{:?} {old:?} -> {new:?}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn a_stray_byte_is_kept_and_never_replaced() {
    let bytes = "// h\u{e9}\u{e8} ok\n// caf".bytes().chain(*b"\xE9 here\nlast\n").collect::<Vec<u8>>();
    let after = edit(&bytes, "last", "new last").unwrap();
    assert!(after.starts_with(&bytes[..bytes.len() - 5]));
    let error = edit(&bytes, "caf\u{FFFD} here", "coffee").unwrap_err();
    assert_eq!(error, EditError::Undecodable { encoding: TextEncoding::Utf8, line: 2 });
    assert_eq!(edit(&bytes, "last", "l\u{FFFD}st").unwrap_err(), EditError::Placeholder(TextEncoding::Utf8));
}

#[test]
fn a_match_begins_and_ends_with_characters() {
    let gbk = TextEncoding::Gbk.encode("这是测试文本。很好\n").unwrap().into_owned();
    let text = file(&gbk);
    assert_eq!(text.encoding(), TextEncoding::Gbk);
    for c in "这是测试文本很好".chars() {
        assert_eq!(text.find(&c.to_string(), 10).unwrap().len(), 1, "{c}");
    }
    let wide: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain(TextEncoding::Utf16Le.encode("Ā\u{100}a\n\u{a0a}\r\nb\n").unwrap().iter().copied())
        .collect();
    let text = file(&wide);
    assert_eq!(text.line_count(), 3);
    assert_eq!(text.find("a", 10).unwrap(), [6..8]);
}

#[test]
fn overlapping_places_are_all_counted() {
    assert_eq!(file(b"aaaa\n").find("aa", 10).unwrap().len(), 3);
    assert_eq!(file(b"\n\n\n").find("\n\n", 10).unwrap().len(), 2);
    assert_eq!(file(b"a\r\n\r\nb").find("\n\n", 10).unwrap(), [1..5]);
}

#[test]
fn lines_are_counted_and_found() {
    let text = file(b"a\nbb\r\n\nd");
    assert_eq!(text.line_count(), 4);
    let lines: Vec<String> = text.lines(1).map(|l| text.line_text(&l).into_owned()).collect();
    assert_eq!(lines, ["bb", "", "d"]);
    assert_eq!(text.lines_of(&(0..1)), 0..1);
    assert_eq!(text.lines_of(&(0..3)), 0..2);
    assert_eq!(text.lines_of(&(2..6)), 1..2);
    assert_eq!(file(b"").line_count(), 0);
    assert_eq!(file(b"\xEF\xBB\xBF").line_count(), 0);
}

fn cases() -> ProptestConfig {
    let full = std::env::var_os("PLACET_FULL").is_some();
    ProptestConfig::with_cases(if full { 5000 } else { 200 })
}

fn lines() -> impl Strategy<Value = Vec<(String, bool)>> {
    let line = prop_oneof!["[a-zäöüß ]{0,12}", "[\t x]{0,6}", "[一-十]{1,5}"];
    prop::collection::vec((line, any::<bool>()), 1..12)
}

proptest! {
    #![proptest_config(cases())]

    /// One ASCII line is edited, every byte outside it stays.
    #[test]
    fn bytes_outside_the_change_are_identical(
        before in lines(), after in lines(), mark in any::<bool>(), stray in prop::collection::vec(0x80u8..=0xFF, 0..4),
        new in "[a-z \n]{0,20}", kind in 0usize..6,
    ) {
        let encodings = [TextEncoding::Utf8, TextEncoding::Utf16Le, TextEncoding::Utf16Be, TextEncoding::Windows1252, TextEncoding::Gbk, TextEncoding::ShiftJis];
        let encoding = encodings[kind];
        let join = |lines: &[(String, bool)]| -> String {
            lines.iter().map(|(l, crlf)| format!("{l}{}", if *crlf { "\r\n" } else { "\n" })).collect()
        };
        let (Ok(head), Ok(tail)) = (encoding.encode(&join(&before)).map(|b| b.into_owned()), encoding.encode(&join(&after)).map(|b| b.into_owned())) else { return Ok(()) };
        let mut bytes = match encoding {
            TextEncoding::Utf8 if mark => vec![0xEF, 0xBB, 0xBF],
            TextEncoding::Utf16Le => vec![0xFF, 0xFE],
            TextEncoding::Utf16Be => vec![0xFE, 0xFF],
            _ => vec![],
        };
        bytes.extend(&head);
        if encoding.unit() == 1 { bytes.extend(&stray); }
        let needle = encoding.encode("NEEDLE 7").unwrap().into_owned();
        bytes.extend(encoding.encode("\n").unwrap().iter());
        let at = bytes.len();
        bytes.extend(&needle);
        let end = bytes.len();
        bytes.extend(encoding.encode("\r\n").unwrap().iter());
        bytes.extend(&tail);
        let Ok(text) = TextFile::new(Arc::new(bytes.clone())) else { return Ok(()) };
        // A legacy text may be taken for another one; its bytes must survive all the same.
        let spans = text.find("NEEDLE 7", 10).unwrap();
        prop_assert_eq!(&spans, &vec![at..end]);
        let Ok(spliced) = text.splice(&spans, &Replacement::of_text("NEEDLE 7", &new)) else { return Ok(()) };
        prop_assert!(spliced.bytes.starts_with(&bytes[..at]));
        prop_assert!(spliced.bytes.ends_with(&bytes[end..]));
        let put = text.encoding().decode(&spliced.bytes[at..spliced.bytes.len() - (bytes.len() - end)]).into_owned();
        prop_assert_eq!(put, new.replace('\n', "\r\n"));
    }

    /// Lines that were shown match when they are sent back, and replacing them by themselves changes nothing.
    #[test]
    fn reading_and_sending_back_changes_nothing(all in lines(), from in 0usize..10, len in 1usize..6, open in any::<bool>()) {
        let mut bytes: Vec<u8> = all.iter().flat_map(|(l, crlf)| format!("{l}{}", if *crlf { "\r\n" } else { "\n" }).into_bytes()).collect();
        if open { bytes.extend(b"tail without end"); }
        let text = file(&bytes);
        let shown: Vec<String> = text.lines(from).take(len).map(|l| text.line_text(&l).into_owned()).collect();
        let old = shown.join("\n");
        if old.is_empty() { return Ok(()) }
        let start = text.start_of(from);
        let spans = text.find(&old, 100).unwrap();
        let here: Vec<_> = spans.into_iter().filter(|s| s.start == start).collect();
        prop_assert_eq!(here.len(), 1);
        prop_assert_eq!(&text.splice(&here, &Replacement::of_text(&old, &old)).unwrap().bytes, &bytes);
    }
}
