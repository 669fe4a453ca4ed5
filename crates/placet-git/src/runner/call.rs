//! One call of git as a value: arguments, environment, input, output and limits.

use crate::error::{GitError, Result};
use crate::limit;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Settings of every call: nothing runs, and nothing is read that only makes git faster and can be forged.
const SETTINGS: [&str; 13] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "pack.readReverseIndex=false",
    "pack.useBitmaps=false",
    // One thread has the memory of one.
    "pack.threads=1",
    // Larger files are streamed: 13 MB of memory in place of 290 for a file of 300 MB.
    "core.bigFileThreshold=16m",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    // The directory is given by name, and belongs to the agent's user in the sandbox.
    "safe.directory=*",
];

/// The environment of every call, besides `PATH`. Nothing else of the person's environment is passed.
pub const ENVIRONMENT: [(&str, &str); 12] = [
    ("HOME", "/nonexistent"),
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_EDITOR", "false"),
    ("GIT_ASKPASS", "false"),
];

/// What a call reads.
#[derive(Clone, Debug, Default)]
pub enum GitInput {
    #[default]
    Nothing,
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// Where a call writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitOutputPlace {
    Memory,
    /// A file that is created.
    File(PathBuf),
}

/// One call of git.
///
/// The paths in it are a scratch directory of the caller's, which is written, and the git directories of the person
/// and of the agent, whose objects are read.
#[derive(Clone, Debug)]
pub struct GitCall {
    pub git_dir: PathBuf,
    pub args: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    /// Where the process starts; a directory without meaning for most calls.
    pub directory: PathBuf,
    pub input: GitInput,
    pub output: GitOutputPlace,
    pub most_output: u64,
    /// The largest file that it writes by itself: a pack.
    pub most_file: u64,
    pub most_time: Duration,
    pub most_memory: u64,
}

impl GitCall {
    /// A call with the limits of reading.
    pub fn new<A: AsRef<OsStr>>(git_dir: &Path, args: impl IntoIterator<Item = A>) -> GitCall {
        GitCall {
            git_dir: git_dir.to_path_buf(),
            args: args.into_iter().map(|arg| arg.as_ref().to_os_string()).collect(),
            environment: Vec::new(),
            directory: git_dir.to_path_buf(),
            input: GitInput::Nothing,
            output: GitOutputPlace::Memory,
            most_output: limit::OUTPUT,
            most_file: limit::OUTPUT,
            most_time: limit::READ_TIME,
            most_memory: limit::MEMORY,
        }
    }

    #[must_use]
    pub fn input(mut self, bytes: Vec<u8>) -> GitCall {
        self.input = GitInput::Bytes(bytes);
        self
    }

    #[must_use]
    pub fn input_file(mut self, path: &Path) -> GitCall {
        self.input = GitInput::File(path.to_path_buf());
        self
    }

    #[must_use]
    pub fn output_file(mut self, path: &Path) -> GitCall {
        self.output = GitOutputPlace::File(path.to_path_buf());
        self.most_output = limit::PACK;
        self.most_file = limit::PACK;
        self
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> GitCall {
        self.environment.push((name.into(), value.as_ref().to_os_string()));
        self
    }

    #[must_use]
    pub fn directory(mut self, path: &Path) -> GitCall {
        self.directory = path.to_path_buf();
        self
    }

    /// With the limits of a transfer of objects.
    #[must_use]
    pub fn transfer(mut self) -> GitCall {
        self.most_time = limit::TRANSFER_TIME;
        self.most_file = limit::PACK;
        self
    }

    /// All arguments, for `execve`.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c".into(), OsString::from(*setting)]);
        settings.chain(self.args.iter().cloned()).collect()
    }

    /// All variables; nothing else is in the environment.
    #[must_use]
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let fixed = ENVIRONMENT.iter().map(|(name, value)| (name.into(), value.into()));
        std::iter::once(("PATH".into(), path)).chain(fixed).chain(self.own_variables()).collect()
    }

    /// Variables that only this call has.
    #[must_use]
    pub fn own_variables(&self) -> Vec<(OsString, OsString)> {
        let git_dir = ("GIT_DIR".into(), self.git_dir.clone().into());
        std::iter::once(git_dir).chain(self.environment.iter().cloned()).collect()
    }

    pub(crate) fn name(&self) -> String {
        self.args.first().map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// The status of a process that the kernel ended because a file of it became too large: `SIGXFSZ`, as a shell says it.
const FILE_TOO_LARGE: i32 = 128 + 25;

/// What a call returned. The error output is bounded.
#[derive(Clone, Debug)]
pub struct GitOutput {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl GitOutput {
    pub(crate) fn checked(self, call: &GitCall) -> Result<GitOutput> {
        match self.status {
            0 => Ok(self),
            FILE_TOO_LARGE => {
                let is_file = matches!(call.output, GitOutputPlace::File(_));
                let limit = if is_file { call.most_output } else { call.most_file };
                Err(GitError::Output { command: call.name(), limit })
            }
            _ => Err(self.failure(&call.name())),
        }
    }

    /// The most telling line of the error output, without bytes that a terminal would interpret.
    pub(crate) fn failure(&self, command: &str) -> GitError {
        let text = String::from_utf8_lossy(&self.stderr);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let line = lines.iter().find(|line| line.starts_with("error:") || line.starts_with("fatal:"));
        let line = line.or(lines.last()).copied().unwrap_or("no reason was given");
        let plain = |c: char| if c.is_control() { '?' } else { c };
        GitError::Failed { command: command.into(), message: line.chars().take(300).map(plain).collect() }
    }
}
