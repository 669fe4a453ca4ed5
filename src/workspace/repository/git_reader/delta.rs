//! Objects in a pack that are stored as a difference to another (gitformat-pack(5), "Deltified representation").

use super::budget::LARGEST_OBJECT;

/// The object that `delta` makes of `base`; `None` where the two do not fit each other.
pub(super) fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta;
    let size = take_size(&mut rest)?;
    let wanted = take_size(&mut rest)?;
    if size != base.len() || wanted > LARGEST_OBJECT {
        return None;
    }
    let mut out = Vec::with_capacity(wanted);
    while let Some((&op, after)) = rest.split_first() {
        rest = after;
        let piece = match op {
            // Reserved.
            0 => return None,
            // A copy: the bits say which bytes of offset and length follow.
            128.. => {
                let mut number = |bits: std::ops::Range<u8>, first: u8| {
                    bits.filter(|bit| op & (1 << bit) != 0).try_fold(0_usize, |number, bit| {
                        let (&byte, after) = rest.split_first()?;
                        rest = after;
                        Some(number | usize::from(byte) << (8 * (bit - first)))
                    })
                };
                let (at, len) = (number(0..4, 0)?, number(4..7, 4)?);
                let len = if len == 0 { 0x1_0000 } else { len };
                base.get(at..at.checked_add(len)?)?
            }
            len => {
                let (piece, after) = rest.split_at_checked(usize::from(len))?;
                rest = after;
                piece
            }
        };
        if out.len() + piece.len() > wanted {
            return None;
        }
        out.extend_from_slice(piece);
    }
    (out.len() == wanted).then_some(out)
}

/// A number in groups of seven bits, the lowest first.
fn take_size(rest: &mut &[u8]) -> Option<usize> {
    let (mut size, mut shift) = (0_usize, 0_u32);
    loop {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        size |= usize::from(byte & 127).checked_shl(shift).filter(|_| shift < 56)?;
        shift += 7;
        if byte < 128 {
            return Some(size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_copies_and_inserts() {
        // Base of 6 bytes, result of 8: the first four, two new ones, the last two.
        let delta = [6, 8, 0x91, 0, 4, 2, b'x', b'y', 0x91, 4, 2];
        assert_eq!(apply(b"abcdef", &delta).as_deref(), Some(&b"abcdxyef"[..]));
    }

    #[test]
    fn a_delta_that_does_not_fit_is_refused() {
        for delta in [
            &[][..],
            &[6],
            // Another base, an operation that is not defined, a copy and an insertion beyond the end.
            &[5, 1, 1, b'x'],
            &[6, 1, 0],
            &[6, 9, 0x91, 0, 9],
            &[6, 4, 4, b'x'],
            // A result of another length, and one larger than any object.
            &[6, 2, 1, b'x'],
            &[6, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1, b'x'],
            // A length without an end.
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
        ] {
            assert_eq!(apply(b"abcdef", delta), None, "{delta:?}");
        }
    }
}
