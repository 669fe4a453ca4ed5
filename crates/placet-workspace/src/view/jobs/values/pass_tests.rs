use super::super::super::background_bench::{BackgroundFixture, JobFiles, bench};
use super::*;
use crate::view::command::command_view::CommandView;
use crate::view::layers::layer;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

impl BackgroundFixture {
    /// A command that gets what changes. There is no overlay here: the command sees its own layer alone.
    fn begin_with_updates(&self) -> CommandView {
        let mut command = self.begin();
        self.view.update_job(&mut command, Vec::new, |path| path.ends_with("hidden"));
        let updates = command.frozen.as_ref().unwrap().updates.clone().unwrap();
        let upper = fs::File::open(&command.mounts[0].upper).unwrap().into();
        updates.progress.lock().unwrap().as_mut().unwrap().open.insert(0, upper);
        command
    }
}

fn got(command: &CommandView, name: &str) -> Option<String> {
    fs::read_to_string(command.mounts[0].upper.join(name)).ok()
}

#[test]
fn what_it_got_is_not_its_doing() {
    for is_applied in [false, true] {
        let bench = bench(&[("a", "a\n"), ("b", "b\n")]);
        let command = bench.begin_with_updates();
        bench.hold("a", "newer\n");
        bench.hold("new/dir/x", "x\n");
        assert_eq!(got(&command, "a").as_deref(), Some("newer\n"));
        assert_eq!(got(&command, "new/dir/x").as_deref(), Some("x\n"));
        if is_applied {
            bench.apply();
        }
        bench.hold("new/dir/x", "y\n");
        assert_eq!(got(&command, "new/dir/x").as_deref(), Some("y\n"));
        // What was discarded since, too.
        bench.hold("b", "newer\n");
        bench.hold("b", "b\n");
        let effects = bench.end(command);
        assert!(effects.is_empty() && effects.beside.is_empty(), "{effects:?}");
        assert_eq!(bench.seen("new/dir/x").as_deref(), Some("y\n"));
        assert_eq!(bench.seen("a").as_deref(), Some("newer\n"));
    }
}

#[test]
fn what_it_does_to_what_it_got_counts_from_there() {
    for is_applied in [false, true] {
        let bench = bench(&[("a", "1\n2\n")]);
        let command = bench.begin_with_updates();
        bench.hold("a", "one\n2\n");
        bench.hold("new/x", "x\n");
        bench.hold("gone/x", "x\n");
        if is_applied {
            bench.apply();
        }
        let upper = command.mounts[0].upper.clone();
        // The kernel marks directories that were made in an overlay.
        layer::mark_opaque_at(&layer::open_dir(&upper).unwrap(), OsStr::new("new")).unwrap();
        bench.wrote(&command, "a", "ONE\n2\n");
        bench.wrote(&command, "new/own", "own\n");
        fs::remove_dir_all(upper.join("gone")).unwrap();
        let effects = bench.end(command);
        assert!(effects.merged.is_empty() && effects.beside.is_empty(), "{is_applied}: {effects:?}");
        assert_eq!((effects.created, effects.modified, effects.deleted), (1, 1, 2), "{is_applied}");
        let seen = ["a", "new/x", "new/own", "gone/x"].map(|name| bench.seen(name));
        let expected = [Some("ONE\n2\n"), Some("x\n"), Some("own\n"), None];
        assert_eq!(seen, expected.map(|text| text.map(str::to_string)), "{is_applied}");
    }
}

/// Story: the edit of a file brought back the directory that the command had removed.
#[test]
fn a_directory_that_it_removed_is_not_made_again() {
    let bench = bench(&[("old/x", "x\n")]);
    let command = bench.begin_with_updates();
    bench.hold("new/x", "x\n");
    let upper = command.mounts[0].upper.clone();
    fs::remove_dir_all(upper.join("new")).unwrap();
    bench.deleted(&command, "old");
    bench.hold("new/x", "newer\n");
    bench.hold("old/x", "newer\n");
    bench.hold("old/y", "y\n");
    assert!(!upper.join("new").exists() && !upper.join("old").is_dir());
    let effects = bench.end(command);
    // Others worked there since: it stays, and that is reported.
    assert_eq!(bench.names(&effects.kept), ["new/x", "old/x"]);
    assert_eq!(bench.seen("new/x").as_deref(), Some("newer\n"));
    assert_eq!(bench.seen("old/x").as_deref(), Some("newer\n"));
}

