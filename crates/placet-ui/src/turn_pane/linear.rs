//! A turn without a screen: every event is one labelled line, written once, below all others.
//!
//! For screen readers and for terminals in which nothing may be repainted: no pane, no cursor movement, no clock, no
//! colour. The person can do the same as in the pane; questions are answered by a number and Enter. This part decides
//! what is printed and does no I/O.
//!
//! A line with placet's mark is placet's own; a label without the mark is in front of foreign text.

mod label;
mod question;

use super::question::AnyQuestion;
use super::status::{self, TurnPaneAction, TurnPaneStatus};
use crate::colors::theme::Theme;
use crate::input::line_input::TypedLine;
use crate::line_ui::outcome_word;
use crate::lines::margin_mark;
use crate::lines::markdown_stream::MarkdownStream;
use crate::lines::prose::ProseWidth;
use crate::paste::PasteStore;
use crate::{scrollback, token_counts};
use label::{foreign, label, plain};
use placet_agent::{MessageQueue, QueuedMessage, SendTiming, TurnEnding, TurnEvent, is_command};
use placet_config::WrapSetting;
use placet_permission::Mode;
use placet_session::session::InputDraft;
use placet_text::conversation::CallOutcome;
use placet_text::text::{count, visible};
use question::{LinearOutcome, LinearQuestion};
use ratatui::text::Line;
use std::time::Instant;

/// Rules and tables are not wider than 80 columns. Lines of prose stay whole for a screen reader.
const WIDTH: ProseWidth = ProseWidth { columns: 80, wrap: WrapSetting::Terminal };

pub(super) struct LinearTurn {
    theme: Theme,
    facts: TurnPaneStatus,
    queue: MessageQueue,
    pastes: PasteStore,
    started: Instant,
    stream: MarkdownStream,
    spoke: bool,
    thinking: Option<String>,
    silent: bool,
    /// A long apply was announced.
    applying: bool,
    open: Option<LinearQuestion>,
    begun: String,
    draft: String,
    recall: Option<String>,
    /// The mode refused something in this turn.
    limited: bool,
}

impl LinearTurn {
    pub(super) fn new(
        theme: Theme,
        facts: TurnPaneStatus,
        queue: MessageQueue,
        draft: String,
        pastes: PasteStore,
        now: Instant,
    ) -> LinearTurn {
        LinearTurn {
            theme,
            facts,
            queue,
            pastes,
            started: now,
            stream: MarkdownStream::default(),
            spoke: false,
            thinking: None,
            silent: false,
            applying: false,
            open: None,
            begun: String::new(),
            draft,
            recall: None,
            limited: false,
        }
    }

    pub(super) fn draft(&self) -> InputDraft {
        let whole = |line: QueuedMessage| self.pastes.expanded(&line.text).into_owned();
        let queued = self.queue.lines().into_iter().map(whole).collect();
        InputDraft { queued, typed: format!("{}{}", self.draft, self.begun) }
    }

    pub(super) fn is_expanded(&self) -> bool {
        self.facts.expanded
    }

    /// A line that was cleared, for the history.
    pub(super) fn take_recall(&mut self) -> Option<String> {
        self.recall.take()
    }

