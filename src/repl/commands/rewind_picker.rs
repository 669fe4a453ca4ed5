//! The turns of a conversation as a list, and what going back to before one of them does, to choose from.

use super::rewind_turn::{RewindScope, RewindTurn};
use crate::repl::context::CommandContext;
use crate::serve::changes::figures;
use crate::text::visible;
use crate::ui::picker::{PickerFeed, PickerItem, PickerPreview};
use crate::workspace::{AppliedChange, JournalEntry, View};
use ratatui::text::Line;
use std::collections::BTreeSet;
use std::path::Path;

/// Files named in the preview.
const FILES: usize = 100;

/// What going back to before a turn does.
struct RewindEffect {
    turns: usize,
    files: BTreeSet<String>,
    added: usize,
    removed: usize,
}

impl RewindEffect {
    fn of(context: &CommandContext<'_>, view: &View, turns: &[RewindTurn]) -> RewindEffect {
        let entries: Vec<JournalEntry> = turns.iter().flat_map(|turn| turn.entries.iter().cloned()).collect();
        let (_, added, removed) = figures(view, &entries);
        let is_file = |change: &&AppliedChange| change.before.is_file() || change.after.is_file();
        let shown = |path: &Path| visible::path(&context.app.workspace.shortened(path));
        let changes = entries.iter().flat_map(|entry| &entry.changes).filter(is_file);
        let files = changes.map(|change| shown(&change.path)).collect();
        RewindEffect { turns: turns.len(), files, added, removed }
    }

    /// `2 files +5 -1`
    fn figures(&self) -> String {
        match self.files.len() {
            0 => "no files".into(),
            count => format!("{count} {} +{} -{}", plural(count, "file"), self.added, self.removed),
        }
    }

    fn conversation(&self) -> String {
        let count = self.turns;
        format!("{count} {} leave the conversation; /tree opens them again", plural(count, "turn"))
    }

    fn undone(&self) -> String {
        match self.files.len() {
            0 => "no file changes".into(),
            _ => format!("{} undone; your own later edits stay", self.figures()),
        }
    }
}

/// The turn to go back to before, from the end of the list, and what goes back.
pub(super) fn choose(
    context: &CommandContext<'_>,
    view: &View,
    turns: &[RewindTurn],
) -> Option<(usize, RewindScope)> {
    let from = choose_turn(context, view, turns)?;
    let effect = RewindEffect::of(context, view, turns.get(from..).unwrap_or_default());
    if effect.files.is_empty() {
        return Some((from, RewindScope::Conversation));
    }
    let scopes = [
        (
            RewindScope::Both,
            "files and conversation",
            format!("{}; {}", effect.undone(), effect.conversation()),
        ),
        (RewindScope::Files, "only files", format!("{}; the conversation stays", effect.undone())),
        (RewindScope::Conversation, "only conversation", format!("{}; files stay", effect.conversation())),
    ];
    let item = |(at, (_, name, note)): (usize, &(RewindScope, &str, String))| {
        PickerItem::new(*name, note).with_value(at.to_string()).with_order(at)
    };
    let feed = PickerFeed::of(scopes.iter().enumerate().map(item).collect());
    let said = turns.get(from).map(|turn| visible::prose_line(&turn.said).into_owned()).unwrap_or_default();
    let title = format!("Rewind to before: {}", crate::text::width::cut(&said, 30));
    let taken = context.output.pick_one(context.output.picker(&title, feed))?;
    let (scope, ..) = scopes.get(taken.parse::<usize>().ok()?)?;
    Some((from, *scope))
}

fn choose_turn(context: &CommandContext<'_>, view: &View, turns: &[RewindTurn]) -> Option<usize> {
    let item = |(at, turn): (usize, &RewindTurn)| {
        let own = RewindEffect::of(context, view, std::slice::from_ref(turn));
        let age = turn.entries.iter().map(|entry| entry.at).max().map(age).unwrap_or_default();
        let note = format!("{}{}{age}", own.figures(), if age.is_empty() { "" } else { "  " });
        let said = match turn.said.is_empty() {
            true => "(no text)".to_string(),
            false => visible::prose_line(&turn.said).into_owned(),
        };
        PickerItem::new(said, note).with_value(at.to_string()).with_order(turns.len() - at)
    };
    let feed = PickerFeed::of(turns.iter().enumerate().map(item).collect());
    let about = |item: &PickerItem| {
        let from = item.value().parse::<usize>().unwrap_or(0);
        let effect = RewindEffect::of(context, view, turns.get(from..).unwrap_or_default());
        let said = turns.get(from).map(|turn| turn.text.as_str()).unwrap_or_default();
        let head = ["Rewinding to before this turn:".into(), effect.conversation(), effect.undone()];
        let files = effect.files.iter().take(FILES).map(|name| format!("  {name}"));
        let text: Vec<String> = said.lines().take(6).map(String::from).collect();
        let lines = text.into_iter().chain([String::new()]).chain(head).chain(files);
        let drawn = lines.map(|line| Line::raw(visible::guard_line(&line).into_owned())).collect();
        PickerPreview { drawn, ..PickerPreview::default() }
    };
    let picker = context.output.picker("Rewind to before a turn", feed).with_preview(about);
    context.output.pick_one(picker)?.parse().ok()
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.into() } else { format!("{word}s") }
}

/// `12 min ago`, from milliseconds since 1970.
fn age(at: u64) -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    let seconds = u64::try_from(now).unwrap_or(0).saturating_sub(at) / 1000;
    match seconds {
        0..60 => "just now".into(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86400),
    }
}