#[test]
fn its_own_files_links_and_pipes_stay_as_they_are() {
    let bench = bench(&[("a", "a\n"), ("d/x", "x\n"), ("p", "p\n"), ("s", "s\n")]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "outside\n").unwrap();
    fs::set_permissions(outside.path().join("x"), fs::Permissions::from_mode(0o000)).unwrap();
    let command = bench.begin_with_updates();
    let upper = command.mounts[0].upper.clone();
    bench.wrote(&command, "a", "own\n");
    symlink(outside.path(), upper.join("d")).unwrap();
    placet_text::text::regular_file::make_pipe(&upper.join("p"));
    symlink(outside.path().join("x"), upper.join("s")).unwrap();
    for name in ["a", "d/x", "p", "s"] {
        bench.hold(name, "newer\n");
    }
    assert_eq!(got(&command, "a").as_deref(), Some("own\n"));
    assert!(upper.join("d").is_symlink() && upper.join("s").is_symlink());
    let mode = outside.path().join("x").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0);
    let effects = bench.end(command);
    assert_eq!(bench.names(&effects.beside), ["a.job-1", "d.job-1", "p.job-1", "s.job-1"]);
}

#[test]
fn repositories_hidden_paths_and_what_is_too_much_do_not_reach_it() {
    let bench = bench(&[]);
    let command = bench.begin_with_updates();
    for name in [".git/x", "sub/.git/x", "hidden"] {
        bench.hold(name, "x\n");
        assert_eq!(got(&command, name), None, "{name}");
    }
    let large = "x".repeat(usize::try_from(LARGEST).unwrap() + 1);
    bench.hold("large", &large);
    bench.hold("fits", &large[1..]);
    assert_eq!(got(&command, "large"), None);
    assert!(got(&command, "fits").is_some());
    let paths: Vec<PathBuf> = (0..=MOST_PATHS).map(|n| bench.root.join(format!("f{n}"))).collect();
    fs::write(&paths[0], "x\n").unwrap();
    bench.view.update_jobs(paths.iter().map(PathBuf::as_path));
    assert_eq!(got(&command, "f0"), None);
    bench.view.update_jobs(paths[1..].iter().chain([&paths[0]]).take(1).map(PathBuf::as_path));
    bench.view.update_jobs([&*paths[0]]);
    assert_eq!(got(&command, "f0").as_deref(), Some("x\n"));
}

/// Story: a kill in the middle left a file of placet's own, which was shown as a change.
#[test]
fn what_is_on_its_way_is_no_change() {
    let bench = bench(&[]);
    let command = bench.begin_with_updates();
    let staged = command.frozen.as_ref().unwrap().staged.to_str().unwrap().to_string();
    bench.wrote(&command, &staged, "x\n");
    bench.wrote(&command, &format!("e/{staged}/x"), "x\n");
    let upper = command.mounts[0].upper.clone();
    fs::create_dir(upper.join("d")).unwrap();
    placet_text::text::regular_file::make_pipe(&upper.join("d").join(&staged));
    bench.wrote(&command, &format!("d/{staged}.mine"), "x\n");
    let effects = bench.end(command);
    assert_eq!(effects.created, 3);
    let left: Vec<String> = bench.entries().into_iter().collect();
    assert_eq!(left, ["d".into(), format!("d/{staged}.mine"), "e".into()]);
}

