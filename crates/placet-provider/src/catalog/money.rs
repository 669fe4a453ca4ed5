//! Money as a whole number, because sums of fractions drift. The unit is a millionth of a millionth of a dollar, in
//! which a price per million tokens has a whole price per token. Knows no currency but the dollar of price lists.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An amount of at most 18 million dollars; sums stop there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(u64);

const PER_MICRO: u64 = 1_000_000;
const PER_DOLLAR: u64 = 1_000_000 * PER_MICRO;

impl Money {
    pub const ZERO: Money = Money(0);

    /// From what a budget says, in millionths of a dollar.
    pub fn from_micros(micros: u64) -> Money {
        Money(micros.saturating_mul(PER_MICRO))
    }

    /// From what a database holds: see [`Money::picos`].
    pub fn from_picos(picos: u64) -> Money {
        Money(picos)
    }

    /// The whole number itself, in millionths of a millionth of a dollar.
    pub fn picos(self) -> u64 {
        self.0
    }

    /// Rounded to the nearest millionth of a dollar.
    pub fn micros(self) -> u64 {
        self.0.saturating_add(PER_MICRO / 2) / PER_MICRO
    }

    /// The cost of so many tokens at a price per million; `None` where the number is too large.
    pub(super) fn of_tokens(tokens: u64, price: Money) -> Option<Money> {
        // A dollar for a million tokens is a millionth of a dollar a token.
        tokens.checked_mul(price.0 / PER_MICRO).map(Money)
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    /// `$1.24`; small amounts with four places, so that they are not shown as nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, places) = match self.0 {
            0 => (PER_DOLLAR / 100, 2),
            1..PER_DOLLAR => (PER_DOLLAR / 10_000, 4),
            _ => (PER_DOLLAR / 100, 2),
        };
        let rounded = self.0.saturating_add(unit / 2) / unit;
        if self.0 > 0 && rounded == 0 {
            return f.write_str("<$0.0001");
        }
        let per_dollar = PER_DOLLAR / unit;
        write!(f, "${}.{:0places$}", rounded / per_dollar, rounded % per_dollar)
    }
}
