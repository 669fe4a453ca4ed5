use super::*;
use crate::ExpectedContent;
use crate::view::ViewPaths;
use placet_permission::WritePolicy;
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
    write(&view, "gone.txt", "0\n");
    let mut command = begin(&view);
    let upper = command.mounts[0].upper.clone();
    view.move_to_background(&mut command).unwrap();
    fs::write(upper.join("a.txt"), "one\n2\n3\n4\nfive\n").unwrap();
    fs::write(upper.join("made.txt"), "made\n").unwrap();
    write(&view, "a.txt", "one\n2\nthree\n4\n5\n");
    Layer::whiteout(&crate::view::layers::layer::open_dir(&upper).unwrap(), "gone.txt".as_ref()).unwrap();
    write(&view, "gone.txt", "1\n");
    // It had got a later edit, and another was on its way.
    write(&view, "late.txt", "late\n");
    fs::write(upper.join("late.txt"), "late\n").unwrap();
    let staged = command.frozen.as_ref().unwrap().staged.clone();
    fs::write(upper.join(&staged), "half").unwrap();
    killed(command, &view);
    drop(view);
    let next = f.view();
    let taken = next.take_over_killed_jobs(&|_| false).unwrap();
    assert_eq!((taken.count.total(), taken.kept), (2, vec![f.root.join("gone.txt")]));
    assert_eq!(f.seen(&next, "a.txt").unwrap(), "one\n2\nthree\n4\nfive\n");
    assert_eq!(f.seen(&next, "made.txt").unwrap(), "made\n");
    assert_eq!(f.seen(&next, staged.to_str().unwrap()), None);
    assert_eq!(fs::read_to_string(f.root.join("a.txt")).unwrap(), "1\n2\n3\n4\n5\n", "nothing was applied");
    assert_eq!(next.take_over_killed_jobs(&|_| false).unwrap().count.total(), 0, "once");
}

#[test]
fn a_command_in_the_foreground_has_no_record_while_it_runs() {
    let f = Fixture::new();
    let view = f.view();
    let command = begin(&view);
    fs::write(command.mounts[0].upper.join("half.txt"), "half\n").unwrap();
    let dir = layer_dir(&command);
    assert!(JobRecord::read(&dir).is_none() && CollectionRecord::read(&dir).is_none());
    killed(command, &view);
    drop(view);
    let next = f.view();
    assert_eq!(next.take_over_killed_jobs(&|_| false).unwrap().count.total(), 0);
    assert_eq!(f.seen(&next, "half.txt"), None);
}

/// Story: a part of 10,001 changes was pending, nothing was reported, and the rest never came back.
#[test]
fn what_was_not_collected_at_a_kill_becomes_pending_with_the_rest() {
    let f = Fixture::new();
    fs::create_dir_all(f.root.join("replaced")).unwrap();
    fs::write(f.root.join("replaced/old.txt"), "old\n").unwrap();
    let view = f.view();
    let command = begin(&view);
    let upper = command.mounts[0].upper.clone();
    let mut wanted = Vec::new();
    // As the kernel leaves directories that are new or replace others.
    for dir in ["made", "replaced"] {
        fs::create_dir(upper.join(dir)).unwrap();
        let open = std::fs::File::open(upper.join(dir)).unwrap();
        rustix::fs::fsetxattr(
            &open,
            crate::view::layers::layer::OPAQUE,
            b"y",
            rustix::fs::XattrFlags::empty(),
        )
        .unwrap();
        for number in 0..3 {
            let name = format!("{dir}/{number}.txt");
            fs::write(upper.join(&name), &name).unwrap();
            wanted.push(name);
        }
    }
    crate::view::tests::whiteout(&upper.join("a.txt"));
    let since = command.since;
    let dir = layer_dir(&command);
    // An error stops the collection in the middle, like a kill, and the layer stays.
    crate::apply::fail_at("folded", std::io::ErrorKind::Other);
    view.finish(command, &|_| false).unwrap_err();
    let kept = dir.with_file_name(format!("kept-{}-0", dir.file_name().unwrap().to_string_lossy()));
    assert_eq!(CollectionRecord::read(&kept).unwrap().since, since.time);
    drop(view);
    let next = f.view();
    assert_eq!(
        next.take_over_killed_jobs(&|_| false).unwrap().count.total(),
        0,
        "what an error left is for the person"
    );
    drop(next);
    fs::rename(&kept, &dir).unwrap();
    let next = f.view();
    assert!(next.take_over_killed_jobs(&|_| false).unwrap().count.total() > 0);
    for name in wanted {
        assert_eq!(f.seen(&next, &name), Some(name.clone()));
    }
    assert_eq!((f.seen(&next, "a.txt"), f.seen(&next, "replaced/old.txt")), (None, None));
    assert_eq!(
        next.changes(LayerKind::Pending).unwrap().changes.iter().filter(|c| !c.after.is_directory()).count(),
        8
    );
    assert!(f.root.join("a.txt").exists() && !f.root.join("made").exists(), "nothing was applied");
    assert_eq!(next.take_over_killed_jobs(&|_| false).unwrap().count.total(), 0, "once");
}

/// Story: which of two interrupted commands came first was the order of a directory, and in half of the cases nothing was
/// left of what the job had written.
#[test]
fn a_command_that_had_ended_comes_before_a_job_in_whatever_order_they_are_listed() {
    for names in [["run-1-1", "run-9-9"], ["run-9-9", "run-1-1"]] {
        let f = Fixture::new();
        let view = f.view();
        let mut job = begin(&view);
        let upper = job.mounts[0].upper.clone();
        view.move_to_background(&mut job).unwrap();
        fs::write(upper.join("a.txt"), "1\n2\n3\n4\nfive\n").unwrap();
        let job_dir = layer_dir(&job);
        let command = begin(&view);
        fs::write(command.mounts[0].upper.join("a.txt"), "one\n2\n3\n4\n5\n").unwrap();
        let dir = layer_dir(&command);
        crate::apply::fail_at("folded", std::io::ErrorKind::Other);
        view.finish(command, &|_| false).unwrap_err();
        let kept = dir.with_file_name(format!("kept-{}-0", dir.file_name().unwrap().to_string_lossy()));
        killed(job, &view);
        drop(view);
        for (from, name) in [&job_dir, &kept].iter().zip(names) {
            fs::rename(from, dir.with_file_name(name)).unwrap();
        }
        let next = f.view();
        assert!(next.take_over_killed_jobs(&|_| false).unwrap().count.total() > 0);
        assert_eq!(f.seen(&next, "a.txt").unwrap(), "one\n2\n3\n4\nfive\n", "{names:?}");
    }
}
