//! What was applied: transactions as lines, and figures of them.

use super::{DisplayPathFn, named, s};
use crate::text::{count, sanitize};
use crate::workspace::{
    AppliedChange, ChangeClasses, ChangeCount, DamagedPart, DamagedRecord, FileRename, Journal, JournalEntry,
    PathState, ProgramRun, RepairOutcome, RepairReport, TransactionKind, View, repositories_of,
    repository_of,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Files that transactions changed, without those that git writes, and lines added and removed, as far as their contents are still known.
pub fn figures(view: &View, entries: &[JournalEntry]) -> (usize, usize, usize) {
    let mut files: BTreeSet<&Path> = BTreeSet::new();
    for change in entries.iter().flat_map(person_changes) {
        if change.before.is_file() || change.after.is_file() {
            files.insert(&change.path);
        }
    }
    // As the question about the changes counted them: a renamed file has no more lines than what changed in it.
    let lines = entries.iter().map(|entry| {
        let set = view.applied_by(entry);
        set.lines(view.objects(), &view.renamed(&set), &ChangeClasses::default())
    });
    let (added, removed) = lines.fold((0, 0), |(a, r), (added, removed)| (a + added, r + removed));
    (files.len(), added, removed)
}

/// The changes of a transaction without those of files that git writes.
pub fn person_changes(entry: &JournalEntry) -> impl Iterator<Item = &AppliedChange> {
    let repositories = repositories_of(entry);
    entry.changes.iter().filter(move |change| !repositories.is_written_by_git(&change.path))
}

/// A path with what was there and what is there.
#[derive(Clone, Copy)]
pub(super) struct ListedPath<'a> {
    pub(super) path: &'a Path,
    pub(super) before: &'a PathState,
    pub(super) after: &'a PathState,
}

impl ListedPath<'_> {
    fn letter(&self) -> char {
        match (self.before, self.after) {
            (PathState::Absent, _) => 'A',
            (_, PathState::Absent) => 'D',
            _ => 'M',
        }
    }

    fn is_of_file(&self) -> bool {
        self.before.counts_as_file() || self.after.counts_as_file()
    }

    fn slash(&self) -> &'static str {
        if self.before.is_directory() || self.after.is_directory() { "/" } else { "" }
    }
}

/// The paths that files were moved or renamed to, each with the path that it had before. `renames` are the files that were
/// also changed; a file whose content went from one path and came to another one was moved.
fn moved<'a>(changed: &[ListedPath<'a>], renames: &'a [FileRename]) -> HashMap<&'a Path, &'a Path> {
    let with = |letter: char| changed.iter().filter(move |change| change.letter() == letter);
    let came: HashSet<&Path> = with('A').map(|change| change.path).collect();
    let gone: HashSet<&Path> = with('D').map(|change| change.path).collect();
    let is_listed = |one: &&FileRename| gone.contains(&*one.from) && came.contains(&*one.to);
    let mut moved: HashMap<&Path, &Path> =
        renames.iter().filter(is_listed).map(|one| (&*one.to, &*one.from)).collect();
    let taken: HashSet<&Path> = moved.values().copied().collect();
    let content = |state: &PathState| match state {
        PathState::File { hash, size, .. } if *size > 0 => Some(*hash.as_bytes()),
        _ => None,
    };
    let mut by_content: HashMap<[u8; 32], Vec<&'a Path>> = HashMap::new();
    for change in changed.iter().rev().filter(|change| !taken.contains(change.path)) {
        if let (Some(hash), PathState::Absent) = (content(change.before), change.after) {
            by_content.entry(hash).or_default().push(change.path);
        }
    }
    for change in changed {
        if let (PathState::Absent, Some(hash), false) =
            (change.before, content(change.after), moved.contains_key(change.path))
            && let Some(from) = by_content.get_mut(&hash).and_then(Vec::pop)
        {
            moved.insert(change.path, from);
        }
    }
    moved
}

