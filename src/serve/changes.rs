//! Applying, discarding and taking back, in words: for the shell's commands and for those of the command line.

use crate::text::sanitize;
use crate::workspace::{
    Applied, ApplyError, Approval, Aside, ChangeClasses, ChangeSet, Choice, Damage, DamagedPart, Journal,
    JournalEntry, JournalKind, Label, Mended, Node, Part, Repaired, RestoreError, Shelf, UndoPlan, View,
    repository_of,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How something went, for a person: the sentences, and whether all of it was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub lines: Vec<String>,
    pub done: bool,
    /// Paths that run later and stay pending, because nobody approved them by themselves.
    pub waiting: Vec<PathBuf>,
}

impl Told {
    fn done(line: impl Into<String>) -> Told {
        Told { lines: vec![line.into()], done: true, waiting: Vec::new() }
    }

    fn failed(line: impl Into<String>) -> Told {
        Told { lines: vec![line.into()], done: false, waiting: Vec::new() }
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

/// What is to be applied.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// At or below these paths; everything, if there are none.
    pub paths: Vec<PathBuf>,
    /// Paths that run later and that the person named one by one: they are wanted as well.
    pub approved: Vec<PathBuf>,
    /// Nothing but `approved`.
    pub only_approved: bool,
}

/// Applies what is wanted. What runs later and was not named stays pending, and is listed with the reason.
pub fn apply(view: &View, wanted: &Wanted, label: Label, shown: Shown<'_>) -> Told {
    let set = match view.changes(Shelf::Pending) {
        Ok(set) => set,
        Err(e) => return Told::failed(format!("what is pending cannot be read: {e}")),
    };
    let mut chosen = match wanted.only_approved {
        true => Choice::new(),
        false => match choice(&set, &wanted.paths, shown) {
            Ok(chosen) => chosen,
            Err(why) => return Told::failed(why),
        },
    };
    let mut approval = Approval::none();
    for path in &wanted.approved {
        match set.get(path) {
            Some(change) => chosen.extend([(change.path.clone(), Part::Whole)]),
            None => return Told::failed(format!("nothing is pending at `{}`", named(path, shown))),
        }
        approval = approval.named(path);
    }
    let special = without_special(&set, &mut chosen);
    let classes = view.classify(&set);
    let (chosen, waiting) = classes.permitted(&set, &chosen, &approval);
    let mut told = match chosen.is_empty() && !waiting.is_empty() {
        true => Told { lines: Vec::new(), done: true, waiting: Vec::new() },
        false => apply_choice(view, &chosen, &approval, label, shown),
    };
    if told.done && !special.is_empty() {
        if let Err(e) = view.discard(&special) {
            return Told::failed(format!("pipes, sockets and devices could not be thrown away: {e}"));
        }
        for path in special.keys() {
            let words = "a pipe, socket or device, which is never applied; thrown away";
            told = told.and(format!("{}: {words}", named(path, shown)));
        }
    }
    if told.done {
        told.lines.extend(waiting.iter().map(|path| waits(&classes, path, shown)));
        told.waiting = waiting;
    }
    told
}

fn waits(classes: &ChangeClasses, path: &Path, shown: Shown<'_>) -> String {
    let why = classes.runner(path).map(|r| sanitize::line(&r.why).into_owned()).unwrap_or_default();
    format!("{}: stays pending: {why}", named(path, shown))
}

/// Takes pipes, sockets and devices out of `chosen`, and gives them back: they can only be thrown away.
pub fn without_special(set: &ChangeSet, chosen: &mut Choice) -> Choice {
    let special = set.changes.iter().filter(|c| matches!(c.after, Node::Special { .. }));
    special.filter_map(|change| chosen.remove_entry(&change.path)).collect()
}

pub fn apply_choice(
    view: &View,
    choice: &Choice,
    approval: &Approval,
    label: Label,
    shown: Shown<'_>,
) -> Told {
    match view.apply_approved(choice, approval, label) {
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

/// Throws away what is pending at or below `paths`; `undo` is the command that brings it back.
pub fn discard(view: &View, paths: &[PathBuf], undo: &str, shown: Shown<'_>) -> Told {
    let done = view.changes(Shelf::Pending).and_then(|set| {
        let chosen = choice(&set, paths, shown).map_err(std::io::Error::other)?;
        let aside = view.set_aside(&chosen)?;
        Ok((set.len() - view.changes(Shelf::Pending)?.len(), aside))
    });
    match done {
        Ok((0, _)) => Told::done("nothing is pending"),
        Ok((count, Aside::Kept)) => {
            Told::done(format!("discarded {count} change{}; {undo} brings {} back", s(count), them(count)))
        }
        Ok((count, Aside::TooLarge)) => {
            let why = "too large to be kept for undo";
            Told::done(format!("discarded {count} change{} for good: {why}", s(count)))
        }
        Err(e) => Told::failed(format!("not discarded: {e}")),
    }
}

fn them(count: usize) -> &'static str {
    if count == 1 { "it" } else { "them" }
}

/// Turns whose work is pending in `chosen`; changes of which nobody knows the turn count as one.
pub fn turns_in(set: &ChangeSet, chosen: &Choice) -> usize {
    let chosen = set.changes.iter().filter(|change| chosen.contains_key(&change.path));
    let turns = chosen.flat_map(|change| {
        let known = change.steps.iter().map(|step| step.origin.as_ref().map(|origin| origin.turn.clone()));
        if change.steps.is_empty() { vec![None] } else { known.collect() }
    });
    turns.collect::<BTreeSet<Option<String>>>().len()
}

/// Brings back the newest discard of `views`, if nothing that stands was applied after it. `journal` is a view of the
/// same directory.
pub fn undo_discard(views: &[View], journal: &View, shown: Shown<'_>) -> Option<Told> {
    let discards = views.iter().filter_map(|view| Some((view, view.last_discard()?)));
    let (view, discarded) = discards.max_by_key(|(_, discarded)| discarded.at)?;
    let applied = journal.journal().turns().first().and_then(|turn| turn.last().map(|entry| entry.at));
    if applied.is_some_and(|at| at > discarded.at) {
        return None;
    }
    let count = discarded.count;
    Some(match view.restore(&discarded) {
        Ok(()) => Told::done(format!("brought back {count} discarded change{}, pending again", s(count))),
        Err(RestoreError::Pending(paths)) => {
            let names: Vec<String> = paths.iter().map(|path| named(path, shown)).collect();
            let why = "other changes are pending there: apply or discard them first";
            Told::failed(format!("the discard was not taken back: {}: {why}", names.join(", ")))
        }
        Err(RestoreError::Io(e)) => Told::failed(format!("the discard was not taken back: {e}")),
    })
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
        return past_damage(view, 0).unwrap_or_else(|| Told::done("there is nothing to undo here"));
    }
    undo_entries(view, &entries, only, rest, label, shown)
}

/// As [`undo`], for transactions that were chosen already, oldest first.
pub fn undo_entries(
    view: &View,
    entries: &[JournalEntry],
    only: Option<&Path>,
    rest: (bool, &str),
    label: &Label,
    shown: Shown<'_>,
) -> Told {
    let label = match only {
        Some(_) => Label { turn: format!("{}-undo-{}", label.turn, last_id(view)), ..label.clone() },
        None => label.clone(),
    };
    let first = entries.iter().map(|entry| entry.id).min().unwrap_or(0);
    if let Some(told) = past_damage(view, first) {
        return told;
    }
    let plan = view.plan_undo(entries, only, label);
    carry_out(view, plan, rest, "undid", shown)
}

/// Refuses to take back anything while a transaction after `id` is damaged: it may belong to the same turn, or have
/// taken this one back already.
fn past_damage(view: &View, id: u64) -> Option<Told> {
    let damage = view.journal().damage_after(id);
    let newest = damage.last()?;
    let mut told = Told::failed(format!("nothing was changed: {newest}"));
    if damage.len() > 1 {
        told = told.and(format!("{} more records are damaged: `placet doctor` lists them", damage.len() - 1));
    }
    Some(told.and(
        "hint: `placet journal repair` moves damaged records aside; then what came before can be undone",
    ))
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
    let undo = view.journal().to_redo();
    if let Some(told) = past_damage(view, undo.as_ref().map_or(0, |undo| undo.id)) {
        return told;
    }
    match undo {
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
    let lines = list(changed, &|path| plan.repositories.of(path).map(Path::to_path_buf), shown);
    let objects = plan.objects_left;
    match view.carry_out(plan) {
        Ok(Some(entry)) => {
            let count = entry.changes.len();
            let mut told = Told::done(format!("{did} {count} change{}", s(count)));
            told.lines.extend(lines);
            if objects > 0 {
                told.lines.push(format!("{objects} git object{} left for `git gc`", s(objects)));
            }
            told.lines.extend(left.into_iter().map(|line| format!("left as it is: {line}")));
            told
        }
        Ok(None) => Told::done("everything is like that already; `undo 2` goes back one turn further"),
        Err(e) => failure(&e),
    }
}

/// Files that transactions changed, and lines added and removed, as far as their contents are still known.
pub fn figures(view: &View, entries: &[JournalEntry]) -> (usize, usize, usize) {
    let mut files: BTreeSet<&Path> = BTreeSet::new();
    let (mut added, mut removed) = (0, 0);
    for change in entries.iter().flat_map(|e| &e.changes) {
        if change.before.is_file() || change.after.is_file() {
            files.insert(&change.path);
        }
        let content = |node: &Node| match node {
            Node::File { hash, size, .. } if *size < 4 << 20 => {
                let on_disk = || {
                    let bytes = crate::text::regular::read(&change.path, *size).ok();
                    bytes.filter(|b| blake3::hash(b) == *hash)
                };
                String::from_utf8(view.objects().get(*hash).ok().or_else(on_disk)?).ok()
            }
            Node::Absent => Some(String::new()),
            _ => None,
        };
        if let (Some(before), Some(after)) = (content(&change.before), content(&change.after)) {
            let (more, fewer) = crate::text::LineDiff::new(&before, &after).counts();
            (added, removed) = (added + more, removed + fewer);
        }
    }
    (files.len(), added, removed)
}

fn letter(before: &Node, after: &Node) -> char {
    match (before, after) {
        (Node::Absent, _) => 'A',
        (_, Node::Absent) => 'D',
        _ => 'M',
    }
}

/// At most twenty paths, each with its letter; a repository's own files are one line.
fn list<'a>(
    changed: impl Iterator<Item = (&'a Path, char, &'a str)>,
    repository: &dyn Fn(&Path) -> Option<PathBuf>,
    shown: Shown<'_>,
) -> Vec<String> {
    let mut repositories: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for (path, letter, note) in changed {
        match repository(path) {
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
    let known =
        |path: &Path| entry.repositories.iter().map(|r| &r.path).find(|dir| path.starts_with(dir)).cloned();
    let repository = |path: &Path| known(path).or_else(|| repository_of(path));
    list(entry.changes.iter().map(|c| (c.path.as_path(), c.letter(), "")), &repository, shown)
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

/// A line of the journal, and the line of a damaged record in its place, newest first.
pub fn journal_lines(journal: &Journal, limit: usize) -> Vec<String> {
    let mut lines: Vec<(u64, String)> = journal.entries().iter().map(|e| (e.id, entry_line(e))).collect();
    lines.extend(journal.damage().into_iter().filter_map(|damage| {
        let id = match damage.part {
            DamagedPart::Entry(id) | DamagedPart::OpenEntry(id) | DamagedPart::Entries(_, id) => id,
            _ => return None,
        };
        Some((id, format!("{id:>4}  {}", sanitize::line(&damage.to_string()))))
    }));
    lines.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    lines.into_iter().take(limit).map(|(_, line)| line).collect()
}

/// What is damaged, as one line: the first record by name, and how many more there are.
pub fn damage_line(damage: &[Damage]) -> Option<String> {
    let first = sanitize::line(&damage.first()?.to_string()).into_owned();
    let more = match damage.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!(
        "{first}{more}; `placet doctor` lists damage, `placet journal repair` saves what can be saved"
    ))
}

/// What a repair did, line by line.
pub fn repair_lines(repaired: &Repaired) -> Vec<String> {
    let one = |(damage, mended): &(Damage, Mended)| {
        let what = match mended {
            Mended::MovedTo(to) => format!("moved to `{}`", to.display()),
            Mended::Noted => "noted; it is not reported again".into(),
            Mended::StoredAgain(from) => format!("stored again from `{}`", from.display()),
            Mended::RootsFound(roots) => {
                let roots: Vec<String> = roots.iter().map(|root| format!("`{}`", root.display())).collect();
                format!("found again: {}", roots.join(", "))
            }
            Mended::RecordsMade(count, aside) => {
                let s = s(*count);
                format!("{count} record{s} made again; the old file is in `{}`", aside.display())
            }
            Mended::Busy => "not repaired: another placet uses it; close that one first".into(),
            Mended::InDoubt => "not repaired: the files do not show which directories it belongs to".into(),
            Mended::Failed(why) => format!("not repaired: {why}"),
        };
        sanitize::line(&format!("{damage}: {what}")).into_owned()
    };
    repaired.all.iter().map(one).collect()
}

/// Local time, to the minute.
pub fn when(milliseconds: u64) -> String {
    let at = i64::try_from(milliseconds).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    at.map_or_else(String::new, |at| {
        at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
    })
}
