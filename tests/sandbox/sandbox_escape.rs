//! Attempts to get out. Each must fail with the error that the wall in question gives, so that a test does not pass
//! because the attempt itself was wrong.
#![cfg(target_os = "linux")]

use crate::support::den::Den;
use crate::support::require::has_view;
use crate::support::require::require;
use placet::sandbox::{SandboxNetwork, SandboxSpec};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

/// Attempts by system call. `call(name, number, ...)` prints the name and the error.
const PRELUDE: &str = r#"
import ctypes, errno, os, socket, stat, fcntl, platform
libc = ctypes.CDLL(None, use_errno=True)
def say(name, error): print(name, errno.errorcode.get(error, error) if error else "done")
def call(name, number, *args):
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    say(name, ctypes.get_errno() if done < 0 else 0)
def attempt(name, work):
    try: work(); say(name, 0)
    except OSError as error: say(name, error.errno)
ON_X86 = platform.machine() == "x86_64"
def number(x86, generic): return x86 if ON_X86 else generic
"#;

fn python(body: &str) -> String {
    format!("python3 - <<'PYTHON' 2>&1\n{PRELUDE}\n{body}\nPYTHON")
}

/// A den, if the sandbox and python are there.
fn den() -> Option<Den> {
    (has_view() && require("python3")).then(Den::new)
}

/// Runs the attempts and compares each outcome.
#[track_caller]
fn expect(den: &Den, spec: &SandboxSpec, body: &str, outcomes: &[(&str, &[&str])]) {
    let text = den.run(spec, &python(body)).done();
    let got: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    assert_eq!(got.len(), outcomes.len(), "{text}");
    for ((name, outcome), (expected, allowed)) in got.iter().zip(outcomes) {
        assert!(
            name == expected && allowed.contains(outcome),
            "{name}: {outcome}, expected {allowed:?}\n{text}"
        );
    }
}

#[test]
fn no_call_that_moves_walls_is_answered() {
    let Some(den) = den() else { return };
    const NO: &[&str] = &["EPERM"];
    let body = r#"
z = ctypes.c_char_p(b"/tmp")
call("mount", number(165, 40), z, z, ctypes.c_char_p(b"tmpfs"), 0, 0)
call("umount2", number(166, 39), z, 2)
call("pivot_root", number(155, 41), z, z)
call("chroot", number(161, 51), z)
call("setns", number(308, 268), os.open("/proc/self/ns/mnt", os.O_RDONLY), 0)
call("unshare-user", number(272, 97), 0x10000000)
call("unshare-mount", number(272, 97), 0x20000)
call("unshare-time", number(272, 97), 0x80)
call("unshare-files", number(272, 97), 0x400)
call("clone-user", number(56, 220), 0x10000000 | 17, 0, 0, 0, 0)
call("clone3", 435, 0, 0)
call("open_tree", 428, -100, z, 1)
call("move_mount", 429, -100, z, -100, z, 0)
call("fsopen", 430, ctypes.c_char_p(b"tmpfs"), 0)
call("fsconfig", 431, 0, 0, 0, 0, 0)
call("fsmount", 432, 0, 0, 0)
call("fspick", 433, -100, z, 0)
call("mount_setattr", 442, -100, z, 0, 0, 0)
call("open_tree_attr", 467, -100, z, 0, 0, 0)
call("ptrace", number(101, 117), 16, 1, 0, 0)
call("process_vm_readv", number(310, 270), 1, 0, 0, 0, 0, 0)
call("pidfd_getfd", 438, 0, 0, 0)
call("io_uring_setup", 425, 1, ctypes.create_string_buffer(120))
call("bpf", number(321, 280), 0, 0, 0)
call("perf_event_open", number(298, 241), 0, 0, 0, 0, 0)
call("userfaultfd", number(323, 282), 0)
call("keyctl", number(250, 219), 0, -3, 0)
call("add_key", number(248, 217), z, z, z, 1, -3)
call("request_key", number(249, 218), z, z, 0, 0)
call("name_to_handle_at", number(303, 264), -100, z, 0, 0, 0)
call("open_by_handle_at", number(304, 265), 0, 0, 0)
call("kexec_load", number(246, 104), 0, 0, 0, 0)
call("init_module", number(175, 105), 0, 0, z)
call("finit_module", number(313, 273), 0, z, 0)
call("reboot", number(169, 142), 0xfee1dead, 672274793, 0, 0)
call("syslog", number(103, 116), 3, 0, 0)
call("other-numbers", (0x40000000 | 39) if ON_X86 else 5000)
"#;
    let names = "mount umount2 pivot_root chroot setns unshare-user unshare-mount unshare-time";
    let rest = "open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr open_tree_attr ptrace \
        process_vm_readv pidfd_getfd io_uring_setup bpf perf_event_open userfaultfd keyctl add_key request_key \
        name_to_handle_at open_by_handle_at kexec_load init_module finit_module reboot syslog";
    let mut outcomes: Vec<(&str, &[&str])> = names.split(' ').map(|name| (name, NO)).collect();
    // What makes no namespace is no concern of the filter.
    outcomes.extend([("unshare-files", &["done"][..]), ("clone-user", NO), ("clone3", &["ENOSYS"])]);
    outcomes.extend(rest.split_ascii_whitespace().map(|name| (name, NO)));
    outcomes.push(("other-numbers", &["ENOSYS"]));
    expect(&den, &den.spec(), body, &outcomes);
}

