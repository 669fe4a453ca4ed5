//! A sentence that is typed slowly at a question: what its first letter may do, and where the sentence is afterwards.

use super::*;

impl TurnPaneHarness {
    /// The question about a file that runs later.
    fn ask_about_protected(&mut self) -> oneshot::Receiver<char> {
        let (reply, answer) = oneshot::channel();
        self.event(TurnEvent::Choice(crate::agent::ChoiceQuestion {
            subject: crate::agent::ChoiceSubject::Hook,
            title: "! .envrc (created): apply this file?".into(),
            reason: "direnv runs it when you enter this directory".into(),
            detail: answers::a_change(),
            choices: vec![
                crate::agent::QuestionChoice::consent_by_enter('y', "yes, apply this file"),
                crate::agent::QuestionChoice::plain('n', "no, keep it pending"),
                crate::agent::QuestionChoice::plain('r', "review"),
                crate::agent::QuestionChoice::for_good('d', "discard it"),
            ],
            checks: None,
            reasons_for: crate::agent::ReasonReader::Agent,
            reply,
        }));
        self.screen();
        answer
    }
}

/// One letter each `millis`, as a slow hand types them.
fn type_slowly(b: &mut TurnPaneHarness, text: &str, millis: u64) {
    for c in text.chars() {
        let next = b.now + Duration::from_millis(millis);
        b.live.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), b.now);
        if let Some(due) = b.live.due().filter(|due| *due <= next) {
            b.now = due;
            b.live.answer_due_key(due);
        }
        b.screen();
        b.now = next;
    }
}

fn text() -> DisplayDetail {
    DisplayDetail::Text("rm -rf src".into())
}

fn destructive(b: &mut TurnPaneHarness) -> oneshot::Receiver<ApprovalReply> {
    b.destroys = true;
    let answer = b.ask(text());
    b.screen();
    b.pass(2_000);
    answer
}

/// Story: `yes but keep price.py`, 0.2 s a letter, ran `rm -rf src` without a sandbox.
#[test]
fn no_text_allows_a_call_that_destroys_data() {
    for millis in [120, 200, 400, 700, 1_500] {
        let mut b = bench();
        let mut answer = destructive(&mut b);
        type_slowly(&mut b, "yes but keep price.py", millis);
        assert!(answer.try_recv().is_err(), "{millis}");
        assert_eq!(b.live.take_drafts(), ("yes but keep price.py".into(), None), "{millis}");
    }
}

#[test]
fn the_key_for_yes_and_enter_allow_a_call_that_destroys_data() {
    let mut b = bench();
    let mut answer = destructive(&mut b);
    assert!(b.screen().contains("y Enter yes  n no"), "{}", b.screen());
    b.key(KeyCode::Char('y'));
    let screen = b.screen();
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Enter allows it; Esc goes back, and a letter goes to your draft"), "{screen}");
    assert!(answer.try_recv().is_err());
    b.key(KeyCode::Enter);
    assert_eq!(answer.try_recv().unwrap(), ApprovalReply::Yes);

    let mut b = bench();
    let mut answer = destructive(&mut b);
    b.key(KeyCode::Enter);
    b.pass(1_000);
    b.key(KeyCode::Char('y'));
    b.screen();
    b.key(KeyCode::Esc);
    let screen = b.screen();
    assert!(screen.contains("y Enter yes") && !screen.contains("Enter allows it"), "{screen}");
    b.key(KeyCode::Enter);
    assert!(answer.try_recv().is_err());
}

/// Story: `a test is missing`, 0.3 s a letter, applied everything, and the prompt had ` test is missing`.
#[test]
fn a_text_that_goes_on_after_its_first_letter_answered_is_whole_in_the_draft() {
    for millis in [350, 600, 1_000, 1_900] {
        let mut b = bench();
        let mut answer = b.ask_to_apply(text());
        type_slowly(&mut b, "a test", millis);
        assert_eq!(answer.try_recv().unwrap(), 'a', "{millis}");
        let (words, draft) = (b.live.take_notices(), b.live.take_drafts());
        assert_eq!(draft, ("a test".into(), None), "{millis}");
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let words = words.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<_>>().join(" ");
        assert_eq!(words, "◆ a answered the question (apply all); your text is in your draft", "{millis}");
    }
}

#[test]
fn a_message_after_an_answer_begins_with_its_own_letter() {
    let mut b = bench();
    let mut answer = b.ask_to_apply(text());
    b.key(KeyCode::Char('a'));
    assert_eq!(answer.try_recv().unwrap(), 'a');
    b.pass(700);
    b.type_text("now the tests");
    // Also then the person learns what the letter did.
    let said: Vec<String> = b.live.take_notices().iter().map(ToString::to_string).collect();
    assert_eq!(said, ["◆ a answered the question (apply all)"]);
    assert_eq!(b.live.take_drafts(), ("now the tests".into(), None));
}

