//! The slash commands: one table, and a file for each command or family of commands.

mod batch;
mod changes;
mod checks;
pub(super) mod conversation;
pub(super) mod cost;
pub(super) mod directory;
mod elsewhere;
pub(super) mod extensions;
mod help;
mod history;
pub(super) mod jobs;
mod memory;
pub(super) mod review;
mod scratchpads;
mod settings;
mod table;
mod tour;
pub(super) mod tries;
mod undo;
mod view;

pub(super) use changes::apply_label;
pub(super) use checks::check_env;
pub(crate) use extensions::server_prompts::{NamedPrompt, PromptUsageError, own_names, prompt_parts};
pub use table::COMMANDS;
pub(super) use table::{menu_order, run};
