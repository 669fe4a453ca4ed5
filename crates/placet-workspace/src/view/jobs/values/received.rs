//! What a background command received at each path: its state when the command began, or a later state that was passed on
//! to the command. It is the base of the merge when the command has ended.
//!
//! The layers that were pending are copied for the command. The workspace itself is not: its earlier state is known from the
//! journal of what was applied, and a file that was not applied and whose time has not changed is as it was.

use super::passed::PassedStates;
use crate::files::content::sparse;
use crate::files::metadata::path_state::PathState;
use crate::view::View;
use crate::view::command::run_clock::RunPeriod;
use crate::view::layers::layer::{Layer, is_dir};
use crate::view::layers::open_stack::{NameLocation, OpenStackDir};
use crate::view::layers::stack::{LayerStack, join};
use placet_text::text::regular_file;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

/// What a command received at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReceivedState {
    /// What is there now, and nobody has changed it since.
    Unchanged,
    Known(PathState),
    /// A program outside of placet changed the workspace's own file while the command ran.
    Unknown,
}

/// What a command received in one root.
pub(in crate::view) struct ReceivedStates<'a> {
    pub(in crate::view) view: &'a View,
    /// Which root.
    pub(in crate::view) index: usize,
    /// The copies of the layers that were pending when the command began, topmost first.
    pub(in crate::view) copies: &'a [Layer],
    /// The time in which the command ran.
    pub(in crate::view) period: RunPeriod,
    /// The later states that it got.
    pub(in crate::view) passed: &'a PassedStates,
    /// The states before what was applied in that time.
    pub(in crate::view) applied: &'a HashMap<&'a Path, &'a PathState>,
}

/// One directory as the command received it and as it is now.
pub(super) struct ComparedDir {
    received: OpenStackDir,
    pub(super) now: OpenStackDir,
}

impl ReceivedStates<'_> {
    pub(super) fn root(&self) -> &Path {
        self.view.root(self.index)
    }

    pub(super) fn now(&self) -> LayerStack<'_> {
        self.view.stack(self.index, 1)
    }

    fn at_start(&self) -> LayerStack<'_> {
        LayerStack { layers: self.copies.iter().collect(), root: self.root() }
    }

    pub(super) fn open(&self, rel: &Path) -> io::Result<ComparedDir> {
        Ok(ComparedDir { received: self.at_start().open_dir(rel)?, now: self.now().open_dir(rel)? })
    }

    /// The same where nothing is now.
    pub(super) fn open_gone(&self, rel: &Path) -> io::Result<ComparedDir> {
        Ok(ComparedDir { received: self.at_start().open_dir(rel)?, now: OpenStackDir::default() })
    }

    /// What the command received at `rel`, which is `name` in `dir`.
    pub(super) fn state(&self, dir: &ComparedDir, rel: &Path, name: &OsStr) -> io::Result<ReceivedState> {
        match self.passed.get(self.index, rel) {
            Some(passed) => Ok(ReceivedState::Known(passed.clone())),
            None => self.state_at_start(dir, rel, name),
        }
    }

    /// What was there when the command began.
    fn state_at_start(&self, dir: &ComparedDir, rel: &Path, name: &OsStr) -> io::Result<ReceivedState> {
        let location = dir.received.locate(name)?;
        match &location {
            NameLocation::Gone => return Ok(ReceivedState::Known(PathState::Absent)),
            NameLocation::Layer(..) => {
                return Ok(ReceivedState::Known(dir.received.node_at(&location, name)?));
            }
            NameLocation::Plain => {}
        }
        if let Some(before) = self.applied.get(&*join(self.root(), rel)) {
            return Ok(ReceivedState::Known((*before).clone()));
        }
        // The time of a directory changes with what is in it, which has a state of its own.
        let is_touched = |stat| !is_dir(&stat) && self.period.has_change_of(&stat);
        if dir.received.stat(name)?.is_some_and(is_touched) {
            return Ok(ReceivedState::Unknown);
        }
        Ok(match dir.now.locate(name)? {
            NameLocation::Plain => ReceivedState::Unchanged,
            _ => ReceivedState::Known(dir.received.node_at(&location, name)?),
        })
    }

    /// The names in a directory at or below which the command got something later, where nothing but that can be missing: when
    /// it is removed, the layer gets no mark.
    pub(super) fn passed_alone(&self, dir: &ComparedDir, rel: &Path) -> io::Result<Vec<OsString>> {
        let mut found = Vec::new();
        for name in self.passed.names_in(self.index, rel) {
            let at_start = self.state_at_start(dir, &rel.join(&name), &name)?;
            let is_missing = match at_start {
                ReceivedState::Known(state) => state.is_absent(),
                ReceivedState::Unchanged => dir.now.stat(&name)?.is_none(),
                ReceivedState::Unknown => false,
            };
            if is_missing {
                found.push(name);
            }
        }
        Ok(found)
    }

    pub(super) fn has_passed_below(&self, rel: &Path) -> bool {
        self.passed.has_below(self.index, rel)
    }

    /// The content of a file that was received at `rel` with this state, of at most `most` bytes.
    pub(super) fn content(&self, rel: &Path, state: &PathState, most: u64) -> Option<Vec<u8>> {
        let hash = state.hash().filter(|_| state.size() <= most)?;
        let is_it = |bytes: &Vec<u8>| blake3::hash(bytes) == hash;
        let copy = || {
            let real = self.at_start().real(rel).ok()??;
            regular_file::read(&real, state.size()).ok()
        };
        let plain = || sparse::read_small_at(&join(self.root(), rel)).ok();
        let stored = || self.view.objects().get(hash).ok();
        let passed = || self.passed.content(hash, state.size());
        let found = copy().filter(is_it).or_else(|| passed().filter(is_it));
        found.or_else(|| stored().filter(is_it)).or_else(|| plain().filter(is_it))
    }
}
