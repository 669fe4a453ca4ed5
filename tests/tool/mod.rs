//! The native tools, one file each, and what holds for all of them.

mod batch;
mod edit_properties;
mod fetch;
mod hostile_search;
mod hostile_streams;
mod labels;
mod own_files;
mod patch;
mod patch_refusals;
mod patch_stale;
mod path_table;
mod search_web;
mod secrets;
mod staged_paths;
mod tool_command;
mod tool_edit;
mod tool_gate;
mod tool_operations;
mod tool_patch;
mod tool_read;
mod tool_scratchpad;
mod tool_search;
mod tool_write;
mod unknown_encoding;
mod unshown_lines;
mod workspace_paths;
