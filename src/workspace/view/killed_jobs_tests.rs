use super::super::ViewPaths;
use super::*;
use crate::permission::WritePolicy;
use crate::workspace::ExpectedContent;
use std::fs;

struct Fixture {
    _dir: tempfile::TempDir,
    base: PathBuf,
    root: PathBuf,
}

impl Fixture {
    fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        let root = base.join("w");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.txt"), "1\n2\n3\n4\n5\n").unwrap();
        Fixture { _dir: dir, base, root }
    }

    /// The view as each process opens it.
    fn view(&self) -> View {
        let places = ViewPaths {
            view: self.base.join("state/view"),
            layers: vec![self.base.join("layers")],
            objects: self.base.join("state/objects"),
            journal: self.base.join("state/journal"),
            scratch: self.base.join("scratch"),
        };
        View::at(places, std::slice::from_ref(&self.root))
    }

    fn seen(&self, view: &View, name: &str) -> Option<String> {
        fs::read_to_string(view.real(&self.root.join(name)).unwrap()?).ok()
    }
}

fn layer_dir(command: &CommandView) -> PathBuf {
    command.mounts[0].upper.ancestors().nth(2).unwrap().to_path_buf()
}

/// The process is gone: nothing is removed, and its locks are free.
fn killed(command: CommandView, view: &View) {
    let (layers, copies) = (layer_dir(&command), view.dir().to_path_buf());
    let (aside, kept) = (layers.with_extension("kept"), copies.with_extension("kept"));
    copy(&layers, &aside);
    copy(&copies, &kept);
    drop(command);
    fs::rename(&aside, &layers).unwrap();
    fs::remove_dir_all(&copies).unwrap();
    fs::rename(&kept, &copies).unwrap();
}

fn copy(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(done.success());
}

fn begin(view: &View) -> CommandView {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(view.begin(LayerKind::Pending, None)).unwrap()
}

#[test]
fn what_a_killed_job_wrote_is_merged_with_what_came_later() {
    let f = Fixture::new();
    let view = f.view();
    let write = |view: &View, name: &str, text: &str| {
        let before = match f.seen(view, name) {
            None => ExpectedContent::Absent,
            Some(now) => ExpectedContent::Content(blake3::hash(now.as_bytes())),
        };
        view.write(&f.root.join(name), text.as_bytes(), before, WritePolicy::Hold).unwrap();
    };
    write(&view, "a.txt", "one\n2\n3\n4\n5\n");
    let mut command = begin(&view);
    let upper = command.mounts[0].upper.clone();
    view.move_to_background(&mut command).unwrap();
    fs::write(upper.join("a.txt"), "one\n2\n3\n4\nfive\n").unwrap();
    fs::write(upper.join("made.txt"), "made\n").unwrap();
    write(&view, "a.txt", "one\n2\nthree\n4\n5\n");
    killed(command, &view);
    drop(view);
    let next = f.view();
    let count = next.take_over_killed_jobs(&|_| false).unwrap();
    assert_eq!(count.total(), 2);
    assert_eq!(f.seen(&next, "a.txt").unwrap(), "one\n2\nthree\n4\nfive\n");
    assert_eq!(f.seen(&next, "made.txt").unwrap(), "made\n");
    assert_eq!(fs::read_to_string(f.root.join("a.txt")).unwrap(), "1\n2\n3\n4\n5\n", "nothing was applied");
    assert_eq!(next.take_over_killed_jobs(&|_| false).unwrap().total(), 0, "once");
}

#[test]
fn a_command_in_the_foreground_has_no_record() {
    let f = Fixture::new();
    let view = f.view();
    let command = begin(&view);
    assert!(JobRecord::read(&layer_dir(&command)).is_none());
}
