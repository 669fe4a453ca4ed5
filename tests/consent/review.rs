//! The review from outside: the real binary in a terminal, patches on the command line, and what lands.

use crate::support::binary::Place;
use crate::support::pty::joined;
use crate::support::pty::{Pty, shell};
use crate::support::require::require;
use crate::support::tool_bench::Bench;
use placet::permission::Mode;
use placet::repl::{ReviewApply, apply_review, review_of};
use placet::ui::review::{Review, ReviewBody, ReviewDecision};
use placet::workspace::{TransactionLabel, View};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const ESC: &str = "\x1b";

fn ask_mode() -> crate::support::pty::Start {
    shell().arg("--mode").arg("ask")
}

/// Runs a command, and has its effects under review.
fn reviewing(mut pty: Pty, command: &str) -> Pty {
    pty.line(&format!("run {command}"));
    pty.until("a question", |s| s.contains("apply?"));
    pty.answer("r");
    pty.until("the review and its keys", |s| s.contains(" hunks") && s.contains(" accept  "));
    pty
}

/// Leaves the review, which leads back to the question, and answers that everything stays pending.
fn leave_pending(pty: &mut Pty) {
    pty.answer("q");
    pty.until("the question again", |s| s.contains("apply?") && s.contains("Keep pending"));
    pty.answer("k");
}

/// Presses a key that decides, once the review takes keys.
fn decide_by(pty: &mut Pty, key: &str, decided: &str) {
    pty.answer(key);
    pty.until(decided, |s| s.contains(decided));
}

/// Story: the draft was the name of the review, the agent was sent this name, and the comment was gone.
#[test]
fn a_rewind_to_the_turn_of_a_review_sends_the_review_again() {
    let text: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let pty = ask_mode().size(100, 30).file("a.txt", &text).open();
    let mut pty = reviewing(pty, "sed -i -e s/^line.5$/five/ -e s/^line.35$/thirty-five/ a.txt");
    decide_by(&mut pty, "a", "1/2 hunks");
    decide_by(&mut pty, "r", "2/2 hunks");
    pty.send("cwhy this?\r");
    pty.until("the comment", |s| s.contains("» why this?"));
    pty.send("\r");
    pty.until("the summary", |s| s.contains("1 hunk in 1 file: will be discarded"));
    pty.answer("A");
    pty.until("the turn", |s| s.contains("sent to the agent: review: 1 rejected, 1 comment"));
    pty.until_prompt("");
    pty.line("/rewind");
    pty.until("the turns", |s| s.contains("Rewind to before a turn") && s.contains("review: 1 rejected"));
    pty.send("\r");
    pty.until("the way back", |s| {
        s.contains("review: 1 rejected, 1 comment: its decisions and comments go with your next message")
    });
    pty.until_prompt("");
    pty.line("list");
    pty.until("the answer", |s| s.matches("placet [a] > list").count() == 1 && s.trim_end().ends_with('>'));
    pty.until_prompt("");
    pty.line("/export it.json");
    pty.until("the file", |_| pty.exists("it.json"));
    pty.until_prompt("");
    let exported: serde_json::Value = serde_json::from_str(&pty.read("it.json")).unwrap();
    let mut of_person = exported["messages"].as_array().unwrap().iter().filter(|one| one["role"] == "user");
    let last = of_person.next_back().unwrap()["parts"].as_array().unwrap();
    let of_review = |part: &&serde_json::Value| part["note"] == "review";
    let review = last.iter().find(of_review).map(|part| part["report"].as_str().unwrap().to_string());
    let report: serde_json::Value = serde_json::from_str(&review.expect("the report")).unwrap();
    assert_eq!(report["rejected"][0]["added"], "thirty-five\n");
    assert_eq!(report["comments"][0]["comment"], "why this?");
    assert!(last.iter().any(|part| part["text"] == "list"), "{last:?}");
}

