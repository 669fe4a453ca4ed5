//! The renderer of untrusted bytes: no manner lets out what a terminal acts on, an exact rendering differs wherever the
//! bytes differ, its pieces cover all bytes in order, and a text that arrives in pieces is rendered like a whole one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use placet::text::visible::{
    LineBreaks, OWN, VisibleMode, VisiblePieceKind, VisibleStream, guard, pieces, visible,
};

fn acts(c: char) -> bool {
    c.is_control() && c != '\n'
        || c == OWN
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fuzz_target!(|data: (&[u8], &[u8], u16)| {
    let (bytes, other, cut) = data;
    for manner in [
        VisibleMode::Exact,
        VisibleMode::Quiet,
        VisibleMode::Rendered,
        VisibleMode::Prose,
        VisibleMode::Output,
    ] {
        let shown: String =
            pieces(bytes, manner, LineBreaks::Kept, &[]).into_iter().map(|p| p.text).collect();
        assert!(!shown.chars().any(acts), "{shown:?}");
    }
    assert_eq!(bytes == other, visible(bytes, LineBreaks::Kept) == visible(other, LineBreaks::Kept));
    assert_eq!(bytes == other, visible(bytes, LineBreaks::Shown) == visible(other, LineBreaks::Shown));

    let mut at = 0;
    for piece in pieces(bytes, VisibleMode::Exact, LineBreaks::Kept, &[]) {
        assert_eq!(piece.bytes.start, at);
        at = piece.bytes.end;
        assert!(piece.kind != VisiblePieceKind::Plain || piece.text.as_bytes() == &bytes[piece.bytes]);
    }
    assert_eq!(at, bytes.len());

    let shown = visible(bytes, LineBreaks::Kept);
    assert_eq!(guard(&shown), shown);

    let (head, tail) = bytes.split_at(usize::from(cut).min(bytes.len()));
    for manner in [VisibleMode::Prose, VisibleMode::Output] {
        let mut stream = VisibleStream::new(manner);
        let mut shown = stream.feed_bytes(head);
        shown.push_str(&stream.feed_bytes(tail));
        shown.push_str(&stream.finish());
        let whole: String =
            pieces(bytes, manner, LineBreaks::Kept, &[]).into_iter().map(|p| p.text).collect();
        assert_eq!(shown, whole, "cut at {cut}");
    }
});
