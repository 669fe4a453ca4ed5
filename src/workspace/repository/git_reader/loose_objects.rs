//! New files of one object each, whose names are the hashes of what is in them.
//!
//! git does not compare a loose object with its name. One with another content gives a file of a commit that nobody changed
//! another content at the next checkout, also where a pack has the true object: the pack may go.

use super::repository_files::{GitFile, RepositoryFiles};
use crate::workspace::repository::StateFileReader;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use sha1::Digest;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest that looking at all new objects may take. A commit of 10,000 new files takes less.
const LONGEST: Duration = Duration::from_secs(2);
/// All objects together, inflated.
const MOST_INFLATED: u64 = 512 << 20;
const PIECE: usize = 64 << 10;

const WRONG: &str = "a new object has another content than its name says, or cannot be read";
const TOO_MANY: &str = "its new objects have more than 512 MB, or reading them takes too long";
const LIKE_REF: &str = "a temporary file among its objects names one of them";
const UNKNOWN: &str = "a file among its objects is none";

/// Why git may find something else under a name than its object; `None` where it cannot. `new` are files below the repository
/// at `dir`.
pub(super) fn not_checked(files: &dyn RepositoryFiles, dir: &Path, new: &[&Path]) -> Option<&'static str> {
    let (until, mut left) = (Instant::now() + LONGEST, MOST_INFLATED);
    for path in new {
        let Ok(rel) = path.strip_prefix(dir) else { continue };
        let (what, name) = match StateFileReader::of(rel) {
            Some(StateFileReader::Leftover) if is_like_ref(files, path) => return Some(LIKE_REF),
            Some(StateFileReader::Leftover) => continue,
            Some(StateFileReader::Objects) => (StoredForm::Deflated, object_name(rel)),
            Some(StateFileReader::LfsObject) => (StoredForm::Plain, file_name(rel).into()),
            _ => return Some(UNKNOWN),
        };
        if Instant::now() >= until {
            return Some(TOO_MANY);
        }
        let Some(file) = GitFile::open(files, path) else { return Some(WRONG) };
        let found = match name.len() {
            40 => hash_of::<sha1::Sha1>(&file, what, &mut left, until),
            _ => hash_of::<sha2::Sha256>(&file, what, &mut left, until),
        };
        match found {
            Ok(found) if found == name => {}
            Ok(_) | Err(HashError::Damaged) => return Some(WRONG),
            Err(HashError::TooMuch) => return Some(TOO_MANY),
        }
    }
    None
}

/// git takes any file for a ref that begins like one.
fn is_like_ref(files: &dyn RepositoryFiles, path: &Path) -> bool {
    const SHORTEST: usize = 40;
    let begin = GitFile::open(files, path).and_then(|file| file.up_to(0, SHORTEST)).unwrap_or_default();
    begin.starts_with(b"ref:") || begin.len() == SHORTEST && begin.iter().all(u8::is_ascii_hexdigit)
}

#[derive(Clone, Copy)]
enum StoredForm {
    /// A loose object of git: its kind, its size and its content, deflated.
    Deflated,
    /// One of git LFS.
    Plain,
}

enum HashError {
    Damaged,
    TooMuch,
}

