//! The program on machines where a system call fails. In a release build a failed `clone` once killed every process of
//! the user. So each case runs in a process namespace of the test's own, with an unrelated process of the same user
//! beside it, which must live; and each must end in time, with the fall-back or with an error that says what failed.
//!
//! Three roles of one binary: the test starts [`inside`] as process 1 of a namespace; that one starts [`broken`] for
//! each command, which makes the calls fail and becomes the program.
#![cfg(target_os = "linux")]

use crate::support::broken_calls::{Broken, Start, become_program, broken_command};
use crate::support::is_full;
use crate::support::program::placet;
use crate::support::require::require;
use crate::support::wait::DEADLINE as PATIENCE;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Users that nobody is: each group has one, because a limit counts all processes of a user.
const NOBODIES: std::ops::Range<u32> = 65_400..65_500;
/// Which group of cases [`inside`] runs.
const GROUP: &str = "PLACET_TEST_GROUP";
const INSIDE: &str = "sandbox::hostile_system_calls::inside";
const BROKEN: &str = "sandbox::hostile_system_calls::broken";

#[test]
fn broken() {
    become_program();
}

#[test]
fn inside() {
    let Ok(group) = std::env::var(GROUP) else { return };
    assert_eq!(std::process::id(), 1, "only ever in a namespace of its own");
    if group == "made" {
        let never = never_made(&Den::new(None, &group));
        assert!(never.is_empty(), "rows of calls that are never made: {never:?}");
        return;
    }
    let mut lines = Vec::new();
    let mut wrong = Vec::new();
    for user in users(&group) {
        let den = Den::new(user, &group);
        let mut before = String::new();
        for (name, broken) in faults(&group, &den) {
            // Everything is tried with the first error of each call, and as whoever runs the test.
            let call = name.split(' ').next().unwrap_or_default().to_string();
            let few = !is_full()
                || before == call && !group.contains("limit")
                || user.is_some() && group != "process limit";
            before = call;
            for &ask in if few { &Ask::ALL[..2] } else { &Ask::ALL[..] } {
                let seen = den.ask(ask, &Broken { uid: user, ..broken.clone() });
                let user = user.map_or("as is".into(), |uid| uid.to_string());
                lines.push(format!("{name} | {user} | {ask:?} | {}", seen.row()));
                if let Some(why) = seen.wrong(ask, &name) {
                    wrong.push(format!("{name} | {user} | {ask:?}: {why}\n{seen:#?}"));
                }
            }
        }
    }
    println!("{}", lines.join("\n"));
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

/// As whom the program runs: as root where the test has root, and as somebody else.
fn users(group: &str) -> Vec<Option<u32>> {
    // In a user namespace of one user there is nobody else.
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    let all = map.split_whitespace().nth(2).and_then(|count| count.parse::<u32>().ok());
    if all.is_none_or(|count| count < NOBODIES.end) || !rustix::process::geteuid().is_root() {
        return vec![None];
    }
    let nobody = NOBODIES.start + group.bytes().map(u32::from).sum::<u32>() % (NOBODIES.end - NOBODIES.start);
    // No limit on processes holds for root.
    if group == "process limit" { vec![Some(nobody)] } else { vec![None, Some(nobody)] }
}

/// Runs a group in a namespace. `own_user`: also in a user namespace, whose limits it may change.
#[track_caller]
fn group(name: &str, own_user: bool) {
    if !require("unshare") {
        return;
    }
    let user = own_user || !rustix::process::geteuid().is_root();
    let flags: &[&str] = if user { &["-U", "-r"] } else { &[] };
    let flags = [flags, &["-p", "-f", "-m", "--mount-proc", "--kill-child"]].concat();
    let try_it = Command::new("unshare").args(&flags).arg("true").output().unwrap();
    if !try_it.status.success() {
        eprintln!("skipped: no namespaces for a test here: {}", String::from_utf8_lossy(&try_it.stderr));
        return;
    }
    let out = Command::new("unshare")
        .args(&flags)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", INSIDE, "--nocapture", "--test-threads=1"])
        .env(GROUP, name)
        .env("PLACET_BINARY", placet())
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    if std::env::var_os("PLACET_TEST_TABLE").is_some() {
        println!("{stdout}");
    }
    assert!(out.status.success() && stdout.contains("1 passed"), "{stdout}\n{stderr}");
}

/// A row whose call is never made passes whatever placet does.
#[test]
fn each_call_that_a_row_refuses_is_made() {
    group("made", false);
}

/// Calls of the groups that no command makes, as far as what becomes of the commands shows it.
fn never_made(den: &Den) -> Vec<String> {
    let groups =
        ["namespaces", "mounts", "walls", "processes"].into_iter().flat_map(|name| faults(name, den));
    // Once for each call: which error the others of its row end with makes no difference.
    let rows: BTreeMap<(i64, Vec<i64>), (String, Broken)> = groups
        .flat_map(|(name, broken)| {
            let each: Vec<i64> = broken.calls.iter().map(|(number, _)| *number).collect();
            each.into_iter().map(move |number| {
                let mut calls = broken.calls.clone();
                calls.retain(|(other, _)| *other != number);
                let others = calls.iter().map(|(other, _)| *other).collect();
                ((number, others), (name.clone(), Broken { calls, ..Broken::default() }))
            })
        })
        .collect();
    let mut usual: BTreeMap<(Vec<(i64, i32)>, usize), _> = BTreeMap::new();
    let mut differs = |number: i64, others: &Broken| {
        let deadly = Broken { deadly: Some(number), ..others.clone() };
        Ask::ALL.into_iter().enumerate().any(|(at, ask)| {
            let known = (others.calls.clone(), at);
            let usual = usual.entry(known).or_insert_with(|| den.ask(ask, others).outcome());
            den.ask(ask, &deadly).outcome() != *usual
        })
    };
    // When the supervisor calls these, it has nothing to report any more: its end shows nothing.
    let unseen = [libc::SYS_kill, libc::SYS_pidfd_send_signal];
    let rows = rows.into_iter().filter(|((number, _), _)| !unseen.contains(number));
    let never = rows.filter(|((number, _), (_, others))| !differs(*number, others));
    never.map(|(_, (name, _))| name).collect()
}

#[test]
fn a_refused_namespace_harms_nobody() {
    group("namespaces", false);
}

#[test]
fn a_refused_mount_harms_nobody() {
    group("mounts", false);
}

#[test]
fn a_refused_wall_harms_nobody() {
    group("walls", false);
}

#[test]
fn a_refused_process_harms_nobody() {
    group("processes", false);
}

#[test]
fn a_limit_on_processes_harms_nobody() {
    group("process limit", false);
}

#[test]
fn a_limit_on_open_files_harms_nobody() {
    group("file limit", false);
}

#[test]
fn namespaces_that_are_switched_off_harm_nobody() {
    group("switched off", true);
}

#[test]
fn full_memory_disks_harm_nobody() {
    group("full", true);
}

/// Calls of the runtime, of which it panics, waits for ever or loses a signal when they fail.
#[test]
fn a_refused_wake_up_harms_nobody() {
    group("runtime", false);
}

const NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWNET;

fn faults(group: &str, den: &Den) -> Vec<(String, Broken)> {
    use libc::{
        EACCES, EAGAIN, EBUSY, EINTR, EINVAL, EIO, EMFILE, ENFILE, ENODEV, ENOMEM, ENOSPC, ENOSYS,
        EOPNOTSUPP, EPERM, EUSERS,
    };
    let clone = |flags: i32, with, errno| Broken {
        clone: Some((u64::from(flags.unsigned_abs()), with, errno)),
        ..Broken::default()
    };
    let each = |name: &str, call: i64, errors: &[i32]| -> Vec<(String, Broken)> {
        let broken = |errno: &i32| Broken { calls: vec![(call, *errno)], ..Broken::default() };
        errors.iter().map(|errno| (format!("{name} {}", word(*errno)), broken(errno))).collect()
    };
    let mut all = Vec::new();
    match group {
        "namespaces" => {
            for errno in [EPERM, ENOSPC, EAGAIN, ENOMEM, EINVAL, EUSERS, ENOSYS] {
                all.push((format!("clone(NEW*) {}", word(errno)), clone(NAMESPACES, true, errno)));
            }
            // No rows for `unshare`, `setns` and `openpty`, which placet never calls, nor for `memfd_create`, which it calls
            // only for a command whose input is a scratchpad: the rows would pass whatever placet does.
        }
        "mounts" => {
            all.extend(each("mount", libc::SYS_mount, &[EPERM, EACCES, ENOSYS]));
            all.extend(each("fsopen", libc::SYS_fsopen, &[EPERM, ENODEV, ENOSYS]));
            all.extend(each("fsconfig", libc::SYS_fsconfig, &[EINVAL, EBUSY]));
            all.extend(each("open_tree", libc::SYS_open_tree, &[EPERM, EMFILE]));
            all.extend(each("move_mount", libc::SYS_move_mount, &[EPERM]));
            all.extend(each("mount_setattr", libc::SYS_mount_setattr, &[EPERM, ENOSYS]));
        }
        "walls" => {
            all.extend(each(
                "landlock_create_ruleset",
                libc::SYS_landlock_create_ruleset,
                &[ENOSYS, EOPNOTSUPP, EPERM],
            ));
            all.extend(each("landlock_add_rule", libc::SYS_landlock_add_rule, &[ENOMEM]));
            all.extend(each("landlock_restrict_self", libc::SYS_landlock_restrict_self, &[EPERM]));
            // Once it is refused, no later filter can be installed, so this one is the last.
            all.extend(each("seccomp", libc::SYS_seccomp, &[ENOSYS, EINVAL, EPERM]));
            all.extend(each("close_range", libc::SYS_close_range, &[ENOSYS]));
            all.extend(each("capset", libc::SYS_capset, &[EPERM]));
            all.extend(each("setsid", libc::SYS_setsid, &[EPERM]));
        }
        "processes" => {
            all.push(("fork EAGAIN".into(), clone(libc::CLONE_THREAD, false, EAGAIN)));
            all.push(("fork ENOMEM".into(), clone(libc::CLONE_THREAD, false, ENOMEM)));
            all.push(("thread EAGAIN".into(), clone(libc::CLONE_THREAD, true, EAGAIN)));
            all.extend(each("pidfd_open", libc::SYS_pidfd_open, &[ENOSYS, EPERM, EMFILE]));
            all.extend(each("pidfd_send_signal", libc::SYS_pidfd_send_signal, &[ENOSYS]));
            all.extend(each("pipe2", libc::SYS_pipe2, &[EMFILE, ENFILE]));
            all.extend(each("socketpair", libc::SYS_socketpair, &[EMFILE]));
            all.extend(each("wait4", libc::SYS_wait4, &[EPERM, ENOSYS]));
            // `kill` is called where there are no descriptors of processes.
            let calls = vec![(libc::SYS_pidfd_open, ENOSYS), (libc::SYS_kill, EPERM)];
            all.push(("kill EPERM".into(), Broken { calls, ..Broken::default() }));
        }
        "runtime" => {
            let only =
                |name: &str, call: i64, errors: &[i32], argument: (u8, u64)| -> Vec<(String, Broken)> {
                    let broken =
                        |errno: &i32| Broken { only: vec![(call, *errno, argument)], ..Broken::default() };
                    errors.iter().map(|errno| (format!("{name} {}", word(*errno)), broken(errno))).collect()
                };
            let pair = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK).unsigned_abs().into();
            all.extend(only("socketpair(NONBLOCK)", libc::SYS_socketpair, &[EIO, EINTR], (1, pair)));
            // Not `EINTR`: what is interrupted is repeated, as often as it takes.
            all.extend(only("sendto(1)", libc::SYS_sendto, &[EIO, EAGAIN], (2, 1)));
            all.extend(each("sendto", libc::SYS_sendto, &[EAGAIN, EIO]));
            // A wake-up of the runtime is a number of 8 bytes.
            all.extend(only("write(8)", libc::SYS_write, &[EIO, EINTR], (2, 8)));
            let set = u64::from(libc::SIG_SETMASK.unsigned_abs());
            all.extend(only("rt_sigprocmask(SET)", libc::SYS_rt_sigprocmask, &[EIO, EINTR], (0, set)));
            all.extend(each("rt_sigprocmask", libc::SYS_rt_sigprocmask, &[ENOSYS]));
            all.extend(each("eventfd2", libc::SYS_eventfd2, &[ENOSYS, EIO]));
            all.extend(each("epoll_create1", libc::SYS_epoll_create1, &[ENOSYS]));
            #[cfg(target_arch = "x86_64")]
            all.extend(each("epoll_wait", libc::SYS_epoll_wait, &[EIO, ENOSYS]));
            all.extend(each("waitid", libc::SYS_waitid, &[ENOSYS, EIO]));
            all.extend(each("ppoll", libc::SYS_ppoll, &[ENOSYS, EIO]));
        }
        "process limit" => {
            for processes in [3, 4, 6, 10, 14, 20, 30] {
                all.push((
                    format!("RLIMIT_NPROC {processes}"),
                    Broken { processes: Some(processes), ..Broken::default() },
                ));
            }
        }
        "file limit" => {
            for files in [4, 6, 8, 10, 12, 16, 24] {
                all.push((
                    format!("RLIMIT_NOFILE {files}"),
                    Broken { open_files: Some(files), ..Broken::default() },
                ));
            }
        }
        "switched off" => {
            let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
            assert!(
                map.trim_end().ends_with(" 1"),
                "this would switch them off for the whole machine: {map}"
            );
            std::fs::write("/proc/sys/user/max_user_namespaces", "0").unwrap();
            all.push(("max_user_namespaces=0".into(), Broken::default()));
        }
        "full" => {
            for place in ["/dev/shm", "/tmp"] {
                den.fill(Path::new(place));
                all.push((format!("full {place}"), Broken::default()));
            }
        }
        other => panic!("{other}"),
    }
    all
}

