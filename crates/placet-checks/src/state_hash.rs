//! The hash of the state that a check ran on: the workspace, and the changes that were put on top of it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Two states with the same hash have the same files, as far as sizes and times tell for the files that no change touches;
/// the contents of changed files are part of the hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StateHash(String);

impl StateHash {
    pub fn new(hash: &blake3::Hash) -> StateHash {
        StateHash(hash.to_hex().chars().take(32).collect())
    }

    /// The first characters, for a person.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The changes of a checked state: for each path a hash of what it has there. It says what differs from another state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedSelection(pub BTreeMap<String, String>);

impl CheckedSelection {
    /// How many paths have another content, or are in only one of the two.
    pub fn differences(&self, other: &CheckedSelection) -> usize {
        let changed = self.0.iter().filter(|(path, hash)| other.0.get(*path) != Some(hash)).count();
        changed + other.0.keys().filter(|path| !self.0.contains_key(*path)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_differ_are_counted_once() {
        let of = |pairs: &[(&str, &str)]| {
            CheckedSelection(pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect())
        };
        let (a, b) = (of(&[("x", "1"), ("y", "2"), ("z", "3")]), of(&[("x", "1"), ("y", "4"), ("n", "5")]));
        assert_eq!((a.differences(&b), b.differences(&a), a.differences(&a)), (3, 3, 0));
    }
}
