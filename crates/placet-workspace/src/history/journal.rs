//! The journal: everything that was ever applied, so that it can be undone.
//!
//! One file for each transaction, next to the contents it displaced, all outside the project. An entry is written
//! before the first file changes (`ID.open.json`) and renamed (`ID.json`) after the last. An open entry whose lock no
//! process has was left by a crash, and [`super::apply::recover`] completes it or rolls it back.

mod applied_changes;
mod check;
mod lock;
mod prune;

pub use super::label::{PassedCheck, TransactionLabel};

pub use prune::{PruneLimits, PruneReport, PruneRoots, prune};

use super::damage::{DamageKind, DamagedPart, DamagedRecord, list_directories, list_records, open_record};
use super::file_rename::FileRename;
use super::origin::{ChangeOrigin, OriginMarks, OriginStep};
use crate::files::metadata::path_state::{PathState, raw_option, raw_shared, raw_text};
use crate::files::metadata::shared_state::SharedState;
use crate::repository::GitEvent;
use placet_git::GitName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::NamedTempFile;

/// An entry of many changes is larger than the values that it is read into: it is read and written piece by piece.
const BUFFER: usize = 64 << 10;
/// A shorter one is read in one go, which is faster.
const WHOLE: u64 = 4 << 20;

/// One transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JournalEntry {
    pub id: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    #[serde(flatten)]
    pub label: TransactionLabel,
    pub kind: TransactionKind,
    pub state: TransactionState,
    /// The common part of the names of its temporary files, which no other program can guess.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub names: String,
    #[serde(deserialize_with = "applied_changes::read")]
    pub changes: Vec<AppliedChange>,
    /// The files among them that were renamed and changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renames: Vec<FileRename>,
    /// The calls that made the changes; their marks name them by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<ChangeOrigin>,
    /// The repositories whose own files it changed as files: those that were removed as a whole, and files by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<JournaledRepository>,
    /// What git changed in repositories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub git: Vec<AppliedRepository>,
    /// Directories whose mode keeps placet out, and that placet opens for a moment: after a crash their mode is
    /// restored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shut: Vec<RestrictedDir>,
    /// What could not be written down after all of it had changed, a sentence each; known only to who made it.
    #[serde(skip)]
    pub shortfalls: Vec<String>,
}

impl JournalEntry {
    /// True where something changed at or below `path`.
    pub fn touches(&self, path: &Path) -> bool {
        let files = self.changes.iter().map(|change| &*change.path);
        files.chain(self.git.iter().map(|one| one.path.as_path())).any(|changed| changed.starts_with(path))
    }

    /// True where a person who names `named` means the change at `path`: the name of a repository means the files of its
    /// operation, too.
    pub fn is_meant_by(&self, named: &Path, path: &Path) -> bool {
        let mut around = self.git.iter().filter(|one| one.path.starts_with(named));
        path.starts_with(named) || around.any(|one| one.is_of_operation(path))
    }

    /// Gives its temporary files other names.
    pub(crate) fn rename(&mut self) {
        // The standard library seeds each of these from the system's random source.
        self.names = format!("{:016x}", RandomState::new().build_hasher().finish());
    }

    /// These changes, by index, were taken back: the entry is of the others only. The undo of a part of a transaction names
    /// a path of it, and counts for the paths of its changes.
    pub(crate) fn leave_out(&mut self, back: &BTreeSet<usize>) {
        let mut index = 0..;
        self.changes.retain(|_| index.next().is_some_and(|index| !back.contains(&index)));
        let changes = &self.changes;
        let is_left = |path: &Path| changes.binary_search_by(|c| (*c.path).cmp(path)).is_ok();
        self.renames.retain(|one| is_left(&one.from) && is_left(&one.to));
        if let (TransactionKind::Undo { part: part @ None, .. }, true) = (&mut self.kind, self.git.is_empty())
        {
            *part = changes.first().map(|first| first.path.to_path_buf());
        }
    }

