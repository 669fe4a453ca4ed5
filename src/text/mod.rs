//! Text, as bytes and as lines: encodings, line ends, ranges of lines, differences.

mod diff;
mod encoding;
mod line_end;
mod near;
mod range_set;

pub use diff::{DiffView, LineDiff};
pub use encoding::{Detected, Encoding, NotText, Unencodable};
pub use line_end::{LineEnd, LineEnds};
pub use near::nearest;
pub use range_set::RangeSet;
