//! What the workspace had where the view differs from it, recorded when it first differed.
//!
//! The records are the index of a change set: what is not among them was not touched, so that no tree is ever walked
//! to find changes. They are appended to a file before the layer changes; a record without a change means nothing.

use super::roots::may_hold;
use crate::Hash;
use crate::files::metadata::file_stamp::{FileStamp, stamp};
use crate::files::metadata::path_state::{PathState, raw_option, raw_shared};
use crate::files::metadata::shared_state::SharedState;
use crate::files::walking::dirs_above::compare_paths;
use crate::history::damage::{DamageKind, DamagedPart, DamagedRecord, open_record};
use crate::history::origin::{ChangeOrigin, OriginMark, OriginStep, OriginTable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a line that names an origin begins.
const WHO: &str = "{\"origin\"";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BaseRecord {
    #[serde(with = "raw_shared")]
    pub path: Arc<Path>,
    pub node: SharedState,
    /// Another process changed it while the command ran: the state that the command started from is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raced: bool,
    /// A hard link to this other path.
    #[serde(default, with = "raw_option", skip_serializing_if = "Option::is_none")]
    pub twin: Option<Arc<Path>>,
    /// A file tool wrote it: all names of the file change with it. A command changes only the name that it wrote to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_tool: bool,
    /// The calls that changed it since, in their order; who they are is in lines of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<OriginMark>,
}

/// A line that says who the marks with the next number mean.
#[derive(Serialize, Deserialize)]
struct OriginRecord<O> {
    origin: O,
}

impl BaseRecord {
    pub(in crate::view) fn of(path: impl Into<Arc<Path>>, node: impl Into<SharedState>) -> BaseRecord {
        BaseRecord {
            path: path.into(),
            node: node.into(),
            raced: false,
            twin: None,
            by_tool: false,
            marks: Vec::new(),
        }
    }
}

/// A record in memory. A command may create hundreds of thousands of files, and nearly all of their records are alike:
/// there was nothing, and one call changed it. Only what differs from that takes room of its own.
#[derive(Clone, Debug)]
struct StoredBase {
    node: SharedState,
    rest: Option<Box<StoredRest>>,
    /// The origin of the only mark, which has no content.
    by: Option<u32>,
    raced: bool,
    by_tool: bool,
}

#[derive(Clone, Debug)]
struct StoredRest {
    twin: Option<Arc<Path>>,
    marks: Vec<OriginMark>,
}

impl StoredBase {
    fn of(base: BaseRecord) -> StoredBase {
        let BaseRecord { node, raced, twin, by_tool, mut marks, .. } = base;
        let by = match marks.as_slice() {
            [OriginMark { by: Some(by), content: None }] => u32::try_from(*by).ok(),
            _ => None,
        };
        if by.is_some() {
            marks = Vec::new();
        }
        marks.shrink_to_fit();
        let rest = (twin.is_some() || !marks.is_empty()).then(|| Box::new(StoredRest { twin, marks }));
        StoredBase { node, rest, by, raced, by_tool }
    }

    fn record(&self, path: &Arc<Path>) -> BaseRecord {
        let only = self.by.map(|by| OriginMark { by: usize::try_from(by).ok(), content: None });
        let more = self.rest.iter().flat_map(|rest| rest.marks.iter().cloned());
        BaseRecord {
            path: Arc::clone(path),
            node: self.node.clone(),
            raced: self.raced,
            twin: self.rest.as_ref().and_then(|rest| rest.twin.clone()),
            by_tool: self.by_tool,
            marks: only.into_iter().chain(more).collect(),
        }
    }
}

type BaseMap = BTreeMap<Arc<Path>, StoredBase>;

/// Records as they were read. A start looks at a view several times before it has one of its own.
struct LoadedRecords {
    file: PathBuf,
    version: FileStamp,
    map: Arc<BaseMap>,
    origins: OriginTable,
}

static LOADED: Mutex<Option<LoadedRecords>> = Mutex::new(None);

fn loaded() -> MutexGuard<'static, Option<LoadedRecords>> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
pub(in crate::view) struct BaseIndex {
    file: PathBuf,
    /// Shared with [`LOADED`] until it changes.
    map: Arc<BaseMap>,
    origins: OriginTable,
    unsaved: Vec<u8>,
    fault: Option<DamageKind>,
    /// The length of the file without a last line that a crash cut.
    whole: Option<u64>,
    /// The version of the file that was read.
    version: Option<FileStamp>,
}

/// A shorter file is always read again: that takes no time.
const LONG: u64 = 1 << 20;
/// The same for a view that is opened again.
const READ_ONCE: u64 = 1 << 15;

impl BaseIndex {
    /// Reads the records back. A last line that was cut by a crash had no effect yet and is dropped, unless something
    /// is in the layers that no other line speaks of.
    pub(in crate::view) fn load(file: PathBuf) -> BaseIndex {
        BaseIndex::load_with(file, &BaseMap::new())
    }

    /// The same, with paths that are the same values as those in `known`: lists of changes share them.
    fn load_with(file: PathBuf, known: &BaseMap) -> BaseIndex {
        let mut bases = BaseIndex {
            file,
            map: Arc::default(),
            origins: OriginTable::default(),
            unsaved: Vec::new(),
            fault: None,
            whole: None,
            version: None,
        };
        bases.version = stamp(&bases.file);
        if let Some(read) = &*loaded()
            && read.file == bases.file
            && bases.version == Some(read.version)
        {
            (bases.map, bases.origins) = (Arc::clone(&read.map), read.origins.clone());
            return bases;
        }
        let shelf = bases.file.parent().unwrap_or(Path::new("/"));
        match open_record(&bases.file) {
            Ok(file) => {
                // Records come in the order of their paths, which would leave each node of a map half empty. Built at
                // once, it is packed; of several records of one path it has the last.
                let mut records = Vec::new();
                bases.read(file, known, &mut records);
                records.sort_by(|(a, _), (b, _)| compare_paths(a, b));
                bases.map = Arc::new(records.into_iter().collect());
                bases.remember();
            }
            Err(fault @ (DamageKind::Missing | DamageKind::Empty)) => {
                bases.fault = may_hold(shelf).then_some(fault);
            }
            Err(fault) => bases.fault = Some(fault),
        }
        bases
    }

    /// For the next view of the same records, if they are whole.
    fn remember(&self) {
        let version = self.version.filter(|version| version.1 > READ_ONCE);
        if let (Some(version), None, None) = (version, &self.fault, self.whole) {
            let (file, map, origins) = (self.file.clone(), Arc::clone(&self.map), self.origins.clone());
            *loaded() = Some(LoadedRecords { file, version, map, origins });
        }
    }

    /// The records, to be changed: by nobody else at the same time, so that they are not copied.
    fn map_mut(&mut self) -> &mut BaseMap {
        loaded().take_if(|read| read.file == self.file);
        Arc::make_mut(&mut self.map)
    }

    /// Reads line by line: the file of many changes is larger than the records that it is read into.
    fn read(&mut self, file: File, known: &BaseMap, records: &mut Vec<(Arc<Path>, StoredBase)>) {
        let mut file = io::BufReader::with_capacity(64 << 10, file);
        let (mut line, mut end) = (Vec::new(), 0);
        for number in 1.. {
            line.clear();
            match file.read_until(b'\n', &mut line) {
                Err(e) => {
                    self.fault.get_or_insert(DamageKind::of_io(&e));
                    return;
                }
                Ok(0) => return,
                Ok(_) if line.last() != Some(&b'\n') => break,
                Ok(length) => end += length,
            }
            line.pop();
            if !line.is_empty() {
                records.extend(self.read_line(number, &line, known));
            }
        }
        // A crash cut the last line.
        self.whole = u64::try_from(end).ok();
        let shelf = self.file.parent().unwrap_or(Path::new("/"));
        // A crash cuts a line before the layer changes, so that nothing is there for it.
        if end == 0 && may_hold(shelf) {
            self.fault.get_or_insert(DamageKind::Malformed { line: 1, why: "the line has no end".into() });
        }
    }

    fn read_line(&mut self, number: usize, line: &[u8], known: &BaseMap) -> Option<(Arc<Path>, StoredBase)> {
        match (serde_json::from_slice::<BaseRecord>(line), line.starts_with(WHO.as_bytes())) {
            (Ok(mut base), _) => {
                // While a record is loaded again, the one before it is still in memory: both share what is equal.
                if let Some((path, stored)) = known.get_key_value(&base.path) {
                    base.path = Arc::clone(path);
                    base.node = SharedState::shared(&stored.node, base.node);
                }
                return Some((Arc::clone(&base.path), StoredBase::of(base)));
            }
            (Err(_), true) => {
                let who = serde_json::from_slice::<OriginRecord<ChangeOrigin>>(line);
                self.origins.push(who.map(|w| w.origin).unwrap_or_default());
            }
            (Err(e), false) => {
                let fault = match DamageKind::of_json(&e) {
                    DamageKind::Malformed { why, .. } => DamageKind::Malformed { line: number, why },
                    other => other,
                };
                self.fault.get_or_insert(fault);
            }
        }
        None
    }

    /// What is wrong with the record.
    pub(in crate::view) fn damage(&self) -> Option<DamagedRecord> {
        self.fault.clone().map(|fault| self.because(fault))
    }

    /// True when the last line has no end.
    pub(in crate::view) fn is_torn(&self) -> bool {
        self.whole.is_some()
    }

    /// A record that is made again next to layers that are there already.
    pub(in crate::view) fn start(&mut self) {
        self.fault = None;
    }

    fn because(&self, fault: DamageKind) -> DamagedRecord {
        DamagedRecord { part: DamagedPart::Pending, path: self.file.clone(), fault }
    }

    /// Names a file in the layers over `roots` that no record speaks of: lines are missing at the end of the file.
    /// Walks the layers, so it is not for every start.
    pub(in crate::view) fn unrecorded(&self, roots: &[PathBuf]) -> Option<DamagedRecord> {
        let shelf = self.file.parent()?;
        for (n, root) in roots.iter().enumerate() {
            match first_content(&shelf.join(n.to_string()), &|rel| !self.contains(&root.join(rel))) {
                Err((path, e)) => {
                    let fault = DamageKind::of_io(&e);
                    return Some(DamagedRecord { part: DamagedPart::Pending, path, fault });
                }
                Ok(Some(rel)) => return Some(self.because(DamageKind::Incomplete(root.join(rel)))),
                Ok(None) => {}
            }
        }
        None
    }

    pub(in crate::view) fn load_again(&mut self) {
        let is_as_read = self.fault.is_none() && self.whole.is_none() && self.unsaved.is_empty();
        let is_long = |version: &FileStamp| version.1 > LONG;
        // With hundreds of thousands of records, both forms of them would be in memory for a moment.
        if is_as_read && self.version.filter(is_long).is_some_and(|read| stamp(&self.file) == Some(read)) {
            return;
        }
        let known = std::mem::take(&mut self.map);
        *self = BaseIndex::load_with(std::mem::take(&mut self.file), &known);
    }

    pub(in crate::view) fn get(&self, path: &Path) -> Option<BaseRecord> {
        self.map.get_key_value(path).map(|(path, stored)| stored.record(path))
    }

    pub(in crate::view) fn contains(&self, path: &Path) -> bool {
        self.map.contains_key(path)
    }

    /// In the order of their paths.
    pub(in crate::view) fn iter(&self) -> impl Iterator<Item = BaseRecord> {
        self.map.iter().map(|(path, stored)| stored.record(path))
    }

    pub(in crate::view) fn paths(&self) -> impl Iterator<Item = &Arc<Path>> {
        self.map.keys()
    }

    pub(in crate::view) fn len(&self) -> usize {
        self.map.len()
    }

    /// At most `most` records, from the first one after the path `after`.
    pub(in crate::view) fn next(&self, after: Option<&Path>, most: usize) -> Vec<BaseRecord> {
        use std::ops::Bound::{Excluded, Unbounded};
        let from = after.map_or(Unbounded, Excluded);
        let rest = self.map.range::<Path, _>((from, Unbounded)).take(most);
        rest.map(|(path, stored)| stored.record(path)).collect()
    }

    fn insert(&mut self, base: BaseRecord) {
        let path = Arc::clone(&base.path);
        self.map_mut().insert(path, StoredBase::of(base));
    }

    pub(in crate::view) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Records the state of a path, unless it was recorded before.
    pub(in crate::view) fn record(&mut self, base: BaseRecord) {
        if !self.contains(&base.path) {
            self.set(base);
        }
    }

    pub(in crate::view) fn set(&mut self, base: BaseRecord) {
        self.push(&base);
        self.insert(base);
    }

    /// The calls that changed a path since its base.
    pub(in crate::view) fn steps(&self, base: &BaseRecord) -> Arc<[OriginStep]> {
        self.origins.steps(&base.marks).into()
    }

    /// Takes over a record of `other`, with the origins that it names.
    pub(in crate::view) fn take(&mut self, base: BaseRecord, other: &BaseIndex) {
        let number = |mark: &OriginMark| OriginMark {
            by: self.number(other.origins.get(mark.by).as_ref()),
            ..mark.clone()
        };
        let marks = base.marks.iter().map(number).collect();
        self.set(BaseRecord { marks, ..base });
    }

    /// The marks of a path that `origin` is the first to change.
    pub(in crate::view) fn first(&mut self, origin: Option<&Arc<ChangeOrigin>>) -> Vec<OriginMark> {
        let by = self.number(origin);
        by.map(|by| OriginMark { by: Some(by), content: None }).into_iter().collect()
    }

    /// Records that `origin` changes a path that has a record and whose present state is `before`. When another call
    /// changed the path earlier, `kept` is called to get that content.
    pub(in crate::view) fn again(
        &mut self,
        path: &Path,
        origin: Option<&Arc<ChangeOrigin>>,
        before: &PathState,
        kept: impl FnOnce() -> Option<Hash>,
    ) {
        let Some(by) = self.number(origin) else { return };
        let Some(mut base) = self.get(path) else { return };
        if base.marks.last().is_some_and(|last| last.by == Some(by)) {
            return;
        }
        match base.marks.last_mut() {
            Some(last) => last.content = kept(),
            // The path has a record and was not changed: no call changed it before.
            None if *before == base.node => {}
            None => base.marks.push(OriginMark { by: None, content: kept() }),
        }
        base.marks.push(OriginMark { by: Some(by), content: None });
        self.set(base);
    }

    fn number(&mut self, origin: Option<&Arc<ChangeOrigin>>) -> Option<usize> {
        let origin = origin?;
        let (number, new) = self.origins.number(origin);
        if new {
            self.push(&OriginRecord { origin: &**origin });
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
    pub(in crate::view) fn save(&mut self) -> io::Result<()> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        if let Some(parent) = self.file.parent() {
            placet_text::private::make_dir(parent)?;
        }
        let mut file: File = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.file)?;
        if let Some(whole) = self.whole.take() {
            file.set_len(whole)?;
        }
        file.write_all(&self.unsaved)?;
        // A large buffer is not kept for the few records that follow.
        self.unsaved = Vec::new();
        Ok(())
    }

    pub(in crate::view) fn wipe(&mut self) -> io::Result<()> {
        self.map_mut().clear();
        self.origins.clear();
        self.unsaved.clear();
        (self.fault, self.whole, self.version) = (None, None, None);
        match std::fs::remove_file(&self.file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }
}

/// The first file or link in a layer of which `is_wanted` is true, as a path from its root. Directories may be there for
/// what is in them alone, and what was removed below a removed directory needs no mark of its own.
fn first_content(
    layer: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Result<Option<PathBuf>, (PathBuf, io::Error)> {
    let mut todo = vec![layer.to_path_buf()];
    while let Some(dir) = todo.pop() {
        let entries = match std::fs::read_dir(&dir) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            other => other.map_err(|e| (dir.clone(), e))?,
        };
        for entry in entries {
            let entry = entry.map_err(|e| (dir.clone(), e))?;
            let kind = entry.file_type().map_err(|e| (entry.path(), e))?;
            if kind.is_dir() {
                todo.push(entry.path());
            } else if (kind.is_file() || kind.is_symlink())
                && let Ok(rel) = entry.path().strip_prefix(layer)
                && is_wanted(rel)
            {
                return Ok(Some(rel.to_path_buf()));
            }
        }
    }
    Ok(None)
}
