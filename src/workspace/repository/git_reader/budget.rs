//! How much may be read of one repository. A repository can be made so that reading it takes for ever: a small object
//! inflates to gigabytes, deltas lead in a circle, a million refs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The largest object, inflated.
pub(super) const LARGEST_OBJECT: usize = 16 << 20;
/// All objects together, inflated.
const MOST_INFLATED: usize = 64 << 20;
/// Deltas that are applied, of all objects together. A reset by 300 commits needs some 10,000 where each commit and tree is
/// one of 50 on top of each other.
const MOST_DELTAS: usize = 50_000;
/// Deltas on top of each other. git makes 50, and 4,095 at most.
pub(super) const DEEPEST_DELTA: usize = 64;
/// Bytes of the patches of all commits together.
const MOST_PATCHES: usize = 512 << 10;
/// The longest that reading may take for a list of what was applied or undone, on the person's time.
const LONGEST: Duration = Duration::from_millis(200);
/// The same for all repositories of one list: a command can make thousands of them.
const LONGEST_OF_ALL: Duration = Duration::from_secs(1);

/// When reading all repositories of a list has to end, and how long each of them may take.
#[derive(Clone, Copy, Debug)]
pub(in crate::workspace) struct ReadDeadline {
    of_all: Instant,
    each: Duration,
}

pub(in crate::workspace) fn deadline() -> ReadDeadline {
    ReadDeadline { of_all: Instant::now() + LONGEST_OF_ALL, each: LONGEST }
}

/// What needs the person's consent is looked for longer: an answer that no time was left would ask for it on a slow
/// machine, and not ask again on a fast one.
pub(in crate::workspace) fn consent_deadline() -> ReadDeadline {
    ReadDeadline { of_all: Instant::now() + 4 * LONGEST_OF_ALL, each: 2 * LONGEST_OF_ALL }
}

/// For tests of the other limits: a machine under load is slower than any of them.
#[cfg(test)]
pub(super) fn without_deadline() -> ReadDeadline {
    let each = Duration::from_secs(3_600);
    ReadDeadline { of_all: Instant::now() + each, each }
}

/// What a bound cut off, as it follows `not all of it was read: `.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ReadLimit {
    Time,
    Inflated,
    Deltas,
    Packs,
}

impl ReadLimit {
    pub(super) fn words(self) -> &'static str {
        match self {
            ReadLimit::Time => "reading it takes too long",
            ReadLimit::Inflated => "its objects have more than 64 MB",
            ReadLimit::Packs => "it has more than 1,000 packs",
            ReadLimit::Deltas => "its objects have more than 50,000 deltas",
        }
    }
}

/// What is left to read, for both states of a repository together.
pub(super) struct ReadBudget {
    until: Instant,
    inflated: Cell<usize>,
    deltas: Cell<usize>,
    patches: Cell<usize>,
    reached: RefCell<BTreeSet<ReadLimit>>,
}

impl ReadBudget {
    pub(super) fn new(deadline: ReadDeadline) -> ReadBudget {
        ReadBudget {
            until: deadline.of_all.min(Instant::now() + deadline.each),
            inflated: Cell::new(0),
            deltas: Cell::new(0),
            patches: Cell::new(0),
            reached: RefCell::default(),
        }
    }

    /// False once the time is over.
    pub(super) fn has_time(&self) -> bool {
        let has = Instant::now() < self.until;
        if !has {
            self.reach(ReadLimit::Time);
        }
        has
    }

    /// False where `bytes` more are too many.
    pub(super) fn take_bytes(&self, bytes: usize) -> bool {
        let sum = self.inflated.get().saturating_add(bytes);
        self.inflated.set(sum);
        let fits = sum <= MOST_INFLATED;
        if !fits {
            self.reach(ReadLimit::Inflated);
        }
        fits && self.has_time()
    }

    pub(super) fn take_delta(&self) -> bool {
        self.deltas.set(self.deltas.get() + 1);
        let fits = self.deltas.get() <= MOST_DELTAS;
        if !fits {
            self.reach(ReadLimit::Deltas);
        }
        fits
    }

    /// False where the patches of commits have grown too large by `bytes` more. Their rows say so themselves.
    pub(super) fn take_patch(&self, bytes: usize) -> bool {
        let sum = self.patches.get().saturating_add(bytes);
        let fits = sum <= MOST_PATCHES;
        if fits {
            self.patches.set(sum);
        }
        fits
    }

    pub(super) fn reach(&self, limit: ReadLimit) {
        self.reached.borrow_mut().insert(limit);
    }

    /// The bounds that cut something off.
    pub(super) fn reached(&self) -> Vec<ReadLimit> {
        self.reached.borrow().iter().copied().collect()
    }
}
