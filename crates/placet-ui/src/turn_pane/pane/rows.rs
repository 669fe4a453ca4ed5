//! The pane's rows: what arrives, what runs, what is queued, the status, and the line that is typed.
//!
//! Everything is laid out again for each frame from the state in [`TurnPane`]; the painter writes what differs.

use super::TurnPane;
use super::calls::CallRowsSpace;
use super::elapsed_time::clock;
use crate::input::enter_guard::HALF_SECOND;
use crate::lines::margin_mark;
use crate::token_counts;
use crate::turn_pane::question::{LineState, PaneQuestion};
use crate::turn_pane::status::mode_label;
use placet_agent::{QueuedMessage, SendTiming, is_command};
use placet_permission::{ClassificationLevel, Mode, PlanModeState};
use placet_text::text::{count, visible, width};
use placet_tools::{TodoItem, TodoStatus, todo_lines};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::time::Instant;

/// Rows of thinking, and of a command's output, when they are shown at length.
const TALL_TAIL: usize = 20;
/// Queued lines shown at most; the newest of them.
const MOST_QUEUED: usize = 5;
/// Rows from which on a rule separates a question from what is above it.
const RULED: usize = 18;
/// Below so many rows the status row makes way for what is asked.
const LOW_PANE: usize = 14;
/// Steps of the model's list.
const MOST_TODOS: usize = 5;

/// One frame of the pane, laid out.
pub struct TurnPaneFrame {
    rows: Vec<Line<'static>>,
    /// The column of the cursor in the last row; `None` where nothing is typed.
    column: Option<usize>,
    /// The rows of the question's body, and how many of them are in the frame.
    asked: Option<(usize, usize)>,
}

impl TurnPaneFrame {
    pub fn height(&self) -> u16 {
        u16::try_from(self.rows.len()).unwrap_or(u16::MAX)
    }

    /// Draws the frame; returns the position of the cursor, if it is shown.
    pub fn draw(&self, buffer: &mut Buffer, area: Rect) -> Option<(u16, u16)> {
        // In a pane that became too low the last rows matter: the line that is typed in.
        let skip = self.rows.len().saturating_sub(usize::from(area.height));
        for (y, row) in (0..area.height).zip(self.rows.iter().skip(skip)) {
            set_line(buffer, (area.x, area.y + y), row, area.width);
        }
        let column = u16::try_from(self.column?).unwrap_or(0).min(area.width.saturating_sub(1));
        Some((column, area.height.saturating_sub(1)))
    }
}

/// As [`Buffer::set_line`], which looks for the limits of graphemes everywhere: half the time of a frame while an answer
/// streams. Printable ASCII has one column for each byte.
fn set_line(buffer: &mut Buffer, (mut x, y): (u16, u16), line: &Line, columns: u16) {
    let end = x.saturating_add(columns);
    for span in line {
        let style = line.style.patch(span.style);
        let text = &*span.content;
        if !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            x = buffer.set_stringn(x, y, text, usize::from(end.saturating_sub(x)), style).0;
            continue;
        }
        for character in text.chars() {
            let Some(cell) = buffer.cell_mut((x, y)).filter(|_| x < end) else { break };
            cell.set_char(character).set_style(style);
            x += 1;
        }
    }
}

impl TurnPane {
    /// `picture` is on the screen since `now`.
    pub fn shown(&mut self, picture: &TurnPaneFrame, now: Instant) {
        let at = self.since_start(now);
        if let (Some(open), Some(figures)) = (&mut self.question, picture.asked) {
            let stands = self.size_since.is_none_or(|since| now.duration_since(since) >= HALF_SECOND);
            open.drawn(figures, stands, at);
        }
    }

