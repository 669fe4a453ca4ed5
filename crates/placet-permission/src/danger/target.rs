//! The targets of a destructive command, as absolute paths.

use super::verdict::{CommandDanger, DangerContext, DangerSeverity};
use crate::command;
use crate::command::{CommandSegment, RedirectKind, SegmentKind, ShellRedirect, ShellWord};
use std::path::{Path, PathBuf};

/// One operand: its path from one of the possible directories.
#[derive(Clone, Debug)]
pub(super) struct DangerTarget {
    pub(super) shown: String,
    /// `None` if it cannot be resolved.
    pub(super) path: Option<PathBuf>,
    /// A wildcard means everything in `path`, not `path` itself.
    pub(super) contents: bool,
}

/// The targets of `word`, from each directory in which the segment may run.
pub(super) fn targets(segment: &CommandSegment, word: &ShellWord) -> Vec<DangerTarget> {
    let unresolved = || {
        vec![DangerTarget {
            shown: format!("`{}` (cannot be resolved)", word.source),
            path: None,
            contents: false,
        }]
    };
    let Some(text) = word.text.as_deref() else { return unresolved() };
    let (base, contents, glob) = cut_at_glob(text, word.glob);
    let seen_from: Vec<PathBuf> = match &segment.dirs {
        _ if text.starts_with('/') => vec![PathBuf::from("/")],
        Some(dirs) => dirs.clone(),
        None => return unresolved(),
    };
    let one = |dir: &PathBuf| {
        let path = command::join(dir, base);
        let shown = match glob {
            Some(rest) => command::join(dir, base).join(rest).display().to_string(),
            None => path.display().to_string(),
        };
        // The part before a partial wildcard is not itself a target.
        let path = if glob.is_some() && !contents { path.join("?") } else { path };
        DangerTarget { shown, path: Some(path), contents }
    };
    seen_from.iter().map(one).collect()
}

/// The part before the first component with a wildcard, whether that component matches everything, and the rest.
fn cut_at_glob(text: &str, glob: bool) -> (&str, bool, Option<&str>) {
    let wild = |part: &str| part.contains(['*', '?', '[', '{']);
    if !glob {
        return (text, false, None);
    }
    let mut at = 0;
    for part in text.split('/') {
        if wild(part) {
            let rest = text.get(at..).unwrap_or_default();
            let all = matches!(part, "*" | ".*" | "**" | ".[!.]*" | "{*,.*}" | "{.*,*}" | ".??*" | "?*")
                || part.starts_with('{') && part.contains('*');
            let whole = all && rest.trim_end_matches('/').split('/').all(|p| wild(p) || p.is_empty());
            return (text.get(..at).unwrap_or_default(), whole, Some(rest));
        }
        at += part.len() + 1;
    }
    (text, false, None)
}

/// True if the loss of `path` includes a root, the home directory or the system.
pub(super) fn is_total(path: &Path, ground: DangerContext<'_>) -> bool {
    let shallow = path.components().count() <= 2 && path.is_absolute() && path != Path::new("/tmp");
    let above = |kept: &Path| command::normal(kept).starts_with(path);
    shallow
        || above(ground.cwd) && ground.roots.is_empty()
        || ground.roots.iter().any(|r| above(r))
        || ground.home.is_some_and(above)
}

/// The danger of the loss of all `operands`.
pub(super) fn lost(
    what: &str,
    segment: &CommandSegment,
    operands: &[&ShellWord],
    ground: DangerContext<'_>,
) -> CommandDanger {
    let targets: Vec<DangerTarget> = operands.iter().flat_map(|word| targets(segment, word)).collect();
    let mut danger = CommandDanger::of(&format!("`{what}` destroys data"), DangerSeverity::Loss);
    for target in targets {
        match &target.path {
            None => danger.severity = danger.severity.max(DangerSeverity::Unclear),
            Some(path) if is_total(path, ground) => {
                danger.severity = DangerSeverity::Total;
                let word =
                    if path.parent().is_none() { "everything".into() } else { path.display().to_string() };
                danger.typed.get_or_insert(word);
            }
            Some(_) => {}
        }
        let shown = if target.contents { format!("everything in {}", parent(&target)) } else { target.shown };
        if !danger.targets.contains(&shown) {
            danger.targets.push(shown);
        }
    }
    danger
}

fn parent(target: &DangerTarget) -> String {
    target.path.as_deref().map_or_else(|| target.shown.clone(), |p| p.display().to_string())
}

/// True for devices that discard or print what is written to them.
pub(crate) fn is_harmless_device(path: &Path) -> bool {
    let text = path.to_string_lossy();
    matches!(&*text, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/full" | "/dev/stdin")
        || text.starts_with("/dev/fd/")
}

/// Files that `>` empties, devices that it overwrites, and protected files that `>` and `>>` change.
pub(super) fn of_redirects(segment: &CommandSegment, ground: DangerContext<'_>) -> Option<CommandDanger> {
    let empties = segment.kind == SegmentKind::Simple && prints_nothing(segment);
    let danger = |redirect: &ShellRedirect| match redirect.kind {
        RedirectKind::Write if empties => {
            let harmless = redirect.target.text.as_deref().is_some_and(|t| is_harmless_device(Path::new(t)));
            let what = format!("{} > {}", segment.source(), redirect.target.source);
            (!harmless).then(|| lost(&what, segment, &[&redirect.target], ground))
        }
        RedirectKind::Write | RedirectKind::Append => written(segment, &redirect.target, ground),
        RedirectKind::Read | RedirectKind::Text => None,
    };
    segment.redirects.iter().filter_map(danger).reduce(CommandDanger::and)
}

/// The danger of a write to `word`: a device, or a file that something runs later.
pub(super) fn written(
    segment: &CommandSegment,
    word: &ShellWord,
    ground: DangerContext<'_>,
) -> Option<CommandDanger> {
    targets(segment, word).into_iter().find_map(|target| {
        let path = target.path?;
        let device = path.starts_with("/dev") && !is_harmless_device(&path) && !path.starts_with("/dev/shm");
        let what = match () {
            () if device => format!("writing to `{}` destroys the data on it", path.display()),
            () if ground.is_protected(&path) => {
                format!("`{}` is protected: programs run commands from it", path.display())
            }
            () => return None,
        };
        Some(CommandDanger {
            targets: vec![path.display().to_string()],
            ..CommandDanger::of(&what, DangerSeverity::Loss)
        })
    })
}

fn prints_nothing(segment: &CommandSegment) -> bool {
    match segment.program() {
        None => segment.words.is_empty() && segment.assignments.is_empty(),
        Some(":" | "true") => true,
        Some("cat" | "cp") => segment.arguments().first().is_some_and(|w| w.is("/dev/null")),
        _ => false,
    }
}
