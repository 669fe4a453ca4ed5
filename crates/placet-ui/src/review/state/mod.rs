//! The state of the review: files, rows, cursor, and the window over them. No I/O, no clock, no terminal.
//!
//! What is built on it, in this order: [`undo`] and [`unseen`]; [`folds`], [`navigation`], [`decide`] and [`typing`];
//! [`input`], which takes keys and actions; and [`super::picture::draw`].

pub(super) mod areas;
pub(super) mod at_question;
pub(super) mod decide;
pub(super) mod finder;
pub(super) mod folds;
pub(super) mod footer;
pub(super) mod history;
pub(super) mod input;
pub(super) mod navigation;
pub(super) mod overlay;
pub(super) mod query;
pub(super) mod scroll;
pub(super) mod seen_rows;
pub(super) mod shown_checks;
pub(super) mod typing;
pub(super) mod undo;
pub(super) mod unseen;
pub(super) mod window;

use super::content::comment::{CommentList, ReviewComment, move_to_text};
use super::content::file::{ReviewBody, ReviewDecision, ReviewFile, ReviewLines};
use super::content::moved_lines::MovedLines;
use super::content::side_text::DiffSide;
use super::picture::rows::{ReviewLayout, ReviewRow, ReviewRows};
use super::picture::tree::ReviewTree;
use super::state::finder::ReviewFinder;
use super::state::footer::ReviewFooter;
use super::state::history::ReviewHistory;
use super::state::overlay::ReviewOverlay;
use super::state::seen_rows::SeenRows;
use super::state::shown_checks::ShownChecks;
use super::state::window::ReviewWindow;
use placet_workspace::ChangeCount;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the review asks the caller to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewEffect {
    /// Put this on the clipboard, exactly.
    Copy(String),
    /// Let the person edit a hunk.
    Edit {
        file: usize,
        hunk: usize,
    },
    /// Open a file at a line (from 1) in the person's editor.
    Open {
        file: usize,
        line: usize,
    },
    /// Find out who wrote the lines of this file.
    Blame {
        file: usize,
    },
    /// Run the checks on what is accepted.
    RunChecks,
    /// Find out what is known of the checks of what is accepted.
    LookAtChecks,
    /// Show what the checks found and wrote.
    ShowCheckOutput,
    /// Something that is saved changed.
    Remember,
    Close,
    /// Apply the decisions, and leave; `tell` sends the rejections and comments to the agent at once.
    Apply {
        tell: bool,
    },
}

/// What is being reviewed: it decides what Enter offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewSubject {
    /// Pending changes: the decisions are applied.
    Pending,
    /// A patch: the accepted part can be written as a patch.
    Patch,
    /// The work tree against the index: what is accepted is staged.
    Stage,
    /// The index against the last commit: what is rejected is unstaged.
    Unstage,
    /// A try against another: what is accepted becomes pending in the first.
    Compare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewFocus {
    Diff,
    Tree,
}

/// The parts of the picture that can be switched on and off.
#[derive(Clone, Copy, Debug)]
pub struct ReviewToggles {
    pub wrap: bool,
    pub invisibles: bool,
    pub blame: bool,
    /// What the keys are about.
    pub focus: ReviewFocus,
    /// Whether the tree is shown: as the person chose, or by the width.
    pub tree: Option<bool>,
}

/// What was on the screen before the review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewOpenedFrom {
    /// The prompt of placet, or of another shell.
    #[default]
    Prompt,
    ApplyQuestion,
}

/// What is reviewed, for whom, and where the accepted part goes.
pub struct ReviewTask {
    pub title: String,
    pub subject: ReviewSubject,
    /// The changes as a person counts them.
    pub count: ChangeCount,
    /// Lines added and removed. Of a change set, as the question and the list count them.
    pub line_counts: (usize, usize),
    /// The file that the accepted part of a patch goes to, or the try that gets it, made safe.
    pub output: Option<String>,
    /// What the key that leaves the review goes back to.
    pub opened_from: ReviewOpenedFrom,
    /// The program that made the changes, made safe; it gets the rejections and comments. Absent where that is the agent of
    /// a conversation.
    pub program: Option<String>,
    /// Nobody gets the rejections and comments: the program reads no message.
    pub is_unread: bool,
    /// There are more files than these: comments on the others are not shown, and not lost.
    pub partial: bool,
}

impl ReviewTask {
    fn new(title: &str, subject: ReviewSubject, files: &[ReviewFile]) -> ReviewTask {
        // The files of a commit are also files of the workspace, or were before: each counts once, as in the question.
        let own = || files.iter().filter(|file| file.decided_with.is_none());
        let line_counts = own()
            .filter_map(ReviewFile::counts)
            .fold((0, 0), |(a, r), (added, removed)| (a + added, r + removed));
        ReviewTask {
            title: title.into(),
            subject,
            count: ChangeCount { files: own().count(), ..ChangeCount::default() },
            line_counts,
            output: None,
            opened_from: ReviewOpenedFrom::default(),
            program: None,
            is_unread: false,
            partial: false,
        }
    }
}

