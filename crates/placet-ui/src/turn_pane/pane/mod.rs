//! The state of the pane: arriving text, running calls, an open question, and a line to type in.
//!
//! State changes here with the events of the turn, and in [`keys`] with keys; [`rows`] draws it. None of them does any I/O.

mod activity;
mod answer;
mod calls;
mod elapsed_time;
mod keys;
mod message_line;
mod rows;

pub use rows::TurnPaneFrame;

use super::applied_lines::{AppliedSpace, applied_lines};
use super::question::{AnyQuestion, PaneQuestion};
use super::status::{self, TurnPaneStatus};
use crate::colors::theme::Theme;
use crate::lines::margin_mark;
use crate::lines::prose::ProseWidth;
use crate::paste::PasteStore;
use crate::scrollback;
use activity::TurnActivity;
use answer::PaneAnswer;
use calls::PaneCalls;
use message_line::MessageLine;
use placet_agent::{MessageQueue, TurnEnding, TurnEvent};
use placet_permission::{Mode, PlanModeState};
use placet_session::session::InputDraft;
use placet_text::conversation::{CallId, CallOutcome};
use placet_tools::{CallSummary, DisplayDetail, ForegroundCall};
use ratatui::text::Line;
use std::time::Instant;

pub struct TurnPane {
    theme: Theme,
    pub(super) columns: usize,
    /// Those of the screen. Unlimited where nothing is drawn.
    screen_rows: usize,
    /// When the terminal got the size that it has.
    size_since: Option<Instant>,
    facts: TurnPaneStatus,
    started: Instant,
    answer: PaneAnswer,
    calls: PaneCalls,
    question: Option<PaneQuestion>,
    line: MessageLine,
    activity: TurnActivity,
    planning: PlanModeState,
    /// The mode refused something in this turn.
    limited: bool,
    /// When anything last happened.
    news_at: Instant,
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
        let rows = usize::from(facts.is_asked_again);
        TurnPane {
            theme,
            columns,
            screen_rows: usize::MAX,
            size_since: None,
            facts,
            started: now,
            answer: PaneAnswer::below(rows),
            calls: PaneCalls::default(),
            question: None,
            line: MessageLine::new(queue, pastes),
            activity: TurnActivity::new(),
            planning: PlanModeState::No,
            limited: false,
            news_at: now,
        }
    }

    fn width(&self) -> ProseWidth {
        ProseWidth::new(self.columns, self.facts.display.wrap)
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
        self.line.take_drafts()
    }

    /// What would be lost if this process ended now.
    pub fn draft(&self) -> InputDraft {
        self.line.draft()
    }

    /// What was typed before the turn, and not sent.
    pub fn type_in(&mut self, text: &str) {
        self.line.field.insert(text);
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
        if self.answer.owes_blank && self.question.is_none() && (ends || !lines.is_empty()) {
            self.answer.owes_blank = false;
            lines.insert(0, Line::default());
        }
        let rows = lines.iter().map(|line| line.width().div_ceil(self.columns.max(1)).max(1)).sum::<usize>();
        self.answer.rows = if ends_work { 0 } else { self.answer.rows.saturating_add(rows) };
        lines.into_iter().map(|line| margin_mark::clear_margin(line, self.columns)).collect()
    }

    /// The row that stays of failed requests once one is answered. While they go on, the pane has a row that counts them; where
    /// none is answered, the end of the turn says so.
    fn retries_that_end_with(&mut self, event: &TurnEvent) -> Vec<Line<'static>> {
        if matches!(event, TurnEvent::Retrying { .. } | TurnEvent::Silent { .. } | TurnEvent::Usage { .. }) {
            return Vec::new();
        }
        let words = self.activity.end_retries().filter(|_| !matches!(event, TurnEvent::Ended(_)));
        words.map_or_else(Vec::new, |words| self.notice(&words))
    }

    fn finished(&mut self, event: TurnEvent, now: Instant) -> Vec<Line<'static>> {
        match event {
            TurnEvent::Requested => {
                self.activity.set("waiting for the model");
                return self.calls.all_ended();
            }
            TurnEvent::Text(text) => {
                self.activity.set("answering");
                let mut lines = self.end_thinking(now);
                lines.extend(self.answer.take(text, &self.theme, self.width()));
                return lines;
            }
            TurnEvent::Thinking(text) => {
                self.answer.think(&text, now);
                self.activity.set("thinking");
            }
            TurnEvent::CallComing { id, name } => {
                self.calls.announce(id, name);
                return self.end_answer(now);
            }
            TurnEvent::CallArguments { bytes } => self.calls.add_arguments(bytes),
            TurnEvent::CallPlanned { id, title, .. } => {
                self.calls.plan(id, title);
                self.activity.set("working");
                return self.end_text();
            }
            TurnEvent::CallRunning { id } => self.calls.start(&id, now),
            TurnEvent::CallOutput { id, text } => self.calls.add_output(&id, &text),
            TurnEvent::CallLine { id, text } => self.calls.set_open_line(&id, text),
            TurnEvent::CallEnded { id, name, outcome, summary } => {
                return self.call_ended(id, &name, outcome, summary);
            }
            TurnEvent::Question(question) => return self.ask(AnyQuestion::Call(Box::new(question))),
            TurnEvent::LoopQuestion(question) => return self.ask(AnyQuestion::Loop(question)),
            TurnEvent::Choice(question) => return self.ask(AnyQuestion::Choice(Box::new(question))),
            TurnEvent::Enquiry(question) => return self.ask(AnyQuestion::Enquiry(question)),
            TurnEvent::Todos(items) => self.facts.todos = items,
            TurnEvent::Retrying { attempt, of, wait, error } => {
                self.activity.retrying(attempt, of, now + wait, error.to_string());
            }
            TurnEvent::Silent { since } => self.activity.silent(since),
            TurnEvent::Usage { total, prompt, window, cost } => {
                self.facts.cost = cost.or(self.facts.cost);
                self.facts.usage = total;
                self.facts.prompt_tokens = prompt;
                self.facts.window = window;
            }
            TurnEvent::Steered(text) => {
                let mut lines = self.end_answer(now);
                lines.extend(margin_mark::broken(scrollback::said(&text, &self.theme), self.width()));
                return lines;
            }
            TurnEvent::Applying { phase, done, all } => self.activity.applying((phase, done, all)),
            TurnEvent::Notice(text) => {
                let mut lines = self.end_text();
                lines.extend(self.notice(&text));
                return lines;
            }
            TurnEvent::Applied(applied) => {
                let mut lines = self.end_text();
                let space = AppliedSpace::new(self.columns, self.screen_rows);
                lines.extend(applied_lines(&applied, self.facts.display.applied, &self.theme, space));
                return lines;
            }
            // Shown at the first refusal and at the end of the turn, not at each refusal.
            TurnEvent::LimitedByMode(Mode::Read) => {
                let first = !std::mem::replace(&mut self.limited, true);
                let key = self.facts.to_ask_mode.filter(|_| first);
                return key.map_or_else(Vec::new, |key| scrollback::under(key, &self.theme));
            }
            TurnEvent::LimitedByMode(_) => {}
            TurnEvent::Ended(ending) => return self.end(&ending, now),
        }
        Vec::new()
    }

    fn call_ended(
        &mut self,
        id: CallId,
        name: &str,
        outcome: CallOutcome,
        mut summary: CallSummary,
    ) -> Vec<Line<'static>> {
        if let (Some(call), true) = (self.calls.take(&id), outcome != CallOutcome::Done) {
            summary.line = summary.named_line(name, &call.title);
        }
        self.answer.note_call();
        let mut lines = self.end_text();
        let (summary, fold) = match self.facts.expanded {
            true => (summary, usize::MAX),
            false => (summary.for_scrollback(), self.facts.display.fold),
        };
        let width = self.width();
        let mut of_call = scrollback::call(outcome, &summary, &self.theme, fold).into_iter();
        let head = of_call.next().map(|head| scrollback::broken_call(head, width));
        // What the model read is code, and a search names places: both stay whole lines.
        let is_output = summary.command.is_some() || outcome != CallOutcome::Done;
        let is_preview = matches!(summary.detail, DisplayDetail::Text(_)) && is_output;
        let of_call: Vec<_> = match &summary.detail {
            DisplayDetail::Report(text) => scrollback::report(text, &self.theme, width, fold),
            _ if is_preview && !self.facts.expanded => {
                of_call.flat_map(|line| scrollback::broken_output(line, width)).collect()
            }
            _ => of_call.collect(),
        };
        let notes = margin_mark::broken(scrollback::call_notes(&summary, &self.theme, fold), width);
        let of_call = head.into_iter().flatten().chain(of_call).chain(notes).collect();
        lines.extend(self.calls.in_order(id, of_call));
        lines
    }

    fn ask(&mut self, asked: AnyQuestion) -> Vec<Line<'static>> {
        let question = PaneQuestion::new(asked, &self.theme);
        let mut lines = self.end_text();
        // The row above the changes is the last one of the answer.
        if question.is_about_changes() && lines.pop_if(|last| last.width() == 0).is_some() {
            self.answer.owes_blank = true;
        }
        self.question = Some(question);
        self.activity.set("waiting for you");
        lines
    }

    pub(super) fn end_text(&mut self) -> Vec<Line<'static>> {
        self.answer.end(&self.theme, self.width())
    }

    fn end_thinking(&mut self, now: Instant) -> Vec<Line<'static>> {
        self.answer.end_thinking(now, &self.theme, self.facts.expanded)
    }

    fn end_answer(&mut self, now: Instant) -> Vec<Line<'static>> {
        let mut lines = self.end_thinking(now);
        lines.extend(self.end_text());
        lines
    }

    fn end(&mut self, ending: &TurnEnding, now: Instant) -> Vec<Line<'static>> {
        let mut lines = self.calls.all_ended();
        lines.extend(self.end_answer(now));
        lines.extend(margin_mark::broken(scrollback::ending(ending, &self.theme), self.width()));
        if let Some(key) = self.facts.to_ask_mode.filter(|_| self.limited) {
            lines.extend(scrollback::hint(&status::read_mode_hint(key), &self.theme));
        }
        self.calls.clear();
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
        self.facts.display.motion || is_running || !self.is_question_read(now)
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
        self.calls.foreground = command;
    }

    /// Whether a plan has to be approved first.
    pub fn plans(&mut self, planning: PlanModeState) {
        self.planning = planning;
    }

    /// The time that is shown: without motion, that of the last news.
    fn clock_at(&self, now: Instant) -> Instant {
        if self.facts.display.motion { now } else { self.news_at }
    }
}

#[cfg(test)]
#[path = "turn_pane_tests.rs"]
mod tests;
