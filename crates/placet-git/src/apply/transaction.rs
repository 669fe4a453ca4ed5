//! Calls of git that take locks: a transaction of refs that `git update-ref --stdin` holds between preparing and committing, and
//! single calls.
//!
//! If placet is killed, git reads the end of its input, gives the transaction up and removes its locks. If git is killed, the
//! guard of the journal stays and says so.

use super::place::ApplyPlace;
use super::ref_plan::RefUpdates;
use crate::error::{GitError, Result};
use crate::limit;
use crate::runner::{GitCall, GitOutput, PlainRunner, on_thread, signal_group};
use rustix::process::Signal;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

#[derive(Debug)]
pub(crate) struct RefTransaction {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<String>,
    errors: Receiver<Vec<u8>>,
}

/// Removes the guard when git has ended by itself. A signal that ends git does not end the shell before.
const GUARDED: &str = "trap : TERM; git \"$@\"; end=$?; test $end -ge 128 || rm -f \"$0\"; exit $end";

/// A call with a guard: where the file stays, git was killed.
fn guarded(call: &GitCall, guard: &Path) -> Result<Command> {
    File::create(guard).map_err(GitError::io("create", guard))?;
    Ok(PlainRunner::command(call, "sh", &["-c".as_ref(), GUARDED.as_ref(), guard.as_os_str()]))
}

/// Runs one call that takes locks. The journal names them.
pub(super) fn run_guarded(call: &GitCall, guard: &Path) -> Result<()> {
    PlainRunner::run_command(guarded(call, guard)?, call)?.checked(call).map(drop)
}

impl RefTransaction {
    pub(super) fn start(place: ApplyPlace<'_>, git_dir: &Path, guard: &Path) -> Result<RefTransaction> {
        let message = place.message();
        let call = place.call(git_dir, &["update-ref", "-m", &message, "--stdin", "-z"]);
        let mut command = guarded(&call, guard)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(GitError::NotStarted)?;
        let stdin = child.stdin.take();
        let (say, answers) = mpsc::channel();
        let (complain, errors) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            on_thread("git answers", move || {
                for line in BufReader::new(stdout).lines().map_while(std::result::Result::ok) {
                    if say.send(line).is_err() {
                        return;
                    }
                }
            })?;
        }
        if let Some(stderr) = child.stderr.take() {
            on_thread("git errors", move || {
                let mut bytes = Vec::new();
                let _ = stderr.take(limit::MESSAGE).read_to_end(&mut bytes);
                let _ = complain.send(bytes);
            })?;
        }
        Ok(RefTransaction { child, stdin, answers, errors })
    }

    /// Takes all locks and compares all old values.
    pub(super) fn prepare(&mut self, updates: &RefUpdates) -> Result<()> {
        let commands = [b"start\0", updates.commands.as_slice(), b"prepare\0"].concat();
        self.send(&commands)?;
        self.expect("start: ok")?;
        self.expect("prepare: ok")
    }

    pub(super) fn commit(mut self) -> Result<()> {
        self.send(b"commit\0")?;
        let ended = self.expect("commit: ok");
        self.end();
        ended
    }

    /// Gives it up; git removes its locks.
    pub(super) fn abort(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stdin = None;
        let _ = self.child.wait();
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        // A process that refused an update has ended, and its error output says why.
        match self.stdin.as_mut().map(|stdin| stdin.write_all(bytes).and_then(|()| stdin.flush())) {
            Some(Ok(())) => Ok(()),
            _ => Err(self.failure()),
        }
    }

    fn expect(&mut self, answer: &str) -> Result<()> {
        match self.answers.recv_timeout(limit::TRANSFER_TIME) {
            Ok(line) if line == answer => Ok(()),
            _ => Err(self.failure()),
        }
    }

    fn failure(&mut self) -> GitError {
        self.stdin = None;
        if let Ok(None) = self.child.try_wait() {
            // TERM lets git remove its locks.
            signal_group(&self.child, Signal::TERM);
        }
        self.end();
        let stderr = self.errors.recv_timeout(limit::READ_TIME).unwrap_or_default();
        GitOutput { status: 1, stdout: Vec::new(), stderr }.failure("update-ref")
    }
}
