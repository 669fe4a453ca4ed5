//! git's binary patches: a whole content (`literal`) or a delta, deflated, in base 85.
//!
//! A binary patch fits only the content from which it was made: git's object name, or the reverse patch in it, proves
//! this. Nothing is unpacked before it is needed, and never more than the patch declares.

use super::cursor::PatchCursor;
use super::{PatchApplyError, PatchError, base85};

/// The largest content that is unpacked, in bytes.
const LARGEST: usize = 256 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryPatch {
    forward: BinaryHunk,
    back: Option<BinaryHunk>,
    /// git's object names of the old and new content, perhaps abbreviated.
    blobs: Option<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct BinaryHunk {
    form: BinaryEncoding,
    size: usize,
    packed: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BinaryEncoding {
    Literal,
    Delta,
}

/// Reads from the line `GIT binary patch` on.
pub(super) fn read(
    cursor: &mut PatchCursor<'_>,
    blobs: Option<(String, String)>,
) -> Result<BinaryPatch, PatchError> {
    cursor.at += 1;
    let Some(forward) = piece(cursor)? else {
        return Err(PatchError::BadBinary { line: cursor.number(), reason: "expected `literal` or `delta`" });
    };
    let back = piece(cursor)?;
    Ok(BinaryPatch { forward, back, blobs })
}

fn piece(cursor: &mut PatchCursor<'_>) -> Result<Option<BinaryHunk>, PatchError> {
    let head = cursor.head(0).unwrap_or_default();
    let (form, size) = match (head.strip_prefix(b"literal "), head.strip_prefix(b"delta ")) {
        (Some(size), _) => (BinaryEncoding::Literal, size),
        (_, Some(size)) => (BinaryEncoding::Delta, size),
        _ => return Ok(None),
    };
    let bad = |reason| PatchError::BadBinary { line: cursor.number(), reason };
    let size = String::from_utf8_lossy(size).trim().parse().map_err(|_| bad("the size is not a number"))?;
    if size > LARGEST {
        return Err(bad("it is larger than 256 MB"));
    }
    cursor.at += 1;
    let mut packed = Vec::new();
    while let Some(line) = cursor.head(0).filter(|line| !line.is_empty()) {
        let bad = |reason| PatchError::BadBinary { line: cursor.number(), reason };
        let length = match line.first() {
            Some(c @ b'A'..=b'Z') => usize::from(c - b'A') + 1,
            Some(c @ b'a'..=b'z') => usize::from(c - b'a') + 27,
            _ => return Err(bad("a line does not start with its length")),
        };
        base85::decode(line.get(1..).unwrap_or_default(), length, &mut packed)
            .ok_or_else(|| bad("a line is not base 85 of its length"))?;
        cursor.at += 1;
    }
    cursor.at += usize::from(!cursor.done());
    Ok(Some(BinaryHunk { form, size, packed }))
}

impl BinaryPatch {
    /// The bytes of the old content and of the new one; `None` where the patch has only a delta from the other side.
    pub fn sizes(&self) -> (Option<usize>, Option<usize>) {
        let size = |hunk: &BinaryHunk| (hunk.form == BinaryEncoding::Literal).then_some(hunk.size);
        (self.back.as_ref().and_then(size), size(&self.forward))
    }

    /// The old content and the new one, where the patch has both whole, and neither has more than `most` bytes.
    pub fn contents(&self, most: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        let whole = |hunk: &BinaryHunk| {
            let is_whole = hunk.form == BinaryEncoding::Literal && hunk.size <= most;
            is_whole.then(|| hunk.made_from(&[]).ok()).flatten()
        };
        Some((whole(self.back.as_ref()?)?, whole(&self.forward)?))
    }

    /// The new content.
    pub(super) fn apply(&self, old: &[u8]) -> Result<Vec<u8>, PatchApplyError> {
        if let Some((before, _)) = &self.blobs
            && !names(before, old)
        {
            return Err(PatchApplyError::OtherContent);
        }
        let new = self.forward.made_from(old)?;
        let way_back = || {
            Ok::<bool, PatchApplyError>(
                self.back.as_ref().map(|b| b.made_from(&new)).transpose()?.is_none_or(|was| was == old),
            )
        };
        if self.blobs.is_none() && !way_back()? {
            return Err(PatchApplyError::OtherContent);
        }
        match &self.blobs {
            Some((_, after)) if !names(after, &new) => {
                Err(PatchApplyError::Damaged("the content does not match its hash"))
            }
            _ => Ok(new),
        }
    }
}

/// Whether git's object name, or its beginning, names this content. All zeros name a missing file.
fn names(name: &str, bytes: &[u8]) -> bool {
    let zeros = name.bytes().all(|b| b == b'0');
    zeros && bytes.is_empty() || !name.is_empty() && blob_name(bytes).starts_with(&name.to_ascii_lowercase())
}

/// git's object name of this content.
pub(super) fn blob_name(bytes: &[u8]) -> String {
    use sha1::Digest;
    let mut hasher = sha1::Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()).as_bytes());
    hasher.update(bytes);
    hasher.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

impl BinaryHunk {
    fn made_from(&self, base: &[u8]) -> Result<Vec<u8>, PatchApplyError> {
        let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&self.packed, self.size);
        let unpacked = unpacked.map_err(|_| PatchApplyError::Damaged("it cannot be unpacked"))?;
        if unpacked.len() != self.size {
            return Err(PatchApplyError::Damaged("the size does not match"));
        }
        match self.form {
            BinaryEncoding::Literal => Ok(unpacked),
            BinaryEncoding::Delta => delta(&unpacked, base).ok_or(PatchApplyError::OtherContent),
        }
    }
}

/// Applies a delta of git's pack format: two sizes, then copies from `base` and literal pieces.
fn delta(code: &[u8], base: &[u8]) -> Option<Vec<u8>> {
    let mut code = code.iter().copied();
    let mut varint = || {
        let (mut value, mut shift) = (0usize, 0u32);
        loop {
            let byte = code.next()?;
            value |= usize::from(byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    };
    let (from, to) = (varint()?, varint()?);
    if from != base.len() || to > LARGEST {
        return None;
    }
    let mut out = Vec::new();
    while let Some(op) = code.next() {
        if op & 0x80 != 0 {
            let mut field = |bits: std::ops::Range<u32>| {
                let mut value = 0usize;
                for (at, bit) in bits.enumerate() {
                    if op & (1 << bit) != 0 {
                        value |= usize::from(code.next()?) << (8 * at);
                    }
                }
                Some(value)
            };
            let (offset, length) = (field(0..4)?, field(4..7)?);
            let length = if length == 0 { 0x10000 } else { length };
            out.extend_from_slice(base.get(offset..offset.checked_add(length)?)?);
        } else {
            let before = out.len();
            out.extend(code.by_ref().take(usize::from(op)));
            if op == 0 || out.len() - before != usize::from(op) {
                return None;
            }
        }
        if out.len() > to {
            return None;
        }
    }
    (out.len() == to).then_some(out)
}
