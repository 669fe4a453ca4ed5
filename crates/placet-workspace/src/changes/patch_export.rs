//! A change set as a patch that `git apply` and GNU `patch` take.
//!
//! The form is git's extended diff. Contents that are no text become git binary patches, which GNU `patch` passes over.
//! Directories on their own have no form in it: they are named in comments.

use super::change_set::{ChangeSet, FileChange};
use super::renames::RenamedFiles;
use crate::files::metadata::path_state::PathState;
use crate::files::metadata::shared_state::SharedState;
use crate::history::objects::ObjectStore;
use placet_text::text::patch::{quoted, unified, write_binary};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `set` without the own files of git repositories, and how many those are. git takes no path in `.git`, and `patch` no
/// binary file.
pub fn without_repositories(set: &ChangeSet) -> (ChangeSet, usize) {
    let part = set.part(|change| set.repository_of(&change.path).is_none());
    let left_out = set.len() - part.len();
    (part, left_out)
}

/// The patch of one path.
pub struct PathPatch {
    pub path: Arc<Path>,
    pub bytes: Vec<u8>,
    /// Bytes of the contents that the patch has no place for: they are too large, or not readable any more. The patch says
    /// so in a comment.
    pub missing: u64,
}

/// The whole of `set`, with paths relative to `root`; those elsewhere are named in a comment.
pub fn patch(set: &ChangeSet, objects: &ObjectStore, root: &Path) -> Vec<u8> {
    let name = |path: &Path| path.strip_prefix(root).ok().map(Path::to_path_buf);
    patches(set, objects, name).flat_map(|patch| patch.bytes).collect()
}

/// The patch of each path of `set`, for a person who decides on it: all of it is shown. placet may work in one of several
/// directories that the agent may change; what is not below `root` is named from `/`.
pub fn shown_patches<'a>(
    set: &'a ChangeSet,
    objects: &'a ObjectStore,
    root: &'a Path,
) -> impl Iterator<Item = PathPatch> + 'a {
    patches(set, objects, move |path| shown_name(path, root))
}

/// The patch of one of these paths; of a file that was moved, with both of its names. A link is in its row and not in the
/// patch, where its target would look like a line of the file.
pub fn shown_patch(
    set: &ChangeSet,
    change: &FileChange,
    renamed: &RenamedFiles,
    objects: &ObjectStore,
    root: &Path,
) -> PathPatch {
    let name = |path: &Path| shown_name(path, root);
    renamed
        .moved_from(change, set)
        .and_then(|old| rename_patch(old, change, objects, &name))
        .unwrap_or_else(|| patch_of(set, &without_links(change), objects, &name))
}

/// `None` where a side cannot be read.
fn rename_patch(
    old: &FileChange,
    change: &FileChange,
    objects: &ObjectStore,
    name: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Option<PathPatch> {
    let (from, to) = (name(&old.path)?, name(&change.path)?);
    let before = side(&old.before, contents(old, objects)?.0)?;
    let after = side(&change.after, contents(change, objects)?.1)?;
    let mut bytes = Vec::new();
    let words = beyond_git(change, Some(&old.before), &name);
    if !words.is_empty() {
        comment(&mut bytes, &format!("{}: {}", in_words(change, &to), words.join(", ")));
    }
    block((&from, &to), &in_words(change, &to), Some(&before), Some(&after), &mut bytes);
    Some(PathPatch { path: Arc::clone(&change.path), bytes, missing: 0 })
}

fn without_links(change: &FileChange) -> FileChange {
    let other = |node: &SharedState| match **node {
        PathState::Link { .. } => SharedState::default(),
        _ => node.clone(),
    };
    FileChange { before: other(&change.before), after: other(&change.after), ..change.clone() }
}

fn shown_name(path: &Path, root: &Path) -> Option<PathBuf> {
    path.strip_prefix(root).or(path.strip_prefix("/")).ok().map(Path::to_path_buf)
}

/// The patch of each path of `set`, with the name that `name` gives it; without a name it is a comment.
fn patches<'a>(
    set: &'a ChangeSet,
    objects: &'a ObjectStore,
    name: impl Fn(&Path) -> Option<PathBuf> + 'a,
) -> impl Iterator<Item = PathPatch> + 'a {
    set.changes.iter().map(move |change| patch_of(set, change, objects, &name))
}

fn patch_of(
    set: &ChangeSet,
    change: &FileChange,
    objects: &ObjectStore,
    name: &dyn Fn(&Path) -> Option<PathBuf>,
) -> PathPatch {
    let (mut bytes, mut missing) = (Vec::new(), 0);
    match name(&change.path) {
        Some(own) => {
            // git's two modes are not all that is applied.
            let words = beyond_git(change, set.moved_node(change), name);
            if !words.is_empty() {
                comment(&mut bytes, &format!("{}: {}", in_words(change, &own), words.join(", ")));
            }
            missing = one(change, &own, objects, &mut bytes);
        }
        None => comment(&mut bytes, &format!("outside this directory: {}", change.path.display())),
    }
    PathPatch { path: Arc::clone(&change.path), bytes, missing }
}

/// How a comment names the path that has `name` in the patch: `.` for the root, and the whole path of a file that is not
/// below it.
fn in_words(change: &FileChange, name: &Path) -> String {
    let is_elsewhere = change.path.strip_prefix("/").is_ok_and(|path| path == name);
    match name.as_os_str().is_empty() {
        true => ".".into(),
        false if is_elsewhere => change.path.display().to_string(),
        false => name.display().to_string(),
    }
}

