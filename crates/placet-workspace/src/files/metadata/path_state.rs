//! The state of a path: one value with everything that placet promises to restore.

use super::access_list;
use super::stat_fields::{identity, mode_of, permissions};
use crate::Hash;
pub(crate) use crate::files::opening::open_anyway::{
    WritableDirGuard, dir_anyway, file_anyway, open_anyway, search_anyway,
};
use crate::files::writing::atomic_write::{attribute, attributes};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// From this size on, the content of a file that a tool has read is not read again before it is replaced.
const UNREAD: u64 = 1 << 20;

/// A path's state. Two equal nodes are the same bytes under the same owner, mode and attributes; times are not part
/// of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PathState {
    Absent,
    File {
        #[serde(with = "hash_text")]
        hash: Hash,
        size: u64,
        #[serde(flatten)]
        attrs: FileAttrs,
    },
    Link {
        #[serde(with = "raw_text")]
        target: OsString,
    },
    Directory {
        #[serde(flatten)]
        attrs: FileAttrs,
    },
    /// A pipe, a socket or a device: reported, never applied. An undo makes a pipe again that an apply removed.
    Special {
        what: String,
        #[serde(default, skip_serializing_if = "SpecialAttrs::is_none")]
        attrs: SpecialAttrs,
    },
}

/// Mode and owner of a pipe, a socket or a device, for an undo. Any two are equal: placet applies no change of them, and
/// earlier versions recorded none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SpecialAttrs(Option<FileAttrs>);

impl PartialEq for SpecialAttrs {
    fn eq(&self, _: &SpecialAttrs) -> bool {
        true
    }
}

impl Eq for SpecialAttrs {}

impl std::hash::Hash for SpecialAttrs {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl SpecialAttrs {
    fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Without a record, as a new file.
    pub(crate) fn known_or_new(&self) -> FileAttrs {
        self.0.clone().unwrap_or_else(FileAttrs::of_new_file)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileAttrs {
    /// The twelve bits of `chmod`.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// Extended attributes, access lists among them; the values as they are, in hexadecimal.
    #[serde(default, skip_serializing_if = "ExtendedAttributes::is_none")]
    pub xattrs: ExtendedAttributes,
}

/// Extended attributes by name. Nearly every file has none, and a change set has a state for each of its files: none
/// take one word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[expect(clippy::box_collection, reason = "an empty map takes three words")]
pub struct ExtendedAttributes(Option<Box<BTreeMap<String, String>>>);

impl ExtendedAttributes {
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter().flat_map(|all| all.iter())
    }

    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.iter().map(|(name, _)| name)
    }

    pub fn get(&self, name: &str) -> Option<&String> {
        self.0.as_ref()?.get(name)
    }

    fn insert(&mut self, name: String, value: String) {
        self.0.get_or_insert_default().insert(name, value);
    }
}

impl FromIterator<(String, String)> for ExtendedAttributes {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(all: T) -> ExtendedAttributes {
        let all: BTreeMap<String, String> = all.into_iter().collect();
        ExtendedAttributes((!all.is_empty()).then(|| Box::new(all)))
    }
}

impl PathState {
    pub fn is_absent(&self) -> bool {
        matches!(self, PathState::Absent)
    }

    pub fn is_directory(&self) -> bool {
        matches!(self, PathState::Directory { .. })
    }

    /// What a person counts as a file: neither nothing nor a directory.
    pub fn counts_as_file(&self) -> bool {
        !self.is_absent() && !self.is_directory()
    }

    pub fn is_file(&self) -> bool {
        matches!(self, PathState::File { .. })
    }

    pub fn hash(&self) -> Option<Hash> {
        match self {
            PathState::File { hash, .. } => Some(*hash),
            _ => None,
        }
    }

    pub fn size(&self) -> u64 {
        match self {
            PathState::File { size, .. } => *size,
            _ => 0,
        }
    }

    pub fn attrs(&self) -> Option<&FileAttrs> {
        match self {
            PathState::File { attrs, .. } | PathState::Directory { attrs } => Some(attrs),
            _ => None,
        }
    }

