//! Results of checks as sentences. Texts of the checked program are rendered here.

use super::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticPlace};
use super::result::{CheckResult, CheckRunOutcome};
use super::row::{CheckRow, CheckRowState, ResultAge};
use placet_text::text::{count, visible};
use std::time::Instant;

/// The most diagnostics that a report lists.
const MOST: usize = 20;

/// `test (required): passed in this state`, `test: running 12 s`. Without a time, a run has no seconds.
pub fn check_row_words(row: &CheckRow, now: Option<Instant>) -> String {
    let required = if row.is_required { " (required)" } else { "" };
    let said = match &row.state {
        CheckRowState::Looking => "looking for its result".into(),
        CheckRowState::NotRun => "not run on this state".into(),
        CheckRowState::Waiting => "waits for another check".into(),
        CheckRowState::Running { since } => match now {
            Some(now) => format!("running {} s", now.saturating_duration_since(*since).as_secs()),
            None => "running".into(),
        },
        CheckRowState::Here(result) if result.passed() => match result.tests {
            Some(tests) if tests.failed == 0 && tests.passed > 0 => {
                format!("passed in this state, {}", count::of(tests.passed, "test"))
            }
            _ => "passed in this state".into(),
        },
        CheckRowState::Here(result) => outcome(result),
        CheckRowState::Earlier { result, since } => {
            let ended = if result.passed() { "passed" } else { "failed" };
            match since {
                // What it saw is what there is.
                ResultAge::Applied => format!("{ended} {}", result_age_words(*since)),
                _ => format!("{ended} {}; not run on this state", result_age_words(*since)),
            }
        }
        CheckRowState::Impossible(why) => format!("cannot run: {}", visible::line(why)),
    };
    format!("{}{required}: {said}", row.name)
}

/// `before files of the workspace changed`.
pub fn result_age_words(age: ResultAge) -> String {
    match age {
        ResultAge::Workspace => "before files of the workspace changed".into(),
        ResultAge::Changes(paths) => {
            format!("before the last changes to {}", count::of(paths as u64, "file"))
        }
        ResultAge::Applied => "on the changes that are in the workspace now".into(),
    }
}

/// Why an apply is not possible yet: the required checks that did not pass on this state. `run` is what runs
/// them, where that was not done, and `output` what shows their output.
pub fn unmet_words(rows: &[CheckRow], run: &str, output: &str) -> Option<String> {
    let unmet: Vec<&CheckRow> = rows.iter().filter(|row| row.is_required && !row.has_passed()).collect();
    let names: Vec<&str> = unmet.iter().map(|row| row.name.as_str()).collect();
    let (one, names) = (names.len() == 1, names.join(", "));
    let checks = if one { "check" } else { "checks" };
    if !unmet.is_empty() && unmet.iter().all(|row| row.has_failed()) {
        return Some(format!(
            "not applied: the required {checks} {names} failed on this state; {output} shows the output"
        ));
    }
    if let [row] = unmet.as_slice()
        && row.lacks_result()
    {
        return Some(format!("not applied: the required check {names} has no result; {run} runs it again"));
    }
    let how = match (unmet.iter().any(|row| row.is_busy()), one) {
        (true, true) => "it is running".into(),
        (true, false) => "they are running".into(),
        (false, true) => format!("{run} runs it"),
        (false, false) => format!("{run} runs them"),
    };
    (!unmet.is_empty()).then(|| format!("not applied: the required {checks} {names} must pass first; {how}"))
}

/// `passed in 1.2 s`, `failed: 2 errors, 1 warning`, `failed: 1 of 4 tests`.
pub fn check_outcome(result: &CheckResult) -> String {
    format!("{}: {}", result.check, outcome(result))
}

