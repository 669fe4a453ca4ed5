//! Loop guards: they warn the model first and then ask the person; they never stop useful work on their own.
//!
//! Results are compared by the digest that the tool recorded without changing parts ([`CallFact::Same`]), or else by
//! their text. Failures are also compared without what differs between two tries: the arguments, numbers, and quoted
//! text. Whatever the tools and reasons, answers in a row in which nothing works are counted too. [`super::repetition`]
//! finds text that an answer repeats.

use placet_text::conversation::{CallFact, CallOutcome, CallResult, ToolCall, text_of};

/// Detects the same call with the same result, and a tool that fails in the same way again and again.
#[derive(Debug)]
pub(crate) struct LoopDetector {
    /// After so many repetitions in a row it asks; 0 never asks.
    limit: u32,
    last: Vec<(u64, u32)>,
    /// Failures since the last success of their tool.
    failures: Vec<ToolFailure>,
    /// The calls of this answer until now: equal calls within one answer are not a loop.
    round: Vec<u64>,
    /// Whether any call of this answer did what it should, and how many answers in a row had none that did.
    has_worked: Option<bool>,
    fruitless: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoopVerdict {
    Fresh,
    Tell(u32),
    /// The calls differ, and fail alike.
    TellAlike(u32),
    Ask(u32),
}

/// One way in which a tool failed, and in how many answers of the turn.
#[derive(Debug)]
struct ToolFailure {
    tool: String,
    key: u64,
    times: u32,
    is_of_this_answer: bool,
}

/// No turn spends more requests than this on one failure, whatever the limit.
const MOST_ALIKE: u32 = 20;

/// How many different calls are remembered, to detect loops of two or three calls as well.
const REMEMBERED: usize = 4;

impl LoopDetector {
    pub(crate) fn new(limit: u32) -> LoopDetector {
        LoopDetector {
            limit,
            last: Vec::new(),
            failures: Vec::new(),
            round: Vec::new(),
            has_worked: None,
            fruitless: 0,
        }
    }

    /// The calls of the next answer follow.
    pub(crate) fn next_round(&mut self) {
        self.round.clear();
        match self.has_worked.take() {
            Some(true) => self.fruitless = 0,
            Some(false) => self.fruitless += 1,
            None => {}
        }
        self.failures.iter_mut().for_each(|failure| failure.is_of_this_answer = false);
    }

    /// Starts again: the person agreed to continue.
    pub(crate) fn forget(&mut self) {
        *self = LoopDetector::new(self.limit);
    }

    /// A call that works and whose result changes, and calls that work and differ, never count: polling and series of
    /// edits are work.
    pub(crate) fn record(&mut self, call: &ToolCall, result: &CallResult) -> LoopVerdict {
        if self.limit == 0 {
            return LoopVerdict::Fresh;
        }
        self.note_success(result);
        // Both count every call: neither may keep the other from asking.
        match (self.record_same(call, result), self.record_failure(call, result)) {
            (LoopVerdict::Fresh, alike) | (LoopVerdict::Tell(_), alike @ LoopVerdict::Ask(_)) => alike,
            (same, _) => same,
        }
    }

    /// A success of the tool ends the count: the model has found another way.
    fn record_failure(&mut self, call: &ToolCall, result: &CallResult) -> LoopVerdict {
        match result.outcome {
            CallOutcome::Done => self.failures.retain(|failure| failure.tool != call.name),
            CallOutcome::Failed | CallOutcome::Denied => {
                let key = digest(&[&format!("{:?}", result.outcome), &without_details(&result.reason())]);
                let known = |failure: &ToolFailure| failure.tool == call.name && failure.key == key;
                let at = self.failures.iter().position(known).unwrap_or_else(|| {
                    let tool = call.name.clone();
                    self.failures.push(ToolFailure { tool, key, times: 0, is_of_this_answer: false });
                    self.failures.len() - 1
                });
                let Some(failure) = self.failures.get_mut(at) else { return LoopVerdict::Fresh };
                if std::mem::replace(&mut failure.is_of_this_answer, true) {
                    return LoopVerdict::Fresh;
                }
                failure.times += 1;
                // Twice as patient as with the same call: two tries that differ may be two thoughts.
                let most = self.limit.saturating_mul(2).clamp(2, MOST_ALIKE);
                return match failure.times {
                    n if n >= most => LoopVerdict::Ask(n),
                    n if n >= most.div_ceil(2).max(2) => LoopVerdict::TellAlike(n),
                    _ => LoopVerdict::Fresh,
                };
            }
            CallOutcome::Interrupted => {}
        }
        LoopVerdict::Fresh
    }

    /// A command that ended with an error did not do what it should.
    fn note_success(&mut self, result: &CallResult) {
        let has_error_code = |fact: &CallFact| matches!(fact, CallFact::Exit { code } if *code != Some(0));
        let has_worked = match result.outcome {
            CallOutcome::Done => !result.facts.iter().any(has_error_code),
            CallOutcome::Failed | CallOutcome::Denied => false,
            CallOutcome::Interrupted => return,
        };
        self.has_worked = Some(has_worked || self.has_worked == Some(true));
    }

    /// In how many answers in a row no call worked, whatever the tools and the reasons, if these are too many. The calls
    /// of this answer are recorded.
    pub(crate) fn fruitless(&self) -> Option<u32> {
        (self.has_worked == Some(false))
            .then_some(self.fruitless + 1)
            .filter(|answers| *answers >= MOST_ALIKE)
    }