#[test]
fn no_socket_leads_out() {
    let Some(den) = den() else { return };
    // Beside the sandbox's fresh directories, if this user may write there.
    let below_target = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok();
    let base = below_target.as_ref().map_or(den.base.as_path(), |dir| dir.path());
    let home = base.join("home");
    std::fs::create_dir(&home).unwrap();
    let mut listeners = Vec::new();
    let mut body = String::from("def reach(path):\n    s = socket.socket(socket.AF_UNIX); s.connect(path)\n");
    let mut outcomes: Vec<(&str, &[&str])> = Vec::new();
    let in_run = format!("/run/placet-test-{}.sock", std::process::id());
    let places = [
        ("run", in_run.clone().into()),
        ("var-run", Path::new("/var").join(&in_run[1..])),
        ("home", home.join("agent.sock")),
        ("rest", base.join("listening.sock")),
        ("tmp", den.base.join("tmp.sock")),
        ("masked", den.root.join("masked.sock")),
        ("passthrough", den.scratch.join("host.sock")),
    ];
    for (name, path) in &places {
        let _ = std::fs::remove_file(path);
        let Ok(listener) = UnixListener::bind(path) else { continue };
        listeners.push(listener);
        body.push_str(&format!("attempt({name:?}, lambda: reach({:?}))\n", path.to_str().unwrap()));
        outcomes.push((name, &["ENOENT", "ECONNREFUSED", "EACCES", "EPERM"]));
    }
    assert!(listeners.len() >= 5);
    let address = SocketAddr::from_abstract_name(format!("placet-test-{}", std::process::id())).unwrap();
    let abstract_one = UnixListener::bind_addr(&address).unwrap();
    body.push_str(&format!("attempt('abstract', lambda: reach('\\0placet-test-{}'))\n", std::process::id()));
    outcomes.push(("abstract", &["ECONNREFUSED", "EPERM"]));
    let mut spec = den.spec();
    spec.overlays.insert(0, den.layer(&home));
    spec.masked = vec![den.root.join("masked.sock")];
    expect(&den, &spec, &body, &outcomes);
    // With the host's network nothing but Landlock stands before an abstract socket.
    if crate::support::den::found().landlock_abi.is_some_and(|abi| abi >= 6) {
        spec.network = SandboxNetwork::Open;
        expect(&den, &den.again(&spec), &body, &outcomes);
    }
    drop(abstract_one);
    let _ = std::fs::remove_file(&in_run);
}

#[test]
fn a_socket_that_no_table_names_is_dead_below_a_layer() {
    let Some(den) = den() else { return };
    // Bound by a relative name, so that the table of sockets holds no path to it.
    let mut server = std::process::Command::new("python3")
        .args(["-c", "import socket; s = socket.socket(socket.AF_UNIX); s.bind('hidden.sock'); s.listen(); print(flush=True); import sys; sys.stdin.read()"])
        .current_dir(&den.root)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut byte = [0];
    std::io::Read::read_exact(server.stdout.as_mut().unwrap(), &mut byte).unwrap();
    let body = "attempt('connect', lambda: socket.socket(socket.AF_UNIX).connect('hidden.sock'))";
    expect(&den, &den.spec(), body, &[("connect", &["ECONNREFUSED", "EACCES"])]);
    drop(server.stdin.take());
    server.wait().unwrap();
}

