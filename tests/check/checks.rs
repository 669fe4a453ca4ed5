//! Checks of pending changes on the command line.

use crate::support::binary::{Out, Place};
use crate::support::pty::shell;
use crate::support::require::has_view;
use crate::support::require::require;

fn printed(out: &Out) -> String {
    out.stdout.clone()
}

#[test]
fn a_check_sees_the_pending_changes_and_leaves_nothing_behind() {
    if !has_view() {
        return;
    }
    let settings = "[checks.words]\ncommand = \"cat a.txt && echo x > made.txt && echo y >> notes.txt && ! grep -q bad a.txt\"\n";
    let place = Place::with_notes().config(settings);
    place.run(["-p", "create a.txt with \"good\"", "--mode", "ask"]).code(3);
    let out = place.run(["checks", "run"]).code(0);
    assert!(printed(&out).starts_with("words: passed in "), "{}", printed(&out));
    out.says("it changed 2 files; placet discarded these changes: made.txt, notes.txt");
    assert!(!place.tree.join("a.txt").exists() && !place.tree.join("made.txt").exists());
    assert_eq!(place.read("notes.txt"), "one\ntwo\n");
    place.run(["changes"]).code(0).says("A a.txt");
    place.run(["checks", "list"]).code(0).says("(this state)");
    // Another state: the result is not one of it.
    place.write("notes.txt", "three\n");
    place.run(["checks", "list"]).code(0).says("(before files of the workspace changed)");
    place.run(["discard"]).code(0);
    place.run(["checks", "list"]).code(0).says("(before the last changes to 1 file)");
    place.run(["checks", "output", "words"]).code(0).says("good");
}

#[test]
fn only_a_state_whose_required_checks_passed_is_applied() {
    if !has_view() {
        return;
    }
    let settings =
        "[checks.words]\ncommand = \"! grep -n bad *.txt\"\npaths = [\"*.txt\"]\nrequired = true\n";
    let place = Place::with_notes().config(settings);
    place.run(["-p", "create a.txt with \"bad\"", "--mode", "ask"]).code(3);
    let refused = place.run(["apply", "--checked"]).code(3);
    refused.warns("not applied: the required check words did not pass");
    assert!(!place.tree.join("a.txt").exists());
    place.run(["discard"]).code(0);
    place.run(["-p", "create a.txt with \"good\"", "--mode", "ask"]).code(3);
    let applied = place.run(["apply", "--checked"]).code(0);
    applied.says("words: passed in ").says("checked: words passed in state ");
    assert_eq!(place.read("a.txt"), "good");
    let log = std::fs::read_to_string(place.state_dir().join("audit/log.jsonl")).unwrap();
    assert!(log.contains("\"reach\":[\"check words passed in state "), "{log}");
    // A change on which no required check depends.
    place.run(["-p", "create b.md with \"bad\"", "--mode", "ask"]).code(3);
    place.run(["apply", "--checked"]).code(0).says("no required check depends on these changes");
}

#[test]
fn a_check_that_does_not_end_is_stopped_and_floods_are_bounded() {
    if !has_view() {
        return;
    }
    let settings = "[checks.endless]\ncommand = \"sleep 1000 & sleep 1000\"\ntimeout = 1\n\
                    [checks.flood]\ncommand = \"yes 'a.c:1:1: warning: w' | head -c 100000000; exit 3\"\n\
                    [checks.gone]\ncommand = \"no-such-program\"\n";
    let place = Place::with_notes().config(settings);
    let out = place.run(["checks", "run"]).code(1);
    let out = out.says("endless: stopped at its deadline of 1 second");
    let out = out.says("flood: failed with exit code 3: 500 warnings").says(" more\n");
    out.says("gone: failed with exit code 127");
    let stored = std::fs::read_dir(place.state_dir().join("checks")).unwrap().next().unwrap().unwrap().path();
    assert!(std::fs::metadata(stored.join("flood/output")).unwrap().len() < 40_000_000);
}

#[test]
fn a_check_of_a_project_needs_trust() {
    let text = "[checks.mine]\ncommand = \"touch /tmp/placet-was-here\"\n";
    let place = Place::with_notes().file(".placet/config.toml", text);
    place.run(["checks", "list"]).code(0).warns("no checks");
    place.run(["config", "trust"]).code(0);
    place.run(["checks", "list"]).code(0).says("mine: touch /tmp/placet-was-here");
}

#[test]
fn a_wrong_setting_of_a_check_is_an_error_and_not_a_missing_check() {
    let place = Place::with_notes().config("[checks.x]\noutput = \"regex\"\ncommand = \"true\"\n");
    let told = "the check `x` has the output `regex`, which needs a `pattern`";
    place.run(["checks", "run"]).code(1).warns(told);
    place.run(["apply", "--checked"]).code(1).warns(told);
}

