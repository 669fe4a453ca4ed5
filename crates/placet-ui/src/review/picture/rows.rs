//! The change set as one list of rows: headers, lines, folds between them, and comments at their lines.
//!
//! A row names what it shows and holds no text: a list of 50,000 rows is made in a millisecond, and only the rows on
//! the screen are wrapped.

use crate::review::content::comment::{CommentTarget, ReviewComment};
use crate::review::content::file::{ReviewBody, ReviewFile, ReviewLines};
use crate::review::content::side_text::{DiffSide, SideText};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Unchanged lines shown around each hunk.
const CONTEXT: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewRow {
    File(u32),
    /// A fact about a file, besides its lines.
    Fact(u32, u32),
    Picture(u32),
    /// Unchanged lines that are not shown; `known` when they can be shown.
    Gap {
        file: u32,
        from: u32,
        to: u32,
        known: bool,
    },
    Same {
        file: u32,
        old: u32,
        new: u32,
        part: u32,
    },
    /// The `n`th changed line of a hunk, removed ones first. A very long line has several rows, one for each part
    /// ([`Doc::part`](crate::review::content::side_text)): only the parts on the screen are laid out.
    Line {
        file: u32,
        hunk: u32,
        n: u32,
        part: u32,
    },
    /// The same with both sides next to each other: either side may be missing.
    Pair {
        file: u32,
        hunk: u32,
        old: Option<u32>,
        new: Option<u32>,
        part: u32,
    },
    /// A hunk that changes blanks only, while those are hidden.
    Blanks {
        file: u32,
        hunk: u32,
    },
    /// A row that explains the conflict of a hunk ([`ReviewLines::conflict_rows`]).
    Conflict {
        file: u32,
        hunk: u32,
        n: u32,
    },
    Note(u32),
    Space,
}

impl ReviewRow {
    pub fn file(&self) -> Option<usize> {
        match *self {
            ReviewRow::File(file) | ReviewRow::Fact(file, _) | ReviewRow::Picture(file) => {
                Some(file as usize)
            }
            ReviewRow::Gap { file, .. }
            | ReviewRow::Same { file, .. }
            | ReviewRow::Line { file, .. }
            | ReviewRow::Pair { file, .. }
            | ReviewRow::Blanks { file, .. }
            | ReviewRow::Conflict { file, .. } => Some(file as usize),
            ReviewRow::Note(_) | ReviewRow::Space => None,
        }
    }

    /// The row of the first part of the same line.
    pub(in crate::review) fn whole(&self) -> ReviewRow {
        let mut row = *self;
        if let ReviewRow::Same { part, .. } | ReviewRow::Line { part, .. } | ReviewRow::Pair { part, .. } =
            &mut row
        {
            *part = 0;
        }
        row
    }

    pub fn hunk(&self) -> Option<(usize, usize)> {
        match *self {
            ReviewRow::Line { file, hunk, .. }
            | ReviewRow::Pair { file, hunk, .. }
            | ReviewRow::Blanks { file, hunk }
            | ReviewRow::Conflict { file, hunk, .. } => Some((file as usize, hunk as usize)),
            _ => None,
        }
    }

    /// The changed lines that it shows, by their numbers in the hunk.
    pub(in crate::review) fn changed(&self) -> impl Iterator<Item = usize> + use<> {
        let found = match *self {
            ReviewRow::Line { n, .. } => [Some(n), None],
            ReviewRow::Pair { old, new, .. } => [old, new],
            _ => [None, None],
        };
        found.into_iter().flatten().map(|n| n as usize)
    }
}

/// How the rows are laid out.
#[derive(Clone, Debug, Default)]
pub struct ReviewLayout {
    pub side: bool,
    pub hide_blanks: bool,
    pub folded: BTreeSet<usize>,
    /// Comments on files that are not here belong to others.
    pub partial: bool,
    /// The files shown, in order; all of them when there is no filter.
    pub only: Option<Vec<usize>>,
}

#[derive(Clone, Debug, Default)]
pub struct ReviewRows {
    pub list: Vec<ReviewRow>,
    /// The header row of each file that is shown.
    pub files: Vec<(usize, usize)>,
    /// The first row of each hunk or whole that is shown: file, hunk, row.
    pub hunks: Vec<(usize, usize, usize)>,
}

