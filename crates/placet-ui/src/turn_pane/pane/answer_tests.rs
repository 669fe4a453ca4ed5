use super::change_list::{change, detail, lines};
use super::*;
use placet_tools::{ChangeOverview, FileDiff, LeftOut};
use placet_workspace::CommitPatch;

/// Story: `y` moved the person into the draft, the row of keys went away, and the next lines were sent to the model.
#[test]
fn a_key_that_is_no_answer_leaves_the_question_and_its_answers_in_place() {
    let others = [KeyCode::Backspace, KeyCode::Home, KeyCode::Delete, KeyCode::F(1), KeyCode::Char(' ')];
    for code in others {
        let mut b = bench_of(120, 16);
        let mut answer = b.ask_to_apply(a_change());
        assert_eq!(b.key(code), None, "{code:?}");
        let screen = b.screen();
        assert!(screen.contains("[Apply] · Review · Keep pending · Discard · More"), "{code:?}: {screen}");
        assert!(answer.try_recv().is_err(), "{code:?}");
        assert_eq!(b.live.draft(), InputDraft::default(), "{code:?}");
        b.enter();
        assert_eq!(answer.try_recv(), Ok('a'), "{code:?}");
    }
}

pub(super) fn a_change() -> DisplayDetail {
    detail(vec![change("a.txt", 0, "old\n", "new\n")])
}

/// Story: after a text that was deleted or queued, `a` typed to answer went to the model.
#[test]
fn after_a_text_the_question_has_the_keyboard_again() {
    let mut b = bench_of(120, 16);
    b.type_text("hello");
    let mut answer = b.ask_to_apply(a_change());
    let screen = b.screen();
    assert!(screen.contains("Enter sends your text · Esc clears it"), "{screen}");
    b.key(KeyCode::Enter);
    assert_eq!(b.live.draft().queued, ["hello"], "begun before the question, it is the next message");
    b.key(KeyCode::Up);
    assert_eq!(b.live.draft(), InputDraft { queued: Vec::new(), typed: "hello".into() });
    b.key(KeyCode::Esc);
    assert!(b.screen().contains("[Apply] · Review"), "{}", b.screen());
    b.answer('k');
    assert_eq!(answer.try_recv(), Ok('k'));
}

#[test]
fn the_mark_is_seen_without_colour_and_moves_without_deciding() {
    let mut b = bench_of(120, 16);
    let mut answer = b.ask_to_apply(a_change());
    for (key, row) in [
        (KeyCode::Right, "Apply · [Review] · Keep pending · Discard · More"),
        (KeyCode::Tab, "Apply · Review · [Keep pending] · Discard · More"),
        (KeyCode::Left, "Apply · [Review] · Keep pending · Discard · More"),
        (KeyCode::Left, "[Apply] · Review · Keep pending · Discard · More"),
        (KeyCode::Left, "Apply · Review · Keep pending · Discard · [More]"),
    ] {
        b.key(key);
        assert!(b.screen().contains(row), "{}", b.screen());
    }
    assert!(answer.try_recv().is_err());
}

#[test]
fn a_discard_is_asked_about_once_more() {
    let mut b = bench_of(120, 16);
    let mut answer = b.ask_to_apply(a_change());
    b.answer('d');
    assert!(answer.try_recv().is_err());
    assert!(b.screen().contains("Discard · [Keep]"), "{}", b.screen());
    b.enter();
    assert!(answer.try_recv().is_err() && b.screen().contains("[Apply]"), "{}", b.screen());
    b.answer('d');
    b.answer('d');
    assert_eq!(answer.try_recv(), Ok('d'));
}

