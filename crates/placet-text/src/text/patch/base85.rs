//! The base 85 of git's binary patches: five characters for four bytes.

const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut out = String::new();
    for four in bytes.chunks(4) {
        let mut padded = [0; 4];
        padded.iter_mut().zip(four).for_each(|(to, from)| *to = *from);
        let mut value = u32::from_be_bytes(padded);
        let mut digits = [0u8; 5];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS.get(usize::try_from(value % 85).unwrap_or(0)).copied().unwrap_or(b'0');
            value /= 85;
        }
        out.extend(digits.iter().map(|d| char::from(*d)));
    }
    out
}

/// Appends the `length` bytes that `text` encodes.
pub(super) fn decode(text: &[u8], length: usize, out: &mut Vec<u8>) -> Option<()> {
    if text.len() != length.div_ceil(4) * 5 {
        return None;
    }
    let end = out.len() + length;
    for five in text.chunks(5) {
        let mut value = 0u32;
        for digit in five {
            let digit = DIGITS.iter().position(|d| d == digit)?;
            value = value.checked_mul(85)?.checked_add(u32::try_from(digit).ok()?)?;
        }
        out.extend_from_slice(&value.to_be_bytes());
    }
    out.truncate(end);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_is_decoded() {
        for length in 0..=52u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(91) ^ 0xA5).collect();
            let mut out = b"x".to_vec();
            decode(encode(&bytes).as_bytes(), bytes.len(), &mut out).unwrap();
            assert_eq!(out.split_first(), Some((&b'x', &bytes[..])));
        }
        assert_eq!(decode(b"~~~~~", 4, &mut Vec::new()), None, "more than 32 bits");
        assert_eq!(decode(b"0000\"", 4, &mut Vec::new()), None);
    }
}
