//! What a killed or stopped `placet run` left: pending, shown, never applied by itself.

use super::run::{Bench, needs_a_view};
use crate::support::wait;

#[test]
fn what_a_killed_run_left_is_pending_at_the_next_start() {
    needs_a_view!();
    let bench = Bench::with(
        "claude",
        "mkdir -p ~/.claude; echo h > ~/.claude/settings.json; echo x > made.txt; echo started; read go",
    );
    let mut running = bench.run(&["claude"]).start();
    running.line_where(|line| line.contains("started"));
    running.signal(rustix::process::Signal::KILL);
    running.end();
    bench.program("claude", "cat made.txt");
    // The processes of the killed run may need a moment to end.
    wait::until("the run", || {
        let out = bench.go(&["claude"]);
        out.code == 3 && out.stdout == "x\n"
    });
    bench.place.run(["changes"]).says("made.txt");
}

#[test]
fn what_a_killed_run_left_is_shown_and_applied_without_another_run() {
    needs_a_view!();
    let bench = Bench::with("claude", "echo two > notes.txt; echo x > made.txt; echo started; read go");
    bench.place.write("notes.txt", "one\n");
    let mut running = bench.run(&["claude"]).start();
    running.line_where(|line| line.contains("started"));
    let list = bench.place.run(["changes"]).code(0);
    assert!(list.stdout.contains("none of them applied or pending:\n"), "a live run is left alone: {list:?}");
    running.signal(rustix::process::Signal::KILL);
    running.end();
    // The processes of the killed run may need a moment to end.
    wait::until("the run", || {
        let list = bench.place.run(["changes"]).code(0);
        list.stderr.contains("was interrupted; what it changed is pending (2 files)")
            && list.stdout.contains("A made.txt")
            && list.stdout.contains("M notes.txt")
    });
    bench.place.run(["apply"]).code(0);
    assert_eq!(bench.place.read("notes.txt"), "two\n");
    bench.place.run(["undo"]).code(0);
    assert_eq!(bench.place.read("notes.txt"), "one\n");
}

/// Story: SIGTERM and Ctrl-C without a terminal discarded what the program had written, without a word; kill -9 kept it.
#[test]
fn what_a_stopped_run_left_is_pending_and_never_applied() {
    needs_a_view!();
    use rustix::process::Signal;
    let bench = Bench::with("claude", "echo x > made.txt; echo started; read go");
    for (signal, options) in [(Signal::TERM, &["claude"][..]), (Signal::INT, &["--apply", "claude"])] {
        let mut running = bench.run(options).start();
        running.line_where(|line| line.contains("started"));
        running.signal(signal);
        let out = running.end();
        assert_eq!(out.code, 130, "{out:?}");
        assert!(out.stderr.contains("A made.txt") && out.stderr.contains("pending"), "{out:?}");
        assert!(!bench.place.tree.join("made.txt").exists(), "{out:?}");
        bench.place.run(["changes"]).code(0).says("made.txt");
        bench.place.run(["discard"]).code(0);
    }
}

/// Story: `kill -9` of the process in which the program ran, as the kernel does for memory, and a file that the program was
/// about to write again was applied empty.
#[test]
fn what_a_killed_program_left_is_pending_although_apply_was_given() {
    needs_a_view!();
    let bench = Bench::with("half", ": > notes.txt; kill -9 $$");
    let out = bench.go(&["--apply", "--", "half"]).code(3);
    out.warns("not applied: half was killed by signal 9, and its changes may be incomplete");
    assert!(!bench.place.read("notes.txt").is_empty());
    bench.place.run(["changes"]).code(0).says("notes.txt");
    bench.place.run(["discard"]).code(0);

    bench.program("half", ": > notes.txt; echo started; read go");
    let mut running = bench.run(&["--apply", "--", "half"]).start();
    running.line_where(|line| line.contains("started"));
    let parent = running.pid();
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    for child in children.split_whitespace() {
        let pid = rustix::process::Pid::from_raw(child.parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    let out = running.end();
    assert_eq!(out.code, 3, "{out:?}");
    assert!(out.stderr.contains("not applied: the process that ran half was killed"), "{out:?}");
    assert!(!bench.place.read("notes.txt").is_empty());
    bench.place.run(["changes"]).code(0).says("notes.txt");
}

#[test]
fn a_fresh_run_does_not_continue_with_what_a_killed_run_left() {
    needs_a_view!();
    let bench = Bench::with("claude", "echo x > made.txt; rm notes.txt; echo started; read go");
    let mut running = bench.run(&["claude"]).start();
    running.line_where(|line| line.contains("started"));
    running.signal(rustix::process::Signal::KILL);
    running.end();
    bench.program("claude", "ls");
    // The processes of the killed run may need a moment to end.
    wait::until("the killed run", || {
        let out = bench.go(&["--fresh", "--apply", "claude"]).code(0);
        assert_eq!(out.stdout, "notes.txt\n", "{out:?}");
        out.stderr.contains("was interrupted; what it changed is pending (2 files)")
    });
    let made = bench.place.tree.join("made.txt");
    assert!(!made.exists() && bench.place.tree.join("notes.txt").exists());
    bench.place.run(["changes"]).says("made.txt");
}

/// Story: files at home of a killed run without a preset became a pending session, which `apply` applied.
#[test]
fn what_a_killed_run_without_a_preset_left_at_home_is_never_pending() {
    needs_a_view!();
    let bench = Bench::with("other", "echo h > ~/made-at-home; echo x > made.txt; echo started; read go");
    let mut running = bench.run(&["--", "other"]).start();
    running.line_where(|line| line.contains("started"));
    running.signal(rustix::process::Signal::KILL);
    running.end();
    // The processes of the killed run may need a moment to end.
    wait::until("the killed run", || {
        let list = bench.place.run(["changes"]).code(0);
        list.stderr.contains("was interrupted; what it changed is pending (1 file)")
            && list.stdout.contains("A made.txt")
    });
    let pending = bench.place.run(["changes", "--output-format", "json"]).code(0);
    assert!(!pending.stdout.contains("made-at-home") && !pending.stdout.contains("-home"), "{pending:?}");
    bench.place.run(["apply"]).code(0);
    assert!(!bench.place.home.join("made-at-home").exists());
}