    /// True for the same kind of file with the same content; mode and owner do not matter.
    pub fn same_content(&self, other: &PathState) -> bool {
        match (self, other) {
            (PathState::File { hash: a, .. }, PathState::File { hash: b, .. }) => a == b,
            (PathState::Directory { .. }, PathState::Directory { .. }) => true,
            (a, b) => a == b,
        }
    }

    /// Reads what `name` is in an open directory. Follows no link and opens no device.
    pub(crate) fn read(dir: impl AsFd, name: &OsStr) -> std::io::Result<PathState> {
        Ok(PathState::read_with_stat(dir, name)?.0)
    }

    /// The same, with what was there before the content was read.
    pub(crate) fn read_with_stat(dir: impl AsFd, name: &OsStr) -> std::io::Result<(PathState, Option<Stat>)> {
        match PathState::read_in(&dir, name) {
            // The directory may forbid its owner to look names up in it.
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                let _eased = WritableDirGuard::of(&dir);
                PathState::read_in(&dir, name)
            }
            other => other,
        }
    }

    /// The same for a large file whose content is known to the caller, who checks it later: it is not read.
    pub(crate) fn read_assuming(dir: impl AsFd, name: &OsStr, hash: Hash) -> std::io::Result<PathState> {
        let stat = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW);
        // A file with other names, or of another user, is written in place, where nothing checks it afterwards.
        let user = rustix::process::geteuid();
        let is_plain = stat.is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                && u64::try_from(stat.st_size).is_ok_and(|size| size >= UNREAD)
                && stat.st_nlink == 1
                && (user.is_root() || stat.st_uid == user.as_raw())
        });
        if !is_plain {
            return PathState::read(dir, name);
        }
        let (file, mode) = open_anyway(&dir, name, OFlags::NONBLOCK)?;
        PathState::of_known(&file, &rustix::fs::fstat(&file)?, (mode, hash))
    }

    fn read_in(dir: &impl AsFd, name: &OsStr) -> std::io::Result<(PathState, Option<Stat>)> {
        let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok((PathState::Absent, None)),
            Err(e) => return Err(e.into()),
        };
        Ok((PathState::of_stat(dir, name, &stat)?, Some(stat)))
    }

    fn of_stat(dir: &impl AsFd, name: &OsStr, stat: &Stat) -> std::io::Result<PathState> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let (file, mode) = open_anyway(dir, name, OFlags::NONBLOCK)?;
                Ok(with_mode(PathState::of_file(&file)?, mode))
            }
            FileType::Directory => {
                let (file, mode) = open_anyway(dir, name, OFlags::DIRECTORY)?;
                Ok(with_mode(PathState::Directory { attrs: FileAttrs::of(&file, stat)? }, mode))
            }
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
                Ok(PathState::Link { target: OsString::from_vec(target.into_bytes()) })
            }
            _ => {
                let what = crate::files::opening::open::special_words(stat).into();
                let (mode, xattrs) = (permissions(stat), ExtendedAttributes::default());
                let attrs = FileAttrs { mode, uid: stat.st_uid, gid: stat.st_gid, xattrs };
                Ok(PathState::Special { what, attrs: SpecialAttrs(Some(attrs)) })
            }
        }
    }

    pub(crate) fn of_file(file: &File) -> std::io::Result<PathState> {
        let stat = rustix::fs::fstat(file)?;
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        let hash = crate::files::content::sparse::hash_of_sized(file, size)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        Ok(PathState::File { hash, size, attrs: FileAttrs::of(file, &stat)? })
    }

    /// The same for a file whose content the caller has just read; `mode` is the one that [`open_anyway`] found.
    pub(crate) fn of_known(
        file: &File,
        stat: &Stat,
        (mode, hash): (Option<u32>, Hash),
    ) -> std::io::Result<PathState> {
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        Ok(with_mode(PathState::File { hash, size, attrs: FileAttrs::of(file, stat)? }, mode))
    }

    /// The same for a file whose content the caller has just written.
    pub(crate) fn of_file_assuming(file: &File, hash: Hash) -> std::io::Result<PathState> {
        PathState::of_known(file, &rustix::fs::fstat(file)?, (None, hash))
    }
}

