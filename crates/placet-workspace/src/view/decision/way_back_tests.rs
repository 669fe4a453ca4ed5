//! Others work on the files of a transaction while it fails, or while it is interrupted.

use super::super::apply::{ApplyError, RecoveryReport, recover, run_at};
use super::tests::{ViewFixture, bench, label, tree, whiteout};
use super::*;
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::rc::Rc;

/// Files that are changed, removed and new.
fn waiting() -> ViewFixture {
    let b = bench();
    for name in ["a.txt", "b.txt", "c.txt", "gone.txt"] {
        b.write(name, "old\n");
    }
    for name in ["a.txt", "b.txt", "c.txt"] {
        b.hold(name, "new\n", Some("old\n"));
    }
    for name in ["d/x.txt", "n.txt"] {
        b.hold(name, "new\n", None);
    }
    b.command(|upper| whiteout(&upper.join("gone.txt")));
    b
}

fn append_to(path: PathBuf) -> File {
    File::options().append(true).open(path).unwrap()
}

/// The names of all files, among them temporary ones.
fn names(b: &ViewFixture) -> Vec<String> {
    tree(&b.root).keys().map(|path| path.display().to_string()).collect()
}

fn read(b: &ViewFixture, name: &str) -> String {
    fs::read_to_string(b.root.join(name)).unwrap()
}

/// Applies all, while another program has `a.txt` open for writing, so that it fails; everything is in place when `work` runs.
fn fails_beside(b: &ViewFixture, work: impl FnOnce(&Path) + 'static) -> (ApplyError, File) {
    let writer = append_to(b.root.join("a.txt"));
    let root = b.root.clone();
    run_at("sync", move || {
        work(&root);
        Ok(())
    });
    (b.view.apply(&b.all(), label("t")).unwrap_err(), writer)
}

