//! Directories and records of placet's own that cannot be read. Story: a journal that could not be listed counted as empty,
//! so that the next apply took the number of the first transaction and replaced it, and `journal prune` deleted contents
//! that a discard needed.

use super::hostile_damage::{files, only};
use crate::support::binary::{Out, Place};
use crate::support::require::require;
use crate::support::txn::Txn;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// A record is named by its path, with the reason.
#[track_caller]
fn names(out: &Out, path: &Path) {
    let all = format!("{}{}", out.stdout, out.stderr);
    assert!(all.contains(&path.display().to_string()), "{path:?}: {out:#?}");
}

/// Two transactions, something pending, and a discard that can be brought back.
fn applied() -> Place {
    let place = Place::new().file("a.txt", "first\n").config("journal.max_days = 0\n");
    for text in ["second", "third"] {
        let prompt = format!("overwrite a.txt with \"{text}\" anyway");
        place.run(["-p", &prompt, "--mode", "write"]).code(0);
    }
    place
}

#[test]
fn a_journal_that_cannot_be_listed_is_not_empty() {
    let root = rustix::process::geteuid().is_root();
    if root && !require("setpriv") {
        return;
    }
    let txn = Txn::in_dir(tempfile::TempDir::new().unwrap(), root.then_some(1000));
    assert_eq!(txn.sh(&txn.tree, "echo first > a.txt"), 0);
    for text in ["second", "third"] {
        let prompt = format!("overwrite a.txt with \"{text}\" anyway");
        txn.run(["-p", &prompt, "--mode", "write"]).code(0);
    }
    txn.run(["-p", "create b.txt with \"b\"", "--mode", "ask"]).code(3);
    let journal = only(&txn.state().join("journal"));
    let kept = |txn: &Txn| -> Vec<Vec<u8>> {
        let all = ["journal", "objects"].map(|name| files(&txn.state().join(name)));
        all.iter().flatten().map(|path| std::fs::read(path).unwrap()).collect()
    };
    let read = |name: &str| std::fs::read_to_string(txn.tree.join(name)).unwrap();
    let before = kept(&txn);
    // Names can be made and opened in it, and not listed.
    mode(&journal, 0o300);
    let outs = ["undo", "redo", "apply", "doctor", "journal list", "journal prune", "journal repair"]
        .map(|line| (line, txn.run(line.split(' '))));
    let write = txn.run(["-p", "overwrite a.txt with \"fourth\" anyway", "--mode", "write"]);
    mode(&journal, 0o700);
    for (line, out) in &outs {
        assert_eq!(out.code, i32::from(*line != "journal list"), "{line}: {out:#?}");
        names(out, &journal);
        assert!(!out.stdout.contains("nothing to"), "{line}: {out:#?}");
        // At start as well.
        assert!(out.stderr.contains("the journal is damaged"), "{line}: {out:#?}");
    }
    assert_eq!((read("a.txt"), txn.tree.join("b.txt").exists()), ("third".into(), false), "{write:#?}");
    assert_eq!(kept(&txn), before, "{write:#?}");
    txn.run(["doctor"]).code(0);
    txn.run(["undo"]).code(0).says("undid changes to 1 file");
    assert_eq!(read("a.txt"), "second");
}

#[test]
fn a_file_in_the_place_of_a_journal_stops_pruning_and_is_moved_aside() {
    let place = applied();
    let journal = only(&place.state_dir().join("journal"));
    let away = place.beside("journal");
    std::fs::rename(&journal, &away).unwrap();
    std::fs::write(&journal, "no journal").unwrap();
    let objects = || files(&place.state_dir().join("objects"));
    let before = objects();
    for line in ["undo", "redo", "doctor", "journal prune"] {
        let out = place.run(line.split(' ')).code(1);
        names(&out, &journal);
        assert!(out.stdout.contains("not a directory") || out.stderr.contains("not a directory"), "{out:#?}");
    }
    place.run(["-p", "overwrite a.txt with \"fourth\" anyway", "--mode", "write"]);
    assert_eq!((place.read("a.txt").as_str(), objects()), ("third", before));
    place.run(["journal", "repair"]).code(0).says("moved to");
    assert!(!journal.exists());
    place.run(["doctor"]).says("no problems found");
    std::fs::rename(&away, &journal).unwrap();
    place.run(["undo"]).code(0);
    assert_eq!(place.read("a.txt"), "second");
}

