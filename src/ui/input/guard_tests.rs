use super::*;
use crossterm::event::{KeyCode, KeyModifiers};

/// Times in milliseconds: when the question was drawn, when which key was read, and which keys answered.
struct KeyGuardCase {
    name: &'static str,
    drawn: u64,
    keys: &'static [(u64, char)],
    answers: &'static [(u64, char)],
}

const fn case(
    name: &'static str,
    drawn: u64,
    keys: &'static [(u64, char)],
    answers: &'static [(u64, char)],
) -> KeyGuardCase {
    KeyGuardCase { name, drawn, keys, answers }
}

const CASES: &[KeyGuardCase] = &[
    case("one key by hand", 0, &[(600, 'a')], &[(650, 'a')]),
    case("typed before it was drawn", 100, &[(50, 'a')], &[]),
    case("at once after it was drawn", 0, &[(499, 'a')], &[]),
    case("half a second after it was drawn", 0, &[(500, 'a')], &[(550, 'a')]),
    case("half a second after another key", 0, &[(600, 'x'), (1_099, 'a')], &[]),
    case("after half a second of quiet", 0, &[(600, 'x'), (1_100, 'a')], &[(1_150, 'a')]),
    case("two keys in one read", 0, &[(600, 'a'), (600, 'r')], &[]),
    case("the same key twice in one read", 0, &[(600, 'a'), (600, 'a')], &[]),
    case("two keys within 49 ms", 0, &[(600, 'a'), (649, 'r')], &[]),
    case("two keys after 50 ms: the first was alone", 0, &[(600, 'a'), (650, 'r')], &[(650, 'a')]),
    case("three in a row", 0, &[(600, 'a'), (601, 'a'), (602, 'a')], &[]),
    case("a program that types every 12 ms", 0, &[(600, 'a'), (612, 'a'), (624, 'a')], &[]),
    case("the last of a burst is not alone", 0, &[(600, 'x'), (601, 'y'), (700, 'a')], &[]),
    case("a key that moves, and an answer", 0, &[(600, 'm'), (850, 'a')], &[(900, 'a')]),
    case("many keys that move", 0, &[(600, 'm'), (700, 'm'), (800, 'm'), (1_000, 'a')], &[(1_050, 'a')]),
    case("typed behind a key that moves", 0, &[(600, 'm'), (750, 'a')], &[]),
    case("a key that moves within typed text", 0, &[(600, 'x'), (700, 'm'), (1_000, 'a')], &[]),
    case("a key that moves before the question was seen", 0, &[(300, 'm'), (600, 'a')], &[]),
    case("a key that moves behind an answer", 0, &[(600, 'a'), (620, 'm')], &[]),
    case("something else changes behind an answer", 0, &[(600, 'a'), (620, 'c')], &[]),
    case("something else changes before an answer", 0, &[(600, 'c'), (1_000, 'a')], &[]),
    case("a burst, and then a hand", 0, &[(600, 'a'), (601, 'r'), (1_101, 'a')], &[(1_151, 'a')]),
];

fn key(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
}

/// The same for letters with which a text may begin.
const LETTERS: &[KeyGuardCase] = &[
    case("one letter by hand", 0, &[(600, 'a')], &[(900, 'a')]),
    case("the next letter of a word", 0, &[(600, 'a'), (800, 'r')], &[]),
    case("the next letter of a slow word", 0, &[(600, 'a'), (899, 'r')], &[]),
    case("alone, and then another", 0, &[(600, 'a'), (900, 'r')], &[(900, 'a')]),
    case("the same letter again, by hand", 0, &[(600, 'a'), (700, 'a')], &[(1_000, 'a')]),
    case("a word that begins with two of a letter", 0, &[(600, 'a'), (700, 'a'), (800, 'r')], &[]),
    case("the same letter twice in one read", 0, &[(600, 'a'), (600, 'a')], &[]),
    case("half a second after another key", 0, &[(600, 'x'), (1_099, 'a')], &[]),
];

/// The same for letters that only show something: they need no time of quiet.
const LOOKS: &[KeyGuardCase] = &[
    case("at once after it was drawn", 0, &[(10, 'o')], &[(310, 'o')]),
    case("after another key", 0, &[(600, 'x'), (700, 'o')], &[(1_000, 'o')]),
    case("the next letter of a word", 0, &[(600, 'o'), (899, 'k')], &[]),
];

/// The keys that answer, with the time at which they did. `x` and `y` are keys that are no answer, `m` only
/// moves, and at `c` something else than a key changes what is shown.
fn play(case: &KeyGuardCase, role: KeyRole) -> Vec<(u64, char)> {
    let start = Instant::now();
    let mut guard = KeyGuard::default();
    guard.reset();
    let mut out = Vec::new();
    for millis in 0..3_000 {
        let now = start + Duration::from_millis(millis);
        if let Some(KeyEvent { code: KeyCode::Char(c), .. }) = guard.take_due_key(now) {
            out.push((millis, c));
        }
        if millis == case.drawn {
            guard.drawn(now);
        }
        for (_, c) in case.keys.iter().filter(|(at, _)| *at == millis) {
            match c {
                'x' | 'y' => guard.touch(now),
                'm' => guard.moved(now),
                'c' => drop(guard.changed(now)),
                c => guard.press(key(*c), role, now),
            }
        }
    }
    out
}

