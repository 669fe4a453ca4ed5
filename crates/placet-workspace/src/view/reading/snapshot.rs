//! For runs without a view: the state of the workspace before a command, so that its changes can be shown and undone.
//!
//! Ignored files, the repository's own files and large files are not compared: this would require reading the whole
//! tree. A file whose size, times and inode are unchanged is not read again.

use super::effect_kind::EffectAfter;
pub(in crate::view) use crate::files::metadata::file_stamp::FileStamp;
use crate::files::metadata::file_stamp::stamp;
use crate::files::metadata::path_state::PathState;
use crate::history::journal::{AppliedChange, JournalEntry, TransactionKind, TransactionLabel};
use crate::history::origin::{ChangeOrigin, OriginMark, OriginMarks};
use crate::view::View;
use crate::view::command::collect::CommandEffects;
use crate::view::layers::stack::node_at;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Larger files are left out, and their change is not noticed.
const LARGEST: u64 = 16 << 20;

/// The workspace at one moment.
#[derive(Debug, Default)]
pub struct WorkspaceSnapshot {
    nodes: BTreeMap<PathBuf, PathState>,
    /// Files that were too large to be stored.
    pub left_out: usize,
}

impl View {
    /// Looks at everything in the roots that is not ignored, and keeps its content.
    pub fn snapshot(&self, hidden: &dyn Fn(&Path) -> bool) -> io::Result<WorkspaceSnapshot> {
        let mut snapshot = WorkspaceSnapshot::default();
        for root in self.roots() {
            // As in every walk, what is looked at depends on the project alone, not on the person's global
            // excludes.
            let walk = ignore::WalkBuilder::new(root)
                .hidden(false)
                .require_git(false)
                .git_global(false)
                .filter_entry(|entry| entry.file_name() != ".git")
                .build();
            for entry in walk.flatten() {
                let path = entry.path();
                if path == root || hidden(path) {
                    continue;
                }
                match self.kept(path)? {
                    Some(node) => drop(snapshot.nodes.insert(path.to_path_buf(), node)),
                    None => snapshot.left_out += 1,
                }
            }
        }
        self.objects().sync()?;
        Ok(snapshot)
    }

    /// The node of a path, its content stored; `None` for what is too large.
    fn kept(&self, path: &Path) -> io::Result<Option<PathState>> {
        let now = stamp(path);
        let known = self.stamps().get(path).cloned();
        if let Some((then, node)) = known
            && Some(then) == now
        {
            return Ok(Some(node));
        }
        if std::fs::symlink_metadata(path).is_ok_and(|m| m.is_file() && m.len() > LARGEST) {
            return Ok(None);
        }
        let node = node_at(path)?;
        if let PathState::File { hash, size, .. } = &node
            && let Ok(opened) = crate::files::opening::open::open_regular(path, rustix::fs::OFlags::RDONLY)
        {
            let mut file = opened.file;
            self.objects().put_file(&mut file, *hash, *size)?;
        }
        if let Some(now) = now {
            self.stamps().insert(path.to_path_buf(), (now, node.clone()));
        }
        Ok(Some(node))
    }

    /// What changed since `before`, journaled as if it had been applied.
    pub fn since(
        &self,
        before: &WorkspaceSnapshot,
        hidden: &dyn Fn(&Path) -> bool,
        label: TransactionLabel,
        by: Option<&ChangeOrigin>,
    ) -> io::Result<(CommandEffects, Option<JournalEntry>)> {
        let marks: OriginMarks = by.map(|_| OriginMark { by: Some(0), content: None }).into_iter().collect();
        let after = self.snapshot(hidden)?;
        let mut effects = CommandEffects::default();
        let mut changes = Vec::new();
        let mut note = |path: &PathBuf, before: &PathState, after: &PathState| {
            effects.count(path, before, EffectAfter::of(after));
            let (before, after) = (before.clone().into(), after.clone().into());
            changes.push(AppliedChange {
                path: path.as_path().into(),
                before,
                after,
                in_place: false,
                twin: None,
                was_twin: None,
                marks: marks.clone(),
            });
        };
        for (path, was) in &before.nodes {
            match after.nodes.get(path) {
                Some(is) if is == was => {}
                Some(is) => note(path, was, is),
                // The file may have become large or ignored instead of being removed.
                None if path.symlink_metadata().is_err() => note(path, was, &PathState::Absent),
                None => {}
            }
        }
        let new = after.nodes.iter().filter(|(path, _)| !before.nodes.contains_key(*path));
        new.for_each(|(path, is)| note(path, &PathState::Absent, is));
        if changes.is_empty() {
            return Ok((effects, None));
        }
        let journal = self.journal();
        let _lock = journal.lock(|_| true)?;
        let mut entry = journal.begin(
            label,
            TransactionKind::Apply,
            (changes, by.cloned().into_iter().collect()),
            Vec::new(),
        )?;
        journal.close(&mut entry)?;
        Ok((effects, Some(entry)))
    }
}
