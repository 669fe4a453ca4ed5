//! A shell that is open all day: what it costs to sit there, and what many turns cost in memory. The figures that people
//! compare are in the benches; these are bounds that only a fault passes.

use crate::support::binary::Place;
use crate::support::is_full;
use crate::support::pty;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What all threads of a process have used of the processor, and how often they gave it up.
fn used(process: &Path) -> (f64, u64) {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap();
    // The name may hold anything; after its end come the fields from the third on.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = [11, 12].map(|at| fields[at].parse::<u64>().unwrap()).iter().sum();
    let tasks = std::fs::read_dir(process.join("task")).unwrap().flatten();
    let switches = tasks.filter_map(|task| figure(&task.path(), "voluntary_ctxt_switches:")).sum();
    // Linux tells a hundred of them a second, whatever it counts in by itself.
    (ticks as f64 / 100.0, switches)
}

fn figure(process: &Path, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

#[test]
fn a_shell_that_waits_for_a_person_uses_next_to_nothing() {
    if !is_full() {
        return;
    }
    let mut pty = pty::shell().open();
    // After a turn as well as before one: whatever it started has settled.
    pty.line("show notes.txt");
    pty.until_prompt("");
    std::thread::sleep(Duration::from_millis(500));
    let process = PathBuf::from(format!("/proc/{}", pty.pid()));
    let before = used(&process);
    std::thread::sleep(Duration::from_secs(3));
    let after = used(&process);
    let (seconds, switches) = (after.0 - before.0, after.1 - before.1);
    println!("idle for 3 s: {seconds:.2} s of the processor, {switches} switches");
    assert!(seconds < 0.15, "{seconds} s of the processor in 3 s");
    assert!(switches < 60, "{switches} switches in 3 s");
}

#[test]
fn many_turns_take_little_memory_and_each_takes_no_more_than_what_was_said() {
    let turns = if is_full() { 2_000 } else { 240 };
    let place = Place::new().file("notes.txt", "one\ntwo\n");
    let mut running = place.placet([] as [&str; 0]).start();
    let process = PathBuf::from(format!("/proc/{}", running.pid()));
    let mut resident = Vec::new();
    for turn in 1..=turns {
        running.say("show notes.txt\n");
        running.line_where(|line| line.contains("2│two"));
        if turn == turns / 3 || turn == turns {
            resident.push(figure(&process, "VmRSS:").unwrap() * 1024);
        }
    }
    let a_turn = (resident[1].saturating_sub(resident[0])) / (turns - turns / 3);
    println!("{turns} turns: {resident:?} bytes, {a_turn} a turn");
    assert!(resident[1] < 150 << 20, "{resident:?}");
    // A turn of this kind is four messages and their events: about 6 kB.
    assert!(a_turn < 40 << 10, "{a_turn} bytes a turn");
    drop(running.stdin.take());
}
