//! The files on the left: directories, files, how far each of them is decided.

use crate::review::content::file::ReviewFile;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use placet_text::text::width;
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewTreeNode {
    pub depth: usize,
    /// The last part of the name; several parts of directories that hold nothing else.
    pub label: String,
    /// The files in it: one for a file.
    pub files: Vec<usize>,
    pub is_dir: bool,
}

#[derive(Clone, Debug, Default)]
pub struct ReviewTree {
    pub nodes: Vec<ReviewTreeNode>,
    pub cursor: usize,
    /// Columns in which each name has room, with its marks and counts.
    pub wide: usize,
}

/// Columns around a name: the marks and the letter in front of it, its counts, the border.
const AROUND: usize = 16;

impl ReviewTree {
    pub fn of(files: &[ReviewFile], only: Option<&[usize]>) -> ReviewTree {
        let all: Vec<usize> = (0..files.len()).collect();
        let shown: Vec<usize> = only.unwrap_or(&all).to_vec();
        let mut nodes = Vec::new();
        let split: Vec<(usize, Vec<&str>)> = shown
            .iter()
            .filter_map(|f| Some((*f, files.get(*f)?.name.trim_end_matches('/').split('/').collect())))
            .collect();
        branch(&split, 0, 0, &mut nodes);
        let columns = |node: &ReviewTreeNode| 2 * node.depth + width::of(&node.label) + AROUND;
        let wide = nodes.iter().map(columns).max().unwrap_or(0);
        ReviewTree { nodes, cursor: 0, wide }
    }

    /// The row of a file.
    pub fn of_file(&self, file: usize) -> Option<usize> {
        self.nodes.iter().position(|node| !node.is_dir && node.files == [file])
    }
}

/// Appends what is at `level` of these names. Neighbours in the list that share a directory are in it together.
fn branch(files: &[(usize, Vec<&str>)], level: usize, depth: usize, out: &mut Vec<ReviewTreeNode>) {
    let mut at = 0;
    while let Some((file, parts)) = files.get(at) {
        let (Some(name), false) = (parts.get(level), parts.len() == level + 1) else {
            let label = parts.get(level..).unwrap_or_default().join("/");
            out.push(ReviewTreeNode { depth, label, files: vec![*file], is_dir: false });
            at += 1;
            continue;
        };
        let same = |level: usize, name: &str| {
            let rest = files.get(at..).unwrap_or_default().iter();
            rest.take_while(|(_, p)| p.get(level) == Some(&name) && p.len() > level + 1).count()
        };
        let count = same(level, name);
        let group = files.get(at..at + count).unwrap_or_default();
        // Directories that hold one directory only are one row.
        let (mut label, mut deep) = ((*name).to_string(), level + 1);
        while let Some(next) = group.first().and_then(|(_, p)| p.get(deep))
            && group.iter().all(|(_, p)| p.get(deep) == Some(next) && p.len() > deep + 1)
        {
            label = format!("{label}/{next}");
            deep += 1;
        }
        let files = group.iter().map(|(f, _)| *f).collect();
        out.push(ReviewTreeNode { depth, label, files, is_dir: true });
        branch(group, deep, depth + 1, out);
        at += count.max(1);
    }
}

/// The files whose names match `filter`, by the letters in their order; all of them for an empty one.
pub(in crate::review) fn matching(files: &[ReviewFile], filter: &str) -> BTreeSet<usize> {
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let pattern = Pattern::parse(filter, CaseMatching::Smart, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut is_match = |name: &str| pattern.score(Utf32Str::new(name, &mut buffer), &mut matcher).is_some();
    files.iter().enumerate().filter(|(_, file)| is_match(&file.name)).map(|(f, _)| f).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::content::file::{ReviewBody, WholeChange};

    fn files(names: &[&str]) -> Vec<ReviewFile> {
        let file = |name: &&str| ReviewFile {
            name: (*name).into(),
            path: format!("/w/{name}").into(),
            paths: Vec::new(),
            renamed: None,
            letter: 'M',
            facts: Vec::new(),
            care: Vec::new(),
            runs_later: None,
            decided_with: None,
            body: ReviewBody::Whole(WholeChange::default()),
            key: String::new(),
        };
        names.iter().map(file).collect()
    }

    #[test]
    fn directories_that_hold_one_thing_are_one_row() {
        let tree =
            ReviewTree::of(&files(&["a.txt", "src/ui/review/x.rs", "src/ui/review/y.rs", "src/z.rs"]), None);
        let rows: Vec<String> =
            tree.nodes.iter().map(|n| format!("{}{} {:?}", " ".repeat(n.depth), n.label, n.files)).collect();
        assert_eq!(
            rows,
            ["a.txt [0]", "src [1, 2, 3]", " ui/review [1, 2]", "  x.rs [1]", "  y.rs [2]", " z.rs [3]"]
        );
        assert_eq!(tree.of_file(2), Some(4));
    }

    #[test]
    fn a_filter_finds_names_by_their_letters() {
        let files = files(&["src/app.rs", "docs/guide.md", "src/apply.rs"]);
        assert_eq!(matching(&files, "sap"), BTreeSet::from([0, 2]));
        assert_eq!(matching(&files, ""), BTreeSet::from([0, 1, 2]));
        assert_eq!(matching(&files, "guide"), BTreeSet::from([1]));
    }
}
