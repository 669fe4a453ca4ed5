//! git for the agent's side of a repository: in a sandbox without network, in which only the directory of one question can
//! be written.
//!
//! One start serves all calls of a question: a shell in the sandbox reads the names of scripts from a pipe and runs them by
//! itself, and each script says when one of its calls has ended. So a call costs a fork and the start of git.

use placet_git::{ENVIRONMENT, GitCall, GitError, GitInput, GitOutput, GitOutputPlace, GitRunner};
use placet_process::{CommandInput, ShellCommand};
use placet_sandbox::{ResourceLimits, SandboxBackend, SandboxNetwork, SandboxSpec};
use placet_workspace::{GitNotConfined, GitRunnerStart};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long the sandbox may take to start.
const START: Duration = Duration::from_secs(20);
/// How often a look is taken whether the sandbox is still there, while it works.
const LOOK: Duration = Duration::from_millis(200);

type BackendOfMachine = dyn Fn() -> (SandboxBackend, String) + Send + Sync;

/// Starts git in a sandbox of this machine.
pub struct SandboxedGit {
    pub supervisor: PathBuf,
    pub backend: Box<BackendOfMachine>,
    /// What git must not see.
    pub masked: Vec<PathBuf>,
    /// The workspaces, wherever they are.
    pub readable: Vec<PathBuf>,
}

impl GitRunnerStart for SandboxedGit {
    fn start(&self, writable: &Path) -> Result<Box<dyn GitRunner>, GitNotConfined> {
        let (backend, why) = (self.backend)();
        if backend == SandboxBackend::None {
            return Err(GitNotConfined(format!("git cannot be confined here: {why}")));
        }
        // The objects of the views are next to the directory of the question.
        let view = writable.parent().and_then(Path::parent).unwrap_or(writable).to_path_buf();
        let masked = self.masked.iter().flat_map(|mask| beside(mask, &view)).collect();
        let scratch = writable.join("calls");
        placet_text::private::make_dir(&scratch).map_err(|e| GitNotConfined(e.to_string()))?;
        let spec = SandboxSpec {
            backend,
            masked,
            readable: self.readable.iter().cloned().chain([view]).collect(),
            writable: vec![writable.to_path_buf()],
            cwd: writable.to_path_buf(),
            network: SandboxNetwork::Off,
            limits: ResourceLimits { processes: Some(256), ..ResourceLimits::default() },
            scratch: Some(scratch.clone()),
            ..SandboxSpec::default()
        };
        let runner = SandboxedRunner::start(&self.supervisor, &spec, scratch);
        runner
            .map(|runner| Box::new(runner) as Box<dyn GitRunner>)
            .map_err(|e| GitNotConfined(format!("git cannot be started: {e}")))
    }
}

/// What hides `mask` without hiding `view`: where the view is below it, everything next to the way there. placet's own
/// directory has the conversations and the views of other sessions.
fn beside(mask: &Path, view: &Path) -> Vec<PathBuf> {
    if !view.starts_with(mask) {
        return vec![mask.to_path_buf()];
    }
    let dirs = view.ancestors().skip(1).take_while(|dir| dir.starts_with(mask));
    let entries = dirs.flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
    entries.map(|entry| entry.path()).filter(|path| !view.starts_with(path)).collect()
}

