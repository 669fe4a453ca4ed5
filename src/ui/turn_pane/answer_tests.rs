use super::change_list::{change, detail, lines};
use super::*;
use crate::tools::{ChangeOverview, FileDiff, LeftOut};
use crate::workspace::CommitPatch;

const KEYS: &str = "a apply all  r review  k keep pending  d discard all";

/// Story: `y` moved the person into the draft, the row of keys went away, and the next lines were sent to the model.
#[test]
fn a_key_that_is_no_answer_leaves_the_question_and_its_keys_in_place() {
    let wrong = [
        KeyCode::Char('y'),
        KeyCode::Char('n'),
        KeyCode::Char('1'),
        KeyCode::Char('q'),
        KeyCode::Char('A'),
        KeyCode::Char(' '),
        KeyCode::Enter,
        KeyCode::Backspace,
        KeyCode::Left,
        KeyCode::Home,
        KeyCode::F(1),
    ];
    for code in wrong {
        let mut b = bench_of(120, 16);
        let mut answer = b.ask_to_apply(DisplayDetail::None);
        assert_eq!(b.key(code), None, "{code:?}");
        let screen = b.screen();
        assert!(screen.contains(&format!("these keys answer: {KEYS}")), "{code:?}: {screen}");
        assert!(screen.contains("1 file, +1 -0 lines: apply?"), "{code:?}: {screen}");
        assert!(answer.try_recv().is_err(), "{code:?}");
        // Nothing became a draft, and nothing is sent.
        assert_eq!(b.live.draft(), InputDraft::default(), "{code:?}");
        b.pass(600);
        b.key(KeyCode::Char('a'));
        // After a letter it may be the second one of a word.
        if matches!(code, KeyCode::Char(letter) if letter.is_alphanumeric()) {
            assert!(answer.try_recv().is_err(), "{code:?}");
            assert!(b.screen().contains("a came too early: press it again"), "{code:?}: {}", b.screen());
            b.pass(600);
            b.key(KeyCode::Char('a'));
        }
        assert_eq!(answer.try_recv(), Ok('a'), "{code:?}");
    }
}

pub(super) fn a_change() -> DisplayDetail {
    detail(vec![change("a.txt", 0, "old\n", "new\n")])
}

#[test]
fn tab_moves_between_the_question_and_the_draft_and_says_where_one_is() {
    let mut b = bench_of(120, 16);
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    assert!(b.screen().contains("Tab your draft"));
    b.key(KeyCode::Tab);
    let screen = b.screen();
    assert!(screen.contains("typing goes to your draft; Tab switches to the question"), "{screen}");
    assert!(screen.contains(KEYS), "{screen}");
    b.pass(1_000);
    b.type_text("a");
    b.pass(1_000);
    b.type_text("dd");
    b.key(KeyCode::Enter);
    // A line was sent off; the next letters are a draft again, and no answer.
    b.pass(1_000);
    b.type_text("a");
    assert!(answer.try_recv().is_err());
    assert_eq!(b.live.draft(), InputDraft { queued: vec!["add".into()], typed: "a".into() });
    // Esc leaves the draft, and stops nothing.
    assert_eq!(b.key(KeyCode::Esc), None);
    assert!(!b.screen().contains("typing goes to your draft"));
    b.pass(1_000);
    b.key(KeyCode::Char('k'));
    assert_eq!(answer.try_recv(), Ok('k'));
}

#[test]
fn an_answer_in_words_is_edited_like_every_other_line() {
    let mut b = bench_of(60, 16);
    let (reply, mut answer) = oneshot::channel();
    let choices = Vec::new();
    b.event(TurnEvent::Enquiry(crate::agent::UserPrompt {
        asker: crate::agent::PromptAsker::Model,
        question: "Which one?".into(),
        choices,
        reply,
    }));
    b.screen();
    b.pass(1_000);
    b.type_text("left side");
    b.ctrl('w');
    b.ctrl('a');
    b.type_text("the ");
    b.key(KeyCode::Right);
    b.key(KeyCode::Delete);
    assert!(b.screen().contains("> the lft"), "{}", b.screen());
    b.ctrl('e');
    // A paste goes to the typed answer, and sends nothing.
    let long = "line\n".repeat(30);
    b.live.paste("or\rright ", b.now);
    b.live.paste(&long, b.now);
    b.pass(2_000);
    assert!(b.screen().contains("> "), "{}", b.screen());
    assert!(b.screen().contains("right [Pasted text #1: 30 lines, 150 B]"), "{}", b.screen());
    b.live.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT), b.now);
    assert!(answer.try_recv().is_err());
    b.pass(1_000);
    b.key(KeyCode::Enter);
    assert_eq!(answer.try_recv(), Ok(crate::tools::UserReply::Words(format!("the lft or\nright {long}\n"))));
    assert_eq!(b.live.draft(), InputDraft::default());
}

