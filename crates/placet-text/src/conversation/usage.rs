//! What a request cost, in tokens, as the provider counted them.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// `input` excludes what was read from or written to the provider's cache; the three add up to the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    pub input: u64,
    pub output: u64,
    #[serde(default)]
    pub cache_read: u64,
    #[serde(default)]
    pub cache_write: u64,
    /// The reasoning tokens in `output`, if the provider counts them separately.
    #[serde(default)]
    pub reasoning: u64,
}

impl TokenUsage {
    /// The whole prompt: what fills the context window.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    pub fn is_zero(&self) -> bool {
        *self == TokenUsage::default()
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: TokenUsage) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.reasoning += other.reasoning;
    }
}
