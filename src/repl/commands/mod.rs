//! The slash commands: one table, and a file for each command or family of commands.

mod batch;
mod branches;
mod changes;
mod config;
pub(super) mod cost;
pub(super) mod directory;
mod elsewhere;
mod export;
mod help;
mod history;
pub(super) mod jobs;
mod keys;
mod mode;
mod model;
mod permission;
pub(super) mod review;
mod rewind;
mod rewind_picker;
mod rewind_turn;
mod scratchpads;
pub(super) mod sessions;
mod setup;
mod status;
mod table;
mod taint;
mod theme;
mod tools;
mod tour;
mod transcript;
mod view;
mod window;

pub use table::COMMANDS;
pub(super) use table::run;
