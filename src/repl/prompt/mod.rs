//! The line that is typed between turns: rustyline with placet's keys, completions and lists.

mod directory_completion;
mod editor;
mod file_list;
mod helper;
mod input;
mod key_handlers;
mod menus;
mod mode_prompt;
mod path_completion;
mod typing_menu;
mod unsent;

pub(super) use editor::{PromptEditor, PromptOutcome};
pub use input::words;
pub(super) use input::{PromptInput, PromptScreen, UnfinishedLine};
pub(super) use menus::pick_into;
pub(super) use mode_prompt::{PromptStatus, TryMark};
pub(super) use typing_menu::MenuSources;
pub(super) use unsent::UnsentInput;
