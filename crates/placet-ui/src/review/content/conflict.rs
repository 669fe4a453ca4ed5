//! A file in which the agent and somebody else changed the same lines.
//!
//! The review then compares with what is in the workspace now: the old side has the person's lines, the new side the
//! agent's in their place. So accepting such a hunk takes the agent's text, rejecting it keeps the person's, and what is
//! shown is what the apply writes.

use super::file::{
    AppliedPart, LineConflict, PendingPart, ReviewBody, ReviewDecision, ReviewFile, ReviewHunk, ReviewLines,
    WholeChange,
};
use super::load::{short_hash, wide_text};
use super::side_text::SideText;
use crate::review::state::Review;
use placet_text::text::visible::{LineBreaks, visible};
use placet_text::text::{LineDiff, count, sanitize, sided_merge};
use placet_workspace::{FileChange, PathState};
use std::path::Path;

/// Lines that are shown of one place.
const SHOWN: usize = 20;
/// Lines of a difference that is decided as a whole.
const LINES: usize = 2000;
/// Contents that are compared, in bytes: two that have nothing in common take long.
const LARGEST: usize = 4 << 20;

/// How the change of a file and what happened to the file in the meantime fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeOutlook {
    /// Placet merges both changes.
    Merged,
    /// The same lines changed, and the person chooses.
    Conflict,
    /// The contents cannot be compared here.
    Unknown,
}

/// A path at which the workspace has something else than the agent changed, for a file that is decided as a whole.
#[derive(Debug)]
pub struct SideConflict<'c> {
    pub change: &'c FileChange,
    /// What the workspace has.
    pub now: PathState,
    /// As a person reads the path, where it is another than that of the file.
    pub name: Option<String>,
    /// The contents that are compared line by line; `None` where they are not read.
    pub contents: Option<SideContents>,
}

/// What accepting replaces, and what is there afterwards.
#[derive(Clone, Debug, Default)]
pub struct SideContents {
    pub mine: Vec<u8>,
    pub agents: Vec<u8>,
    /// The path that has the agent's, where it is another.
    pub agents_name: Option<String>,
}

impl SideConflict<'_> {
    /// What each side has.
    fn words(&self) -> [String; 3] {
        let name = self.name.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
        let moved = self.contents.as_ref().and_then(|contents| contents.agents_name.as_ref());
        let moved = moved.map(|to| format!("; it is {to}")).unwrap_or_default();
        let state = |state: &PathState| state_words(state, self.has_lines());
        [
            format!("yours{name}: {}", state(&self.now)),
            format!("the agent's{name}: {}{moved}", state(&self.change.after)),
            format!("before both changes{name}: {}", state(&self.change.before)),
        ]
    }

    /// True where the lines of both sides are shown.
    fn has_lines(&self) -> bool {
        let Some(SideContents { mine, agents, .. }) = &self.contents else { return false };
        let is_text = |bytes: &[u8]| SideText::readable(bytes.to_vec()).is_some();
        mine.len() + agents.len() <= LARGEST
            && (is_text(mine) && is_text(agents) || wide_text(mine, agents).is_some())
    }

    /// The lines that accepting removes and adds, and how many of them are not here. None where they are no text.
    fn difference(&self) -> (Vec<String>, usize) {
        let Some(SideContents { mine, agents, agents_name }) = &self.contents else {
            return Default::default();
        };
        if mine == agents {
            return Default::default();
        }
        if mine.len() + agents.len() > LARGEST {
            let title = "what accepting changes is too large to be shown line by line here";
            return (vec![title.to_string()], 1);
        }
        let (Some(old), Some(new)) = (SideText::readable(mine.clone()), SideText::readable(agents.clone()))
        else {
            return wide_text(mine, agents).unwrap_or_default();
        };
        let diff = LineDiff::new(&old.text(), &new.text()).unified(3, usize::MAX);
        let all = sanitize::block(&diff.text);
        let to = agents_name.as_ref().map(|to| format!(", {to}")).unwrap_or_default();
        let mut rows = vec![format!("what accepting changes: - is yours, + is the agent's{to}")];
        rows.extend(all.lines().take(LINES).map(String::from));
        let left_out = all.lines().count().saturating_sub(LINES);
        if left_out > 0 {
            rows.push(format!("{left_out} more lines are not shown"));
        }
        (rows, left_out)
    }
}