fn word(errno: i32) -> String {
    let known = [
        (libc::EPERM, "EPERM"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::ENOMEM, "ENOMEM"),
        (libc::EINVAL, "EINVAL"),
        (libc::EUSERS, "EUSERS"),
        (libc::ENOSYS, "ENOSYS"),
        (libc::EMFILE, "EMFILE"),
        (libc::ENFILE, "ENFILE"),
        (libc::EACCES, "EACCES"),
        (libc::EINTR, "EINTR"),
        (libc::EIO, "EIO"),
        (libc::EBUSY, "EBUSY"),
        (libc::ENODEV, "ENODEV"),
        (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    ];
    known.iter().find(|(number, _)| *number == errno).map_or(errno.to_string(), |(_, name)| (*name).into())
}

/// What the program is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    Doctor,
    SandboxRun,
    Run,
    Mcp,
    Job,
    /// A command that is stopped.
    Late,
}

impl Ask {
    /// The first two are tried with every error.
    const ALL: [Ask; 6] = [Ask::Doctor, Ask::Run, Ask::SandboxRun, Ask::Mcp, Ask::Job, Ask::Late];

    fn args(self) -> Vec<&'static str> {
        const WRITES: [&str; 4] = ["--mode", "write", "--allow", "run_command"];
        let mut args = match self {
            Ask::Doctor => return vec!["doctor"],
            Ask::SandboxRun => return vec!["sandbox", "run", "--discard", "--", "echo hi-$((40+2))"],
            Ask::Run => vec!["-p", "run echo hi-$((40+2))"],
            Ask::Mcp => vec!["mcp", "serve"],
            Ask::Late => {
                vec![
                    "-p",
                    r#"call run_command {"command": "echo hi-$((40+2)); sleep 60", "timeout_ms": 1500}"#,
                ]
            }
            Ask::Job => {
                vec![
                    "-p",
                    r#"call run_command {"command": "echo hi-$((40+2)); sleep 0.05", "background": true}"#,
                ]
            }
        };
        args.extend(WRITES);
        args
    }

    fn input(self) -> String {
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let call = json!({"name": "run_command", "arguments": {"command": "echo hi-$((40+2))"}});
        match self {
            Ask::Mcp => [
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
            ]
            .map(|line| format!("{line}\n"))
            .concat(),
            _ => String::new(),
        }
    }

    /// True once the program has said what it was asked for; then its input ends.
    fn answered(self, stdout: &str) -> bool {
        self != Ask::Mcp || stdout.contains(r#""id":2"#)
    }
}

