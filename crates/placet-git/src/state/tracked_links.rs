//! The links that an index of the person's lists.

use super::index::{IndexEntry, parse};
use crate::error::Result;
use crate::runner::{GitCall, PlainRunner, run_one};
use std::path::{Path, PathBuf};

/// The mode of a link as every version of an index has it: four bytes of each entry.
const LINK: [u8; 4] = [0, 0, 0xa0, 0];
/// An index with this extension has most of its entries in another file.
const SPLIT: &[u8] = b"link";

/// The links among the tracked files of the repository whose `.git`, a directory or a file, is in `work_tree`: paths below
/// it. `index` has the bytes of the index: git is asked only where it may list one.
pub fn tracked_links(work_tree: &Path, index: &[u8]) -> Result<Vec<PathBuf>> {
    let may_have = [&LINK[..], SPLIT].iter().any(|sign| memchr::memmem::find(index, sign).is_some());
    if !may_have {
        return Ok(Vec::new());
    }
    let call = GitCall::new(&work_tree.join(".git"), ["ls-files", "-s", "-v", "-z"]);
    let output = run_one(&PlainRunner, GitCall { directory: work_tree.to_path_buf(), ..call })?;
    let entries = parse(&output.stdout)?;
    let is_link = |entries: &[IndexEntry]| entries.iter().any(|entry| entry.mode.as_bytes() == b"120000");
    let links = entries.iter().filter(|(_, entries)| is_link(entries));
    Ok(links.map(|(path, _)| work_tree.join(path.as_path())).collect())
}
