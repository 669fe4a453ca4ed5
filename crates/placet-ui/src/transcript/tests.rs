//! The transcript's screen: what it shows, what its keys do, what is copied.

use super::*;
use crate::keymap::Keymap;
use crate::test_screen;
use crossterm::event::{KeyCode, KeyModifiers};
use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, StopReason, ThinkingBlock,
    ToolCall,
};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

fn call(id: &str, name: &str, input: serde_json::Value) -> AssistantBlock {
    AssistantBlock::Call(ToolCall { id: CallId::new(id), name: name.into(), input: CallInput::Object(input) })
}

fn result(id: &str, name: &str, outcome: CallOutcome, text: &str) -> CallResult {
    let call = ToolCall { id: CallId::new(id), name: name.into(), input: CallInput::parse("") };
    CallResult::text(&call, outcome, text)
}

fn answer(blocks: Vec<AssistantBlock>) -> Message {
    Message::Assistant(AssistantMessage {
        blocks,
        stop: StopReason::EndTurn,
        model: "big-1".into(),
        ..AssistantMessage::default()
    })
}

fn talk() -> Vec<Message> {
    vec![
        Message::user("Where is the tail written?\nPlease look."),
        answer(vec![
            AssistantBlock::Thinking(ThinkingBlock {
                text: "Perhaps in a.rs.".into(),
                ..ThinkingBlock::default()
            }),
            call("1", "read_file", serde_json::json!({"path": "src/a.rs", "limit": 20})),
            call("2", "run_command", serde_json::json!({"command": "grep -n tail .\necho done"})),
        ]),
        Message::Results {
            results: vec![
                result("1", "read_file", CallOutcome::Done, "1│fn tail() {\n2│}\n"),
                result(
                    "2",
                    "run_command",
                    CallOutcome::Failed,
                    "exit code 2\n\u{1b}[31mgrep: .: Is a directory",
                ),
            ],
        },
        answer(vec![AssistantBlock::Text { text: "In **a.rs**:\n\n```rust\nfn tail() {\n}\n```\n".into() }]),
        Message::user("thanks"),
        answer(vec![AssistantBlock::Text { text: "You are welcome.".into() }]),
    ]
}

type CallbackLog = Rc<RefCell<Vec<String>>>;

fn opened<'m>(messages: &'m [Message], columns: u16, rows: u16) -> (TranscriptView<'m>, CallbackLog) {
    let copied: CallbackLog = Rc::default();
    let (copies, edits) = (Rc::clone(&copied), Rc::clone(&copied));
    let hands = TranscriptCallbacks {
        keys: Keymap::new("transcript", KEYS, &[]).unwrap(),
        pager: Keymap::new("pager", pager::KEYS, &[]).unwrap(),
        copy: Box::new(move |text| {
            copies.borrow_mut().push(text.into());
            format!("copied {} bytes", text.len())
        }),
        edit: Box::new(move |text| {
            edits.borrow_mut().push(format!("edit {text}"));
            Ok(())
        }),
    };
    let mut pane = TranscriptView::new(messages, &Theme::plain(), hands);
    pane.resize(columns, rows);
    (pane, copied)
}

fn press(pane: &mut TranscriptView<'_>, keys: &str) {
    for key in keys.chars() {
        test_screen::press(pane, key);
        while pane.screen.scroll.search.is_busy() {
            pane.tick();
        }
    }
}

fn screen(pane: &TranscriptView<'_>) -> String {
    test_screen::rows(&test_screen::drawn(pane, pane.screen.size)).join("\n")
}

