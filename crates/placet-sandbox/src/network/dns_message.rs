//! The few messages of the DNS (RFC 1035) that the stub needs: one question, and an answer with one IPv4 address or
//! with none. Everything else of the protocol is answered with an error code.

use std::net::Ipv4Addr;

/// The longest message that is read; a question needs 12 + 255 + 4 bytes, and a resolver adds options.
pub(super) const LONGEST_MESSAGE: usize = 4096;

/// How long a resolver may use an address: the address belongs to the name until the command ends.
const SECONDS_TO_LIVE: u32 = 600;

const HEADER: usize = 12;
/// The record type A.
const A: u16 = 1;
/// The class IN.
const INTERNET: u16 = 1;

/// A question, as far as the stub needs it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DnsQuestion<'a> {
    id: [u8; 2],
    flags: u8,
    /// The question as it was sent; an answer repeats it, capital letters included.
    section: &'a [u8],
    /// With dots, without the last; `None` if a label contains anything but letters, digits, `-` and `_`.
    pub(super) name: Option<String>,
    /// Whether an IPv4 address is asked for, and not one of the other types.
    pub(super) wants_address: bool,
}

/// What the stub answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DnsAnswer {
    Address(Ipv4Addr),
    /// The name exists, but has no record of this type.
    NoRecord,
    NoSuchName,
}

/// Response codes.
const NO_ERROR: u8 = 0;
const FORMAT_ERROR: u8 = 1;
const NO_SUCH_NAME: u8 = 3;
const NOT_IMPLEMENTED: u8 = 4;

/// Reads a question. The error is the answer to a message that is no question, or nothing if no answer is due.
pub(super) fn parse(message: &[u8]) -> Result<DnsQuestion<'_>, Option<Vec<u8>>> {
    let &[id_high, id_low, flags, _, questions_high, questions_low, ..] = message else { return Err(None) };
    let id = [id_high, id_low];
    // An answer gets no answer.
    if message.len() < HEADER || flags & 0x80 != 0 {
        return Err(None);
    }
    let refuse = |code: u8| Err(Some(header(id, flags, code, [0, 0])));
    // Only the standard query, which is operation 0.
    if flags & 0x78 != 0 {
        return refuse(NOT_IMPLEMENTED);
    }
    if [questions_high, questions_low] != [0, 1] {
        return refuse(FORMAT_ERROR);
    }
    let Some((name, rest)) = message.get(HEADER..).and_then(read_name) else { return refuse(FORMAT_ERROR) };
    let &[kind_high, kind_low, class_high, class_low, ..] = rest else { return refuse(FORMAT_ERROR) };
    if u16::from_be_bytes([class_high, class_low]) != INTERNET {
        return refuse(NOT_IMPLEMENTED);
    }
    let end = message.len() - rest.len() + 4;
    Ok(DnsQuestion {
        id,
        flags,
        section: message.get(HEADER..end).unwrap_or_default(),
        name,
        wants_address: u16::from_be_bytes([kind_high, kind_low]) == A,
    })
}

impl DnsQuestion<'_> {
    pub(super) fn answer(&self, answer: DnsAnswer) -> Vec<u8> {
        let (code, count) = match answer {
            DnsAnswer::Address(_) => (NO_ERROR, 1),
            DnsAnswer::NoRecord => (NO_ERROR, 0),
            DnsAnswer::NoSuchName => (NO_SUCH_NAME, 0),
        };
        let mut message = header(self.id, self.flags, code, [1, count]);
        message.extend_from_slice(self.section);
        if let DnsAnswer::Address(address) = answer {
            // The name is the one at offset 12, in the question.
            message.extend_from_slice(&[0xc0, 12]);
            message.extend_from_slice(&A.to_be_bytes());
            message.extend_from_slice(&INTERNET.to_be_bytes());
            message.extend_from_slice(&SECONDS_TO_LIVE.to_be_bytes());
            message.extend_from_slice(&4u16.to_be_bytes());
            message.extend_from_slice(&address.octets());
        }
        message
    }
}

