//! The lists that Ctrl-P opens: files, and commands where one is being typed.
//!
//! The list itself is `ui::picker`; here is what goes in and what becomes of what is taken.

use super::input::UnfinishedLine;
use super::path_completion::PathCompletions;
use crate::repl::context::{CommandContext, SlashCommand};
use crate::text::sanitize;
use crate::ui::picker::{PickerFeed, PickerItem, PickerPreview, PickerSender};
use crate::ui::viewer;
use crate::workspace::{LayerKind, OpenConsent, Workspace};
use ignore::WalkBuilder;
use ratatui::text::Line;
use std::io::Read;
use std::time::{Duration, Instant};

/// Files that go into the list together: few at first, so that there is something to see at once.
const FEW: usize = 64;
const BATCH: usize = 2000;
const MOMENT: Duration = Duration::from_millis(20);
/// Files listed at most.
const FILES: usize = 500_000;
/// Bytes of a file that are previewed.
const PREVIEW: u64 = 32 << 10;
/// Entries of a typed directory found beyond the list.
const BEYOND: usize = 500;

/// What is in the line then.
pub(in crate::repl) fn pick_into(context: &CommandContext<'_>, typed: UnfinishedLine) -> UnfinishedLine {
    match typed.before.strip_prefix('/') {
        Some(name) if !name.contains(char::is_whitespace) => pick_command(context, &typed, name),
        _ => pick_files(context, typed),
    }
}

fn pick_command(context: &CommandContext<'_>, typed: &UnfinishedLine, name: &str) -> UnfinishedLine {
    let item = |row: &SlashCommand| {
        let note = format!("{}  {}", row.arguments, row.help);
        PickerItem::new(format!("/{}", row.name), note.trim()).with_value(row.name)
    };
    let feed = PickerFeed::of(context.commands.iter().map(item).collect());
    match context.output.pick_one(context.output.picker("Commands", feed).with_query(name)) {
        Some(name) => UnfinishedLine { before: format!("/{name} "), after: typed.after.clone() },
        None => typed.clone(),
    }
}

fn pick_files(context: &CommandContext<'_>, typed: UnfinishedLine) -> UnfinishedLine {
    let workspace = context.conversation.workspace();
    let feed = PickerFeed::default();
    walk(&workspace, feed.sender());
    let word = typed.before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let (lead, word) = typed.before.split_at(word);
    let mention = word.strip_prefix('@').map(|path| path.trim_start_matches('"'));
    let (beyond, root) = (PathCompletions::new(workspace.cwd()), workspace.clone());
    let hidden = move |path: &str| root.is_hidden(&root.cwd().join(path));
    let picker = context
        .output
        .picker("Files", feed)
        .several()
        .with_query(mention.unwrap_or(""))
        .with_preview(move |item| preview(&workspace, item))
        .with_beyond(move |query| {
            let found = beyond.typed_out(query).into_iter().filter(|path| !hidden(path));
            found.take(BEYOND).map(|path| PickerItem::new(path, "ignored, or hidden by its name")).collect()
        });
    let taken = context.output.pick(picker);
    if taken.is_empty() {
        return typed;
    }
    // A command takes a path as it is; in what is said, `@` makes it a file.
    let sign = if typed.before.starts_with('/') { "" } else { "@" };
    let quoted = |path: &String| match path.contains(char::is_whitespace) {
        true => format!("{sign}\"{path}\""),
        false => format!("{sign}{path}"),
    };
    let words = taken.iter().map(quoted).collect::<Vec<_>>().join(" ");
    let before = match mention {
        Some(_) => lead.to_string(),
        None if word.is_empty() || word.ends_with('(') => typed.before.clone(),
        None => format!("{} ", typed.before),
    };
    let gap = if typed.after.starts_with(char::is_whitespace) { "" } else { " " };
    UnfinishedLine { before: format!("{before}{words}{gap}"), after: typed.after }
}

