//! Another program has the session database locked: placet says what it waits for, and Ctrl-C ends the wait.

use crate::support::binary::Place;
use crate::support::pty::shell;
use rusqlite::Connection;
use std::time::Instant;

#[test]
fn a_line_waits_for_a_locked_database_with_a_word_and_comes_back_with_ctrl_c() {
    let mut pty = shell().size(100, 30).file("a.txt", "alpha\n").open();
    pty.line("show a.txt");
    pty.until("the answer", |screen| screen.contains("│alpha"));
    pty.until_prompt("");
    let other = Connection::open(pty.home().join(".local/state/placet/placet.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waits = "another program has locked the session database: waiting for it; Ctrl-C stops the wait";
    for n in 1..=2 {
        pty.line("show b.txt");
        pty.until("the reason", |screen| screen.matches(waits).count() == n);
        let pressed = Instant::now();
        pty.by_hand("\x03");
        pty.until_prompt("show b.txt");
        assert!(pressed.elapsed() < crate::support::wait::DEADLINE, "{:?}", pressed.elapsed());
        assert!(pty.screen().contains("stopped: nothing was sent"), "{}", pty.screen());
        pty.by_hand("\x15");
    }
    // The line goes out when the other program is done, once.
    pty.line("show a.txt");
    pty.until("the reason", |screen| screen.matches(waits).count() == 3);
    other.execute_batch("COMMIT").unwrap();
    pty.until("the answer", |screen| screen.matches("│alpha").count() == 2);
    pty.until_prompt("");
    drop(other);
    let resumed = shell().size(100, 40).arg("-c").after(pty).open();
    let shown = resumed.transcript();
    assert_eq!(shown.matches("> show a.txt").count(), 2, "{shown}");
    assert!(!shown.contains("b.txt"), "{shown}");
}

#[test]
fn with_a_locked_database_a_command_is_named_and_quit_leaves() {
    let mut pty = shell().size(100, 30).file("a.txt", "alpha\n").open();
    pty.line("show a.txt");
    pty.until("the answer", |screen| screen.contains("│alpha"));
    pty.until_prompt("");
    let other = Connection::open(pty.home().join(".local/state/placet/placet.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for command in ["/undo", "/rewind"] {
        pty.line(command);
        let waits = "another program has locked the session database: waiting for it; Ctrl-C stops the wait";
        pty.until("the reason", |screen| screen.contains(waits));
        pty.by_hand("\x03");
        pty.until("what was not done", |screen| screen.contains(&format!("stopped: {command} was not run")));
        pty.until_prompt(command);
        assert!(!pty.screen().contains("nothing was sent"), "{}", pty.screen());
        pty.by_hand("\x15");
    }
    let left = Instant::now();
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
    assert!(left.elapsed() < crate::support::wait::DEADLINE, "{:?}", left.elapsed());
    // A session is opened without a wait: only what is to be saved waits.
    let began = Instant::now();
    let mut resumed = shell().size(100, 40).arg("-c").after(pty).open();
    resumed.until("the conversation", |screen| screen.contains("│alpha"));
    assert!(began.elapsed() < crate::support::wait::DEADLINE, "{:?}", began.elapsed());
    resumed.line("/quit");
    assert_eq!(resumed.ended(), 0);
}

#[test]
fn without_a_shell_a_locked_database_is_named_before_the_wait_is_long() {
    let place = Place::with_notes().config("provider = \"offline\"\n");
    place.run(["-p", "show notes.txt"]).code(0);
    let other = Connection::open(place.state_dir().join("placet.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let running = place.placet(["-p", "show notes.txt"]).start();
    running.until_warned("another program has locked the session database");
    other.execute_batch("COMMIT").unwrap();
    let waits =
        "note: another program has locked the session database: waiting for it; Ctrl-C stops the wait";
    running.end().code(0).warns(waits).says("one");
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let running = place.placet(["-p", "show notes.txt"]).start();
    running.until_warned("another program has locked the session database");
    running.signal(rustix::process::Signal::INT);
    running.end().code(130).warns("stopped: nothing was sent");
}
