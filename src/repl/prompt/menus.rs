//! The lists that Ctrl-P opens: files, and commands where one is being typed.
//!
//! The list itself is `ui::picker`; here is what goes in and what becomes of what is taken.

use super::file_list::file_list;
use super::input::UnfinishedLine;
use crate::repl::commands::menu_order;
use crate::repl::context::{CommandContext, SlashCommand};
use crate::text::sanitize;
use crate::ui::picker::{PickerFeed, PickerItem, PickerPreview};
use crate::ui::viewer;
use crate::workspace::{OpenConsent, Workspace};
use ratatui::text::Line;
use std::io::Read;

/// Bytes of a file that are previewed.
const PREVIEW: u64 = 32 << 10;

/// What is in the line then.
pub(in crate::repl) fn pick_into(context: &CommandContext<'_>, typed: UnfinishedLine) -> UnfinishedLine {
    match typed.before.strip_prefix('/') {
        Some(name) if !name.contains(char::is_whitespace) => pick_command(context, &typed, name),
        _ => pick_files(context, typed),
    }
}

fn pick_command(context: &CommandContext<'_>, typed: &UnfinishedLine, name: &str) -> UnfinishedLine {
    let needed = context.conversation.needed_command();
    let item = |row: &SlashCommand| {
        let note = format!("{}  {}", row.arguments, row.help);
        let order = menu_order(row.name, needed);
        PickerItem::new(format!("/{}", row.name), note.trim()).with_value(row.name).with_order(order)
    };
    let feed = PickerFeed::of(context.commands.iter().map(item).collect());
    match context.output.pick_one(context.output.picker("Commands", feed).with_query(name)) {
        Some(name) => UnfinishedLine { before: format!("/{name} "), after: typed.after.clone() },
        None => typed.clone(),
    }
}

fn pick_files(context: &CommandContext<'_>, typed: UnfinishedLine) -> UnfinishedLine {
    let workspace = context.conversation.workspace();
    let feed = file_list(&workspace, context.app.tools.servers);
    let word = typed.before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let (lead, word) = typed.before.split_at(word);
    let mention = word.strip_prefix('@').map(|path| path.trim_start_matches('"'));
    let picker = context
        .output
        .picker("Files", feed)
        .several()
        .with_query(mention.unwrap_or(""))
        .with_preview(move |item| preview(&workspace, item));
    let taken = context.output.pick(picker);
    if taken.is_empty() {
        return typed;
    }
    // A command takes a path as it is. In a message, `@` attaches the file.
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
