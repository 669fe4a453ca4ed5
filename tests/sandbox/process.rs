//! Commands: nothing outlives them, nothing waits for a person, nothing grows without bound.

use crate::support::binary::Place;
use crate::support::is_full;
use crate::support::mock_server::{MockServer, Reply};
use crate::support::require::require;
use crate::support::wait;
use placet::process::{CommandExit, CommandInput, FinishedCommand, ShellCommand};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn spec(line: &str) -> ShellCommand {
    ShellCommand {
        supervisor: PathBuf::from(crate::support::program::placet()),
        line: line.into(),
        cwd: std::env::temp_dir(),
        stdin: CommandInput::Nothing,
        timeout: Duration::from_secs(20),
        withheld: vec!["PLACET_TEST_KEY".into()],
        sandbox: None,
    }
}

async fn done(command: ShellCommand) -> (CommandExit, String) {
    let FinishedCommand { ending, mut output, .. } =
        command.run(&CancellationToken::new(), |_| {}).await.unwrap();
    (ending, String::from_utf8_lossy(&output.whole()).into_owned())
}

/// True while a `sleep` of `mark` seconds is alive. The supervisor, which has the whole line among its arguments, may need a
/// moment to end after it has reported.
fn alive(mark: &str) -> bool {
    let job = format!("sleep\0{mark}\0");
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // Read second: of a process that ended in between it is not there.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { return false };
        let zombie = stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'));
        !zombie && line.ends_with(job.as_bytes())
    })
}

#[tokio::test]
async fn the_exit_code_the_signal_and_both_streams_come_back() {
    assert_eq!(done(spec("echo out; echo err >&2; exit 3")).await.0, CommandExit::Exit(3));
    let (end, text) = done(spec("echo out; sleep 0.05; echo err >&2")).await;
    assert_eq!((end, text.as_str()), (CommandExit::Exit(0), "out\nerr\n"));
    assert_eq!(done(spec("kill -9 $$")).await.0, CommandExit::Signal(9));
    assert_eq!(done(spec("exit 127")).await.0, CommandExit::Exit(127));
}

#[tokio::test]
async fn input_is_what_was_given_or_empty() {
    assert_eq!(done(spec("cat; read x; echo end")).await.1, "end\n");
    let given = ShellCommand { stdin: CommandInput::Bytes(b"given\0bytes".to_vec()), ..spec("cat") };
    assert_eq!(done(given).await.1, "given\0bytes");
}

#[tokio::test]
async fn nothing_can_ask_a_person() {
    let (_, text) = done(spec("sh -c 'echo x > /dev/tty' 2>&1; ps -o tty= -p $$; echo $PAGER $GIT_TERMINAL_PROMPT; $EDITOR || echo no editor")).await;
    assert!(text.contains("cat 0") && text.contains("no editor"), "{text}");
    assert!(!text.contains("pts/"), "{text}");
}

#[tokio::test]
async fn withheld_variables_stay_behind() {
    // This process has the variable; withholding it shows that a name on the list does not arrive.
    let without = ShellCommand {
        withheld: vec!["LANG".into(), "CARGO_MANIFEST_DIR".into()],
        ..spec("echo [$CARGO_MANIFEST_DIR]")
    };
    assert_eq!(done(without).await.1, "[]\n");
}

#[tokio::test]
async fn a_deadline_returns_what_was_written_and_kills_the_tree() {
    let short = ShellCommand {
        timeout: Duration::from_millis(300),
        ..spec("echo before; sleep 987.1 & sleep 987.1")
    };
    let started = Instant::now();
    let (end, text) = done(short).await;
    assert_eq!((end, text.as_str()), (CommandExit::TimedOut, "before\n"));
    assert!(started.elapsed() < crate::support::wait::DEADLINE);
    assert!(!alive("987.1"));
}

