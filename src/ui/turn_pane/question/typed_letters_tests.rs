use super::*;
use LetterUse::{Key, Look, Neutral, NoKey, OtherThanAwaited};

/// A letter with its time in milliseconds and its use; `true` where it was alone and counted.
type Typed = (u64, char, LetterUse, bool);

/// The text that the letters make, and when it began.
fn typed(after: Option<&str>, letters: &[Typed]) -> Option<(String, u64)> {
    let start = Instant::now();
    let mut typed = after.map_or_else(TypedLetters::default, |text| TypedLetters::after_answer(text, start));
    let mut last = None;
    for (at, letter, letter_use, is_alone) in letters {
        if let Some(text) = typed.add(*letter, start + Duration::from_millis(*at), *letter_use) {
            last = Some((text.text.clone(), u64::try_from((text.since - start).as_millis()).unwrap()));
        }
        if *is_alone {
            typed.key_was_alone();
        }
    }
    last
}

fn expect(after: Option<&str>, letters: &[Typed], text: Option<(&str, u64)>) {
    assert_eq!(typed(after, letters), text.map(|(text, since)| (text.to_string(), since)), "{letters:?}");
}

#[test]
fn two_different_letters_close_together_are_a_text() {
    for (letters, text) in [
        (&[(0, 'n'), (0, 'o')][..], Some(("no", 0))),
        (&[(0, 'n'), (400, 'o')], Some(("no", 0))),
        (&[(0, 'n'), (400, 'n'), (800, 'o')], Some(("nno", 0))),
        (&[(0, 'a'), (1_600, 'b'), (1_700, ' ')], Some(("b ", 1_600))),
        (&[(0, 'n'), (400, 'o'), (800, ' ')], Some((" ", 0))),
        (&[(0, 'n'), (400, 'o'), (800, ' '), (1_300, 'd')], Some((" ", 0))),
        (&[(0, 'n'), (500, 'o')], None),
        (&[(0, 'a'), (1, 'a'), (2, 'a')], None),
        (&[(0, 'a')], None),
    ] {
        let letters: Vec<Typed> = letters.iter().map(|(at, letter)| (*at, *letter, Key, false)).collect();
        expect(None, &letters, text);
    }
}

#[test]
fn slow_letters_are_a_text_if_the_second_is_no_key_or_would_decide_where_another_is_awaited() {
    for (letters, text) in [
        (&[(0, 'a', NoKey, false), (1_000, 'd', NoKey, false)][..], Some(("ad", 0))),
        (&[(0, 'a', NoKey, false), (800, ' ', Neutral, false), (1_600, 't', NoKey, false)], Some(("a t", 0))),
        (&[(0, 'n', Key, false), (1_499, 'o', NoKey, false)], Some(("no", 0))),
        (&[(0, 'd', Key, true), (800, 'o', NoKey, false)], Some(("do", 0))),
        (&[(0, 'd', Key, true), (800, 'a', OtherThanAwaited, false)], Some(("da", 0))),
        (&[(0, 'd', Key, true), (400, 'a', OtherThanAwaited, false)], Some(("da", 0))),
        // What follows a slow text belongs to it as long.
        (&[(0, 'd', Key, true), (800, 'o', NoKey, false), (2_200, 'a', Key, false)], Some(("a", 0))),
        // A wrong key, the row of keys, and then the right one, which is asked for again.
        (&[(0, 'y', NoKey, false), (600, 'a', Key, false)], None),
        (&[(0, 'y', NoKey, false), (600, 'a', Key, false), (800, 'a', Key, false)], None),
        (&[(0, 'm', NoKey, false), (600, 'a', Key, false), (1_200, 'r', Key, false)], Some(("mar", 0))),
        (&[(0, 'o', NoKey, false), (600, 'w', Look, true), (1_200, 'n', Key, false)], None),
        (&[(0, 'm', NoKey, false), (600, 'a', Key, false), (1_200, 'y', NoKey, false)], Some(("may", 0))),
        (&[(0, 'x', NoKey, false), (1_500, 'z', NoKey, false)], None),
        (&[(0, 'z', NoKey, false), (800, 'z', NoKey, false)], None),
        (&[(0, 'd', Key, true), (1_500, 'a', OtherThanAwaited, false)], None),
        (&[(0, 'd', Key, true), (800, 'd', Key, true)], None),
        // Two keys, and keys that look.
        (&[(0, 'y', Key, false), (800, 'n', Key, false)], None),
        (&[(0, 'p', Look, false), (800, 'a', Key, false)], None),
        (&[(0, 'w', Look, true), (350, 'y', Key, false)], None),
        (&[(0, 'a', Key, true), (800, 'p', Look, false)], None),
        (&[(0, 'y', NoKey, false), (800, ' ', Look, false)], None),
    ] {
        expect(None, letters, text);
    }
}

#[test]
fn letters_that_answered_before_are_the_first_of_a_text_that_no_key_of_the_next_question_begins() {
    for (after, letters, text) in [
        ("y", &[(600, 'e', NoKey, false), (1_200, 's', NoKey, false)][..], Some(("yes", 0))),
        ("y", &[(200, 'e', NoKey, false), (400, 's', NoKey, false)], Some(("yes", 0))),
        ("a", &[(600, ' ', Neutral, false)], Some(("a ", 0))),
        ("a", &[(600, 'n', Key, false), (1_200, 'd', NoKey, false)], Some(("and", 0))),
        ("dd", &[(900, 'o', NoKey, false), (1_800, 'n', NoKey, false)], Some(("ddon", 0))),
        ("n", &[(600, 'a', Key, true), (1_200, 'n', Key, true)], None),
        ("n", &[(600, 'a', NoKey, false), (1_200, 'n', Key, true)], None),
        ("a", &[(600, 'a', NoKey, false), (1_200, 'n', Key, true)], None),
        ("y", &[(600, 'y', Key, false), (1_500, 'y', Key, true)], None),
        ("y", &[(600, 'p', Look, false), (1_500, 'a', Key, true)], None),
        ("y", &[(600, ' ', Look, false), (1_500, 'a', Key, true)], None),
        ("y", &[(1_500, 'e', NoKey, false)], None),
    ] {
        expect(Some(after), letters, text);
    }
}

#[test]
fn an_answer_has_the_letters_that_belong_to_it() {
    let at = Instant::now();
    let answer = |letters: &str, is_given_twice| {
        let mut typed = TypedLetters::default();
        for letter in letters.chars() {
            assert_eq!(typed.add(letter, at + Duration::from_millis(600), Key), None);
            typed.key_was_alone();
        }
        typed.take_answer(letters.chars().last().unwrap(), is_given_twice)
    };
    assert_eq!(answer("dd", true), "dd");
    // The first was too early.
    assert_eq!(answer("yy", false), "y");
    assert_eq!(TypedLetters::after_answer("y", at).take_answer('y', false), "y");
}
