//! Large contents, read by what is in them: `truncate -s 1T f` takes no room, and reading it through takes minutes.
//!
//! A content has one hash, however it is stored on the disk. Below [`LARGE`] bytes the hash is BLAKE3 of all of it.
//! From there on, blocks of zeros are left out and their positions are hashed instead: a hole is never read. A large
//! content without such a block has its plain hash. The two kinds cannot be confused: the second is derived under a
//! name of its own.

use crate::Hash;
use rustix::fs::SeekFrom as Place;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// From this size on, a content is hashed without its zeros, and placet never loads all of it into memory.
pub(crate) const LARGE: u64 = 256 << 20;
/// Zeros are left out by whole blocks, counted from the beginning of the file.
const BLOCK: u64 = 64 << 10;
/// How much is read at a time.
const READ: u64 = 16 * BLOCK;
/// Changing this changes the names of stored contents.
const DERIVED: &str = "placet 2026-11 content without its blocks of zeros";

pub(crate) fn hash_of(file: &File) -> io::Result<Hash> {
    hash_from(file, LARGE)
}

/// The same for a file that has this size.
pub(crate) fn hash_of_sized(file: &File, size: u64) -> io::Result<Hash> {
    match size < SMALL as u64 {
        true => small_hash(file, usize::try_from(size).unwrap_or(0))?.map_or_else(|| hash_of(file), Ok),
        false => hash_of(file),
    }
}

/// A file that is read in one go, without a buffer of its own.
const SMALL: usize = 4096;

/// `None` for a file that has grown meanwhile.
fn small_hash(file: &File, size: usize) -> io::Result<Option<Hash>> {
    let (mut bytes, mut filled) = ([0; SMALL], 0);
    loop {
        match file.read_at(bytes.get_mut(filled..).unwrap_or_default(), filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
        // All of it: another read would only say that this was the end.
        if filled >= size {
            break;
        }
    }
    Ok(bytes.get(..filled).filter(|_| filled <= size).map(blake3::hash))
}

fn hash_from(mut file: &File, large: u64) -> io::Result<Hash> {
    let size = file.metadata()?.len();
    if size < large {
        file.seek(SeekFrom::Start(0))?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file)?;
        return Ok(hasher.finalize());
    }
    let mut parts = SparseHasher::default();
    let mut at = 0;
    let mut buffer = vec![0; usize::try_from(READ).unwrap_or(1 << 20)];
    while at < size {
        let (data, end) = extent(file, at, size)?;
        // A block that is partly a hole is read.
        let begin = if data == size { size } else { data / BLOCK * BLOCK };
        parts.zeros(at, begin.saturating_sub(at));
        at = at.max(begin);
        let end = end.div_ceil(BLOCK).saturating_mul(BLOCK).min(size);
        while at < end {
            let want = usize::try_from((end - at).min(READ)).unwrap_or(buffer.len());
            let room = buffer.get_mut(..want).unwrap_or_default();
            file.read_exact_at(room, at)?;
            for block in room.chunks(usize::try_from(BLOCK).unwrap_or(1 << 16)) {
                parts.block(at, block);
                at += block.len() as u64;
            }
        }
    }
    Ok(parts.hash(size))
}

/// What is hashed of a large content.
#[derive(Default)]
struct SparseHasher {
    data: blake3::Hasher,
    /// Begin and length of each run of zeros.
    runs: blake3::Hasher,
    /// The run that may go on.
    run: Option<(u64, u64)>,
    has_runs: bool,
}

impl SparseHasher {
    fn block(&mut self, at: u64, bytes: &[u8]) {
        if bytes.iter().all(|byte| *byte == 0) {
            self.zeros(at, bytes.len() as u64);
        } else {
            self.data.update(bytes);
        }
    }

    fn zeros(&mut self, at: u64, length: u64) {
        match &mut self.run {
            _ if length == 0 => {}
            // The hash must not depend on how the zeros are stored on the disk.
            Some((begin, so_far)) if *begin + *so_far == at => *so_far += length,
            _ => {
                self.close();
                self.run = Some((at, length));
            }
        }
    }

    fn close(&mut self) {
        if let Some((begin, length)) = self.run.take() {
            self.runs.update(&begin.to_le_bytes());
            self.runs.update(&length.to_le_bytes());
            self.has_runs = true;
        }
    }

    fn hash(mut self, size: u64) -> Hash {
        self.close();
        let data = self.data.finalize();
        if !self.has_runs {
            return data;
        }
        let mut derived = blake3::Hasher::new_derive_key(DERIVED);
        derived.update(data.as_bytes());
        derived.update(self.runs.finalize().as_bytes());
        derived.update(&size.to_le_bytes());
        derived.finalize()
    }
}

