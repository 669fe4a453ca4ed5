//! The turns of a conversation as a list, and what going back to before one of them does, to choose from.

use super::rewind_turn::{RewindScope, RewindTurn};
use crate::repl::context::CommandContext;
use crate::serve::changes::{figures, person_changes};
use crate::text::{count, visible, width};
use crate::ui::list::{self, PreviewArea};
use crate::ui::picker::{PickerFeed, PickerItem, PickerPreview};
use crate::ui::term;
use crate::ui::wrap::wrap;
use crate::workspace::{AppliedChange, ChangeCount, View};
use ratatui::text::{Line, Span};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Columns of the first words of a turn at least. They get what the longest note leaves of the list.
const WORDS: usize = 20;
/// The same where a note names a repository: what is undone is not cut.
const WORDS_WITH_REPOSITORIES: usize = 10;
/// Lines of the message that are shown next to the list.
const SAID_LINES: usize = 6;
/// Between the words and the note.
const GAP: usize = 2;
/// In front of the words.
const PICKER_LEAD: usize = 3;
/// The row of the present, above the last turn: nothing is rewound there.
const NOW: &str = "(current)";
/// The newest turns, of which the changed lines are counted: that reads the files.
const COUNTED: usize = 100;

/// What a turn changed, or what going back to before several turns does.
#[derive(Clone, Default)]
struct RewindEffect {
    turns: usize,
    /// What is applied.
    count: ChangeCount,
    files: BTreeSet<String>,
    /// What leaves the repositories, a row each; only where it is shown.
    git_rows: Vec<String>,
    /// Lines added and removed, where they are counted.
    lines: Option<(usize, usize)>,
    /// Changes that are still pending.
    pending: ChangeCount,
    /// The same of this turn and all later ones.
    pending_from_here: ChangeCount,
}

/// The effects of a list of turns.
struct RewindEffects<'a, 'c> {
    context: &'a CommandContext<'c>,
    view: &'a View,
    turns: &'a [RewindTurn],
    /// Of each turn by itself.
    each: Vec<RewindEffect>,
    /// Of all turns from one to the last: reading the repositories takes a while.
    sums: RefCell<HashMap<usize, RewindEffect>>,
}

impl<'a, 'c> RewindEffects<'a, 'c> {
    fn of(context: &'a CommandContext<'c>, view: &'a View, turns: &'a [RewindTurn]) -> RewindEffects<'a, 'c> {
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
            let count = ChangeCount::of_entries(&turn.entries);
            let git_rows = Vec::new();
            RewindEffect { turns: 1, count, files, git_rows, lines, pending, pending_from_here }
        };
        let each = turns.iter().enumerate().map(effect).collect();
        RewindEffects { context, view, turns, each, sums: RefCell::default() }
    }

    /// Of all turns from one to the last.
    fn from(&self, from: usize) -> RewindEffect {
        if let Some(known) = self.sums.borrow().get(&from) {
            return known.clone();
        }
        let effects = self.each.get(from..).unwrap_or_default();
        let entries = RewindTurn::entries_of(self.turns.get(from..).unwrap_or_default());
        let pending = effects.first().map(|first| first.pending_from_here).unwrap_or_default();
        let shown = |path: &Path| visible::path(&self.context.app.workspace.shortened(path));
        let start = RewindEffect {
            count: ChangeCount::of_entries(&entries),
            git_rows: self.view.undone_git_rows(&entries, &shown),
            lines: Some((0, 0)),
            pending,
            pending_from_here: pending,
            ..RewindEffect::default()
        };
        let sum = effects.iter().fold(start, |mut sum, one| {
            sum.turns += one.turns;
            sum.files.extend(one.files.iter().cloned());
            sum.lines = sum.lines.zip(one.lines).map(|(sum, one)| (sum.0 + one.0, sum.1 + one.1));
            sum
        });
        self.sums.borrow_mut().insert(from, sum.clone());
        sum
    }
}

impl RewindEffect {
    /// `2 files +5 -1`, `1 file and 1 repository +0 -1`
    fn applied(&self) -> String {
        let lines = self.lines.filter(|_| self.count.files > 0);
        let lines = lines.map(|(added, removed)| format!(" +{added} -{removed}")).unwrap_or_default();
        format!("{}{lines}", self.count)
    }