impl ReviewRows {
    pub fn of(files: &[ReviewFile], comments: &[ReviewComment], layout: &ReviewLayout) -> ReviewRows {
        let mut rows = ReviewRows::default();
        let notes = CommentIndex::of(files, comments, layout);
        rows.notes(&notes.turn);
        let all: Vec<usize> = (0..files.len()).collect();
        for &f in layout.only.as_ref().unwrap_or(&all) {
            if let Some(file) = files.get(f) {
                rows.file(f, file, &notes, layout);
            }
        }
        rows
    }

    /// The row of a file's header.
    pub fn of_file(&self, file: usize) -> Option<usize> {
        self.files.iter().find(|(f, _)| *f == file).map(|(_, row)| *row)
    }

    pub fn of_hunk(&self, file: usize, hunk: usize) -> Option<usize> {
        self.hunks.iter().find(|(f, h, _)| (*f, *h) == (file, hunk)).map(|(_, _, row)| *row)
    }

    fn notes(&mut self, notes: &[u32]) {
        self.list.extend(notes.iter().map(|n| ReviewRow::Note(*n)));
    }

    fn file(&mut self, f: usize, file: &ReviewFile, notes: &CommentIndex, layout: &ReviewLayout) {
        if !self.list.is_empty() {
            self.list.push(ReviewRow::Space);
        }
        self.files.push((f, self.list.len()));
        let number = number(f);
        self.list.push(ReviewRow::File(number));
        self.notes(notes.files.get(&f).map_or(&[], Vec::as_slice));
        if layout.folded.contains(&f) {
            return;
        }
        self.list.extend((0..file.facts.len()).map(|n| ReviewRow::Fact(number, self::number(n))));
        match &file.body {
            ReviewBody::Whole(whole) => {
                self.hunks.push((f, 0, self.list.len() - file.facts.len() - 1));
                let first = file.facts.len();
                self.list
                    .extend((0..whole.words.len()).map(|n| ReviewRow::Fact(number, self::number(first + n))));
                if whole.pictures.is_some() {
                    self.list.push(ReviewRow::Picture(number));
                }
            }
            ReviewBody::Lines(lines) => self.lines(f, lines, notes, layout),
        }
    }

    fn lines(&mut self, f: usize, lines: &ReviewLines, notes: &CommentIndex, layout: &ReviewLayout) {
        let shown = shown(lines);
        let (mut old, mut new) = (0, 0);
        for (h, hunk) in lines.hunks.iter().enumerate() {
            self.unchanged(f, lines, old..hunk.old.start, new, &shown, notes);
            self.hunks.push((f, h, self.list.len()));
            self.hunk(f, h, lines, notes, layout);
            let (file, hunk_number) = (number(f), number(h));
            let conflict = |n| ReviewRow::Conflict { file, hunk: hunk_number, n: number(n) };
            self.list.extend((0..lines.conflict_rows(h).count()).map(conflict));
            (old, new) = (hunk.old.end, hunk.new.end);
        }
        self.unchanged(f, lines, old..lines.old.len(), new, &shown, notes);
    }

    /// Unchanged lines: the visible ones, and a fold for each run of hidden ones.
    fn unchanged(
        &mut self,
        f: usize,
        lines: &ReviewLines,
        range: Range<usize>,
        new: usize,
        shown: &[Range<usize>],
        notes: &CommentIndex,
    ) {
        let mut at = range.start;
        while at < range.end {
            let next = shown.get(shown.partition_point(|r| r.end <= at));
            let inside = next.is_some_and(|r| r.start <= at);
            let end = next.map_or(range.end, |r| if inside { r.end } else { r.start }).min(range.end);
            if !inside && end - at > 1 {
                let (from, to) = (number(at), number(end));
                self.list.push(ReviewRow::Gap { file: number(f), from, to, known: true });
                at = end;
                continue;
            }
            for line in at..end {
                self.seam(f, lines, line);
                let of_new = new + line - range.start;
                let parts = lines.old.parts(line).max(lines.new.parts(of_new));
                self.list.extend((0..parts).map(|part| ReviewRow::Same {
                    file: number(f),
                    old: number(line),
                    new: number(of_new),
                    part: number(part),
                }));
                self.notes(notes.at(f, DiffSide::Old, line));
                self.notes(notes.at(f, DiffSide::New, of_new));
            }
            at = end;
        }
    }

    /// Where a part of a longer text begins, lines are missing that the review cannot show.
    fn seam(&mut self, f: usize, lines: &ReviewLines, old: usize) {
        if lines.parts.binary_search_by_key(&old, |s| s.old).is_ok_and(|n| n > 0) {
            let at = number(old);
            self.list.push(ReviewRow::Gap { file: number(f), from: at, to: at, known: false });
        }
    }

