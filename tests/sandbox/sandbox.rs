//! The sandbox as a view: what a command changes lands beside the files, and what it must not see is not there.

use crate::support::binary::Place;
use crate::support::den::{Den, Ran, command, sandbox_or_skip};
use crate::support::program::placet;
use crate::support::require::require;
use crate::support::txn::Txn;
use crate::support::wait;
use placet::process::{CommandExit, FinishedCommand};
use placet::sandbox::{
    OverlaySpec, ResourceLimits, SandboxBackend, SandboxNetwork, SandboxSpec, probe_again, recorded_probe,
};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub(super) fn upper(spec: &SandboxSpec) -> &Path {
    &spec.overlays.last().unwrap().upper
}

macro_rules! needs_a_sandbox {
    () => {
        if !$crate::support::require::has_view() {
            return;
        }
    };
}
pub(super) use needs_a_sandbox;

/// Story: the view's own `/dev` had no place for the workspace, and no command started there.
#[test]
fn a_workspace_in_dev_shm_has_a_view() {
    needs_a_sandbox!();
    let Ok(dir) = tempfile::TempDir::new_in("/dev/shm") else { return };
    let txn = Txn::in_dir(dir, None);
    txn.write("a", "one\n");
    let other = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
    txn.hold(&format!("echo two >> a; ls {} && echo seen >> a", other.path().display()));
    assert_eq!(txn.read("a").as_deref(), Some("one\n"));
    txn.run(["apply"]).code(0);
    assert_eq!(txn.read("a").as_deref(), Some("one\ntwo\n"));
}