/// The next question must not take a letter of the sentence whose first letter answered the question before.
#[test]
fn a_text_does_not_answer_the_next_question() {
    let mut b = bench();
    let mut first = b.ask_to_apply(text());
    b.key(KeyCode::Char('a'));
    assert_eq!(first.try_recv().unwrap(), 'a');
    let (reply, mut second) = oneshot::channel();
    let (tool, spent) = ("read_file".into(), TokenUsage::default());
    b.event(TurnEvent::LoopQuestion(crate::agent::LoopQuestion { tool, times: 3, spent, reply }));
    b.screen();
    b.pass(300);
    type_slowly(&mut b, " yes", 600);
    assert!(second.try_recv().is_err());
    assert_eq!(b.live.take_drafts(), ("a yes".into(), None));
}

/// Story: the first letter, a short think, and then the rest of `add a test too` in the usual pace.
#[test]
fn a_text_whose_first_letter_came_slowly_is_whole() {
    for first in [330, 400, 500, 590] {
        let mut b = bench_of(120, 24);
        let mut answer = b.ask_to_apply(text());
        type_slowly(&mut b, "a", first);
        type_slowly(&mut b, "dd a test too", 150);
        assert_eq!(answer.try_recv(), Ok('a'), "{first}");
        assert_eq!(b.live.take_drafts().0, "add a test too", "{first}");
        assert_eq!(b.live.take_notices().len(), 1, "{first}");
    }
}

/// What became of a text: the answer of the question, the draft, and what was said.
fn typed_at(
    text: &str,
    millis: u64,
    asks: impl Fn(&mut TurnPaneHarness) -> Box<dyn FnMut() -> bool>,
) -> (bool, String, bool) {
    let mut b = bench_of(120, 24);
    let mut is_answered = asks(&mut b);
    type_slowly(&mut b, text, millis);
    let said = b.live.take_notices().iter().any(|line| line.to_string().contains(" answered the question"));
    (is_answered(), b.live.take_drafts().0, said)
}

const SENTENCES: [&str; 7] = [
    "add a test too",
    "keep the old rate",
    "don't do that",
    "yes but keep price.py",
    "a test is missing",
    "no, not that",
    "dd if it is wrong",
];

/// Story: the `a` of `don't do that`, 0.8 s a letter, applied everything, and half of the sentence was lost.
#[test]
fn no_letter_of_a_sentence_is_lost_at_the_apply_question() {
    for text in SENTENCES {
        for millis in [100, 200, 299, 350, 500, 650, 800, 1_000] {
            let (is_answered, draft, said) = typed_at(text, millis, |b| {
                let mut answer = b.ask_to_apply(DisplayDetail::Text("all of it".into()));
                Box::new(move || answer.try_recv().is_ok())
            });
            assert_eq!(draft, text, "{millis}");
            // Only a sentence that begins with a key may decide, and not in the pace of an ordinary typist.
            let begins_with_key = text.starts_with("k") || text.starts_with("a ") || text.starts_with("dd");
            let adds = text.starts_with("ad");
            assert_eq!(is_answered, millis > 300 && (begins_with_key || adds), "{text} {millis}");
            assert_eq!(said, is_answered, "{text} {millis}");
        }
    }
}

/// Story: `maybe keep it`, 0.6 s a letter: the `a` applied everything.
#[test]
fn a_word_that_begins_with_no_key_decides_nothing() {
    for text in
        ["maybe keep it", "can you wait", "skip this", "or drop it", "my answer", "mark it", "edit b.py"]
    {
        for millis in [100, 200, 299, 350, 501, 650, 800, 1_000, 1_400] {
            let (is_answered, draft, said) = typed_at(text, millis, |b| {
                let mut answer = b.ask_to_apply(DisplayDetail::Text("all of it".into()));
                Box::new(move || answer.try_recv().is_ok())
            });
            assert_eq!((is_answered, draft.as_str(), said), (false, text, false), "{millis}");
        }
    }
    // The right key after a wrong one counts when it is pressed again, or after a pause.
    for (gaps, answers) in [(&[600_u64, 600][..], true), (&[600], false), (&[1_600], true)] {
        let mut b = bench_of(120, 24);
        let mut answer = b.ask_to_apply(answers::a_change());
        b.key(KeyCode::Char('y'));
        for gap in gaps {
            b.pass(gap - 60);
            b.screen();
            b.key(KeyCode::Char('a'));
        }
        let screen = b.screen();
        assert_eq!(answer.try_recv().is_ok(), answers, "{gaps:?}: {screen}");
        assert_eq!(screen.contains("a came too early: press it again"), !answers, "{screen}");
        assert_eq!(b.live.take_drafts().0, "");
    }
}

