//! The pane while a turn runs: what is arriving, what is running, a question if there is one, and a line to type in.
//!
//! State changes in [`Live::event`] and [`Live::key`]; drawing takes `&self`. Neither does any I/O.

mod question;
mod run;

pub use run::{Ended, LiveSettings, run};

use super::cell;
use super::composer::Composer;
use super::stream::Stream;
use super::theme::Theme;
use super::wrap::wrap;
use crate::agent::{Ending, Event};
use crate::conversation::{CallId, Usage};
use crate::permission::{Level, Mode, Taint};
use crate::text::{sanitize, width};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use question::{Answered, Asked, Open};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::time::{Duration, Instant};

/// What a key asks of the loop around the pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Stop,
    CycleMode,
    Suspend,
}

/// What the pane shows of the session.
#[derive(Clone, Debug)]
pub struct Facts {
    pub model: String,
    pub window: u64,
    pub usage: Usage,
    pub prompt_tokens: u64,
    pub fold: usize,
    pub motion: bool,
    /// What the person said "always" to and has not taken back.
    pub grants: usize,
    /// How high the conversation is classified; shown above PUBLIC.
    pub taint: Taint,
}

struct RunningCall {
    id: CallId,
    title: String,
    since: Option<Instant>,
    tail: String,
}

/// A retry that is due at `at`.
struct Retry {
    attempt: u32,
    of: u32,
    at: Instant,
}

pub struct Live {
    theme: Theme,
    columns: usize,
    facts: Facts,
    started: Instant,
    stream: Stream,
    thinking: Option<(Instant, String)>,
    coming: Option<(String, usize)>,
    calls: Vec<RunningCall>,
    question: Option<Open>,
    /// Keys go to the draft although a question is open, because the draft was there first.
    composing: bool,
    composer: Composer,
    queued: Option<String>,
    recall: Option<String>,
    state: String,
    retry: Option<Retry>,
    last_input: Option<Instant>,
    stopping: bool,
    /// Text of the answer stands above, and a call since the last text.
    spoke: bool,
    worked: bool,
}

impl Live {
    pub fn new(theme: Theme, columns: usize, facts: Facts, now: Instant) -> Live {
        Live {
            theme,
            columns,
            facts,
            started: now,
            stream: Stream::default(),
            thinking: None,
            coming: None,
            calls: Vec::new(),
            question: None,
            composing: false,
            composer: Composer::default(),
            queued: None,
            recall: None,
            state: "waiting for the model".into(),
            retry: None,
            last_input: None,
            stopping: false,
            spoke: false,
            worked: false,
        }
    }

