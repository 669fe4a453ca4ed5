//! A command line read as a shell reads it, so that consent is given to what runs and not to what it looks like.
//!
//! The grammar is POSIX with the usual bash extensions. The result is no tree: it is the list of [`CommandSegment`]s, one
//! for each simple command that is reached anywhere in the line (pipelines, lists, subshells, branches, loops,
//! function bodies, substitutions, here-documents), with what wrappers such as `env` or `sh -c` run below it.
//! What cannot be read for certain (arrays, arithmetic commands, extended globs, deep nesting) is an error, never a
//! guess. Nothing is run and no file is looked at: paths are resolved by their spelling alone.

mod args;
mod compound;
mod error;
mod git;
mod grammar;
mod inner;
mod lexer;
mod options;
mod parse_state;
mod parser;
mod redirect;
mod segment;
mod unwrap;
mod word;
mod wrappers;

pub(super) use args::CommandArgs;
pub(super) use error::ShellParseError;
pub(super) use git::GitCommand;
pub(super) use grammar::parse;
pub(super) use parse_state::ShellParseContext;
pub(super) use parse_state::{join, normal};
pub(super) use segment::{CommandSegment, RedirectKind, SegmentKind, ShellRedirect, WrapperKind};
pub(super) use word::ShellWord;
pub(super) use wrappers::is_shell;

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
