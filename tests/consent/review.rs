//! The review from outside: the real binary in a terminal, patches on the command line, and what lands.

use crate::support::binary::Place;
use crate::support::pty::{Pty, shell};
use crate::support::tool_bench::Bench;
use placet::permission::Mode;
use placet::repl::{ReviewApply, apply_review, review_of};
use placet::ui::review::{Review, ReviewBody, ReviewDecision};
use placet::workspace::{TransactionLabel, View};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

const ESC: &str = "\x1b";

pub(super) fn ask_mode() -> crate::support::pty::Start {
    shell().arg("--mode").arg("ask")
}

/// Runs a command, and has its effects under review.
pub(super) fn reviewing(mut pty: Pty, command: &str) -> Pty {
    pty.line(&format!("run {command}"));
    pty.until("a question", |s| s.contains("apply?"));
    pty.answer("r");
    pty.until("the review and its keys", |s| s.contains(" hunks") && s.contains(" accept  "));
    pty
}

/// Leaves the review, which leads back to the question, and answers that everything stays pending.
pub(super) fn leave_pending(pty: &mut Pty) {
    pty.answer("q");
    pty.until("the question again", |s| s.contains("apply?") && s.contains("Keep pending"));
    pty.answer("k");
}

/// Presses a key that decides, once the review takes keys.
pub(super) fn decide_by(pty: &mut Pty, key: &str, decided: &str) {
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

pub(super) fn review(bench: &Bench) -> Option<Review> {
    review_of(&bench.env.workspace, view(bench), &[]).unwrap().map(|(_, review)| review)
}

pub(super) fn view(bench: &Bench) -> &View {
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
pub(super) fn layered(bench: &Bench, name: &str, bytes: &[u8]) {
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
