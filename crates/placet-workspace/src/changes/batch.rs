//! Several files written as one: all of them are, or none is.

use super::rewrite_action::RewriteAction;
use crate::files::opening::open::OpenConsent;
use crate::files::walking::entries_below::entries_below;
use crate::{ExpectedContent, PathState, ResolvedPath, Workspace, WorkspaceError, WriteOutcome};
use placet_permission::{Permit, WritePolicy};
use std::path::{Path, PathBuf};

/// What becomes of one path of a batch.
#[derive(Clone, Debug)]
pub struct FileRewrite {
    pub at: ResolvedPath,
    pub before: ExpectedContent,
    pub after: RewriteAction,
}

impl FileRewrite {
    /// A file becomes a directory, or a directory a file.
    pub(crate) fn changes_kind(&self) -> bool {
        self.before == ExpectedContent::EmptiedDirectory || matches!(self.after, RewriteAction::Directory)
    }
}

impl Workspace {
    /// Writes a batch. When any path is not what its `before` says, or cannot be written, nothing is. A path may occur
    /// once only. What becomes pending and what is applied at once each change in one step.
    pub fn write_all(
        &self,
        batch: &[FileRewrite],
        permit: &Permit,
    ) -> Result<Vec<WriteOutcome>, WorkspaceError> {
        for one in batch {
            self.consented(&one.at, OpenConsent::Permit(permit), &one.at.write())?;
            self.refuse_unwritable(&one.at)?;
        }
        match self.view() {
            Some(view) => view.write_all(batch, &view.writer(permit)),
            None if matches!(permit.write_policy(), WritePolicy::Apply | WritePolicy::Direct) => {
                self.write_each(batch, permit)
            }
            // There is no view in which the change could be pending: nothing is written.
            None => match batch.first() {
                Some(first) => Err(WorkspaceError::ReadOnly(first.at.path.clone())),
                None => Ok(Vec::new()),
            },
        }
    }

    /// Without a view there is no journal for an apply: only a batch of one file is as safe as a single write.
    fn write_each(
        &self,
        batch: &[FileRewrite],
        permit: &Permit,
    ) -> Result<Vec<WriteOutcome>, WorkspaceError> {
        let [FileRewrite { at, before, after: RewriteAction::Content { bytes, .. } }] = batch else {
            let path = batch.first().map(|one| one.at.path.clone()).unwrap_or_default();
            return Err(WorkspaceError::ReadOnly(path));
        };
        Ok(vec![self.write(at, permit, bytes, *before)?])
    }

    /// Every entry below a directory, as the view has it, deepest first, and whether it is a directory.
    pub fn entries_below(&self, dir: &Path) -> Result<Vec<(PathBuf, bool)>, WorkspaceError> {
        let found = match self.view() {
            Some(view) => view.entries_below(dir),
            None => {
                entries_below(dir, &|dir| Ok(vec![dir.to_path_buf()]), &|path| Ok(Some(path.to_path_buf())))
            }
        };
        found.map_err(|e| WorkspaceError::from_io(dir, e))
    }

    /// What is at a path, as the view has it: its kind, content hash and attributes.
    pub fn node(&self, at: &ResolvedPath, consent: OpenConsent<'_>) -> Result<PathState, WorkspaceError> {
        self.consented(at, consent, &at.read())?;
        let node = match self.view() {
            Some(view) => view.node(&at.path),
            None => crate::view::node_at(&at.path),
        };
        node.map_err(|e| WorkspaceError::from_io(&at.path, e))
    }
}
