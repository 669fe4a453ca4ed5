//! What the row of an operation in progress says of it: what it merges or picks, and where it returns when it is given up.

use super::event_words::{number_more, quoted, short};
use crate::text::{count, visible};
use std::path::PathBuf;

/// A commit by its short name, with a branch or a tag that leads to it, or its subject. Hostile until rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCommit {
    pub id: String,
    /// The full name of a ref.
    pub on: Option<PathBuf>,
    pub subject: String,
}

impl NamedCommit {
    /// `topic (1a2b3c4)`, or `1a2b3c4 "Subject"`.
    pub(super) fn words(&self) -> String {
        match &self.on {
            Some(on) => format!("{} ({})", short(on), self.id),
            None if self.subject.is_empty() => self.id.clone(),
            None => format!("{} {}", self.id, quoted(&self.subject)),
        }
    }
}

/// One fact of an operation that the command began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationFact {
    /// What is merged, picked or reverted.
    Of(Vec<NamedCommit>),
    /// A rebase of this branch; `None` for a detached `HEAD`.
    Onto {
        branch: Option<PathBuf>,
        onto: NamedCommit,
    },
    StoppedAt(NamedCommit),
    /// Commits that come after the one at which it stopped, the first of them by name.
    Left {
        number: usize,
        named: Vec<NamedCommit>,
        /// They are commits of the branch that is rebased: their subjects are enough.
        is_of_branch: bool,
    },
    /// The list of its steps is empty or gone: git refuses to continue.
    NoSteps {
        is_missing: bool,
    },
    /// The patch that `git am` applies next. Some before it made no commit, and some from it on do not exist.
    Patch {
        next: usize,
        last: usize,
        /// The subject of its mail.
        subject: Option<String>,
        left_out: usize,
        missing: usize,
    },
    /// A rebase that is given up puts the branch at another commit than that at which it is.
    AbortMoves {
        branch: PathBuf,
        to: NamedCommit,
    },
    /// The command that gives it up goes to another place than that at which the operation began.
    AbortGoesTo(NamedCommit),
    /// The same for `git bisect reset`, with the text of the file.
    ResetGoesTo(String),
    /// `git am --abort` removes the branch where it finds no commit to return to.
    AbortDeletesBranch,
    /// Options for its next commands.
    Options(Vec<&'static str>),
}

impl OperationFact {
    /// The command that gives the operation up takes commits from a branch. `git bisect reset` moves no branch.
    pub(super) fn is_other_place(&self) -> bool {
        matches!(
            self,
            OperationFact::AbortMoves { .. }
                | OperationFact::AbortGoesTo(_)
                | OperationFact::AbortDeletesBranch
        )
    }

    fn words(&self) -> String {
        match self {
            OperationFact::Of(commits) => {
                commits.iter().map(NamedCommit::words).collect::<Vec<_>>().join(", ")
            }
            OperationFact::Onto { branch: Some(branch), onto } => {
                format!("{} onto {}", short(branch), onto.words())
            }
            OperationFact::Onto { branch: None, onto } => format!("detached HEAD onto {}", onto.words()),
            OperationFact::StoppedAt(commit) => format!("stopped at {}", commit.words()),
            OperationFact::Left { number, named, is_of_branch } => {
                let name = |commit: &NamedCommit| match is_of_branch {
                    true => quoted(&commit.subject),
                    false => commit.words(),
                };
                let more = match number.saturating_sub(named.len()) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let names = named.iter().map(name).collect::<Vec<_>>().join(", ");
                format!("{} left: {names}{more}", count::of(*number, "commit"))
            }
            OperationFact::NoSteps { is_missing: true } => "its list of steps is missing".into(),
            OperationFact::NoSteps { is_missing: false } => "its list of steps is empty".into(),
            OperationFact::Patch { next, last, subject, left_out, missing } => {
                let left_out = match left_out {
                    0 => String::new(),
                    number => format!(", {} left out", count::of(*number, "patch")),
                };
                let missing = match missing {
                    0 => String::new(),
                    number => format!(", {} missing", count::of(*number, "patch")),
                };
                let subject = subject.as_ref().map(|subject| format!(": {}", quoted(subject)));
                format!("patch {next} of {last}{}{left_out}{missing}", subject.unwrap_or_default())
            }
            OperationFact::AbortMoves { branch, to } => {
                format!("abort moves {} to {}", short(branch), to.words())
            }
            OperationFact::AbortGoesTo(commit) => format!("abort goes to {}", commit.words()),
            OperationFact::ResetGoesTo(text) => {
                format!("git bisect reset goes to {}", visible::guard_line(text))
            }
            OperationFact::AbortDeletesBranch => "abort deletes the branch".into(),
            OperationFact::Options(options) => format!("with {}", options.join(", ")),
        }
    }
}

