//! The rows of a question: the question and its reason, as much of its subject as fits, and the keys.

use super::answer_row::LineState;
use super::answer_use::QuestionStage;
use super::any_question::AnyQuestion;
use super::body::QuestionWindow;
use super::change_list::ListWindow;
use super::pane_question::PaneQuestion;
use crate::colors::theme::Theme;
use crate::lines::{margin_mark, verbatim};
use crate::token_counts;
use placet_agent::{NOTHING_APPLIED, PromptAsker};
use placet_text::text::{count, visible, width};
use placet_tools::DisplayDetail;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Rows from which on a question is no longer low.
const LOW: usize = 14;

/// Short, because it has to fit where nothing else does.
const TOO_SMALL: &str = "the terminal is too small: enlarge it";

impl PaneQuestion {
    /// What is asked, and why.
    fn head(&self, theme: &Theme, (columns, room): (usize, usize)) -> Vec<Line<'static>> {
        let (question, notice) = (theme.style("question"), theme.style("notice"));
        let exactly = |lead: &str, text: &str, style: Style| {
            let mut line = verbatim::line(lead, text.as_bytes(), style, theme);
            if let Some(rest) = lead.strip_prefix(margin_mark::LEAD) {
                line.spans.splice(..1, [margin_mark::lead(theme), Span::styled(rest.to_string(), style)]);
            }
            verbatim::wrap_at_words(&line, columns, theme)
        };
        let own = |text: &str, style: Style| {
            let text = Line::styled(visible::guard_line(text).into_owned(), style);
            margin_mark::rows(&text, columns, theme)
        };
        match &self.asked {
            AnyQuestion::Call(q) => {
                // A command is below the reason, as it runs.
                let mut head = match &q.preview.detail {
                    DisplayDetail::Command(_) => own("Allow this command?", question),
                    _ => exactly(&format!("{}Allow? ", margin_mark::LEAD), &q.preview.line, question),
                };
                // The reason may be a hook's: its bytes are shown exactly, and its rows stay clear of the margin.
                let reason = verbatim::line("asks because: ", q.reason.as_bytes(), notice, theme);
                head.extend(margin_mark::under(&reason, columns));
                head
            }
            AnyQuestion::Choice(q) => {
                let mut head = own(&q.title, question);
                let reason = visible::guard_line(&q.reason).into_owned();
                // The reason goes next to the title where there is room, which leaves more rows for the changes. Only a
                // reason that placet wrote goes there: the reason of another question may come from a hook.
                let wide = |text: &str| width::of(text);
                let used = head.last().map_or(0, |row| wide(&row.to_string()));
                let free = columns.saturating_sub(used);
                if let (true, 1, Some(row)) = (self.changes.is_some(), head.len(), head.first_mut())
                    && free > wide(&reason) + 3
                {
                    row.spans.push(Span::raw(" ".repeat(free - wide(&reason))));
                    row.spans.push(Span::styled(reason, notice));
                    return head;
                }
                // What is true of every such question makes way for a row of the changes.
                if self.changes.is_some() && room < LOW && q.reason == NOTHING_APPLIED {
                    return head;
                }
                head.extend(margin_mark::under(&Line::styled(reason, notice), columns));
                head
            }
            AnyQuestion::Enquiry(q) => {
                let text = q.question.trim_end();
                let lead = |at: usize| match at {
                    0 if q.asker == PromptAsker::Model => format!("{}the model asks: ", margin_mark::LEAD),
                    0 => margin_mark::LEAD.into(),
                    _ => margin_mark::UNDER.into(),
                };
                text.split('\n').enumerate().flat_map(|(at, l)| exactly(&lead(at), l, question)).collect()
            }
            AnyQuestion::Loop(q) => {
                let text = format!("{}. Continue?", placet_agent::loop_words(&q.tool, q.times));
                let mut head = own(&text, question);
                let spent = format!("this turn has cost {} so far", token_counts::tokens(&q.spent));
                head.extend(margin_mark::under(&Line::styled(spent, notice), columns));
                head
            }
        }
    }

    /// So many of the first rows are not on the screen. The list of changes and the answers say what is asked, and what is
    /// asked once more takes rows of a question that was read. Words for a model need no consent: a person may type an
    /// answer to what they do not see whole.
    pub(in crate::turn_pane) fn note_cut(&mut self, rows: usize) {
        let needs_room = !matches!(self.asked, AnyQuestion::Enquiry(_));
        let may_lose = self.changes.is_some() || matches!(self.stage, QuestionStage::OnceMore(..));
        self.is_too_small = needs_room && rows > if may_lose { self.head_rows } else { 0 };
    }

    pub(in crate::turn_pane) fn is_too_small(&self) -> bool {
        self.is_too_small
    }

    /// What is shown instead of the question where there is no room for it: at most `room` rows.
    pub(in crate::turn_pane) fn rows_without_room(
        &mut self,
        theme: &Theme,
        (columns, room): (usize, usize),
        line: LineState,
    ) -> Option<Vec<Line<'static>>> {
        if !self.is_too_small {
            return None;
        }
        self.mark_first(false);
        let words = Line::styled(TOO_SMALL, theme.style("warning"));
        let mut rows = margin_mark::rows(&words, columns, theme);
        rows.extend(self.answer_rows_under(theme, columns, line));
        rows.truncate(room.max(1));
        Some(rows)
    }

    fn answer_rows_under(&self, theme: &Theme, columns: usize, line: LineState) -> Vec<Line<'static>> {
        let rows = self.answer_rows(theme, columns.saturating_sub(margin_mark::UNDER.len()), line);
        rows.iter().flat_map(|row| margin_mark::under(row, columns)).collect()
    }

    /// Puts the mark where it is at first, `shows_all` where this frame shows all of what is asked about.
    fn mark_first(&mut self, shows_all: bool) {
        let mark = self.first_mark(
            &self.answers(),
            !self.is_too_small && (self.is_all_seen() || shows_all && !self.asked.is_cut()),
        );
        self.keys.mark_first(mark);
    }

    /// The rows of the question in a pane of `columns`, with at most `room` rows, and `spare` more where they
    /// show all of the changes; and the figures for [`PaneQuestion::drawn`].
    pub(in crate::turn_pane) fn rows(
        &mut self,
        theme: &Theme,
        columns: usize,
        (room, spare): (usize, usize),
        line: LineState,
    ) -> (Vec<Line<'static>>, usize, usize) {
        let mut rows = self.head(theme, (columns, room + spare));
        rows.extend(self.check_rows(theme, columns));
        self.head_rows = rows.len();
        self.mark_first(false);
        let answers = self.answer_rows_under(theme, columns, line).len();
        let room = room.saturating_sub(rows.len() + answers + 1);
        let (total, fits) = if let Some(choices) = self.choice_rows(theme, columns) {
            let fits = room.max(1).min(choices.rows.len());
            rows.extend(choices.rows.get(choices.window(fits)).unwrap_or_default().iter().cloned());
            (choices.rows.len(), fits)
        } else if let (Some(list), Some(overview)) = (&mut self.changes, self.asked.overview())
            && !self.shows_patch
        {
            let ListWindow { rows: body, total, fits, below, closed } =
                list.window(overview, columns, (room, spare));
            rows.extend(body);
            // A difference in one row or two cannot be read: the review has the whole screen.
            let has_review = matches!(&self.asked, AnyQuestion::Choice(q) if q.choices.iter().any(|one| one.key == REVIEW));
            let shows = match closed > 0 && has_review && room + spare <= LEAST_READ {
                true => ShownBy::Review,
                false => ShownBy::Scrolling,
            };
            rows.extend(hidden_row((below, closed), shows, theme, columns));
            self.mark_first(fits == total && closed == 0);
            (total, fits)
        } else {
            let body = self.body.laid_out(&self.asked, theme, columns);
            let total = body.rows.len();
            let fits = room.max(1).min(total);
            let QuestionWindow { head: first, tail } = self.body.window(&self.asked, total, fits);
            let hidden = total - first.end - tail.len();
            let part =
                |range: std::ops::Range<usize>| body.rows.get(range).unwrap_or_default().iter().cloned();
            rows.extend(part(first));
            rows.extend(hidden_row((hidden, 0), ShownBy::Scrolling, theme, columns));
            rows.extend(part(tail));
            self.mark_first(fits == total);
            (total, fits)
        };
        rows.extend(self.answer_rows_under(theme, columns, line));
        (rows, total, fits)
    }
}