pub struct Review {
    pub task: ReviewTask,
    pub files: Vec<ReviewFile>,
    pub comments: CommentList,
    pub moves: MovedLines,
    pub rows: ReviewRows,
    pub layout: ReviewLayout,
    pub look: ReviewToggles,
    pub tree: ReviewTree,
    pub overlay: ReviewOverlay,
    pub window: ReviewWindow,
    pub finder: ReviewFinder,
    /// The checks that ran on what was accepted.
    pub checks: Option<ShownChecks>,
    pub footer: ReviewFooter,
    pub(super) history: ReviewHistory,
    pub(super) seen: SeenRows,
}

impl Review {
    pub fn new(title: &str, subject: ReviewSubject, files: Vec<ReviewFile>) -> Review {
        let moves = MovedLines::find(&files);
        let explained = files.iter().enumerate().filter(|(_, file)| file.is_explained());
        let folded = explained.map(|(at, _)| at).collect();
        let layout = ReviewLayout { folded, ..ReviewLayout::default() };
        let rows = ReviewRows::of(&files, &[], &layout);
        let tree = ReviewTree::of(&files, None);
        let cursor = rows.hunks.first().map_or(0, |(_, _, row)| *row);
        Review {
            task: ReviewTask::new(title, subject, &files),
            files,
            comments: CommentList::default(),
            moves,
            rows,
            layout,
            look: ReviewToggles {
                wrap: true,
                invisibles: false,
                blame: false,
                focus: ReviewFocus::Diff,
                tree: None,
            },
            tree,
            overlay: ReviewOverlay::None,
            window: ReviewWindow::at(cursor),
            finder: ReviewFinder::default(),
            checks: None,
            footer: ReviewFooter::default(),
            history: ReviewHistory::default(),
            seen: SeenRows::default(),
        }
    }

    /// The number of units (hunks, and files without hunks): decided ones and all.
    pub fn progress(&self) -> (usize, usize) {
        self.files.iter().fold((0, 0), |(d, n), f| (d + f.decided(), n + f.units()))
    }

