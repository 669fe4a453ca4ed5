//! A patch as files under review, and what was accepted of it as a patch again.
//!
//! A patch has parts of files only: what lies between them is not there, and line numbers are the patch's own.

use super::file::{
    PartBoundary, ReviewBody, ReviewDecision, ReviewFile, ReviewHunk, ReviewLines, WholeChange,
};
use super::load::wide_text;
use super::side_text::SideText;
use placet_text::text::patch::{
    BinaryPatch, FilePatch, FilePatchBody, FilePatchKind, PatchLineKind, PatchSet, quoted,
};
use placet_text::text::visible::{self, LineBreaks};
use placet_text::text::{count, sanitize};
use std::path::{Path, PathBuf};

/// The largest content of a binary patch that is unpacked to be shown as text.
const LARGEST_TEXT: usize = 1 << 20;
const NO_LINES: &str = "no line changes";

/// The files of a patch.
pub fn of_patch(patch: &PatchSet) -> Vec<ReviewFile> {
    patch.files.iter().map(one).collect()
}

/// Adds a binary file of which only the name is known. A file that the patch has with this name, as one that is new or was
/// removed, is the same one: nothing says that it is empty.
pub fn add_binary_file(files: &mut Vec<ReviewFile>, name: &str) {
    let binary = binary_file(name);
    let Some(file) = files.iter_mut().find(|file| file.path == binary.path) else {
        return files.push(binary);
    };
    if let (ReviewBody::Whole(known), ReviewBody::Whole(mut whole)) = (&file.body, binary.body) {
        whole.words.extend(known.words.iter().filter(|words| *words != NO_LINES).cloned());
        file.body = ReviewBody::Whole(whole);
    }
}

fn binary_file(name: &str) -> ReviewFile {
    let path = PathBuf::from(name);
    let words = vec!["a binary file; the diff has no more information".to_string()];
    ReviewFile {
        name: sanitize::name(name).into_owned(),
        path: path.clone(),
        paths: vec![path.into()],
        renamed: None,
        letter: 'M',
        facts: Vec::new(),
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body: ReviewBody::Whole(WholeChange { words, ..WholeChange::default() }),
        key: blake3::hash(name.as_bytes()).to_hex().to_string(),
    }
}

/// A file of which the lines are not decided one by one: a link, a submodule, a name that is not UTF-8. `section` is
/// what git wrote about it.
pub fn whole_file(path: &Path, section: &[u8]) -> ReviewFile {
    const SHOWN: usize = 2_000;
    let text = visible::visible(section, LineBreaks::Kept);
    let has = |words: &str| text.lines().any(|line| line.starts_with(words));
    let letter = match (has("new file mode"), has("deleted file mode")) {
        (true, true) => 'T',
        (true, false) => 'A',
        (false, true) => 'D',
        (false, false) => 'M',
    };
    let left_out = text.lines().count().saturating_sub(SHOWN);
    let words = std::iter::once("decided as a whole".to_string());
    let words = words.chain(text.lines().take(SHOWN).map(String::from)).collect();
    let body = ReviewBody::Whole(WholeChange { words, left_out, ..WholeChange::default() });
    ReviewFile {
        letter,
        body,
        key: blake3::hash(section).to_hex().to_string(),
        ..refused_file(path, letter, "")
    }
}

/// A file that is shown, and cannot be decided for a reason.
pub fn refused_file(path: &Path, letter: char, why: &str) -> ReviewFile {
    let whole = WholeChange {
        words: vec![why.to_string()],
        refused: Some(why.to_string()),
        ..WholeChange::default()
    };
    let key = blake3::hash(format!("{}\0{why}", path.display()).as_bytes()).to_hex().to_string();
    ReviewFile {
        name: visible::path_name(path),
        path: path.to_path_buf(),
        paths: vec![path.into()],
        renamed: None,
        letter,
        facts: Vec::new(),
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body: ReviewBody::Whole(whole),
        key,
    }
}

