//! A session that is resumed from another directory goes to its own: its pending changes belong there.

use crate::support::binary::Place;
use crate::support::pty::{Pty, shell};
use std::path::{Path, PathBuf};

/// A project with a change that one session left pending; the ID of that session.
fn pending_in(place: &Place) -> String {
    place.write("src/main.rs", "fn main() {}\n");
    place.write("a", "a\n");
    place.run(["-p", "append \"keep\" to a anyway", "--mode", "ask"]).code(3);
    place.run(["changes"]).code(0).says("M a");
    place.run(["session", "list", "--all"]).code(0).stdout.split_whitespace().next().unwrap().to_string()
}

fn elsewhere(place: &Place) -> PathBuf {
    let dir = place.beside("elsewhere");
    std::fs::create_dir(&dir).unwrap();
    dir
}

/// Story: any message in a session that was resumed from another directory dropped what was pending in it, without a word.
#[test]
fn a_message_from_another_directory_keeps_what_is_pending() {
    for from in ["src", "elsewhere"] {
        let place = Place::new();
        let id = pending_in(&place);
        let dir = if from == "src" { place.tree.join("src") } else { elsewhere(&place) };
        let said = place.placet(["-r", &id, "-p", "list ."]).cwd(&dir).go().code(0);
        assert!(said.stdout.contains("src"), "the session's directory is listed: {said:#?}");
        let here = place.tree.display();
        assert!(said.stderr.contains(&format!("in `{here}`, the directory of the session")), "{said:#?}");
        place.run(["changes"]).code(0).says("M a");
        place.placet(["-r", &id, "--cwd", ".", "-p", "list ."]).cwd(&dir).go().code(0);
        place.run(["changes"]).code(0).says("M a");
        place.run(["apply"]).code(0);
        assert_eq!(place.read("a"), "a\nkeep");
    }
}

/// A shell in which the change to `a` is pending, and the session's ID.
fn shell_with_pending() -> (Pty, String) {
    let mut pty = shell().size(120, 40).file("src/b", "b\n").file("a", "a\n").open();
    pty.line("append \"keep\" to a anyway");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
    let said = pty.transcript();
    let id = said.split("placet --resume ").nth(1).unwrap().split_whitespace().next().unwrap();
    let id = id.to_string();
    (pty, id)
}

fn says_a_word_and_keeps(pty: &mut Pty) {
    pty.until("the session, with its pending change", |s| s.trim_end().ends_with("±1 >"));
    pty.line("hello");
    pty.until("the answer", |s| s.trim_end().ends_with("±1 >") && s.contains("hello\n"));
    pty.line("/changes");
    pty.until("the pending change", |s| s.contains("M a"));
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
}

#[test]
fn a_shell_that_resumes_from_another_directory_keeps_what_is_pending() {
    let outside = tempfile::TempDir::new().unwrap();
    let (mut pty, id) = shell_with_pending();
    for is_below in [true, false] {
        let (home, tree) = pty.kill();
        let dir = if is_below { tree.path().join("src") } else { outside.path().to_path_buf() };
        pty = shell().size(120, 40).arg("-r").arg(&id).at(home, tree, &dir).spawn();
        says_a_word_and_keeps(&mut pty);
    }
}

fn choose_in_all_directories(pty: &mut Pty) {
    pty.until("the list", |s| s.contains("Sessions ❯"));
    pty.send("\x0f");
    pty.until("the session of the other directory", |s| s.contains("append \"keep\""));
    pty.send("\r");
}

#[test]
fn a_session_of_another_directory_that_is_chosen_from_the_list_keeps_what_is_pending() {
    let (pty, _) = shell_with_pending();
    let (home, tree) = pty.kill();
    let dir = tree.path().join("src");
    let mut pty = shell().size(120, 40).arg("-r").at(home, tree, &dir).spawn();
    choose_in_all_directories(&mut pty);
    says_a_word_and_keeps(&mut pty);
    let (home, tree) = pty.kill();
    let mut pty = shell().size(120, 40).at(home, tree, &dir).open();
    pty.line("/resume");
    choose_in_all_directories(&mut pty);
    says_a_word_and_keeps(&mut pty);
}

/// The directory of a process that replaced another one.
fn directory_of(pid: u32) -> PathBuf {
    std::fs::read_link(Path::new("/proc").join(pid.to_string()).join("cwd")).unwrap()
}

