#![allow(clippy::single_range_in_vec_init, reason = "a range of bytes or lines is one thing")]

use super::*;

fn content(text: &str) -> (Arc<Vec<u8>>, Hash) {
    let bytes = Arc::new(text.as_bytes().to_vec());
    let hash = blake3::hash(&bytes);
    (bytes, hash)
}

fn standing(ledger: &ReadLedger, text: &str, targets: &[Range<usize>]) -> ReadStatus {
    let (bytes, hash) = content(text);
    ledger.read_status(Path::new("/f"), &bytes, hash, targets, |_| &[])
}

#[test]
fn lines_not_shown_are_not_seen() {
    let mut ledger = ReadLedger::default();
    assert!(matches!(standing(&ledger, "a\nb\nc\n", &[]), ReadStatus::Never));
    let (bytes, hash) = content("a\nb\nc\n");
    ledger.record_read(Path::new("/f"), &bytes, hash, 0..1);
    ledger.record_read(Path::new("/f"), &bytes, hash, 2..3);
    assert!(matches!(standing(&ledger, "a\nb\nc\n", &[0..1, 2..3]), ReadStatus::Seen));
    let ReadStatus::Part { seen, missing } = standing(&ledger, "a\nb\nc\n", &[1..3]) else { panic!() };
    assert_eq!((seen.to_string(), missing), ("1, 3".into(), 1..2));
}

#[test]
fn a_change_elsewhere_leaves_the_target_intact_and_one_inside_does_not() {
    let mut ledger = ReadLedger::default();
    let (bytes, hash) = content("a\nb\nc\nd\n");
    ledger.record_read(Path::new("/f"), &bytes, hash, 0..3);
    let ReadStatus::Changed(change) = standing(&ledger, "A\nb\nc\nd\n", &[1..3]) else { panic!() };
    assert!(change.intact);
    assert_eq!(change.carried.to_string(), "2-3");
    let ReadStatus::Changed(change) = standing(&ledger, "A\nb\nc\nd\n", &[0..1]) else { panic!() };
    assert!(!change.intact);
    let ReadStatus::Changed(change) = standing(&ledger, "A\nb\nc\nd\n", &[3..4]) else { panic!() };
    assert!(!change.intact, "line 4 was never shown");
}

#[test]
fn our_own_writing_counts_as_seen_and_moves_the_rest_along() {
    let mut ledger = ReadLedger::default();
    let (before, hash) = content("a\nb\nc\nd\ne\n");
    ledger.record_read(Path::new("/f"), &before, hash, 1..3);
    let (after, after_hash) = content("a\nB1\nB2\nc\nd\ne\n");
    let edit = LineEdit { old: 1..2, new_len: 2 };
    let known = ledger.known_now(Path::new("/f"), &before, hash, |_| &[]);
    ledger.wrote(Path::new("/f"), (&after, after_hash), &[edit], &known);
    assert_eq!(ledger.lines_seen(Path::new("/f"), after_hash).unwrap().to_string(), "2-4");
}

#[test]
fn what_was_saved_stands_after_it_is_restored_as_long_as_the_hash_does() {
    let mut ledger = ReadLedger::default();
    let (bytes, hash) = content("a\nb\n");
    ledger.record_read(Path::new("/f"), &bytes, hash, 0..2);
    ledger.record_window(Path::new("/big"), 10..12, b"x\ny\n");
    let json = serde_json::to_string(&ledger.snapshot()).unwrap();
    let back = ReadLedger::restore(&serde_json::from_str(&json).unwrap());
    assert_eq!(back.snapshot(), ledger.snapshot());
    assert!(matches!(standing(&back, "a\nb\n", &[0..2]), ReadStatus::Seen));
    let ReadStatus::Changed(change) = standing(&back, "a\nB\n", &[0..1]) else { panic!() };
    assert!(change.old.is_none() && !change.intact);
}

#[test]
fn windows_into_large_files_are_known_by_their_own_lines() {
    let mut ledger = ReadLedger::default();
    ledger.record_window(Path::new("/f"), 10..12, b"x\ny\n");
    let stands = |lines: &'static [u8], target: Range<usize>| {
        let (bytes, hash) = content("whatever");
        ledger.read_status(Path::new("/f"), &bytes, hash, &[target], |_| lines)
    };
    assert!(matches!(stands(b"x\ny\n", 10..11), ReadStatus::Seen));
    assert!(matches!(stands(b"x\ny\n", 12..13), ReadStatus::Part { .. }));
    assert!(matches!(stands(b"x\nz\n", 10..11), ReadStatus::Changed(_)));
}

