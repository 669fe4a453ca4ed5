//! The last turns of a conversation that is resumed, as they looked: the same events go through the same pane, or through
//! the same lines without a screen, and nothing is drawn a second way.
//!
//! Only the end of a conversation is looked at: as many whole turns as fit about two screens. Of a longer last turn the
//! end is shown, below the person's words.

use super::linear::LinearTurn;
use super::pane::TurnPane;
use super::status::TurnPaneStatus;
use crate::colors::theme::Theme;
use crate::lines::margin_mark;
use crate::paste::PasteStore;
use crate::transcript::entry::{self, TranscriptContent, TranscriptEntry};
use crate::{picture, scrollback};
use placet_agent::{MessageQueue, TurnEvent};
use placet_session::session::ClosingLine;
use placet_text::conversation::{CallOutcome, Message, Note, Part};
use placet_text::text::count;
use placet_tools::{CallSummary, CommandEnd, DisplayDetail};
use ratatui::text::Line;
use std::ops::Range;
use std::time::Instant;

/// Turns that are shown at most, however short they are.
const TURNS: usize = 12;
/// Bytes of an answer of which lines are made: more than two screens of it.
const ANSWER_BYTES: usize = 32_000;
/// Lines of what the person said.
const SAID_LINES: usize = 12;

/// A conversation from a message on.
pub struct PastConversation<'m> {
    pub messages: &'m [Message],
    /// How many messages are before them.
    pub first: usize,
    /// What was shown below turns, in order.
    pub closing: &'m [ClosingLine],
}

/// Where the turns are shown.
pub struct PastTurnsScreen {
    pub theme: Theme,
    pub facts: TurnPaneStatus,
    pub columns: usize,
    pub rows: usize,
    pub is_linear: bool,
}

/// The lines, and how many of the person's messages are among them.
#[derive(Default)]
pub struct PastTurns {
    pub lines: Vec<Line<'static>>,
    pub said: usize,
}