#[test]
fn no_kind_of_socket_but_the_ordinary_ones_is_there() {
    let Some(den) = den() else { return };
    let body = r#"
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("vsock", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt("alg", lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET))
attempt("netfilter", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12))
attempt("audit", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9))
attempt("routes", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("pair", lambda: socket.socketpair())
attempt("inet6", lambda: socket.socket(socket.AF_INET6))
"#;
    const NO: &[&str] = &["EPERM"];
    let outcomes: [(&str, &[&str]); 9] = [
        ("packet", NO),
        ("raw", NO),
        ("vsock", NO),
        ("alg", NO),
        ("netfilter", NO),
        ("audit", NO),
        ("routes", &["done"]),
        ("pair", &["done"]),
        ("inet6", &["done"]),
    ];
    expect(&den, &den.spec(), body, &outcomes);
}

#[test]
fn no_process_outside_can_be_seen_into_or_signalled() {
    let Some(den) = den() else { return };
    let outer = std::process::id();
    let body = format!(
        r#"
for name in ["root", "cwd", "exe", "fd/1"]:
    attempt("link-" + name, lambda: os.readlink("/proc/1/" + name))
for name in ["environ", "mem", "maps", "root/etc", "cwd/."]:
    attempt("see-" + name, lambda: os.listdir("/proc/1/" + name) if name in ("root/etc", "cwd/.") else open("/proc/1/" + name, "rb").read(1))
attempt("exe", lambda: open("/proc/1/exe", "r+b"))
attempt("own-exe", lambda: open("/proc/self/exe", "r+b"))
attempt("own-mem", lambda: open("/proc/self/mem", "r+b"))
attempt("outer-root", lambda: os.listdir("/proc/{outer}/root/etc"))
attempt("outer-environ", lambda: open("/proc/{outer}/environ", "rb").read(1))
attempt("outer-fd", lambda: os.readlink("/proc/{outer}/fd/0"))
attempt("kill", lambda: os.kill({outer}, 0))
attempt("kill-init", lambda: (os.kill(1, 9), os.kill(1, 0)))
call("trace-init", number(101, 117), 0x4206, 1, 0, 0)
call("trace-outer", number(101, 117), 0x4206, {outer}, 0, 0)
call("read-outer", number(310, 270), {outer}, 0, 0, 0, 0, 0)
attempt("descriptors", lambda: [os.fstat(n) for n in range(3, 100)])
"#
    );
    const DENIED: &[&str] = &["EACCES", "EPERM"];
    const AWAY: &[&str] = &["EACCES", "EPERM", "ENOENT"];
    let outcomes: [(&str, &[&str]); 21] = [
        ("link-root", DENIED),
        ("link-cwd", DENIED),
        ("link-exe", DENIED),
        ("link-fd/1", DENIED),
        ("see-environ", DENIED),
        ("see-mem", DENIED),
        ("see-maps", DENIED),
        ("see-root/etc", DENIED),
        ("see-cwd/.", DENIED),
        ("exe", DENIED),
        ("own-exe", &["EROFS", "ETXTBSY", "EACCES"]),
        ("own-mem", &["EROFS", "EACCES"]),
        ("outer-root", AWAY),
        ("outer-environ", AWAY),
        ("outer-fd", AWAY),
        ("kill", &["ESRCH"]),
        // Process 1 does not hear it: it is still there afterwards.
        ("kill-init", &["done"]),
        ("trace-init", &["EPERM"]),
        ("trace-outer", &["ESRCH"]),
        ("read-outer", &["EPERM"]),
        ("descriptors", &["EBADF"]),
    ];
    expect(&den, &den.spec(), &body, &outcomes);
}