/// The same without the name of the check.
fn outcome(result: &CheckResult) -> String {
    let time = seconds(result.elapsed_ms);
    match &result.outcome {
        CheckRunOutcome::Passed => match result.tests {
            Some(tests) if tests.failed == 0 && tests.passed > 0 => {
                format!("passed in {time}, {}", count::of(tests.passed, "test"))
            }
            _ => format!("passed in {time}"),
        },
        CheckRunOutcome::Failed { code } => match (result.tests, result.counts()) {
            (Some(tests), _) if tests.failed > 0 => {
                format!("failed: {} of {}", tests.failed, count::of(tests.passed + tests.failed, "test"))
            }
            (_, (0, 0)) => format!("failed with exit code {code}"),
            (_, (0, warnings)) => {
                format!("failed with exit code {code}: {}", count::of(warnings as u64, "warning"))
            }
            (_, (errors, 0)) => format!("failed: {}", count::of(errors as u64, "error")),
            (_, (errors, warnings)) => {
                let errors = count::of(errors as u64, "error");
                format!("failed: {errors}, {}", count::of(warnings as u64, "warning"))
            }
        },
        CheckRunOutcome::Killed { signal } => format!("ended by signal {signal} after {time}"),
        CheckRunOutcome::TimedOut { seconds } => {
            format!("stopped at its deadline of {}", count::of(*seconds, "second"))
        }
        CheckRunOutcome::NotRun { why } => format!("no result: {why}"),
    }
}

/// `check: 2 new errors, 1 new warning`.
pub fn new_diagnostics_words(check: &str, new: &[&Diagnostic]) -> String {
    let of = |level| new.iter().filter(|found| found.level == level).count() as u64;
    let counts = [
        (of(DiagnosticLevel::Error), "new error"),
        (of(DiagnosticLevel::Warning), "new warning"),
        (of(DiagnosticLevel::Note), "new note"),
    ];
    let some = counts.iter().filter(|(count, _)| *count > 0).map(|(number, what)| count::of(*number, what));
    format!("{check}: {}", some.collect::<Vec<_>>().join(", "))
}

/// The diagnostics of a result, errors first, and what else a person must know of it.
pub fn check_details(result: &CheckResult) -> Vec<String> {
    let mut sorted: Vec<&Diagnostic> = result.diagnostics.iter().collect();
    sorted.sort_by_key(|diagnostic| diagnostic.level);
    let mut lines: Vec<String> = sorted.iter().take(MOST).map(|found| diagnostic_line(found)).collect();
    let more = result.found.saturating_sub(lines.len());
    if more > 0 {
        lines.push(format!("  {more} more"));
    }
    if result.is_cut {
        lines.push("  a part of its output was too long to be read".into());
    }
    let effects = &result.side_effects;
    if effects.total > 0 {
        let names: Vec<String> =
            effects.first.iter().take(3).map(|path| visible::path(std::path::Path::new(path))).collect();
        let rest = effects.total.saturating_sub(names.len());
        let rest = if rest == 0 { String::new() } else { format!(" and {rest} more") };
        let files = count::of(effects.total as u64, "file");
        let names = names.join(", ");
        lines.push(format!("  it changed {files}; placet discarded these changes: {names}{rest}"));
    }
    lines
}

/// `src/a.rs:3:5: error: unused`, with two blanks in front.
pub fn diagnostic_line(found: &Diagnostic) -> String {
    let place = found.place.as_ref().map(|DiagnosticPlace { file, line, column }| {
        let figure = |number: &Option<u32>| number.map_or(String::new(), |n| format!(":{n}"));
        format!("{}{}{}: ", visible::path(file.path()), figure(line), figure(column))
    });
    let message = visible::line(&found.message);
    format!("  {}{}: {message}", place.unwrap_or_default(), found.level.word())
}

