//! What a change set does to a repository, beyond which files change: settings, hooks and links to other places, each a
//! fact of its own, so that none of them hides among a hundred object files.

use super::RepositorySet;
use super::config::{GitSettings, LARGEST, settings};
use super::config_keys::{consequence, option_in, unknown};
use super::content_readers::{ContentReaders, ReadOutcome};
use super::detect::ALTERNATES;
pub(crate) use super::lexical::flat;
pub use super::repository_change::{RepositoryChange, RepositoryChangeKind, RepositoryFact, WorktreeFate};
use super::setting_places::{ChangedSetting, removed_consequence};
use crate::changes::change_set::FileChange;
use crate::files::metadata::path_state::PathState;
use placet_git::{GitFileClass, GitName, class_of};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The most facts of one repository that run nothing; the rest is counted. Those that run something are all there.
const MOST_HARMLESS: usize = 500;

/// The hooks that git runs (githooks(5)).
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// The facts about the repository at `repository`, of which `changes` are all changes.
pub(crate) fn facts_of(
    repository: &Path,
    fate: RepositoryChangeKind,
    changes: &[&FileChange],
    all: &RepositorySet,
    contents: &ContentReaders<'_>,
) -> RepositoryChange {
    let mut change =
        RepositoryChange { path: repository.to_path_buf(), fate, facts: Vec::new(), more_facts: 0 };
    if fate == RepositoryChangeKind::Removed {
        return change;
    }
    let mut facts = Vec::new();
    for (path, changed) in telling_files(repository, fate, changes, contents.exists) {
        let Some(base) = all.nearest(&path) else { continue };
        let Ok(rel) = path.strip_prefix(base) else { continue };
        about(&path, rel, changed, fate, contents, &mut facts);
        if let Some(change) = changed
            && let Some(why) = removed_meaning(change, rel, (contents.exists)(&base.join("HEAD")))
        {
            facts.push(RepositoryFact::Redirect { file: path.to_path_buf(), why });
        }
    }
    let (mut runs, mut others): (Vec<RepositoryFact>, Vec<_>) =
        facts.into_iter().partition(|fact| fact.runs().is_some());
    change.more_facts = others.len().saturating_sub(MOST_HARMLESS);
    others.truncate(MOST_HARMLESS);
    runs.append(&mut others);
    change.facts = runs;
    change
}

/// The files that may have facts: those that changed and, where a directory becomes a repository, those that git obeys
/// from now on although they did not change.
fn telling_files<'a>(
    repository: &Path,
    fate: RepositoryChangeKind,
    changes: &[&'a FileChange],
    exists: &dyn Fn(&Path) -> bool,
) -> Vec<(Arc<Path>, Option<&'a FileChange>)> {
    let mut files: Vec<(Arc<Path>, Option<&FileChange>)> =
        changes.iter().map(|change| (Arc::clone(&change.path), Some(*change))).collect();
    if fate == RepositoryChangeKind::Created {
        let known: BTreeSet<Arc<Path>> = files.iter().map(|(path, _)| Arc::clone(path)).collect();
        let settings =
            ["config", "config.worktree", "info/attributes", "info/grafts", ALTERNATES].map(PathBuf::from);
        let hooks = HOOKS.iter().map(|name| Path::new("hooks").join(name));
        let quiet = settings.into_iter().chain(hooks).map(|rel| repository.join(rel));
        let quiet = quiet.filter(|path| !known.contains(&**path) && exists(path));
        files.extend(quiet.map(|path| (path.into(), None)));
    }
    files
}

