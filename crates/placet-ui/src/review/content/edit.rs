//! A hunk written again by the person: as text for an editor, and back, checked.

use super::file::{ReviewDecision, ReviewHunk, ReviewLines};
use super::side_text::{LineTerminator, SideText};
use thiserror::Error;

/// Unchanged lines around the hunk, so that one sees where it is.
const AROUND: usize = 3;

/// What the editor shows.
pub(in crate::review) fn text(name: &str, lines: &ReviewLines, hunk: &ReviewHunk) -> String {
    let mut out = format!(
        "# {name}: change, add or delete lines that begin with +. They become the file's new text.\n\
         # Lines that begin with - or a blank must stay as they are. Lines that begin with # are ignored.\n# Delete everything to leave the hunk unchanged.\n"
    );
    for (sign, line) in frame(lines, hunk) {
        out.push(sign);
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The hunk with what is around it, each line with its sign.
fn frame<'a>(lines: &'a ReviewLines, hunk: &ReviewHunk) -> Vec<(char, &'a str)> {
    let before = hunk.old.start.saturating_sub(AROUND)..hunk.old.start;
    let after = hunk.old.end..(hunk.old.end + AROUND).min(lines.old.len());
    let mut out: Vec<(char, &str)> = before.map(|n| (' ', lines.old.line(n))).collect();
    out.extend(hunk.old.clone().map(|n| ('-', lines.old.line(n))));
    out.extend(hunk.new.clone().map(|n| ('+', lines.new.line(n))));
    out.extend(after.map(|n| (' ', lines.old.line(n))));
    out
}

/// Why a hunk cannot be taken as it came back from the editor. Lines are counted from 1.
#[derive(Debug, Error)]
pub(in crate::review) enum HunkEditError {
    #[error("line {0} must start with +, - or a blank")]
    NoSign(usize),
    #[error("line {0} was changed, and only lines with + may change")]
    Changed(usize),
    #[error("the line `{0}` is missing, and only lines with + may be removed")]
    Missing(String),
    #[error("the hunk no longer exists")]
    NoHunk,
    #[error("`{0}` cannot be written in the file's encoding")]
    Encoding(String),
    #[error("the text cannot be split into lines")]
    NoLines,
}

/// The file with the hunk as it came back: `None` when it was to be left as it is.
pub(in crate::review) fn read(
    lines: &ReviewLines,
    h: usize,
    text: &str,
) -> Result<Option<ReviewLines>, HunkEditError> {
    let Some(hunk) = lines.hunks.get(h) else { return Ok(None) };
    let shown: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    if shown.iter().all(|line| line.trim().is_empty()) {
        return Ok(None);
    }
    let mut kept = frame(lines, hunk).into_iter().filter(|(sign, _)| *sign != '+');
    let mut added: Vec<&str> = Vec::new();
    for (n, line) in shown.iter().enumerate() {
        if let Some(text) = line.strip_prefix('+') {
            added.push(text);
            continue;
        }
        // Editors take the blank off a line that is nothing else.
        let (sign, rest) = match line.chars().next() {
            Some(sign @ ('-' | ' ')) => (sign, line.get(1..).unwrap_or("")),
            None => (' ', ""),
            Some(_) => return Err(HunkEditError::NoSign(n + 1)),
        };
        match kept.next() {
            Some((s, text)) if s == sign && text.trim_end_matches('\r') == rest.trim_end_matches('\r') => {}
            _ => return Err(HunkEditError::Changed(n + 1)),
        }
    }
    if let Some((_, line)) = kept.next() {
        return Err(HunkEditError::Missing(line.into()));
    }
    replaced(lines, h, &added).map(Some)
}

/// The file with the new lines of one hunk replaced; decisions about the other hunks stay.
fn replaced(lines: &ReviewLines, h: usize, added: &[&str]) -> Result<ReviewLines, HunkEditError> {
    let hunk = lines.hunks.get(h).ok_or(HunkEditError::NoHunk)?;
    let (new, all) = (&lines.new, lines.new.len());
    let last_is_bare =
        hunk.new.end == all && !hunk.new.is_empty() && new.end(all - 1) == LineTerminator::None;
    let end = if new.is_empty() { lines.old.usual_end() } else { new.usual_end() };
    let mut bytes = new.bytes(0..hunk.new.start).to_vec();
    for (n, line) in added.iter().enumerate() {
        let doc = if new.is_empty() { &lines.old } else { new };
        let line = doc.encode(line).ok_or_else(|| HunkEditError::Encoding((*line).into()))?;
        bytes.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(&line));
        if !(last_is_bare && n + 1 == added.len()) {
            bytes.extend_from_slice(end);
        }
    }
    bytes.extend_from_slice(new.bytes(hunk.new.end..all));
    let new = SideText::new(bytes).ok_or(HunkEditError::NoLines)?;
    let mut out = ReviewLines {
        edited: true,
        opened: lines.opened.clone(),
        is_on_workspace: lines.is_on_workspace,
        conflicts: lines.conflicts.clone(),
        ..ReviewLines::new(lines.old.clone(), new)
    };
    let same = |a: &ReviewHunk, b: &ReviewHunk| {
        a.old == b.old && lines.new.bytes(a.new.clone()) == out.new.bytes(b.new.clone())
    };
    let marks: Vec<Option<ReviewHunk>> = out
        .hunks
        .iter()
        .map(|fresh| {
            lines
                .hunks
                .iter()
                .enumerate()
                .find(|(n, old)| *n != h && same(old, fresh))
                .map(|(_, old)| old.clone())
        })
        .collect();
    for (fresh, known) in out.hunks.iter_mut().zip(marks) {
        match known {
            Some(known) => {
                fresh.marks = known.marks;
                fresh.reviewed = known.reviewed;
            }
            // What the person wrote pleases the person.
            None if fresh.old.start <= hunk.old.end && hunk.old.start <= fresh.old.end => {
                fresh.marks.fill(ReviewDecision::Accepted);
            }
            None => {}
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(old: &str, new: &str) -> ReviewLines {
        let doc = |text: &str| SideText::new(text.as_bytes().to_vec()).unwrap();
        ReviewLines::new(doc(old), doc(new))
    }

    #[test]
    fn an_edited_hunk_is_accepted_and_the_others_keep_their_decisions() {
        let mut before = lines("a\r\nb\r\nc\r\nd\r\ne\r\n", "A\r\nb\r\nc\r\nd\r\nE\r\n");
        before.hunks[1].marks.fill(ReviewDecision::Rejected);
        let shown = text("x", &before, &before.hunks[0]);
        assert!(shown.ends_with("-a\n+A\n b\n c\n d\n"), "{shown}");
        let after = read(&before, 0, &shown.replace("+A", "+1\n+2")).unwrap().unwrap();
        assert_eq!(after.accepted_content(), b"1\r\n2\r\nb\r\nc\r\nd\r\ne\r\n");
        assert_eq!(after.unrejected_content(), b"1\r\n2\r\nb\r\nc\r\nd\r\ne\r\n");
        assert!(after.edited);
    }

    #[test]
    fn what_must_stay_is_checked_and_nothing_means_nothing() {
        let before = lines("a\nb\n", "A\nb\n");
        let shown = text("x", &before, &before.hunks[0]);
        assert_eq!(
            read(&before, 0, &shown.replace("-a", "-z")).unwrap_err().to_string(),
            "line 1 was changed, and only lines with + may change"
        );
        assert!(
            read(&before, 0, &shown.replace(" b\n", ""))
                .unwrap_err()
                .to_string()
                .starts_with("the line `b` is missing")
        );
        assert!(read(&before, 0, "# nothing\n\n").unwrap().is_none());
    }
}
