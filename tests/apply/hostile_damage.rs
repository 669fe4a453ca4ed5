//! Damaged records of placet's own: each is reported by name, nothing that they may name is removed, and what can be
//! saved is saved. Story: a damaged journal entry was skipped in silence, and `journal prune` deleted its contents.

use crate::support::binary::Place;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// How a file is damaged, and the name of that for a message.
type Way = (&'static str, fn(&Path));

const WAYS: [Way; 5] = [
    ("garbage", |path| std::fs::write(path, b"\x00\xffnot a record").unwrap()),
    ("empty", |path| std::fs::write(path, b"").unwrap()),
    ("truncated", |path| {
        let bytes = std::fs::read(path).unwrap();
        std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }),
    ("other JSON", |path| std::fs::write(path, b"{\"id\": 2}\n").unwrap()),
    ("missing", |path| std::fs::remove_file(path).unwrap()),
];

/// Three transactions; each displaced a content that only the journal still names.
fn applied() -> Place {
    let place = Place::new().file("a.txt", "the first content\n");
    for text in ["second", "third", "fourth"] {
        let prompt = format!("overwrite a.txt with \"{text}\" anyway");
        place.run(["-p", &prompt, "--mode", "write"]).code(0);
    }
    place
}

/// A change that is pending.
fn pending() -> Place {
    let place = Place::new().file("a.txt", "old\n");
    place
        .run(["-p", "overwrite a.txt with \"new\" anyway and then create b.txt with \"b\"", "--mode", "ask"])
        .code(3);
    place
}

pub(super) fn only(dir: &Path) -> PathBuf {
    let all: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

fn entry(place: &Place, id: u64) -> PathBuf {
    only(&place.state_dir().join("journal")).join(format!("{id:012}.json"))
}

pub(super) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path),
        }
    }
    found.sort();
    found
}

fn object(place: &Place, content: &str) -> PathBuf {
    let name = blake3::hash(content.as_bytes()).to_hex().to_string();
    let found = files(&place.state_dir().join("objects"));
    found.into_iter().find(|path| path.to_string_lossy().contains(&name)).unwrap()
}

#[test]
fn a_damaged_entry_is_named_by_everything_that_reads_the_journal() {
    for id in [1, 2, 3] {
        for (way, damage) in WAYS {
            let place = applied();
            let file = entry(&place, id);
            damage(&file);
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let say = format!("{way} of {id}");
            let doctor = place.run(["doctor"]);
            assert_eq!(doctor.code, 1, "{say}: {doctor:#?}");
            assert!(
                doctor.stdout.contains(&name) && doctor.stdout.contains("journal repair"),
                "{say}: {doctor:#?}"
            );
            let list = place.run(["journal", "list"]).code(0);
            assert!(list.stdout.contains(&name), "{say}: {list:#?}");
            assert_eq!(list.stdout.lines().count(), 3, "{say}: {list:#?}");
            // At start, in one line.
            let warned = list.stderr.lines().filter(|line| line.starts_with("warning:")).count();
            assert!(warned == 1 && list.stderr.contains(&name), "{say}: {list:#?}");
            let shown = place.run(["journal", "show", &id.to_string()]).code(1);
            assert!(shown.stderr.contains(&name), "{say}: {shown:#?}");
            let json = place.run(["journal", "list", "--json"]).code(0).json();
            let damaged = json.as_array().unwrap().iter().filter(|one| one["damaged"].is_string()).count();
            assert_eq!(damaged, 1, "{say}: {json:#?}");
        }
    }
}

#[test]
fn undo_does_not_reach_past_a_damaged_entry_until_it_is_moved_aside() {
    for (way, damage) in WAYS {
        let place = applied();
        let file = entry(&place, 3);
        damage(&file);
        for command in ["undo", "redo"] {
            let out = place.run([command]);
            assert_eq!(out.code, 1, "{way}: {out:#?}");
            assert!(
                out.stderr.contains("000000000003.json") && out.stderr.contains("journal repair"),
                "{way}: {out:#?}"
            );
            assert!(!out.stdout.contains("nothing to undo"), "{way}: {out:#?}");
        }
        assert_eq!(place.read("a.txt"), "fourth");
        let out = place.run(["journal", "repair"]).code(0).says("000000000003.json");
        if way != "missing" {
            let aside = files(&place.state_dir().join("damaged"));
            assert_eq!(aside.len(), 1, "{way}: {out:#?}");
        }
        place.run(["doctor"]).says("no problems found");
        // What the damaged one changed is in the way, and is not overwritten; one's own words are heard.
        place.write("a.txt", "third");
        place.run(["undo"]).code(0).says("undid changes to 1 file");
        assert_eq!(place.read("a.txt"), "second", "{way}");
        // The number is not used again.
        place.run(["-p", "create n.txt with \"n\"", "--mode", "write"]).code(0);
        assert!(!file.exists() && entry(&place, 5).exists(), "{way}");
        place.run(["doctor"]).says("no problems found");
    }
}