/// What the patch itself has no form for: a new file that its owner may run is in it.
fn beyond_git(
    change: &FileChange,
    from: Option<&PathState>,
    name: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Vec<String> {
    let mut words = change.attribute_words(from);
    words.retain(|words| words != "mode 755" || change.after.is_directory());
    let shown = |path: &Path| name(path).unwrap_or_else(|| path.into()).display().to_string();
    words.extend(change.twin_words(&shown));
    words
}

fn comment(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(format!("# {}\n", text.replace('\n', " ")).as_bytes());
}

/// The content of a node as git sees it, and its mode.
fn side(node: &PathState, bytes: Option<Vec<u8>>) -> Option<(Vec<u8>, &'static str)> {
    match node {
        PathState::Link { target } => Some((target.as_bytes().to_vec(), "120000")),
        PathState::File { attrs, .. } => {
            // git looks at the owner's bit only.
            Some((bytes?, if attrs.mode & 0o100 != 0 { "100755" } else { "100644" }))
        }
        _ => None,
    }
}

/// Writes the patch of `change`. Returns the bytes of its contents that are not in it.
fn one(change: &FileChange, name: &Path, objects: &ObjectStore, out: &mut Vec<u8>) -> u64 {
    let shown = in_words(change, name);
    let slash = if name.as_os_str().is_empty() { "" } else { "/" };
    let words = match (&*change.before, &*change.after) {
        (PathState::Directory { .. }, PathState::Directory { .. }) => Some(format!("mode of {shown}{slash}")),
        (PathState::Directory { .. }, PathState::Absent) => {
            Some(format!("directory removed: {shown}{slash}"))
        }
        (PathState::Absent, PathState::Directory { .. }) => {
            Some(format!("directory created: {shown}{slash}"))
        }
        (_, PathState::Special { what, .. }) => Some(format!("{shown} is {what}: not in this patch")),
        _ => None,
    };
    if let Some(words) = words {
        comment(out, &words);
        return 0;
    }
    let Some((before, after)) = contents(change, objects) else {
        comment(
            out,
            &match change.is_too_large() {
                true => format!("{shown} is too large for a patch"),
                false => format!(
                    "{shown} cannot be shown: its content is not stored, and the file has changed since"
                ),
            },
        );
        return change.before.size().max(change.after.size()).max(1);
    };
    let (old, new) = (side(&change.before, before), side(&change.after, after));
    // git tells a file that becomes a link as one that goes and one that comes.
    let kinds = |s: &Option<(Vec<u8>, &str)>| s.as_ref().map(|(_, mode)| mode.starts_with("12"));
    match (kinds(&old), kinds(&new)) {
        (Some(a), Some(b)) if a != b => {
            block((name, name), &shown, old.as_ref(), None, out);
            block((name, name), &shown, None, new.as_ref(), out);
        }
        _ => block((name, name), &shown, old.as_ref(), new.as_ref(), out),
    }
    0
}

type ContentPair = (Option<Vec<u8>>, Option<Vec<u8>>);

fn contents(change: &FileChange, objects: &ObjectStore) -> Option<ContentPair> {
    let (before, after) = change.bytes(objects)?;
    Some((change.before.is_file().then_some(before), change.after.is_file().then_some(after)))
}

/// The difference of one path with the old and the new name `names`, which a comment calls `shown`.
fn block(
    names: (&Path, &Path),
    shown: &str,
    old: Option<&(Vec<u8>, &str)>,
    new: Option<&(Vec<u8>, &str)>,
    out: &mut Vec<u8>,
) {
    let is_renamed = names.0 != names.1;
    if let (Some(old), Some(new)) = (old, new)
        && old == new
        && !is_renamed
    {
        return comment(out, &format!("mode or owner of {shown}: not supported by git"));
    }
    let (from, name) = (names.0.as_os_str().as_bytes(), names.1.as_os_str().as_bytes());
    let (a, b) = (quoted("a/", from), quoted("b/", name));
    let line = |out: &mut Vec<u8>, text: &str| out.extend_from_slice(format!("{text}\n").as_bytes());
    line(out, &format!("diff --git {a} {b}"));
    match (old, new) {
        (None, Some((_, mode))) => line(out, &format!("new file mode {mode}")),
        (Some((_, mode)), None) => line(out, &format!("deleted file mode {mode}")),
        (Some((_, was)), Some((_, is))) if was != is => {
            line(out, &format!("old mode {was}"));
            line(out, &format!("new mode {is}"));
        }
        _ => {}
    }
    if is_renamed {
        line(out, &format!("rename from {}", quoted("", from)));
        line(out, &format!("rename to {}", quoted("", name)));
    }
    let empty = Vec::new();
    let before = old.map_or(&empty, |(bytes, _)| bytes);
    let after = new.map_or(&empty, |(bytes, _)| bytes);
    if before == after {
        return;
    }
    // What the list counts no lines of has no lines in the patch either.
    let is_binary = |bytes: &[u8]| bytes.contains(&0) || placet_text::text::is_binary(bytes);
    if is_binary(before) || is_binary(after) {
        write_binary(before, after, out);
        return;
    }
    let side = |side: Option<&(Vec<u8>, &str)>, name: &str| match side {
        Some(_) => name.to_string(),
        None => "/dev/null".into(),
    };
    // A tab ends a name with blanks, for GNU patch.
    let tab = |name: &[u8]| if name.contains(&b' ') { "\t" } else { "" };
    line(out, &format!("--- {}{}", side(old, &a), tab(from)));
    line(out, &format!("+++ {}{}", side(new, &b), tab(name)));
    unified(before, after, out);
}