#[test]
fn the_kernels_own_files_cannot_be_written() {
    let Some(den) = den() else { return };
    let mut body =
        String::from("def put(path):\n    open(path, 'r+b' if os.path.exists(path) else 'wb').write(b'x')\n");
    let paths = [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sysrq-trigger",
        "/proc/self/oom_score_adj",
        "/proc/1/oom_score_adj",
        "/sys/kernel/uevent_helper",
        "/sys/fs/cgroup/release_agent",
        "/sys/fs/cgroup/cgroup.procs",
        "/dev/kmsg",
        "/dev/mem",
        "/dev/sda",
        "/dev/vda",
        "/dev/tty",
        "/dev/fuse",
        "/dev/net/tun",
    ];
    for path in paths {
        body.push_str(&format!("attempt({path:?}, lambda: put({path:?}))\n"));
    }
    let spec = den.spec();
    let text = den.run(&spec, &python(&body)).done();
    for line in text.lines() {
        let (path, outcome) = line.split_once(' ').unwrap();
        // In /dev there is nothing of that name: what is written is a file of the view's own memory.
        let harmless = path.starts_with("/dev/") && ["done", "ENOENT", "ENXIO", "EACCES"].contains(&outcome);
        assert!(harmless || ["EROFS", "EACCES", "EPERM", "ENOENT"].contains(&outcome), "{line}");
        assert!(path != "/dev/tty" || outcome == "ENXIO", "no terminal is reached: {line}");
    }
    assert_eq!(text.lines().count(), paths.len());
}

#[test]
fn no_right_can_be_gained() {
    let Some(den) = den() else { return };
    let text = den.run(&den.spec(), "cat /proc/self/status").done();
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_string()).unwrap()
    };
    assert_eq!((field("NoNewPrivs:").as_str(), field("Seccomp:").as_str()), ("1", "2"));
    assert_eq!(
        (field("CapInh:").as_str(), field("CapAmb:").as_str()),
        ("0000000000000000", "0000000000000000")
    );
    // chown, dac_override, fowner, fsetid, setgid, setuid: over files, and for root alone.
    let most = if rustix::process::geteuid().is_root() { 0b1101_1011 } else { 0 };
    for set in ["CapPrm:", "CapEff:", "CapBnd:"] {
        assert_eq!(u64::from_str_radix(&field(set), 16).unwrap(), most, "{set}");
    }
    let text = den.run(&den.spec(), "cat /proc/self/mounts").done();
    assert!(text.contains(" overlay "), "{text}");
    for mount in text.lines().filter(|mount| !mount.contains(" /dev/")) {
        assert!(mount.contains("nosuid"), "{mount}");
        assert!(mount.contains("nodev") || mount.contains("devpts"), "{mount}");
    }
}

#[test]
fn marks_of_the_layer_cannot_be_forged() {
    let Some(den) = den() else { return };
    den.write("dir/file", "old");
    let spec = den.spec();
    let body = r#"
os.mkdir("made")
def forge(name): os.setxattr("made", name, b"y"); os.setxattr("dir", name, b"y")
for name in ["opaque", "redirect", "whiteout", "whiteouts", "metacopy", "origin"]:
    try: forge("user.overlay." + name)
    except OSError: pass
    try: forge("trusted.overlay." + name)
    except OSError: pass
attempt("whiteout", lambda: os.mknod("white", stat.S_IFCHR, 0))
attempt("device", lambda: os.mknod("disk", stat.S_IFBLK | 0o666, os.makedev(8, 0)))
attempt("device-in-tmp", lambda: os.mknod("/tmp/mem", stat.S_IFCHR | 0o666, os.makedev(1, 1)))
"#;
    const NO: &[&str] = &["EPERM"];
    expect(&den, &spec, body, &[("whiteout", NO), ("device", NO), ("device-in-tmp", NO)]);
    let upper = &spec.overlays[0].upper;
    for name in ["made", "dir"] {
        let mut names = vec![0; 4096];
        let Ok(length) = rustix::fs::listxattr(upper.join(name), names.as_mut_slice()) else { continue };
        let names = String::from_utf8_lossy(&names[..length]).into_owned();
        for forged in ["opaque", "redirect", "whiteout", "metacopy"] {
            assert!(!names.split('\0').any(|n| n == format!("user.overlay.{forged}")), "{name}: {names}");
        }
    }
    assert!(!upper.join("white").exists() && !upper.join("disk").exists());
}

