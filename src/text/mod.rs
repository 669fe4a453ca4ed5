//! Text as such: as bytes and as lines (encodings, line ends, differences), and as what a screen shows.

mod diff;
mod encoding;
pub mod hunk;
mod line_end;
mod near;
pub mod own;
pub mod patch;
mod range_set;
pub mod regular;
pub mod sanitize;
pub mod secret;
pub mod size;
pub mod visible;
pub mod width;
pub mod words;

pub use diff::{LineDiff, UnifiedDiff, for_model};
pub use encoding::{DetectedEncoding, NotText, TextEncoding, UnencodableChar};
pub use line_end::{LineEnd, LineEndCounts};
pub use near::nearest;
pub use range_set::RangeSet;