fn stays(failed: &ApplyError) -> Vec<String> {
    let ApplyError::Partly { stays, foreign, .. } = failed else { panic!("{failed}") };
    assert!(foreign.is_empty(), "{failed}");
    stays.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn what_others_wrote_to_changed_and_new_files_survives_the_way_back_and_is_recorded() {
    let b = waiting();
    let open: Rc<RefCell<Vec<File>>> = Rc::default();
    let opened = Rc::clone(&open);
    let (failed, mut writer) = fails_beside(&b, move |root| {
        writeln!(append_to(root.join("b.txt")), "mine").unwrap();
        writeln!(append_to(root.join("n.txt")), "mine").unwrap();
        // These two are written to when placet is done.
        opened.borrow_mut().extend([append_to(root.join("c.txt")), append_to(root.join("d/x.txt"))]);
    });
    assert_eq!(stays(&failed), ["b.txt", "c.txt", "d", "x.txt", "n.txt"]);
    for file in open.borrow_mut().iter_mut().chain([&mut writer]) {
        writeln!(file, "late").unwrap();
    }
    assert_eq!(names(&b), ["a.txt", "b.txt", "c.txt", "d", "d/x.txt", "gone.txt", "n.txt"]);
    let contents = ["a.txt", "b.txt", "c.txt", "d/x.txt", "n.txt"].map(|name| read(&b, name));
    assert_eq!(contents, ["old\nlate\n", "new\nmine\n", "new\nlate\n", "new\nlate\n", "new\nmine\n"]);
    assert!(recover(b.view.journal(), b.view.objects()).unwrap().is_empty());
    assert_eq!(read(&b, "a.txt"), "old\nlate\n");
    // The old contents are there to go back to, once the person's lines and programs are out of the way.
    open.borrow_mut().clear();
    for name in ["b.txt", "c.txt", "d/x.txt", "n.txt"] {
        fs::write(b.root.join(name), "new\n").unwrap();
    }
    let plan = b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
    b.view.execute_plan(plan).unwrap().unwrap();
    assert_eq!(names(&b), ["a.txt", "b.txt", "c.txt", "gone.txt"]);
    assert_eq!(["b.txt", "c.txt"].map(|name| read(&b, name)), ["old\n", "old\n"]);
}

#[test]
fn a_mode_and_a_file_in_a_new_directory_survive_the_way_back() {
    let b = waiting();
    let (failed, _writer) = fails_beside(&b, |root| {
        fs::set_permissions(root.join("b.txt"), fs::Permissions::from_mode(0o751)).unwrap();
        fs::write(root.join("d/mine.txt"), "mine\n").unwrap();
        fs::remove_file(root.join("n.txt")).unwrap();
    });
    assert_eq!(stays(&failed), ["b.txt", "d"]);
    assert_eq!(names(&b), ["a.txt", "b.txt", "c.txt", "d", "d/mine.txt", "gone.txt"]);
    assert_eq!(fs::metadata(b.root.join("b.txt")).unwrap().permissions().mode() & 0o777, 0o751);
    assert_eq!(["a.txt", "b.txt", "c.txt"].map(|name| read(&b, name)), ["old\n", "new\n", "old\n"]);
    assert!(recover(b.view.journal(), b.view.objects()).unwrap().is_empty());
}

/// An undo that fails at some files is an undo of the others.
#[test]
fn an_undo_that_could_not_take_everything_back_goes_on_where_it_stopped() {
    let b = waiting();
    assert!(matches!(b.apply(&b.all()), ApplyOutcome::Landed(_)));
    let undo = || b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
    let writer = append_to(b.root.join("a.txt"));
    let root = b.root.clone();
    run_at("sync", move || fs::set_permissions(root.join("b.txt"), fs::Permissions::from_mode(0o751)));
    let failed = b.view.execute_plan(undo()).unwrap_err();
    assert_eq!(stays(&failed), ["b.txt"]);
    assert_eq!(["a.txt", "b.txt", "c.txt"].map(|name| read(&b, name)), ["new\n", "old\n", "new\n"]);
    drop(writer);
    b.view.execute_plan(undo()).unwrap().unwrap();
    assert_eq!(names(&b), ["a.txt", "b.txt", "c.txt", "gone.txt"]);
    assert_eq!(read(&b, "a.txt"), "old\n");
}

/// Everything is in place, and the process ends. Gives a descriptor to the old `a.txt`.
fn killed(b: &ViewFixture) -> File {
    let writer = append_to(b.root.join("a.txt"));
    run_at("sync", || std::panic::resume_unwind(Box::new("killed")));
    let apply = std::panic::AssertUnwindSafe(|| b.view.apply(&b.all(), label("t")).map(drop));
    assert!(std::panic::catch_unwind(apply).is_err());
    writer
}

fn recovered(b: &ViewFixture) -> RecoveryReport {
    loop {
        // A process that another test starts holds a copy of the lock for a moment.
        let report = recover(b.view.journal(), b.view.objects()).unwrap();
        if !report.is_empty() {
            return report;
        }
        std::thread::yield_now();
    }
}

#[test]
fn what_was_written_to_a_displaced_file_after_a_kill_is_at_its_path_again() {
    for is_closed in [true, false] {
        let b = waiting();
        let mut writer = killed(&b);
        if is_closed {
            writeln!(writer, "late").unwrap();
            drop(writer);
            assert_eq!(recovered(&b).kept, [b.root.join("a.txt")]);
        } else {
            assert_eq!(recovered(&b).kept, [b.root.join("a.txt")]);
            writeln!(writer, "late").unwrap();
        }
        assert_eq!(names(&b), ["a.txt", "b.txt", "c.txt", "d", "d/x.txt", "n.txt"]);
        assert_eq!(["a.txt", "b.txt"].map(|name| read(&b, name)), ["old\nlate\n", "new\n"]);
        let applied = b.view.journal().newest().unwrap().changes;
        assert!(applied.iter().all(|change| !change.path.ends_with("a.txt")) && applied.len() == 6);
    }
}

#[test]
fn what_has_no_place_to_go_back_to_stays_under_its_temporary_name() {
    let b = waiting();
    writeln!(killed(&b), "late").unwrap();
    fs::write(b.root.join("a.txt"), "mine\n").unwrap();
    let report = recovered(&b);
    let [foreign] = report.foreign.as_slice() else { panic!("{report:?}") };
    assert_eq!(fs::read_to_string(foreign).unwrap(), "old\nlate\n");
    assert!(report.words().contains(&foreign.display().to_string()), "{}", report.words());
    assert_eq!(read(&b, "a.txt"), "mine\n");
    assert!(recover(b.view.journal(), b.view.objects()).unwrap().is_empty());
    assert!(foreign.exists());
}