#[test]
fn an_answer_in_words_is_edited_like_every_other_line() {
    let mut b = bench_of(60, 16);
    let (reply, mut answer) = oneshot::channel();
    let choices = Vec::new();
    b.event(TurnEvent::Enquiry(placet_agent::UserPrompt {
        asker: placet_agent::PromptAsker::Model,
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
    assert_eq!(answer.try_recv(), Ok(placet_tools::UserReply::Words(format!("the lft or\nright {long}\n"))));
    assert_eq!(b.live.draft(), InputDraft::default());
}

/// Text that is typed at a question, also letter by letter with long pauses, decides nothing; Enter sends it.
#[test]
fn a_text_at_a_question_is_the_reply_and_decides_nothing() {
    for text in ["no, use 20 percent", "a test, too", "keep a b", "don't do that", "yes but later", "1"] {
        for gap in [0, 130, 700, 2_000] {
            let mut b = bench_of(120, 16);
            let mut answer = b.ask_to_apply(a_change());
            for c in text.chars() {
                b.live.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), b.now);
                b.pass(gap);
                b.screen();
            }
            assert!(answer.try_recv().is_err(), "{text:?} every {gap} ms");
            let screen = b.screen();
            assert!(screen.contains("+ new") && screen.contains("apply?"), "{screen}");
            b.key(KeyCode::Enter);
            assert!(answer.try_recv().is_err(), "{text:?} every {gap} ms");
            assert_eq!(b.live.draft().queued, [format!("I have not applied these changes: {text}")]);
        }
    }
}

/// Where nobody would get it, a text is cleared by hand: Enter neither sends it nor answers.
#[test]
fn a_text_without_a_reader_decides_nothing_and_the_row_says_so() {
    let mut b = bench_of(120, 16);
    b.live.facts.questions_only = true;
    let mut answer = b.ask_to_apply(a_change());
    b.live.question = None;
    assert!(answer.try_recv().is_err());
    let (reply, mut answer) = oneshot::channel();
    b.event(TurnEvent::LoopQuestion(placet_agent::LoopQuestion {
        tool: "read_file".into(),
        times: 3,
        spent: TokenUsage::default(),
        reply,
    }));
    b.screen();
    b.type_text("go on");
    assert!(b.screen().contains("text is no answer here · Esc clears it"), "{}", b.screen());
    b.enter();
    assert!(answer.try_recv().is_err());
    assert!(b.screen().contains("> go on"), "{}", b.screen());
    b.key(KeyCode::Esc);
    b.enter();
    assert_eq!(answer.try_recv(), Ok(true));
}

fn which_one(b: &mut TurnPaneHarness) -> oneshot::Receiver<placet_tools::UserReply> {
    let (reply, answer) = oneshot::channel();
    b.event(TurnEvent::Enquiry(placet_agent::UserPrompt {
        asker: placet_agent::PromptAsker::Model,
        question: "Which one?".into(),
        choices: vec!["the first".into(), "the second".into()],
        reply,
    }));
    answer
}

#[test]
fn the_models_question_is_answered_by_its_marked_choice_or_by_text() {
    let words = |words: &str| Ok(placet_tools::UserReply::Words(words.into()));
    let mut b = bench_of(60, 16);
    let mut answer = which_one(&mut b);
    assert!(b.screen().contains("[1] the first\n   2  the second"), "{}", b.screen());
    b.key(KeyCode::Down);
    assert!(b.screen().contains("[2] the second"), "{}", b.screen());
    b.enter();
    assert_eq!(answer.try_recv(), words("the second"));
    for (typed, said) in [("2", "the second"), ("neither", "neither")] {
        let mut answer = which_one(&mut b);
        b.screen();
        b.type_text(typed);
        assert!(answer.try_recv().is_err());
        b.key(KeyCode::Enter);
        assert_eq!(answer.try_recv(), words(said));
    }
    // Begun before the question was on the screen, it is the next message.
    let mut answer = which_one(&mut b);
    b.type_text("12 files");
    b.screen();
    b.key(KeyCode::Enter);
    assert!(answer.try_recv().is_err());
    assert_eq!(b.live.draft().queued, ["12 files"]);
    b.key(KeyCode::Esc);
    assert_eq!(answer.try_recv(), Ok(placet_tools::UserReply::Open));
}

#[test]
fn what_destroys_is_marked_no() {
    let mut b = bench_of(120, 16);
    b.needs_care = true;
    let mut answer = b.ask(DisplayDetail::Text("rm -rf src".into()));
    assert!(b.screen().contains("· [No] ·"), "{}", b.screen());
    b.enter();
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::No(String::new())));
    let mut answer = b.ask(DisplayDetail::Text("rm -rf src".into()));
    b.answer('y');
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Yes));
}

#[test]
fn escape_at_the_apply_question_answers_nothing_and_stops_nothing() {
    let mut b = bench();
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    assert_eq!(b.key(KeyCode::Esc), None);
    // Dropped: the caller leaves the changes pending and reports this.
    assert_eq!(answer.try_recv(), Err(oneshot::error::TryRecvError::Closed));
}

#[test]
fn a_terminal_that_is_gone_answers_nothing() {
    let mut b = bench();
    let mut answer = b.ask_to_apply(DisplayDetail::None);
    b.live.terminal_closed();
    assert_eq!(answer.try_recv(), Err(oneshot::error::TryRecvError::Closed));
}

/// A difference has a cap. What is beyond the cap was not seen, also when every row was on the screen.
#[test]
fn a_difference_that_was_cut_is_asked_about_once_more() {
    for left_out in [0, 3] {
        let mut b = bench_of(120, 16);
        let detail = DisplayDetail::Diff(placet_tools::DiffText { text: "-a\n+b\n".into(), left_out });
        let mut answer = b.ask(detail);
        b.answer('y');
        if left_out > 0 {
            assert!(answer.try_recv().is_err());
            assert!(b.screen().contains("not all of it was shown: go ahead?"), "{}", b.screen());
            b.answer('y');
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
fn in_a_low_pane_the_answers_have_few_rows_and_break_between_two_of_them() {
    for (columns, expected) in [
        (40, "  [Apply] · Review · Keep pending\n  Discard · More   "),
        (80, "  [Apply] · Review · Keep pending · Discard · More   "),
    ] {
        let mut b = bench_of(columns, 11);
        let (row, file) = change("a.txt", 0, "a\n", "b\n");
        let _answer = b.ask_to_apply(detail(vec![(row, file)]));
        let screen = b.screen();
        assert!(screen.contains(&format!("{expected}Enter answers")), "{columns}: {screen}");
        b.live.size_changed(b.now);
        let waiting = b.screen();
        assert!(waiting.contains(&format!("{expected}a moment ...")), "{columns}: {waiting}");
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
