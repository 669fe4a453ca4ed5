//! The checks of a question: a row for each, and the keys that run them and show their output.

use super::any_question::{CHECK_OUTPUT, RUN_CHECKS};
use super::pane_question::PaneQuestion;
use crate::checks::{CheckRow, OutputToShow};
use crate::tools::CheckBoard;
use crate::ui::check_lines::check_lines;
use crate::ui::margin_mark;
use crate::ui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::Line;
use std::time::Instant;

impl PaneQuestion {
    /// The rows of the checks, below the title.
    pub(super) fn check_rows(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let Some(checks) = self.asked.checks() else { return Vec::new() };
        let lines = check_lines(&checks.rows(), theme, Some(Instant::now()));
        lines.iter().flat_map(|line| margin_mark::under(line, columns)).collect()
    }

    /// The keys of the checks that do something now.
    pub(super) fn check_keys(&self) -> Vec<(char, &'static str)> {
        let Some(checks) = self.asked.checks() else { return Vec::new() };
        let rows = checks.rows();
        let run = rows.iter().any(CheckRow::can_run).then_some((RUN_CHECKS, "run checks"));
        let output = OutputToShow::first(&rows).map(|_| (CHECK_OUTPUT, "output of checks"));
        run.into_iter().chain(output).collect()
    }

    /// True while a check runs: its seconds change.
    pub(in crate::ui::turn_pane) fn has_running_checks(&self) -> bool {
        self.asked.checks().is_some_and(CheckBoard::is_busy)
    }

    /// True once when the last check that ran has ended: its result was not read yet.
    pub(in crate::ui::turn_pane) fn has_new_results(&mut self) -> bool {
        let runs = self.has_running_checks();
        std::mem::replace(&mut self.had_running_checks, runs) && !runs
    }

    /// The output that the key shows.
    pub(in crate::ui::turn_pane) fn output_key(&self, key: KeyEvent) -> Option<OutputToShow> {
        let is_key = key.code == KeyCode::Char(CHECK_OUTPUT) && self.typing.is_none();
        let checks = self.asked.checks().filter(|_| is_key)?;
        OutputToShow::first(&checks.rows())
    }

    /// The key runs checks or shows their output, if no other letter follows it.
    pub(in crate::ui::turn_pane) fn is_check_key(&self, key: KeyEvent) -> bool {
        let runs = || self.asked.checks().is_some() && key.code == KeyCode::Char(RUN_CHECKS);
        self.typing.is_none() && (runs() || self.output_key(key).is_some())
    }
}
