//! What is staged and is not in the file of the work tree: nobody sees it in the difference of a file.

use super::super::{LayerKind, View};
use super::binary_sizes::with_binary_sizes;
use super::pending_repository::StagedOnly;
use super::read_repository::add_identity;
use crate::hash::Hash;
use crate::repository::WorkTree;
use placet_git::{
    CheckoutName, GitError, GitName, GitRunner, IndexEntry, IndexFact, ObjectFormat, RepositoryQuestion,
    RepositoryRows, StagedKind,
};
use placet_text::text::count;
use placet_text::text::patch::quoted;
use sha1::Digest;
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Files whose staged content is shown. The others are counted.
const MOST: usize = 50;
/// Bytes of lost contents that are shown.
const LARGEST_LOST: usize = 1 << 20;
/// The largest file that is compared. A larger one is shown.
const LARGEST: u64 = 16 << 20;

impl View {
    /// For each checkout whose index changed.
    pub(super) fn staged_contents(
        &self,
        git_dir: &Path,
        (question, rows): (&RepositoryQuestion, &mut RepositoryRows),
        runner: &dyn GitRunner,
    ) -> Result<BTreeMap<CheckoutName, StagedOnly>, GitError> {
        let main = WorkTree::of(git_dir);
        let mut found = BTreeMap::new();
        for (checkout, facts) in &mut rows.index {
            let place = match checkout {
                CheckoutName::Main => main.place().map(Path::to_path_buf),
                // What is registered may be anywhere: files outside of the workspace are not looked at.
                CheckoutName::Linked(name) => {
                    question.worktree_path(name).filter(|place| self.locate(place).is_some())
                }
            };
            let staged = self.staged_content(place.as_deref(), (question, facts), runner)?;
            found.insert(checkout.clone(), staged);
        }
        Ok(found)
    }

    fn staged_content(
        &self,
        tree: Option<&Path>,
        (question, facts): (&RepositoryQuestion, &mut Vec<IndexFact>),
        runner: &dyn GitRunner,
    ) -> Result<StagedOnly, GitError> {
        let mut found = StagedOnly::default();
        let format = question.agent.format.objects;
        let compared = facts.iter().filter(|fact| fact.loses_staged || fact.state == StagedKind::Staged);
        found.compared =
            compared.filter_map(|fact| tree.map(|tree| tree.join(fact.path.as_path()))).collect();
        found.state = Some(self.state_of_files(&found.compared));
        // What a file has, in the view or in the workspace, is shown with the file.
        for fact in facts.iter_mut().filter(|fact| fact.loses_staged) {
            let Some(entry) = content_of(fact.moved.before.as_deref()) else { continue };
            let file = tree.map(|tree| tree.join(fact.path.as_path()));
            let is_there = |file: &PathBuf| {
                self.has_content(file, entry, format) || is_content(&file_content(file), entry, format)
            };
            fact.loses_staged = !file.as_ref().is_some_and(is_there);
            if fact.loses_staged && found.lost.len() < LARGEST_LOST {
                found.lost.extend(patch_between(
                    &fact.path,
                    fact.moved.before.as_deref(),
                    fact.moved.after.as_deref(),
                    question,
                    runner,
                )?);
            }
        }
        let mut shown = 0;
        for fact in facts.iter().filter(|fact| fact.state == StagedKind::Staged) {
            let Some(entry) = content_of(fact.moved.after.as_deref()) else { continue };
            let is_same = |tree: &Path| self.has_content(&tree.join(fact.path.as_path()), entry, format);
            if tree.is_some_and(is_same) {
                continue;
            }
            shown += 1;
            match shown > MOST {
                true => found.left_out += 1,
                false => {
                    let (before, after) = (fact.moved.before.as_deref(), fact.moved.after.as_deref());
                    found.patch.extend(patch_between(&fact.path, before, after, question, runner)?);
                }
            }
        }
        Ok(found)
    }

    /// Whether the files are the same with which the staged contents were compared.
    pub(super) fn has_same_files(&self, staged: &StagedOnly) -> bool {
        staged.state.is_none_or(|state| self.state_of_files(&staged.compared) == state)
    }

    /// What the files are in the view and in the workspace.
    fn state_of_files(&self, files: &[PathBuf]) -> Hash {
        let mut hasher = blake3::Hasher::new();
        for file in files {
            // A file that is missing adds nothing: this tells one file from the next.
            hasher.update(b"view");
            for real in [self.real_file(file).as_deref(), Some(file)].into_iter().flatten() {
                add_identity(&mut hasher, real);
            }
        }
        hasher.finalize()
    }

    /// Whether the file would have the content of an entry.
    pub(super) fn has_content(&self, path: &Path, entry: &IndexEntry, format: ObjectFormat) -> bool {
        self.real_file(path).is_some_and(|real| is_content(&file_content(&real), entry, format))
    }

