//! A batch of files written by one tool call: what becomes pending does so together, the rest is applied
//! together.

use super::super::{WorkspaceError, WriteOutcome};
use super::View;
use super::stage::{LayerTempFile, expect, file_attrs};
use crate::changes::batch::FileRewrite;
use crate::changes::rewrite_action::RewriteAction;
use crate::files::metadata::path_state::{PathState, WritableDirGuard};
use crate::history::origin::{ChangeOrigin, WriteContext};
use crate::view::layers::layer::Layer;
use crate::view::layers::stack::node_at;
use placet_permission::WritePolicy;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One path of a batch that is being added to the pending layers.
enum StagedBatchItem {
    Content(LayerTempFile),
    Gone {
        index: usize,
        rel: PathBuf,
        now: PathState,
    },
    /// New content whose place is free only after the removals of the batch.
    Late(FileRewrite),
}

impl StagedBatchItem {
    /// Removals come first, the deepest ones before the directories that they leave empty.
    fn order(&self) -> (u8, std::cmp::Reverse<usize>) {
        match self {
            StagedBatchItem::Gone { rel, .. } => (0, std::cmp::Reverse(rel.components().count())),
            StagedBatchItem::Content(_) => (1, std::cmp::Reverse(0)),
            StagedBatchItem::Late(_) => (2, std::cmp::Reverse(0)),
        }
    }
}

impl View {
    /// What is at a canonical path.
    pub(crate) fn node(&self, path: &Path) -> io::Result<PathState> {
        match self.locate(path) {
            Some((index, rel)) => self.stack(index, 0).node(&rel),
            None => node_at(path),
        }
    }

    /// See [`super::super::Workspace::write_all`]. Checks every path, and stores every new content next to its place,
    /// before the first path changes.
    pub(crate) fn write_all(
        &self,
        batch: &[FileRewrite],
        writer: &WriteContext,
    ) -> Result<Vec<WriteOutcome>, WorkspaceError> {
        let Some(first) = batch.first() else { return Ok(Vec::new()) };
        let fail = |e: io::Error| WorkspaceError::from_io(&first.at.path, e);
        self.drop_scratch().map_err(fail)?;
        let (mut steps, mut holding) = (Vec::new(), Vec::new());
        let held = self.held_of(batch, writer.landing)?;
        for (one, hold) in batch.iter().zip(&held) {
            match hold {
                false => self.file_apply_steps(&one.at.path, one.before, &one.after, &mut steps)?,
                true => self.prepare_pending(one, writer.origin.as_ref(), &mut holding)?,
            }
        }
        holding.sort_by_key(StagedBatchItem::order);
        let in_place = match steps.is_empty() {
            true => Vec::new(),
            false => {
                let entry = self.apply_transaction(&first.at.path, steps, writer)?;
                entry.changes.into_iter().filter(|c| c.in_place).map(|c| c.path.to_path_buf()).collect()
            }
        };
        for one in holding {
            self.place_held(one, writer.origin.as_ref()).map_err(fail)?;
        }
        self.update_jobs(batch.iter().map(|one| one.at.path.as_path()));
        let written = batch.iter().zip(held).map(|(one, held)| WriteOutcome {
            hash: match &one.after {
                RewriteAction::Content { bytes, .. } => blake3::hash(bytes),
                RewriteAction::Gone | RewriteAction::Directory => blake3::hash(b""),
            },
            in_place: in_place.contains(&one.at.path),
            held,
        });
        Ok(written.collect())
    }

    /// Which paths stay pending. If files become directories, or directories files, the paths depend on each other: all
    /// of them stay pending, or none.
    fn held_of(&self, batch: &[FileRewrite], landing: WritePolicy) -> Result<Vec<bool>, WorkspaceError> {
        let holds = |one: &FileRewrite| {
            let is_written = matches!(one.after, RewriteAction::Content { .. });
            let path = &one.at.path;
            Ok(self.must_stay_pending(path, landing)?
                || is_written && self.changes_other_names(path, landing))
        };
        let held = batch.iter().map(holds).collect::<Result<Vec<bool>, WorkspaceError>>()?;
        if !batch.iter().any(FileRewrite::changes_kind) || !held.contains(&true) {
            return Ok(held);
        }
        Ok(batch.iter().map(|one| self.locate(&one.at.path).is_some()).collect())
    }

