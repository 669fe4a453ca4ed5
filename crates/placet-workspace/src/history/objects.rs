//! Contents by their hash: what undo brings back and what a merge starts from.
//!
//! A content is either written, compressed when that helps, or adopted: the inode that was displaced from the
//! workspace moves here as it is, which costs nothing. Every read checks that the bytes still have their name.

use super::damage::{DamageKind, DamagedPart, DamagedRecord, list_records};
use crate::Hash;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Contents from this size on are not compressed: compression would cost more time than the saved space is worth.
const COMPRESS_UP_TO: u64 = 8 << 20;
/// The largest content that is stored between two calls.
const BETWEEN: u64 = 1 << 20;

#[derive(Clone, Debug)]
pub struct ObjectStore {
    dir: PathBuf,
}

impl ObjectStore {
    pub fn new(dir: PathBuf) -> ObjectStore {
        ObjectStore { dir }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    fn place(&self, hash: Hash, packed: bool) -> PathBuf {
        let name = hash.to_hex();
        let shard: String = name.chars().take(2).collect();
        let name = if packed { format!("{name}.zst") } else { name.to_string() };
        self.dir.join(shard).join(name)
    }

    pub fn has(&self, hash: Hash) -> bool {
        self.place(hash, false).exists() || self.place(hash, true).exists()
    }

    /// The path of the content, whether it exists or not.
    pub fn path(&self, hash: Hash) -> PathBuf {
        let packed = self.place(hash, true);
        if packed.exists() { packed } else { self.place(hash, false) }
    }

    /// Reads a stored content and compares it with its name.
    pub(crate) fn check(&self, hash: Hash) -> Result<(), DamageKind> {
        // Nearly every content is whole, and an undo asks this for each of its files.
        if matches!(self.hash_of_stored(hash), Ok(found) if found == hash) {
            return Ok(());
        }
        let path = self.path(hash);
        let meta = fs::symlink_metadata(&path).map_err(|e| DamageKind::of_io(&e))?;
        if !meta.is_file() {
            return Err(DamageKind::NotAFile);
        }
        let packed = path.extension().is_some_and(|e| e == "zst");
        let found = match packed {
            true => self.get(hash).map(|_| hash),
            false => File::open(&path).and_then(|file| crate::files::content::sparse::hash_of(&file)),
        };
        match found {
            Ok(found) if found == hash => Ok(()),
            // What is packed may also be no frame any more, or one of a size that is never packed.
            Ok(_) => Err(DamageKind::WrongHash),
            Err(_) if packed && meta.len() == 0 => Err(DamageKind::Empty),
            Err(e) if packed && e.kind() != io::ErrorKind::PermissionDenied => Err(DamageKind::WrongHash),
            Err(e) => Err(DamageKind::of_io(&e)),
        }
    }

    fn hash_of_stored(&self, hash: Hash) -> io::Result<Hash> {
        match open_file(&self.place(hash, true)) {
            Ok((file, size)) => Ok(blake3::hash(&unpack(&file, size)?)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let (file, size) = open_file(&self.place(hash, false))?;
                crate::files::content::sparse::hash_of_sized(&file, size)
            }
            Err(e) => Err(e),
        }
    }

    /// True when the content is stored and intact. A damaged copy is removed and can be stored again: the caller has
    /// the content.
    fn has_whole(&self, hash: Hash) -> bool {
        match self.check(hash) {
            Ok(()) => true,
            Err(DamageKind::Missing | DamageKind::Unreadable(_)) => false,
            Err(_) => {
                self.remove(hash);
                false
            }
        }
    }

    /// Every stored content that does not match its name, until `deadline`; and how many were not looked at by then.
    pub fn damage(&self, deadline: std::time::Instant) -> (Vec<DamagedRecord>, usize) {
        let (all, mut found) = self.list();
        let mut seen = 0;
        for (hash, _) in &all {
            if std::time::Instant::now() > deadline {
                break;
            }
            seen += 1;
            found.extend(self.damage_of(*hash).filter(|d| d.fault != DamageKind::Missing));
        }
        (found, all.len() - seen)
    }

    /// What is wrong with one stored content.
    pub fn damage_of(&self, hash: Hash) -> Option<DamagedRecord> {
        let fault = self.check(hash).err()?;
        Some(DamagedRecord { part: DamagedPart::Content(hash), path: self.path(hash), fault })
    }

    fn shard(&self, place: &Path) -> io::Result<()> {
        let parent = place.parent().unwrap_or(&self.dir);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)
    }

    /// Makes the directory for this content. Returns its file system.
    pub(crate) fn prepare(&self, hash: Hash) -> io::Result<rustix::fs::Dev> {
        let place = self.place(hash, false);
        let shard = place.parent().unwrap_or(&self.dir);
        // After a few files each of the 256 directories is there.
        if let Ok(stat) = rustix::fs::stat(shard) {
            return Ok(stat.st_dev);
        }
        self.shard(&place)?;
        Ok(rustix::fs::stat(shard)?.st_dev)
    }

