//! What a command did at one path.

use crate::files::path_state::PathState;
use std::path::Path;
use std::sync::Arc;

/// What is at a path when the command has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EffectAfter {
    Nothing,
    Directory,
    File,
}

impl EffectAfter {
    pub(super) fn of(after: &PathState) -> EffectAfter {
        match after {
            PathState::Absent => EffectAfter::Nothing,
            PathState::Directory { .. } => EffectAfter::Directory,
            _ => EffectAfter::File,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EffectKind {
    Created,
    Modified,
    Deleted,
}

/// A directory, or a path in a `.git`.
#[derive(Clone, Debug)]
pub(super) struct ApartEffect {
    pub(super) path: Arc<Path>,
    pub(super) kind: EffectKind,
    pub(super) is_directory: bool,
}
