//! The commits that reflogs name: `git reset HEAD@{1}` and `git checkout -` go back to one.

use super::{ContentSearch, list};
use crate::workspace::repository::git_reader::compare::GitSides;
use crate::workspace::repository::git_reader::named_commits::of_name;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use std::collections::BTreeSet;
use std::path::Path;

/// A reflog of years.
const LARGEST: u64 = 64 << 20;
/// Commits of new lines. A rebase of a long branch writes some thousand.
const MOST: usize = 20_000;
/// It says where `HEAD` was.
const MOVED: &[u8] = b"checkout: moving from ";

impl ContentSearch<'_> {
    /// Looks at the lines that are new. The log of the stash is looked at by itself.
    pub(super) fn reflogs(&mut self, sides: &GitSides<'_>) {
        let logs = sides.changed.iter().filter_map(|(path, is_gone)| {
            let rel = path.strip_prefix(sides.dir).ok()?;
            let is_log = rel.starts_with("logs") && rel != Path::new("logs/refs/stash");
            is_log.then_some((*path, rel, *is_gone))
        });
        let logs: Vec<(&Path, &Path, bool)> = logs.collect();
        let before = |path: &Path| list(sides.before, path, LARGEST).unwrap_or_default();
        // A branch that gets another name takes its log along.
        let mut known = BTreeSet::new();
        for (path, ..) in &logs {
            known.extend(lines(&before(path)).flat_map(moved));
        }
        let width = self.after.objects.width();
        for (path, rel, is_gone) in logs {
            let real = sides.after.real(path).and_then(|path| path.symlink_metadata().ok());
            if is_gone || real.is_some_and(|found| found.is_dir()) {
                continue;
            }
            let Some(after) = list(sides.after, path, LARGEST) else {
                return self.not_read("a reflog is larger than 64 MB, or no regular file");
            };
            let before = before(path);
            let old: BTreeSet<&[u8]> = lines(&before).collect();
            let mut new = BTreeSet::new();
            for line in lines(&after).filter(|line| !old.contains(line)) {
                new.extend(moved(line));
                let Some(left) = left(line) else { continue };
                match of_name(left, &self.after.objects, width) {
                    Some(commits) => new.extend(commits),
                    None => return self.not_read("a reflog has something else than a branch or a commit"),
                }
            }
            new.retain(|id| !known.contains(id));
            if new.len() > MOST {
                return self.not_read("a reflog has more than 20,000 new commits");
            }
            for id in new {
                // git finds no commit under the others, either.
                if self.after.objects.get_of(&id, "commit").is_some() {
                    self.tip(rel, id, None);
                }
            }
        }
    }
}

fn lines(log: &[u8]) -> impl Iterator<Item = &[u8]> {
    log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// The two commits of a line: from where the ref moved, and to where.
fn moved(line: &[u8]) -> impl Iterator<Item = ObjectId> {
    let words = line.split(u8::is_ascii_whitespace).take(2);
    words.filter_map(ObjectId::from_hex).filter(|id| id.as_bytes().iter().any(|byte| *byte != 0))
}

/// What `HEAD` left, by its name.
fn left(line: &[u8]) -> Option<&[u8]> {
    let message = line.get(memchr::memchr(b'\t', line)? + 1..)?.strip_prefix(MOVED)?;
    message.get(..memchr::memmem::find(message, b" to ")?)
}