    pub fn resized(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// The draft, for the prompt; and a line that was sent off with Enter.
    pub fn take_drafts(&mut self) -> (String, Option<String>, Option<String>) {
        (self.composer.take(), self.queued.take(), self.recall.take())
    }

    /// Keys and pastes that arrived after the turn had ended.
    pub fn type_in(&mut self, text: &str) {
        self.composer.insert(text);
    }

    /// Takes an event; returns the lines that are finished and go to the scrollback.
    pub fn event(&mut self, event: Event, now: Instant) -> Vec<Line<'static>> {
        match event {
            Event::Requested => {
                self.retry = None;
                self.state = "waiting for the model".into();
                Vec::new()
            }
            Event::Text(text) => {
                let mut lines = self.end_thinking(now);
                self.state = "answering".into();
                if !std::mem::replace(&mut self.spoke, true) && std::mem::take(&mut self.worked) {
                    lines.push(Line::default());
                }
                lines.extend(self.stream.push(&text, &self.theme, self.columns));
                lines
            }
            Event::Thinking(text) => {
                let clean = sanitize::block(&text).into_owned();
                self.thinking.get_or_insert((now, String::new())).1.push_str(&clean);
                self.state = "thinking".into();
                Vec::new()
            }
            Event::CallComing { name, .. } => {
                self.coming = Some((name, 0));
                let mut lines = self.end_thinking(now);
                lines.extend(self.end_text());
                lines
            }
            Event::CallArguments { bytes } => {
                if let Some((_, total)) = &mut self.coming {
                    *total += bytes;
                }
                Vec::new()
            }
            Event::CallPlanned { id, title, .. } => {
                self.coming = None;
                let lines = self.end_text();
                let title = sanitize::line(&title).into_owned();
                self.calls.push(RunningCall { id, title, since: None, tail: String::new() });
                self.state = "working".into();
                lines
            }
            Event::CallRunning { id } => {
                if let Some(call) = self.calls.iter_mut().find(|c| c.id == id) {
                    call.since = Some(now);
                }
                Vec::new()
            }
            Event::CallOutput { id, text } => {
                if let Some(call) = self.calls.iter_mut().find(|c| c.id == id) {
                    call.tail.push_str(&text);
                    let excess = call.tail.len().saturating_sub(2000);
                    if let Some(at) = (excess..call.tail.len())
                        .find(|at| call.tail.is_char_boundary(*at))
                        .filter(|_| excess > 0)
                    {
                        call.tail.drain(..at);
                    }
                }
                Vec::new()
            }
            Event::CallEnded { id, outcome, summary, .. } => {
                self.calls.retain(|c| c.id != id);
                self.worked = true;
                self.coming = None;
                let mut lines = self.end_text();
                lines.extend(cell::call(outcome, &summary, &self.theme, self.facts.fold));
                lines
            }
            Event::Question(question) => self.ask(Asked::Call(Box::new(question))),
            Event::LoopQuestion(question) => self.ask(Asked::Loop(question)),
            Event::Choice(question) => self.ask(Asked::Choice(question)),
            Event::Retrying { attempt, of, wait, error } => {
                self.retry = Some(Retry { attempt, of, at: now + wait });
                let text = format!("{error}; retry {attempt}/{of} in {:.1} s", wait.as_secs_f64());
                vec![cell::notice(&text, &self.theme)]
            }
            Event::Silent { since } => {
                let seconds = since.as_secs();
                self.state = match seconds {
                    0..30 => format!("no data for {seconds} s"),
                    _ => format!("no data for {seconds} s: Esc, then /retry, sends it again"),
                };
                Vec::new()
            }
            Event::Usage { total, prompt, window } => {
                self.facts.usage = total;
                self.facts.prompt_tokens = prompt;
                self.facts.window = window;
                Vec::new()
            }
            Event::Notice(text) => {
                let mut lines = self.end_text();
                lines.push(cell::notice(&text, &self.theme));
                lines
            }
            Event::Ended(ending) => self.end(&ending, now),
        }
    }

