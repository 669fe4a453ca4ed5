//! Programs that destroy files or run invisible commands: the rows of `tables/dangerous.toml`, and what a row cannot
//! express.

use super::target::{is_total, lost, targets, written};
use super::verdict::{CommandDanger, DangerContext, DangerSeverity};
use crate::command;
use crate::command::{CommandArgs, CommandSegment, GitCommand, RedirectKind, ShellWord};
use crate::tables;
use std::path::{Path, PathBuf};

pub(super) fn danger(
    segment: &CommandSegment,
    ground: DangerContext<'_>,
    line: &str,
) -> Option<CommandDanger> {
    let first = segment.words.first()?;
    let Some(name) = name_of(segment) else {
        return Some(CommandDanger::unclear(&format!("cannot determine what `{}` runs", first.source)));
    };
    let args = CommandArgs(segment.arguments());
    let table = tables::dangerous();
    let is_brace_list = |w: &ShellWord| w.glob && w.text.is_none() && w.source.contains('{');
    if tables::is_listed(&table.brace_lists, &name) && args.0.iter().any(is_brace_list) {
        let what = format!("cannot determine which options a brace list gives to `{name}`");
        return Some(CommandDanger::unclear(&what));
    }
    by_row(&name, segment, args, ground).or_else(|| match name.as_str() {
        "rm" | "unlink" | "rimraf" => rm(&name, segment, args, ground),
        "find" if args.has("-delete") => Some(find(segment, args, ground)),
        "dd" => dd(segment, args, ground),
        "mv" => mv(segment, args, ground),
        "git" if GitCommand::read(args.0).is_some_and(|git| git.name.is_none()) => {
            Some(CommandDanger::unclear("cannot determine which git command runs"))
        }
        "kill" if args.0.iter().skip(1).any(|w| w.is("-1")) => {
            let what = "`kill -1` ends every process you own";
            Some(CommandDanger::of(what, DangerSeverity::Total).typing("everything"))
        }
        "eval" if segment.inner.is_empty() && !args.0.is_empty() => {
            Some(CommandDanger::unclear("cannot determine what `eval` runs"))
        }
        "source" | "." if args.0.first().is_some_and(|w| w.source.starts_with("<(")) => Some(fetched(&name)),
        name if command::is_shell(name) => shell(name, segment, args),
        name if tables::is_listed(&table.interpreters.programs, name) => interpreter(name, segment, args),
        name if tables::is_listed(&table.databases.programs, name) => database(name, segment, line),
        _ => None,
    })
}

/// The program; for `$(npm bin)/eslint` the certain part.
fn name_of(segment: &CommandSegment) -> Option<String> {
    if let Some(name) = segment.program() {
        return Some(name.to_string());
    }
    let source = &segment.words.first()?.source;
    let (_, name) = source.rsplit_once('/')?;
    let plain = !name.is_empty() && !name.contains(['$', '`', ')', '{', '}', '*', '?', '[', ' ']);
    plain.then(|| name.to_string())
}

/// The verdict of the first row of the table that matches the command.
fn by_row(
    name: &str,
    segment: &CommandSegment,
    args: CommandArgs<'_>,
    ground: DangerContext<'_>,
) -> Option<CommandDanger> {
    let rows = &tables::dangerous().dangerous;
    rows.iter().filter(|row| row.matches(name, args.0)).find_map(|row| {
        let aimed = row.aimed(args);
        if row.guarded {
            return aimed.into_iter().find_map(|word| written(segment, word, ground));
        }
        let shown = row.shown(name);
        let mut danger = lost(&shown, segment, &aimed, ground);
        if let Some(does) = &row.does {
            danger.what = format!("`{shown}` {does}");
        }
        if name == "git" {
            danger.targets = repositories(segment, args);
        }
        Some(danger)
    })
}

/// The directories in which git works; its commands destroy data there.
fn repositories(segment: &CommandSegment, args: CommandArgs<'_>) -> Vec<String> {
    let below = GitCommand::read(args.0).and_then(|git| git.dir);
    let place = |dir: &PathBuf| match below.map(|word| word.text.as_deref()) {
        None => dir.display().to_string(),
        Some(Some(below)) => command::join(dir, below).display().to_string(),
        Some(None) => "`-C` (cannot be resolved)".into(),
    };
    match &segment.dirs {
        Some(dirs) => dirs.iter().map(place).collect(),
        None => vec!["the working directory (cannot be resolved)".into()],
    }
}

/// `-r` and wildcards always; `-f` and plain operands only if a target is not a single known file of the workspace.
fn rm(
    name: &str,
    segment: &CommandSegment,
    args: CommandArgs<'_>,
    ground: DangerContext<'_>,
) -> Option<CommandDanger> {
    let recursive = ["-r", "-R", "--recursive"].iter().any(|f| args.has_flag(f)) || name == "rimraf";
    let operands = args.operands();
    let inside = |path: &Path| ground.roots.iter().any(|r| path.starts_with(r)) && !ground.is_protected(path);
    let known = |word: &&ShellWord| {
        let all = targets(segment, word);
        all.iter().all(|t| !t.contents && t.path.as_deref().is_some_and(inside))
    };
    let harmless = operands.is_empty() || !recursive && operands.iter().all(known);
    (!harmless).then(|| lost(&segment.source(), segment, &operands, ground))
}