fn one(file: &FilePatch) -> ReviewFile {
    let name = file.new.as_ref().or(file.old.as_ref()).cloned().unwrap_or_else(|| "(no name)".into());
    let letter = match file.kind {
        FilePatchKind::Edit => 'M',
        FilePatchKind::Create => 'A',
        FilePatchKind::Delete => 'D',
        FilePatchKind::Rename => 'R',
        FilePatchKind::Copy => 'C',
    };
    let mut facts = Vec::new();
    let safe = |name: &String| sanitize::name(name).into_owned();
    match (file.kind, &file.old) {
        // Where it is the only file of its row, nothing else has the new name.
        (FilePatchKind::Rename, Some(old)) => {
            facts.push(format!("renamed from {} to {}", safe(old), safe(&name)));
        }
        (FilePatchKind::Copy, Some(old)) => facts.push(format!("copied from {}", safe(old))),
        _ => {}
    }
    if let (Some(a), Some(b)) = (file.old_mode, file.new_mode)
        && a != b
    {
        facts.push(format!("mode {a:o} becomes {b:o}"));
    }
    // All that git says of a mode; the row of a file of the work tree has the whole of it.
    if file.kind == FilePatchKind::Create && file.new_mode == Some(0o100_755) {
        facts.push("executable".into());
    }
    let body = match &file.body {
        FilePatchBody::Hunks(_) => lines(file).filter(|lines| !lines.hunks.is_empty()).map(ReviewBody::Lines),
        FilePatchBody::Binary(_) => None,
    };
    let body = body.unwrap_or_else(|| {
        if let FilePatchBody::Binary(binary) = &file.body
            && let Some((before, after)) = binary.contents(LARGEST_TEXT)
            && let Some((mut words, left_out)) = wide_text(&before, &after)
        {
            words.splice(1..1, facts.drain(..));
            return ReviewBody::Whole(WholeChange { words, left_out, ..WholeChange::default() });
        }
        let what = match &file.body {
            FilePatchBody::Binary(binary) => binary_words(file.kind, binary),
            FilePatchBody::Hunks(_) => NO_LINES.into(),
        };
        let words = std::iter::once(what).chain(facts.drain(..)).collect();
        ReviewBody::Whole(WholeChange { words, ..WholeChange::default() })
    });
    let key = blake3::hash(format!("{name}\0{facts:?}").as_bytes()).to_hex().to_string();
    let path = PathBuf::from(&name);
    ReviewFile {
        name: safe(&name),
        path: path.clone(),
        paths: vec![path.into()],
        renamed: None,
        letter,
        facts,
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body,
        key,
    }
}

/// `not text: 12 to 14 bytes`, as far as the patch says it.
fn binary_words(kind: FilePatchKind, binary: &BinaryPatch) -> String {
    match (kind, binary.sizes()) {
        (FilePatchKind::Create, (_, Some(size))) => format!("not text: new, {}", count::of(size, "byte")),
        (FilePatchKind::Delete, (Some(size), _)) => format!("not text: removed, {}", count::of(size, "byte")),
        (_, (Some(old), Some(new))) => format!("not text: {old} to {new} bytes"),
        _ => "not text".into(),
    }
}

/// The parts of both sides that the patch has, one behind the other.
fn lines(file: &FilePatch) -> Option<ReviewLines> {
    let (mut old, mut new): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
    let (mut old_at, mut new_at) = (0, 0);
    let (mut hunks, mut parts): (Vec<ReviewHunk>, Vec<PartBoundary>) = (Vec::new(), Vec::new());
    for hunk in file.hunks() {
        let first = hunk.old_start.unwrap_or(old_at + 1).max(1);
        let shift = new_at as isize - old_at as isize + parts_shift(&parts);
        let new_first = usize::try_from(first as isize + shift).unwrap_or(1).max(1);
        parts.push(PartBoundary { old: old_at, new: new_at, old_number: first, new_number: new_first });
        let (mut run_old, mut run_new) = (old_at, new_at);
        let mut close = |run_old: &mut usize, run_new: &mut usize, old_at: usize, new_at: usize| {
            if *run_old < old_at || *run_new < new_at {
                hunks.push(ReviewHunk::new(*run_old..old_at, *run_new..new_at));
            }
            (*run_old, *run_new) = (old_at, new_at);
        };
        for line in &hunk.lines {
            let text = line.text();
            if line.sign == PatchLineKind::Context {
                close(&mut run_old, &mut run_new, old_at, new_at);
            }
            if line.sign != PatchLineKind::Add {
                ended(&mut old, text);
                old_at += 1;
            }
            if line.sign != PatchLineKind::Remove {
                ended(&mut new, text);
                new_at += 1;
            }
            if line.sign == PatchLineKind::Context {
                (run_old, run_new) = (old_at, new_at);
            }
        }
        close(&mut run_old, &mut run_new, old_at, new_at);
    }
    let (old, new) = (SideText::new(old)?, SideText::new(new)?);
    let everything = 0..old_at;
    let opened = Vec::from([everything]);
    Some(ReviewLines {
        old,
        new,
        hunks,
        opened,
        parts,
        edited: false,
        is_on_workspace: false,
        conflicts: Vec::new(),
    })
}

