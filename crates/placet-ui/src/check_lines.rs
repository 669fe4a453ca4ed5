//! Checks as lines of a screen: a sign, and what is known of each.

use crate::colors::theme::Theme;
use placet_checks::{CheckRow, CheckRowState, check_row_words};
use ratatui::text::{Line, Span};
use std::time::Instant;

/// Rows of checks that are shown; the others are counted.
const MOST: usize = 6;

/// The label of the theme for a state, and its sign.
fn sign(row: &CheckRow) -> (&'static str, &'static str) {
    match &row.state {
        CheckRowState::Here(_) if row.lacks_result() => ("warning", "·"),
        CheckRowState::Here(result) if result.passed() => ("accepted", "✓"),
        CheckRowState::Here(_) | CheckRowState::Impossible(_) => ("error", "✗"),
        CheckRowState::Running { .. } | CheckRowState::Waiting | CheckRowState::Looking => ("status", "…"),
        CheckRowState::NotRun | CheckRowState::Earlier { .. } => ("warning", "·"),
    }
}

/// One row for each check. Without motion, a run has no seconds.
pub(super) fn check_lines(rows: &[CheckRow], theme: &Theme, now: Option<Instant>) -> Vec<Line<'static>> {
    let line = |row: &CheckRow| {
        let (label, sign) = sign(row);
        let text = check_row_words(row, now);
        Line::from(vec![Span::styled(sign, theme.style(label)), Span::raw(format!(" {text}"))])
    };
    let mut lines: Vec<Line<'static>> = rows.iter().take(MOST).map(line).collect();
    if rows.len() > MOST {
        lines.push(Line::raw(format!("  {} more checks", rows.len() - MOST)));
    }
    lines
}
