//! Tries: several attempts in one directory, each with pending changes of its own.

use crate::support::binary::Place;
use crate::support::is_full;
use crate::support::pty::shell;
use crate::support::require::has_view;
use placet::workspace::{ApplyOutcome, LayerKind, TransactionLabel, View, ViewPaths};
use rustix::process::Signal;
use std::path::Path;
use std::time::Duration;

/// One turn of the try `name`, whose changes stay pending.
fn attempt(place: &Place, name: &str, words: &str) {
    place.run(["--try", name, "-p", words, "--mode", "ask"]).code(3);
}

#[test]
fn each_try_sees_the_workspace_and_its_own_changes_and_is_applied_by_itself() {
    let place = Place::with_notes();
    attempt(&place, "first", "create a.txt with \"one\"");
    attempt(&place, "second", "create b.txt with \"two\"");
    place.run(["changes", "--try", "first"]).code(0).says("A a.txt");
    let second = place.run(["changes", "--try", "second"]).code(0).says("A b.txt");
    assert!(!second.stdout.contains("a.txt"), "{}", second.stdout);
    let list = place.run(["try", "list"]).code(0).says("first").says("second").says("1 file pending");
    assert_eq!(list.stdout.lines().count(), 2, "{}", list.stdout);
    // The next turn of a try continues it.
    attempt(&place, "first", "create c.txt with \"three\"");
    place.run(["changes", "--try", "first"]).code(0).says("A a.txt").says("A c.txt");
    place.run(["apply", "--try", "first"]).code(0);
    assert_eq!((place.read("a.txt").as_str(), place.tree.join("b.txt").exists()), ("one", false));
    place.run(["changes", "--try", "first"]).code(0).warns("nothing is pending");
    let rows = place.run(["try", "list", "--json"]).code(0).json();
    let pending: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| (row["name"].clone(), row["pending"].clone())).collect();
    assert_eq!(pending, [("first".into(), 0.into()), ("second".into(), 1.into())]);
    place
        .run(["try", "prune", "--dry-run"])
        .code(0)
        .says("first")
        .warns("1 try without pending changes would lose");
    place.run(["try", "prune"]).code(0).warns("1 try without pending changes lost the name");
    place.run(["try", "rename", "second", "other"]).code(0).warns("the try second is other now");
    place
        .run(["try", "drop", "other"])
        .code(0)
        .says("discarded changes to 1 file")
        .warns("other is not a try any more");
    place.run(["try", "list"]).code(0).warns("no tries here");
    // Its conversation stays, and so does the way back.
    place.run(["undo"]).code(0).says("restored the discarded changes to 1 file");
}

#[test]
fn a_name_that_cannot_be_one_and_a_try_that_is_not_there_are_errors_with_a_next_step() {
    let place = Place::with_notes();
    for bad in ["a/b", "..", "list", "a b", ""] {
        place.run(["--try", bad, "-p", "show notes.txt"]).code(2);
    }
    place
        .run(["changes", "--try", "gone"])
        .code(1)
        .warns("this directory has no try gone")
        .warns("placet --try gone");
    place.run(["compare", "a", "a"]).code(2).warns("two different tries");
    place.run(["compare", "a", "b"]).code(1).warns("this directory has no try a");
    attempt(&place, "a", "create a.txt with \"one\"");
    attempt(&place, "b", "create a.txt with \"one\"");
    place.run(["try", "rename", "a", "b"]).code(1).warns("this directory has a try `b` already");
    place.run(["compare", "a", "b"]).code(0).warns("a and b have the same files");
}

