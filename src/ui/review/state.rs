//! The review as a machine: actions in, state and a few effects out. No I/O, no clock, no terminal.

use super::action::ReviewAction;
use super::comment::{ReviewComment, settle};
use super::file::{ReviewBody, ReviewDecision, ReviewFile, ReviewHunk, ReviewLines};
use super::history::ReviewHistory;
use super::input::{ReviewInput, ReviewOverlay};
use super::moved_lines::MovedLines;
use super::rows::{ReviewLayout, ReviewRow, ReviewRows};
use super::seen_rows::SeenRows;
use super::tree::ReviewTree;
use std::collections::BTreeSet;

/// What the review asks of the world around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewEffect {
    /// Put this on the clipboard, exactly.
    Copy(String),
    /// Let the person write a hunk again.
    Edit {
        file: usize,
        hunk: usize,
    },
    /// Open a file at a line (from 1) in the person's editor.
    Open {
        file: usize,
        line: usize,
    },
    /// Who wrote the lines of this file is wanted.
    Blame {
        file: usize,
    },
    /// Something that is remembered changed.
    Remember,
    Close,
    /// Carry out what was decided, and leave; `tell` sends what was rejected and said to the agent at once.
    Apply {
        tell: bool,
    },
}

/// What is being reviewed: it settles what Enter offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewSubject {
    /// Pending changes: decisions are carried out.
    Pending,
    /// A patch: what was accepted of it can be written as a patch.
    Patch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewFocus {
    Diff,
    Tree,
}

/// What of the picture can be switched.
#[derive(Clone, Copy, Debug)]
pub struct ReviewToggles {
    pub wrap: bool,
    pub invisibles: bool,
    pub blame: bool,
    /// Whether the tree is shown: as the person said, or by the width.
    pub tree: Option<bool>,
}

pub struct Review {
    pub title: String,
    pub subject: ReviewSubject,
    pub files: Vec<ReviewFile>,
    /// There is more than these files: comments on others are not shown, and not lost.
    pub partial: bool,
    pub comments: Vec<ReviewComment>,
    pub moves: MovedLines,
    pub rows: ReviewRows,
    pub layout: ReviewLayout,
    pub look: ReviewToggles,
    pub tree: ReviewTree,
    pub focus: ReviewFocus,
    pub overlay: ReviewOverlay,
    /// The row the cursor is on.
    pub cursor: usize,
    /// The first row on the screen, and how many of its screen rows are above it.
    pub top: (usize, usize),
    /// Columns scrolled to the right when lines are not wrapped.
    pub left: usize,
    /// Where a selection began.
    pub anchor: Option<usize>,
    pub search: String,
    pub filter: String,
    /// What came of the last key, for the last line of the screen.
    pub message: Option<String>,
    /// Columns and rows of the screen.
    pub size: (u16, u16),
    pub(super) history: ReviewHistory,
    pub(super) seen: SeenRows,
    pub(super) next_comment: u64,
}

impl Review {
    pub fn new(title: &str, subject: ReviewSubject, files: Vec<ReviewFile>) -> Review {
        let moves = MovedLines::find(&files);
        let layout = ReviewLayout::default();
        let rows = ReviewRows::of(&files, &[], &layout);
        let tree = ReviewTree::of(&files, None);
        let cursor = rows.hunks.first().map_or(0, |(_, _, row)| *row);
        Review {
            title: title.into(),
            subject,
            files,
            partial: false,
            comments: Vec::new(),
            moves,
            rows,
            layout,
            look: ReviewToggles { wrap: true, invisibles: false, blame: false, tree: None },
            tree,
            focus: ReviewFocus::Diff,
            overlay: ReviewOverlay::None,
            cursor,
            top: (0, 0),
            left: 0,
            anchor: None,
            search: String::new(),
            filter: String::new(),
            message: None,
            size: (80, 24),
            history: ReviewHistory::default(),
            seen: SeenRows::default(),
            next_comment: 1,
        }
    }

    /// Hunks, and wholes that have none: how many there are, decided and all.
    pub fn progress(&self) -> (usize, usize) {
        self.files.iter().fold((0, 0), |(d, n), f| (d + f.decided(), n + f.units()))
    }

    /// How many are accepted and how many rejected; one that is both counts in both.
    pub fn tally(&self) -> (usize, usize) {
        let mut out = (0, 0);
        for file in &self.files {
            let mut count = |marks: &[ReviewDecision]| {
                out.0 += usize::from(marks.contains(&ReviewDecision::Accepted));
                out.1 += usize::from(marks.contains(&ReviewDecision::Rejected));
            };
            match &file.body {
                ReviewBody::Lines(lines) => lines.hunks.iter().for_each(|h| count(&h.marks)),
                ReviewBody::Whole(whole) => count(&[whole.mark]),
            }
        }
        out
    }

    pub fn row(&self) -> Option<ReviewRow> {
        self.rows.list.get(self.cursor).copied()
    }

