//! Keys and actions: each goes to the window over the diff, to the files, or to the diff itself.

use super::overlay::{ReviewInput, ReviewOverlay, SummaryAnswer};
use crate::keymap::{Keymap, Move};
use crate::review::action::ReviewAction;
use crate::review::content::file::ReviewDecision;
use crate::review::content::side_text::DiffSide;
use crate::review::picture::rows::ReviewRow;
use crate::review::state::{Review, ReviewEffect, ReviewFocus, ReviewSubject};
use crate::{Theme, help_page};
use crossterm::event::{KeyCode, KeyEvent};

impl Review {
    /// One key.
    pub fn key(&mut self, key: KeyEvent, map: &Keymap<ReviewAction>) -> Vec<ReviewEffect> {
        match std::mem::replace(&mut self.overlay, ReviewOverlay::None) {
            ReviewOverlay::None => map.action(key).map_or_else(Vec::new, |action| self.handle(action)),
            ReviewOverlay::Help { top } => {
                self.help_key(map, key, top);
                Vec::new()
            }
            ReviewOverlay::Summary { top, answer } => self.summary_key(key, map.action(key), (top, answer)),
            ReviewOverlay::Typing { input, field } => self.typing_key(key, input, field),
        }
    }

    /// Handles one action. The state has what the action changed; the result is what the caller has to do.
    pub fn handle(&mut self, action: ReviewAction) -> Vec<ReviewEffect> {
        self.footer.message = None;
        if self.look.focus == ReviewFocus::Tree
            && let Some(effects) = self.in_tree(action)
        {
            return effects;
        }
        match action {
            ReviewAction::Accept => self.decide(ReviewDecision::Accepted),
            ReviewAction::Reject => self.decide(ReviewDecision::Rejected),
            ReviewAction::Reopen => self.decide(ReviewDecision::Open),
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
            ReviewAction::Enter => {
                let effects = self.enter();
                match self.overlay {
                    ReviewOverlay::Summary { .. } => vec![ReviewEffect::LookAtChecks],
                    _ => effects,
                }
            }
            ReviewAction::Help => {
                self.overlay = ReviewOverlay::Help { top: 0 };
                Vec::new()
            }
            ReviewAction::Checks => vec![ReviewEffect::RunChecks],
            ReviewAction::CheckOutput => vec![ReviewEffect::ShowCheckOutput],
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

    /// Keys while the files have the focus; `None` for keys with the same meaning everywhere.
    fn in_tree(&mut self, action: ReviewAction) -> Option<Vec<ReviewEffect>> {
        let page = usize::from(self.window.size.1.saturating_sub(4).max(1));
        let last = self.tree.nodes.len().saturating_sub(1);
        let at = self.tree.cursor;
        let to = match action {
            ReviewAction::Accept => return Some(self.decide_node(ReviewDecision::Accepted)),
            ReviewAction::Reject => return Some(self.decide_node(ReviewDecision::Rejected)),
            ReviewAction::Reopen => return Some(self.decide_node(ReviewDecision::Open)),
            ReviewAction::Enter
            | ReviewAction::Move(Move::Right)
            | ReviewAction::Focus
            | ReviewAction::Escape => {
                self.look.focus = ReviewFocus::Diff;
                return Some(Vec::new());
            }
            ReviewAction::Move(Move::Left) => return None,
            ReviewAction::Move(step) => step.row(at, page, last),
            _ => return None,
        };
        self.tree.cursor = to;
        self.follow_tree();
        Some(Vec::new())
    }

    /// The diff goes to the file under the tree's cursor.
    fn follow_tree(&mut self) {
        let file = self.tree.nodes.get(self.tree.cursor).and_then(|node| node.files.first());
        if let Some(row) = file.and_then(|f| self.rows.of_file(*f)) {
            self.window.cursor = row;
            self.window.top = (row, 0);
        }
    }

    fn decide_node(&mut self, mark: ReviewDecision) -> Vec<ReviewEffect> {
        let files = self.tree.nodes.get(self.tree.cursor).map(|node| node.files.clone()).unwrap_or_default();
        self.decide_unopened(&files, mark)
    }

    fn escape(&mut self) -> Vec<ReviewEffect> {
        if self.window.anchor.take().is_some() {
            return Vec::new();
        }
        if !std::mem::take(&mut self.finder.search).is_empty() {
            return Vec::new();
        }
        if !std::mem::take(&mut self.finder.filter).is_empty() {
            self.layout.only = None;
            self.lay_out();
            return Vec::new();
        }
        vec![ReviewEffect::Close]
    }

    /// Enter: opens a fold under the cursor, and otherwise asks whether to apply the decisions.
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
                    self.overlay = ReviewOverlay::Summary { top: 0, answer: SummaryAnswer::Apply };
                }
            }
        }
        Vec::new()
    }

    fn help_key(&mut self, map: &Keymap<ReviewAction>, key: KeyEvent, top: usize) {
        let Some(ReviewAction::Move(step)) = map.action(key) else { return };
        let columns = self.window.columns();
        let count = help_page::rows_of_table(&map.help(), &Theme::plain(), columns).len();
        let page = usize::from(self.window.size.1.saturating_sub(3));
        self.overlay = ReviewOverlay::Help { top: step.row(top, page, count.saturating_sub(page)) };
    }

    /// The Enter of the summary, the only key that decides.
    pub(in crate::review) fn decides(&self, key: KeyEvent, map: &Keymap<ReviewAction>) -> bool {
        matches!(self.overlay, ReviewOverlay::Summary { .. }) && map.action(key) == Some(ReviewAction::Enter)
    }

    /// Letters mark an answer here, and Enter takes it.
    fn summary_key(
        &mut self,
        key: KeyEvent,
        action: Option<ReviewAction>,
        (top, answer): (usize, SummaryAnswer),
    ) -> Vec<ReviewEffect> {
        let mark = |answer| ReviewOverlay::Summary { top, answer };
        let other = match answer {
            SummaryAnswer::Apply if self.can_tell() => SummaryAnswer::ApplyAndTell,
            SummaryAnswer::Apply | SummaryAnswer::ApplyAndTell => SummaryAnswer::Apply,
        };
        match (key.code, action) {
            (_, Some(ReviewAction::Enter)) => {
                if let Some(why) = self.open_conflict() {
                    self.overlay = mark(answer);
                    return self.nothing_done(&why);
                }
                return vec![ReviewEffect::Apply { tell: answer == SummaryAnswer::ApplyAndTell }];
            }
            (_, Some(ReviewAction::Accept)) => self.overlay = mark(SummaryAnswer::Apply),
            (_, Some(ReviewAction::AcceptFile)) if self.can_tell() => {
                self.overlay = mark(SummaryAnswer::ApplyAndTell);
            }
            (_, Some(ReviewAction::Move(Move::Left | Move::Right) | ReviewAction::Focus)) => {
                self.overlay = mark(other);
            }
            (_, Some(ReviewAction::Comment | ReviewAction::CommentTurn)) => {
                return self.begin(ReviewInput::CommentTurn);
            }
            (_, Some(action @ (ReviewAction::Checks | ReviewAction::CheckOutput))) => {
                self.overlay = mark(answer);
                return self.handle(action);
            }
            (_, Some(ReviewAction::Move(step @ (Move::Down | Move::Up)))) => {
                let top = step.row(top, 1, self.summary_end());
                self.overlay = ReviewOverlay::Summary { top, answer };
            }
            (KeyCode::Esc | KeyCode::Char('q'), _) => self.say(match self.task.subject {
                ReviewSubject::Pending => "nothing was applied",
                ReviewSubject::Stage => "nothing was staged",
                ReviewSubject::Unstage => "nothing was unstaged",
                ReviewSubject::Patch => "nothing was written",
                ReviewSubject::Compare => "nothing was taken",
            }),
            _ => self.overlay = mark(answer),
        }
        Vec::new()
    }

    fn edit(&mut self) -> Vec<ReviewEffect> {
        // What is unstaged is what the index has.
        if self.task.subject == ReviewSubject::Unstage {
            return self.nothing_done("staged lines cannot be edited here");
        }
        if self.file_here().is_some_and(|file| self.decider(file) != file) {
            return self.nothing_done("a commit is decided as a whole");
        }
        match self.row().and_then(|row| row.hunk()) {
            Some((file, hunk)) => vec![ReviewEffect::Edit { file, hunk }],
            None => self.nothing_done("no hunk here; ] goes to the next one"),
        }
    }

    fn open(&mut self) -> Vec<ReviewEffect> {
        let Some(file) = self.file_here() else { return Vec::new() };
        if self.decider(file) != file {
            return self.nothing_done("this is the file in the commit: open it in the work tree");
        }
        let lines = self.lines(file);
        let line = match (self.row(), lines) {
            (Some(ReviewRow::Same { new, .. }), Some(lines)) => lines.new_number(new as usize),
            (Some(row), Some(lines)) => {
                let hunk = row.hunk().and_then(|(_, h)| lines.hunks.get(h));
                hunk.map_or(1, |h| {
                    let within = row.changed().last().unwrap_or(0).saturating_sub(h.old.len());
                    lines.new_number(h.new.start + within)
                })
            }
            _ => 1,
        };
        vec![ReviewEffect::Open { file, line }]
    }

    /// The exact text of the line, or of the lines selected, without gutters.
    fn yank(&mut self) -> Vec<ReviewEffect> {
        let mut bytes: Vec<u8> = Vec::new();
        for row in self.selected_rows() {
            let line = match row {
                ReviewRow::Same { new, .. } => Some((DiffSide::New, new as usize)),
                // Where a row has both sides, the new side is copied.
                _ => self.changed_lines(row).pop(),
            };
            if let (Some((side, at)), Some(lines)) = (line, row.file().and_then(|f| self.lines(f))) {
                bytes.extend(lines.side(side).bytes(at..at + 1));
            }
        }
        if bytes.is_empty() {
            return self.nothing_done("no line to copy here");
        }
        self.window.anchor = None;
        vec![ReviewEffect::Copy(String::from_utf8_lossy(&bytes).into_owned())]
    }
}