    fn figures(&self) -> String {
        match (self.count.total(), self.pending.total()) {
            (0, 0) => "no files".into(),
            (0, pending) => format!("{pending} pending"),
            (_, 0) => self.applied(),
            (_, pending) => format!("{}, {pending} pending", self.applied()),
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
        let verb = if self.turns == 1 { "leaves" } else { "leave" };
        format!("{} {verb} the conversation", count::of(self.turns, "turn"))
    }

    fn undone(&self) -> String {
        match self.count.total() {
            0 => "no applied changes".into(),
            _ => format!("{} undone", self.applied()),
        }
    }

    /// What is undone by name: what leaves the repositories, then the files.
    fn names(&self) -> Vec<String> {
        self.git_rows.iter().chain(self.files.iter()).map(|name| format!("  {name}")).collect()
    }
}

/// A point of a list, or a name, continues below its words.
fn hanging_rows(line: &str, columns: usize) -> Vec<Line<'static>> {
    let words = line.trim_start_matches(' ');
    let words = words.strip_prefix("- ").unwrap_or(words);
    let (lead, words) = line.split_at(line.len() - words.len());
    let mut rows = wrap(&Line::raw(words.to_string()), columns.saturating_sub(lead.len()));
    for (at, row) in rows.iter_mut().enumerate() {
        let lead = if at == 0 { lead.to_string() } else { " ".repeat(lead.len()) };
        row.spans.insert(0, Span::raw(lead));
    }
    rows
}

/// The rows of `head` and as many of `names` as there is room for; the last row says how many are left out.
fn preview_rows(head: Vec<String>, names: Vec<String>, area: Option<PreviewArea>) -> Vec<Line<'static>> {
    let inside = area.map(PreviewArea::inside);
    let columns = inside.map_or(usize::MAX, |area| usize::from(area.width));
    let height = inside.map_or(usize::MAX, |area| usize::from(area.height));
    let rows = |line: &String| hanging_rows(&visible::guard_line(line), columns);
    let mut drawn: Vec<Line<'static>> = head.iter().flat_map(rows).collect();
    let all = names.len();
    for (at, name) in names.iter().enumerate() {
        let more = rows(name);
        // A row stays for the number of the others, unless this is the last name.
        let reserved = usize::from(at + 1 < all);
        if drawn.len() + more.len() + reserved > height {
            drawn.push(Line::raw(format!("  ... {} more", all - at)));
            break;
        }
        drawn.extend(more);
    }
    drawn
}

/// The turn to go back to before, from the end of the list, and what goes back.
pub(in crate::repl::commands) fn choose(
    context: &CommandContext<'_>,
    view: &View,
    turns: &[RewindTurn],
) -> Option<(usize, RewindScope)> {
    let effects = RewindEffects::of(context, view, turns);
    let from = choose_turn(&effects)?;
    let effect = effects.from(from);
    if effect.count.total() == 0 && effect.pending.total() == 0 {
        return Some((from, RewindScope::Conversation));
    }
    let (undone, left, waits) = (effect.undone(), effect.conversation(), effect.stays_pending());
    let mut scopes = vec![
        (RewindScope::Both, "files and conversation", format!("{undone}, {left}{waits}")),
        (RewindScope::Files, "only files", format!("{undone}; the conversation stays{waits}")),
        (RewindScope::Conversation, "only conversation", format!("{left}; files stay{waits}")),
    ];
    if effect.count.total() == 0 {
        // The turns would leave while their changes stay: that is not done without a word.
        scopes.drain(..2);
    }
    let item = |(at, (_, name, note)): (usize, &(RewindScope, &str, String))| {
        PickerItem::new(*name, note).with_value(at.to_string()).with_order(at)
    };
    let feed = PickerFeed::of(scopes.iter().enumerate().map(item).collect());
    let said = turns.get(from).map(|turn| visible::prose_line(&turn.said).into_owned()).unwrap_or_default();
    let title = format!("Rewind to before: {}", width::cut(&said, 30));
    let about = |item: &PickerItem| {
        let scope = item.value().parse::<usize>().ok().and_then(|at| scopes.get(at));
        let (head, names) = match scope {
            Some((RewindScope::Both | RewindScope::Files, ..)) => {
                ("Undone in the workspace:", effect.names())
            }
            _ => ("The workspace stays as it is.", Vec::new()),
        };
        let drawn = preview_rows(vec![head.into()], names, list::preview_areas(term::size()).1);
        PickerPreview { drawn, ..PickerPreview::default() }
    };
    let picker = context.output.picker(&title, feed).with_whole_notes().with_preview(about);
    let taken = context.output.pick_one(picker)?;
    let (scope, ..) = scopes.get(taken.parse::<usize>().ok()?)?;
    Some((from, *scope))
}

