//! `placet run` under load that a program or a window makes, and without any: sizes that never stay, screens that change
//! without end, and a program that does nothing.

use crate::support::is_full;
use crate::support::pty::{Start, shell};
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::wait;
use rustix::process::Signal;
use std::time::{Duration, Instant};

fn run(line: &str) -> Start {
    shell().arg("run").arg("--").arg(line)
}

#[test]
fn the_question_is_drawn_while_the_size_never_stays() {
    if !has_view() {
        return;
    }
    let mut pty = run("read x; echo new > a").spawn();
    pty.send("\r");
    let started = Instant::now();
    let mut step = 0;
    while !pty.screen().contains("apply?") {
        pty.resize(80 + step % 9, 24 + step % 5);
        step += 1;
        assert!(started.elapsed() < Duration::from_secs(20), "{}", pty.screen());
        std::thread::sleep(Duration::from_millis(6));
    }
    assert!(!pty.exists("a"), "{}", pty.screen());
    pty.resize(90, 30);
    pty.until("keys to count", |screen| screen.contains("apply?") && !screen.contains("a moment"));
    pty.answer("a");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert_eq!(pty.read("a"), "new\n");
}

/// The figure of this name in a file of `/proc`; 0 where there is none.
#[cfg(target_os = "linux")]
fn figure(file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0)
}

/// How often the threads of a process and of all below it gave up the processor to wait.
#[cfg(target_os = "linux")]
fn waits(pid: u32) -> u64 {
    let mut sum = 0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        sum += figure(&task.path().join("status").display().to_string(), "voluntary_ctxt_switches:");
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        sum += children.split_whitespace().map(|child| waits(child.parse().unwrap())).sum::<u64>();
    }
    sum
}

#[cfg(target_os = "linux")]
#[test]
fn an_idle_program_wakes_no_process_of_placet() {
    if !has_view() || !is_full() {
        return;
    }
    let mut pty = run("echo ready; exec sleep 600").spawn();
    pty.until("the program", |screen| screen.contains("ready"));
    // What a start leaves to do is over after some seconds.
    wait::until("three seconds with no more than two wake-ups", || {
        let before = waits(pty.pid());
        std::thread::sleep(Duration::from_secs(3));
        waits(pty.pid()) - before <= 2
    });
    pty.signal(Signal::TERM);
    pty.ended();
}

#[test]
fn a_program_that_changes_its_screen_without_end_leaves_placet_its_keys() {
    if !has_view() || !require("python3") {
        return;
    }
    let program = "import os, sys, threading\nover = []\nprint('ready', flush=True)\n\
        threading.Thread(target=lambda: over.append(sys.stdin.readline()), daemon=True).start()\n\
        while not over: os.write(1, b'\\x1b[?1049h\\x1b[?1049l' * 200)\nprint('over', flush=True)\n";
    let mut pty = run("python3 p.py").file("p.py", program).spawn();
    pty.until("the program", |screen| screen.contains("ready"));
    pty.send("\x1d");
    pty.until("placet's page", |screen| screen.contains("q back"));
    pty.send("q");
    pty.send("x\r");
    pty.until("the program's end", |screen| screen.contains("over") && screen.contains("no changes"));
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
}