    /// The file the cursor is in; in front of the first one, that.
    pub fn file_here(&self) -> Option<usize> {
        let here = self.row().and_then(|row| row.file());
        here.or_else(|| {
            let before = self.rows.files.iter().rev().find(|(_, row)| *row <= self.cursor);
            before.or(self.rows.files.first()).map(|(file, _)| *file)
        })
    }

    /// The rows selected: the cursor's own when nothing is.
    pub fn selection(&self) -> std::ops::RangeInclusive<usize> {
        let anchor = self.anchor.unwrap_or(self.cursor);
        anchor.min(self.cursor)..=anchor.max(self.cursor)
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns.max(1), rows.max(1));
    }

    /// Lays the rows out again and keeps the cursor on what it was on.
    pub(super) fn lay_out(&mut self) {
        let here = self.row();
        let (file, hunk) = (self.file_here(), here.and_then(|row| row.hunk()));
        self.layout.partial = self.partial;
        self.rows = ReviewRows::of(&self.files, &self.comments, &self.layout);
        self.tree = ReviewTree::of(&self.files, self.layout.only.as_deref());
        self.anchor = None;
        let same = here.and_then(|row| self.rows.list.iter().position(|r| *r == row));
        let near = || hunk.and_then(|(f, h)| self.rows.of_hunk(f, h));
        let header = || file.and_then(|f| self.rows.of_file(f));
        self.cursor = same.or_else(near).or_else(header).unwrap_or(0);
        self.clamp();
    }

    pub(super) fn clamp(&mut self) {
        let last = self.rows.list.len().saturating_sub(1);
        self.cursor = self.cursor.min(last);
        if self.top.0 > last {
            self.top = (last, 0);
        }
    }

    /// Comments go to where their lines stand now.
    pub fn settle_comments(&mut self) {
        for comment in &mut self.comments {
            let file = comment.target.path().and_then(|path| self.files.iter().find(|f| f.path == *path));
            if file.is_none() && self.partial {
                continue;
            }
            settle(comment, file.and_then(ReviewFile::lines));
        }
        self.lay_out();
    }

    /// One action. What it changed is in the state; what it wants done is returned.
    pub fn handle(&mut self, action: ReviewAction) -> Vec<ReviewEffect> {
        self.message = None;
        if self.focus == ReviewFocus::Tree
            && let Some(effects) = self.in_tree(action)
        {
            return effects;
        }
        match action {
            ReviewAction::Accept => self.decide(ReviewDecision::Accepted),
            ReviewAction::Reject => self.decide(ReviewDecision::Rejected),
            ReviewAction::AcceptFile => self.decide_file(ReviewDecision::Accepted),
            ReviewAction::RejectFile => self.decide_file(ReviewDecision::Rejected),
            ReviewAction::AcceptAll => self.decide_all(ReviewDecision::Accepted),
            ReviewAction::RejectAll => self.decide_all(ReviewDecision::Rejected),
            ReviewAction::Split => self.split(),
            ReviewAction::Edit => self.edit(),
            ReviewAction::Comment => self.begin_comment(),
            ReviewAction::CommentFile => self.begin_file_comment(),
            ReviewAction::CommentTurn => self.begin(ReviewInput::CommentTurn),
            ReviewAction::DeleteComment => self.delete_comment(),
            ReviewAction::Reviewed => self.review_hunk(),
            ReviewAction::ReviewedFile => self.review_file(),
            ReviewAction::Undo => self.undo(),
            ReviewAction::Redo => self.redo(),
            ReviewAction::Search => self.begin(ReviewInput::Search),
            ReviewAction::Filter => self.begin(ReviewInput::Filter),
            ReviewAction::Open => self.open(),
            ReviewAction::Yank => self.yank(),
            ReviewAction::Enter => self.enter(),
            ReviewAction::Help => {
                self.overlay = ReviewOverlay::Help { top: 0 };
                Vec::new()
            }
            ReviewAction::Close => vec![ReviewEffect::Close],
            ReviewAction::Escape => self.escape(),
            ReviewAction::Blame => {
                self.look.blame = !self.look.blame;
                match self.file_here() {
                    Some(file) if self.look.blame => vec![ReviewEffect::Blame { file }],
                    _ => Vec::new(),
                }
            }
            _ => {
                let before = self.file_here();
                self.go(action);
                let after = self.file_here();
                match after {
                    Some(file) if self.look.blame && after != before => vec![ReviewEffect::Blame { file }],
                    _ => Vec::new(),
                }
            }
        }
    }

    fn escape(&mut self) -> Vec<ReviewEffect> {
        if self.anchor.take().is_some() {
            return Vec::new();
        }
        if !std::mem::take(&mut self.search).is_empty() {
            return Vec::new();
        }
        if !std::mem::take(&mut self.filter).is_empty() {
            self.layout.only = None;
            self.lay_out();
            return Vec::new();
        }
        vec![ReviewEffect::Close]
    }

    /// Enter: opens what is folded under the cursor, and else asks whether to carry out what was decided.
    fn enter(&mut self) -> Vec<ReviewEffect> {
        match self.row() {
            Some(ReviewRow::Gap { file, from, to, known: true }) => {
                self.open_gap(file as usize, from as usize..to as usize)
            }
            Some(ReviewRow::File(file)) if self.layout.folded.remove(&(file as usize)) => self.lay_out(),
            Some(ReviewRow::Blanks { .. }) => {
                self.layout.hide_blanks = false;
                self.lay_out();
            }
            _ => {
                let (accepted, rejected) = self.tally();
                let nothing =
                    accepted + rejected == 0 && self.visible_comments().next().is_none() && !self.any_edit();
                if nothing {
                    self.say("no decisions yet");
                } else {
                    self.overlay = ReviewOverlay::Summary { top: 0 };
                }
            }
        }
        Vec::new()
    }

    /// True for a comment on one of these files, or on the turn; a review of some paths keeps those on others as well.
    pub fn is_here(&self, comment: &ReviewComment) -> bool {
        let among = |path: &std::path::PathBuf| self.files.iter().any(|f| f.path == *path);
        !self.partial || comment.target.path().is_none_or(among)
    }

    /// The comments that are shown, and told.
    pub fn visible_comments(&self) -> impl Iterator<Item = &ReviewComment> {
        self.comments.iter().filter(|c| self.is_here(c))
    }

    /// Takes every decision about these files back and leaves the reviewed marks.
    pub fn reopen(&mut self, which: impl Fn(&ReviewFile) -> bool) {
        for file in self.files.iter_mut().filter(|file| which(file)) {
            match &mut file.body {
                ReviewBody::Whole(whole) => whole.mark = ReviewDecision::Open,
                ReviewBody::Lines(lines) => {
                    lines.hunks.iter_mut().for_each(|h| h.marks.fill(ReviewDecision::Open))
                }
            }
        }
    }

    pub(super) fn any_edit(&self) -> bool {
        self.files.iter().filter_map(ReviewFile::lines).any(|lines| lines.edited)
    }

    fn open_gap(&mut self, file: usize, gap: std::ops::Range<usize>) {
        /// Opened at once; a longer fold is opened from both of its ends.
        const STEP: usize = 20;
        let Some(lines) = self.files.get_mut(file).and_then(ReviewFile::lines_mut) else { return };
        if gap.len() <= 2 * STEP {
            lines.opened.push(gap);
        } else {
            lines.opened.push(gap.start..gap.start + STEP);
            lines.opened.push(gap.end - STEP..gap.end);
        }
        let row = self.cursor;
        self.lay_out();
        self.cursor = row;
        self.clamp();
    }

    /// The unchanged lines around the hunk under the cursor: more of them, or only the usual ones.
    pub(super) fn context(&mut self, more: isize) {
        const STEP: usize = 10;
        let here = self.row().and_then(|row| row.hunk());
        let near = || {
            let file = self.file_here()?;
            self.rows
                .hunks
                .iter()
                .filter(|(f, _, _)| *f == file)
                .min_by_key(|(_, _, r)| r.abs_diff(self.cursor))
        };
        let Some((f, h)) = here.or_else(|| near().map(|(f, h, _)| (*f, *h))) else { return };
        let Some(lines) = self.files.get_mut(f).and_then(ReviewFile::lines_mut) else { return };
        let Some(ReviewHunk { old, .. }) = lines.hunks.get(h).cloned() else { return };
        if more < 0 {
            let last = lines.hunks.get(h.wrapping_sub(1)).map_or(0, |before| before.old.end);
            let next = lines.hunks.get(h + 1).map_or(lines.old.len(), |after| after.old.start);
            lines.opened.retain(|r| r.end <= last || r.start >= next);
        } else {
            let grown =
                |lines: &ReviewLines, at: usize| lines.opened.iter().find(|r| r.contains(&at)).cloned();
            let above = old
                .start
                .checked_sub(4)
                .and_then(|at| grown(lines, at))
                .map_or(old.start.saturating_sub(3), |r| r.start);
            let below = grown(lines, old.end + 3).map_or(old.end + 3, |r| r.end);
            lines.opened.push(above.saturating_sub(STEP)..above);
            lines.opened.push(below.min(lines.old.len())..(below + STEP).min(lines.old.len()));
            lines.opened.retain(|r| !r.is_empty());
            join(&mut lines.opened);
        }
        self.lay_out();
    }

    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.message = Some(text.into());
    }

    pub(super) fn fold(&mut self) {
        if let Some(file) = self.file_here() {
            if !self.layout.folded.remove(&file) {
                self.layout.folded.insert(file);
            }
            self.lay_out();
            if let Some(row) = self.rows.of_file(file) {
                self.cursor = row;
            }
        }
    }

    /// Files whose names match, best first in their own order.
    pub(super) fn apply_filter(&mut self) {
        let found: BTreeSet<usize> = super::tree::matching(&self.files, &self.filter);
        self.layout.only = (!self.filter.is_empty()).then(|| found.into_iter().collect());
        self.lay_out();
    }
}

fn join(ranges: &mut Vec<std::ops::Range<usize>>) {
    ranges.sort_by_key(|r| r.start);
    let mut merged: Vec<std::ops::Range<usize>> = Vec::new();
    for range in ranges.drain(..) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    *ranges = merged;
}