/// A running sandbox. A drop ends it.
struct SandboxedRunner {
    scratch: PathBuf,
    orders: Mutex<(File, File)>,
    number: AtomicUsize,
    end: CancellationToken,
    ended: Arc<Mutex<Option<String>>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl SandboxedRunner {
    fn start(supervisor: &Path, spec: &SandboxSpec, scratch: PathBuf) -> io::Result<SandboxedRunner> {
        let (orders, answers) = (scratch.join("orders"), scratch.join("answers"));
        for pipe in [&orders, &answers] {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                pipe,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
                0,
            )?;
        }
        // Open for both, so that neither end waits for the other.
        let open = |pipe: &Path| File::options().read(true).write(true).open(pipe);
        let pipes = (open(&orders)?, open(&answers)?);
        let command = ShellCommand {
            line: loop_line(),
            cwd: spec.cwd.clone(),
            supervisor: supervisor.to_path_buf(),
            timeout: Duration::MAX,
            withheld: Vec::new(),
            stdin: CommandInput::default(),
            sandbox: Some(spec.to_words()),
        };
        let (end, ended) = (CancellationToken::new(), Arc::new(Mutex::new(None)));
        let (cancel, told) = (end.clone(), Arc::clone(&ended));
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let why = match runtime {
                Ok(runtime) => match runtime.block_on(command.run(&cancel, |_| {})) {
                    Ok(done) => {
                        format!("the sandbox of git ended: {}", done.output.text().trim())
                    }
                    Err(e) => e.to_string(),
                },
                Err(e) => e.to_string(),
            };
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        };
        let thread = std::thread::Builder::new().name("git".into()).spawn(work)?;
        Ok(SandboxedRunner {
            scratch,
            orders: Mutex::new(pipes),
            number: AtomicUsize::new(0),
            end,
            ended,
            thread: Some(thread),
        })
    }

    fn place(&self, batch: usize, call: usize, what: &str) -> PathBuf {
        self.scratch.join(format!("{batch}-{call}.{what}"))
    }

    /// Writes the script of these calls, and runs it. A call over its time ends the sandbox, and with it all that git started.
    fn run_batch(&self, calls: &[GitCall]) -> io::Result<Vec<Result<GitOutput, GitError>>> {
        let batch = self.number.fetch_add(1, Ordering::Relaxed);
        let mut script = Vec::new();
        for (number, call) in calls.iter().enumerate() {
            let input = match &call.input {
                GitInput::Nothing => PathBuf::from("/dev/null"),
                GitInput::File(path) => path.clone(),
                GitInput::Bytes(bytes) => {
                    let path = self.place(batch, number, "in");
                    fs::write(&path, bytes)?;
                    path
                }
            };
            let output = match &call.output {
                GitOutputPlace::File(path) => path.clone(),
                GitOutputPlace::Memory => self.place(batch, number, "out"),
            };
            add_call(
                &mut script,
                call,
                (&input, &output),
                (&self.place(batch, number, "err"), &self.place(batch, number, "status")),
            );
        }
        let path = self.scratch.join(format!("{batch}.sh"));
        fs::write(&path, script)?;
        let mut pipes = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let (orders, answers) = &mut *pipes;
        orders.write_all(&[path.as_os_str().as_bytes(), b"\n"].concat())?;
        let mut outputs = Vec::new();
        for (number, call) in calls.iter().enumerate() {
            let start = if batch + number == 0 { START } else { Duration::ZERO };
            outputs.push(match self.wait(answers, start + call.most_time) {
                Ok(()) => self.output(batch, number, call),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    Err(GitError::Time { command: name_of(call), seconds: call.most_time.as_secs() })
                }
                Err(error) => Err(GitError::NotStarted(error)),
            });
        }
        Ok(outputs)
    }

    /// Waits until one more call has ended.
    fn wait(&self, answers: &mut File, most: Duration) -> io::Result<()> {
        let end = Instant::now() + most;
        loop {
            let look = Timespec::try_from(LOOK).ok();
            let ready = match poll(&mut [PollFd::new(&*answers, PollFlags::IN)], look.as_ref()) {
                Err(rustix::io::Errno::INTR) => 0,
                ready => ready?,
            };
            if ready > 0 {
                let mut answer = [0; 5];
                return answers.read_exact(&mut answer);
            }
            if let Some(why) = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone() {
                return Err(io::Error::other(why));
            }
            if Instant::now() > end {
                self.end.cancel();
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }

    fn output(&self, batch: usize, number: usize, call: &GitCall) -> Result<GitOutput, GitError> {
        let status = fs::read_to_string(self.place(batch, number, "status")).map_err(GitError::NotStarted)?;
        let status: i32 = status.trim().parse().unwrap_or(-1);
        let stdout = match &call.output {
            GitOutputPlace::File(_) => Vec::new(),
            GitOutputPlace::Memory => {
                let path = self.place(batch, number, "out");
                let size = fs::metadata(&path).map_err(GitError::NotStarted)?.len();
                if size > call.most_output {
                    return Err(GitError::Output { command: name_of(call), limit: call.most_output });
                }
                fs::read(&path).map_err(GitError::NotStarted)?
            }
        };
        let mut stderr = fs::read(self.place(batch, number, "err")).unwrap_or_default();
        stderr.truncate(64 << 10);
        Ok(GitOutput { status, stdout, stderr })
    }
}

fn name_of(call: &GitCall) -> String {
    call.args.first().map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Runs scripts until it is ended. The environment is made once, and git is looked for once.
fn loop_line() -> String {
    let path = "PATH=\"${PATH:-/usr/local/bin:/usr/bin:/bin}\"";
    let fixed: String = ENVIRONMENT.iter().map(|(name, value)| format!(" {name}='{value}'")).collect();
    format!("exec env -i {path} PLACET_SCRATCH=\"$PLACET_SCRATCH\"{fixed} sh -c '{LOOP}'")
}

const LOOP: &str = "git=$(command -v git || echo git); \
    while read -r script; do . \"$script\"; done <\"$PLACET_SCRATCH/orders\" >\"$PLACET_SCRATCH/answers\"";

fn add_call(
    script: &mut Vec<u8>,
    call: &GitCall,
    (input, output): (&Path, &Path),
    (errors, status): (&Path, &Path),
) {
    // The size of a file is counted in blocks of 512 bytes, and memory in kilobytes. A limit that cannot be set is one that
    // is stricter already.
    let limits = format!(
        "(ulimit -f {}; ulimit -d {}; cd ",
        call.most_output.max(call.most_file).div_ceil(512) + 8,
        call.most_memory >> 10
    );
    script.extend(limits.as_bytes());
    script.extend(quoted(call.directory.as_os_str()));
    script.extend(b" && export");
    for (name, value) in call.own_variables() {
        script.extend([b" ", name.as_bytes(), b"="].concat());
        script.extend(quoted(&value));
    }
    script.extend(b" && exec \"$git\"");
    for arg in call.arguments() {
        script.push(b' ');
        script.extend(quoted(&arg));
    }
    for (sign, path) in [(" <", input), (" >", output), (" 2>", errors)] {
        script.extend(sign.as_bytes());
        script.extend(quoted(path.as_os_str()));
    }
    script.extend(b"); echo $? >");
    script.extend(quoted(status.as_os_str()));
    script.extend(b"; echo done\n");
}

/// One word of a shell.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => out.extend(b"'\\''"),
            _ => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}

impl GitRunner for SandboxedRunner {
    fn run(&self, calls: &[GitCall]) -> Vec<Result<GitOutput, GitError>> {
        match self.run_batch(calls) {
            Ok(outputs) => outputs,
            Err(error) => {
                let why = error.to_string();
                calls
                    .iter()
                    .map(|_| Err(GitError::NotStarted(io::Error::new(error.kind(), why.clone()))))
                    .collect()
            }
        }
    }
}

impl Drop for SandboxedRunner {
    fn drop(&mut self) {
        self.end.cancel();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_next_to_the_way_to_the_view_is_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let (state, view) = (dir.path().join("state"), dir.path().join("state/views/mine"));
        for name in ["views/mine/git", "views/other", "sessions"] {
            fs::create_dir_all(state.join(name)).unwrap();
        }
        let mut masks = beside(&state, &view);
        masks.sort();
        assert_eq!(masks, [state.join("sessions"), state.join("views/other")]);
        assert_eq!(beside(&state.join("keys"), &view), [state.join("keys")]);
    }
}
