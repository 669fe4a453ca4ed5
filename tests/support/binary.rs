//! The real binary, run by itself: a home and a tree of its own, nothing inherited from whoever runs the tests.

use super::mock_server::MockServer;
use super::program;
use super::wait::{self, Deadline};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tempfile::TempDir;

/// A home, a tree to work in, and a directory beside both.
pub struct Place {
    dir: TempDir,
    pub home: PathBuf,
    pub tree: PathBuf,
}

impl Place {
    pub fn new() -> Place {
        let dir = TempDir::new().unwrap();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let (home, tree) = (base.join("home"), base.join("tree"));
        std::fs::create_dir(&home).unwrap();
        std::fs::create_dir(&tree).unwrap();
        Place { dir, home, tree }
    }

    /// A tree with the file `notes.txt` of two lines.
    pub fn with_notes() -> Place {
        Place::new().file("notes.txt", "one\ntwo\n")
    }

    /// `placet tool call`, with `more` options.
    pub fn call(&self, tool: &str, arguments: &serde_json::Value, more: &[&str]) -> Out {
        let arguments = arguments.to_string();
        self.run(["tool", "call", tool, arguments.as_str()].iter().chain(more))
    }

    /// A file of the tree.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Place {
        self.write(name, content);
        self
    }

    /// The person's own settings.
    pub fn config(self, text: &str) -> Place {
        let path = self.config_dir().join("config.toml");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Settings under which `server` answers, by the Messages API.
    pub fn answered_by(self, server: &MockServer) -> Place {
        let url = server.url();
        self.config(&format!(
            "provider = \"mock\"\nmodel = \"mock-1\"\ncontext_window = 200000\nvision = true\nnetwork.attempts = 1\n\
             [providers.mock]\ndialect = \"anthropic\"\nbase_url = \"{url}\"\n"
        ))
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.tree.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A file of the home directory.
    pub fn home_file(&self, name: &str, text: &str) {
        let path = self.home.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The tool `read_file` on `a.txt`.
    pub fn reads_a(&self) -> Out {
        self.call("read_file", &serde_json::json!({"path": "a.txt"}), &[])
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.tree.join(name)).unwrap()
    }

    /// A path outside of the tree and the home.
    pub fn beside(&self, name: &str) -> PathBuf {
        std::fs::canonicalize(self.dir.path()).unwrap().join(name)
    }

    pub fn config_dir(&self) -> PathBuf {
        self.home.join("config/placet")
    }

    pub fn state_dir(&self) -> PathBuf {
        self.home.join("state/placet")
    }

    pub fn placet<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        self.program(program::placet(), args)
    }

    /// A debug build that waits at `stage` as long as `file` is there.
    pub fn placet_that_holds<S: AsRef<std::ffi::OsStr>>(
        &self,
        (stage, file): (&str, &Path),
        args: impl IntoIterator<Item = S>,
    ) -> Run {
        let held = format!("{stage}={}", file.display());
        self.program(program::placet_with_points(), args).env("PLACET_HOLD", held)
    }

    /// A debug build that ends at its point number `at`.
    pub fn placet_that_crashes<S: AsRef<std::ffi::OsStr>>(
        &self,
        at: u32,
        args: impl IntoIterator<Item = S>,
    ) -> Run {
        self.program(program::placet_with_points(), args).env("PLACET_CRASH_AT", at.to_string())
    }

    fn program<S: AsRef<std::ffi::OsStr>>(&self, program: &str, args: impl IntoIterator<Item = S>) -> Run {
        let mut command = Command::new(program);
        command.env_clear().args(args).current_dir(&self.tree);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.home);
        command.env("XDG_CONFIG_HOME", self.home.join("config"));
        command.env("XDG_STATE_HOME", self.home.join("state"));
        Run { command, stdin: Vec::new(), stdout: Stdout::Piped }
    }

    /// Runs it to its end, with nothing on standard input.
    pub fn run<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Out {
        self.placet(args).go()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        program::forget_layers(&self.state_dir());
    }
}

pub struct Run {
    command: Command,
    stdin: Vec<u8>,
    stdout: Stdout,
}

enum Stdout {
    Piped,
    File(std::fs::File),
}

