//! The later states that a running command got, and the record of them.
//!
//! The record is for a start after placet was killed: without it, a later state would count as the command's own doing. It is
//! next to the copies of the layers and goes with them. A line is written before a state is passed on and another one after
//! it; of a state between the two, what the command has in the end says whether it got there. Nothing here is synced: the
//! command's layer is not either.

use crate::Hash;
use crate::files::metadata::path_state::{PathState, raw_text};
use placet_text::text::regular_file;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const RECORD: &str = "passed.jsonl";
/// Contents, by their hashes: they are what a merge begins from.
const CONTENTS: &str = "passed";
/// The most bytes of contents that are stored. Beyond, a file that both sides change is not merged.
const MOST_STORED: u64 = 256 << 20;

/// A root of the view and a path in it.
pub(in crate::view) type PassedPath = (usize, PathBuf);

/// The latest of the later states that a command got at each path.
#[derive(Debug)]
pub(in crate::view) struct PassedStates {
    states: BTreeMap<PassedPath, PathState>,
    /// The directory of the record.
    dir: PathBuf,
    stored: u64,
}

#[derive(Serialize, Deserialize)]
struct PassedLine {
    root: usize,
    #[serde(with = "raw_text")]
    path: PathBuf,
    /// `None`: what was recorded before no longer counts.
    state: Option<PathState>,
    /// The command has it.
    is_there: bool,
}

impl PassedStates {
    /// Of a command that begins. Its record will be in `dir`.
    pub(in crate::view) fn new(dir: &Path) -> PassedStates {
        PassedStates { states: BTreeMap::new(), dir: dir.to_path_buf(), stored: 0 }
    }

    /// What a process that was killed recorded in `dir`. `state_now` reads what the command has in the end.
    pub(in crate::view) fn read(
        dir: &Path,
        state_now: impl Fn(usize, &Path) -> io::Result<PathState>,
    ) -> io::Result<PassedStates> {
        let mut passed = PassedStates::new(dir);
        let record = match File::open(dir.join(RECORD)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(passed),
            opened => BufReader::new(opened?),
        };
        let mut on_the_way = BTreeMap::new();
        // A last line that was cut was of something that had not begun.
        for line in record.split(b'\n') {
            let Ok(PassedLine { root, path, state, is_there }) = serde_json::from_slice(&line?) else {
                continue;
            };
            let key = (root, path);
            on_the_way.remove(&key);
            match (state, is_there) {
                (Some(state), true) => drop(passed.states.insert(key, state)),
                (Some(state), false) => drop(on_the_way.insert(key, state)),
                (None, _) => drop(passed.states.remove(&key)),
            }
        }
        for ((root, path), state) in on_the_way {
            if state_now(root, &path)? == state {
                passed.states.insert((root, path), state);
            }
        }
        Ok(passed)
    }

    pub(in crate::view) fn get(&self, root: usize, path: &Path) -> Option<&PathState> {
        if self.states.is_empty() { None } else { self.states.get(&(root, path.to_path_buf())) }
    }

    /// The names in a directory at or below which the command got something.
    pub(in crate::view) fn names_in(&self, root: usize, dir: &Path) -> BTreeSet<OsString> {
        let below = self.below(root, dir);
        let name = |path: &PathBuf| Some(path.strip_prefix(dir).ok()?.iter().next()?.to_os_string());
        below.filter_map(name).collect()
    }

    pub(in crate::view) fn has_below(&self, root: usize, dir: &Path) -> bool {
        self.below(root, dir).next().is_some()
    }

    fn below<'a>(&'a self, root: usize, dir: &'a Path) -> impl Iterator<Item = &'a PathBuf> {
        let from = self.states.range((root, dir.to_path_buf())..);
        let paths = from.map(|((at, path), _)| (*at, path));
        let below = paths.take_while(move |(at, path)| *at == root && path.starts_with(dir));
        below.map(|(_, path)| path).filter(move |path| *path != dir)
    }

    /// Records that these states are about to be passed on.
    pub(in crate::view) fn announce(&self, all: &[(PassedPath, PathState)]) -> io::Result<()> {
        self.write(all.iter().map(|((root, path), state)| (*root, path, Some(state))), false)
    }