/// Story: an unbracketed paste of `a\ra\ra\r` answered with its first byte, and the rest was sent to the model.
#[test]
fn a_burst_answers_nothing_and_is_not_sent() {
    let (a, enter) = (KeyCode::Char('a'), KeyCode::Enter);
    let bursts: [&[KeyCode]; 5] =
        [&[a, enter, a, enter, a, enter], &[a, enter], &[a, a], &[enter, a], &[KeyCode::Esc, a]];
    for keys in bursts {
        let mut b = bench();
        let mut answer = b.ask_to_apply(DisplayDetail::None);
        assert_eq!(b.burst(keys), [], "{keys:?}");
        assert!(answer.try_recv().is_err(), "{keys:?}");
        assert_eq!(b.live.draft(), InputDraft::default(), "{keys:?}");
        // In the draft it is text, which is not sent off before it was looked at.
        b.key(KeyCode::Tab);
        b.burst(keys);
        assert!(b.live.draft().queued.is_empty(), "{keys:?}");
        assert!(answer.try_recv().is_err(), "{keys:?}");
    }
}

/// Story: Enter that came in one burst with the reason was ignored, and nothing said so.
#[test]
fn enter_after_a_reason_ends_it_or_says_why_not() {
    let keys = |text: &str| -> Vec<KeyCode> {
        text.chars().map(|c| if c == '\r' { KeyCode::Enter } else { KeyCode::Char(c) }).collect()
    };
    let asked = || {
        let mut b = bench_of(120, 16);
        let mut question = b.ask_to_apply(DisplayDetail::None);
        b.screen();
        b.pass(1_000);
        assert!(question.try_recv().is_err());
        (b, question)
    };
    let queued = |b: &TurnPaneHarness| b.live.draft().queued;
    let (mut b, _question) = asked();
    b.type_text("b");
    b.pass(300);
    b.burst(&keys("use tabs\rin all files\r"));
    let words = "I have not applied these changes: use tabs\nin all files";
    assert_eq!(queued(&b), [words]);
    // A paste that happens to begin with the key of the reason is no reason.
    let (mut b, _question) = asked();
    b.burst(&keys("build it\r"));
    assert_eq!(b.live.draft(), InputDraft { queued: Vec::new(), typed: "build it\n".into() });
    assert!(!b.screen().contains("why not?"), "{}", b.screen());
}

/// Story: `no, use 20 percent` typed at the question showed the patch, and nothing else of it was left.
#[test]
fn a_text_that_is_typed_at_a_question_is_a_draft_and_decides_nothing() {
    for text in [
        "no, use 20 percent",
        "pay as before",
        "also add a test",
        "a test, too",
        "rather use a constant",
        "All good?",
        "tests first",
        "keep a b",
        "don't do that",
        "but use tabs",
    ] {
        for gap in [0, 12, 120, 200, 299] {
            let mut b = bench_of(120, 16);
            let mut answer = b.ask_to_apply(detail(vec![change("a.txt", 0, "old\n", "new\n")]));
            let before = b.screen();
            for c in text.chars() {
                b.live.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), b.now);
                b.pass(gap);
                assert_eq!(b.live.answer_due_key(b.now), None, "{text:?} every {gap} ms");
            }
            assert!(answer.try_recv().is_err(), "{text:?} every {gap} ms");
            assert_eq!(b.live.draft(), InputDraft { queued: Vec::new(), typed: text.into() }, "{gap} ms");
            let screen = b.screen();
            assert!(screen.contains("typing goes to your draft; Tab switches"), "{screen}");
            // What was shown of the changes is shown as before.
            let change = "+ new";
            assert_eq!(screen.contains(change), before.contains(change), "{screen}");
            assert!(!screen.contains("@@"), "{screen}");
            b.key(KeyCode::Esc);
            b.pass(600);
            b.key(KeyCode::Char('a'));
            assert_eq!(answer.try_recv(), Ok('a'), "{text:?} every {gap} ms");
        }
    }
}

