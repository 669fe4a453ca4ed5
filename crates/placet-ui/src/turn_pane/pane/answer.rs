//! The answer and the thinking of the model while they arrive.

use crate::colors::theme::Theme;
use crate::lines::margin_mark;
use crate::lines::markdown_stream::MarkdownStream;
use crate::lines::prose::ProseWidth;
use crate::lines::wrap::wrap;
use placet_text::text::visible;
use ratatui::text::Line;
use std::time::Instant;

/// What the model said since its last call.
#[derive(Default)]
pub(super) struct PaneAnswer {
    stream: MarkdownStream,
    thinking: Option<(Instant, String)>,
    /// There is text of the answer above.
    spoke: bool,
    /// There was a call since the last text.
    worked: bool,
    /// Blanks of an answer that has no other text yet.
    blanks: String,
    /// The blank line after the answer is written once the question below it is answered.
    pub(super) owes_blank: bool,
    /// Rows of the scrollback since the last call: the answer, and the lines below it.
    pub(super) rows: usize,
}

impl PaneAnswer {
    /// An answer of which so many rows are in the scrollback.
    pub(super) fn below(rows: usize) -> PaneAnswer {
        PaneAnswer { rows, ..PaneAnswer::default() }
    }

    /// Takes in text; returns the lines that are finished. Some models send a blank or a line end before each call: that is no
    /// text, and has no rows.
    pub(super) fn take(&mut self, text: String, theme: &Theme, width: ProseWidth) -> Vec<Line<'static>> {
        let text = if self.spoke { text } else { std::mem::take(&mut self.blanks) + &text };
        if !self.spoke && text.trim().is_empty() {
            self.blanks = text;
            return Vec::new();
        }
        let mut lines = Vec::new();
        if !std::mem::replace(&mut self.spoke, true) && std::mem::take(&mut self.worked) {
            lines.push(Line::default());
        }
        lines.extend(self.stream.push(&text, theme, width));
        lines
    }

    pub(super) fn think(&mut self, text: &str, now: Instant) {
        let clean = visible::prose(text);
        self.thinking.get_or_insert((now, String::new())).1.push_str(&clean);
    }

    /// A call ended: the text after it is set off from it.
    pub(super) fn note_call(&mut self) {
        self.worked = true;
    }

    pub(super) fn end(&mut self, theme: &Theme, width: ProseWidth) -> Vec<Line<'static>> {
        let had_text = std::mem::take(&mut self.spoke);
        self.blanks.clear();
        let mut lines = self.stream.finish(theme, width);
        if had_text {
            lines.push(Line::default());
        }
        lines
    }

    /// The line that stays of thinking; what was thought, too, where it is shown at length.
    pub(super) fn end_thinking(&mut self, now: Instant, theme: &Theme, expanded: bool) -> Vec<Line<'static>> {
        let Some((since, text)) = self.thinking.take() else { return Vec::new() };
        let words = text.split_whitespace().count();
        let seconds = now.saturating_duration_since(since).as_secs();
        let style = theme.style("thinking");
        let mut lines = Vec::new();
        if expanded {
            lines.extend(text.trim().lines().map(|line| Line::styled(line.to_string(), style)));
        }
        let thought = Line::styled(format!("thought for {seconds} s ({words} words)"), style);
        lines.push(margin_mark::line(thought, theme));
        lines
    }

    /// The last rows of what is thought, at most `most`.
    pub(super) fn thinking_rows(&self, most: usize, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let Some((_, text)) = &self.thinking else { return Vec::new() };
        let style = theme.style("thinking");
        let lines = text.lines().rev().filter(|l| !l.trim().is_empty()).take(most);
        let wrapped = lines.map(|l| wrap(&Line::styled(l.to_string(), style), columns));
        let last = wrapped.flat_map(|l| l.into_iter().rev()).take(most);
        let mut last: Vec<_> = last.map(|row| margin_mark::clear_margin(row, columns)).collect();
        last.reverse();
        last
    }

    /// The rows of the text whose line or block has no end yet.
    pub(super) fn open_rows(&self, theme: &Theme, width: ProseWidth, columns: usize) -> Vec<Line<'static>> {
        if self.stream.is_empty() {
            return Vec::new();
        }
        let tail = self.stream.tail(theme, width);
        let wrapped = tail.iter().flat_map(|line| wrap(line, columns));
        wrapped.map(|row| margin_mark::clear_margin(row, columns)).collect()
    }
}