fn choose_turn(all: &RewindEffects<'_, '_>) -> Option<usize> {
    let RewindEffects { context, turns, each: effects, .. } = all;
    let note = |turn: &RewindTurn, own: &RewindEffect| {
        let age = turn.entries.iter().map(|entry| entry.at).max().map(age).unwrap_or_default();
        format!("{}{}{age}", own.figures(), if age.is_empty() { "" } else { "  " })
    };
    let widest =
        turns.iter().zip(effects.iter()).map(|(turn, own)| width::of(&note(turn, own))).max().unwrap_or(0);
    let has_repositories = effects.iter().any(|own| own.count.repositories > 0);
    let least = if has_repositories { WORDS_WITH_REPOSITORIES } else { WORDS };
    let list = usize::from(list::areas(term::size()).0.width);
    let room = list.saturating_sub(PICKER_LEAD + widest + GAP).max(least);
    let item = |(at, (turn, own)): (usize, (&RewindTurn, &RewindEffect))| {
        let note = note(turn, own);
        let said = match turn.said.is_empty() {
            true => "(no text)".to_string(),
            false => width::cut(&visible::prose_line(&turn.said), room),
        };
        PickerItem::new(said, note).with_value(at.to_string()).with_order(turns.len() - at)
    };
    let rows = turns.iter().zip(effects.iter()).enumerate().map(item);
    let feed = PickerFeed::of(std::iter::once(PickerItem::new(NOW, "")).chain(rows).collect());
    let about = |item: &PickerItem| {
        let Ok(from) = item.value().parse::<usize>() else {
            let words = "The conversation is here. Enter changes nothing.";
            return PickerPreview { drawn: vec![Line::raw(words)], ..PickerPreview::default() };
        };
        let effect = all.from(from);
        let said = turns.get(from).map(|turn| turn.text.as_str()).unwrap_or_default();
        let them = if effect.turns == 1 { "it" } else { "them" };
        let edits = if effect.count.total() == 0 { "" } else { " (your own later edits stay)" };
        // Below the list are few rows, and the first words are in the list.
        let area = list::preview_areas(term::size()).1;
        let mut head: Vec<String> = match area {
            Some(PreviewArea::Below(_)) => Vec::new(),
            _ => said.lines().take(SAID_LINES).map(String::from).chain([String::new()]).collect(),
        };
        head.extend([
            "Rewinding to before this turn:".into(),
            format!("- {} (/tree opens {them} again)", effect.conversation()),
            format!("- {}{edits}{}", effect.undone(), effect.stays_pending()),
        ]);
        let drawn = preview_rows(head, effect.names(), area);
        PickerPreview { drawn, ..PickerPreview::default() }
    };
    let longest = turns.iter().map(|turn| width::of(&visible::prose_line(&turn.said))).max().unwrap_or(0);
    let columns = longest.max(width::of(NOW)).min(room);
    let picker = context.output.picker("Rewind to before a turn", feed).with_preview(about);
    // What is wanted most is to leave out the last turn.
    context.output.pick_one(picker.in_columns(columns).beginning_at(1))?.parse().ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: in 40 columns a point of the preview continued at the margin.
    #[test]
    fn a_point_continues_below_its_words() {
        let rows = |line: &str| hanging_rows(line, 20).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(rows("- 2 turns leave the conversation"), ["- 2 turns leave the ", "  conversation"]);
        assert_eq!(rows("  src/a-long-name/file.rs"), ["  src/a-long-name/", "  file.rs"]);
        assert_eq!(rows("plain words that are long"), ["plain words that are", "long"]);
        assert_eq!(rows(""), [""]);
    }
}
