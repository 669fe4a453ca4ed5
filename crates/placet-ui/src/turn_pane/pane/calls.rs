//! The calls of an answer: which are coming, which run, and which ended before an earlier one.

use super::elapsed_time::clock;
use crate::colors::theme::Theme;
use crate::lines::margin_mark;
use crate::token_counts;
use placet_text::conversation::CallId;
use placet_text::text::{sanitize, visible, width};
use placet_tools::ForegroundCall;
use ratatui::text::{Line, Span};
use std::time::{Duration, Instant};

/// How much of a running command's output is stored.
const TAIL_BYTES: usize = 8_000;
/// How long a command runs before its row names the key that sends it to the background.
const LONG_COMMAND: Duration = Duration::from_secs(2);
const BACKGROUND_HINT: &str = "  Ctrl-B: background";
/// Columns that the title of a call gets next to the hint, if it is as long.
const LEAST_TITLE: usize = 20;

pub(super) struct RunningCall {
    id: CallId,
    pub(super) title: String,
    since: Option<Instant>,
    tail: String,
    /// What the command wrote of a line that has no end yet.
    open: String,
}

/// A call that ended, with the lines for the scrollback.
struct EndedCall {
    id: CallId,
    lines: Vec<Line<'static>>,
}

#[derive(Default)]
pub(super) struct PaneCalls {
    /// The name of the call whose arguments arrive, and how many bytes of them.
    coming: Option<(String, usize)>,
    running: Vec<RunningCall>,
    /// The calls of the answer that have no line in the scrollback yet, in the order in which the model made them.
    order: Vec<CallId>,
    /// Calls that ended before an earlier one: their lines wait for its line.
    ended: Vec<EndedCall>,
    /// The command that runs in the foreground.
    pub(super) foreground: Option<ForegroundCall>,
}

/// Where the rows of calls are drawn.
pub(super) struct CallRowsSpace<'a> {
    pub(super) theme: &'a Theme,
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Rows of one call's output at most.
    pub(super) tail: usize,
    /// The time that is shown.
    pub(super) clock: Instant,
}

impl PaneCalls {
    pub(super) fn announce(&mut self, id: CallId, name: String) {
        self.order.push(id);
        self.coming = Some((name, 0));
    }

    pub(super) fn add_arguments(&mut self, bytes: usize) {
        if let Some((_, total)) = &mut self.coming {
            *total += bytes;
        }
    }

    pub(super) fn plan(&mut self, id: CallId, title: String) {
        self.coming = None;
        self.running.push(RunningCall { id, title, since: None, tail: String::new(), open: String::new() });
    }

    fn running_mut(&mut self, id: &CallId) -> Option<&mut RunningCall> {
        self.running.iter_mut().find(|call| call.id == *id)
    }

    pub(super) fn start(&mut self, id: &CallId, now: Instant) {
        if let Some(call) = self.running_mut(id) {
            call.since = Some(now);
        }
    }

    pub(super) fn add_output(&mut self, id: &CallId, text: &str) {
        if let Some(call) = self.running_mut(id) {
            call.open.clear();
            call.tail.push_str(text);
            let excess = call.tail.len().saturating_sub(TAIL_BYTES);
            call.tail.drain(..call.tail.ceil_char_boundary(excess));
        }
    }

    pub(super) fn set_open_line(&mut self, id: &CallId, text: String) {
        if let Some(call) = self.running_mut(id) {
            call.open = text;
        }
    }

    /// A call ended: it does not run any more.
    pub(super) fn take(&mut self, id: &CallId) -> Option<RunningCall> {
        self.coming = None;
        let at = self.running.iter().position(|call| call.id == *id)?;
        Some(self.running.remove(at))
    }

    /// The lines of the calls that can be shown now that a call has ended with `lines`: none while a call before it runs.
    pub(super) fn in_order(&mut self, id: CallId, lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
        if !self.order.contains(&id) {
            return lines;
        }
        self.ended.push(EndedCall { id, lines });
        let mut lines = Vec::new();
        while let Some(first) = self.order.first() {
            let Some(at) = self.ended.iter().position(|call| call.id == *first) else { break };
            lines.extend(self.ended.remove(at).lines);
            self.order.remove(0);
        }
        lines
    }

