//! Loop guards: they tell the model first and then ask the person; they never halt useful work on their own.

use crate::conversation::{Call, CallResult, Outcome};

/// Watches for the same call with the same result.
#[derive(Debug, Default)]
pub(super) struct Loops {
    last: Vec<(u64, u32)>,
    /// What this answer called already: calls side by side are no loop, however alike.
    round: Vec<u64>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Fresh,
    Tell(u32),
    Ask(u32),
}

/// Identical calls in a row at which the model is told, and at which the person is asked; a failing one asks sooner.
const TELL: u32 = 3;
const ASK: u32 = 5;
const ASK_FAILING: u32 = 3;
/// How many different calls are remembered, so that a loop of two or three calls is seen as well.
const REMEMBERED: usize = 4;

impl Loops {
    /// The calls of the next answer follow.
    pub(super) fn next_round(&mut self) {
        self.round.clear();
    }

    /// A call whose result changes, and calls that differ, never count: polling and series of edits are work.
    pub(super) fn record(&mut self, call: &Call, result: &CallResult) -> Repeat {
        let key = key(call, result);
        if self.round.contains(&key) {
            return Repeat::Fresh;
        }
        self.round.push(key);
        let times = match self.last.iter().position(|(k, _)| *k == key) {
            Some(at) => self.last.remove(at).1 + 1,
            None => 1,
        };
        self.last.push((key, times));
        if self.last.len() > REMEMBERED {
            self.last.remove(0);
        }
        let failing = result.outcome == Outcome::Failed;
        match times {
            n if failing && n >= ASK_FAILING || n >= ASK => Repeat::Ask(n),
            n if n >= TELL => Repeat::Tell(n),
            _ => Repeat::Fresh,
        }
    }
}

fn key(call: &Call, result: &CallResult) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for piece in [call.name.as_str(), &format!("{:?}", call.input), &format!("{:?}", result.outcome)] {
        hasher.update(piece.as_bytes());
        hasher.update(&[0]);
    }
    hasher.update(result.body().as_bytes());
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// Watches for one paragraph said over and over within an answer.
#[derive(Debug, Default)]
pub(super) struct Echo {
    line: String,
    last: String,
    times: u32,
}

impl Echo {
    pub(super) const LIMIT: u32 = 5;
    /// Shorter lines repeat in honest text: table rows, brackets, blank lines.
    const SHORTEST: usize = 40;

    /// True when the line that just ended is the fifth equal one in a row.
    pub(super) fn feed(&mut self, text: &str) -> bool {
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if !piece.ends_with('\n') {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if line.trim().is_empty() {
                continue;
            }
            self.times = if line == self.last { self.times + 1 } else { 1 };
            self.last = line;
            if self.times >= Echo::LIMIT && self.last.trim().len() >= Echo::SHORTEST {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{CallId, Input};

    fn call(path: &str) -> Call {
        let input = Input::Object(serde_json::json!({ "path": path }));
        Call { id: CallId::new("x"), name: "read_file".into(), input }
    }

    fn repeats(outcome: Outcome, texts: &[&str]) -> Vec<Repeat> {
        let mut loops = Loops::default();
        let call = call("a");
        let mut record = |text: &str| {
            loops.next_round();
            loops.record(&call, &CallResult::text(&call, outcome, text))
        };
        texts.iter().map(|t| record(t)).collect()
    }

    #[test]
    fn a_failing_call_asks_at_the_third_time_and_a_working_one_at_the_fifth() {
        use Repeat::{Ask, Fresh, Tell};
        assert_eq!(repeats(Outcome::Failed, &["e", "e", "e"]), [Fresh, Fresh, Ask(3)]);
        assert_eq!(repeats(Outcome::Done, &["x"; 5]), [Fresh, Fresh, Tell(3), Tell(4), Ask(5)]);
    }

    #[test]
    fn the_same_call_many_times_in_one_answer_is_no_loop() {
        let mut loops = Loops::default();
        let call = call("a");
        let result = CallResult::text(&call, Outcome::Failed, "no");
        assert!((0..20).all(|_| loops.record(&call, &result) == Repeat::Fresh));
    }

    #[test]
    fn polling_whose_result_changes_is_never_a_loop() {
        let texts: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert!(repeats(Outcome::Done, &texts).iter().all(|r| *r == Repeat::Fresh));
    }

    #[test]
    fn two_calls_in_turn_are_seen_as_a_loop_too() {
        let mut loops = Loops::default();
        let mut last = Repeat::Fresh;
        for _ in 0..3 {
            loops.next_round();
            for path in ["a", "b"] {
                let call = call(path);
                last = loops.record(&call, &CallResult::text(&call, Outcome::Failed, "no"));
            }
        }
        assert_eq!(last, Repeat::Ask(3));
    }

    #[test]
    fn a_paragraph_said_five_times_is_an_echo_and_short_lines_are_not() {
        let long = "I will now look at the file to see what is in there.\n\n";
        let mut echo = Echo::default();
        assert_eq!((0..5).map(|_| echo.feed(long)).collect::<Vec<_>>(), [false, false, false, false, true]);
        let mut echo = Echo::default();
        assert!(!(0..50).any(|_| echo.feed("| --- |\n")));
    }
}
