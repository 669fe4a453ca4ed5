//! The checks of a question: a row for each.

use super::pane_question::PaneQuestion;
use crate::check_lines::check_lines;
use crate::colors::theme::Theme;
use crate::lines::margin_mark;
use ratatui::text::Line;
use std::time::Instant;

impl PaneQuestion {
    /// The rows of the checks, below the title.
    pub(super) fn check_rows(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let Some(checks) = self.asked.checks() else { return Vec::new() };
        let lines = check_lines(&checks.rows(), theme, Some(Instant::now()));
        lines.iter().flat_map(|line| margin_mark::under(line, columns)).collect()
    }
}
