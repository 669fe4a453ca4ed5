//! The words of the command line: what they can be, and what is said of those that are wrong.

pub(super) mod args;
pub(super) mod bare_word;
pub(super) mod checks_args;
pub(super) mod common_args;
pub(super) mod mcp_args;
pub(super) mod option_number;
pub(super) mod options;
pub(super) mod review_args;
pub(super) mod session_args;
pub(super) mod session_selector;
pub(super) mod try_args;
pub(super) mod usage_error;
