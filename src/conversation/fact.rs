//! What later code must know of a result, as values: nothing reads it out of the text that the model gets.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum CallFact {
    /// A command ended with this code: 128 and the signal where one killed it, nothing where it was stopped.
    Exit { code: Option<i32> },
    /// A background command began, and went on when the call came back.
    JobStarted { job: u32 },
    /// The result says that this background command has ended.
    JobEnded { job: u32 },
    /// All of the result is in this scratchpad.
    StoredIn { scratchpad: String },
    /// So many bytes of the result are not in its parts.
    Cut { bytes: u64 },
    /// The call failed in this way.
    Failed { fault: CallFailure },
    /// A digest of the result without what changes from run to run by itself, such as how long it took: two results
    /// with the same digest came to the same.
    Same { digest: String },
}

/// What kind of failure a call met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallFailure {
    #[default]
    Other,
    Missing,
    Directory,
    NotDirectory,
    /// Outside of where this call may reach.
    Outside,
    /// The system refuses, or a rule hides it.
    Denied,
    Exists,
    /// A pipe, a device, a socket.
    Special,
    /// It goes through too many symbolic links.
    Loop,
    /// It is a symbolic link where only the file itself will do.
    Link,
    /// The system failed: the disk, the network.
    System,
    TooLarge,
    NotText,
    /// It was not read before, or changed since.
    Unread,
    /// These lines were not read before, the first counted from 0; all the others that the call touches were.
    LinesUnread {
        offset: usize,
        limit: usize,
    },
    /// It changed since it was read, and the error shows how.
    Changed,
    TextMissing,
    /// The text occurs so many times where it must be unique.
    Ambiguous(usize),
    /// The message is in another system's words already and goes out as it stands.
    Worded,
}
