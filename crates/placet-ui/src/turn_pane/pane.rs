//! The state of the pane: arriving text, running calls, an open question, and a line to type in.
//!
//! State changes here with the events of the turn, and in [`super::keys`] with keys; [`super::rows`] draws it. None of
//! them does any I/O.

use super::applied_lines::{AppliedSpace, applied_lines};
use super::question::{AnyQuestion, PaneQuestion};
use super::status::{self, TurnPaneStatus};
use crate::apply_progress::how_far;
use crate::margin_mark;
use crate::markdown_stream::MarkdownStream;
use crate::paste::PasteStore;
use crate::prose::ProseWidth;
use crate::scrollback;
use crate::text_field::{TextField, TextFieldKind};
use crate::theme::Theme;
use placet_agent::{MessageQueue, SendTiming, TurnEnding, TurnEvent};
use placet_permission::{Mode, PlanModeState};
use placet_session::session::InputDraft;
use placet_text::conversation::{CallId, CallOutcome};
use placet_text::text::{count, visible};
use placet_tools::{DisplayDetail, ForegroundCall};
use ratatui::text::Line;
use std::time::Instant;

/// How much of a running command's output is stored.
const TAIL_BYTES: usize = 8_000;

pub(super) struct RunningCall {
    pub(super) id: CallId,
    pub(super) title: String,
    pub(super) since: Option<Instant>,
    pub(super) tail: String,
    /// What the command wrote of a line that has no end yet.
    pub(super) open: String,
}

/// A call that ended, with the lines for the scrollback.
pub(super) struct EndedCall {
    pub(super) id: CallId,
    pub(super) lines: Vec<Line<'static>>,
}

/// A request that failed and is sent again at `at`.
pub(super) struct RetryCountdown {
    pub(super) attempt: u32,
    pub(super) of: u32,
    pub(super) at: Instant,
    pub(super) error: String,
}

/// A queued message that is on the line.
#[derive(Debug)]
pub(super) struct EditedMessage {
    pub(super) place: usize,
    pub(super) sending: SendTiming,
    /// What was typed before it.
    pub(super) typed: String,
}

pub struct TurnPane {
    pub(super) theme: Theme,
    pub(super) columns: usize,
    /// Those of the screen. Unlimited where nothing is drawn.
    pub(super) screen_rows: usize,
    pub(super) facts: TurnPaneStatus,
    pub(super) started: Instant,
    pub(super) stream: MarkdownStream,
    pub(super) thinking: Option<(Instant, String)>,
    pub(super) coming: Option<(String, usize)>,
    pub(super) calls: Vec<RunningCall>,
    /// The calls of the answer that have no line in the scrollback yet, in the order in which the model made them.
    pub(super) call_order: Vec<CallId>,
    /// Calls that ended before an earlier one: their lines wait for its line.
    pub(super) ended_calls: Vec<EndedCall>,
    pub(super) question: Option<PaneQuestion>,
    /// When the terminal got the size that it has.
    pub(super) size_since: Option<Instant>,
    pub(super) composer: TextField,
    pub(super) queue: MessageQueue,
    /// The queued message that is on the line.
    pub(super) edited: Option<EditedMessage>,
    pub(super) pastes: PasteStore,
    pub(super) recall: Option<String>,
    pub(super) state: String,
    pub(super) retry: Option<RetryCountdown>,
    pub(super) stopping: bool,
    /// The command that runs in the foreground.
    pub(super) foreground: Option<ForegroundCall>,
    /// There is text of the answer above, and a call since the last text.
    pub(super) spoke: bool,
    /// The blank line after the answer is written once the question below it is answered.
    owes_blank: bool,
    /// Blanks of an answer that has no other text yet.
    pub(super) blanks: String,
    pub(super) worked: bool,
    pub(super) planning: PlanModeState,
    /// Rows of the scrollback since the last call: the answer, and the lines below it.
    pub(super) answer_rows: usize,
    /// The mode refused something in this turn.
    pub(super) limited: bool,
    /// When anything last happened.
    pub(super) news_at: Instant,
}

