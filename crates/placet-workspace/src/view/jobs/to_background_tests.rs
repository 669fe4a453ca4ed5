use super::*;
use crate::ExpectedContent;
use crate::view::{LayerKind, ViewPaths};
use placet_permission::WritePolicy;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::PathBuf;

struct MoveFixture {
    _dir: tempfile::TempDir,
    root: PathBuf,
    view: View,
    runtime: tokio::runtime::Runtime,
}

impl MoveFixture {
    fn new() -> MoveFixture {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        let root = base.join("w");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.txt"), "1\n2\n3\n4\n5\n").unwrap();
        let places = ViewPaths {
            view: base.join("state/view"),
            layers: Vec::new(),
            objects: base.join("state/objects"),
            journal: base.join("state/journal"),
            scratch: base.join("scratch"),
        };
        let view = View::at(places, std::slice::from_ref(&root));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        MoveFixture { _dir: dir, root, view, runtime }
    }

    fn begin(&self) -> CommandView {
        self.runtime.block_on(self.view.begin(LayerKind::Pending, None)).unwrap()
    }

    /// What a file tool writes.
    fn hold(&self, name: &str, text: &str) {
        let before = match self.seen(name) {
            None => ExpectedContent::Absent,
            Some(now) => ExpectedContent::Content(blake3::hash(now.as_bytes())),
        };
        self.view.write(&self.root.join(name), text.as_bytes(), before, WritePolicy::Hold).unwrap();
    }

    /// A file as the view has it.
    fn seen(&self, name: &str) -> Option<String> {
        let real = self.view.real(&self.root.join(name)).unwrap()?;
        fs::read_to_string(real).ok()
    }
}

#[test]
fn the_command_keeps_its_layers_and_the_view_continues_with_copies() {
    let f = MoveFixture::new();
    f.hold("a.txt", "one\n2\n3\n4\n5\n");
    f.hold("dir/b.txt", "b\n");
    let mut command = f.begin();
    let lower = command.mounts[0].lowers[0].clone();
    let before = fs::metadata(&lower).unwrap().ino();
    let time = fs::metadata(lower.join("dir/b.txt")).unwrap().mtime_nsec();
    f.view.move_to_background(&mut command).unwrap();
    let taken = command.frozen.as_ref().unwrap().roots[0][0].dir().to_path_buf();
    assert_eq!(fs::metadata(&taken).unwrap().ino(), before, "the mounted directory is the frozen one");
    assert_ne!(fs::metadata(&lower).unwrap().ino(), before);
    assert_eq!(fs::metadata(lower.join("dir/b.txt")).unwrap().mtime_nsec(), time);
    // The turn continues, and another command may start.
    f.hold("a.txt", "one\n2\n3\n4\nfive\n");
    f.hold("dir/b.txt", "b of the turn\n");
    drop(f.begin());
    assert_eq!(fs::read_to_string(taken.join("a.txt")).unwrap(), "one\n2\n3\n4\n5\n");
    assert_eq!(fs::read_to_string(taken.join("dir/b.txt")).unwrap(), "b\n");
    // Both changed a.txt; the command had copied it up before it was moved.
    fs::write(command.mounts[0].upper.join("a.txt"), "one\n2\nthree\n4\n5\n").unwrap();
    fs::write(command.mounts[0].upper.join("made.txt"), "made\n").unwrap();
    let effects = f.view.finish_background(command, "job-1", &|_| false).unwrap();
    assert_eq!(effects.merged, [f.root.join("a.txt")]);
    assert_eq!(f.seen("a.txt").unwrap(), "one\n2\nthree\n4\nfive\n");
    assert_eq!(f.seen("made.txt").unwrap(), "made\n");
    assert_eq!(f.seen("dir/b.txt").unwrap(), "b of the turn\n");
    assert!(!taken.exists());
    assert_eq!(fs::read_to_string(f.root.join("a.txt")).unwrap(), "1\n2\n3\n4\n5\n", "nothing was applied");
}

#[test]
fn without_pending_changes_there_is_nothing_to_copy() {
    let f = MoveFixture::new();
    let mut command = f.begin();
    assert_eq!(command.mounts[0].lowers, std::slice::from_ref(&f.root));
    f.view.move_to_background(&mut command).unwrap();
    f.hold("a.txt", "of the turn\n");
    fs::write(command.mounts[0].upper.join("a.txt"), "of the job\n").unwrap();
    let effects = f.view.finish_background(command, "job-1", &|_| false).unwrap();
    assert_eq!(effects.beside, [f.root.join("a.txt.job-1")]);
    assert_eq!(f.seen("a.txt").unwrap(), "of the turn\n");
    assert_eq!(f.seen("a.txt.job-1").unwrap(), "of the job\n");
}

#[test]
fn a_command_that_is_stopped_after_the_move_leaves_what_was_pending() {
    let f = MoveFixture::new();
    f.hold("a.txt", "pending\n");
    let mut command = f.begin();
    fs::write(command.mounts[0].upper.join("a.txt"), "of the job\n").unwrap();
    f.view.move_to_background(&mut command).unwrap();
    drop(command);
    assert_eq!(f.seen("a.txt").unwrap(), "pending\n");
    assert!(!fs::read_dir(f.view.dir()).unwrap().flatten().any(|e| {
        let name = e.file_name().to_string_lossy().into_owned();
        name.starts_with("run-")
    }));
}

#[test]
fn a_copy_of_a_layer_is_like_the_layer() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    fs::create_dir_all(from.join("d")).unwrap();
    fs::create_dir(&to).unwrap();
    fs::write(from.join("d/file"), "x").unwrap();
    fs::set_permissions(from.join("d/file"), fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("nowhere", from.join("link")).unwrap();
    let open = |path: &PathBuf| open_dir(path).unwrap();
    placet_text::text::regular_file::make_pipe(&from.join("pipe"));
    Layer::whiteout(&open(&from), std::ffi::OsStr::new("gone")).unwrap();
    layer::copy_tree(&open(&from), &open(&to)).unwrap();
    for name in ["d", "d/file", "link"] {
        let (one, other) =
            (fs::symlink_metadata(from.join(name)).unwrap(), fs::symlink_metadata(to.join(name)).unwrap());
        let facts = |m: &fs::Metadata| (m.mode(), m.uid(), m.gid(), m.mtime(), m.mtime_nsec());
        assert_eq!(facts(&one), facts(&other), "{name}");
    }
    assert!(fs::symlink_metadata(to.join("pipe")).unwrap().file_type().is_fifo());
    assert!(fs::symlink_metadata(to.join("gone")).unwrap().file_type().is_char_device());
}
