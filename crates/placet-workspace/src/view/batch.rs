//! A batch of files written by one tool call: what becomes pending does so together, the rest is applied
//! together.

use super::super::{WorkspaceError, WriteOutcome};
use super::View;
use super::layer::Layer;
use super::stack::node_at;
use super::stage::{LayerTempFile, expect};
use crate::changes::batch::{FileRewrite, RewriteAction};
use crate::files::path_state::{PathState, WritableDirGuard};
use crate::history::origin::{ChangeOrigin, WriteContext};
use placet_permission::WritePolicy;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One path of a batch that is being added to the pending layers.
enum StagedBatchItem {
    Content(LayerTempFile),
    Gone { index: usize, rel: PathBuf, now: PathState },
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
        let (mut steps, mut holding, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for one in batch {
            let path = &one.at.path;
            let is_written = matches!(one.after, RewriteAction::Content { .. });
            let hold = self.must_stay_pending(path, writer.landing)?
                || is_written && self.changes_other_names(path, writer.landing);
            held.push(hold);
            match hold {
                false => self.file_apply_steps(path, one.before, &one.after, &mut steps)?,
                true => holding.push(self.prepare_pending(one, writer.origin.as_ref())?),
            }
        }
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
        let written = batch.iter().zip(held).map(|(one, held)| WriteOutcome {
            hash: match &one.after {
                RewriteAction::Content { bytes, .. } => blake3::hash(bytes),
                RewriteAction::Gone => blake3::hash(b""),
            },
            in_place: in_place.contains(&one.at.path),
            held,
        });
        Ok(written.collect())
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
    ) -> Result<StagedBatchItem, WorkspaceError> {
        let path = &one.at.path;
        let fail = |e: io::Error| WorkspaceError::from_io(path, e);
        let (index, rel) = self.locate(path).ok_or_else(|| WorkspaceError::Outside(path.clone()))?;
        let now = self.stack(index, 0).node(&rel).map_err(fail)?;
        expect(path, one.before, &now)?;
        match &one.after {
            RewriteAction::Content { bytes, attrs } => {
                let attrs = attrs.as_ref().or_else(|| now.attrs());
                self.stage_pending((index, &rel), bytes, &now, attrs, by)
                    .map(StagedBatchItem::Content)
                    .map_err(fail)
            }
            RewriteAction::Gone => Ok(StagedBatchItem::Gone { index, rel, now }),
        }
    }

    fn place_held(&self, one: StagedBatchItem, by: Option<&Arc<ChangeOrigin>>) -> io::Result<()> {
        let (index, rel, now) = match one {
            StagedBatchItem::Content(staged) => return staged.place(),
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
