//! Text as styled lines that fit: Markdown, prose, untrusted text, and the mark in the margin.

pub(super) mod code_blocks;
pub mod margin_mark;
pub mod markdown;
pub(super) mod markdown_stream;
pub(super) mod markdown_table;
pub mod prose;
pub mod verbatim;
pub mod wrap;
