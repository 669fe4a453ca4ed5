//! Moves to protected places, and links to files that were applied under plain names: nothing is applied unasked, and no
//! text is lost.

use crate::support::binary::Place;
use crate::support::require::has_view;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is in all files below a directory, and where links lead.
fn texts(dir: &Path) -> BTreeSet<String> {
    let text = |path: PathBuf| match path.read_link() {
        Ok(target) => format!("-> {}", target.display()),
        Err(_) => std::fs::read_to_string(path).unwrap(),
    };
    files(dir).into_iter().map(text).collect()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

/// Story: `mv x .envrc; mv y x` was applied but for `.envrc`, and after a discard the text of `x` was nowhere. So it was
/// with a swap, with a new file and with a directory in the old place.
#[test]
fn no_text_is_lost_by_a_move_of_which_the_target_waits() {
    if !has_view() {
        return;
    }
    let lines = [
        ("mv x .envrc; mv y x", ".envrc"),
        ("mv y .envrc; mv x y; mv z x", ".envrc"),
        ("mv x t; mv .vscode/tasks.json x; mv t .vscode/tasks.json", ".vscode/tasks.json"),
        ("mv x .vscode/tasks.json", ".vscode/tasks.json"),
        ("mv gh .github; mkdir -p gh/workflows; echo new > gh/workflows/ci.yml", ".github/workflows/ci.yml"),
        ("mv x .envrc; mv d x", ".envrc"),
        ("mv d/in .envrc; rmdir d; mv y d", ".envrc"),
        ("mv d/in .envrc; rmdir d; ln -s / d", ".envrc"),
        ("mv link .envrc; ln -s y link", ".envrc"),
    ];
    for (line, waiting) in lines {
        let place = Place::new().file("x", "one\n").file("y", "two\n").file("z", "three\n");
        place.write("d/in", "inside\n");
        place.write("gh/workflows/ci.yml", "ci\n");
        place.write(".vscode/tasks.json", "tasks\n");
        std::os::unix::fs::symlink("x", place.tree.join("link")).unwrap();
        let before = texts(&place.tree);
        let are_all_there = |when: &str| {
            let now = texts(&place.tree);
            assert!(before.is_subset(&now), "{line}: {when}: {now:?}");
        };
        let shell = format!("{line}; echo new > plain.txt");
        place.run(["run", "--apply", "--", "sh", "-c", &shell]);
        assert_eq!(place.read("plain.txt"), "new\n", "{line}");
        are_all_there("applied");
        assert!(!place.tree.join(".envrc").exists() && !place.tree.join(".github").exists(), "{line}");
        assert_eq!(place.read(".vscode/tasks.json"), "tasks\n", "{line}");
        place.run(["discard"]).code(0);
        are_all_there("discarded");
        place.run(["undo"]).code(0);
        place.run(["apply", "--apply-protected", waiting]).code(0);
        // The command itself wrote over that file.
        if line != "mv x .vscode/tasks.json" {
            are_all_there("approved");
        }
        place.run(["changes"]).code(0).warns("nothing is pending");
    }
}

/// Story: `real/config.toml` was applied in one turn and `.cargo -> real` in the next, and Cargo obeyed the file.
#[test]
fn a_link_that_makes_other_files_protected_waits_in_every_order_of_turns() {
    if !has_view() {
        return;
    }
    let pairs = [
        (".cargo", "config.toml"),
        (".config", "git/config"),
        ("lib", "systemd/system/x.service"),
        ("var", "spool/cron/root"),
    ];
    let orders = [["file", "link"], ["link", "file"], ["directory", "chain"], ["chain", "directory"]];
    for (link, file) in pairs {
        let dir = Path::new("real").join(file).parent().unwrap().display().to_string();
        let made = format!("mkdir -p {dir}; echo x > real/{file}");
        for (order, mode) in orders.iter().flat_map(|order| [(order, "write"), (order, "ask")]) {
            let place = Place::new().file("keep.txt", "kept\n");
            for step in order {
                let line = match *step {
                    "file" => made.clone(),
                    "link" => format!("ln -s real {link}"),
                    "directory" => format!("{made}; mv real deep; mkdir -p a; mv deep a/real"),
                    _ => format!("ln -s a/real one; ln -s one {link}"),
                };
                place.run(["-p", &format!("run {line}"), "--mode", mode]);
                place.run(["apply"]);
            }
            let what = format!("{link}/{file}, {mode}, {order:?}: {:#?}", place.run(["changes"]));
            assert!(!place.tree.join(link).join(file).exists(), "{what}");
            assert!(what.contains("! A "), "{what}");
        }
    }
}

#[test]
fn links_of_every_day_ask_nothing() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("lib64/x.so", "x\n").file("v1/etc.txt", "x\n").file("pkg/bin/tsc", "x\n");
    let line = "ln -s lib64 lib; ln -s v1 latest; mkdir -p node_modules/.bin; ln -s v1 etc; ln -s not/yet var; \
                ln -s ../../pkg/bin/tsc node_modules/.bin/tsc; ln -s ../pkg node_modules/pkg";
    place.run(["run", "--apply", "--", "sh", "-c", line]).code(0);
    for link in ["lib", "latest", "node_modules/.bin/tsc", "node_modules/pkg", "etc", "var"] {
        assert!(place.tree.join(link).is_symlink(), "{link}");
    }
}