    /// Handles an event; returns the lines to print.
    pub(super) fn event(&mut self, event: TurnEvent, now: Instant) -> Vec<String> {
        match event {
            TurnEvent::Text(text) => {
                let mut out = self.end_thinking();
                let lines = self.stream.push(&text, &self.theme, WIDTH);
                out.extend(self.answer(&lines));
                out
            }
            TurnEvent::Thinking(text) => {
                let begins = self.thinking.is_none();
                self.thinking.get_or_insert_default().push_str(&text);
                if begins { vec![margin_mark::marked("thinking")] } else { Vec::new() }
            }
            TurnEvent::CallPlanned { title, .. } => self.labelled_lines("call", &title),
            TurnEvent::CallOutput { text, .. } if self.facts.expanded => {
                visible::output(&text).lines().map(|l| format!("output: {l}")).collect()
            }
            TurnEvent::CallEnded { outcome, summary, .. } => {
                let failed = summary.command.is_some_and(|command| command.has_failed());
                let outcome = if failed { CallOutcome::Failed } else { outcome };
                let mut out = self.labelled_lines(outcome_word(outcome), &summary.line);
                let (summary, fold) = match self.facts.expanded {
                    true => (summary, usize::MAX),
                    false => (summary.for_scrollback(), self.facts.display.fold),
                };
                out.extend(plain(&scrollback::call_detail(&summary, &self.theme, fold)));
                out.extend(plain(&scrollback::call_notes(&summary, &self.theme, fold)));
                out
            }
            TurnEvent::Question(question) => self.ask(AnyQuestion::Call(Box::new(question)), now),
            TurnEvent::LoopQuestion(question) => self.ask(AnyQuestion::Loop(question), now),
            TurnEvent::Choice(question) => {
                self.applying = false;
                self.ask(AnyQuestion::Choice(Box::new(question)), now)
            }
            TurnEvent::Enquiry(question) => self.ask(AnyQuestion::Enquiry(question), now),
            TurnEvent::Retrying { attempt, of, wait, error } => {
                let text = format!("{attempt} of {of} in {:.0} s: {error}", wait.as_secs_f64());
                self.labelled_lines("retry", &text)
            }
            // Printed once: a running clock would be noise.
            TurnEvent::Silent { since } if !std::mem::replace(&mut self.silent, true) => {
                self.labelled_lines("waiting", &format!("no data for {} s; Ctrl-C stops", since.as_secs()))
            }
            TurnEvent::Applying { all, .. } if !std::mem::replace(&mut self.applying, true) => {
                let files = if all == 0 { "files".into() } else { count::of(all, "file") };
                self.labelled_lines(
                    "waiting",
                    &format!("applies {files}; Ctrl-C stops before the first changes"),
                )
            }
            TurnEvent::Requested => {
                self.silent = false;
                Vec::new()
            }
            TurnEvent::Usage { total, .. } => {
                self.facts.usage = total;
                Vec::new()
            }
            TurnEvent::Todos(items) => {
                let news: Vec<String> = placet_tools::todo_lines(&items);
                self.facts.todos = items;
                let mut out = self.ended_parts();
                // The lines are rendered already.
                out.extend(news.iter().map(|line| margin_mark::marked(&format!("step: {line}"))));
                out
            }
            TurnEvent::Steered(text) => {
                let mut out = self.ended_parts();
                out.push(foreign("you", &text.replace('\n', " / ")));
                out
            }
            TurnEvent::Notice(text) => self.labelled_lines("note", &text),
            TurnEvent::LimitedByMode(Mode::Read) => {
                self.limited = true;
                Vec::new()
            }
            TurnEvent::Ended(ending) => {
                let hint = self.facts.to_ask_mode.filter(|_| self.limited);
                let hint = hint.map(|key| label("hint", &status::read_mode_hint(key)));
                let mut out = self.end(&ending, now);
                out.extend(hint);
                out
            }
            _ => Vec::new(),
        }
    }

    fn ask(&mut self, asked: AnyQuestion, now: Instant) -> Vec<String> {
        let mut out = self.ended_parts();
        let (open, said) = LinearQuestion::new(asked, &self.theme, now, !self.begun.is_empty());
        self.open = Some(open);
        out.extend(said);
        out
    }

    fn labelled_lines(&mut self, word: &str, text: &str) -> Vec<String> {
        let mut out = self.ended_parts();
        out.push(label(word, text));
        out
    }

    /// The buffered rest of thinking and of the answer.
    pub(super) fn ended_parts(&mut self) -> Vec<String> {
        let mut out = self.end_thinking();
        out.extend(self.end_text());
        out
    }

