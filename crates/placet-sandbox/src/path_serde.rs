//! Paths in JSON: as text if they are UTF-8, otherwise as bytes, because a path need not be UTF-8.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SerializedPath {
    Text(String),
    Bytes(Vec<u8>),
}

impl SerializedPath {
    fn of(path: &Path) -> SerializedPath {
        match path.to_str() {
            Some(text) => SerializedPath::Text(text.into()),
            None => SerializedPath::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }

    fn path(self) -> PathBuf {
        match self {
            SerializedPath::Text(text) => text.into(),
            SerializedPath::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    SerializedPath::of(path).serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    SerializedPath::deserialize(from).map(SerializedPath::path)
}

pub(super) mod list {
    use super::{Deserialize, Deserializer, PathBuf, SerializedPath, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| SerializedPath::of(path)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<SerializedPath>::deserialize(from)?.into_iter().map(SerializedPath::path).collect())
    }
}

pub(super) mod maybe {
    use super::{Deserialize, Deserializer, PathBuf, Serialize, SerializedPath, Serializer};

    #[expect(clippy::ref_option, reason = "the shape that serde calls with")]
    pub(crate) fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        path.as_deref().map(SerializedPath::of).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<SerializedPath>::deserialize(from)?.map(SerializedPath::path))
    }
}