/// The key of the review at the apply question, and rows in which no difference can be read.
const REVIEW: char = 'r';
const LEAST_READ: usize = 2;

/// Which key shows what is not on the screen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShownBy {
    Scrolling,
    Review,
}

/// Reports the lines that are not on the screen, and the keys that show them.
fn hidden_row(
    (hidden, closed): (usize, usize),
    shows: ShownBy,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let text = match (hidden, closed) {
        (0, 0) => return Vec::new(),
        (_, 1..) if shows == ShownBy::Review => {
            format!("{} closed: Review shows them", count::of(closed, "difference"))
        }
        (hidden, 0) => format!("{} hidden: PageDown shows more", count::of(hidden, "line")),
        (0, 1) => "1 difference closed: PageDown opens it".into(),
        (0, closed) => format!("{} closed: PageDown opens them", count::of(closed, "difference")),
        (hidden, closed) => {
            let (lines, closed) = (count::of(hidden, "line"), count::of(closed, "difference"));
            format!("{lines} hidden and {closed} closed: PageDown shows more")
        }
    };
    let fits = |text: &str| width::of(margin_mark::LEAD) + width::of(text) <= columns;
    // Each row that these words take is a row less of the changes.
    let short = match shows {
        ShownBy::Review => format!("{closed} closed: Review shows them"),
        ShownBy::Scrolling if closed == 0 => format!("{hidden} hidden: PageDown"),
        ShownBy::Scrolling if hidden == 0 => format!("{closed} closed: PageDown opens them"),
        ShownBy::Scrolling => format!("{hidden} hidden, {closed} closed: PageDown"),
    };
    let text = if fits(&text) { text } else { short };
    margin_mark::rows(&Line::styled(text, theme.style("warning")), columns, theme)
}