    /// How many units are accepted and how many rejected; a mixed unit counts in both.
    pub fn tally(&self) -> (usize, usize) {
        let mut out = (0, 0);
        for file in self.files.iter().filter(|file| !file.is_decided_elsewhere()) {
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

    /// Of each path, how many hunks of what decides about it are rejected, and how many that has.
    pub fn rejections(&self) -> BTreeMap<PathBuf, (usize, usize)> {
        let is_rejected = |marks: &[ReviewDecision]| marks.contains(&ReviewDecision::Rejected);
        let of_file = |file: &ReviewFile| match &file.body {
            ReviewBody::Lines(lines) => {
                (lines.hunks.iter().filter(|hunk| is_rejected(&hunk.marks)).count(), lines.hunks.len())
            }
            ReviewBody::Whole(whole) => (usize::from(is_rejected(&[whole.mark])), 1),
        };
        let mut all = BTreeMap::new();
        for file in self.files.iter().filter(|file| !file.is_decided_elsewhere()) {
            // A branch without a decision of its own goes with its repository, which comes first.
            let follows = file.decided_with.is_some()
                && matches!(&file.body, ReviewBody::Whole(whole) if whole.mark == ReviewDecision::Open);
            let paths = file.paths.iter().map(|path| path.to_path_buf()).chain([file.path.clone()]);
            all.extend(paths.filter(|_| !follows).map(|path| (path, of_file(file))));
        }
        all
    }

    /// How many units are new since the changes were sent back.
    pub(super) fn new_units(&self) -> usize {
        self.files.iter().map(ReviewFile::new_units).sum()
    }

    /// How many hunks have a mark, and in how many files.
    pub fn counted(&self, mark: ReviewDecision) -> (usize, usize) {
        let (mut hunks, mut files) = (0, 0);
        // An undecided ref goes with its repository.
        let is_own = |file: &&ReviewFile| match mark {
            ReviewDecision::Open => file.decided_with.is_none(),
            _ => !file.is_decided_elsewhere(),
        };
        for file in self.files.iter().filter(is_own) {
            let own = match &file.body {
                ReviewBody::Lines(lines) => lines.hunks.iter().filter(|h| h.marks.contains(&mark)).count(),
                ReviewBody::Whole(whole) => usize::from(whole.mark == mark && whole.refused.is_none()),
            };
            hunks += own;
            files += usize::from(own > 0);
        }
        (hunks, files)
    }

    pub fn row(&self) -> Option<ReviewRow> {
        self.rows.list.get(self.window.cursor).copied()
    }

    /// The file at the cursor; above the first file, the first file.
    pub fn file_here(&self) -> Option<usize> {
        let here = self.row().and_then(|row| row.file());
        here.or_else(|| {
            let before = self.rows.files.iter().rev().find(|(_, row)| *row <= self.window.cursor);
            before.or(self.rows.files.first()).map(|(file, _)| *file)
        })
    }

    /// The selected rows, each once where a line has several.
    pub(super) fn selected_rows(&self) -> Vec<ReviewRow> {
        let rows = self.rows.list.get(self.window.selection()).unwrap_or_default();
        let mut rows: Vec<ReviewRow> = rows.iter().map(ReviewRow::whole).collect();
        rows.dedup();
        rows
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.window.size = (columns.max(1), rows.max(1));
    }

    /// Lays the rows out again and keeps the cursor on what it was on.
    pub(super) fn lay_out(&mut self) {
        let here = self.row();
        let (file, hunk) = (self.file_here(), here.and_then(|row| row.hunk()));
        self.layout.partial = self.task.partial;
        self.rows = ReviewRows::of(&self.files, &self.comments.list, &self.layout);
        self.tree = ReviewTree::of(&self.files, self.layout.only.as_deref());
        self.window.anchor = None;
        let same = here.and_then(|row| self.rows.list.iter().position(|r| *r == row));
        let near = || hunk.and_then(|(f, h)| self.rows.of_hunk(f, h));
        let header = || file.and_then(|f| self.rows.of_file(f));
        self.window.cursor = same.or_else(near).or_else(header).unwrap_or(0);
        self.clamp();
    }

    pub(super) fn clamp(&mut self) {
        self.window.clamp(self.rows.list.len().saturating_sub(1));
    }

    /// Moves comments to the present place of their lines.
    pub fn move_comments(&mut self) {
        for comment in &mut self.comments.list {
            let file = comment.target.path().and_then(|path| self.files.iter().find(|f| f.path == *path));
            if file.is_none() && self.task.partial {
                continue;
            }
            move_to_text(comment, file.and_then(ReviewFile::lines));
        }
        self.lay_out();
    }

    /// True for a comment on one of these files, or on the turn. A review of some paths also has the comments on other
    /// files.
    pub fn is_here(&self, comment: &ReviewComment) -> bool {
        let among = |path: &std::path::PathBuf| self.files.iter().any(|f| f.path == *path);
        !self.task.partial || comment.target.path().is_none_or(among)
    }

    /// The comments that are shown, and reported.
    pub fn visible_comments(&self) -> impl Iterator<Item = &ReviewComment> {
        self.comments.list.iter().filter(|c| self.is_here(c))
    }

    /// Reopens every decision about these files; the reviewed marks stay.
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

    /// Who gets the rejections and comments.
    pub(super) fn reader(&self) -> &str {
        self.task.program.as_deref().unwrap_or("the agent")
    }

    /// There is something to report to the agent.
    pub fn has_news(&self) -> bool {
        self.visible_comments().next().is_some() || self.tally().1 > 0 || self.any_edit()
    }

    /// The summary offers to report to the agent at once.
    pub(super) fn can_tell(&self) -> bool {
        self.has_news() && self.task.subject == ReviewSubject::Pending && !self.task.is_unread
    }

    pub(super) fn lines(&self, file: usize) -> Option<&ReviewLines> {
        self.files.get(file)?.lines()
    }

    pub(super) fn lines_mut(&mut self, file: usize) -> Option<&mut ReviewLines> {
        self.files.get_mut(file)?.lines_mut()
    }

    /// The changed lines that a row shows, as lines of their sides.
    pub(super) fn changed_lines(&self, row: ReviewRow) -> Vec<(DiffSide, usize)> {
        let Some((file, hunk)) = row.hunk() else { return Vec::new() };
        let Some(lines) = self.lines(file) else { return Vec::new() };
        row.changed().filter_map(|n| lines.place(hunk, n)).collect()
    }

    pub(super) fn any_edit(&self) -> bool {
        self.files.iter().filter_map(ReviewFile::lines).any(|lines| lines.edited)
    }

    pub fn say(&mut self, text: impl Into<String>) {
        self.footer.message = Some(text.into());
    }

    /// The same, behind what is said already.
    pub fn say_also(&mut self, text: &str) {
        self.footer.say_also(text);
    }

    /// Takes in whether an Enter that decides counts now; true where that changes the picture.
    pub(super) fn note_enter_counts(&mut self, counts: bool) -> bool {
        let (is_first, has_changed) = self.footer.note_enter_counts(counts);
        is_first || has_changed && matches!(self.overlay, ReviewOverlay::Summary { .. })
    }

    /// Shows why an action did nothing.
    pub(super) fn nothing_done(&mut self, why: &str) -> Vec<ReviewEffect> {
        self.say(why);
        Vec::new()
    }
}