/// `counts` are those of questions and answers. "Recursion available" is set, because resolvers expect it.
fn header(id: [u8; 2], flags: u8, code: u8, [questions, answers]: [u8; 2]) -> Vec<u8> {
    let [high, low] = id;
    // The bit "recursion desired" is repeated.
    vec![high, low, 0x80 | flags & 0x01, 0x80 | code, 0, questions, 0, answers, 0, 0, 0, 0]
}

/// A name and what follows it. A question cannot contain a pointer, which two high bits of a length would be.
fn read_name(mut rest: &[u8]) -> Option<(Option<String>, &[u8])> {
    let (mut name, mut is_plain, mut length) = (String::new(), true, 0);
    loop {
        let (&label, after) = rest.split_first()?;
        length += 1 + usize::from(label);
        if label > 63 || length > 255 {
            return None;
        }
        if label == 0 {
            return Some((is_plain.then_some(name), after));
        }
        let (label, after) = after.split_at_checked(usize::from(label))?;
        is_plain &= label.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte));
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(label.iter().map(|byte| char::from(*byte)));
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(name: &[&[u8]], kind: u8) -> Vec<u8> {
        let mut message = vec![0xab, 0xcd, 1, 0x20, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name {
            message.push(u8::try_from(label.len()).unwrap());
            message.extend_from_slice(label);
        }
        message.extend_from_slice(&[0, 0, kind, 0, 1]);
        message
    }

    #[test]
    fn an_answer_repeats_the_question_and_has_one_address_or_none() {
        let mut asked = question(&[b"Crates", b"io"], 1);
        let length = asked.len();
        // A resolver adds a record with its options.
        asked.extend_from_slice(&[0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0]);
        let parsed = parse(&asked).unwrap();
        assert_eq!((parsed.name.as_deref(), parsed.wants_address), (Some("Crates.io"), true));
        let answer = parsed.answer(DnsAnswer::Address(Ipv4Addr::new(198, 18, 0, 2)));
        assert_eq!(answer[..12], [0xab, 0xcd, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(answer[12..length], asked[12..length]);
        assert_eq!(answer[length..], [0xc0, 12, 0, 1, 0, 1, 0, 0, 2, 88, 0, 4, 198, 18, 0, 2]);
        assert_eq!(parsed.answer(DnsAnswer::NoSuchName)[2..8], [0x81, 0x83, 0, 1, 0, 0]);
        assert_eq!(parsed.answer(DnsAnswer::NoRecord)[2..8], [0x81, 0x80, 0, 1, 0, 0]);
        assert!(!parse(&question(&[b"a"], 28)).unwrap().wants_address);
    }

    #[test]
    fn odd_messages_are_answered_with_an_error_or_not_at_all() {
        let whole = question(&[b"crates", b"io"], 1);
        for length in 0..whole.len() {
            let parsed = parse(&whole[..length]);
            assert_eq!(parsed.is_err_and(|answer| answer.is_some()), length >= HEADER, "{length}");
        }
        let code = |message: &[u8]| parse(message).unwrap_err().map(|answer| answer[3] & 15);
        let changed = |at: usize, byte: u8| {
            let mut message = whole.clone();
            message[at] = byte;
            message
        };
        assert_eq!(code(&changed(2, 0x81)), None, "an answer");
        assert_eq!(code(&changed(2, 0x28)), Some(NOT_IMPLEMENTED), "an update");
        assert_eq!(code(&changed(5, 2)), Some(FORMAT_ERROR), "two questions");
        assert_eq!(code(&changed(12, 0xc0)), Some(FORMAT_ERROR), "a pointer");
        assert_eq!(code(&changed(whole.len() - 1, 3)), Some(NOT_IMPLEMENTED), "another class");
        assert_eq!(code(&question(&[[b'a'; 63].as_slice(); 5], 1)), Some(FORMAT_ERROR), "too long");
        for label in [&b"a.b"[..], b"a\0", b"\xc3\xbc", b"*"] {
            assert_eq!(parse(&question(&[label], 1)).unwrap().name, None);
        }
        assert_eq!(parse(&question(&[], 1)).unwrap().name.as_deref(), Some(""));
    }
}