fn about(
    path: &Path,
    rel: &Path,
    change: Option<&FileChange>,
    fate: RepositoryChangeKind,
    contents: &ContentReaders<'_>,
    facts: &mut Vec<RepositoryFact>,
) {
    let file = path.to_path_buf();
    let gone = change.is_some_and(|c| c.after.is_absent());
    let directory = change.is_some_and(|c| c.after.is_directory());
    let names: Vec<&OsStr> = rel.components().filter_map(normal).collect();
    let names: Vec<&str> = names.iter().map(|name| name.to_str().unwrap_or("?")).collect();
    // No byte of any other file is applied: what it would mean to git does not matter.
    if fate == RepositoryChangeKind::Changed && !names.is_empty() && !is_applied_by_name(rel) {
        return;
    }
    match names.as_slice() {
        ["config" | "config.worktree"] => {
            settings_of(path, change, fate, contents, facts);
        }
        ["hooks"] if !directory && !gone => {
            facts.push(RepositoryFact::Redirect { file, why: "git runs the hooks that it leads to" });
        }
        // `git init` copies samples there, which git does not run.
        ["hooks", name, ..] if !directory && !name.ends_with(".sample") => {
            facts.push(RepositoryFact::Hook { file, removed: gone });
        }
        // Also one among git's own files, such as `objects`: git would read and write at the other end. A link that stays
        // in the repository gives files with plain names the meaning of its own name.
        [first, ..] if change.is_some_and(|c| leads_out(&c.after) || is_link(&c.after) && is_read(first)) => {
            facts.push(RepositoryFact::Redirect { file, why: "git follows this link to another place" });
        }
        ["gitdir"] | ["worktrees", _, "gitdir"] => worktree(path, change, contents, facts),
        // [`removed_meaning`] looks at them.
        _ if directory || gone => {}
        ["info", "attributes"] => facts.push(RepositoryFact::Redirect {
            file,
            why: "it sets which filters and drivers git runs on which files",
        }),
        _ if rel == Path::new(ALTERNATES) => {
            facts.push(RepositoryFact::Redirect {
                file,
                why: "git reads objects from the places that it names",
            });
        }
        ["remotes" | "branches", ..] => {
            facts.push(RepositoryFact::Redirect {
                file,
                why: "git fetches from and pushes to the place that it names",
            });
        }
        ["info", "grafts"] => {
            facts.push(RepositoryFact::Redirect { file, why: "it changes the history that git sees" });
        }
        ["commondir"] if is_usual_commondir(path, contents) => {}
        ["commondir"] => facts.push(RepositoryFact::Redirect {
            file,
            why: "git reads settings, hooks and objects from the place that it names",
        }),
        // A `.git` that is a file, or a link.
        [] if change.is_some_and(|c| c.after.is_file() || matches!(*c.after, PathState::Link { .. })) => {
            facts.push(RepositoryFact::Redirect {
                file,
                why: "git uses the repository at the place that it names",
            });
        }
        _ => {}
    }
}

/// A file that is applied where a person approves it by its name, and the registration of a worktree.
fn is_applied_by_name(rel: &Path) -> bool {
    matches!(class_of(&GitName::from(rel)), GitFileClass::OfGit | GitFileClass::Worktree(_))
        // As seen from the directory of a linked worktree.
        || ["gitdir", "commondir", "locked"].iter().any(|name| rel == Path::new(name))
}

/// What git does without a file that led it to something, where the file is gone or a directory now. Nothing where the
/// repository goes as well, as when a worktree is removed.
fn removed_meaning(change: &FileChange, rel: &Path, stays: bool) -> Option<&'static str> {
    let is_gone = change.after.is_absent() || change.after.is_directory();
    if !rel.as_os_str().is_empty() && !is_applied_by_name(rel) {
        return None;
    }
    if !is_gone || !change.before.counts_as_file() {
        return None;
    }
    let names: Option<Vec<&str>> = rel.iter().map(|name| name.to_str()).collect();
    match names?.as_slice() {
        [] => change.after.is_directory().then_some("git uses another repository than before"),
        _ if !stays => None,
        _ if rel == Path::new(ALTERNATES) => {
            Some("git no longer finds the objects in the places that it named")
        }
        ["info", "grafts"] => Some("it changes the history that git sees"),
        ["info", "attributes"] => Some("git no longer runs the filters and drivers that it set"),
        ["commondir"] => Some("git no longer finds the repository that it named"),
        ["remotes" | "branches", _, ..] => Some("git takes the name of this remote for a path now"),
        [first, ..] if is_link(&change.before) && is_read(first) => {
            Some("git no longer follows this link to another place")
        }
        _ => None,
    }
}