    /// The file that is at `path` in the view.
    fn real_file(&self, path: &Path) -> Option<PathBuf> {
        let (index, rel) = self.locate(path)?;
        self.stack_of(self.layer_set(LayerKind::Pending), index).real(&rel).ok().flatten()
    }
}

/// The bytes of a small file, or the target of a link.
fn file_content(path: &Path) -> Option<Vec<u8>> {
    let meta = path.symlink_metadata().ok()?;
    if meta.is_symlink() {
        return Some(std::fs::read_link(path).ok()?.into_os_string().into_vec());
    }
    let mut bytes = Vec::new();
    let file = placet_text::text::regular_file::open(path)
        .ok()
        .filter(|_| meta.is_file() && meta.len() <= LARGEST)?;
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Also where git would store the lines of the file with other ends.
fn is_content(bytes: &Option<Vec<u8>>, entry: &IndexEntry, format: ObjectFormat) -> bool {
    let Some(bytes) = bytes else { return false };
    let is_it = |bytes: &[u8]| {
        let head = format!("blob {}\0", bytes.len());
        let hash = match format {
            ObjectFormat::Sha1 => hex(&sha1::Sha1::new().chain_update(head).chain_update(bytes).finalize()),
            ObjectFormat::Sha256 => {
                hex(&sha2::Sha256::new().chain_update(head).chain_update(bytes).finalize())
            }
        };
        hash == entry.id.to_string()
    };
    is_it(bytes) || memchr::memchr(b'\r', bytes).is_some() && is_it(&with_plain_ends(bytes))
}

fn with_plain_ends(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => plain.extend([line, b"\n"].concat()),
            None => plain.extend(line),
        }
    }
    plain
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn content_of(entries: Option<&[IndexEntry]>) -> Option<&IndexEntry> {
    entries?.iter().find(|entry| entry.stage == 0 && !entry.is_submodule())
}

/// In git's form: git names the objects, and a person knows the file by its path.
fn patch_between(
    path: &GitName,
    before: Option<&[IndexEntry]>,
    after: Option<&[IndexEntry]>,
    question: &RepositoryQuestion,
    runner: &dyn GitRunner,
) -> Result<Vec<u8>, GitError> {
    let (a, b) = (quoted("a/", path.as_bytes()), quoted("b/", path.as_bytes()));
    let head = format!("diff --git {a} {b}\n");
    let (before, after) = (content_of(before), content_of(after));
    let (Some(before), Some(after)) = (before, after) else {
        let (mark, names, entry) = match (before, after) {
            (None, Some(entry)) => {
                ("+", format!("new file mode {}\n--- /dev/null\n+++ {b}\n", entry.mode.escaped()), entry)
            }
            (Some(entry), _) => {
                ("-", format!("deleted file mode {}\n--- {a}\n+++ /dev/null\n", entry.mode.escaped()), entry)
            }
            (None, None) => return Ok(Vec::new()),
        };
        let content = question.object(entry.id, runner)?;
        if content.contains(&0) {
            let side = if mark == "+" { "after" } else { "before" };
            let size = count::of(content.len(), "byte");
            return Ok(
                format!("{head}# {side}: not text, {size}\nBinary files {a} and {b} differ\n").into_bytes()
            );
        }
        let lines: Vec<&[u8]> =
            content.strip_suffix(b"\n").unwrap_or(&content).split(|byte| *byte == b'\n').collect();
        let number = lines.len();
        let range = if mark == "+" {
            format!("@@ -0,0 +1,{number} @@\n")
        } else {
            format!("@@ -1,{number} +0,0 @@\n")
        };
        let lines = lines.iter().flat_map(|line| [mark.as_bytes(), line, b"\n"].concat());
        return Ok([head, names, range].concat().into_bytes().into_iter().chain(lines).collect());
    };
    let patch = vec![question.blob_patch(before.id, after.id, runner)?];
    let patch = with_binary_sizes(patch, question, runner)?.concat();
    let body =
        memchr::memmem::find(&patch, b"\n@@ ").map_or(&[][..], |at| patch.get(at + 1..).unwrap_or_default());
    if body.is_empty() {
        let sizes = patch.split_inclusive(|byte| *byte == b'\n').filter(|line| line.starts_with(b"# "));
        let sizes = sizes.collect::<Vec<_>>().concat();
        let end = format!("Binary files {a} and {b} differ\n");
        return Ok([head.as_bytes(), &sizes, end.as_bytes()].concat());
    }
    let names = format!("--- {a}\n+++ {b}\n");
    Ok([head.as_bytes(), names.as_bytes(), body].concat())
}
