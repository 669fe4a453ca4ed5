//! run_command: output, endings, and nothing left behind.

use crate::support::is_full;
use crate::support::require::require;
use crate::support::tool_bench::{Bench, Got};
use crate::support::wait;
use placet::conversation::CallOutcome;
use serde_json::json;
use std::time::{Duration, Instant};

fn run(bench: &Bench, command: &str) -> Got {
    bench.call("run_command", json!({"command": command}))
}

/// Processes whose command line holds `mark`, this one left out.
fn alive(mark: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|n| n.parse::<u32>().is_ok() && *n != own);
    pids.filter_map(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(mark) && !line.contains("__run"))
        .collect()
}

fn gone(mark: &str) {
    wait::until_eq(&Vec::new(), || alive(mark));
}

#[test]
fn output_comes_in_order_with_the_exit_code_and_the_directory() {
    let bench = Bench::new();
    let body = run(&bench, "echo out; echo err >&2; echo out2; exit 3").done();
    assert!(body.starts_with("out\nerr\nout2\n[exit code 3, "), "{body}");
    assert!(body.ends_with(&format!("in {}]", bench.root.display())), "{body}");
    bench.write("sub/x", "");
    let body = bench.call("run_command", json!({"command": "pwd; cd /; true", "cwd": "sub"})).done();
    assert!(body.starts_with(&format!("{}\n", bench.path("sub").display())), "{body}");
    assert!(run(&bench, "pwd").done().starts_with(&format!("{}\n", bench.root.display())));
    assert!(run(&bench, "kill -9 $$").done().contains("[killed by signal 9"));
}

#[test]
fn nothing_waits_for_a_person() {
    let bench = Bench::new();
    let start = Instant::now();
    assert!(run(&bench, "cat").done().starts_with("[exit code 0"));
    assert!(run(&bench, "read x; echo \"[$x]\"").done().starts_with("[]\n"));
    assert!(run(&bench, "sh -c ': </dev/tty'").done().contains("/dev/tty"));
    assert!(
        run(&bench, "$EDITOR x; echo $?; $VISUAL y; echo $?; echo $PAGER $GIT_PAGER $TERM")
            .done()
            .starts_with("1\n1\ncat cat dumb\n")
    );
    bench.env.scratchpads.put("in", placet::session::ScratchpadEntry::Text("from the pad\n".into())).unwrap();
    let body = bench.call("run_command", json!({"command": "cat", "stdin_scratchpad": "in"})).done();
    assert!(body.starts_with("from the pad\n"), "{body}");
    assert!(start.elapsed() < crate::support::wait::DEADLINE);
}

#[test]
fn git_does_not_open_an_editor_or_a_pager() {
    if !require("git") {
        return;
    }
    let bench = Bench::new();
    let setup = "export HOME=$PWD; git init -q . && git config user.email a@b && git config user.name n && for i in 1 2; do echo $i >f; git add f; git commit -qm $i; done";
    assert!(run(&bench, setup).done().contains("[exit code 0"));
    let start = Instant::now();
    let body = run(&bench, "export HOME=$PWD; git commit --amend; git rebase -i HEAD~1; git log").done();
    assert!(body.contains("no editor here: pass the text with -m"), "{body}");
    assert!(start.elapsed() < crate::support::wait::DEADLINE);
}

#[test]
fn keys_are_not_in_the_environment() {
    let bench = Bench::new();
    // The bench withholds PLACET_TEST_KEY; PATH is what every process has.
    let body = run(&bench, "echo \"key:$PLACET_TEST_KEY\"; test -n \"$PATH\" && echo path").done();
    assert!(body.starts_with("key:\npath\n"), "{body}");
}

#[test]
fn a_timeout_ends_everything_and_keeps_what_was_written() {
    let bench = Bench::new();
    let start = Instant::now();
    let got = bench.call(
        "run_command",
        json!({"command": "echo begun; setsid sleep 7301 & sleep 7301", "timeout_ms": 300}),
    );
    assert_eq!(got.0.outcome, CallOutcome::Failed);
    assert!(got.body().starts_with("begun\n[timed out after 0.3 s"), "{}", got.body());
    assert!(start.elapsed() < crate::support::wait::DEADLINE, "{:?}", start.elapsed());
    gone("sleep 7301");
}