#[test]
fn contents_are_let_go_when_there_are_too_many() {
    let mut ledger = ReadLedger::default();
    for n in 0..40u8 {
        let bytes = Arc::new(vec![n; 3 << 20]);
        ledger.record_read(&PathBuf::from(format!("/{n}")), &bytes, blake3::hash(&bytes), 0..1);
    }
    assert!(ledger.kept <= KEEP_ALL);
    let kept =
        ledger.entries.values().filter(|s| matches!(&s.what, SeenContent::Content { content: Some(_), .. }));
    assert_eq!(kept.count(), KEEP_ALL / (3 << 20));
    ledger.drop_all();
    assert_eq!((ledger.entries.len(), ledger.kept), (0, 0));
}

#[test]
fn each_line_keeps_the_turn_in_which_it_was_shown_last_through_edits_and_a_restart() {
    let path = Path::new("/f");
    let mut ledger = ReadLedger::default();
    let turns = |ledger: &ReadLedger, text: &str| {
        let (bytes, hash) = content(text);
        let now = ledger.shown_now(path, &bytes, hash);
        let line = |n| match (now.lines.covers(&(n..n + 1)), now.turns.of(n)) {
            (false, None) => '.',
            (true, Some(turn)) => char::from_digit(turn, 10).unwrap(),
            (seen, turn) => panic!("line {n}: seen {seen}, turn {turn:?}"),
        };
        (0..text.lines().count()).map(line).collect::<String>()
    };
    let text = "a\nb\nc\nd\ne\nf\n";
    let (bytes, hash) = content(text);
    ledger.begin_turn(1);
    ledger.record_read(path, &bytes, hash, 0..4);
    ledger.begin_turn(2);
    ledger.record_read(path, &bytes, hash, 3..5);
    assert_eq!(turns(&ledger, text), "11122.");
    // Another program adds a line and changes a line: unchanged lines keep their turn.
    assert_eq!(turns(&ledger, "new\na\nb\nC\nd\ne\nf\n"), ".11.22.");
    // placet writes over it in the third turn.
    ledger.begin_turn(3);
    let after = "a\nB1\nB2\nc\nd\ne\nf\n";
    let (new, new_hash) = content(after);
    let known = ledger.known_now(path, &bytes, hash, |_| &[]);
    ledger.wrote(path, (&new, new_hash), &[LineEdit { old: 1..2, new_len: 2 }], &known);
    assert_eq!(turns(&ledger, after), "133122.");
    let saved = serde_json::to_string(&ledger.snapshot()).unwrap();
    let back = ReadLedger::restore(&serde_json::from_str(&saved).unwrap());
    assert_eq!(turns(&back, after), "133122.");
    // A refusal shows what changed.
    let changed = "a\nB1\nX\nc\nd\ne\nf\n";
    let (bytes, hash) = content(changed);
    let carried = ledger.known_now(path, &bytes, hash, |_| &[]).seen;
    ledger.begin_turn(4);
    ledger.record_shown_change(path, &bytes, hash, &carried, &RangeSet::of(2..3));
    assert_eq!(turns(&ledger, changed), "134122.");
}

