//! What the workspace held where the view differs from it, recorded when it first differed.
//!
//! The records are the index of a change set: what is not among them was not touched, so that no tree is ever walked
//! to find changes. They are appended to a file before the layer changes; a record without a change means nothing.

use super::super::node::{Node, raw_option, raw_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Base {
    #[serde(with = "raw_text")]
    pub path: PathBuf,
    pub node: Node,
    /// Somebody else changed it while the command ran: what the command started from is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raced: bool,
    /// A hard link to this other path.
    #[serde(default, with = "raw_option", skip_serializing_if = "Option::is_none")]
    pub twin: Option<PathBuf>,
    /// A file tool wrote it: all names of the file change with it. A command changes the name that it changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_tool: bool,
}

impl Base {
    pub(super) fn of(path: &Path, node: Node) -> Base {
        Base { path: path.to_path_buf(), node, raced: false, twin: None, by_tool: false }
    }
}

#[derive(Debug)]
pub(super) struct Bases {
    file: PathBuf,
    map: BTreeMap<PathBuf, Base>,
    unsaved: Vec<u8>,
}

impl Bases {
    /// Reads the records back; a last line that was cut by a crash had no effect yet and is dropped.
    pub(super) fn load(file: PathBuf) -> Bases {
        let mut map = BTreeMap::new();
        for line in std::fs::read_to_string(&file).unwrap_or_default().lines() {
            let Ok(base) = serde_json::from_str::<Base>(line) else { continue };
            map.insert(base.path.clone(), base);
        }
        Bases { file, map, unsaved: Vec::new() }
    }

    pub(super) fn load_again(&mut self) {
        *self = Bases::load(std::mem::take(&mut self.file));
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Base> {
        self.map.get(path)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Base> {
        self.map.values()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Records what lay at a path, unless that was recorded before.
    pub(super) fn record(&mut self, base: Base) {
        if !self.map.contains_key(&base.path) {
            self.set(base);
        }
    }

    pub(super) fn set(&mut self, base: Base) {
        self.push(&base);
        self.map.insert(base.path.clone(), base);
    }

    fn push(&mut self, base: &Base) {
        if let Ok(line) = serde_json::to_vec(base) {
            self.unsaved.extend_from_slice(&line);
            self.unsaved.push(b'\n');
        }
    }

    /// Writes what was recorded. Must come before the layer changes.
    pub(super) fn save(&mut self) -> io::Result<()> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        if let Some(parent) = self.file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file: File = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.file)?;
        file.write_all(&self.unsaved)?;
        self.unsaved.clear();
        Ok(())
    }

    pub(super) fn wipe(&mut self) -> io::Result<()> {
        self.map.clear();
        self.unsaved.clear();
        match std::fs::remove_file(&self.file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }
}
