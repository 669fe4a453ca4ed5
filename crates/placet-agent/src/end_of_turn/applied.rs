//! What an apply changed, for the person who has just said yes: the question that showed it is gone from the screen.

use super::ApplyQuestionPlace;
use super::words::applied_overview;
use crate::event::AppliedOverview;
use placet_workspace::{JournalEntry, View, Workspace};

/// The most paths of a transaction that are read again for this. Each takes a moment, and a person who applied so many
/// reads no list of them.
const MOST: usize = 2_000;

impl AppliedOverview {
    /// Of a transaction that was just applied in `view`. Reads the files that it changed.
    pub fn of(
        entry: &JournalEntry,
        (view, workspace): (&View, &Workspace),
        place: &ApplyQuestionPlace,
    ) -> AppliedOverview {
        let is_short = entry.changes.len() <= MOST;
        let changes = is_short.then(|| Box::new(applied_overview(entry, view, workspace)));
        let shown_by = match place {
            ApplyQuestionPlace::Conversation | ApplyQuestionPlace::ShellCommand(_) => {
                format!("/journal {}", entry.id)
            }
            ApplyQuestionPlace::CommandLine(_) => format!("placet journal show {} --patch", entry.id),
        };
        AppliedOverview { changes, shown_by }
    }
}
