use super::*;
use placet_text::text::LineDiff;
use proptest::prelude::*;
use std::sync::Arc;

fn file(text: &str) -> TextFile {
    TextFile::new(Arc::new(text.as_bytes().to_vec())).unwrap()
}

#[test]
fn a_removed_line_and_an_added_one_are_told_apart() {
    let (old, new) = (file("a\nb\nc\nd\n"), file("a\nc\nd\n"));
    let effect = EditEffect::of(&old, &new, &[(2..4, 0)], 1000);
    assert_eq!((effect.added, effect.removed), (0, 1));
    assert_eq!(effect.diff.text, "@@ -1,4 +1,3 @@\n a\n-b\n c\n d\n");
    assert_eq!(effect.shown, RangeSet::of(0..3));
    let effect = EditEffect::of(&new, &old, &[(2..2, 2)], 1000);
    assert_eq!((effect.added, effect.removed), (1, 0));
}

#[test]
fn bytes_outside_are_compared_for_real() {
    assert!(same_outside(b"abcdef", b"abXXef", &[(2..4, 2)]));
    assert!(!same_outside(b"abcdef", b"aBXXef", &[(2..4, 2)]));
    assert!(!same_outside(b"abcdef", b"abXXeg", &[(2..4, 2)]));
    assert!(same_outside(b"abcd", b"XbcYYd", &[(0..1, 1), (3..3, 2)]));
}

proptest! {
    /// The lines outside the edits are the same lines, moved; and the counts are those of a diff of the whole.
    #[test]
    fn line_edits_lead_from_the_old_lines_to_the_new(
        lines in prop::collection::vec("[ab]{0,2}\n", 0..14), cuts in prop::collection::vec((0usize..30, 0usize..6, "[xy\n]{0,5}"), 1..4),
    ) {
        let old = lines.concat();
        let mut changes: Vec<(Range<usize>, usize)> = Vec::new();
        let (mut new, mut at) = (String::new(), 0);
        for (skip, len, put) in cuts {
            let start = (at + skip).min(old.len());
            let end = (start + len).min(old.len());
            new.push_str(&old[at..start]);
            new.push_str(&put);
            changes.push((start..end, put.len()));
            at = end;
        }
        new.push_str(&old[at..]);
        let effect = EditEffect::of(&file(&old), &file(&new), &changes, 1 << 20);
        let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let (mut o, mut n) = (0, 0);
        for edit in &effect.edits {
            let same = edit.old.start - o;
            prop_assert_eq!(&old_lines[o..o + same], &new_lines[n..n + same]);
            o = edit.old.end;
            n += same + edit.new_len;
        }
        prop_assert_eq!(&old_lines[o..], &new_lines[n..]);
        prop_assert!(same_outside(old.as_bytes(), new.as_bytes(), &changes));
        let whole = LineDiff::new(&old, &new).counts();
        prop_assert_eq!(effect.added + whole.1, effect.removed + whole.0);
    }
}