#[tokio::test]
async fn cancelling_kills_sessions_daemons_and_the_deaf_within_a_second() {
    let line =
        "trap '' TERM INT; setsid sleep 987.2 & (setsid sh -c 'trap \"\" TERM; sleep 987.3' &) ; sleep 987.4";
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let running = tokio::spawn(async move { spec(line).run(&cancel, |_| {}).await.unwrap().ending });
    tokio::task::spawn_blocking(|| {
        wait::until("the processes", || alive("987.2") && alive("987.3") && alive("987.4"))
    })
    .await
    .unwrap();
    let started = Instant::now();
    stop.cancel();
    assert_eq!(running.await.unwrap(), CommandExit::Cancelled);
    assert!(started.elapsed() < crate::support::wait::DEADLINE, "{:?}", started.elapsed());
    for mark in ["987.2", "987.3", "987.4"] {
        assert!(!alive(mark), "{mark} lives on");
    }
}

#[tokio::test]
async fn a_background_job_does_not_outlive_its_command() {
    let (end, _) = done(spec("setsid sleep 987.5 >/dev/null 2>&1 & exit 0")).await;
    assert_eq!(end, CommandExit::Exit(0));
    assert!(!alive("987.5"));
}

/// What `run_command` says to a line, run by placet in a terminal of its own, and everything that came to that
/// terminal meanwhile.
fn in_a_terminal(place: &Place, line: &str) -> (String, Vec<u8>, Duration) {
    let (said, input) = (place.beside("said"), serde_json::json!({ "command": line }).to_string());
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut shell = CommandBuilder::new("sh");
    shell.args(["-c", "exec \"$0\" --mode unrestricted tool call run_command \"$1\" >\"$2\" 2>&1"]);
    shell.args([crate::support::program::placet(), &input, said.to_str().unwrap()]);
    shell.env_clear();
    shell.env("PATH", std::env::var("PATH").unwrap());
    shell.env("HOME", &place.home);
    shell.env("TERM", "xterm-256color");
    shell.cwd(&place.tree);
    let started = Instant::now();
    let mut child = pair.slave.spawn_command(shell).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut shown = Vec::new();
    // Reading ends, with an error on Linux, when nobody has the terminal any more.
    let _ = std::io::Read::read_to_end(&mut reader, &mut shown);
    child.wait().unwrap();
    (std::fs::read_to_string(said).unwrap(), shown, started.elapsed())
}

/// Story (pains 38): `git rebase --continue` opened an editor that nobody saw, and the turn hung for over an hour.
#[test]
fn what_would_ask_a_person_ends_at_once_and_never_touches_the_terminal() {
    let refusing = || Reply::new(401, "text/plain").header("www-authenticate", "Basic realm=\"x\"");
    let server = MockServer::start((0..4).map(|_| refusing()));
    let clone = format!("git clone {}/x.git", server.url());
    let rebase = "git init -q -b main . && git config user.email a@b && git config user.name n && \
        for i in 1 2; do echo $i >f; git add f; git commit -qm $i; done && git checkout -qb other HEAD~1 && \
        echo 3 >f && git commit -qam 3; git rebase main; echo 4 >f; git add f; git rebase --continue";
    for (program, line, words) in [
        ("sh", "read x; echo \"[$x]\"", "[]\n[exit code 0"),
        ("sudo", "sudo -k; sudo true", "[exit code "),
        ("ssh", "ssh nobody@host.invalid", "[exit code 255"),
        ("ssh-keygen", "ssh-keygen -f key", "[exit code "),
        ("python3", "python3", "[exit code 0"),
        ("less", "less long.txt", "line\n[exit code 0"),
        ("gpg", "gpg -c long.txt", "[exit code 2"),
        ("npm", "npm init", "[exit code "),
        ("git", clone.as_str(), "could not read Username"),
        ("git", rebase, "no editor here"),
    ] {
        if !require(program) {
            continue;
        }
        let place = Place::new().file("long.txt", "line\n".repeat(200));
        let (said, shown, took) = in_a_terminal(&place, line);
        assert!(said.contains(words), "{line}: {said}");
        // Whoever waits for a person waits for ever; a busy machine needs seconds to start some of these.
        assert!(took < Duration::from_secs(30), "{line}: {took:?}");
        assert_eq!(String::from_utf8_lossy(&shown), "", "{line} came to the terminal");
    }
}

