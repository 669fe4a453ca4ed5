//! Patches drawn as the review draws them, for the question at the end of a turn: numbers of lines, colours of code,
//! marked words. What a patch holds is all drawn, or [`Differences::rows`] says that it cannot be.

use super::paint::{ReviewAnnotations, ReviewPainter, adjusters};
use super::rows::ReviewRow;
use crate::Theme;
use crate::highlight::{HighlightDocId, SyntaxHighlighter};
use crate::review::content::binary_section::{binary_section, link_section, with_binary_sections};
use crate::review::content::commit_files::mark_runs_later;
use crate::review::content::file::{ReviewBody, ReviewFile};
use crate::review::content::from_patch::of_patch;
use crate::review::content::inline_diff::InlineDiffCache;
use crate::review::content::load::encodings;
use crate::review::content::side_text::DiffSide;
use crate::review::state::query::ReviewQuery;
use crate::review::state::{Review, ReviewSubject};
use placet_text::text::patch::{FilePatch, FilePatchBody, StripLevels, parse};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

/// The largest patch that is drawn so, in bytes: all its rows are laid out at once. A larger one is read as text.
const LARGEST: usize = 256 << 10;

/// How much of what did not change a difference shows, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnchangedText {
    /// All lines that the patch has.
    All,
    /// At most so many lines around each change, and how many lines are missing between two of them.
    Lines(usize),
    /// Nothing; line numbers show what is missing. A long line ends with the last word of it that was changed.
    Hidden,
}

impl UnchangedText {
    fn lines(self) -> usize {
        match self {
            UnchangedText::All => usize::MAX,
            UnchangedText::Lines(lines) => lines,
            UnchangedText::Hidden => 0,
        }
    }
}

/// Some patches, and the colours of their code, which a thread computes.
pub struct Differences {
    review: Review,
    /// The files of the review that each patch became; `None` where it cannot be drawn.
    parts: Vec<Option<Range<usize>>>,
    inline: InlineDiffCache,
    colours: CodeColours,
}

struct CodeColours {
    highlighter: SyntaxHighlighter,
    docs: HashMap<(usize, DiffSide), HighlightDocId>,
}

impl Differences {
    pub fn new<'a>(patches: impl Iterator<Item = &'a [u8]>, theme: &Theme) -> Differences {
        Differences::marked(patches.map(|patch| (patch, &[][..])), theme)
    }

    /// The same with the files of each patch that run later, and the reasons.
    pub fn marked<'a>(
        patches: impl Iterator<Item = (&'a [u8], &'a [(PathBuf, String)])>,
        theme: &Theme,
    ) -> Differences {
        let (mut files, mut parts) = (Vec::new(), Vec::new());
        for (patch, runs_later) in patches {
            let from = files.len();
            parts.push(files_of(patch).map(|mut new| {
                new.iter_mut().for_each(|file| mark_runs_later(file, runs_later));
                files.extend(new);
                from..files.len()
            }));
        }
        let mut highlighter = SyntaxHighlighter::of_difference(theme);
        let mut docs = HashMap::new();
        for (at, file) in files.iter().enumerate() {
            let Some(lines) = file.lines() else { continue };
            for side in [DiffSide::Old, DiffSide::New] {
                let doc = highlighter.add(lines.side(side).text(), &file.name);
                docs.insert((at, side), doc);
            }
        }
        let review = Review::new("", ReviewSubject::Patch, files);
        let colours = CodeColours { highlighter, docs };
        Differences { review, parts, inline: InlineDiffCache::default(), colours }
    }

    /// All rows of a patch in `columns`; `None` where it has to be read as the text that it is.
    pub fn rows(
        &self,
        patch: usize,
        theme: &Theme,
        (columns, unchanged): (usize, UnchangedText),
    ) -> Option<Vec<Line<'static>>> {
        let files = self.parts.get(patch)?.clone()?;
        for (of, doc) in self.colours.docs.iter().filter(|(of, _)| files.contains(&of.0)) {
            let lines = self.review.lines(of.0).map_or(0, |lines| lines.side(of.1).len());
            self.colours.highlighter.want(*doc, 0..lines);
        }
        let painter = ReviewPainter {
            review: &self.review,
            theme,
            annotations: &self.colours,
            inline: &self.inline,
            // The painter leaves two for cursor and decision.
            columns: columns + 2,
            needle: ReviewQuery::new(""),
            adjusters: adjusters(theme),
            columns_without_tails: (unchanged == UnchangedText::Hidden).then_some(columns),
        };
        // The row that opens names a single file.
        let is_named = |row: &ReviewRow| files.len() > 1 || !matches!(row, ReviewRow::File(_));
        let own = |row: &&ReviewRow| is_named(row) && row.file().is_some_and(|file| files.contains(&file));
        let rows: Vec<ReviewRow> = self.review.rows.list.iter().filter(own).copied().collect();
        let near = near_changes(&rows, unchanged, |row| painter.gap_lines(row));
        let rows = near.into_iter().flat_map(|row| match row {
            NearRow::Shown(row) => painter.plain(row),
            NearRow::Hidden(lines) => vec![painter.unchanged(lines)],
        });
        Some(rows.map(|cells| cells.into_iter().map(|c| Span::styled(c.text, c.style)).collect()).collect())
    }

    /// Receives computed colours; true when rows look different now.
    pub fn poll(&mut self) -> bool {
        self.colours.highlighter.poll()
    }

    /// Waits until the colours of everything that was drawn are known, but no longer than until `deadline`.
    pub fn wait_for_colours(&mut self, deadline: Instant) {
        self.colours.highlighter.wait(deadline);
    }

    /// True while colours are computed.
    pub fn is_busy(&self) -> bool {
        self.colours.highlighter.is_busy()
    }
}