#[test]
fn everything_that_was_said_and_called_stands_in_order() {
    let messages = talk();
    let (mut pane, _) = opened(&messages, 80, 24);
    press(&mut pane, "[\n");
    insta::assert_snapshot!(screen(&pane), @r#"
      ◆ ▾ you  turn 1
        Where is the tail written?
        Please look.

      ◆ ▸ thinking  1 line
      ◆ ▸ ✓ read_file src/a.rs  2 lines
    ❯ ◆ ▾ ✗ run_command grep -n tail .
    │   command
    │     grep -n tail .
    │     echo done
    │   ── failed ──
    │   exit code 2
    │   grep: .: Is a directory
    │
      ◆ ▾ big-1
        In a.rs:

        fn tail() {
        }

      ◆ ▾ you  turn 2
        thanks

     transcript  turn 1 of 2  entry 4 of 7      Enter fold  y copy  ? keys  q close
    "#);
}

#[test]
fn a_narrow_screen_wraps_and_keeps_its_bar() {
    let messages = talk();
    let (mut pane, _) = opened(&messages, 40, 12);
    press(&mut pane, "g");
    insta::assert_snapshot!(screen(&pane), @r#"
    ❯ ◆ ▾ you  turn 1
    │   Where is the tail written?
    │   Please look.
    │
      ◆ ▸ thinking  1 line
      ◆ ▸ ✓ read_file src/a.rs  2 lines
      ◆ ▸ ✗ run_command grep -n tail .  2
            lines

      ◆ ▾ big-1
        In a.rs:
     transcript  turn 1 of 2  entry 1 of 7
    "#);
}

#[test]
fn what_is_copied_is_exactly_what_was_said() {
    let messages = talk();
    let (mut pane, copied) = opened(&messages, 40, 12);
    press(&mut pane, "y{{y]yY]yY[Y");
    assert_eq!(
        *copied.borrow(),
        [
            "You are welcome.",
            "Where is the tail written?\nPlease look.",
            "1│fn tail() {\n2│}\n",
            "{\n  \"path\": \"src/a.rs\",\n  \"limit\": 20\n}",
            "exit code 2\n\u{1b}[31mgrep: .: Is a directory",
            "grep -n tail .\necho done",
            "{\n  \"path\": \"src/a.rs\",\n  \"limit\": 20\n}",
        ]
    );
    assert_eq!(pane.key(KeyEvent::new(KeyCode::Char('v'), KeyModifiers::NONE)), PaneFlow::Close);
    assert_eq!(pane.take_view().as_deref(), Some("src/a.rs"));
    assert_eq!(pane.key(KeyEvent::new(KeyCode::Char('e'), KeyModifiers::NONE)), PaneFlow::Lend);
    pane.run_released();
    assert_eq!(copied.borrow().last().unwrap(), "edit 1│fn tail() {\n2│}\n");
}

#[test]
fn a_search_unfolds_what_it_finds_and_folds_it_again() {
    let messages = talk();
    let (mut pane, _) = opened(&messages, 60, 20);
    press(&mut pane, "g");
    assert!(!screen(&pane).contains("grep: .: Is"));
    press(&mut pane, "/is a dir");
    assert!(screen(&pane).contains("grep: .: Is a directory"), "{}", screen(&pane));
    press(&mut pane, "\u{1b}");
    assert!(!screen(&pane).contains('\u{1b}'));
}

#[test]
fn five_thousand_messages_open_at_once() {
    let text = "A line of **words** that goes on for a while, as answers do.\n".repeat(40);
    let messages: Vec<Message> = (0..2500)
        .flat_map(|n| {
            [
                Message::user(format!("question {n}")),
                answer(vec![AssistantBlock::Text { text: text.clone() }]),
            ]
        })
        .collect();
    // The fastest of some counts: a machine that does something else slows the others.
    let (mut pane, first) = (0..20)
        .find_map(|_| {
            let started = Instant::now();
            let (pane, _) = opened(&messages, 120, 50);
            let first = screen(&pane);
            (started.elapsed() < Duration::from_millis(300)).then_some((pane, first))
        })
        .expect("only what is on the screen is laid out");
    assert!(first.contains("turn 2500 of 2500  entry 5000 of 5000"));
    press(&mut pane, "g");
    assert!(screen(&pane).contains("question 0"));
}

#[test]
fn keys_contradict_neither_each_other_nor_those_of_the_pager() {
    test_screen::assert_no_key_of_the_pager("transcript", KEYS);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_key_at_any_size_breaks_it(keys in "[gGjkzZnN{}\\[\\]yYewv?:/a1\n\u{1b} ]{0,40}", columns in 1u16..200, rows in 1u16..60) {
        let messages = talk();
        let (mut pane, _) = opened(&messages, columns, rows);
        for c in keys.chars() {
            press(&mut pane, &c.to_string());
            screen(&pane);
        }
        pane.resize(rows, columns.min(60));
        screen(&pane);
    }
}

#[test]
fn without_a_screen_entries_are_numbered_and_told_as_a_whole() {
    use crate::line_ui::script::ScriptedLineUi;
    let messages = talk();
    let (mut pane, copied) = opened(&messages, 80, 24);
    let mut script = ScriptedLineUi::of(&["4", "/tail", "copy 3", "99", "view 1", "view 3"]);
    pane.run_line_ui(&mut script);
    insta::assert_snapshot!(script.transcript(), @"
    transcript: 2 turns, 7 entries
    1: turn 1, you: Where is the tail written?
    2: thinking: Perhaps in a.rs.
    3: call read_file src/a.rs, done
    4: call run_command grep -n tail ., failed
    5: big-1: In **a.rs**:
    6: turn 2, you: thanks
    7: big-1: You are welcome.
    a number shows an entry, `back`, `more`, `/words` searches, `copy N`, `view N`, Enter leaves: 4
    4: call run_command grep -n tail ., failed
      command
        grep -n tail .
        echo done
    failed
      exit code 2
      grep: .: Is a directory
    end of 4
    a number shows an entry, `back`, `more`, `/words` searches, `copy N`, `view N`, Enter leaves: /tail
    4 entries have tail
    1: turn 1, you: Where is the tail written?
    3: call read_file src/a.rs, done
    4: call run_command grep -n tail ., failed
    5: big-1: In **a.rs**:
    a number shows an entry, `back`, `more`, `/words` searches, `copy N`, `view N`, Enter leaves: copy 3
    copied 22 bytes
    a number shows an entry, `back`, `more`, `/words` searches, `copy N`, `view N`, Enter leaves: 99
    no entry `99`
    a number shows an entry, `back`, `more`, `/words` searches, `copy N`, `view N`, Enter leaves: view 1
    this entry is not a call with a path
    a number shows an entry, `back`, `more`, `/words` searches, `copy N`, `view N`, Enter leaves: view 3
    ");
    assert_eq!(*copied.borrow(), ["1│fn tail() {\n2│}\n"]);
    assert_eq!(pane.take_view().as_deref(), Some("src/a.rs"));
}

#[test]
fn a_long_conversation_is_told_from_its_end_ten_entries_at_a_time() {
    use crate::line_ui::script::ScriptedLineUi;
    let messages: Vec<Message> = (1..=25).map(|n| Message::user(format!("line {n}"))).collect();
    let (mut pane, _) = opened(&messages, 80, 24);
    let mut script = ScriptedLineUi::of(&["back", "back", "back", "more", ""]);
    pane.run_line_ui(&mut script);
    let numbers: Vec<usize> =
        script.said.iter().filter_map(|line| line.split_once(": turn")?.0.parse().ok()).collect();
    let pages: Vec<usize> = [16..26, 6..16, 1..11, 1..11, 11..21].into_iter().flatten().collect();
    assert_eq!(numbers, pages);
}

#[test]
fn what_the_agent_was_told_of_a_review_is_folded_and_named_and_not_the_persons_words() {
    let report =
        r#"{"review": "The person reviewed your changes. More.", "rejected": [{}, {}], "comments": [{}]}"#;
    use placet_text::conversation::{Note, Part};
    let reported = |report: String| {
        let brief = crate::review::summary(&report).unwrap();
        Part::Note(Note::Review { report, brief })
    };
    let two = vec![reported(format!("{report}\n{report}")), Part::text("and?")];
    // The same words in the person's own message are the person's.
    let messages = [
        Message::User { parts: vec![reported(report.into())] },
        Message::user(report),
        Message::User { parts: two },
    ];
    let (mut pane, _) = opened(&messages, 80, 24);
    let head = |at: usize| pane.entries.lines(at)[0].to_string();
    assert_eq!(
        [head(0), head(1), head(2), head(3)],
        [
            "◆ ▸ review: 2 rejected, 1 comment  1 line",
            "◆ ▾ you  turn 2",
            "◆ ▸ review: 4 rejected, 2 comments  2 lines",
            "◆ ▾ you  turn 3"
        ]
    );
    // A turn that begins with a report is gone to like any other.
    press(&mut pane, "{{{");
    assert!(screen(&pane).contains("turn 1 of 3"), "{}", screen(&pane));
    press(&mut pane, "}}");
    assert!(screen(&pane).contains("turn 3 of 3"), "{}", screen(&pane));
}
