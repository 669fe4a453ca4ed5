//! Who wrote each line: told from the journal, for calls, commands, the person, undo, renames and what was lost.

use crate::support::binary::Place;
use crate::support::require::has_view;
use crate::support::special::whiteout;
use crate::support::tool_bench::Bench;
use placet::permission::Mode;
use placet::workspace::{
    ApplyOutcome, ApprovedBy, BlameLine, ChangeOrigin, ChangeSelection, LayerKind, LineStatus, PruneLimits,
    PruneRoots, SelectedPart, TransactionKind, TransactionLabel, View, prune,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A workspace in which turns are taken, their calls made and their changes settled.
pub(super) struct Desk(pub(super) Bench);

impl Desk {
    pub(super) fn new(mode: Mode) -> Desk {
        let mut bench = Bench::new();
        bench.mode = mode;
        Desk(bench)
    }

    pub(super) fn view(&self) -> &View {
        self.0.env.workspace.view().unwrap()
    }

    pub(super) fn turn(&self, name: &str) {
        let label = TransactionLabel {
            turn: name.into(),
            title: format!("turn {name}"),
            ..TransactionLabel::default()
        };
        self.view().begin_turn(label);
    }

    #[track_caller]
    pub(super) fn call(&self, title: &str, tool: &str, input: Value) {
        let _in = self.view().enter_call("c", tool, title);
        self.0.call(tool, input).done();
    }

    #[track_caller]
    pub(super) fn replace(&self, title: &str, path: &str, old: &str, new: &str) {
        let input = json!({"path": path, "old_string": old, "new_string": new, "force": true});
        self.call(title, "edit_file", input);
    }

    /// What a command would leave in its layer.
    pub(super) fn command(&self, title: &str, make: impl FnOnce(&Path)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let command = runtime.block_on(self.view().begin(LayerKind::Pending, None)).unwrap();
        let label = self.view().label();
        let command = command.made_by(Some(Arc::new(ChangeOrigin::new(&label, "c", "run_command", title))));
        make(&command.mounts[0].upper);
        self.view().finish(command, &|_| false).unwrap();
    }

    pub(super) fn apply(&self, how: &str) {
        let set = self.view().changes(LayerKind::Pending).unwrap();
        let label = TransactionLabel { assent: ApprovedBy::you(how), ..self.view().label() };
        let applied = self.view().apply(&View::everything(&set), label).unwrap();
        assert!(matches!(applied, ApplyOutcome::Landed(_)), "{applied:?}");
    }

    pub(super) fn undo(&self) {
        let entries = self.view().journal().to_undo();
        let label = TransactionLabel { turn: "u".into(), ..TransactionLabel::default() };
        let plan = self.view().plan_undo(&entries, None, label).unwrap();
        self.view().execute_plan(plan).unwrap().unwrap();
    }

    pub(super) fn redo(&self) {
        let undo = self.view().journal().to_redo().unwrap();
        let plan = self
            .view()
            .plan_redo(&undo, TransactionLabel { turn: "r".into(), ..TransactionLabel::default() })
            .unwrap();
        self.view().execute_plan(plan).unwrap().unwrap();
    }

    #[track_caller]
    pub(super) fn lines(&self, name: impl AsRef<Path>) -> Vec<BlameLine> {
        self.view().blame(&self.0.root.join(name)).unwrap().lines
    }

    /// `text: whose`, a line each.
    #[track_caller]
    pub(super) fn whose(&self, name: impl AsRef<Path>) -> Vec<String> {
        self.lines(name).iter().map(|line| format!("{}: {}", line.text, who(line))).collect()
    }
}

/// The call, the turn and the consent, or what stands for them.
fn who(line: &BlameLine) -> String {
    let origin = |how: &str| {
        let origin = line.claim.origin.as_deref().unwrap();
        format!("{} in {}, {how}", origin.title, origin.turn)
    };
    match &line.claim.standing {
        LineStatus::Before => "before".into(),
        LineStatus::Workspace => origin(&line.claim.assent.words()),
        LineStatus::Pending => origin("pending"),
        LineStatus::Outside { after, before } => format!("outside {after:?} {before:?}"),
        LineStatus::Unknown { why } => format!("unknown, {why}"),
    }
}

#[test]
fn two_calls_of_one_turn_each_have_their_own_lines() {
    let desk = Desk::new(Mode::Ask);
    desk.0.write("a.txt", "one\ntwo\nthree\n");
    desk.turn("t1");
    desk.replace("first", "a.txt", "one", "ONE");
    desk.replace("second", "a.txt", "three", "THREE\nfour");
    let pending = [
        "ONE: first in t1, pending",
        "two: before",
        "THREE: second in t1, pending",
        "four: second in t1, pending",
    ];
    assert_eq!(desk.whose("a.txt"), pending);
    let set = desk.view().changes(LayerKind::Pending).unwrap();
    let made: Vec<&str> = set.changes[0].made_by().iter().map(|o| o.title.as_str()).collect();
    assert_eq!(made, ["first", "second"]);
    desk.apply("/apply");
    let landed = [
        "ONE: first in t1, you, /apply",
        "two: before",
        "THREE: second in t1, you, /apply",
        "four: second in t1, you, /apply",
    ];
    assert_eq!(desk.whose("a.txt"), landed);
}

#[test]
fn a_commands_effect_is_told_by_the_command() {
    let desk = Desk::new(Mode::Ask);
    desk.0.write("a.txt", "one\ntwo\n");
    desk.turn("t1");
    desk.replace("edit a.txt", "a.txt", "two", "2");
    desk.command("run sed -i 1s/one/1/ a.txt", |upper| {
        std::fs::write(upper.join("a.txt"), "1\n2\n").unwrap()
    });
    assert_eq!(
        desk.whose("a.txt"),
        ["1: run sed -i 1s/one/1/ a.txt in t1, pending", "2: edit a.txt in t1, pending"]
    );
    let set = desk.view().changes(LayerKind::Pending).unwrap();
    let made: Vec<&str> = set.changes[0].made_by().iter().map(|o| o.tool.as_str()).collect();
    assert_eq!(made, ["edit_file", "run_command"]);
}

#[test]
fn a_path_touched_once_keeps_no_content_in_between() {
    let desk = Desk::new(Mode::Ask);
    desk.turn("t1");
    desk.call("make it", "write_file", json!({"path": "new.txt", "content": "first\n"}));
    assert_eq!(desk.view().objects().list().0, []);
    desk.replace("change it", "new.txt", "first", "second");
    let kept: Vec<Vec<u8>> = desk
        .view()
        .objects()
        .list()
        .0
        .iter()
        .map(|(hash, _)| desk.view().objects().get(*hash).unwrap())
        .collect();
    assert_eq!(kept, [b"first\n".to_vec()]);
}

#[test]
fn what_write_mode_lands_says_so_and_so_does_a_question() {
    let desk = Desk::new(Mode::Write);
    desk.0.write("a.txt", "one\n");
    desk.turn("t1");
    desk.replace("by itself", "a.txt", "one", "1");
    assert_eq!(desk.whose("a.txt"), ["1: by itself in t1, write mode"]);
    desk.0.write(".envrc", "x\n");
    desk.replace("asked", ".envrc", "x", "y");
    assert_eq!(desk.whose(".envrc"), ["y: asked in t1, you, the question"]);
}

#[test]
fn undo_gives_lines_back_to_whoever_had_them_and_redo_takes_them_again() {
    let desk = Desk::new(Mode::Write);
    desk.0.write("a.txt", "one\ntwo\nthree\n");
    desk.turn("t1");
    desk.replace("first", "a.txt", "two", "TWO");
    let first = desk.whose("a.txt");
    desk.turn("t2");
    desk.replace("second", "a.txt", "TWO\nthree", "2\n3");
    let second = desk.whose("a.txt");
    assert_eq!(second, ["one: before", "2: second in t2, write mode", "3: second in t2, write mode"]);
    desk.undo();
    assert_eq!(desk.whose("a.txt"), first);
    desk.redo();
    assert_eq!(desk.whose("a.txt"), second);
    // The person's later line stays the person's.
    desk.0.write("a.txt", "zero\none\n2\n3\n");
    desk.undo();
    let merged = desk.whose("a.txt");
    assert_eq!(merged[0].split(' ').next(), Some("zero:"));
    assert!(merged[0].contains("outside"), "{merged:?}");
    assert_eq!(merged[1..], first[..]);
}

#[test]
fn part_of_a_turn_taken_back_gives_its_lines_back_too() {
    let desk = Desk::new(Mode::Write);
    desk.0.write("a.txt", "one\n");
    desk.0.write("b.txt", "one\n");
    desk.turn("t1");
    desk.replace("a", "a.txt", "one", "two");
    desk.replace("b", "b.txt", "one", "two");
    let entries = desk.view().journal().to_undo();
    let label = TransactionLabel { turn: "u".into(), ..TransactionLabel::default() };
    let plan = desk.view().plan_undo(&entries, Some(&desk.0.path("a.txt")), label).unwrap();
    let entry = desk.view().execute_plan(plan).unwrap().unwrap();
    let part = TransactionKind::Undo {
        of: entries.iter().map(|e| e.id).collect(),
        part: Some(desk.0.path("a.txt")),
    };
    assert_eq!((entry.kind, entry.label.assent), (part, ApprovedBy::you("undo")));
    assert_eq!(desk.whose("a.txt"), ["one: before"]);
    assert_eq!(desk.whose("b.txt"), ["two: b in t1, write mode"]);
}

#[test]
fn what_lands_hunk_by_hunk_keeps_its_calls() {
    let desk = Desk::new(Mode::Ask);
    desk.0.write("a.txt", "one\ntwo\nthree\n");
    desk.turn("t1");
    desk.replace("first", "a.txt", "one", "1");
    desk.replace("second", "a.txt", "three", "3");
    let some =
        ChangeSelection::from([(desk.0.path("a.txt").into(), SelectedPart::Hunks(BTreeSet::from([1])))]);
    let label = TransactionLabel { assent: ApprovedBy::you("/review"), ..desk.view().label() };
    assert!(matches!(desk.view().apply(&some, label).unwrap(), ApplyOutcome::Landed(_)));
    assert_eq!(desk.0.text("a.txt"), "one\ntwo\n3\n");
    let whose = ["1: first in t1, pending", "two: before", "3: second in t1, you, /review"];
    assert_eq!(desk.whose("a.txt"), whose);
    desk.view().discard_everything().unwrap();
    assert_eq!(desk.whose("a.txt"), ["one: before", "two: before", "3: second in t1, you, /review"]);
}

#[test]
fn calls_side_by_side_are_told_apart_by_their_permits() {
    let desk = Desk::new(Mode::Ask);
    desk.turn("t1");
    let _another = desk.view().enter_call("another", "run_command", "run something else");
    desk.call("mine", "write_file", json!({"path": "a.txt", "content": "one\n"}));
    assert_eq!(desk.whose("a.txt"), ["one: mine in t1, pending"]);
}

#[test]
fn a_call_of_the_command_line_and_of_a_batch_are_calls_like_any_other() {
    let place = Place::new();
    place
        .run(["tool", "call", "write_file", r#"{"path":"a.txt","content":"one\n"}"#, "--mode", "write"])
        .code(0);
    let line = place.run(["blame", "a.txt", "--json"]).code(0).lines().remove(0);
    assert_eq!((&line["state"], &line["origin"]["tool"]), (&json!("workspace"), &json!("write_file")));
    assert_eq!(line["assent"], json!({"by": "mode", "mode": "write"}));
    let batch = json!({"aOperations": [
        {"sTool": "fs", "sBase": "app", "sPath": "b.txt", "sMode": "overwrite", "sContent": "Hi"}
    ]});
    place.run(["--mode", "write", "-p", &batch.to_string()]).code(0);
    let line = place.run(["blame", "b.txt", "--json"]).code(0).lines().remove(0);
    assert_eq!((&line["state"], &line["origin"]["title"]), (&json!("workspace"), &json!("1 operation")));
}

#[test]
fn a_renamed_file_keeps_its_past() {
    let desk = Desk::new(Mode::Ask);
    desk.0.write("old.txt", "one\ntwo\n");
    desk.turn("t1");
    desk.replace("edit", "old.txt", "two", "2");
    desk.apply("/apply");
    desk.turn("t2");
    desk.replace("again", "old.txt", "one", "1");
    desk.command("run mv old.txt new.txt", |upper| {
        whiteout(&upper.join("old.txt"));
        std::fs::write(upper.join("new.txt"), "1\n2\n").unwrap();
    });
    desk.replace("third", "new.txt", "2\n", "2\n3\n");
    assert_eq!(
        desk.whose("new.txt"),
        ["1: again in t2, pending", "2: edit in t1, you, /apply", "3: third in t2, pending"]
    );
    desk.apply("/review");
    let landed =
        ["1: again in t2, you, /review", "2: edit in t1, you, /apply", "3: third in t2, you, /review"];
    assert_eq!(desk.whose("new.txt"), landed);
    desk.undo();
    assert_eq!(desk.whose("old.txt"), ["one: before", "2: edit in t1, you, /apply"]);
}

#[test]
fn a_persons_edit_between_two_turns_is_nobodys_call() {
    let desk = Desk::new(Mode::Write);
    desk.turn("t1");
    desk.call("make it", "write_file", json!({"path": "a.txt", "content": "one\ntwo\n"}));
    desk.0.write("a.txt", "one\nmine\ntwo\n");
    assert_eq!(desk.whose("a.txt")[1], "mine: outside Some(1) None");
    desk.turn("t2");
    desk.replace("edit", "a.txt", "two", "2");
    desk.0.write("a.txt", "one\nmine\n2\nalso mine\n");
    let whose = [
        "one: make it in t1, write mode",
        "mine: outside Some(1) Some(2)",
        "2: edit in t2, write mode",
        "also mine: outside Some(2) None",
    ];
    assert_eq!(desk.whose("a.txt"), whose);
}

#[test]
fn a_pending_change_merged_with_the_persons_own_keeps_both_apart() {
    let desk = Desk::new(Mode::Ask);
    desk.0.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    desk.turn("t1");
    desk.replace("first", "a.txt", "one", "1");
    desk.replace("second", "a.txt", "three", "3");
    desk.0.write("a.txt", "one\ntwo\nthree\nfour\nmine\n");
    let set = desk.view().changes(LayerKind::Pending).unwrap();
    let applied = desk.view().apply(&View::everything(&set), desk.view().label()).unwrap();
    assert!(
        matches!(applied, ApplyOutcome::Changed { ref conflicts, .. } if conflicts.is_empty()),
        "{applied:?}"
    );
    desk.apply("/apply");
    let whose = [
        "1: first in t1, you, /apply",
        "two: before",
        "3: second in t1, you, /apply",
        "four: before",
        "mine: before",
    ];
    assert_eq!(desk.whose("a.txt"), whose);
}

#[test]
fn what_was_pruned_is_unknown_and_says_why() {
    let desk = Desk::new(Mode::Write);
    desk.turn("t1");
    desk.call("make it", "write_file", json!({"path": "a.txt", "content": "one\ntwo\n"}));
    desk.turn("t2");
    desk.replace("edit", "a.txt", "two", "2");
    desk.0.write("a.txt", "one\nx\n2\n");
    // The content that the last transaction left is gone.
    let left = blake3::hash(b"one\n2\n");
    desk.view().objects().remove(left);
    let why = "the content after transaction 2 is no longer stored";
    assert_eq!(
        desk.whose("a.txt"),
        [
            "one: make it in t1, write mode".to_string(),
            format!("x: unknown, {why}"),
            format!("2: unknown, {why}")
        ]
    );
    let journals = desk.view().journal().dir().parent().unwrap().to_path_buf();
    let none = PruneLimits { max_bytes: 0, max_age: Duration::ZERO };
    let gone = prune(&journals, desk.view().objects(), none, &PruneRoots::default());
    assert!(gone.unwrap().entries > 0);
    let blame = desk.view().blame(&desk.0.path("a.txt")).unwrap();
    let why = "the transactions with this information were pruned from the journal".to_string();
    assert_eq!(blame.notes, ["the journal was pruned"]);
    assert!(blame.lines.iter().all(|l| l.claim.standing == LineStatus::Unknown { why: why.clone() }));
}

#[test]
fn pruning_leaves_the_contents_between_pending_calls_and_those_of_the_journal() {
    let place = Place::new().file("a.txt", "one\ntwo\nthree\n");
    let both =
        "replace \"one\" with \"1\" in a.txt anyway and then replace \"three\" with \"3\" in a.txt anyway";
    place.run(["-p", both, "--mode", "ask"]).code(3);
    place.run(["journal", "prune"]).code(0).says("removed 0 transactions and 0 stored contents (0 bytes)");
    let titles = |place: &Place| -> Vec<String> {
        let lines = place.run(["blame", "a.txt", "--json"]).code(0).lines();
        lines.iter().map(|l| format!("{}{}", l["state"].as_str().unwrap(), l["origin"]["call"])).collect()
    };
    let pending = titles(&place);
    assert!(pending[0].starts_with("pending") && pending[2].starts_with("pending"), "{pending:?}");
    assert_ne!(pending[0], pending[2]);
    place.run(["apply"]).code(0);
    place.run(["journal", "prune"]).code(0).says("removed 0 transactions and 0 stored contents (0 bytes)");
    let landed: Vec<String> = titles(&place).iter().map(|t| t.replace("workspace", "pending")).collect();
    assert_eq!(landed, pending);
}

#[test]
fn line_ends_and_old_encodings_are_told_line_by_line() {
    let desk = Desk::new(Mode::Write);
    desk.0.write("w.txt", b"gr\xFCn\r\nzwei\r\ndrei\r\n");
    desk.turn("t1");
    desk.replace("edit", "w.txt", "zwei", "zw\u{f6}lf");
    assert_eq!(desk.0.bytes("w.txt"), b"gr\xFCn\r\nzw\xF6lf\r\ndrei\r\n");
    assert_eq!(
        desk.whose("w.txt"),
        ["gr\u{fc}n: before", "zw\u{f6}lf: edit in t1, write mode", "drei: before"]
    );
    let wide = |text: &str| -> Vec<u8> {
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    desk.0.write("u.txt", wide("one\n\u{a0a}two\nthree\n"));
    desk.replace("wide", "u.txt", "three", "3");
    assert_eq!(desk.whose("u.txt"), ["one: before", "\u{a0a}two: before", "3: wide in t1, write mode"]);
}

#[test]
fn a_name_that_is_no_text_has_its_lines_told() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"caf\xE9.txt");
    if std::fs::write(place.tree.join(name), "one\n").is_err() {
        // This file system takes no such names.
        return;
    }
    place.run([OsStr::new("blame"), name]).code(0).says("before placet  -  1  one");
}

#[test]
fn what_has_no_lines_is_refused_in_a_sentence() {
    let place = Place::new().file("b.bin", b"a\0b").file("d/x", "");
    place.run(["blame", "b.bin"]).code(1).warns("b.bin` is a binary file");
    place.run(["blame", "d"]).code(1).warns("d` is a directory, not a file");
    place.run(["blame", "none.txt"]).code(1).warns("none.txt` does not exist");
    place.run(["blame", "d/x", "3"]).code(2).warns("line 3 is past the end: the file has 0 lines");
    place.run(["blame", "d/x", "3,1"]).code(2).warns("invalid line range `3,1`");
    let large = std::fs::File::create(place.tree.join("large")).unwrap();
    large.set_len((16 << 20) + 1).unwrap();
    place.run(["blame", "large"]).code(1).warns("blame works for files of at most 16777216");
}

#[test]
fn the_command_line_tells_calls_consents_and_ranges() {
    let place = Place::new().file("a.txt", "one\ntwo\nthree\n");
    place.run(["-p", "replace \"two\" with \"2\" in a.txt anyway", "--mode", "write"]).code(0);
    let out = place.run(["blame", "a.txt", "2,3"]).code(0);
    let rows: Vec<&str> = out.stdout.lines().collect();
    assert_eq!(rows.len(), 2);
    assert!(rows[0].contains("write mode") && rows[0].ends_with("2  2"), "{rows:?}");
    assert!(rows[1].contains("before placet") && rows[1].ends_with("3  three"), "{rows:?}");
    let objects = place.run(["blame", "a.txt", "--json", "2"]).code(0).lines();
    assert_eq!(objects[0]["assent"], json!({"by": "mode", "mode": "write"}));
    assert_eq!(objects[0]["origin"]["tool"], "edit_file");
    place.run(["-p", "replace \"one\" with \"1\" in a.txt anyway", "--mode", "ask"]).code(3);
    place.run(["blame", "a.txt", "1"]).code(0).says("pending");
    place.run(["apply"]).code(0);
    place.run(["blame", "a.txt", "1"]).code(0).says("you, placet apply");
    place.run(["undo"]).code(0);
    place.run(["blame", "a.txt", "1"]).code(0).says("before placet");
}

#[test]
fn a_real_command_is_named_by_its_line() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("a.txt", "one\ntwo\n");
    place.run(["-p", "run echo three >> a.txt", "--mode", "write"]).code(0);
    place.run(["blame", "a.txt", "3"]).code(0).says("run echo three >> a.txt").says("3  three");
    place.run(["sandbox", "run", "--apply", "--", "echo four >> a.txt"]).code(0);
    place.run(["blame", "a.txt", "4"]).code(0).says("echo four >> a.txt").says("you, placet run");
}

/// Takes every field that this feature brought out of a record.
fn aged(value: &mut Value) {
    if let Value::Object(map) = value {
        for new in ["origins", "marks", "assent"] {
            map.shift_remove(new);
        }
        map.values_mut().for_each(aged);
    } else if let Value::Array(all) = value {
        all.iter_mut().for_each(aged);
    }
}

#[test]
fn records_from_before_origins_still_open() {
    let desk = Desk::new(Mode::Write);
    desk.0.write("a.txt", "one\ntwo\n");
    desk.turn("t1");
    desk.replace("edit", "a.txt", "one", "1");
    let entry = desk.view().journal().dir().join("000000000001.json");
    let mut value: Value = serde_json::from_slice(&std::fs::read(&entry).unwrap()).unwrap();
    aged(&mut value);
    std::fs::write(&entry, value.to_string()).unwrap();
    assert_eq!(desk.whose("a.txt"), ["1: turn t1 in t1, not recorded", "two: before"]);

    let old = Desk::new(Mode::Ask);
    old.0.write("a.txt", "one\ntwo\n");
    old.turn("t1");
    old.replace("edit", "a.txt", "one", "1");
    let records = old.view().dir().join("pending/base.jsonl");
    let mut lines: Vec<Value> = std::fs::read_to_string(&records)
        .unwrap()
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    lines.retain(|line| line.get("origin").is_none());
    lines.iter_mut().for_each(aged);
    assert_eq!(lines.len(), 1);
    std::fs::write(&records, format!("{}\n", lines[0])).unwrap();
    let places = placet::workspace::ViewPaths {
        view: old.view().dir().to_path_buf(),
        layers: Vec::new(),
        objects: old.view().dir().join("../../objects"),
        journal: old.view().journal().dir().to_path_buf(),
        scratch: old.view().dir().join("../../scratch"),
    };
    let again = View::at(places, std::slice::from_ref(&old.0.root));
    let set = again.changes(LayerKind::Pending).unwrap();
    assert_eq!((set.len(), set.changes[0].made_by().len()), (1, 0));
    let lines = again.blame(&old.0.path("a.txt")).unwrap().lines;
    assert_eq!((lines[0].claim.standing.clone(), lines[0].claim.origin.clone()), (LineStatus::Pending, None));
}