    fn record_same(&mut self, call: &ToolCall, result: &CallResult) -> LoopVerdict {
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
    let same = result.facts.iter().find_map(|fact| match fact {
        CallFact::Same { digest } => Some(digest.clone()),
        _ => None,
    });
    let said = same.unwrap_or_else(|| text_of(&result.parts));
    digest(&[&call.name, &format!("{:?}", call.input), &format!("{:?}", result.outcome), &said])
}

fn digest(pieces: &[&str]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(piece.as_bytes());
        // A separator, so that "ab" and "c" do not have the hash of "a" and "bc".
        hasher.update(&[0]);
    }
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// The first line of a reason without its numbers and without what it quotes: only the kind of failure is left.
fn without_details(reason: &str) -> String {
    let mut quote = None;
    let of_kind = |c: &char| match quote {
        Some(open) if *c == open => {
            quote = None;
            true
        }
        Some(_) => false,
        None => {
            quote = Some(*c).filter(|c| matches!(c, '`' | '"'));
            !c.is_ascii_digit()
        }
    };
    reason.lines().next().unwrap_or_default().chars().filter(of_kind).collect()
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

    /// What is said of a failure in each of `times` answers; the calls differ.
    fn failures(limit: u32, times: u32, reason: impl Fn(u32) -> String) -> Vec<LoopVerdict> {
        let mut loops = LoopDetector::new(limit);
        let record = |n: u32| {
            loops.next_round();
            let call = call(&n.to_string());
            loops.record(&call, &CallResult::text(&call, CallOutcome::Failed, reason(n)))
        };
        (0..times).map(record).collect()
    }

    #[test]
    fn calls_that_differ_and_fail_alike_are_told_and_asked_about_after_twenty_at_most() {
        use LoopVerdict::{Ask, TellAlike};
        let reasons: [fn(u32) -> String; 4] = [
            |n| format!("error: not valid JSON: EOF at column {n}{n}7\nhint: {n}"),
            |n| format!("error: the answer was cut at {n} tokens"),
            |n| format!("error: no file `src/{n}.rs`"),
            |n| format!("error: `x` must be a number, got the string \"{n}\""),
        ];
        for reason in reasons {
            let told = failures(5, 10, reason);
            assert!(told[..4].iter().all(|told| *told == LoopVerdict::Fresh), "{told:?}");
            assert_eq!((&told[4], &told[9]), (&TellAlike(5), &Ask(10)));
            assert_eq!(failures(1, 2, reason)[1], Ask(2));
            assert_eq!(failures(500, 20, reason)[19], Ask(20));
            assert!(failures(0, 200, reason).iter().all(|told| *told == LoopVerdict::Fresh));
        }
    }

    #[test]
    fn the_same_failing_call_is_asked_about_after_twenty_at_most_whatever_the_limit() {
        for limit in 1..=200 {
            let asked = repeats(limit, CallOutcome::Failed, &["no such file"; 20]);
            assert!(asked.iter().any(|verdict| matches!(verdict, LoopVerdict::Ask(_))), "{limit}: {asked:?}");
        }
    }

    #[test]
    fn twenty_answers_in_which_nothing_works_are_asked_about_whatever_was_tried() {
        let tools = ["run_command", "read_file", "bash", "edit_file"];
        let tried = |n: u32| {
            let mut call = call(&n.to_string());
            call.name = if n.is_multiple_of(3) {
                format!("tool_{n}")
            } else {
                tools[n as usize % tools.len()].into()
            };
            call
        };
        let ran = |call: &ToolCall, code| {
            CallResult::text(call, CallOutcome::Done, "x").with(vec![CallFact::Exit { code: Some(code) }])
        };
        let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
        let result = |n: u32, works: bool| {
            let (call, reason) = (tried(n), words[n as usize % words.len()].repeat(n as usize + 1));
            let result = match (works, call.name == "run_command") {
                (true, _) => ran(&call, 0),
                (false, true) => ran(&call, 127),
                (false, false) => CallResult::text(&call, CallOutcome::Failed, reason),
            };
            (call, result)
        };
        // Two calls in each answer; in every `each`th one of them works, the first or the second.
        let asked = |each: u32, which: u32| {
            let mut loops = LoopDetector::new(500);
            (0..60).position(|n| {
                loops.next_round();
                for at in 0..2 {
                    let (call, result) = result(2 * n + at, at == which && n % each == each - 1);
                    loops.record(&call, &result);
                }
                loops.fruitless().is_some()
            })
        };
        for which in [0, 1] {
            let asked = [1000, 21, 20, 19].map(|each| asked(each, which));
            assert_eq!(asked, [Some(19), Some(19), None, None], "{which}");
        }
    }

    #[test]
    fn failures_of_other_kinds_or_before_a_success_do_not_count() {
        let kinds = ["no file", "no lines", "not text"];
        let told = failures(5, 12, |n| format!("error: {}", kinds[n as usize % 3]));
        assert!(told.iter().all(|told| *told == LoopVerdict::Fresh), "{told:?}");
        let mut loops = LoopDetector::new(5);
        for n in 0..100 {
            loops.next_round();
            let call = call(&n.to_string());
            let outcome = if n % 4 == 3 { CallOutcome::Done } else { CallOutcome::Failed };
            let result = CallResult::text(&call, outcome, format!("error: line {n} is not there"));
            assert_eq!(loops.record(&call, &result), LoopVerdict::Fresh, "{n}");
        }
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
