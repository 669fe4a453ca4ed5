//! Command lines that destroy data: what they would destroy, and how much of it.
//!
//! The line is parsed as a shell does, so that a destructive command is found inside wrappers, branches and
//! substitutions, and its targets are reported as absolute paths. A line that cannot be parsed or resolved counts as
//! dangerous. This is not a defence: a program can destroy anything without a trace on its command line. The sandbox
//! contains such programs.

mod program;
mod target;
mod verdict;

pub(super) use target::is_harmless_device;
pub use verdict::{CommandDanger, DangerSeverity};

use super::ProtectedPaths;
use super::command;
use super::command::{CommandSegment, SegmentKind, ShellParseContext};
use std::path::{Path, PathBuf};
use verdict::DangerContext;

/// The destructive command in `command`, run in `cwd`, if there is one. Links are not followed. `protected` are files
/// that the line must not write without a person.
pub fn danger_of(
    command: &str,
    cwd: &Path,
    home: Option<&Path>,
    roots: &[PathBuf],
    protected: &ProtectedPaths,
) -> Option<CommandDanger> {
    let ground = DangerContext { cwd, home, roots, protected };
    if is_fork_bomb(command) {
        return Some(
            CommandDanger::of("a fork bomb stops the machine", DangerSeverity::Total).typing("everything"),
        );
    }
    let segments = match command::parse(command, ShellParseContext { cwd, home }) {
        Ok(segments) => segments,
        Err(e) => {
            return Some(CommandDanger::unclear(&format!("cannot parse the command: {e}")));
        }
    };
    let all = segments.iter().flat_map(CommandSegment::all).filter(|s| s.kind != SegmentKind::Opaque);
    let found = all.filter_map(|segment| of_segment(segment, ground, command));
    found.reduce(CommandDanger::and)
}

fn of_segment(segment: &CommandSegment, ground: DangerContext<'_>, line: &str) -> Option<CommandDanger> {
    let redirected = target::of_redirects(segment, ground);
    program::danger(segment, ground, line).into_iter().chain(redirected).reduce(CommandDanger::and)
}

/// `:(){ :|:& };:` under any name.
fn is_fork_bomb(line: &str) -> bool {
    let squeezed: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((before, after)) = squeezed.split_once("(){") else { return false };
    let name: String = before.chars().rev().take_while(|c| !";&|({".contains(*c)).collect();
    let name: String = name.chars().rev().collect();
    !name.is_empty() && after.contains(&format!("{name}|{name}&"))
}

#[cfg(test)]
#[path = "danger_tests.rs"]
mod tests;
