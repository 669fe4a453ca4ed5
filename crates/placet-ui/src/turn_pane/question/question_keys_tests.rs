use super::*;
use crate::text_field::TextFieldKind;
use proptest::prelude::*;

/// The answers of the apply question: Apply, Review, Keep pending, Discard.
const LETTERS: [char; 4] = ['a', 'r', 'k', 'd'];

struct KeysHarness {
    keys: QuestionKeys,
    line: TextField,
    now: Duration,
}

impl KeysHarness {
    /// A question that is not drawn, with this text on the line.
    fn new(draft: &str) -> KeysHarness {
        let mut line = TextField::new(TextFieldKind::Lines);
        line.set(draft);
        KeysHarness { keys: QuestionKeys::default(), line, now: Duration::from_secs(1) }
    }

    /// A question that has been on the screen for a second.
    fn ready(draft: &str) -> KeysHarness {
        let mut bench = KeysHarness::new(draft);
        bench.keys.drawn(bench.now);
        bench.pass(1_000);
        bench
    }

    fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    fn press(&mut self, key: KeyEvent) -> QuestionEffect {
        self.keys.key(&mut self.line, &LETTERS, QuestionInput { key, at: self.now })
    }

    fn key(&mut self, code: KeyCode) -> QuestionEffect {
        self.press(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn alt(&mut self, letter: char) -> QuestionEffect {
        self.press(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::ALT))
    }
}

/// Every key of the table, on an empty line and on a line with text.
#[test]
fn each_key_does_what_the_table_says() {
    use KeyCode::{Backspace, Char, Down, Enter, Esc, Left, PageDown, PageUp, Right, Tab, Up};
    use QuestionEffect::{Clear, Leave, Look, Queue, Send, Stay, Take};
    let ctrl_c = KeyEvent::new(Char('c'), KeyModifiers::CONTROL);
    let alt = |letter| KeyEvent::new(Char(letter), KeyModifiers::ALT);
    let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
    let sent = |text: &str| Send(text.into(), TextBegun::BeforeQuestion);
    // The key; what it does and where the mark is with an empty line; what it does to the text `ab`, and the text after it.
    for (key, (empty, mark), (with_text, text)) in [
        (plain(Char('a')), (Stay, 0), (Stay, "aba")),
        (plain(Enter), (Take(0), 0), (sent("ab"), "")),
        (plain(Right), (Stay, 1), (Stay, "ab")),
        (plain(Tab), (Stay, 1), (Stay, "ab")),
        (plain(Left), (Stay, 3), (Stay, "ab")),
        (alt('k'), (Stay, 2), (Stay, "ab")),
        (alt('x'), (Stay, 0), (Stay, "ab")),
        (plain(Up), (Look(Up), 0), (Queue(Up), "ab")),
        (plain(Down), (Look(Down), 0), (Queue(Down), "ab")),
        (plain(PageUp), (Look(PageUp), 0), (Stay, "ab")),
        (plain(PageDown), (Look(PageDown), 0), (Stay, "ab")),
        (plain(Char(' ')), (Look(Char(' ')), 0), (Stay, "ab ")),
        (plain(Backspace), (Stay, 0), (Stay, "a")),
        (plain(Esc), (Leave, 0), (Clear("ab".into()), "")),
        (ctrl_c, (Leave, 0), (Clear("ab".into()), "")),
        (KeyEvent::new(Enter, KeyModifiers::ALT), (Stay, 0), (Stay, "ab\n")),
    ] {
        let mut b = KeysHarness::ready("");
        assert_eq!((b.press(key), b.keys.mark()), (empty, mark), "{key:?} on an empty line");
        let mut b = KeysHarness::ready("ab");
        assert_eq!((b.press(key), b.line.text()), (with_text, text), "{key:?} with text");
        assert_eq!(b.keys.mark(), 0, "{key:?} moves the mark below a text");
    }
}

#[test]
fn an_enter_counts_only_on_a_question_that_was_read() {
    let mut b = KeysHarness::new("");
    b.pass(9_000);
    assert_eq!(b.key(KeyCode::Enter), QuestionEffect::Stay, "it was not drawn");
    b.keys.drawn(b.now);
    for _ in 0..20 {
        b.pass(499);
        assert_eq!(b.key(KeyCode::Enter), QuestionEffect::Stay, "a held Enter");
    }
    b.pass(500);
    assert_eq!(b.key(KeyCode::Enter), QuestionEffect::Take(0));
    let mut b = KeysHarness::ready("");
    b.alt('d');
    b.pass(499);
    assert_eq!(b.key(KeyCode::Enter), QuestionEffect::Stay, "the mark was just moved");
    b.pass(500);
    assert_eq!(b.key(KeyCode::Enter), QuestionEffect::Take(3));
}

#[test]
fn an_enter_that_a_terminal_repeats_answers_nothing() {
    let mut b = KeysHarness::ready("");
    let repeated = KeyEvent::new_with_kind(KeyCode::Enter, KeyModifiers::NONE, KeyEventKind::Repeat);
    assert_eq!(b.press(repeated), QuestionEffect::Stay);
}

#[test]
fn a_text_is_the_reply_where_it_was_begun_at_the_question() {
    let mut b = KeysHarness::new("");
    b.key(KeyCode::Char('n'));
    b.keys.drawn(b.now);
    b.pass(5_000);
    b.key(KeyCode::Char('o'));
    assert_eq!(b.key(KeyCode::Enter), QuestionEffect::Send("no".into(), TextBegun::BeforeQuestion));
    b.pass(5_000);
    b.key(KeyCode::Char('n'));
    assert_eq!(b.key(KeyCode::Enter), QuestionEffect::Send("n".into(), TextBegun::AtQuestion));
}

#[test]
fn the_mark_stays_where_the_person_put_it() {
    let mut b = KeysHarness::ready("");
    b.keys.mark_first(1);
    assert_eq!(b.keys.mark(), 1);
    b.alt('k');
    b.keys.mark_first(0);
    assert_eq!(b.keys.mark(), 2);
    b.keys.asks_anew();
    b.keys.mark_first(0);
    assert_eq!(b.keys.mark(), 0, "in another row the mark is where the question puts it");
}

/// A step of a person who does not press Enter.
#[derive(Clone, Debug)]
enum TypedStep {
    Key(KeyEvent),
    Paste(String),
    Drawn,
}

fn any_step() -> impl Strategy<Value = TypedStep> {
    use KeyCode::{Backspace, Char, Delete, Down, End, Home, Left, PageDown, PageUp, Right, Tab, Up};
    let letter = any::<char>().prop_filter("no control character", |c| !c.is_control()).prop_map(Char);
    let answer = prop::sample::select(vec!['a', 'r', 'k', 'd', 'y', 'n', ' ', '1', '!', '/']).prop_map(Char);
    let cursor = prop::sample::select(vec![
        Left, Right, Up, Down, Home, End, PageUp, PageDown, Tab, Backspace, Delete,
    ]);
    let modifiers = prop::sample::select(vec![KeyModifiers::NONE, KeyModifiers::SHIFT, KeyModifiers::ALT]);
    let key = prop_oneof![letter, answer, cursor];
    prop_oneof![
        8 => (key, modifiers).prop_map(|(code, held)| TypedStep::Key(KeyEvent::new(code, held))),
        1 => "[a-z\r\n\t !/]{0,12}".prop_map(TypedStep::Paste),
        1 => Just(TypedStep::Drawn),
    ]
}

proptest! {
    /// At any speed, begun before or after the drawing: without an Enter nothing is decided, sent or left, and an Enter
    /// after a text sends the text alone.
    #[test]
    fn nothing_but_enter_decides(
        draft in "[a-z ]{0,6}",
        steps in prop::collection::vec((any_step(), 0_u64..1_500), 0..40),
    ) {
        let mut b = KeysHarness::new(&draft);
        for (step, millis) in steps {
            b.pass(millis);
            match step {
                TypedStep::Key(key) => {
                    let effect = b.press(key);
                    use QuestionEffect::{Look, Queue, Stay};
                    let is_quiet = matches!(effect, Stay | Look(_) | Queue(_));
                    prop_assert!(is_quiet, "{key:?}: {effect:?}");
                }
                TypedStep::Paste(text) => b.keys.paste(&mut b.line, &text, b.now),
                TypedStep::Drawn => b.keys.drawn(b.now),
            }
        }
        b.pass(2_000);
        b.keys.drawn(b.now);
        b.pass(2_000);
        let text = b.line.text().to_string();
        let effect = b.key(KeyCode::Enter);
        if text.trim().is_empty() {
            prop_assert!(text.is_empty() || effect == QuestionEffect::Stay, "{text:?}: {effect:?}");
        } else {
            let is_text = matches!(&effect, QuestionEffect::Send(sent, _) if *sent == text);
            prop_assert!(is_text, "{text:?}: {effect:?}");
        }
    }
}

/// Story: an Enter within half a second after an arrow was ignored, and each ignored Enter began the wait again.
#[test]
fn an_enter_right_after_an_arrow_counts_and_one_after_a_tab_or_a_text_does_not() {
    let mut bench = KeysHarness::ready("");
    bench.key(KeyCode::Right);
    bench.pass(20);
    assert_eq!(bench.key(KeyCode::Enter), QuestionEffect::Take(1));
    // Nothing was read yet.
    let mut bench = KeysHarness::new("");
    bench.keys.drawn(bench.now);
    bench.pass(100);
    bench.key(KeyCode::Right);
    assert_eq!(bench.key(KeyCode::Enter), QuestionEffect::Stay);
    // A terminal without bracketed paste sends what is pasted as keys.
    for pasted in [KeyCode::Tab, KeyCode::Char(' ')] {
        let mut bench = KeysHarness::ready("");
        bench.key(pasted);
        assert_eq!(bench.key(KeyCode::Enter), QuestionEffect::Stay);
    }
    // A text that was deleted a moment ago.
    let mut bench = KeysHarness::ready("");
    bench.key(KeyCode::Char('x'));
    bench.key(KeyCode::Backspace);
    bench.key(KeyCode::Right);
    assert_eq!(bench.key(KeyCode::Enter), QuestionEffect::Stay);
}