#[test]
fn only_a_key_that_comes_alone_after_the_question_was_seen_answers() {
    let all = [(CASES, KeyRole::Answer), (LETTERS, KeyRole::Letter), (LOOKS, KeyRole::Look)];
    for (case, role) in all.iter().flat_map(|(cases, role)| cases.iter().map(move |case| (case, *role))) {
        assert_eq!(play(case, role), case.answers, "{role:?}: {}", case.name);
    }
}

/// Presses `a` at 600 ms, draws what it asks for at `drawn`, and presses it again at each of `again`.
fn confirmed(drawn: u64, again: &[u64]) -> bool {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut guard = KeyGuard::default();
    guard.reset();
    guard.drawn(at(0));
    guard.press(key('a'), KeyRole::Answer, at(600));
    assert_eq!(guard.take_due_key(at(650)), Some(key('a')));
    guard.confirm();
    let mut confirmed = false;
    for millis in 650..3_000 {
        confirmed |= guard.take_due_key(at(millis)).is_some();
        if millis == drawn {
            guard.drawn(at(millis));
        }
        if again.contains(&millis) {
            guard.press(key('a'), KeyRole::Confirm, at(millis));
        }
    }
    confirmed
}

#[test]
fn the_second_press_counts_as_soon_as_the_first_was_drawn() {
    assert!(confirmed(660, &[661]));
    assert!(confirmed(660, &[1_000]));
    assert!(!confirmed(900, &[700]));
    // Three by hand: the second is not held down, and confirms.
    assert!(confirmed(660, &[800, 1_000]));
    assert!(!confirmed(660, &[800, 850]));
}

#[test]
fn a_key_that_is_held_down_is_not_pressed_twice() {
    // First repeat after 250 to 660 ms, then every 30 to 110 ms.
    for (first, every) in [(250, 30), (660, 40), (500, 33), (250, 92), (400, 110)] {
        for count in [2, 3, 10] {
            let repeats: Vec<u64> = (0..count).map(|n| 600 + first + n * every).collect();
            assert!(!confirmed(660, &repeats), "{first} {every} {count}");
        }
    }
}

#[test]
fn a_line_of_text_ends_with_an_enter_that_comes_alone() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    for (typed, enter, after, ends) in [
        (600, 700, None, true),
        (600, 600, None, false),
        (600, 619, None, false),
        (600, 625, None, true),
        (600, 700, Some(720), false),
    ] {
        let mut guard = KeyGuard::default();
        guard.reset();
        guard.drawn(at(0));
        guard.touch(at(typed));
        guard.press(key('\r'), KeyRole::EndOfText, at(enter));
        if let Some(after) = after {
            assert_eq!(guard.take_due_key(at(after)), None);
            guard.touch(at(after));
        }
        assert_eq!(guard.take_due_key(at(2_000)).is_some(), ends, "{typed} {enter} {after:?}");
    }
}

/// Whether `key`, pressed by itself at a question that was read, answers it.
fn answers(key: KeyEvent, role: KeyRole) -> bool {
    let start = Instant::now();
    let mut guard = KeyGuard::default();
    guard.reset();
    guard.drawn(start);
    guard.press(key, role, start + Duration::from_secs(1));
    guard.take_due_key(start + Duration::from_secs(2)).is_some()
}

#[test]
fn a_key_with_another_one_held_or_that_repeats_is_no_answer() {
    let held = |modifiers| KeyEvent::new(KeyCode::Char('a'), modifiers);
    assert!(answers(held(KeyModifiers::NONE), KeyRole::Answer));
    for modifiers in KeyModifiers::all().iter() {
        assert!(!answers(held(modifiers), KeyRole::Answer), "{modifiers:?}");
        assert!(!answers(held(modifiers | KeyModifiers::SHIFT), KeyRole::Answer), "{modifiers:?}");
        assert!(!answers(KeyEvent::new(KeyCode::Esc, modifiers), KeyRole::Answer), "{modifiers:?}");
        assert!(!answers(KeyEvent::new(KeyCode::Enter, modifiers), KeyRole::EndOfText), "{modifiers:?}");
    }
    assert!(answers(KeyEvent::new(KeyCode::Char('Y'), KeyModifiers::SHIFT), KeyRole::Answer));
    let repeated = KeyEvent { kind: KeyEventKind::Repeat, ..key('a') };
    for role in [KeyRole::Answer, KeyRole::Mark, KeyRole::EndOfText] {
        assert!(!answers(repeated, role), "{role:?}");
    }
}

