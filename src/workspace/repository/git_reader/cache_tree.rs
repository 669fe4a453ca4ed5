//! The names of trees that an index keeps (gitformat-index(5), "Cache tree").
//!
//! git takes them for the next commit without looking at the entries, and neither `git status` nor `git diff --cached`
//! shows where they differ. So each of them is compared with the tree that the entries make.

use super::object_id::ObjectId;
use super::tree_diff::{DIRECTORY, TreeEntry};
use std::collections::BTreeMap;

/// Directories in each other. Others are not compared.
const DEEPEST: usize = 256;

/// A directory of the extension.
struct NamedTree<'e> {
    /// The number of its entries and its name, where it has one.
    named: Option<(usize, ObjectId)>,
    below: BTreeMap<&'e [u8], usize>,
}

/// A directory whose entries come.
struct OpenDirectory {
    /// Bytes of its path, with the slash at the end.
    length: usize,
    /// Its number among the named ones.
    node: Option<usize>,
    content: Vec<u8>,
    /// Its tree, if a sparse index has one entry for the whole directory.
    known: Option<ObjectId>,
    entries: usize,
    /// Nothing below is in conflict or only announced: git keeps no name for such a directory.
    is_whole: bool,
}

impl OpenDirectory {
    fn new(length: usize, node: Option<usize>) -> OpenDirectory {
        OpenDirectory { length, node, content: Vec::new(), known: None, entries: 0, is_whole: true }
    }

    fn add(&mut self, mode: u32, name: &[u8], id: &ObjectId) {
        self.content.extend_from_slice(format!("{mode:o} ").as_bytes());
        self.content.extend_from_slice(name);
        self.content.push(0);
        self.content.extend_from_slice(id.as_bytes());
    }
}

/// True where each tree that the extension names is what the entries make. They come in the order of their paths; one
/// without a content is in no tree.
pub(super) fn is_made_of<'n>(
    extension: &[u8],
    entries: impl Iterator<Item = (&'n [u8], Option<TreeEntry>)>,
    width: usize,
) -> bool {
    let is_made = |nodes| CacheCheck { nodes, width, right: 0, wrong: false }.run(entries);
    named_trees(extension, width).is_some_and(is_made)
}

/// The directories, the root first. `None` where the extension is damaged.
fn named_trees(extension: &[u8], width: usize) -> Option<Vec<NamedTree<'_>>> {
    let mut rest = extension;
    let mut nodes: Vec<NamedTree<'_>> = Vec::new();
    // The directories above the next one, each with the number of those that are still to come in it.
    let mut above: Vec<(usize, usize)> = Vec::new();
    loop {
        while above.last().is_some_and(|(_, left)| *left == 0) {
            above.pop();
        }
        if above.is_empty() && !nodes.is_empty() {
            return rest.is_empty().then_some(nodes);
        }
        let (name, after) = rest.split_at_checked(memchr::memchr(0, rest)?)?;
        let after = after.get(1..)?;
        let (numbers, after) = after.split_at_checked(memchr::memchr(b'\n', after)?)?;
        rest = after.get(1..)?;
        let (count, below) = std::str::from_utf8(numbers).ok()?.split_once(' ')?;
        let (count, below) = (count.parse::<i64>().ok()?, below.parse::<usize>().ok()?);
        let number = nodes.len();
        match above.last_mut() {
            None if !name.is_empty() => return None,
            None => {}
            Some((dir, left)) => {
                *left -= 1;
                if nodes.get_mut(*dir)?.below.insert(name, number).is_some() {
                    return None;
                }
            }
        }
        let mut named = None;
        // Below zero: the directory has no name.
        if let Ok(count) = usize::try_from(count) {
            let (id, after) = rest.split_at_checked(width)?;
            rest = after;
            named = Some((count, ObjectId::from_bytes(id)?));
        }
        nodes.push(NamedTree { named, below: BTreeMap::new() });
        above.push((number, below));
    }
}

struct CacheCheck<'e> {
    nodes: Vec<NamedTree<'e>>,
    width: usize,
    /// Names that are right.
    right: usize,
    wrong: bool,
}

impl CacheCheck<'_> {
    fn run<'n>(mut self, entries: impl Iterator<Item = (&'n [u8], Option<TreeEntry>)>) -> bool {
        let mut open = vec![OpenDirectory::new(0, Some(0))];
        let mut last: &[u8] = b"";
        for (path, entry) in entries {
            let is_left = |dir: &OpenDirectory| path.get(..dir.length) != last.get(..dir.length);
            while open.last().is_some_and(is_left) {
                self.close(&mut open, last);
            }
            last = path;
            let mut begin = open.last().map_or(0, |dir| dir.length);
            while let Some(length) = path.get(begin..).and_then(|rest| memchr::memchr(b'/', rest)) {
                if open.len() > DEEPEST {
                    return false;
                }
                let name = path.get(begin..begin + length).unwrap_or_default();
                let node = open.last().and_then(|dir| self.nodes.get(dir.node?)?.below.get(name).copied());
                begin += length + 1;
                open.push(OpenDirectory::new(begin, node));
            }
            let Some(dir) = open.last_mut() else { return false };
            dir.entries += 1;
            match entry {
                Some(staged) if path.ends_with(b"/") => dir.known = Some(staged.id),
                Some(staged) => dir.add(staged.mode, path.get(begin..).unwrap_or_default(), &staged.id),
                None => dir.is_whole = false,
            }
        }
        while !open.is_empty() {
            self.close(&mut open, last);
        }
        // A name that no entry belongs to is wrong, too.
        !self.wrong && self.right == self.nodes.iter().filter(|node| node.named.is_some()).count()
    }

    /// Ends the innermost directory, which is above `path`.
    fn close(&mut self, open: &mut Vec<OpenDirectory>, path: &[u8]) {
        let Some(dir) = open.pop() else { return };
        let id = dir.known.unwrap_or_else(|| ObjectId::of("tree", &dir.content, self.width));
        if let Some((entries, named)) = dir.node.and_then(|node| self.nodes.get(node)?.named) {
            let is_right = dir.is_whole && entries == dir.entries && named == id;
            self.right += usize::from(is_right);
            self.wrong |= !is_right;
        }
        if let Some(above) = open.last_mut() {
            let name = path.get(above.length..dir.length).and_then(|name| name.strip_suffix(b"/"));
            above.add(DIRECTORY, name.unwrap_or_default(), &id);
            above.entries += dir.entries;
            above.is_whole &= dir.is_whole;
        }
    }
}
