//! `placet try`: the attempts of a directory, from the command line.

use super::pending::report_outcome;
use crate::app::App;
use crate::audit::AuditKind;
use crate::cli::command_line::options::Options;
use crate::cli::command_line::session_selector::{opened, session_of};
use crate::cli::command_line::try_args::TryCommand;
use crate::cli::report::{self, CliError, print, print_foreign, warn};
use crate::cli::startup::start;
use crate::repl::{TryListRow, tries_of, try_table};
use crate::serve::changes;
use crate::session::{SessionStore, TryName};
use crate::text::human_size;
use crate::ui::term;
use serde_json::json;
use std::io::IsTerminal as _;

/// Columns of a list that is not written to a terminal.
const PIPE_COLUMNS: usize = 160;

pub(in crate::cli) fn run(command: TryCommand, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let store = opened(&app)?;
    match command {
        TryCommand::List { json } => list(&app, &store, json),
        TryCommand::Rename { from, to } => {
            let id = session_of(&app, &from)?;
            store.name_try(&id, app.cwd(), &to)?;
            warn(&format!("the try {from} is {to} now"));
            Ok(report::DONE)
        }
        TryCommand::Drop { name } => discard_try(&app, &store, &name),
        TryCommand::Prune { dry_run } => prune(&app, &store, dry_run),
    }
}

fn rows(app: &App, store: &SessionStore) -> Result<Vec<TryListRow>, CliError> {
    Ok(tries_of(store, app.cwd(), |session| Some(app.view(session)))?)
}

fn list(app: &App, store: &SessionStore, as_json: bool) -> Result<u8, CliError> {
    let rows = rows(app, store)?;
    if as_json {
        let value = |row: &TryListRow| {
            json!({
                "name": row.name, "session": row.session, "pending": row.pending, "bytes": row.bytes,
                "changed_since": row.outdated.files, "changed_since_is_partial": row.outdated.is_partial,
                "updated": row.updated, "damage": row.damage,
            })
        };
        let all: Vec<_> = rows.iter().map(value).collect();
        let text = serde_json::to_string_pretty(&all).map_err(CliError::new)?;
        return print(&(text + "\n")).map(|()| report::DONE);
    }
    if rows.is_empty() {
        warn("no tries here");
        warn("hint: `placet --try NAME` begins one");
        return Ok(report::DONE);
    }
    let room = if std::io::stdout().is_terminal() { usize::from(term::size().0) } else { PIPE_COLUMNS };
    print_foreign(&(try_table(&rows, None, room).join("\n") + "\n")).map(|()| report::DONE)
}

fn discard_try(app: &App, store: &SessionStore, name: &TryName) -> Result<u8, CliError> {
    let id = session_of(app, name)?;
    // Held until the end: nobody works in it meanwhile.
    let held = store.resume(&id)?;
    let view = app.view(id.as_str());
    let workspace = app.workspace.with_view(view.clone());
    let told = match changes::shown(&view) {
        Ok(shown) => changes::discard(shown, &[], "`placet undo`", &|path| workspace.shortened(path)),
        Err(told) => told,
    };
    let is_done = told.done;
    let code = report_outcome(app, AuditKind::Discard, "placet try drop", &told, None)?;
    if is_done {
        store.unname_try(&id)?;
        warn(&format!("{name} is not a try any more; its conversation is the session {id}"));
    }
    drop(held);
    Ok(code)
}

/// A try without pending changes has nothing that its session does not have.
fn prune(app: &App, store: &SessionStore, dry_run: bool) -> Result<u8, CliError> {
    let mut pruned = 0;
    for row in rows(app, store)?.into_iter().filter(|row| row.pending == 0 && row.damage.is_none()) {
        let id = session_of(app, &row.name)?;
        // One that is open in a shell stays.
        let Ok(held) = store.resume(&id) else { continue };
        if !dry_run {
            store.unname_try(&id)?;
        }
        print_foreign(&format!("{}  {}  session {id}\n", row.name, human_size::of(row.bytes)))?;
        pruned += 1;
        drop(held);
    }
    let tries = format!("{pruned} {}", if pruned == 1 { "try" } else { "tries" });
    warn(&match dry_run {
        true => format!("{tries} without pending changes would lose the name"),
        false => format!("{tries} without pending changes lost the name; the sessions stay"),
    });
    Ok(report::DONE)
}
