//! The name of an object: the SHA-1 or the SHA-256 of its kind, size and content.

use sha1::Digest;
use std::fmt;

/// Twenty bytes, or thirty-two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::workspace) struct ObjectId {
    bytes: [u8; 32],
    width: u8,
}

impl ObjectId {
    /// `None` for any other number of bytes.
    pub(super) fn from_bytes(raw: &[u8]) -> Option<ObjectId> {
        let width = u8::try_from(raw.len()).ok().filter(|width| matches!(width, 20 | 32))?;
        let mut bytes = [0; 32];
        bytes.get_mut(..raw.len())?.copy_from_slice(raw);
        Some(ObjectId { bytes, width })
    }

    /// From 40 or 64 hexadecimal digits, and nothing else.
    pub(super) fn from_hex(text: &[u8]) -> Option<ObjectId> {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let digits: Vec<u8> = text.iter().map(digit).collect::<Option<_>>()?;
        let (pairs, rest) = digits.as_chunks::<2>();
        let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
        rest.is_empty().then(|| ObjectId::from_bytes(&bytes)).flatten()
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.width)).unwrap_or_default()
    }

    pub(super) fn width(&self) -> usize {
        usize::from(self.width)
    }

    /// The name of an object of `kind` with `content`; `width`: bytes of a name.
    pub(super) fn of(kind: &str, content: &[u8], width: usize) -> ObjectId {
        let head = format!("{kind} {}\0", content.len());
        let mut bytes = [0; 32];
        if width == 20 {
            let hash = sha1::Sha1::new().chain_update(&head).chain_update(content).finalize();
            bytes.iter_mut().zip(hash.iter()).for_each(|(byte, hash)| *byte = *hash);
            return ObjectId { bytes, width: 20 };
        }
        let hash = sha2::Sha256::new().chain_update(&head).chain_update(content).finalize();
        bytes.iter_mut().zip(hash.iter()).for_each(|(byte, hash)| *byte = *hash);
        ObjectId { bytes, width: 32 }
    }

    /// True where an object of `kind` with `content` has this name.
    pub(super) fn names(&self, kind: &str, content: &[u8]) -> bool {
        ObjectId::of(kind, content, self.width()) == *self
    }

    pub(super) fn to_hex(self) -> String {
        self.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Seven digits, as git shows it where they are enough.
    pub(in crate::workspace) fn short(&self) -> String {
        self.to_hex().chars().take(7).collect()
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}