enum PastPiece<'m> {
    Entry(TranscriptEntry<'m>),
    Closing(&'m str),
}

enum PastTurnRenderer {
    Pane(Box<TurnPane>),
    Linear(Box<LinearTurn>),
}

/// The last turns of `past`.
pub fn past_turns(past: &PastConversation<'_>, screen: &PastTurnsScreen) -> PastTurns {
    let most = screen.rows.max(10) * 2;
    let (mut shown, mut end, mut turns) = (PastTurns::default(), past.messages.len(), 0);
    while end > 0 && turns < TURNS {
        let begins = (0..end).rev().find(|at| begins_turn(past.messages, *at)).unwrap_or(0);
        let mut lines = turn(past, begins..end, screen, most);
        if turns > 0 && rows(&lines, screen.columns) + rows(&shown.lines, screen.columns) > most {
            break;
        }
        lines.append(&mut shown.lines);
        shown.lines = lines;
        let messages = past.messages.get(begins..end).unwrap_or_default();
        shown.said += messages.iter().filter(|m| matches!(m, Message::User { .. })).count();
        (end, turns) = (begins, turns + 1);
    }
    shown
}

/// The last turn alone.
pub fn last_turn(past: &PastConversation<'_>, screen: &PastTurnsScreen) -> Vec<Line<'static>> {
    let end = past.messages.len();
    let begins = (0..end).rev().find(|at| begins_turn(past.messages, *at)).unwrap_or(0);
    turn(past, begins..end, screen, screen.rows.max(10) * 2)
}

/// What the person adds while a turn runs follows results and begins nothing.
fn begins_turn(messages: &[Message], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| messages.get(before));
    matches!(messages.get(at), Some(Message::User { .. })) && !matches!(before, Some(Message::Results { .. }))
}

fn rows(lines: &[Line<'_>], columns: usize) -> usize {
    lines.iter().map(|line| line.width().div_ceil(columns.max(1)).max(1)).sum()
}

/// One turn in at most about `most` rows.
fn turn(
    past: &PastConversation<'_>,
    messages: Range<usize>,
    screen: &PastTurnsScreen,
    most: usize,
) -> Vec<Line<'static>> {
    let mut pieces = pieces(past, messages);
    let begins = pieces.iter().position(|piece| !is_said(piece)).unwrap_or(pieces.len());
    let work = pieces.split_off(begins);
    let mut renderer = PastTurnRenderer::new(screen);
    let mut lines = if screen.is_linear { Vec::new() } else { vec![Line::default()] };
    lines.extend(pieces.iter().flat_map(|piece| renderer.piece(piece)));
    if !screen.is_linear {
        lines.push(Line::default());
    }
    let mut room = most;
    let fits = work.iter().rev().take_while(|piece| {
        let fits = room > 0;
        room = room.saturating_sub(estimated_rows(piece, screen));
        fits
    });
    let left_out = work.len() - fits.count();
    if left_out > 0 {
        let text = format!("… {} of this turn", count::of(left_out, "earlier entry"));
        lines.extend(scrollback::hint(&text, &screen.theme));
    }
    let mut done: Vec<Line<'static>> = work.iter().skip(left_out).flat_map(|p| renderer.piece(p)).collect();
    done.extend(renderer.end());
    let excess = rows(&done, screen.columns).saturating_sub(most).min(done.len());
    if excess > 0 {
        done.drain(..excess);
        lines.extend(scrollback::hint(&format!("… {}", count::of(excess, "earlier line")), &screen.theme));
    }
    lines.append(&mut done);
    // The answer ends with an empty line, and so does the space before the next turn and before the prompt.
    while lines.last().is_some_and(|line| line.width() == 0) {
        lines.pop();
    }
    lines
}

fn is_said(piece: &PastPiece<'_>) -> bool {
    let PastPiece::Entry(entry) = piece else { return false };
    matches!(entry.what, TranscriptContent::Person(_) | TranscriptContent::Attached(_))
}

/// What the screen had of the messages, in order.
fn pieces<'m>(past: &PastConversation<'m>, messages: Range<usize>) -> Vec<PastPiece<'m>> {
    let mut out = Vec::new();
    for at in messages {
        // The results of a call are in the message after it.
        let with_results = match past.messages.get(at) {
            Some(Message::Assistant(_)) => past.messages.get(at..(at + 2).min(past.messages.len())),
            _ => past.messages.get(at..at + 1),
        };
        let entries = entry::entries(with_results.unwrap_or_default()).into_iter();
        // After an answer without calls the person's next message is among them.
        let is_answer = matches!(past.messages.get(at), Some(Message::Assistant(_)));
        let own = entries.filter(|entry| !is_answer || entry.turn == 0);
        out.extend(own.map(PastPiece::Entry));
        let below = past.closing.iter().filter(|closing| closing.messages == past.first + at + 1);
        out.extend(below.map(|closing| PastPiece::Closing(&closing.line)));
    }
    out
}

fn estimated_rows(piece: &PastPiece<'_>, screen: &PastTurnsScreen) -> usize {
    match piece {
        PastPiece::Closing(_) => 1,
        PastPiece::Entry(entry) => match entry.what {
            TranscriptContent::Answer(_, text) => {
                let text = end_of(text);
                text.lines().count() + text.len() / screen.columns.max(1) + 1
            }
            TranscriptContent::Person(_) => SAID_LINES,
            TranscriptContent::Thinking(_) => 0,
            TranscriptContent::Call(..) if entry.exit_code().is_some() => screen.facts.display.fold + 2,
            TranscriptContent::Attached(_) | TranscriptContent::Call(..) => 1,
        },
    }
}

/// The end of a long answer, from the beginning of a line on.
fn end_of(text: &str) -> &str {
    let from = text.floor_char_boundary(text.len().saturating_sub(ANSWER_BYTES));
    let tail = text.get(from..).unwrap_or(text);
    match tail.split_once('\n') {
        Some((_, whole)) if from > 0 => whole,
        _ => tail,
    }
}

/// The same as Markdown: where it begins within a block of code, the block begins here.
fn markdown_end(text: &str) -> String {
    let tail = end_of(text);
    let before = text.get(..text.len() - tail.len()).unwrap_or_default();
    let is_code = before.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1;
    if is_code { format!("```\n{tail}") } else { tail.to_string() }
}

