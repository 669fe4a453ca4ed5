//! The audit log: what stands in it, and that every change of it is found.

use crate::support::binary::Place;
use crate::support::require::has_view;
use placet::audit::{
    AuditBreak, AuditError, AuditEvent, AuditKind, AuditLog, AuditPaths, AuditReport, entries, verify,
};
use std::path::PathBuf;
use std::sync::Arc;

/// A log of its own, written without the program.
struct Desk {
    _dir: tempfile::TempDir,
    places: AuditPaths,
}

impl Desk {
    fn new() -> Desk {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().to_path_buf();
        let places = AuditPaths {
            log: base.join("state/audit/log.jsonl"),
            key: base.join("config/audit.key"),
            anchor: base.join("config/audit.head"),
        };
        Desk { _dir: dir, places }
    }

    /// With so many entries.
    fn with(entries: u64) -> Desk {
        let desk = Desk::new();
        let log = desk.log();
        for seq in 1..=entries {
            assert_eq!(log.append(note(seq)).unwrap(), seq);
        }
        desk
    }

    fn log(&self) -> AuditLog {
        AuditLog::at(self.places.clone())
    }

    fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(&self.places.log).unwrap().lines().map(String::from).collect()
    }

    fn put(&self, lines: &[String]) {
        std::fs::write(&self.places.log, lines.iter().map(|l| format!("{l}\n")).collect::<String>()).unwrap();
    }

    fn broken(&self) -> Option<AuditBreak> {
        verify(&self.places).unwrap().broken
    }
}

fn note(number: u64) -> AuditEvent {
    let reach = vec![format!("read /w/{number}")];
    AuditEvent {
        tool: Some("read_file".into()),
        reach,
        why: Some("because".into()),
        ..AuditEvent::of(AuditKind::Decision)
    }
}

/// The code in a line.
fn mac(line: &str) -> String {
    line.rsplit_once("\"mac\":\"").unwrap().1.trim_end_matches("\"}").into()
}

#[test]
fn a_log_as_it_was_written_is_whole_over_several_processes() {
    let desk = Desk::new();
    assert_eq!(verify(&desk.places).unwrap(), AuditReport { entries: 0, broken: None, unfinished: false });
    let (one, two) = (desk.log(), desk.log());
    for seq in 1..=20 {
        let log = if seq % 3 == 0 { &two } else { &one };
        assert_eq!(log.append(note(seq)).unwrap(), seq);
    }
    assert_eq!(verify(&desk.places).unwrap(), AuditReport { entries: 20, broken: None, unfinished: false });
    let written = entries(&desk.places).unwrap();
    assert_eq!(
        written.iter().map(|e| e.note.clone()).collect::<Vec<_>>(),
        (1..=20).map(note).collect::<Vec<_>>()
    );
}

#[test]
fn writers_side_by_side_share_one_chain() {
    let desk = Arc::new(Desk::new());
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let desk = Arc::clone(&desk);
            std::thread::spawn(move || {
                let log = desk.log();
                (0..50).for_each(|n| assert!(log.append(note(n)).unwrap() > 0));
            })
        })
        .collect();
    writers.into_iter().for_each(|w| w.join().unwrap());
    assert_eq!(verify(&desk.places).unwrap(), AuditReport { entries: 200, broken: None, unfinished: false });
}

