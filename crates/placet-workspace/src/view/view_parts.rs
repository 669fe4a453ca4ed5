//! Parts of a view with a state of their own.

use crate::apply::ApplyProgress;
use crate::changes::change_count::ChangeCount;
use crate::changes::classify::ChangeApproval;
use crate::changes::renames::RenamedMemo;
use crate::history::origin::RunningCalls;
use crate::view::command::command_dir::SpareDir;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

/// The commands of a view.
#[derive(Debug, Default)]
pub(super) struct ViewCommands {
    /// They run one at a time: each starts from the result of the command before.
    pub(super) gate: Arc<tokio::sync::Mutex<()>>,
    /// The calls that run now.
    pub(super) calls: RunningCalls,
    /// The directory of the last command, which wrote nothing.
    pub(super) spare: Mutex<Option<SpareDir>>,
    /// No command follows the first one that could use its directory.
    pub(super) is_for_one: AtomicBool,
    /// The directory of [`ViewPaths::layers`](super::ViewPaths) that was found to work.
    pub(super) layers: OnceLock<PathBuf>,
    /// The background commands that get what changes.
    pub(super) updates: Mutex<Vec<std::sync::Weak<crate::view::jobs::values::JobUpdates>>>,
}

/// The apply of a view, if one runs.
#[derive(Debug, Default)]
pub(super) struct ViewApply {
    /// A part of the view is being applied.
    pub(super) is_running: AtomicBool,
    /// How far an apply or an undo of this view is.
    pub(super) progress: ApplyProgress,
}

/// What is remembered of the questions of a view.
#[derive(Debug, Default)]
pub(super) struct AskedChanges {
    /// What the person was asked about by itself.
    pub(super) approval: Mutex<ChangeApproval>,
    /// A background command has put something into the pending layers, and the person was not asked about it yet.
    pub(super) late: AtomicBool,
    /// The renamed files of the change set that was last asked about.
    pub(super) renamed: Mutex<RenamedMemo>,
    /// How much was pending, and [`View::writes`](super::View::writes) then.
    pub(super) counted: Mutex<Option<(u64, ChangeCount)>>,
}
