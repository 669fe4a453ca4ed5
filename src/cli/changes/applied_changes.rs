//! What `placet apply` and `placet review` print below `applied changes to ...`: on a terminal what the shell leaves there,
//! in a pipe a plain line for each change.

use crate::agent::{AppliedOverview, ApplyQuestionPlace, CommandLineQuestion};
use crate::app::App;
use crate::cli::report::{CliError, print_foreign, print_list, print_styled};
use crate::cli::screen;
use crate::config::AppliedSetting;
use crate::tools::ChangeOverview;
use crate::ui::turn_pane::{AppliedSpace, applied_lines};
use crate::ui::{ansi, margin_mark, term};
use crate::workspace::{TransactionLabel, View, Workspace};
use std::io::{self, IsTerminal};

/// Prints what the transaction `id`, which was just applied, has changed.
pub(in crate::cli) fn print(
    app: &App,
    (view, workspace): (&View, &Workspace),
    (id, label): (u64, &TransactionLabel),
) -> Result<(), CliError> {
    let ui = &app.config.settings().ui;
    if ui.applied == AppliedSetting::Line {
        return Ok(());
    }
    let Ok(Some(entry)) = view.journal().entry(id) else { return Ok(()) };
    let asked = CommandLineQuestion { label: label.clone(), sends_to: None };
    let place = ApplyQuestionPlace::CommandLine(Box::new(asked));
    let applied = AppliedOverview::of(&entry, (view, workspace), &place);
    match &applied.changes {
        Some(changes) if !io::stdout().is_terminal() => print_foreign(&plain(changes)),
        Some(changes) if ui.linear => print_list(&plain(changes)),
        _ if !io::stdout().is_terminal() => Ok(()),
        _ => on_terminal(app, &applied),
    }
}

fn plain(changes: &ChangeOverview) -> String {
    changes.list.iter().map(|row| row.line() + "\n").collect()
}

fn on_terminal(app: &App, applied: &AppliedOverview) -> Result<(), CliError> {
    let (columns, rows) = term::size();
    let space = AppliedSpace::new(columns.into(), rows.into());
    let lines = applied_lines(applied, app.config.settings().ui.applied, &screen::theme(app)?.0, space);
    let lines = lines.into_iter().map(|line| margin_mark::clear_margin(line, columns.into()));
    // A dumb terminal has no styles at all, and shows what would switch them.
    let text = |line| if term::is_dumb() { format!("{line}\n") } else { ansi::line(&line) + "\n" };
    print_styled(&lines.map(text).collect::<String>())
}
