//! What a commit changes, or what else git stores, as a patch that a person can open.

use super::budget::ReadBudget;
use super::object_id::ObjectId;
use crate::text::count;
use crate::text::patch::{quoted, unified};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The patch of a commit against its first parent, in git's form. A text that is no file, such as the message of a tag, is
/// in it like a new file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitPatch {
    pub bytes: Vec<u8>,
    /// Bytes of it that are not in it, because the patches of all commits together are too large.
    pub left_out: usize,
    /// No name of git leads to what is in it: only who types the name of the object gets it.
    pub is_unreached: bool,
    /// Only a new line of a reflog leads to it: `git checkout -` takes it from there.
    pub is_logged: bool,
    /// There is more than was looked at, and nobody knows how much.
    pub is_cut: bool,
    /// It is what the index has for the next commit.
    pub is_staged: bool,
    /// Bytes at the beginning that are the message of the commit.
    pub message: usize,
    /// The files that the commit changes, each with its mode.
    pub(in crate::workspace) files: Vec<(PathBuf, u32)>,
    /// Those that a program runs or obeys later, each with the reason.
    pub runs_later: Vec<(PathBuf, String)>,
}

impl CommitPatch {
    /// Adds a file, with its mode on each side. A side without a mode does not exist.
    pub(super) fn add(
        &mut self,
        path: &[u8],
        modes: (Option<u32>, Option<u32>),
        contents: (&BlobContent, &BlobContent),
        budget: &ReadBudget,
    ) {
        let file = PathBuf::from(OsStr::from_bytes(path));
        self.files.extend(modes.1.or(modes.0).map(|mode| (file, mode)));
        self.section(path, modes, contents, budget);
    }

    /// Adds a content that is no file of a work tree.
    pub(super) fn add_content(&mut self, name: &str, content: &BlobContent, budget: &ReadBudget) {
        let none = BlobContent::Text(Vec::new());
        self.section(name.as_bytes(), (None, Some(TEXT_MODE)), (&none, content), budget);
    }

    /// Adds a file of git itself. A side that does not exist is `None`.
    pub(super) fn add_file_of_git(
        &mut self,
        path: &Path,
        (before, after): (Option<&BlobContent>, Option<&BlobContent>),
        budget: &ReadBudget,
    ) {
        let none = BlobContent::Text(Vec::new());
        let mode = |side: Option<&BlobContent>| side.map(|_| TEXT_MODE);
        let contents = (before.unwrap_or(&none), after.unwrap_or(&none));
        self.section(path.as_os_str().as_bytes(), (mode(before), mode(after)), contents, budget);
    }

    fn section(
        &mut self,
        path: &[u8],
        modes: (Option<u32>, Option<u32>),
        contents: (&BlobContent, &BlobContent),
        budget: &ReadBudget,
    ) {
        let (a, b) = (quoted("a/", path), quoted("b/", path));
        let mut part = format!("diff --git {a} {b}\n");
        match modes {
            (None, Some(mode)) => part.push_str(&format!("new file mode {mode:06o}\n")),
            (Some(mode), None) => part.push_str(&format!("deleted file mode {mode:06o}\n")),
            (Some(was), Some(is)) if was != is => {
                part.push_str(&format!("old mode {was:06o}\nnew mode {is:06o}\n"));
            }
            _ => {}
        }
        let mut part = part.into_bytes();
        match contents {
            (BlobContent::Text(before), BlobContent::Text(after)) if before == after => {}
            (BlobContent::Text(before), BlobContent::Text(after)) => {
                let side = |mode: Option<u32>, name| if mode.is_some() { name } else { "/dev/null".into() };
                let (old, new) = (side(modes.0, a), side(modes.1, b));
                part.extend_from_slice(format!("--- {old}\n+++ {new}\n").as_bytes());
                unified(before, after, &mut part);
            }
            (before, after) => {
                // Who reads only that they differ cannot tell a picture from a program of a megabyte.
                for (side, mode, content) in [("before", modes.0, before), ("after", modes.1, after)] {
                    let words = mode.map(|_| content.words());
                    part.extend(words.iter().flat_map(|words| format!("# {side}: {words}\n").into_bytes()));
                }
                part.extend_from_slice(format!("Binary files {a} and {b} differ\n").as_bytes());
            }
        }
        match budget.take_patch(part.len()) {
            true => self.bytes.extend(part),
            false => self.left_out += part.len(),
        }
    }

    /// Adds a file that only has another name.
    pub(super) fn add_rename(&mut self, (from, to): (&[u8], &[u8]), mode: u32, budget: &ReadBudget) {
        let file = |path| (PathBuf::from(OsStr::from_bytes(path)), mode);
        self.files.extend([file(from), file(to)]);
        // In the form in which a file that was renamed is listed.
        let part = format!(
            "diff --git {} {}\nrename from {}\nrename to {}\n",
            quoted("a/", from),
            quoted("b/", to),
            quoted("", from),
            quoted("", to)
        );
        match budget.take_patch(part.len()) {
            true => self.bytes.extend(part.into_bytes()),
            false => self.left_out += part.len(),
        }
    }

    /// Adds the sections of another patch.
    pub(super) fn append(&mut self, other: CommitPatch) {
        self.bytes.extend(other.bytes);
        self.left_out += other.left_out;
        self.files.extend(other.files);
    }

    /// True where nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.left_out == 0
    }
}

/// The mode of an ordinary file.
const TEXT_MODE: u32 = 0o100_644;

/// What a file of a commit contains, as far as it can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlobContent {
    Text(Vec<u8>),
    /// So many bytes with a zero among them.
    NotText(usize),
    /// Too many bytes to be shown.
    TooLarge(usize),
    /// A commit of another repository.
    Submodule(ObjectId),
    /// Missing, damaged, or larger than any object that is read.
    Unread,
}

impl BlobContent {
    pub(super) fn words(&self) -> String {
        match self {
            BlobContent::Text(bytes) => count::of(bytes.len(), "byte"),
            BlobContent::NotText(bytes) => format!("not text, {}", count::of(*bytes, "byte")),
            BlobContent::TooLarge(bytes) => format!("too large to be shown, {}", count::of(*bytes, "byte")),
            BlobContent::Submodule(commit) => format!("submodule at commit {}", commit.to_hex()),
            BlobContent::Unread => "larger than 16 MB, or cannot be read".into(),
        }
    }
}
