//! Typed text that was not sent, stored in a small file: it survives the end of this process.
//!
//! There is one file for each running shell, with a lock that ends with the process: a shell that finds the file
//! unlocked takes its content. A line that is being typed is written a moment after the last key, by a thread of its
//! own; queued lines are written at once. The file is not synced to the disk: it survives the process, and not a power
//! failure.

use placet_text::text::regular_file;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long to wait after typing before the line is written.
const MOMENT: Duration = Duration::from_millis(100);

/// Lines that were queued, oldest first, and the one that was being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputDraft {
    pub queued: Vec<String>,
    pub typed: String,
}

impl InputDraft {
    /// All of it as one text for a prompt.
    pub fn joined(mut self) -> String {
        self.queued.push(self.typed);
        self.queued.retain(|line| !line.is_empty());
        self.queued.join("\n")
    }
}

/// The largest stored draft that is read, in bytes.
const LARGEST: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct DraftRecord {
    cwd: String,
    #[serde(flatten)]
    draft: InputDraft,
}

/// The draft of this process; when this value is dropped, its file stays only if something is still typed or queued.
pub struct DraftFile {
    shared: Arc<DraftInner>,
    writer: Option<JoinHandle<()>>,
    lock_path: PathBuf,
    _lock: File,
}

struct DraftInner {
    path: PathBuf,
    cwd: String,
    state: Mutex<DraftState>,
    changed: Condvar,
}

#[derive(Default)]
struct DraftState {
    draft: InputDraft,
    dirty: bool,
    closed: bool,
}

impl DraftFile {
    /// Begins in the state directory `dir` for a shell in `cwd`; also returns what ended shells of that directory left.
    pub fn open(dir: &Path, cwd: &Path) -> std::io::Result<(DraftFile, InputDraft)> {
        let dir = dir.join("drafts");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        let cwd = cwd.to_string_lossy().into_owned();
        let (lock, lock_path) = own_lock(&dir)?;
        let (left, files) = left_behind(&dir, &cwd, &lock_path);
        let shared = Arc::new(DraftInner {
            path: lock_path.with_extension("json"),
            cwd,
            state: Mutex::new(DraftState { draft: left.clone(), ..DraftState::default() }),
            changed: Condvar::new(),
        });
        // Written to this process's file before the other files are removed: after a kill in between, lines may appear
        // twice, but none is lost.
        if left != InputDraft::default() {
            shared.write(&left)?;
        }
        for file in files {
            drop(fs::remove_file(file));
        }
        let writer = Arc::clone(&shared);
        let writer = std::thread::Builder::new().name("drafts".into()).spawn(move || writer.listen())?;
        Ok((DraftFile { shared, writer: Some(writer), lock_path, _lock: lock }, left))
    }

    /// The line as it is now.
    pub fn typed(&self, line: &str) {
        let mut state = self.shared.state();
        if state.draft.typed != line {
            state.draft.typed = line.into();
            state.dirty = true;
            // The writer would wake only to wait for the lock.
            drop(state);
            self.shared.changed.notify_one();
        }
    }

    /// The line and the queue as they are now; a queue that changed is written before this returns.
    pub fn keep(&self, draft: InputDraft) {
        let mut state = self.shared.state();
        if state.draft.queued == draft.queued {
            // `typed` takes the lock itself.
            drop(state);
            return self.typed(&draft.typed);
        }
        state.draft = draft;
        state.dirty = false;
        self.shared.write_or_tell(&state.draft);
    }

    /// The typed line has been sent: it is not a draft any more.
    pub fn sent(&self) {
        let mut state = self.shared.state();
        state.draft.typed.clear();
        state.dirty = false;
        self.shared.write_or_tell(&state.draft);
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.changed.notify_one();
        if let Some(writer) = self.writer.take() {
            drop(writer.join());
        }
        // What is left is for the next shell of this directory. Nothing is left after Ctrl-D, which needs an empty line.
        self.shared.write_or_tell(&self.shared.state().draft);
        drop(fs::remove_file(&self.lock_path));
    }
}

impl DraftInner {
    fn state(&self) -> MutexGuard<'_, DraftState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self) {
        let mut state = self.state();
        while !state.closed {
            if !state.dirty {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            // Not locked during the pause: `typed` must not wait for it.
            std::thread::sleep(MOMENT);
            state = self.state();
            if std::mem::take(&mut state.dirty) {
                self.write_or_tell(&state.draft);
            }
        }
    }

    /// A draft that cannot be stored must not stop the person from typing.
    fn write_or_tell(&self, draft: &InputDraft) {
        if let Err(e) = self.write(draft) {
            tracing::warn!("the draft was not saved: {e}");
        }
    }

    /// In one step, so that a kill leaves the old draft or the new one.
    fn write(&self, draft: &InputDraft) -> std::io::Result<()> {
        if *draft == InputDraft::default() {
            drop(fs::remove_file(&self.path));
            return Ok(());
        }
        let saved = DraftRecord { cwd: self.cwd.clone(), draft: draft.clone() };
        let part = self.path.with_extension("part");
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        file.write_all(&serde_json::to_vec(&saved)?)?;
        fs::rename(part, &self.path)
    }
}