/// What each message showed, and which lines are seen when the result of one leaves the request, through edits and a
/// restart. Messages are 1, 2 and 3; a letter is a line.
#[test]
fn lines_that_a_later_message_showed_stay_seen_when_an_older_one_leaves() {
    let path = Path::new("/f");
    let (text, after) = ("a\nb\nc\nd\ne\nf\n", "a\nB1\nB2\nc\nd\ne\nf\n");
    let (bytes, hash) = content(text);
    let (new, new_hash) = content(after);
    let shown_by_three = || {
        let mut ledger = ReadLedger::default();
        ledger.begin_message(1);
        ledger.record_read(path, &bytes, hash, 0..4);
        ledger.begin_message(2);
        ledger.record_read(path, &bytes, hash, 3..5);
        ledger.begin_message(3);
        let known = ledger.known_now(path, &bytes, hash, |_| &[]);
        ledger.wrote(path, (&new, new_hash), &[LineEdit { old: 1..2, new_len: 2 }], &known);
        ledger
    };
    let seen = |ledger: &ReadLedger| {
        let lines = ledger.lines_seen(path, new_hash).cloned().unwrap_or_default();
        (0..7).map(|n| if lines.covers(&(n..n + 1)) { 'x' } else { '.' }).collect::<String>()
    };
    assert_eq!(seen(&shown_by_three()), "xxxxxx.");
    for (leaves, stays) in [
        (vec![1], ".xx.xx."),
        (vec![2], "xxxx..."),
        (vec![3], "x..xxx."),
        (vec![4], "xxxxxx."),
        (vec![1, 2], ".xx...."),
        (vec![1, 2, 3], "......."),
    ] {
        let saved = serde_json::to_string(&shown_by_three().snapshot()).unwrap();
        let restored = ReadLedger::restore(&serde_json::from_str(&saved).unwrap());
        for mut ledger in [shown_by_three(), restored] {
            leaves.iter().for_each(|message| ledger.forget_message(path, *message));
            assert_eq!(seen(&ledger), stays, "{leaves:?}");
            assert_eq!(ledger.paths().count(), usize::from(stays.contains('x')), "{leaves:?}");
        }
    }
    let mut unknown = ReadLedger::default();
    unknown.record_read(path, &bytes, hash, 0..4);
    unknown.forget_message(path, 7);
    assert!(matches!(unknown.read_status(path, &bytes, hash, &[0..1], |_| &[]), ReadStatus::Never));
    let mut large = ReadLedger::default();
    large.begin_message(1);
    large.record_window(path, 0..1, b"a\n");
    large.begin_message(2);
    large.record_window(path, 1..2, b"b\n");
    large.forget_message(path, 1);
    assert_eq!(large.windows(path).iter().map(|window| window.lines.clone()).collect::<Vec<_>>(), [1..2]);
}

#[test]
fn a_ledger_saved_without_turns_is_read() {
    let (bytes, hash) = content("a\n");
    let json = format!(
        r#"{{"files":[{{"path":"/f","hash":"{hash}","lines":[[0,1]]}},{{"path":"/g","windows":[[1,2,"{hash}"]]}}]}}"#
    );
    let ledger = ReadLedger::restore(&serde_json::from_str(&json).unwrap());
    let now = ledger.shown_now(Path::new("/f"), &bytes, hash);
    assert_eq!((now.lines, now.turns), (RangeSet::of(0..1), LinesByTurn::default()));
    assert_eq!(ledger.windows(Path::new("/g")), [SeenWindow { lines: 1..2, hash, turn: 0, message: 0 }]);
}

#[test]
fn lines_that_others_changed_stay_unshown_through_an_edit_elsewhere() {
    let (mut ledger, path) = (ReadLedger::default(), Path::new("/f"));
    let (first, hash) = content("a\nb\nc\nd\ne\n");
    ledger.record_read(path, &first, hash, 0..5);
    let (theirs, hash) = content("a\nB\nc\nd\ne\n");
    let known = ledger.known_now(path, &theirs, hash, |_| &[]);
    assert_eq!((known.seen.to_string(), known.foreign.to_string()), ("1, 3-5".into(), "2".into()));
    let (ours, hash) = content("a\nB\nc\nD\ne\n");
    ledger.wrote(path, (&ours, hash), &[LineEdit { old: 3..4, new_len: 1 }], &known);
    let text = "a\nB\nc\nD\ne\n";
    let ReadStatus::Unshown(lines) = standing(&ledger, text, &[0..5]) else { panic!() };
    assert_eq!(lines.to_string(), "2");
    assert!(matches!(standing(&ledger, text, &[2..5]), ReadStatus::Seen));
    let saved = ReadLedger::restore(&ledger.snapshot());
    assert!(matches!(standing(&saved, text, &[0..5]), ReadStatus::Unshown(_)));
    ledger.record_read(path, &ours, hash, 1..2);
    assert!(matches!(standing(&ledger, text, &[0..5]), ReadStatus::Seen));
}

#[test]
fn a_line_that_others_removed_counts_at_the_line_below_it() {
    let (mut ledger, path) = (ReadLedger::default(), Path::new("/f"));
    let (first, hash) = content("a\nb\nc\n");
    ledger.record_read(path, &first, hash, 0..3);
    let (theirs, hash) = content("a\nc\n");
    let foreign = ledger.known_now(path, &theirs, hash, |_| &[]).foreign;
    assert_eq!(foreign.to_string(), "2");
    let (shorter, hash) = content("a\nb\n");
    assert_eq!(ledger.known_now(path, &shorter, hash, |_| &[]).foreign.to_string(), "2");
}