/// What became of one command.
#[derive(Debug)]
struct Seen {
    status: Option<ExitStatus>,
    stdout: String,
    stderr: String,
    canary: bool,
}

impl Seen {
    fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// What shows that a call ended a process: the code, whether the command ran, and what `doctor` found.
    fn outcome(&self) -> (Option<i32>, bool, bool, String) {
        let found = self.stdout.lines().find(|line| line.starts_with("sandbox ")).unwrap_or_default();
        (self.code(), self.stdout.contains("hi-42"), self.stdout.contains("timed out after"), found.into())
    }

    /// Why this must not be, if it must not.
    fn wrong(&self, ask: Ask, fault: &str) -> Option<String> {
        let said = format!("{}{}", self.stdout, self.stderr);
        let code = self.code();
        if !self.canary {
            return Some("an unrelated process of the user was killed".into());
        }
        if self.status.is_none() {
            return Some(format!("it did not end within {PATIENCE:?}"));
        }
        let Some(code) = code else { return Some("it was killed by a signal".into()) };
        if code == 101 || said.contains("panicked at") {
            return Some("it panicked".into());
        }
        if said.trim().is_empty() {
            return Some("it says nothing".into());
        }
        if code != 0
            && ask != Ask::Doctor
            && !self.stderr.contains("error: ")
            && !self.stderr.contains("failed")
        {
            return Some(format!("it fails with {code} and no error"));
        }
        if said.lines().any(|line| line.trim_end().ends_with(':') && line.contains("error")) {
            return Some("an error without a reason".into());
        }
        let works = said.contains("hi-42");
        // What the guide promises where there are no namespaces.
        let falls_back = fault.starts_with("clone(NEW*)") || fault.starts_with("max_user_namespaces");
        if falls_back && crate::support::den::found().landlock_abi.is_some() {
            let promised = match ask {
                Ask::Doctor => {
                    said.contains("no copy-on-write view") && said.contains("Landlock confines writes")
                }
                Ask::SandboxRun => said.contains("`placet run` needs a copy-on-write view"),
                Ask::Run | Ask::Mcp | Ask::Late => works,
                Ask::Job => said.contains("background commands need the copy-on-write view"),
            };
            if !promised {
                return Some("this is not the fall-back".into());
            }
        }
        // Through the fall-back or through the view: a command either ran or has an error.
        let told = ["error", "cannot", "could not", "no sandbox", "no copy-on-write"];
        (!works && ask != Ask::Doctor && !told.iter().any(|word| said.contains(word)))
            .then(|| "neither an outcome nor an error".into())
    }