    fn ask(&mut self, asked: Asked) -> Vec<Line<'static>> {
        self.question = Some(Open::new(asked));
        self.state = "waiting for you".into();
        self.composing = !self.composer.is_empty();
        self.end_text()
    }

    fn end_text(&mut self) -> Vec<Line<'static>> {
        let had_text = self.spoke;
        self.spoke = false;
        let mut lines = self.stream.finish(&self.theme, self.columns);
        if had_text {
            lines.push(Line::default());
        }
        lines
    }

    fn end_thinking(&mut self, now: Instant) -> Vec<Line<'static>> {
        let Some((since, text)) = self.thinking.take() else { return Vec::new() };
        let words = text.split_whitespace().count();
        let seconds = now.saturating_duration_since(since).as_secs();
        vec![Line::styled(format!("thought for {seconds} s ({words} words)"), self.theme.style("thinking"))]
    }

    fn end(&mut self, ending: &Ending, now: Instant) -> Vec<Line<'static>> {
        let mut lines = self.end_thinking(now);
        lines.extend(self.end_text());
        lines.extend(cell::ending(ending, &self.theme));
        self.calls.clear();
        self.coming = None;
        if let Some(open) = self.question.take() {
            open.cancel();
        }
        lines
    }

    /// A paste goes to the draft whole, whatever stands in it, and never answers anything.
    pub fn paste(&mut self, text: &str, now: Instant) {
        self.last_input = Some(now);
        self.composer.insert(&text.replace("\r\n", "\n").replace('\r', "\n"));
        self.composing = true;
    }

    pub fn key(&mut self, key: KeyEvent, now: Instant) -> Option<Action> {
        let quiet_since = self.last_input.replace(now);
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, ctrl) {
            (KeyCode::Char('c'), true) => return self.ctrl_c(),
            (KeyCode::Char('z'), true) => return Some(Action::Suspend),
            (KeyCode::BackTab, _) => return Some(Action::CycleMode),
            _ => {}
        }
        if let Some(open) = &mut self.question {
            if key.code == KeyCode::Tab {
                self.composing = !self.composing;
                return None;
            }
            if open.scroll_key(key) {
                return None;
            }
            if !self.composing && (open.is_typing() || open.may_answer(now, quiet_since)) {
                return match Open::answer_key(&mut self.question, key) {
                    Answered::Cancelled => self.stop(),
                    Answered::Closed | Answered::Open => None,
                    Answered::Not => None,
                };
            }
        }
        if key.code == KeyCode::Esc {
            return self.stop();
        }
        self.edit(key, ctrl);
        None
    }

    /// The draft first, then the turn.
    fn ctrl_c(&mut self) -> Option<Action> {
        if let Some(open) = self.question.take() {
            open.cancel();
            return self.stop();
        }
        if self.composer.is_empty() {
            return self.stop();
        }
        self.recall = Some(self.composer.take());
        None
    }

    fn stop(&mut self) -> Option<Action> {
        self.stopping = true;
        self.state = "stopping".into();
        Some(Action::Stop)
    }

    fn edit(&mut self, key: KeyEvent, ctrl: bool) {
        let composer = &mut self.composer;
        match (key.code, ctrl) {
            (KeyCode::Enter, _) if key.modifiers.contains(KeyModifiers::ALT) => composer.insert("\n"),
            (KeyCode::Char('j'), true) => composer.insert("\n"),
            (KeyCode::Enter, _) if !composer.is_empty() && self.queued.is_none() => {
                self.queued = Some(composer.take());
            }
            (KeyCode::Up, _) => {
                if let Some(text) = self.queued.take().or_else(|| self.recall.take()) {
                    composer.set(text);
                }
            }
            _ => composer.key(key),
        }
        if self.composer.is_empty() {
            self.composing = false;
        }
    }

    /// The pane as it looks at `now` in at most `room` rows.
    pub fn picture(&self, mode: Mode, room: u16, now: Instant) -> Picture {
        let room = usize::from(room.max(1));
        let (composer, column) = self.composer_row();
        let mut rest: Vec<Line<'static>> = Vec::new();
        if let Some(queued) = &self.queued {
            let text = format!("next: {}", sanitize::line(queued));
            rest.push(Line::styled(width::cut(&text, self.columns), self.theme.style("hint")));
        }
        rest.push(self.status_row(mode, now));
        rest.push(composer);
        let mut asked = None;
        if let Some(open) = &self.question {
            let ready = open.may_answer(now, self.last_input);
            let room = room.saturating_sub(rest.len()).max(4);
            let (mut rows, total, fits) = open.rows(&self.theme, self.columns, room, ready, self.composing);
            asked = Some((total, fits));
            rows.append(&mut rest);
            rest = rows;
        }
        let mut rows = self.work_rows(room.saturating_sub(rest.len()), now);
        rows.append(&mut rest);
        let excess = rows.len().saturating_sub(room);
        rows.drain(..excess);
        Picture { rows, column, asked }
    }

    /// The tail of the answer and the running calls, newest last, at most `room` rows.
    fn work_rows(&self, room: usize, now: Instant) -> Vec<Line<'static>> {
        let mut rows: Vec<Line<'static>> = Vec::new();
        if let Some((_, text)) = &self.thinking {
            let last = text.lines().rfind(|l| !l.trim().is_empty()).unwrap_or("");
            let line = Line::styled(last.to_string(), self.theme.style("thinking"));
            rows.extend(wrap(&line, self.columns).into_iter().next_back());
        }
        if !self.stream.is_empty() {
            let tail = self.stream.tail(&self.theme, self.columns);
            rows.extend(tail.iter().flat_map(|line| wrap(line, self.columns)));
        }
        for call in &self.calls {
            rows.extend(self.call_rows(call, now));
        }
        if let Some((name, bytes)) = &self.coming {
            let name = sanitize::line(name);
            let size =
                if *bytes > 999 { format!(" ({} bytes)", cell::short(*bytes as u64)) } else { String::new() };
            rows.push(Line::styled(format!("› {name} …{size}"), self.theme.style("call.running")));
        }
        let excess = rows.len().saturating_sub(room);
        rows.drain(..excess);
        rows
    }

    fn call_rows(&self, call: &RunningCall, now: Instant) -> Vec<Line<'static>> {
        let elapsed = call.since.map(|since| now.saturating_duration_since(since)).unwrap_or_default();
        let time =
            if elapsed >= Duration::from_secs(1) { format!("  {}", clock(elapsed)) } else { String::new() };
        let title = width::cut_middle(&call.title, self.columns.saturating_sub(3 + time.len()));
        let mut rows = vec![Line::from(vec![
            Span::styled("› ", self.theme.style("call.running")),
            Span::styled(title, self.theme.style("call")),
            Span::styled(time, self.theme.style("dim")),
        ])];
        let tail = sanitize::block(&call.tail).into_owned();
        let last: Vec<&str> = tail.lines().filter(|l| !l.trim().is_empty()).collect();
        for line in last.iter().skip(last.len().saturating_sub(3)) {
            let text = width::cut(line, self.columns.saturating_sub(4));
            rows.push(Line::styled(format!("  {text}"), self.theme.style("output")));
        }
        rows
    }

    /// What is going on; while a retry is due, counted down.
    fn state_words(&self, now: Instant) -> String {
        match &self.retry {
            Some(retry) if retry.at > now => {
                let left = retry.at.duration_since(now).as_secs_f64().ceil();
                format!("retry {}/{} in {left} s", retry.attempt, retry.of)
            }
            _ => self.state.clone(),
        }
    }

    fn status_row(&self, mode: Mode, now: Instant) -> Line<'static> {
        let elapsed = clock(now.saturating_duration_since(self.started));
        let mut rest = vec![self.state_words(now), elapsed, self.facts.model.clone()];
        if self.facts.usage.prompt() + self.facts.usage.output > 0 {
            rest.push(cell::tokens(&self.facts.usage));
        }
        if self.facts.window > 0 && self.facts.prompt_tokens > 0 {
            rest.push(format!("{}% of context", self.facts.prompt_tokens * 100 / self.facts.window.max(1)));
        }
        match self.facts.grants {
            0 => {}
            1 => rest.push("1 grant".into()),
            more => rest.push(format!("{more} grants")),
        }
        let level = self.facts.taint.load();
        if level > Level::Public {
            rest.push(level.to_string());
        }
        if !self.stopping {
            rest.push("Esc stops".into());
        }
        let text = width::cut(&sanitize::line(&rest.join(" · ")), self.columns.saturating_sub(4));
        Line::from(vec![
            Span::styled(format!("[{}]", mode.letter()), self.theme.style(mode_label(mode))),
            Span::styled(format!(" {text}"), self.theme.style("status")),
        ])
    }

    fn composer_row(&self) -> (Line<'static>, usize) {
        let (text, column) = self.composer.view(self.columns.saturating_sub(2));
        let line = Line::from(vec![Span::styled("> ", self.theme.style("prompt")), Span::raw(text)]);
        (line, column + 2)
    }

    /// `picture` stands on the screen since `now`.
    pub fn shown(&mut self, picture: &Picture, now: Instant) {
        if let (Some(open), Some((total, fits))) = (&mut self.question, picture.asked) {
            open.drawn(now, total, fits);
        }
    }

    /// True when time alone changes what is shown.
    pub fn ticks(&self) -> bool {
        self.facts.motion || self.question.is_some() || self.retry.is_some()
    }
}

