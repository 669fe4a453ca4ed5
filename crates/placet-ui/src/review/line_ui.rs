//! The review as sentences, for screen readers and for every interface without a screen.
//!
//! Each stop is a hunk or a file without lines, numbered through all files. Nothing depends on colour or on position: a
//! sentence describes the stop, then the lines follow, each with a word in front.

use super::content::comment::{CommentTarget, ReviewComment};
use super::content::file::{
    CombinedDecision, ReviewBody, ReviewDecision, ReviewFile, ReviewHunk, ReviewLines,
};
use super::content::side_text::{DiffSide, LineTerminator, SideText};
use super::content::unit::{DecisionUnit, ReviewItem};
use super::state::Review;
use placet_text::text::sanitize;
use placet_text::text::visible::{self, LineBreaks};

impl Review {
    /// Everything there is to decide, in order.
    pub fn stops(&self) -> Vec<ReviewItem> {
        let each = |(file, of): (usize, &ReviewFile)| {
            let count = of.units();
            (0..count).map(move |hunk| ReviewItem { file, hunk })
        };
        self.files.iter().enumerate().flat_map(each).collect()
    }

    /// `hunk 3 of 7, src/a.rs, lines 40 to 52, 2 removed, 5 added, accepted`.
    pub fn sentence(&self, n: usize, of: usize, stop: ReviewItem) -> String {
        let Some(file) = self.files.get(stop.file) else { return String::new() };
        let mut parts = vec![format!("hunk {} of {of}", n + 1), file.name.clone()];
        match &file.body {
            ReviewBody::Whole(whole) => {
                parts.extend(whole.words.first().cloned());
                parts.push(word(CombinedDecision::All(whole.mark)).into());
            }
            ReviewBody::Lines(lines) => {
                let Some(hunk) = lines.hunks.get(stop.hunk) else { return String::new() };
                parts.push(span(lines, hunk));
                for (count, what) in [(hunk.old.len(), "removed"), (hunk.new.len(), "added")] {
                    if count > 0 {
                        parts.push(format!("{count} {what}"));
                    }
                }
                parts.push(word(hunk.standing()).into());
                if hunk.reviewed {
                    parts.push("reviewed".into());
                }
                if hunk.is_new {
                    parts.push("new since you sent the changes back".into());
                }
            }
        }
        parts.join(", ")
    }

    /// The lines of a stop, each with what it is: `removed: let x = 1;`.
    pub fn spoken(&self, stop: ReviewItem) -> Vec<String> {
        let mut out = self.spoken_alone(stop);
        for file in self.decided_with(stop.file) {
            out.extend(self.files.get(file).map(|file| file.name.clone()));
            let hunks = 0..self.own_units(file).len();
            out.extend(hunks.flat_map(|hunk| self.spoken_alone(ReviewItem { file, hunk })));
        }
        out
    }

    fn spoken_alone(&self, stop: ReviewItem) -> Vec<String> {
        let Some(file) = self.files.get(stop.file) else { return Vec::new() };
        let mut out: Vec<String> = file.facts.clone();
        match &file.body {
            ReviewBody::Whole(whole) => out.extend(whole.words.iter().skip(1).cloned()),
            ReviewBody::Lines(lines) => {
                let Some(hunk) = lines.hunks.get(stop.hunk) else { return out };
                if stop.hunk > 0 {
                    out.clear();
                }
                out.extend(hunk.old.clone().map(|n| format!("removed: {}", exact(&lines.old, n))));
                out.extend(hunk.new.clone().map(|n| format!("added: {}", exact(&lines.new, n))));
                out.extend(lines.conflict_rows(stop.hunk).map(String::from));
            }
        }
        let here = |c: &&ReviewComment| match &c.target {
            CommentTarget::Turn => false,
            CommentTarget::File { path } => *path == file.path && stop.hunk == 0,
            CommentTarget::Lines { path, side, lines, .. } => {
                let hunk = file.lines().and_then(|l| l.hunks.get(stop.hunk));
                let range = hunk.map(|h| if *side == DiffSide::Old { h.old.clone() } else { h.new.clone() });
                *path == file.path && range.is_some_and(|r| r.contains(&lines.start))
            }
        };
        out.extend(
            self.comments.list.iter().filter(here).map(|c| format!("comment: {}", sanitize::line(&c.text))),
        );
        out
    }

    /// Decides one stop.
    pub fn decide_stop(&mut self, stop: ReviewItem, mark: ReviewDecision) {
        let whole = self.files.get(stop.file).is_some_and(|f| f.lines().is_none());
        let unit =
            if whole { DecisionUnit::Whole(stop.file) } else { DecisionUnit::Hunk(stop.file, stop.hunk) };
        if self.mark_of(&unit) != CombinedDecision::All(mark) {
            self.set(&[unit], mark);
        }
    }

    /// Comments on a stop: on its new lines, on its old ones where it has no new, on the file where it has neither.
    pub fn comment_on(&mut self, stop: ReviewItem, text: &str) {
        let Some(file) = self.files.get(stop.file) else { return };
        let hunk = file.lines().and_then(|lines| Some((lines, lines.hunks.get(stop.hunk)?)));
        let target = match hunk {
            None => CommentTarget::File { path: file.path.clone() },
            Some((lines, hunk)) => {
                let (side, range) = match hunk.new.is_empty() {
                    true => (DiffSide::Old, hunk.old.clone()),
                    false => (DiffSide::New, hunk.new.clone()),
                };
                CommentTarget::of(&file.path, lines, side, range)
            }
        };
        self.add_comment(target, text.to_string());
    }
}

/// A line with its end, where that is not a line feed alone.
fn exact(doc: &SideText, line: usize) -> String {
    let end = match doc.end(line) {
        LineTerminator::CrLf => "⏎",
        LineTerminator::Lf => "",
        LineTerminator::None => "  (no line end)",
    };
    if doc.stray(line).is_empty() {
        return format!("{}{end}", sanitize::line(doc.line(line)));
    }
    let bytes = doc.bytes(line..line + 1);
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    format!("{}{end}", visible::visible(bytes.strip_suffix(b"\r").unwrap_or(bytes), LineBreaks::Shown))
}

fn span(lines: &ReviewLines, hunk: &ReviewHunk) -> String {
    let (first, last) = match hunk.new.is_empty() {
        false => (lines.new_number(hunk.new.start), lines.new_number(hunk.new.end - 1)),
        true => (lines.old_number(hunk.old.start), lines.old_number(hunk.old.end.saturating_sub(1))),
    };
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

fn word(standing: CombinedDecision) -> &'static str {
    match standing {
        CombinedDecision::All(ReviewDecision::Accepted) => "accepted",
        CombinedDecision::All(ReviewDecision::Rejected) => "rejected",
        CombinedDecision::All(ReviewDecision::Open) => "undecided",
        CombinedDecision::Mixed => "decided in part",
    }
}
