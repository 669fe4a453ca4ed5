//! The journal: everything that was ever applied, so that it can be taken back.
//!
//! One file for each transaction, beside the contents it displaced, all outside the project. An entry is written before
//! the first file changes (`ID.open.json`) and renamed (`ID.json`) when all of them have; an open one that nobody holds
//! the lock of was left by a crash, and is finished or rolled back by [`super::apply::recover`].

use super::node::{Node, raw_option, raw_text};
use super::origin::{Assent, Mark, Origin, Step};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// One transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub id: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    #[serde(flatten)]
    pub label: Label,
    pub kind: Kind,
    pub state: State,
    pub changes: Vec<Landed>,
    /// The calls that made the changes; their marks name them by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
    /// The state in which it left each repository whose own files it changed: undo needs it to be the same still.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<Repository>,
    /// Directories that their mode shuts against us and that are opened for moments: after a crash they are shut again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shut: Vec<Shut>,
}

impl Entry {
    /// The calls that changed a path, with the contents that were kept between them.
    pub fn steps(&self, change: &Landed) -> Vec<Step> {
        let origin = |by: Option<usize>| self.origins.get(by?).cloned().map(std::sync::Arc::new);
        change.marks.iter().map(|m| Step { origin: origin(m.by), content: m.content }).collect()
    }
}

/// A repository as a transaction left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    #[serde(with = "raw_text")]
    pub path: PathBuf,
    pub state: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shut {
    #[serde(with = "raw_text")]
    pub path: PathBuf,
    pub mode: u32,
}

/// Whose doing it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Transactions of one turn share it; undo takes them back together.
    pub turn: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What the person had said.
    #[serde(default)]
    pub title: String,
    /// Who let it land.
    #[serde(default, skip_serializing_if = "Assent::is_unknown")]
    pub assent: Assent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "did")]
pub enum Kind {
    Apply,
    Undo { of: Vec<u64> },
    Redo { of: Vec<u64> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// New contents are being laid beside their targets; no target was touched.
    Staging,
    /// Targets are being changed; everything needed to finish is on disk.
    Committing,
    Done,
}

impl Label {
    /// The name of the turn that begins with the message `index` of a conversation, which went back `branches` times
    /// before: another turn may have stood at that place.
    pub fn turn_of(conversation: &str, index: usize, branches: u32) -> String {
        match branches {
            0 => format!("{conversation}#{index}"),
            _ => format!("{conversation}#{index}.{branches}"),
        }
    }

    /// The same without the branch: its place in the conversation.
    pub fn place_of(turn: &str) -> &str {
        match turn.split_once('#') {
            Some((name, rest)) => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                turn.get(..name.len() + 1 + digits).unwrap_or(turn)
            }
            None => turn,
        }
    }
}

/// One path's change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landed {
    #[serde(with = "raw_text")]
    pub path: PathBuf,
    pub before: Node,
    pub after: Node,
    /// It was written in place, because it has several names or an owner that cannot be given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_place: bool,
    /// It became another name of this file.
    #[serde(default, with = "raw_option", skip_serializing_if = "Option::is_none")]
    pub twin: Option<PathBuf>,
    /// It was another name of this file before.
    #[serde(default, with = "raw_option", skip_serializing_if = "Option::is_none")]
    pub was_twin: Option<PathBuf>,
    /// The calls that changed it, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

impl Landed {
    /// As `git status` marks it.
    pub fn letter(&self) -> char {
        match (&self.before, &self.after) {
            (Node::Absent, _) => 'A',
            (_, Node::Absent) => 'D',
            _ => 'M',
        }
    }
}

/// The transactions of one workspace.
#[derive(Clone, Debug)]
pub struct Journal {
    dir: PathBuf,
}

