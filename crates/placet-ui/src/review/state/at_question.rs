//! What the apply question has of a review that was left: the decisions in a row, and what a yes to the whole question makes
//! of what was not decided.

use crate::review::content::file::{ReviewBody, ReviewDecision, ReviewFile};
use crate::review::state::Review;
use placet_text::text::count;

impl Review {
    /// `✗ 1 of 2 hunks rejected, 1 comment`; `None` where nothing was decided.
    pub fn decided_words(&self) -> Option<String> {
        let ((accepted, rejected), (_, units)) = (self.tally(), self.progress());
        let hunks = count::of(units, "hunk");
        let edited = self.files.iter().filter(|file| file.lines().is_some_and(|lines| lines.edited)).count();
        let comments = self.visible_comments().count();
        let mut words: Vec<String> = Vec::new();
        if rejected > 0 {
            words.push(format!("\u{2717} {rejected} of {hunks} rejected"));
        } else if accepted > 0 {
            words.push(format!("\u{2713} {accepted} of {hunks} accepted"));
        }
        words.extend((edited > 0).then(|| format!("{} edited", count::of(edited, "file"))));
        words.extend((comments > 0).then(|| count::of(comments, "comment")));
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// A yes to the whole question accepts what was not decided. What runs later waits for an answer of its own.
    pub fn accept_open(&mut self) {
        let is_asked = |file: &&mut ReviewFile| file.decided_with.is_none() && file.runs_later.is_none();
        for file in self.files.iter_mut().filter(is_asked) {
            let accept = |mark: &mut ReviewDecision| {
                if *mark == ReviewDecision::Open {
                    *mark = ReviewDecision::Accepted;
                }
            };
            match &mut file.body {
                ReviewBody::Whole(whole) if whole.refused.is_none() => accept(&mut whole.mark),
                ReviewBody::Whole(_) => {}
                ReviewBody::Lines(lines) => {
                    lines.hunks.iter_mut().flat_map(|hunk| &mut hunk.marks).for_each(accept);
                }
            }
        }
        self.follow_decisions();
    }
}
