//! Sizes of what a patch of git does not show as lines.

use placet_git::{GitError, GitRunner, ObjectId, RepositoryQuestion};
use placet_text::text::count;
use std::collections::BTreeMap;

/// How git ends the section of a file that is not text.
const NOT_SHOWN: &[u8] = b"Binary files ";

/// Patches in the form that placet's own patches have: with the sizes of both sides of each file that is not text
/// (`# after: not text, 300 bytes`), and without the names of objects.
pub(super) fn with_binary_sizes(
    patches: Vec<Vec<u8>>,
    question: &RepositoryQuestion,
    runner: &dyn GitRunner,
) -> Result<Vec<Vec<u8>>, GitError> {
    let binary: Vec<_> = patches.iter().map(|patch| binary_files(patch)).collect();
    let wanted: Vec<ObjectId> = binary.iter().flatten().flatten().flatten().copied().collect();
    let sizes = if wanted.is_empty() { BTreeMap::new() } else { question.sizes(&wanted, runner)? };
    Ok(patches.iter().zip(binary).map(|(patch, binary)| with_sizes(patch, binary, &sizes)).collect())
}

fn lines(patch: &[u8]) -> impl Iterator<Item = &[u8]> {
    patch.split_inclusive(|byte| *byte == b'\n')
}

/// The contents of both sides of each file that is not text.
fn binary_files(patch: &[u8]) -> Vec<[Option<ObjectId>; 2]> {
    let mut ids = [None, None];
    let mut binary = Vec::new();
    for line in lines(patch) {
        if let Some(rest) = line.strip_prefix(b"index ") {
            ids = sides(rest);
        } else if line.starts_with(NOT_SHOWN) {
            binary.push(ids);
        }
    }
    binary
}

fn with_sizes(patch: &[u8], binary: Vec<[Option<ObjectId>; 2]>, sizes: &BTreeMap<ObjectId, u64>) -> Vec<u8> {
    let mut sized = Vec::with_capacity(patch.len() + binary.len() * 64);
    let mut binary = binary.into_iter();
    for line in lines(patch).filter(|line| !line.starts_with(b"index ")) {
        if line.starts_with(NOT_SHOWN) {
            let ids = binary.next().unwrap_or_default();
            for (side, id) in ["before", "after"].into_iter().zip(ids) {
                sized.extend_from_slice(words(side, id, sizes).as_bytes());
            }
        }
        sized.extend_from_slice(line);
    }
    sized
}

fn words(side: &str, id: Option<ObjectId>, sizes: &BTreeMap<ObjectId, u64>) -> String {
    let size = id.and_then(|id| sizes.get(&id)).and_then(|size| usize::try_from(*size).ok());
    size.map_or_else(String::new, |size| format!("# {side}: not text, {}\n", count::of(size, "byte")))
}

/// `from..to`, and a mode where both sides have the same. A side that is not there has a name of zeros.
fn sides(line: &[u8]) -> [Option<ObjectId>; 2] {
    let names = line.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    let end = names.iter().position(|byte| *byte == b'.').unwrap_or(names.len());
    let (from, to) = names.split_at(end);
    let is_there = |name: &&[u8]| name.iter().any(|byte| *byte != b'0');
    [from, to.get(2..).unwrap_or_default()]
        .map(|name| Some(name).filter(is_there).and_then(ObjectId::from_hex))
}
