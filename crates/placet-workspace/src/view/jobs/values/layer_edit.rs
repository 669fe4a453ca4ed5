//! Edits of an ended command's layer, so that it has nothing but the effects that are carried.
//!
//! A kill may come between any two of them, and then all of it is compared once more. So what is deleted gets its marks
//! before the directory around it stops hiding what is below.

use super::received::ReceivedStates;
use crate::files::content::sparse;
use crate::files::metadata::path_state::{FileAttrs, PathState, WritableDirGuard, open_anyway};
use crate::files::metadata::stat_fields::mode_of;
use crate::view::layers::layer::{self, Layer, LayerDir, entry};
use crate::view::layers::stack::join;
use crate::view::undoing::undo::merged_attrs;
use placet_text::text::sided_merge::merged;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The largest file that is merged, in bytes.
pub(super) const MERGEABLE: u64 = 16 << 20;

/// What happens to one path of a layer.
#[derive(Debug)]
pub(super) enum LayerEdit {
    /// The layer says nothing about it.
    Drop,
    /// It is deleted.
    Delete,
    /// A directory hides nothing, and gets these attributes.
    Join(Option<Box<FileAttrs>>),
    /// It gets another name: others have changed the path.
    SetAside,
    /// Both changes in one text if they do not touch the same lines; else it is set aside.
    Merge { base: Box<PathState>, now: Box<PathState>, own: Box<PathState> },
}

impl LayerEdit {
    pub(super) fn is_delete(&self) -> bool {
        matches!(self, LayerEdit::Delete)
    }

    pub(super) fn is_drop(&self) -> bool {
        matches!(self, LayerEdit::Drop)
    }

    /// In which of three rounds it is made.
    fn round(&self) -> usize {
        match self {
            LayerEdit::Delete => 0,
            LayerEdit::Join(_) => 1,
            LayerEdit::Drop | LayerEdit::SetAside | LayerEdit::Merge { .. } => 2,
        }
    }
}

/// What became of effects that met changes of others.
#[derive(Debug, Default)]
pub(in crate::view) struct MergeReport {
    pub(in crate::view) merged: Vec<PathBuf>,
    /// The names of the command's versions, next to those of the others.
    pub(in crate::view) beside: Vec<PathBuf>,
    /// What the command deleted and others changed: it stays. The same for the mode of a directory.
    pub(in crate::view) kept: Vec<PathBuf>,
}

impl std::ops::AddAssign for MergeReport {
    fn add_assign(&mut self, more: MergeReport) {
        self.merged.extend(more.merged);
        self.beside.extend(more.beside);
        self.kept.extend(more.kept);
    }
}

/// Edits one root of an ended command's layer.
pub(super) struct LayerEditor<'a> {
    pub(super) received: &'a ReceivedStates<'a>,
    pub(super) layer: &'a Layer,
    /// How the command's versions are named that are set aside. Without it they are dropped.
    pub(super) suffix: Option<&'a str>,
    pub(super) report: MergeReport,
}

impl LayerEditor<'_> {
    pub(super) fn make(&mut self, edits: &[(PathBuf, LayerEdit)]) -> io::Result<()> {
        for round in 0..3 {
            for (rel, edit) in edits.iter().filter(|(_, edit)| edit.round() == round) {
                self.make_edit(rel, edit)?;
            }
        }
        Ok(())
    }

    fn make_edit(&mut self, rel: &Path, edit: &LayerEdit) -> io::Result<()> {
        let (Some(above), Some(name)) = (rel.parent(), rel.file_name()) else { return Ok(()) };
        if let LayerEdit::Delete = edit {
            let like = |path: &Path| self.received.now().node(path).ok()?.attrs().cloned();
            return Layer::whiteout(&self.layer.parent(rel, self.received.root(), &like)?, name);
        }
        if let LayerEdit::Join(attrs) = edit {
            let LayerDir::Open { dir, .. } = self.layer.open_dir(rel)? else { return Ok(()) };
            let _eased = WritableDirGuard::of(&dir);
            layer::clear_opaque(&dir)?;
            return Ok(attrs.as_ref().map_or(Ok(()), |attrs| attrs.apply_to_layer(&File::from(dir)))?);
        }
        let LayerDir::Open { dir, .. } = self.layer.open_dir(above)? else { return Ok(()) };
        if let LayerEdit::Merge { base, now, own } = edit
            && let Some(bytes) = self.merge(rel, (&dir, name), base)?
        {
            write_over(&dir, name, &bytes, (own, base, now))?;
            self.report.merged.push(join(self.received.root(), rel));
            return Ok(());
        }
        match (edit, self.suffix) {
            (LayerEdit::Drop, _) | (_, None) => Layer::clear(&dir, name),
            (_, Some(suffix)) => self.set_aside(rel, (&dir, name), suffix),
        }
    }

    /// Both changes in one text, where they do not touch the same lines.
    fn merge(
        &self,
        rel: &Path,
        (upper, name): (&OwnedFd, &OsStr),
        base: &PathState,
    ) -> io::Result<Option<Vec<u8>>> {
        let Some(base) = self.received.content(rel, base, MERGEABLE) else { return Ok(None) };
        let others = sparse::read_small(&self.received.now().open(rel)?)?;
        let own = sparse::read_small(&open_anyway(upper, name, OFlags::empty())?.0)?;
        let is_text = |bytes: &[u8]| !bytes.contains(&0);
        if ![&base, &others, &own].into_iter().all(|bytes| is_text(bytes)) {
            return Ok(None);
        }
        Ok(merged(&base, &others, &own))
    }

    /// Renames the command's version; the present file stays at the old name.
    fn set_aside(&mut self, rel: &Path, (upper, name): (&OwnedFd, &OsStr), suffix: &str) -> io::Result<()> {
        let free = |candidate: &OsStr| -> io::Result<bool> {
            let is_there = || self.received.now().stat(&rel.with_file_name(candidate));
            Ok(entry(upper, candidate)?.is_none() && is_there()?.is_none())
        };
        let mut chosen: OsString = [name, OsStr::new("."), OsStr::new(suffix)].into_iter().collect();
        for number in 2.. {
            if free(&chosen)? {
                break;
            }
            chosen = [name, OsStr::new("."), OsStr::new(suffix), OsStr::new(&format!("-{number}"))]
                .into_iter()
                .collect();
        }
        let _eased = WritableDirGuard::of(upper);
        rustix::fs::renameat_with(upper, name, upper, &chosen, RenameFlags::NOREPLACE)?;
        self.report.beside.push(join(self.received.root(), &rel.with_file_name(&chosen)));
        Ok(())
    }
}

/// The mode, the owner and the attributes are merged as well.
fn write_over(
    dir: &OwnedFd,
    name: &OsStr,
    bytes: &[u8],
    (own, base, now): (&PathState, &PathState, &PathState),
) -> io::Result<()> {
    let _eased = WritableDirGuard::of(dir);
    // The command may have left a file that its owner cannot write.
    rustix::fs::chmodat(dir, name, mode_of(0o600), AtFlags::empty())?;
    let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(dir, name, flags, Mode::empty())?);
    file.write_all(bytes)?;
    let (Some(own), Some(base), Some(now)) = (own.attrs(), base.attrs(), now.attrs()) else { return Ok(()) };
    // An owner that others gave may be one that this user cannot give.
    Ok(merged_attrs(now, base, own).give(&file).or_else(|_| own.give(&file))?)
}