#[test]
fn the_shell_starts_again_in_the_directory_of_the_session_and_leaves_its_own_changes_pending() {
    let (pty, id) = shell_with_pending();
    let (home, tree) = pty.kill();
    let dir = tree.path().join("src");
    let mut pty = shell().size(120, 40).at(home, tree, &dir).open();
    pty.line("append \"more\" to b anyway");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    pty.line(&format!("/resume {id}"));
    pty.until("what stays there", |s| s.contains("changes to 1 file stay pending in"));
    pty.until("the session", |s| s.contains("append \"keep\" to a") && s.trim_end().ends_with("±1 >"));
    assert_eq!(directory_of(pty.pid()), pty.tree.path().canonicalize().unwrap());
    pty.line("/changes");
    pty.until("its change", |s| s.contains("M a"));
    pty.line(&format!("/cd {}", dir.display()));
    pty.until("the change of the other directory", |s| {
        s.contains("changes to 1 file are pending from session")
    });
}

fn ids(place: &Place) -> Vec<String> {
    let list = place.run(["session", "list", "--json"]).code(0).json();
    list.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_directory_that_was_moved_is_followed_with_what_is_pending_and_what_was_discarded() {
    for from in ["", "src"] {
        let place = Place::new();
        let id = pending_in(&place);
        place.run(["-r", &id, "-p", "create b with \"b\"", "--mode", "ask"]).code(3);
        place.run(["discard", "b"]).code(0);
        let new = place.beside("new");
        std::fs::rename(&place.tree, &new).unwrap();
        // Another directory at the old path is not that of the session.
        std::fs::create_dir(&place.tree).unwrap();
        place
            .placet(["-r", &id, "-p", "list ."])
            .cwd(&new.join(from))
            .go()
            .code(0)
            .warns("was moved here: 1 session");
        let there = |args: &[&str]| place.placet(args).cwd(&new).go().code(0);
        there(&["changes"]).says("M a");
        there(&["undo"]).says("restored the discarded changes");
        there(&["-c", "-p", "list ."]);
        there(&["apply", "--yes"]);
        let read = |name: &str| std::fs::read_to_string(new.join(name)).unwrap();
        assert_eq!((read("a"), read("b")), ("a\nkeep".into(), "b".into()));
        place.run(["changes"]).code(0);
        assert_eq!(std::fs::read_dir(&place.tree).unwrap().count(), 0);
    }
}

#[test]
fn a_crash_while_sessions_follow_a_moved_directory_leaves_everything_pending() {
    let place = Place::new();
    let id = pending_in(&place);
    place.run(["-r", &id, "-p", "create b with \"b\"", "--mode", "ask"]).code(3);
    place.run(["discard", "b"]).code(0);
    let (mut from, mut crashes) = (place.tree.clone(), 0);
    for at in 1.. {
        let to = place.beside(&format!("moved-{at}"));
        std::fs::rename(&from, &to).unwrap();
        let list = |placet: crate::support::binary::Run| placet.cwd(&to).go();
        let crashed = list(place.placet_that_crashes(at, ["changes"]));
        list(place.placet(["changes"])).code(0).says("M a");
        list(place.placet(["undo"])).code(0).says("restored the discarded changes");
        list(place.placet(["discard", "b"])).code(0);
        from = to;
        if crashed.code == 0 {
            break;
        }
        crashes += 1;
    }
    assert!(crashes > 5, "{crashes}");
}

/// A file system gives the inode of a directory that was removed to the next one that is made.
#[test]
fn a_new_directory_is_not_taken_for_one_that_was_removed() {
    let place = Place::new();
    let id = pending_in(&place);
    std::fs::remove_dir_all(&place.tree).unwrap();
    let mut others = Vec::new();
    for number in 0..20 {
        let other = place.beside(&format!("other-{number}"));
        std::fs::create_dir(&other).unwrap();
        let said = place.placet(["changes"]).cwd(&other).go().code(0);
        assert_eq!((said.stdout.as_str(), said.stderr.contains("moved")), ("", false), "{said:#?}");
        others.push(other);
    }
    place.placet(["changes", "--session", &id]).cwd(&others[0]).go().code(0).says("tree/a +1 -0");
}

#[test]
fn pending_changes_of_a_directory_that_is_gone_are_listed_discarded_and_restored() {
    let place = Place::new();
    let id = pending_in(&place);
    std::fs::remove_dir_all(&place.tree).unwrap();
    let dir = elsewhere(&place);
    let run = |args: &[&str]| place.placet(args).cwd(&dir).go();
    run(&["-r", &id, "-p", "list ."])
        .code(1)
        .warns("does not exist")
        .warns(&format!("changes to 1 file are pending: `placet changes --session {id}` lists them"));
    run(&["changes", "--session", &id]).code(0).says("tree/a +1 -0");
    run(&["changes", "--patch", "--session", &id]).code(0).says("+++ b/a").says("+keep");
    let refused = run(&["apply", "--yes", "--session", &id]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    run(&["changes", "--session", &id]).code(0).says("tree/a +1 -0");
    run(&["discard", "--session", &id]).code(0).says(&format!("`placet undo --session {id}` restores them"));
    run(&["changes", "--session", &id]).code(1);
    run(&["undo", "--session", &id]).code(0).says("restored the discarded changes");
    run(&["changes", "--session", &id]).code(0).says("tree/a +1 -0");
    assert!(std::fs::read_dir(&dir).unwrap().next().is_none());
    assert!(!place.tree.exists());
}

#[test]
fn in_a_repository_the_last_session_of_the_directory_above_is_resumed() {
    let place = Place::new();
    let id = pending_in(&place);
    let src = place.tree.join("src");
    let outside = place.placet(["-c", "-p", "list ."]).cwd(&src).go();
    assert!(outside.stderr.contains("no earlier session in this directory"), "{outside:#?}");
    std::fs::create_dir(place.tree.join(".git")).unwrap();
    place.placet(["-c", "-p", "list ."]).cwd(&src).go().code(0).says("src/");
    assert_eq!(ids(&place), [id]);
    place.run(["changes"]).code(0).says("M a");
}

/// Story: a layer belongs to the root with its number, so that another order of directories, or one less, dropped changes.
#[test]
fn other_directories_of_the_workspace_do_not_change_what_is_pending() {
    let place = Place::new();
    place.write("a", "a\n");
    let (first, second) = (place.beside("first"), place.beside("second"));
    for dir in [&first, &second] {
        std::fs::create_dir(dir).unwrap();
        std::fs::write(dir.join("f"), "f\n").unwrap();
    }
    let [first, second] = [&first, &second].map(|dir| dir.to_str().unwrap());
    let words = format!("append \"keep\" to {first}/f anyway");
    place.run(["-p", &words, "--mode", "ask", "--add-dir", second, "--add-dir", first]).code(3);
    let with = |args: &[&str]| {
        place.run([&["-c", "-p", "list .", "--mode", "ask"], args].concat()).code(0);
        place.run(["changes"]).code(0).says("first/f +1 -0");
    };
    with(&[]);
    with(&["--add-dir", first]);
    with(&["--add-dir", first, "--add-dir", second]);
    place.run(["apply", "--yes"]).code(0);
    assert_eq!(std::fs::read_to_string(Path::new(first).join("f")).unwrap(), "f\nkeep");
}

#[test]
fn a_directory_above_the_one_with_pending_changes_waits_until_they_are_decided() {
    let place = Place::new();
    pending_in(&place);
    let above = place.beside("");
    let above = above.to_str().unwrap();
    let args = ["-c", "-p", "create c with \"c\"", "--mode", "ask", "--add-dir", above];
    let refused = place.run(args);
    assert!(refused.stdout.contains("cannot be part of the workspace while changes in"), "{refused:#?}");
    place.run(["changes"]).code(0).says("M a");
    place.run(["apply", "--yes"]).code(0);
    place.run(args).code(3).warns("A c");
}

/// Story: `--dry-run` discarded what the session had pending before it, together with its own changes.
#[test]
fn a_dry_run_is_refused_where_earlier_changes_are_pending() {
    let place = Place::new();
    let id = pending_in(&place);
    let args = ["-r", &id, "-p", "create b with \"b\"", "--dry-run"];
    place.run(args).code(3).warns("`--dry-run` would discard them with its own");
    place.run(["changes"]).code(0).says("M a");
    place.run(["apply", "--yes"]).code(0);
    place.run(args).code(0).warns("nothing was changed (--dry-run)");
}