/// Story: `also add a test` with 0.2 s between two letters applied everything.
#[test]
fn a_text_that_is_typed_at_a_permission_question_decides_nothing() {
    for text in
        ["yes, later", "no, not that", "ask me again", "please wait", "very well", "why that?", "but not now"]
    {
        for gap in [0, 50, 200, 299] {
            let mut b = bench_of(120, 16);
            let mut answer = b.ask(DisplayDetail::Text("cargo test".into()));
            b.screen();
            b.pass(1_000);
            for c in text.chars() {
                b.live.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), b.now);
                b.pass(gap);
                assert_eq!(b.live.answer_due_key(b.now), None, "{text:?} every {gap} ms");
            }
            assert!(answer.try_recv().is_err(), "{text:?} every {gap} ms");
            assert_eq!(b.live.draft(), InputDraft { queued: Vec::new(), typed: text.into() }, "{gap} ms");
            assert!(!b.screen().contains("nothing: no rule"), "{}", b.screen());
        }
    }
}

/// A sentence typed where a key has to be pressed again.
#[test]
fn a_text_confirms_nothing() {
    let mut b = bench_of(120, 16);
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    b.key(KeyCode::Char('d'));
    assert!(b.screen().contains("press d again"), "{}", b.screen());
    b.pass(1_500);
    for c in "do it".chars() {
        b.live.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), b.now);
        b.pass(200);
        assert_eq!(b.live.answer_due_key(b.now), None);
    }
    assert!(answer.try_recv().is_err());
    assert_eq!(b.live.draft().typed, "do it");
}

/// A letter answers 0.3 s after it was pressed: until then the row of keys shows which one it is.
#[test]
fn the_letter_that_will_answer_is_selected_in_the_row_of_keys() {
    use crate::ui::ansi::ColorDepth;
    for (theme, depth) in [("dark", ColorDepth::True), ("mono", ColorDepth::None)] {
        let mut b = bench_of(120, 16);
        b.live.theme = Theme::load(theme, std::path::Path::new("/"), depth, |_| None).unwrap();
        let _answer = b.ask_to_apply(DisplayDetail::None);
        // What is drawn with the style of a selection.
        let selected = |b: &mut TurnPaneHarness| -> String {
            let select = b.live.theme.style("select");
            let picture = b.live.picture(Mode::Ask, 15, b.now);
            let mut terminal = Terminal::new(TestBackend::new(120, picture.height())).unwrap();
            terminal
                .draw(|f| {
                    let area = f.area();
                    picture.draw(f.buffer_mut(), area);
                })
                .unwrap();
            let is_selected = |cell: &&ratatui::buffer::Cell| {
                select.bg.is_none_or(|bg| cell.bg == bg) && cell.modifier.contains(select.add_modifier)
            };
            let cells = terminal.backend().buffer().content.iter().filter(is_selected);
            cells.map(|cell| cell.symbol().to_string()).collect()
        };
        assert_eq!(selected(&mut b), "", "{theme}");
        for (key, label) in [('k', "k keep pending"), ('b', "b no, because ...")] {
            b.live.key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE), b.now);
            assert_eq!(selected(&mut b), label, "{theme}");
            // It counts: the row says nothing else.
            assert!(!b.screen().contains("a moment"), "{}", b.screen());
            // The next letter makes a text of it.
            b.pass(100);
            b.live.key(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE), b.now);
            assert_eq!(selected(&mut b), "", "{theme}");
            b.key(KeyCode::Esc);
            b.pass(1_000);
        }
    }
}

/// Story: a sentence at the question of `/apply`, which has no draft: its spaces opened and closed differences.
#[test]
fn a_text_where_no_draft_is_toggles_and_decides_nothing_and_the_row_says_so() {
    for gap in [12, 120, 290, 400] {
        for text in ["no, do it with 20 percent", "xy a  p t d k", "use 1  p p, a b"] {
            let mut b = bench_of(120, 16);
            b.live.facts.questions_only = true;
            let mut answer = b.ask_to_apply(detail(vec![change("a.txt", 0, "old\n", "new\n")]));
            let before = b.screen();
            for c in text.chars() {
                b.live.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), b.now);
                b.pass(gap);
                assert_eq!(b.live.answer_due_key(b.now), None, "{text:?} every {gap} ms");
            }
            let screen = b.screen();
            assert!(answer.try_recv().is_err(), "{text:?} every {gap} ms");
            assert!(screen.contains(&format!("text is ignored here; these keys answer: {KEYS}")), "{screen}");
            assert!(before.contains("+ new") && screen.contains("+ new"), "{before}\n{screen}");
            b.pass(600);
            b.key(KeyCode::Char('a'));
            assert_eq!(answer.try_recv(), Ok('a'), "{text:?} every {gap} ms");
        }
    }
}