impl Run {
    /// A command that is the binary, whatever stands before it.
    pub fn of(command: Command) -> Run {
        Run { command, stdin: Vec::new(), stdout: Stdout::Piped }
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Run {
        self.command.env(name, value);
        self
    }

    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Run {
        self.stdin = text.into();
        self
    }

    pub fn cwd(mut self, dir: &Path) -> Run {
        self.command.current_dir(dir);
        self
    }

    /// Standard output goes to this file instead.
    pub fn stdout_to(mut self, path: &str) -> Run {
        self.stdout = Stdout::File(std::fs::OpenOptions::new().write(true).open(path).unwrap());
        self
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn go(self) -> Out {
        let text = self.stdin.clone();
        let mut running = self.start();
        // A program that does not read its input is no failure of the writer.
        let _ = running.stdin.take().unwrap().write_all(&text);
        running.end()
    }

    /// Starts it, with standard input left open.
    pub fn start(mut self) -> Running {
        self.command.stdout(match self.stdout {
            Stdout::Piped => Stdio::piped(),
            Stdout::File(file) => Stdio::from(file),
        });
        let mut child = self.command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (lines_in, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stdout);
                let mut line = Vec::new();
                while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                    if lines_in.send(std::mem::take(&mut line)).is_err() {
                        return;
                    }
                }
            });
        }
        let mut stderr = child.stderr.take().unwrap();
        let errors = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&errors);
        let side = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = stderr.read(&mut buffer) {
                sink.lock().unwrap().extend_from_slice(&buffer[..n]);
            }
        });
        Running {
            stdin: child.stdin.take(),
            child,
            lines,
            side,
            errors,
            seen: Vec::new(),
            deadline: Deadline::start(),
        }
    }
}

/// A run in progress.
pub struct Running {
    child: Child,
    /// Dropping it closes standard input.
    pub stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<Vec<u8>>,
    side: std::thread::JoinHandle<()>,
    errors: Arc<Mutex<Vec<u8>>>,
    seen: Vec<u8>,
    deadline: Deadline,
}

impl Running {
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_raw(self.pid()).unwrap(), signal).unwrap();
    }

    /// The next line of standard output.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let line = wait::until_some("another line on standard output", || self.lines.try_recv().ok());
        self.seen.extend(&line);
        String::from_utf8(line).unwrap().trim_end().to_string()
    }

    /// Lines up to one for which `is` holds; returns that one.
    #[track_caller]
    pub fn line_where(&mut self, is: impl Fn(&str) -> bool) -> String {
        loop {
            let line = self.line();
            if is(&line) {
                return line;
            }
        }
    }

    /// Waits for a text on standard error.
    #[track_caller]
    pub fn until_warned(&self, text: &str) {
        wait::until(text, || String::from_utf8_lossy(&self.errors.lock().unwrap()).contains(text));
    }

    #[track_caller]
    pub fn say(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// It has very much to do.
    pub fn works_hard(&mut self) {
        self.deadline = Deadline::of_hard_work();
    }

    /// Waits for its end; standard input stays as it is.
    #[track_caller]
    pub fn end(mut self) -> Out {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if self.deadline.is_over() {
                let _ = self.child.kill();
                panic!("it did not end; so far: {}", String::from_utf8_lossy(&self.seen));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        drop(self.stdin.take());
        while let Ok(line) = self.lines.recv_timeout(wait::DEADLINE) {
            self.seen.extend(line);
        }
        let code = std::os::unix::process::ExitStatusExt::signal(&status).map(|s| 128 + s);
        Out {
            stdout: String::from_utf8_lossy(&self.seen).into_owned(),
            stderr: {
                self.side.join().unwrap();
                String::from_utf8_lossy(&self.errors.lock().unwrap()).into_owned()
            },
            code: status.code().or(code).unwrap(),
        }
    }
}

/// What a run left behind.
#[derive(Debug)]
pub struct Out {
    pub stdout: String,
    pub stderr: String,
    /// 128 + n where signal n ended it.
    pub code: i32,
}

impl Out {
    #[track_caller]
    pub fn code(self, code: i32) -> Out {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    #[track_caller]
    pub fn says(self, text: &str) -> Out {
        assert!(self.stdout.contains(text), "{text}\n{self:#?}");
        self
    }

    #[track_caller]
    pub fn warns(self, text: &str) -> Out {
        assert!(self.stderr.contains(text), "{text}\n{self:#?}");
        self
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }

    #[track_caller]
    pub fn lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }
}
