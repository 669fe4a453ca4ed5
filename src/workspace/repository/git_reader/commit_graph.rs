//! The commit graph, which says the tree and the parents of commits: git believes it and does not read the commits then.
//!
//! The format is that of gitformat-commit-graph(5). What it says of the history of paths (Bloom filters) is not compared: it
//! only leaves commits out of `git log PATH`.

use super::budget::ReadBudget;
use super::commit::Commit;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::repository_files::{RepositoryFiles, read};
use std::path::Path;

const LARGEST: u64 = 64 << 20;
/// Bytes of the header, and of an entry of the table after it.
const HEADER: usize = 8;
const TABLE_ENTRY: usize = 12;
const NO_PARENT: u32 = 0x7000_0000;
/// The second parent is the first of a list; the last one of the list has the same bit.
const LIST: u32 = 0x8000_0000;

/// True where the graph in `file` says of each commit what the commit says. Also false where one of them cannot be read.
pub(super) fn agrees(
    files: &dyn RepositoryFiles,
    file: &Path,
    objects: &ObjectReader<'_>,
    width: usize,
    budget: &ReadBudget,
) -> bool {
    let bytes = read(files, file, LARGEST);
    let graph = bytes.as_deref().and_then(|bytes| CommitGraph::parse(bytes, width));
    graph.is_some_and(|graph| {
        (0..graph.commits()).all(|number| {
            budget.has_time() && graph.agrees_on(number, objects).is_some_and(std::convert::identity)
        })
    })
}

struct CommitGraph<'a> {
    names: &'a [u8],
    data: &'a [u8],
    edges: &'a [u8],
    width: usize,
}

impl<'a> CommitGraph<'a> {
    fn parse(bytes: &'a [u8], width: usize) -> Option<CommitGraph<'a>> {
        let [b'C', b'G', b'P', b'H', 1, _, chunks, 0] = bytes.get(..HEADER)? else { return None };
        let chunk = |id: &[u8; 4]| {
            let entry = |number| bytes.get(HEADER + TABLE_ENTRY * number..)?.get(..TABLE_ENTRY);
            // The entry after the last chunk says where that one ends.
            let (from, to) = (0..usize::from(*chunks)).find_map(|number| {
                let found = entry(number).filter(|entry| entry.starts_with(id))?;
                Some((place(found)?, place(entry(number + 1)?)?))
            })?;
            bytes.get(from..to)
        };
        let (names, data) = (chunk(b"OIDL")?, chunk(b"CDAT")?);
        let graph = CommitGraph { names, data, edges: chunk(b"EDGE").unwrap_or_default(), width };
        let is_whole = names.len() % width == 0 && data.len() == graph.commits() * (width + 16);
        is_whole.then_some(graph)
    }

    fn commits(&self) -> usize {
        self.names.len() / self.width
    }

    fn name(&self, number: usize) -> Option<ObjectId> {
        ObjectId::from_bytes(self.names.get(number * self.width..)?.get(..self.width)?)
    }

    fn agrees_on(&self, number: usize, objects: &ObjectReader<'_>) -> Option<bool> {
        let entry = self.data.get(number * (self.width + 16)..)?;
        let (tree, parents) = entry.split_at_checked(self.width)?;
        let mut said = Vec::new();
        for parent in [word(parents, 0)?, word(parents, 4)?] {
            if parent & LIST != 0 {
                let mut at = usize::try_from(parent & !LIST).ok()? * 4;
                loop {
                    let edge = word(self.edges, at)?;
                    said.push(self.name(usize::try_from(edge & !LIST).ok()?)?);
                    if edge & LIST != 0 {
                        break;
                    }
                    at += 4;
                }
            } else if parent != NO_PARENT {
                said.push(self.name(usize::try_from(parent).ok()?)?);
            }
        }
        let commit = Commit::read(objects, &self.name(number)?)?;
        Some(commit.tree == ObjectId::from_bytes(tree)? && commit.parents == said)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

/// Where the chunk of an entry of the table begins.
fn place(entry: &[u8]) -> Option<usize> {
    usize::try_from(u64::from_be_bytes(entry.get(4..)?.first_chunk().copied()?)).ok()
}
