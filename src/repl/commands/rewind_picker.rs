//! The turns of a conversation as a list, and what going back to before one of them does, to choose from.

use super::rewind_turn::{RewindScope, RewindTurn};
use crate::repl::context::CommandContext;
use crate::serve::changes::{figures, person_changes};
use crate::text::{visible, width};
use crate::ui::list::{self, PreviewArea};
use crate::ui::picker::{PickerFeed, PickerItem, PickerPreview};
use crate::ui::term;
use crate::ui::wrap::wrap;
use crate::workspace::{AppliedChange, ChangeCount, View};
use ratatui::text::Line;
use std::collections::BTreeSet;
use std::path::Path;

/// Files named in the preview.
const FILES: usize = 100;

/// Columns of the first words of a turn at least. They get what the longest note leaves of the list.
const WORDS: usize = 20;
/// Between the words and the note.
const GAP: usize = 2;
/// In front of the words.
const PICKER_LEAD: usize = 3;
/// The newest turns, of which the changed lines are counted: that reads the files.
const COUNTED: usize = 100;

/// What a turn changed, or what going back to before several turns does.
#[derive(Clone, Default)]
struct RewindEffect {
    turns: usize,
    files: BTreeSet<String>,
    /// Lines added and removed, where they are counted.
    lines: Option<(usize, usize)>,
    /// Changes that are still pending.
    pending: ChangeCount,
    /// The same of this turn and all later ones.
    pending_from_here: ChangeCount,
}

impl RewindEffect {
    /// Of each turn by itself.
    fn each(context: &CommandContext<'_>, view: &View, turns: &[RewindTurn]) -> Vec<RewindEffect> {
        let is_file = |change: &&AppliedChange| change.before.is_file() || change.after.is_file();
        let shown = |path: &Path| visible::path(&context.app.workspace.shortened(path));
        let effect = |(at, turn): (usize, &RewindTurn)| {
            let changes = turn.entries.iter().flat_map(person_changes).filter(is_file);
            let files = changes.map(|change| shown(&change.path)).collect();
            let lines = (turns.len() - at <= COUNTED).then(|| {
                let (_, added, removed) = figures(view, &turn.entries);
                (added, removed)
            });
            let (pending, pending_from_here) = (turn.pending, turn.pending_from_here);
            RewindEffect { turns: 1, files, lines, pending, pending_from_here }
        };
        turns.iter().enumerate().map(effect).collect()
    }

    /// Of all turns from one to the last.
    fn sum(effects: &[RewindEffect]) -> RewindEffect {
        let pending = effects.first().map(|first| first.pending_from_here).unwrap_or_default();
        let start = RewindEffect {
            lines: Some((0, 0)),
            pending,
            pending_from_here: pending,
            ..RewindEffect::default()
        };
        effects.iter().fold(start, |mut sum, one| {
            sum.turns += one.turns;
            sum.files.extend(one.files.iter().cloned());
            sum.lines = sum.lines.zip(one.lines).map(|(sum, one)| (sum.0 + one.0, sum.1 + one.1));
            sum
        })
    }

    /// `2 files +5 -1`
    fn figures(&self) -> String {
        let lines = self.lines.map(|(added, removed)| format!(" +{added} -{removed}")).unwrap_or_default();
        match (self.files.len(), self.pending.total()) {
            (0, 0) => "no files".into(),
            (0, pending) => format!("{pending} pending"),
            (count, 0) => format!("{count} {}{lines}", plural(count, "file")),
            (count, pending) => format!("{count} {}{lines}, {pending} pending", plural(count, "file")),
        }
    }

    /// What a rewind leaves pending.
    fn stays_pending(&self) -> String {
        match self.pending.total() {
            0 => String::new(),
            _ => format!("; changes to {} stay pending", self.pending),
        }
    }

    fn conversation(&self) -> String {
        let (count, verb) = (self.turns, if self.turns == 1 { "leaves" } else { "leave" });
        format!("{count} {} {verb} the conversation", plural(count, "turn"))
    }

    fn undone(&self) -> String {
        match self.files.len() {
            0 => "no applied changes".into(),
            count => {
                let lines =
                    self.lines.map(|(added, removed)| format!(" +{added} -{removed}")).unwrap_or_default();
                format!("{count} {}{lines} undone", plural(count, "file"))
            }
        }
    }
}

