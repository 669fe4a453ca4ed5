//! All tests that go through the public surface, in one binary: it links once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test stops at the first surprise"
)]
#![allow(clippy::module_inception, reason = "the file about the subject itself has the name of its folder")]

mod agent;
mod apply;
mod architecture;
mod check;
mod cli;
mod command;
mod consent;
mod git;
mod guide;
mod mcp;
mod media;
mod provider;
mod sandbox;
mod screen;
mod session;
mod support;
mod tool;
mod toolset;
