//! Applying, discarding and taking back, in words: for the shell's commands and for those of the command line.

use crate::text::sanitize;
use crate::workspace::{
    Applied, ApplyError, ChangeSet, Choice, JournalEntry, JournalKind, Label, Node, Part, Shelf, UndoPlan,
    View, repository_of,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How something went, for a person: the sentences, and whether all of it was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub lines: Vec<String>,
    pub done: bool,
}

impl Told {
    fn done(line: impl Into<String>) -> Told {
        Told { lines: vec![line.into()], done: true }
    }

    fn failed(line: impl Into<String>) -> Told {
        Told { lines: vec![line.into()], done: false }
    }

    fn and(mut self, line: impl Into<String>) -> Told {
        self.lines.push(line.into());
        self
    }
}

/// A path as a person reads it.
pub type Shown<'a> = &'a dyn Fn(&Path) -> String;

fn named(path: &Path, shown: Shown<'_>) -> String {
    sanitize::name(&shown(path)).into_owned()
}

fn s(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// What is pending at or below `paths`; everything, if there are none. The error names a path with nothing pending.
pub fn choice(set: &ChangeSet, paths: &[PathBuf], shown: Shown<'_>) -> Result<Choice, String> {
    if paths.is_empty() {
        return Ok(View::everything(set));
    }
    let mut chosen: BTreeSet<PathBuf> = BTreeSet::new();
    for path in paths {
        let below = set.below(path);
        if below.is_empty() {
            return Err(format!("nothing is pending at `{}`", named(path, shown)));
        }
        chosen.extend(below);
    }
    Ok(chosen.into_iter().map(|path| (path, Part::Whole)).collect())
}

/// Applies what is pending at or below `paths`.
pub fn apply(view: &View, paths: &[PathBuf], label: Label, shown: Shown<'_>) -> Told {
    let set = match view.changes(Shelf::Pending) {
        Ok(set) => set,
        Err(e) => return Told::failed(format!("what is pending cannot be read: {e}")),
    };
    let mut chosen = match choice(&set, paths, shown) {
        Ok(chosen) => chosen,
        Err(why) => return Told::failed(why),
    };
    let special = without_special(&set, &mut chosen);
    let mut told = apply_choice(view, &chosen, label, shown);
    if told.done && !special.is_empty() {
        if let Err(e) = view.discard(&special) {
            return Told::failed(format!("pipes, sockets and devices could not be thrown away: {e}"));
        }
        for path in special.keys() {
            let words = "a pipe, socket or device, which is never applied; thrown away";
            told = told.and(format!("{}: {words}", named(path, shown)));
        }
    }
    told
}

/// Takes pipes, sockets and devices out of `chosen`, and gives them back: they can only be thrown away.
pub fn without_special(set: &ChangeSet, chosen: &mut Choice) -> Choice {
    let special = set.changes.iter().filter(|c| matches!(c.after, Node::Special { .. }));
    special.filter_map(|change| chosen.remove_entry(&change.path)).collect()
}

pub fn apply_choice(view: &View, choice: &Choice, label: Label, shown: Shown<'_>) -> Told {
    match view.apply(choice, label) {
        Ok(Applied::Landed(entry)) => {
            let count = entry.changes.len();
            let mut told = Told::done(format!("applied {count} change{}", s(count)));
            for change in entry.changes.iter().filter(|c| c.in_place) {
                let words = "written in place: it has several names, or an owner that cannot be kept";
                told = told.and(format!("{}: {words}", named(&change.path, shown)));
            }
            told
        }
        Ok(Applied::Nothing) => Told::done("nothing is pending"),
        Ok(Applied::Changed { merged, conflicts }) => {
            let mut told = Told::failed("nothing was applied: files changed since");
            for path in merged {
                told = told.and(format!(
                    "{}: merged with what is there now; look at it and apply again",
                    named(&path, shown)
                ));
            }
            for path in conflicts {
                let words = "the same lines changed, or it changed while the command ran: discard it, or put it right by hand";
                told = told.and(format!("{}: {words}", named(&path, shown)));
            }
            told
        }
        Err(e) => failure(&e),
    }
}

fn failure(error: &ApplyError) -> Told {
    Told::failed(format!("not applied: {error}"))
}

/// Throws away what is pending at or below `paths`.
pub fn discard(view: &View, paths: &[PathBuf], shown: Shown<'_>) -> Told {
    let done = view.changes(Shelf::Pending).and_then(|set| {
        let chosen = choice(&set, paths, shown).map_err(std::io::Error::other)?;
        view.discard(&chosen)?;
        Ok(set.len() - view.changes(Shelf::Pending)?.len())
    });
    match done {
        Ok(0) => Told::done("nothing is pending"),
        Ok(count) => Told::done(format!("discarded {count} change{}", s(count))),
        Err(e) => Told::failed(format!("not discarded: {e}")),
    }
}

/// What undo is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Back {
    /// This many turns.
    Turns(usize),
    /// What the last turn that touched this path did to it.
    Path(PathBuf),
}

/// Takes back. What cannot be brought back is told instead of doing anything, unless `rest` says to do the others.
pub fn undo(view: &View, back: &Back, rest: bool, label: &Label, shown: Shown<'_>) -> Told {
    undo_saying(view, back, (rest, "/undo rest"), label, shown)
}