#[test]
fn a_key_that_did_something_is_no_letter_of_a_text() {
    let mut b = bench_of(120, 16);
    let mut answer = b.ask_to_apply(detail(vec![change("a.txt", 0, "old\n", "new\n")]));
    b.key(KeyCode::Char('d'));
    assert!(b.screen().contains("press d again"), "{}", b.screen());
    b.pass(1_500);
    // Looking and looking again is no text, either.
    for key in ['p', ' ', 'p'] {
        b.key(KeyCode::Char(key));
    }
    assert_eq!(b.live.draft(), InputDraft::default());
    assert!(answer.try_recv().is_err());
}

/// A person answers the model's question, or has not seen it yet.
#[test]
fn a_text_is_the_answer_where_one_is_asked_for_and_was_read() {
    for (seen, typed) in [(1_000, "12 files"), (100, "12 files"), (100, "neither")] {
        let mut b = bench_of(60, 16);
        let (reply, mut answer) = oneshot::channel();
        b.event(TurnEvent::Enquiry(crate::agent::UserPrompt {
            asker: crate::agent::PromptAsker::Model,
            question: "Which one?".into(),
            choices: vec!["the first".into(), "the second".into()],
            reply,
        }));
        b.screen();
        b.pass(seen);
        for c in typed.chars() {
            b.live.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), b.now);
            b.pass(100);
        }
        assert!(answer.try_recv().is_err());
        let draft = if seen < 500 { typed } else { "" };
        assert_eq!(b.live.draft().typed, draft);
        b.pass(600);
        b.key(KeyCode::Enter);
        match seen {
            1_000 => assert_eq!(answer.try_recv(), Ok(crate::tools::UserReply::Words(typed.into()))),
            _ => assert!(answer.try_recv().is_err()),
        }
    }
}

/// Story: Esc half a second after another key showed "stopping" for ever, and `a` still applied.
#[test]
fn escape_near_another_key_stops_nothing_and_after_a_stop_nothing_is_applied() {
    let (esc, other) = (KeyCode::Esc, KeyCode::Char('k'));
    for (first, second, gap) in
        [(esc, other, 0), (other, esc, 0), (esc, other, 40), (other, esc, 40), (KeyCode::Char('y'), esc, 300)]
    {
        let mut b = bench_of(120, 16);
        let mut answer = b.ask_to_apply(DisplayDetail::None);
        let press =
            |b: &mut TurnPaneHarness, code| b.live.key(KeyEvent::new(code, KeyModifiers::NONE), b.now);
        assert_eq!(press(&mut b, first), None);
        b.pass(gap);
        assert_eq!(press(&mut b, second), None);
        b.pass(600);
        assert_eq!(b.live.answer_due_key(b.now), None);
        let screen = b.screen();
        assert!(screen.contains("waiting for you") && !screen.contains("stopping"), "{screen}");
        assert!(answer.try_recv().is_err());
        b.key(KeyCode::Char('a'));
        assert_eq!(answer.try_recv(), Ok('a'));
    }
    // Ctrl-C stops: the question is closed, and no key applies its changes.
    let mut b = bench_of(120, 16);
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    assert_eq!(b.ctrl('c'), Some(TurnPaneAction::Stop));
    b.pass(1_000);
    b.key(KeyCode::Char('a'));
    assert_eq!(answer.try_recv(), Err(oneshot::error::TryRecvError::Closed));
}

#[test]
fn escape_at_the_apply_question_answers_nothing_and_stops_nothing() {
    let mut b = bench();
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    assert_eq!(b.key(KeyCode::Esc), None);
    // Dropped: the caller leaves the changes pending and reports this.
    assert_eq!(answer.try_recv(), Err(oneshot::error::TryRecvError::Closed));
}

/// Story: the second press had to come half a second after the first, and was lost before that.
#[test]
fn the_confirming_key_counts_as_soon_as_the_first_was_drawn() {
    let mut b = bench_of(120, 16);
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    b.key(KeyCode::Char('d'));
    // Not drawn yet.
    b.key(KeyCode::Char('d'));
    b.pass(200);
    assert_eq!(b.live.answer_due_key(b.now), None);
    assert!(answer.try_recv().is_err());
    let screen = b.screen();
    assert!(screen.contains("press d again to do it") && screen.contains(KEYS), "{screen}");
    b.key(KeyCode::Char('d'));
    b.pass(200);
    assert_eq!(b.live.answer_due_key(b.now), None);
    assert_eq!(answer.try_recv(), Ok('d'));

    // Any other key calls it off.
    let mut b = bench_of(120, 16);
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    b.key(KeyCode::Char('d'));
    b.screen();
    b.key(KeyCode::Char('x'));
    assert!(!b.screen().contains("press d again"));
    b.pass(600);
    b.key(KeyCode::Char('d'));
    assert!(answer.try_recv().is_err());
}

