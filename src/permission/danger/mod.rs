//! Command lines that destroy things: what they would destroy, and how much of it.
//!
//! The line is read as a shell reads it, so a destroyer is found behind wrappers, in branches and in substitutions,
//! and its targets are named by their absolute paths. What cannot be read or resolved counts as dangerous. This is no
//! defence: a program can destroy anything without a word on its command line. Containment is the sandbox's work.

mod git;
mod program;
mod remote;
mod target;

pub(super) use git::GitCommand;
pub(super) use target::is_harmless_device;

use super::ProtectedPaths;
use super::command;
use super::command::{CommandSegment, SegmentKind, ShellParseContext};
use std::path::{Path, PathBuf};

/// What a line would destroy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandDanger {
    /// In one line: "`rm -rf x` destroys data".
    pub what: String,
    /// Absolute paths; what has none is the word with `(cannot be resolved)`.
    pub targets: Vec<String>,
    pub severity: DangerSeverity,
    /// What a person types to confirm a total one.
    pub typed: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DangerSeverity {
    /// Something is lost.
    Loss,
    /// What is lost cannot be told from the line.
    Unclear,
    /// A target is a root of the workspace, the home directory or the file system, or contains one.
    Total,
}

/// Where a line runs and what must not be lost whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct DangerContext<'a> {
    pub(super) cwd: &'a Path,
    pub(super) home: Option<&'a Path>,
    pub(super) roots: &'a [PathBuf],
    pub(super) protected: &'a ProtectedPaths,
}

impl DangerContext<'_> {
    /// True for what some program runs or obeys later; of an absolute path all names count.
    pub(super) fn is_protected(&self, path: &Path) -> bool {
        self.protected.class_of(path).asks()
    }
}

/// The destructive thing in `command`, run in `cwd`, if there is one. Links are not followed. `protected` is what the
/// line must not write without a person.
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
            return Some(CommandDanger::of(
                &format!("cannot parse the command: {e}"),
                DangerSeverity::Unclear,
            ));
        }
    };
    let all = segments.iter().flat_map(CommandSegment::all).filter(|s| s.kind != SegmentKind::Opaque);
    let found = all.filter_map(|segment| of_segment(segment, ground, command));
    found.reduce(CommandDanger::and)
}

fn of_segment(segment: &CommandSegment, ground: DangerContext<'_>, line: &str) -> Option<CommandDanger> {
    let redirected = target::of_redirects(segment, ground);
    let run = program::danger(segment, ground).or_else(|| remote::danger(segment, line));
    match (run, redirected) {
        (Some(run), Some(redirected)) => Some(run.and(redirected)),
        (run, redirected) => run.or(redirected),
    }
}

impl CommandDanger {
    fn of(what: &str, severity: DangerSeverity) -> CommandDanger {
        CommandDanger { what: what.into(), targets: Vec::new(), severity, typed: None }
    }

    fn typing(self, word: &str) -> CommandDanger {
        CommandDanger { typed: Some(word.into()), ..self }
    }

    fn and(mut self, other: CommandDanger) -> CommandDanger {
        if !self.what.contains(&other.what) {
            self.what = format!("{}; {}", self.what, other.what);
        }
        for target in other.targets {
            if !self.targets.contains(&target) {
                self.targets.push(target);
            }
        }
        self.severity = self.severity.max(other.severity);
        self.typed = self.typed.or(other.typed);
        self
    }

    /// The reason of the question it asks, targets and all.
    pub fn describe(&self) -> String {
        if self.targets.is_empty() {
            self.what.clone()
        } else {
            format!("{}: {}", self.what, self.targets.join(", "))
        }
    }
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