#[test]
fn proposals_become_settings_only_when_they_are_asked_for() {
    let ours = "# ours\nmode = \"ask\"\n";
    if !require("make") {
        return;
    }
    let place = Place::new().file("Makefile", "test:\nlint:\n").file(".placet/config.toml", ours);
    let proposed = place.run(["checks", "detect"]).code(0);
    assert_eq!(
        printed(&proposed).split_once('\n').unwrap().1.trim_end(),
        "# from Makefile\n[checks.make-lint]\ncommand = \"make lint\"\n\n\
         # from Makefile\n[checks.make-test]\ncommand = \"make test\""
    );
    assert_eq!(place.read(".placet/config.toml"), ours);
    // Nobody can be asked: it stays pending, as a change of an agent does.
    let pending = place.run(["checks", "detect", "--write"]).code(3);
    pending
        .warns("M .placet/config.toml")
        .warns("`placet apply --apply-protected .placet/config.toml` applies it without a question");
    assert_eq!(place.read(".placet/config.toml"), ours);
    place.run(["checks", "detect", "--write"]).code(1).warns("config.toml is pending already");
    place.run(["discard"]).code(0);
    let named = ["checks", "detect", "--write", "--apply-protected", ".placet/config.toml"];
    place.run(named).code(0).says("applied changes to 1 file").warns("placet config trust");
    assert!(
        place
            .read(".placet/config.toml")
            .starts_with(&format!("{ours}\n# from Makefile\n[checks.make-lint]\n"))
    );
    place.run(["checks", "detect"]).code(0).warns("nothing to propose: no file of this directory suggests");
    place.write("GNUmakefile", "# a comment\n".repeat(100_000));
    let told = place.run(["checks", "detect"]).code(0).warns("nothing to propose: GNUmakefile (1.");
    told.warns(") was not read: placet reads files of at most ");
    std::fs::remove_file(place.tree.join("GNUmakefile")).unwrap();
    let untrusted = place.run(["checks"]).code(0);
    assert!(
        untrusted.stderr.contains("no checks in use: 2 checks of this project are not trusted"),
        "{untrusted:#?}"
    );
    place.run(["undo"]).code(0);
    assert_eq!(place.read(".placet/config.toml"), ours);
    place.run(["checks", "detect", "--write", "--mode", "read"]).code(3);
    assert_eq!(place.read(".placet/config.toml"), ours);
}

#[test]
fn a_proposal_in_a_terminal_is_asked_about() {
    if !require("make") {
        return;
    }
    for (answer, is_applied) in [("y", true), ("n", false)] {
        let pty = shell().arg("checks").arg("detect").size(100, 40);
        let mut pty = pty.file("Makefile", "test:\n").spawn();
        pty.until("the question", |s| s.contains("[checks.make-test]") && s.contains("No, keep it pending"));
        assert!(!pty.exists(".placet/config.toml"));
        pty.answer(answer);
        let code = pty.ended();
        assert_eq!(pty.exists(".placet/config.toml"), is_applied, "{}", pty.screen());
        assert_eq!(code, if is_applied { 0 } else { 3 }, "{}", pty.screen());
        let last =
            if is_applied { "the checks are in effect" } else { "--apply-protected .placet/config.toml" };
        assert!(pty.transcript().contains(last), "{}", pty.transcript());
    }
}

/// Programs set the time of a file back: `cp -p`, `tar -x`, `rsync -t`.
#[test]
fn a_result_is_not_one_of_another_content_of_the_same_size_and_time() {
    if !has_view() {
        return;
    }
    let settings = "[checks.words]\ncommand = \"grep -q good word\"\nrequired = true\n";
    let place = Place::with_notes().config(settings);
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let write = |content: &str| {
        let path = place.write("word", content);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    };
    write("good1");
    place.run(["-p", "create a.txt with \"x\"", "--mode", "ask"]).code(3);
    place.run(["checks", "run"]).code(0);
    place.run(["checks"]).code(0).says("(this state)");
    write("bad_1");
    place.run(["checks"]).code(0).says("(before files of the workspace changed)");
    place.run(["apply", "--checked"]).code(3).warns("the required check words did not pass");
    // A link to another file, whose name is as long.
    write("good1");
    place.write("evil1", "bad");
    std::fs::remove_file(place.tree.join("word")).unwrap();
    place.write("fine1", "good");
    std::os::unix::fs::symlink("fine1", place.tree.join("word")).unwrap();
    place.run(["checks", "run"]).code(0);
    std::fs::remove_file(place.tree.join("word")).unwrap();
    std::os::unix::fs::symlink("evil1", place.tree.join("word")).unwrap();
    place.run(["checks"]).code(0).says("(before files of the workspace changed)");
}