#[test]
fn cancelling_ends_what_ignores_signals_and_what_went_into_its_own_session() {
    let bench = Bench::new();
    let script =
        "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM; (sleep 7302 &) ; sleep 7302' &) ; sleep 7302";
    let cancel = bench.cancel.clone();
    let stopper = std::thread::spawn(move || {
        wait::until("both processes", || alive("sleep 7302").len() >= 2);
        cancel.cancel();
        Instant::now()
    });
    let got = run(&bench, script);
    let took = stopper.join().unwrap().elapsed();
    assert_eq!(got.0.outcome, CallOutcome::Interrupted, "{}", got.body());
    assert!(took < crate::support::wait::DEADLINE, "{took:?}");
    gone("sleep 7302");
}

#[test]
fn what_a_command_leaves_in_the_background_goes_with_it() {
    let bench = Bench::new();
    let body = run(&bench, "(setsid sleep 7303 &) ; sleep 7303 & echo done").done();
    assert!(body.starts_with("done\n[exit code 0"), "{body}");
    gone("sleep 7303");
}

#[test]
fn when_placet_is_killed_its_commands_go() {
    let bench = Bench::new();
    // A stand-in for placet: it holds the supervisor's socket and is killed without a chance to say anything.
    let script = format!(
        "exec 3<>/dev/null; exec {} __run -- 'setsid sleep 7304 & sleep 7304'",
        crate::support::program::placet()
    );
    let (mine, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut supervisor = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(&bench.root)
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .spawn()
        .unwrap();
    wait::until("both processes", || alive("sleep 7304").len() >= 2);
    drop(mine);
    gone("sleep 7304");
    supervisor.wait().unwrap();
}

#[test]
fn a_flood_is_kept_whole_and_shown_by_its_ends() {
    let bench = Bench::new();
    let body = run(&bench, "seq 1 3000000").done();
    assert!(body.len() < 9000, "{}", body.len());
    assert!(body.contains("all of it is in the scratchpad `run_command-output`"), "{}", &body[..300]);
    assert!(
        body.contains("\n1\n2\n3\n") && body.contains("2999999\n3000000\n[exit code 0"),
        "{}",
        &body[body.len() - 200..]
    );
    let pad = bench.pad("run_command-output");
    assert_eq!(pad.lines().count(), 3_000_001);
    let page = bench
        .call(
            "scratchpad",
            json!({"action": "read", "name": "run_command-output", "offset": 2_000_000, "limit": 2}),
        )
        .done();
    assert_eq!(
        page,
        "2000001│2000001\n2000002│2000002\n[rows 2000001-2000002 of 3000001; continue with offset 2000002]\n"
    );
    let body = run(&bench, "head -c 5000000 /dev/zero | tr '\\0' x").done();
    assert!(body.len() < 9000 && body.contains("bytes of this line left out"), "{}", body.len());
}

#[test]
fn a_directory_that_is_gone_is_said() {
    let bench = Bench::new();
    let got = bench.call("run_command", json!({"command": "true", "cwd": "nowhere"}));
    assert!(got.failed().contains("nowhere` does not exist"));
    std::fs::remove_dir(&bench.root).unwrap();
    let error = run(&bench, "true").failed();
    assert!(error.contains("does not exist"), "{error}");
}

fn command(bench: &Bench, line: &str) -> placet::process::ShellCommand {
    placet::process::ShellCommand {
        line: line.into(),
        cwd: bench.root.clone(),
        supervisor: crate::support::program::placet().into(),
        timeout: Duration::from_secs(30),
        withheld: Vec::new(),
        sandbox: None,
        stdin: placet::process::CommandInput::Nothing,
    }
}

#[test]
fn a_call_that_is_dropped_takes_its_command_with_it() {
    let bench = Bench::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sleeper = command(&bench, "setsid sleep 7305 & sleep 7305");
    runtime.block_on(async {
        let cancel = tokio_util::sync::CancellationToken::new();
        let run = sleeper.run(&cancel, |_| {});
        assert!(tokio::time::timeout(Duration::from_millis(500), run).await.is_err());
    });
    gone("sleep 7305");
}

#[test]
fn two_hundred_megabytes_flow_through_a_small_room() {
    let bench = Bench::new();
    let size = if is_full() { 300_000_000 } else { 30_000_000 };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let flood = command(&bench, &format!("head -c {size} /dev/zero"));
    let mut finished =
        runtime.block_on(flood.run(&tokio_util::sync::CancellationToken::new(), |_| {})).unwrap();
    assert_eq!(finished.output.total(), size);
    let kept = finished.output.whole().len() as u64;
    assert!(kept == size || kept > 256 << 20 && kept < 257 << 20, "{kept}");
}
