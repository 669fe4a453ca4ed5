//! IDs of calls and sessions.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A call's ID from the provider; unique within one answer, not across a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl CallId {
    pub fn new(id: impl Into<String>) -> CallId {
        CallId(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A session's ID: 16 lower-case base-32 characters, the first ones from the clock, so that IDs sort by age.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

impl SessionId {
    /// Builds an ID from milliseconds since 1970 and 32 random bits; the caller supplies both.
    pub fn from_parts(millis: u64, random: u32) -> SessionId {
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let wide = (u128::from(millis) & ((1 << 48) - 1)) << 32 | u128::from(random);
        let letter =
            |shift: u32| char::from(ALPHABET.get(((wide >> shift) & 31) as usize).copied().unwrap_or(b'0'));
        SessionId((0..16).rev().map(|i| letter(i * 5)).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_sort_by_age_and_have_one_length() {
        let early = SessionId::from_parts(1_700_000_000_000, u32::MAX);
        let late = SessionId::from_parts(1_700_000_000_001, 0);
        assert!(early < late, "{early} {late}");
        assert_eq!(early.as_str().len(), 16);
        assert_eq!(SessionId::from_parts(0, 0).as_str(), "0000000000000000");
    }
}