    /// True when a change to this path stays pending and is not applied at once.
    pub(super) fn must_stay_pending(
        &self,
        path: &Path,
        landing: WritePolicy,
    ) -> Result<bool, WorkspaceError> {
        let inside = self.locate(path).is_some();
        match landing {
            WritePolicy::Hold => Ok(inside),
            WritePolicy::Apply | WritePolicy::Direct => {
                let holds = || self.holds(path).map_err(|e| WorkspaceError::from_io(path, e));
                Ok(inside && holds()?)
            }
            WritePolicy::Discard => Err(WorkspaceError::ReadOnly(path.to_path_buf())),
        }
    }

    /// True when a write to the file at `path` would change it under other names, too: in write mode such a change waits.
    pub(super) fn changes_other_names(&self, path: &Path, landing: WritePolicy) -> bool {
        let has_several = || {
            let meta = std::fs::symlink_metadata(path);
            meta.is_ok_and(|meta| meta.is_file() && meta.nlink() > 1)
        };
        landing == WritePolicy::Apply && self.locate(path).is_some() && has_several()
    }

    fn prepare_pending(
        &self,
        one: &FileRewrite,
        by: Option<&Arc<ChangeOrigin>>,
        holding: &mut Vec<StagedBatchItem>,
    ) -> Result<(), WorkspaceError> {
        let path = &one.at.path;
        let fail = |e: io::Error| WorkspaceError::from_io(path, e);
        let (index, rel) = self.locate(path).ok_or_else(|| WorkspaceError::Outside(path.clone()))?;
        let now = self.stack(index, 0).node(&rel).map_err(fail)?;
        expect(path, one.before, &now)?;
        match &one.after {
            RewriteAction::Content { .. } if now.is_directory() || one.at.below_file.is_some() => {
                let is_directory = now.is_directory();
                let below = if is_directory { self.directories_below(path) } else { Ok(Vec::new()) };
                for dir in below.map_err(fail)? {
                    let (index, rel) =
                        self.locate(&dir).ok_or_else(|| WorkspaceError::Outside(dir.clone()))?;
                    let now = self.stack(index, 0).node(&rel).map_err(fail)?;
                    holding.push(StagedBatchItem::Gone { index, rel, now });
                }
                holding.push(StagedBatchItem::Late(one.clone()));
            }
            RewriteAction::Content { bytes, attrs } => {
                let attrs = attrs.as_ref().or_else(|| now.attrs());
                let staged = self.stage_pending((index, &rel), bytes, &now, attrs, by).map_err(fail)?;
                holding.push(StagedBatchItem::Content(staged));
            }
            RewriteAction::Gone | RewriteAction::Directory => {
                holding.push(StagedBatchItem::Gone { index, rel, now });
            }
        }
        Ok(())
    }

    fn place_late(&self, one: &FileRewrite, by: Option<&Arc<ChangeOrigin>>) -> io::Result<()> {
        let (Some((index, rel)), RewriteAction::Content { bytes, attrs }) =
            (self.locate(&one.at.path), &one.after)
        else {
            return Ok(());
        };
        let now = self.stack(index, 0).node(&rel)?;
        let attrs = attrs.as_ref().or_else(|| file_attrs(&now));
        self.stage_pending((index, &rel), bytes, &now, attrs, by)?.place()
    }

    fn place_held(&self, one: StagedBatchItem, by: Option<&Arc<ChangeOrigin>>) -> io::Result<()> {
        let (index, rel, now) = match one {
            StagedBatchItem::Content(staged) => return staged.place(),
            StagedBatchItem::Late(one) => return self.place_late(&one, by),
            StagedBatchItem::Gone { index, rel, now } => (index, rel, now),
        };
        let (dir, name) = self.pending_dir(index, &rel, &now, by)?;
        let _eased = WritableDirGuard::of(&dir);
        match self.stack(index, 2).stat(&rel)? {
            Some(_) => Layer::whiteout(&dir, &name),
            None => Layer::clear(&dir, &name),
        }
    }
}