    fn row(&self) -> String {
        let code = self.code().map_or("killed or late".into(), |code| code.to_string());
        let canary = if self.canary { "alive" } else { "DEAD" };
        let said = format!("{}\n{}", self.stderr, self.stdout);
        let key = ["error", "sandbox   ", "no threads", "could not", "cannot", "hi-42"];
        let line = key.iter().find_map(|key| said.lines().find(|line| line.contains(key)));
        let line = line.or(said.lines().find(|l| !l.trim().is_empty())).unwrap_or("").trim();
        format!("{code} | {canary} | {}", line.chars().take(230).collect::<String>())
    }
}

/// A home and a tree of one user, with an unrelated process of that user.
struct Den {
    dir: TempDir,
    program: PathBuf,
    canary: std::cell::RefCell<Child>,
}

impl Drop for Den {
    fn drop(&mut self) {
        let canary = self.canary.get_mut();
        drop(canary.kill());
        drop(canary.wait());
    }
}

impl Den {
    fn new(user: Option<u32>, group: &str) -> Den {
        let base = match group {
            // `/tmp` is covered and full there.
            "full" => PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
            _ => std::env::temp_dir(),
        };
        let dir = tempfile::Builder::new().prefix("broken").tempdir_in(base).unwrap();
        let open = || std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(dir.path(), open()).unwrap();
        for name in ["home", "tree"] {
            let path = dir.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(&path, open()).unwrap();
            if let Some(uid) = user {
                std::os::unix::fs::chown(&path, Some(uid), Some(uid)).unwrap();
            }
        }
        // Where cargo put it another user may not look.
        let program = match user {
            Some(_) => {
                let copy = dir.path().join("placet");
                std::fs::copy(placet(), &copy).unwrap();
                copy
            }
            None => std::fs::canonicalize(placet()).unwrap(),
        };
        let canary = Den::canary(user);
        Den { dir, program, canary: canary.into() }
    }

