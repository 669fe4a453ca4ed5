//! `placet session`: lists, shows, renames, exports and deletes the stored conversations.

use super::command_line::options::Options;
use super::command_line::session_args::{ExportFormat, SessionCommand};
use super::report::{self, CliError, print, print_foreign, print_list, warn};
use super::startup::start::{self, StartedFor};
use crate::repl::{SessionListing, session_table, table_room, title_columns};
use crate::session::{MarkdownPictures, SessionPin, SessionStore, html, markdown, pictures, to_json};
use crate::text::{count, regular_file, visible};
use crate::ui::term;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

fn store() -> Result<SessionStore, CliError> {
    let (store, notes) = SessionStore::open(&start::paths()?.state)?;
    notes.iter().for_each(|note| warn(&format!("note: {note}")));
    Ok(store)
}

pub(super) fn run(command: SessionCommand, options: &Options) -> Result<u8, CliError> {
    let store = store()?;
    match command {
        SessionCommand::List { limit, json: true, .. } => list_json(&store, limit)?,
        SessionCommand::List { all, limit, json: false } => list(&store, all, limit, options)?,
        SessionCommand::Show { id } => export(&store, &id, ExportFormat::Markdown, None)?,
        SessionCommand::Export { id, format, output } => export(&store, &id, format, output.as_deref())?,
        SessionCommand::Import { file } => import(&store, &file, options)?,
        SessionCommand::Prune { dry_run } => {
            let dry_run = if dry_run { DryRun::Yes } else { DryRun::No };
            prune(&store, dry_run, options)?;
        }
        SessionCommand::Delete { id } => {
            let row = store.find(&id)?;
            store.delete(&row.id)?;
            warn(&format!("deleted {} ({})", row.id, crate::text::sanitize::line(&row.title)));
        }
        SessionCommand::Rename { id, title } => {
            let row = store.find(&id)?;
            let title = crate::repl::title_of(&title.join(" "));
            if title.is_empty() {
                return Err(CliError::usage("the title is empty"));
            }
            store.rename(&row.id, &title)?;
            warn(&format!("renamed {} to: {title}", row.id));
        }
        SessionCommand::Pin { id } => pin(&store, &id, SessionPin::On)?,
        SessionCommand::Unpin { id } => pin(&store, &id, SessionPin::Off)?,
        SessionCommand::Search { query, limit } => {
            let hits = store.search(&query.join(" "), limit)?;
            let mut out = String::new();
            for hit in &hits {
                let _ =
                    writeln!(out, "{}:{}  {}\n    {}", hit.session, hit.seq, hit.title, hit.marked("«", "»"));
            }
            print_list(&out)?;
            if hits.is_empty() {
                warn("no matches");
                return Ok(report::ERROR);
            }
        }
    }
    Ok(report::DONE)
}

/// Every session for a program, `-p` runs included: it chooses by itself.
fn list_json(store: &SessionStore, limit: usize) -> Result<(), CliError> {
    let rows = store.list(limit)?;
    let mut out = Vec::new();
    for (row, overview) in rows.iter().zip(store.overviews(&rows)) {
        let mut one = serde_json::to_value(row).map_err(CliError::new)?;
        if let Some(map) = one.as_object_mut() {
            map.insert("turns".into(), overview.turns.into());
            map.insert("last_words".into(), overview.last_words.into());
            map.insert("one_shot".into(), overview.is_one_shot.into());
        }
        out.push(one);
    }
    print(&(serde_json::to_string(&out).map_err(CliError::new)? + "\n"))
}

/// The sessions of this directory, then the others, in the same columns.
fn list(store: &SessionStore, all: bool, limit: usize, options: &Options) -> Result<(), CliError> {
    let cwd = start::working_directory(options)?;
    // A mistake in the settings must not hide the sessions.
    let pending = start::load(options, StartedFor::Program).map(|loaded| loaded.app.pending_counts());
    let listing = SessionListing::of(store, usize::MAX, &cwd, &pending.unwrap_or_default())?;
    let room = if std::io::stdout().is_terminal() { usize::from(term::size().0) } else { PIPE_COLUMNS };
    let mut left = limit;
    let mut out = String::new();
    let (runs, others) = (&listing.one_shots, &listing.elsewhere);
    let folded: &[_] = if all { runs } else { &[] };
    let shown: Vec<_> = listing.conversations().chain(folded).take(limit).collect();
    let wide = title_columns(&shown, table_room(None, &shown, room));
    for (title, rows) in
        [("", listing.here.as_slice()), ("other directories", others.as_slice()), ("placet -p", folded)]
    {
        let rows: Vec<_> = rows.iter().take(left).collect();
        left -= rows.len();
        if !rows.is_empty() && !title.is_empty() {
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{title}:");
        }
        for line in session_table(&rows, None, (wide, room)) {
            let _ = writeln!(out, "{line}");
        }
    }
    print_list(&out)?;
    match listing.all().count() {
        0 => warn("no sessions"),
        _ if !all && !runs.is_empty() => {
            warn(&format!(
                "hint: {} of `placet -p`: --all lists them",
                count::of(runs.len(), "more session")
            ));
        }
        _ => {}
    }
    Ok(())
}

