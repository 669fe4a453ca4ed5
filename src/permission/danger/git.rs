//! Git commands that lose work or history.

use super::program::CommandArgs;
use super::{CommandDanger, DangerSeverity};
use crate::permission::command;
use crate::permission::command::{CommandSegment, ShellWord};

/// A git command line: the subcommand and what follows it.
pub(in crate::permission) struct GitCommand<'a> {
    pub(in crate::permission) name: Option<&'a str>,
    pub(in crate::permission) rest: &'a [ShellWord],
    /// Words before the subcommand.
    pub(in crate::permission) global: &'a [ShellWord],
    /// `-C DIR`.
    dir: Option<&'a ShellWord>,
}

impl<'a> GitCommand<'a> {
    /// `None` where there is no subcommand.
    pub(in crate::permission) fn read(arguments: &'a [ShellWord]) -> Option<GitCommand<'a>> {
        let (mut at, mut dir) = (0, None);
        while let Some(word) = arguments.get(at) {
            match word.text.as_deref() {
                Some("-C") => {
                    dir = arguments.get(at + 1);
                    at += 2;
                }
                Some(
                    "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" | "--config-env",
                ) => at += 2,
                Some(text) if text.starts_with('-') => at += 1,
                name => {
                    let rest = arguments.get(at + 1..).unwrap_or_default();
                    return Some(GitCommand {
                        name,
                        rest,
                        global: arguments.get(..at).unwrap_or_default(),
                        dir,
                    });
                }
            }
        }
        None
    }
}

pub(super) fn danger(segment: &CommandSegment, args: CommandArgs<'_>) -> Option<CommandDanger> {
    let git = GitCommand::read(args.0)?;
    let Some(name) = git.name else {
        return Some(CommandDanger::of("cannot determine which git command runs", DangerSeverity::Unclear));
    };
    let what = verb(name, CommandArgs(git.rest))?;
    let place = |dir: &std::path::PathBuf| match git.dir.map(|d| d.text.as_deref()) {
        None => dir.display().to_string(),
        Some(Some(below)) => command::join(dir, below).display().to_string(),
        Some(None) => "`-C` (cannot be resolved)".into(),
    };
    let targets = match &segment.dirs {
        Some(dirs) => dirs.iter().map(place).collect(),
        None => vec!["the working directory (cannot be resolved)".into()],
    };
    let danger = CommandDanger::of(&format!("`git {what}` destroys data"), DangerSeverity::Loss);
    Some(CommandDanger { targets, ..danger })
}

fn verb(name: &str, args: CommandArgs<'_>) -> Option<&'static str> {
    let first = args.0.first().and_then(|w| w.text.as_deref()).unwrap_or_default();
    let forced = args.flag('f', "--force");
    let starts = |prefix: &str| args.0.iter().any(|w| w.source.starts_with(prefix));
    Some(match name {
        "reset" if args.has("--hard") || args.has("--merge") || args.has("--keep") => "reset --hard",
        "clean" if !(args.flag('n', "--dry-run")) => "clean",
        "checkout" if checks_out_files(args) => "checkout -- FILES",
        "restore" if !args.flag('S', "--staged") || args.flag('W', "--worktree") => "restore",
        "switch" if forced || args.has("--discard-changes") || args.flag('C', "--force-create") => {
            "switch --force"
        }
        "stash" if matches!(first, "drop" | "clear") => "stash drop",
        "push" if forced || starts("--force") || args.has("--mirror") || args.has("--prune") => {
            "push --force"
        }
        "push" if args.flag('d', "--delete") => "push --delete",
        "push" if args.operands().iter().any(|w| w.source.starts_with('+')) => "push --force",
        "push" if args.operands().iter().any(|w| w.source.starts_with(':')) => "push --delete",
        "branch" if args.flag('D', "") || forced || args.flag('M', "") || args.flag('C', "") => "branch -D",
        "filter-branch" | "filter-repo" => "filter-branch",
        "update-ref" => "update-ref",
        "reflog" if matches!(first, "expire" | "delete") => "reflog expire",
        "gc" if starts("--prune=") && !starts("--prune=2") => "gc --prune",
        "prune" if !args.flag('n', "--dry-run") => "prune",
        "worktree" if first == "remove" && forced => "worktree remove --force",
        "rm" if forced => "rm -f",
        "read-tree" if args.has("--reset") || args.has("-u") => "read-tree --reset",
        "checkout-index" if forced => "checkout-index -f",
        "submodule" if first == "deinit" && forced => "submodule deinit -f",
        "tag" if args.flag('d', "--delete") => "tag -d",
        _ => return None,
    })
}

/// Work is lost when files are checked out, and not when a branch is. Two names are a commit and a path.
fn checks_out_files(args: CommandArgs<'_>) -> bool {
    if args.has("--")
        || args.flag('f', "--force")
        || args.flag('B', "")
        || args.has("--ours")
        || args.has("--theirs")
    {
        return true;
    }
    let operands = args.operands();
    let pathspec = |w: &&ShellWord| {
        w.glob
            || w.source == "."
            || w.source.starts_with(":/")
            || w.source.starts_with("./")
            || w.source.ends_with('/')
    };
    let creates =
        args.flag('b', "") || args.flag('t', "--track") || args.has("--orphan") || args.has("--detach");
    operands.iter().any(pathspec) || operands.len() > 1 && !creates
}
