//! Refs with their targets, as `git for-each-ref` lists them.

use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::object_id::ObjectId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a ref names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefTarget {
    Object(ObjectId),
    /// Another ref, which may not exist.
    Symbolic(GitName),
}

impl RefTarget {
    #[must_use]
    pub fn object(&self) -> Option<ObjectId> {
        match self {
            RefTarget::Object(id) => Some(*id),
            RefTarget::Symbolic(_) => None,
        }
    }
}

/// Refs by their full names. A clone shares them.
pub type RefsState = Arc<BTreeMap<GitName, RefTarget>>;

pub(super) const FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(symref)";

/// Namespaces of refs that each checkout has for itself.
pub(super) const OWN: [&str; 3] = ["refs/bisect", "refs/worktree", "refs/rewritten"];

pub(crate) fn is_own_ref(name: &GitName) -> bool {
    OWN.iter()
        .any(|own| name.as_bytes().strip_prefix(own.as_bytes()).is_some_and(|rest| rest.starts_with(b"/")))
}

/// Blanks as git knows them: fewer than those of ASCII.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// What follows `ref:` in a file, without the blanks around it; `None` if the file names an object. The name may be one that
/// git refuses.
pub(crate) fn symbolic(content: &[u8]) -> Option<GitName> {
    let name = content.strip_prefix(b"ref:")?;
    let from = name.iter().position(|byte| !is_blank(*byte)).unwrap_or(name.len());
    let to = name.iter().rposition(|byte| !is_blank(*byte)).map_or(from, |last| last + 1);
    name.get(from..to).map(GitName::new)
}

/// The rules of git-check-ref-format(1) for a name below `refs`. git ignores any other, and in its lists such a name could
/// stand for several lines.
pub(crate) fn is_valid_ref(name: &GitName) -> bool {
    let bytes = name.as_bytes();
    let is_plain = |byte: &u8| *byte > b' ' && *byte != 0x7f && !b"~^:?*[\\".contains(byte);
    let is_part = |part: &[u8]| !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock");
    name.starts_with("refs/")
        && bytes.iter().all(is_plain)
        && bytes.split(|byte| *byte == b'/').all(is_part)
        && !bytes.ends_with(b".")
        && !bytes.windows(2).any(|two| two == b".." || two == b"@{")
}

/// Reads the output of `for-each-ref` with [`FORMAT`].
pub(super) fn parse(output: &[u8]) -> Result<RefsState> {
    let mut refs = Vec::new();
    for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut fields = line.splitn(3, |byte| *byte == 0);
        let (Some(name), Some(id), Some(symref)) = (fields.next(), fields.next(), fields.next()) else {
            return Err(GitError::Unexpected { command: "for-each-ref" });
        };
        let target = match symref {
            b"" => RefTarget::Object(
                ObjectId::from_hex(id).ok_or(GitError::Unexpected { command: "for-each-ref" })?,
            ),
            to => RefTarget::Symbolic(GitName::new(to)),
        };
        refs.push((GitName::new(name), target));
    }
    Ok(Arc::new(refs.into_iter().collect()))
}

/// The same lines.
pub(super) fn write(refs: &RefsState) -> Vec<u8> {
    let mut lines = Vec::with_capacity(refs.len() * 100);
    for (name, target) in refs.iter() {
        lines.extend_from_slice(name.as_bytes());
        lines.push(0);
        match target {
            RefTarget::Object(id) => {
                id.write_hex(&mut lines);
                lines.push(0);
            }
            RefTarget::Symbolic(to) => {
                lines.push(0);
                lines.extend_from_slice(to.as_bytes());
            }
        }
        lines.push(b'\n');
    }
    lines
}

/// The refs that `for-each-ref` warned about instead of listing them.
pub(super) fn unreadable(warnings: &[u8]) -> Vec<GitName> {
    let words: [&[u8]; 3] = [
        b"warning: ignoring broken ref ",
        b"warning: ignoring ref with broken name ",
        b"warning: ignoring dangling symref ",
    ];
    let lines = warnings.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| words.iter().find_map(|words| line.strip_prefix(*words)).map(GitName::new))
        .collect()
}
