use crate::{Replacement, TextFile, without_overlaps};
use proptest::prelude::*;
use std::sync::Arc;

/// The file after all places were replaced, and how many there were.
fn replaced(bytes: &[u8], replacement: &Replacement<'_>) -> (Vec<u8>, usize) {
    let file = TextFile::of_bytes(Arc::new(bytes.to_vec()));
    let places = without_overlaps(file.places(replacement, usize::MAX).unwrap());
    (file.splice(&places, replacement).unwrap().bytes, places.len())
}

/// A change of line ends was counted and not made.
#[test]
fn line_ends_alone_are_changed_as_they_are_written() {
    let utf16 =
        |text: &str| [0xFF, 0xFE].into_iter().chain(text.bytes().flat_map(|b| [b, 0])).collect::<Vec<u8>>();
    for (bytes, old, new, want, places) in [
        (b"1\r\n2\r\n".to_vec(), "\r\n", "\n", b"1\n2\n".to_vec(), 2),
        (b"1\n2\n".to_vec(), "\n", "\r\n", b"1\r\n2\r\n".to_vec(), 2),
        (b"1\r\n2\r\n".to_vec(), "1\r\n", "1\n", b"1\n2\r\n".to_vec(), 1),
        (b"1\r\n2\n1\n".to_vec(), "1\r\n", "1\n", b"1\n2\n1\n".to_vec(), 1),
        (b"1\r\n2\n".to_vec(), "\n", "\r\n", b"1\r\n2\r\n".to_vec(), 1),
        (b"1\r\n2\n3".to_vec(), "1\n2\r\n3", "1\r\n2\r\n3", b"1\r\n2\r\n3".to_vec(), 1),
        (b"1\r\n".to_vec(), "\n", "\r\n", b"1\r\n".to_vec(), 0),
        (b"1\r\n2".to_vec(), "1\r\n2", "1\r\n3", b"1\r\n3".to_vec(), 1),
        (utf16("1\r\n2\r\n"), "\r\n", "\n", utf16("1\n2\n"), 2),
    ] {
        let replacement = Replacement::of_text(old, new);
        assert_eq!(replaced(&bytes, &replacement), (want, places), "{old:?} -> {new:?}");
        let file = TextFile::new(Arc::new(bytes)).unwrap();
        assert_eq!(file.has_line_ends_of(&replacement), places == 0, "{old:?} -> {new:?}");
    }
}

proptest! {
    /// A change of line ends gives all lines the ends that it names, whatever they had.
    #[test]
    fn every_line_has_the_line_end_that_a_change_names(
        lines in prop::collection::vec(("[a-zé]{0,3}", any::<bool>()), 0..8), to_crlf in any::<bool>(),
    ) {
        let text: String = lines.iter().map(|(l, crlf)| format!("{l}{}", if *crlf { "\r\n" } else { "\n" })).collect();
        let (old, new) = if to_crlf { ("\n", "\r\n") } else { ("\r\n", "\n") };
        let want: String = lines.iter().map(|(l, _)| format!("{l}{new}")).collect();
        let differ = lines.iter().filter(|(_, crlf)| *crlf != to_crlf).count();
        prop_assert_eq!(replaced(text.as_bytes(), &Replacement::of_text(old, new)), (want.into_bytes(), differ));
    }

    /// Bytes are replaced as `str::replace` does it, which is what `str_replace` of PHP does.
    #[test]
    fn a_replacement_of_bytes_is_that_of_the_standard_library(
        text in "[ab\r\né]{0,20}", old in "[ab\r\né]{1,3}", new in "[ab\r\né]{0,3}",
    ) {
        let (bytes, places) = replaced(text.as_bytes(), &Replacement::of_bytes(&old, &new));
        prop_assert_eq!(String::from_utf8(bytes).unwrap(), text.replace(&old, &new));
        prop_assert_eq!(places, if old == new { 0 } else { text.matches(old.as_str()).count() });
    }

    #[test]
    fn a_replacement_of_bytes_needs_no_text(head in prop::collection::vec(any::<u8>(), 0..40), tail in prop::collection::vec(any::<u8>(), 0..40)) {
        let bytes = [head.as_slice(), b"\0NEEDLE\0", tail.as_slice()].concat();
        prop_assume!(TextFile::new(Arc::new(bytes.clone())).is_err());
        let (after, places) = replaced(&bytes, &Replacement::of_bytes("NEEDLE", "x"));
        prop_assert_eq!((after, places), ([head.as_slice(), b"\0x\0", tail.as_slice()].concat(), 1));
    }
}