#[test]
fn when_one_is_applied_the_others_are_merged_with_it() {
    let place = Place::with_notes().file("long.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    attempt(&place, "top", "replace 1 with one in long.txt");
    attempt(&place, "end", "replace 9 with nine in long.txt");
    place.run(["apply", "--try", "top"]).code(0);
    place.run(["try", "list"]).code(0).says("1 changed since");
    // The merged change is pending: it is another one than was shown.
    place.run(["apply", "--try", "end"]);
    place.run(["apply", "--try", "end"]);
    assert_eq!(place.read("long.txt"), "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
}

#[test]
fn the_difference_of_two_tries_is_a_patch_in_a_pipe() {
    let place = Place::with_notes();
    attempt(&place, "a", "create a.txt with \"one\"");
    attempt(&place, "b", "create a.txt with \"two\"");
    let patch = place.run(["compare", "a", "b"]).code(0);
    assert!(patch.stdout.contains("-one") && patch.stdout.contains("+two"), "{}", patch.stdout);
}

#[test]
fn in_the_shell_the_prompt_names_the_try_and_nothing_of_another_one_is_in_sight() {
    let mut pty = shell().file("long.txt", "1\n2\n3\n").open();
    pty.line("/try idea");
    pty.until("the try", |s| s.contains("[a] idea > "));
    pty.line("create a.txt with \"one\"");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("pending", |s| s.contains("[a] idea ±1 > "));
    pty.line("/try other");
    pty.until("the other", |s| s.contains("[a] other > "));
    pty.line("/changes");
    pty.until("nothing", |s| s.contains("nothing is pending"));
    pty.line("/try idea");
    pty.until("the first again", |s| s.trim_end().ends_with("[a] idea ±1 >"));
    pty.line("/try drop idea");
    pty.until("dropped", |s| s.contains("idea is not a try any more"));
    pty.line("/try");
    pty.until("the list", |s| s.contains("other  nothing pending"));
    assert!(!pty.exists("a.txt"));
    pty.line("/try a/b");
    pty.until("an error", |s| s.contains("letters, digits"));
    pty.line("/compare idea other");
    pty.until("the hint", |s| s.contains("`placet compare A B` compares two tries"));
}

#[test]
fn the_shell_says_how_to_go_back_to_a_conversation_that_is_no_try() {
    let mut pty = shell().size(100, 30).file("long.txt", "1\n2\n3\n").open();
    pty.line("replace 1 with one in long.txt");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("pending", |s| s.contains("[a] ±1 > "));
    pty.line("/try idea");
    pty.until("the way back", |s| {
        s.contains("goes back to the conversation before") && s.contains("[a] idea > ")
    });
    let screen = pty.screen();
    let id = screen.split("/resume ").nth(1).unwrap().split_whitespace().next().unwrap();
    pty.line(&format!("/resume {id}"));
    pty.until("the conversation", |s| s.trim_end().ends_with("[a] ±1 >"));
    // A try is found again by its name.
    pty.line("/try idea");
    pty.until("the try", |s| s.trim_end().ends_with("[a] idea >"));
    pty.line("/try other");
    pty.until("another", |s| s.trim_end().ends_with("[a] other >") && s.contains("began the try other"));
    let after = pty.screen();
    assert!(!after.split("began the try other").nth(1).unwrap().contains("/resume"), "{after}");
}

/// Story: `/try secnod` began an empty try, and `/try` did not list the conversation without a name.
#[test]
fn a_misspelt_try_is_asked_about_and_the_list_has_conversations_without_a_name() {
    let mut pty = shell().size(110, 30).arg("--mode").arg("ask").open();
    pty.line("create a.txt with \"x\"");
    pty.until("the question", |s| s.contains("Keep pending"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty.answer("k");
    pty.until("pending", |s| s.contains("[a] ±1 > "));
    pty.line("/try");
    pty.until("this conversation", |s| {
        s.contains("without a name, this conversation: 1 file pending; /try rename NAME names it")
    });
    pty.line("/try second");
    pty.until("the try", |s| s.contains("began the try second"));
    pty.line("/try secnod");
    pty.until("the question", |s| s.contains("this directory has no try secnod; did you mean second?"));
    pty.line("/try");
    pty.until("the list", |s| {
        s.contains("without a name, \"create a.txt with \"x\"\", just now: 1 file pending; /resume ")
    });
    // Names that differ in a number, and a name that is meant.
    pty.line("/try second2");
    pty.until("the next try", |s| s.contains("began the try second2"));
    pty.line("/try new secnod");
    pty.until("the try after all", |s| s.contains("began the try secnod"));
}

#[test]
fn the_prompt_says_when_a_file_of_the_try_was_changed_by_others() {
    let mut pty = shell().file("long.txt", "1\n2\n3\n").open();
    pty.line("/try idea");
    pty.until("the try", |s| s.contains("[a] idea > "));
    pty.line("replace 1 with one in long.txt");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("pending", |s| s.contains("[a] idea ±1 > "));
    std::fs::write(pty.tree.path().join("long.txt"), "1\n2\n3 by others\n").unwrap();
    pty.line("/mode");
    pty.until("the mark", |s| s.contains("[a] idea (1 file changed since) ±1 >"));
}

#[test]
fn parts_of_one_try_are_taken_into_another_and_undo_takes_them_out() {
    let mut pty = shell().open();
    for (name, text) in [("a", "one"), ("b", "two")] {
        pty.line(&format!("/try {name}"));
        pty.until("the try", |s| s.trim_end().ends_with(&format!("[a] {name} >")));
        pty.line(&format!("create {name}.txt with \"{text}\""));
        pty.until("the question", |s| s.contains("apply"));
        pty.answer("k");
        pty.until("pending", |s| s.trim_end().ends_with(&format!("[a] {name} ±1 >")));
    }
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
    let mut pty = shell().arg("compare").arg("a").arg("b").after(pty).spawn();
    pty.until("the review", |s| s.contains("a against b") && s.contains("b.txt"));
    pty.send("q");
    assert_eq!(pty.ended(), 0);
}

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

/// A try as the library has it: a view of its own over the same directory.
fn try_of(base: &Path, root: &Path, name: &str) -> View {
    let places = ViewPaths {
        view: base.join("views").join(name),
        layers: vec![base.join("layers")],
        objects: base.join("objects"),
        journal: base.join("journal"),
        scratch: base.join("scratch").join(name),
    };
    View::at(places, &[root.to_path_buf()])
}

/// Makes files pending in a view, as a command does.
fn write_in(view: &View, files: &[(String, String)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let command = runtime.block_on(view.begin(LayerKind::Pending, None)).unwrap();
    let upper = command.mounts.first().unwrap().upper.clone();
    for (name, text) in files {
        std::fs::write(upper.join(name), text).unwrap();
    }
    view.finish(command, &|_| false).unwrap();
}

/// Applies all that is pending; what merges is applied in its merged form.
fn apply_all(view: &View) {
    for _ in 0..3 {
        let set = view.changes(LayerKind::Pending).unwrap();
        match view.apply(&View::everything(&set), TransactionLabel::default()).unwrap() {
            ApplyOutcome::Changed { conflicts, .. } if conflicts.is_empty() => {}
            _ => return,
        }
    }
}

/// In whatever order tries are applied, each line that one of them wrote is in the workspace or still pending in it.
#[test]
fn no_order_of_applies_loses_a_line_of_a_try() {
    const FILES: [&str; 3] = ["a.txt", "b.txt", "c.txt"];
    const TRIES: usize = 8;
    let mut random = Random(8);
    let rounds = if is_full() { 200 } else { 25 };
    for round in 0..rounds {
        let dir = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let root = base.join("tree");
        std::fs::create_dir(&root).unwrap();
        let text: Vec<String> = (0..90).map(|line| format!("line {line}")).collect();
        for name in FILES {
            std::fs::write(root.join(name), text.join("\n") + "\n").unwrap();
        }
        let mut tries = Vec::new();
        for number in 0..TRIES {
            let view = try_of(&base, &root, &format!("try-{number}"));
            let (mut files, mut written) = (Vec::new(), Vec::new());
            for name in FILES {
                if random.below(4) == 0 {
                    continue;
                }
                let mut lines = text.clone();
                for _ in 0..1 + random.below(3) {
                    let at = random.below(lines.len());
                    lines[at] = format!("try {number} wrote this at {at} of {name}");
                }
                written.extend(lines.iter().filter(|l| l.starts_with("try ")).map(|l| (name, l.clone())));
                files.push((name.to_string(), lines.join("\n") + "\n"));
            }
            let own = format!("of-{number}.txt");
            files.push((own.clone(), format!("only try {number}\n")));
            write_in(&view, &files);
            tries.push((view, own, written));
        }
        let mut order: Vec<usize> = (0..TRIES).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        for number in &order {
            apply_all(&tries[*number].0);
        }
        for (view, own, written) in &tries {
            let set = view.changes(LayerKind::Pending).unwrap();
            let pending = |name: &str| {
                let change = set.get(&root.join(name))?;
                let (_, after) = change.bytes(view.objects())?;
                Some(String::from_utf8_lossy(&after).into_owned())
            };
            // An apply is all or nothing: where another file is in conflict, this one is pending too.
            assert!(root.join(own).exists() || pending(own).is_some(), "round {round}, {order:?}: {own}");
            for (name, line) in written {
                let is_in = |text: &str| text.lines().any(|found| found == line);
                let there = is_in(&std::fs::read_to_string(root.join(name)).unwrap());
                assert!(
                    there || pending(name).is_some_and(|text| is_in(&text)),
                    "round {round}, {order:?}: {name} has lost {line}"
                );
            }
        }
    }
}

/// A kill at any moment of a turn loses what the turn did since, and nothing else: not what was pending in its try, and
/// nothing of the other ones.
#[test]
fn a_kill_leaves_each_try_whole() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    attempt(&place, "first", "create a.txt with \"one\"");
    attempt(&place, "second", "create b.txt with \"two\"");
    let mut random = Random(9);
    let rounds = if is_full() { 60 } else { 8 };
    for round in 0..rounds {
        let line = "run for n in 1 2 3; do echo half > of-$n.txt; done; exec sleep 1000";
        let running = place.placet(["--try", "first", "-p", line, "--mode", "ask"]).start();
        std::thread::sleep(Duration::from_millis(u64::try_from(random.below(300)).unwrap()));
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, 137, "round {round}");
        for (name, file) in [("first", "A a.txt +1 -0\n"), ("second", "A b.txt +1 -0\n")] {
            assert_eq!(place.run(["changes", "--try", name]).code(0).stdout, file, "round {round}");
        }
    }
    // Both go on, and both can be applied.
    attempt(&place, "first", "create c.txt with \"three\"");
    for name in ["first", "second"] {
        place.run(["apply", "--try", name]).code(0);
    }
    assert_eq!(["a.txt", "b.txt", "c.txt"].map(|name| place.read(name)), ["one", "two", "three"]);
    assert!(!place.tree.join("of-1.txt").exists());
}
