//! The mark that something is being applied: a crash before it leaves the pending layers must not show it
//! twice.

use crate::view::layers::base::BaseRecord;
use crate::view::layers::stack::{ContentLocation, node_at};
use crate::view::stage::StagedEntry;
use crate::view::{LayerKind, View};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// While it lives, this process is applying something.
pub(in crate::view) struct ApplyGuard<'a>(&'a AtomicBool);

impl Drop for ApplyGuard<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl View {
    pub(in crate::view) fn mark_applying(&self) -> io::Result<(PathBuf, ApplyGuard<'_>)> {
        let mark = self.apply_marker();
        placet_text::private::write_quick(&mark, b"")?;
        self.0.apply.is_running.store(true, Ordering::SeqCst);
        Ok((mark, ApplyGuard(&self.0.apply.is_running)))
    }

    /// There as long as something is being applied: after a crash it may be applied and pending as well.
    fn apply_marker(&self) -> PathBuf {
        self.dir().join("landing")
    }

    /// After a crash in the middle of [`View::apply`]: what is in the workspace already is not pending any more.
    pub(in crate::view) fn recover_interrupted_apply(&self) -> io::Result<()> {
        let mark = self.apply_marker();
        let idle = self.is_empty(LayerKind::Pending) || self.0.apply.is_running.load(Ordering::SeqCst);
        if idle || !mark.exists() || !self.journal().is_at_rest() {
            return Ok(());
        }
        match self.claim() {
            // The process that has it locked is applying right now.
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy => return Ok(()),
            other => other?,
        }
        let bases: Vec<BaseRecord> = self.layer_set(LayerKind::Pending).bases().iter().collect();
        let mut keep = Vec::new();
        for base in bases {
            let (index, rel) = self.locate_recorded(&base.path)?;
            // Records without a change are removed; `rebuild` copies the records that are still needed.
            if self.stack(index, 1).backing(&rel)? == ContentLocation::Plain {
                continue;
            }
            let now = node_at(&base.path)?;
            if now == base.node || self.stack(index, 1).node(&rel)? != now {
                keep.push((base, StagedEntry::Keep));
            }
        }
        self.rebuild(keep)?;
        std::fs::remove_file(mark)
    }
}
