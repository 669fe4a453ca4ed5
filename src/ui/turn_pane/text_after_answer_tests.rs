//! A sentence that is typed slowly at a question: what its first letter may do, and where the sentence is afterwards.

use super::*;

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