/// A file whose decisions are about the content that the workspace has now.
#[derive(Clone, Debug)]
pub struct DecidedConflict<'r> {
    pub path: &'r Path,
    /// What the workspace had when it was shown.
    pub mine: &'r [u8],
    /// What is applied; `None` where nothing is.
    pub applied: Option<Vec<u8>>,
    /// What stays pending after that.
    pub left: Vec<u8>,
}

impl ReviewLines {
    /// Compares with the file in the workspace, which is not the old side any more. In a conflict the file in the
    /// workspace becomes the old side.
    pub fn compare_with_workspace(&mut self, now: &[u8]) -> MergeOutlook {
        let (old, new) = (self.old.bytes(0..self.old.len()), self.new.bytes(0..self.new.len()));
        if old.len() + new.len() + now.len() > LARGEST {
            return MergeOutlook::Unknown;
        }
        if sided_merge::merged(old, now, new).is_some() {
            return MergeOutlook::Merged;
        }
        let merge = sided_merge::merged_for_other(old, now, new);
        let conflicts = merge
            .conflicts
            .into_iter()
            .map(|place| LineConflict { rows: rows(&self.old, place.base), old: place.mine });
        let conflicts = conflicts.collect();
        let (Some(mine), Some(merged)) = (SideText::readable(now.to_vec()), SideText::readable(merge.bytes))
        else {
            return MergeOutlook::Unknown;
        };
        *self = ReviewLines { is_on_workspace: true, conflicts, ..ReviewLines::new(mine, merged) };
        MergeOutlook::Conflict
    }

    /// The rows that explain the conflict of a hunk; none where nobody else changed its lines.
    pub(in crate::review) fn conflict_rows(&self, hunk: usize) -> impl Iterator<Item = &str> {
        let of = self.hunks.get(hunk);
        let own = move |conflict: &&LineConflict| of.is_some_and(|of| touches(of, conflict));
        self.conflicts.iter().filter(own).flat_map(|conflict| conflict.rows.iter().map(String::as_str))
    }

    fn is_in_conflict(&self, hunk: &ReviewHunk) -> bool {
        self.conflicts.iter().any(|conflict| touches(hunk, conflict))
    }

    fn hunks_in_conflict(&self) -> impl Iterator<Item = &ReviewHunk> {
        self.hunks.iter().filter(|hunk| self.is_in_conflict(hunk))
    }
}

impl ReviewFile {
    /// The file, where the decisions about it cannot be carried out before its change is one of the present content.
    pub fn resolved_conflict(&self) -> Option<DecidedConflict<'_>> {
        let lines = self.lines().filter(|lines| lines.is_on_workspace)?;
        let is_decided = lines.edited || lines.hunks.iter().any(|hunk| hunk.has_decision());
        // What is rejected as a whole is discarded as it is: an undo of that brings the conflict back.
        let (applied, pending) = self.verdict();
        let is_discarded = (&applied, &pending) == (&AppliedPart::Nothing, &PendingPart::Nothing);
        (is_decided && !is_discarded).then(|| DecidedConflict {
            path: &self.path,
            mine: lines.old.bytes(0..lines.old.len()),
            applied: (applied != AppliedPart::Nothing).then(|| lines.accepted_content()),
            left: lines.unrejected_content(),
        })
    }

    /// Makes the change one that is decided as a whole: by side.
    pub fn decide_by_side(&mut self, conflicts: &[SideConflict<'_>]) {
        let is_below = conflicts.iter().any(|one| one.now.is_directory() && !one.change.after.is_directory());
        let mut words = vec![if is_below { DIRECTORY_IS_THERE } else { BY_SIDE }.to_string()];
        let mut left_out = 0;
        for conflict in conflicts {
            words.extend(conflict.words());
            let (rows, more) = conflict.difference();
            let room = LINES.saturating_sub(words.len());
            left_out += more + rows.len().saturating_sub(room);
            words.extend(rows.into_iter().take(room));
        }
        let conflict = conflicts.iter().map(|one| (one.change.path.to_path_buf(), one.now.clone())).collect();
        if let ReviewBody::Whole(whole) = &mut self.body {
            whole.conflict = conflict;
            // Its size before is no longer what is there.
            whole.show_bytes(false);
            (whole.words, whole.left_out) = (words, left_out);
            return;
        }
        self.body = ReviewBody::Whole(WholeChange { words, left_out, conflict, ..WholeChange::default() });
    }
}