#[test]
fn no_letter_of_a_sentence_is_lost_at_a_permission_question() {
    for text in SENTENCES {
        for millis in [100, 200, 299, 350, 500, 650, 800, 1_000] {
            let (is_answered, draft, said) = typed_at(text, millis, |b| {
                b.grants = false;
                let mut answer = b.ask(DisplayDetail::Text("touch first".into()));
                b.screen();
                b.pass(1_000);
                Box::new(move || answer.try_recv().is_ok())
            });
            assert_eq!(draft, text, "{millis}");
            let begins_with_key = text.starts_with(['y', 'n']);
            assert_eq!(is_answered, millis > 300 && begins_with_key, "{text} {millis}");
            assert_eq!(said, is_answered, "{text} {millis}");
        }
    }
}

/// Story: `y` came too early, `y` was pressed again as the screen asked, and the third `y` made a draft of all three.
#[test]
fn a_letter_that_the_next_question_offers_answers_it() {
    let mut b = bench_of(120, 24);
    let mut first = b.ask(text());
    b.screen();
    b.pass(1_000);
    b.key(KeyCode::Char('y'));
    assert_eq!(first.try_recv().unwrap(), ApprovalReply::Yes);
    let mut second = b.ask(text());
    b.screen();
    b.pass(250);
    b.key(KeyCode::Char('y'));
    assert!(b.screen().contains("y came too early: press it again"), "{}", b.screen());
    b.pass(840);
    b.key(KeyCode::Char('y'));
    assert_eq!(second.try_recv().unwrap(), ApprovalReply::Yes);
    assert_eq!(b.live.take_drafts().0, "");

    // `p` shows the patch, and `a` applies.
    let mut third = b.ask_to_apply(answers::a_change());
    b.key(KeyCode::Char('p'));
    b.screen();
    b.pass(600);
    b.key(KeyCode::Char('a'));
    assert_eq!(third.try_recv().unwrap(), 'a');
    // One question after the other, each with a key of its row.
    for (key, keys) in [('k', 600), ('a', 700), ('k', 900)] {
        let mut next = b.ask_to_apply(answers::a_change());
        b.pass(keys - 500);
        b.key(KeyCode::Char(key));
        assert_eq!(next.try_recv().unwrap(), key);
    }
    assert_eq!(b.live.take_drafts().0, "");
    assert!(b.live.take_notices().is_empty());
}

fn queued(b: &TurnPaneHarness) -> Vec<String> {
    b.live.queue.lines().into_iter().map(|line| line.text).collect()
}

fn enter(b: &mut TurnPaneHarness) {
    b.live.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE), b.now);
    b.screen();
    b.pass(100);
}

/// Story: `r`, and `a` before the review was there: the `a` was dropped without a word, or was a draft.
#[test]
fn a_key_between_the_key_for_the_review_and_the_review_is_no_text() {
    let mut b = bench_of(120, 24);
    let mut answer = b.ask_to_apply(answers::a_change());
    b.key(KeyCode::Char('r'));
    assert_eq!(answer.try_recv().unwrap(), 'r');
    type_slowly(&mut b, "a", 100);
    enter(&mut b);
    assert_eq!((b.live.early_key, queued(&b).len()), (Some('a'), 0));
    assert_eq!(b.live.take_drafts().0, "");
}

/// Story: `r a a` and Enter, 0.2 s each, queued the message `raa`.
#[test]
fn keys_that_were_pressed_too_quickly_are_no_message_without_a_second_enter() {
    let words = "may be keys of a question: Enter sends it as a message, Esc removes it";
    let typed = |text: &str| {
        let mut b = bench_of(120, 24);
        let answer = b.ask_to_apply(answers::a_change());
        type_slowly(&mut b, text, 200);
        enter(&mut b);
        let screen = b.screen();
        assert!(screen.contains(&format!("{text} {words}")) && queued(&b).is_empty(), "{screen}");
        (b, answer)
    };
    // Story: `a y` and Enter, typed quickly for the question and the one after it, was a message.
    for text in ["a y", "ya", "n a"] {
        let (mut b, mut answer) = typed(text);
        enter(&mut b);
        assert_eq!((answer.try_recv().is_err(), queued(&b)), (true, vec![text.to_string()]));
    }
    let (mut b, mut answer) = typed("raa");
    b.key(KeyCode::Esc);
    assert!(
        !b.screen().contains(words) && !b.screen().contains("typing goes to your draft"),
        "{}",
        b.screen()
    );
    b.pass(1_000);
    b.key(KeyCode::Char('a'));
    assert_eq!((answer.try_recv(), b.live.take_drafts().0.as_str()), (Ok('a'), ""));
    let (mut b, _answer) = typed("raa");
    enter(&mut b);
    assert_eq!(queued(&b), ["raa"]);
    // A word with another letter is a message at once.
    let mut b = bench_of(120, 24);
    let _answer = b.ask_to_apply(answers::a_change());
    type_slowly(&mut b, "stop", 200);
    enter(&mut b);
    assert_eq!(queued(&b), ["stop"]);
    // So is a word without a key of the question.
    let mut b = bench_of(120, 24);
    let _answer = b.ask_to_apply(answers::a_change());
    type_slowly(&mut b, "ny", 200);
    enter(&mut b);
    assert_eq!(queued(&b), ["ny"]);
}