#[test]
fn changes_land_in_the_layer_and_the_tree_stays_as_it_was() {
    needs_a_sandbox!();
    let den = Den::new();
    den.write("changed.txt", "old");
    den.write("deleted.txt", "old");
    den.write("dir/kept.txt", "old");
    symlink("changed.txt", den.root.join("link")).unwrap();
    let before = den.tree();
    let spec = den.spec();
    let line = "echo new > changed.txt; rm deleted.txt; mkdir made; echo made > made/file; chmod 700 dir/kept.txt; \
                rm link; ln -s elsewhere link; cat changed.txt made/file; ls deleted.txt";
    let ran = den.run(&spec, line);
    assert!(ran.text.starts_with("new\nmade\n"), "{ran:?}");
    assert_eq!(ran.ending, CommandExit::Exit(2));
    assert_eq!(den.tree(), before);
    let layer = upper(&spec);
    assert_eq!(std::fs::read_to_string(layer.join("changed.txt")).unwrap(), "new\n");
    assert_eq!(std::fs::read_to_string(layer.join("made/file")).unwrap(), "made\n");
    assert_eq!(std::fs::read_link(layer.join("link")).unwrap(), Path::new("elsewhere"));
    let whiteout = std::fs::symlink_metadata(layer.join("deleted.txt")).unwrap();
    assert!(whiteout.file_type().is_char_device() && whiteout.rdev() == 0);
    assert_eq!(std::fs::metadata(layer.join("dir/kept.txt")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_layer_becomes_the_lower_of_the_next_command() {
    needs_a_sandbox!();
    let den = Den::new();
    den.write("a", "0\n");
    den.write("gone", "0\n");
    let first = den.spec();
    den.run(&first, "echo 1 >> a; rm gone").done();
    let second = SandboxSpec {
        overlays: vec![OverlaySpec {
            lowers: vec![upper(&first).into(), den.root.clone()],
            ..den.layer(&den.root)
        }],
        ..den.spec()
    };
    assert_eq!(den.run(&second, "echo 2 >> a; cat a; test ! -e gone").done(), "0\n1\n2\n");
    assert_eq!(std::fs::read_to_string(upper(&first).join("a")).unwrap(), "0\n1\n");
    assert_eq!(std::fs::read_to_string(den.root.join("a")).unwrap(), "0\n");
}

#[test]
fn nothing_of_a_layer_stays_behind_when_it_is_thrown_away() {
    needs_a_sandbox!();
    let den = Den::new();
    let spec = den.spec();
    den.run(&spec, "echo x > file; sync").done();
    let layer = &spec.overlays[0];
    layer.release();
    std::fs::remove_dir_all(layer.work.parent().unwrap()).unwrap();
}

#[test]
fn a_workspace_below_the_home_has_a_layer_of_its_own() {
    needs_a_sandbox!();
    let den = Den::new();
    den.write("project/code", "old");
    den.write(".cache/index", "old");
    let (home, project) = (den.root.clone(), den.root.join("project"));
    let spec =
        SandboxSpec { overlays: vec![den.layer(&home), den.layer(&project)], cwd: project, ..den.spec() };
    den.run(&spec, "echo new > code; echo new > ../.cache/index; cat code ../.cache/index").done();
    let [of_home, of_project] = spec.overlays.as_slice() else { panic!() };
    assert_eq!(std::fs::read_to_string(of_project.upper.join("code")).unwrap(), "new\n");
    assert_eq!(std::fs::read_to_string(of_home.upper.join(".cache/index")).unwrap(), "new\n");
    assert!(!of_home.upper.join("project/code").exists());
    assert_eq!(std::fs::read_to_string(den.root.join("project/code")).unwrap(), "old");
}

#[test]
fn any_name_will_do_for_a_workspace() {
    needs_a_sandbox!();
    for name in ["a:b,c d", "back\\slash", "line\nbreak", "-dash", "lowerdir=", "ünï"] {
        let den = Den::named(name);
        let spec = den.spec();
        assert_eq!(den.run(&spec, "echo new > file; cat file").done(), "new\n", "{name:?}");
        assert!(upper(&spec).join("file").exists() && !den.root.join("file").exists());
    }
}

#[test]
fn exit_codes_signals_input_and_output_come_through() {
    needs_a_sandbox!();
    let den = Den::new();
    let run = |line: &str| den.run(&den.spec(), line);
    assert_eq!(
        run("echo out; echo err >&2; exit 3"),
        Ran { ending: CommandExit::Exit(3), text: "out\nerr\n".into() }
    );
    assert_eq!(run("kill -9 $$").ending, CommandExit::Signal(9));
    assert_eq!(run("kill -TERM $$").ending, CommandExit::Signal(15));
    assert_eq!(run("kill -9 0").ending, CommandExit::Signal(9));
    assert_eq!(run("no-such-program").ending, CommandExit::Exit(127));
    assert_eq!(run("cat; cat /dev/stdin; echo end").text, "end\n");
    let given = placet::process::ShellCommand {
        stdin: placet::process::CommandInput::Bytes(b"given".to_vec()),
        ..command(&den.spec(), "cat")
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = runtime.block_on(given.run(&CancellationToken::new(), |_| {})).unwrap();
    assert_eq!(done.output.total(), 5);
}

#[test]
fn a_deadline_ends_everything_and_what_was_written_is_there() {
    needs_a_sandbox!();
    let den = Den::new();
    let spec = den.spec();
    let started = Instant::now();
    let line = "trap '' TERM; echo before; echo x > file; setsid sleep 986.1 & sleep 986.1; sleep 986.1";
    let ran = den.run_for(&spec, line, Duration::from_millis(300));
    assert_eq!(ran, Ran { ending: CommandExit::TimedOut, text: "before\n".into() });
    assert!(started.elapsed() < crate::support::wait::DEADLINE, "{:?}", started.elapsed());
    assert!(!alive("986.1"));
    assert!(upper(&spec).join("file").exists());
}

#[tokio::test]
async fn cancelling_ends_everything() {
    needs_a_sandbox!();
    let den = Den::new();
    let spec = den.spec();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let mut seen = Vec::new();
    let running = command(&spec, "(setsid sleep 986.2 &); echo up; sleep 986.2").run(&cancel, |bytes| {
        seen.extend_from_slice(bytes);
        stop.cancel();
    });
    let FinishedCommand { ending, .. } = running.await.unwrap();
    assert_eq!(ending, CommandExit::Cancelled);
    assert!(!alive("986.2"));
}

#[test]
fn a_daemon_ends_with_its_command_and_the_layer_is_quiet() {
    needs_a_sandbox!();
    let den = Den::new();
    let spec = den.spec();
    let line = "setsid sh -c 'while :; do echo x >> noise; done' >/dev/null 2>&1 & sleep 0.1; test -s noise";
    den.run(&spec, line).done();
    let noise = upper(&spec).join("noise");
    let size = std::fs::metadata(&noise).unwrap().len();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(std::fs::metadata(&noise).unwrap().len(), size);
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(den.base.to_str().unwrap()), "{mounts}");
}

#[test]
fn everything_inside_dies_with_placet() {
    needs_a_sandbox!();
    let den = Den::new();
    let words = den.base.join("words");
    std::fs::write(&words, den.spec().to_words()).unwrap();
    for by_signal in [false, true] {
        let mark = if by_signal { "986.3" } else { "986.4" };
        std::fs::write(&words, den.spec().to_words()).unwrap();
        let (mine, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut child = std::process::Command::new(placet())
            .args(["__run", "--sandbox", words.to_str().unwrap(), "--"])
            .arg(format!("setsid sleep {mark} & sleep {mark}"))
            .stdin(std::os::fd::OwnedFd::from(theirs))
            .spawn()
            .unwrap();
        wait::until(mark, || alive(mark));
        if by_signal {
            child.kill().unwrap();
        }
        drop(mine);
        child.wait().unwrap();
        wait::until(&format!("the end of {mark}"), || !alive(mark));
    }
}

#[test]
fn the_rest_is_read_only_and_scratch_is_not() {
    needs_a_sandbox!();
    let den = Den::new();
    let beside = den.base.join("beside");
    std::fs::create_dir(&beside).unwrap();
    let spec = SandboxSpec { writable: vec![beside.clone()], ..den.spec() };
    for path in ["/etc/placet-test", "/usr/placet-test", "/var/lib/placet-test", "/placet-test"] {
        den.run(&den.again(&spec), &format!("touch {path} 2>&1")).refused("file system");
    }
    let line = "set -e; echo t > /tmp/t; echo v > /var/tmp/v; echo s > $TMPDIR/s; echo s > $PLACET_SCRATCH/p; \
                echo b > ../beside/b; echo d > /dev/shm/d; echo > /dev/null; head -c1 /dev/urandom | wc -c";
    assert_eq!(den.run(&spec, line).done().trim(), "1");
    assert!(den.scratch.join("s").exists() && den.scratch.join("p").exists() && beside.join("b").exists());
    assert!(!Path::new("/tmp/t").exists() && !Path::new("/var/tmp/v").exists());
}

#[test]
fn the_commands_of_a_session_have_one_tmp_of_their_own() {
    needs_a_sandbox!();
    let Some(den) = Den::beside_tmp() else { return };
    let name = den.base.file_name().unwrap().to_str().unwrap().to_string();
    let spec = den.spec();
    // A link, a FIFO and a name that the machine's /tmp may have: nothing there leads out, and nothing waits for them.
    let first = format!(
        "set -e; echo $TMPDIR; echo kept > /tmp/{name}; ln -s /etc /tmp/etc; ln -s {} /tmp/.X11-unix; mkfifo /tmp/pipe; \
         mkdir /tmp/placet; touch /tmp/etc/placet-test 2>/dev/null || echo refused",
        den.root.display()
    );
    assert_eq!(den.run(&spec, &first).done(), "/tmp\nrefused\n");
    let socket =
        "import socket; s = socket.socket(socket.AF_UNIX); s.bind('/tmp/' + 'n' * 90); print('bound')";
    let second = format!("cat $TMPDIR/{name} $PLACET_SCRATCH/{name}; ls /var/tmp; python3 -c \"{socket}\"");
    assert_eq!(den.run(&den.again(&spec), &second).done(), "kept\nkept\nbound\n");
    assert!(den.scratch.join(&name).exists() && !Path::new("/tmp").join(&name).exists());
}

#[test]
fn what_an_earlier_command_left_in_tmp_moves_no_part_of_a_later_view() {
    needs_a_sandbox!();
    let Some(den) = Den::beside_tmp() else { return };
    let shown = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::write(shown.path().join("secret"), "canary").unwrap();
    let place = shown.path().display();
    // The place of a mount of the next command, as a link to a directory where no mask is.
    let line = format!("mkdir d && ln -s $PWD/d {place} && echo there");
    assert_eq!(den.run(&den.spec(), &line).done(), "there\n");
    let (readable, masked) = (vec![shown.path().to_path_buf()], vec![shown.path().join("secret")]);
    let spec = SandboxSpec { readable, masked, ..den.spec() };
    let got = den.run(&spec, &format!("cat {place}/secret d/secret 2>&1; echo end")).done();
    assert!(!got.contains("canary") && got.ends_with("end\n"), "{got}");
}

#[test]
fn keys_and_agents_are_not_in_the_environment() {
    needs_a_sandbox!();
    // What this process has is what the commands would have; so a child of it is given more.
    let den = Den::new();
    let words = den.base.join("words");
    std::fs::write(&words, SandboxSpec { keep_env: vec!["KEPT_*".into()], ..den.spec() }.to_words()).unwrap();
    let (mut mine, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let out = std::process::Command::new(placet())
        .args([
            "__run",
            "--sandbox",
            words.to_str().unwrap(),
            "--",
            "env; cat /proc/1/environ /proc/self/environ",
        ])
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .envs([
            ("OPENAI_API_KEY", "canary"),
            ("AWS_PROFILE", "canary"),
            ("GITHUB_TOKEN", "canary"),
            ("SSH_AUTH_SOCK", "canary"),
            ("DOCKER_HOST", "canary"),
            ("KEPT_TOKEN", "kept"),
            ("ORDINARY", "plain"),
        ])
        .output()
        .unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut mine, &mut said).unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(!text.contains("canary"), "{text}");
    assert!(
        text.contains("KEPT_TOKEN=kept")
            && text.contains("ORDINARY=plain")
            && text.contains("PLACET_SANDBOX=1")
    );
}

#[test]
fn localhost_is_there_and_no_other_host() {
    needs_a_sandbox!();
    if !require("python3") {
        return;
    }
    let den = Den::new();
    let line = "python3 -c '\nimport socket\ns = socket.create_server((\"localhost\", 0))\n\
                c = socket.create_connection(s.getsockname())\na = s.accept()[0]\na.send(b\"hello\")\n\
                print(c.recv(5))\n'";
    assert_eq!(den.run(&den.spec(), line).done(), "b'hello'\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = |host: &str| {
        format!("python3 -c 'import socket; socket.create_connection((\"{host}\", {port}), 2)' 2>&1")
    };
    den.run(&den.spec(), &connect("127.0.0.1")).refused("refused");
    den.run(&den.spec(), &connect("192.0.2.1")).refused("unreachable");
}

#[test]
fn a_supervisor_that_waits_starts_every_kind_of_command() {
    needs_a_sandbox!();
    let den = Den::new();
    den.write("seen", "old\n");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = |spec: &SandboxSpec, line: &str, input: &[u8]| {
        let given = placet::process::ShellCommand {
            stdin: placet::process::CommandInput::Bytes(input.to_vec()),
            ..command(spec, line)
        };
        let below = async {
            let ready = placet::process::ReadySupervisor::start(Path::new(placet())).unwrap();
            given.begin_foreground_below(Some(ready))?.run(&CancellationToken::new(), |_| {}).await
        };
        runtime.block_on(below).map(|done| (done.ending, done.output.text()))
    };
    let spec = den.spec();
    let line = "cat; cat seen; echo new > seen; test $$ -lt 9 && echo own; exit 3";
    let (ending, text) = run(&spec, line, b"input\n").unwrap();
    assert_eq!((ending, text.as_str()), (CommandExit::Exit(3), "input\nold\nown\n"));
    assert_eq!(std::fs::read_to_string(upper(&spec).join("seen")).unwrap(), "new\n");
    assert_eq!(std::fs::read_to_string(den.root.join("seen")).unwrap(), "old\n");
    // Kinds for which the process that waits does not fit.
    let named = SandboxNetwork::Hosts(vec!["example.org".into()]);
    for network in [named, SandboxNetwork::Open] {
        let spec = SandboxSpec { network, ..den.spec() };
        let (ending, text) = run(&spec, "test $$ -lt 9 && echo own; cat", b"input").unwrap();
        assert_eq!((ending, text.as_str()), (CommandExit::Exit(0), "own\ninput"));
    }
    let refused = SandboxSpec { cwd: den.root.join("missing"), ..den.spec() };
    let error = run(&refused, "echo ran", b"").unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
}

#[test]
fn a_supervisor_that_waits_ends_with_placet() {
    needs_a_sandbox!();
    let place = Place::new();
    let done = place.run(["-p", "run echo made > made.txt", "--mode", "write", "--allow", "run_command"]);
    done.code(0);
    assert_eq!(place.read("made.txt"), "made\n");
    let home = format!("HOME={}\0", place.home.display());
    let left = || {
        let mut environments =
            std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("environ"));
        let of = |path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).contains(&home);
        environments.any(of)
    };
    wait::until("the supervisor to end", || !left());
}

#[test]
fn limits_hold() {
    needs_a_sandbox!();
    let den = Den::new();
    let with = |limits: ResourceLimits| SandboxSpec { limits, ..den.spec() };
    let files = with(ResourceLimits { open_files: Some(20), ..ResourceLimits::default() });
    assert_eq!(den.run(&files, "ulimit -n").done(), "20\n");
    let size = with(ResourceLimits { file_size: Some(1 << 20), ..ResourceLimits::default() });
    assert_ne!(den.run(&size, "head -c 2000000 /dev/zero > big").ending, CommandExit::Exit(0));
    assert_eq!(std::fs::metadata(upper(&size).join("big")).unwrap().len(), 1 << 20);
    if !rustix::process::geteuid().is_root() {
        let few = with(ResourceLimits { processes: Some(8), ..ResourceLimits::default() });
        den.run(&few, "for n in 1 2 3 4 5 6 7 8 9 10; do sleep 5 & done 2>&1; wait").refused("fork");
    }
    if require("python3") {
        let memory = with(ResourceLimits { memory: Some(200 << 20), ..ResourceLimits::default() });
        den.run(&memory, "python3 -c 'x = bytearray(400 << 20)' 2>&1").refused("MemoryError");
        let cpu = with(ResourceLimits { cpu_seconds: Some(1), ..ResourceLimits::default() });
        assert!(matches!(den.run(&cpu, "while :; do :; done").ending, CommandExit::Signal(9 | 24)));
    }
}

#[test]
fn git_and_other_work_goes_on_as_ever() {
    needs_a_sandbox!();
    if !require("git") {
        return;
    }
    let den = Den::new();
    den.write("a.txt", "one\n");
    let before = den.tree();
    let git = "git -c user.name=x -c user.email=x@x";
    let line = format!(
        "set -e; git init -q .; {git} add -A; {git} commit -qm first; echo two >> a.txt; {git} diff --stat; \
         {git} stash -q; {git} stash pop -q; git status --short; mv a.txt b.txt; mkdir d; mv b.txt d/; mv d e; cat e/b.txt"
    );
    let text = den.run(&den.spec(), &line).done();
    assert!(text.contains("1 file changed") && text.ends_with("one\ntwo\n"), "{text}");
    assert_eq!(den.tree(), before);
}

#[test]
fn what_cannot_be_set_up_is_an_error_and_nothing_runs() {
    needs_a_sandbox!();
    let den = Den::new();
    let ran = den.base.join("ran");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = |spec: SandboxSpec| {
        let mut command = command(&spec, &format!("touch {}", ran.display()));
        command.cwd.clone_from(&den.root);
        runtime.block_on(command.run(&CancellationToken::new(), |_| {})).unwrap_err().to_string()
    };
    let mut missing = den.spec();
    missing.overlays[0].upper = "/nowhere".into();
    assert!(error(missing).contains("could not open the layer `/nowhere`"));
    let mut overlapping = den.spec();
    let within = den.root.join("within");
    std::fs::create_dir(&within).unwrap();
    overlapping.overlays[0].upper = within;
    assert!(error(overlapping).contains("which contains the layer itself"));
    let lost = SandboxSpec { cwd: "/run/nowhere".into(), ..den.spec() };
    assert!(error(lost).contains("could not enter the working directory `/run/nowhere`"));
    let none = SandboxSpec { backend: SandboxBackend::None, ..den.spec() };
    assert!(error(none).contains("runs no command without one"));
    let mut garbage = command(&den.spec(), "true");
    garbage.sandbox = Some(b"{}".to_vec());
    assert!(runtime.block_on(garbage.run(&CancellationToken::new(), |_| {})).is_err());
    assert!(!ran.exists());
}

/// The next process must not rely on a result that was wrong.
#[test]
fn a_sandbox_that_cannot_be_set_up_removes_the_record_of_the_probe() {
    needs_a_sandbox!();
    let den = Den::new();
    let record = den.base.join("sandbox.json");
    std::fs::write(&record, "{}").unwrap();
    let spec = SandboxSpec { probe_record: Some(record.clone()), ..den.spec() };
    den.run(&spec, "false");
    assert!(record.exists(), "a command that fails says nothing about the sandbox");
    let mut missing = den.again(&spec);
    missing.overlays[0].upper = "/nowhere".into();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ran = runtime.block_on(command(&missing, "true").run(&CancellationToken::new(), |_| {}));
    assert!(ran.is_err() && !record.exists());
}

#[test]
fn a_recorded_probe_is_used_and_can_be_made_again() {
    needs_a_sandbox!();
    let den = Den::new();
    let (record, dirs) = (den.base.join("sandbox.json"), [den.base.clone()]);
    let supervisor = Path::new(placet());
    let found = recorded_probe(supervisor, &dirs, &record);
    assert!(record.exists());
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("commands run in", "recorded:")).unwrap();
    // A process asks once, and again when the record is gone.
    assert_eq!(recorded_probe(supervisor, &dirs, &record), found);
    assert_eq!(probe_again(supervisor, &dirs, &record), found);
    assert_eq!(std::fs::read_to_string(&record).unwrap(), text);
}

/// The very first command of a person records it, where nothing else of placet is stored yet; and where nothing is
/// confined, nothing is tried.
#[test]
fn the_first_command_records_the_probe_and_an_unrestricted_one_makes_none() {
    needs_a_sandbox!();
    let place = Place::new();
    let record = place.state_dir().join("sandbox.json");
    let run =
        |mode| place.call("run_command", &serde_json::json!({"command": "true"}), &["--mode", mode]).code(0);
    run("unrestricted");
    assert!(!record.exists());
    run("ask");
    assert!(record.exists());
}

#[test]
fn without_namespaces_landlock_confines_writes() {
    if !sandbox_or_skip(SandboxBackend::Landlock) {
        return;
    }
    let den = Den::new();
    let secret = den.base.join("secret");
    std::fs::write(&secret, "canary").unwrap();
    let outside = den.base.join("outside");
    let spec = SandboxSpec {
        backend: SandboxBackend::Landlock,
        overlays: Vec::new(),
        writable: vec![den.root.clone()],
        masked: vec![secret.clone()],
        ..den.spec()
    };
    assert_eq!(den.run(&spec, "echo new > file; mkdir d; echo s > $TMPDIR/s; cat file").done(), "new\n");
    assert!(den.root.join("file").exists() && den.scratch.join("s").exists());
    den.run(&spec, &format!("echo x > {} ", outside.display())).refused("denied");
    den.run(&spec, &format!("cat {} 2>&1", secret.display())).refused("denied");
    den.run(&spec, "touch /etc/placet-test 2>&1").refused("denied");
    assert_eq!(den.run(&spec, "exit 4").ending, CommandExit::Exit(4));
    assert_eq!(den.run(&spec, "kill -9 $$").ending, CommandExit::Signal(9));
    if require("python3") {
        for family in ["AF_INET", "AF_UNIX", "AF_VSOCK"] {
            den.run(&spec, &format!("python3 -c 'import socket; socket.socket(socket.{family})' 2>&1"))
                .refused("not permitted");
        }
    }
    assert!(!outside.exists());
}

/// The same again as other users and in other surroundings: every test of this file and of the escapes.
#[test]
fn all_of_it_holds_for_an_ordinary_user_and_inside_a_container() {
    needs_a_sandbox!();
    if std::env::var_os("PLACET_AGAIN").is_some() {
        return;
    }
    let root = rustix::process::geteuid().is_root();
    let user: &[&str] = &["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--"];
    let container: &[&str] = &["unshare", "--user", "--map-root-user", "--mount", "--"];
    // Something mounted over a part of /proc, as container engines do it, forbids a fresh one.
    let covered: &[&str] = &[
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "--",
        "sh",
        "-c",
        "mount -t tmpfs none /proc/bus && exec \"$@\"",
        "-",
    ];
    for surroundings in [user, container, covered] {
        if !require(surroundings[0]) || surroundings == user && !root {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        let out = std::process::Command::new(surroundings[0])
            .args(&surroundings[1..])
            .arg(std::env::current_exe().unwrap())
            .args(["sandbox::sandbox", "--test-threads=2"])
            .envs([
                ("PLACET_AGAIN", "1"),
                ("TMPDIR", dir.path().to_str().unwrap()),
                ("HOME", dir.path().to_str().unwrap()),
            ])
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{surroundings:?}\n{text}");
        assert!(!text.contains("skipped: no sandbox"), "{surroundings:?}\n{text}");
    }
}

/// True while a process whose command line holds `mark` is alive.
fn alive(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = [b"sleep\0", mark.as_bytes()].concat();
        line.windows(words.len()).any(|part| part == words)
    })
}
