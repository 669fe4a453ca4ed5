//! One pack: its index says where an object lies, and the object may be a difference to another of the same pack.

use super::budget::{LARGEST_OBJECT, ReadBudget};
use super::object_id::ObjectId;
use super::repository_files::{GitFile, RepositoryFiles};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"\xfftOc\0\0\0\x02";
/// After magic and version there are 256 counts, then the names.
const NAMES_AT: u64 = 8 + 256 * 4;

/// What is stored at one place of a pack.
pub(super) enum PackEntry {
    /// An object of this kind.
    Whole(&'static str, Vec<u8>),
    /// A difference to the object at an earlier place of the pack.
    DeltaAt(u64, Vec<u8>),
    DeltaTo(ObjectId, Vec<u8>),
}

pub(super) struct Pack {
    index: GitFile,
    /// How many names begin with at most this byte.
    counts: Vec<u32>,
    width: usize,
    path: PathBuf,
    file: OnceCell<Option<GitFile>>,
}

impl Pack {
    /// Returns `None` when the file is not an index of version 2 with names of `width` bytes.
    pub(super) fn open(files: &dyn RepositoryFiles, index: &Path, width: usize) -> Option<Pack> {
        let path = index.with_extension("pack");
        let index = GitFile::open(files, index)?;
        let head = index.at(0, 8 + 256 * 4)?;
        let (magic, table) = head.split_at_checked(8)?;
        let counts: Vec<u32> =
            table.as_chunks::<4>().0.iter().map(|count| u32::from_be_bytes(*count)).collect();
        let sound = magic == MAGIC && counts.is_sorted();
        sound.then_some(Pack { index, counts, width, path, file: OnceCell::new() })
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.last().copied().map_or(0, u64::from)
    }

    /// True for the pack with the index at `index`.
    pub(super) fn is_of(&self, index: &Path) -> bool {
        self.path == index.with_extension("pack")
    }

    /// The name with that number, in their order.
    pub(super) fn name(&self, number: u64) -> Option<ObjectId> {
        ObjectId::from_bytes(&self.index.at(NAMES_AT + number * self.width as u64, self.width)?)
    }

    /// The names that begin with `short`, of at least two digits.
    pub(super) fn names_after(&self, short: &str) -> Vec<ObjectId> {
        let first = short.get(..2).and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let Some(first) = first else { return Vec::new() };
        let count = |at: Option<usize>| at.and_then(|at| self.counts.get(at)).copied().map_or(0, u64::from);
        let numbers = count(first.checked_sub(1))..count(Some(first));
        numbers.filter_map(|at| self.name(at)).filter(|id| id.to_hex().starts_with(short)).collect()
    }

    /// Where in the pack the object lies.
    pub(super) fn find(&self, id: &ObjectId) -> Option<u64> {
        let first = usize::from(*id.as_bytes().first()?);
        let below = first.checked_sub(1).and_then(|at| self.counts.get(at)).copied().unwrap_or(0);
        let (mut low, mut high) = (u64::from(below), u64::from(*self.counts.get(first)?));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle)?.as_bytes().cmp(id.as_bytes()) {
                std::cmp::Ordering::Equal => return self.place(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Where in the pack the object with that number lies.
    pub(super) fn place(&self, number: u64) -> Option<u64> {
        // Names, then a checksum of four bytes each, then a place of four bytes each.
        let places = NAMES_AT + self.count() * (self.width as u64 + 4);
        let short = u32::from_be_bytes(self.index.at(places + number * 4, 4)?.try_into().ok()?);
        if short & 0x8000_0000 == 0 {
            return Some(u64::from(short));
        }
        // In a pack of more than 2 GiB it is the number of a place of eight bytes.
        let at = places + self.count() * 4 + u64::from(short & 0x7FFF_FFFF) * 8;
        Some(u64::from_be_bytes(self.index.at(at, 8)?.try_into().ok()?))
    }

    /// What is stored at `at`.
    pub(super) fn entry(
        &self,
        files: &dyn RepositoryFiles,
        at: u64,
        budget: &ReadBudget,
    ) -> Option<PackEntry> {
        let file = self.file.get_or_init(|| GitFile::open(files, &self.path)).as_ref()?;
        // A type and a size, and then the name or the distance of a base.
        let head = file.up_to(at, 64)?;
        let mut used = 1;
        let first = *head.first()?;
        let (mut size, mut shift, mut byte) = (usize::from(first & 15), 4_u32, first);
        while byte & 128 != 0 {
            byte = *head.get(used)?;
            used += 1;
            size |= usize::from(byte & 127).checked_shl(shift).filter(|_| shift < 56)?;
            shift += 7;
        }
        let kind = first >> 4 & 7;
        let base = match kind {
            6 => {
                let mut byte = *head.get(used)?;
                used += 1;
                let mut back = u64::from(byte & 127);
                while byte & 128 != 0 {
                    byte = *head.get(used)?;
                    used += 1;
                    back = back.checked_add(1)?.checked_mul(128)? | u64::from(byte & 127);
                }
                // A distance of nothing would be the object itself.
                Some(at.checked_sub(back).filter(|base| *base < at)?)
            }
            _ => None,
        };
        let name = match kind {
            7 => {
                let id = ObjectId::from_bytes(head.get(used..used + self.width)?)?;
                used += self.width;
                Some(id)
            }
            _ => None,
        };
        let content = inflated(file, at + used as u64, size, budget)?;
        Some(match (kind, base, name) {
            (1, ..) => PackEntry::Whole("commit", content),
            (2, ..) => PackEntry::Whole("tree", content),
            (3, ..) => PackEntry::Whole("blob", content),
            (4, ..) => PackEntry::Whole("tag", content),
            (6, Some(base), _) => PackEntry::DeltaAt(base, content),
            (7, _, Some(name)) => PackEntry::DeltaTo(name, content),
            _ => return None,
        })
    }
}

/// `size` bytes that are deflated from `at` on.
fn inflated(file: &GitFile, at: u64, size: usize, budget: &ReadBudget) -> Option<Vec<u8>> {
    if size > LARGEST_OBJECT || !budget.take_bytes(size) {
        return None;
    }
    // What deflate makes of data that it cannot shrink: five bytes more for each block of 16 kB, and a frame.
    let packed = file.up_to(at, size + size / 1000 + 64)?;
    let mut out = vec![0; size];
    let flags =
        inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let (status, _, written) = decompress(&mut DecompressorOxide::new(), &packed, &mut out, 0, flags);
    (status == TINFLStatus::Done && written == size).then_some(out)
}
