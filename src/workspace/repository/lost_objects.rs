//! Stored objects that a change set takes away from a repository, by their names: those in files that are removed or
//! changed, and in no file that is new. git itself removes an object only after it has put it into a pack.
//!
//! A loose object has its name in its path, and those of a pack are in its index (gitformat-pack, version 2). The
//! objects themselves are not read.

use super::RepositorySet;
use super::content_readers::{ContentReaders, ReadOutcome};
use crate::workspace::changes::change_set::FileChange;
use crate::workspace::files::path_state::PathState;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The largest index that is read: two million objects. The objects of a larger one count as lost.
const LARGEST_INDEX: u64 = 64 << 20;
const MAGIC: &[u8] = b"\xfftOc\0\0\0\x02";
/// After magic and version there are 256 counts, then the names.
const NAMES_AT: usize = 8 + 256 * 4;
/// Of each object: a checksum and a place in the pack.
const BESIDE_NAME: usize = 4 + 4;
/// A pack has a header and a hash, and an object takes no less than this.
const PACK_HEAD: usize = 12 + 20;
const PACK_ENTRY: usize = 8;

/// What a file below `objects` is, by its name.
enum GitObjectFile {
    Loose(Vec<u8>),
    Pack,
    Index,
}

impl GitObjectFile {
    fn at(rel: &Path) -> Option<GitObjectFile> {
        let names: Vec<&str> = rel.iter().map(|name| name.to_str()).collect::<Option<_>>()?;
        match names.as_slice() {
            ["pack", name] if name.ends_with(".idx") => Some(GitObjectFile::Index),
            ["pack", name] if name.ends_with(".pack") => Some(GitObjectFile::Pack),
            [dir, name] => Some(GitObjectFile::Loose(from_hex(&format!("{dir}{name}"))?)),
            _ => None,
        }
    }
}

/// The names in files of one kind: those that are taken away, or those that come.
#[derive(Default)]
struct GitObjectNames {
    loose: Vec<Vec<u8>>,
    indexes: Vec<PackIndex>,
    /// Files whose names cannot be known.
    unknown: usize,
}

impl GitObjectNames {
    fn add(&mut self, index: Option<PackIndex>) {
        match index {
            Some(index) => self.indexes.push(index),
            None => self.unknown += 1,
        }
    }

    fn has(&self, name: &[u8]) -> bool {
        self.loose.binary_search_by(|known| known.as_slice().cmp(name)).is_ok()
            || self.indexes.iter().any(|index| index.has(name))
    }

    /// How many of them `others` lacks.
    fn without(&self, others: &GitObjectNames) -> usize {
        let loose = self.loose.iter().map(Vec::as_slice);
        let all = loose.chain(self.indexes.iter().flat_map(PackIndex::names));
        all.filter(|name| !others.has(name)).count() + self.unknown
    }
}

/// How many objects each repository among `changes` loses; those that lose none are not there.
pub(super) fn lost_objects(
    changes: &[&FileChange],
    all: &RepositorySet,
    contents: &ContentReaders<'_>,
) -> BTreeMap<PathBuf, usize> {
    let mut files: BTreeMap<&Path, Vec<(&FileChange, GitObjectFile)>> = BTreeMap::new();
    for change in changes {
        let Some(repository) = all.nearest(&change.path) else { continue };
        let Ok(rel) = change.path.strip_prefix(repository.join("objects")) else { continue };
        if let Some(file) = GitObjectFile::at(rel) {
            files.entry(repository).or_default().push((change, file));
        }
    }
    // Nothing is read where nothing goes, as after a commit or a fetch.
    files.retain(|_, files| files.iter().any(|(change, _)| is_damaged(change)));
    let lost =
        files.into_iter().map(|(repository, files)| (repository.to_path_buf(), lost_of(&files, contents)));
    lost.filter(|(_, lost)| *lost > 0).collect()
}