#[test]
fn what_follows_a_key_is_no_answer_before_it_is_known_what_it_is() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut guard = KeyGuard::default();
    guard.reset();
    guard.drawn(at(0));
    guard.press(key('a'), KeyRole::Answer, at(600));
    guard.cancel_pending_key();
    assert_eq!(guard.take_due_key(at(700)), None);
    // The beginning of a sequence is no key yet: the Esc that it turns out to be answers.
    let esc = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
    guard.cancel_pending_key();
    guard.press(esc, KeyRole::Answer, at(1_240));
    assert_eq!(guard.take_due_key(at(1_300)), Some(esc));
}

/// The marks that keys make in what a letter opened at 0, where it was drawn at 10.
fn marks_after_letter(keys: &[u64]) -> Vec<u64> {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut guard = KeyGuard::after_letter();
    let mut marks = Vec::new();
    for millis in 0..3_000 {
        if guard.take_due_key(at(millis)).is_some() {
            marks.push(millis);
            guard.touch(at(millis));
        }
        if millis == 10 {
            guard.drawn(at(millis));
        }
        if keys.contains(&millis) {
            guard.press(key('a'), KeyRole::Mark, at(millis));
        }
    }
    marks
}

/// Story: the `r` of a sentence opened the review, and its next letters decided there and opened an editor.
#[test]
fn what_a_letter_opened_takes_no_mark_before_a_pause() {
    for (keys, marks) in [
        (&[509][..], &[][..]),
        (&[510], &[560]),
        (&[100, 400, 700, 1_100], &[]),
        (&[100, 400, 700, 1_200, 1_400], &[1_250, 1_450]),
        (&[5, 505], &[]),
    ] {
        assert_eq!(marks_after_letter(keys), marks, "{keys:?}");
    }
}

/// Story: the `r` of `really? use a constant`, 0.8 s a letter, opened the review, and its `e` an editor.
#[test]
fn what_a_letter_opened_gives_no_editor_before_a_long_pause_or_a_key_that_types_nothing() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let opens = |letters: &[u64], moved: Option<u64>, pressed: u64| {
        let mut guard = KeyGuard::after_letter();
        guard.drawn(at(0));
        letters.iter().for_each(|millis| guard.touch(at(*millis)));
        if let Some(moved) = moved {
            guard.end_text();
            guard.touch(at(moved));
        }
        guard.press(key('e'), KeyRole::Editor, at(pressed));
        guard.take_due_key(at(pressed + 100)).is_some()
    };
    for pace in [100, 500, 800, 1_000, 1_400] {
        let letters: Vec<u64> = (1..20).map(|n| n * pace).collect();
        assert!(!opens(&[], None, pace), "{pace}");
        assert!(!opens(&letters, None, 20 * pace), "{pace}");
    }
    assert!(opens(&[], None, 1_500));
    assert!(opens(&[400, 2_000], None, 2_400));
    assert!(opens(&[], Some(600), 800));
    // One that was opened otherwise.
    let mut guard = KeyGuard::default();
    guard.drawn(at(0));
    guard.press(key('e'), KeyRole::Editor, at(100));
    assert_eq!(guard.take_due_key(at(150)), Some(key('e')));
}

/// Story: `do it` was typed where `d` had to be pressed again: the first letter discarded everything.
#[test]
fn a_text_confirms_nothing() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut guard = KeyGuard::default();
    guard.drawn(at(0));
    guard.press(key('d'), KeyRole::Letter, at(600));
    assert_eq!(guard.take_due_key(at(900)), Some(key('d')));
    guard.confirm();
    guard.drawn(at(910));
    guard.press(key('d'), KeyRole::Confirm, at(2_000));
    assert_eq!(guard.pending_letter(), Some('d'));
    assert_eq!(guard.take_due_key(at(2_299)), None);
    guard.touch(at(2_299));
    assert_eq!(guard.pending_letter(), None);
    assert_eq!(guard.take_due_key(at(3_000)), None);
}

/// Story: in the review that the `r` of `really? use a constant` opened, `c` began a comment.
#[test]
fn a_field_opens_at_once_but_not_within_a_text() {
    let start = Instant::now();
    let at = |millis: u64| start + Duration::from_millis(millis);
    let mut guard = KeyGuard::after_letter();
    guard.drawn(at(0));
    for millis in [400, 900, 1_600, 2_900] {
        assert!(guard.is_in_text(at(millis)), "{millis}");
        guard.touch(at(millis));
    }
    assert!(!guard.is_in_text(at(4_400)));
    let mut guard = KeyGuard::after_letter();
    guard.drawn(at(0));
    assert!(!guard.is_in_text(at(1_500)));
    guard.end_text();
    assert!(!guard.is_in_text(at(100)));
    assert!(!KeyGuard::default().is_in_text(at(0)));
    // `r`, then `a` for the first hunk, then `c` for the second.
    let mut guard = KeyGuard::after_letter();
    guard.drawn(at(0));
    assert!(guard.is_in_text(at(800)));
    guard.note_meant();
    assert!(!guard.is_in_text(at(800)));
}