/// Story: another program had the database locked, the files were applied, and the report was sent nowhere and forgotten.
#[test]
fn a_review_waits_for_a_locked_database_and_ctrl_c_leaves_it_as_it_was() {
    let text: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let pty = ask_mode().size(100, 30).file("a.txt", &text).open();
    let mut pty = reviewing(pty, "sed -i -e s/^line.5$/five/ -e s/^line.35$/thirty-five/ a.txt");
    decide_by(&mut pty, "a", "1/2 hunks");
    decide_by(&mut pty, "r", "2/2 hunks");
    let other = rusqlite::Connection::open(pty.home().join(".local/state/placet/placet.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    pty.send("\r");
    pty.until("the summary", |s| s.contains("1 hunk in 1 file: will be discarded"));
    pty.answer("A");
    pty.until("the reason", |s| {
        s.contains("another program has locked the session database: waiting for it")
    });
    pty.by_hand("\x03");
    pty.until("the end of the wait", |s| {
        s.contains("stopped: nothing was applied; your decisions are saved")
    });
    pty.until("a prompt", |s| s.trim_end().ends_with('>'));
    assert_eq!(pty.read("a.txt"), text);
    other.execute_batch("COMMIT").unwrap();
    pty.line("/review");
    pty.until("the decisions", |s| s.contains("2/2 hunks"));
    pty.send("\r");
    pty.until("the summary", |s| s.contains("1 hunk in 1 file: will be discarded"));
    pty.answer("A");
    pty.until("the turn", |s| s.contains("sent to the agent: review: 1 rejected"));
    assert_eq!(pty.read("a.txt"), text.replace("line 5\n", "five\n"));
}

#[test]
fn decisions_and_comments_survive_a_crash_and_the_rest_lands_as_decided() {
    let text: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let pty = ask_mode().size(100, 30).file("a.txt", &text).open();
    let command = "sed -i -e s/^line.5$/five/ -e s/^line.20$/twenty/ -e s/^line.35$/thirty-five/ a.txt";
    let mut pty = reviewing(pty, command);
    decide_by(&mut pty, "a", "1/3 hunks");
    decide_by(&mut pty, "r", "2/3 hunks");
    pty.send("cis this right?\r");
    pty.until("the comment", |s| s.contains("» is this right?"));
    let mut pty = ask_mode().size(100, 30).arg("--continue").after(pty).open();
    pty.until("what was left", |s| s.contains("±1 >"));
    assert_eq!(pty.read("a.txt"), text);
    pty.line("/review");
    pty.until("the same review", |s| s.contains("2/3 hunks") && s.contains("✓1") && s.contains("✗1"));
    pty.send("G[");
    pty.until("the comment", |s| s.contains("» is this right?"));
    pty.send("\r");
    pty.until("the summary", |s| s.contains("undecided  1 hunk in 1 file: stays pending"));
    pty.answer("a");
    pty.until("it landed", |s| s.contains("applied changes to 1 file") && s.contains("1 hunk rejected"));
    pty.until("one is left and what decides it", |s| {
        s.contains("changes to 1 file are pending: /apply, /review, /discard")
    });
    assert_eq!(pty.read("a.txt"), text.replace("line 5\n", "five\n"));
    pty.until("the prompt", |s| s.contains("±1 >"));
    // The next message carries what was rejected and said.
    pty.line("hello");
    pty.until("an answer", |s| s.contains("not a model"));
    pty.line("/export talk.md");
    pty.until("the export", |s| s.contains("wrote ") && pty.exists("talk.md"));
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    let talk = pty.read("talk.md");
    for part in ["\"rejected\"", "\"twenty\\n\"", "is this right?", "\"side\": \"old\"", "\"line\": 35"] {
        assert!(talk.contains(part), "{part} in:\n{talk}");
    }
}

#[test]
fn hostile_text_in_a_diff_and_in_names_changes_nothing_outside_its_cells() {
    let pty = ask_mode().size(80, 24).file("a.txt", "x\n").open();
    let command = r#"printf '\033]0;owned\007\033]52;c;aGk=\007\033[2J\033[?1000h\n\342\200\256rtl \314\201\314\201\n' > a.txt; printf 'b\n' > "$(printf 'n\033]0;owned\007\n')""#;
    let mut pty = reviewing(pty, command);
    pty.until("the lines", |s| s.contains("]52;c;aGk=") && s.contains("<U+202E>"));
    pty.send("GsGwis");
    pty.until("the same, one below the other", |s| s.contains("   1 + "));
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    for bad in ["\x1b]0;owned", "\x1b]52;", "\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h"] {
        assert!(!raw.contains(bad), "{bad:?}");
    }
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±2 >"));
}

#[test]
fn a_storm_of_sizes_leaves_a_whole_picture() {
    let pty = ask_mode().size(100, 30).file("a.txt", "日本語 👩‍👧 e\u{301}\tx\nשלום\n").open();
    let mut pty = reviewing(pty, "sed -i s/x/y/ a.txt");
    for (columns, rows) in [(1, 1), (200, 60), (3, 2), (40, 12), (2, 30), (120, 3), (80, 24)] {
        pty.resize(columns, rows);
        pty.send("jk");
    }
    pty.until("the picture at its last size", |s| {
        let rows: Vec<&str> = s.lines().collect();
        rows.len() <= 24 && s.contains("0/1 hunks") && s.contains("日本語") && s.contains("a accept")
    });
    assert!(pty.screen().lines().all(|row| row.chars().count() <= 80));
    pty.send(ESC);
    pty.until("the question again", |s| s.contains("Keep pending"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("±1 >"));
    assert!(!pty.screen().contains("0/1 hunks"));
}

#[test]
fn read_line_by_line_a_review_is_sentences_and_typed_answers() {
    let pty = ask_mode().arg("--set").arg("ui.linear=true").size(80, 40);
    let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let mut pty = pty.file("a.txt", &text).open();
    pty.line("run sed -i -e s/^line.5$/five/ -e /^line.15$/d a.txt");
    pty.until("a question", |s| s.contains("3: keep pending") && s.contains("answer: type a number"));
    pty.answer_line("3", "it is kept", |s| s.contains("±1 >"));
    let before = pty.raw().len();
    pty.line("/review");
    pty.until("the first", |s| s.contains("hunk 1 of 2, a.txt, line 5, 1 removed, 1 added, undecided"));
    pty.until("its lines", |s| s.contains("removed: line 5") && s.contains("added: five"));
    pty.until("its question", |s| s.trim_end().ends_with("hunk 1 of 2:"));
    pty.line("a");
    pty.until("the second", |s| s.contains("hunk 2 of 2, a.txt, line 15, 1 removed, undecided"));
    pty.until("its question", |s| s.trim_end().ends_with("hunk 2 of 2:"));
    pty.line("c keep this one");
    pty.until("the comment", |s| s.contains("comment: keep this one"));
    pty.line("r");
    pty.until("the end", |s| s.contains("Type `apply` to apply this"));
    pty.answer("apply\r");
    pty.until("it landed", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), text.replace("line 5\n", "five\n"));
    let raw = pty.raw();
    let said = String::from_utf8_lossy(&raw[before..]).into_owned();
    assert!(!said.contains("\x1b[?1049h") && !said.contains("\x1b[2J"), "{said:?}");
}

#[test]
fn a_patch_is_read_from_a_pipe_and_what_was_accepted_is_a_patch() {
    let place = Place::new();
    let patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -9 +9,2 @@\n i\n+j\n";
    let said = place.placet(["review", "-", "--linear"]).stdin(patch).go();
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(
        said.stdout,
        "hunk 1 of 2, x, line 2, 1 removed, 1 added, undecided\n  removed: b\n  added: B\n\
         hunk 2 of 2, x, line 10, 1 added, undecided\n  added: j\n"
    );
    let nothing = place.placet(["review", "missing..rev"]).go();
    assert_ne!(nothing.code, 0);
}

/// One way in which a file changes.
#[derive(Clone, Debug)]
enum Edit {
    Write(Vec<u8>),
    Create(Vec<u8>),
    Delete,
    Move,
    /// Renamed, with a line more.
    MoveAndAdd,
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec!["a\n", "b\n", "c\r\n", "\n", "d\n", "ä\n", "\tx\n", "y \n"]);
    let tail = prop::sample::select(vec!["", "end"]);
    (prop::collection::vec(line, 1..10), tail).prop_map(|(parts, tail)| (parts.concat() + tail).into_bytes())
}

fn edit() -> impl Strategy<Value = (Vec<u8>, Edit)> {
    let edit = prop_oneof![
        4 => text().prop_map(Edit::Write),
        1 => text().prop_map(Edit::Create),
        1 => Just(Edit::Delete),
        1 => Just(Edit::Move),
        2 => Just(Edit::MoveAndAdd),
        1 => Just(Edit::Write(vec![0, 1, 2, 255])),
    ];
    (text(), edit)
}

fn tree(bench: &Bench) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &Path| path.strip_prefix(&bench.root).unwrap().to_string_lossy().into_owned();
    let entries = std::fs::read_dir(&bench.root).unwrap().map(|e| e.unwrap().path());
    entries.filter(|p| p.is_file()).map(|p| (name(&p), std::fs::read(&p).unwrap())).collect()
}

fn review(bench: &Bench) -> Option<Review> {
    review_of(&bench.env.workspace, view(bench), &[]).unwrap().map(|(_, review)| review)
}

fn view(bench: &Bench) -> &View {
    bench.env.workspace.view().unwrap()
}