/// What the numbers of the last part differ by beyond the lines that are there.
fn parts_shift(parts: &[PartBoundary]) -> isize {
    parts
        .last()
        .map_or(0, |s| (s.new_number as isize - s.old_number as isize) - (s.new as isize - s.old as isize))
}

/// Appends a line. One without an end can only be a file's last: another behind it gets a line of its own.
fn ended(out: &mut Vec<u8>, line: &[u8]) {
    if out.last().is_some_and(|b| *b != b'\n') {
        out.push(b'\n');
    }
    out.extend_from_slice(line);
}

/// The accepted part as a patch, and the names of accepted files that the patch cannot express: binary files, renames
/// and modes without lines.
pub fn accepted(files: &[ReviewFile]) -> (Vec<u8>, Vec<String>) {
    let (mut out, mut left) = (Vec::new(), Vec::new());
    for file in files {
        match &file.body {
            ReviewBody::Whole(whole) if whole.mark == ReviewDecision::Accepted => {
                left.push(file.name.clone())
            }
            ReviewBody::Whole(_) => {}
            ReviewBody::Lines(lines) => accepted_lines(file, lines, &mut out),
        }
    }
    (out, left)
}

fn accepted_lines(file: &ReviewFile, lines: &ReviewLines, out: &mut Vec<u8>) {
    if !lines.hunks.iter().any(|h| h.marks.contains(&ReviewDecision::Accepted)) {
        return;
    }
    let raw = file.path.as_os_str().as_encoded_bytes();
    let whole = lines.hunks.iter().all(|h| h.marks.iter().all(|m| *m == ReviewDecision::Accepted));
    let old = if file.letter == 'A' { "/dev/null".to_string() } else { quoted("a/", raw) };
    let new = if file.letter == 'D' && whole { "/dev/null".to_string() } else { quoted("b/", raw) };
    out.extend_from_slice(format!("--- {old}\n+++ {new}\n").as_bytes());
    let mut drift = 0isize;
    for (n, part) in lines.parts.iter().enumerate() {
        let end = lines.parts.get(n + 1).map_or(lines.old.len(), |next| next.old);
        drift += part_of(lines, *part, end, drift, out);
    }
}

/// One part as a hunk of a patch, if anything in it was accepted. Returns by how much it makes the file longer.
fn part_of(lines: &ReviewLines, part: PartBoundary, end: usize, drift: isize, out: &mut Vec<u8>) -> isize {
    let within = |h: &&ReviewHunk| {
        h.old.start >= part.old && h.old.start <= end && (h.old.start < end || h.old.end <= end)
    };
    let next = lines.parts.iter().find(|s| s.old > part.old).map_or(usize::MAX, |s| s.new);
    let hunks = lines
        .hunks
        .iter()
        .filter(within)
        .filter(|h| h.new.start >= part.new && h.new.start < next.max(part.new + 1));
    let mut ops: Vec<(u8, &[u8])> = Vec::new();
    let mut at = part.old;
    for hunk in hunks {
        ops.extend((at..hunk.old.start).map(|n| (b' ', lines.old.bytes(n..n + 1))));
        for (n, line) in hunk.old.clone().enumerate() {
            let sign = if hunk.mark(n) == ReviewDecision::Accepted { b'-' } else { b' ' };
            ops.push((sign, lines.old.bytes(line..line + 1)));
        }
        for (n, line) in hunk.new.clone().enumerate() {
            if hunk.mark(hunk.old.len() + n) == ReviewDecision::Accepted {
                ops.push((b'+', lines.new.bytes(line..line + 1)));
            }
        }
        at = hunk.old.end;
    }
    ops.extend((at..end).map(|n| (b' ', lines.old.bytes(n..n + 1))));
    write(&ops, part.old_number, drift, out)
}

