//! What a command did at one path.

use crate::files::metadata::path_state::PathState;
use std::path::Path;
use std::sync::Arc;

/// What is at a path when the command has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::view) enum EffectAfter {
    Nothing,
    Directory,
    File,
}

impl EffectAfter {
    pub(in crate::view) fn of(after: &PathState) -> EffectAfter {
        match after {
            PathState::Absent => EffectAfter::Nothing,
            PathState::Directory { .. } => EffectAfter::Directory,
            _ => EffectAfter::File,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::view) enum EffectKind {
    Created,
    Modified,
    Deleted,
}

/// A directory, or a path in a `.git`.
#[derive(Clone, Debug)]
pub(in crate::view) struct ApartEffect {
    pub(in crate::view) path: Arc<Path>,
    pub(in crate::view) kind: EffectKind,
    pub(in crate::view) is_directory: bool,
}