/// What takes the place of a record, and the name of that for a message.
type Way = (&'static str, fn(&Path));

const WAYS: [Way; 3] = [
    ("a directory", |path| {
        std::fs::remove_file(path).unwrap();
        std::fs::create_dir(path).unwrap();
    }),
    ("a link to itself", |path| {
        std::fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink(path, path).unwrap();
    }),
    ("garbage", |path| std::fs::write(path, "\u{0}\n{}\n").unwrap()),
];

/// What keeps the base of a discarded change: the journal has it no more.
fn discarded() -> (Place, PathBuf) {
    let place = Place::new().file("a.txt", "the old content\n").config("journal.max_days = 0\n");
    place.run(["-p", "overwrite a.txt with \"new\" anyway", "--mode", "ask"]).code(3);
    place.run(["discard"]).code(0);
    let view = only(&place.state_dir().join("views"));
    (place, view.join("discarded"))
}

#[test]
fn contents_that_an_unreadable_discard_may_need_are_not_pruned() {
    /// A record, what takes its place, and how.
    type Case = (&'static str, &'static str, fn(&Path));
    let file: fn(&Path) = |path| {
        std::fs::remove_dir_all(path).unwrap();
        std::fs::write(path, "no directory").unwrap();
    };
    let in_record = |name: &'static str| WAYS.map(|(way, damage)| -> Case { (name, way, damage) });
    let mut all: Vec<Case> = vec![("", "a file", file), ("1", "a file", file)];
    all.extend(in_record("1/discard.json"));
    all.extend(in_record("1/base.jsonl"));
    for (name, way, damage) in all {
        let (place, discards) = discarded();
        let path = if name.is_empty() { discards.clone() } else { discards.join(name) };
        let say = format!("{way} in the place of `{name}`");
        damage(&path);
        let before = files(&place.state_dir().join("objects"));
        assert!(!before.is_empty());
        for line in ["journal prune", "undo", "doctor"] {
            let out = place.run(line.split(' '));
            assert_eq!(out.code, 1, "{say}, {line}: {out:#?}");
            names(&out, &path);
        }
        assert_eq!(files(&place.state_dir().join("objects")), before, "{say}");
        if !name.ends_with("base.jsonl") {
            place.run(["tool", "call", "list_directory", "{}"]).code(0).warns("discarded");
        }
        place.run(["journal", "repair"]).code(0).says("moved to");
        place.run(["doctor"]).says("no problems found");
        place.run(["journal", "prune"]).code(0);
        place.run(["undo"]).code(0).says("nothing to undo");
    }
}

#[test]
fn notes_of_the_journal_that_cannot_be_read_are_damage_and_are_made_again() {
    for note in ["last", "pruned"] {
        for (way, damage) in WAYS {
            let place = applied();
            let journal = only(&place.state_dir().join("journal"));
            let path = journal.join(note);
            std::fs::write(&path, if note == "last" { "2\n" } else { "0\n" }).unwrap();
            place.run(["doctor"]).says("no problems found");
            damage(&path);
            let say = format!("{way} in the place of `{note}`");
            for line in ["doctor", "journal prune", "undo"] {
                let out = place.run(line.split(' '));
                assert_eq!(out.code, 1, "{say}, {line}: {out:#?}");
                names(&out, &path);
            }
            names(&place.run(["journal", "list"]).code(0), &path);
            place.run(["journal", "repair"]).code(0).says("moved to");
            place.run(["doctor"]).says("no problems found");
            place.run(["undo"]).code(0).says("undid changes to 1 file");
            assert_eq!(place.read("a.txt"), "second", "{say}");
        }
    }
}

#[test]
fn directories_of_contents_and_views_that_cannot_be_listed_stop_pruning() {
    let place = applied();
    let objects = place.state_dir().join("objects");
    let shard = std::fs::read_dir(&objects).unwrap().next().unwrap().unwrap().path();
    let away = place.beside("shard");
    std::fs::rename(&shard, &away).unwrap();
    std::os::unix::fs::symlink(&shard, &shard).unwrap();
    let view = place.state_dir().join("views/cut");
    std::fs::create_dir_all(view.parent().unwrap()).unwrap();
    std::fs::write(&view, "no view").unwrap();
    let before = files(&objects);
    for line in ["journal prune", "doctor"] {
        let out = place.run(line.split(' ')).code(1);
        names(&out, if line == "doctor" { &shard } else { &view });
    }
    names(&place.run(["doctor"]), &view);
    names(&place.run(["changes"]).code(1), &view);
    // A link may lead to a disk that is not mounted: it stays.
    place.run(["journal", "repair"]).code(1).says("moved to").says("not repaired");
    assert!(!view.exists());
    names(&place.run(["journal", "prune"]).code(1), &shard);
    assert_eq!(files(&objects), before);
    std::fs::remove_file(&shard).unwrap();
    std::fs::rename(&away, &shard).unwrap();
    place.run(["doctor"]).says("no problems found");
    place.run(["undo"]).code(0);
    assert_eq!(place.read("a.txt"), "second");
}