#[test]
fn a_key_answers_the_same_while_text_streams_and_the_window_changes() {
    let mut b = bench_of(120, 16);
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    for (n, columns) in [120_u16, 40, 12, 80].into_iter().enumerate() {
        b.event(TurnEvent::Notice(format!("job {n} ended")));
        b.size.0 = columns;
        b.live.resized(usize::from(columns), 16);
        b.burst(&[KeyCode::Char('a'), KeyCode::Enter]);
        b.screen();
    }
    assert!(answer.try_recv().is_err());
    b.pass(600);
    b.key(KeyCode::Char('a'));
    assert_eq!(answer.try_recv(), Ok('a'));
}

#[test]
fn a_terminal_that_is_gone_answers_nothing() {
    let mut b = bench();
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    b.live.key(KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE), b.now);
    b.live.terminal_closed();
    b.pass(1_000);
    assert_eq!(b.live.answer_due_key(b.now), None);
    assert_eq!(answer.try_recv(), Err(oneshot::error::TryRecvError::Closed));
}

/// A difference has a cap. What is beyond the cap was not seen, also when every row was on the screen.
#[test]
fn a_difference_that_was_cut_is_allowed_only_by_a_second_press() {
    for left_out in [0, 3] {
        let mut b = bench_of(120, 16);
        let detail = DisplayDetail::Diff(crate::tools::DiffText { text: "-a\n+b\n".into(), left_out });
        let mut answer = b.ask(detail);
        b.screen();
        b.pass(1_000);
        b.key(KeyCode::Char('y'));
        if left_out > 0 {
            assert!(answer.try_recv().is_err());
            let screen = b.screen();
            assert!(screen.contains("not all of it was shown: press y again"), "{screen}");
            b.pass(1_000);
            b.key(KeyCode::Char('y'));
        }
        assert_eq!(answer.try_recv(), Ok(ApprovalReply::Yes), "{left_out}");
    }
}

/// Story: edit, edit, write were listed as write, edit, edit.
#[test]
fn calls_are_listed_in_the_order_in_which_the_model_made_them() {
    let mut b = bench();
    let id = |name: &str| CallId::new(name);
    for name in ["a", "b", "c"] {
        b.event(TurnEvent::CallComing { id: id(name), name: "edit_file".into() });
    }
    for name in ["c", "a", "b"] {
        let title = format!("edit {name}.txt");
        b.event(TurnEvent::CallPlanned { id: id(name), name: "edit_file".into(), title });
        b.event(TurnEvent::CallRunning { id: id(name) });
    }
    let end = |b: &mut TurnPaneHarness, name: &str| {
        let summary = CallSummary::line(format!("edit {name}.txt +1 -1"));
        let (id, name, outcome) = (id(name), "edit_file".into(), CallOutcome::Done);
        b.event(TurnEvent::CallEnded { id, name, outcome, summary });
    };
    end(&mut b, "c");
    end(&mut b, "b");
    assert!(b.scrollback.is_empty(), "{:?}", b.scrollback);
    let screen = b.screen();
    assert!(screen.starts_with("◆ › edit a.txt\n◆ ✓ edit b.txt +1 -1\n◆ ✓ edit c.txt +1 -1\n"), "{screen}");
    end(&mut b, "a");
    assert_eq!(b.scrollback, ["a", "b", "c"].map(|name| format!("◆ ✓ edit {name}.txt +1 -1")));
}

/// Story: a model that sends a blank before each call left two empty rows above each call.
#[test]
fn an_answer_of_only_blanks_has_no_rows() {
    for blank in [" ", "\n\n", " \n"] {
        let mut b = bench();
        b.event(TurnEvent::Requested);
        b.event(TurnEvent::Text(blank.into()));
        b.event(TurnEvent::CallComing { id: CallId::new("1"), name: "list_directory".into() });
        b.event(TurnEvent::CallEnded {
            id: CallId::new("1"),
            name: "list_directory".into(),
            outcome: CallOutcome::Done,
            summary: CallSummary::text("list .", ""),
        });
        // Blanks in front of text are part of it: an indented block begins with them.
        b.event(TurnEvent::Text("    ".into()));
        b.event(TurnEvent::Text("let x;\n\nDone.".into()));
        b.event(TurnEvent::Ended(TurnEnding::Done));
        assert_eq!(b.scrollback.first().map(String::as_str), Some("◆ ✓ list ."), "{:?}", b.scrollback);
        assert!(b.scrollback.iter().any(|row| row.trim() == "let x;"), "{:?}", b.scrollback);
        assert!(
            !b.scrollback.windows(2).any(|two| two.iter().all(|row| row.is_empty())),
            "{:?}",
            b.scrollback
        );
    }
}

