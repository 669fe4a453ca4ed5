//! What is decided at once: a file, a hunk, or some of its lines.

use super::file::ReviewDecision;

/// What is decided at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::review) enum DecisionUnit {
    Whole(usize),
    Hunk(usize, usize),
    /// Some of a hunk's lines.
    Lines(usize, usize, Vec<usize>),
}

/// One thing to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewItem {
    pub file: usize,
    /// 0 for a whole.
    pub hunk: usize,
}

impl DecisionUnit {
    pub(in crate::review) fn file(&self) -> usize {
        match self {
            DecisionUnit::Whole(file) | DecisionUnit::Hunk(file, _) | DecisionUnit::Lines(file, _, _) => {
                *file
            }
        }
    }
}

/// What became of these units: `accepted 2 hunks, 1 line`.
pub(in crate::review) fn words(units: &[DecisionUnit], mark: ReviewDecision) -> String {
    let done = match mark {
        ReviewDecision::Accepted => "accepted",
        ReviewDecision::Rejected => "rejected",
        ReviewDecision::Open => "undecided again:",
    };
    let lines: usize =
        units.iter().map(|u| if let DecisionUnit::Lines(_, _, ns) = u { ns.len() } else { 0 }).sum();
    let hunks = units.iter().filter(|u| matches!(u, DecisionUnit::Hunk(..))).count();
    let wholes = units.iter().filter(|u| matches!(u, DecisionUnit::Whole(_))).count();
    let counted = |n: usize, word: &str| match n {
        0 => None,
        1 => Some(format!("1 {word}")),
        n => Some(format!("{n} {word}s")),
    };
    let parts: Vec<String> = [counted(hunks, "hunk"), counted(wholes, "file"), counted(lines, "line")]
        .into_iter()
        .flatten()
        .collect();
    format!("{done} {}", parts.join(", "))
}