const BY_SIDE: &str =
    "conflict: the file changed in the workspace since; accept takes the agent's change, reject keeps yours";
const DIRECTORY_IS_THERE: &str = "conflict: a directory is there now, and placet never replaces one that you made or changed: \
     reject keeps it; to accept, move it away first and open the review again";

/// Contents that are not shown as lines differ by their hashes.
fn state_words(state: &PathState, has_lines: bool) -> String {
    match state {
        PathState::Absent => "no file".into(),
        PathState::Link { target } => {
            format!("a link to {}", placet_text::text::visible::path(Path::new(target)))
        }
        PathState::Directory { .. } => "a directory".into(),
        PathState::Special { what, .. } => (*what).to_string(),
        PathState::File { size, attrs, hash, .. } => {
            let hash = if has_lines { String::new() } else { format!(" ({})", short_hash(hash)) };
            format!("{}{hash}, mode {:o}", count::of(*size, "byte"), attrs.mode)
        }
    }
}

impl Review {
    /// Why the decisions cannot be carried out: in a file of which something is decided, each conflict must be.
    /// What stayed pending there would no longer be known as a conflict.
    pub fn open_conflict(&self) -> Option<String> {
        let open = |file: &ReviewFile| {
            file.resolved_conflict()?;
            let lines = file.lines()?;
            let hunk = lines.hunks_in_conflict().find(|hunk| !hunk.is_decided())?;
            let line = lines.old_number(hunk.old.start);
            Some(format!(
                "the conflict in {}, line {line}, is not decided: accept it to take the agent's lines, reject it to keep yours",
                file.name
            ))
        };
        self.files.iter().find_map(open)
    }

    /// How many files are in conflict with the workspace, decided or not.
    pub(in crate::review) fn files_in_conflict(&self) -> usize {
        let is_in_conflict = |file: &&ReviewFile| match &file.body {
            ReviewBody::Whole(whole) => !whole.conflict.is_empty(),
            ReviewBody::Lines(lines) => !lines.conflicts.is_empty(),
        };
        self.files.iter().filter(is_in_conflict).count()
    }

    /// What the summary says of each file in conflict.
    pub(in crate::review) fn conflict_summary(&self) -> Vec<(String, &'static str)> {
        let mut out = Vec::new();
        for file in &self.files {
            if let ReviewBody::Whole(whole) = &file.body
                && !whole.conflict.is_empty()
            {
                let name = &file.name;
                match whole.mark {
                    ReviewDecision::Accepted => out.push((
                        format!("conflict   {name}: the agent's change replaces what you changed"),
                        "question",
                    )),
                    ReviewDecision::Rejected => {
                        out.push((format!("conflict   {name}: your version stays"), "text"));
                    }
                    ReviewDecision::Open => {}
                }
                continue;
            }
            let Some(lines) = file.lines() else { continue };
            let with = |mark| lines.hunks_in_conflict().filter(|hunk| hunk.marks.contains(&mark)).count();
            let (taken, kept) = (with(ReviewDecision::Accepted), with(ReviewDecision::Rejected));
            let name = &file.name;
            if taken > 0 {
                let (hunks, s) = (count::of(taken, "hunk"), if taken == 1 { "s" } else { "" });
                let line =
                    format!("conflict   {name}: {hunks} of the agent replace{s} lines that you changed");
                out.push((line, "question"));
            }
            if kept > 0 {
                let line = format!("conflict   {name}: your lines stay in {}", count::of(kept, "hunk"));
                out.push((line, "text"));
            }
        }
        out.extend(self.open_conflict().map(|why| (format!("conflict   {why}"), "rejected")));
        out
    }
}

fn touches(hunk: &ReviewHunk, conflict: &LineConflict) -> bool {
    conflict.old.start <= hunk.old.end && hunk.old.start <= conflict.old.end
}

