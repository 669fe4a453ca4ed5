//! What the person searches for, and which files are shown.

#[derive(Default)]
pub struct ReviewFinder {
    pub search: String,
    /// Where the cursor was when the search began.
    pub(in crate::review) search_from: usize,
    /// A part of the paths of the files that are shown.
    pub filter: String,
}
