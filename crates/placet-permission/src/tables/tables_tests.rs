//! Each row of each table: lines that it matches, similar lines that it does not match, and the verdicts.

use super::lists::{DangerTable, FamilyTable, FileTable, ReadOnlyTable};
use super::row::CommandRow;
use super::variables::VariableTable;
use super::*;
use crate::command::{CommandSegment, GitCommand, ShellParseContext, WrapperKind, parse};
use crate::{CommandDanger, ProtectedPaths, danger_of, grant_pattern, read_only};
use std::path::{Path, PathBuf};

fn segments(line: &str) -> Vec<CommandSegment> {
    let at = ShellParseContext { cwd: Path::new("/h/w"), home: Some(Path::new("/h")) };
    let segments = parse(line, at).unwrap_or_else(|e| panic!("{line}: {e}"));
    segments.iter().flat_map(CommandSegment::all).cloned().collect()
}

fn matches_line(row: &CommandRow, line: &str) -> bool {
    segments(line).iter().any(|s| s.program().is_some_and(|name| row.matches(name, s.arguments())))
}

fn danger(line: &str) -> Option<CommandDanger> {
    let roots = [PathBuf::from("/h/w")];
    danger_of(line, Path::new("/h/w"), Some(Path::new("/h")), &roots, &ProtectedPaths::default())
}

/// What the commands of a line read; `None` if a command does more than read.
fn reads(line: &str) -> Option<Vec<read_only::CommandReads>> {
    let runs_more = |s: &&CommandSegment| s.inner.is_empty() || s.carrier == WrapperKind::Itself;
    segments(line).iter().filter(runs_more).map(read_only::reads).collect()
}

fn has_examples(row: &CommandRow) -> bool {
    !row.programs.is_empty() && !row.examples.is_empty() && !row.not.is_empty()
}

#[test]
fn each_dangerous_row_matches_its_examples_only() {
    let table: DangerTable = toml::from_str(include_str!("dangerous.toml")).unwrap_or_else(|e| panic!("{e}"));
    assert!(table.dangerous.len() > 60);
    for row in &table.dangerous {
        assert!(has_examples(row), "{row:?}");
        for line in &row.examples {
            let first = table.dangerous.iter().find(|other| matches_line(other, line));
            assert!(first.is_some_and(|first| std::ptr::eq(first, row)), "{line}: {first:?}");
            let what = danger(line).unwrap_or_else(|| panic!("{line}")).what;
            let says = row.does.as_deref().unwrap_or("destroys");
            assert!(row.guarded || what.contains(says), "{line}: {what}");
        }
        for line in &row.not {
            assert!(row.guarded || !matches_line(row, line), "{line}");
            assert_eq!(danger(line), None, "{line}");
        }
    }
}

#[test]
fn each_read_only_row_matches_its_examples_only() {
    let table: ReadOnlyTable =
        toml::from_str(include_str!("read_only.toml")).unwrap_or_else(|e| panic!("{e}"));
    assert!(table.talk.len() > 40 && table.look.len() > 50 && table.refused.len() > 20);
    for row in table.walks.iter().chain(&table.reads).chain(&table.refused) {
        assert!(has_examples(row), "{row:?}");
    }
    for row in &table.walks {
        let is_wide = |line: &String| reads(line).unwrap_or_else(|| panic!("{line}")).iter().any(|r| r.more);
        assert!(row.examples.iter().all(|line| matches_line(row, line) && is_wide(line)), "{row:?}");
        assert!(!row.not.iter().any(|line| matches_line(row, line) || is_wide(line)), "{row:?}");
    }
    for row in &table.reads {
        for line in &row.examples {
            assert!(matches_line(row, line) && reads(line).is_some(), "{line}");
        }
        for line in &row.not {
            assert!(!matches_line(row, line) && reads(line).is_none(), "{line}");
        }
    }
    for row in &table.refused {
        let refuses = |line: &str| {
            segments(line).iter().any(|s| {
                let git = GitCommand::read(s.arguments()).filter(|_| s.program() == Some("git"));
                let words = git.map_or(s.arguments(), |git| git.rest);
                s.program().is_some_and(|name| row.matches(name, words))
            })
        };
        assert!(row.does.is_some(), "{row:?}");
        for program in &row.programs {
            let is_known = table.talk.iter().chain(&table.look).any(|name| name == program);
            assert!(is_known || program == "git", "{program}");
        }
        for line in &row.examples {
            assert!(refuses(line) && reads(line).is_none(), "{line}");
        }
        for line in &row.not {
            assert!(!refuses(line) && reads(line).is_some(), "{line}");
        }
    }
}

#[test]
fn each_family_has_a_pattern_for_its_examples_only() {
    let table: FamilyTable = toml::from_str(include_str!("families.toml")).unwrap_or_else(|e| panic!("{e}"));
    assert!(table.family.len() > 20);
    let pattern = |line: &str| segments(line).last().and_then(grant_pattern::of);
    for row in &table.family {
        assert!(!row.examples.is_empty() && !row.not.is_empty(), "{row:?}");
        for line in &row.examples {
            let is_own = |s: &CommandSegment| s.program().is_some_and(|name| is_listed(&row.programs, name));
            assert!(segments(line).last().is_some_and(is_own), "{line}");
            assert!(pattern(line).is_some(), "{line}");
        }
        for line in &row.not {
            assert_eq!(pattern(line), None, "{line}");
        }
        // No earlier row hides this row.
        for name in &row.programs {
            let name = name.trim_end_matches('*');
            let first = table.family.iter().find(|other| is_listed(&other.programs, name));
            assert!(first.is_some_and(|first| std::ptr::eq(first, row)), "{name}");
        }
    }
}

#[test]
fn each_row_of_writing_programs_matches_its_examples_only() {
    let table: FileTable = toml::from_str(include_str!("files.toml")).unwrap_or_else(|e| panic!("{e}"));
    for row in &table.writes {
        assert!(has_examples(row), "{row:?}");
        assert!(row.examples.iter().all(|line| matches_line(row, line)), "{row:?}");
        assert!(!row.not.iter().any(|line| matches_line(row, line)), "{row:?}");
    }
}

#[test]
fn an_invalid_table_makes_nothing_harmless() {
    assert!(toml::from_str::<VariableTable>(include_str!("variables.toml")).is_ok());
    for broken in ["", "x = ", "[[dangerous]]\nprograms = ['rm']\ncolour = 'red'", "writes = []"] {
        let danger = DangerTable::read(broken).dangerous;
        assert!(danger.iter().any(|row| matches_line(row, "ls")), "{broken}");
        assert!(FileTable::read(broken).writes.iter().any(|row| matches_line(row, "ls")), "{broken}");
        assert!(VariableTable::read(broken).steers("x"), "{broken}");
        assert!(toml::from_str::<ReadOnlyTable>(broken).unwrap_or_default().look.is_empty(), "{broken}");
    }
}