fn seconds(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        ms => format!("{} s", ms / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckSideEffects, CheckedSelection, StateHash, TestCounts};
    use std::path::Path;

    fn result(outcome: CheckRunOutcome) -> CheckResult {
        CheckResult {
            check: "test".into(),
            command: String::new(),
            state: StateHash::new(&blake3::hash(b"")),
            selection: CheckedSelection::default(),
            outcome,
            at: 0,
            elapsed_ms: 1234,
            diagnostics: Vec::new(),
            found: 0,
            tests: None,
            is_cut: false,
            side_effects: CheckSideEffects::default(),
            output_bytes: 0,
            first_failure: None,
            view: None,
        }
    }

    #[test]
    fn a_check_without_a_result_has_not_failed() {
        let why = || "files of the workspace changed while it ran".to_string();
        let row = |outcome| CheckRow {
            name: "test".into(),
            is_required: true,
            state: CheckRowState::Here(std::sync::Arc::new(result(outcome))),
        };
        let stopped = row(CheckRunOutcome::NotRun { why: why() });
        assert!(stopped.lacks_result() && !stopped.has_failed() && !stopped.has_passed());
        let words = unmet_words(&[stopped], "t", "o").unwrap();
        assert_eq!(words, "not applied: the required check test has no result; t runs it again");
        let words = unmet_words(&[row(CheckRunOutcome::Failed { code: 1 })], "t", "o").unwrap();
        assert!(words.contains("failed on this state"), "{words}");
    }

    #[test]
    fn an_earlier_result_says_what_changed_since() {
        let words = |since| {
            let result = std::sync::Arc::new(result(CheckRunOutcome::Passed));
            let state = CheckRowState::Earlier { result, since };
            check_row_words(&CheckRow { name: "test".into(), is_required: true, state }, None)
        };
        assert_eq!(
            words(ResultAge::Changes(2)),
            "test (required): passed before the last changes to 2 files; not run on this state"
        );
        // Story: `passed on the changes that are in the workspace now; not run on this state`.
        assert_eq!(
            words(ResultAge::Applied),
            "test (required): passed on the changes that are in the workspace now"
        );
    }

    #[test]
    fn each_outcome_has_a_sentence() {
        let failed = CheckRunOutcome::Failed { code: 1 };
        let error = Diagnostic::new(DiagnosticLevel::Error, "bad \u{1b}[2J").at(
            "../a",
            Some(3),
            None,
            Path::new("/w"),
        );
        let warning = Diagnostic::new(DiagnosticLevel::Warning, "odd");
        let tests = |passed, failed| Some(TestCounts { passed, failed });
        let results = [
            result(CheckRunOutcome::Passed),
            CheckResult { tests: tests(3, 0), ..result(CheckRunOutcome::Passed) },
            result(failed.clone()),
            CheckResult { tests: tests(3, 1), ..result(failed.clone()) },
            CheckResult { diagnostics: vec![warning.clone()], found: 1, ..result(failed.clone()) },
            CheckResult {
                diagnostics: vec![warning, error],
                found: 40,
                is_cut: true,
                side_effects: CheckSideEffects { first: vec!["a".into(), "b".into()], total: 12 },
                ..result(failed)
            },
            result(CheckRunOutcome::Killed { signal: 9 }),
            result(CheckRunOutcome::TimedOut { seconds: 600 }),
            result(CheckRunOutcome::NotRun { why: "files of the workspace changed while it ran".into() }),
        ];
        let lines: Vec<String> =
            results.iter().flat_map(|r| std::iter::once(check_outcome(r)).chain(check_details(r))).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        test: passed in 1.2 s
        test: passed in 1.2 s, 3 tests
        test: failed with exit code 1
        test: failed: 1 of 4 tests
        test: failed with exit code 1: 1 warning
          warning: odd
        test: failed: 1 error, 1 warning
          ../a:3: error: bad ␛[2J
          warning: odd
          38 more
          a part of its output was too long to be read
          it changed 12 files; placet discarded these changes: a, b and 10 more
        test: ended by signal 9 after 1.2 s
        test: stopped at its deadline of 600 seconds
        test: no result: files of the workspace changed while it ran
        "#);
    }
}
