use super::*;

fn started(b: &mut TurnPaneHarness, id: &str, title: &str) {
    b.event(TurnEvent::CallPlanned { id: CallId::new(id), name: "run_command".into(), title: title.into() });
    b.event(TurnEvent::CallRunning { id: CallId::new(id) });
}

#[test]
fn calls_that_run_together_are_all_shown_with_what_they_are_about() {
    let mut b = bench_of(44, 16);
    started(&mut b, "a", "read src/a/very/long/path/that/does/not/fit/into/the/row.rs");
    started(&mut b, "b", "run make");
    b.pass(2_000);
    started(&mut b, "c", "search \"x\" in src");
    b.event(TurnEvent::CallOutput { id: CallId::new("b"), text: "one\ntwo\n 10%\r 20%\r".into() });
    b.event(TurnEvent::CallLine { id: CallId::new("b"), text: "linking 3 of".into() });
    b.pass(10_000);
    insta::assert_snapshot!(b.screen(), @r#"
    ◆ › read src/a/…t/fit/into/the/row.rs  12 s
    ◆ › run make  12 s
      two
       20%
      linking 3 of
    ◆ › search "x" in src  10 s
    ◆ [a] working · 12 s · Esc stops
    >
    "#);
    // The final text of the line replaces it.
    b.event(TurnEvent::CallOutput { id: CallId::new("b"), text: "linking 3 of 3\n".into() });
    let screen = b.screen();
    assert!(screen.contains("linking 3 of 3") && screen.matches("linking").count() == 1, "{screen}");
    for n in 0..20 {
        started(&mut b, &format!("n{n}"), "read x");
    }
    assert!(b.screen().contains("› 11 more calls"), "{}", b.screen());
}

#[test]
fn ctrl_o_shows_thinking_and_output_at_length() {
    let mut b = bench_of(40, 24);
    b.event(TurnEvent::Thinking("first thought\nsecond thought\nthird".into()));
    assert!(!b.screen().contains("second thought"));
    b.ctrl('o');
    assert!(b.screen().contains("first thought\nsecond thought\nthird"), "{}", b.screen());
    started(&mut b, "a", "run seq 9");
    let lines: String = (1..=9).map(|n| format!("{n}\n")).collect();
    b.event(TurnEvent::CallOutput { id: CallId::new("a"), text: lines.clone() });
    assert!(b.screen().contains("  1\n  2\n"), "{}", b.screen());
    let summary = CallSummary::text("run seq 9 (exit 0)", lines);
    b.event(TurnEvent::CallEnded {
        id: CallId::new("a"),
        name: "run_command".into(),
        outcome: CallOutcome::Done,
        summary,
    });
    assert_eq!(b.scrollback.last().map(String::as_str), Some("  9"));
    assert!(b.live.is_expanded());
}

#[test]
fn a_pending_change_is_one_line_because_the_question_shows_it() {
    let mut b = bench();
    let mut ended = |summary: CallSummary| {
        started(&mut b, "a", "edit a.txt");
        let (id, name, outcome) = (CallId::new("a"), "edit_file".into(), CallOutcome::Done);
        b.event(TurnEvent::CallEnded { id, name, outcome, summary });
        std::mem::take(&mut b.scrollback)
    };
    let diff = || DisplayDetail::Diff("-a\n+b\n".into());
    assert_eq!(ended(CallSummary::pending("edit a.txt +1 -1", diff())), ["◆ ✓ edit a.txt +1 -1 · pending"]);
    assert_eq!(ended(CallSummary::new("edit a.txt +1 -1", diff())).len(), 3);
    b.ctrl('o');
    started(&mut b, "a", "edit a.txt");
    let summary = CallSummary::pending("edit a.txt +1 -1", diff());
    let (id, name, outcome) = (CallId::new("a"), "edit_file".into(), CallOutcome::Done);
    b.event(TurnEvent::CallEnded { id, name, outcome, summary });
    assert_eq!(b.scrollback.len(), 3);
}

#[test]
fn a_call_that_was_refused_says_what_it_was_about() {
    let mut b = bench();
    started(&mut b, "a", "edit src/main.rs");
    let summary = CallSummary::failure("edit_file", "a rule denies it");
    let name = "edit_file".into();
    b.event(TurnEvent::CallEnded { id: CallId::new("a"), name, outcome: CallOutcome::Denied, summary });
    assert_eq!(b.scrollback, ["◆ ⊘ edit src/main.rs: a rule denies it"]);
}

/// Story: with motion off, the clock kept running.
#[test]
fn without_motion_no_cell_changes_without_news() {
    let mut b = bench();
    b.live.facts.display.motion = false;
    b.event(TurnEvent::Requested);
    started(&mut b, "a", "run make");
    let error =
        placet_provider::ProviderError::RateLimited { message: "slow down".into(), retry_after: None };
    b.event(TurnEvent::Retrying { attempt: 1, of: 5, wait: Duration::from_secs(7), error });
    let before = b.screen();
    for _ in 0..20 {
        b.pass(1_700);
        assert!(!b.live.ticks(b.now));
        assert_eq!(b.screen(), before);
    }
    // News: the passed time is shown with it.
    b.event(TurnEvent::CallOutput { id: CallId::new("a"), text: "x\n".into() });
    assert!(b.screen().contains("34 s"), "{}", b.screen());
    // A question changes once more: when Enter begins to count.
    let _answer = b.ask(DisplayDetail::None);
    b.screen();
    assert!(b.live.ticks(b.now));
    b.pass(600);
    assert!(!b.live.ticks(b.now));
    let before = b.screen();
    b.pass(60_000);
    assert_eq!(b.screen(), before);
}