/// A row of a difference of which some unchanged lines make way.
enum NearRow {
    Shown(ReviewRow),
    /// So many unchanged lines are not shown here.
    Hidden(usize),
}

/// The rows without the unchanged lines that are too far away from every change. Where line numbers jump, a row says by how
/// many lines, with those that the patch does not have: `in_gap` counts the latter.
fn near_changes(
    rows: &[ReviewRow],
    unchanged: UnchangedText,
    in_gap: impl Fn(&ReviewRow) -> Option<usize>,
) -> Vec<NearRow> {
    let is_same = |row: &ReviewRow| matches!(row, ReviewRow::Same { .. });
    let is_change = |row: &ReviewRow| matches!(row, ReviewRow::Line { .. } | ReviewRow::Pair { .. });
    let context = unchanged.lines();
    let is_near = move |at: usize| {
        let from = at.saturating_sub(context);
        let to = at.saturating_add(context).saturating_add(1).min(rows.len());
        rows.get(from..to).unwrap_or_default().iter().any(is_change)
    };
    let mut near: Vec<NearRow> = Vec::new();
    // Unchanged lines since the last row that is shown, and how many lines no row has.
    let (mut hidden, mut missing): (Vec<ReviewRow>, usize) = (Vec::new(), 0);
    for (at, row) in rows.iter().enumerate() {
        if let Some(lines) = in_gap(row) {
            missing += lines;
            continue;
        }
        if is_same(row) && !is_near(at) {
            hidden.push(*row);
            continue;
        }
        let is_line = is_same(row) || is_change(row);
        let follows_line =
            matches!(near.last(), Some(NearRow::Shown(last)) if is_same(last) || is_change(last));
        // A long line has several rows.
        let lines = hidden.iter().filter(|row| matches!(row, ReviewRow::Same { part: 0, .. })).count();
        match lines + missing {
            _ if unchanged == UnchangedText::Hidden => {}
            1 if missing == 0 && is_line && follows_line => {
                near.extend(hidden.iter().copied().map(NearRow::Shown));
            }
            0 => {}
            lines if is_line && (follows_line || missing > 0) => near.push(NearRow::Hidden(lines)),
            // Before the first change and after the last, as in every patch.
            _ => {}
        }
        (hidden, missing) = (Vec::new(), 0);
        near.push(NearRow::Shown(*row));
    }
    near
}

impl ReviewAnnotations for CodeColours {
    fn colours(&self, file: usize, side: DiffSide, line: usize) -> Option<Vec<(Range<usize>, Style)>> {
        self.highlighter.line(*self.docs.get(&(file, side))?, line).map(<[_]>::to_vec)
    }
}

fn files_of(patch: &[u8]) -> Option<Vec<ReviewFile>> {
    // Of what is not text, only the sizes are shown.
    if patch.len() > LARGEST && !is_binary_alone(patch) {
        return None;
    }
    if let Some(sections) = with_binary_sections(patch) {
        let files = sections.into_iter().map(|section| {
            match binary_section(section).or_else(|| link_section(section)) {
                Some(file) => Some(vec![file]),
                None => files_of_text(section),
            }
        });
        return Some(files.collect::<Option<Vec<_>>>()?.concat());
    }
    files_of_text(patch)
}

/// The patch is of one file that is not text.
fn is_binary_alone(patch: &[u8]) -> bool {
    let mut header = patch.split(|byte| *byte == b'\n').take_while(|line| !line.starts_with(b"@@")).take(8);
    header.any(|line| line == b"GIT binary patch")
}

fn files_of_text(patch: &[u8]) -> Option<Vec<ReviewFile>> {
    let parsed = parse(patch, StripLevels::Auto).ok()?;
    if parsed.files.is_empty() || changed_lines(patch) != read_lines(&parsed.files) {
        return None;
    }
    let mut files = of_patch(&parsed);
    for (file, patch) in files.iter_mut().zip(&parsed.files) {
        // Lines that the review does not treat as text.
        if file.lines().is_none() && patch.hunks().iter().any(|hunk| !hunk.lines.is_empty()) {
            return None;
        }
        if let ReviewBody::Lines(lines) = &file.body {
            let side = |side| {
                let text = lines.side(side);
                text.bytes(0..text.len())
            };
            let facts = encodings(side(DiffSide::Old), side(DiffSide::New));
            file.facts.extend(facts);
        }
    }
    Some(files)
}

/// Lines of a patch that begin with a plus and with a minus.
fn changed_lines(patch: &[u8]) -> (usize, usize) {
    let count =
        |sign: u8| patch.split(|byte| *byte == b'\n').filter(|line| line.first() == Some(&sign)).count();
    (count(b'+'), count(b'-'))
}

/// The same of what was read, with the two lines of names before the hunks of each file. Where they differ, something
/// of the patch was taken for something else.
fn read_lines(files: &[FilePatch]) -> (usize, usize) {
    use placet_text::text::patch::PatchLineKind::{Add, Remove};
    let of = |file: &FilePatch| match &file.body {
        FilePatchBody::Hunks(hunks) if !hunks.is_empty() => {
            let count = |sign| hunks.iter().flat_map(|h| &h.lines).filter(|line| line.sign == sign).count();
            (count(Add) + 1, count(Remove) + 1)
        }
        _ => (0, 0),
    };
    files.iter().map(of).fold((0, 0), |(a, r), (added, removed)| (a + added, r + removed))
}
