//! `placet session`: what is kept of conversations, listed, read, named, carried away and removed.

use super::args::{ExportFormat, SessionCommand};
use super::report::{self, Failure, print, print_foreign, warn};
use super::start;
use crate::session::{Pin, Store, markdown, to_json};
use std::fmt::Write as _;

fn store() -> Result<Store, Failure> {
    let (store, notes) = Store::open(&start::paths().state)?;
    notes.iter().for_each(|note| warn(&format!("note: {note}")));
    Ok(store)
}

pub(super) fn run(command: SessionCommand) -> Result<u8, Failure> {
    let store = store()?;
    match command {
        SessionCommand::List { limit, json } => {
            let rows = store.list(limit)?;
            if json {
                return print(&(serde_json::to_string(&rows).map_err(Failure::new)? + "\n"))
                    .map(|()| report::DONE);
            }
            let mut out = String::new();
            for row in rows {
                let when = crate::repl::when(row.updated);
                let pin = if row.pinned { "pinned: " } else { "" };
                let _ = writeln!(
                    out,
                    "{}  {when}  {:>4}  {}  {pin}{}",
                    row.id,
                    row.entries,
                    row.cwd.display(),
                    row.title
                );
            }
            print_foreign(&out)?;
        }
        SessionCommand::Show { id } => export(&store, &id, ExportFormat::Markdown)?,
        SessionCommand::Export { id, format } => export(&store, &id, format)?,
        SessionCommand::Delete { id } => {
            let row = store.find(&id)?;
            store.delete(&row.id)?;
            warn(&format!("deleted {} ({})", row.id, crate::text::sanitize::line(&row.title)));
        }
        SessionCommand::Rename { id, title } => {
            let row = store.find(&id)?;
            let title = crate::repl::title_of(&title.join(" "));
            if title.is_empty() {
                return Err(Failure::usage("a title has words"));
            }
            store.rename(&row.id, &title)?;
            warn(&format!("{} is called: {title}", row.id));
        }
        SessionCommand::Pin { id } => pin(&store, &id, Pin::On)?,
        SessionCommand::Unpin { id } => pin(&store, &id, Pin::Off)?,
        SessionCommand::Search { query, limit } => {
            let hits = store.search(&query.join(" "), limit)?;
            let mut out = String::new();
            for hit in &hits {
                let _ =
                    writeln!(out, "{}:{}  {}\n    {}", hit.session, hit.seq, hit.title, hit.marked("«", "»"));
            }
            print_foreign(&out)?;
            if hits.is_empty() {
                warn("nothing found");
                return Ok(report::ERROR);
            }
        }
    }
    Ok(report::DONE)
}

fn export(store: &Store, id: &str, format: ExportFormat) -> Result<(), Failure> {
    let row = store.find(id)?;
    let loaded = store.load(&row.id)?;
    loaded.dropped.iter().for_each(|note| warn(&format!("note: {note}")));
    match format {
        ExportFormat::Markdown => print_foreign(&markdown(&row, &loaded)),
        ExportFormat::Json => {
            let text = serde_json::to_string_pretty(&to_json(&row, &loaded)).map_err(Failure::new)?;
            print(&(text + "\n"))
        }
    }
}

fn pin(store: &Store, id: &str, pin: Pin) -> Result<(), Failure> {
    let row = store.find(id)?;
    store.pin(&row.id, pin)?;
    let told = match pin {
        Pin::On => "is pinned: it is listed first and never removed by itself",
        Pin::Off => "is not pinned any more",
    };
    warn(&format!("{} {told}", row.id));
    Ok(())
}
