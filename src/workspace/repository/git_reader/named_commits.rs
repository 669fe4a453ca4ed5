//! Commits that files of git name besides the refs: those of a rebase that is not over, the one that `git rebase --abort` goes
//! back to, what was stashed for its end. git checks them out when the person goes on or gives up.

use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::repository_files::{RepositoryFiles, exists, read};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const LARGEST: u64 = 4 << 20;
/// A file of the person may name any number; those of git have a few for each step.
const MOST: usize = 20_000;
/// git takes no shorter name of an object.
const SHORTEST: usize = 4;

/// The files at the top of a repository, besides `MERGE_HEAD` and `MERGE_AUTOSTASH`.
pub(super) const TOP: [&str; 8] = [
    "ORIG_HEAD",
    "FETCH_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_HEAD",
    "BISECT_START",
    "BISECT_EXPECTED_REV",
];
/// Directories of operations that are not over.
pub(super) const OPERATIONS: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];
/// Lists of steps, which may have short names.
const LISTS: [&str; 2] = ["rebase-merge/git-rebase-todo", "sequencer/todo"];
/// git writes one whole name of a commit into each, and takes any expression for one.
const SINGLE: [&str; 5] = [
    "rebase-merge/onto",
    "rebase-merge/orig-head",
    "rebase-merge/squash-onto",
    "rebase-apply/onto",
    "rebase-apply/orig-head",
];
/// `git bisect reset` goes back to the branch or the commit in it.
const BISECT_START: &str = "BISECT_START";
/// Steps of a list whose next word is a commit, by their first letter or whole.
const PICKS: [&[u8]; 6] = [b"pick", b"reword", b"edit", b"squash", b"fixup", b"revert"];
const MERGES: [&[u8]; 2] = [b"merge", b"reset"];

/// Why what a file names is not known.
pub(super) enum NamesNotRead {
    File,
    Patches,
    Expression,
}

impl NamesNotRead {
    pub(super) fn words(&self) -> &'static str {
        match self {
            NamesNotRead::File => {
                "a file of an operation in progress is larger than 4 MB, or no regular file"
            }
            NamesNotRead::Patches => {
                "`git am` or `git rebase --apply` is in progress, and its patches are not read"
            }
            NamesNotRead::Expression => {
                "a file of an operation in progress has something else than the name of a commit"
            }
        }
    }
}

/// The commits that the changed file at `rel` names, which may be any of them by a short name.
pub(super) fn named_commits(
    files: &dyn RepositoryFiles,
    (dir, rel): (&Path, &Path),
    objects: &ObjectReader<'_>,
    width: usize,
) -> Result<BTreeSet<ObjectId>, NamesNotRead> {
    let is_top = TOP.iter().any(|name| rel == Path::new(name));
    let path = dir.join(rel);
    let is_directory = |path: PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    // An autostash is read more strictly.
    if rel.ends_with("autostash")
        || !is_top && !OPERATIONS.iter().any(|name| rel.starts_with(name))
        || !exists(files, &path)
        || files.real(&path).is_some_and(is_directory)
    {
        return Ok(BTreeSet::new());
    }
    let name = rel.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if rel.starts_with("rebase-apply") && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NamesNotRead::Patches);
    }
    let text = read(files, &path, LARGEST).ok_or(NamesNotRead::File)?;
    let is_whole = |word: &[u8]| word.len() == 2 * width && word.iter().all(u8::is_ascii_hexdigit);
    if SINGLE.iter().any(|single| rel == Path::new(single)) && !is_whole(text.trim_ascii()) {
        return Err(NamesNotRead::Expression);
    }
    if rel == Path::new(BISECT_START) {
        let name = text.trim_ascii();
        return Ok(of_name(name, objects, width).ok_or(NamesNotRead::Expression)?.into_iter().collect());
    }
    let is_list = LISTS.iter().any(|list| rel == Path::new(list));
    let lines = || text.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#"));
    if is_list && !lines().all(|line| is_step(line, width, &|label| is_label(files, dir, label, &text))) {
        return Err(NamesNotRead::Expression);
    }
    let mut found = BTreeSet::new();
    for line in lines() {
        let step = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        found.extend(words(line).filter(|word| is_whole(word)).filter_map(ObjectId::from_hex));
        for word in words(step).filter(|word| is_list && is_short(word, width)) {
            found.extend(objects.of_short_name(word));
        }
        if found.len() > MOST {
            return Err(NamesNotRead::File);
        }
    }
    Ok(found)
}

/// The objects that git may take the name of a branch or a commit for, besides the branch. `None` for an expression: git
/// writes none.
pub(super) fn of_name(name: &[u8], objects: &ObjectReader<'_>, width: usize) -> Option<Vec<ObjectId>> {
    let is_expression = name.iter().any(|byte| b"~^:*?[ ".contains(byte))
        || memchr::memmem::find(name, b"@{").is_some()
        || [b"@".as_slice(), b"-"].contains(&name);
    if is_expression {
        return None;
    }
    // As `git describe` writes it.
    let described = memchr::memmem::rfind(name, b"-g").and_then(|at| name.get(at + 2..));
    let names = [Some(name), described].into_iter().flatten();
    let of = |name: &[u8]| match ObjectId::from_hex(name) {
        Some(id) => vec![id],
        None if is_short(name, width) => objects.of_short_name(name),
        None => Vec::new(),
    };
    Some(names.flat_map(of).collect())
}

/// True for a line of a list of steps that names commits as git does, and nothing else.
fn is_step(line: &[u8], width: usize, is_label: &dyn Fn(&[u8]) -> bool) -> bool {
    let step = line.split(|byte| *byte == b'#').next().unwrap_or_default();
    let mut words = step.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(command) = words.next() else { return true };
    let is = |known: &[u8]| command == known || command.len() == 1 && known.starts_with(command);
    let is_commit = |word: &[u8]| {
        word.len() <= 2 * width && word.len() >= SHORTEST && word.iter().all(u8::is_ascii_hexdigit)
    };
    let mut words = words.filter(|word| !matches!(*word, b"-C" | b"-c"));
    if PICKS.into_iter().any(is) {
        return words.next().is_some_and(is_commit);
    }
    // `t` is short for `reset`, and `r` for `reword`.
    let is_merge = MERGES.contains(&command) || matches!(command, b"m" | b"t");
    !is_merge
        || step.trim_ascii().ends_with(b"[new root]")
        || words.all(|word| is_commit(word) || is_label(word))
}

/// True for a name that the list gives to one of its commits, or gave.
fn is_label(files: &dyn RepositoryFiles, dir: &Path, label: &[u8], list: &[u8]) -> bool {
    let named = |line: &[u8]| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        matches!(words.next(), Some(b"label" | b"l")) && words.next() == Some(label)
    };
    list.split(|byte| *byte == b'\n').any(named)
        || exists(files, &dir.join("refs/rewritten").join(OsStr::from_bytes(label)))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

fn is_short(word: &[u8], width: usize) -> bool {
    (SHORTEST..2 * width).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit)
}