    /// The pane as it looks at `now` in at most `room` rows.
    pub fn picture(&mut self, mode: Mode, room: u16, now: Instant) -> TurnPaneFrame {
        let room = usize::from(room.max(1));
        let at = self.since_start(now);
        self.question.iter_mut().for_each(|open| open.note_checks(at));
        let mut line = self.line_state(now);
        let asked = self.question.as_ref();
        let wants_text = asked.is_some_and(PaneQuestion::wants_text);
        let lead = if wants_text { "question" } else { "prompt" };
        let has_line = !self.facts.questions_only || wants_text || !self.line.field.is_empty();
        let (text, column) = self.line.field.view(self.columns.saturating_sub(2));
        let column = column + 2;
        let composer = Line::from(vec![Span::styled("> ", self.theme.style(lead)), Span::raw(text)]);
        let lists: Vec<Line<'static>> = self.todo_rows().into_iter().chain(self.queue_rows()).collect();
        let mut rest: Vec<Line<'static>> = Vec::new();
        if self.facts.questions_only {
            rest.extend(has_line.then_some(composer));
        } else {
            // Where a difference needs each row, the state of a turn that is over can wait.
            if room >= LOW_PANE || mode != Mode::Ask || asked.is_none_or(|open| !open.is_about_changes()) {
                rest.push(self.status_row(mode, now));
                if asked.is_some() && line == LineState::Text {
                    line = LineState::TextSaidBelow;
                }
            }
            rest.push(composer);
        }
        let mut asked = None;
        if let Some(open) = &mut self.question {
            open.note_cut(0);
            // What was answered stays in view above the question, as far as that leaves it three quarters.
            let answer = if open.is_about_changes() { self.answer.rows.min(room / 4) } else { 0 };
            // In a conversation without an answer there is nothing from which changes would have to be set off. At the end
            // of a program its own output is above them.
            let has_above = answer > 0 || open.is_about_changes() == self.facts.questions_only;
            let is_ruled = room >= RULED && has_above;
            let rule = is_ruled.then(|| Line::styled("─".repeat(self.columns), self.theme.style("rule")));
            // The rule takes the place of a row of the answer, where there is one, and both make way for changes: the row
            // above the pane has the last line of the answer.
            let above = answer.max(usize::from(rule.is_some()));
            let has_status = rest.len() > 1 && line != LineState::TextSaidBelow;
            // A mode that applies changes without a question is always on the screen.
            let may_go = usize::from(has_status && open.is_about_changes() && mode == Mode::Ask);
            let spare = above + may_go;
            let laid_out = |open: &mut PaneQuestion, others: usize| {
                let least = (room.saturating_sub(others + above).max(4), spare);
                open.rows(&self.theme, self.columns, least, line)
            };
            let (mut rows, mut total, mut fits) = laid_out(open, lists.len() + rest.len());
            // What a yes is about comes before what waits.
            let has_lists = rows.len() + lists.len() + rest.len() <= room;
            if !has_lists && !lists.is_empty() {
                (rows, total, fits) = laid_out(open, rest.len());
            }
            if may_go > 0 && rows.len() + rest.len() > room {
                rest.remove(0);
            }
            open.note_cut((rows.len() + rest.len()).saturating_sub(room));
            // In three rows what is wrong matters more than what runs.
            if open.is_too_small() && rest.len() > 1 && rest.len() >= room {
                rest.remove(0);
            }
            if let Some(instead) =
                open.rows_without_room(&self.theme, (self.columns, room.saturating_sub(rest.len())), line)
            {
                rows = instead;
            } else if rows.len() + rest.len() < room {
                rows.splice(..0, rule);
            }
            asked = Some((total, fits));
            rows.extend(lists.into_iter().filter(|_| has_lists));
            rows.append(&mut rest);
            rest = rows;
        } else {
            rest.splice(..0, lists);
        }
        let mut rows = self.work_rows(room.saturating_sub(rest.len()), now);
        rows.append(&mut rest);
        let excess = rows.len().saturating_sub(room);
        rows.drain(..excess);
        let column = has_line.then_some(column);
        TurnPaneFrame { rows, column, asked }
    }

