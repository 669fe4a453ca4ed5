//! What the workspace has now where the agent changed a line and somebody else changed the same line.
//!
//! The review compares the agent's change with the file from which the agent started. Where the file changed in the
//! meantime and the two changes cannot be merged, the person needs to see the third version too.

use super::file::{MeanwhileChange, ReviewLines};
use crate::text::hunk;
use crate::text::visible::{LineBreaks, visible};

/// Lines that are shown of one place.
const SHOWN: usize = 20;
/// Contents that are compared, in bytes: two that have nothing in common take long.
const LARGEST: usize = 4 << 20;

/// How the change of a file and what happened to the file in the meantime fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeOutlook {
    /// Placet merges both changes.
    Merged,
    /// The same lines changed.
    Conflict,
    /// The contents are too large to be compared here.
    Unknown,
}

impl ReviewLines {
    /// Compares with the file in the workspace, which is not the old side any more. In a conflict the hunks concerned
    /// show both.
    pub fn compare_with_workspace(&mut self, now: &[u8]) -> MergeOutlook {
        let (old, new) = (self.old.bytes(0..self.old.len()), self.new.bytes(0..self.new.len()));
        if old.len() + new.len() + now.len() > LARGEST {
            return MergeOutlook::Unknown;
        }
        if hunk::merged(old, now, new).is_some() {
            return MergeOutlook::Merged;
        }
        let changes = hunk::hunks(old, now).into_iter().map(|change| MeanwhileChange {
            rows: rows(now.get(change.new).unwrap_or_default(), change.new_lines.start + 1),
            old: change.old_lines,
        });
        self.meanwhile = changes.collect();
        MergeOutlook::Conflict
    }

    /// The rows of what changed in the workspace in the lines of a hunk, or directly next to them.
    pub(super) fn meanwhile_rows(&self, hunk: usize) -> impl Iterator<Item = &str> {
        let of = self.hunks.get(hunk).map(|hunk| &hunk.old);
        let touches = move |change: &&MeanwhileChange| {
            of.is_some_and(|of| change.old.start <= of.end && of.start <= change.old.end)
        };
        self.meanwhile.iter().filter(touches).flat_map(|change| change.rows.iter().map(String::as_str))
    }
}

/// A title, and below it the lines; `first` is the number of the first one.
fn rows(now: &[u8], first: usize) -> Vec<String> {
    if now.is_empty() {
        return vec!["in the workspace now: these lines are deleted".into()];
    }
    let lines: Vec<&[u8]> = now.split_inclusive(|byte| *byte == b'\n').collect();
    let shown = lines.iter().take(SHOWN).map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        format!("│ {}", visible(line.strip_suffix(b"\r").unwrap_or(line), LineBreaks::Shown))
    });
    let mut rows = vec![match lines.len() {
        1 => format!("in the workspace now, line {first}:"),
        count => format!("in the workspace now, lines {first} to {}:", first + count - 1),
    }];
    rows.extend(shown);
    rows.extend((lines.len() > SHOWN).then(|| format!("│ and {} more lines", lines.len() - SHOWN)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::review::SideText;

    fn lines(old: &str, new: &str) -> ReviewLines {
        let side = |text: &str| SideText::new(text.as_bytes().to_vec()).unwrap();
        ReviewLines::new(side(old), side(new))
    }

    #[test]
    fn only_hunks_whose_lines_changed_in_the_workspace_show_what_is_there() {
        let mut lines = lines("a\nb\nc\nd\ne\nf\n", "A\nb\nc\nd\nE\nf\n");
        assert_eq!(lines.compare_with_workspace(b"a\nb\nc\nd\nmine\nf\n"), MergeOutlook::Conflict);
        assert_eq!(lines.meanwhile_rows(0).count(), 0);
        let rows: Vec<&str> = lines.meanwhile_rows(1).collect();
        assert_eq!(rows, ["in the workspace now, line 5:", "│ mine"]);
    }

    #[test]
    fn changes_of_other_lines_are_merged() {
        let mut lines = lines("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n");
        assert_eq!(lines.compare_with_workspace(b"a\nb\nc\nd\nmine\n"), MergeOutlook::Merged);
        assert_eq!(lines.meanwhile_rows(0).count(), 0);
    }
}
