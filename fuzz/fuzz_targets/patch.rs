//! Patches: an arbitrary one on an arbitrary content changes nothing but the runs it reports, and a patch of our own
//! writing makes the new content of the old.
//!
//! The input is two contents with a line `=====` between them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use placet::text::patch::{FilePatchBody, Options, StripLevels, apply, parse, unified, write_binary};

fn halves(data: &[u8]) -> (&[u8], &[u8]) {
    const LINE: &[u8] = b"=====\n";
    match data.windows(LINE.len()).position(|w| w == LINE) {
        Some(at) => (&data[..at], &data[at + LINE.len()..]),
        None => data.split_at(data.len() / 2),
    }
}

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Without the end of its last line: an appended line gives it one.
fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\r\n").or_else(|| bytes.strip_suffix(b"\n")).unwrap_or(bytes)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    if needle.is_empty() { Some(0) } else { haystack.windows(needle.len()).position(|w| w == needle) }
}

fuzz_target!(|data: &[u8]| {
    let (first, second) = halves(data);
    for fuzz in [0, 2] {
        let Ok(patch) = parse(first, StripLevels::Auto) else { break };
        for file in patch.files.iter().filter(|file| matches!(file.body, FilePatchBody::Hunks(_))) {
            let Ok(applied) = apply(file, second, Options { fuzz }) else { continue };
            // The mark stays in front, whether the hunks know of it or not.
            let old = second.strip_prefix(MARK).unwrap_or(second);
            let new = applied.bytes.strip_prefix(MARK).unwrap_or(&applied.bytes);
            let lines: Vec<&[u8]> = old.split_inclusive(|b| *b == b'\n').collect();
            let (mut at, mut from) = (0, 0);
            for (number, edit) in applied.edits.iter().enumerate() {
                let kept = lines[at..edit.old.start].concat();
                let kept = trimmed(&kept);
                let found = find(&new[from..], kept).expect("what lies between two edits is kept");
                assert!(number > 0 || found == 0, "what lies before the first edit is kept in its place");
                from += found + kept.len();
                at = edit.old.end;
            }
            assert!(new[from..].ends_with(&lines[at..].concat()), "what lies behind the last edit is kept");
            if applied.edits.is_empty() {
                assert_eq!(applied.bytes, second);
            }
        }
    }
    if first != second {
        let mut text = b"--- a/f\n+++ b/f\n".to_vec();
        unified(first, second, &mut text);
        let patch = parse(&text, StripLevels::Auto).expect("our own patch is read");
        let [file] = patch.files.as_slice() else { panic!("one file: {patch:?}") };
        let applied = apply(file, first, Options::default()).expect("our own patch fits");
        assert_eq!(applied.bytes, second);
        assert_eq!(applied.notes, Vec::<String>::new());

        let mut text = b"diff --git a/f b/f\n".to_vec();
        write_binary(first, second, &mut text);
        let patch = parse(&text, StripLevels::Auto).expect("our own binary patch is read");
        assert_eq!(apply(&patch.files[0], first, Options::default()).expect("and fits").bytes, second);
    }
});
