//! A long apply or undo shows how far it is, and Ctrl-C stops it before the first file changes. The real binary in a
//! pseudo-terminal.

use crate::support::held_stage::HeldStage;
use crate::support::is_full;
use crate::support::program::{placet, placet_with_points};
use crate::support::pty::{Pty, shell};
use crate::support::require::has_view;
use std::path::Path;
use std::sync::LazyLock;

/// So many that an apply takes well over half a second, from which on it shows how far it is, also on a fast machine: the
/// release binary applied 8,000 before that once. The debug binary takes half a minute for what that does in two seconds.
static FILES: LazyLock<usize> =
    LazyLock::new(|| if std::env::var_os("PLACET_BINARY").is_some() { 30_000 } else { 8_000 });

/// What makes them, in a second.
fn new_files(count: usize) -> String {
    format!("mkdir new; cd new; seq {count} | split -l 1 -a 4")
}

/// A shell that makes new files pending and then runs `placet` once for each line that is typed.
fn ready((placet, hold): (&str, &str), count: usize, lines: &str) -> Pty {
    let script = format!(
        "'{placet}' sandbox run -- '{}' >made 2>&1 </dev/null\necho made $?; trap : INT\n\
         while read arguments; do '{placet}' $arguments >said; echo \"ended $?\"; done\n",
        new_files(count)
    );
    let start = shell().program("sh").arg("script").file("script", script);
    let mut pty = start.variable("PLACET_HOLD", hold).spawn();
    pty.until("the pending changes", |screen| screen.contains("made 3"));
    pty.line(lines);
    pty
}

fn files(dir: &Path) -> usize {
    std::fs::read_dir(dir).map_or(0, Iterator::count)
}

#[test]
fn ctrl_c_stops_an_apply_before_the_first_file_changes_and_the_next_apply_completes() {
    if !has_view() {
        return;
    }
    let held = HeldStage::new();
    let mut pty = ready((placet_with_points(), &held.variable("staging")), 20, "apply");
    held.until_reached();
    pty.until("the line of the progress", |screen| screen.contains("files; Ctrl-C stops"));
    pty.send("\x03");
    pty.until("the answer to the key", |screen| screen.contains("files; stopping ..."));
    held.go_on();
    pty.until("the end", |screen| screen.contains("ended "));
    let screen = pty.screen();
    let tree = pty.tree.path().to_path_buf();
    assert!(!screen.contains("ended 0"), "{screen}");
    assert!(!tree.join("new").exists(), "{screen}");
    assert!(!screen.contains("Ctrl-C stops"), "the line is removed: {screen}");
    let said = std::fs::read_to_string(tree.join("said")).unwrap() + &screen;
    assert!(said.contains("stopped; nothing was changed"), "{said}");
    let left: Vec<_> = std::fs::read_dir(&tree).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".placet-")), "{left:?}");
    pty.line("apply");
    pty.until("the end of the next apply", |screen| screen.contains("ended 0"));
    assert_eq!(files(&tree.join("new")), 20);
}

#[test]
fn an_apply_and_an_undo_of_many_files_show_how_far_they_are() {
    if !has_view() || !is_full() {
        return;
    }
    let mut pty = ready((placet(), ""), *FILES, "apply");
    pty.until("the end of the apply", |screen| screen.contains("ended 0"));
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    // The directory is no file: progress, result and list have one count.
    assert!(raw.contains(&format!(" of {} files", *FILES)), "{raw:.2000}");
    assert!(!raw.contains(&format!(" of {}", *FILES + 1)), "{raw:.2000}");
    let screen = pty.screen();
    assert!(!screen.contains(&format!(" of {}", *FILES)), "the line is removed: {screen}");
    assert_eq!(files(&pty.tree.path().join("new")), *FILES);
    pty.line("undo");
    pty.until("the end of the undo", |screen| screen.matches("ended 0").count() == 2);
    assert!(!pty.tree.path().join("new").exists());
    let said = std::fs::read_to_string(pty.tree.path().join("said")).unwrap();
    assert!(said.contains(&format!("undid changes to {} files", *FILES)), "{said}");
    let listed = said.lines().filter(|line| line.starts_with("D new/") && *line != "D new/").count();
    assert!(said.contains(&format!("and {} more files", *FILES - listed)), "{said}");
}

/// Waits until the files are being prepared, stops that, and waits for the sentence about it.
fn stop_in_time(pty: &mut Pty, key: &str) {
    pty.until("the question", |screen| screen.contains("apply?"));
    pty.answer("a");
    pty.until("the second step", |screen| screen.contains("[Back]"));
    pty.answer("a");
    pty.until("the progress", |screen| {
        (screen.contains("preparing ") || screen.contains("checking "))
            && screen.contains(&format!(" of {}", *FILES))
    });
    pty.send(key);
    pty.until("the end", |screen| screen.contains("stopped; nothing was changed"));
    assert!(!pty.exists("new"), "{}", pty.screen());
}

#[test]
fn the_question_after_a_turn_shows_how_far_its_apply_is_and_esc_stops_it() {
    if !has_view() || !is_full() {
        return;
    }
    let mut pty = shell().arg("--provider").arg("offline").open();
    pty.line(&format!("run {}", new_files(*FILES)));
    stop_in_time(&mut pty, "\x1b");
    pty.until("a prompt", |screen| screen.trim_end().ends_with('>'));
    pty.line("/apply .");
    pty.until("the apply", |screen| screen.contains(&format!("applied changes to {} files", *FILES)));
    assert_eq!(files(&pty.tree.path().join("new")), *FILES);
}
