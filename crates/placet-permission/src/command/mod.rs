//! Parses a command line as a shell does, so that the person consents to what runs and not to what it looks like.
//!
//! The grammar is POSIX with the usual bash extensions. The result is not a tree. It is the list of
//! [`CommandSegment`]s, one for each simple command that the line can run (in pipelines, lists, subshells, branches,
//! loops, function bodies, substitutions, here-documents), together with the commands that wrappers such as `env` or
//! `sh -c` run. Syntax that cannot be parsed for certain (arrays, arithmetic commands, extended globs, deep nesting) is
//! an error, never a guess. Nothing is run and no file is read: paths are resolved by their spelling alone.

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
