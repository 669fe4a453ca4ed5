//! Damage: a record of placet's own that is there and cannot be read, or that should be there and is not.
//!
//! It is a value and never skipped in silence: a journal entry that cannot be read may name any content, so nothing is
//! pruned while there is one, and undo does not reach past it. The same holds for a directory that cannot be listed:
//! only a directory that does not exist is empty.

use crate::Hash;
use std::fs;
use std::io;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What to do about a damaged record.
pub const REPAIR_HINT: &str =
    "hint: `placet doctor` lists damage, `placet journal repair` rebuilds what can be rebuilt";

/// A damaged record: what it is, where it is, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part}: `{}`: {fault}", .path.display())]
pub struct DamagedRecord {
    pub part: DamagedPart,
    pub path: PathBuf,
    pub fault: DamageKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamagedPart {
    /// A journal as a whole: its directory, or one of the notes in it.
    Journal,
    /// The transaction of this number.
    Entry(u64),
    /// Transactions from one number to the other whose files are missing.
    Entries(u64, u64),
    /// A transaction that a crash interrupted.
    OpenEntry(u64),
    /// A stored content.
    Content(Hash),
    /// A directory of stored contents.
    Contents,
    /// The record of what is pending in a view.
    Pending,
    /// Discarded changes that are stored for undo.
    Discards,
    /// Which directories a view is laid over.
    Roots,
}

impl DamagedPart {
    /// True when it may name stored contents that nothing else names.
    pub fn names_contents(self) -> bool {
        !matches!(self, DamagedPart::Content(_) | DamagedPart::Contents | DamagedPart::Roots)
    }
}

impl std::fmt::Display for DamagedPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DamagedPart::Journal => f.write_str("the journal is damaged"),
            DamagedPart::Entry(id) => write!(f, "transaction {id} is damaged"),
            DamagedPart::Entries(first, last) if first == last => write!(f, "transaction {first} is missing"),
            DamagedPart::Entries(first, last) => write!(f, "transactions {first} to {last} are missing"),
            DamagedPart::OpenEntry(id) => write!(f, "the interrupted transaction {id} is damaged"),
            DamagedPart::Content(_) => f.write_str("a stored content is damaged"),
            DamagedPart::Contents => f.write_str("the store of contents is damaged"),
            DamagedPart::Discards => f.write_str("the record of discarded changes is damaged"),
            DamagedPart::Pending => f.write_str("the record of pending changes is damaged"),
            DamagedPart::Roots => f.write_str("the record of a view's directories is damaged"),
        }
    }
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamageKind {
    #[error("the file is missing")]
    Missing,
    #[error("the file is empty")]
    Empty,
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it is not a directory")]
    NotADirectory,
    #[error("it is a symbolic link to a file or directory that does not exist")]
    BrokenLink,
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("line {line}: {why}")]
    Malformed { line: usize, why: String },
    #[error("it contains transaction {0}")]
    OtherNumber(u64),
    #[error("its content does not match its name")]
    WrongHash,
    #[error("it does not list `{}`, which is pending", .0.display())]
    Incomplete(PathBuf),
}

impl DamageKind {
    pub(crate) fn of_io(error: &io::Error) -> DamageKind {
        match error.kind() {
            io::ErrorKind::NotFound => DamageKind::Missing,
            io::ErrorKind::NotADirectory => DamageKind::NotADirectory,
            _ => DamageKind::Unreadable(error.to_string()),
        }
    }

    pub(crate) fn of_json(error: &serde_json::Error) -> DamageKind {
        let why = match error.classify() {
            serde_json::error::Category::Eof => "the file ends in the middle of a value",
            serde_json::error::Category::Syntax => "this is not valid JSON",
            _ => "a field is missing or has a wrong type",
        };
        DamageKind::Malformed { line: error.line(), why: why.into() }
    }
}

/// The bytes of a record. Only a regular file is opened: a pipe in its place would never end.
pub(crate) fn read_record(path: &Path) -> Result<Vec<u8>, DamageKind> {
    let mut bytes = Vec::new();
    open_record(path)?.read_to_end(&mut bytes).map_err(|e| DamageKind::of_io(&e))?;
    Ok(bytes)
}

/// Opens a record that is read piece by piece.
pub(crate) fn open_record(path: &Path) -> Result<fs::File, DamageKind> {
    let meta = fs::symlink_metadata(path).map_err(|e| DamageKind::of_io(&e))?;
    if !meta.is_file() {
        return Err(DamageKind::NotAFile);
    }
    if meta.len() == 0 {
        return Err(DamageKind::Empty);
    }
    fs::File::open(path).map_err(|e| DamageKind::of_io(&e))
}

/// What is in a directory of records. One that does not exist is empty.
pub(crate) fn list_records(dir: &Path) -> Result<Vec<fs::DirEntry>, DamageKind> {
    match fs::read_dir(dir).and_then(|entries| entries.collect::<io::Result<Vec<_>>>()) {
        Ok(entries) => Ok(entries),
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(DamageKind::of_io(&e)),
        // A link to a disk that is not mounted says that there is more.
        Err(_) if fs::symlink_metadata(dir).is_ok() => Err(DamageKind::BrokenLink),
        Err(_) => Ok(Vec::new()),
    }
}

/// The directories in `dir`, sorted, and the damage of other entries. A file there is damage: placet makes only
/// directories, and the file has taken the place of a directory.
pub(crate) fn list_directories(dir: &Path, part: DamagedPart) -> (Vec<PathBuf>, Vec<DamagedRecord>) {
    let entries = match list_records(dir) {
        Ok(entries) => entries,
        Err(fault) => return (Vec::new(), vec![DamagedRecord { part, path: dir.to_path_buf(), fault }]),
    };
    let (mut found, mut damage) = (Vec::new(), Vec::new());
    for path in entries.into_iter().map(|entry| entry.path()) {
        let fault = match fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => {
                found.push(path);
                continue;
            }
            Ok(_) => DamageKind::NotADirectory,
            // Another process has just removed it.
            Err(e) if e.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(&path).is_err() => continue,
            Err(e) if e.kind() == io::ErrorKind::NotFound => DamageKind::BrokenLink,
            Err(e) => DamageKind::of_io(&e),
        };
        damage.push(DamagedRecord { part, path, fault });
    }
    found.sort();
    (found, damage)
}

impl From<DamagedRecord> for io::Error {
    fn from(damage: DamagedRecord) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, damage)
    }
}