    fn hunk(&mut self, f: usize, h: usize, lines: &ReviewLines, notes: &CommentIndex, layout: &ReviewLayout) {
        let Some(hunk) = lines.hunks.get(h) else { return };
        let (file, removed) = (number(f), hunk.old.len());
        if layout.hide_blanks && only_blanks(lines, hunk.old.clone(), hunk.new.clone()) {
            self.list.push(ReviewRow::Blanks { file, hunk: number(h) });
            return;
        }
        self.seam(f, lines, hunk.old.start);
        if layout.side {
            for n in 0..hunk.old.len().max(hunk.new.len()) {
                let old = (n < removed).then(|| number(n));
                let new = (n < hunk.new.len()).then(|| number(removed + n));
                let of_old = old.map_or(1, |_| lines.old.parts(hunk.old.start + n));
                let of_new = new.map_or(1, |_| lines.new.parts(hunk.new.start + n));
                let parts = 0..of_old.max(of_new);
                let pair = |part| ReviewRow::Pair { file, hunk: number(h), old, new, part: number(part) };
                self.list.extend(parts.map(pair));
                if old.is_some() {
                    self.notes(notes.at(f, DiffSide::Old, hunk.old.start + n));
                }
                if new.is_some() {
                    self.notes(notes.at(f, DiffSide::New, hunk.new.start + n));
                }
            }
            return;
        }
        for n in 0..hunk.marks.len() {
            let parts = match n.checked_sub(removed) {
                None => lines.old.parts(hunk.old.start + n),
                Some(n) => lines.new.parts(hunk.new.start + n),
            };
            let line = |part| ReviewRow::Line { file, hunk: number(h), n: number(n), part: number(part) };
            self.list.extend((0..parts).map(line));
            match n.checked_sub(removed) {
                None => self.notes(notes.at(f, DiffSide::Old, hunk.old.start + n)),
                Some(n) => self.notes(notes.at(f, DiffSide::New, hunk.new.start + n)),
            }
        }
    }
}

/// The old lines that are shown although they did not change, in rising order.
fn shown(lines: &ReviewLines) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = lines.opened.clone();
    for hunk in &lines.hunks {
        out.push(hunk.old.start.saturating_sub(CONTEXT)..hunk.old.start);
        out.push(hunk.old.end..(hunk.old.end + CONTEXT).min(lines.old.len()));
    }
    out.retain(|r| !r.is_empty());
    out.sort_by_key(|r| r.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in out {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// True when both sides are the same but for blanks and line ends.
pub(in crate::review) fn only_blanks(lines: &ReviewLines, old: Range<usize>, new: Range<usize>) -> bool {
    let solid = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let side = |doc: &SideText, range: Range<usize>| {
        range.map(|n| solid(doc.line(n))).filter(|l| !l.is_empty()).collect::<Vec<_>>()
    };
    side(&lines.old, old) == side(&lines.new, new)
}

/// Comments by their place.
#[derive(Default)]
struct CommentIndex {
    turn: Vec<u32>,
    files: HashMap<usize, Vec<u32>>,
    lines: HashMap<(usize, DiffSide, usize), Vec<u32>>,
}

impl CommentIndex {
    fn of(files: &[ReviewFile], comments: &[ReviewComment], layout: &ReviewLayout) -> CommentIndex {
        let mut notes = CommentIndex::default();
        let at: HashMap<&std::path::PathBuf, usize> =
            files.iter().enumerate().map(|(f, file)| (&file.path, f)).collect();
        for (n, comment) in comments.iter().enumerate() {
            let file = comment.target.path().and_then(|path| at.get(path).copied());
            match (&comment.target, file) {
                (CommentTarget::Lines { side, lines, stale: false, .. }, Some(f)) => {
                    let last = lines.end.saturating_sub(1);
                    notes.lines.entry((f, *side, last)).or_default().push(number(n));
                }
                (CommentTarget::Lines { .. } | CommentTarget::File { .. }, Some(f)) => {
                    notes.files.entry(f).or_default().push(number(n));
                }
                (CommentTarget::Turn, _) => notes.turn.push(number(n)),
                (_, None) if layout.partial => {}
                (_, None) => notes.turn.push(number(n)),
            }
        }
        notes
    }

    fn at(&self, file: usize, side: DiffSide, line: usize) -> &[u32] {
        self.lines.get(&(file, side, line)).map_or(&[], Vec::as_slice)
    }
}

pub(in crate::review) fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
