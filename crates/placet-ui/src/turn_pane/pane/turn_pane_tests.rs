use super::*;
use crate::turn_pane::{TurnDisplay, TurnPaneAction};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet_agent::{ApprovalReply, ApprovalRequest};
use placet_permission::{Grant, Mode};
use placet_text::conversation::{CallOutcome, TokenUsage};
use placet_tools::{CallPreview, CallSummary, DisplayDetail};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::time::Duration;
use tokio::sync::oneshot;

#[path = "background_key_tests.rs"]
mod background_key;

#[path = "answer_tests.rs"]
mod answers;

#[path = "change_list_tests.rs"]
mod change_list;

#[path = "ordinary_turns_tests.rs"]
mod ordinary_turns;

#[path = "small_questions_tests.rs"]
mod small_questions;

#[path = "running_calls_tests.rs"]
mod running_calls;

struct TurnPaneHarness {
    live: TurnPane,
    now: Instant,
    scrollback: Vec<String>,
    size: (u16, u16),
    typed: Option<String>,
    needs_care: bool,
    grants: bool,
}

fn bench() -> TurnPaneHarness {
    bench_of(60, 16)
}

fn bench_of(width: u16, height: u16) -> TurnPaneHarness {
    let now = Instant::now();
    let facts = TurnPaneStatus {
        model: "test-model".into(),
        window: 200_000,
        display: TurnDisplay { fold: 3, motion: true, ..TurnDisplay::default() },
        ..TurnPaneStatus::default()
    };
    let live = TurnPane::new(
        Theme::plain(),
        usize::from(width),
        facts,
        MessageQueue::default(),
        PasteStore::default(),
        now,
    );
    TurnPaneHarness {
        live,
        now,
        scrollback: Vec::new(),
        size: (width, height),
        typed: None,
        needs_care: false,
        grants: true,
    }
}

impl TurnPaneHarness {
    fn event(&mut self, event: TurnEvent) {
        let lines = self.live.event(event, self.now);
        self.scrollback.extend(lines.iter().map(ToString::to_string));
    }

    /// A key by hand, 60 ms before the next one.
    fn key(&mut self, code: KeyCode) -> Option<TurnPaneAction> {
        let action = self.live.key(KeyEvent::new(code, KeyModifiers::NONE), self.now);
        self.pass(60);
        action
    }