/// Story: at 40x12 PageDown went past five closed differences and opened the last.
#[test]
fn page_down_opens_what_it_passes_from_top_to_bottom() {
    let names: Vec<String> = (0..6).map(|n| format!("f{n}.txt")).collect();
    let edited = |n: usize| lines(20).replace("line 10\n", &format!("changed {n}\n"));
    let changes = names.iter().enumerate().map(|(n, name)| change(name, n, &lines(20), &edited(n))).collect();
    let mut b = bench_of(40, 11);
    let _answer = b.ask_to_apply(detail(changes));
    let mut order: Vec<usize> = Vec::new();
    for _ in 0..60 {
        let screen = b.screen();
        let new = (0..6).filter(|n| screen.contains(&format!("+ changed {n}")));
        let new: Vec<usize> = new.filter(|n| !order.contains(n)).collect();
        order.extend(new);
        b.key(KeyCode::PageDown);
    }
    assert_eq!(order, [0, 1, 2, 3, 4, 5], "{}", b.screen());
}

/// Story: a removed binary file that the person had changed was "too large", and `!less` was to show it.
#[test]
fn what_is_not_stored_any_more_is_not_called_large() {
    let (row, mut file) = change("b.bin", 0, "", "");
    file.patch = b"# b.bin cannot be shown\n".to_vec();
    file.left_out = Some(LeftOut::Replaced { bytes: 300 });
    let mut b = bench_of(100, 24);
    let _answer = b.ask_to_apply(detail(vec![(row, file)]));
    let screen = b.screen();
    let words = "300 bytes of b.bin are not shown: the file in the workspace has other content now";
    assert!(screen.contains(words) && !screen.contains("!less"), "{screen}");
}

/// Story: at 40 columns and 12 rows the keys took four rows, and the changes three.
#[test]
fn in_a_low_pane_the_keys_have_two_rows_also_while_they_do_not_count() {
    for columns in [40, 80] {
        let mut b = bench_of(columns, 11);
        let (row, file) = change("a.txt", 0, "a\n", "b\n");
        let _answer = b.ask_to_apply(detail(vec![(row, file)]));
        let rows_of_keys = |screen: &str| {
            let below = screen.lines().skip_while(|row| !row.contains("a apply all"));
            below.take_while(|row| !row.starts_with('>')).count()
        };
        let screen = b.screen();
        assert_eq!(rows_of_keys(&screen), 2, "{columns}: {screen}");
        assert!(screen.contains("Space open"), "{columns}: {screen}");
        b.live.size_changed(b.now);
        let waiting = b.screen();
        assert!(waiting.contains("(wait)") || waiting.contains("(a moment"), "{columns}: {waiting}");
        assert_eq!(rows_of_keys(&waiting), 2, "{columns}: {waiting}");
    }
}

/// Story: of a commit of 1,501 files the same row came twice, one below the other.
#[test]
fn a_commit_of_which_not_all_was_read_is_named_by_its_row_alone() {
    let (mut listed, mut diff) = change("s.txt", 0, "", "new\n");
    listed.text = "  commit 1f3a2c7 \"Gen\" on main: at least 1 file".into();
    (listed.is_of_git, listed.commit) = (true, Some(CommitPatch::default()));
    diff.name = listed.text.trim().into();
    let name = diff.name.clone();
    let cut = FileDiff { name, row: 0, left_out: Some(LeftOut::NotRead), ..FileDiff::default() };
    let mut b = bench_of(100, 30);
    let overview = ChangeOverview { list: vec![listed], files: vec![diff, cut] };
    let _answer = b.ask_to_apply(DisplayDetail::Changes(Box::new(overview)));
    let screen = b.screen();
    assert!(screen.contains("not all of it is shown: commit 1f3a2c7"), "{screen}");
    assert_eq!(screen.matches("commit 1f3a2c7").count(), 2, "{screen}");
}
