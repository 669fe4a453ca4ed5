use super::*;
use proptest::prelude::*;

fn lines(old: &[u8], new: &[u8]) -> ReviewLines {
    ReviewLines::new(SideText::new(old.to_vec()).unwrap(), SideText::new(new.to_vec()).unwrap())
}

fn file(lines: ReviewLines) -> ReviewFile {
    ReviewFile {
        name: "a".into(),
        path: "/w/a".into(),
        paths: vec![std::path::Path::new("/w/a").into()],
        renamed: None,
        letter: 'M',
        facts: Vec::new(),
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body: ReviewBody::Lines(lines),
        key: String::new(),
    }
}

#[test]
fn accepted_lines_land_rejected_ones_go_and_open_ones_stay_pending() {
    let mut lines = lines(b"a\nb\nc\nd\n", b"A\nb\nC\nd\ne\n");
    assert_eq!(lines.hunks.len(), 3);
    lines.hunks[0].marks = vec![ReviewDecision::Accepted; 2];
    lines.hunks[1].marks = vec![ReviewDecision::Rejected; 2];
    let (land, leave) = file(lines).verdict();
    assert_eq!(land, AppliedPart::Content(b"A\nb\nc\nd\n".to_vec()));
    assert_eq!(leave, PendingPart::Content(b"A\nb\nc\nd\ne\n".to_vec()));
}

#[test]
fn part_of_a_hunk_can_be_taken() {
    let mut lines = lines(b"x\nold 1\nold 2\ny\n", b"x\nnew 1\nnew 2\ny\n");
    lines.hunks[0].marks = vec![
        ReviewDecision::Accepted,
        ReviewDecision::Rejected,
        ReviewDecision::Accepted,
        ReviewDecision::Rejected,
    ];
    assert_eq!(
        file(lines).verdict(),
        (AppliedPart::Content(b"x\nold 2\nnew 1\ny\n".to_vec()), PendingPart::Nothing)
    );
}

#[test]
fn a_line_without_an_end_gets_one_when_another_comes_behind_it() {
    let mut lines = lines(b"a\r\nb", b"a\r\nb\r\nc");
    lines.hunks[0].marks = vec![ReviewDecision::Rejected, ReviewDecision::Rejected, ReviewDecision::Accepted];
    assert_eq!(lines.accepted_content(), b"a\r\nb\r\nc");
}

#[test]
fn a_hunk_is_split_where_it_is_asked_and_its_halves_decide_alone() {
    let mut lines = lines(b"a\nb\n", b"A\nB\nC\n");
    let (first, second) = lines.hunks[0].split(3).unwrap();
    assert_eq!((first.old.clone(), first.new.clone()), (0..2, 0..1));
    assert_eq!((second.old.clone(), second.new.clone(), second.cut), (2..2, 1..3, true));
    lines.hunks = vec![first, second];
    lines.hunks[1].marks = vec![ReviewDecision::Accepted; 2];
    assert_eq!(lines.accepted_content(), b"a\nb\nB\nC\n");
    assert!(lines.hunks[0].split(0).is_none() && lines.hunks[0].split(3).is_none());
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec!["a\n", "b\n", "c\r\n", "\n", "d\n", "\u{e4}\n", "\tx\n"]);
    let tail = prop::sample::select(vec!["", "end"]);
    (prop::collection::vec(line, 0..14), tail).prop_map(|(parts, tail)| (parts.concat() + tail).into_bytes())
}

proptest! {
    /// The review's promise about bytes: base plus exactly the accepted lines.
    #[test]
    fn any_choice_of_lines_gives_the_base_plus_exactly_those(
        old in text(), new in text(), seed in prop::collection::vec(0u8..3, 64),
    ) {
        let mut lines = lines(&old, &new);
        let mut seed = seed.into_iter().cycle();
        for hunk in &mut lines.hunks {
            for mark in &mut hunk.marks {
                *mark = [ReviewDecision::Open, ReviewDecision::Accepted, ReviewDecision::Rejected][usize::from(seed.next().unwrap())];
            }
        }
        let expect = |made: &dyn Fn(ReviewDecision) -> bool| {
            let mut out: Vec<Vec<u8>> = Vec::new();
            let (olds, news): (Vec<&[u8]>, Vec<&[u8]>) =
                (old.split_inclusive(|b| *b == b'\n').collect(), new.split_inclusive(|b| *b == b'\n').collect());
            let mut at = 0;
            for hunk in &lines.hunks {
                out.extend(olds[at..hunk.old.start].iter().map(|l| l.to_vec()));
                for (n, line) in hunk.old.clone().enumerate() {
                    if !made(hunk.marks[n]) { out.push(olds[line].to_vec()); }
                }
                for (n, line) in hunk.new.clone().enumerate() {
                    if made(hunk.marks[hunk.old.len() + n]) { out.push(news[line].to_vec()); }
                }
                at = hunk.old.end;
            }
            out.extend(olds[at..].iter().map(|l| l.to_vec()));
            let last = out.len().saturating_sub(1);
            let end = lines.old.usual_end();
            for line in out.iter_mut().take(last) {
                if !line.ends_with(b"\n") { line.extend_from_slice(end); }
            }
            out.concat()
        };
        prop_assert_eq!(lines.accepted_content(), expect(&|m| m == ReviewDecision::Accepted));
        prop_assert_eq!(lines.unrejected_content(), expect(&|m| m != ReviewDecision::Rejected));
    }

    #[test]
    fn all_accepted_is_the_new_content_and_none_the_old(old in text(), new in text()) {
        let mut lines = lines(&old, &new);
        prop_assert_eq!(lines.accepted_content(), old);
        prop_assert_eq!(lines.unrejected_content(), new.clone());
        for hunk in &mut lines.hunks {
            hunk.marks.fill(ReviewDecision::Accepted);
        }
        prop_assert_eq!(lines.accepted_content(), new);
    }
}