#[test]
fn each_command_gets_changes_by_itself_until_it_ends() {
    let bench = bench(&[("a", "a\n")]);
    let (one, two) = (bench.begin_with_updates(), bench.begin_with_updates());
    bench.wrote(&one, "a", "own\n");
    bench.hold("a", "newer\n");
    assert_eq!(got(&one, "a").as_deref(), Some("own\n"));
    assert_eq!(got(&two, "a").as_deref(), Some("newer\n"));
    drop(one);
    let upper = two.mounts[0].upper.clone();
    let updates = two.frozen.as_ref().unwrap().updates.clone().unwrap();
    assert!(bench.view.updates_jobs());
    assert!(bench.end(two).is_empty());
    bench.view.update_jobs([&*bench.root.join("a")]);
    assert!(!upper.join("a").exists());
    drop(updates);
    assert!(!bench.view.updates_jobs());
}

/// Stories: the server's later writes went to a file without a name.
#[test]
fn a_file_that_it_has_open_for_writing_is_not_exchanged_under_it() {
    let bench = bench(&[("log", "1\n2\n3\n"), ("db", "old\n"), ("read", "old\n")]);
    let command = bench.begin_with_updates();
    for (name, text) in [("log", "1\n2\n3\n"), ("db", "old\n"), ("read", "old\n")] {
        bench.wrote(&command, name, text);
    }
    let upper = command.mounts[0].upper.clone();
    let mut log = fs::OpenOptions::new().append(true).open(upper.join("log")).unwrap();
    let db = fs::OpenOptions::new().read(true).write(true).open(upper.join("db")).unwrap();
    let _read = fs::File::open(upper.join("read")).unwrap();
    bench.hold("log", "one\n2\n3\n");
    bench.remove("db");
    bench.hold("read", "new\n");
    assert_eq!(got(&command, "read").as_deref(), Some("new\n"));
    std::io::Write::write_all(&mut log, b"line\n").unwrap();
    drop((log, db));
    assert_eq!(got(&command, "log").as_deref(), Some("1\n2\n3\nline\n"));
    let effects = bench.end(command);
    assert_eq!(bench.names(&effects.merged), ["log"]);
    assert_eq!((bench.seen("log").as_deref(), bench.seen("db")), (Some("one\n2\n3\nline\n"), None));
}

/// Stories: an edit that was passed on and then undone came back with the command's line, and a deletion that was undone
/// was made once more by another command.
#[test]
fn what_was_undone_does_not_come_back() {
    const TEXT: &str = "1\n2\n3\n4\n5\n";
    for is_applied in [false, true] {
        let bench = bench(&[("a", TEXT), ("gone", "x\n")]);
        let (one, two) = (bench.begin_with_updates(), bench.begin_with_updates());
        let files = [JobFiles::of(&bench, &one), JobFiles::of(&bench, &two)];
        bench.hold("a", &TEXT.replace('1', "one"));
        // There is no overlay here: it sees what is below.
        files.iter().for_each(|files| files.write("gone", "x\n"));
        files[0].remove("gone");
        bench.end(one);
        assert!(bench.seen("gone").is_none() && got(&two, "gone").is_none());
        files[1].write("a", &TEXT.replace('1', "one").replace('5', "five"));
        if is_applied {
            bench.apply();
            bench.undo();
        } else {
            bench.discard();
        }
        let effects = bench.end(two);
        assert_eq!(bench.seen("gone").as_deref(), Some("x\n"), "{is_applied}");
        assert_eq!(bench.seen("a"), Some(TEXT.replace('5', "five")), "{is_applied}");
        assert_eq!(bench.names(&effects.merged), ["a"], "{is_applied}");
    }
}

/// Story: the files of a directory that became a file were removed, and the file did not come: a state that nobody had.
#[test]
fn what_takes_the_place_of_a_directory_does_not_reach_it_in_part() {
    let bench = bench(&[("d/f", "1\n"), ("d/g", "1\n")]);
    let job = bench.begin_with_updates();
    bench.hold("d/f", "one\n");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let command = runtime.block_on(bench.view.begin(crate::view::LayerKind::Pending, None)).unwrap();
    bench.wrote(&command, "d", "a file\n");
    bench.view.finish(command, &|_| false).unwrap();
    assert_eq!(got(&job, "d/f").as_deref(), Some("one\n"));
    let effects = bench.end(job);
    assert!(effects.is_empty() && effects.beside.is_empty(), "{effects:?}");
    assert_eq!(bench.seen("d").as_deref(), Some("a file\n"));
}
