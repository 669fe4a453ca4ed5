use super::*;
use crate::history::journal::TransactionLabel;
use crate::{ApplyError, ExpectedContent, WorkspaceError};
use placet_permission::WritePolicy;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

pub(super) struct ViewFixture {
    _dir: tempfile::TempDir,
    pub(super) root: PathBuf,
    pub(super) view: View,
}

pub(super) fn bench() -> ViewFixture {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let root = base.join("w");
    fs::create_dir(&root).unwrap();
    let places = ViewPaths {
        view: base.join("state/view"),
        layers: Vec::new(),
        objects: base.join("state/objects"),
        journal: base.join("state/journal"),
        scratch: base.join("scratch"),
    };
    let view = View::at(places, std::slice::from_ref(&root));
    ViewFixture { _dir: dir, root, view }
}

/// Every path below the root with its kind, mode and content.
pub(super) fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            let path = entry.path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let mode = meta.permissions().mode() & 0o7777;
            let what = if meta.is_dir() {
                todo.push(path.clone());
                format!("dir {mode:o}")
            } else if meta.is_symlink() {
                format!("link {:?}", fs::read_link(&path).unwrap())
            } else {
                format!("file {mode:o} {:?}", String::from_utf8_lossy(&fs::read(&path).unwrap()))
            };
            found.insert(path.strip_prefix(root).unwrap().to_path_buf(), what);
        }
    }
    found
}

impl ViewFixture {
    pub(super) fn set_aside(&self, choice: &ChangeSelection) -> io::Result<undoing::discards::DiscardBackup> {
        self.view.set_aside(choice, undoing::discards::DiscardMoment::now())
    }