    fn answer(&mut self, lines: &[Line<'_>]) -> Vec<String> {
        let mut out = Vec::new();
        for line in plain(lines).into_iter().filter(|line| !line.trim().is_empty()) {
            let begins = !std::mem::replace(&mut self.spoke, true);
            out.push(if begins { format!("model: {line}") } else { line });
        }
        out
    }

    fn end_text(&mut self) -> Vec<String> {
        let lines = self.stream.finish(&self.theme, WIDTH);
        let out = self.answer(&lines);
        self.spoke = false;
        out
    }

    fn end_thinking(&mut self) -> Vec<String> {
        let Some(text) = self.thinking.take() else { return Vec::new() };
        if !self.facts.expanded {
            return Vec::new();
        }
        let clean = visible::prose(&text).into_owned();
        clean.lines().filter(|l| !l.trim().is_empty()).map(|l| foreign("thought", l)).collect()
    }

    fn end(&mut self, ending: &TurnEnding, now: Instant) -> Vec<String> {
        if let Some(open) = self.open.take() {
            open.asked.cancel();
        }
        let seconds = now.saturating_duration_since(self.started).as_secs();
        let tokens = match self.facts.usage.prompt() + self.facts.usage.output {
            0 => String::new(),
            _ => format!(", {}", token_counts::tokens(&self.facts.usage)),
        };
        match ending.words() {
            None => self.labelled_lines("done", &format!("the turn, after {seconds} s{tokens}")),
            Some((words, hint)) => {
                let mut out = self.labelled_lines("stopped", &words);
                out.extend(hint.map(|hint| label("hint", &hint)));
                out
            }
        }
    }

    /// Handles a typed line; returns the lines to print, and the action for the loop.
    pub(super) fn typed(&mut self, typed: TypedLine, now: Instant) -> (Vec<String>, Option<TurnPaneAction>) {
        match typed {
            TypedLine::Begun(text) => {
                // Text that was begun before a question does not answer it.
                if let Some(open) = &mut self.open {
                    open.begun(now);
                }
                self.begun = text;
                (Vec::new(), None)
            }
            TypedLine::Stop(text) => {
                self.begun.clear();
                if text.trim().is_empty() || self.open.is_some() {
                    self.recall = Some(text).filter(|text| !text.trim().is_empty());
                    return (vec![margin_mark::marked("stopping")], self.stop());
                }
                self.recall = Some(text);
                (vec![label("note", "the line is cleared; Ctrl-C again stops the turn")], None)
            }
            TypedLine::Suspend(text) => {
                self.begun.clear();
                if text.trim().is_empty() {
                    return (Vec::new(), Some(TurnPaneAction::Suspend));
                }
                // The terminal dropped the line with the key.
                let said = label("note", &format!("your unfinished line is at the next prompt: {text}"));
                self.draft = if self.draft.is_empty() { text } else { format!("{}\n{text}", self.draft) };
                (vec![said], Some(TurnPaneAction::Suspend))
            }
            // A paste answers nothing and is not a command, whatever its text is.
            TypedLine::Pasted(text) => {
                self.begun.clear();
                (vec![self.queue_paste(&text)], None)
            }
            TypedLine::Line(text) => {
                self.begun.clear();
                self.line(text.trim_end(), now)
            }
            // A line that came faster than a person types answers nothing either; where no question is open, it is an
            // ordinary line.
            TypedLine::AtOnce(text) => {
                self.begun.clear();
                if self.open.is_none() || is_command(text.trim()) {
                    return self.line(text.trim_end(), now);
                }
                self.recall = Some(text);
                let why = "ignored: a paste is not an answer. Type the answer";
                (vec![label("note", why)], None)
            }
            TypedLine::End => match self.open.is_some() {
                true => (vec![margin_mark::marked("stopping")], self.stop()),
                false => (Vec::new(), None),
            },
        }
    }

    fn stop(&mut self) -> Option<TurnPaneAction> {
        if let Some(open) = self.open.take() {
            open.asked.cancel();
        }
        Some(TurnPaneAction::Stop)
    }

    /// The terminal is gone. What is pending stays pending.
    pub(super) fn terminal_closed(&mut self) {
        let _ = self.stop();
    }

    fn line(&mut self, text: &str, now: Instant) -> (Vec<String>, Option<TurnPaneAction>) {
        match text.trim() {
            "" => (Vec::new(), None),
            "/stop" => (vec![margin_mark::marked("stopping")], self.stop()),
            "/mode" => (Vec::new(), Some(TurnPaneAction::CycleMode)),
            "/background" => (Vec::new(), Some(TurnPaneAction::ToBackground)),
            "/expand" => {
                self.facts.expanded = !self.facts.expanded;
                let how = if self.facts.expanded { "at length" } else { "in short" };
                (vec![label("note", &format!("thinking and output are shown {how}"))], None)
            }
            "/steer" => {
                let said = if self.queue.steer_newest(|line| self.pastes.expanded(line).into_owned()) {
                    "the newest line goes with the next request"
                } else {
                    "no queued line could go with the next request"
                };
                (vec![label("note", said)], None)
            }
            "/back" => match self.queue.take_back() {
                Some(text) => {
                    let said =
                        label("note", &format!("removed from the queue, and put at the next prompt: {text}"));
                    self.draft = if self.draft.is_empty() { text } else { format!("{}\n{text}", self.draft) };
                    (vec![said], None)
                }
                None => (vec![label("note", "nothing is queued")], None),
            },
            trimmed => match self.answer_to(trimmed, now) {
                Some(out) => out,
                // While a question is open, no line is sent to the model by mistake.
                None if self.open.is_some() && !is_command(trimmed) => (self.remind(text), None),
                None => (vec![self.enqueue(text)], None),
            },
        }
    }

    /// The result of a line that answers the question; `None` when the line does not answer it.
    fn answer_to(&mut self, text: &str, now: Instant) -> Option<(Vec<String>, Option<TurnPaneAction>)> {
        match self.open.as_mut()?.answer(text, now) {
            LinearOutcome::No => None,
            LinearOutcome::TooSoon => {
                self.recall = Some(text.into());
                let why = "ignored: typed before the question appeared. Type it again";
                Some((vec![label("note", why)], None))
            }
            LinearOutcome::Open(said) => Some((said, None)),
            LinearOutcome::Given(words, choice) => {
                let action = self.open.take()?.reply(choice);
                Some((vec![label("answered", &words)], action))
            }
        }
    }

    /// The typed line is not an answer: it is stored in the history.
    fn remind(&mut self, text: &str) -> Vec<String> {
        self.recall = Some(text.into());
        self.open.as_mut().map_or_else(Vec::new, LinearQuestion::remind)
    }

    fn queue_paste(&self, text: &str) -> String {
        let text = text.trim_end_matches(['\n', '\r']);
        match self.pastes.collapse_always(text) {
            Ok(words) => self.enqueue(&words),
            Err(error) => label("note", &error.to_string()),
        }
    }

    fn enqueue(&self, text: &str) -> String {
        let (text, sending) = match text.trim().strip_prefix("/steer ") {
            Some(rest) if !is_command(rest) => (rest.trim(), SendTiming::NextRequest),
            _ => (text, SendTiming::AfterTurn),
        };
        self.queue.push(text.into(), sending);
        let when = match sending {
            SendTiming::AfterTurn => "after this turn; /steer sends it with the next request",
            SendTiming::NextRequest => "with the next request",
        };
        let open = if self.open.is_some() { "; the question is still open" } else { "" };
        label("queued", &format!("{} {when}, /back removes it{open}: {text}", self.queue.lines().len()))
    }
}

#[cfg(test)]
#[path = "linear_tests.rs"]
mod tests;
