//! Colours from the background thread: what becomes known, in which order, and how much of it is stored.

use super::*;
use crate::test_screen::dark;
use std::time::{Duration, Instant};

/// Polls until no work is left.
fn wait_until_idle(tint: &mut SyntaxHighlighter) {
    let until = Instant::now() + Duration::from_secs(120);
    while tint.is_busy() {
        tint.poll();
        assert!(Instant::now() < until, "the worker does not end");
        std::thread::yield_now();
    }
}

fn pieces<'t>(tint: &SyntaxHighlighter, doc: HighlightDocId, text: &'t str, n: usize) -> Vec<&'t str> {
    let line = text.lines().nth(n).unwrap();
    tint.line(doc, n).unwrap().iter().map(|(range, _)| &line[range.clone()]).collect()
}

#[test]
fn a_line_is_unknown_then_coloured_by_ranges_of_its_bytes() {
    let text = "// é done\r\nlet x = \"ü\";\n\n";
    let mut tint = SyntaxHighlighter::new(&dark());
    let doc = tint.add(text.into(), "src/a.rs");
    assert_eq!(tint.line(doc, 0), None);
    assert!(!tint.is_busy(), "nothing was wanted");
    tint.want(doc, 0..3);
    wait_until_idle(&mut tint);
    assert_eq!(pieces(&tint, doc, text, 0).concat(), "// é done");
    assert!(pieces(&tint, doc, text, 1).contains(&"let"));
    assert_eq!(tint.line(doc, 2), Some(&[][..]));
    assert_eq!(tint.line(doc, 3), None);
    let backgrounds = (0..3).flat_map(|n| tint.line(doc, n).unwrap()).filter(|(_, s)| s.bg.is_some());
    assert_eq!(backgrounds.count(), 0);
}

#[test]
fn a_comment_that_began_far_above_is_known_in_the_end() {
    let text = format!("/*\n{}*/\nfn end() {{}}\n", "let x = 1;\n".repeat(20_000));
    let mut tint = SyntaxHighlighter::new(&dark());
    let doc = tint.add(text.as_str().into(), "rs");
    tint.want(doc, 19_000..19_050);
    wait_until_idle(&mut tint);
    assert_eq!(pieces(&tint, doc, &text, 19_001), ["let x = 1;"], "one comment, no code");
    tint.want(doc, 20_000..20_003);
    wait_until_idle(&mut tint);
    assert!(pieces(&tint, doc, &text, 20_002).len() > 1, "code after the comment");
}

#[test]
fn plain_stays_what_is_no_code_too_long_or_without_colours() {
    let long = format!("let a = \"{}\";\nlet b = 1;\n", "x".repeat(600));
    let mut tint = SyntaxHighlighter::new(&dark());
    let (code, prose) = (tint.add(long.as_str().into(), "rs"), tint.add("let b = 1;".into(), "notes/zzz"));
    tint.want(code, 0..2);
    tint.want(prose, 0..1);
    wait_until_idle(&mut tint);
    assert_eq!(tint.line(code, 0), Some(&[][..]));
    assert_ne!(tint.line(code, 1), Some(&[][..]));
    assert_eq!(tint.line(prose, 0), Some(&[][..]));
    let mut plain = SyntaxHighlighter::new(&Theme::plain());
    let doc = plain.add("let b = 1;".into(), "rs");
    plain.want(doc, 0..1);
    assert_eq!((plain.is_busy(), plain.line(doc, 0)), (false, None));
}

#[test]
fn a_removed_document_is_dropped_with_its_work_and_memory_is_bounded() {
    let mut tint = SyntaxHighlighter::new(&dark());
    let text: Arc<str> = "x\n".repeat(CHUNK * 4).into();
    let mut docs = Vec::new();
    for _ in 0..KEPT / CHUNK / 4 + 20 {
        let doc = tint.add(Arc::clone(&text), "txt");
        tint.want(doc, 0..CHUNK * 4);
        docs.push(doc);
        wait_until_idle(&mut tint);
    }
    assert!(tint.lines <= KEPT, "{} lines", tint.lines);
    assert_eq!(tint.line(docs[0], 0), None, "the oldest is forgotten");
    assert!(tint.line(*docs.last().unwrap(), 0).is_some());
    tint.want(docs[0], 0..1);
    tint.remove(docs[0]);
    wait_until_idle(&mut tint);
    assert_eq!(tint.line(docs[0], 0), None);
}
