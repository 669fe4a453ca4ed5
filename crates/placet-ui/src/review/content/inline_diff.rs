//! What changed inside the lines of a hunk: computed when the hunk is first drawn, and cached.

use super::file::ReviewLines;
use super::side_text::{LineTerminator, SideText};
use placet_text::text::word_diff;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Which lines of a hunk are versions of each other, and what changed inside them. Computed at the first drawing.
#[derive(Default)]
pub struct InlineDiffCache(RefCell<HashMap<(usize, usize), Rc<LinePairs>>>);

#[derive(Default)]
pub(in crate::review) struct LinePairs {
    /// By the changed line's number in its hunk.
    changes: RefCell<HashMap<usize, Rc<Vec<Range<usize>>>>>,
    partner: HashMap<usize, usize>,
}

/// Hunks whose pairs are cached.
const KEPT: usize = 400;

impl InlineDiffCache {
    /// Drops everything: the hunks have changed.
    pub fn forget(&self) {
        self.0.borrow_mut().clear();
    }

    fn pairs(&self, f: usize, h: usize, lines: &ReviewLines) -> Option<Rc<LinePairs>> {
        if let Some(known) = self.0.borrow().get(&(f, h)) {
            return Some(Rc::clone(known));
        }
        let hunk = lines.hunks.get(h)?;
        let removed = hunk.old.len();
        let mut pairs = LinePairs::default();
        let old: Vec<&str> = hunk.old.clone().map(|n| lines.old.line(n)).collect();
        let new: Vec<&str> = hunk.new.clone().map(|n| lines.new.line(n)).collect();
        for (a, b) in word_diff::pairs(&old, &new) {
            pairs.partner.insert(a, removed + b);
            pairs.partner.insert(removed + b, a);
        }
        let mut kept = self.0.borrow_mut();
        if kept.len() >= KEPT {
            kept.clear();
        }
        let pairs = Rc::new(pairs);
        kept.insert((f, h), Rc::clone(&pairs));
        Some(pairs)
    }

    /// The bytes of a changed line that its other version does not have.
    pub(in crate::review) fn changes(
        &self,
        f: usize,
        h: usize,
        n: usize,
        lines: &ReviewLines,
    ) -> Option<Rc<Vec<Range<usize>>>> {
        let pairs = self.pairs(f, h, lines)?;
        if let Some(known) = pairs.changes.borrow().get(&n) {
            return Some(Rc::clone(known));
        }
        let other = *pairs.partner.get(&n)?;
        let hunk = lines.hunks.get(h)?;
        let removed = hunk.old.len();
        let (a, b) = (n.min(other), n.max(other));
        let (old, new) = (hunk.old.start + a, hunk.new.start + b.checked_sub(removed)?);
        let (old_text, new_text) = (ended(&lines.old, old), ended(&lines.new, new));
        let changed = word_diff::changed(&old_text, &new_text)?;
        let mut known = pairs.changes.borrow_mut();
        known.insert(a, Rc::new(changed.old));
        known.insert(b, Rc::new(changed.new));
        known.get(&n).map(Rc::clone)
    }
}

/// The line with a sign for its end, so that a change of the end alone is a change.
fn ended(doc: &SideText, line: usize) -> String {
    let sign = match doc.end(line) {
        LineTerminator::CrLf => "\r",
        LineTerminator::Lf => "",
        LineTerminator::None => "",
    };
    format!("{}{sign}", doc.line(line))
}
