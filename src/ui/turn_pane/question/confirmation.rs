//! Which answers have to be given twice: those without a way back, and a yes to what was not all shown. The same for
//! the pane and for linear mode.

use crate::agent::QuestionChoice;
use crate::text::count;
use crate::tools::{ChangeOverview, DisplayDetail};

/// Files that are named when they were not shown; on a narrow screen only the first, so that rows are left for the files.
pub(super) const NAMED: usize = 3;
pub(super) const NAMED_NARROW: usize = 1;

/// True when one press or one line is not enough for `choice`.
pub(in crate::ui::turn_pane) fn is_given_twice(choice: &QuestionChoice, all_shown: bool) -> bool {
    choice.twice || choice.consents && !all_shown
}

/// The message after an answer was given once. `unseen` names what was not shown, if that is known. `again` describes
/// how to give the answer, and `other` is the word for a different answer.
pub(in crate::ui::turn_pane) fn second_words(
    choice: &QuestionChoice,
    unseen: &str,
    again: &str,
    other: &str,
) -> String {
    if choice.twice {
        return format!("{again} again to do it; any other {other} changes nothing");
    }
    let what = if unseen.is_empty() { "all of it".into() } else { format!("all of {unseen}") };
    format!("not {what} was shown: {again} again to do it unseen")
}

/// What of a change set was not shown, by file: `src/a.rs (12 rows), b.bin (70000 bytes)`. `rows` says how many rows of
/// the file with this number were not on the screen; at most `most` files are named.
pub(super) fn not_shown(overview: &ChangeOverview, most: usize, rows: impl Fn(usize) -> usize) -> String {
    let part = |(at, file): (usize, &crate::tools::FileDiff)| match (rows(at), file.left_out) {
        (0, None) => None,
        (1, None) => Some(format!("{} (1 row)", file.name)),
        (rows, None) => Some(format!("{} ({rows} rows)", file.name)),
        (_, Some(left_out)) => Some(format!("{} ({} bytes)", file.name, left_out.bytes())),
    };
    let mut named: Vec<String> = overview.files.iter().enumerate().filter_map(part).collect();
    let more = named.len().saturating_sub(most);
    named.truncate(most);
    match more {
        0 => named.join(", "),
        more => format!("{} and {}", named.join(", "), count::of(more, "more file")),
    }
}

/// What is not shown even where all rows are: parts of files that are too long.
pub(in crate::ui::turn_pane) fn left_out(detail: &DisplayDetail) -> String {
    match detail {
        DisplayDetail::Changes(overview) => not_shown(overview, NAMED, |_| 0),
        DisplayDetail::Diff(diff) if diff.left_out == 1 => "1 changed line".into(),
        DisplayDetail::Diff(diff) if diff.left_out > 1 => format!("{} changed lines", diff.left_out),
        _ => String::new(),
    }
}
