//! What was decided about a difference that git wrote, as a patch for the index: `git apply --cached` takes it, with `-R`
//! to take staged lines out again.
//!
//! A file of which all is meant is the very bytes that git wrote, so that modes, binary files, line ends and names are
//! git's own. Of any other file the head is git's, and the hunks are made of the lines that are meant.

use super::file::{ReviewBody, ReviewDecision, ReviewFile, ReviewLines};
use std::ops::Range;

/// Lines around a change.
const AROUND: usize = 3;

/// Which way the patch is applied: what was accepted is put into the index, what was rejected is taken out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexDirection {
    Stage,
    Unstage,
}

impl IndexDirection {
    /// The decision that changes the index.
    pub fn picks(self) -> ReviewDecision {
        match self {
            IndexDirection::Stage => ReviewDecision::Accepted,
            IndexDirection::Unstage => ReviewDecision::Rejected,
        }
    }
}

/// The parts of a difference, one for each file. Those of files in conflict compare three versions and are left out.
pub fn sections(difference: &[u8]) -> Vec<&[u8]> {
    let mut starts: Vec<usize> = Vec::new();
    let (mut at, mut before) = (0, &b""[..]);
    for line in difference.split_inclusive(|byte| *byte == b'\n') {
        // Lines of a hunk begin with a sign, and those of a binary patch have no blank.
        // A file that becomes a link is removed and made: two parts that are one.
        if line.starts_with(b"diff ") && line != std::mem::replace(&mut before, line) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([difference.len()]);
    let all = starts.iter().zip(ends).filter_map(|(start, end)| difference.get(*start..end));
    all.filter(|section| section.starts_with(b"diff --git ")).collect()
}

/// What is to be done with one file; `None` for nothing. `section` is what git wrote about it.
pub fn file_patch(file: &ReviewFile, section: &[u8], direction: IndexDirection) -> Option<Vec<u8>> {
    let picks = |mark: &ReviewDecision| *mark == direction.picks();
    let lines = match &file.body {
        ReviewBody::Whole(whole) if whole.refused.is_some() => return None,
        ReviewBody::Whole(whole) => return picks(&whole.mark).then(|| section.to_vec()),
        ReviewBody::Lines(lines) => lines,
    };
    let mut marks = lines.hunks.iter().flat_map(|hunk| &hunk.marks);
    if !marks.clone().any(picks) {
        return None;
    }
    if !lines.edited && marks.all(picks) {
        return Some(section.to_vec());
    }
    let mut patch = head(section, direction);
    write(&signs(lines, direction), &mut patch);
    Some(patch)
}

/// The lines before the hunks. A file that is only partly removed is not removed, and one that is partly taken out of the
/// index stays there.
fn head(section: &[u8], direction: IndexDirection) -> Vec<u8> {
    let (kind, end, other) = match direction {
        IndexDirection::Stage => (&b"deleted file mode"[..], &b"+++ /dev/null"[..], (&b"--- "[..], b"+++ ")),
        IndexDirection::Unstage => (&b"new file mode"[..], &b"--- /dev/null"[..], (&b"+++ "[..], b"--- ")),
    };
    let lines: Vec<&[u8]> = section
        .split_inclusive(|byte| *byte == b'\n')
        .take_while(|line| !line.starts_with(b"@@"))
        .filter(|line| !line.starts_with(kind) && !line.starts_with(b"index "))
        .collect();
    let name = lines.iter().find_map(|line| line.strip_prefix(other.0)).unwrap_or_default();
    let mut out = Vec::new();
    for line in lines {
        if line.starts_with(end) {
            out.extend_from_slice(other.1);
            out.extend(with_other_prefix(name));
        } else {
            out.extend_from_slice(line);
        }
    }
    out
}

/// `a/name` as `b/name` and the other way round, also in quotes.
fn with_other_prefix(name: &[u8]) -> Vec<u8> {
    let at = usize::from(name.starts_with(b"\""));
    let mut name = name.to_vec();
    if let Some(prefix) = name.get_mut(at) {
        *prefix = if *prefix == b'a' { b'b' } else { b'a' };
    }
    name
}

/// Every line with its sign. The side that the index has is complete, and the other one has what is picked.
fn signs(lines: &ReviewLines, direction: IndexDirection) -> Vec<(u8, &[u8])> {
    let mut out: Vec<(u8, &[u8])> = Vec::new();
    let mut at = 0;
    let old = |range: Range<usize>| range.map(|n| lines.old.bytes(n..n + 1));
    for hunk in &lines.hunks {
        out.extend(old(at..hunk.old.start).map(|line| (b' ', line)));
        let picked = |n: usize| hunk.mark(n) == direction.picks();
        for (n, line) in old(hunk.old.clone()).enumerate() {
            match (picked(n), direction) {
                (true, _) => out.push((b'-', line)),
                (false, IndexDirection::Stage) => out.push((b' ', line)),
                (false, IndexDirection::Unstage) => {}
            }
        }
        for (n, line) in hunk.new.clone().enumerate() {
            let line = lines.new.bytes(line..line + 1);
            match (picked(hunk.old.len() + n), direction) {
                (true, _) => out.push((b'+', line)),
                (false, IndexDirection::Stage) => {}
                (false, IndexDirection::Unstage) => out.push((b' ', line)),
            }
        }
        at = hunk.old.end;
    }
    out.extend(old(at..lines.old.len()).map(|line| (b' ', line)));
    out
}

/// The changes with the lines around them.
fn write(signs: &[(u8, &[u8])], out: &mut Vec<u8>) {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, _) in signs.iter().enumerate().filter(|(_, (sign, _))| *sign != b' ') {
        let range = at.saturating_sub(AROUND)..(at + 1 + AROUND).min(signs.len());
        match groups.last_mut() {
            Some(last) if range.start <= last.end => last.end = range.end,
            _ => groups.push(range),
        }
    }
    let (mut at, mut old, mut new) = (0, 0, 0);
    let count = |range: Range<usize>, without: u8| {
        signs.get(range).unwrap_or_default().iter().filter(|(sign, _)| *sign != without).count()
    };
    for group in groups {
        old += count(at..group.start, b'+');
        new += count(at..group.start, b'-');
        let (olds, news) = (count(group.clone(), b'+'), count(group.clone(), b'-'));
        // A side without lines is named by the line before it.
        let first = |before: usize, lines: usize| if lines == 0 { before } else { before + 1 };
        out.extend(format!("@@ -{},{olds} +{},{news} @@\n", first(old, olds), first(new, news)).into_bytes());
        for (sign, line) in signs.get(group.clone()).unwrap_or_default() {
            out.push(*sign);
            out.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
        old += olds;
        new += news;
        at = group.end;
    }
}