    pub(super) fn write(&self, rel: &str, text: &str) {
        let path = self.root.join(rel);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn hold(&self, rel: &str, text: &str, before: Option<&str>) {
        let before =
            before.map_or(ExpectedContent::Absent, |b| ExpectedContent::Content(blake3::hash(b.as_bytes())));
        self.view.write(&self.root.join(rel), text.as_bytes(), before, WritePolicy::Hold).unwrap();
    }

    pub(super) fn all(&self) -> ChangeSelection {
        View::everything(&self.view.changes(LayerKind::Pending).unwrap())
    }

    pub(super) fn words(&self) -> Vec<String> {
        let set = self.view.changes(LayerKind::Pending).unwrap();
        let word = |c: &crate::FileChange| {
            format!("{} {}", c.verb().letter(), c.path.strip_prefix(&self.root).unwrap().display())
        };
        set.changes.iter().map(word).collect()
    }

    pub(super) fn apply(&self, choice: &ChangeSelection) -> ApplyOutcome {
        self.view.apply(choice, label("t")).unwrap()
    }

    /// What a command would have left in its layer, folded.
    pub(super) fn command(&self, make: impl FnOnce(&Path)) -> CommandEffects {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let command = runtime.block_on(self.view.begin(LayerKind::Pending, None)).unwrap();
        make(&command.mounts[0].upper);
        self.view.finish(command, &|_| false).unwrap()
    }
}

pub(super) fn label(turn: &str) -> TransactionLabel {
    TransactionLabel { turn: turn.into(), ..TransactionLabel::default() }
}

pub(super) fn whiteout(path: &Path) {
    let dir = crate::view::layers::layer::open_dir(path.parent().unwrap()).unwrap();
    crate::view::layers::layer::Layer::whiteout(&dir, path.file_name().unwrap()).unwrap();
}

#[test]
fn what_is_held_is_seen_in_the_view_and_not_in_the_workspace() {
    let b = bench();
    b.write("a.txt", "one\n");
    b.hold("a.txt", "two\n", Some("one\n"));
    b.hold("new/deep/b.txt", "b", None);
    assert_eq!(fs::read_to_string(b.root.join("a.txt")).unwrap(), "one\n");
    let real = b.view.real(&b.root.join("a.txt")).unwrap().unwrap();
    assert_eq!(fs::read_to_string(real).unwrap(), "two\n");
    assert_eq!(b.words(), ["M a.txt", "A new", "A new/deep", "A new/deep/b.txt"]);
    let again = b.view.write(&b.root.join("a.txt"), b"x", ExpectedContent::Absent, WritePolicy::Hold);
    assert!(matches!(again, Err(WorkspaceError::Exists(_))));
}

#[test]
fn apply_undo_and_redo_go_there_and_back() {
    let b = bench();
    b.write("a.txt", "one\n");
    fs::set_permissions(b.root.join("a.txt"), fs::Permissions::from_mode(0o750)).unwrap();
    b.write("gone/x", "x");
    b.write("gone/y", "y");
    let before = tree(&b.root);
    b.hold("a.txt", "two\n", Some("one\n"));
    b.hold("new/b.txt", "b", None);
    b.command(|upper| whiteout(&upper.join("gone")));
    assert!(matches!(b.apply(&b.all()), ApplyOutcome::Landed(_)));
    assert!(b.view.is_empty(LayerKind::Pending));
    let after = tree(&b.root);
    assert_eq!(after[Path::new("a.txt")], "file 750 \"two\\n\"");
    assert!(!after.contains_key(Path::new("gone")) && after.contains_key(Path::new("new/b.txt")));
    let plan = b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
    assert!(plan.left.is_empty());
    b.view.execute_plan(plan).unwrap().unwrap();
    assert_eq!(tree(&b.root), before);
    assert!(b.view.journal().to_undo().is_empty());
    let redo = b.view.journal().to_redo().unwrap();
    b.view.execute_plan(b.view.plan_redo(&redo, label("r")).unwrap()).unwrap().unwrap();
    assert_eq!(tree(&b.root), after);
    assert!(b.view.journal().to_redo().is_none());
    assert_eq!(b.view.journal().to_undo().len(), 1);
}

#[test]
fn a_commands_layer_is_folded() {
    let b = bench();
    for (path, text) in [("keep", "k"), ("edit", "old"), ("dir/a", "a"), ("dir/b", "b"), ("file", "f")] {
        b.write(path, text);
    }
    symlink("keep", b.root.join("link")).unwrap();
    let effects = b.command(|upper| {
        fs::write(upper.join("keep"), "k").unwrap();
        fs::write(upper.join("edit"), "new").unwrap();
        fs::create_dir(upper.join("dir")).unwrap();
        whiteout(&upper.join("dir/a"));
        whiteout(&upper.join("file"));
        fs::remove_file(upper.join("file")).unwrap();
        fs::create_dir(upper.join("file")).unwrap();
        fs::write(upper.join("file/inside"), "i").unwrap();
        symlink("edit", upper.join("link")).unwrap();
        fs::write(upper.join("ünì\ncode"), "n").unwrap();
    });
    assert!(effects.raced.is_empty());
    assert_eq!(b.words(), ["D dir/a", "M edit", "M file", "A file/inside", "M link", "A ünì\ncode"]);
    assert!(matches!(b.apply(&b.all()), ApplyOutcome::Landed(_)));
    assert_eq!(tree(&b.root)[Path::new("file/inside")].split(' ').next_back(), Some("\"i\""));
    assert_eq!(fs::read_link(b.root.join("link")).unwrap(), Path::new("edit"));
}

#[test]
fn a_later_command_sees_and_changes_what_an_earlier_one_left() {
    let b = bench();
    b.write("a", "1");
    b.write("d/x", "x");
    b.command(|upper| {
        fs::write(upper.join("a"), "2").unwrap();
        fs::write(upper.join("b"), "b").unwrap();
        whiteout(&upper.join("d"));
    });
    b.command(|upper| {
        whiteout(&upper.join("b"));
        fs::write(upper.join("a"), "1").unwrap();
        fs::create_dir(upper.join("d")).unwrap();
        fs::write(upper.join("d/y"), "y").unwrap();
    });
    assert_eq!(b.words(), ["D d/x", "A d/y"]);
    assert!(matches!(b.apply(&b.all()), ApplyOutcome::Landed(_)));
    let paths: Vec<String> = tree(&b.root).into_keys().map(|p| p.display().to_string()).collect();
    assert_eq!(paths, ["a", "d", "d/y"]);
}

#[test]
fn one_of_several_changes_lands_and_another_is_thrown_away() {
    let b = bench();
    b.write("a", "1\n");
    b.write("c", "l1\nl2\nl3\nl4\nl5\n");
    b.hold("a", "2\n", Some("1\n"));
    b.hold("n/b", "b", None);
    b.hold("c", "L1\nl2\nl3\nl4\nL5\n", Some("l1\nl2\nl3\nl4\nl5\n"));
    // A file in a new directory brings the directory along.
    assert!(matches!(
        b.apply(&ChangeSelection::from([(b.root.join("n/b").into(), SelectedPart::Whole)])),
        ApplyOutcome::Landed(_)
    ));
    assert_eq!(b.words(), ["M a", "M c"]);
    let hunk = ChangeSelection::from([(b.root.join("c").into(), SelectedPart::Hunks([1].into()))]);
    assert!(matches!(b.apply(&hunk), ApplyOutcome::Landed(_)));
    assert_eq!(fs::read_to_string(b.root.join("c")).unwrap(), "l1\nl2\nl3\nl4\nL5\n");
    assert_eq!(b.words(), ["M a", "M c"]);
    b.view.discard(&ChangeSelection::from([(b.root.join("a").into(), SelectedPart::Whole)])).unwrap();
    assert_eq!(b.words(), ["M c"]);
    b.view
        .discard(&ChangeSelection::from([(b.root.join("c").into(), SelectedPart::Hunks([0].into()))]))
        .unwrap();
    assert!(b.words().is_empty());
    assert_eq!(fs::read_to_string(b.root.join("a")).unwrap(), "1\n");
}

#[test]
fn the_persons_own_change_is_merged_and_asked_about_again() {
    let b = bench();
    b.write("a", "1\n2\n3\n4\n5\n");
    b.write("other", "x\n");
    b.hold("a", "1\n2\n3\n4\nFIVE\n", Some("1\n2\n3\n4\n5\n"));
    b.hold("other", "y\n", Some("x\n"));
    b.write("a", "ONE\n2\n3\n4\n5\n");
    let ApplyOutcome::Changed { merged, conflicts } = b.apply(&b.all()) else { panic!("it landed") };
    assert_eq!((merged, conflicts), (vec![b.root.join("a")], vec![]));
    assert_eq!(fs::read_to_string(b.root.join("other")).unwrap(), "x\n");
    assert!(matches!(b.apply(&b.all()), ApplyOutcome::Landed(_)));
    assert_eq!(fs::read_to_string(b.root.join("a")).unwrap(), "ONE\n2\n3\n4\nFIVE\n");
    // And undo keeps their line.
    let plan = b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
    b.view.execute_plan(plan).unwrap();
    assert_eq!(fs::read_to_string(b.root.join("a")).unwrap(), "ONE\n2\n3\n4\n5\n");
}

#[test]
fn what_cannot_be_merged_is_left_and_said() {
    let b = bench();
    b.write("a", "1\n");
    b.hold("a", "2\n", Some("1\n"));
    b.write("a", "3\n");
    let ApplyOutcome::Changed { merged, conflicts } = b.apply(&b.all()) else { panic!("it landed") };
    assert_eq!((merged, conflicts), (vec![], vec![b.root.join("a")]));
    assert_eq!(fs::read_to_string(b.root.join("a")).unwrap(), "3\n");
    assert_eq!(b.words(), ["M a"]);
}

#[test]
fn an_undo_notices_what_changes_after_its_plan_also_with_the_old_size_and_time() {
    let b = bench();
    b.write("a", "1\n");
    b.write("b", "1\n");
    b.hold("a", "2\n", Some("1\n"));
    b.hold("b", "2\n", Some("1\n"));
    b.apply(&b.all());
    let same_time = |change: &dyn Fn(&Path)| {
        let path = b.root.join("b");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        change(&path);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    let changes: [&dyn Fn(&Path); 2] =
        [&|path| fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap(), &|path| {
            fs::write(path, "3\n").unwrap()
        }];
    for change in changes {
        let plan = b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
        same_time(change);
        let before = tree(&b.root);
        let failed = b.view.execute_plan(plan).unwrap_err();
        assert!(matches!(&failed, ApplyError::Changed(paths) if *paths == [b.root.join("b")]), "{failed}");
        assert_eq!(tree(&b.root), before);
    }
}

#[test]
fn undo_keeps_later_work_and_says_what_it_leaves() {
    let b = bench();
    b.write("a", "1\n");
    b.hold("a", "2\n", Some("1\n"));
    b.hold("new/b", "b\n", None);
    b.apply(&b.all());
    b.write("a", "mine\n");
    b.write("new/mine", "m");
    let plan = b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
    let left: Vec<&Path> = plan.left.iter().map(|(p, _)| p.strip_prefix(&b.root).unwrap()).collect();
    assert_eq!(left, [Path::new("a"), Path::new("new")]);
    b.view.execute_plan(plan).unwrap();
    assert_eq!(fs::read_to_string(b.root.join("a")).unwrap(), "mine\n");
    assert!(!b.root.join("new/b").exists() && b.root.join("new/mine").exists());
}