/// One frame of the pane, laid out.
pub struct Picture {
    rows: Vec<Line<'static>>,
    column: usize,
    /// The rows of the question's body, and how many of them are in the frame.
    asked: Option<(usize, usize)>,
}

impl Picture {
    pub fn height(&self) -> u16 {
        u16::try_from(self.rows.len()).unwrap_or(u16::MAX)
    }

    /// Draws it; returns where the cursor stands.
    pub fn draw(&self, buffer: &mut Buffer, area: Rect) -> Option<(u16, u16)> {
        // In a pane that became too low the last rows matter: the line that is typed in.
        let skip = self.rows.len().saturating_sub(usize::from(area.height));
        for (y, row) in (0..area.height).zip(self.rows.iter().skip(skip)) {
            buffer.set_line(area.x, area.y + y, row, area.width);
        }
        let column = u16::try_from(self.column).unwrap_or(0).min(area.width.saturating_sub(1));
        Some((column, area.height.saturating_sub(1)))
    }
}

/// The theme's label for a mode.
pub fn mode_label(mode: Mode) -> &'static str {
    match mode {
        Mode::None => "mode.none",
        Mode::Read => "mode.read",
        Mode::Ask => "mode.ask",
        Mode::Write => "mode.write",
        Mode::Unrestricted => "mode.unrestricted",
    }
}

fn clock(elapsed: Duration) -> String {
    match elapsed.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        s => format!("{} h {:02} min", s / 3600, s / 60 % 60),
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