fn file_name(rel: &Path) -> &str {
    rel.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// `objects/ab/cdef...` holds the object `abcdef...`.
fn object_name(rel: &Path) -> String {
    format!("{}{}", rel.parent().map(file_name).unwrap_or_default(), file_name(rel))
}

fn hash_of<D: Digest>(
    file: &GitFile,
    form: StoredForm,
    left: &mut u64,
    until: Instant,
) -> Result<String, HashError> {
    let mut hash = D::new();
    let mut state = InflateState::new_boxed(DataFormat::Zlib);
    let (mut at, mut out) = (0, vec![0; PIECE]);
    let mut take = |bytes: usize| {
        *left =
            left.checked_sub(bytes as u64).filter(|_| Instant::now() < until).ok_or(HashError::TooMuch)?;
        Ok(())
    };
    let mut is_whole = matches!(form, StoredForm::Plain);
    while at < file.size {
        let piece = file.up_to(at, PIECE).filter(|piece| !piece.is_empty()).ok_or(HashError::Damaged)?;
        at += piece.len() as u64;
        let StoredForm::Deflated = form else {
            take(piece.len())?;
            hash.update(&piece);
            continue;
        };
        let mut rest = piece.as_slice();
        loop {
            let step = inflate(&mut state, rest, &mut out, MZFlush::None);
            take(step.bytes_written)?;
            hash.update(out.get(..step.bytes_written).unwrap_or_default());
            rest = rest.get(step.bytes_consumed..).unwrap_or_default();
            match step.status {
                // What follows the end would be no part of the object, and git refuses it.
                Ok(MZStatus::StreamEnd) if rest.is_empty() && at == file.size => is_whole = true,
                Ok(MZStatus::Ok) if step.bytes_written > 0 || !rest.is_empty() => continue,
                Ok(MZStatus::Ok) => {}
                Err(miniz_oxide::MZError::Buf) if rest.is_empty() => {}
                _ => return Err(HashError::Damaged),
            }
            break;
        }
    }
    let hash = hash.finalize();
    match is_whole {
        true => Ok(in_hex(&hash)),
        false => Err(HashError::Damaged),
    }
}

fn in_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::deflate::compress_to_vec_zlib;
    use std::ffi::OsString;
    use std::path::PathBuf;

    struct Plain;

    impl RepositoryFiles for Plain {
        fn real(&self, path: &Path) -> Option<PathBuf> {
            Some(path.to_path_buf())
        }

        fn names(&self, _: &Path) -> Vec<OsString> {
            Vec::new()
        }
    }

    #[test]
    fn an_object_has_the_name_of_its_content() {
        let dir = tempfile::tempdir().unwrap();
        let looked_at = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            not_checked(&Plain, dir.path(), &[&path])
        };
        // What `echo a | git hash-object --stdin` prints.
        let small = ("objects/78/981922613b2afb6025042ff6bd878ac1994e85", b"blob 2\0a\n".to_vec());
        assert_eq!(looked_at(small.0, &compress_to_vec_zlib(&small.1, 6)), None);
        assert_eq!(looked_at(small.0, &compress_to_vec_zlib(b"blob 2\0b\n", 6)), Some(WRONG));
        let mut more = compress_to_vec_zlib(&small.1, 6);
        assert_eq!(looked_at(small.0, &more[..more.len() - 5]), Some(WRONG));
        more.push(b'x');
        assert_eq!(looked_at(small.0, &more), Some(WRONG));
        assert_eq!(looked_at(small.0, b""), Some(WRONG));
        // One that is larger than a piece, stored and packed.
        let large: Vec<u8> =
            (0..300_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_be_bytes()).collect();
        let name = in_hex(&sha1::Sha1::digest(&large));
        let path = format!("objects/{}/{}", &name[..2], &name[2..]);
        for level in [0, 9] {
            assert_eq!(looked_at(&path, &compress_to_vec_zlib(&large, level)), None, "{level}");
        }
        let zeros = vec![0; 2 << 20];
        let name = in_hex(&sha2::Sha256::digest(&zeros));
        let path = format!("objects/{}/{}", &name[..2], &name[2..]);
        assert_eq!(looked_at(&path, &compress_to_vec_zlib(&zeros, 9)), None);
        // git LFS stores a file as it is.
        let path = format!("lfs/objects/{}/{}/{name}", &name[..2], &name[2..4]);
        assert_eq!(looked_at(&path, &zeros), None);
        assert_eq!(looked_at(&path, b"x"), Some(WRONG));
        assert_eq!(looked_at("objects/78/tmp_obj_x", b"x"), None);
        assert_eq!(looked_at("objects/78/x.py", b"x"), Some(UNKNOWN));
    }
}
