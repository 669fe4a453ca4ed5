//! Loop guards: they warn the model first and then ask the person; they never stop useful work on their own.
//!
//! Results are compared by the digest that the tool recorded without changing parts ([`CallFact::Same`]), or else by
//! their text. [`super::repetition`] finds text that an answer repeats.

use placet_text::conversation::{CallFact, CallResult, ToolCall, text_of};

/// Detects the same call with the same result.
#[derive(Debug)]
pub(crate) struct LoopDetector {
    /// After so many repetitions in a row it asks; 0 never asks.
    limit: u32,
    last: Vec<(u64, u32)>,
    /// The calls of this answer until now: equal calls within one answer are not a loop.
    round: Vec<u64>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoopVerdict {
    Fresh,
    Tell(u32),
    Ask(u32),
}

/// How many different calls are remembered, to detect loops of two or three calls as well.
const REMEMBERED: usize = 4;

impl LoopDetector {
    pub(crate) fn new(limit: u32) -> LoopDetector {
        LoopDetector { limit, last: Vec::new(), round: Vec::new() }
    }

    /// The calls of the next answer follow.
    pub(crate) fn next_round(&mut self) {
        self.round.clear();
    }

    /// Starts again: the person agreed to continue.
    pub(crate) fn forget(&mut self) {
        *self = LoopDetector::new(self.limit);
    }

    /// A call whose result changes, and calls that differ, never count: polling and series of edits are work.
    pub(crate) fn record(&mut self, call: &ToolCall, result: &CallResult) -> LoopVerdict {
        if self.limit == 0 {
            return LoopVerdict::Fresh;
        }
        let key = key(call, result);
        if self.round.contains(&key) {
            return LoopVerdict::Fresh;
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
        // The model is warned after half of the limit, and if possible at least once before the person is asked.
        let tell = self.limit.div_ceil(2).max(2);
        match times {
            // A single call is not a loop, even with a limit of 1.
            n if n >= self.limit.max(2) => LoopVerdict::Ask(n),
            n if n >= tell => LoopVerdict::Tell(n),
            _ => LoopVerdict::Fresh,
        }
    }
}

fn key(call: &ToolCall, result: &CallResult) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for piece in [call.name.as_str(), &format!("{:?}", call.input), &format!("{:?}", result.outcome)] {
        hasher.update(piece.as_bytes());
        // A separator, so that "ab" and "c" do not have the hash of "a" and "bc".
        hasher.update(&[0]);
    }
    let same = result.facts.iter().find_map(|fact| match fact {
        CallFact::Same { digest } => Some(digest.clone()),
        _ => None,
    });
    hasher.update(same.unwrap_or_else(|| text_of(&result.parts)).as_bytes());
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_text::conversation::{CallId, CallInput, CallOutcome};

    fn call(path: &str) -> ToolCall {
        let input = CallInput::Object(serde_json::json!({ "path": path }));
        ToolCall { id: CallId::new("x"), name: "read_file".into(), input }
    }

    fn repeats(limit: u32, outcome: CallOutcome, texts: &[&str]) -> Vec<LoopVerdict> {
        let mut loops = LoopDetector::new(limit);
        let call = call("a");
        let mut record = |text: &str| {
            loops.next_round();
            loops.record(&call, &CallResult::text(&call, outcome, text))
        };
        texts.iter().map(|t| record(t)).collect()
    }

    #[test]
    fn a_call_is_told_at_the_third_time_and_asks_at_the_fifth_whether_it_fails_or_works() {
        use LoopVerdict::{Ask, Fresh, Tell};
        for outcome in [CallOutcome::Failed, CallOutcome::Done] {
            assert_eq!(repeats(5, outcome, &["x"; 5]), [Fresh, Fresh, Tell(3), Tell(4), Ask(5)]);
        }
        assert_eq!(repeats(3, CallOutcome::Failed, &["x"; 3]), [Fresh, Tell(2), Ask(3)]);
        assert_eq!(repeats(1, CallOutcome::Failed, &["x"; 2]), [Fresh, Ask(2)]);
        assert!(repeats(0, CallOutcome::Failed, &["x"; 50]).iter().all(|r| *r == Fresh));
    }

    #[test]
    fn a_result_that_is_recorded_as_the_same_counts_however_its_text_differs() {
        use LoopVerdict::{Fresh, Tell};
        let mut loops = LoopDetector::new(5);
        let call = call("a");
        let mut record = |seconds: &str, digest: &str| {
            loops.next_round();
            let text = format!("no such test\n[exit code 1, {seconds} s, in /w]");
            let same = CallFact::Same { digest: digest.into() };
            loops.record(&call, &CallResult::text(&call, CallOutcome::Done, text).with(vec![same]))
        };
        let told = ["0.1", "12.3", "0.4"].map(|seconds| record(seconds, "one"));
        assert_eq!(told, [Fresh, Fresh, Tell(3)]);
        assert_eq!(record("0.4", "other"), Fresh, "the same words, and another outcome");
    }

    #[test]
    fn a_text_that_looks_like_placets_own_lines_is_compared_to_the_byte() {
        let clock: Vec<String> = (0..5).map(|n| format!("[exit code 0, {n}.0 s, in /w]\n")).collect();
        let clock: Vec<&str> = clock.iter().map(String::as_str).collect();
        assert!(repeats(5, CallOutcome::Done, &clock).iter().all(|repeat| *repeat == LoopVerdict::Fresh));
    }

    #[test]
    fn the_same_call_many_times_in_one_answer_is_no_loop() {
        let mut loops = LoopDetector::new(5);
        let call = call("a");
        let result = CallResult::text(&call, CallOutcome::Failed, "no");
        assert!((0..20).all(|_| loops.record(&call, &result) == LoopVerdict::Fresh));
    }

    #[test]
    fn polling_whose_result_changes_is_never_a_loop() {
        let texts: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert!(repeats(5, CallOutcome::Done, &texts).iter().all(|r| *r == LoopVerdict::Fresh));
    }

    #[test]
    fn two_calls_in_turn_are_seen_as_a_loop_too() {
        let mut loops = LoopDetector::new(5);
        let mut last = LoopVerdict::Fresh;
        for _ in 0..5 {
            loops.next_round();
            for path in ["a", "b"] {
                let call = call(path);
                last = loops.record(&call, &CallResult::text(&call, CallOutcome::Failed, "no"));
            }
        }
        assert_eq!(last, LoopVerdict::Ask(5));
    }
}