#[test]
fn files_outside_are_not_written_by_any_detour() {
    let Some(den) = den() else { return };
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok();
    let outside = outside.as_ref().map_or(den.base.clone(), |dir| dir.path().to_path_buf());
    let victim = outside.join("victim");
    std::fs::write(&victim, "as it was").unwrap();
    den.write(".git/hooks/pre-commit", "as it was");
    symlink(&victim, den.root.join("link")).unwrap();
    let victim_text = victim.display();
    let before = den.tree();
    for line in [
        format!("echo x > {victim_text}"),
        format!("echo x >> {victim_text}"),
        format!("truncate -s0 {victim_text}"),
        format!("rm -f {victim_text}"),
        format!("mv {victim_text} /tmp/x"),
        format!("chmod 777 {victim_text}"),
        format!("touch -d 2000-01-01 {victim_text}"),
        format!("ln {victim_text} hard && echo x > hard"),
        "echo x > link".into(),
        "cp --remove-destination /dev/null link; echo x > link".into(),
        "echo '#!/bin/sh' > .git/hooks/pre-commit; echo x > .git/hooks/post-checkout; git config core.fsmonitor evil".into(),
        "exec 3< . ; cd /proc/self/fd/3/../..; echo x > victim".into(),
        format!("python3 -c 'import os; os.chdir(\"/\"); [os.chdir(\"..\") for n in range(9)]; open(\"{victim_text}\", \"w\")'"),
        format!("python3 -c 'import os; f=os.open(\"{victim_text}\", os.O_RDONLY); open(f\"/proc/self/fd/{{f}}\", \"w\")'"),
        "crontab - <<< '* * * * * true'; echo x > ~/.bashrc; echo x > ~/.ssh/authorized_keys".into(),
    ] {
        let mode = std::fs::metadata(&victim).unwrap();
        den.run(&den.spec(), &line);
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "as it was", "{line}");
        let now = std::fs::metadata(&victim).unwrap();
        assert_eq!((mode.permissions(), mode.modified().unwrap()), (now.permissions(), now.modified().unwrap()), "{line}");
        assert_eq!(den.tree(), before, "{line}");
    }
}

#[test]
fn no_pipe_of_the_host_is_written() {
    let Some(den) = den() else { return };
    let Ok(outside) = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")) else { return };
    // A read-only mount does not forbid writing to a pipe with a name; Landlock does.
    if crate::support::den::found().landlock_abi.is_none() {
        return;
    }
    let pipe = outside.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = rustix::fs::open(
        &pipe,
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK,
        rustix::fs::Mode::empty(),
    );
    let body = format!("attempt('pipe', lambda: os.open({pipe:?}, os.O_WRONLY | os.O_NONBLOCK))");
    // Below /tmp, which is a fresh one inside, it is not even there.
    expect(&den, &den.spec(), &body, &[("pipe", &["EACCES", "ENOENT"])]);
    drop(reader.unwrap());
}

#[test]
fn nothing_is_typed_into_a_terminal() {
    let Some(den) = den() else { return };
    let body = r#"
import pty
leader, follower = pty.openpty()
attempt("TIOCSTI", lambda: fcntl.ioctl(follower, 0x5412, b"x"))
attempt("TIOCLINUX", lambda: fcntl.ioctl(follower, 0x541c, b"\x02"))
attempt("high-bits", lambda: say_ioctl(follower))
attempt("size", lambda: fcntl.ioctl(follower, 0x5413, b"\0" * 8))
"#;
    let body = format!(
        "def say_ioctl(fd):\n    done = libc.ioctl(fd, ctypes.c_ulong(0x1_0000_5412), ctypes.c_char_p(b'x'))\n    \
         if done < 0: raise OSError(ctypes.get_errno(), 'no')\n{body}"
    );
    const NO: &[&str] = &["EPERM"];
    let outcomes: [(&str, &[&str]); 4] =
        [("TIOCSTI", NO), ("TIOCLINUX", NO), ("high-bits", NO), ("size", &["done"])];
    expect(&den, &den.spec(), &body, &outcomes);
}

#[test]
fn given_input_is_no_file_of_the_host() {
    let Some(den) = den() else { return };
    let line = "readlink /proc/self/fd/0; echo more > /proc/self/fd/0; cat";
    let given = placet::process::ShellCommand {
        stdin: placet::process::CommandInput::Bytes(b"given\n".to_vec()),
        ..crate::support::den::command(&den.spec(), line)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = runtime.block_on(given.run(&tokio_util::sync::CancellationToken::new(), |_| {}));
    let text = String::from_utf8_lossy(&done.unwrap().output.whole()).into_owned();
    assert!(text.starts_with("/memfd:"), "{text}");
}
