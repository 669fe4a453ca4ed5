//! Runs git as a process of this machine, with limits of time, output and memory.

use super::GitRunner;
use super::call::{GitCall, GitInput, GitOutput, GitOutputPlace};
use crate::error::{GitError, Result};
use crate::limit;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

/// Without a sandbox: for the person's repository, and for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainRunner;

impl GitRunner for PlainRunner {
    fn run(&self, calls: &[GitCall]) -> Vec<Result<GitOutput>> {
        if let [call] = calls {
            return vec![PlainRunner::run_call(call)];
        }
        let mut results = Vec::with_capacity(calls.len());
        for some in calls.chunks(limit::PARALLEL_CALLS) {
            thread::scope(|scope| {
                let running: Vec<_> =
                    some.iter().map(|call| scope.spawn(|| PlainRunner::run_call(call))).collect();
                for thread in running {
                    results.push(thread.join().unwrap_or(Err(GitError::Unexpected { command: "run" })));
                }
            });
        }
        results
    }
}

impl PlainRunner {
    /// A command with everything but its input and output; `program` starts git with the arguments after its own ones.
    pub(crate) fn command(call: &GitCall, program: &str, own: &[&OsStr]) -> Command {
        let mut command = Command::new(program);
        command
            .args(own)
            .args(call.arguments())
            .env_clear()
            .envs(call.variables())
            .current_dir(&call.directory);
        // A group of its own can be ended with all that git started.
        command.process_group(0);
        command
    }

    fn run_call(call: &GitCall) -> Result<GitOutput> {
        PlainRunner::run_command(PlainRunner::command(call, "git", &[]), call)
    }

    /// Runs a command of [`PlainRunner::command`] within the limits of its call.
    pub(crate) fn run_command(mut command: Command, call: &GitCall) -> Result<GitOutput> {
        command.stdin(match &call.input {
            GitInput::Nothing => Stdio::null(),
            GitInput::Bytes(_) => Stdio::piped(),
            GitInput::File(path) => File::open(path).map_err(GitError::io("open", path))?.into(),
        });
        command.stdout(match &call.output {
            GitOutputPlace::Memory => Stdio::piped(),
            GitOutputPlace::File(path) => {
                File::create_new(path).map_err(GitError::io("create", path))?.into()
            }
        });
        let mut child = command.stderr(Stdio::piped()).spawn().map_err(GitError::NotStarted)?;
        limit_memory(&child, call.most_memory);
        if let GitOutputPlace::File(_) = call.output {
            limit_file(&child, call.most_output);
        }
        let ended = wait(&mut child, call);
        if ended.is_err() {
            signal_group(&child, Signal::KILL);
        }
        let status = child.wait().map_err(GitError::NotStarted)?;
        let (stdout, stderr) = ended?;
        let status = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1);
        Ok(GitOutput { status, stdout, stderr })
    }
}

/// Starts `work` beside the caller; an error where the system starts no more threads.
pub(crate) fn on_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop).map_err(GitError::NotStarted)
}

/// Feeds and reads the process until it has closed its output, or until a limit is reached.
fn wait(child: &mut Child, call: &GitCall) -> Result<(Vec<u8>, Vec<u8>)> {
    let (done, parts) = mpsc::channel();
    if let (GitInput::Bytes(bytes), Some(mut stdin)) = (&call.input, child.stdin.take()) {
        let bytes = bytes.clone();
        // A process that ends early does not read its input: its status tells.
        on_thread("git input", move || drop(stdin.write_all(&bytes)))?;
    }
    let mut streams = 0;
    let stdout = child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
    let stderr = child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
    for (stream, pipe, most) in [(0, stdout, call.most_output), (1, stderr, limit::MESSAGE)] {
        let Some(mut pipe) = pipe else { continue };
        let done = done.clone();
        streams += 1;
        on_thread("git output", move || {
            let mut bytes = Vec::new();
            let read = (&mut pipe).take(most + 1).read_to_end(&mut bytes);
            let is_over = bytes.len() as u64 > most;
            if is_over && stream == 1 {
                // Only the beginning of what git says is used; the rest must not block it.
                let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            }
            let _ = done.send((stream, read.map(|_| bytes), is_over));
        })?;
    }
    let end = Instant::now() + call.most_time;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    for _ in 0..streams {
        let left = end.saturating_duration_since(Instant::now());
        let Ok((stream, bytes, is_over)) = parts.recv_timeout(left) else {
            return Err(GitError::Time { command: call.name(), seconds: call.most_time.as_secs() });
        };
        let bytes = bytes.map_err(GitError::NotStarted)?;
        match stream {
            0 if is_over => return Err(GitError::Output { command: call.name(), limit: call.most_output }),
            0 => stdout = bytes,
            _ => stderr = bytes,
        }
    }
    Ok((stdout, stderr))
}

fn group(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Sends a signal to a child that was not waited for yet, and to what it started.
pub(crate) fn signal_group(child: &Child, signal: Signal) {
    if let Some(group) = group(child) {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// Private memory only: packs are mapped, and their size is no cost. The limit is set after the start, long before a
/// process could have read enough to need it; setting it in between would need `unsafe`.
#[cfg(target_os = "linux")]
fn limit_memory(child: &Child, most: u64) {
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    let _ = rustix::process::prlimit(group(child), Resource::Data, limit);
}

#[cfg(target_os = "linux")]
fn limit_file(child: &Child, most: u64) {
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    let _ = rustix::process::prlimit(group(child), Resource::Fsize, limit);
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: &Child, _: u64) {}

#[cfg(not(target_os = "linux"))]
fn limit_file(_: &Child, _: u64) {}