fn lost_of(files: &[(&FileChange, GitObjectFile)], contents: &ContentReaders<'_>) -> usize {
    let (mut taken, mut given) = (GitObjectNames::default(), GitObjectNames::default());
    let other = |path: &Path| files.iter().map(|(change, _)| *change).find(|change| *change.path == *path);
    for (change, file) in files {
        match file {
            GitObjectFile::Loose(name) if is_damaged(change) => taken.loose.push(name.clone()),
            GitObjectFile::Loose(name) if comes(change) => given.loose.push(name.clone()),
            GitObjectFile::Index if is_damaged(change) => {
                taken.add(PackIndex::read(&(contents.before)(&change.path, LARGEST_INDEX)));
            }
            GitObjectFile::Index if comes(change) => {
                let index = PackIndex::read(&(contents.after)(&change.path, LARGEST_INDEX));
                let pack = other(&change.path.with_extension("pack")).filter(|pack| comes(pack));
                let fits =
                    |index: &PackIndex| pack.is_some_and(|pack| pack.after.size() >= index.smallest_pack());
                given.indexes.extend(index.filter(fits));
            }
            GitObjectFile::Pack if is_damaged(change) => {
                let index = change.path.with_extension("idx");
                // An index that goes as well says it already.
                if !other(&index).is_some_and(is_damaged) {
                    taken.add(PackIndex::read(&(contents.after)(&index, LARGEST_INDEX)));
                }
            }
            _ => {}
        }
    }
    given.loose.sort();
    taken.without(&given)
}

/// True for a file that goes, or whose content is another: git never changes a stored object.
pub(in crate::workspace) fn is_damaged(change: &FileChange) -> bool {
    change.before.is_file() && !change.before.same_content(&change.after)
}

fn comes(change: &FileChange) -> bool {
    matches!(*change.before, PathState::Absent) && change.after.is_file() && change.after.size() > 0
}

struct PackIndex {
    bytes: Vec<u8>,
    count: usize,
    /// Bytes of a name: SHA-1 or SHA-256.
    width: usize,
}

impl PackIndex {
    /// Returns `None` when the content is not an index of version 2.
    fn read(content: &ReadOutcome) -> Option<PackIndex> {
        let bytes = content.as_ref().ok()?.clone()?;
        // The last of the 256 counts is the number of all objects.
        let count = u32::from_be_bytes(bytes.get(NAMES_AT - 4..NAMES_AT)?.try_into().ok()?);
        let count = usize::try_from(count).ok().filter(|_| bytes.starts_with(MAGIC))?;
        // Two hashes come at the end, and before them a long place for each object far behind in a large pack.
        let fits = |width: &usize| {
            let least = count.checked_mul(width + BESIDE_NAME)?.checked_add(NAMES_AT + 2 * width)?;
            let more = bytes.len().checked_sub(least)?;
            (more % 8 == 0 && more / 8 <= count).then_some(())
        };
        let width = [20, 32].into_iter().find(|width| fits(width).is_some())?;
        Some(PackIndex { bytes, count, width })
    }

    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.get(NAMES_AT..).unwrap_or_default().chunks(self.width).take(self.count)
    }

    /// They are sorted.
    fn has(&self, name: &[u8]) -> bool {
        let at = |place: usize| {
            let start = NAMES_AT + place * self.width;
            self.bytes.get(start..start + self.width).unwrap_or_default()
        };
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match at(middle).cmp(name) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }

    fn smallest_pack(&self) -> u64 {
        (PACK_HEAD + PACK_ENTRY * self.count) as u64
    }
}

/// The name of an object; `None` for any other text.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16)).map(|d| d.map(|d| d as u8)).collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit));
    matches!(digits.len(), 40 | 64).then(|| pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::super::content_readers::ContentReadError;
    use super::*;

    fn index(names: &[[u8; 20]], large: usize) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([0; 255 * 4]);
        bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        names.iter().for_each(|name| bytes.extend(name));
        bytes.extend(vec![0; names.len() * BESIDE_NAME + large * 8 + 40]);
        bytes
    }

    #[test]
    fn the_names_of_an_index_are_found() {
        for large in [0, 1] {
            let read = PackIndex::read(&Ok(Some(index(&[[1; 20], [5; 20], [9; 20]], large)))).unwrap();
            assert_eq!(read.names().collect::<Vec<_>>(), [[1; 20], [5; 20], [9; 20]]);
            for (name, want) in [([1; 20], true), ([9; 20], true), ([0; 20], false), ([6; 20], false)] {
                assert_eq!(read.has(&name), want, "{name:?}");
            }
        }
        assert!(PackIndex::read(&Ok(Some(b"\xfftOc".to_vec()))).is_none());
        assert!(PackIndex::read(&Ok(Some(index(&[[1; 20]], 2)))).is_none(), "the length does not match");
        assert!(PackIndex::read(&Err(ContentReadError::TooLarge(1))).is_none());
    }

    #[test]
    fn only_a_whole_name_is_that_of_an_object() {
        assert_eq!(from_hex(&"0f".repeat(20)), Some(vec![15; 20]));
        assert_eq!(from_hex(&"0f".repeat(32)).map(|name| name.len()), Some(32));
        for text in ["", "0f", &"0f".repeat(19), &"é".repeat(20)] {
            assert_eq!(from_hex(text), None, "{text}");
        }
    }
}