    /// The turn of a conversation in which it was applied; where that was outside of a turn, the last turn that made a
    /// part of it.
    pub fn turn(&self) -> Option<&str> {
        let made = || self.origins.iter().filter(|o| TransactionLabel::is_turn(&o.turn)).max_by_key(|o| o.at);
        let turn = match TransactionLabel::is_turn(&self.label.turn) {
            true => &self.label.turn,
            false => &made()?.turn,
        };
        Some(TransactionLabel::whole_turn(turn))
    }

    /// The calls that changed a path, with the contents that were stored between them.
    pub fn steps(&self, change: &AppliedChange) -> Vec<OriginStep> {
        let origin = |by: Option<usize>| self.origins.get(by?).cloned().map(std::sync::Arc::new);
        change.marks.iter().map(|m| OriginStep { origin: origin(m.by), content: m.content }).collect()
    }
}

/// A repository, by its place. Earlier versions had its state, too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournaledRepository {
    #[serde(with = "raw_text")]
    pub path: PathBuf,
    pub state: String,
}

/// A repository that git changed. Its own journal, below the journal of the workspace, has what moved and the objects that
/// an undo needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedRepository {
    #[serde(with = "raw_text")]
    pub path: PathBuf,
    pub kind: AppliedRepositoryKind,
    /// The name of its own journal.
    pub record: String,
    /// Next to its place, where a repository is that comes or goes, until everything is done.
    #[serde(with = "raw_text")]
    pub staged: PathBuf,
    /// What happened to it; of an undo, what was undone.
    pub events: Vec<GitEvent>,
    /// The files that an operation in progress made: they go back with the repository, or nothing of both does.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) operation: BTreeSet<GitName>,
}