/// Held while files change: transactions of one workspace come one after the other, whatever process makes them.
#[derive(Debug)]
pub(super) struct Lock(#[allow(dead_code, reason = "held, not read")] File);

impl Journal {
    pub(super) fn at(dir: PathBuf) -> Journal {
        Journal { dir }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn lock(&self, wait: bool) -> io::Result<Option<Lock>> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let options = fs::OpenOptions::new().create(true).append(true).mode(0o600).clone();
        let file = options.open(self.dir.join("lock"))?;
        let how = if wait { FlockOperation::LockExclusive } else { FlockOperation::NonBlockingLockExclusive };
        match rustix::fs::flock(&file, how) {
            Ok(()) => Ok(Some(Lock(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    fn ids(&self, ending: &str) -> Vec<u64> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let id = |name: std::ffi::OsString| name.to_str()?.strip_suffix(ending)?.parse().ok();
        let mut ids: Vec<u64> = entries.filter_map(|e| id(e.file_name())).collect();
        ids.sort_unstable();
        ids
    }

    fn file(&self, id: u64, ending: &str) -> PathBuf {
        self.dir.join(format!("{id:012}{ending}"))
    }

    /// The entry that is being made, under the lock.
    pub(super) fn begin(
        &self,
        label: Label,
        kind: Kind,
        (changes, origins): (Vec<Landed>, Vec<Origin>),
        shut: Vec<Shut>,
    ) -> io::Result<Entry> {
        let last = self.ids(".json").into_iter().chain(self.ids(".open.json")).max().unwrap_or(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let entry = Entry {
            id: last + 1,
            at,
            label,
            kind,
            state: State::Staging,
            changes,
            origins,
            repositories: Vec::new(),
            shut,
        };
        self.save(&entry)?;
        Ok(entry)
    }

    /// Writes an open entry, durably.
    pub(super) fn save(&self, entry: &Entry) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
        file.write_all(&serde_json::to_vec(entry)?)?;
        file.as_file().sync_data()?;
        file.persist(self.file(entry.id, ".open.json")).map_err(|e| e.error)?;
        File::open(&self.dir)?.sync_all()
    }

    /// All of it is done.
    pub(super) fn close(&self, entry: &mut Entry) -> io::Result<()> {
        entry.state = State::Done;
        self.save(entry)?;
        fs::rename(self.file(entry.id, ".open.json"), self.file(entry.id, ".json"))?;
        File::open(&self.dir)?.sync_all()
    }

    /// None of it was done.
    pub(super) fn drop_open(&self, id: u64) -> io::Result<()> {
        fs::remove_file(self.file(id, ".open.json"))
    }

    pub(super) fn open_entries(&self) -> Vec<Entry> {
        self.ids(".open.json").into_iter().filter_map(|id| self.read(id, ".open.json")).collect()
    }

    fn read(&self, id: u64, ending: &str) -> Option<Entry> {
        serde_json::from_slice(&fs::read(self.file(id, ending)).ok()?).ok()
    }

    /// Every transaction that was completed, oldest first; one that cannot be read is left out.
    pub fn entries(&self) -> Vec<Entry> {
        self.ids(".json").into_iter().filter_map(|id| self.read(id, ".json")).collect()
    }

    pub fn entry(&self, id: u64) -> Option<Entry> {
        self.read(id, ".json")
    }

    /// What undo would take back: the transactions of the last turn that still stands.
    pub fn to_undo(&self) -> Vec<Entry> {
        let entries = self.entries();
        let undone = undone(&entries);
        let stands = |e: &&Entry| e.kind == Kind::Apply && !undone.contains(&e.id);
        let Some(last) = entries.iter().rev().find(stands) else { return Vec::new() };
        let turn = last.label.turn.clone();
        entries.iter().filter(|e| stands(e) && e.label.turn == turn).cloned().collect()
    }

    /// What redo would put back: the last undo, if nothing was applied since.
    pub fn to_redo(&self) -> Option<Entry> {
        let entries = self.entries();
        let undone = undone(&entries);
        let last = entries.iter().rev().find(|e| match &e.kind {
            Kind::Apply => true,
            Kind::Undo { of } => of.iter().any(|id| undone.contains(id)),
            Kind::Redo { .. } => false,
        });
        last.filter(|e| matches!(e.kind, Kind::Undo { .. })).cloned()
    }

    /// The turns that stand, newest first, each with its transactions.
    pub fn turns(&self) -> Vec<Vec<Entry>> {
        let entries = self.entries();
        let undone = undone(&entries);
        let mut turns: Vec<Vec<Entry>> = Vec::new();
        for entry in entries.into_iter().rev().filter(|e| e.kind == Kind::Apply && !undone.contains(&e.id)) {
            match turns.iter_mut().find(|t| t.first().is_some_and(|f| f.label.turn == entry.label.turn)) {
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
        self.dir.join("pruned").exists() || self.ids(".json").first().is_some_and(|first| *first > 1)
    }

    pub(super) fn remove(&self, id: u64) {
        drop(fs::write(self.dir.join("pruned"), ""));
        drop(fs::remove_file(self.file(id, ".json")));
    }
}

/// Transactions that an undo took back and no redo put back again.
fn undone(entries: &[Entry]) -> BTreeSet<u64> {
    let mut undone = BTreeSet::new();
    for entry in entries {
        match &entry.kind {
            Kind::Apply => {}
            Kind::Undo { of } => undone.extend(of.iter().copied()),
            Kind::Redo { of } => {
                for id in of {
                    undone.remove(id);
                }
            }
        }
    }
    undone
}

/// How much may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    pub max_bytes: u64,
    pub max_age: std::time::Duration,
}

impl Default for Keep {
    fn default() -> Keep {
        Keep { max_bytes: 2 << 30, max_age: std::time::Duration::from_secs(30 * 24 * 3600) }
    }
}

/// What pruning removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    pub entries: usize,
    pub objects: usize,
    pub bytes: u64,
}

/// Removes the oldest transactions of all workspaces below `journals` until the rest is young and small enough, and
/// every content that nothing names any more. `more` are contents still needed elsewhere: what pending views start from.
pub fn prune(
    journals: &Path,
    objects: &super::Objects,
    keep: Keep,
    more: &BTreeSet<String>,
) -> io::Result<Pruned> {
    let mut pruned = Pruned::default();
    let mut kept: Vec<(Journal, Entry)> = Vec::new();
    let mut open: Vec<Entry> = Vec::new();
    let mut locks = Vec::new();
    for dir in fs::read_dir(journals).into_iter().flatten().flatten() {
        let journal = Journal::at(dir.path());
        // A workspace in which something is being applied right now keeps everything.
        match journal.lock(false)? {
            Some(lock) => locks.push(lock),
            None => return Ok(pruned),
        }
        open.extend(journal.open_entries());
        kept.extend(journal.entries().into_iter().map(|entry| (journal.clone(), entry)));
    }
    kept.sort_by_key(|(_, entry)| entry.at);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let oldest = u64::try_from(now.saturating_sub(keep.max_age).as_millis()).unwrap_or(0);
    let sizes = objects.list();
    let total: u64 = sizes.iter().map(|(_, size)| size).sum();
    let mut size_of: std::collections::HashMap<String, u64> =
        sizes.iter().map(|(hash, size)| (hash.to_hex().to_string(), *size)).collect();
    let mut uses: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let named = |entry: &Entry| -> Vec<String> {
        let nodes = entry.changes.iter().flat_map(|c| [&c.before, &c.after]);
        let between = entry.changes.iter().flat_map(|c| &c.marks).filter_map(|m| m.content);
        nodes.filter_map(Node::hash).chain(between).map(|h| h.to_hex().to_string()).collect()
    };
    // What a crash left open is finished by its own workspace's next start.
    kept.iter().map(|(_, e)| e).chain(&open).flat_map(named).for_each(|h| *uses.entry(h).or_default() += 1);
    let unused = |uses: &std::collections::HashMap<String, usize>, h: &String| {
        uses.get(h).is_none_or(|n| *n == 0) && !more.contains(h)
    };
    let written: u64 = kept.iter().map(|(journal, entry)| journal.length(entry.id)).sum();
    let mut bytes = total + written;
    for (hash, size) in &sizes {
        let name = hash.to_hex().to_string();
        if unused(&uses, &name) {
            objects.remove(*hash);
            size_of.remove(&name);
            bytes = bytes.saturating_sub(*size);
            pruned.objects += 1;
            pruned.bytes += size;
        }
    }
    for (journal, entry) in &kept {
        if entry.at >= oldest && bytes <= keep.max_bytes {
            break;
        }
        for name in named(entry) {
            if let Some(count) = uses.get_mut(&name) {
                *count = count.saturating_sub(1);
            }
            if unused(&uses, &name)
                && let (Some(size), Ok(hash)) = (size_of.remove(&name), super::Hash::from_hex(&name))
            {
                objects.remove(hash);
                bytes = bytes.saturating_sub(size);
                pruned.objects += 1;
                pruned.bytes += size;
            }
        }
        let length = journal.length(entry.id);
        journal.remove(entry.id);
        bytes = bytes.saturating_sub(length);
        pruned.bytes += length;
        pruned.entries += 1;
    }
    objects.sweep(std::time::Duration::from_secs(3600));
    Ok(pruned)
}
