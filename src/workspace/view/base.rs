//! What the workspace held where the view differs from it, recorded when it first differed.
//!
//! The records are the index of a change set: what is not among them was not touched, so that no tree is ever walked
//! to find changes. They are appended to a file before the layer changes; a record without a change means nothing.

use super::super::Hash;
use super::super::node::{Node, raw_option, raw_text};
use super::super::origin::{Mark, Origin, Origins, Step};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a line that names an origin begins.
const WHO: &str = "{\"origin\"";

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
    /// The calls that changed it since, in their order; who they are stands in lines of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// A line that says who the marks with the next number mean.
#[derive(Serialize, Deserialize)]
struct Who<O> {
    origin: O,
}

impl Base {
    pub(super) fn of(path: &Path, node: Node) -> Base {
        Base { path: path.to_path_buf(), node, raced: false, twin: None, by_tool: false, marks: Vec::new() }
    }
}

#[derive(Debug)]
pub(super) struct Bases {
    file: PathBuf,
    map: BTreeMap<PathBuf, Base>,
    origins: Origins,
    unsaved: Vec<u8>,
}

impl Bases {
    /// Reads the records back; a last line that was cut by a crash had no effect yet and is dropped.
    pub(super) fn load(file: PathBuf) -> Bases {
        let (mut map, mut origins) = (BTreeMap::new(), Origins::default());
        for line in std::fs::read_to_string(&file).unwrap_or_default().lines() {
            match (serde_json::from_str::<Base>(line), line.starts_with(WHO)) {
                (Ok(base), _) => drop(map.insert(base.path.clone(), base)),
                (Err(_), true) => {
                    origins.push(
                        serde_json::from_str::<Who<Origin>>(line).map(|w| w.origin).unwrap_or_default(),
                    );
                }
                (Err(_), false) => {}
            }
        }
        Bases { file, map, origins, unsaved: Vec::new() }
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

    /// The calls that changed a path since its base.
    pub(super) fn steps(&self, base: &Base) -> Vec<Step> {
        self.origins.steps(&base.marks)
    }

    /// Takes over a record of `other`, with the origins that it names.
    pub(super) fn take(&mut self, base: Base, other: &Bases) {
        let number =
            |mark: &Mark| Mark { by: self.number(other.origins.get(mark.by).as_ref()), ..mark.clone() };
        let marks = base.marks.iter().map(number).collect();
        self.set(Base { marks, ..base });
    }

    /// The marks of a path that `origin` is the first to change.
    pub(super) fn first(&mut self, origin: Option<&Arc<Origin>>) -> Vec<Mark> {
        let by = self.number(origin);
        by.map(|by| Mark { by: Some(by), content: None }).into_iter().collect()
    }

    /// Notes that `origin` changes a path that has a record, and in which `before` is now. When another call changed it
    /// earlier, `kept` is asked for that content.
    pub(super) fn again(
        &mut self,
        path: &Path,
        origin: Option<&Arc<Origin>>,
        before: &Node,
        kept: impl FnOnce() -> Option<Hash>,
    ) {
        let Some(by) = self.number(origin) else { return };
        let Some(base) = self.map.get(path) else { return };
        if base.marks.last().is_some_and(|last| last.by == Some(by)) {
            return;
        }
        let mut base = base.clone();
        match base.marks.last_mut() {
            Some(last) => last.content = kept(),
            // It has a record and was not changed: nobody came before.
            None if *before == base.node => {}
            None => base.marks.push(Mark { by: None, content: kept() }),
        }
        base.marks.push(Mark { by: Some(by), content: None });
        self.set(base);
    }

    fn number(&mut self, origin: Option<&Arc<Origin>>) -> Option<usize> {
        let origin = origin?;
        let (number, new) = self.origins.number(origin);
        if new {
            self.push(&Who { origin: &**origin });
        }
        Some(number)
    }

    fn push(&mut self, record: &impl Serialize) {
        if let Ok(line) = serde_json::to_vec(record) {
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
        self.origins.clear();
        self.unsaved.clear();
        match std::fs::remove_file(&self.file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }
}