/// The commits of one word: `good`, `bad`, `skip`, or those that the person chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BisectMark {
    pub(super) word: String,
    pub(super) is_removed: bool,
    pub(super) number: usize,
    pub(super) named: Vec<NamedCommit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BisectMarks {
    pub(super) marks: Vec<BisectMark>,
    /// Commits among which the first bad one is.
    pub(super) left: Option<usize>,
}

impl BisectMarks {
    /// `3 commits left, bad 1a2b3c4 "SUBJECT", good ...`
    pub(super) fn words(&self) -> String {
        let left = self.left.map(|number| format!("{} left", count::of(number, "commit")));
        let mark = |mark: &BisectMark| {
            let no = if mark.is_removed { "no longer " } else { "" };
            let named: Vec<String> = mark.named.iter().map(NamedCommit::words).collect();
            let more = number_more(mark.number, mark.named.len());
            format!("{no}{} {}{more}", visible::guard_line(&mark.word), named.join(", "))
        };
        left.into_iter().chain(self.marks.iter().map(mark)).collect::<Vec<_>>().join(", ")
    }
}

/// What follows `merge in progress`: `: topic (1a2b3c4)`.
pub(super) fn facts_words(facts: &[OperationFact]) -> String {
    match facts {
        [] => String::new(),
        facts => format!(": {}", facts.iter().map(OperationFact::words).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_the_operation_does_next() {
        let named = |name: &str| NamedCommit {
            id: "1a2b3c4".into(),
            on: Some(PathBuf::from(format!("refs/heads/{name}"))),
            subject: "S".into(),
        };
        let bare = NamedCommit { on: None, subject: "x\u{1b}[2J".into(), ..named("x") };
        let bare_of = |subject: &str| NamedCommit { on: None, subject: subject.into(), ..named("x") };
        let cases: &[(&[OperationFact], &str)] = &[
            (&[], ""),
            (
                &[OperationFact::Of(vec![named("topic"), named("other")])],
                ": topic (1a2b3c4), other (1a2b3c4)",
            ),
            (
                &[
                    OperationFact::Onto { branch: Some("refs/heads/topic".into()), onto: named("main") },
                    OperationFact::AbortMoves { branch: "refs/heads/topic".into(), to: named("older") },
                    OperationFact::Options(vec!["signoff", "ignore_date"]),
                ],
                ": topic onto main (1a2b3c4), abort moves topic to older (1a2b3c4), with signoff, ignore_date",
            ),
            (
                &[OperationFact::Patch {
                    next: 2,
                    last: 3,
                    subject: Some("A".into()),
                    left_out: 1,
                    missing: 0,
                }],
                ": patch 2 of 3: \"A\", 1 patch left out",
            ),
            (
                &[OperationFact::Patch { next: 1, last: 3, subject: None, left_out: 0, missing: 0 }],
                ": patch 1 of 3",
            ),
            (
                &[OperationFact::Left { number: 3, named: vec![bare_of("A, \"b")], is_of_branch: true }],
                ": 3 commits left: \"A, \"b\" and 2 more",
            ),
            (
                &[OperationFact::Left { number: 1, named: vec![bare_of("A")], is_of_branch: false }],
                ": 1 commit left: 1a2b3c4 \"A\"",
            ),
        ];
        for (facts, words) in cases {
            assert_eq!(facts_words(facts), *words);
        }
        assert!(!facts_words(&[OperationFact::Of(vec![bare])]).contains('\u{1b}'));
        assert!(!facts_words(&[OperationFact::ResetGoesTo("a\u{1b}[2Jb".into())]).contains('\u{1b}'));
    }
}