    fn canary(user: Option<u32>) -> Child {
        let mut canary = Command::new("sleep");
        canary.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(uid) = user {
            canary.uid(uid).gid(uid);
        }
        canary.spawn().unwrap()
    }

    /// A file system without room over `place`, in the test's own mount namespace.
    fn fill(&self, place: &Path) {
        if !place.is_dir() {
            return;
        }
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k,mode=1777", "full"])
            .arg(place)
            .status();
        assert!(done.unwrap().success());
        let filled = std::fs::write(place.join("filled"), vec![1; 1 << 20]);
        assert!(filled.is_err(), "there is no room left");
    }

    fn ask(&self, ask: Ask, broken: &Broken) -> Seen {
        let out = |name: &str| {
            let path = self.dir.path().join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
            path
        };
        let (stdout, stderr) = (out("stdout"), out("stderr"));
        let home = self.dir.path().join("home");
        let mut variables = vec![("HOME".to_string(), home.clone())];
        variables.push(("PATH".into(), std::env::var_os("PATH").unwrap_or_default().into()));
        variables.push(("XDG_CONFIG_HOME".into(), home.join("config")));
        variables.push(("XDG_STATE_HOME".into(), home.join("state")));
        let start = Start {
            broken: broken.clone(),
            program: self.program.clone(),
            args: ask.args().into_iter().map(String::from).collect(),
            cwd: self.dir.path().join("tree"),
            variables,
            stdout: stdout.clone(),
            stderr: stderr.clone(),
        };
        let mut child = broken_command(BROKEN, &start).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take();
        drop(input.as_mut().map(|input| input.write_all(ask.input().as_bytes())));
        let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if input.is_some() && ask.answered(&read(&stdout)) {
                input = None;
            }
            if started.elapsed() > PATIENCE {
                drop(child.kill());
                drop(child.wait());
                break None;
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        let mut canary = self.canary.borrow_mut();
        let alive = canary.try_wait().unwrap().is_none();
        if !alive {
            *canary = Den::canary(broken.uid);
        }
        Seen { status, stdout: read(&stdout), stderr: read(&stderr), canary: alive }
    }
}
