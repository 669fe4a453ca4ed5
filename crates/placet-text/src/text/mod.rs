//! Text: as bytes and as lines (encodings, line ends, diffs), and as a screen shows it.

pub mod count;
mod did_you_mean;
mod diff;
mod encoding;
pub mod human_size;
pub mod hunk;
mod last_words;
mod line_end;
pub mod look_alike;
mod name_glob;
pub mod patch;
pub mod placet_mark;
mod range_set;
pub mod regular_file;
pub mod sanitize;
pub mod secret;
pub mod sequence_diff;
pub mod shell_word;
pub mod sided_merge;
pub mod visible;
pub mod width;
pub mod word_diff;

pub use did_you_mean::nearest;
pub use diff::{LineDiff, UnifiedDiff, for_model};
pub use encoding::{DetectedEncoding, NotText, TextEncoding, UnencodableChar, is_binary, text_with_nuls};
pub use last_words::last_words;
pub use line_end::{LineEnd, LineEndCounts};
pub use name_glob::NameGlob;
pub use range_set::RangeSet;
