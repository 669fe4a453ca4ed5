//! What the sandbox costs: `sh -c true` started plainly, below the supervisor, and in a sandbox.
//!
//! `cargo bench --bench sandbox`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a bench stops at the first surprise and prints"
)]

use placet::process::{CommandExit, ShellCommand};
use placet::sandbox::{OverlaySpec, SandboxBackend, SandboxNetwork, SandboxSpec, probe};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const RUNS: u32 = 200;

fn main() {
    let placet = Path::new(env!("CARGO_BIN_EXE_placet"));
    let dir = tempfile::TempDir::new().unwrap();
    let base = std::fs::canonicalize(dir.path()).unwrap();
    let (home, root) = (base.join("home"), base.join("home/root"));
    std::fs::create_dir_all(&root).unwrap();
    let found = probe(placet, std::slice::from_ref(&base));
    println!("{}", found.sentence);
    found.remarks.iter().for_each(|remark| println!("  {remark}"));
    if found.backend != SandboxBackend::Overlay {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut number = 0;
    let mut layer = |target: &Path| {
        number += 1;
        let (upper, work) = (base.join(format!("l/{number}/upper")), base.join(format!("l/{number}/work")));
        std::fs::create_dir_all(&upper).unwrap();
        std::fs::create_dir_all(&work).unwrap();
        OverlaySpec { target: target.into(), lowers: vec![target.into()], upper, work }
    };
    let run = |sandbox: Option<&SandboxSpec>| {
        let command = ShellCommand {
            line: "true".into(),
            cwd: root.clone(),
            supervisor: placet.into(),
            timeout: Duration::from_secs(20),
            withheld: Vec::new(),
            stdin: placet::process::CommandInput::Nothing,
            sandbox: sandbox.map(SandboxSpec::to_words),
        };
        let done = runtime.block_on(command.run(&CancellationToken::new(), |_| {})).unwrap();
        assert_eq!(done.ending, CommandExit::Exit(0));
    };
    let spec = |overlays: Vec<OverlaySpec>, network: SandboxNetwork| SandboxSpec {
        overlays,
        network,
        cwd: root.clone(),
        ..SandboxSpec::default()
    };
    let bare = median(
        || (),
        |()| {
            assert!(std::process::Command::new("sh").args(["-c", "true"]).status().unwrap().success());
        },
    );
    let plain = median(|| (), |()| run(None));
    let one = median(|| spec(vec![layer(&root)], SandboxNetwork::Off), |spec| run(Some(&spec)));
    let both =
        median(|| spec(vec![layer(&home), layer(&root)], SandboxNetwork::Off), |spec| run(Some(&spec)));
    let open =
        median(|| spec(vec![layer(&home), layer(&root)], SandboxNetwork::Open), |spec| run(Some(&spec)));
    let mut by_name = |hosts: &[&str]| {
        let network = SandboxNetwork::Hosts(hosts.iter().map(ToString::to_string).collect());
        median(|| spec(vec![layer(&home), layer(&root)], network.clone()), |spec| run(Some(&spec)))
    };
    let (named, wild) = (by_name(&["crates.io"]), by_name(&["*.crates.io"]));
    for (name, time) in [
        ("sh -c true, by itself", bare),
        ("below the supervisor", plain),
        ("with one overlay, no network", one),
        ("with two overlays, no network", both),
        ("with two overlays, the host's network", open),
        ("with two overlays, one host", named),
        ("with two overlays, a wildcard", wild),
    ] {
        let more = time.as_secs_f64() * 1e3 - plain.as_secs_f64() * 1e3;
        println!(
            "{name:<40} {:6.2} ms  {more:+6.2} ms  {:4.2}x",
            time.as_secs_f64() * 1e3,
            time.as_secs_f64() / plain.as_secs_f64()
        );
    }
}

fn median<T>(mut before: impl FnMut() -> T, mut work: impl FnMut(T)) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let ready = before();
            let start = Instant::now();
            work(ready);
            start.elapsed()
        })
        .collect();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
