//! A sentence that is typed slowly at a question: what its first letter may do, and where the sentence is afterwards.

use super::*;

/// One letter each `millis`, as a slow hand types them.
fn type_slowly(b: &mut TurnPaneHarness, text: &str, millis: u64) {
    for c in text.chars() {
        let pressed = b.now;
        b.key(KeyCode::Char(c));
        b.screen();
        let waited = b.now.saturating_duration_since(pressed);
        b.pass(millis.saturating_sub(u64::try_from(waited.as_millis()).unwrap()));
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
    assert!(b.live.take_notices().is_empty());
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