fn carry(bench: &Bench, review: &Review) {
    let carried = apply_review(
        &bench.env.workspace,
        (view(bench).shown().unwrap(), review),
        (|_: &_| true, |apply: ReviewApply<'_>| apply()),
        TransactionLabel::default(),
        "/undo",
    );
    for (_, told) in carried.steps {
        assert!(told.done, "{told:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    /// Any subset, then the rest: together they are the whole change. Rejecting everything is as if nothing was.
    #[test]
    fn any_choice_and_then_the_rest_make_the_whole_change(
        edits in prop::collection::vec(edit(), 1..5),
        seed in prop::collection::vec(any::<bool>(), 40),
        reject in any::<bool>(),
    ) {
        let mut bench = Bench::new();
        bench.mode = Mode::Ask;
        for (n, (before, edit)) in edits.iter().enumerate() {
            let name = format!("f{n}.txt");
            match edit {
                Edit::Create(_) => {}
                _ => drop(bench.write(&name, before)),
            }
        }
        let base = tree(&bench);
        for (n, (before, edit)) in edits.iter().enumerate() {
            let name = format!("f{n}.txt");
            let step = match edit {
                Edit::Write(bytes) | Edit::Create(bytes) => {
                    layered(&bench, &name, bytes);
                    continue;
                }
                Edit::Delete => json!({"op": "delete", "path": name}),
                Edit::Move | Edit::MoveAndAdd => {
                    json!({"op": "move", "path": name, "to": format!("moved{n}.txt")})
                }
            };
            bench.call("read_file", json!({"path": name})).done();
            bench.call("operations", json!({"operations": [step]})).done();
            if let Edit::MoveAndAdd = edit {
                layered(&bench, &format!("moved{n}.txt"), &[before, b"more\n".as_slice()].concat());
            }
        }
        let whole: BTreeMap<String, Vec<u8>> = {
            let mut whole = base.clone();
            for (n, (before, edit)) in edits.iter().enumerate() {
                let name = format!("f{n}.txt");
                match edit {
                    Edit::Write(bytes) | Edit::Create(bytes) => drop(whole.insert(name, bytes.clone())),
                    Edit::Delete => drop(whole.remove(&name)),
                    Edit::Move => {
                        whole.remove(&name);
                        whole.insert(format!("moved{n}.txt"), before.clone());
                    }
                    Edit::MoveAndAdd => {
                        whole.remove(&name);
                        whole.insert(format!("moved{n}.txt"), [before, b"more\n".as_slice()].concat());
                    }
                }
            }
            whole
        };
        if let Some(mut review) = review(&bench) {
            if reject {
                decide(&mut review, &mut std::iter::repeat(true), ReviewDecision::Rejected);
                carry(&bench, &review);
                prop_assert_eq!(tree(&bench), base);
                prop_assert!(self::review(&bench).is_none());
                return Ok(());
            }
            decide(&mut review, &mut seed.into_iter().cycle(), ReviewDecision::Accepted);
            carry(&bench, &review);
        }
        if let Some(mut rest) = review(&bench) {
            decide(&mut rest, &mut std::iter::repeat(true), ReviewDecision::Accepted);
            carry(&bench, &rest);
        }
        prop_assert_eq!(tree(&bench), whole);
        prop_assert!(review(&bench).is_none());
    }
}

/// Another process may have changed what is pending since the review was shown.
#[test]
fn only_what_the_review_showed_is_applied_or_discarded() {
    for mark in [ReviewDecision::Accepted, ReviewDecision::Rejected] {
        let mut bench = Bench::new();
        bench.mode = Mode::Ask;
        bench.write("a.txt", "one\n");
        layered(&bench, "a.txt", b"two\n");
        let (of, mut shown) = review_of(&bench.env.workspace, view(&bench), &[]).unwrap().unwrap();
        decide(&mut shown, &mut std::iter::repeat(true), mark);
        layered(&bench, "a.txt", b"EVIL\n");
        let workspace = &bench.env.workspace;
        let label = TransactionLabel::default();
        let carried = apply_review(
            workspace,
            (of, &shown),
            (|_: &_| true, |apply: ReviewApply<'_>| apply()),
            label,
            "/undo",
        );
        assert!(carried.outbox.is_none() && carried.steps.len() == 1);
        let told = &carried.steps[0].1;
        assert!(
            !told.done && told.lines[0].contains("pending changes were updated in the meantime"),
            "{told:?}"
        );
        assert_eq!(bench.text("a.txt"), "one\n");
        // It is still pending, and the next review shows it.
        let mut next = review(&bench).unwrap();
        decide(&mut next, &mut std::iter::repeat(true), ReviewDecision::Accepted);
        carry(&bench, &next);
        assert_eq!(bench.text("a.txt"), "EVIL\n");
    }
}

/// Puts a content where a command would leave it.
fn layered(bench: &Bench, name: &str, bytes: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let command = runtime.block_on(view(bench).begin(placet::workspace::LayerKind::Pending, None)).unwrap();
    let path = command.mounts[0].upper.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    view(bench).finish(command, &|_| false).unwrap();
}

/// Gives each line for which `take` says yes this mark.
fn decide(review: &mut Review, take: &mut impl Iterator<Item = bool>, mark: ReviewDecision) {
    for file in &mut review.files {
        match &mut file.body {
            ReviewBody::Whole(whole) => {
                if take.next().unwrap() {
                    whole.mark = mark;
                }
            }
            ReviewBody::Lines(lines) => {
                for slot in lines.hunks.iter_mut().flat_map(|h| h.marks.iter_mut()) {
                    if take.next().unwrap() {
                        *slot = mark;
                    }
                }
            }
        }
    }
}

#[test]
fn a_file_that_was_renamed_and_changed_is_one_decision_and_its_lines_are_still_their_own() {
    let text: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let changed = text.replace("line 5\n", "five\n").replace("line 25\n", "");
    let pending = || {
        let mut bench = Bench::new();
        bench.mode = Mode::Ask;
        bench.write("old.txt", &text);
        bench.write("other.txt", "nothing like it\n");
        bench.call("read_file", json!({"path": "old.txt"})).done();
        bench
            .call("operations", json!({"operations": [{"op": "move", "path": "old.txt", "to": "new.txt"}]}))
            .done();
        layered(&bench, "new.txt", changed.as_bytes());
        let review = review(&bench).unwrap();
        let named: Vec<(&str, char, usize)> =
            review.files.iter().map(|f| (f.name.as_str(), f.letter, f.units())).collect();
        assert_eq!(named, [("new.txt", 'R', 2)]);
        assert!(review.files[0].facts[0].starts_with("renamed from old.txt"), "{:?}", review.files[0].facts);
        assert_eq!((review.task.line_counts, review.files[0].counts()), ((1, 2), Some((1, 2))));
        (bench, review)
    };
    let names = |bench: &Bench| tree(bench).into_keys().collect::<Vec<_>>();
    let content = |bench: &Bench, name: &str| String::from_utf8(tree(bench)[name].clone()).unwrap();

    let (bench, mut all) = pending();
    decide(&mut all, &mut std::iter::repeat(true), ReviewDecision::Accepted);
    carry(&bench, &all);
    assert_eq!(
        (names(&bench), content(&bench, "new.txt")),
        (vec!["new.txt".into(), "other.txt".into()], changed.clone())
    );
    assert!(review(&bench).is_none());

    let (bench, mut none) = pending();
    decide(&mut none, &mut std::iter::repeat(true), ReviewDecision::Rejected);
    carry(&bench, &none);
    assert_eq!(
        (names(&bench), content(&bench, "old.txt")),
        (vec!["old.txt".into(), "other.txt".into()], text.clone())
    );
    assert!(review(&bench).is_none());

    // One hunk lands and takes the name with it, the other is rejected.
    let (bench, mut some) = pending();
    let hunks = &mut some.files[0].lines_mut().unwrap().hunks;
    hunks[0].marks.fill(ReviewDecision::Accepted);
    hunks[1].marks.fill(ReviewDecision::Rejected);
    carry(&bench, &some);
    assert_eq!(content(&bench, "new.txt"), text.replace("line 5\n", "five\n"));
    assert!(!names(&bench).contains(&"old.txt".to_string()) && review(&bench).is_none());

    // One is rejected and the other open: nothing lands, and what stays pending is the rename with the rest.
    let (bench, mut open) = pending();
    open.files[0].lines_mut().unwrap().hunks[0].marks.fill(ReviewDecision::Rejected);
    carry(&bench, &open);
    assert_eq!(content(&bench, "old.txt"), text);
    let rest = review(&bench).unwrap();
    assert_eq!((rest.files.len(), rest.files[0].letter, rest.files[0].units()), (1, 'R', 1));
}

/// Story: the question had a deleted file and a new one with all of their lines, and the review one file with a line.
#[test]
fn a_renamed_file_is_one_row_of_the_question_with_the_lines_that_changed() {
    let text = |word: &str| (1..=30).map(|n| format!("{word} {n}\n")).collect::<String>();
    let start = ask_mode().size(100, 40).file("a.txt", text("line")).file("b.txt", text("row"));
    let mut pty = start.file(".envrc", "export A=1\nexport B=2\nexport C=3\n").open();
    pty.line(
        "run mv a.txt c.txt; mv b.txt d.txt; sed -i s/row.7$/seven/ d.txt; mv .envrc e.txt; echo x >> e.txt",
    );
    pty.until("the question", |s| {
        let rows = ["R a.txt -> c.txt", "R b.txt -> d.txt", "seven"];
        rows.iter().all(|row| s.contains(row))
    });
    // A path that runs later is a row of its own, whatever its text became.
    pty.until("what runs later", |s| s.contains("D .envrc") && s.contains("A e.txt"));
    pty.until("the lines of both", |s| s.contains("4 files, +5 -4 lines: apply?") && !s.contains("D b.txt"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("±"));
    pty.line("/changes");
    pty.until("the list", |s| s.matches("R b.txt -> d.txt +1 -1").count() > 0);
}

/// Story: the files next to it had their counts in the tree, and a directory that went had none.
#[test]
fn a_directory_that_is_removed_has_its_lines_counted() {
    let mut pty = shell()
        .size(120, 30)
        .file("gone/a.txt", "line\n".repeat(3))
        .file("gone/deep/b.txt", "line\n".repeat(4))
        .file("stays.txt", "one\n")
        .open();
    pty.line("run rm -r gone; echo two >> stays.txt");
    pty.until("the question", |s| s.contains("+1 -7 lines: apply?"));
    pty.answer("r");
    // In the title, in the tree and above the file.
    pty.until("the review", |s| {
        s.contains("3 files +1 -7") && s.contains("+0 -7│") && s.contains("gone/  +0 -7")
    });
}

/// Story: three empty files made the review show "the repository's own files" and no line of the code it applied.
#[test]
fn a_directory_that_only_looks_like_a_repository_hides_no_line() {
    for dir in ["src", "."] {
        let mut bench = Bench::new();
        bench.mode = Mode::Ask;
        for (name, text) in [("HEAD", "x\n"), ("objects/x", "x\n"), ("refs/y", "y\n"), ("z.py", "print(1)\n")]
        {
            let path = bench.root.join(dir).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let at = |name: &str| format!("{dir}/{name}");
        layered(
            &bench,
            &at("z.py"),
            b"print(1)
import os; os.system(0)
",
        );
        layered(
            &bench,
            &at("objects/new.py"),
            b"import objects_evil
",
        );
        layered(
            &bench,
            &at("refs/new.py"),
            b"import refs_evil
",
        );
        layered(
            &bench,
            &at("refs/heads/main"),
            b"0123456789abcdef0123456789abcdef01234567
",
        );
        let review = review(&bench).unwrap();
        assert_eq!(review.files.len(), 1, "it is applied as a whole");
        let ReviewBody::Whole(whole) = &review.files[0].body else { panic!("it has no lines of its own") };
        let text = whole.words.join("\n");
        for line in ["+import os; os.system(0)", "+import objects_evil", "+import refs_evil", " print(1)"] {
            assert!(text.contains(line), "{dir}: {line}: {text}");
        }
        assert!(
            text.contains("0123456789abcdef"),
            "{dir}: its HEAD names nothing, so that it is no ref: {text}"
        );
    }
}

/// A repository in the workspace, as far as it needs to be one.
fn repository_in(bench: &Bench) {
    for (name, text) in [("HEAD", "ref: refs/heads/main\n"), ("objects/x", "x\n"), ("refs/y", "y\n")] {
        let path = bench.root.join(".git").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// No byte of them is applied: git carries what they mean, and says it in rows.
#[test]
fn files_that_git_carries_are_not_listed_in_a_review() {
    let mut bench = Bench::new();
    bench.mode = Mode::Ask;
    repository_in(&bench);
    layered(&bench, ".git/objects/a1/0123456789abcdef0123456789abcdef012345", b"zlib");
    layered(&bench, ".git/refs/heads/main", b"0123456789abcdef0123456789abcdef01234567\n");
    layered(&bench, ".git/logs/HEAD", b"a line\n");
    layered(&bench, ".git/objects/evil.py", b"import objects_evil\n");
    // A content of LFS is written as a file: its name, which is proved, says what is in it.
    let content = format!(".git/lfs/objects/ab/cd/abcd{}", "0".repeat(60));
    layered(&bench, &content, b"large\n");
    layered(&bench, ".git/lfs/tmp/left", b"over\n");
    // What is applied by its name is shown with its lines.
    layered(&bench, ".git/info/attributes", b"* text\n");
    let review = review(&bench).unwrap();
    let words = review.files.iter().map(|file| match &file.body {
        ReviewBody::Whole(whole) => whole.words.join("\n"),
        ReviewBody::Lines(lines) => format!("{lines:?}"),
    });
    let words = words.collect::<Vec<_>>().join("\n");
    for name in [".git/objects", "refs/heads", "logs/HEAD", "evil", "large", "tmp/left"] {
        assert!(!words.contains(name), "{name}: {words}");
    }
    assert!(words.contains("* text") && words.contains(&content), "{words}");
}

/// Story: the review of a stopped rebase listed 16 and more files of git row by row, with nothing to read in them.
#[test]
fn files_of_an_operation_are_one_row_that_opens() {
    let mut bench = Bench::new();
    bench.mode = Mode::Ask;
    repository_in(&bench);
    layered(&bench, ".git/rebase-merge/drop_redundant_commits", b"");
    layered(&bench, ".git/rebase-merge/quiet", b"");
    // What has something to read is shown.
    layered(&bench, ".git/rebase-merge/evil.py", b"import evil\n");
    let review = review(&bench).unwrap();
    let words = |file: usize| match &review.files[file].body {
        ReviewBody::Whole(whole) => whole.words.join("\n"),
        ReviewBody::Lines(_) => panic!("it has no lines of its own"),
    };
    let at = review.files.iter().position(|file| file.name == ".git/2 files of the operation").unwrap();
    assert!(words(at).contains("A .git/rebase-merge/quiet"), "{}", words(at));
    assert!(!words(0).contains("rebase-merge/quiet") && words(0).contains("+import evil"), "{}", words(0));
    assert!(review.layout.folded.contains(&at) && review.files[at].units() == 0);
}

/// A copy of what it was stayed on the shelf, and the person's later edit was not seen through it.
#[test]
fn a_file_that_was_changed_and_changed_back_is_the_persons_again() {
    let mut bench = Bench::new();
    bench.mode = Mode::Ask;
    bench.write("a.txt", "one\n");
    bench.write("b.txt", "b\n");
    for (path, old, new) in [("a.txt", "one", "two"), ("a.txt", "two", "one"), ("b.txt", "b", "B")] {
        bench.call("read_file", json!({"path": path})).done();
        bench.call("edit_file", json!({"path": path, "old_string": old, "new_string": new})).done();
    }
    let view = bench.env.workspace.view().unwrap().clone();
    view.drop_unchanged().unwrap();
    bench.write("a.txt", "the person's\n");
    assert!(bench.call("read_file", json!({"path": "a.txt"})).done().contains("the person's"));
    assert!(bench.call("read_file", json!({"path": "b.txt"})).done().contains('B'));
    assert_eq!(view.changes(placet::workspace::LayerKind::Pending).unwrap().len(), 1);
}

#[test]
fn a_review_of_one_path_leaves_decisions_and_comments_on_the_others() {
    let pty = ask_mode().size(100, 30).file("a.txt", "a\n").file("b.txt", "b\n").open();
    let mut pty = reviewing(pty, "sed -i s/a/A/ a.txt; sed -i s/b/B/ b.txt");
    decide_by(&mut pty, "r", "1/2 hunks");
    pty.send("gcnot this one\r");
    pty.until("a comment", |s| s.contains("» ") && s.contains("not this one"));
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±2 >"));
    pty.line("/review b.txt");
    pty.until("one file", |s| {
        s.contains("1 file ") && s.contains("0/1 hunks") && !s.contains("not this one")
    });
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("accepted   1 hunk in 1 file") && !s.contains("comments"));
    pty.answer("a");
    pty.until("it landed", |s| s.contains("applied changes to 1 file") && s.contains("±1 >"));
    assert_eq!((pty.read("a.txt").as_str(), pty.read("b.txt").as_str()), ("a\n", "B\n"));
    pty.line("/review");
    pty.until("the other is as it was", |s| {
        s.contains("1/1 hunks") && s.contains("✗1") && s.contains("not this one")
    });
}

/// Story: three lines about one build were above each of 33 files.
#[test]
fn a_command_is_named_once_for_all_files_that_it_changed() {
    let place = Place::new();
    place.run(["sandbox", "run", "--", "echo 1 > a; echo 2 > b; echo 3 > c"]).code(3);
    let said = place.run(["review"]).code(0);
    assert_eq!(said.stdout.matches("by this command").count(), 1, "{}", said.stdout);
    let named = "by this command, as are the 2 files below: echo 1 > a";
    assert!(said.stdout.contains(named), "{}", said.stdout);
    // Story: a path with pending changes was read as a patch.
    let said = place.run(["review", "b"]).code(0);
    assert!(said.stdout.contains("hunk 1 of 1, b"), "{}", said.stdout);
    assert!(!said.stdout.contains(", a,") && !said.stdout.contains(", c,"), "{}", said.stdout);
}

/// What git says of a binary file without `--binary` cannot be applied, and can be named.
#[test]
fn a_difference_with_a_binary_file_shows_the_other_files() {
    let place = Place::new();
    let patch = "diff --git a/p.png b/p.png\nindex 1111111..2222222 100644\nBinary files a/p.png and b/p.png differ\n\
                 diff --git a/x b/x\nindex 3333333..4444444 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    let said = place.placet(["review", "-"]).stdin(patch).go();
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stdout.starts_with("hunk 1 of 2, x, line 1, 1 removed, 1 added, undecided"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("hunk 2 of 2, p.png, a binary file"), "{}", said.stdout);
    let said = place.placet(["review", "-"]).stdin("\n").go();
    assert_eq!((said.code, said.stderr.trim()), (0, "nothing to review"));
    let said = place.placet(["review", "-", "--json"]).stdin(patch).go();
    assert_eq!(said.code, 2, "{}", said.stdout);
}

/// Story: a new binary file was in the list twice: empty, and without contents.
#[test]
fn a_new_binary_file_of_a_patch_is_one_file() {
    let place = Place::new();
    let patch = "diff --git a/n.png b/n.png\nnew file mode 100755\nindex 0000000..2222222\n\
                 Binary files /dev/null and b/n.png differ\n\
                 diff --git \"a/\\303\\244.png\" \"b/\\303\\244.png\"\ndeleted file mode 100644\nindex 2222222..0000000\n\
                 Binary files \"a/\\303\\244.png\" and /dev/null differ\n";
    let said = place.placet(["review", "-"]).stdin(patch).go();
    assert_eq!(said.code, 0, "{}", said.stderr);
    insta::assert_snapshot!(said.stdout, @r"
    hunk 1 of 2, n.png, a binary file; the diff has no more information, undecided
      executable
    hunk 2 of 2, ä.png, a binary file; the diff has no more information, undecided
    ");
}

/// A turn changed lines 5 and 25, the person changed line 5 and line 12 since, and the review is open.
fn in_conflict() -> (Pty, String) {
    let text: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let pty = ask_mode().size(100, 40).file("a.txt", &text).open();
    let mut pty = reviewing(pty, "sed -i -e s/^line.5$/five/ -e s/^line.25$/twenty-five/ a.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    let mine = text.replace("line 5\n", "mine\n").replace("line 12\n", "twelve of mine\n");
    std::fs::write(pty.tree.path().join("a.txt"), &mine).unwrap();
    // Story: the copy of the agent had the mode of before, and a private file became readable for all.
    std::fs::set_permissions(pty.tree.path().join("a.txt"), Permissions::from_mode(0o600)).unwrap();
    // Story: the summary said "is applied", and then nothing was.
    pty.line("/apply");
    pty.until("the question without a key that could apply nothing", |s| {
        s.contains("apply?") && s.contains("Review") && !s.contains("Apply")
    });
    pty.answer("k");
    pty.until("it is kept", |s| !s.contains("Keep pending") && s.trim_end().ends_with("±1 >"));
    pty.line("/apply a.txt");
    pty.until("it cannot land", |s| s.contains("nothing was applied: files changed in the meantime"));
    pty.until("the way", |s| joined(s).contains("review it to choose between your lines and the agent's"));
    assert_eq!(pty.read("a.txt"), mine);
    pty.line("/review");
    // Story: the person's own line was nowhere on the screen, only the line from which the agent had started.
    pty.until("both changes", |s| {
        s.contains("in the same lines: each conflict below")
            && s.contains("conflict: - is yours, + is the agent")
            && s.contains("before both changes, line 5:")
            && s.contains("│ line 5")
            && s.contains("mine")
            && s.contains("five")
    });
    assert_eq!(pty.screen().matches("before both changes").count(), 1, "{}", pty.screen());
    (pty, mine)
}

#[test]
fn in_a_conflict_accept_takes_the_agents_lines_and_undo_brings_back_the_persons() {
    let (mut pty, mine) = in_conflict();
    // The other hunk is decided, the conflict is not: nothing can be applied yet.
    pty.send("G[");
    decide_by(&mut pty, "a", "1/2 hunks");
    // A key right behind one that decides takes the decision back.
    pty.send("\r");
    pty.until("what is missing", |s| s.contains("the conflict in a.txt, line 5, is not decided"));
    pty.answer("a");
    pty.until("still the summary", |s| s.matches("is not decided").count() == 2);
    assert_eq!(pty.read("a.txt"), mine);
    pty.send("\x1b");
    pty.until("the review", |s| !s.contains("is not decided"));
    decide_by(&mut pty, "Y", "2/2 hunks");
    pty.send("\r");
    pty.until("the summary", |s| {
        s.contains("accepted   2 hunks")
            && s.contains("conflict   a.txt: 1 hunk of the agent replaces lines that you changed")
    });
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    let both = mine.replace("mine\n", "five\n").replace("twelve of five", "twelve of mine");
    assert_eq!(pty.read("a.txt"), both.replace("line 25\n", "twenty-five\n"));
    let mode = || std::fs::metadata(pty.tree.path().join("a.txt")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("a.txt"), mine);
}

#[test]
fn in_a_conflict_reject_keeps_the_persons_lines_and_the_others_are_applied() {
    let (mut pty, mine) = in_conflict();
    decide_by(&mut pty, "Y", "2/2 hunks");
    pty.send("g]");
    decide_by(&mut pty, "r", "✗1");
    pty.send("\r");
    pty.until("the summary", |s| {
        s.contains("rejected   1 hunk") && s.contains("conflict   a.txt: your lines stay in 1 hunk")
    });
    // Somebody changes the file once more: what was shown is not what would be replaced.
    let later = mine.replace("line 30\n", "thirty\n");
    std::fs::write(pty.tree.path().join("a.txt"), &later).unwrap();
    pty.answer("a");
    pty.until("refused", |s| joined(s).contains("`a.txt` changed again in the workspace since it was shown"));
    assert_eq!(pty.read("a.txt"), later);
    pty.line("/review");
    // The hunks are the same, so the decisions are.
    pty.until("again", |s| s.contains("before both changes, line 5:") && s.contains("✓1 ✗1"));
    pty.send("\r");
    pty.until("the summary", |s| s.contains("conflict   a.txt: your lines stay in 1 hunk"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), later.replace("line 25\n", "twenty-five\n"));
    // Story: after two undos the rejected lines were an ordinary difference, and one more apply replaced the person's.
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("a.txt"), later);
    pty.line("/undo");
    pty.until("what was rejected is back", |s| s.contains("pending again"));
    pty.line("/apply .");
    pty.until("still a conflict", |s| {
        s.matches("nothing was applied: files changed in the meantime").count() == 2
    });
    assert_eq!(pty.read("a.txt"), later);
}

/// Story: of a file that the agent deleted and the person changed, the apply said to choose in the review, and the review had
/// no choice, called the text "not text", and said that it would apply.
#[test]
fn a_conflict_without_lines_is_decided_by_side() {
    let pty = ask_mode().size(100, 30).file("a.txt", "one\ntwo\n").file("b.bin", "a\0b").open();
    let mut pty = reviewing(pty, "rm a.txt; printf 'x\\0y' > b.bin");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±2 >"));
    let write = |name: &str, text: &str| std::fs::write(pty.tree.path().join(name), text).unwrap();
    write("a.txt", "one\ntwo\nmine\n");
    write("b.bin", "a\0mine");
    pty.line("/apply");
    pty.until("the question names the conflicts", |s| {
        assert!(!s.contains("too large") && !s.contains("!less"), "{s}");
        s.contains("2 files are in conflict with the workspace")
            && s.contains("Review")
            && !s.contains("Apply")
            && joined(s)
                .matches("(conflict: this is the agent's change, yours is different: the review decides)")
                .count()
                == 2
    });
    pty.answer("r");
    pty.until("both sides", |s| {
        s.matches("conflict: the file changed in the workspace since").count() == 2
            && s.contains("yours: 13 bytes, mode 644")
            && s.contains("the agent's: no file")
            && s.contains("before both changes: 8 bytes, mode 644")
            && s.contains("yours: 6 bytes (")
            && s.contains("- is yours, + is the agent's")
            && s.contains("-mine")
    });
    decide_by(&mut pty, "a", "1/2 hunks");
    // The next file is under the cursor by itself.
    decide_by(&mut pty, "r", "2/2 hunks");
    pty.send("\r");
    pty.until("the summary", |s| {
        s.contains("a.txt: the agent's change replaces what you changed")
            && s.contains("b.bin: your version stays")
    });
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert!(!pty.tree.path().join("a.txt").exists());
    assert_eq!(pty.read("b.bin"), "a\0mine");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "one\ntwo\nmine\n");
}

/// Story: the choice of the agent's content could never be applied where the person had changed the mode: "cannot set the mode
/// or owner".
#[test]
fn a_conflict_by_side_takes_the_agents_content_and_leaves_the_mode_of_the_person() {
    for (agent, mode, shown, wanted) in [
        ("printf 'x\\0y' > b.bin", 0o600, "), mode 600", 0o600),
        (
            "printf 'x\\0y' > b.bin; chmod 755 b.bin",
            0o644,
            "mode 644 to 755, with the agent's content",
            0o755,
        ),
        (
            "printf 'x\\0y' > b.bin; chmod 755 b.bin",
            0o640,
            "mode 640 to 755, with the agent's content",
            0o755,
        ),
    ] {
        let pty = ask_mode().size(100, 30).file("b.bin", "a\0b").open();
        let file = pty.tree.path().join("b.bin");
        let set_mode = |mode| std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        set_mode(0o644);
        let mut pty = reviewing(pty, agent);
        leave_pending(&mut pty);
        pty.until("the prompt", |s| s.contains("±1 >"));
        std::fs::write(&file, "a\0mine").unwrap();
        set_mode(mode);
        let attribute = || rustix::fs::getxattr(&file, "user.mine", &mut [0_u8; 8]).ok();
        let _ = rustix::fs::setxattr(&file, "user.mine", b"1", rustix::fs::XattrFlags::empty());
        let had = attribute();
        pty.line("/review");
        pty.until("both sides", |s| s.contains(shown) && s.contains("conflict: the file changed"));
        decide_by(&mut pty, "a", "1/1 hunks");
        pty.send("\r");
        pty.until("the summary", |s| s.contains("b.bin: the agent's change replaces what you changed"));
        pty.answer("a");
        pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
        let mode_now = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
        assert_eq!((pty.read("b.bin").as_str(), mode_now(), attribute()), ("x\0y", wanted, had));
        pty.line("/undo");
        pty.until("undone", |s| s.contains("undid changes to 1 file"));
        assert_eq!((pty.read("b.bin").as_str(), mode_now(), attribute()), ("a\0mine", mode, had));
    }
}

/// Story: the person had only changed the mode: no mark, and each `a` was refused.
#[test]
fn a_directory_in_place_of_a_file_with_another_mode_is_marked_as_a_conflict() {
    let pty = ask_mode().size(100, 30).file("a.txt", "one\n").open();
    let mut pty = reviewing(pty, "rm a.txt; mkdir a.txt; echo x > a.txt/x");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±2 >"));
    std::fs::set_permissions(pty.tree.path().join("a.txt"), Permissions::from_mode(0o600)).unwrap();
    pty.line("/apply");
    pty.until("the conflict", |s| s.contains("in conflict with the workspace") && s.contains("Review"));
    pty.answer("r");
    pty.until("both sides", |s| s.contains("yours: 4 bytes, mode 600"));
}

/// Story: the question came again and again without a mark, and the person could neither apply nor choose.
#[test]
fn a_mode_that_both_changed_is_marked_as_a_conflict_and_decided_by_side() {
    let pty = ask_mode().size(100, 30).file("b.txt", "one\n").open();
    let file = pty.tree.path().join("b.txt");
    let mode_now = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let mut pty = reviewing(pty, "chmod 755 b.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    pty.line("/apply");
    pty.until("the conflict", |s| s.contains("in conflict with the workspace") && s.contains("Review"));
    pty.answer("r");
    pty.until("both sides", |s| s.contains("yours: 4 bytes, mode 600") && s.contains("mode 600 to 755"));
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("b.txt: the agent's change replaces what you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert_eq!(mode_now(), 0o755);
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(mode_now(), 0o600);
}

/// Story: where the agent changed the mode and the person the access list, the choice of the agent could not be applied: the
/// mode of a file with a list is a part of the list.
#[test]
fn a_conflict_by_side_has_the_agents_mode_and_the_persons_access_list() {
    if !require("setfacl") || !require("getfacl") {
        return;
    }
    let pty = ask_mode().size(100, 30).file("b.bin", "a\0b").open();
    let file = pty.tree.path().join("b.bin");
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let list = || {
        let out = Command::new("getfacl").args(["-cpn"]).arg(&file).output().unwrap();
        String::from_utf8_lossy(&out.stdout).trim().replace('\n', ",")
    };
    let mut pty = reviewing(pty, "printf 'x\\0y' > b.bin; chmod 755 b.bin");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::write(&file, "a\0mine").unwrap();
    let set = Command::new("setfacl").args(["-m", "u:1234:r"]).arg(&file).status().unwrap();
    if !set.success() {
        eprintln!("skipped: no access lists here");
        return;
    }
    let before = list();
    pty.line("/review");
    pty.until("both sides", |s| s.contains("conflict: the file changed"));
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("b.bin: the agent's change replaces what you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("b.bin"), "x\0y");
    assert_eq!(list(), "user::rwx,user:1234:r--,group::r--,mask::r-x,other::r-x");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!((pty.read("b.bin").as_str(), list()), ("a\0mine", before));
}

/// Story: the review called the file too large, and the apply said to choose in the review.
#[test]
fn a_file_that_the_agent_made_a_directory_is_decided_by_side() {
    let pty = ask_mode().size(100, 30).file("a.txt", "one\n").open();
    let mut pty = reviewing(pty, "rm a.txt; mkdir a.txt; echo x > a.txt/x");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±2 >"));
    std::fs::write(pty.tree.path().join("a.txt"), "one\nmine\n").unwrap();
    pty.line("/apply");
    pty.until("the conflict", |s| s.contains("in conflict with the workspace") && s.contains("Review"));
    pty.answer("r");
    pty.until("both sides", |s| {
        s.contains("yours: 9 bytes") && s.contains("the agent's: a directory") && s.contains("-mine")
    });
    pty.answer("Y");
    pty.until("all accepted", |s| s.contains("2/2 hunks"));
    pty.send("\r");
    pty.until("the summary", |s| s.contains("the agent's change replaces what you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes"));
    assert_eq!(pty.read("a.txt/x"), "x\n");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes"));
    assert_eq!(pty.read("a.txt"), "one\nmine\n");
}

/// Story: of a file that the agent renamed, "yours: 28 bytes" stood below the new name, and the person's line nowhere.
#[test]
fn a_conflict_of_a_renamed_file_names_it_and_shows_the_lines_that_would_go() {
    let pty = ask_mode().size(100, 30).file("ren.txt", "one\ntwo\nthree\n").open();
    let mut pty = reviewing(pty, "mv ren.txt renamed.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::write(pty.tree.path().join("ren.txt"), "one\ntwo\nthree\nmine\n").unwrap();
    pty.line("/review");
    pty.until("both sides", |s| {
        s.contains("yours, ren.txt: 19 bytes")
            && s.contains("the agent's, ren.txt: no file; it is renamed.txt")
            && s.contains("+ is the agent's, renamed.txt")
            && s.contains("-mine")
            && !s.contains("-three")
    });
}

/// Story: the person's file was nowhere in the review, and its entry was a new file, because the content before the rename
/// could not be read any more.
#[test]
fn a_conflict_of_a_file_that_was_renamed_and_changed_is_one_decision_about_both_names() {
    let pty = ask_mode().size(100, 30).file("ren.txt", "one\ntwo\nthree\nfour\n").open();
    let mut pty = reviewing(pty, "mv ren.txt renamed.txt; echo five >> renamed.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::write(pty.tree.path().join("ren.txt"), "one\ntwo\nthree\nfour\nmine\n").unwrap();
    pty.line("/apply");
    pty.until("the question", |s| s.contains("1 file is in conflict with the workspace"));
    pty.answer("r");
    pty.until("both sides", |s| {
        s.contains("R renamed.txt")
            && s.contains("renamed from ren.txt, and changed")
            && s.contains("conflict: the file changed in the workspace since")
            && s.contains("yours, ren.txt: 24 bytes")
            && s.contains("the agent's, ren.txt: no file; it is renamed.txt")
            && s.contains("-mine")
            && s.contains("+five")
            && s.contains("0/1 hunks")
    });
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("renamed.txt: the agent's change replaces what you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert!(!pty.tree.path().join("ren.txt").exists());
    assert_eq!(pty.read("renamed.txt"), "one\ntwo\nthree\nfour\nfive\n");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("ren.txt"), "one\ntwo\nthree\nfour\nmine\n");
    assert!(!pty.tree.path().join("renamed.txt").exists());
}

#[test]
fn a_file_that_the_person_created_too_is_a_conflict_of_both_texts() {
    let pty = ask_mode().size(100, 30).open();
    let mut pty = reviewing(pty, "echo theirs > new.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::write(pty.tree.path().join("new.txt"), "mine\n").unwrap();
    pty.line("/review");
    pty.until("both texts", |s| {
        s.contains("conflict: - is yours") && s.contains("- mine") && s.contains("+ theirs")
    });
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("replaces lines that you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("new.txt"), "theirs\n");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("new.txt"), "mine\n");
}

#[test]
fn the_prompt_counts_what_the_list_of_changes_lists() {
    let mut pty = ask_mode().size(100, 30).file("a.txt", "one\n").open();
    pty.line("run mkdir d; mv a.txt b.txt; echo x > d/new.txt");
    pty.until("a question", |s| s.contains("2 files, ") && s.contains("apply?"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("±2 >"));
    pty.line("/changes");
    pty.until("two lines", |s| s.contains("\n◆ R a.txt -> b.txt") && s.contains("\n  A d/new.txt +1 -0"));
    assert!(!pty.screen().contains("A d/ ") && !pty.screen().contains("D a.txt"), "{}", pty.screen());
}

/// tmux gives the screen back at the width it had before, and wraps what is too long for it: it has to be empty then.
#[test]
fn leaving_the_review_after_a_resize_inside_tmux_leaves_nothing_of_it() {
    if !crate::support::require::require("tmux") {
        return;
    }
    let dir = tempfile::TempDir::new().unwrap();
    let old: String = (1..=40).map(|n| format!("-{n}\n+{n} {}\n", "word ".repeat(40))).collect();
    let patch = format!("--- a/x\n+++ b/x\n@@ -1,40 +1,40 @@\n{old}");
    std::fs::write(dir.path().join("x.patch"), patch).unwrap();
    let tmux = |arguments: &[&str]| {
        let mut command = std::process::Command::new("tmux");
        command.current_dir(dir.path()).env("HOME", dir.path()).env_remove("TMUX");
        let out =
            command.arg("-S").arg(dir.path().join("s")).args(["-f", "/dev/null"]).args(arguments).output();
        String::from_utf8_lossy(&out.unwrap().stdout).into_owned()
    };
    let until = |found: &dyn Fn(&str) -> bool| {
        let started = std::time::Instant::now();
        loop {
            let screen = tmux(&["capture-pane", "-p", "-S", "-"]);
            if found(&screen) {
                return screen;
            }
            assert!(started.elapsed().as_secs() < 20, "the screen shows:\n{screen}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let line = format!("seq 60; {} review x.patch; echo over; sleep 60", crate::support::program::placet());
    tmux(&["new-session", "-d", "-x", "100", "-y", "30", "sh", "-c", &line]);
    until(&|screen| screen.contains(" hunks"));
    tmux(&["resize-window", "-x", "140", "-y", "24"]);
    until(&|screen| screen.lines().any(|row| row.chars().count() > 120));
    tmux(&["send-keys", "q"]);
    let screen = until(&|screen| screen.contains("\nover"));
    tmux(&["kill-server"]);
    let numbers: Vec<String> = (1..=60).map(|n| n.to_string()).chain(["over".into()]).collect();
    assert_eq!(screen.lines().filter(|row| !row.trim().is_empty()).collect::<Vec<_>>(), numbers);
}

/// The terminal sends Ctrl-C to placet as well, and many editors do not take it for a key.
#[test]
fn ctrl_c_in_an_editor_does_not_end_the_review() {
    let patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n";
    let script = "trap '' INT QUIT\n: > began\nsleep 1\n";
    let start = shell().variable("EDITOR", "sh ed.sh").file("ed.sh", script).file("p.patch", patch);
    let mut pty = start.arg("review").arg("p.patch").spawn();
    pty.until("the review", |s| s.contains("new") && s.contains("keys"));
    pty.by_hand("E");
    pty.until("the editor", |_| pty.tree.path().join("began").exists());
    pty.send("\x03\x1c");
    pty.until("the review again", |s| s.contains("new") && s.contains("keys"));
    pty.send("q");
    assert_eq!(pty.ended(), 0);
}

/// Two real programs: both show the pending changes, and what the second one decides about them is no decision once the first
/// one has applied them.
#[test]
fn a_second_review_of_the_same_changes_decides_nothing_after_the_first() {
    let (home, tree) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (home_path, tree_path) = (home.path().to_path_buf(), tree.path().to_path_buf());
    let words = ["--mode", "ask", "-p", "create b.txt with \"one\""];
    let start = words.into_iter().fold(shell().at(home, tree, &tree_path), |start, word| start.arg(word));
    let mut turn = start.spawn();
    turn.ended();
    let mut first = shell().size(100, 30).arg("review").after(turn).spawn();
    first.until("the review", |screen| screen.contains("b.txt") && screen.contains(" hunks"));
    let (other_home, other_tree) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let start = shell().size(120, 30).arg("review").at(other_home, other_tree, &tree_path);
    let mut second = start.variable("HOME", home_path.to_str().unwrap()).spawn();
    second.until("the review", |screen| screen.contains("b.txt") && screen.contains(" hunks"));
    for review in [&mut first, &mut second] {
        decide_by(review, "a", "1/1 hunks");
        review.by_hand("\r");
        review.until("the summary", |screen| screen.contains("[Apply]"));
        review.answer("a");
    }
    assert_eq!(first.ended(), 0, "{}", first.transcript());
    assert_eq!(first.read("b.txt"), "one");
    assert_eq!(second.ended(), 1, "{}", second.transcript());
    assert!(!second.transcript().contains("applied changes"), "{}", second.transcript());
}