/// At most twenty paths, each with its letter and a note; a repository's own files are one line, and so are the two paths
/// of a file that was moved or renamed.
pub(super) fn list<'a>(
    changed: impl Iterator<Item = (ListedPath<'a>, &'a str)>,
    renames: &'a [FileRename],
    repository: &dyn Fn(&Path) -> Option<PathBuf>,
    shown: DisplayPathFn<'_>,
) -> Vec<String> {
    let mut repositories: BTreeMap<PathBuf, usize> = BTreeMap::new();
    const MOST: usize = 20;
    let (mut lines, mut more, mut directories) = (Vec::new(), 0, 0);
    let changed: Vec<(ListedPath<'a>, &str)> = changed.collect();
    // A directory needs no line of its own where a line names something in it: the lines agree with the number of files.
    let mut named_by_others: HashSet<&Path> = HashSet::new();
    for (change, _) in &changed {
        let above = change.path.ancestors().skip(1);
        above.take_while(|dir| named_by_others.insert(dir)).for_each(drop);
    }
    let of_person = changed.iter().map(|(change, _)| *change).filter(|one| repository(one.path).is_none());
    let moved = moved(&of_person.collect::<Vec<_>>(), renames);
    let is_moved_away: HashSet<&Path> = moved.values().copied().collect();
    let needs_line = |change: &ListedPath<'_>| change.is_of_file() || !named_by_others.contains(change.path);
    for (change, note) in changed.into_iter().filter(|(change, _)| needs_line(change)) {
        match repository(change.path) {
            Some(repository) => *repositories.entry(repository).or_default() += 1,
            None if is_moved_away.contains(change.path) => {}
            None if lines.len() < MOST => {
                let name = named(change.path, shown);
                lines.push(match moved.get(change.path) {
                    Some(from) => format!("R {} -> {name}{note}", named(from, shown)),
                    None => format!("{} {name}{}{note}", change.letter(), change.slash()),
                });
            }
            None if change.is_of_file() => more += 1,
            None => directories += 1,
        }
    }
    // Files are counted, as everywhere; directories only where nothing else is left to name.
    match (more, directories) {
        (0, 0) => {}
        (0, 1) => lines.push("and 1 more directory".into()),
        (0, more) => lines.push(format!("and {more} more directories")),
        (more, _) => lines.push(format!("and {}", count::of(more, "more file"))),
    }
    let whole = |(path, number): (&PathBuf, &usize)| {
        format!("M {} ({} of the repository)", named(path, shown), count::of(*number, "file"))
    };
    lines.splice(0..0, repositories.iter().map(whole));
    lines
}

/// What one transaction changed, as lines.
pub fn entry_paths(entry: &JournalEntry, shown: DisplayPathFn<'_>) -> Vec<String> {
    let known =
        |path: &Path| entry.repositories.iter().map(|r| &r.path).find(|dir| path.starts_with(dir)).cloned();
    let repository = |path: &Path| known(path).or_else(|| repository_of(path));
    let listed = entry.changes.iter();
    let listed = listed.map(|c| (ListedPath { path: &c.path, before: &c.before, after: &c.after }, ""));
    let git = entry.git.iter().flat_map(|repository| {
        let name = named(&repository.path, shown);
        repository.events.iter().map(move |event| format!("{name}: {}", event.text))
    });
    git.chain(list(listed, &entry.renames, &repository, shown)).collect()
}

/// One transaction as a line: `12  2026-11-21 10:02  3 files  add a test`.
pub fn entry_line(entry: &JournalEntry) -> String {
    let what = match &entry.kind {
        TransactionKind::Apply => String::new(),
        TransactionKind::Undo { of, part } => format!("undo of {}{}  ", numbers(of), in_part(part)),
        TransactionKind::Redo { of, part } => format!("redo of {}{}  ", numbers(of), in_part(part)),
    };
    let count = ChangeCount::of_entry(entry);
    let title = sanitize::line(entry.label.title.trim_end()).into_owned();
    let ended = entry.label.program.as_ref().map(|program| program_ending(&title, program));
    let ended = ended.unwrap_or_default();
    format!("{:>4}  {}  {what}{count}  {title}{ended}", entry.id, when(entry.at))
}

/// ` (exit code 1)`, with the command line where the title is that of another command.
fn program_ending(title: &str, program: &ProgramRun) -> String {
    let (line, ending) = (program.line(), program.ending());
    let is_its_own =
        title == line || program.arguments.last().is_some_and(|last| sanitize::line(last) == title);
    if is_its_own { format!(" ({ending})") } else { format!(" ({line}: {ending})") }
}

fn in_part(part: &Option<PathBuf>) -> &'static str {
    if part.is_some() { " in part" } else { "" }
}

fn numbers(ids: &[u64]) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// A line of the journal, and the line of a damaged record in its place, newest first.
pub fn journal_lines(journal: &Journal, limit: usize) -> Vec<String> {
    let mut lines: Vec<(u64, String)> = journal.entries().iter().map(|e| (e.id, entry_line(e))).collect();
    lines.extend(journal.damage().into_iter().map(|damage| {
        let id = match damage.part {
            DamagedPart::Entry(id) | DamagedPart::OpenEntry(id) | DamagedPart::Entries(_, id) => id,
            // Of the whole journal: the first line.
            _ => return (u64::MAX, format!("      {}", sanitize::line(&damage.to_string()))),
        };
        (id, format!("{id:>4}  {}", sanitize::line(&damage.to_string())))
    }));
    lines.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    lines.into_iter().take(limit).map(|(_, line)| line).collect()
}

/// What is damaged, as one line: the first record by name, and how many more there are.
pub fn damage_line(damage: &[DamagedRecord]) -> Option<String> {
    let first = sanitize::line(&damage.first()?.to_string()).into_owned();
    let more = match damage.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!(
        "{first}{more}; `placet doctor` lists damage, `placet journal repair` rebuilds what can be rebuilt"
    ))
}

/// What a repair did, line by line.
pub fn repair_lines(repaired: &RepairReport) -> Vec<String> {
    let one = |(damage, mended): &(DamagedRecord, RepairOutcome)| {
        let what = match mended {
            RepairOutcome::MovedTo(to) => format!("moved to `{}`", to.display()),
            RepairOutcome::Noted => "acknowledged; it is not reported again".into(),
            RepairOutcome::StoredAgain(from) => format!("stored again from `{}`", from.display()),
            RepairOutcome::RootsFound(roots) => {
                let roots: Vec<String> = roots.iter().map(|root| format!("`{}`", root.display())).collect();
                format!("found again: {}", roots.join(", "))
            }
            RepairOutcome::RecordsMade(count, aside) => {
                let s = s(*count);
                format!("rebuilt {count} record{s}; the old file is in `{}`", aside.display())
            }
            RepairOutcome::Busy => "not repaired: another placet uses it; close that placet first".into(),
            RepairOutcome::InDoubt => {
                "not repaired: the files do not show which directories it belongs to".into()
            }
            RepairOutcome::Unreadable => {
                "not repaired: check that its owner may read it (mode 700), and check the disk".into()
            }
            RepairOutcome::Failed(why) => format!("not repaired: {why}"),
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