#[test]
fn an_older_damaged_entry_does_not_keep_undo_from_the_newer_ones() {
    let place = applied();
    std::fs::write(entry(&place, 1), "").unwrap();
    place.run(["undo"]).code(0).says("undid changes to 1 file");
    assert_eq!(place.read("a.txt"), "third");
    place.run(["redo"]).code(0);
    place.run(["undo", "2"]).code(0);
    assert_eq!(place.read("a.txt"), "second");
    place.run(["undo"]).code(1).warns("000000000001.json");
}

#[test]
fn nothing_is_pruned_while_a_record_is_damaged_that_may_name_it() {
    for (way, damage) in WAYS {
        let place = applied().config("journal.max_days = 0\n");
        damage(&entry(&place, 2));
        let before = files(&place.state_dir().join("objects"));
        let out = place.run(["journal", "prune"]).code(1);
        assert!(
            out.stderr.contains("nothing was removed") && out.stderr.contains("000000000002.json"),
            "{way}: {out:#?}"
        );
        assert_eq!(files(&place.state_dir().join("objects")), before, "{way}");
        place.run(["journal", "repair"]).code(0);
        place.run(["journal", "prune"]).code(0).says("removed");
    }
    for (way, damage) in WAYS.into_iter().filter(|(way, _)| *way != "other JSON") {
        let place = pending().config("journal.max_days = 0\n");
        let view = only(&place.state_dir().join("views"));
        damage(&view.join("pending/base.jsonl"));
        let before = files(&place.state_dir().join("objects"));
        let out = place.run(["journal", "prune"]).code(1);
        assert!(out.stderr.contains("base.jsonl"), "{way}: {out:#?}");
        assert_eq!(files(&place.state_dir().join("objects")), before, "{way}");
    }
}

#[test]
fn a_damaged_content_is_named_and_taken_again_from_a_file_that_has_it() {
    for (way, damage) in WAYS {
        let place = applied();
        let file = object(&place, "third");
        damage(&file);
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        place.run(["doctor"]).code(1).says(&name);
        let out = place.run(["undo"]).code(1);
        assert!(out.stderr.contains(&name), "{way}: {out:#?}");
        assert_eq!(place.read("a.txt"), "fourth", "{way}");
        if way == "missing" {
            continue;
        }
        place.write("a.txt", "third");
        place.run(["journal", "repair"]).code(0).says("stored again").says("nothing was deleted");
        place.write("a.txt", "fourth");
        place.run(["undo"]).code(0);
        assert_eq!(place.read("a.txt"), "third", "{way}");
    }
}

/// Story: a displaced file was removed because a copy of it was stored already; nobody looked whether it was whole.
#[test]
fn a_damaged_copy_is_replaced_when_its_content_is_stored_once_more() {
    let place = applied();
    std::fs::write(object(&place, "the first content\n"), "rotten").unwrap();
    place.write("b.txt", "the first content\n");
    place.run(["-p", "overwrite b.txt with \"x\" anyway", "--mode", "write"]).code(0);
    place.run(["undo"]).code(0);
    assert_eq!(place.read("b.txt"), "the first content\n");
}

#[test]
fn damaged_roots_are_reported_and_made_again_from_what_is_pending() {
    for (way, damage) in WAYS {
        let place = pending();
        let view = only(&place.state_dir().join("views"));
        let roots = view.join("roots.json");
        let whole = std::fs::read(&roots).unwrap();
        damage(&roots);
        for command in ["changes", "apply", "discard"] {
            let out = place.run([command]).code(1);
            assert!(
                out.stderr.contains("roots.json") && out.stderr.contains("journal repair"),
                "{way}: {out:#?}"
            );
        }
        place.run(["doctor"]).code(1).says("roots.json");
        place.run(["tool", "call", "list_directory", "{}"]).code(0).warns("roots.json");
        place.run(["journal", "repair"]).code(0).says("found again");
        assert_eq!(std::fs::read(&roots).unwrap(), whole, "{way}");
        place.run(["changes"]).code(0).says("M a.txt").says("A b.txt");
        place.run(["apply"]).code(0);
        assert_eq!((place.read("a.txt"), place.read("b.txt")), ("new".into(), "b".into()), "{way}");
    }
}

