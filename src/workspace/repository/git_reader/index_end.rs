//! How an index ends without what git notes in it in order not to look at files: see `index_extensions.rs` for the reason.

use super::git_index::entries_end;
use super::index_extensions::{FSMONITOR, UNTRACKED, begun_untracked};
use sha1::Digest;

/// Where the entries end, and where threads begin to read them. git writes them again with the next index.
const OFFSETS: [[u8; 4]; 2] = [*b"EOIE", *b"IEOT"];
/// How an index ends without [`FSMONITOR`] and [`UNTRACKED`].
#[derive(Debug, PartialEq, Eq)]
pub(in crate::workspace) struct IndexEnd {
    /// Where it begins: the entries are before.
    pub(in crate::workspace) at: usize,
    pub(in crate::workspace) bytes: Vec<u8>,
}

/// One extension: its name and its data.
struct Extension<'i> {
    name: [u8; 4],
    data: &'i [u8],
}

/// The end of an index without what git notes in order not to look at files. `None` where there is nothing of it, and for
/// a form that is not known.
pub(in crate::workspace) fn end_without_caches(index: &[u8]) -> Option<IndexEnd> {
    let is_cache = |name: &[u8; 4]| *name == FSMONITOR || *name == UNTRACKED;
    // Nearly every index has neither.
    if ![FSMONITOR, UNTRACKED].iter().any(|name| memchr::memmem::find(index, name).is_some()) {
        return None;
    }
    let (width, at, extensions) = [20, 32].into_iter().find_map(|width| {
        let at = entries_end(index, width)?;
        Some((width, at, extensions(index, at, width)?))
    })?;
    let is_begun = |one: &Extension<'_>| {
        one.name == UNTRACKED && begun_untracked(one.data, width).as_deref() == Some(one.data)
    };
    if !extensions.iter().any(|one| is_cache(&one.name) && !is_begun(one)) {
        return None;
    }
    let mut bytes = Vec::new();
    let mut add = |name: [u8; 4], data: &[u8]| {
        let length = u32::try_from(data.len()).unwrap_or_default();
        bytes.extend([&name[..], &length.to_be_bytes(), data].concat());
    };
    for Extension { name, data } in extensions {
        match name {
            FSMONITOR => {}
            // Somebody may have begun the cache by hand: without a setting, git would not begin it again.
            UNTRACKED => {
                if let Some(begun) = begun_untracked(data, width) {
                    add(name, &begun);
                }
            }
            name if OFFSETS.contains(&name) => {}
            name => add(name, data),
        }
    }
    let entries = index.get(..at)?;
    let had = index.get(index.len().checked_sub(width)?..)?;
    // With `index.skipHash` there is no checksum.
    match had.iter().all(|byte| *byte == 0) {
        true => bytes.extend_from_slice(had),
        false if width == 20 => {
            let hash = sha1::Sha1::new().chain_update(entries).chain_update(&bytes).finalize();
            bytes.extend_from_slice(&hash);
        }
        false => {
            let hash = sha2::Sha256::new().chain_update(entries).chain_update(&bytes).finalize();
            bytes.extend_from_slice(&hash);
        }
    }
    Some(IndexEnd { at, bytes })
}

/// The extensions from `at` to the checksum. `None` where they do not end there.
fn extensions(index: &[u8], mut at: usize, width: usize) -> Option<Vec<Extension<'_>>> {
    let end = index.len().checked_sub(width)?;
    let mut found = Vec::new();
    while at < end {
        let name: [u8; 4] = index.get(at..at + 4)?.try_into().ok()?;
        let length = u32::from_be_bytes(index.get(at + 4..at + 8)?.try_into().ok()?);
        let data_end = (at + 8).checked_add(usize::try_from(length).ok()?)?;
        found.push(Extension { name, data: index.get(at + 8..data_end).filter(|_| data_end <= end)? });
        at = data_end;
    }
    (at == end).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::super::index_extensions::UNTRACKED_STAT;
    use super::*;

    /// An index of one entry `a` with these extensions.
    fn index(extensions: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut out = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
        out.extend([0; 24]);
        out.extend(0o100_644_u32.to_be_bytes());
        out.extend([0; 12]);
        out.extend([7; 20]);
        out.extend([0, 1, b'a', 0]);
        while !(out.len() - 12).is_multiple_of(8) {
            out.push(0);
        }
        for (name, data) in extensions {
            out.extend_from_slice(&name[..]);
            out.extend((data.len() as u32).to_be_bytes());
            out.extend_from_slice(data);
        }
        let hash = sha1::Sha1::digest(&out);
        out.extend_from_slice(&hash);
        out
    }

    fn without_caches(index: &[u8]) -> Option<Vec<u8>> {
        let end = end_without_caches(index)?;
        Some([&index[..end.at], &end.bytes].concat())
    }

    #[test]
    fn what_git_notes_in_order_not_to_look_is_left_out_and_the_rest_stays() {
        let place = [&b"\x05/w\0x\0"[..], &[1; UNTRACKED_STAT + 40], b".gitignore\0"].concat();
        let begun = [&place[..], b"\0"].concat();
        let used = [&place[..], b"\x01\x01\0\0mywork.txt\0"].concat();
        let tree = (b"TREE", &b"\0-1 0\n"[..]);
        let undo = (b"REUC", &b"x"[..]);
        for (had, left) in [
            (vec![tree, (b"FSMN", b"\0\0\0\x02t\0")], vec![tree]),
            (vec![(b"FSMN", b""), tree, undo], vec![tree, undo]),
            (vec![tree, (b"UNTR", &used)], vec![tree, (b"UNTR", &begun)]),
            (vec![(b"UNTR", b"?"), undo], vec![undo]),
            (vec![(b"IEOT", b"x"), tree, (b"FSMN", b"y"), (b"EOIE", b"z")], vec![tree]),
            (vec![(b"FSMN", b"y"), (b"ABCD", b"z")], vec![(b"ABCD", b"z")]),
        ] {
            assert_eq!(without_caches(&index(&had)), Some(index(&left)), "{had:?}");
        }
        for whole in [vec![], vec![tree], vec![(b"UNTR", &begun[..])], vec![(b"REUC", b"FSMN")]] {
            assert_eq!(without_caches(&index(&whole)), None, "{whole:?}");
        }
        // Without a checksum (`index.skipHash`) there is none after it.
        let mut unsigned = index(&[(b"FSMN", b"x")]);
        let end = unsigned.len() - 20;
        unsigned[end..].fill(0);
        assert!(without_caches(&unsigned).unwrap().ends_with(&[0; 20]));
        // Any other form stays as it is.
        let torn = index(&[(b"FSMN", b"x")]);
        assert_eq!(without_caches(&torn[..torn.len() - 1]), None);
        assert_eq!(without_caches(b"FSMN"), None);
    }
}
