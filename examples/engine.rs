//! The engine without the shell: run a command in a view, print what it changed, apply a part of it, undo that.
//!
//! Run it with `cargo run --example engine`. It needs Linux, where a process may make namespaces.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use placet_process::{CommandInput, ShellCommand, supervise};
use placet_sandbox::{OverlaySpec, SandboxSpec};
use placet_workspace::{
    ChangeApproval, ChangeDecision, ChangeSelection, LayerKind, TransactionLabel, View, ViewPaths,
};
use std::{error::Error, fs, path::Path, time::Duration};
use tokio_util::sync::CancellationToken;

fn main() -> Result<std::process::ExitCode, Box<dyn Error>> {
    // A command runs below this program, which is started again for it: see `placet_process`.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == placet_process::RUN) {
        return Ok(supervise(words.collect(), &placet_sandbox::START));
    }
    let place = tempfile::tempdir()?;
    let (project, state) = (place.path().join("project"), place.path().join("state"));
    fs::create_dir(&project)?;
    fs::write(project.join("a.txt"), "one\n")?;
    let paths = ViewPaths {
        view: state.join("view"),
        layers: vec![state.join("layers")],
        objects: state.join("objects"),
        journal: state.join("journal"),
        scratch: state.join("scratch"),
    };
    let view = View::at(paths, std::slice::from_ref(&project));

    tokio::runtime::Runtime::new()?.block_on(run(&view, &project, "echo two >> a.txt; echo new > b.txt"))?;
    println!("a.txt in the project: {:?}", fs::read_to_string(project.join("a.txt"))?);

    let shown = view.shown()?;
    println!("{}", shown.lines(|path| path.strip_prefix(&project).unwrap_or(path).into()).join("\n"));

    let mut apply = View::everything(shown.set());
    apply.retain(|path, _| path.ends_with("a.txt"));
    let label = TransactionLabel { turn: "1".into(), title: "engine".into(), ..TransactionLabel::default() };
    let (discard, approval) = (ChangeSelection::default(), ChangeApproval::none());
    let decision = ChangeDecision { apply, discard, approval, label: label.clone() };
    let report = view.decide(shown, decision).map_err(|moved| format!("{:?}", moved.cause))?;
    println!("a.txt after apply: {:?}", fs::read_to_string(project.join("a.txt"))?);
    println!("still pending: {}", view.shown()?.set().changes.len());

    let entry = report.entry().ok_or("nothing was applied")?;
    view.execute_plan(view.plan_undo(std::slice::from_ref(entry), None, label)?)?;
    println!("a.txt after undo: {:?}", fs::read_to_string(project.join("a.txt"))?);
    Ok(std::process::ExitCode::SUCCESS)
}

/// Runs a command line in the view, without a network. What it changed is pending afterwards.
async fn run(view: &View, cwd: &Path, line: &str) -> Result<(), Box<dyn Error>> {
    let command = view.begin(LayerKind::Pending, None).await?;
    let overlays = command.mounts.iter().map(|mount| OverlaySpec {
        target: mount.target.clone(),
        lowers: mount.lowers.clone(),
        upper: mount.upper.clone(),
        work: mount.work.clone(),
    });
    let sandbox = SandboxSpec {
        overlays: overlays.collect(),
        cwd: cwd.into(),
        scratch: Some(view.scratch()?),
        ..SandboxSpec::default()
    };
    let shell = ShellCommand {
        line: line.into(),
        cwd: cwd.into(),
        supervisor: std::env::current_exe()?,
        timeout: Duration::from_secs(60),
        withheld: Vec::new(),
        stdin: CommandInput::Nothing,
        sandbox: Some(sandbox.to_words()),
    };
    let finished = shell.run(&CancellationToken::new(), |_| ()).await?;
    view.finish(command, &|_| false)?;
    println!("the command ended: {:?}", finished.ending);
    Ok(())
}