fn find(segment: &CommandSegment, args: CommandArgs<'_>, ground: DangerContext<'_>) -> CommandDanger {
    let starts = |w: &&ShellWord| !w.source.starts_with(['-', '(', '!']);
    let mut places: Vec<&ShellWord> = args.0.iter().take_while(starts).collect();
    let here = ShellWord::literal(".");
    if places.is_empty() {
        places.push(&here);
    }
    let danger = lost("find -delete", segment, &places, ground);
    let narrows = tables::dangerous().find_narrows.iter().any(|option| args.has(option));
    if danger.severity == DangerSeverity::Total && narrows {
        return CommandDanger { severity: DangerSeverity::Loss, typed: None, ..danger };
    }
    danger
}

fn dd(segment: &CommandSegment, args: CommandArgs<'_>, ground: DangerContext<'_>) -> Option<CommandDanger> {
    let of = args.0.iter().find(|w| w.source.starts_with("of="))?;
    let value = |text: &String| text.chars().skip(3).collect::<String>();
    let file = ShellWord { source: value(&of.source), text: of.text.as_ref().map(value), glob: false };
    let harmless = file.text.as_ref().is_some_and(|t| super::is_harmless_device(Path::new(t)));
    (!harmless).then(|| lost("dd", segment, &[&file], ground))
}

fn mv(segment: &CommandSegment, args: CommandArgs<'_>, ground: DangerContext<'_>) -> Option<CommandDanger> {
    let operands = args.operands();
    let (last, sources) = operands.split_last()?;
    if last.is("/dev/null") {
        return Some(lost("mv ... /dev/null", segment, sources, ground));
    }
    let total = |word: &&&ShellWord| {
        targets(segment, word)
            .iter()
            .any(|t| !t.contents && t.path.as_deref().is_some_and(|p| is_total(p, ground)))
    };
    let whole: Vec<&ShellWord> = sources.iter().filter(total).copied().collect();
    if !whole.is_empty() {
        return Some(lost("mv", segment, &whole, ground));
    }
    written(segment, last, ground)
}

fn fetched(name: &str) -> CommandDanger {
    CommandDanger::unclear(&format!("`{name}` runs what another command prints"))
}

fn shell(name: &str, segment: &CommandSegment, args: CommandArgs<'_>) -> Option<CommandDanger> {
    if !segment.inner.is_empty() {
        return None;
    }
    if args.has_flag("-c") {
        return Some(CommandDanger::unclear(&format!("cannot determine what `{name} -c` runs")));
    }
    let operands = args.operands();
    if operands.first().is_some_and(|w| w.source.starts_with("<(")) {
        return Some(fetched(name));
    }
    let from_pipe = operands.is_empty()
        || args.has_flag("-s")
        || args.has_flag("--stdin")
        || args.has("-")
        || args.has("/dev/stdin");
    let here = segment.redirects.iter().any(|r| r.target.text.is_none() || r.kind == RedirectKind::Text);
    (from_pipe && (!segment.fed_by.is_empty() || here)).then(|| fetched(name))
}

fn interpreter(name: &str, segment: &CommandSegment, args: CommandArgs<'_>) -> Option<CommandDanger> {
    let table = &tables::dangerous().interpreters;
    let inline = table.inline.iter().any(|option| args.has(option));
    let mut texts =
        args.0.iter().map(|w| &w.source).chain(segment.redirects.iter().map(|r| &r.target.source));
    let says = texts.any(|text| table.deletes.iter().any(|deletes| text.contains(deletes)));
    let cluster = |text: &str| table.inline.iter().any(|option| is_inline(text, option));
    if says && (inline || args.options().any(cluster) || !segment.redirects.is_empty()) {
        return Some(CommandDanger::unclear(&format!("a `{name}` script on the line deletes files")));
    }
    let fed = segment.fed_by.iter().any(|program| table.fetchers.contains(program));
    let stdin = args.operands().is_empty() || args.has("-");
    (fed && stdin && !inline).then(|| fetched(name))
}

/// `option` alone, with its value, or in a cluster: `-pe`.
fn is_inline(text: &str, option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(_) => text.split('=').next() == Some(option),
        None => !text.starts_with("--") && text.contains(option.trim_start_matches('-')),
    }
}

/// Finds an SQL statement in the words, or in the input from a pipe or a redirection.
fn database(name: &str, segment: &CommandSegment, line: &str) -> Option<CommandDanger> {
    let words = segment.arguments().iter().map(ShellWord::shown);
    let redirected = segment.redirects.iter().map(|r| r.target.source.as_str());
    let mut said = words.chain(redirected).collect::<Vec<_>>().join(" ");
    // The input from a pipe is elsewhere in the line.
    if !segment.fed_by.is_empty() {
        said.push_str(line);
    }
    let said = said.to_ascii_lowercase();
    let squeezed = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let deletes_all = squeezed.contains("delete from") && !squeezed.contains(" where ");
    let drops = || tables::dangerous().databases.statements.iter().any(|drop| squeezed.contains(drop));
    (deletes_all || drops()).then(|| {
        CommandDanger::of(&format!("the statement for `{name}` destroys data"), DangerSeverity::Loss)
    })
}
