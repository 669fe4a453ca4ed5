//! Another program has the session database locked: placet says what it waits for, and Ctrl-C ends the wait.

use crate::support::pty::shell;
use rusqlite::Connection;
use std::time::{Duration, Instant};

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
        assert!(pressed.elapsed() < Duration::from_secs(3), "{:?}", pressed.elapsed());
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