    /// The model's list of steps: the steps around the current one, or all of them in the expanded view. Finished steps
    /// are not shown.
    fn todo_rows(&self) -> Vec<Line<'static>> {
        let todos = &self.facts.todos;
        if todos.iter().all(|item| item.status == TodoStatus::Done) {
            return Vec::new();
        }
        let most = if self.facts.expanded { TALL_TAIL } else { MOST_TODOS };
        let at = todos.iter().position(|item| item.status != TodoStatus::Done).unwrap_or(0);
        let from = at.saturating_sub(1).min(todos.len().saturating_sub(most));
        let row = |(item, text): (&TodoItem, String)| {
            let label = match item.status {
                TodoStatus::Pending => "status",
                TodoStatus::InProgress => "call",
                TodoStatus::Done => "dim",
            };
            Line::styled(width::cut(&text, self.columns), self.theme.style(label))
        };
        let all = todos.iter().zip(todo_lines(todos));
        let mut rows: Vec<Line<'static>> = all.skip(from).take(most).map(row).collect();
        let hidden = todos.len() - rows.len();
        if hidden > 0 {
            let s = if hidden == 1 { "" } else { "s" };
            let text = format!("    {hidden} more step{s}: Ctrl-O shows all");
            rows.push(Line::styled(width::cut(&text, self.columns), self.theme.style("hint")));
        }
        rows
    }

    /// The turn is over but for the question about its changes.
    pub(super) fn asks_about_changes(&self) -> bool {
        self.question.as_ref().is_some_and(PaneQuestion::is_about_changes)
    }

    /// The queue, numbered, each line with when it is sent; and what can be done about it.
    fn queue_rows(&self) -> Vec<Line<'static>> {
        let lines = self.line.queue.lines();
        let hidden = lines.len().saturating_sub(MOST_QUEUED);
        let hint = |text: String| Line::styled(width::cut(&text, self.columns), self.theme.style("hint"));
        let mut rows = Vec::new();
        if hidden > 0 {
            let words = if hidden == 1 {
                "one more before these".into()
            } else {
                format!("{hidden} more before these")
            };
            rows.push(hint(words));
        }
        for (at, line) in lines.iter().enumerate().skip(hidden) {
            let text = visible::prose_line(&line.text.replace('\n', "↵")).into_owned();
            rows.push(hint(format!("{} {}: {text}", at + 1, when_sent(line))));
        }
        let can_steer = !self.asks_about_changes();
        if can_steer
            && lines.iter().any(|line| line.sending == SendTiming::AfterTurn && !is_command(&line.text))
        {
            rows.push(hint("  Ctrl-S sends the newest with the next request, Up edits it".into()));
        } else if !lines.is_empty() {
            rows.push(hint("  Up edits the newest".into()));
        }
        rows
    }

    /// The tail of the answer and the running calls, newest last, at most `room` rows.
    fn work_rows(&self, room: usize, now: Instant) -> Vec<Line<'static>> {
        let (thinking, tail) = if self.facts.expanded { (TALL_TAIL, TALL_TAIL) } else { (1, 3) };
        let mut rows = self.answer.thinking_rows(thinking, &self.theme, self.columns);
        rows.extend(self.activity.retry_rows(&self.theme, self.columns));
        rows.extend(self.answer.open_rows(&self.theme, self.width(), self.columns));
        let clock = self.clock_at(now);
        let space = CallRowsSpace { theme: &self.theme, columns: self.columns, rows: room, tail, clock };
        rows.extend(self.calls.rows(self.question.as_ref().and_then(PaneQuestion::call), &space));
        let excess = rows.len().saturating_sub(room);
        rows.drain(..excess);
        rows
    }

    fn status_row(&self, mode: Mode, now: Instant) -> Line<'static> {
        use StatusPart::{Activity, Context, Cost, Elapsed, Grants, Level, Model, Plan, Stop, Tokens};
        let letter = Span::styled(format!("[{}]", mode.letter()), self.theme.style(mode_label(mode)));
        // One look says who has the keyboard.
        if let Some(open) = self.question.as_ref().filter(|_| self.line_state(now) == LineState::Text) {
            let words = Span::styled(format!(" {}", open.sends()), self.theme.style("question"));
            return margin_mark::line(vec![letter, words], &self.theme);
        }
        let elapsed = clock(self.clock_at(now).saturating_duration_since(self.started));
        let facts = &self.facts;
        let mut parts = vec![
            (Activity, self.activity.words(self.clock_at(now))),
            (Elapsed, elapsed),
            (Model, facts.model.clone()),
        ];
        if facts.usage.prompt() + facts.usage.output > 0 {
            parts.push((Tokens, token_counts::tokens(&facts.usage)));
        }
        parts.extend(facts.cost.map(|cost| (Cost, cost.to_string())));
        if facts.window > 0 && facts.prompt_tokens > 0 {
            let percent = facts.prompt_tokens * 100 / facts.window.max(1);
            parts.push((Context, format!("{percent}% of context")));
        }
        match self.planning {
            PlanModeState::No => {}
            PlanModeState::Making => parts.push((Plan, "planning".into())),
            PlanModeState::Presented => parts.push((Plan, "the plan waits for /plan approve".into())),
        }
        if facts.grants > 0 {
            parts.push((Grants, count::of(facts.grants, "grant")));
        }
        let level = facts.taint.load();
        if level > ClassificationLevel::Public {
            parts.push((Level, level.to_string()));
        }
        if !self.activity.is_stopping() && self.question.is_none() {
            parts.push((Stop, "Esc stops".into()));
        }
        let text = fitting_status(parts, self.columns.saturating_sub(6));
        let row = vec![letter, Span::styled(format!(" {text}"), self.theme.style("status"))];
        margin_mark::line(row, &self.theme)
    }
}