impl TurnPane {
    pub fn new(
        theme: Theme,
        columns: usize,
        facts: TurnPaneStatus,
        queue: MessageQueue,
        pastes: PasteStore,
        now: Instant,
    ) -> TurnPane {
        let answer_rows = usize::from(facts.is_asked_again);
        TurnPane {
            theme,
            columns,
            screen_rows: usize::MAX,
            facts,
            started: now,
            stream: MarkdownStream::default(),
            thinking: None,
            coming: None,
            calls: Vec::new(),
            call_order: Vec::new(),
            ended_calls: Vec::new(),
            question: None,
            size_since: None,
            composer: TextField::new(TextFieldKind::Lines),
            queue,
            edited: None,
            pastes,
            recall: None,
            state: "waiting for the model".into(),
            retry: None,
            stopping: false,
            foreground: None,
            spoke: false,
            owes_blank: false,
            blanks: String::new(),
            worked: false,
            planning: PlanModeState::No,
            answer_rows,
            limited: false,
            news_at: now,
        }
    }

    pub(super) fn width(&self) -> ProseWidth {
        ProseWidth::new(self.columns, self.facts.wrap)
    }

    pub fn resized(&mut self, columns: usize, rows: usize) {
        (self.columns, self.screen_rows) = (columns, rows);
    }

    /// The terminal has another size since `now`. What it shows has not been read yet: for a moment no key answers, and
    /// nothing counts as seen.
    pub fn size_changed(&mut self, now: Instant) {
        self.look_again(now);
        self.size_since = Some(now);
    }

    /// The draft, for the prompt; and one that was cleared.
    pub fn take_drafts(&mut self) -> (String, Option<String>) {
        (self.composer.take(), self.recall.take())
    }

    /// What would be lost if this process ended now.
    pub fn draft(&self) -> InputDraft {
        let whole = |line: &str| self.pastes.expanded(line).into_owned();
        let queued = self.queue.lines().into_iter().map(|line| whole(&line.text)).collect();
        InputDraft { queued, typed: whole(self.composer.text()) }
    }

    /// What was typed before the turn, and not sent.
    pub fn type_in(&mut self, text: &str) {
        self.composer.insert(text);
    }

