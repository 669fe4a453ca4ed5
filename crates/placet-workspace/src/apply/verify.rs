//! The look at every path before an apply: is it still what it was when the change was made?

use super::halves::in_halves;
use super::open_dirs::OpenDirs;
use super::progress::ApplyProgress;
use super::step::ApplyStep;
use crate::files::metadata::file_stamp::stamp_of;
use crate::files::metadata::path_state::{FileIdentity, PathState, several_names};
use crate::history::journal::RestrictedDir;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of this transaction that have several names. Few have, so only those are recorded.
pub(super) struct SharedNames {
    found: std::iter::Peekable<std::vec::IntoIter<(usize, FileIdentity)>>,
    first: HashMap<FileIdentity, Arc<Path>>,
}

impl SharedNames {
    /// The first name in this transaction of the file at step `index`, if it is another one. Asked for in the order of the
    /// steps.
    pub(super) fn first_name(&mut self, index: usize, path: &Arc<Path>) -> Option<Arc<Path>> {
        let (_, identity) = self.found.next_if(|(at, _)| *at == index)?;
        let first = self.first.entry(identity).or_insert_with(|| Arc::clone(path));
        (**first != **path).then(|| Arc::clone(first))
    }
}

/// What one thread found out.
#[derive(Default)]
struct VerifiedPart {
    changed: Vec<PathBuf>,
    shared: Vec<(usize, FileIdentity)>,
}

/// Fails with all paths that changed in the meantime. A stop ends it before all were looked at.
pub(super) fn all(
    steps: &[ApplyStep],
    shut: &[RestrictedDir],
    progress: &ApplyProgress,
) -> Result<SharedNames, Vec<PathBuf>> {
    let parts = in_halves(shut, 0..steps.len(), |part| verify(steps, part, progress));
    let (mut changed, mut shared) = (Vec::new(), Vec::new());
    for part in parts {
        changed.extend(part.changed);
        shared.extend(part.shared);
    }
    match changed.is_empty() {
        true => Ok(SharedNames { found: shared.into_iter().peekable(), first: HashMap::new() }),
        false => Err(changed),
    }
}

fn verify(steps: &[ApplyStep], part: Range<usize>, progress: &ApplyProgress) -> VerifiedPart {
    let mut dirs = OpenDirs::default();
    let mut found = VerifiedPart::default();
    for index in part {
        let Some(step) = steps.get(index) else { continue };
        if progress.is_cancelled() {
            break;
        }
        let now = match step.unread.then(|| step.before.hash()).flatten() {
            Some(hash) => dirs.node_assuming(&step.path, hash).map(|node| (node, dirs.stat(&step.path))),
            None => match dirs.stat(&step.path).filter(|now| step.seen == Some(stamp_of(now))) {
                // Nobody has touched it since it was read. The exchange checks its content.
                Some(now) => Ok((PathState::clone(&step.before), Some(now))),
                None => dirs.node_with_stat(&step.path),
            },
        };
        let now = now.map(|(node, stat)| (node, stat.as_ref().and_then(several_names)));
        match now {
            Ok((node, identity)) if node == step.before => {
                found.shared.extend(identity.map(|identity| (index, identity)));
            }
            _ => found.changed.push(step.path.to_path_buf()),
        }
        progress.step(&step.before, &step.after);
    }
    found
}
