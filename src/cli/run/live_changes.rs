//! What programs that are running have changed so far, for `placet changes`. Nothing of it is pending before the program
//! has ended: the rows say so, and no other subcommand takes it.

use super::registry::{self, RunningProgram};
use super::running_page::look;
use crate::app::App;
use crate::cli::command_line::session_selector::SessionSelector;
use crate::cli::terminal_run::{CHANGES, PageNetwork};
use crate::text::{visible, width};
use crate::ui::run_page::{RunPageChange, RunPageFacts};
use crate::workspace::{RunningCounts, running_patch};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Columns of a command line in a sentence.
const LONGEST_LINE: usize = 60;

/// A running program, and its changes now.
pub(in crate::cli) struct LiveChanges {
    run: RunningProgram,
    facts: RunPageFacts,
}

/// The programs that run in the directory of `app`, or those whose session `which` names.
pub(in crate::cli) fn live_changes(app: &App, which: &SessionSelector) -> Vec<LiveChanges> {
    let here = app.cwd().to_string_lossy();
    let is_meant = |run: &RunningProgram| match (&which.session, &which.try_name) {
        (Some(prefix), _) => run.session.starts_with(prefix.as_str()),
        (None, Some(_)) => false,
        (None, None) => run.workspace == here,
    };
    let runs = registry::running(&app.paths.state).into_iter().filter(is_meant);
    let live = |run: RunningProgram| {
        let facts = look(app, &run, &mut RunningCounts::default(), &mut PageNetwork::at(None));
        LiveChanges { run, facts }
    };
    runs.map(live).collect()
}

impl LiveChanges {
    /// The sentence above its changes.
    pub(in crate::cli) fn heading(&self) -> String {
        let RunningProgram { pid, program, .. } = &self.run;
        let program = width::cut(&program.line(), LONGEST_LINE);
        match &self.facts.error {
            Some(error) => format!("{program} is running (process {pid}): {}", visible::guard(error)),
            None if self.is_empty() => {
                format!("{program} is running (process {pid}), without changes so far")
            }
            None => format!(
                "{program} is running (process {pid}); its changes so far, none of them applied or pending:"
            ),
        }
    }

    pub(in crate::cli) fn is_empty(&self) -> bool {
        self.facts.changes.is_empty() && self.facts.repositories.is_empty()
    }

    /// The sentence and a row for each change.
    pub(in crate::cli) fn lines(&self) -> Vec<String> {
        let counts = |counts: Option<(usize, usize)>| {
            counts.map_or(String::new(), |(added, removed)| format!(" +{added} -{removed}"))
        };
        let changes = self.facts.changes.iter();
        let changes = changes.map(|one| format!("{} {}{}", one.letter, one.path, counts(one.counts)));
        let repositories = self.facts.repositories.iter();
        let repositories =
            repositories.map(|one| format!("{} {} ({})", one.letter, one.path, one.rows.join(", ")));
        let more = self.facts.is_cut.then(|| format!("... and more than these {CHANGES}"));
        std::iter::once(self.heading()).chain(repositories).chain(changes).chain(more).collect()
    }

    /// One object for each file; `running` tells it from a pending change.
    pub(in crate::cli) fn values(&self) -> Vec<Value> {
        let running = json!({"pid": self.run.pid, "session": self.run.session, "program": self.run.program});
        let one = |change: &RunPageChange| {
            json!({
                "path": change.at.to_string_lossy(),
                "change": match change.letter {
                    'A' => "created",
                    'D' => "deleted",
                    _ => "modified",
                },
                "added": change.counts.map(|counts| counts.0),
                "removed": change.counts.map(|counts| counts.1),
                "running": running,
            })
        };
        self.facts.changes.iter().map(one).collect()
    }

    /// The patch of its files, and a line for each file that is not in it.
    pub(in crate::cli) fn patch(&self, name: impl Fn(&Path) -> PathBuf) -> (Vec<u8>, Vec<String>) {
        let (mut patch, mut left_out) = (Vec::new(), Vec::new());
        for change in &self.facts.changes {
            match running_patch(&self.run.layers, &change.at, &name(&change.at)) {
                Ok(bytes) => patch.extend(bytes),
                Err(error) => left_out.push(format!("{}: {error}", change.path)),
            }
        }
        (patch, left_out)
    }
}
