//! What is staged and is not in the file of the work tree: nobody sees it in the difference of a file.

use super::super::{LayerKind, View};
use crate::permission::is_git_name;
use crate::text::patch::quoted;
use placet_git::{
    CheckoutName, GitError, GitRunner, IndexEntry, IndexFact, ObjectFormat, RepositoryQuestion,
    RepositoryRows, StagedState,
};
use sha1::Digest;
use std::io::Read;
use std::path::Path;

/// Files whose staged content is shown. The others are counted.
const MOST: usize = 50;
/// The largest file that is compared. A larger one is shown.
const LARGEST: u64 = 16 << 20;

/// The differences of what is staged, where it is not what the file of the work tree has.
#[derive(Debug, Default)]
pub(super) struct StagedContent {
    pub(super) patch: Vec<u8>,
    /// Files that are not shown.
    pub(super) left_out: usize,
}

impl View {
    pub(super) fn staged_content(
        &self,
        git_dir: &Path,
        (question, rows): (&RepositoryQuestion, &RepositoryRows),
        runner: &dyn GitRunner,
    ) -> Result<StagedContent, GitError> {
        let mut found = StagedContent::default();
        let tree = git_dir.parent().filter(|_| is_git_name(git_dir));
        let facts = rows.index.get(&CheckoutName::Main).into_iter().flatten();
        let mut shown = 0;
        for fact in facts.filter(|fact| fact.state == StagedState::Staged) {
            let Some(entry) = content_of(fact.moved.after.as_deref()) else { continue };
            let is_same = |tree: &Path| {
                self.has_content(&tree.join(fact.path.as_path()), entry, question.agent.format.objects)
            };
            if tree.is_some_and(is_same) {
                continue;
            }
            shown += 1;
            match shown > MOST {
                true => found.left_out += 1,
                false => found.patch.extend(patch_of(fact, entry, question, runner)?),
            }
        }
        Ok(found)
    }

    /// Whether the file would have the content of an entry.
    pub(super) fn has_content(&self, path: &Path, entry: &IndexEntry, format: ObjectFormat) -> bool {
        let Some((index, rel)) = self.locate(path) else { return false };
        let stack = self.stack_of(self.layer_set(LayerKind::Pending), index);
        let Ok(file) = stack.open(&rel) else { return false };
        let Ok(size) = file.metadata().map(|meta| meta.len()) else { return false };
        let mut bytes = Vec::new();
        if size > LARGEST || file.take(LARGEST).read_to_end(&mut bytes).is_err() {
            return false;
        }
        let head = format!("blob {}\0", bytes.len());
        let hash = match format {
            ObjectFormat::Sha1 => hex(&sha1::Sha1::new().chain_update(head).chain_update(&bytes).finalize()),
            ObjectFormat::Sha256 => {
                hex(&sha2::Sha256::new().chain_update(head).chain_update(&bytes).finalize())
            }
        };
        hash == entry.id.to_string()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn content_of(entries: Option<&[IndexEntry]>) -> Option<&IndexEntry> {
    entries?.iter().find(|entry| entry.stage == 0 && !entry.is_submodule())
}

fn patch_of(
    fact: &IndexFact,
    entry: &IndexEntry,
    question: &RepositoryQuestion,
    runner: &dyn GitRunner,
) -> Result<Vec<u8>, GitError> {
    let path = fact.path.as_bytes();
    let (a, b) = (quoted("a/", path), quoted("b/", path));
    let head = format!("diff --git {a} {b}\n");
    let Some(before) = content_of(fact.moved.before.as_deref()) else {
        let content = question.object(entry.id, runner)?;
        let lines: Vec<&[u8]> =
            content.strip_suffix(b"\n").unwrap_or(&content).split(|byte| *byte == b'\n').collect();
        let head = format!(
            "{head}new file mode {}\n--- /dev/null\n+++ {b}\n@@ -0,0 +1,{} @@\n",
            entry.mode.escaped(),
            lines.len()
        );
        let lines = lines.iter().flat_map(|line| [&b"+"[..], line, b"\n"].concat());
        return Ok(head.into_bytes().into_iter().chain(lines).collect());
    };
    // git names the objects there, and a person knows the file by its path.
    let patch = question.patch_between(before.id, entry.id, runner)?;
    let body =
        memchr::memmem::find(&patch, b"\n@@ ").map_or(&[][..], |at| patch.get(at + 1..).unwrap_or_default());
    let names = if body.is_empty() {
        format!("Binary files {a} and {b} differ\n")
    } else {
        format!("--- {a}\n+++ {b}\n")
    };
    Ok([head.as_bytes(), names.as_bytes(), body].concat())
}