/// What git reads in its directory begins with one of these names.
fn is_read(first: &str) -> bool {
    const DIRECTORIES: [&str; 15] = [
        "branches",
        "common",
        "hooks",
        "info",
        "logs",
        "modules",
        "objects",
        "rebase-apply",
        "rebase-merge",
        "refs",
        "reftable",
        "remotes",
        "rr-cache",
        "sequencer",
        "worktrees",
    ];
    // Its files have upper case names, but for these.
    let is_file = first.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        || ["config", "config.worktree", "commondir", "gitdir", "index", "packed-refs", "shallow"]
            .contains(&first)
        || first.starts_with("sharedindex.");
    is_file || DIRECTORIES.contains(&first)
}

fn is_link(node: &PathState) -> bool {
    matches!(node, PathState::Link { .. })
}

/// A link to another place than below the directory that it is in.
fn leads_out(node: &PathState) -> bool {
    let PathState::Link { target } = node else { return false };
    Path::new(target).components().any(|part| normal(part).is_none())
}

fn normal(part: Component<'_>) -> Option<&OsStr> {
    match part {
        Component::Normal(name) => Some(name),
        _ => None,
    }
}

fn settings_of(
    path: &Path,
    change: Option<&FileChange>,
    fate: RepositoryChangeKind,
    contents: &ContentReaders<'_>,
    facts: &mut Vec<RepositoryFact>,
) {
    let unread = |why: String| RepositoryFact::Unread { file: path.to_path_buf(), why };
    if change.is_some_and(|c| matches!(*c.after, PathState::Link { .. })) {
        facts.push(unread("it is a link".into()));
        return;
    }
    let read = |read: ReadOutcome| match read {
        Ok(None) => Ok(GitSettings::new()),
        Ok(Some(bytes)) => match settings(&bytes) {
            (settings, None) => Ok(settings),
            (settings, Some(error)) => Err((settings, error.to_string())),
        },
        Err(why) => Err((GitSettings::new(), why.to_string())),
    };
    // Settings of a directory that was no repository had no effect: all of them are new.
    let known = fate != RepositoryChangeKind::Created;
    let is_new = !known || change.is_some_and(|c| c.before.is_absent());
    let before = if known { read((contents.before)(path, LARGEST)) } else { Ok(GitSettings::new()) };
    let before = before.unwrap_or_else(|(settings, _)| settings);
    let after = match read((contents.after)(path, LARGEST)) {
        Ok(after) => after,
        Err((after, why)) => {
            facts.push(unread(why));
            after
        }
    };
    // A repository has something in it, a file has not.
    let is_directory = |path: &Path| {
        let has = |name: &str| (contents.exists)(&path.join(name));
        has(".git") || has("HEAD")
    };
    let stays = (contents.exists)(&path.with_file_name("HEAD"));
    let keys: BTreeSet<&Vec<u8>> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let (old, new) = (before.get(key), after.get(key));
        let is_usual = || is_new && new.is_some_and(|values| is_of_git_init(key, values));
        if old == new || is_usual() {
            continue;
        }
        let name = String::from_utf8_lossy(key).into_owned();
        let fact = |value, consequence| RepositoryFact::Setting {
            file: path.to_path_buf(),
            key: name.clone(),
            value,
            consequence,
        };
        for value in new.into_iter().flatten() {
            let text = value.as_ref().map_or("true".into(), |v| String::from_utf8_lossy(v).into_owned());
            let value = value.as_deref();
            let (before, after, is_directory) = (&before, &after, &is_directory);
            let changed = ChangedSetting { key, value, before, after, is_new_file: is_new, is_directory };
            let why = consequence(key, value).or_else(|| changed.consequence());
            let why = why.or_else(|| unknown(key, is_new)).or_else(|| option_in(key, value));
            facts.push(fact(Some(text), why));
        }
        if new.is_none() && key == b"core.worktree" && has_work_tree(path, old, contents) {
            let why = "`core.worktree` is gone: its commits concern files at another place than before";
            facts.push(RepositoryFact::Redirect { file: path.to_path_buf(), why });
        } else if new.is_none() {
            let why = removed_consequence(key, &after).filter(|_| stays);
            facts.extend(why.map(|why| RepositoryFact::Redirect { file: path.to_path_buf(), why }));
            facts.push(fact(None, None));
        }
    }
}