/// Writes the changes of `ops` with at most three lines around them. `first` is the number of the first old line.
fn write(ops: &[(u8, &[u8])], first: usize, drift: isize, out: &mut Vec<u8>) -> isize {
    const AROUND: usize = 3;
    let changed: Vec<usize> =
        (0..ops.len()).filter(|n| ops.get(*n).is_some_and(|(s, _)| *s != b' ')).collect();
    let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
    for at in changed {
        let range = at.saturating_sub(AROUND)..(at + 1 + AROUND).min(ops.len());
        match groups.last_mut() {
            Some(last) if range.start <= last.end => last.end = range.end,
            _ => groups.push(range),
        }
    }
    let mut grown = 0;
    for group in groups {
        let count = |range: std::ops::Range<usize>, not: u8| {
            ops.get(range).unwrap_or_default().iter().filter(|(sign, _)| *sign != not).count()
        };
        let (olds, news) = (count(group.clone(), b'+'), count(group.clone(), b'-'));
        let old = first + count(0..group.start, b'+');
        let new = old as isize + drift + grown;
        let old = if olds == 0 { old - 1 } else { old };
        let new = if news == 0 { new - 1 } else { new };
        out.extend_from_slice(format!("@@ -{old},{olds} +{new},{news} @@\n").as_bytes());
        for (sign, bytes) in ops.get(group).unwrap_or_default() {
            out.push(*sign);
            out.extend_from_slice(bytes);
            if !bytes.ends_with(b"\n") {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
        grown += news as isize - olds as isize;
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_text::text::patch::{StripLevels, parse};

    const PATCH: &str = "\
--- a/x.txt
+++ b/x.txt
@@ -3,4 +3,5 @@
 c
-d
+D
+dd
 e
 f
@@ -20,3 +21,2 @@
 t
-u
 v
";

    fn files(text: &str) -> Vec<ReviewFile> {
        of_patch(&parse(text.as_bytes(), StripLevels::Auto).unwrap())
    }

    #[test]
    fn numbers_are_the_patchs_own_and_parts_stay_apart() {
        let files = files(PATCH);
        let lines = files[0].lines().unwrap();
        assert_eq!(lines.hunks.len(), 2);
        assert_eq!((lines.old_number(1), lines.new_number(1)), (4, 4));
        assert_eq!((lines.old_number(5), lines.new_number(6)), (21, 22));
    }

    /// Story: of a staged rename only the old name was shown.
    #[test]
    fn a_rename_without_changes_has_both_names() {
        let patch =
            "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n";
        let files = files(patch);
        let ReviewBody::Whole(whole) = &files[0].body else { panic!("{files:?}") };
        assert_eq!(whole.words, ["no line changes", "renamed from old.py to new.py"]);
    }

    #[test]
    fn what_was_accepted_is_a_patch_again() {
        let mut files = files(PATCH);
        let lines = files[0].lines_mut().unwrap();
        lines.hunks.iter_mut().for_each(|h| h.marks.fill(ReviewDecision::Accepted));
        assert_eq!(String::from_utf8(accepted(&files).0).unwrap(), PATCH);
        let lines = files[0].lines_mut().unwrap();
        lines.hunks[0].marks = vec![ReviewDecision::Open, ReviewDecision::Accepted, ReviewDecision::Rejected];
        assert_eq!(
            String::from_utf8(accepted(&files).0).unwrap(),
            "--- a/x.txt\n+++ b/x.txt\n@@ -3,4 +3,5 @@\n c\n d\n+D\n e\n f\n@@ -20,3 +21,2 @@\n t\n-u\n v\n"
        );
    }
}
