use super::*;
use crate::workspace::repository::git_reader::budget::without_deadline;
use std::ffi::OsString;

struct OneFile(PathBuf);

impl RepositoryFiles for OneFile {
    fn real(&self, _: &Path) -> Option<PathBuf> {
        Some(self.0.clone())
    }

    fn names(&self, _: &Path) -> Vec<OsString> {
        Vec::new()
    }
}

const HEADER: &str = "# pack-refs with: peeled fully-peeled sorted \n";

fn id(n: usize) -> String {
    format!("{n:040x}")
}

fn large(dir: &Path, name: &str, lines: impl Iterator<Item = (usize, usize)>) -> Option<PackedRefs> {
    let file = dir.join(name);
    let mut text = HEADER.to_string();
    for (number, commit) in lines {
        text.push_str(&format!("{} refs/heads/b{number:07}\n", id(commit)));
        if number.is_multiple_of(7) {
            text.push_str(&format!("^{}\n", id(1)));
        }
    }
    assert!(text.len() as u64 > LARGEST_WHOLE);
    std::fs::write(&file, text).unwrap();
    PackedRefs::open(&OneFile(file), Path::new("packed-refs"))
}

#[test]
fn a_large_file_is_searched_and_compared_in_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let all = || (0..300_000).map(|n| (n * 2, n + 10));
    let old = large(dir.path(), "old", all()).unwrap();
    assert!(matches!(old, PackedRefs::Large(..)) && old.all().is_none() && old.any().is_some());
    for n in [0, 1, 2, 77_777, 149_999, 150_000, 299_998, 299_999] {
        let name = PathBuf::from(format!("refs/heads/b{:07}", n * 2));
        assert_eq!(old.get(&name), ObjectId::from_hex(id(n + 10).as_bytes()), "{n}");
        // Between two lines, before the first and after the last.
        assert_eq!(old.get(Path::new(&format!("refs/heads/b{:07}", n * 2 + 1))), None, "{n}");
    }
    assert_eq!((old.get(Path::new("refs/a")), old.get(Path::new("refs/zzz"))), (None, None));

    let changed = all().filter(|(n, _)| *n != 4_000).chain([(600_000, 5)]);
    let changed = changed.map(|(n, commit)| (n, if n == 200_000 { 3 } else { commit }));
    let new = large(dir.path(), "new", changed).unwrap();
    let budget = ReadBudget::new(without_deadline());
    let found = old.differences(&new, &budget).unwrap();
    let names: Vec<&str> = found.names.iter().filter_map(|name| name.to_str()).collect();
    assert_eq!(names, ["refs/heads/b0004000", "refs/heads/b0200000", "refs/heads/b0600000"]);
    assert_eq!(found.left_out, 0);
    let none = PackedRefs::Whole(RefMap::new());
    let all_new = none.differences(&old, &budget).unwrap();
    assert_eq!((all_new.names.len(), all_new.left_out), (MOST_NAMES, 200_000));
}

/// Story: with the lines in another order git did not find the branch any more, and the next commit had no parent.
#[test]
fn a_file_that_only_says_that_it_is_sorted_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let open = |header: &str, names: [&str; 3]| {
        let file = dir.path().join("packed-refs");
        let lines: String =
            names.iter().enumerate().map(|(n, name)| format!("{} refs/heads/{name}\n", id(n + 1))).collect();
        std::fs::write(&file, format!("{header}{lines}")).unwrap();
        PackedRefs::open(&OneFile(file), Path::new("f"))
    };
    assert!(open(HEADER, ["main", "other", "topic"]).is_some());
    assert!(open(HEADER, ["topic", "main", "other"]).is_none());
    // Bytes count, and not the parts of a path.
    assert!(open(HEADER, ["a", "a-b", "a/b"]).is_some());
    assert!(open("# pack-refs with: peeled\n", ["topic", "main", "other"]).is_some());
}

#[test]
fn a_large_file_that_is_not_sorted_is_sorted_here() {
    let dir = tempfile::tempdir().unwrap();
    let budget = ReadBudget::new(without_deadline());
    let open = |name: &str, header: &str, changed: Option<usize>| {
        let file = dir.path().join(name);
        let commit = |n: usize| if Some(n) == changed { 5 } else { n };
        let line = |n: usize| format!("{} refs/heads/b{n:07}\n", id(commit(n)));
        let text: String = (0..300_000).rev().map(line).collect();
        std::fs::write(&file, format!("{header}{text}")).unwrap();
        PackedRefs::open(&OneFile(file), Path::new("f")).unwrap()
    };
    let (old, new) = (open("old", "", None), open("new", "# pack-refs with: peeled\n", Some(77)));
    assert!(matches!(old, PackedRefs::Table(_)) && matches!(new, PackedRefs::Table(_)));
    assert_eq!(old.get(Path::new("refs/heads/b0299999")), ObjectId::from_hex(id(299_999).as_bytes()));
    assert_eq!(old.get(Path::new("refs/heads/b0300000")), None);
    let names = |found: PackedDifferences| found.names.into_iter().collect::<Vec<_>>();
    let changed = [PathBuf::from("refs/heads/b0000077")];
    assert_eq!(names(old.differences(&new, &budget).unwrap()), changed);
    // One that only says that it is sorted.
    let liar = open("liar", HEADER, Some(77));
    assert!(matches!(liar, PackedRefs::Large(..)));
    assert!(old.differences(&liar, &budget).is_none() && liar.differences(&old, &budget).is_none());

    // More than may be sorted in memory is not read.
    let file = dir.path().join("very-large");
    std::fs::File::create(&file).unwrap().set_len(LARGEST_UNSORTED + 1).unwrap();
    assert!(PackedRefs::open(&OneFile(file), Path::new("f")).is_none());
}
