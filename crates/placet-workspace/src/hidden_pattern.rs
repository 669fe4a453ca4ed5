//! A pattern that hides paths from every tool.

use placet_text::text::NameGlob;
use std::path::PathBuf;

#[derive(Debug)]
pub(super) enum HiddenPattern {
    /// An absolute path without wildcards, and all below it: by far the most common, and compared as bytes, because
    /// every path of every walk is asked about.
    Below(PathBuf),
    Glob {
        glob: Box<NameGlob>,
        anywhere: bool,
    },
}
