//! What of the change set is in sight: folded files, unchanged lines that were opened, and the filter.

use crate::review::content::file::{ReviewBody, ReviewHunk, ReviewLines};
use crate::review::picture::tree::matching;
use crate::review::state::Review;

impl Review {
    pub(in crate::review) fn open_gap(&mut self, file: usize, gap: std::ops::Range<usize>) {
        /// Opened at once; a longer fold is opened from both of its ends.
        const STEP: usize = 20;
        let Some(lines) = self.lines_mut(file) else { return };
        if gap.len() <= 2 * STEP {
            lines.opened.push(gap);
        } else {
            lines.opened.push(gap.start..gap.start + STEP);
            lines.opened.push(gap.end - STEP..gap.end);
        }
        let row = self.window.cursor;
        self.lay_out();
        self.window.cursor = row;
        self.clamp();
    }

    /// The unchanged lines around the hunk under the cursor: more of them, or only the usual ones.
    pub(in crate::review) fn context(&mut self, more: isize) {
        const STEP: usize = 10;
        let of_file = self.file_here().and_then(|file| self.files.get_mut(file));
        if let Some(ReviewBody::Whole(whole)) = of_file.map(|file| &mut file.body) {
            if whole.show_bytes(more > 0) {
                self.lay_out();
            }
            return;
        }
        let here = self.row().and_then(|row| row.hunk());
        let near = || {
            let file = self.file_here()?;
            self.rows
                .hunks
                .iter()
                .filter(|(f, _, _)| *f == file)
                .min_by_key(|(_, _, r)| r.abs_diff(self.window.cursor))
        };
        let Some((f, h)) = here.or_else(|| near().map(|(f, h, _)| (*f, *h))) else { return };
        let Some(lines) = self.lines_mut(f) else { return };
        let Some(ReviewHunk { old, .. }) = lines.hunks.get(h).cloned() else { return };
        if more < 0 {
            let last = lines.hunks.get(h.wrapping_sub(1)).map_or(0, |before| before.old.end);
            let next = lines.hunks.get(h + 1).map_or(lines.old.len(), |after| after.old.start);
            lines.opened.retain(|r| r.end <= last || r.start >= next);
        } else {
            let grown =
                |lines: &ReviewLines, at: usize| lines.opened.iter().find(|r| r.contains(&at)).cloned();
            let above = old
                .start
                .checked_sub(4)
                .and_then(|at| grown(lines, at))
                .map_or(old.start.saturating_sub(3), |r| r.start);
            let below = grown(lines, old.end + 3).map_or(old.end + 3, |r| r.end);
            lines.opened.push(above.saturating_sub(STEP)..above);
            lines.opened.push(below.min(lines.old.len())..(below + STEP).min(lines.old.len()));
            lines.opened.retain(|r| !r.is_empty());
            join(&mut lines.opened);
        }
        self.lay_out();
    }

    pub(in crate::review) fn fold(&mut self) {
        if let Some(file) = self.file_here() {
            if !self.layout.folded.remove(&file) {
                self.layout.folded.insert(file);
            }
            self.lay_out();
            if let Some(row) = self.rows.of_file(file) {
                self.window.cursor = row;
            }
        }
    }

    /// Files whose names match, best first in their own order.
    pub(in crate::review) fn apply_filter(&mut self) {
        let found = matching(&self.files, &self.finder.filter);
        self.layout.only = (!self.finder.filter.is_empty()).then(|| found.into_iter().collect());
        self.lay_out();
    }
}

fn join(ranges: &mut Vec<std::ops::Range<usize>>) {
    ranges.sort_by_key(|r| r.start);
    let mut merged: Vec<std::ops::Range<usize>> = Vec::new();
    for range in ranges.drain(..) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    *ranges = merged;
}