/// True where the work tree that the settings at `path` named is still there: `git submodule deinit` removes it as well.
fn has_work_tree(path: &Path, named: Option<&Vec<Option<Vec<u8>>>>, contents: &ContentReaders<'_>) -> bool {
    let place = named.and_then(|values| values.last()?.as_deref());
    let (Some(place), Some(repository)) = (place, path.parent()) else { return false };
    (contents.exists)(&flat(&repository.join(OsStr::from_bytes(place))).join(".git"))
}

/// What `git init` writes into every repository.
fn is_of_git_init(key: &[u8], values: &[Option<Vec<u8>>]) -> bool {
    const USUAL: [(&[u8], &[u8]); 4] = [
        (b"core.bare", b"false"),
        (b"core.filemode", b"true"),
        (b"core.logallrefupdates", b"true"),
        (b"core.repositoryformatversion", b"0"),
    ];
    let [Some(value)] = values else { return false };
    USUAL.contains(&(key, value))
}

/// What `git worktree add` writes: the repository that the worktree's own directory lies in.
fn is_usual_commondir(path: &Path, contents: &ContentReaders<'_>) -> bool {
    let worktrees = path.ancestors().nth(2).is_some_and(|dir| dir.ends_with("worktrees"));
    worktrees && (contents.after)(path, 16).is_ok_and(|bytes| bytes.is_some_and(|b| b == b"../..\n"))
}

/// `gitdir` names the `.git` file of the worktree, absolute or from the directory that it is in.
fn worktree(
    path: &Path,
    change: Option<&FileChange>,
    contents: &ContentReaders<'_>,
    facts: &mut Vec<RepositoryFact>,
) {
    const LONGEST: u64 = 16 << 10;
    let goes = change.is_some_and(|change| change.after.is_absent());
    let parent = path.parent().unwrap_or(Path::new("/"));
    let directory = |bytes: Vec<u8>| {
        let text = bytes.split(|b| *b == b'\n').next().filter(|text| !text.is_empty())?;
        let named = Path::new(OsStr::new(std::str::from_utf8(text).unwrap_or_default()));
        Some(flat(&parent.join(named)).parent()?.to_path_buf())
    };
    let named = |is_before: bool| {
        let read = if is_before { contents.before } else { contents.after };
        read(path, LONGEST).ok().flatten().and_then(directory)
    };
    let file = path.to_path_buf();
    // `git worktree move` leaves no directory at the old place.
    let old = named(true).filter(|old| !goes && (contents.exists)(old) && named(false).as_ref() != Some(old));
    facts.extend(old.map(|directory| RepositoryFact::Worktree {
        file: file.clone(),
        directory,
        fate: WorktreeFate::Unregistered,
    }));
    let Some(directory) = named(goes) else { return };
    let exists = (contents.exists)(&directory);
    let was_there = || matches!((contents.before)(&directory.join(".git"), LONGEST), Ok(Some(_)));
    facts.push(match (goes, exists || goes && was_there()) {
        (true, true) => RepositoryFact::Worktree { file, directory, fate: WorktreeFate::Removed },
        (true, false) => RepositoryFact::Worktree { file, directory, fate: WorktreeFate::Pruned },
        (false, true) => RepositoryFact::Worktree { file, directory, fate: WorktreeFate::Added },
        (false, false) => RepositoryFact::MissingWorktree { file, directory },
    });
}