    /// Stores bytes. What is there already is left alone. Durable only after [`ObjectStore::sync`].
    pub fn put(&self, bytes: &[u8]) -> io::Result<Hash> {
        let hash = blake3::hash(bytes);
        if self.has_whole(hash) {
            return Ok(hash);
        }
        let packed = if bytes.len() > 200 { pack(bytes) } else { None };
        let packed = packed.filter(|p| p.len() < bytes.len());
        let place = self.place(hash, packed.is_some());
        self.shard(&place)?;
        let mut file = tempfile::NamedTempFile::new_in(place.parent().unwrap_or(&self.dir))?;
        file.write_all(packed.as_deref().unwrap_or(bytes))?;
        file.persist(&place).map_err(|e| e.error)?;
        Ok(hash)
    }

    /// Keeps the content that a path has between two calls, so that its lines can be attributed later: text
    /// of at most [`BETWEEN`] bytes. `None` when it was not stored.
    pub(crate) fn keep_between(
        &self,
        node: &crate::PathState,
        open: impl FnOnce() -> io::Result<File>,
    ) -> Option<Hash> {
        let hash = node.hash().filter(|_| node.size() <= BETWEEN)?;
        if self.has(hash) {
            return Some(hash);
        }
        let mut bytes = Vec::new();
        open().ok()?.read_to_end(&mut bytes).ok()?;
        let text = bytes.is_empty() || placet_text::text::DetectedEncoding::of(&bytes).is_ok();
        (text && blake3::hash(&bytes) == hash).then(|| self.put(&bytes).ok()).flatten()
    }

    /// Stores the content of an open file that has this hash. Fails when it has not.
    pub fn put_file(&self, file: &mut File, hash: Hash, size: u64) -> io::Result<()> {
        use std::io::Seek;
        if self.has_whole(hash) {
            return Ok(());
        }
        file.rewind()?;
        if size <= COMPRESS_UP_TO {
            let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
            file.read_to_end(&mut bytes)?;
            return if self.put(&bytes)? == hash { Ok(()) } else { Err(changed()) };
        }
        let place = self.place(hash, false);
        self.shard(&place)?;
        let copy = tempfile::NamedTempFile::new_in(place.parent().unwrap_or(&self.dir))?;
        crate::files::content::sparse::copy(file, copy.as_file())?;
        if crate::files::content::sparse::hash_of(copy.as_file())? != hash {
            return Err(changed());
        }
        copy.persist(&place).map_err(|e| e.error)?;
        Ok(())
    }

    /// Takes over a file that has no other name any more, by moving it here. `false` when the file is on another file
    /// system and was left where it is.
    pub fn adopt(&self, dir: &std::os::fd::OwnedFd, name: &std::ffi::OsStr, hash: Hash) -> io::Result<bool> {
        if self.has_whole(hash) {
            rustix::fs::unlinkat(dir, name, rustix::fs::AtFlags::empty())?;
            return Ok(true);
        }
        let place = self.place(hash, false);
        self.shard(&place)?;
        match rustix::fs::renameat(dir, name, rustix::fs::CWD, &place) {
            Ok(()) => {
                // Only placet uses the file now, and it must be readable whatever its mode was.
                let _ = rustix::fs::chmod(&place, rustix::fs::Mode::from_raw_mode(0o600));
                Ok(true)
            }
            Err(rustix::io::Errno::XDEV) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// The content named `hash`, whole. A content that is too large for that is an error.
    pub fn get(&self, hash: Hash) -> io::Result<Vec<u8>> {
        let bytes = match open_file(&self.place(hash, true)) {
            Ok((file, size)) => unpack(&file, size)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                crate::files::content::sparse::read_small(&open_file(&self.place(hash, false))?.0)?
            }
            Err(e) => return Err(e),
        };
        if blake3::hash(&bytes) == hash { Ok(bytes) } else { Err(changed()) }
    }

    /// Writes the content named `hash` into an empty file, and checks it: what is packed before it is written, and anything
    /// else in the file, because it may not fit into memory.
    pub fn copy_to(&self, hash: Hash, mut to: &File) -> io::Result<()> {
        let found = match open_file(&self.place(hash, true)) {
            Ok((file, size)) => {
                let bytes = unpack(&file, size)?;
                let found = blake3::hash(&bytes);
                if found == hash {
                    to.write_all(&bytes)?;
                }
                found
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                crate::files::content::sparse::copy(&open_file(&self.place(hash, false))?.0, to)?;
                crate::files::content::sparse::hash_of(to)?
            }
            Err(e) => return Err(e),
        };
        if found == hash { Ok(()) } else { Err(changed()) }
    }

    /// Every stored content: its hash and the bytes it takes on disk; and what cannot be listed.
    pub fn list(&self) -> (Vec<(Hash, u64)>, Vec<DamagedRecord>) {
        let (mut found, mut damage) = (Vec::new(), Vec::new());
        let damaged = |path: PathBuf, fault| DamagedRecord { part: DamagedPart::Contents, path, fault };
        let shards = list_records(&self.dir).unwrap_or_else(|fault| {
            damage.push(damaged(self.dir.clone(), fault));
            Vec::new()
        });
        for shard in shards {
            let name = shard.file_name();
            // What placet did not put there is not its own.
            if name.len() != 2 || !name.to_string_lossy().bytes().all(|byte| byte.is_ascii_hexdigit()) {
                continue;
            }
            match list_records(&shard.path()) {
                Ok(entries) => found.extend(entries.iter().filter_map(stored)),
                Err(fault) => damage.push(damaged(shard.path(), fault)),
            }
        }
        (found, damage)
    }

    pub fn remove(&self, hash: Hash) {
        drop(fs::remove_file(self.place(hash, true)));
        drop(fs::remove_file(self.place(hash, false)));
    }

    /// Removes half-written contents that a killed process left.
    pub fn sweep(&self, older: std::time::Duration) {
        for shard in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            for entry in fs::read_dir(shard.path()).into_iter().flatten().flatten() {
                let stale = entry.metadata().and_then(|m| m.modified()).ok();
                let stale = stale.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > older);
                if stale && entry.file_name().to_string_lossy().starts_with(".tmp") {
                    drop(fs::remove_file(entry.path()));
                }
            }
        }
    }

    /// True where [`ObjectStore::sync`] stores `file` durably as well: both are on one file system, which is synced as a whole.
    pub(crate) fn is_synced_with(&self, file: &File) -> bool {
        let (store, file) = (fs::metadata(&self.dir), file.metadata());
        cfg!(target_os = "linux") && matches!((store, file), (Ok(a), Ok(b)) if a.dev() == b.dev())
    }

    /// Makes everything stored so far last.
    pub fn sync(&self) -> io::Result<()> {
        match File::open(&self.dir) {
            Ok(dir) => crate::apply::sync_file_system(&dir),
            // Nothing was stored.
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(e),
        }
    }
}

