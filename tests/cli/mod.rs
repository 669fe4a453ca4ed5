//! The command line, its outputs, and the public API.

mod cli;
mod embed;
mod headless;
mod headless_commands;
mod import_settings;
mod import_written;
mod outputs;
mod setup;
