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

#[test]
fn a_large_file_that_is_not_sorted_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    let line = |n: usize| format!("{} refs/heads/b{n:07}\n", id(n));
    let text: String = (0..300_000).map(line).collect();
    std::fs::write(&file, &text).unwrap();
    assert!(PackedRefs::open(&OneFile(file.clone()), Path::new("f")).is_none(), "without the word");
    let backwards: String = (0..300_000).rev().map(line).collect();
    std::fs::write(&file, format!("{HEADER}{backwards}")).unwrap();
    let unsorted = PackedRefs::open(&OneFile(file), Path::new("f")).unwrap();
    let budget = ReadBudget::new(without_deadline());
    assert!(PackedRefs::Whole(RefMap::new()).differences(&unsorted, &budget).is_none());
}