    /// Marks the answer with this letter, and takes it once Enter counts.
    fn answer(&mut self, letter: char) -> Option<TurnPaneAction> {
        self.screen();
        self.live.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::ALT), self.now);
        self.enter()
    }

    /// Enter, on what has been on the screen for long enough.
    fn enter(&mut self) -> Option<TurnPaneAction> {
        self.screen();
        self.pass(600);
        self.key(KeyCode::Enter)
    }

    /// The same of an answer that is behind `More`.
    fn more(&mut self, letter: char) -> Option<TurnPaneAction> {
        self.answer('m');
        self.answer(letter)
    }

    /// The question at the end of a turn.
    fn ask_to_apply(&mut self, detail: DisplayDetail) -> oneshot::Receiver<char> {
        let (reply, answer) = oneshot::channel();
        self.event(TurnEvent::Choice(placet_agent::ChoiceQuestion {
            subject: placet_agent::ChoiceSubject::Hook,
            title: "1 file, +1 -0 lines: apply?".into(),
            reason: "none of these changes is in the workspace yet".into(),
            detail,
            choices: vec![
                placet_agent::QuestionChoice::consent('a', "apply"),
                placet_agent::QuestionChoice::plain('r', "review"),
                placet_agent::QuestionChoice::plain('k', "keep pending"),
                placet_agent::QuestionChoice::for_good('d', "discard"),
            ],
            checks: None,
            reasons_for: placet_agent::ReasonReader::Agent,
            reply,
        }));
        self.screen();
        self.pass(1_000);
        answer
    }

    fn ctrl(&mut self, c: char) -> Option<TurnPaneAction> {
        self.live.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL), self.now)
    }

    fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.key(KeyCode::Char(c));
        }
    }

    fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    /// Draws a frame and returns the text of the pane.
    fn screen(&mut self) -> String {
        let picture = self.live.picture(Mode::Ask, self.size.1 - 1, self.now);
        let (width, height) = (self.size.0, picture.height());
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal
            .draw(|f| {
                let area = f.area();
                picture.draw(f.buffer_mut(), area);
            })
            .unwrap();
        self.live.shown(&picture, self.now);
        let buffer = terminal.backend().buffer().clone();
        let rows = (0..height).map(|y| {
            let cells = (0..width).filter_map(|x| buffer.cell((x, y)));
            cells.map(|c| c.symbol().to_string()).collect::<String>().trim_end().to_string()
        });
        rows.collect::<Vec<_>>().join("\n")
    }

    fn ask(&mut self, detail: DisplayDetail) -> oneshot::Receiver<ApprovalReply> {
        let (reply, answer) = oneshot::channel();
        self.event(TurnEvent::Question(ApprovalRequest {
            id: CallId::new("q"),
            tool: "run_command".into(),
            reason: "a command, without a sandbox (ask mode)".into(),
            preview: CallPreview { line: "run cargo test".into(), detail },
            always: self.grants.then(|| Grant::Command { command: "cargo test".into(), cwd: "/w".into() }),
            pattern: self.grants.then(|| Grant::Pattern { patterns: vec!["cargo test *".into()] }),
            typed: self.typed.clone(),
            needs_care: self.needs_care,
            why: "allow: nothing\n  cargo test\n    = no rule or grant matches\n".into(),
            flag: None,
            takes_reason: true,
            reply,
        }));
        answer
    }
}