/// Device and inode.
pub(crate) type FileIdentity = (u64, u64);

/// Which file it is, if it is a regular file with other names.
pub(crate) fn several_names(stat: &Stat) -> Option<FileIdentity> {
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    (is_file && stat.st_nlink > 1).then(|| identity(stat))
}

fn with_mode(mut node: PathState, known: Option<u32>) -> PathState {
    if let (PathState::File { attrs, .. } | PathState::Directory { attrs }, Some(mode)) = (&mut node, known) {
        attrs.mode = mode;
    }
    node
}

impl FileAttrs {
    /// The same for a directory whose own mode is recorded because its owner's bits are eased: the access list, which
    /// was read with the eased bits, follows.
    pub(crate) fn with_own_mode(self, own: Option<u32>) -> FileAttrs {
        match own {
            Some(mode) => FileAttrs { mode, ..self }.with_list_of_mode(),
            None => self,
        }
    }

    /// The same with the access list as setting the mode leaves it.
    pub(crate) fn with_list_of_mode(mut self) -> FileAttrs {
        let list = self.xattrs.get(access_list::ACCESS).and_then(|list| from_hex(list));
        if let Some(list) = list.and_then(|list| access_list::after_chmod(&list, self.mode)) {
            self.xattrs.insert(access_list::ACCESS.into(), to_hex(&list));
        }
        self
    }

    /// What a directory that placet makes looks like: as `mkdir` would make it.
    pub(crate) fn of_new_directory() -> FileAttrs {
        FileAttrs::of_new(0o777)
    }

    /// What a file that placet makes looks like.
    pub fn of_new_file() -> FileAttrs {
        FileAttrs::of_new(0o666)
    }

    #[allow(clippy::useless_conversion, reason = "the types depend on the system")]
    fn of_new(mode: u32) -> FileAttrs {
        // The mask can be read only by setting it.
        let mask = rustix::process::umask(Mode::from_raw_mode(0o022));
        rustix::process::umask(mask);
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let mode = mode & !u32::from(mask.as_raw_mode());
        FileAttrs { mode, uid, gid, ..FileAttrs::default() }
    }

    /// An attribute that cannot be read is an error: a file that is put back without it would have lost it.
    pub(crate) fn of(file: &File, stat: &Stat) -> rustix::io::Result<FileAttrs> {
        let mut xattrs = ExtendedAttributes::default();
        for name in attributes(file)? {
            let Ok(text) = name.to_str() else { continue };
            if kept_attribute(text)
                && let Some(value) = attribute(file, &name)?
            {
                xattrs.insert(text.to_string(), to_hex(&value));
            }
        }
        Ok(FileAttrs { mode: permissions(stat), uid: stat.st_uid, gid: stat.st_gid, xattrs })
    }

    /// Gives an open file or directory these attributes; surplus attributes are removed.
    pub(crate) fn give(&self, file: &File) -> rustix::io::Result<()> {
        let stat = rustix::fs::fstat(file)?;
        let mut has_mode = permissions(&stat) == self.mode;
        if (stat.st_uid, stat.st_gid) != (self.uid, self.gid) {
            has_mode = false;
            let (uid, gid) = (rustix::fs::Uid::from_raw(self.uid), rustix::fs::Gid::from_raw(self.gid));
            rustix::fs::fchown(file, Some(uid), Some(gid))?;
        }
        let present = attributes(file)?;
        for name in &present {
            let text = name.to_string_lossy();
            if (kept_attribute(&text) || text.starts_with("user.overlay."))
                && self.xattrs.get(text.as_ref()).is_none()
            {
                has_mode = false;
                rustix::fs::fremovexattr(file, name.as_c_str())?;
            }
        }
        for (name, value) in self.xattrs.iter() {
            let value = from_hex(value).unwrap_or_default();
            has_mode = false;
            rustix::fs::fsetxattr(file, name.as_str(), &value, rustix::fs::XattrFlags::empty())?;
        }
        // Last: giving a file away takes its set-user-id bit, and an access list moves the group's bits.
        if has_mode { Ok(()) } else { rustix::fs::fchmod(file, mode_of(self.mode)) }
    }
}

