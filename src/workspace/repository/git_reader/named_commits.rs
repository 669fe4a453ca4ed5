//! Commits that files of git name besides the refs: those of a rebase that is not over, the one that `git rebase --abort` goes
//! back to, what was stashed for its end. git checks them out when the person goes on or gives up.

use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::repository_files::{RepositoryFiles, exists, read};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const LARGEST: u64 = 4 << 20;
/// A reflog of years.
const LARGEST_LOG: u64 = 64 << 20;
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
/// It says from which commit `HEAD` moved: `git checkout -` moves it back.
pub(super) const LOG: &str = "logs/HEAD";
const MOVED: &[u8] = b"\tcheckout: moving from ";
/// Lists of steps, which may have short names.
const LISTS: [&str; 2] = ["rebase-merge/git-rebase-todo", "sequencer/todo"];

/// Why what a file names is not known.
pub(super) enum NamesNotRead {
    File,
    Patches,
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
    let is_log = rel == Path::new(LOG);
    let is_top = is_log || TOP.iter().any(|name| rel == Path::new(name));
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
    let text = read(files, &path, if is_log { LARGEST_LOG } else { LARGEST }).ok_or(NamesNotRead::File)?;
    let is_list = LISTS.iter().any(|list| rel == Path::new(list));
    let mut found = BTreeSet::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#")) {
        let line = match memchr::memmem::find(line, MOVED).filter(|_| is_log) {
            Some(at) => line.get(at + MOVED.len()..).unwrap_or_default(),
            None if is_log => continue,
            None => line,
        };
        let step = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        for word in words(line) {
            let is_name = word.len() == 2 * width && word.iter().all(u8::is_ascii_hexdigit);
            found.extend(ObjectId::from_hex(word).filter(|_| is_name));
        }
        for word in words(step).filter(|word| is_list && is_short(word, width)) {
            found.extend(objects.of_short_name(word));
        }
        if found.len() > MOST {
            return Err(NamesNotRead::File);
        }
    }
    Ok(found)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

fn is_short(word: &[u8], width: usize) -> bool {
    (SHORTEST..2 * width).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit)
}
