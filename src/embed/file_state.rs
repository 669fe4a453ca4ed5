//! What is at a path before or after a change.

use crate::workspace::PathState;
use std::path::PathBuf;

/// What is at a path. Links are not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// The BLAKE3 hash of the content: 64 hexadecimal digits, lower case.
        hash: String,
        /// Bytes of the content.
        size: u64,
        /// The permission bits of `chmod`, with set-user-id, set-group-id and sticky: twelve bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// What the link contains.
        target: PathBuf,
    },
    /// A directory.
    Directory {
        /// As for a file.
        mode: u32,
    },
    /// A pipe, a socket or a device. It can be discarded and never applied.
    Special {
        /// Its kind, as text for a person.
        what: String,
    },
}

impl From<&PathState> for FileState {
    fn from(state: &PathState) -> FileState {
        match state {
            PathState::Absent => FileState::Absent,
            PathState::File { hash, size, attrs } => {
                FileState::File { hash: hash.to_hex().to_string(), size: *size, mode: attrs.mode }
            }
            PathState::Link { target } => FileState::Link { target: target.into() },
            PathState::Directory { attrs } => FileState::Directory { mode: attrs.mode },
            PathState::Special { what, .. } => FileState::Special { what: what.clone() },
        }
    }
}
