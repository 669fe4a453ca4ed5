//! Programs that destroy files or run what cannot be seen.

use super::target::{is_total, lost, targets, written};
use super::{CommandDanger, DangerContext, DangerSeverity, git};
use crate::permission::command::{CommandSegment, ShellWord};
use std::path::Path;

const SHELLS: &[&str] = crate::permission::command::SHELLS;
const INTERPRETERS: &[&str] =
    &["python", "python3", "python2", "node", "perl", "ruby", "php", "deno", "bun", "lua"];

pub(super) fn danger(segment: &CommandSegment, ground: DangerContext<'_>) -> Option<CommandDanger> {
    if segment.words.is_empty() {
        return None;
    }
    let Some(name) = name_of(segment) else {
        let what =
            format!("cannot determine what `{}` runs", segment.words.first().map_or("", |w| &w.source));
        return Some(CommandDanger::of(&what, DangerSeverity::Unclear));
    };
    let args = CommandArgs(segment.arguments());
    let lists = |w: &ShellWord| w.glob && w.text.is_none() && w.source.contains('{');
    if matches!(name.as_str(), "git" | "find" | "dd" | "kubectl" | "docker") && args.0.iter().any(lists) {
        let what = format!("cannot determine which options a brace list gives to `{name}`");
        return Some(CommandDanger::of(&what, DangerSeverity::Unclear));
    }
    let says = |what: &str| Some(lost(what, segment, &[], ground));
    match name.as_str() {
        "rm" | "unlink" | "rimraf" => rm(&name, segment, args, ground),
        "find" if args.has("-delete") => find(segment, args, ground),
        "dd" => {
            let of = args.0.iter().find(|w| w.source.starts_with("of="))?;
            let file = ShellWord {
                source: of.source.chars().skip(3).collect(),
                text: of.text.as_ref().map(|t| t.chars().skip(3).collect()),
                glob: false,
            };
            let harmless = |t: &String| super::is_harmless_device(Path::new(t));
            if file.text.as_ref().is_some_and(harmless) {
                None
            } else {
                Some(lost("dd", segment, &[&file], ground))
            }
        }
        "fdisk" | "sfdisk" | "parted" | "gdisk" if args.has("-l") || args.has("--list") => None,
        "shred" | "wipefs" | "fdisk" | "sfdisk" | "parted" | "gdisk" | "blkdiscard" | "mkswap" | "srm"
        | "wipe" => Some(lost(&name, segment, &args.operands(), ground)),
        "truncate" => {
            let sizes =
                |at: usize| at > 0 && args.0.get(at - 1).is_some_and(|w| w.is("-s") || w.is("--size"));
            let files = args.0.iter().enumerate().filter(|(at, w)| !w.source.starts_with('-') && !sizes(*at));
            Some(lost("truncate", segment, &files.map(|(_, w)| w).collect::<Vec<_>>(), ground))
        }
        name if name.starts_with("mkfs") || name == "mke2fs" => {
            Some(lost(name, segment, &args.operands(), ground))
        }
        "chmod" | "chown" | "chgrp" | "setfacl" if args.flag('R', "--recursive") => {
            let operands = args.operands();
            Some(lost(&format!("{name} -R"), segment, operands.get(1..).unwrap_or_default(), ground))
        }
        "mv" => mv(segment, args, ground),
        "cp" | "install" | "ln" | "tee" => {
            if name == "cp" && args.0.iter().any(|w| w.is("/dev/null")) {
                let operands = args.operands();
                return Some(lost("cp /dev/null", segment, operands.get(1..).unwrap_or_default(), ground));
            }
            let aimed: Vec<&ShellWord> = match name.as_str() {
                "tee" => args.operands(),
                _ => args.operands().last().copied().into_iter().collect(),
            };
            aimed.into_iter().find_map(|word| written(segment, word, ground))
        }
        "rsync" if args.0.iter().any(|w| w.source.starts_with("--del") || w.is("--remove-source-files")) => {
            let last = args.operands().last().copied();
            Some(lost("rsync --delete", segment, &last.into_iter().collect::<Vec<_>>(), ground))
        }
        "tar" if args.has("--remove-files") => says("tar --remove-files"),
        "git" => git::danger(segment, args),
        "kill" => kill(args),
        "crontab" if args.flag('r', "--remove") => says("crontab -r"),
        "shutdown" | "reboot" | "poweroff" | "halt" => {
            Some(CommandDanger::of(&format!("`{name}` stops the machine"), DangerSeverity::Loss))
        }
        "eval" if segment.inner.is_empty() && !args.0.is_empty() => {
            Some(CommandDanger::of("cannot determine what `eval` runs", DangerSeverity::Unclear))
        }
        "source" | "." if args.0.first().is_some_and(|w| w.source.starts_with("<(")) => fetched(&name),
        name if SHELLS.contains(&name) => shell(name, segment, args),
        name if INTERPRETERS.contains(&name) => interpreter(name, segment, args),
        _ => None,
    }
}

/// The program; of `$(npm bin)/eslint` the part that is certain.
fn name_of(segment: &CommandSegment) -> Option<String> {
    if let Some(name) = segment.program() {
        return Some(name.to_string());
    }
    let source = &segment.words.first()?.source;
    let (_, name) = source.rsplit_once('/')?;
    let plain = !name.is_empty() && !name.contains(['$', '`', ')', '{', '}', '*', '?', '[', ' ']);
    plain.then(|| name.to_string())
}

/// The words behind a program.
#[derive(Clone, Copy)]
pub(super) struct CommandArgs<'a>(pub(super) &'a [ShellWord]);

