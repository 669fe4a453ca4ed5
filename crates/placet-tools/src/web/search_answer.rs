//! What a search found: pages, and what a model wrote about them.

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchAnswer {
    /// What a model wrote about it, with the numbers of the pages.
    pub(super) text: Option<String>,
    pub(super) pages: Vec<FoundPage>,
}

/// One result. All of it is text of a stranger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundPage {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) text: String,
    pub(super) date: Option<String>,
}
