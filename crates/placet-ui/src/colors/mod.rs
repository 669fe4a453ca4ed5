//! Themes, and the colours of code that can be read on them.

pub(super) mod contrast;
pub mod sample;
pub mod syntax;
pub(super) mod syntax_themes;
pub(super) mod theme;
