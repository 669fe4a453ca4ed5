//! What one request cost.

use placet_text::conversation::TokenUsage;
use serde::Deserialize;
use serde::Serialize;

/// One request, or the sum of some.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCost {
    /// The local day, `2026-11-21`; empty in sums over several.
    pub day: String,
    pub provider: String,
    pub model: String,
    pub requests: u64,
    /// Of those, the ones whose price was not known.
    pub unpriced: u64,
    pub usage: TokenUsage,
    /// In millionths of a millionth of a dollar, at the prices of the time; without the unpriced ones.
    pub picos: u64,
}

impl RequestCost {
    /// Adds what `other` cost; the names stay.
    pub fn add(&mut self, other: &RequestCost) {
        self.requests += other.requests;
        self.unpriced += other.unpriced;
        self.usage += other.usage;
        self.picos = self.picos.saturating_add(other.picos);
    }
}