/// Lists the files below the working directory from a thread of its own, until the list is closed.
fn walk(workspace: &Workspace, feed: PickerSender) {
    let workspace = workspace.clone();
    let work = move || {
        // Hidden files are listed, except `.git`; a `.gitignore` counts outside of a repository, too.
        let root = workspace.cwd().to_path_buf();
        let walk = WalkBuilder::new(&root)
            .hidden(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .build();
        let (mut batch, mut told, mut count) = (Vec::new(), Instant::now(), 0);
        // What is pending is there for the model already: new files are listed, those that go are not.
        let pending =
            workspace.view().and_then(|view| view.changes(LayerKind::Pending).ok()).unwrap_or_default();
        for change in pending.changes.iter().filter(|c| c.before.is_absent() && c.after.is_file()) {
            if let Some(text) = change.path.strip_prefix(&root).ok().and_then(|path| path.to_str()) {
                batch.push(PickerItem::new(text, "pending").with_order(text.matches('/').count()));
            }
        }
        for entry in walk.flatten() {
            if pending.get(entry.path()).is_some_and(|change| change.after.is_absent()) {
                continue;
            }
            if count >= FILES || feed.is_closed() {
                break;
            }
            let Ok(relative) = entry.path().strip_prefix(&root) else { continue };
            // A name that is no text cannot be typed.
            let Some(text) = relative.to_str().filter(|text| !text.is_empty()) else { continue };
            if workspace.is_hidden(entry.path()) {
                continue;
            }
            let slash = if entry.file_type().is_some_and(|kind| kind.is_dir()) { "/" } else { "" };
            // What is near comes first, what is hidden by its name last.
            let dotted = if text.split('/').any(|part| part.starts_with('.')) { 100 } else { 0 };
            let order = text.matches('/').count() + dotted;
            batch.push(PickerItem::new(format!("{text}{slash}"), "").with_order(order));
            count += 1;
            if batch.len() >= BATCH || count < FEW * 4 && batch.len() >= FEW || told.elapsed() > MOMENT {
                feed.push(std::mem::take(&mut batch));
                told = Instant::now();
            }
        }
        feed.push(batch);
    };
    // Where no thread can be started, the list ends with `feed`, which is dropped.
    drop(std::thread::Builder::new().name("files".into()).spawn(work));
}

/// Without the beginning of a letter that was cut off with the rest of the file.
fn whole_letters(mut bytes: Vec<u8>, size: u64) -> Vec<u8> {
    if let Err(e) = std::str::from_utf8(&bytes)
        && e.error_len().is_none()
        && size > bytes.len() as u64
    {
        bytes.truncate(e.valid_up_to());
    }
    bytes
}

/// The beginning of a file, as the conversation has it; the names in a directory.
fn preview(workspace: &Workspace, item: &PickerItem) -> PickerPreview {
    let plain = |text: String| PickerPreview { text, ..PickerPreview::default() };
    let Ok(at) = workspace.resolve(item.value()) else { return PickerPreview::default() };
    if workspace.is_dir(&at.path) {
        let names = workspace.names_in(&at.path, 200);
        let drawn = names.iter().map(|name| Line::raw(sanitize::name(name).into_owned())).collect();
        return PickerPreview { drawn, ..PickerPreview::default() };
    }
    let mut opened = match workspace.open(&at, OpenConsent::Prepared) {
        Ok(opened) => opened,
        Err(e) => return plain(e.to_string()),
    };
    let mut bytes = Vec::new();
    if let Err(e) = (&mut opened.file).take(PREVIEW).read_to_end(&mut bytes) {
        return plain(e.to_string());
    }
    let size = opened.size;
    match memchr::memchr(0, &bytes) {
        Some(_) => {
            plain(format!("not text: {} of {size} bytes", crate::tools::data_kind(&bytes).unwrap_or("data")))
        }
        None => match String::from_utf8(whole_letters(bytes, size)) {
            Ok(text) => {
                PickerPreview { text, language: item.value().to_string(), ..PickerPreview::default() }
            }
            Err(e) => {
                let lines = e.as_bytes().split(|byte| *byte == b'\n').take(200);
                PickerPreview { drawn: lines.map(viewer::exact).collect(), ..PickerPreview::default() }
            }
        },
    }
}
