//! What tool chains need of the view: devices, leak checks, debuggers, and a `/tmp` with a limit.
#![cfg(target_os = "linux")]

use crate::support::binary::Place;
use crate::support::den::Den;
use crate::support::require::{has_view, require};
use placet::sandbox::SandboxSpec;
use serde_json::json;
use std::path::{Path, PathBuf};

#[test]
fn a_device_that_the_person_names_is_in_the_view_and_no_other() {
    if !has_view() {
        return;
    }
    let all: Vec<PathBuf> = ["/dev/kvm", "/dev/net/tun", "/dev/fuse"].map(PathBuf::from).into();
    let there: Vec<PathBuf> = all.into_iter().filter(|path| path.exists()).collect();
    let Some((given, others)) = there.split_last() else { return };
    let place =
        Place::new().config(&format!("sandbox.devices = [{given:?}, \"/dev/nosuch*\", \"/dev/tty\"]\n"));
    let ask = |path: &Path| {
        let line = format!("test -c {0} && stat -c %t:%T {0}", path.display());
        place.call("run_command", &json!({ "command": line }), &[])
    };
    let known = std::process::Command::new("stat").args(["-c", "%t:%T"]).arg(given).output().unwrap();
    ask(given).code(0).says(String::from_utf8(known.stdout).unwrap().trim());
    others.iter().for_each(|path| drop(ask(path).says("[exit code 1")));
    let doctor = place.run(["doctor"]).says("/dev/nosuch*: no such device");
    doctor.says(&format!("  device      {0}: {0}", given.display()));
}

/// Story: Vite listened on the first address of `localhost`, `::1`, and Node.js asked for IPv4 addresses only.
#[test]
fn localhost_is_one_address_for_servers_and_for_clients() {
    if !has_view() || !require("getent") {
        return;
    }
    let line = "getent ahosts localhost | cut -d' ' -f1 | sort -u | tr '\\n' ,";
    let out = Place::new().call("run_command", &json!({ "command": line }), &[]).code(0);
    assert!(out.stdout.contains("127.0.0.1,") && !out.stdout.contains("::1"), "{out:#?}");
}

/// Whatever the caller names: what is no character device of the host's `/dev`, and what the view has of its own, stays.
#[test]
fn only_a_device_of_the_host_is_given_as_one() {
    if !has_view() {
        return;
    }
    let den = Den::new();
    den.write("null", "a file\n");
    let writable = ["/dev/null", "/dev/ptmx", "/dev/tty", "/dev/missing"];
    let mut writable: Vec<PathBuf> = writable.map(PathBuf::from).into();
    writable.push(den.root.join("null"));
    for path in writable {
        let spec = SandboxSpec { writable: vec![path.clone()], ..den.spec() };
        let line = "echo x > /dev/null && test -w /dev/shm && test ! -e /dev/kmsg && test ! -e /dev/missing && ls /dev/pts";
        assert_eq!(den.run(&spec, line).done(), "ptmx\n", "{}", path.display());
    }
}

#[test]
fn leak_checks_and_debuggers_work_on_the_commands_own_processes() {
    if !has_view() {
        return;
    }
    let den = Den::new();
    if require("gcc") {
        den.write("leak.c", "int main(){volatile char*p=__builtin_malloc(10);p=0;return 0;}\n");
        let build = ["-fsanitize=address", "leak.c", "-o", "leak"];
        let built = std::process::Command::new("gcc").args(build).current_dir(&den.root).status().unwrap();
        if built.success() {
            let text = den.run(&den.spec(), "./leak 2>&1 | grep SUMMARY").done();
            assert!(text.contains("10 byte(s) leaked"), "{text}");
        }
    }
    if require("strace") {
        let text = den.run(&den.spec(), "strace -f -e trace=chdir sh -c 'cd /usr' 2>&1").done();
        assert!(text.contains("chdir(\"/usr\")"), "{text}");
    }
}

#[test]
fn a_tmp_above_its_limit_is_emptied_and_the_command_says_so() {
    if !has_view() {
        return;
    }
    let place = Place::new().config("sandbox.tmp_mb = 1\n");
    let size = |bytes: u32| {
        let line = format!("head -c {bytes} /dev/zero > \"$TMPDIR/large\" && ls $TMPDIR");
        place.call("run_command", &json!({ "command": line }), &[]).code(0).says("large").stdout
    };
    assert!(!size(500_000).contains("emptied"));
    assert!(size(2_000_000).contains("was emptied"));
}