impl PastTurnRenderer {
    fn new(screen: &PastTurnsScreen) -> PastTurnRenderer {
        let (theme, facts) = (screen.theme.clone(), screen.facts.clone());
        let (queue, pastes, now) = (MessageQueue::default(), PasteStore::default(), Instant::now());
        match screen.is_linear {
            true => PastTurnRenderer::Linear(Box::new(LinearTurn::new(
                theme,
                facts,
                queue,
                String::new(),
                pastes,
                now,
            ))),
            false => PastTurnRenderer::Pane(Box::new(TurnPane::new(
                theme,
                screen.columns,
                facts,
                queue,
                pastes,
                now,
            ))),
        }
    }

    fn event(&mut self, event: TurnEvent) -> Vec<Line<'static>> {
        match self {
            PastTurnRenderer::Pane(pane) => pane.event(event, Instant::now()),
            PastTurnRenderer::Linear(turn) => {
                turn.event(event, Instant::now()).into_iter().map(Line::raw).collect()
            }
        }
    }

    /// What waits of an answer.
    fn end(&mut self) -> Vec<Line<'static>> {
        match self {
            PastTurnRenderer::Pane(pane) => {
                let columns = pane.columns;
                pane.end_text().into_iter().map(|line| margin_mark::clear_margin(line, columns)).collect()
            }
            PastTurnRenderer::Linear(turn) => turn.ended_parts().into_iter().map(Line::raw).collect(),
        }
    }

    fn piece(&mut self, piece: &PastPiece<'_>) -> Vec<Line<'static>> {
        let entry = match piece {
            PastPiece::Closing(line) => return self.event(TurnEvent::Notice((*line).to_string())),
            PastPiece::Entry(entry) => entry,
        };
        match entry.what {
            TranscriptContent::Person(text) => self.event(TurnEvent::Steered(first_lines(text))),
            TranscriptContent::Attached(part) => match attached(part) {
                Some(words) => self.event(TurnEvent::Notice(words)),
                None => Vec::new(),
            },
            TranscriptContent::Answer(_, text) => self.event(TurnEvent::Text(markdown_end(text))),
            // How long it took is not stored.
            TranscriptContent::Thinking(_) => Vec::new(),
            TranscriptContent::Call(call, result) => {
                let (id, name, head) = (call.id.clone(), call.name.clone(), entry.head());
                let shown = result.map(|result| result.shown.clone()).filter(|shown| !shown.is_empty());
                let mut summary = CallSummary::line(shown.unwrap_or_else(|| head.clone()));
                // What is stored names the object already.
                let is_linear = matches!(self, PastTurnRenderer::Linear(_));
                let title = if is_linear { head } else { summary.line.clone() };
                let printed = entry.printed().unwrap_or_default();
                let lines = printed.lines().count();
                summary.command = entry.exit_code().map(|code| CommandEnd { code, lines });
                if summary.command.is_some() && !printed.is_empty() {
                    summary.detail = DisplayDetail::Text(printed);
                }
                let outcome = entry.outcome().unwrap_or(CallOutcome::Interrupted);
                let mut lines =
                    self.event(TurnEvent::CallPlanned { id: id.clone(), name: name.clone(), title });
                lines.extend(self.event(TurnEvent::CallEnded { id, name, outcome, summary }));
                lines
            }
        }
    }
}

/// What the person said, as far as it is shown.
fn first_lines(text: &str) -> String {
    let mut lines = text.trim_end().lines();
    let mut out: Vec<&str> = lines.by_ref().take(SAID_LINES).collect();
    let more = lines.count();
    let note = format!("… {}", count::of(more, "more line"));
    if more > 0 {
        out.push(&note);
    }
    let mut out = out.join("\n");
    if out.len() > ANSWER_BYTES / 8 {
        out.truncate(out.floor_char_boundary(ANSWER_BYTES / 8));
        out.push('…');
    }
    out
}

/// What placet said when a file was attached; other notes were never shown.
fn attached(part: &Part) -> Option<String> {
    match part {
        Part::Note(Note::AttachedFile { path }) => Some(format!("attached {path}")),
        Part::Note(Note::AttachedScratchpad { name }) => Some(format!("attached the scratchpad {name}")),
        Part::Image(image) => Some(format!("attached {} {}", image.word(), picture::chip(image))),
        Part::Text { .. } | Part::Note(_) => None,
    }
}

#[cfg(test)]
#[path = "past_turns_tests.rs"]
mod tests;
