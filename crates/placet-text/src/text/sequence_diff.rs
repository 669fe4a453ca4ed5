//! The operations that turn one sequence into another.
//!
//! Elements are compared many times, so they become numbers first. All comparisons of placet go through here: the
//! algorithm is generic, and each type that it compared took about 150 kB of the program.

use similar::{Algorithm, DiffOp};
use std::collections::HashMap;
use std::time::Instant;

/// Compares lines, words or other parts of a text. After `deadline` the result is coarser.
pub fn sequence_diff<T: AsRef<[u8]>>(old: &[T], new: &[T], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut numbers: HashMap<&[u8], u32> = HashMap::with_capacity(old.len() + new.len());
    let [old, new] = [old, new].map(|parts| {
        let mut numbered = Vec::with_capacity(parts.len());
        for part in parts {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            numbered.push(*numbers.entry(part.as_ref()).or_insert(next));
        }
        numbered
    });
    compare(&old, &new, deadline)
}

fn compare(old: &[u32], new: &[u32], deadline: Option<Instant>) -> Vec<DiffOp> {
    similar::capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use similar::DiffTag;

    #[test]
    fn equal_parts_are_equal_whatever_their_type_and_all_parts_are_covered() {
        let (old, new) = (["a", "b", "b", "c"], ["a", "b", "x", "c", "d"]);
        let ops = sequence_diff(&old, &new, None);
        let bytes = |parts: &[&'static str]| parts.iter().map(|part| part.as_bytes()).collect::<Vec<_>>();
        assert_eq!(ops, sequence_diff(&bytes(&old), &bytes(&new), None));
        assert_eq!(ops, similar::capture_diff_slices(Algorithm::Myers, &old, &new));
        let same = ops.iter().filter(|op| op.tag() == DiffTag::Equal).map(|op| op.old_range().len());
        assert_eq!(same.sum::<usize>(), 3);
        assert_eq!(ops.iter().map(|op| op.new_range().len()).sum::<usize>(), new.len());
        assert!(sequence_diff::<&str>(&[], &[], None).is_empty());
    }
}
