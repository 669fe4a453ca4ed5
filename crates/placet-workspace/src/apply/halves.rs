//! Two threads for the phases of a large apply in which each file is on its own: staging, and storing old contents.

use crate::history::journal::RestrictedDir;
use std::ops::Range;

/// Below so many files, starting a thread costs more than it saves.
const FEW: usize = 512;

/// Runs `work` for all of `range`: as two halves at the same time where that pays and is safe. Gives the results in order.
///
/// `shut` are directories that placet must open for a moment. The first thread that is done with one would close it for
/// the other: where there are any, one thread does all.
pub(crate) fn in_halves<T: Send>(
    shut: &[RestrictedDir],
    range: Range<usize>,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    if range.len() < FEW || !shut.is_empty() {
        return vec![work(range)];
    }
    let middle = range.start + range.len() / 2;
    let (first, second) = (range.start..middle, middle..range.end);
    std::thread::scope(|scope| {
        let other = std::thread::Builder::new().name("apply".into());
        // Where the system starts no more threads, this one does both.
        let other = other.spawn_scoped(scope, || work(second.clone()));
        let mut results = vec![work(first)];
        match other.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => results.push(result),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => results.push(work(second.clone())),
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_worked_on_once_and_a_shut_directory_by_one_thread() {
        for count in [0, 1, FEW - 1, FEW, 3 * FEW + 1] {
            let all: Vec<usize> = in_halves(&[], 5..5 + count, |part| part.collect::<Vec<_>>()).concat();
            assert_eq!(all, (5..5 + count).collect::<Vec<_>>());
        }
        let here = || std::thread::current().id();
        assert_ne!(in_halves(&[], 0..FEW, |_| here()), [here()]);
        let shut = RestrictedDir { path: "/shut".into(), mode: 0o500 };
        assert_eq!(in_halves(&[shut], 0..FEW, |_| here()), [here()]);
    }
}