#[test]
fn a_damaged_record_of_what_is_pending_stops_apply_and_is_made_again() {
    for (way, damage) in WAYS {
        let place = pending();
        let view = only(&place.state_dir().join("views"));
        damage(&view.join("pending/base.jsonl"));
        for command in ["changes", "apply", "discard"] {
            let out = place.run([command]).code(1);
            assert!(out.stderr.contains("base.jsonl"), "{way}, {command}: {out:#?}");
        }
        assert_eq!(place.read("a.txt"), "old\n");
        place.run(["doctor"]).code(1).says("base.jsonl");
        place.run(["journal", "repair"]).code(0).says(": rebuilt 2 records");
        place.run(["changes"]).code(0).says("M a.txt").says("A b.txt");
        place.run(["apply"]).code(0);
        assert_eq!((place.read("a.txt"), place.read("b.txt")), ("new".into(), "b".into()), "{way}");
        place.run(["undo"]).code(0);
        assert_eq!(place.read("a.txt"), "old\n", "{way}");
    }
}

#[test]
fn a_last_line_that_a_crash_cut_is_no_damage() {
    let place = pending();
    let record = only(&place.state_dir().join("views")).join("pending/base.jsonl");
    let mut bytes = std::fs::read(&record).unwrap();
    bytes.extend_from_slice(b"{\"path\":\"/x");
    std::fs::write(&record, bytes).unwrap();
    place.run(["changes"]).code(0).says("M a.txt").says("A b.txt");
    place.run(["doctor"]).says("no problems found");
    place.run(["discard", "b.txt"]).code(0);
    place.run(["changes"]).code(0).says("M a.txt");
}

#[test]
fn a_repair_deletes_nothing_and_says_when_there_is_nothing_to_do() {
    let place = applied();
    place.run(["journal", "repair"]).code(0).says("no damage found");
    assert!(!place.state_dir().join("damaged").exists());
    let file = entry(&place, 2);
    std::fs::write(&file, "the bytes of somebody").unwrap();
    place.run(["journal", "repair"]).code(0);
    let aside = files(&place.state_dir().join("damaged"));
    assert_eq!(std::fs::read_to_string(&aside[0]).unwrap(), "the bytes of somebody");
    let dir = aside[0].parent().unwrap();
    assert_eq!(std::fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700);
    place.run(["doctor"]).says("set aside");
    place.run(["journal", "repair"]).code(0).says("no damage found");
}

#[test]
fn a_damaged_entry_of_an_interrupted_apply_is_named_and_stops_undo() {
    let place = applied();
    let open = entry(&place, 4).with_extension("open.json");
    std::fs::write(&open, "{\"id\":4,\"at\":").unwrap();
    place.run(["doctor"]).code(1).says("000000000004.open.json");
    place.run(["undo"]).code(1).warns("the interrupted transaction 4 is damaged");
    place.run(["journal", "repair"]).code(0);
    place.run(["undo"]).code(0).says("undid changes to 1 file");
    place.run(["doctor"]).says("no problems found");
}

/// A pipe in the place of a record must not be opened: nobody would ever write to it.
#[test]
fn a_pipe_in_the_place_of_a_record_is_damage_and_no_wait() {
    let place = applied();
    for file in [entry(&place, 3), object(&place, "third")] {
        std::fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    }
    place.run(["doctor"]).code(1).says("it is not a regular file");
    place.run(["undo"]).code(1).warns("000000000003.json");
    place.run(["journal", "repair"]).code(0);
    place.run(["undo"]).code(1);
}

/// Story: a pipe in place of a file of placet's state made it wait without end.
#[test]
fn a_pipe_in_the_place_of_any_file_of_the_state_is_no_wait() {
    let place = applied();
    place.run(["session", "list"]).code(0);
    let state = place.state_dir();
    let own: Vec<PathBuf> = std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path()).collect();
    let own: Vec<PathBuf> = own.into_iter().filter(|path| path.is_file()).collect();
    assert!(own.iter().any(|path| path.ends_with("placet.db")), "{own:?}");
    for path in own {
        let saved = path.with_extension("saved");
        std::fs::rename(&path, &saved).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Each ends, within the patience of the test, and a turn says what it could not use.
        for args in
            [&["-p", "show a.txt"][..], &["doctor"], &["audit", "verify"], &["metrics", "show"], &["undo"]]
        {
            let out = place.run(args);
            assert!(out.code < 4, "{}: {args:?}: {}", path.display(), out.stderr);
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&saved, &path).unwrap();
    }
}
