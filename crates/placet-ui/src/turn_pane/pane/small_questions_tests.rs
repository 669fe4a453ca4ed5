use super::change_list::*;
use super::*;
use placet_workspace::{CommitPatch, ListedChange};

/// Story: at 20x6 the head, the files and the differences were above the pane; the first `a` changed nothing that could be
/// seen, and the second applied everything.
#[test]
fn a_terminal_without_room_for_the_question_says_so_and_takes_no_yes() {
    let files = || detail((0..3).map(|row| change(&format!("f{row}"), row, "one\n", "two\n")).collect());
    for (width, height) in [(20, 6), (20, 7), (12, 12), (60, 4), (120, 3)] {
        let mut b = bench_of(width, height);
        let mut answer = b.ask_to_apply(files());
        for _ in 0..4 {
            let screen = b.screen();
            let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("the terminal is too small"), "{width}x{height}: {screen}");
            b.answer('a');
            assert!(answer.try_recv().is_err(), "{width}x{height}: {screen}");
        }
        // A no needs no look, and in a larger terminal everything is as usual.
        if width == 20 {
            b.answer('k');
            assert_eq!(answer.try_recv(), Ok('k'), "{width}x{height}");
            continue;
        }
        b.size = (80, 24);
        b.live.resized(80, 24);
        b.pass(1_000);
        let screen = b.screen();
        assert!(screen.contains("M f2") && screen.matches("+ two").count() == 3, "{screen}");
        assert!(!screen.contains("too small"), "{screen}");
        b.answer('a');
        assert_eq!(answer.try_recv(), Ok('a'), "{width}x{height}: {}", b.screen());
    }
}

/// The list of steps and queued lines make way for the question.
#[test]
fn what_waits_makes_way_for_a_question_that_has_no_room_next_to_it() {
    let mut b = bench_of(80, 9);
    for text in ["first", "second", "third", "fourth", "fifth"] {
        b.type_text(text);
        b.key(KeyCode::Enter);
    }
    let mut answer = b.ask_to_apply(detail(vec![change("a.txt", 0, "one\n", "two\n")]));
    let screen = b.screen();
    assert!(
        screen.contains("M a.txt") && screen.contains("[Apply]") && !screen.contains("too small"),
        "{screen}"
    );
    b.answer('k');
    assert_eq!(answer.try_recv(), Ok('k'));
    assert!(b.screen().contains("after this turn: fifth"), "{}", b.screen());
}

/// Story: a line queued with Ctrl-S at the question said `with the next request`, and was sent as the last turn.
#[test]
fn a_line_queued_at_the_question_about_changes_is_sent_after_the_turn() {
    let mut b = bench_of(80, 24);
    b.type_text("first");
    b.key(KeyCode::Enter);
    let _answer = b.ask_to_apply(two_files());
    b.type_text("status");
    b.ctrl('s');
    let screen = b.screen();
    assert!(
        screen.contains("1 after this turn: first") && screen.contains("2 after this turn: status"),
        "{screen}"
    );
    assert!(screen.contains("  Up edits the newest"), "{screen}");
    assert!(!screen.contains("next request"), "{screen}");
    // Nor does the key promise it to a line that waits.
    b.ctrl('s');
    assert!(!b.screen().contains("next request"), "{}", b.screen());
}

/// Story: after `r` and `q` the rule above the question was gone.
#[test]
fn a_question_that_is_asked_again_has_its_rule() {
    for is_asked_again in [false, true] {
        let mut b = bench_of(80, 24);
        let facts = TurnPaneStatus { is_asked_again, ..TurnPaneStatus::default() };
        b.live =
            TurnPane::new(Theme::plain(), 80, facts, MessageQueue::default(), PasteStore::default(), b.now);
        let _answer = b.ask_to_apply(two_files());
        assert_eq!(b.screen().starts_with(&"─".repeat(80)), is_asked_again, "{}", b.screen());
    }
}

/// Story: at 80x12 a difference of four rows could not be opened, and its row said that Down opens it.
#[test]
fn in_twelve_rows_a_small_difference_is_shown_with_its_question() {
    let mut b = bench_of(80, 12);
    b.event(TurnEvent::Text("Some words before.\n\nAnd more.\n\nDone.".into()));
    let mut answer = b.ask_to_apply(detail(vec![change("a.py", 0, "one\ntwo\nend\n", "one\n2\nend\n")]));
    let screen = b.screen();
    for part in ["M a.py", "- two", "+ 2", "[Apply]", "Discard"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(!screen.contains("closed") && !screen.contains("hidden"), "{screen}");
    b.pass(1_000);
    b.answer('a');
    assert_eq!(answer.try_recv(), Ok('a'));
}

#[test]
fn where_no_difference_can_be_read_the_review_is_named() {
    let mut b = bench_of(80, 7);
    let _answer = b.ask_to_apply(two_files());
    let screen = b.screen();
    assert!(screen.contains("2 differences closed: Review shows them"), "{screen}");
}

/// Story: the first `a` named three files marked `!`, which `a` does not apply, and none of the commits, which it does.
#[test]
fn what_a_yes_leaves_out_need_not_have_been_shown() {
    let mut b = bench_of(80, 20);
    let mut workflow = change("x.yml", 0, "", &lines(90));
    (workflow.0.needs_care, workflow.0.needs_approval, workflow.0.is_left_out) = (true, true, true);
    let commit = |row, is_left_out| {
        let (listed, diff) = change("commit", row, "", &lines(90));
        let mut commit = CommitPatch::default();
        commit.bytes = diff.patch.clone();
        (ListedChange { commit: Some(commit), is_of_git: true, is_left_out, ..listed }, diff)
    };
    let both = |is_left_out| detail(vec![workflow.clone(), commit(1, is_left_out)]);
    let mut answer = b.ask_to_apply(both(false));
    b.answer('a');
    assert!(answer.try_recv().is_err());
    let screen = b.screen();
    assert!(screen.contains("not all of commit (") && !screen.contains("x.yml ("), "{screen}");
    b.answer('k');
    let mut answer = b.ask_to_apply(both(true));
    assert!(!b.screen().contains("closed"), "{}", b.screen());
    b.answer('a');
    assert_eq!(answer.try_recv(), Ok('a'), "{}", b.screen());
}