#[test]
fn a_turn_shows_what_arrives_what_runs_and_what_is_typed() {
    let mut b = bench();
    b.event(TurnEvent::Requested);
    b.event(TurnEvent::Text("Looking at **it**.\n\nThen".into()));
    b.event(TurnEvent::CallPlanned {
        id: CallId::new("a"),
        name: "run_command".into(),
        title: "run cargo test".into(),
    });
    b.event(TurnEvent::CallRunning { id: CallId::new("a") });
    b.event(TurnEvent::CallOutput { id: CallId::new("a"), text: "one\ntwo\nthree\nfour\n".into() });
    b.event(TurnEvent::Usage {
        total: TokenUsage { input: 1500, output: 30, ..TokenUsage::default() },
        prompt: 1500,
        window: 200_000,
        cost: None,
    });
    b.pass(3_000);
    b.type_text("next thing");
    insta::assert_snapshot!(b.screen(), @r"
    ◆ › run cargo test  3 s
      two
      three
      four
    ◆ [a] working · 3 s · test-model · 0% of context · Esc stops
    > next thing
    ");
    b.event(TurnEvent::CallEnded {
        id: CallId::new("a"),
        name: "run_command".into(),
        outcome: CallOutcome::Done,
        summary: CallSummary::text("run cargo test (exit 0)", "1\n2\n3\n4\n5\n6\n"),
    });
    b.event(TurnEvent::Ended(TurnEnding::Done));
    insta::assert_snapshot!(b.scrollback.join("\n"), @r"
    Looking at it.

    Then

    ◆ ✓ run cargo test (exit 0)
      1
      2
      3
      … 3 more lines
    ");
    assert_eq!(b.live.take_drafts(), ("next thing".into(), None));
}

#[test]
fn a_question_shows_the_whole_call_its_reason_and_the_answers() {
    let mut b = bench_of(70, 20);
    let _answer = b.ask(DisplayDetail::Text("cargo test".into()));
    insta::assert_snapshot!(b.screen(), @r"
    ──────────────────────────────────────────────────────────────────────
    ◆ Allow? run cargo test
      asks because: a command, without a sandbox (ask mode)
      cargo test
      [Yes] · Yes, always for `cargo test` in /w · No · More
      a moment ...
    ◆ [a] waiting for you · 0 s · test-model
    >
    ");
}

#[test]
fn an_enter_before_the_question_was_read_never_answers_it() {
    let mut b = bench();
    let mut answer = b.ask(DisplayDetail::None);
    // Not drawn yet.
    b.pass(5_000);
    b.key(KeyCode::Enter);
    assert!(answer.try_recv().is_err());
    // Drawn, but the key is held down.
    assert!(b.screen().contains("a moment"), "{}", b.screen());
    for _ in 0..20 {
        b.pass(100);
        b.key(KeyCode::Enter);
        assert!(answer.try_recv().is_err());
    }
    b.pass(439);
    b.key(KeyCode::Enter);
    assert!(answer.try_recv().is_err(), "499 ms after the last one");
    b.pass(440);
    assert!(b.screen().contains("Enter answers"), "{}", b.screen());
    b.key(KeyCode::Enter);
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Yes));
}

/// A question that comes up at every point of a line being typed: nothing of the line is lost, and nothing answers.
#[test]
fn a_question_at_any_point_of_typing_leaves_the_draft_whole() {
    let line = "fix 1 yes a y n the rest of this line";
    for at in 0..=line.len() {
        let mut b = bench();
        b.type_text(&line[..at]);
        let mut answer = b.ask(DisplayDetail::None);
        b.screen();
        for c in line[at..].chars() {
            b.key(KeyCode::Char(c));
            b.screen();
        }
        assert!(answer.try_recv().is_err(), "at {at}");
        assert_eq!(b.live.take_drafts().0, line, "at {at}");
    }
}

#[test]
fn a_paste_never_answers_however_it_looks() {
    let mut b = bench();
    let mut answer = b.ask(DisplayDetail::None);
    b.screen();
    b.pass(2_000);
    b.live.paste("y\r1\ry\n", b.now);
    b.screen();
    b.pass(2_000);
    assert!(answer.try_recv().is_err());
    assert_eq!(b.live.take_drafts().0, "y\n1\ny\n");
}

#[test]
fn what_hides_below_the_fold_must_be_seen_or_is_asked_once_more() {
    let long = (0..50).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let mut b = bench();
    let mut answer = b.ask(DisplayDetail::Text(long.clone()));
    assert!(b.screen().contains("lines hidden") && b.screen().contains("[No]"), "{}", b.screen());
    b.answer('y');
    assert!(answer.try_recv().is_err());
    let screen = b.screen();
    assert!(screen.contains("not all of it was shown: go ahead?"), "{screen}");
    assert!(screen.contains("Yes · [Back]"), "{screen}");
    b.answer('y');
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Yes));

    let mut b = bench();
    let mut answer = b.ask(DisplayDetail::Text(long));
    b.screen();
    for _ in 0..30 {
        b.key(KeyCode::PageDown);
        b.screen();
    }
    assert!(b.screen().contains("line 49") && b.screen().contains("[Yes]"), "{}", b.screen());
    b.enter();
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Yes));
}

#[test]
fn ctrl_c_clears_a_draft_first_then_says_no_and_then_stops_the_turn() {
    let mut b = bench();
    b.type_text("draft");
    let mut answer = b.ask(DisplayDetail::None);
    b.screen();
    assert_eq!(b.ctrl('c'), None);
    assert_eq!(b.live.draft().typed, "");
    assert_eq!(b.ctrl('c'), None);
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::No(String::new())));
    assert_eq!(b.ctrl('c'), Some(TurnPaneAction::Stop));
    b.key(KeyCode::Up);
    assert_eq!(b.live.take_drafts().0, "draft");
}

