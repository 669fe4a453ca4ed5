use super::*;
use crate::view::ViewPaths;
use crate::view::tests::{ViewFixture, bench, label, whiteout};
use std::collections::BTreeMap;
use std::fs;

/// Numbers that are the same in each run of the test (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// A second view of the same directory, with the same store of contents.
fn second(of: &ViewFixture) -> View {
    let base = of.root.parent().unwrap();
    let places = ViewPaths {
        view: base.join("state/other"),
        layers: Vec::new(),
        objects: base.join("state/objects"),
        journal: base.join("state/journal"),
        scratch: base.join("scratch2"),
    };
    View::at(places, std::slice::from_ref(&of.root))
}

fn command(view: &View, make: impl FnOnce(&Path)) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let command = runtime.block_on(view.begin(LayerKind::Pending, None)).unwrap();
    make(&command.mounts[0].upper);
    view.finish(command, &|_| false).unwrap();
}

/// What a view shows at each of the paths.
fn states(view: &View, paths: &[PathBuf]) -> BTreeMap<PathBuf, PathState> {
    paths.iter().map(|path| (path.clone(), view.pending_state(path).unwrap())).collect()
}

fn change(view: &View, root: &Path, numbers: &mut Numbers, who: &str) {
    let dirs = ["", "a", "b", "b/c"];
    command(view, |upper| {
        for number in 0..numbers.below(6) + 1 {
            let dir = dirs[usize::try_from(numbers.below(4)).unwrap()];
            let rel = Path::new(dir).join(format!("f{}", numbers.below(4)));
            let at = upper.join(&rel);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            if fs::symlink_metadata(&at).is_ok() {
                continue;
            }
            match numbers.below(4) {
                0 if root.join(&rel).exists() => whiteout(&at),
                1 => std::os::unix::fs::symlink(format!("{who}{number}"), &at).unwrap(),
                _ => fs::write(&at, format!("{who} {number}\nend\n")).unwrap(),
            }
        }
    });
}

#[test]
fn any_part_can_be_taken_and_an_undo_brings_back_exactly_what_was_pending() {
    let mut taken_parts = 0;
    for seed in 1..=60 {
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let b = bench();
        for dir in ["a", "b"] {
            for name in 0..3 {
                b.write(&format!("{dir}/f{name}"), &format!("old {dir} {name}\nend\n"));
            }
        }
        let (mine, theirs) = (&b.view, second(&b));
        for _ in 0..2 {
            change(mine, &b.root, &mut numbers, "mine");
            change(&theirs, &b.root, &mut numbers, "theirs");
        }
        let difference = mine.difference(&theirs).unwrap();
        let mut paths: Vec<PathBuf> = difference.set.paths().iter().map(|path| path.to_path_buf()).collect();
        paths.extend(["a", "b", "b/c", "f0", "f1", "f2", "f3"].map(|rel| b.root.join(rel)));
        let (before, wanted) = (states(mine, &paths), states(&theirs, &paths));
        let chosen: ChangeSelection = difference
            .set
            .paths()
            .into_iter()
            .filter(|_| numbers.below(2) == 0)
            // A directory goes with what is in it.
            .filter(|path| !before[&path.to_path_buf()].is_directory())
            .map(|path| (path, SelectedPart::Whole))
            .collect();
        if chosen.is_empty() {
            continue;
        }
        taken_parts += chosen.len();
        mine.take(&theirs, &difference, &chosen).unwrap();
        let after = states(mine, &paths);
        for path in &paths {
            let is_parent = chosen.keys().any(|one| one.starts_with(path) && **one != **path);
            if chosen.contains_key(path.as_path()) {
                assert_eq!(after[path], wanted[path], "seed {seed}: {path:?} was taken");
            } else if !is_parent {
                assert_eq!(after[path], before[path], "seed {seed}: {path:?} was not taken");
            }
        }
        assert_eq!(states(&theirs, &paths), wanted, "seed {seed}: the other view is as it was");
        let discarded = mine.last_discard().unwrap().unwrap();
        mine.restore(&discarded).unwrap();
        assert_eq!(states(mine, &paths), before, "seed {seed}: the undo");
    }
    assert!(taken_parts > 60, "{taken_parts}");
}

#[test]
fn a_part_of_a_file_is_taken_with_the_base_of_the_pending_change() {
    let b = bench();
    b.write("f", "1\n\n2\n\n3\n");
    b.hold("f", "1 mine\n\n2\n\n3\n", Some("1\n\n2\n\n3\n"));
    let theirs = second(&b);
    command(&theirs, |upper| fs::write(upper.join("f"), "1\n\n2\n\n3 theirs\n").unwrap());
    let difference = b.view.difference(&theirs).unwrap();
    let path: Arc<Path> = b.root.join("f").into();
    let both = b"1 mine\n\n2\n\n3 theirs\n".to_vec();
    let part = SelectedPart::Content(Arc::new(both.clone()));
    b.view.take(&theirs, &difference, &[(path.clone(), part)].into_iter().collect()).unwrap();
    let set = b.view.changes(LayerKind::Pending).unwrap();
    assert_eq!(
        set.get(&path).unwrap().bytes(b.view.objects()).unwrap(),
        (b"1\n\n2\n\n3\n".to_vec(), both.clone())
    );
    // The workspace changes below it: the apply merges.
    b.write("f", "1\n\n2 others\n\n3\n");
    b.view.apply(&b.all(), label("t")).unwrap();
    b.view.apply(&b.all(), label("t")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "1 mine\n\n2 others\n\n3 theirs\n");
}

#[test]
fn what_changed_since_it_was_compared_is_not_taken() {
    let b = bench();
    let theirs = second(&b);
    command(&theirs, |upper| {
        fs::write(upper.join("f"), "one\n").unwrap();
        fs::write(upper.join("g"), "one\n").unwrap();
    });
    let difference = b.view.difference(&theirs).unwrap();
    command(&theirs, |upper| fs::write(upper.join("f"), "two\n").unwrap());
    let all = View::everything(&difference.set);
    assert!(
        matches!(b.view.take(&theirs, &difference, &all), Err(TakeError::Changed(path)) if path.ends_with("f"))
    );
    assert!(b.words().is_empty());
    // Pending files are not shared: each view goes on changing its own.
    let difference = b.view.difference(&theirs).unwrap();
    b.view.take(&theirs, &difference, &View::everything(&difference.set)).unwrap();
    assert_eq!(b.words(), ["A f", "A g"]);
    let file = |view: &View| view.real(&b.root.join("g")).unwrap().unwrap();
    assert_ne!(file(&b.view), file(&theirs));
    use std::os::unix::fs::MetadataExt;
    assert_eq!(fs::metadata(file(&b.view)).unwrap().nlink(), 1);
    // What was changed after it was taken is not lost by an undo.
    let discarded = b.view.last_discard().unwrap().unwrap();
    b.hold("g", "later\n", Some("one\n"));
    assert!(b.view.restore(&discarded).is_err());
    assert_eq!(b.words(), ["A f", "A g"]);
}

#[test]
fn changes_whose_file_others_changed_are_counted() {
    let b = bench();
    b.write("f", "1\n");
    b.write("g", "1\n");
    b.hold("f", "2\n", Some("1\n"));
    b.hold("g", "2\n", Some("1\n"));
    b.hold("new", "2\n", None);
    assert_eq!(b.view.outdated().unwrap().files, 0);
    b.write("f", "3\n");
    b.write("new", "1\n");
    assert_eq!(b.view.outdated().unwrap().files, 2);
    assert!(b.view.disk_bytes().unwrap() > 0);
}
