//! `placet journal`: what was applied, and what is damaged of it.

use super::pending::{MOST_NOT_IN_PATCH, print_patch};
use crate::agent::applied_overview;
use crate::app::App;
use crate::cli::command_line::args::JournalCommand;
use crate::cli::command_line::options::Options;
use crate::cli::report::{self, CliError, print, print_list, warn};
use crate::cli::startup::start;
use crate::serve::changes;
use crate::text::count;
use crate::workspace::{ChangeClasses, DamagedRecord, JournalEntry, RepairOutcome, View, prune};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(in crate::cli) fn run(command: JournalCommand, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let view = app.view("journal");
    match command {
        JournalCommand::List { limit, json } => list(&view, limit, json),
        JournalCommand::Show { id, patch: false } => show(&app, &view, id),
        JournalCommand::Show { id, patch: true } => show_patch(&app, &view, id),
        JournalCommand::Prune => pruned(&app, &view),
        JournalCommand::Repair => repair(&app),
    }
}

fn list(view: &View, limit: usize, json: bool) -> Result<u8, CliError> {
    if !json {
        let lines = changes::journal_lines(view.journal(), limit);
        if lines.is_empty() {
            warn("no transactions");
        }
        print_list(&lines.iter().map(|l| format!("{l}\n")).collect::<String>())?;
        return Ok(report::DONE);
    }
    let mut entries = view.journal().entries();
    entries.reverse();
    entries.truncate(limit);
    let mut all: Vec<Value> =
        entries.iter().map(serde_json::to_value).collect::<Result<_, _>>().map_err(CliError::new)?;
    all.extend(view.journal().damage().iter().map(damaged));
    print(&(serde_json::to_string_pretty(&all).map_err(CliError::new)? + "\n"))?;
    Ok(report::DONE)
}

/// Damaged records come after the entries, because they do not have the fields of an entry.
fn damaged(damage: &DamagedRecord) -> Value {
    json!({"damaged": damage.part.to_string(), "file": damage.path.to_string_lossy(), "reason": damage.fault.to_string()})
}

/// The transaction with this number, or the newest; `None` where there is none at all.
fn entry_of(view: &View, id: Option<u64>) -> Result<Option<JournalEntry>, CliError> {
    let Some(id) = id.or_else(|| view.journal().newest().map(|newest| newest.id)) else {
        warn("no transactions");
        return Ok(None);
    };
    let entry = view.journal().entry(id);
    let entry = entry.map_err(|damage| {
        CliError::new(damage)
            .hint("`placet journal repair` moves damaged records aside; `placet doctor` lists them")
    })?;
    let missing = || {
        CliError::new(format!("no transaction {id} in this directory"))
            .hint("`placet journal list` lists the transactions")
    };
    entry.map(Some).ok_or_else(missing)
}

fn show_patch(app: &App, view: &View, id: Option<u64>) -> Result<u8, CliError> {
    let Some(entry) = entry_of(view, id)? else { return Ok(report::DONE) };
    let shown = |path: &Path| app.workspace.shortened(path);
    let rows = git_lines(view, &entry, &shown);
    for row in rows.iter().filter(|row| !row.starts_with("in ")).take(MOST_NOT_IN_PATCH) {
        warn(&format!("not in the patch: {}", row.trim_start()));
    }
    if let Some(more) = rows.len().checked_sub(MOST_NOT_IN_PATCH).filter(|more| *more > 0) {
        warn(&format!("not in the patch: {more} more"));
    }
    if !rows.is_empty() {
        warn("hint: `git show` shows the contents of commits");
    }
    let listed = || applied_overview(&entry, view, &app.workspace).list;
    let again = format!("placet journal show {} --patch", entry.id);
    print_patch(&view.applied_by(&entry), listed, (view, &app.workspace), &again)?;
    Ok(report::DONE)
}

fn show(app: &App, view: &View, id: Option<u64>) -> Result<u8, CliError> {
    let Some(entry) = entry_of(view, id)? else { return Ok(report::DONE) };
    let shown = |path: &Path| app.workspace.shortened(path);
    let mut lines = vec![changes::entry_line(&entry)];
    lines.extend(changes::entry_paths(&entry, &shown));
    lines.extend(git_lines(view, &entry, &shown));
    print_list(&(lines.join("\n") + "\n"))?;
    Ok(report::DONE)
}

/// What git did in the repositories: the rows of the files say only how many there are.
fn git_lines(view: &View, entry: &JournalEntry, shown: &dyn Fn(&Path) -> PathBuf) -> Vec<String> {
    let git = view.applied_git_events(entry);
    let mut set = view.applied_by(entry);
    set.changes.retain(|change| git.iter().any(|repository| change.path.starts_with(&repository.path)));
    let rows = set.listing(view.objects(), &ChangeClasses::default(), &git, shown);
    let mut lines = Vec::new();
    for row in &rows {
        match &row.repository {
            Some(name) => lines.push(format!("in {name}:")),
            None => lines.push(row.line()),
        }
    }
    lines
}

fn pruned(app: &App, view: &View) -> Result<u8, CliError> {
    let (journals, _) = app.journals();
    let pruned = prune(&journals, view.objects(), app.keep(), &app.needed()).map_err(CliError::new)?;
    if let Some(first) = pruned.stopped_by.first() {
        let count = pruned.stopped_by.len();
        let records = count::of(count, "record");
        return Err(CliError::new(format!(
            "nothing was removed, because {records} that may refer to stored contents cannot be read: {first}"
        ))
        .hint("`placet journal repair` moves damaged records aside; contents that only these records use can then be removed"));
    }
    print_list(&format!(
        "removed {} and {} ({})\n",
        count::of(pruned.entries, "transaction"),
        count::of(pruned.objects, "stored content"),
        count::of(pruned.bytes, "byte")
    ))?;
    Ok(report::DONE)
}

fn repair(app: &App) -> Result<u8, CliError> {
    let (repaired, aside) = app.repair().map_err(CliError::new)?;
    if repaired.all.is_empty() && repaired.unseen == 0 {
        print("no damage found\n")?;
        return Ok(report::DONE);
    }
    print_list(&changes::repair_lines(&repaired).iter().map(|l| format!("{l}\n")).collect::<String>())?;
    if aside.is_dir() {
        print_list(&format!(
            "nothing was deleted: the damaged files are in {}\n",
            crate::text::visible::path(&aside)
        ))?;
    }
    if repaired.unseen > 0 {
        warn(&format!(
            "warning: not compared in time: {}; run the command again",
            count::of(repaired.unseen, "stored content")
        ));
    }
    let left = |mended: &RepairOutcome| {
        matches!(
            mended,
            RepairOutcome::Busy
                | RepairOutcome::InDoubt
                | RepairOutcome::Unreadable
                | RepairOutcome::Failed(_)
        )
    };
    let unfinished = repaired.unseen > 0 || repaired.all.iter().any(|(_, mended)| left(mended));
    Ok(if unfinished { report::ERROR } else { report::DONE })
}