#[test]
fn enter_queues_lines_and_up_takes_the_newest_back() {
    let mut b = bench_of(80, 16);
    for line in ["one", "two", "/undo"] {
        b.type_text(line);
        b.key(KeyCode::Enter);
    }
    b.ctrl('s');
    b.type_text("now");
    b.live.key(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::ALT), b.now);
    insta::assert_snapshot!(b.screen(), @r"
    1 after this turn: one
    2 with the next request: two
    3 after this turn: /undo
    4 with the next request: now
      Ctrl-S sends the newest with the next request, Up edits it
    ◆ [a] waiting for the model · 1 s · test-model · Esc stops
    >
    ");
    let draft = b.live.draft();
    assert_eq!(draft.queued, ["one", "two", "/undo", "now"]);
    b.key(KeyCode::Up);
    b.type_text(" and here");
    // Further up is the message before it; each keeps its place, and what was typed comes back at the end.
    b.key(KeyCode::Up);
    assert_eq!(b.live.draft().typed, "/undo");
    assert_eq!(b.live.draft().queued, ["one", "two", "now and here"]);
    b.key(KeyCode::Up);
    b.type_text(" more");
    b.key(KeyCode::Enter);
    assert_eq!(b.live.draft().queued, ["one", "two more", "/undo", "now and here"]);
    b.type_text("a draft");
    b.key(KeyCode::Up);
    b.key(KeyCode::Down);
    assert_eq!(b.live.draft().typed, "a draft");
    assert_eq!(b.live.draft().queued, ["one", "two more", "/undo", "now and here"]);
}

#[test]
fn a_line_that_reached_the_model_stands_in_the_transcript() {
    let mut b = bench();
    b.event(TurnEvent::Text("Working".into()));
    b.event(TurnEvent::Steered("use tabs\nplease\u{1b}[2J".into()));
    assert_eq!(b.scrollback, ["Working", "", "◆ > use tabs", "    please␛[2J"]);
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let mut b = bench();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}x";
    b.event(TurnEvent::Text(format!("{evil}\n\n")));
    b.event(TurnEvent::Notice(evil.into()));
    b.event(TurnEvent::CallPlanned { id: CallId::new("a"), name: evil.into(), title: evil.into() });
    b.event(TurnEvent::CallOutput { id: CallId::new("a"), text: evil.into() });
    let screen = b.screen();
    let summary = CallSummary::text(evil, evil);
    b.event(TurnEvent::CallEnded {
        id: CallId::new("a"),
        name: evil.into(),
        outcome: CallOutcome::Failed,
        summary,
    });
    b.event(TurnEvent::Ended(TurnEnding::Failed(placet_provider::ProviderError::Protocol(evil.into()))));
    for text in b.scrollback.iter().map(String::as_str).chain([screen.as_str()]) {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    }
}

#[test]
fn the_smallest_terminals_are_drawn_without_a_fall() {
    for (width, height) in [(1, 2), (2, 2), (5, 3), (40, 12)] {
        let mut b = bench_of(width, height);
        b.event(TurnEvent::Text("some text that is longer than the pane\n".into()));
        b.type_text("日本語 typed");
        let _answer = b.ask(DisplayDetail::Text("x\n".repeat(100)));
        b.screen();
    }
}

#[test]
fn a_retry_is_counted_down_and_a_long_silence_says_what_can_be_done() {
    let mut b = bench_of(100, 10);
    b.event(TurnEvent::Requested);
    let error =
        placet_provider::ProviderError::RateLimited { message: "slow down".into(), retry_after: None };
    b.event(TurnEvent::Retrying { attempt: 2, of: 5, wait: Duration::from_secs(7), error });
    assert!(b.screen().contains("slow down: retry 2/5"), "{}", b.screen());
    for (passed, shown) in
        [(0, "retry 2/5 in 7 s"), (3_200, "retry 2/5 in 4 s"), (5_000, "waiting for the model")]
    {
        b.pass(passed);
        assert!(b.screen().contains(shown), "{}", b.screen());
    }
    b.event(TurnEvent::Silent { since: Duration::from_secs(10) });
    assert!(b.screen().contains("no data for 10 s ·"), "{}", b.screen());
    b.event(TurnEvent::Silent { since: Duration::from_secs(30) });
    assert!(b.screen().contains("no data for 30 s: Esc, then /retry, sends it again"), "{}", b.screen());
}

