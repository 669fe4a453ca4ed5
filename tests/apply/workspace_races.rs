//! Somebody else writes the same file at the same time, and nothing they wrote is lost.

use crate::support::binary::Place;
use crate::support::is_full;
use crate::support::outsider::by_rename;
use crate::support::outsider::in_place;
use crate::support::permit::permit;
use placet::workspace::{ExpectedContent, OpenConsent, Workspace, WorkspaceError};
use std::io::{Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// How an outsider writes the number.
type Outsider = fn(&Path, u64);

/// Runs an outsider against our edits. Each of ours is made only over what was read, so after a write that succeeded
/// the content before it must have been theirs or ours as read; a later one of theirs must never vanish unseen.
fn contest(outsider: Outsider, rounds: u64) -> (u64, u64) {
    let dir = fast_dir();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    let path = root.join("f");
    std::fs::write(&path, "start\n").unwrap();
    let workspace = Workspace::new(root.clone(), Vec::new()).unwrap();
    let at = workspace.resolve("f").unwrap();
    let done = AtomicBool::new(false);
    let (mut won, mut raced) = (0, 0);
    let last = std::thread::scope(|scope| {
        let theirs = scope.spawn(|| {
            let mut number = 0;
            while !done.load(Ordering::Relaxed) {
                number += 1;
                outsider(&path, number);
                std::thread::sleep(std::time::Duration::from_micros(number % 7 * 150));
            }
            // The last word is theirs: it must stand when everything has come to rest.
            outsider(&path, number + 1);
            number + 1
        });
        for _ in 0..rounds {
            let (bytes, hash) = match workspace.load(&at, OpenConsent::Inside, 1000) {
                Ok(loaded) => loaded,
                Err(WorkspaceError::Missing(_)) => continue,
                Err(e) => panic!("{e}"),
            };
            // An edit keeps every line there is and adds one.
            let after = [&bytes[..], b"ours\n"].concat();
            let after = if after.len() > 200 { b"ours\n".to_vec() } else { after };
            match workspace.write(&at, &permit(vec![at.write()]), &after, ExpectedContent::Content(hash)) {
                Ok(_) => won += 1,
                Err(WorkspaceError::Raced(_) | WorkspaceError::Missing(_)) => raced += 1,
                Err(e) => panic!("{e}"),
            }
        }
        done.store(true, Ordering::Relaxed);
        theirs.join().unwrap()
    });
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("theirs {last}\n"));
    let names: Vec<String> =
        std::fs::read_dir(&root).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["f"], "stray files");
    (won, raced)
}

/// In memory where the machine has such a place: syncing is what takes the time here.
fn fast_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn rounds() -> u64 {
    if is_full() { 10_000 } else { 400 }
}

#[test]
fn a_writer_that_renames_is_never_overwritten_unseen() {
    let (won, raced) = contest(by_rename, rounds());
    assert!(won + raced > 0);
}

#[test]
fn a_writer_in_place_is_never_overwritten_unseen() {
    let (won, raced) = contest(in_place, rounds());
    assert!(won + raced > 0);
}

/// The numbers an outsider wrote and has not seen lost: it adds to what is there and checks that its last is still
/// there the next time.
#[test]
fn lines_that_somebody_appends_under_a_lock_of_their_own_survive_our_edits() {
    let dir = fast_dir();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    let path = root.join("f");
    std::fs::write(&path, "start\n").unwrap();
    let workspace = Workspace::new(root.clone(), Vec::new()).unwrap();
    let at = workspace.resolve("f").unwrap();
    let ours = std::sync::Mutex::new(());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let theirs = scope.spawn(|| {
            let mut number = 0;
            while !done.load(Ordering::Relaxed) {
                // Between its opening and its writing we stand still: what remains open is said in the guide.
                let _turn = ours.lock().unwrap();
                number += 1;
                let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
                writeln!(file, "theirs {number}").unwrap();
                file.rewind().unwrap();
            }
            number
        });
        for round in 0..rounds() {
            let Ok((bytes, hash)) = workspace.load(&at, OpenConsent::Inside, 10_000_000) else { continue };
            std::thread::yield_now();
            let _turn = ours.lock().unwrap();
            let after = [&bytes[..], format!("ours {round}\n").as_bytes()].concat();
            let _ = workspace.write(&at, &permit(vec![at.write()]), &after, ExpectedContent::Content(hash));
        }
        done.store(true, Ordering::Relaxed);
        let count = theirs.join().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let found = text.lines().filter(|l| l.starts_with("theirs ")).count();
        assert_eq!(found, count, "lines of theirs are lost");
    });
}

#[test]
fn a_file_that_appears_is_not_overwritten_by_one_that_is_created() {
    let dir = fast_dir();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    let workspace = Workspace::new(root.clone(), Vec::new()).unwrap();
    let at = workspace.resolve("new/f").unwrap();
    std::fs::create_dir(root.join("new")).unwrap();
    std::fs::write(root.join("new/f"), "theirs").unwrap();
    let made = workspace.write(&at, &permit(vec![at.write()]), b"ours", ExpectedContent::Absent);
    assert!(matches!(made, Err(WorkspaceError::Exists(_))));
    assert_eq!(std::fs::read(root.join("new/f")).unwrap(), b"theirs");
}

/// Story: a placet that Ctrl-Z had stopped in its apply kept another one waiting without a word.
#[test]
fn every_command_that_waits_for_the_apply_of_another_placet_names_it() {
    if !crate::support::require::has_view() {
        return;
    }
    let place = Place::with_notes();
    place.run(["--mode", "write", "-p", "create a.txt with \"a\""]).code(0);
    let journals = place.state_dir().join("journal");
    let journal = std::fs::read_dir(journals).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
    let call = r#"{"path": "e.txt", "content": "e"}"#;
    let commands: [&[&str]; 6] = [
        &["--mode", "write", "-p", "create b.txt with \"b\""],
        &["--mode", "write", "tool", "call", "write_file", call],
        &["run", "--apply", "--", "touch", "c.txt"],
        &["undo"],
        &["redo"],
        &["apply"],
    ];
    for command in commands {
        if command == ["apply"] {
            place.run(["--mode", "ask", "-p", "create d.txt with \"d\""]).code(3);
        }
        let held = std::fs::File::options().read(true).write(true).open(journal.join("lock")).unwrap();
        rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&held, b"     12345\n", 0).unwrap();
        let running = place.placet(command).start();
        running.until_warned("waiting for another placet (process 12345), which applies changes here");
        drop(held);
        let out = running.end().code(0);
        assert_eq!(out.stderr.matches("waiting for another placet").count(), 1, "{command:?} {out:#?}");
    }
    let left: Vec<bool> =
        ["a", "b", "c", "d", "e"].map(|name| place.tree.join(format!("{name}.txt")).exists()).to_vec();
    assert_eq!(left, [true; 5]);
}
