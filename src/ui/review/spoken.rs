//! The review as sentences: what a screen reader says, and the same for every face without a screen.
//!
//! Each stop is a hunk or a whole, numbered through all files. Nothing hangs on colour or on place: a sentence says
//! what it is, then the lines follow, each with a word in front.

use super::comment::{Comment, Side};
use super::comment::{Target, anchor};
use super::decide::Unit;
use super::doc::{Doc, End};
use super::file::{Body, Hunk, Lines, Mark, Standing};
use super::state::Review;
use crate::text::sanitize;

/// One thing to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    pub file: usize,
    /// 0 for a whole.
    pub hunk: usize,
}

impl Review {
    /// Everything there is to decide, in order.
    pub fn stops(&self) -> Vec<Stop> {
        let each = |(file, of): (usize, &super::file::File)| {
            let count = of.units();
            (0..count).map(move |hunk| Stop { file, hunk })
        };
        self.files.iter().enumerate().flat_map(each).collect()
    }

    /// `hunk 3 of 7, src/a.rs, lines 40 to 52, 2 removed, 5 added, accepted`.
    pub fn sentence(&self, n: usize, of: usize, stop: Stop) -> String {
        let Some(file) = self.files.get(stop.file) else { return String::new() };
        let mut parts = vec![format!("hunk {} of {of}", n + 1), file.name.clone()];
        match &file.body {
            Body::Whole(whole) => {
                parts.extend(whole.words.first().cloned());
                parts.push(word(Standing::All(whole.mark)).into());
            }
            Body::Lines(lines) => {
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
            }
        }
        parts.join(", ")
    }

    /// The lines of a stop, each with what it is: `removed: let x = 1;`.
    pub fn spoken(&self, stop: Stop) -> Vec<String> {
        let Some(file) = self.files.get(stop.file) else { return Vec::new() };
        let mut out: Vec<String> = file.facts.clone();
        match &file.body {
            Body::Whole(whole) => out.extend(whole.words.iter().skip(1).cloned()),
            Body::Lines(lines) => {
                let Some(hunk) = lines.hunks.get(stop.hunk) else { return out };
                if stop.hunk > 0 {
                    out.clear();
                }
                out.extend(hunk.old.clone().map(|n| format!("removed: {}", exact(&lines.old, n))));
                out.extend(hunk.new.clone().map(|n| format!("added: {}", exact(&lines.new, n))));
            }
        }
        let here = |c: &&Comment| match &c.target {
            Target::Turn => false,
            Target::File { path } => *path == file.path && stop.hunk == 0,
            Target::Lines { path, side, lines, .. } => {
                let hunk = file.lines().and_then(|l| l.hunks.get(stop.hunk));
                let range = hunk.map(|h| if *side == Side::Old { h.old.clone() } else { h.new.clone() });
                *path == file.path && range.is_some_and(|r| r.contains(&lines.start))
            }
        };
        out.extend(
            self.comments.iter().filter(here).map(|c| format!("comment: {}", sanitize::line(&c.text))),
        );
        out
    }

    /// Decides one stop.
    pub fn decide_stop(&mut self, stop: Stop, mark: Mark) {
        let whole = self.files.get(stop.file).is_some_and(|f| f.lines().is_none());
        let unit = if whole { Unit::Whole(stop.file) } else { Unit::Hunk(stop.file, stop.hunk) };
        if self.mark_of(&unit) != Standing::All(mark) {
            self.set(&[unit], mark);
        }
    }

    /// Comments on a stop: on its new lines, on its old ones where it has no new, on the file where it has neither.
    pub fn comment_on(&mut self, stop: Stop, text: &str) {
        let Some(file) = self.files.get(stop.file) else { return };
        let path = file.path.clone();
        let hunk = file.lines().and_then(|lines| Some((lines, lines.hunks.get(stop.hunk)?)));
        let target = match hunk {
            None => Target::File { path },
            Some((lines, hunk)) => {
                let (side, doc, range) = match hunk.new.is_empty() {
                    true => (Side::Old, &lines.old, hunk.old.clone()),
                    false => (Side::New, &lines.new, hunk.new.clone()),
                };
                let anchor = anchor(doc, &range);
                Target::Lines { path, side, lines: range, anchor, stale: false }
            }
        };
        self.add_comment(target, text.to_string());
    }
}

/// A line with its end, where that is not a line feed alone.
fn exact(doc: &Doc, line: usize) -> String {
    let end = match doc.end(line) {
        End::CrLf => "␍",
        End::Lf => "",
        End::None => "  ␤(no line end)",
    };
    format!("{}{end}", sanitize::line(doc.line(line)))
}

fn span(lines: &Lines, hunk: &Hunk) -> String {
    let (first, last) = match hunk.new.is_empty() {
        false => (lines.new_number(hunk.new.start), lines.new_number(hunk.new.end - 1)),
        true => (lines.old_number(hunk.old.start), lines.old_number(hunk.old.end.saturating_sub(1))),
    };
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::All(Mark::Accepted) => "accepted",
        Standing::All(Mark::Rejected) => "rejected",
        Standing::All(Mark::Open) => "undecided",
        Standing::Mixed => "decided in part",
    }
}