/// The hash and the size of a content, by its file.
fn stored(entry: &fs::DirEntry) -> Option<(Hash, u64)> {
    let name = entry.file_name().to_string_lossy().into_owned();
    let hash = Hash::from_hex(name.trim_end_matches(".zst")).ok()?;
    // Holes take no room. A file whose size cannot be had is there all the same.
    let size = entry.metadata().map_or(0, |meta| meta.len().min(meta.blocks().saturating_mul(512)));
    Some((hash, size))
}

thread_local! {
    /// Made once: making a codec costs more than compressing a small file with it.
    static PACKERS: std::cell::RefCell<ZstdCodec> = const { std::cell::RefCell::new(ZstdCodec { pack: None, unpack: None }) };
}

struct ZstdCodec {
    pack: Option<zstd::bulk::Compressor<'static>>,
    unpack: Option<zstd::bulk::Decompressor<'static>>,
}

fn pack(bytes: &[u8]) -> Option<Vec<u8>> {
    PACKERS.with_borrow_mut(|packers| {
        if packers.pack.is_none() {
            packers.pack = zstd::bulk::Compressor::new(1).ok();
        }
        packers.pack.as_mut()?.compress(bytes).ok()
    })
}

fn unpack(mut file: &File, size: u64) -> io::Result<Vec<u8>> {
    // Nothing larger was ever packed. With the size known, no read is needed to find the end.
    let mut packed = vec![0; usize::try_from(size.min(COMPRESS_UP_TO)).unwrap_or(0)];
    file.read_exact(&mut packed)?;
    PACKERS.with_borrow_mut(|packers| {
        let unpack = match &mut packers.unpack {
            Some(unpack) => unpack,
            none => none.insert(zstd::bulk::Decompressor::new()?),
        };
        unpack.decompress(&packed, usize::try_from(COMPRESS_UP_TO).unwrap_or(usize::MAX))
    })
}

/// Opens a stored content, a regular file, and gives its size. A pipe in its place would be waited for, and never written
/// to.
fn open_file(path: &Path) -> io::Result<(File, u64)> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?);
    let meta = file.metadata()?;
    if meta.is_file() { Ok((file, meta.len())) } else { Err(changed()) }
}

pub(crate) fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a stored content no longer has its hash")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_comes_back_and_damage_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let objects = ObjectStore::new(dir.path().join("o"));
        for bytes in [Vec::new(), b"short".to_vec(), vec![b'a'; 100_000], (0..=255).collect()] {
            let hash = objects.put(&bytes).unwrap();
            assert_eq!(objects.put(&bytes).unwrap(), hash);
            assert_eq!(objects.get(hash).unwrap(), bytes);
            let file = tempfile::tempfile().unwrap();
            objects.copy_to(hash, &file).unwrap();
        }
        let hash = objects.put(b"to be damaged").unwrap();
        fs::write(objects.place(hash, false), b"to be dAmaged").unwrap();
        assert_eq!(objects.get(hash).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(objects.list().0.len(), 5);
        objects.remove(hash);
        assert!(!objects.has(hash));
    }
}