/// Story: a pipe in a directory that was moved was removed, was made nowhere, and kept the whole turn from being undone.
#[test]
fn a_pipe_that_was_moved_stays_where_it_is() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("d/a", "inside\n").file("gh/workflows/ci.yml", "ci\n").file("notes", "n\n");
    for pipe in ["d/q", "gh/q"] {
        crate::support::special::fifo(&place.tree.join(pipe));
    }
    let is_pipe = |path: &str| {
        use std::os::unix::fs::FileTypeExt;
        place.tree.join(path).symlink_metadata().is_ok_and(|meta| meta.file_type().is_fifo())
    };
    let stays = "d/q: a pipe, socket or device, which is never moved; it stays here";
    place.run(["-p", "run mv d e", "--mode", "ask"]).code(3);
    let out = place.run(["apply"]).code(0).says("applied changes to 1 file").says(stays);
    assert!(!out.stdout.contains("d: "), "{out:#?}");
    assert!(is_pipe("d/q") && !place.tree.join("e/q").exists() && place.tree.join("e/a").exists());
    place.run(["changes"]).code(0).warns("nothing is pending");
    place.run(["undo"]).code(0);
    assert!(is_pipe("d/q") && place.read("d/a") == "inside\n" && !place.tree.join("e").exists());

    // In write mode, and where the rest of the move waits.
    place.run(["-p", "run mv d e", "--mode", "write"]);
    assert!(is_pipe("d/q") && place.tree.join("e/a").exists());
    place.run(["undo"]).code(0);
    assert!(is_pipe("d/q") && place.read("d/a") == "inside\n" && !place.tree.join("e").exists());
    place.run(["-p", "run mv gh .github", "--mode", "ask"]).code(3);
    place.run(["apply"]);
    assert!(is_pipe("gh/q") && place.read("gh/workflows/ci.yml") == "ci\n");
    let waiting = ".github/workflows/ci.yml";
    place.run(["apply", "--apply-protected", waiting]).code(0);
    assert!(is_pipe("gh/q") && place.read(waiting) == "ci\n" && !place.tree.join("gh/workflows").exists());
    place.run(["changes"]).code(0).warns("nothing is pending");

    // What is removed is made again by an undo.
    place.run(["-p", "run rm gh/q; echo more > notes", "--mode", "write"]);
    assert!(!is_pipe("gh/q"));
    place.run(["undo"]).code(0);
    assert!(is_pipe("gh/q") && place.read("notes") == "n\n");
}

/// Story: a socket that a turn removed kept the whole turn from being undone.
#[test]
fn a_socket_that_went_is_named_by_undo_and_the_rest_comes_back() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("notes", "n\n");
    let listener = std::os::unix::net::UnixListener::bind(place.tree.join("s")).unwrap();
    place.run(["-p", "run rm s; echo more > notes", "--mode", "write"]);
    assert!(!place.tree.join("s").exists(), "it is applied like any other removal");
    drop(listener);
    place.run(["undo"]).code(0).says("skipped s: it was a socket, which cannot be restored");
    assert_eq!(place.read("notes"), "n\n");
    place.run(["redo"]).code(0);
    assert_eq!(place.read("notes"), "more\n");
}
