//! Which answers are asked about once more: those without a way back, and a yes to what was not all shown. The same for
//! the pane and for linear mode.

use placet_agent::QuestionChoice;
use placet_text::text::count;
use placet_tools::{ChangeOverview, DisplayDetail, FileDiff, LeftOut};
use std::collections::BTreeMap;

/// Files that are named when they were not shown; on a narrow screen only the first, so that rows are left for the files.
pub(super) const NAMED: usize = 3;
pub(super) const NAMED_NARROW: usize = 1;

/// True when one press or one line is not enough for `choice`.
pub(in crate::turn_pane) fn is_given_twice(choice: &QuestionChoice, all_shown: bool) -> bool {
    choice.twice || choice.consents && !all_shown
}

/// The message after an answer was given once. `unseen` names what was not shown, if that is known. `again` describes
/// how to give the answer, and `other` is the word for a different answer.
pub(in crate::turn_pane) fn second_words(
    choice: &QuestionChoice,
    unseen: &UnseenParts,
    again: &str,
    other: &str,
) -> String {
    if choice.twice {
        return format!("{again} again to do it; any other {other} changes nothing");
    }
    format!("{}: {again} again to do it all the same", not_all_shown(unseen))
}

/// What is asked once more where not all of it was shown.
pub(super) fn unseen_words(unseen: &UnseenParts) -> String {
    format!("{}: go ahead?", not_all_shown(unseen))
}

fn not_all_shown(unseen: &UnseenParts) -> String {
    let what = if unseen.is_empty() { "it" } else { unseen.words.as_str() };
    let were = if unseen.are_several { "were" } else { "was" };
    format!("not all of {what} {were} shown")
}

/// What was not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::turn_pane) struct UnseenParts {
    /// `src/a.rs (12 rows)`, or `src/a.rs, b.bin and 2 more files`; empty where nothing is missing, or that is not known.
    pub(in crate::turn_pane) words: String,
    are_several: bool,
}

impl UnseenParts {
    fn one(words: String) -> UnseenParts {
        UnseenParts { words, are_several: false }
    }

    pub(in crate::turn_pane) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Rows that were not on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnseenRows {
    pub(super) rows: usize,
    /// Files that have the rows together with the one that is named.
    pub(super) other_files: usize,
}

/// A file, a commit or a repository that was not all shown. How much of it is said where it is the only one.
struct UnseenFile {
    name: String,
    how_much: String,
    /// It is a file of the list.
    is_listed: bool,
}

/// What of a change set was not shown, by file, and for the files that git writes by repository. `rows` says how much of the
/// file with this number was not on the screen; at most `most` of them are named.
pub(super) fn not_shown(
    overview: &ChangeOverview,
    most: usize,
    rows: impl Fn(usize) -> UnseenRows,
) -> UnseenParts {
    let listed = |file: &FileDiff| overview.list.get(file.row);
    let mut repositories: BTreeMap<usize, usize> = BTreeMap::new();
    let mut are_several = false;
    let mut named: Vec<UnseenFile> = Vec::new();
    for (at, file) in overview.files.iter().enumerate() {
        let UnseenRows { rows, other_files } = rows(at);
        if listed(file).is_some_and(|row| row.repository.is_some()) {
            *repositories.entry(file.row).or_default() += rows;
            continue;
        }
        let others = match other_files {
            0 => String::new(),
            others => format!(" and {}", count::of(others, "other file")),
        };
        let how_much = match (rows, file.left_out) {
            (0, None) => continue,
            (rows, None) => format!(" ({})", count::of(rows, "row")),
            (_, Some(LeftOut::NotRead)) => String::new(),
            (_, Some(left_out)) => format!(" ({} bytes)", left_out.bytes()),
        };
        are_several |= other_files > 0;
        let is_listed = listed(file).is_none_or(|row| row.commit.is_none());
        named.push(UnseenFile { name: format!("{}{others}", file.name), how_much, is_listed });
    }
    for (row, rows) in repositories.into_iter().filter(|(_, rows)| *rows > 0).rev() {
        let name = overview.list.get(row).and_then(|row| row.repository.clone()).unwrap_or_default();
        let how_much = format!(" ({})", count::of(rows, "row"));
        named.insert(0, UnseenFile { name, how_much, is_listed: false });
    }
    if let [UnseenFile { name, how_much, .. }] = &*named {
        return UnseenParts { words: format!("{name}{how_much}"), are_several };
    }
    are_several |= named.len() > 1;
    let rest = named.split_off(most.min(named.len()));
    let shown: Vec<String> = named.into_iter().map(|file| file.name).collect();
    let words = match rest.len() {
        0 => shown.join(", "),
        more if rest.iter().all(|file| file.is_listed) => {
            format!("{} and {}", shown.join(", "), count::of(more, "more file"))
        }
        more => format!("{} and {more} more", shown.join(", ")),
    };
    UnseenParts { words, are_several }
}

/// What is not shown even where all rows are: parts of files that are too long.
pub(in crate::turn_pane) fn left_out(detail: &DisplayDetail) -> UnseenParts {
    match detail {
        DisplayDetail::Changes(overview) => not_shown(overview, NAMED, |_| UnseenRows::default()),
        DisplayDetail::Diff(diff) if diff.left_out > 0 => {
            UnseenParts::one(count::of(diff.left_out, "changed line"))
        }
        _ => UnseenParts::default(),
    }
}
