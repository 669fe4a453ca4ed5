//! A stop while placet collects or removes what a command wrote: one row says what became of the changes, and nothing is
//! applied later.

use crate::support::held_stage::HeldStage;
use crate::support::mock_server::Say;
use crate::support::program::placet_with_points;
use crate::support::pty::joined;
use crate::support::pty::{Pty, shell};
use crate::support::require::has_view;
use crate::support::talk::{Talk, Wire, turn};
use placet::agent::{TurnEnding, TurnEvent};
use placet::conversation::CallOutcome;
use placet::permission::Mode;
use serde_json::json;

const ESC: &str = "\x1b";

fn held_at(stage: &str, mode: &str) -> (Pty, HeldStage) {
    let held = HeldStage::new();
    let start = shell()
        .program(placet_with_points())
        .arg("--mode")
        .arg(mode)
        .variable("PLACET_HOLD", &held.variable(stage));
    (start.open(), held)
}

/// Story: the row of the command vanished, and 10,000 files were applied five seconds after Esc, or were gone.
#[test]
fn a_stop_while_changes_are_collected_leaves_a_row_with_their_number_and_applies_nothing() {
    if !has_view() {
        return;
    }
    let (mut pty, held) = held_at("collecting", "write");
    pty.line("run mkdir big; for n in 1 2 3; do echo $n > big/$n; done");
    held.until_reached();
    pty.send(ESC);
    // Longer than a call may take that does not answer.
    pty.until("why it takes longer", |s| {
        joined(s).contains("placet still collects what the command changed")
    });
    assert!(!joined(&pty.screen()).contains("interrupted"), "the turn ended without a row");
    held.go_on();
    pty.until("the row", |s| joined(s).contains("3 created, pending: stopped before they were applied"));
    pty.until("the end", |s| joined(s).contains("interrupted") && s.trim_end().ends_with("±3 >"));
    pty.line("/changes");
    pty.until("what is pending", |s| s.contains("A big/1"));
    assert!(!pty.exists("big"), "applied after the stop");
}

/// Story: the row came only when everything was removed, and after three seconds not at all.
#[test]
fn a_stopped_command_has_its_row_before_its_files_are_removed_and_the_next_one_does_not_wait() {
    if !has_view() {
        return;
    }
    let (mut pty, held) = held_at("removing", "write");
    pty.line("run echo x > a; echo begun; sleep 1000");
    pty.until("its output", |s| s.contains("begun\n") || s.lines().any(|line| line.trim() == "begun"));
    pty.send(ESC);
    held.until_reached();
    pty.until("the row", |s| joined(s).contains("was ended (its changes were discarded)"));
    pty.until("the end", |s| joined(s).matches("interrupted").count() >= 2);
    pty.until_prompt("");
    pty.line("run test -e a && echo there || echo 'not there'");
    pty.until("the next command", |s| s.lines().any(|line| line.trim() == "not there"));
    assert!(!pty.exists("a"));
    held.go_on();
}

/// A call that does not answer is given up, with a row and a result of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_does_not_stop_has_a_row_that_says_so() {
    let talk = Talk::new(Wire::Anthropic);
    talk.mode.store(Mode::Ask);
    let input = json!({"name": "p", "do": "deaf", "reach": "session"}).to_string();
    talk.server.push(talk.wire.reply(&[Say::Call("c", "probe", &input)]));
    let mut agent = talk.begin();
    let mut ended = Vec::new();
    let ending = turn(&mut agent, "go", |event, stop| match event {
        TurnEvent::CallRunning { .. } => stop.cancel(),
        TurnEvent::CallEnded { outcome, summary, .. } => ended.push((outcome, summary.line)),
        _ => {}
    })
    .await;
    assert_eq!(ending, TurnEnding::Interrupted);
    let [(CallOutcome::Interrupted, line)] = ended.as_slice() else { panic!("{ended:?}") };
    assert!(line.ends_with("interrupted; it did not stop in time and was abandoned"), "{line}");
    let result = &talk.stored()[2]["results"][0];
    assert_eq!(result["outcome"], "interrupted");
    assert!(result.to_string().contains("abandoned"), "{result}");
}
