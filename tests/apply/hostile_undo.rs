//! An undo in which a system call fails: nothing is put back in part, and nothing of placet's own stays behind.
#![cfg(target_os = "linux")]

use crate::support::broken_calls::{Broken, Start, become_program, broken_command};
use crate::support::program::placet;
use crate::support::require::has_view;
use crate::support::require::require;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

#[test]
fn broken() {
    become_program();
}

struct Place {
    home: TempDir,
    tree: TempDir,
}

impl Place {
    fn new() -> Place {
        Place { home: TempDir::new().unwrap(), tree: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.tree.path().join(name)
    }

    fn variables(&self) -> Vec<(String, PathBuf)> {
        let own = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"].map(|name| (name, self.home.path().into()));
        let path = ("PATH", std::env::var_os("PATH").unwrap_or_default().into());
        own.into_iter().chain([path]).map(|(name, value)| (name.to_string(), value)).collect()
    }

    #[track_caller]
    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(placet());
        command.args(args).current_dir(self.tree.path()).env_clear().envs(self.variables());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        output
    }

    /// `placet undo` in which each of these calls fails; returns its standard error.
    #[track_caller]
    fn undo_without(&self, call: i64) -> String {
        let output = |name: &str| {
            let path = self.home.path().join(name);
            std::fs::write(&path, "").unwrap();
            path
        };
        let start = Start {
            broken: Broken { calls: vec![(call, libc::EIO)], ..Broken::default() },
            program: placet().into(),
            args: vec!["undo".into()],
            cwd: self.tree.path().into(),
            variables: self.variables(),
            stdout: output("stdout"),
            stderr: output("stderr"),
        };
        broken_command("apply::hostile_undo::broken", &start).status().unwrap();
        let said = std::fs::read_to_string(&start.stderr).unwrap();
        assert!(said.contains("error"), "{said}");
        said
    }

    fn strays(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.tree.path()).unwrap().map(|e| e.unwrap().file_name());
        names.map(|n| n.to_string_lossy().into_owned()).filter(|n| n.starts_with(".placet-")).collect()
    }
}

fn attribute(path: &Path) -> Option<Vec<u8>> {
    let mut value = vec![0u8; 64];
    let length = rustix::fs::getxattr(path, "user.note", &mut value[..]).ok()?;
    value.truncate(length);
    Some(value)
}

#[test]
fn an_undo_that_cannot_read_the_attributes_of_a_file_changes_nothing() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    let file = place.path("x");
    std::fs::write(&file, "one\n").unwrap();
    if rustix::fs::setxattr(&file, "user.note", b"kept", rustix::fs::XattrFlags::empty()).is_err() {
        eprintln!("skipped: no attributes of a user here");
        return;
    }
    place.run(&["run", "--fresh", "--apply", "--", "sh", "-c", "echo two >> x"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    assert_eq!(attribute(&file).as_deref(), Some(&b"kept"[..]));

    let said = place.undo_without(libc::SYS_fgetxattr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n", "{said}");
    assert_eq!(attribute(&file).as_deref(), Some(&b"kept"[..]), "{said}");

    place.run(&["undo"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
    assert_eq!(attribute(&file).as_deref(), Some(&b"kept"[..]));
}

#[test]
fn what_an_undo_could_not_remove_is_removed_by_the_next_start() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    std::fs::write(place.path("gone"), "mine\n").unwrap();
    // A command that removed everything would not be applied without being asked about.
    std::fs::write(place.path("stays"), "too\n").unwrap();
    place.run(&["run", "--fresh", "--apply", "--", "sh", "-c", "rm gone; mkdir made"]);
    assert!(place.path("made").is_dir() && !place.path("gone").exists());

    let said = place.undo_without(libc::SYS_unlinkat);
    assert!(place.path("made").is_dir() && !place.path("gone").exists(), "{said}");
    assert!(!place.strays().is_empty(), "this test needs a staged content that stays: {said}");
    let left = "nothing was changed, but 1 temporary file (`.placet-*`) could not be removed: the next start";
    assert!(said.contains(left), "{said}");

    place.run(&["changes"]);
    assert_eq!(place.strays(), Vec::<String>::new());
    place.run(&["undo"]);
    assert_eq!(std::fs::read_to_string(place.path("gone")).unwrap(), "mine\n");
    assert!(!place.path("made").exists());
}

/// Story: an apply to a read-only file system named a temporary file that could not be removed, and none had been made.
#[test]
fn a_read_only_file_system_leaves_nothing_to_remove() {
    let is_root = rustix::process::geteuid().is_root();
    if !has_view() || !is_root || !require("unshare") {
        return;
    }
    let place = Place::new();
    std::fs::write(place.path("x"), "one\n").unwrap();
    let mut command = Command::new(placet());
    let args = ["run", "--fresh", "--", "sh", "-c", "echo two >> x; echo n > made"];
    let held = command.args(args).current_dir(place.tree.path()).env_clear().envs(place.variables());
    held.output().unwrap();
    let tree = place.tree.path().display();
    let script = format!(
        "mount --bind '{tree}' '{tree}' && mount -o remount,bind,ro '{tree}' && cd '{tree}' && ! touch y 2>&1 && {} apply",
        placet()
    );
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).env_clear().envs(place.variables());
    let output = command.output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if !said.contains("touch: ") {
        eprintln!("skipped: nothing can be mounted here: {said}");
        return;
    }
    assert!(said.contains("Read-only file system") && said.contains("nothing was changed"), "{said}");
    assert!(!said.contains("temporary file"), "{said}");
    assert_eq!(std::fs::read_to_string(place.path("x")).unwrap(), "one\n");
    // Nothing is left for the next start either.
    place.run(&["apply"]);
    assert_eq!(std::fs::read_to_string(place.path("x")).unwrap(), "one\ntwo\n");
    assert_eq!(place.strays(), Vec::<String>::new());
}

/// Story: a part of such a tree was applied, and undo then refused for ever: `File name too long`.
#[test]
fn a_tree_whose_paths_are_too_long_is_not_pending_in_part() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    let run = |deep: usize| {
        let line = format!(
            r#"echo x > new; perl -e 'for (1..{deep}) {{ mkdir "a" x 200; chdir "a" x 200 }} open F, ">", "f"; print F "x"'"#
        );
        let mut command = Command::new(placet());
        command.args(["run", "--", "sh", "-c", &line]).current_dir(place.tree.path()).env_clear();
        command.envs(place.variables()).output().unwrap()
    };
    let out = run(25);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success(), "{out:?}");
    assert!(said.contains("none of it is pending") && said.contains("bytes in it"), "{said}");
    assert!(place.run(&["changes"]).stdout.is_empty());
    // One that fits is applied and undone.
    assert_eq!(run(15).status.code(), Some(3), "it is pending");
    place.run(&["apply"]);
    assert!(place.path("new").exists());
    place.run(&["undo"]);
    assert_eq!(std::fs::read_dir(place.tree.path()).unwrap().count(), 0);
}
