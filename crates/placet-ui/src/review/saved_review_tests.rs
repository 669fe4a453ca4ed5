//! What a review remembers when its changes were sent back: decisions by content, and what is new since.

use super::super::state::ReviewSubject;
use super::*;
use proptest::prelude::*;

/// Every other line has a version; version 0 is the old one. Changes never touch each other.
fn text(versions: &[u8]) -> Vec<u8> {
    let pairs = versions.iter().enumerate();
    pairs.map(|(at, version)| format!("line {at} version {version}\nsame {at}\n")).collect::<String>().into()
}

/// A review of these versions, and the place of each of its hunks.
fn review(versions: &[u8]) -> (Review, Vec<usize>) {
    let side = |versions: &[u8]| SideText::new(text(versions)).unwrap();
    let lines = ReviewLines::new(side(&vec![0; versions.len()]), side(versions));
    let places = (0..versions.len()).filter(|at| versions[*at] != 0).collect();
    let file = ReviewFile {
        name: "a".into(),
        path: "/w/a".into(),
        paths: vec![Path::new("/w/a").into()],
        renamed: None,
        letter: 'M',
        facts: Vec::new(),
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body: ReviewBody::Lines(lines),
        key: format!("{versions:?}"),
    };
    (Review::new("", ReviewSubject::Pending, vec![file]), places)
}

fn hunks(review: &Review) -> &[ReviewHunk] {
    &review.files[0].lines().unwrap().hunks
}

fn decide(review: &mut Review, places: &[usize], marks: &[u8]) {
    let lines = review.files[0].lines_mut().unwrap();
    for (hunk, place) in lines.hunks.iter_mut().zip(places) {
        let mark = [ReviewDecision::Open, ReviewDecision::Accepted, ReviewDecision::Rejected];
        hunk.marks.fill(mark[usize::from(marks[*place])]);
    }
}

/// The state after a review of `versions` with these decisions was sent back.
fn sent_back(versions: &[u8], marks: &[u8]) -> SavedReview {
    let (mut first, places) = review(versions);
    decide(&mut first, &places, marks);
    let saved = SavedReview::of(&first, None);
    let left: Vec<u8> =
        versions.iter().zip(marks).map(|(version, mark)| if *mark == 2 { 0 } else { *version }).collect();
    let is_left = left.iter().any(|version| *version != 0);
    saved.after_sending_back(&first, is_left.then(|| review(&left).0))
}

proptest! {
    /// Whatever the program does next: the same hunk has the same decision, and every other one is open and new.
    #[test]
    fn the_next_round_has_the_decisions_of_what_is_the_same(
        rows in prop::collection::vec((0..3u8, 0..3u8, 0..3u8), 1..12),
        third in prop::collection::vec(0..3u8, 12),
    ) {
        let of = |pick: fn(&(u8, u8, u8)) -> u8| rows.iter().map(pick).collect::<Vec<u8>>();
        let (before, marks, now) = (of(|row| row.0), of(|row| row.1), of(|row| row.2));
        prop_assume!(before.iter().any(|version| *version != 0));
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("review.json");
        sent_back(&before, &marks).save(&file).unwrap();
        let saved = SavedReview::load(&file);
        let (mut next, places) = review(&now);
        saved.restore_into(&mut next);
        let expected = [ReviewDecision::Open, ReviewDecision::Accepted, ReviewDecision::Rejected];
        for (hunk, place) in hunks(&next).iter().zip(&places) {
            let is_same = now[*place] == before[*place];
            prop_assert_eq!(hunk.is_new, !is_same, "{}", place);
            let mark = if is_same { expected[usize::from(marks[*place])] } else { ReviewDecision::Open };
            prop_assert!(hunk.marks.iter().all(|own| *own == mark), "{} {:?}", place, hunk);
        }
        prop_assert_eq!(next.new_units(), hunks(&next).iter().filter(|hunk| hunk.is_new).count());
        // What was saved by the review itself still says what is new.
        let again = SavedReview::of(&next, None).merge(&saved, &next);
        let (mut same, _) = review(&now);
        again.restore_into(&mut same);
        prop_assert_eq!(hunks(&same), hunks(&next));
        // Sent back once more, what was new is known.
        let after = again.after_sending_back(&next, Some(review(&now).0));
        let (mut last, places) = review(&third[..now.len()]);
        after.restore_into(&mut last);
        for (hunk, place) in hunks(&last).iter().zip(&places) {
            let version = third[*place];
            prop_assert_eq!(hunk.is_new, version != now[*place] && version != before[*place]);
        }
    }
}

#[test]
fn without_a_round_before_nothing_is_new() {
    let (mut next, _) = review(&[1, 0, 2]);
    SavedReview::default().restore_into(&mut next);
    assert_eq!(next.new_units(), 0);
}

/// Everything was rejected and nothing is pending: the same changes are rejected when they are made again.
#[test]
fn a_rejection_is_known_also_when_nothing_was_left() {
    let saved = sent_back(&[1, 2], &[2, 2]);
    let (mut next, _) = review(&[1, 1]);
    saved.restore_into(&mut next);
    let marks: Vec<(ReviewDecision, bool)> =
        hunks(&next).iter().map(|hunk| (hunk.marks[0], hunk.is_new)).collect();
    assert_eq!(marks, [(ReviewDecision::Rejected, false), (ReviewDecision::Open, true)]);
}
