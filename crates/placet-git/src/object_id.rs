//! The name of an object: 20 bytes of SHA-1 or 32 of SHA-256.

use crate::error::{GitError, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The hash function that names objects in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    pub(crate) fn empty_tree(self) -> &'static str {
        match self {
            ObjectFormat::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            ObjectFormat::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }

    pub(crate) fn empty_blob(self) -> &'static str {
        match self {
            ObjectFormat::Sha1 => "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
            ObjectFormat::Sha256 => "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
        }
    }

    /// What git writes where there is no object.
    pub(crate) fn zero(self) -> String {
        "0".repeat(match self {
            ObjectFormat::Sha1 => 40,
            ObjectFormat::Sha256 => 64,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            ObjectFormat::Sha1 => "sha1",
            ObjectFormat::Sha256 => "sha256",
        }
    }
}

/// Displayed as git does, in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ObjectId {
    bytes: [u8; 32],
    length: u8,
}

impl ObjectId {
    /// Reads 40 or 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(hex: &[u8]) -> Option<ObjectId> {
        if hex.len() != 40 && hex.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            let digit = |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok());
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(ObjectId { bytes, length: u8::try_from(hex.len() / 2).ok()? })
    }

    pub(crate) fn write_hex(&self, to: &mut Vec<u8>) {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        let digit = |value: u8| DIGITS.get(usize::from(value)).copied();
        to.extend(self.as_bytes().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).flatten());
    }

    pub(crate) fn is_of(&self, format: ObjectFormat) -> bool {
        2 * usize::from(self.length) == format.zero().len()
    }

    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == 0)
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<ObjectId> for String {
    fn from(id: ObjectId) -> String {
        id.to_string()
    }
}

impl TryFrom<String> for ObjectId {
    type Error = GitError;

    fn try_from(hex: String) -> Result<ObjectId> {
        let wrong = || GitError::Unsupported(format!("`{hex}` is not an object id"));
        ObjectId::from_hex(hex.as_bytes()).ok_or_else(wrong)
    }
}