#[test]
fn every_kind_of_tampering_is_found_where_it_begins() {
    type Change = fn(&mut Vec<String>);
    let changes: [(&str, Change, &str); 8] = [
        ("a word changed", |l| l[3] = l[3].replace("because", "whatever"), "entry 4 was changed"),
        ("a code changed", |l| l[3] = l[3].replacen(&mac(&l[3]), &"0".repeat(64), 1), "entry 4 was changed"),
        (
            "one in the middle deleted",
            |l| drop(l.remove(3)),
            "the chain is broken at entry 4: expected {3}, found {4}",
        ),
        (
            "the first deleted",
            |l| drop(l.remove(0)),
            "the chain is broken at entry 1: expected {0}, found {1}",
        ),
        ("the last deleted", |l| drop(l.pop()), "1 entry is missing at the end"),
        ("the last three deleted", |l| l.truncate(5), "3 entries are missing at the end"),
        ("two swapped", |l| l.swap(3, 4), "the chain is broken at entry 4: expected {3}, found {4}"),
        (
            "one appended without the key",
            |l| {
                let forged = l[7].replace("\"seq\":8", "\"seq\":9").replace("/w/8", "/w/9");
                l.push(forged);
            },
            "entry 9 was changed",
        ),
    ];
    for (what, change, found) in changes {
        let desk = Desk::with(8);
        let mut lines = desk.lines();
        let code = |n: usize| if n == 0 { "0".repeat(64) } else { mac(&lines[n - 1]) };
        let found = (0..=8).fold(found.to_string(), |text, n| text.replace(&format!("{{{n}}}"), &code(n)));
        change(&mut lines);
        desk.put(&lines);
        assert_eq!(desk.broken().map(|b| b.to_string()), Some(found), "{what}");
    }
}

#[test]
fn a_genuine_entry_written_once_more_breaks_the_chain() {
    let desk = Desk::with(4);
    let mut lines = desk.lines();
    lines.push(lines[1].clone());
    desk.put(&lines);
    let (expected, got) = (mac(&lines[3]), mac(&lines[0]));
    assert_eq!(desk.broken(), Some(AuditBreak::Chain { seq: 5, expected, got }));
}

#[test]
fn a_removed_log_is_missed_and_the_alarm_stays_on_record() {
    let desk = Desk::with(3);
    std::fs::remove_file(&desk.places.log).unwrap();
    assert_eq!(desk.broken(), Some(AuditBreak::Missing { count: 3 }));
    desk.log().append(note(9)).unwrap();
    let why = "3 entries were missing at the end, after entry 0".to_string();
    assert_eq!(desk.broken(), Some(AuditBreak::Alarm { seq: 1, why }));
}

#[test]
fn a_crash_between_the_log_and_its_anchor_is_no_alarm_and_one_within_a_line_neither() {
    let desk = Desk::with(3);
    let before = std::fs::read(&desk.places.anchor).unwrap();
    desk.log().append(note(4)).unwrap();
    std::fs::write(&desk.places.anchor, before).unwrap();
    assert_eq!(verify(&desk.places).unwrap(), AuditReport { entries: 4, broken: None, unfinished: false });
    let mut text = std::fs::read_to_string(&desk.places.log).unwrap();
    text.push_str("{\"seq\":5,\"ti");
    std::fs::write(&desk.places.log, text).unwrap();
    assert_eq!(verify(&desk.places).unwrap(), AuditReport { entries: 4, broken: None, unfinished: true });
    desk.log().append(note(5)).unwrap();
    assert_eq!(verify(&desk.places).unwrap(), AuditReport { entries: 5, broken: None, unfinished: false });
}

#[test]
fn a_log_without_its_key_or_with_one_others_can_read_is_refused() {
    let desk = Desk::with(2);
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&desk.places.key, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(desk.log().append(note(3)), Err(AuditError::KeyMode { mode: 0o644, .. })));
    std::fs::remove_file(&desk.places.key).unwrap();
    assert!(matches!(desk.log().append(note(3)), Err(AuditError::KeyGone { .. })));
    assert!(matches!(verify(&desk.places), Err(AuditError::KeyGone { .. })));
    assert!(!desk.places.key.exists(), "no new key in its place");
}

fn log_of(place: &Place) -> PathBuf {
    place.state_dir().join("audit/log.jsonl")
}

/// Kind, tool, decision and outcome of each entry.
fn told(place: &Place) -> Vec<String> {
    let out = place.run(["audit", "show", "-n", "100", "--json"]).code(0);
    let word = |e: &serde_json::Value, key: &str| e[key].as_str().unwrap_or("-").to_string();
    out.lines()
        .iter()
        .map(|e| ["kind", "tool", "decision", "outcome"].map(|k| word(e, k)).join(" "))
        .collect()
}

