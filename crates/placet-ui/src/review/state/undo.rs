//! Undo inside the review: every decision, mark, comment, split and edit can be undone and redone.

use super::history::{ReviewUndoItem, ReviewUndoStep};
use crate::review::content::file::ReviewBody;
use crate::review::state::{Review, ReviewEffect};

/// How many steps are stored.
const STEPS: usize = 500;

impl Review {
    /// Stores the state before a change; `words` describes the change.
    pub(in crate::review) fn push_undo(&mut self, words: &str, was: Vec<ReviewUndoItem>) {
        let history = &mut self.history;
        history.undone.clear();
        if history.done.len() >= STEPS {
            history.done.remove(0);
        }
        history.done.push(ReviewUndoStep { words: words.into(), was, cursor: self.window.cursor });
    }

    pub(in crate::review) fn undo(&mut self) -> Vec<ReviewEffect> {
        let Some(step) = self.history.done.pop() else {
            return self.nothing_done("nothing to undo");
        };
        self.say(format!("undone: {}", step.words));
        let back = self.swap(step);
        self.history.undone.push(back);
        vec![ReviewEffect::Remember]
    }

    pub(in crate::review) fn redo(&mut self) -> Vec<ReviewEffect> {
        let Some(step) = self.history.undone.pop() else {
            return self.nothing_done("nothing to redo");
        };
        self.say(format!("redone: {}", step.words));
        let back = self.swap(step);
        self.history.done.push(back);
        vec![ReviewEffect::Remember]
    }

    /// Restores everything, and returns the step that undoes this one.
    fn swap(&mut self, step: ReviewUndoStep) -> ReviewUndoStep {
        let mut was = Vec::with_capacity(step.was.len());
        for entry in step.was {
            was.extend(self.put_back(entry));
        }
        // The last change is restored first, both ways.
        was.reverse();
        self.follow_decisions();
        self.lay_out();
        let cursor = std::mem::replace(&mut self.window.cursor, step.cursor);
        self.clamp();
        ReviewUndoStep { words: step.words, was, cursor }
    }

    fn put_back(&mut self, entry: ReviewUndoItem) -> Option<ReviewUndoItem> {
        match entry {
            ReviewUndoItem::Comments(comments) => {
                Some(ReviewUndoItem::Comments(std::mem::replace(&mut self.comments.list, comments)))
            }
            ReviewUndoItem::Whole { file, was } => match &mut self.files.get_mut(file)?.body {
                ReviewBody::Whole(whole) => {
                    Some(ReviewUndoItem::Whole { file, was: std::mem::replace(whole, was) })
                }
                ReviewBody::Lines(_) => None,
            },
            ReviewUndoItem::Hunk { file, hunk, was } => {
                let slot = self.lines_mut(file)?.hunks.get_mut(hunk)?;
                Some(ReviewUndoItem::Hunk { file, hunk, was: std::mem::replace(slot, was) })
            }
            ReviewUndoItem::Lines { file, was } => {
                let lines = self.files.get_mut(file)?.lines_mut()?;
                if !std::sync::Arc::ptr_eq(&lines.new.text(), &was.new.text()) {
                    self.seen.forget(file);
                }
                Some(ReviewUndoItem::Lines { file, was: Box::new(std::mem::replace(lines, *was)) })
            }
        }
    }
}
