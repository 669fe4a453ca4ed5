//! A pattern that hides paths from every tool.

use globset::GlobMatcher;
use std::path::PathBuf;

#[derive(Debug)]
pub(super) enum HiddenPattern {
    /// An absolute path without wildcards, and all below it: by far the most common, and compared as bytes, because
    /// every path of every walk is asked about.
    Below(PathBuf),
    Glob {
        glob: GlobMatcher,
        anywhere: bool,
    },
}
