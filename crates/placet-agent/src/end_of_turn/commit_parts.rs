//! Which commits of a question change only what the differences of the listed files show. What another commit contains would
//! be applied unseen: a content that a later commit replaced or removed is in no file.

use placet_text::text::visible;
use placet_tools::FileDiff;
use placet_workspace::ListedChange;
use std::collections::HashSet;

/// How the part of a patch about one file begins.
const PART: &[u8] = b"diff --git ";
/// The line in place of the content of a binary file. Each line of a hunk has a sign in front.
const NO_CONTENT: &[u8] = b"\nBinary files ";

/// The parts of the patches of the listed files that are here whole. Files that git writes are explained by their rows, and
/// what a yes leaves out need not be read.
pub(super) fn parts_of_files<'a>(list: &[ListedChange], files: &'a [FileDiff]) -> HashSet<&'a [u8]> {
    let is_file = |file: &&FileDiff| {
        file.left_out.is_none()
            && list.get(file.row).is_some_and(|listed| !listed.is_of_git && !listed.is_left_out)
    };
    files.iter().filter(is_file).flat_map(|file| parts(&file.patch)).collect()
}

/// True where each part of a commit's patch is one of `known`, byte for byte. Never where a part has no content: it says the
/// same of any two binary files with one name.
pub(super) fn is_repeated(commit: &[u8], known: &HashSet<&[u8]>) -> bool {
    let has_content = |part: &[u8]| memchr::memmem::find(part, NO_CONTENT).is_none();
    parts(commit).all(|part| has_content(part) && known.contains(part))
}

/// The parts of a patch that others do not have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnParts {
    pub(super) patch: Vec<u8>,
    /// Of one part, the name of its file, rendered.
    pub(super) only_name: Option<String>,
}

/// The parts that `known` does not have; `None` where it has none of them.
pub(super) fn without_repeated(patch: &[u8], known: &HashSet<&[u8]>) -> Option<OwnParts> {
    let has_content = |part: &[u8]| memchr::memmem::find(part, NO_CONTENT).is_none();
    let (repeated, own): (Vec<&[u8]>, Vec<&[u8]>) =
        parts(patch).partition(|part| has_content(part) && known.contains(part));
    let only_name = match own.as_slice() {
        [one] => name_of(one),
        _ => None,
    };
    (!repeated.is_empty()).then(|| OwnParts { patch: own.concat(), only_name })
}

/// The new name in the first line of a part.
fn name_of(part: &[u8]) -> Option<String> {
    let line = part.split(|byte| *byte == b'\n').next()?;
    let at = memchr::memmem::rfind(line, b" b/").or_else(|| memchr::memmem::rfind(line, b" \"b/"))?;
    let name = String::from_utf8_lossy(line.get(at + 3..)?).into_owned();
    Some(visible::guard_line(name.trim_start_matches('/').trim_end_matches('"')).into_owned())
}

fn parts(patch: &[u8]) -> impl Iterator<Item = &[u8]> {
    // No line of a hunk begins like that: each has a sign in front.
    let is_start = |at: &usize| *at == 0 || patch.get(at - 1) == Some(&b'\n');
    let mut starts: Vec<usize> = memchr::memmem::find_iter(patch, PART).filter(is_start).collect();
    starts.push(patch.len());
    starts
        .into_iter()
        .scan(0, |from, to| Some(std::mem::replace(from, to)..to))
        .filter_map(|part| patch.get(part))
        .skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+diff --git a/b b/b\n";
    const B: &str = "diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n";

    const BINARY: &str = "diff --git a/p b/p\nBinary files a/p and b/p differ\n";

    fn file(row: usize, patch: &str) -> FileDiff {
        FileDiff { row, patch: patch.into(), ..FileDiff::default() }
    }

    #[test]
    fn a_commit_repeats_its_files_only_byte_for_byte() {
        let list = [ListedChange::default(), ListedChange { is_of_git: true, ..ListedChange::default() }];
        let files = [
            file(0, &format!("# mode: from 100644\n{A}{BINARY}")),
            file(0, B),
            file(1, "diff --git a/c b/c\n"),
        ];
        let known = parts_of_files(&list, &files);
        for (commit, repeats) in [
            (format!("{A}{B}"), true),
            (A.into(), true),
            (String::new(), true),
            (A.replace("-1", "-2"), false),
            (format!("{A}{}", B.replace("+x", "+y")), false),
            (B.replace("100644", "100755"), false),
            // The content that a later commit replaced is another one, and looks the same.
            (format!("{A}{BINARY}"), false),
            // Nobody reads the bytes of git's own files.
            ("diff --git a/c b/c\n".into(), false),
        ] {
            assert_eq!(is_repeated(commit.as_bytes(), &known), repeats, "{commit}");
        }
        let other = B.replace("+x", "+y");
        let rest = without_repeated(format!("{A}{other}{BINARY}").as_bytes(), &known);
        let patch = format!("{other}{BINARY}").into_bytes();
        assert_eq!(rest, Some(OwnParts { patch, only_name: None }));
        let rest = without_repeated(format!("{A}{other}").as_bytes(), &known);
        assert_eq!(rest, Some(OwnParts { patch: other.clone().into_bytes(), only_name: Some("b".into()) }));
        assert_eq!(without_repeated(other.as_bytes(), &known), None);
    }
}
