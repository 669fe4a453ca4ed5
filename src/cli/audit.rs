//! `placet audit`: the log checked, shown and handed on. Never writes to it.

use super::command_line::args::AuditCommand;
use super::report::{self, CliError, print_foreign, print_list, warn};
use super::startup::start;
use crate::app::interceptors::audit_places;
use crate::audit::{AuditEntry, AuditError, entries, verify};
use crate::text::{count, regular_file};

impl From<AuditError> for CliError {
    fn from(error: AuditError) -> CliError {
        let hint = error.hint();
        CliError::new(error).hint(hint)
    }
}

/// Needs no application: a log is looked at also where nothing else works.
pub(super) fn run(command: &AuditCommand) -> Result<u8, CliError> {
    let places = audit_places(&start::paths()?);
    match command {
        AuditCommand::Verify => {
            let report = verify(&places)?;
            if report.unfinished {
                warn(
                    "note: the last line is unfinished (a crash while it was written); the next entry replaces it",
                );
            }
            match report.broken {
                None => {
                    let entries = count::of(report.entries, "entry");
                    print_foreign(&format!("{entries}, no changes found\n")).map(|()| report::DONE)
                }
                Some(broken) => {
                    print_foreign(&format!("{broken}\n"))?;
                    let looked = count::of(report.entries, "entry");
                    warn(&format!("checked {looked} in {}", places.log.display()));
                    Ok(report::ERROR)
                }
            }
        }
        AuditCommand::Show { limit, json } => {
            let all = entries(&places)?;
            let newest = all.get(all.len().saturating_sub(*limit)..).unwrap_or_default();
            if newest.is_empty() && !json {
                warn("no entries");
            }
            let mut out = String::new();
            for entry in newest {
                let line = match json {
                    true => serde_json::to_string(entry).map_err(CliError::new)?,
                    false => line(entry),
                };
                out.push_str(&line);
                out.push('\n');
            }
            print_list(&out).map(|()| report::DONE)
        }
        AuditCommand::Export => {
            let text = match regular_file::read(&places.log, u64::MAX) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
                Err(e) => return Err(CliError::new(format!("`{}`: {e}", places.log.display()))),
            };
            print_foreign(&text).map(|()| report::DONE)
        }
    }
}

/// `12 2026-11-21T12:00:00Z decision read_file allow  read /a/b  (read mode allows it)`.
fn line(entry: &AuditEntry) -> String {
    let note = &entry.note;
    let kind = note.kind.name();
    let time = entry.time.split('.').next().unwrap_or_default();
    let mut out = format!("{:>6}  {time}  {kind:<8}", entry.seq);
    for word in [&note.tool, &note.decision, &note.outcome, &note.taint].into_iter().flatten() {
        out.push(' ');
        out.push_str(word);
    }
    if !note.reach.is_empty() {
        out.push_str(&format!("  {}", note.reach.join(", ")));
    }
    if let Some(why) = &note.why {
        out.push_str(&format!("  ({why})"));
    }
    crate::text::sanitize::line(&out).into_owned()
}