/// A title, and below it the lines as they were before both changes.
fn rows(before: &SideText, lines: std::ops::Range<usize>) -> Vec<String> {
    let title = "conflict: - is yours, + is the agent's; accept takes the agent's lines, reject keeps yours";
    let mut rows = vec![title.to_string()];
    if lines.is_empty() {
        return rows;
    }
    rows.push(match lines.len() {
        1 => format!("before both changes, line {}:", lines.start + 1),
        _ => format!("before both changes, lines {} to {}:", lines.start + 1, lines.end),
    });
    let all = lines.len();
    rows.extend(
        lines
            .take(SHOWN)
            .map(|line| format!("│ {}", visible(before.line(line).as_bytes(), LineBreaks::Shown))),
    );
    rows.extend((all > SHOWN).then(|| format!("│ and {} more lines", all - SHOWN)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::ReviewSubject;
    use crate::review::content::from_patch::of_patch;

    fn side(text: &str) -> SideText {
        SideText::new(text.as_bytes().to_vec()).unwrap()
    }

    fn lines(old: &str, new: &str) -> ReviewLines {
        ReviewLines::new(side(old), side(new))
    }

    #[test]
    fn only_hunks_whose_lines_changed_in_the_workspace_are_in_conflict() {
        let mut lines = lines("a\nb\nc\nd\ne\nf\n", "A\nb\nc\nd\nE\nf\n");
        assert_eq!(lines.compare_with_workspace(b"a\nb\nc\nd\nmine\nf\nmore\n"), MergeOutlook::Conflict);
        assert_eq!(lines.old.text().as_ref(), "a\nb\nc\nd\nmine\nf\nmore\n");
        assert_eq!(lines.new.text().as_ref(), "A\nb\nc\nd\nE\nf\nmore\n");
        assert_eq!(lines.conflict_rows(0).count(), 0);
        let rows: Vec<&str> = lines.conflict_rows(1).skip(1).collect();
        assert_eq!(rows, ["before both changes, line 5:", "│ e"]);
    }

    #[test]
    fn changes_of_other_lines_are_merged() {
        let mut lines = lines("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n");
        assert_eq!(lines.compare_with_workspace(b"a\nb\nc\nd\nmine\n"), MergeOutlook::Merged);
        assert_eq!(lines.conflict_rows(0).count(), 0);
    }

    /// Story: the summary said "is applied", and the next key said "nothing was applied".
    #[test]
    fn a_conflict_is_decided_by_a_side_and_the_summary_says_which() {
        let patch =
            b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,5 +1,5 @@\n-1\n+one\n 2\n 3\n 4\n-5\n+five\n";
        let files = of_patch(
            &placet_text::text::patch::parse(patch, placet_text::text::patch::StripLevels::Auto).unwrap(),
        );
        let mut review = Review::new("", ReviewSubject::Pending, files);
        let decide = |review: &mut Review, hunk: usize, mark| {
            review.files[0].lines_mut().unwrap().hunks[hunk].marks.fill(mark);
        };
        review.files[0].lines_mut().unwrap().compare_with_workspace(b"1\n2\n3\n4\n5 of mine\n");
        assert_eq!((review.conflict_summary(), review.files[0].verdict().0), (vec![], AppliedPart::Nothing));
        decide(&mut review, 0, ReviewDecision::Accepted);
        let open = "the conflict in a, line 5, is not decided: accept it to take the agent's lines, reject it to keep yours";
        assert_eq!(review.open_conflict().as_deref(), Some(open));
        decide(&mut review, 1, ReviewDecision::Accepted);
        let line = "conflict   a: 1 hunk of the agent replaces lines that you changed";
        assert_eq!(review.conflict_summary(), [(line.to_string(), "question")]);
        let theirs = AppliedPart::Content(b"one\n2\n3\n4\nfive\n".to_vec());
        assert_eq!(review.files[0].verdict(), (theirs, PendingPart::Nothing));
        decide(&mut review, 1, ReviewDecision::Rejected);
        let line = "conflict   a: your lines stay in 1 hunk";
        assert_eq!(review.conflict_summary(), [(line.to_string(), "text")]);
        let mine = AppliedPart::Content(b"one\n2\n3\n4\n5 of mine\n".to_vec());
        assert_eq!(review.files[0].verdict(), (mine, PendingPart::Nothing));
    }
}