/// Where the next data at or behind `at` begins and ends; both are `size` when there is none. A file system that knows
/// no holes has data everywhere.
fn extent(file: &File, at: u64, size: u64) -> io::Result<(u64, u64)> {
    let begin = match rustix::fs::seek(file, Place::Data(at)) {
        Ok(begin) => begin.min(size),
        Err(Errno::NXIO) => return Ok((size, size)),
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => return Ok((at, size)),
        Err(e) => return Err(e.into()),
    };
    let end = rustix::fs::seek(file, Place::Hole(begin)).map_or(size, |end| end.min(size));
    Ok((begin, end.max(begin)))
}

fn has_holes(file: &File, size: u64) -> io::Result<bool> {
    Ok(extent(file, 0, size)? != (0, size))
}

/// Copies all of `from` over all of `to`. Holes stay holes.
pub(crate) fn copy(mut from: &File, mut to: &File) -> io::Result<()> {
    let size = from.metadata()?.len();
    if to.metadata()?.len() > 0 && has_holes(from, size)? {
        // What was there would show through the holes.
        to.set_len(0)?;
    }
    let mut at = 0;
    while at < size {
        let (begin, end) = extent(from, at, size)?;
        from.seek(SeekFrom::Start(begin))?;
        to.seek(SeekFrom::Start(begin))?;
        // The file is shorter than it was: the caller compares the hash afterwards and notices.
        if begin < end && io::copy(&mut from.take(end - begin), &mut to)? == 0 {
            break;
        }
        at = end;
    }
    to.set_len(size)?;
    to.rewind()
}

/// All of a content that fits into memory.
pub(crate) fn read_small(mut file: &File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(LARGE).read_to_end(&mut bytes)?;
    if bytes.len() as u64 >= LARGE {
        let why = format!("it has {LARGE} bytes or more, which is too large to compare by lines");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// The same for the regular file at a path without links.
pub(crate) fn read_small_at(path: &std::path::Path) -> io::Result<Vec<u8>> {
    read_small(&crate::files::metadata::path_state::file_anyway(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    /// Pieces of data at their places in a file of `size` bytes, the rest as a hole.
    fn sparse(size: u64, pieces: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(size).unwrap();
        pieces.iter().for_each(|(at, bytes)| file.write_all_at(bytes, *at).unwrap());
        file
    }

    fn dense(of: &File) -> File {
        let mut bytes = Vec::new();
        (&mut &*of).rewind().unwrap();
        (&mut &*of).read_to_end(&mut bytes).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file
    }

    #[test]
    fn a_content_has_one_hash_however_it_lies_on_the_disk() {
        const SIZE: u64 = 20 * BLOCK + 7;
        let contents = [
            sparse(SIZE, &[]),
            sparse(SIZE, &[(0, b"x")]),
            sparse(SIZE, &[(SIZE - 1, b"x")]),
            sparse(SIZE, &[(BLOCK - 1, b"xy")]),
            sparse(SIZE, &[(5 * BLOCK, &[0; 3]), (9 * BLOCK, b"x")]),
            sparse(SIZE, &[(10 * BLOCK, b"x")]),
            sparse(SIZE + 1, &[(10 * BLOCK, b"x")]),
            sparse(SIZE + BLOCK, &[(10 * BLOCK, b"x")]),
        ];
        let mut seen = std::collections::HashSet::new();
        for content in &contents {
            let hash = hash_from(content, BLOCK).unwrap();
            assert_eq!(hash, hash_from(&dense(content), BLOCK).unwrap());
            assert!(seen.insert(hash.to_hex()), "another content has this hash");
        }
    }

    #[test]
    fn without_zeros_or_below_the_size_it_is_the_plain_hash() {
        let bytes: Vec<u8> = (0..300_000u32).map(|n| (n % 251 + 1) as u8).collect();
        let file = sparse(300_000, &[(0, &bytes)]);
        assert_eq!(hash_from(&file, BLOCK).unwrap(), blake3::hash(&bytes));
        assert_eq!(hash_of(&sparse(3 * BLOCK, &[])).unwrap(), blake3::hash(&vec![0; 3 * BLOCK as usize]));
    }

    #[test]
    fn a_terabyte_of_nothing_is_hashed_and_copied_at_once_and_stays_a_hole() {
        let from = sparse(1 << 40, &[(1 << 39, b"in the middle")]);
        let hash = hash_of(&from).unwrap();
        let mut to = tempfile::tempfile().unwrap();
        to.write_all(b"what was there before").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(hash_of(&to).unwrap(), hash);
        let meta = to.metadata().unwrap();
        assert!(meta.len() == 1 << 40 && meta.blocks() < 10_000, "{} blocks", meta.blocks());
        assert!(read_small(&to).is_err());
    }
}