/// Story: `git rebase -i` with `squash` stopped half-way, although the person had exported `GIT_EDITOR=true`.
#[test]
fn an_editor_that_the_person_exported_for_git_is_kept_and_no_other() {
    let line = "printf '%s|%s|%s|%s' \"$GIT_EDITOR\" \"$GIT_SEQUENCE_EDITOR\" \"$EDITOR\" \"$VISUAL\"";
    let given = ["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL"];
    for set in [0_u32, 1, 2, 12, 15] {
        let is_set = |at: usize| set & (1 << at) != 0;
        let place = Place::new();
        let arguments = json!({"command": line}).to_string();
        let mut placet = place.placet(["tool", "call", "run_command", &arguments, "--mode", "write"]);
        for (at, name) in given.iter().enumerate() {
            placet = if is_set(at) { placet.env(name, "true") } else { placet.env(name, "") };
        }
        let out = placet.go().code(0).stdout;
        let found: Vec<&str> = out.lines().next().unwrap_or_default().split('|').collect();
        for (at, name) in given.iter().enumerate() {
            let is_kept = found.get(at) == Some(&"true");
            assert_eq!(is_kept, is_set(at) && name.starts_with("GIT_"), "{name} of {set}: {out}");
        }
    }
    if !require("git") {
        return;
    }
    let place = Place::new();
    let line = "git init -q . && git config user.email a@b && git config user.name n && for i in 1 2 3; do echo $i >f$i; \
        git add -A; git commit -qm $i; done && GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' git rebase -i HEAD~2 && \
        git log --oneline | wc -l";
    let arguments = json!({"command": line}).to_string();
    let squashed = place
        .placet(["tool", "call", "run_command", &arguments, "--mode", "write"])
        .env("GIT_EDITOR", "true")
        .go();
    squashed.code(0).says("\n2\n");
}

#[test]
fn everything_dies_with_placet_even_when_it_is_killed() {
    // The supervisor's lifeline is its standard input: closing it is what the death of placet does.
    let (mine, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut child = std::process::Command::new(crate::support::program::placet())
        .args(["__run", "--", "setsid sleep 987.6 & sleep 987.7"])
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .spawn()
        .unwrap();
    wait::until("the processes", || alive("987.6") && alive("987.7"));
    drop(mine);
    child.wait().unwrap();
    assert!(!alive("987.6") && !alive("987.7"));
}

#[tokio::test]
async fn a_flood_of_output_takes_bounded_memory_and_is_kept_up_to_the_cap() {
    let megabytes = if is_full() { 2000 } else { 40 };
    let flood = spec(&format!("head -c {megabytes}000000 /dev/zero | tr '\\0' 'x'"));
    let FinishedCommand { ending, mut output, .. } =
        flood.run(&CancellationToken::new(), |_| {}).await.unwrap();
    assert_eq!(ending, CommandExit::Exit(0));
    assert_eq!(output.total(), megabytes * 1_000_000);
    let whole = output.whole().len() as u64;
    let least = (megabytes * 1_000_000).min(32 << 20);
    assert!((least..least + 100_000).contains(&whole), "{whole}");
}

#[tokio::test]
async fn a_missing_directory_is_said_and_nothing_runs_elsewhere() {
    let gone = ShellCommand { cwd: Path::new("/nowhere/at/all").into(), ..spec("pwd") };
    let error = gone.run(&CancellationToken::new(), |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "the working directory `/nowhere/at/all` no longer exists");
    assert!(spec("echo \0").run(&CancellationToken::new(), |_| {}).await.is_err());
}
