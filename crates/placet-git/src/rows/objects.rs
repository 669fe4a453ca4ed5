//! What new refs lead to that is no commit: annotated tags with their messages, and the trees and blobs that a tag may name.

use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::limit;
use crate::object_id::ObjectId;
use crate::quarantine::{lines, stored};
use crate::question::RepositoryQuestion;
use crate::runner::{GitCall, GitRunner, run_one};
use crate::state::RefTarget;
use std::collections::BTreeMap;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectFact {
    Tag {
        /// The whole object, with who made it.
        content: GitName,
        names: Option<ObjectId>,
    },
    Tree,
    Blob,
}

/// Tags of tags are followed this far. git itself makes the first with a warning.
const NESTED: usize = 8;

pub(super) fn read(
    question: &RepositoryQuestion,
    runner: &dyn GitRunner,
) -> Result<BTreeMap<ObjectId, ObjectFact>> {
    let mut found = BTreeMap::new();
    let refs = question.comparison.moved.refs.iter();
    // git allows only commits in these.
    let refs = refs.filter(|(name, _)| !name.starts_with("refs/heads/"));
    let targets = refs.filter_map(|(_, moved)| moved.after.as_ref().and_then(RefTarget::object));
    let mut next: Vec<ObjectId> = targets.take(limit::LISTED_COMMITS).collect();
    let git_dir = &question.quarantine.path;
    for _ in 0..NESTED {
        next.retain(|id| !found.contains_key(id));
        if next.is_empty() {
            break;
        }
        let mut tags = Vec::new();
        for (id, (kind, _)) in stored(git_dir, &next, runner)? {
            match kind.as_bytes() {
                b"tag" => tags.push(id),
                b"tree" => drop(found.insert(id, ObjectFact::Tree)),
                b"blob" => drop(found.insert(id, ObjectFact::Blob)),
                _ => {}
            }
        }
        if tags.is_empty() {
            break;
        }
        let call = GitCall::new(git_dir, ["cat-file", "--batch"]).input(lines(&tags, ""));
        let contents = run_one(runner, call)?.stdout;
        next = take_tags(&contents, &mut found).ok_or(GitError::Unexpected { command: "cat-file" })?;
    }
    Ok(found)
}

/// `ID tag SIZE`, a line end, that many bytes, a line end. Returns what the tags name.
fn take_tags(mut output: &[u8], found: &mut BTreeMap<ObjectId, ObjectFact>) -> Option<Vec<ObjectId>> {
    let mut named = Vec::new();
    while !output.is_empty() {
        let (head, rest) = output.split_at(output.iter().position(|byte| *byte == b'\n')?);
        let mut words = head.split(|byte| *byte == b' ');
        let id = ObjectId::from_hex(words.next()?)?;
        let size: usize = std::str::from_utf8(words.nth(1)?).ok()?.parse().ok()?;
        let content = rest.get(1..)?.get(..size)?;
        let names =
            content.strip_prefix(b"object ").and_then(|rest| rest.split(|byte| *byte == b'\n').next());
        let names = names.and_then(ObjectId::from_hex);
        named.extend(names);
        found.insert(id, ObjectFact::Tag { content: GitName::new(content), names });
        output = rest.get(size + 2..)?;
    }
    Some(named)
}