/// A rejected change gives a file its old content and its old time: make would take its old output for new.
#[test]
fn build_output_stays_and_is_never_taken_for_that_of_another_state() {
    if !(has_view() && require("make")) {
        return;
    }
    let makefile = "out/copy: word\n\tmkdir -p out; echo made; cp word out/copy\n";
    let settings = "[checks.make]\ncommand = \"make -s && ! grep bad out/copy\"\n";
    let place = Place::new()
        .config(settings)
        .file("Makefile", makefile)
        .file(".gitignore", "out/\n")
        .file("word", "good\n");
    let made = |place: &Place| place.run(["checks", "output", "make"]).code(0).stdout.contains("made");
    place.run(["checks", "run"]).code(0);
    assert!(made(&place));
    place.run(["checks", "run"]).code(0);
    assert!(!made(&place), "the second run built again");
    let edit = ["-p", "run echo bad > word", "--mode", "ask"];
    place.run(edit).code(3);
    place.run(["checks", "run"]).code(1);
    place.run(["discard"]).code(0);
    place.run(["checks", "run"]).code(0);
    assert!(made(&place) && !place.tree.join("out").exists());
    place.run(["checks", "run", "--fresh"]).code(0);
    assert!(made(&place));
}

/// The newest result of a state counts: a check that passed once and then failed on the same files has not passed.
#[test]
fn a_flaky_check_counts_as_its_last_run() {
    if !has_view() {
        return;
    }
    let command =
        "n=$(cat out/n 2>/dev/null || echo 0); mkdir -p out; echo $((n + 1)) > out/n; test $((n % 2)) = 0";
    let settings = format!("[checks.flaky]\ncommand = \"{command}\"\nrequired = true\n");
    let place = Place::with_notes().config(&settings).file(".gitignore", "out/\n");
    place.run(["-p", "create a.txt with \"good\"", "--mode", "ask"]).code(3);
    place.run(["checks", "run"]).code(0).says("flaky: passed in ");
    place.run(["checks", "run"]).code(1).says("flaky: failed with exit code 1");
    place.run(["checks", "list"]).code(0).says("failed with exit code 1 (this state)");
    // The apply runs it again, because it has not passed: now it does.
    place.run(["apply", "--checked"]).code(0).says("flaky: passed in ");
    assert_eq!(place.read("a.txt"), "good");
}

/// A change can write a cache that decides later runs. After it was discarded no difference shows that.
#[test]
fn what_a_discarded_change_wrote_decides_no_later_run() {
    if !has_view() {
        return;
    }
    let command = "mkdir -p out; if test -e evil.sh; then . ./evil.sh; fi; \
                   test -e out/pass || test -e ~/.pass || test -e $TMPDIR/pass || grep -q good word";
    let settings = format!("[checks.words]\ncommand = \"{command}\"\nrequired = true\n");
    for evil in ["touch out/pass", "touch ~/.pass", "touch $TMPDIR/pass"] {
        let place = Place::with_notes().config(&settings).file(".gitignore", "out/\n").file("word", "bad\n");
        place.run(["checks", "run"]).code(1);
        let create = format!("create evil.sh with \"{evil}\"");
        place.run(["-p", create.as_str(), "--mode", "ask"]).code(3);
        place.run(["checks", "run"]).code(0);
        place.run(["discard"]).code(0);
        place.run(["-p", "create other.txt with \"x\"", "--mode", "ask"]).code(3);
        place.run(["checks", "run"]).code(1);
        place.run(["apply", "--checked"]).code(3);
        assert!(!place.tree.join("other.txt").exists(), "{evil}");
    }
    // What a command of the agent left in its directory for temporary files is not there either.
    let place = Place::with_notes().config(&settings).file("word", "bad\n");
    place.run(["-p", "run touch $TMPDIR/pass made", "--mode", "ask"]).code(3);
    place.run(["checks", "run"]).code(1);
}

#[test]
fn after_an_apply_the_list_says_that_the_checks_saw_what_was_applied() {
    if !has_view() {
        return;
    }
    let settings = "[checks.words]\ncommand = \"grep -q good a.txt\"\nrequired = true\n";
    let place = Place::with_notes().config(settings);
    place.run(["-p", "create a.txt with \"good\"", "--mode", "ask"]).code(3);
    place.run(["apply", "--checked"]).code(0);
    place.run(["checks"]).code(0).says("(on the changes that are in the workspace now)");
    place.write("a.txt", "other");
    place.run(["checks"]).code(0).says("(before the last changes to 1 file)");
}

/// The mark of the cache is below what the second run wrote.
#[test]
fn a_cache_with_a_mark_stays_while_a_change_is_checked_again() {
    if !has_view() {
        return;
    }
    let command = "mkdir -p cache; test -e cache/CACHEDIR.TAG || touch cache/CACHEDIR.TAG; \
                   if test -e a.txt; then test -e cache/b && echo again; echo x > cache/b; fi";
    let place = Place::with_notes().config(&format!("[checks.x]\ncommand = \"{command}\"\n"));
    place.run(["checks", "run"]).code(0);
    place.run(["-p", "create a.txt with \"x\"", "--mode", "ask"]).code(3);
    for is_again in [false, true] {
        let out = place.run(["checks", "run"]).code(0);
        assert!(!out.stdout.contains("it changed"), "{}", out.stdout);
        let output = place.run(["checks", "output", "x"]).code(0).stdout;
        assert_eq!(output.contains("again"), is_again, "{output}");
    }
}