    /// Takes an event; returns the lines that are finished and go to the scrollback. None of their rows begins with
    /// what looks like placet's mark.
    pub fn event(&mut self, event: TurnEvent, now: Instant) -> Vec<Line<'static>> {
        self.news_at = now;
        let ends_work = matches!(event, TurnEvent::CallEnded { .. } | TurnEvent::Steered(_));
        let ends = matches!(event, TurnEvent::Ended(_));
        let answered = self.retries_that_end_with(&event);
        let mut lines = self.finished(event, now);
        lines.splice(..0, answered);
        if self.owes_blank && self.question.is_none() && (ends || !lines.is_empty()) {
            self.owes_blank = false;
            lines.insert(0, Line::default());
        }
        let rows = lines.iter().map(|line| line.width().div_ceil(self.columns.max(1)).max(1)).sum::<usize>();
        self.answer_rows = if ends_work { 0 } else { self.answer_rows.saturating_add(rows) };
        lines.into_iter().map(|line| margin_mark::clear_margin(line, self.columns)).collect()
    }

    /// The row that stays of failed requests once one is answered. While they go on, the pane has a row that counts them; where
    /// none is answered, the end of the turn says so.
    fn retries_that_end_with(&mut self, event: &TurnEvent) -> Vec<Line<'static>> {
        let retry = match event {
            TurnEvent::Retrying { .. } | TurnEvent::Silent { .. } | TurnEvent::Usage { .. } => None,
            _ => self.retry.take(),
        };
        match retry {
            Some(retry) if !matches!(event, TurnEvent::Ended(_)) => {
                let failed = count::of(retry.attempt.saturating_sub(1).max(1), "failed request");
                self.notice(&format!("{failed}: {}", retry.error))
            }
            _ => Vec::new(),
        }
    }

    fn finished(&mut self, event: TurnEvent, now: Instant) -> Vec<Line<'static>> {
        match event {
            TurnEvent::Requested => {
                self.state = "waiting for the model".into();
                self.all_ended_calls()
            }
            TurnEvent::Text(text) => {
                let mut lines = self.end_thinking(now);
                self.state = "answering".into();
                let text = match self.spoke {
                    true => text,
                    false => std::mem::take(&mut self.blanks) + &text,
                };
                // Some models send a blank or a line end before each call: that is no text, and has no rows.
                if !self.spoke && text.trim().is_empty() {
                    self.blanks = text;
                    return lines;
                }
                if !std::mem::replace(&mut self.spoke, true) && std::mem::take(&mut self.worked) {
                    lines.push(Line::default());
                }
                lines.extend(self.stream.push(&text, &self.theme, self.width()));
                lines
            }
            TurnEvent::Thinking(text) => {
                let clean = visible::prose(&text).into_owned();
                self.thinking.get_or_insert((now, String::new())).1.push_str(&clean);
                self.state = "thinking".into();
                Vec::new()
            }
            TurnEvent::CallComing { id, name } => {
                self.call_order.push(id);
                self.coming = Some((name, 0));
                let mut lines = self.end_thinking(now);
                lines.extend(self.end_text());
                lines
            }
            TurnEvent::CallArguments { bytes } => {
                if let Some((_, total)) = &mut self.coming {
                    *total += bytes;
                }
                Vec::new()
            }
            TurnEvent::CallPlanned { id, title, .. } => {
                self.coming = None;
                let lines = self.end_text();
                self.calls.push(RunningCall {
                    id,
                    title,
                    since: None,
                    tail: String::new(),
                    open: String::new(),
                });
                self.state = "working".into();
                lines
            }
            TurnEvent::CallRunning { id } => {
                if let Some(call) = self.calls.iter_mut().find(|c| c.id == id) {
                    call.since = Some(now);
                }
                Vec::new()
            }
            TurnEvent::CallOutput { id, text } => {
                if let Some(call) = self.calls.iter_mut().find(|c| c.id == id) {
                    call.open.clear();
                    call.tail.push_str(&text);
                    let excess = call.tail.len().saturating_sub(TAIL_BYTES);
                    call.tail.drain(..call.tail.ceil_char_boundary(excess));
                }
                Vec::new()
            }
            TurnEvent::CallLine { id, text } => {
                if let Some(call) = self.calls.iter_mut().find(|c| c.id == id) {
                    call.open = text;
                }
                Vec::new()
            }
            TurnEvent::CallEnded { id, name, outcome, mut summary } => {
                let call = self.calls.iter().position(|c| c.id == id).map(|at| self.calls.remove(at));
                if let (Some(call), true) = (&call, outcome != CallOutcome::Done) {
                    summary.line = summary.named_line(&name, &call.title);
                }
                self.worked = true;
                self.coming = None;
                let mut lines = self.end_text();
                let (summary, fold) = match self.facts.expanded {
                    true => (summary, usize::MAX),
                    false => (summary.for_scrollback(), self.facts.fold),
                };
                let mut of_call = scrollback::call(outcome, &summary, &self.theme, fold).into_iter();
                let head = of_call.next().map(|head| scrollback::broken_call(head, self.width()));
                // What the model read is code, and a search names places: both stay whole lines.
                let is_output = summary.command.is_some() || outcome != CallOutcome::Done;
                let is_preview = matches!(summary.detail, DisplayDetail::Text(_)) && is_output;
                let width = self.width();
                let of_call: Vec<_> = match &summary.detail {
                    DisplayDetail::Report(text) => scrollback::report(text, &self.theme, width, fold),
                    _ if is_preview && !self.facts.expanded => {
                        of_call.flat_map(|line| scrollback::broken_output(line, width)).collect()
                    }
                    _ => of_call.collect(),
                };
                let notes = margin_mark::broken(scrollback::call_notes(&summary, &self.theme, fold), width);
                let of_call = head.into_iter().flatten().chain(of_call).chain(notes).collect();
                lines.extend(self.in_order(EndedCall { id, lines: of_call }));
                lines
            }
            TurnEvent::Question(question) => self.ask(AnyQuestion::Call(Box::new(question))),
            TurnEvent::LoopQuestion(question) => self.ask(AnyQuestion::Loop(question)),
            TurnEvent::Choice(question) => self.ask(AnyQuestion::Choice(Box::new(question))),
            TurnEvent::Enquiry(question) => self.ask(AnyQuestion::Enquiry(question)),
            TurnEvent::Todos(items) => {
                self.facts.todos = items;
                Vec::new()
            }
            TurnEvent::Retrying { attempt, of, wait, error } => {
                self.retry = Some(RetryCountdown { attempt, of, at: now + wait, error: error.to_string() });
                Vec::new()
            }
            TurnEvent::Silent { since } => {
                let seconds = since.as_secs();
                self.state = match seconds {
                    0..30 => format!("no data for {seconds} s"),
                    _ => format!("no data for {seconds} s: Esc, then /retry, sends it again"),
                };
                Vec::new()
            }
            TurnEvent::Usage { total, prompt, window, cost } => {
                self.facts.cost = cost.or(self.facts.cost);
                self.facts.usage = total;
                self.facts.prompt_tokens = prompt;
                self.facts.window = window;
                Vec::new()
            }
            TurnEvent::Steered(text) => {
                let mut lines = self.end_thinking(now);
                lines.extend(self.end_text());
                lines.extend(margin_mark::broken(scrollback::said(&text, &self.theme), self.width()));
                lines
            }
            TurnEvent::Applying { phase, done, all } => {
                let how_far = how_far((phase, done, all));
                self.state = match (self.stopping, phase.can_stop()) {
                    (false, _) => how_far,
                    (true, true) => "stopping".into(),
                    (true, false) => format!("{how_far}; too late to stop"),
                };
                Vec::new()
            }
            TurnEvent::Notice(text) => {
                let mut lines = self.end_text();
                lines.extend(self.notice(&text));
                lines
            }
            TurnEvent::Applied(applied) => {
                let mut lines = self.end_text();
                let space = AppliedSpace::new(self.columns, self.screen_rows);
                lines.extend(applied_lines(&applied, self.facts.applied, &self.theme, space));
                lines
            }
            TurnEvent::LimitedByMode(Mode::Read) => {
                // Shown at the first refusal and at the end of the turn, not at each refusal.
                let first = !std::mem::replace(&mut self.limited, true);
                let key = self.facts.to_ask_mode.filter(|_| first);
                key.map_or_else(Vec::new, |key| scrollback::under(key, &self.theme))
            }
            TurnEvent::LimitedByMode(_) => Vec::new(),
            TurnEvent::Ended(ending) => self.end(&ending, now),
        }
    }

    fn ask(&mut self, asked: AnyQuestion) -> Vec<Line<'static>> {
        let question = PaneQuestion::new(asked, &self.theme);
        let mut lines = self.end_text();
        // The row above the changes is the last one of the answer.
        if question.is_about_changes() && lines.pop_if(|last| last.width() == 0).is_some() {
            self.owes_blank = true;
        }
        self.question = Some(question);
        self.state = "waiting for you".into();
        lines
    }

    /// The lines of the calls that can be shown now that `ended` has ended: none while a call before it runs.
    fn in_order(&mut self, ended: EndedCall) -> Vec<Line<'static>> {
        if !self.call_order.contains(&ended.id) {
            return ended.lines;
        }
        self.ended_calls.push(ended);
        let mut lines = Vec::new();
        while let Some(first) = self.call_order.first() {
            let Some(at) = self.ended_calls.iter().position(|call| call.id == *first) else { break };
            lines.extend(self.ended_calls.remove(at).lines);
            self.call_order.remove(0);
        }
        lines
    }

    /// The lines of all calls that ended, where no other call is waited for.
    fn all_ended_calls(&mut self) -> Vec<Line<'static>> {
        let order = std::mem::take(&mut self.call_order);
        let mut ended = std::mem::take(&mut self.ended_calls);
        ended.sort_by_key(|call| order.iter().position(|id| *id == call.id));
        ended.into_iter().flat_map(|call| call.lines).collect()
    }

    pub(super) fn end_text(&mut self) -> Vec<Line<'static>> {
        let had_text = self.spoke;
        self.spoke = false;
        self.blanks.clear();
        let mut lines = self.stream.finish(&self.theme, self.width());
        if had_text {
            lines.push(Line::default());
        }
        lines
    }

    fn end_thinking(&mut self, now: Instant) -> Vec<Line<'static>> {
        let Some((since, text)) = self.thinking.take() else { return Vec::new() };
        let words = text.split_whitespace().count();
        let seconds = now.saturating_duration_since(since).as_secs();
        let style = self.theme.style("thinking");
        let mut lines = Vec::new();
        if self.facts.expanded {
            lines.extend(text.trim().lines().map(|line| Line::styled(line.to_string(), style)));
        }
        let thought = Line::styled(format!("thought for {seconds} s ({words} words)"), style);
        lines.push(margin_mark::line(thought, &self.theme));
        lines
    }

    fn end(&mut self, ending: &TurnEnding, now: Instant) -> Vec<Line<'static>> {
        let mut lines = self.all_ended_calls();
        lines.extend(self.end_thinking(now));
        lines.extend(self.end_text());
        lines.extend(margin_mark::broken(scrollback::ending(ending, &self.theme), self.width()));
        if let Some(key) = self.facts.to_ask_mode.filter(|_| self.limited) {
            lines.extend(scrollback::hint(&status::read_mode_hint(key), &self.theme));
        }
        self.calls.clear();
        self.coming = None;
        if let Some(open) = self.question.take() {
            open.cancel();
        }
        lines
    }

    /// Receives the results of background work; true when something looks different.
    pub fn take_in(&mut self) -> bool {
        self.question.as_mut().is_some_and(PaneQuestion::take_in)
    }

    /// True while background work runs.
    pub fn is_busy(&self) -> bool {
        self.question.as_ref().is_some_and(PaneQuestion::is_busy)
    }

    /// True when time alone changes what is shown. Without motion that is only when Enter begins to count.
    pub fn ticks(&self, now: Instant) -> bool {
        let is_running = self.question.as_ref().is_some_and(PaneQuestion::has_running_checks);
        self.facts.motion || is_running || !self.is_question_read(now)
    }

    /// A question waits for the person, and nothing on the screen changes but the seconds.
    pub fn is_waiting(&self, now: Instant) -> bool {
        let is_still = |question: &PaneQuestion| !question.has_running_checks();
        self.question.as_ref().is_some_and(is_still) && self.is_question_read(now)
    }

    pub fn is_expanded(&self) -> bool {
        self.facts.expanded
    }

    /// The command that runs in the foreground now: the person may send it to the background.
    pub fn set_foreground(&mut self, command: Option<ForegroundCall>) {
        self.foreground = command;
    }

    /// Whether a plan has to be approved first.
    pub fn plans(&mut self, planning: PlanModeState) {
        self.planning = planning;
    }

    /// The time that is shown: without motion, that of the last news.
    pub(super) fn clock_at(&self, now: Instant) -> Instant {
        if self.facts.motion { now } else { self.news_at }
    }
}

#[cfg(test)]
#[path = "turn_pane_tests.rs"]
mod tests;