impl<'a> CommandArgs<'a> {
    pub(super) fn has(self, text: &str) -> bool {
        self.0.iter().any(|w| w.is(text))
    }

    /// An option by its letter, alone or in a cluster, or by its long name.
    pub(super) fn flag(self, short: char, long: &str) -> bool {
        self.options().any(|text| {
            text == long || !text.starts_with("--") && text.starts_with('-') && text.contains(short)
        })
    }

    fn options(self) -> impl Iterator<Item = &'a str> {
        let texts = self.0.iter().filter_map(|w| w.text.as_deref());
        texts.take_while(|t| *t != "--").filter(|t| t.starts_with('-') && t.len() > 1)
    }

    /// What is no option, as far as that shows.
    pub(super) fn operands(self) -> Vec<&'a ShellWord> {
        let mut ended = false;
        let mut out = Vec::new();
        for word in self.0 {
            match word.text.as_deref() {
                Some("--") if !ended => ended = true,
                Some(text) if !ended && text.starts_with('-') && text.len() > 1 => {}
                _ => out.push(word),
            }
        }
        out
    }
}

/// `-r` and wildcards always; `-f` and plain ones only where a target is not one known file of the workspace.
fn rm(
    name: &str,
    segment: &CommandSegment,
    args: CommandArgs<'_>,
    ground: DangerContext<'_>,
) -> Option<CommandDanger> {
    let recursive = args.flag('r', "--recursive") || args.flag('R', "--recursive") || name == "rimraf";
    let operands = args.operands();
    let inside = |path: &Path| ground.roots.iter().any(|r| path.starts_with(r)) && !ground.is_protected(path);
    let known = |word: &&ShellWord| {
        let all = targets(segment, word);
        all.iter().all(|t| !t.contents && t.path.as_deref().is_some_and(inside))
    };
    if !recursive && operands.iter().all(known) {
        return None;
    }
    if operands.is_empty() {
        return None;
    }
    Some(lost(&segment.source(), segment, &operands, ground))
}

fn find(segment: &CommandSegment, args: CommandArgs<'_>, ground: DangerContext<'_>) -> Option<CommandDanger> {
    let starts = |w: &&ShellWord| !w.source.starts_with(['-', '(', '!']);
    let mut places: Vec<&ShellWord> = args.0.iter().take_while(starts).collect();
    let here = ShellWord::literal(".");
    if places.is_empty() {
        places.push(&here);
    }
    let mut danger = lost("find -delete", segment, &places, ground);
    const NARROWS: &[&str] = &[
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-newer",
        "-mtime",
        "-mmin",
        "-size",
        "-empty",
    ];
    if danger.severity == DangerSeverity::Total && args.0.iter().any(|w| NARROWS.iter().any(|n| w.is(n))) {
        danger = CommandDanger { severity: DangerSeverity::Loss, typed: None, ..danger };
    }
    Some(danger)
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

fn kill(args: CommandArgs<'_>) -> Option<CommandDanger> {
    let all = args.0.iter().skip(1).any(|w| w.is("-1"));
    all.then(|| {
        CommandDanger::of("`kill -1` ends every process you own", DangerSeverity::Total).typing("everything")
    })
}

fn fetched(name: &str) -> Option<CommandDanger> {
    Some(CommandDanger::of(&format!("`{name}` runs what another command prints"), DangerSeverity::Unclear))
}

fn shell(name: &str, segment: &CommandSegment, args: CommandArgs<'_>) -> Option<CommandDanger> {
    if !segment.inner.is_empty() {
        return None;
    }
    let script = args.options().any(|t| !t.starts_with("--") && t.contains('c'));
    if script {
        return Some(CommandDanger::of(
            &format!("cannot determine what `{name} -c` runs"),
            DangerSeverity::Unclear,
        ));
    }
    let operands = args.operands();
    if operands.first().is_some_and(|w| w.source.starts_with("<(")) {
        return fetched(name);
    }
    let from_pipe =
        operands.is_empty() || args.flag('s', "--stdin") || args.has("-") || args.has("/dev/stdin");
    let here = segment
        .redirects
        .iter()
        .any(|r| r.target.text.is_none() || r.kind == crate::permission::command::RedirectKind::Text);
    if from_pipe && (!segment.fed_by.is_empty() || here) { fetched(name) } else { None }
}

fn interpreter(name: &str, segment: &CommandSegment, args: CommandArgs<'_>) -> Option<CommandDanger> {
    const DESTROYS: &[&str] = &[
        "rmtree",
        "rmSync",
        "os.remove",
        "os.unlink",
        "unlinkSync",
        "removedirs",
        "FileUtils.rm",
        "File.delete",
        "rm -r",
        "rm -f",
        "rimraf",
        "unlink(",
        "Deno.remove",
        "fs.rm(",
    ];
    let inline = args.0.iter().any(|w| ["-c", "-e", "--eval", "-p", "-r"].iter().any(|f| w.is(f)));
    let texts = args.0.iter().map(|w| &w.source).chain(segment.redirects.iter().map(|r| &r.target.source));
    let says = texts.into_iter().any(|text| DESTROYS.iter().any(|d| text.contains(d)));
    if says && (inline || !segment.redirects.is_empty()) {
        return Some(CommandDanger::of(
            &format!("a `{name}` script on the line deletes files"),
            DangerSeverity::Unclear,
        ));
    }
    let fed = segment
        .fed_by
        .iter()
        .any(|p| matches!(p.as_str(), "curl" | "wget" | "fetch" | "nc" | "base64" | "ssh"));
    let stdin = args.operands().is_empty() || args.has("-");
    if fed && stdin && !inline { fetched(name) } else { None }
}