/// A lock file that no other process has locked.
fn own_lock(dir: &Path) -> std::io::Result<(File, PathBuf)> {
    let mut number = 0;
    loop {
        let path = dir.join(format!("{}-{number}.lock", std::process::id()));
        let file = lock_file(&path)?;
        // With a draft next to it, the lock is that of an ended process with the same number: `left_behind`
        // reads that draft.
        if file.try_lock().is_ok() && !path.with_extension("json").exists() {
            return Ok((file, path));
        }
        number += 1;
    }
}

fn lock_file(path: &Path) -> std::io::Result<File> {
    fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// What ended shells of `cwd` left, oldest first, and their files.
fn left_behind(dir: &Path, cwd: &str, own: &Path) -> (InputDraft, Vec<PathBuf>) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for path in entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let lock = path.with_extension("lock");
        let (Ok(text), true) = (regular_file::read(&path, LARGEST), lock != own) else { continue };
        let Ok(saved) = serde_json::from_slice::<DraftRecord>(&text) else { continue };
        let ended = lock_file(&lock).is_ok_and(|file| file.try_lock().is_ok());
        if saved.cwd == cwd && ended {
            let at = fs::metadata(&path).and_then(|m| m.modified()).ok();
            found.push((at, saved.draft, [path, lock]));
        }
    }
    found.sort_by_key(|(at, ..)| *at);
    let (mut left, mut files) = (InputDraft::default(), Vec::new());
    for (_, draft, paths) in found {
        // Of several lines that were being typed, only the last stays the typed line.
        let before = std::mem::replace(&mut left.typed, draft.typed);
        left.queued.extend((!before.is_empty()).then_some(before));
        left.queued.extend(draft.queued);
        files.extend(paths);
    }
    (left, files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(queued: &[&str], typed: &str) -> InputDraft {
        InputDraft { queued: queued.iter().map(ToString::to_string).collect(), typed: typed.into() }
    }

    /// As a kill leaves it: the lock is gone, the file stays.
    fn kill(drafts: DraftFile) {
        drop(drafts._lock.unlock());
        std::mem::forget(drafts);
    }

    #[test]
    fn what_a_killed_shell_left_comes_back_once_and_only_in_its_directory() {
        let dir = tempfile::TempDir::new().unwrap();
        let (drafts, left) = DraftFile::open(dir.path(), Path::new("/a")).unwrap();
        assert_eq!(left, InputDraft::default());
        drafts.keep(draft(&["one", "two"], "half a li"));
        kill(drafts);
        let (elsewhere, left) = DraftFile::open(dir.path(), Path::new("/b")).unwrap();
        assert_eq!(left, InputDraft::default());
        let (again, left) = DraftFile::open(dir.path(), Path::new("/a")).unwrap();
        assert_eq!(left, draft(&["one", "two"], "half a li"));
        assert_eq!(left.joined(), "one\ntwo\nhalf a li");
        let (third, left) = DraftFile::open(dir.path(), Path::new("/a")).unwrap();
        assert_eq!(left, InputDraft::default());
        again.keep(draft(&[], "one"));
        drop(again);
        let (again, left) = DraftFile::open(dir.path(), Path::new("/a")).unwrap();
        assert_eq!(left, draft(&[], "one"), "a shell that ended by itself, because its terminal was gone");
        again.keep(InputDraft::default());
        drop((elsewhere, again, third));
        assert_eq!(fs::read_dir(dir.path().join("drafts")).unwrap().count(), 0, "nothing is left over");
    }

    #[test]
    fn what_was_sent_is_no_draft_any_more() {
        let dir = tempfile::TempDir::new().unwrap();
        let (drafts, _) = DraftFile::open(dir.path(), Path::new("/a")).unwrap();
        drafts.keep(draft(&["next"], "typed"));
        drafts.sent();
        kill(drafts);
        let (_drafts, left) = DraftFile::open(dir.path(), Path::new("/a")).unwrap();
        assert_eq!(left, draft(&["next"], ""));
    }

    #[test]
    fn the_drafts_of_two_killed_shells_both_come_back() {
        let dir = tempfile::TempDir::new().unwrap();
        let (first, _) = DraftFile::open(dir.path(), Path::new("/a")).unwrap();
        let (second, _) = DraftFile::open(dir.path(), Path::new("/a")).unwrap();
        first.keep(draft(&["1"], "first"));
        second.keep(draft(&["2"], "second"));
        kill(first);
        kill(second);
        let (_drafts, left) = DraftFile::open(dir.path(), Path::new("/a")).unwrap();
        let mut lines: Vec<String> = left.joined().lines().map(String::from).collect();
        lines.sort();
        assert_eq!(lines, ["1", "2", "first", "second"]);
    }
}