/// The parts of the status row. Where the row is too narrow, the last of this list is left out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StatusPart {
    Activity,
    Stop,
    Level,
    Plan,
    Cost,
    Context,
    Elapsed,
    Grants,
    Model,
    Tokens,
}

/// The parts next to each other in `columns`: a part is there whole or not at all. Only the activity is cut.
fn fitting_status(mut parts: Vec<(StatusPart, String)>, columns: usize) -> String {
    loop {
        let words: Vec<&str> = parts.iter().map(|(_, words)| words.as_str()).collect();
        let text = visible::guard_line(&words.join(" · ")).into_owned();
        let least = parts.iter().map(|(part, _)| *part).max().filter(|part| *part != StatusPart::Activity);
        match least {
            Some(least) if width::of(&text) > columns => parts.retain(|(part, _)| *part != least),
            _ => return width::cut(&text, columns),
        }
    }
}

/// How a queued line will be sent.
fn when_sent(line: &QueuedMessage) -> &'static str {
    match line.sending {
        SendTiming::NextRequest => "with the next request",
        SendTiming::AfterTurn => "after this turn",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Style};

    #[test]
    fn lines_are_set_as_the_library_sets_them() {
        let texts = ["", "plain words", "wide 漢字 and é", "a\tb\u{1b}c", "👩‍👩‍👧 x", "0123456789"];
        let styles = [Style::new().fg(Color::Red), Style::new().bg(Color::Blue).bold(), Style::new()];
        for first in texts {
            for second in texts {
                for columns in [0, 1, 9, 10, 11, 12, 40] {
                    let spans = [first, second]
                        .into_iter()
                        .zip(styles)
                        .map(|(text, style)| Span::styled(text, style));
                    let line = Line::from(spans.collect::<Vec<_>>()).style(styles[2].italic());
                    let area = Rect::new(0, 0, 30, 2);
                    let (mut ours, mut theirs) = (Buffer::empty(area), Buffer::empty(area));
                    set_line(&mut ours, (3, 1), &line, columns.min(27));
                    theirs.set_line(3, 1, &line, columns.min(27));
                    assert_eq!(ours, theirs, "{first:?} {second:?} {columns}");
                }
            }
        }
    }
}
