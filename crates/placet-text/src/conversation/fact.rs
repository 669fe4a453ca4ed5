//! Facts about a result for later code, as values: no code parses the text that the model gets.

use super::Note;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum CallFact {
    /// A command ended with this code: 128 plus the signal if a signal killed it, `None` if placet stopped it.
    Exit { code: Option<i32> },
    /// The first bytes of the result are what the command printed. Below them is what placet says of the run.
    Printed { bytes: usize },
    /// A background command started, and continued when the call returned.
    JobStarted { job: u32 },
    /// The result reports that this background command has ended.
    JobEnded { job: u32 },
    /// The whole result is in this scratchpad.
    StoredIn { scratchpad: String },
    /// This number of bytes of the result is not in its parts.
    Cut { bytes: u64 },
    /// What was changed in the arguments, which had one meaning only.
    ArgumentsChanged { changes: String },
    /// What the result does not have although the call asked for it.
    Incomplete { missing: String },
    /// The call failed in this way.
    Failed { fault: CallFailure },
    /// The file that was read to its end does not end with a line end.
    NoLineEnd,
    /// A digest of the result without parts that differ from run to run, such as the elapsed time: two results with the
    /// same digest are the same.
    Same { digest: String },
}

impl CallFact {
    /// What the model reads of the fact beside the result.
    pub fn note(&self) -> Option<Note> {
        match self {
            CallFact::ArgumentsChanged { changes } => {
                Some(Note::ArgumentsChanged { changes: changes.clone() })
            }
            CallFact::Incomplete { missing } => Some(Note::ResultIncomplete { missing: missing.clone() }),
            _ => None,
        }
    }

    /// A text in it that may quote a file or a call.
    pub fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            CallFact::ArgumentsChanged { changes: text } | CallFact::Incomplete { missing: text } => {
                Some(text)
            }
            _ => None,
        }
    }
}

/// The kind of failure of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallFailure {
    #[default]
    Other,
    Missing,
    Directory,
    NotDirectory,
    /// Outside of the paths that this call may access.
    Outside,
    /// The system refuses, or a rule hides it.
    Denied,
    Exists,
    /// A pipe, a device, a socket.
    Special,
    /// The path has too many symbolic links.
    Loop,
    /// The path is a symbolic link, and only the file itself is allowed.
    Link,
    /// The system failed: the disk, the network.
    System,
    TooLarge,
    NotText,
    /// The file was not read before, or has changed since.
    Unread,
    /// These lines were not read before, the first counted from 0; all other lines that the call touches were.
    LinesUnread {
        offset: usize,
        limit: usize,
    },
    /// The file changed since it was read, and the error shows the change.
    Changed,
    TextMissing,
    /// The text occurs this number of times and must be unique.
    Ambiguous(usize),
    /// The message is already in another system's wording and is sent unchanged.
    Worded,
}
