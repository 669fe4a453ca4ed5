//! What rustyline reads for what a newer terminal sends.

use super::bytes;
use crate::input::decode::InputDecoder;

fn read(typed: &[u8]) -> Vec<u8> {
    InputDecoder::default().feed(typed).iter().flat_map(bytes).collect()
}

#[test]
fn newer_keys_become_the_bytes_that_mean_the_same_and_others_stay() {
    let table: &[(&[u8], &[u8])] = &[
        (b"a\r\x1b[A\x1br\x7f", b"a\r\x1b[A\x1br\x7f"),
        (b"\x1b[13;2u", b"\x1b\r"),
        (b"\x1b[27;2;13~", b"\x1b\r"),
        (b"\x1b[13;5u", b"\x1b\r"),
        (b"\x1b[13u", b"\r"),
        (b"\x1b[99;5u", b"\x03"),
        (b"\x1b[27u", b"\x1b"),
        (b"\x1b[98;3u", b"\x1bb"),
        (b"\x1b[9;2u", b"\x1b[Z"),
        (b"\x1b[127;5u", b"\x17"),
        (b"\x1b[127;3u", b"\x1b\x7f"),
        (b"\x1b[57419u", b"\x1b[A"),
        // The focus and an answer mean nothing to a line.
        (b"\x1b[I\x1b[O\x1b]11;rgb:0/0/0\x07", b""),
    ];
    for (typed, expected) in table {
        assert_eq!(read(typed), *expected, "{:?}", String::from_utf8_lossy(typed));
    }
}