/// Attributes that belong to the file and not to its machine: labels and the overlay's own marks are left out.
fn kept_attribute(name: &str) -> bool {
    (name.starts_with("user.") && !name.starts_with("user.overlay.")) || name.starts_with("system.posix_acl_")
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

pub(crate) mod hash_text {
    use super::Hash;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(hash: &Hash, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(hash.to_hex().as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Hash, D::Error> {
        Hash::from_hex(String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// Names are bytes: names that are not text are written `hex:...`, and so is text that begins like this.
pub(crate) mod raw_text {
    use super::{OsStrExt, OsString, OsStringExt, from_hex, to_hex};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer, P: AsRef<std::ffi::OsStr>>(
        raw: &P,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        let raw = raw.as_ref();
        match raw.to_str().filter(|text| !text.starts_with("hex:")) {
            Some(text) => out.serialize_str(text),
            None => out.serialize_str(&format!("hex:{}", to_hex(raw.as_bytes()))),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, P: From<OsString>>(from: D) -> Result<P, D::Error> {
        let text = String::deserialize(from)?;
        let raw = match text.strip_prefix("hex:") {
            None => OsString::from(text),
            Some(hex) => {
                OsString::from_vec(from_hex(hex).ok_or_else(|| D::Error::custom("not hexadecimal"))?)
            }
        };
        Ok(P::from(raw))
    }
}

/// The same for a path that several records share.
pub(crate) mod raw_shared {
    use super::raw_text;
    use serde::{Deserializer, Serializer};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    pub(crate) fn serialize<S: Serializer>(path: &Arc<Path>, out: S) -> Result<S::Ok, S::Error> {
        raw_text::serialize(&path.as_os_str(), out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Path>, D::Error> {
        raw_text::deserialize::<D, PathBuf>(from).map(Arc::from)
    }
}

/// The same for a path that may be missing.
pub(crate) mod raw_option {
    use super::raw_text;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::{Path, PathBuf};

    #[derive(Serialize, Deserialize)]
    struct RawPath(#[serde(with = "raw_text")] PathBuf);

    pub(crate) fn serialize<S: Serializer, P: AsRef<Path>>(
        path: &Option<P>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| RawPath(path.as_ref().to_path_buf())).serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, P: From<PathBuf>>(
        from: D,
    ) -> Result<Option<P>, D::Error> {
        Ok(Option::<RawPath>::deserialize(from)?.map(|raw| P::from(raw.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn names_that_are_no_text_survive_json() {
        #[derive(Serialize, Deserialize)]
        struct NamedPath(#[serde(with = "raw_text")] PathBuf);
        for raw in [&b"plain"[..], b"new\nline", b"\xff\xfe", b"hex:00", b""] {
            let json =
                serde_json::to_string(&NamedPath(PathBuf::from(OsString::from_vec(raw.to_vec())))).unwrap();
            let back: NamedPath = serde_json::from_str(&json).unwrap();
            assert_eq!(back.0.as_os_str().as_bytes(), raw, "{json}");
        }
    }

    #[test]
    fn a_node_survives_json_and_sees_a_change_of_mode() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), "x").unwrap();
        let fd = File::open(dir.path()).unwrap();
        let node = PathState::read(&fd, OsStr::new("f")).unwrap();
        let back: PathState = serde_json::from_str(&serde_json::to_string(&node).unwrap()).unwrap();
        assert_eq!(node, back);
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(dir.path().join("f"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let after = PathState::read(&fd, OsStr::new("f")).unwrap();
        assert!(after != node && after.same_content(&node));
        assert_eq!(PathState::read(&fd, OsStr::new("none")).unwrap(), PathState::Absent);
    }
}