/// Story: each retry was a row of its own, with the same sentence.
#[test]
fn retries_are_one_row_that_counts_and_one_row_when_they_are_over() {
    let mut b = bench_of(100, 10);
    b.event(TurnEvent::Requested);
    for attempt in 2..=4 {
        let error =
            placet_provider::ProviderError::RateLimited { message: "slow down".into(), retry_after: None };
        b.event(TurnEvent::Retrying { attempt, of: 5, wait: Duration::from_secs(1), error });
        b.pass(1_500);
        let screen = b.screen();
        assert!(screen.contains(&format!("slow down: retry {attempt}/5")), "{screen}");
        assert_eq!(screen.matches("slow down").count(), 1, "{screen}");
    }
    assert_eq!(b.scrollback.join("\n"), "");
    b.event(TurnEvent::Text("Hello.\n".into()));
    assert!(!b.screen().contains("slow down"), "{}", b.screen());
    assert_eq!(b.scrollback.join("\n").matches("slow down").count(), 1, "{:?}", b.scrollback);
    assert!(b.scrollback.join("\n").contains("3 failed requests: "), "{:?}", b.scrollback);
}

/// Story: the stars of a sub-agent's report were on the screen, and its lines continued in the first column.
#[test]
fn the_report_of_a_sub_agent_is_drawn_as_an_answer_is() {
    let mut b = bench_of(40, 16);
    let text = "**Rounding** happens before the unit is chosen, in `filesize.py`.";
    let summary = CallSummary::new("agent: look", DisplayDetail::Report(text.into()));
    let (id, name, outcome) = (CallId::new("a"), "delegate".into(), CallOutcome::Done);
    b.event(TurnEvent::CallEnded { id, name, outcome, summary });
    let all = b.scrollback.join("\n");
    assert!(all.contains("  Rounding happens before the unit is") && !all.contains("**"), "{all}");
    assert!(b.scrollback.iter().skip(1).all(|row| row.starts_with("  ") && row.len() <= 40), "{all}");
}

#[test]
fn why_it_asks_can_be_read_and_is_not_taken_for_the_call() {
    let long = (0..50).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let mut b = bench();
    let mut answer = b.ask(DisplayDetail::Text(long));
    b.more('w');
    let screen = b.screen();
    assert!(screen.contains("= no rule or grant matches") && !screen.contains("line 0"), "{screen}");
    // The call itself was not seen to its end.
    b.answer('y');
    assert!(answer.try_recv().is_err());
    b.key(KeyCode::Esc);
    b.more('w');
    assert!(b.screen().contains("line 0"), "{}", b.screen());
}

#[test]
fn all_commands_of_the_kind_are_allowed_behind_more() {
    let mut b = bench();
    let mut answer = b.ask(DisplayDetail::None);
    b.more('p');
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Pattern));
}

#[test]
fn a_total_loss_is_allowed_only_by_its_word() {
    for (keys, allowed) in [("/home/me", true), ("y", false), ("/home/m", false), ("", false)] {
        let mut b = bench();
        b.typed = Some("/home/me".into());
        let mut answer = b.ask(DisplayDetail::None);
        assert!(b.screen().contains("[No]"), "{}", b.screen());
        b.answer('y');
        assert!(b.screen().contains("type `/home/me` and Enter"), "{}", b.screen());
        // The word is typed by hand.
        b.live.paste("/home/me", b.now);
        b.type_text(keys);
        assert!(answer.try_recv().is_err(), "{keys}");
        b.enter();
        assert_eq!(answer.try_recv().ok(), allowed.then_some(ApprovalReply::Yes), "{keys}");
    }
    // Esc goes back to the question.
    let mut b = bench();
    b.typed = Some("x".into());
    let mut answer = b.ask(DisplayDetail::None);
    b.answer('y');
    b.key(KeyCode::Esc);
    b.enter();
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::No(String::new())));
}