/// The same where another word than `/undo rest` stands for "the others".
pub fn undo_saying(view: &View, back: &Back, rest: (bool, &str), label: &Label, shown: Shown<'_>) -> Told {
    let turns = view.journal().turns();
    let (entries, only): (Vec<JournalEntry>, Option<&Path>) = match back {
        Back::Turns(count) => (turns.into_iter().take(*count).rev().flatten().collect(), None),
        Back::Path(path) => {
            let touches = |turn: &&Vec<JournalEntry>| {
                turn.iter().any(|e| e.changes.iter().any(|c| c.path.starts_with(path)))
            };
            (turns.iter().find(touches).cloned().unwrap_or_default(), Some(path))
        }
    };
    if entries.is_empty() {
        return Told::done("there is nothing to undo here");
    }
    let label = match only {
        Some(_) => Label { turn: format!("{}-undo-{}", label.turn, last_id(view)), ..label.clone() },
        None => label.clone(),
    };
    let plan = view.plan_undo(&entries, only, label);
    carry_out(view, plan, rest, "undid", shown)
}

fn last_id(view: &View) -> u64 {
    view.journal().entries().last().map_or(0, |e| e.id)
}

/// Puts back what the last undo took away.
pub fn redo(view: &View, rest: bool, label: &Label, shown: Shown<'_>) -> Told {
    redo_saying(view, (rest, "/redo rest"), label, shown)
}

/// The same where another word than `/redo rest` stands for "the others".
pub fn redo_saying(view: &View, rest: (bool, &str), label: &Label, shown: Shown<'_>) -> Told {
    match view.journal().to_redo() {
        None => Told::done("there is nothing to redo here"),
        Some(undo) => carry_out(view, view.plan_redo(&undo, label.clone()), rest, "redid", shown),
    }
}

fn carry_out(
    view: &View,
    plan: std::io::Result<UndoPlan>,
    (rest, how): (bool, &str),
    did: &str,
    shown: Shown<'_>,
) -> Told {
    let plan = match plan {
        Ok(plan) => plan,
        Err(e) => return Told::failed(format!("nothing was changed: {e}")),
    };
    let left: Vec<String> =
        plan.left.iter().map(|(path, why)| format!("{}: {why}", named(path, shown))).collect();
    if !left.is_empty() && (!rest || plan.is_empty()) {
        let mut told = Told::failed("nothing was changed, because not all of it can be brought back:");
        told.lines.extend(left);
        if !plan.is_empty() {
            let count = plan.paths().count();
            told.lines.push(format!("`{how}` does the other {count} change{}", s(count)));
        }
        return told;
    }
    let changed = plan.paths().map(|(path, before, after)| {
        let merged = plan.merged.iter().any(|p| p == path);
        (path, letter(before, after), if merged { " (merged; your later work stays)" } else { "" })
    });
    let lines = list(changed, shown);
    match view.carry_out(plan) {
        Ok(Some(entry)) => {
            let count = entry.changes.len();
            let mut told = Told::done(format!("{did} {count} change{}", s(count)));
            told.lines.extend(lines);
            told.lines.extend(left.into_iter().map(|line| format!("left as it is: {line}")));
            told
        }
        Ok(None) => Told::done("everything is like that already; `undo 2` goes back one turn further"),
        Err(e) => failure(&e),
    }
}

fn letter(before: &Node, after: &Node) -> char {
    match (before, after) {
        (Node::Absent, _) => 'A',
        (_, Node::Absent) => 'D',
        _ => 'M',
    }
}

/// At most twenty paths, each with its letter; a repository's own files are one line.
fn list<'a>(changed: impl Iterator<Item = (&'a Path, char, &'a str)>, shown: Shown<'_>) -> Vec<String> {
    let mut repositories: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for (path, letter, note) in changed {
        match repository_of(path) {
            Some(repository) => *repositories.entry(repository).or_default() += 1,
            None => lines.push(format!("{letter} {}{note}", named(path, shown))),
        }
    }
    let more = lines.len().saturating_sub(20);
    lines.truncate(20);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    let whole = |(path, count): (&PathBuf, &usize)| {
        format!("M {} ({count} file{} of the repository)", named(path, shown), s(*count))
    };
    lines.splice(0..0, repositories.iter().map(whole));
    lines
}

/// What one transaction changed, as lines.
pub fn entry_paths(entry: &JournalEntry, shown: Shown<'_>) -> Vec<String> {
    list(entry.changes.iter().map(|c| (c.path.as_path(), c.letter(), "")), shown)
}

/// One transaction as a line: `12  2026-11-21 10:02  3 changes  add a test`.
pub fn entry_line(entry: &JournalEntry) -> String {
    let what = match &entry.kind {
        JournalKind::Apply => String::new(),
        JournalKind::Undo { of } => format!("undo of {}  ", numbers(of)),
        JournalKind::Redo { of } => format!("redo of {}  ", numbers(of)),
    };
    let count = entry.changes.len();
    let title = sanitize::line(&entry.label.title).into_owned();
    format!("{:>4}  {}  {what}{count} change{}  {title}", entry.id, when(entry.at), s(count))
}

fn numbers(ids: &[u64]) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Local time, to the minute.
pub fn when(milliseconds: u64) -> String {
    let at = i64::try_from(milliseconds).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    at.map_or_else(String::new, |at| {
        at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
    })
}
