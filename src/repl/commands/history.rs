//! `/history`: a line that was typed before comes into the prompt.

use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::prompt::UnfinishedLine;
use crate::ui::picker::{PickerFeed, PickerItem, PickerPreview};
use std::collections::HashSet;
use std::path::Path;

/// Lines that can be chosen from.
const LINES: usize = 20_000;

/// All sessions together, the newest line first.
pub(super) fn history(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    let store = context.conversation.store.as_ref();
    let lines = store.and_then(|store| store.history(LINES).ok()).unwrap_or_default();
    let mut seen = HashSet::new();
    let lines = lines.into_iter().rev().filter(|line| line.line.trim() != "/history");
    let items = lines.filter(|line| seen.insert(line.line.clone())).map(|line| {
        let place = Path::new(&line.cwd).file_name().unwrap_or_default().to_string_lossy().into_owned();
        PickerItem::new(line.line.replace('\n', " ⏎ "), place).with_value(line.line)
    });
    let feed = PickerFeed::of(items.collect());
    let picker = context
        .output
        .picker("History", feed)
        .with_preview(|item| PickerPreview { text: item.value().to_string(), ..PickerPreview::default() });
    let line = context.output.pick_one(picker).ok_or(CommandStop::Cancelled)?;
    Ok(CommandFollowUp::EditLine(UnfinishedLine::new(line)))
}