/// Story: `a`, and `y` before the second question was there: the `y` was a draft, and so was every key after it.
#[test]
fn a_letter_right_before_the_question_that_offers_it_is_asked_for_again() {
    let protected = |b: &mut TurnPaneHarness| b.ask_about_protected();
    for again in [300, 700, 1_200] {
        let mut b = bench_of(120, 24);
        let mut first = b.ask_to_apply(answers::a_change());
        b.key(KeyCode::Char('a'));
        assert_eq!(first.try_recv().unwrap(), 'a');
        type_slowly(&mut b, "y", 50);
        enter(&mut b);
        assert!(queued(&b).is_empty());
        let mut second = protected(&mut b);
        let screen = b.screen();
        assert!(screen.contains("y came too early: press it again"), "{screen}");
        b.pass(again);
        b.key(KeyCode::Char('y'));
        b.screen();
        b.pass(1_000);
        b.key(KeyCode::Char('y'));
        b.screen();
        b.key(KeyCode::Enter);
        assert_eq!(second.try_recv(), Ok('y'), "{again}: {}", b.screen());
        assert_eq!(b.live.take_drafts().0, "");
    }
    // A text that began before the question is whole, and a letter that the question does not offer stays in the draft.
    for text in ["no, not that", "x"] {
        let mut b = bench_of(120, 24);
        type_slowly(&mut b, &text[..1], 50);
        let mut second = protected(&mut b);
        type_slowly(&mut b, &text[1..], 200);
        assert_eq!(b.live.take_drafts().0, text);
        assert!(second.try_recv().is_err());
    }
}

/// Story: `yes but keep it local`, 0.5 s a letter, applied `.envrc`, which direnv runs.
#[test]
fn no_text_applies_a_file_that_runs_later() {
    for millis in [120, 200, 400, 700, 1_500] {
        let mut b = bench_of(120, 24);
        let mut answer = b.ask_about_protected();
        b.screen();
        b.pass(2_000);
        type_slowly(&mut b, "yes but keep it local", millis);
        assert!(answer.try_recv().is_err(), "{millis}");
        assert_eq!(b.live.take_drafts().0, "yes but keep it local", "{millis}");
    }
    let mut b = bench_of(120, 24);
    let mut answer = b.ask_about_protected();
    assert!(b.screen().contains("y Enter yes, apply this file  n no"), "{}", b.screen());
    b.pass(1_000);
    b.key(KeyCode::Char('y'));
    assert!(
        b.screen().contains("Enter applies it; Esc goes back, and a letter goes to your draft"),
        "{}",
        b.screen()
    );
    assert!(answer.try_recv().is_err());
    b.key(KeyCode::Enter);
    assert_eq!(answer.try_recv(), Ok('y'));
}

/// Story: the second of two quick `d` was dropped without a row.
#[test]
fn a_second_press_that_came_too_early_is_named_and_the_next_one_counts() {
    let mut b = bench_of(120, 24);
    let mut answer = b.ask_to_apply(answers::a_change());
    type_slowly(&mut b, "dd", 200);
    b.pass(300);
    b.live.answer_due_key(b.now);
    let screen = b.screen();
    assert!(screen.contains("the second d came too early: press d again to do it"), "{screen}");
    assert!(!screen.contains("a moment"), "{screen}");
    b.key(KeyCode::Char('d'));
    assert_eq!(answer.try_recv(), Ok('d'));
}

/// Story: the reason for `but use a constant` was `ut use a constant`.
#[test]
fn a_word_whose_first_letter_was_the_key_for_a_reason_is_whole() {
    for (text, reason) in [("but use a constant", "but use a constant"), ("bit is wrong", "it is wrong")] {
        let mut b = bench_of(120, 24);
        let _answer = b.ask_to_apply(answers::a_change());
        type_slowly(&mut b, text, 400);
        b.key(KeyCode::Enter);
        assert_eq!(queued(&b), [format!("I have not applied these changes: {reason}")]);
    }
}
