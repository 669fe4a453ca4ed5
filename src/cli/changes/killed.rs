//! What was killed and left changes: they become pending before changes are listed, applied or undone.

use crate::app::App;
use crate::cli::report::warn;
use crate::text::visible;
use crate::workspace::{ChangeCount, TakenOverChanges};

/// What a killed `placet run`, a killed background command, or a kill while changes were collected left becomes pending
/// before changes are listed, applied or undone.
pub(in crate::cli) fn take_over_killed(app: &App) {
    for (name, found) in app.take_over_killed_jobs() {
        match found {
            Ok(taken) => {
                let session = visible::name(name.get(..8).unwrap_or(&name)).into_owned();
                warn_of_killed_jobs(&format!("a command of session {session}"), &taken);
            }
            Err(e) => {
                let line = format!("what an interrupted job ({name}) wrote cannot be read: {e}");
                warn(&visible::guard(&format!("warning: {line}")));
            }
        }
    }
    for (name, found) in app.take_over_killed_runs() {
        match found {
            Ok(count) => warn_of_killed(&format!("an earlier run ({})", visible::name(&name)), count),
            Err(e) => {
                let line = format!("what an interrupted run ({name}) left cannot be read: {e}");
                warn(&visible::guard(&format!("warning: {line}")));
            }
        }
    }
}

pub(in crate::cli) fn warn_of_killed(run: &str, count: ChangeCount) {
    warn(&format!("note: {run} was interrupted; what it changed is pending ({count})"));
}

pub(in crate::cli) fn warn_of_killed_jobs(run: &str, taken: &TakenOverChanges) {
    if taken.count.total() > 0 {
        warn_of_killed(run, taken.count);
    }
    if !taken.kept.is_empty() {
        let names: Vec<_> = taken.kept.iter().map(|path| visible::path(path)).collect();
        let names = names.join(", ");
        warn(&format!("note: {run} was interrupted; others changed what it deleted, which is kept: {names}"));
    }
}