/// Columns of a list that is not written to a terminal: enough for the last words, and no more than a line.
const PIPE_COLUMNS: usize = 160;

fn export(
    store: &SessionStore,
    id: &str,
    format: ExportFormat,
    output: Option<&Path>,
) -> Result<(), CliError> {
    let row = store.find(id)?;
    let loaded = store.load(&row.id)?;
    loaded.dropped.iter().for_each(|note| warn(&format!("note: {note}")));
    let beside = output.is_some_and(Path::is_dir) && format == ExportFormat::Markdown;
    let text = match format {
        ExportFormat::Markdown if beside => markdown(&row, &loaded, MarkdownPictures::Beside),
        ExportFormat::Markdown => markdown(&row, &loaded, MarkdownPictures::Named),
        ExportFormat::Html => html(&row, &loaded),
        ExportFormat::Json => {
            let pads = store.scratchpads(&row.id)?;
            serde_json::to_string_pretty(&to_json(&row, &loaded, &pads)).map_err(CliError::new)? + "\n"
        }
    };
    let Some(output) = output else {
        return if format == ExportFormat::Markdown { print_foreign(&text) } else { print(&text) };
    };
    let ending = match format {
        ExportFormat::Markdown => "md",
        ExportFormat::Html => "html",
        ExportFormat::Json => "json",
    };
    if output.as_os_str().as_encoded_bytes().ends_with(b"/") && !output.is_dir() {
        return Err(CliError::new(format!("`{}` is not a directory", visible::path(output))));
    }
    let path = if output.is_dir() { output.join(format!("{}.{ending}", row.id)) } else { output.into() };
    write_new(&path, text.as_bytes())?;
    for (name, bytes) in if beside { pictures(&loaded) } else { Vec::new() } {
        let picture = output.join(name);
        // A picture's name is its content: one that is there is this one.
        if !picture.exists() {
            write_new(&picture, &bytes)?;
        }
    }
    warn(&format!("wrote {}", visible::path(&path)));
    Ok(())
}

/// For this person alone, as the session is; never over a file that is there.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let mut options = std::fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(path);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => CliError::new(format!("`{}` already exists", path.display())),
        _ => CliError::new(format!("cannot write `{}`: {e}", path.display())),
    })
}

/// The largest export that is read: a session of many pictures has about 100 MB.
const LARGEST_EXPORT: u64 = 1 << 30;

fn import(store: &SessionStore, file: &Path, options: &Options) -> Result<(), CliError> {
    let text = match file == Path::new("-") {
        true => std::io::read_to_string(std::io::stdin().lock().take(LARGEST_EXPORT)),
        false => regular_file::read_to_string(file, LARGEST_EXPORT),
    };
    let text = text.map_err(|e| CliError::new(format!("cannot read `{}`: {e}", file.display())))?;
    let cwd = start::working_directory(options)?;
    let session = store
        .import(&text, &cwd)
        .map_err(|e| CliError::new(e).hint("`placet session export ID --format json` writes such a file"))?;
    let row = store.find(session.id().as_str())?;
    print_list(&format!("{}  {}\n", row.id, row.title))
}

/// Removes what the settings do not keep, or says what that would be.
fn prune(store: &SessionStore, dry_run: DryRun, options: &Options) -> Result<(), CliError> {
    let app = start::app(options)?;
    let pruned = match dry_run {
        DryRun::Yes => app.prunable(store)?,
        DryRun::No => app.prune(store)?,
    };
    let mut out = String::new();
    for row in &pruned {
        let when = crate::repl::when(row.updated);
        let _ = writeln!(
            out,
            "{}  {when}  {}  {}",
            row.id,
            crate::text::human_size::of(row.bytes.unsigned_abs()),
            row.title
        );
    }
    print_list(&out)?;
    let sessions = count::of(pruned.len(), "session");
    match dry_run {
        DryRun::Yes => warn(&format!("{sessions} would be removed")),
        DryRun::No => warn(&format!("{sessions} removed")),
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum DryRun {
    Yes,
    No,
}

fn pin(store: &SessionStore, id: &str, pin: SessionPin) -> Result<(), CliError> {
    let row = store.find(id)?;
    store.pin(&row.id, pin)?;
    let told = match pin {
        SessionPin::On => "is pinned: it is listed first and never removed automatically",
        SessionPin::Off => "is not pinned any more",
    };
    warn(&format!("{} {told}", row.id));
    Ok(())
}