#[test]
fn each_call_is_written_down_before_it_runs_and_after_with_who_consented() {
    let place = Place::new().file("a.txt", "alpha\n");
    place.run(["tool", "call", "read_file", r#"{"path":"a.txt"}"#]).code(0);
    let write = ["tool", "call", "write_file", r#"{"path":"b.txt","content":"x"}"#];
    place.run(write).code(3);
    place.run(write.iter().chain(&["--mode", "write"])).code(0);
    place.run(["tool", "call", "read_file", r#"{"path":"none"}"#]).code(1);
    assert_eq!(
        told(&place),
        [
            "decision read_file allow -",
            "intent read_file allow -",
            "result read_file allow done",
            "decision write_file deny -",
            "decision write_file allow -",
            "intent write_file allow -",
            "result write_file allow done",
            "decision read_file error -",
        ]
    );
    let first = &place.run(["audit", "export"]).code(0).lines()[4];
    assert_eq!(first["why"], "write mode allows it");
    assert_eq!(first["reach"][0], format!("write {}", place.tree.join("b.txt").display()));
    assert_eq!(first["preview_hash"].as_str().unwrap().len(), 64);
    place.run(["audit", "verify"]).code(0).says("8 entries, no changes found");
}

#[test]
fn a_conversation_names_its_session_and_an_apply_is_written_down() {
    let place = Place::new().file("a.txt", "alpha\n");
    place.run(["-p", "create new.txt with hello", "--mode", "ask"]).code(3);
    place.run(["apply"]).code(0);
    place.run(["undo"]).code(0);
    let out = place.run(["audit", "show", "--json"]).code(0);
    let all = out.lines();
    assert!(all[0]["session"].is_string(), "{all:#?}");
    let kinds: Vec<&str> = all.iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["decision", "intent", "result", "apply", "undo"]);
    place.run(["audit", "verify"]).code(0);
}

/// The kinds of the entries, and of each apply and undo what it did.
fn done_in(place: &Place) -> Vec<String> {
    let read = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let is_decision = |entry: &serde_json::Value| entry["kind"] == "apply" || entry["kind"] == "undo";
    let words = |entry: serde_json::Value| format!("{}: {}", entry["tool"], entry["outcome"]);
    let log = std::fs::read_to_string(log_of(place)).unwrap_or_default();
    log.lines().map(read).filter(is_decision).map(words).collect()
}

/// Story: `kill -9` right after an apply: the files were applied, and the log never had an entry of it.
#[test]
fn an_apply_whose_process_is_killed_before_its_entry_is_logged_by_the_next_start() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("a.txt", "alpha\n");
    let held = place.beside("hold");
    let killed = |args: &[&str], number: u32| {
        place.write("../hold", "");
        let running = place.placet_that_holds(("applied", &held), args).start();
        while !place.beside("hold.reached").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // What another placet is doing at the moment is not logged by this one.
        place.run(["changes"]).code(0);
        assert_eq!(done_in(&place).len() as u32, number, "{args:?}");
        running.signal(rustix::process::Signal::KILL);
        running.end();
        std::fs::remove_file(place.beside("hold.reached")).unwrap();
        std::fs::remove_file(&held).unwrap();
    };
    place.run(["sandbox", "run", "--", "echo beta > a.txt"]).code(3);
    killed(&["apply", "--yes"], 0);
    assert_eq!(place.read("a.txt"), "beta\n");
    for _ in 0..2 {
        place.run(["changes"]).code(0);
        let entry = "\"next start\": \"applied changes to 1 file, number 1 in the journal\"";
        assert_eq!(done_in(&place), [entry]);
    }
    // Nothing is logged twice, and what is logged by its own process leaves nothing to log.
    place.run(["undo"]).code(0).says("undid changes to 1 file");
    place.run(["changes"]).code(0);
    assert_eq!(done_in(&place).len(), 2, "{:?}", done_in(&place));
    let journal =
        std::fs::read_dir(place.state_dir().join("journal")).unwrap().next().unwrap().unwrap().path();
    let marks = std::fs::read_dir(journal)
        .unwrap()
        .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().ends_with(".unlogged"));
    assert_eq!(marks.count(), 0);
    place.run(["audit", "verify"]).code(0).says("no changes found");
}

/// Story: a kill between the entry and the removal of its mark: the next start added a second entry.
#[test]
fn an_apply_that_is_logged_already_is_not_logged_by_the_next_start() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("a.txt", "alpha\n");
    place.run(["sandbox", "run", "--", "echo beta > a.txt"]).code(3);
    place.run(["apply", "--yes"]).code(0);
    let journal =
        std::fs::read_dir(place.state_dir().join("journal")).unwrap().next().unwrap().unwrap().path();
    let mark = journal.join("000000000001.unlogged");
    std::fs::write(&mark, "").unwrap();
    place.run(["changes"]).code(0);
    assert!(!mark.exists());
    let logged = done_in(&place);
    assert!(logged.len() == 1 && !logged[0].contains("next start"), "{logged:?}");
    let name = format!("{}/1", journal.file_name().unwrap().to_str().unwrap());
    let log = std::fs::read_to_string(log_of(&place)).unwrap();
    assert!(log.contains(&format!("\"transactions\":[\"{name}\"]")), "{log}");
    // An entry that placet did not write is none.
    let forged = log.replace("placet apply", "placet qpply");
    assert_ne!(forged, log);
    std::fs::write(log_of(&place), forged).unwrap();
    std::fs::write(&mark, "").unwrap();
    place.run(["changes"]).code(0);
    assert_eq!(done_in(&place).len(), 2, "{:?}", done_in(&place));
}

#[test]
fn a_log_that_cannot_be_written_stops_the_call() {
    let place = Place::new();
    std::fs::create_dir_all(place.state_dir()).unwrap();
    std::fs::write(place.state_dir().join("audit"), "in the way").unwrap();
    let write = ["tool", "call", "write_file", r#"{"path":"b.txt","content":"x"}"#, "--mode", "write"];
    let out = place.run(write).code(1).warns("cannot write the audit log, so placet stops here");
    assert!(out.stderr.contains("hint: make it writable, or turn the log off with `audit.enabled = false`"));
    assert!(!place.tree.join("b.txt").exists());
    place.run(write.iter().chain(&["--set", "audit.enabled=false"])).code(0);
}

#[test]
fn verify_tells_the_first_break_and_ends_with_one() {
    let place = Place::new().file("a.txt", "alpha\n");
    place.run(["tool", "call", "read_file", r#"{"path":"a.txt"}"#]).code(0);
    let text = std::fs::read_to_string(log_of(&place)).unwrap();
    std::fs::write(log_of(&place), text.replacen("a.txt", "b.txt", 1)).unwrap();
    let out = place.run(["audit", "verify"]).code(1);
    assert_eq!(out.stdout, "entry 1 was changed\n");
    std::fs::write(log_of(&place), text.lines().take(2).map(|l| format!("{l}\n")).collect::<String>())
        .unwrap();
    assert_eq!(place.run(["audit", "verify"]).code(1).stdout, "1 entry is missing at the end\n");
}

#[test]
fn no_tool_reads_the_key_or_the_anchor() {
    let place = Place::new();
    place.run(["tool", "call", "list_directory", "{}"]).code(0);
    for name in ["audit.key", "audit.head"] {
        let path = serde_json::json!({"path": place.config_dir().join(name)}).to_string();
        let out = place.run(["tool", "call", "read_file", &path, "--mode", "unrestricted", "--allow", "*"]);
        assert_ne!(out.code, 0, "{}", out.stdout);
    }
}