/// The turn to go back to before, from the end of the list, and what goes back.
pub(super) fn choose(
    context: &CommandContext<'_>,
    view: &View,
    turns: &[RewindTurn],
) -> Option<(usize, RewindScope)> {
    let effects = RewindEffect::each(context, view, turns);
    let from = choose_turn(context, &effects, turns)?;
    let effect = RewindEffect::sum(effects.get(from..).unwrap_or_default());
    if effect.files.is_empty() && effect.pending.total() == 0 {
        return Some((from, RewindScope::Conversation));
    }
    let (undone, left, waits) = (effect.undone(), effect.conversation(), effect.stays_pending());
    let mut scopes = vec![
        (RewindScope::Both, "files and conversation", format!("{undone}, {left}{waits}")),
        (RewindScope::Files, "only files", format!("{undone}; the conversation stays{waits}")),
        (RewindScope::Conversation, "only conversation", format!("{left}; files stay{waits}")),
    ];
    if effect.files.is_empty() {
        // The turns would leave while their changes stay: that is not done without a word.
        scopes.drain(..2);
    }
    let item = |(at, (_, name, note)): (usize, &(RewindScope, &str, String))| {
        PickerItem::new(*name, note).with_value(at.to_string()).with_order(at)
    };
    let feed = PickerFeed::of(scopes.iter().enumerate().map(item).collect());
    let said = turns.get(from).map(|turn| visible::prose_line(&turn.said).into_owned()).unwrap_or_default();
    let title = format!("Rewind to before: {}", width::cut(&said, 30));
    let taken = context.output.pick_one(context.output.picker(&title, feed).with_whole_notes())?;
    let (scope, ..) = scopes.get(taken.parse::<usize>().ok()?)?;
    Some((from, *scope))
}

fn choose_turn(
    context: &CommandContext<'_>,
    effects: &[RewindEffect],
    turns: &[RewindTurn],
) -> Option<usize> {
    let note = |turn: &RewindTurn, own: &RewindEffect| {
        let age = turn.entries.iter().map(|entry| entry.at).max().map(age).unwrap_or_default();
        format!("{}{}{age}", own.figures(), if age.is_empty() { "" } else { "  " })
    };
    let widest = turns.iter().zip(effects).map(|(turn, own)| width::of(&note(turn, own))).max().unwrap_or(0);
    let list = usize::from(list::areas(term::size()).0.width);
    let room = list.saturating_sub(PICKER_LEAD + widest + GAP).max(WORDS);
    let item = |(at, (turn, own)): (usize, (&RewindTurn, &RewindEffect))| {
        let note = note(turn, own);
        let said = match turn.said.is_empty() {
            true => "(no text)".to_string(),
            false => width::cut(&visible::prose_line(&turn.said), room),
        };
        PickerItem::new(said, note).with_value(at.to_string()).with_order(turns.len() - at)
    };
    let feed = PickerFeed::of(turns.iter().zip(effects).enumerate().map(item).collect());
    let about = |item: &PickerItem| {
        let from = item.value().parse::<usize>().unwrap_or(0);
        let effect = RewindEffect::sum(effects.get(from..).unwrap_or_default());
        let said = turns.get(from).map(|turn| turn.text.as_str()).unwrap_or_default();
        let head = [
            String::new(),
            "Rewinding to before this turn:".into(),
            format!("- {}", effect.conversation()),
            "  (/tree opens them again)".into(),
            format!("- {}{}", effect.undone(), effect.stays_pending()),
            "  (your own later edits stay)".into(),
        ];
        let files = effect.files.iter().take(FILES).map(|name| format!("  {name}"));
        // Below the list are few rows, and the first words are in the list.
        let area = list::preview_areas(term::size()).1;
        let said_lines = if matches!(area, Some(PreviewArea::Below(_))) { 0 } else { 6 };
        let text: Vec<String> = said.lines().take(said_lines).map(String::from).collect();
        let lines = text.into_iter().chain(head).chain(files).skip(usize::from(said_lines == 0));
        let columns = area.map_or(usize::MAX, |area| usize::from(area.inside().width));
        let rows = |line: String| wrap(&Line::raw(visible::guard_line(&line).into_owned()), columns);
        let drawn = lines.flat_map(rows).collect();
        PickerPreview { drawn, ..PickerPreview::default() }
    };
    let longest = turns.iter().map(|turn| width::of(&visible::prose_line(&turn.said))).max().unwrap_or(0);
    let picker = context.output.picker("Rewind to before a turn", feed).with_preview(about);
    context.output.pick_one(picker.in_columns(longest.min(room)))?.parse().ok()
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
