//! `placet run` where the system refuses a call at the worst moment: the exit code says so, and no process stays.
#![cfg(target_os = "linux")]

use crate::support::binary::Place;
use crate::support::broken_calls::{Broken, Start, become_program, broken_command};
use crate::support::program::placet;
use crate::support::require::has_view;
use crate::support::wait;
use std::path::PathBuf;

const BROKEN: &str = "command::run_broken::broken";

#[test]
fn broken() {
    become_program();
}

/// The exit code and the errors of placet.
fn run(place: &Place, args: &[&str], broken: Broken) -> (Option<i32>, String) {
    let (stdout, stderr) = (place.home.join("stdout"), place.home.join("stderr"));
    std::fs::write(&stdout, "").unwrap();
    std::fs::write(&stderr, "").unwrap();
    let variables = [
        ("HOME", place.home.clone()),
        ("PATH", PathBuf::from(std::env::var_os("PATH").unwrap_or_default())),
        ("XDG_CONFIG_HOME", place.home.join("config")),
        ("XDG_STATE_HOME", place.home.join("state")),
    ];
    let start = Start {
        broken,
        program: placet().into(),
        args: args.iter().map(ToString::to_string).collect(),
        cwd: place.tree.clone(),
        variables: variables.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        stdout,
        stderr: stderr.clone(),
    };
    let ended = broken_command(BROKEN, &start).status().unwrap();
    (ended.code(), std::fs::read_to_string(stderr).unwrap())
}

/// Processes with this home directory.
fn left(place: &Place) -> Vec<String> {
    let mark = format!("HOME={}", place.home.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        if String::from_utf8_lossy(&read("environ")).split('\0').any(|one| one == mark) {
            found.push(String::from_utf8_lossy(&read("cmdline")).replace('\0', " "));
        }
    }
    found
}

fn assert_nothing_left(place: &Place) {
    wait::until_eq(&Vec::new(), || left(place));
}

#[test]
fn an_apply_that_did_not_do_all_has_an_exit_code_of_its_own() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    // What was displaced cannot be removed.
    let broken = Broken { calls: vec![(libc::SYS_unlinkat, libc::EACCES)], ..Broken::default() };
    let (code, errors) = run(&place, &["run", "--apply", "--", "sh", "-c", "echo two >> notes.txt"], broken);
    assert!(errors.contains("not everything worked"), "{errors}");
    assert_eq!(code, Some(5), "{errors}");
    assert!(std::fs::read_to_string(place.tree.join("notes.txt")).unwrap().ends_with("two\n"));
    let (code, errors) =
        run(&place, &["run", "--apply", "--", "sh", "-c", "echo three >> notes.txt"], Broken::default());
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn a_supervisor_that_may_not_kill_does_not_stay() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    let broken = Broken { calls: vec![(libc::SYS_kill, libc::EPERM)], ..Broken::default() };
    // The supervisor was started before the words were read, and has a process that waits for its order.
    let (code, errors) = run(&place, &["run", "no-such-preset"], broken.clone());
    assert_eq!(code, Some(2), "{errors}");
    assert_nothing_left(&place);
    let (code, errors) =
        run(&place, &["run", "--apply", "--", "sh", "-c", "sleep 60 & echo x > made"], broken);
    assert_eq!(code, Some(0), "{errors}");
    assert_nothing_left(&place);
}

/// Story: with a limit of 16 files, placet named the container as the reason why it has no sandbox.
#[test]
fn too_few_descriptors_are_the_reason_that_is_named() {
    if !has_view() {
        return;
    }
    for limit in [8, 12, 16, 20, 28] {
        let place = Place::with_notes();
        let line = format!("ulimit -n {limit} && exec {} run -- true", placet());
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line]).current_dir(&place.tree).env("HOME", &place.home);
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            shell.env(name, place.home.join(name));
        }
        let said = String::from_utf8_lossy(&shell.output().unwrap().stderr).into_owned();
        assert!(said.contains("files at once: Too many open files"), "{limit}: {said}");
        assert!(said.contains("raise the limit on open files: `ulimit -n 1024`"), "{limit}: {said}");
        assert!(!said.contains("container"), "{limit}: {said}");
    }
}
