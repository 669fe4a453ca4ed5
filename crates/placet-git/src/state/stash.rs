//! Entries of the stash: commits in a reflog.

use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::limit;
use crate::object_id::ObjectId;
use serde::{Deserialize, Serialize};

/// One entry: its commit and its message in the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StashEntry {
    pub id: ObjectId,
    pub message: GitName,
}

pub(crate) const REF: &str = "refs/stash";
pub(super) const LOG: [&str; 5] = ["log", "-g", "--no-show-signature", "--format=%H%x00%gs", REF];

/// Reads the output of [`LOG`].
pub(super) fn parse(output: &[u8]) -> Result<Vec<StashEntry>> {
    let is_long = |line: &[u8]| line.len() > limit::STASH_MESSAGE;
    let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    if lines.clone().any(is_long) {
        return Err(GitError::TooLarge("a line of logs/refs/stash".into(), limit::STASH_MESSAGE as u64));
    }
    lines
        .map(|line| {
            let (id, message) = line.split_at_checked(line.iter().position(|byte| *byte == 0)?)?;
            Some(StashEntry { id: ObjectId::from_hex(id)?, message: GitName::new(message.get(1..)?) })
        })
        .collect::<Option<Vec<StashEntry>>>()
        .ok_or(GitError::Unexpected { command: "log" })
}
