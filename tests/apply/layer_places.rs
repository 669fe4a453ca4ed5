//! Where the layers of a view are stored, when `/var/tmp` cannot have them: in a mount namespace of the test's own.

#![cfg(target_os = "linux")]

use crate::support::binary::Place;
use crate::support::program::placet;
use crate::support::require::has_view;
use crate::support::require::require;
use std::process::Command;

/// Runs `line` where `mounts` came first; `None` where nothing can be mounted.
fn with_mounts(place: &Place, mounts: &str, line: &str) -> Option<String> {
    let is_root = rustix::process::geteuid().is_root();
    if !has_view() || !is_root || !require("unshare") {
        return None;
    }
    let mounted = format!("({mounts}) 2>&1 || {{ echo not mounted; exit; }}");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &format!("{mounted}\n{line}")]);
    let output = command
        .current_dir(&place.tree)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &place.home)
        .env("XDG_STATE_HOME", place.home.join("state"))
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if said.contains("not mounted") {
        eprintln!("skipped: nothing can be mounted here: {said}");
        return None;
    }
    Some(said)
}

fn runs_and_applies(mounts: &str) {
    let place = Place::new();
    let placet = placet();
    let line = format!("{placet} run --apply -- sh -c 'echo two > made; ls /dev/shm'\n{placet} doctor");
    let Some(said) = with_mounts(&place, mounts, &line) else { return };
    assert!(said.contains("commands run in a copy-on-write view"), "{said}");
    assert_eq!(
        std::fs::read_to_string(place.tree.join("made")).unwrap_or_else(|e| panic!("{e}: {said}")),
        "two\n"
    );
}

/// Story: in a container, whose `/var/tmp` is an overlay itself, there was no view: the trial in `/dev/shm` changed a
/// directory of `/dev/shm`, which a view does not show.
#[test]
fn layers_go_to_memory_where_the_disk_is_an_overlay() {
    runs_and_applies(
        "mkdir -p base && mount -t tmpfs none base && mkdir base/l base/u base/w && chmod 1777 base/u && \
         mount -t overlay -o lowerdir=base/l,upperdir=base/u,workdir=base/w none /var/tmp && umount -l base",
    );
}

#[test]
fn layers_go_to_memory_where_the_disk_is_full() {
    runs_and_applies(FULL);
}

const FULL: &str = "mount -t tmpfs -o size=1m,mode=1777 none /var/tmp && \
     ! cat /dev/zero > /var/tmp/all 2> /dev/null";

#[test]
fn a_full_disk_is_the_reason_why_there_is_no_view() {
    let place = Place::new();
    let mounts = format!(
        "{FULL} && mount -t tmpfs -o size=1m,mode=1777 none /dev/shm && ! cat /dev/zero > /dev/shm/all 2> /dev/null"
    );
    let line =
        format!("{} run -- true; rm /var/tmp/all; {} run --fresh -- sh -c 'echo ran'", placet(), placet());
    let Some(said) = with_mounts(&place, &mounts, &line) else { return };
    assert!(said.contains("the disk of `/var/tmp/placet-0/layers` is full"), "{said}");
    // Nothing of it is remembered.
    assert!(said.contains("ran"), "{said}");
}
