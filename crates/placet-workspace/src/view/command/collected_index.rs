//! An index of git that a command wrote, before it becomes pending: one in which only the times of files changed is none, so
//! that `git status` costs no question.

use crate::files::metadata::path_state::{PathState, open_anyway};
use crate::view::layers::open_stack::OpenStackDir;
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

/// The largest index that is read.
const LARGEST: u64 = 64 << 20;

/// True for an index of git that `git status` wrote again: the times and sizes in it are others, and nothing else is. The
/// command's copy is dropped.
pub(in crate::view) fn is_refreshed_index(
    now: &OpenStackDir,
    (name, before): (&OsStr, &PathState),
    upper: &OwnedFd,
) -> io::Result<bool> {
    if name != "index" || !before.is_file() {
        return Ok(false);
    }
    let after = PathState::read(upper, name)?;
    let is_file = after.is_file() && before.attrs() == after.attrs();
    if !is_file || before.size().max(after.size()) > LARGEST {
        return Ok(false);
    }
    let (file, _) = open_anyway(upper, name, OFlags::NONBLOCK)?;
    Ok(differ_only_in_stat(&read(&now.open(name)?)?, &read(&file)?))
}

/// One entry of an index, by its place.
struct IndexEntryPlace {
    start: usize,
}

/// The parts of an entry that git notes for its own speed: times, device and inode before the mode; owner and size after
/// it.
const STAT_OF_ENTRY: [std::ops::Range<usize>; 2] = [0..24, 28..40];
/// The checksum at the end of an index.
const INDEX_CHECKSUM: usize = 20;

/// Calls `found` for each entry of an index, and returns where the extensions begin. `None` for a form that is not known
/// here. The format is git's own: `index-format` in its technical documentation.
fn each_index_entry(bytes: &[u8], found: &mut dyn FnMut(&IndexEntryPlace) -> Option<()>) -> Option<usize> {
    let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = word(4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    for _ in 0..word(8)? {
        let start = at;
        let flags = u16::from_be_bytes(bytes.get(start + 60..start + 62)?.try_into().ok()?);
        // The extended flag: two more bytes of flags follow.
        at = start + if flags & 0x4000 != 0 { 64 } else { 62 };
        if version == 4 {
            skip_number(bytes, &mut at)?;
        }
        let end = at + bytes.get(at..)?.iter().position(|b| *b == 0)?;
        found(&IndexEntryPlace { start })?;
        // An entry is padded with 1 to 8 zeros, to a multiple of eight bytes.
        at = if version == 4 { end + 1 } else { start + (end - start + 8) / 8 * 8 };
    }
    Some(at)
}

/// True where two indexes differ only in what git notes of the files of the work tree, as `git status` writes it. False for
/// a form that is not known here.
fn differ_only_in_stat(before: &[u8], after: &[u8]) -> bool {
    let without_stat = |bytes: &[u8]| {
        let mut rest = bytes.get(..bytes.len().checked_sub(INDEX_CHECKSUM)?)?.to_vec();
        each_index_entry(bytes, &mut |entry| {
            for part in STAT_OF_ENTRY {
                rest.get_mut(entry.start + part.start..entry.start + part.end)?.fill(0);
            }
            Some(())
        })?;
        Some(rest)
    };
    before.len() == after.len() && without_stat(before).is_some_and(|rest| Some(rest) == without_stat(after))
}

/// The number of bytes to leave out of the path before, in git's own variable length.
fn skip_number(bytes: &[u8], at: &mut usize) -> Option<()> {
    while bytes.get(*at)? & 0x80 != 0 {
        *at += 1;
    }
    *at += 1;
    Some(())
}

fn read(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