    /// The lines of all calls that ended, where no other call is waited for.
    pub(super) fn all_ended(&mut self) -> Vec<Line<'static>> {
        let order = std::mem::take(&mut self.order);
        let mut ended = std::mem::take(&mut self.ended);
        ended.sort_by_key(|call| order.iter().position(|id| *id == call.id));
        ended.into_iter().flat_map(|call| call.lines).collect()
    }

    /// The turn is over.
    pub(super) fn clear(&mut self) {
        self.running.clear();
        self.coming = None;
    }

    /// The calls but `asked`, whose question names it. Every call keeps its line for as long as there is room for that; the
    /// tails of their output share what is left.
    pub(super) fn rows(&self, asked: Option<&CallId>, space: &CallRowsSpace<'_>) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        let mut calls: Vec<&RunningCall> =
            self.running.iter().filter(|call| Some(&call.id) != asked).collect();
        let place = |id: &CallId| self.order.iter().position(|one| one == id);
        calls.sort_by_key(|call| place(&call.id).unwrap_or(usize::MAX));
        let (count, room) = (calls.len(), space.rows);
        let tail = room.saturating_sub(count).checked_div(count).unwrap_or(0).min(space.tail);
        let shown = if count > room { room.saturating_sub(1) } else { count };
        // Calls that ended have a row among those that run, as long as those leave room.
        let mut ended: Vec<&EndedCall> =
            if count + self.ended.len() <= room { self.ended.iter().collect() } else { Vec::new() };
        ended.sort_by_key(|call| place(&call.id));
        let mut ended = ended.into_iter().peekable();
        for call in calls.into_iter().take(shown) {
            while let Some(before) = ended.next_if(|one| place(&one.id) < place(&call.id)) {
                rows.extend(before.lines.first().cloned());
            }
            rows.extend(self.rows_of(call, tail, space));
        }
        rows.extend(ended.filter_map(|call| call.lines.first().cloned()));
        let more = (shown < count).then(|| format!("› {} more calls", count - shown));
        let style = space.theme.style("call.running");
        for text in more.into_iter().chain(self.coming_words()) {
            rows.push(margin_mark::line(Line::styled(text, style), space.theme));
        }
        rows
    }

    fn coming_words(&self) -> Option<String> {
        let (name, bytes) = self.coming.as_ref()?;
        let size = match *bytes {
            0..1000 => String::new(),
            _ => format!(" ({} bytes)", token_counts::short(*bytes as u64)),
        };
        Some(format!("› {} …{size}", sanitize::line(name)))
    }

    fn rows_of(&self, call: &RunningCall, most: usize, space: &CallRowsSpace<'_>) -> Vec<Line<'static>> {
        let theme = space.theme;
        let elapsed =
            call.since.map(|since| space.clock.saturating_duration_since(since)).unwrap_or_default();
        let time =
            if elapsed >= Duration::from_secs(1) { format!("  {}", clock(elapsed)) } else { String::new() };
        let mut title = sanitize::line(&call.title).into_owned();
        let mut room = space.columns.saturating_sub(5 + time.len());
        let mut hint = "";
        // On a narrow screen the beginning of the command matters more.
        if self.offers_background(call, space.clock)
            && room >= BACKGROUND_HINT.len() + width::of(&title).min(LEAST_TITLE)
        {
            hint = BACKGROUND_HINT;
            room -= hint.len();
        }
        title = width::cut_middle(&title, room);
        let head = vec![
            Span::styled("› ", theme.style("call.running")),
            Span::styled(title, theme.style("call")),
            Span::styled(time, theme.style("dim")),
            Span::styled(hint, theme.style("hint")),
        ];
        let mut rows = vec![margin_mark::line(head, theme)];
        let lines = call.tail.lines().chain((!call.open.is_empty()).then_some(call.open.as_str()));
        // A progress bar overwrites its own line: the text that it wrote last is the visible text.
        let written = lines.map(|l| l.trim_end_matches('\r').rsplit('\r').next().unwrap_or(l));
        let shown: Vec<String> = written.map(|l| visible::output_line(l).into_owned()).collect();
        let last: Vec<&String> = shown.iter().rev().filter(|l| !l.trim().is_empty()).take(most).collect();
        for line in last.into_iter().rev() {
            let text = width::cut(line, space.columns.saturating_sub(4));
            rows.push(Line::styled(format!("  {text}"), theme.style("output")));
        }
        rows
    }

    /// Whether the row of a call names the key that sends its command to the background: not for a command that ends in
    /// a moment.
    fn offers_background(&self, call: &RunningCall, clock: Instant) -> bool {
        self.foreground.as_ref().is_some_and(|command| {
            let elapsed = clock.saturating_duration_since(command.since);
            command.can_move && command.call == call.id && elapsed >= LONG_COMMAND
        })
    }
}
