//! Questions to the terminal whose answers are read: its colours, and the row of the cursor.
//!
//! The answers come in the stream of the keys and in the order of the questions. The last questions are for the cursor
//! at places that are drawn by lot: their answers say that everything before them was answered, also what a program
//! asked before. A program cannot prepare them, because it does not know the places. Every terminal that answers at
//! all answers them.

use super::background;
use crate::terminal::term;
use crate::terminal::terminal_colors::{self, ColorSlot, TerminalColors};
use rustix::event::{PollFd, PollFlags};
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// So many places: with the 1,920 of a small window they cannot be guessed.
const PLACES: usize = 6;
/// The longest answer. What is longer is none.
const LONGEST: usize = 64;
/// While the program runs, an answer is expected for so long.
const EXPECTED: Duration = Duration::from_secs(5);
/// A terminal that has not answered after this time does not answer.
const FIRST: Duration = Duration::from_secs(2);
/// Terminals that would show a question as text, or that cannot move the cursor.
const MUTE: [&str; 7] = ["dumb", "emacs", "cons25", "eterm", "unknown", "vt1", "vt2"];

/// The terminal did not answer in time. It is not asked again, so that nobody waits a second time.
static IS_MUTE: AtomicBool = AtomicBool::new(false);

/// What was asked, and what was answered until now.
#[derive(Debug, Default)]
pub struct TerminalInquiry {
    places: Vec<(u16, u16)>,
    /// Where the cursor was, by the last answers; the newest is the last one.
    cursors: VecDeque<(u16, u16)>,
    colors: TerminalColors,
    /// The beginning of an answer.
    held: Vec<u8>,
    /// Absent where nothing was asked.
    asked: Option<Instant>,
}

enum AnswerScan {
    Color(ColorSlot, String),
    Cursor((u16, u16)),
    /// More has to come.
    Part,
    None,
}

impl TerminalInquiry {
    /// Asks. The base mode must hold, and the terminal must understand: see [`crate::terminal::reclaim`].
    pub fn ask() -> TerminalInquiry {
        let name = std::env::var("TERM").unwrap_or_default();
        let is_mute = name.is_empty() || MUTE.iter().any(|mute| name.starts_with(mute));
        if is_mute || IS_MUTE.load(Ordering::SeqCst) {
            return TerminalInquiry::default();
        }
        let (columns, rows) = term::size();
        let places: Vec<(u16, u16)> = (0..PLACES).map(|_| (drawn(rows), drawn(columns))).collect();
        let asked: String =
            places.iter().map(|(row, column)| format!("\x1b[{row};{column}H\x1b[6n")).collect();
        let question = format!("\x1b7\x1b[6n{}{asked}\x1b8", TerminalColors::question());
        term::write_all(question.as_bytes());
        TerminalInquiry { places, asked: Some(Instant::now()), ..TerminalInquiry::default() }
    }

    /// False for a terminal that is not asked.
    pub fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Everything was answered.
    pub fn is_complete(&self) -> bool {
        !self.places.is_empty() && self.cursors.iter().skip(1).eq(&self.places)
    }

    pub fn colors(&self) -> &TerminalColors {
        &self.colors
    }

    /// So many rows were in use, to the cursor.
    pub fn rows(&self) -> Option<u16> {
        let (row, column) = self.cursors.front().filter(|_| self.is_complete())?;
        Some(row.saturating_sub(u16::from(*column == 1)))
    }

