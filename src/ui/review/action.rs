//! The actions of the review, and their keys: one table for the keys, the `?` page, the settings and the guide.

use crate::ui::keymap::{KeyBinding, Move, row};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewAction {
    Move(Move),
    NextHunk,
    PrevHunk,
    NextFile,
    PrevFile,
    NextOpen,
    Reopen,
    Accept,
    Reject,
    AcceptFile,
    RejectFile,
    AcceptAll,
    RejectAll,
    Visual,
    Split,
    Edit,
    Comment,
    CommentFile,
    CommentTurn,
    DeleteComment,
    Reviewed,
    ReviewedFile,
    Undo,
    Redo,
    Search,
    NextMatch,
    PrevMatch,
    Filter,
    Open,
    Yank,
    Enter,
    More,
    Less,
    Side,
    Whitespace,
    Invisibles,
    Wrap,
    Fold,
    Blame,
    Checks,
    CheckOutput,
    Tree,
    Focus,
    Help,
    Close,
    Escape,
}

impl ReviewAction {
    /// Whether it marks something to be applied or discarded.
    pub fn decides(self) -> bool {
        matches!(
            self,
            A::Accept | A::Reject | A::AcceptFile | A::RejectFile | A::AcceptAll | A::RejectAll | A::Redo
        )
    }

    /// True when the terminal is given to the person's editor, which takes every key after that.
    pub fn opens_editor(self) -> bool {
        matches!(self, A::Edit | A::Open)
    }

    /// True when what is typed next is the text of a field.
    pub fn opens_field(self) -> bool {
        matches!(self, A::Comment | A::CommentFile | A::CommentTurn | A::Search | A::Filter)
    }
}

use ReviewAction as A;

pub const TABLE: &[KeyBinding<ReviewAction>] = &[
    row(A::Move(Move::Down), "down", "j Down", "a line down"),
    row(A::Move(Move::Up), "up", "k Up", "a line up"),
    row(A::Move(Move::HalfDown), "half_down", "Ctrl-D", "half a screen down"),
    row(A::Move(Move::HalfUp), "half_up", "Ctrl-U", "half a screen up"),
    row(A::Move(Move::PageDown), "page_down", "PageDown Space Ctrl-F", "a screen down"),
    row(A::Move(Move::PageUp), "page_up", "PageUp Ctrl-B", "a screen up"),
    row(A::Move(Move::Top), "top", "g Home", "to the first line"),
    row(A::Move(Move::Bottom), "bottom", "G End", "to the last line"),
    row(A::Move(Move::Right), "right", "l Right", "long lines: to the right (when not wrapped)"),
    row(A::Move(Move::Left), "left", "h Left", "long lines: to the left"),
    row(A::NextHunk, "next_hunk", "]", "the next hunk"),
    row(A::PrevHunk, "previous_hunk", "[", "the previous hunk"),
    row(A::NextFile, "next_file", "}", "the next file"),
    row(A::PrevFile, "previous_file", "{", "the previous file"),
    row(A::NextOpen, "next_undecided", ")", "the next undecided hunk"),
    row(A::Accept, "accept", "a", "accept the hunk, or the selected lines"),
    row(A::Reject, "reject", "r", "reject the hunk, or the selected lines"),
    row(A::Reopen, "reopen", "p", "leave the hunk pending: remove its decision"),
    row(A::AcceptFile, "accept_file", "A", "accept the whole file"),
    row(A::RejectFile, "reject_file", "R", "reject the whole file"),
    row(A::AcceptAll, "accept_all", "Y", "accept all undecided hunks"),
    row(A::RejectAll, "reject_all", "X", "reject all undecided hunks"),
    row(A::Visual, "select", "v", "select lines; Esc ends it"),
    row(A::Split, "split", "S", "split the hunk above the cursor"),
    row(A::Edit, "edit", "E", "edit the hunk in your editor; the result is accepted"),
    row(A::Comment, "comment", "c", "comment on the line, or the selected lines"),
    row(A::CommentFile, "comment_file", "C", "comment on the file"),
    row(A::CommentTurn, "comment_turn", "T", "comment on the whole turn"),
    row(A::DeleteComment, "delete_comment", "D Delete", "delete the comment under the cursor"),
    row(A::Reviewed, "reviewed", "m", "mark the hunk as reviewed, and move to the next"),
    row(A::ReviewedFile, "reviewed_file", "M", "mark the file as reviewed"),
    row(A::Undo, "undo", "u", "undo the last decision, mark, comment, split or edit"),
    row(A::Redo, "redo", "U Ctrl-R", "redo it"),
    row(A::Search, "search", "/", "search in all lines"),
    row(A::NextMatch, "next_match", "n", "the next match"),
    row(A::PrevMatch, "previous_match", "N", "the previous match"),
    row(A::Filter, "filter", "f", "show only files that match"),
    row(A::Open, "open", "e", "open the file at this line in your editor"),
    row(A::Yank, "yank", "y", "copy the line, or the selected lines, unchanged"),
    row(A::Enter, "apply", "Enter", "unfold; if nothing is folded: apply, after a summary"),
    row(
        A::More,
        "more_context",
        "+",
        "show more context around the hunk, or the bytes of a file that is not text",
    ),
    row(A::Less, "less_context", "-", "show less context, or no bytes"),
    row(A::Side, "side_by_side", "s", "switch between side by side and one below the other"),
    row(A::Whitespace, "whitespace", "w", "hide hunks that change only blanks"),
    row(A::Invisibles, "invisibles", "i", "show tabs, blanks and line ends"),
    row(A::Wrap, "wrap", "W", "wrap long lines, or scroll them"),
    row(A::Fold, "fold", "z", "fold the file, or open it"),
    row(A::Blame, "blame", "b", "show who wrote each line: turn, call and approval"),
    row(A::Checks, "checks", "t", "run the checks on what you accepted"),
    row(A::CheckOutput, "check_output", "o", "show what the checks found and wrote"),
    row(A::Tree, "tree", "F", "show or hide the files on the left"),
    row(A::Focus, "focus", "Tab", "to the files, and back"),
    row(A::Help, "help", "?", "these keys"),
    row(A::Close, "close", "q", "leave, or go back to the apply question; your decisions are saved"),
    row(A::Escape, "escape", "Esc", "end a selection, a search or a filter; otherwise leave"),
];