    /// Stores the content of a file that is about to be passed on.
    pub(in crate::view) fn store(&mut self, hash: Hash, bytes: &[u8]) -> io::Result<()> {
        let contents = self.dir.join(CONTENTS);
        let place = contents.join(hash.to_hex().as_str());
        let stored = self.stored + bytes.len() as u64;
        if stored > MOST_STORED || place.exists() {
            return Ok(());
        }
        placet_text::private::make_dir(&contents)?;
        std::fs::write(place, bytes)?;
        self.stored = stored;
        Ok(())
    }

    pub(in crate::view) fn content(&self, hash: Hash, size: u64) -> Option<Vec<u8>> {
        regular_file::read(&self.dir.join(CONTENTS).join(hash.to_hex().as_str()), size).ok()
    }

    /// The command has this state.
    pub(in crate::view) fn set(&mut self, key: PassedPath, state: PathState) {
        self.states.insert(key, state);
    }

    /// Records the states of these paths.
    pub(in crate::view) fn confirm(&self, all: &[PassedPath]) -> io::Result<()> {
        self.write(all.iter().map(|key| (key.0, &key.1, self.states.get(key))), true)
    }

    /// What the command got at these paths no longer counts after a kill: it has ended, and its layer forgets them.
    pub(in crate::view) fn forget<'a>(
        &self,
        root: usize,
        paths: impl Iterator<Item = &'a PathBuf>,
    ) -> io::Result<()> {
        let recorded = paths.filter(|path| self.get(root, path).is_some());
        self.write(recorded.map(|path| (root, path, None)), true)
    }

    fn write<'a>(
        &self,
        all: impl Iterator<Item = (usize, &'a PathBuf, Option<&'a PathState>)>,
        is_there: bool,
    ) -> io::Result<()> {
        let mut lines = Vec::new();
        for (root, path, state) in all {
            let line = PassedLine { root, path: path.clone(), state: state.cloned(), is_there };
            serde_json::to_writer(&mut lines, &line)?;
            lines.push(b'\n');
        }
        if lines.is_empty() {
            return Ok(());
        }
        let mut file =
            OpenOptions::new().append(true).create(true).mode(0o600).open(self.dir.join(RECORD))?;
        file.write_all(&lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(target: &str) -> PathState {
        PathState::Link { target: target.into() }
    }

    #[test]
    fn what_a_kill_left_says_what_the_command_got() {
        let dir = tempfile::tempdir().unwrap();
        let key = |name: &str| (0, PathBuf::from(name));
        let mut passed = PassedStates::new(dir.path());
        for (name, state) in [
            ("d/done", link("1")),
            ("gone", PathState::Absent),
            ("d/again", link("1")),
            ("forgotten", link("1")),
        ] {
            passed.set(key(name), state);
            passed.confirm(&[key(name)]).unwrap();
        }
        passed
            .announce(&[(key("d/again"), link("2")), (key("arrived"), link("2")), (key("not"), link("2"))])
            .unwrap();
        passed.forget(0, [PathBuf::from("forgotten")].iter()).unwrap();
        let whole = std::fs::read(dir.path().join(RECORD)).unwrap();
        // The last line may be cut anywhere.
        for cut in 0..3 {
            std::fs::write(
                dir.path().join(RECORD),
                [&*whole, &b"{\"root\":0,\"path\":\"x\""[..cut * 7]].concat(),
            )
            .unwrap();
            let has = |_, path: &Path| Ok(if path == Path::new("arrived") { link("2") } else { link("own") });
            let read = PassedStates::read(dir.path(), has).unwrap();
            let found: Vec<_> = read.states.into_iter().collect();
            let expected = [
                (key("arrived"), link("2")),
                (key("d/again"), link("1")),
                (key("d/done"), link("1")),
                (key("gone"), PathState::Absent),
            ];
            assert_eq!(found, expected);
        }
        assert!(passed.has_below(0, Path::new("d")) && !passed.has_below(0, Path::new("gone")));
        assert_eq!(passed.names_in(0, Path::new("d")), ["again", "done"].map(OsString::from).into());
        assert!(!passed.has_below(1, Path::new("")));
    }
}