impl AppliedRepository {
    /// True for the repository itself, where it has an operation, and for the files of that.
    pub(crate) fn is_of_operation(&self, path: &Path) -> bool {
        !self.operation.is_empty() && (path == self.path || self.operation.contains(&GitName::from(path)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppliedRepositoryKind {
    Changed,
    Created,
    Removed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestrictedDir {
    #[serde(with = "raw_text")]
    pub path: PathBuf,
    pub mode: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "did")]
pub enum TransactionKind {
    Apply,
    Undo {
        of: Vec<u64>,
        /// Only what they did at and below this path; `None`: all of it.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "raw_option")]
        part: Option<PathBuf>,
    },
    Redo {
        of: Vec<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none", with = "raw_option")]
        part: Option<PathBuf>,
    },
}

impl TransactionKind {
    /// True for an undo and a redo: both restore what was there before.
    pub(crate) fn restores(&self) -> bool {
        !matches!(self, TransactionKind::Apply)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransactionState {
    /// New contents are being laid next to their targets; no target was touched.
    Staging,
    /// Targets are being changed; everything needed to finish is on disk.
    Committing,
    Done,
}

/// One path's change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedChange {
    #[serde(with = "raw_shared")]
    pub path: Arc<Path>,
    pub before: SharedState,
    pub after: SharedState,
    /// The file was written in place, because it has several names or an owner that cannot be given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_place: bool,
    /// The path became another name of this file.
    #[serde(default, with = "raw_option", skip_serializing_if = "Option::is_none")]
    pub twin: Option<Arc<Path>>,
    /// The path was another name of this file before.
    #[serde(default, with = "raw_option", skip_serializing_if = "Option::is_none")]
    pub was_twin: Option<Arc<Path>>,
    /// The calls that changed it, in their order.
    #[serde(default, skip_serializing_if = "OriginMarks::is_none")]
    pub marks: OriginMarks,
}

impl AppliedChange {
    /// The path, and what was and is there.
    pub(crate) fn states(&self) -> (&Path, &PathState, &PathState) {
        (&self.path, &self.before, &self.after)
    }
}

/// The transactions of one workspace.
#[derive(Clone, Debug)]
pub struct Journal {
    dir: PathBuf,
}

/// The journals in `dir`, and the damage of the others.
pub fn journals_in(dir: &Path) -> (Vec<Journal>, Vec<DamagedRecord>) {
    let (dirs, damage) = list_directories(dir, DamagedPart::Journal);
    (dirs.into_iter().map(Journal::at).collect(), damage)
}

impl Journal {
    pub fn at(dir: PathBuf) -> Journal {
        Journal { dir }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the journal of a repository is.
    pub(crate) fn repository_record(&self, applied: &AppliedRepository) -> PathBuf {
        self.dir.join("git").join(&applied.record)
    }

    /// The names in its directory, or why they are not known.
    fn names(&self) -> Result<Vec<String>, DamagedRecord> {
        let damaged = |fault| DamagedRecord { part: DamagedPart::Journal, path: self.dir.clone(), fault };
        let entries = list_records(&self.dir).map_err(damaged)?;
        Ok(entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    pub(super) fn ids(&self, ending: &str) -> Result<Vec<u64>, DamagedRecord> {
        let names = self.names()?;
        let id = |name: &String| name.strip_suffix(ending)?.parse().ok();
        let mut ids: Vec<u64> = names.iter().filter_map(id).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Numbers of completed transactions; none where the journal cannot be listed, which [`Journal::damage`] says.
    fn done_ids(&self) -> Vec<u64> {
        self.ids(".json").unwrap_or_default()
    }

    pub(super) fn file(&self, id: u64, ending: &str) -> PathBuf {
        self.dir.join(format!("{id:012}{ending}"))
    }

    /// The entry that is being made, under the lock.
    pub(crate) fn begin(
        &self,
        label: TransactionLabel,
        kind: TransactionKind,
        (changes, origins): (Vec<AppliedChange>, Vec<ChangeOrigin>),
        shut: Vec<RestrictedDir>,
    ) -> io::Result<JournalEntry> {
        let last = self.last_number()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let mut entry = JournalEntry {
            id: last.saturating_add(1),
            at,
            label,
            kind,
            state: TransactionState::Staging,
            names: String::new(),
            changes,
            renames: Vec::new(),
            origins,
            repositories: Vec::new(),
            git: Vec::new(),
            shut,
            shortfalls: Vec::new(),
        };
        entry.rename();
        self.save(&entry)?;
        Ok(entry)
    }

    /// Writes an open entry, durably.
    pub(crate) fn save(&self, entry: &JournalEntry) -> io::Result<()> {
        let record = self.write(entry)?;
        record.as_file().sync_data()?;
        self.put(entry.id, record)
    }

    /// Writes an open entry without its name: it counts, and lasts, once it is synced and [`Journal::put`].
    pub(crate) fn write(&self, entry: &JournalEntry) -> io::Result<NamedTempFile> {
        let mut record = NamedTempFile::new_in(&self.dir)?;
        let mut out = io::BufWriter::with_capacity(BUFFER, record.as_file_mut());
        serde_json::to_writer(&mut out, entry)?;
        out.flush()?;
        drop(out);
        Ok(record)
    }

    /// A synced record is the open entry from now on, durably.
    pub(crate) fn put(&self, id: u64, record: NamedTempFile) -> io::Result<()> {
        record.persist(self.file(id, ".open.json")).map_err(|e| e.error)?;
        // The directory as well: otherwise the name may be missing after a power failure.
        File::open(&self.dir)?.sync_all()
    }

    /// All of it is done.
    pub(crate) fn close(&self, entry: &mut JournalEntry) -> io::Result<()> {
        entry.state = TransactionState::Done;
        crate::apply::fault("close")?;
        // The open entry has all that undo needs, and was stored durably before the first file changed.
        fs::rename(self.file(entry.id, ".open.json"), self.file(entry.id, ".json"))?;
        // If the machine fails before this is on the disk, the entry is open again, and the next start closes it: it finds
        // each path as it was to be. Of a repository git would have to be asked.
        if !entry.git.is_empty() {
            drop(File::open(&self.dir).and_then(|dir| dir.sync_all()));
        }
        self.note_last(entry.id);
        Ok(())
    }

    /// None of it was done.
    pub(crate) fn drop_open(&self, id: u64) -> io::Result<()> {
        // Another process may have made later ones since the crash: the number is not used again.
        if self.ids(".json")?.last().is_some_and(|last| *last > id) {
            self.note_gone(id, id)?;
        }
        fs::remove_file(self.file(id, ".open.json"))
    }

    /// What an interrupted process left, without entries that are damaged.
    pub(crate) fn open_entries(&self) -> Result<Vec<JournalEntry>, DamagedRecord> {
        let ids = self.ids(".open.json")?.into_iter();
        Ok(ids.filter_map(|id| self.read(id, ".open.json").ok()).collect())
    }

    /// True when nothing was interrupted, as far as placet can find out: a damaged open entry counts as interrupted,
    /// too.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.ids(".open.json").is_ok_and(|ids| ids.is_empty())
    }

    fn read(&self, id: u64, ending: &str) -> Result<JournalEntry, DamageKind> {
        let mut file = open_record(&self.file(id, ending))?;
        let length = file.metadata().map_err(|e| DamageKind::of_io(&e))?.len();
        let entry = if length > WHOLE {
            serde_json::from_reader(io::BufReader::with_capacity(BUFFER, file))
        } else {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(|e| DamageKind::of_io(&e))?;
            serde_json::from_slice(&bytes)
        };
        let mut entry: JournalEntry = entry.map_err(|e| DamageKind::of_json(&e))?;
        if ending == ".json" {
            // To close an entry changes its name only.
            entry.state = TransactionState::Done;
        }
        if entry.id == id { Ok(entry) } else { Err(DamageKind::OtherNumber(entry.id)) }
    }

    /// Every completed transaction that can be read, oldest first. [`Journal::damage`] has the others.
    pub fn entries(&self) -> Vec<JournalEntry> {
        self.done_ids().into_iter().filter_map(|id| self.read(id, ".json").ok()).collect()
    }

    /// The transactions of a turn that is running or has just ended, oldest first.
    pub fn entries_of(&self, turn: &str) -> Vec<JournalEntry> {
        /// Other turns write here as well, but fewer than this many transactions between two of one turn.
        const OTHERS: usize = 500;
        let (mut found, mut others) = (Vec::new(), 0);
        for entry in self.done_ids().into_iter().rev().filter_map(|id| self.read(id, ".json").ok()) {
            if entry.label.turn == turn {
                found.push(entry);
                others = 0;
            } else {
                others += 1;
                if others > OTHERS {
                    break;
                }
            }
        }
        found.reverse();
        found
    }

    /// A completed transaction. `None` when there is none of this number.
    pub fn entry(&self, id: u64) -> Result<Option<JournalEntry>, DamagedRecord> {
        match self.read(id, ".json") {
            Ok(entry) => Ok(Some(entry)),
            Err(DamageKind::Missing) => {
                let missing =
                    |d: &DamagedRecord| matches!(d.part, DamagedPart::Entries(a, b) if (a..=b).contains(&id));
                self.missing().into_iter().find(missing).map_or(Ok(None), Err)
            }
            Err(fault) => {
                Err(DamagedRecord { part: DamagedPart::Entry(id), path: self.file(id, ".json"), fault })
            }
        }
    }

    /// The newest completed transaction, if it can be read.
    pub fn newest(&self) -> Option<JournalEntry> {
        self.read(*self.done_ids().last()?, ".json").ok()
    }

    /// What undo would revert: the transactions of the last turn that is still applied.
    pub fn to_undo(&self) -> Vec<JournalEntry> {
        self.turns().into_iter().next().unwrap_or_default()
    }

    /// What redo would put back: the last undo, if nothing was applied since.
    pub fn to_redo(&self) -> Option<JournalEntry> {
        let entries = self.entries();
        let undone = UndoneChanges::of(&entries);
        let last = entries.into_iter().rev().find(|e| match &e.kind {
            TransactionKind::Apply => true,
            TransactionKind::Undo { of, part: None } => of.iter().any(|id| undone.whole.contains(id)),
            TransactionKind::Undo { part: Some(_), .. } => undone.parts.iter().any(|undo| undo.id == e.id),
            TransactionKind::Redo { .. } => false,
        });
        last.filter(|e| matches!(e.kind, TransactionKind::Undo { .. }))
    }

    /// The turns that are still applied, newest first, each with its transactions. Changes that an undo of a path
    /// reverted are left out.
    pub fn turns(&self) -> Vec<Vec<JournalEntry>> {
        let entries = self.entries();
        let undone = UndoneChanges::of(&entries);
        let mut turns: Vec<Vec<JournalEntry>> = Vec::new();
        for entry in entries.into_iter().rev().filter_map(|entry| undone.standing(entry)) {
            let same = |turn: &Vec<JournalEntry>| {
                turn.first().is_some_and(|first| first.label.turn == entry.label.turn)
            };
            let name = &entry.label.turn;
            let newer = turns.len();
            // Only the turns of a conversation have names that are used once. What was applied outside of a turn
            // belongs together as long as nothing else was applied in between; earlier versions gave single calls no
            // name.
            let at = turns.iter().rposition(same);
            let at = at.filter(|at| TransactionLabel::is_turn(name) || (!name.is_empty() && at + 1 == newer));
            match at.and_then(|at| turns.get_mut(at)) {
                Some(turn) => turn.insert(0, entry),
                None => turns.push(vec![entry]),
            }
        }
        turns
    }

    /// The bytes an entry itself takes.
    fn length(&self, id: u64) -> u64 {
        fs::metadata(self.file(id, ".json")).map_or(0, |meta| meta.len())
    }

    /// True when transactions were removed: what no entry accounts for may have been theirs.
    pub fn was_pruned(&self) -> bool {
        // If the file system gives no answer, assume that entries were pruned.
        self.dir.join("pruned").try_exists().unwrap_or(true)
    }
}

/// What undos reverted and no redo put back.
#[derive(Default)]
struct UndoneChanges {
    whole: BTreeSet<u64>,
    /// The undos of a path, in their order.
    parts: Vec<UndonePart>,
}

/// What an undo of a path reverted.
struct UndonePart {
    id: u64,
    of: Vec<u64>,
    part: PathBuf,
    /// A repository's own files are restored together, also those outside the path.
    paths: BTreeSet<Arc<Path>>,
}

impl UndoneChanges {
    fn of(entries: &[JournalEntry]) -> UndoneChanges {
        let mut undone = UndoneChanges::default();
        for entry in entries {
            match &entry.kind {
                TransactionKind::Apply => {}
                TransactionKind::Undo { of, part: None } => undone.whole.extend(of.iter().copied()),
                TransactionKind::Undo { of, part: Some(part) } => undone.parts.push(UndonePart {
                    id: entry.id,
                    of: of.clone(),
                    part: part.clone(),
                    paths: entry.changes.iter().map(|c| Arc::clone(&c.path)).collect(),
                }),
                TransactionKind::Redo { of, part: None } => undone.whole.retain(|id| !of.contains(id)),
                TransactionKind::Redo { of, part: redone } => {
                    let same = |undo: &UndonePart| undo.of == *of && Some(&undo.part) == redone.as_ref();
                    if let Some(at) = undone.parts.iter().rposition(same) {
                        undone.parts.remove(at);
                    }
                }
            }
        }
        undone
    }

    /// The part of an apply that no undo has reverted.
    fn standing(&self, mut entry: JournalEntry) -> Option<JournalEntry> {
        if entry.kind != TransactionKind::Apply || self.whole.contains(&entry.id) {
            return None;
        }
        let was_empty = entry.changes.is_empty();
        for undo in self.parts.iter().filter(|undo| undo.of.contains(&entry.id)) {
            entry.changes.retain(|c| !c.path.starts_with(&undo.part) && !undo.paths.contains(&c.path));
        }
        (was_empty || !entry.changes.is_empty()).then_some(entry)
    }
}
