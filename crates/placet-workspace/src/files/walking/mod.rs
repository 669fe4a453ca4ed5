//! What is below a directory, and what of it a project ignores.

pub(crate) mod dirs_above;
pub(crate) mod entries_below;
pub(crate) mod ignore_rules;
pub(crate) mod relative_path;
pub(crate) mod walk;
