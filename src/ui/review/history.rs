//! Undo inside the review: every decision, mark, comment, split and edit can be taken back, and done again.

use super::comment::Comment;
use super::file::{Body, Hunk, Lines, Whole};
use super::input::Input;
use super::state::{Effect, Review};

/// How many steps are kept.
const STEPS: usize = 500;

/// What something was before it changed.
#[derive(Clone, Debug)]
pub(super) enum Was {
    Hunk {
        file: usize,
        hunk: usize,
        was: Hunk,
    },
    Whole {
        file: usize,
        was: Whole,
    },
    /// A file's hunks were cut anew, or its new side was written anew.
    Lines {
        file: usize,
        was: Box<Lines>,
    },
    Comments(Vec<Comment>),
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    words: String,
    was: Vec<Was>,
    cursor: usize,
}

#[derive(Debug, Default)]
pub(super) struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
    /// A comment that was left before it was added, and what it was to be on.
    pub(super) draft: Option<(Input, String)>,
    /// Where the cursor was when a search began.
    pub(super) search_from: usize,
}

impl Review {
    /// Keeps what something was before a change that is said in `words`.
    pub(super) fn keep(&mut self, words: &str, was: Vec<Was>) {
        let history = &mut self.history;
        history.undone.clear();
        if history.done.len() >= STEPS {
            history.done.remove(0);
        }
        history.done.push(Step { words: words.into(), was, cursor: self.cursor });
    }

    pub(super) fn undo(&mut self) -> Vec<Effect> {
        let Some(step) = self.history.done.pop() else {
            self.say("nothing to undo");
            return Vec::new();
        };
        self.say(format!("undone: {}", step.words));
        let back = self.swap(step);
        self.history.undone.push(back);
        vec![Effect::Remember]
    }

    pub(super) fn redo(&mut self) -> Vec<Effect> {
        let Some(step) = self.history.undone.pop() else {
            self.say("nothing to do again");
            return Vec::new();
        };
        self.say(format!("done again: {}", step.words));
        let back = self.swap(step);
        self.history.done.push(back);
        vec![Effect::Remember]
    }

    /// Puts everything back, and returns the step that undoes this.
    fn swap(&mut self, step: Step) -> Step {
        let mut was = Vec::with_capacity(step.was.len());
        for entry in step.was {
            was.extend(self.put_back(entry));
        }
        // What was changed last is put back first, both ways.
        was.reverse();
        self.lay_out();
        let cursor = std::mem::replace(&mut self.cursor, step.cursor);
        self.clamp();
        Step { words: step.words, was, cursor }
    }

    fn put_back(&mut self, entry: Was) -> Option<Was> {
        match entry {
            Was::Comments(comments) => Some(Was::Comments(std::mem::replace(&mut self.comments, comments))),
            Was::Whole { file, was } => match &mut self.files.get_mut(file)?.body {
                Body::Whole(whole) => Some(Was::Whole { file, was: std::mem::replace(whole, was) }),
                Body::Lines(_) => None,
            },
            Was::Hunk { file, hunk, was } => {
                let slot = self.files.get_mut(file)?.lines_mut()?.hunks.get_mut(hunk)?;
                Some(Was::Hunk { file, hunk, was: std::mem::replace(slot, was) })
            }
            Was::Lines { file, was } => {
                let lines = self.files.get_mut(file)?.lines_mut()?;
                if !std::sync::Arc::ptr_eq(&lines.new.text(), &was.new.text()) {
                    self.seen.forget(file);
                }
                Some(Was::Lines { file, was: Box::new(std::mem::replace(lines, *was)) })
            }
        }
    }
}
