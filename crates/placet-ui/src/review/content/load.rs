//! A change set as files under review: a file with lines is split into hunks, every other change is described by rows
//! and decided as a whole.

use super::file::{BinaryContent, PicturePair, ReviewBody, ReviewFile, ReviewLines, WholeChange};
use super::folded_files::{has_no_words, is_of_operation, operation_files};
use super::side_text::SideText;
use placet_media::{self as media, sniff};
use placet_text::text::{
    DetectedEncoding, LineDiff, TextEncoding, count, is_binary, sanitize, text_with_nuls, visible,
};
use placet_workspace::{
    ChangeClasses, ChangeKind, ChangeSet, FileChange, ObjectStore, PathState, RenamedFiles, removed_words,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of all files together that are split into hunks. Files beyond this limit are decided as a whole, and the
/// review shows a note.
const MOST: u64 = 256 << 20;
/// Threads that compare files.
const MOST_THREADS: usize = 4;
/// Lines of a difference that is only shown.
const SHOWN: usize = 2000;

/// The files of `set`, in the order of their paths. `shown` writes a path as a person reads it. A change that runs
/// later is a file of its own and comes first, also in a repository or in a removed directory.
pub fn pending(
    set: &ChangeSet,
    classes: &ChangeClasses,
    renamed_files: &RenamedFiles,
    objects: &ObjectStore,
    shown: &dyn Fn(&Path) -> PathBuf,
) -> Vec<ReviewFile> {
    let name = |path: &Path| visible::path_name(&shown(path));
    let moved: BTreeSet<&Arc<Path>> = set.changes.iter().filter_map(|c| c.moved_from.as_ref()).collect();
    let mut files: Vec<ReviewFile> = Vec::new();
    let mut taken: BTreeSet<Arc<Path>> = BTreeSet::new();
    let mut room = MOST;
    for (path, runner) in classes.to_approve(set) {
        let why = sanitize::line(&runner.why).into_owned();
        if classes.waiting_repository(path).is_some() {
            let group = classes.approved_with(set, path);
            let mut file = together(set, path, &group, objects, &name, &mut room);
            file.facts.insert(0, format!("! {}", sanitize::line(&runner.words())));
            file.runs_later = Some(why);
            files.push(file);
            files.extend(operation_files(set, path, (&group, objects), &name));
            // The files that an operation wrote are looked at by themselves, and decided with it.
            for change in group.iter().filter(|file| !file.starts_with(path)).filter_map(|file| set.get(file))
            {
                let mut file = one(change, set.moved_node(change), objects, &name, &mut room);
                let runner =
                    classes.runner(&change.path).map(|runner| sanitize::line(&runner.words()).into_owned());
                file.facts.splice(0..0, runner.map(|words| format!("! {words}")));
                files.push(ReviewFile { paths: Vec::new(), decided_with: Some(path.to_path_buf()), ..file });
            }
            taken.extend(group);
            continue;
        }
        let Some(change) = set.get(path) else { continue };
        let mut file = one(change, set.moved_node(change), objects, &name, &mut room);
        let removed = set.removed_below(change);
        list_removed(&mut file, change, &removed, objects, &name);
        file.facts.insert(0, format!("! {}", sanitize::line(&runner.words())));
        file.paths.extend(removed.iter().map(|below| below.path.clone()));
        file.runs_later = Some(why);
        taken.extend(file.paths.iter().cloned());
        files.push(file);
    }
    for change in &set.changes {
        if taken.contains(&change.path)
            || change.verb() == ChangeKind::Deleted && moved.contains(&change.path)
        {
            continue;
        }
        if renamed_files.is_old(&change.path) {
            continue;
        }
        match set.repository_of(&change.path) {
            Some(unit) => {
                let mut group = set.below(&unit);
                group.retain(|path| !taken.contains(path));
                files.push(together(set, &unit, &group, objects, &name, &mut room));
                files.extend(operation_files(set, &unit, (&group, objects), &name));
                taken.extend(group);
            }
            _ if change.after.is_directory()
                && change.before.is_absent()
                && change.attribute_words(None).is_empty()
                && set.below(&change.path).len() > 1 => {}
            _ => {
                let old = renamed_files.old_of(change, set);
                let mut file = match old {
                    Some(old) => renamed(change, old, objects, &name, &mut room)
                        .unwrap_or_else(|| renamed_as_whole(change, old, objects, &name, &mut room)),
                    None => one(change, set.moved_node(change), objects, &name, &mut room),
                };
                // A directory that goes is decided with everything below it.
                let removed = set.removed_below(change);
                list_removed(&mut file, change, &removed, objects, &name);
                let below =
                    removed.iter().map(|below| below.path.clone()).filter(|path| !taken.contains(path));
                file.paths.extend(below);
                taken.extend(file.paths.iter().cloned());
                files.push(file);
            }
        }
    }
    name_commands(set, &mut files);
    compare_texts(&mut files);
    files
}

/// Finds the hunks of all files. With many changes that is most of the time before the first frame, and no file needs
/// another one.
fn compare_texts(files: &mut [ReviewFile]) {
    let threads =
        std::thread::available_parallelism().map_or(1, usize::from).min(files.len()).min(MOST_THREADS);
    let rest = Mutex::new(files.iter_mut().filter_map(ReviewFile::lines_mut));
    let next = || rest.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || std::iter::from_fn(next).for_each(ReviewLines::compare);
    std::thread::scope(|scope| {
        (1..threads)
            .for_each(|_| drop(std::thread::Builder::new().name("compare".into()).spawn_scoped(scope, work)));
        work();
    });
}

/// Lists what is removed with a directory that is decided as one file, behind what takes its place.
fn list_removed(
    file: &mut ReviewFile,
    change: &FileChange,
    below: &[&FileChange],
    objects: &ObjectStore,
    name: &dyn Fn(&Path) -> String,
) {
    if below.is_empty() {
        return;
    }
    let mut whole = WholeChange::default();
    if !change.after.is_absent()
        && let ReviewBody::Whole(own) = &mut file.body
    {
        whole = std::mem::take(own);
    }
    whole.words.push(removed_words(change, below));
    whole.words.extend(below.iter().take(SHOWN).map(|c| format!("{} {}", c.verb().letter(), name(&c.path))));
    let left_out = below.len().saturating_sub(SHOWN);
    if left_out > 0 {
        whole.words.push(format!("and {left_out} more"));
    }
    whole.left_out += left_out;
    let mut key = blake3::Hasher::new();
    key.update(file.key.as_bytes());
    for change in below {
        key.update(own_key(change).as_bytes());
    }
    file.key = key.finalize().to_hex().to_string();
    let lines =
        std::iter::once(change).chain(below.iter().copied()).filter_map(|change| change.counts(objects));
    whole.counts = Some(lines.fold((0, 0), |(a, r), (added, removed)| (a + added, r + removed)));
    file.body = ReviewBody::Whole(whole);
}

/// How the fact begins that says who made a change; no other fact begins so.
pub(in crate::review) const MADE_BY: &str = "by ";

/// Names the command that changed a file: once for all files in a row that the command changed.
fn name_commands(set: &ChangeSet, files: &mut [ReviewFile]) {
    let of_path = |path: &Arc<Path>| set.get(path).and_then(command_of);
    let of_file = |file: &ReviewFile| {
        let mut each = file.paths.iter().filter_map(of_path);
        let first = each.next()?;
        each.all(|other| other == first).then_some(first)
    };
    let commands: Vec<Option<Maker>> = files.iter().map(of_file).collect();
    let mut at = 0;
    for same in commands.chunk_by(|one, next| one == next) {
        if let (Some(command), Some(file)) = (same.first().and_then(Option::as_ref), files.get_mut(at)) {
            // The number comes first: the end of a long command does not fit on its row.
            let also = match same.len() - 1 {
                0 => String::new(),
                1 => ", as is the file below".into(),
                more => format!(", as are the {more} files below"),
            };
            file.facts.push(match command {
                Maker::Preset(words) => format!("{MADE_BY}{words}{also}"),
                Maker::Command(line) => format!("{MADE_BY}this command{also}: {line}"),
            });
        }
        at += same.len();
    }
}

/// What ran when files changed, made safe.
#[derive(PartialEq)]
enum Maker {
    /// A program that the person knows by the name of its preset: `claude, round 2`.
    Preset(String),
    Command(String),
}

/// The command that made a change; `None` where a file tool made it.
fn command_of(change: &FileChange) -> Option<Maker> {
    if change.by_tool {
        return None;
    }
    let origin = *change.made_by().last()?;
    let program = origin.program.as_deref();
    if let Some(name) = program.and_then(|program| program.preset.as_deref()) {
        let round = program.and_then(|program| program.round);
        let round = round.map_or_else(String::new, |round| format!(", round {round}"));
        return Some(Maker::Preset(format!("{}{round}", sanitize::line(name))));
    }
    let what = if origin.title.is_empty() { &origin.tool } else { &origin.title };
    Some(Maker::Command(sanitize::line(what).into_owned()))
}

/// The files of a repository, which are decided together.
fn together(
    set: &ChangeSet,
    unit: &Path,
    group: &BTreeSet<Arc<Path>>,
    objects: &ObjectStore,
    name: &dyn Fn(&Path) -> String,
    room: &mut u64,
) -> ReviewFile {
    let part = set.part(|c| group.contains(&c.path));
    let mut key = blake3::Hasher::new();
    for change in &part.changes {
        key.update(own_key(change).as_bytes());
    }
    // The files of an operation are a row of their own. What is listed below with its content is not named
    // twice.
    let is_folded = |c: &FileChange| is_of_operation(set, c, objects);
    let has_words = |change: &FileChange| !has_no_words(set, change) && !is_folded(change);
    // What git carries is in the rows of commits, refs and index, and is no file of anybody's.
    let is_carried = |c: &FileChange| set.repositories.is_carried_by_git(c);
    let own = || part.changes.iter().filter(|c| c.path.starts_with(unit));
    let listed = own().filter(|c| !is_folded(c) && !has_words(c) && !is_carried(c));
    let listed: Vec<&FileChange> = listed.collect();
    let mut words: Vec<String> =
        listed.iter().take(SHOWN).map(|c| format!("{} {}", c.verb().letter(), name(&c.path))).collect();
    words.insert(0, "the files of the repository: all or none".into());
    let mut left_out = listed.len().saturating_sub(SHOWN);
    if left_out > 0 {
        words.push(format!("and {left_out} more"));
    }
    for change in own().filter(|c| has_words(c)) {
        words.push(format!("{} {}", change.verb().letter(), name(&change.path)));
        words.extend(as_words(change, objects, name, room, &mut left_out));
    }
    ReviewFile {
        name: format!("{}/", name(unit)),
        path: unit.to_path_buf(),
        paths: group.iter().cloned().collect(),
        renamed: None,
        letter: 'M',
        facts: Vec::new(),
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body: ReviewBody::Whole(WholeChange { words, left_out, ..WholeChange::default() }),
        key: key.finalize().to_hex().to_string(),
    }
}

/// A file that is decided together with others, as rows: its facts, and all of its lines as a difference.
fn as_words(
    change: &FileChange,
    objects: &ObjectStore,
    name: &dyn Fn(&Path) -> String,
    room: &mut u64,
    left_out: &mut usize,
) -> Vec<String> {
    let file = one(change, None, objects, name, room);
    let whole = as_whole(file.body);
    *left_out += whole.left_out;
    [file.facts, whole.words].concat()
}

/// Lines as one decision.
fn as_whole(body: ReviewBody) -> WholeChange {
    match body {
        ReviewBody::Whole(whole) => whole,
        ReviewBody::Lines(lines) => {
            let diff = LineDiff::new(&lines.old.text(), &lines.new.text()).unified(3, usize::MAX);
            let words = sanitize::block(&diff.text).lines().map(String::from).collect();
            WholeChange { words, ..WholeChange::default() }
        }
    }
}

/// A change by itself; `from` is what was at the other end of a move.
fn one(
    change: &FileChange,
    from: Option<&PathState>,
    objects: &ObjectStore,
    name: &dyn Fn(&Path) -> String,
    room: &mut u64,
) -> ReviewFile {
    let parts = change.verb() == ChangeKind::Modified && change.is_between_files() || from.is_some();
    let with = if parts { ", with whatever part is accepted" } else { "" };
    let mut facts: Vec<String> =
        change.attribute_words(from).into_iter().map(|words| format!("{words}{with}")).collect();
    facts.extend(change.twin_words(name));
    if change.raced {
        facts.push("others changed it at the same time: it can be rejected, but not applied".into());
    }
    let mut paths = vec![change.path.clone()];
    paths.extend(change.moved_from.clone());
    let body = body(change, objects, name, room, &mut facts);
    ReviewFile {
        name: format!("{}{}", name(&change.path), change.slash()),
        path: change.path.to_path_buf(),
        paths,
        renamed: None,
        letter: change.verb().letter(),
        facts,
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body,
        key: own_key(change),
    }
}

/// A file that was renamed and changed: the lines of both ends as one difference.
fn renamed(
    change: &FileChange,
    old: &FileChange,
    objects: &ObjectStore,
    name: &dyn Fn(&Path) -> String,
    room: &mut u64,
) -> Option<ReviewFile> {
    let size = old.before.size() + change.after.size();
    let (before, after) = (old.bytes(objects)?.0, change.bytes(objects)?.1);
    let (before, after) = (SideText::readable(before)?, SideText::readable(after)?);
    *room = room.checked_sub(size)?;
    let lines = ReviewLines::uncompared(before, after);
    let mut file = one(change, Some(&old.before), objects, name, &mut 0);
    file.facts
        .insert(0, format!("renamed from {}: the rename is applied with any accepted line", name(&old.path)));
    let key = format!("{}\0{}", own_key(old), own_key(change));
    file.key = blake3::hash(key.as_bytes()).to_hex().to_string();
    Some(ReviewFile {
        letter: 'R',
        body: ReviewBody::Lines(lines),
        renamed: Some(old.path.to_path_buf()),
        ..file
    })
}

/// The same where both ends cannot be compared: one decision for both. The content before cannot be read where the
/// workspace has something else at the old path now.
fn renamed_as_whole(
    change: &FileChange,
    old: &FileChange,
    objects: &ObjectStore,
    name: &dyn Fn(&Path) -> String,
    room: &mut u64,
) -> ReviewFile {
    let mut left_out = 0;
    let words = as_words(change, objects, name, room, &mut left_out);
    let file = one(change, Some(&old.before), objects, name, &mut 0);
    let key = format!("{}\0{}", own_key(old), own_key(change));
    ReviewFile {
        letter: 'R',
        paths: vec![Arc::clone(&change.path), Arc::clone(&old.path)],
        facts: [vec![format!("renamed from {}, and changed", name(&old.path))], file.facts].concat(),
        key: blake3::hash(key.as_bytes()).to_hex().to_string(),
        body: ReviewBody::Whole(WholeChange { words, left_out, ..WholeChange::default() }),
        ..file
    }
}

fn body(
    change: &FileChange,
    objects: &ObjectStore,
    name: &dyn Fn(&Path) -> String,
    room: &mut u64,
    facts: &mut Vec<String>,
) -> ReviewBody {
    let words = |words: Vec<String>| ReviewBody::Whole(WholeChange { words, ..WholeChange::default() });
    match (&*change.before, &*change.after) {
        (_, PathState::Special { what, .. }) => {
            return words(vec![format!(
                "a {}: it is never applied; accepting discards it",
                sanitize::line(what)
            )]);
        }
        (before, PathState::Link { target }) => {
            let was = match before {
                PathState::Link { target } => format!(", was -> {}", visible::path(Path::new(target))),
                PathState::Absent => String::new(),
                PathState::File { size, .. } => format!(", was a file of {}", count::of(*size, "byte")),
                other => format!(", was {}", size_words(other)),
            };
            let outside = change.outside_words(name).map(|words| format!(" {words}")).unwrap_or_default();
            return words(vec![format!("link -> {}{outside}{was}", visible::path(Path::new(target)))]);
        }
        (PathState::Link { target }, PathState::Absent) => {
            return words(vec![format!("link, was -> {}", visible::path(Path::new(target)))]);
        }
        (before, PathState::Directory { .. }) if before.counts_as_file() => {
            let was = match before {
                PathState::File { size, .. } => format!("a file of {}", count::of(*size, "byte")),
                _ => "something else".into(),
            };
            return words(vec![format!("a directory, was {was}")]);
        }
        (PathState::Absent, PathState::Directory { .. }) => {
            return words(vec!["a new empty directory".into()]);
        }
        (PathState::Directory { .. }, PathState::Absent) => {
            return words(vec!["an empty directory that is removed".into()]);
        }
        (PathState::Directory { .. }, PathState::Directory { .. }) => {
            return words(facts.drain(..).chain(["the directory's own mode or owner".into()]).collect());
        }
        _ => {}
    }
    if let Some(from) = &change.moved_from {
        return words(vec![format!("renamed from {}, content unchanged", name(from))]);
    }
    if change.verb() == ChangeKind::Mode {
        let said = std::mem::take(facts);
        return words(if said.is_empty() { vec!["owner or attributes change".into()] } else { said });
    }
    let size = change.before.size() + change.after.size();
    let contents = if size <= *room { change.bytes(objects) } else { None };
    let Some((before, after)) = contents else {
        return words(vec![sizes(change), "too large to be shown line by line here".into()]);
    };
    *room -= size.min(*room);
    let shown = text(change, before, after, facts);
    if change.is_between_files() {
        return shown;
    }
    let mut whole = as_whole(shown);
    whole.words.insert(0, format!("a file, was {}", size_words(&change.before)));
    whole.counts = change.counts(objects);
    ReviewBody::Whole(whole)
}

fn text(change: &FileChange, before: Vec<u8>, after: Vec<u8>, facts: &mut Vec<String>) -> ReviewBody {
    let file = change.path.to_string_lossy();
    let picture =
        |bytes: &[u8]| sniff(bytes.get(..64).unwrap_or(bytes), &file).and_then(|k| k.media_type()).is_some();
    if picture(&after) || after.is_empty() && picture(&before) {
        let words = picture_sizes(change, &before, &after);
        let side = |bytes: Vec<u8>| (!bytes.is_empty()).then(|| Arc::new(bytes));
        let pictures = Some(PicturePair { before: side(before), after: side(after) });
        return ReviewBody::Whole(WholeChange { words: vec![words], pictures, ..WholeChange::default() });
    }
    let (Some(old), Some(new)) = (SideText::readable(before.clone()), SideText::readable(after.clone()))
    else {
        if let Some((words, left_out)) = wide_text(&before, &after) {
            return ReviewBody::Whole(WholeChange { words, left_out, ..WholeChange::default() });
        }
        // Of a file that is removed, what is lost.
        let shown = if after.is_empty() { &before } else { &after };
        let (words, bytes) = (vec![sizes(change)], Some(BinaryContent::new(shown)));
        return ReviewBody::Whole(WholeChange { words, bytes, ..WholeChange::default() });
    };
    facts.extend(encodings(&before, &after));
    let lines = ReviewLines::uncompared(old, new);
    match lines.old.bytes(0..lines.old.len()) == lines.new.bytes(0..lines.new.len()) {
        true => ReviewBody::Whole(WholeChange {
            words: vec!["a new empty file".into()],
            ..WholeChange::default()
        }),
        false => ReviewBody::Lines(lines),
    }
}

/// What the lines do not show: text in another encoding than UTF-8 has other bytes.
pub(in crate::review) fn encodings(before: &[u8], after: &[u8]) -> Option<String> {
    let of = |bytes: &[u8]| match bytes {
        [] => None,
        _ => DetectedEncoding::of(bytes).ok().map(|found| found.encoding.to_string()),
    };
    let utf8 = TextEncoding::Utf8.to_string();
    match (of(before), of(after)) {
        (Some(was), Some(is)) if was != is => Some(format!("the encoding changes from {was} to {is}")),
        (_, Some(is)) if is != utf8 => Some(format!("text in {is}")),
        _ => None,
    }
}

/// Text in UTF-16 or with a few NUL bytes as a difference, which is decided as a whole, and how many of its lines are not shown.
/// `None` where a side is not text, or where the text does not show all of its bytes: such a file is shown by its size and hash.
pub(in crate::review) fn wide_text(before: &[u8], after: &[u8]) -> Option<(Vec<String>, usize)> {
    let ((old, was), (new, is)) = (decoded(before)?, decoded(after)?);
    let diff = LineDiff::new(&old, &new).unified(3, 1 << 20);
    let form = match (was.as_str(), is.as_str()) {
        (was, "") => format!("text in {was}"),
        (was, is) if was.is_empty() || was == is => format!("text in {is}"),
        (was, is) => format!("text in {is}, before in {was}"),
    };
    let mut words = vec![format!("{form}, decided as a whole")];
    let all = sanitize::block(&diff.text);
    let left_out = all.split('\n').count().saturating_sub(SHOWN + 1) + diff.left_out;
    words.extend(all.lines().take(SHOWN).map(String::from));
    let mut as_bytes = readable_bytes(after);
    let left_out = left_out + as_bytes.len().saturating_sub(SHOWN);
    as_bytes.truncate(SHOWN);
    if !as_bytes.is_empty() {
        words.push("a program that reads it as bytes, such as a shell, also finds:".into());
        words.extend(as_bytes);
    }
    if left_out > 0 {
        words.push(format!("{left_out} more lines are not shown"));
    }
    Some((words, left_out))
}

/// Lines of UTF-16 whose bytes can be read in a row: `sh` runs such a line, and the letters do not show it. Text of Latin letters
/// has none.
fn readable_bytes(bytes: &[u8]) -> Vec<String> {
    /// As many signs in a row as `strings` takes for text.
    const READABLE: usize = 4;
    if !DetectedEncoding::of(bytes).is_ok_and(|found| found.encoding.unit() > 1) {
        return Vec::new();
    }
    let is_sign = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t');
    let can_be_read = |line: &&[u8]| line.split(|byte| !is_sign(byte)).any(|run| run.len() >= READABLE);
    let lines = bytes.split(|byte| *byte == b'\n').filter(can_be_read);
    lines.map(|line| format!("  {}", visible::visible(line, visible::LineBreaks::Shown))).collect()
}

/// The text of a content, with its encoding and marks: contents with the same text differ in these.
fn decoded(bytes: &[u8]) -> Option<(String, String)> {
    if bytes.is_empty() {
        return Some((String::new(), String::new()));
    }
    if let Some((text, nuls)) = text_with_nuls(bytes).filter(|_| is_binary(bytes)) {
        return Some((text.into(), format!("{} with {}", TextEncoding::Utf8, count::of(nuls, "NUL byte"))));
    }
    let found = DetectedEncoding::of(bytes).ok()?;
    let body = bytes.get(found.mark..).unwrap_or_default();
    let text = found.encoding.decode(body).into_owned();
    let mark = if found.mark > 0 { " with a byte order mark" } else { "" };
    // Half a surrogate pair is decoded as U+FFFD, whichever half it is: two contents would look the same.
    let same = found.encoding.encode(&text).is_ok_and(|bytes| *bytes == *body);
    same.then(|| (text, format!("{}{mark}", found.encoding)))
}

fn sizes(change: &FileChange) -> String {
    match (&*change.before, &*change.after) {
        (PathState::File { size: before, .. }, PathState::File { size: after, .. }) => {
            format!("not text: {before} to {after} bytes")
        }
        (before, after) => format!("not text: {} becomes {}", size_words(before), size_words(after)),
    }
}

/// The same for a picture, with its format, and its size in pixels where its header has it.
fn picture_sizes(change: &FileChange, before: &[u8], after: &[u8]) -> String {
    let file = change.path.to_string_lossy();
    let side = |node: &PathState, bytes: &[u8]| {
        let kind = sniff(bytes.get(..64).unwrap_or(bytes), &file);
        let known = kind.and_then(|kind| Some((kind, media::size(kind, bytes)?)));
        match known {
            Some((kind, (width, height))) => format!("{kind} {width}x{height}, {}", size_words(node)),
            None => size_words(node),
        }
    };
    format!("picture: {} becomes {}", side(&change.before, before), side(&change.after, after))
}

/// As much of a hash as tells two contents apart.
pub(in crate::review) fn short_hash(hash: &blake3::Hash) -> String {
    hash.to_hex().chars().take(12).collect()
}

fn size_words(node: &PathState) -> String {
    match node {
        PathState::File { size, .. } => count::of(*size, "byte"),
        PathState::Absent => "nothing".into(),
        PathState::Link { target } => format!("a link -> {}", visible::path(Path::new(target))),
        PathState::Directory { .. } => "a directory".into(),
        PathState::Special { what, .. } => what.clone(),
    }
}

fn own_key(change: &FileChange) -> String {
    let side = |node: &PathState| serde_json::to_string(node).unwrap_or_default();
    let text = format!("{}\0{}\0{}", change.path.display(), side(&change.before), side(&change.after));
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
