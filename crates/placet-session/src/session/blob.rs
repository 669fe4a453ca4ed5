//! Bytes named by their blake3 hash, next to the database: pictures do not belong into rows.

use super::SessionError;
use placet_text::text::regular_file;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Stores `bytes` under `hash`; what is there already is left alone.
pub(super) fn put(dir: &Path, hash: &str, bytes: &[u8]) -> Result<(), SessionError> {
    let path = place(dir, hash);
    let fail = |source| SessionError::Blob { hash: hash.into(), source };
    // The name is the hash, so a file of this name has the same bytes.
    if path.exists() {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(dir);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(fail)?;
    let mut file = tempfile::NamedTempFile::new_in(parent).map_err(fail)?;
    // Synced before the name appears: a crash must not leave a name with only a part of the bytes.
    file.write_all(bytes).and_then(|()| file.as_file().sync_data()).map_err(fail)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o600)).map_err(fail)?;
    file.persist(&path).map_err(|e| fail(e.error))?;
    Ok(())
}

/// Reads `hash` back; bytes that no longer hash to their name are an error, not an answer.
pub(super) fn get(dir: &Path, hash: &str) -> Result<Arc<[u8]>, SessionError> {
    let fail = |source| SessionError::Blob { hash: hash.into(), source };
    let bytes = regular_file::read(&place(dir, hash), u64::MAX).map_err(fail)?;
    if blake3::hash(&bytes).to_hex().as_str() != hash {
        return Err(fail(std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            "the content does not match its hash",
        )));
    }
    Ok(bytes.into())
}

/// Removes a file that no entry names any more. A file that cannot be removed stays, and costs only its space.
pub(super) fn remove(dir: &Path, hash: &str) {
    drop(fs::remove_file(place(dir, hash)));
}

fn place(dir: &Path, hash: &str) -> PathBuf {
    let shard: String = hash.chars().take(2).collect();
    dir.join("blobs").join(shard).join(hash)
}