    /// Takes the answers out of what was typed, so that nobody else reads them.
    pub fn take_out(&mut self, typed: &mut Vec<u8>) {
        if !self.held.is_empty() {
            typed.splice(0..0, self.held.drain(..));
        }
        if self.is_complete() || self.asked.is_none_or(|asked| asked.elapsed() > EXPECTED) {
            return;
        }
        let (mut rest, mut kept) = (typed.as_slice(), Vec::new());
        while let Some((first, after)) = rest.split_first() {
            let (scan, length) = if self.is_complete() { (AnswerScan::None, 1) } else { answer(rest) };
            match scan {
                AnswerScan::Color(slot, value) => {
                    background::note(rest.get(..length).unwrap_or_default());
                    self.colors.note(slot, value);
                }
                AnswerScan::Cursor(place) => {
                    self.cursors.push_back(place);
                    if self.cursors.len() > PLACES + 1 {
                        self.cursors.pop_front();
                    }
                }
                // A lone escape is a key, unless answers have begun to come.
                AnswerScan::Part if length > 1 || !self.cursors.is_empty() => {
                    self.held = rest.to_vec();
                    break;
                }
                AnswerScan::Part | AnswerScan::None => {
                    kept.push(*first);
                    rest = after;
                    continue;
                }
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        *typed = kept;
    }

    /// Waits for the answers, up to two seconds after the question; up to five where it answered the
    /// `earlier` one. Returns what else was typed.
    pub fn wait(&mut self, earlier: Option<&TerminalInquiry>) -> Vec<u8> {
        let Some(asked) = self.asked else { return Vec::new() };
        let end = asked + if earlier.is_some_and(TerminalInquiry::is_complete) { EXPECTED } else { FIRST };
        let (mut others, mut buffer) = (Vec::new(), vec![0; super::CHUNK]);
        while !self.is_complete() {
            let left = end.saturating_duration_since(Instant::now());
            let terminal = term::input();
            let mut fds = [PollFd::new(&terminal, PollFlags::IN)];
            let wait = super::async_key_reader::timespec(left);
            match rustix::event::poll(&mut fds, Some(&wait)) {
                Err(rustix::io::Errno::INTR) if !left.is_zero() => continue,
                Ok(n) if n > 0 => {}
                _ => break,
            }
            match rustix::io::read(terminal, &mut buffer) {
                Ok(n) if n > 0 => {
                    let mut typed = buffer.get(..n).unwrap_or_default().to_vec();
                    self.take_out(&mut typed);
                    others.extend(typed);
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                _ => break,
            }
        }
        if !self.is_complete() {
            IS_MUTE.store(true, Ordering::SeqCst);
            // Nobody waits again and takes keys.
            self.asked = None;
        }
        others.append(&mut self.held);
        others
    }
}

/// A number from 1 to `most`.
fn drawn(most: u16) -> u16 {
    let random = RandomState::new().build_hasher().finish();
    u16::try_from(random % u64::from(most.max(1))).unwrap_or(0) + 1
}

/// What begins here, and its length.
fn answer(bytes: &[u8]) -> (AnswerScan, usize) {
    let most = bytes.len().min(LONGEST);
    let is_short = bytes.len() < LONGEST;
    let part = || if is_short { (AnswerScan::Part, bytes.len()) } else { (AnswerScan::None, 1) };
    match bytes {
        [0x1b] => (AnswerScan::Part, 1),
        [0x1b, b'[', body @ ..] => {
            let end = body.iter().position(|b| !matches!(b, b'0'..=b'9' | b';'));
            match end.map(|end| (end, body.get(end))) {
                None => part(),
                Some((end, Some(b'R'))) => match body.get(..end).and_then(place) {
                    Some(place) => (AnswerScan::Cursor(place), end + 3),
                    None => (AnswerScan::None, 1),
                },
                Some(_) => (AnswerScan::None, 1),
            }
        }
        [0x1b, b']', body @ ..] => {
            let end = body.iter().take(most).position(|b| matches!(b, 0x07 | 0x1b));
            let Some(end) = end else { return part() };
            let length = match (body.get(end), body.get(end + 1)) {
                (Some(0x07), _) => end + 3,
                (_, Some(b'\\')) => end + 4,
                (_, None) => return part(),
                _ => return (AnswerScan::None, 1),
            };
            match body.get(..end).and_then(terminal_colors::answered) {
                Some((slot, value)) => (AnswerScan::Color(slot, value), length),
                None => (AnswerScan::None, 1),
            }
        }
        _ => (AnswerScan::None, 1),
    }
}

fn place(body: &[u8]) -> Option<(u16, u16)> {
    let (row, column) = std::str::from_utf8(body).ok()?.split_once(';')?;
    Some((row.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inquiry() -> TerminalInquiry {
        let places = vec![(3, 4), (1, 2), (9, 9), (9, 9), (5, 1), (2, 70)];
        TerminalInquiry { places, asked: Some(Instant::now()), ..TerminalInquiry::default() }
    }

    const ANSWERS: &str = "\x1b[7;1R\x1b]4;1;rgb:11/22/33\x1b\\\x1b]11;rgb:00/00/00\x07\
        \x1b[3;4R\x1b[1;2R\x1b[9;9R\x1b[9;9R\x1b[5;1R\x1b[2;70R";

    #[test]
    fn answers_are_taken_out_of_keys_however_they_are_cut() {
        let input = ANSWERS.replace("\x07", "\x07ab\x1b[A\x1b[200~c\x1b[201~") + "\x1b[9;9Rd\x1b";
        for step in 2..input.len() {
            let (mut asked, mut typed) = (inquiry(), Vec::new());
            for piece in input.as_bytes().chunks(step) {
                let mut piece = piece.to_vec();
                asked.take_out(&mut piece);
                typed.extend(piece);
            }
            assert!(asked.is_complete(), "in pieces of {step}");
            assert_eq!(asked.rows(), Some(6));
            let text = String::from_utf8(typed).unwrap();
            assert_eq!(text, "ab\x1b[A\x1b[200~c\x1b[201~\x1b[9;9Rd\x1b", "in pieces of {step}");
        }
    }

    #[test]
    fn what_a_program_asked_before_is_overtaken() {
        let mut asked = inquiry();
        // Its own questions: the right colour, and some of the places.
        let early = "\x1b]4;1;rgb:ff/ff/ff\x07\x1b[3;4R\x1b[1;2R\x1b[9;9R";
        let mut typed = format!("{early}{ANSWERS}").into_bytes();
        asked.take_out(&mut typed);
        assert_eq!((asked.is_complete(), typed), (true, Vec::new()));
        let mut only = inquiry();
        only.take_out(&mut ANSWERS.as_bytes().to_vec());
        assert_eq!((asked.colors(), asked.rows()), (only.colors(), only.rows()));
    }
}
