//! Tests what this machine can do with a command in a real sandbox, whose write must be in its layer and nowhere else.
//! For each missing feature, one sentence names the cause.

use super::probe_result::SandboxProbe;
use super::spec::{OverlaySpec, SandboxBackend, SandboxSpec};
#[cfg(target_os = "linux")]
use placet_process::check_room;
use placet_process::{RUN, StartFailure};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use thiserror::Error;

/// How long a trial may take before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many files a trial may need at a time.
#[cfg(target_os = "linux")]
const FILES: usize = 32;

/// A result, and what it was asked for.
struct KnownProbe {
    supervisor: PathBuf,
    dirs: Vec<PathBuf>,
    found: SandboxProbe,
    /// The result counts only while this record exists.
    record: Option<PathBuf>,
}

static DONE: Mutex<Vec<KnownProbe>> = Mutex::new(Vec::new());

/// Runs the trials, once per process and arguments. `supervisor` is placet itself; `dirs` are existing directories for
/// the layers, the best first. Takes some milliseconds, and leaves nothing behind.
pub fn probe(supervisor: &Path, dirs: &[PathBuf]) -> SandboxProbe {
    known_or(supervisor, dirs, || (try_all(supervisor, dirs), None))
}

/// The same, with the result of an earlier process where nothing has changed that it depends on. `record` is the file for
/// results, which [`SandboxSpec::probe_record`] names as well.
pub fn recorded_probe(supervisor: &Path, dirs: &[PathBuf], record: &Path) -> SandboxProbe {
    known_or(supervisor, dirs, || recorded(supervisor, dirs, record))
}

/// The same without what is known: runs the trials, and records the result.
pub fn probe_again(supervisor: &Path, dirs: &[PathBuf], record: &Path) -> SandboxProbe {
    forget(record);
    recorded_probe(supervisor, dirs, record)
}

/// Called where a sandbox could not be set up: the next question is answered by a trial.
pub(super) fn forget(record: &Path) {
    // Without a record there is nothing to forget.
    drop(std::fs::remove_file(record));
}

fn known_or(
    supervisor: &Path,
    dirs: &[PathBuf],
    find: impl FnOnce() -> (SandboxProbe, Option<PathBuf>),
) -> SandboxProbe {
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    done.retain(|known| known.record.as_ref().is_none_or(|record| record.exists()));
    if let Some(known) = done.iter().find(|known| known.supervisor == supervisor && known.dirs == dirs) {
        return known.found.clone();
    }
    let (found, record) = find();
    let (supervisor, dirs) = (supervisor.to_path_buf(), dirs.to_vec());
    done.push(KnownProbe { supervisor, dirs, found: found.clone(), record });
    found
}

#[cfg(not(target_os = "linux"))]
fn recorded(supervisor: &Path, dirs: &[PathBuf], _: &Path) -> (SandboxProbe, Option<PathBuf>) {
    (try_all(supervisor, dirs), None)
}

#[cfg(target_os = "linux")]
fn recorded(supervisor: &Path, dirs: &[PathBuf], record: &Path) -> (SandboxProbe, Option<PathBuf>) {
    use super::probe_record::{key, load, store};
    let Some(key) = key(supervisor, dirs, super::linux::landlock_abi()) else {
        return (try_all(supervisor, dirs), None);
    };
    let found = load(record, &key, dirs).unwrap_or_else(|| {
        let found = try_all(supervisor, dirs);
        store(record, key, &found);
        found
    });
    (found, record.exists().then(|| record.to_path_buf()))
}

#[cfg(not(target_os = "linux"))]
fn try_all(supervisor: &Path, dirs: &[PathBuf]) -> SandboxProbe {
    let backend = if cfg!(target_os = "macos") { SandboxBackend::Seatbelt } else { SandboxBackend::None };
    let tried = dirs.iter().map(|dir| ProbeTrial { supervisor, dir, backend }.run()).find(Result::is_ok);
    let (backend, sentence) = match (backend, tried) {
        (SandboxBackend::Seatbelt, Some(_)) => {
            (backend, "writes are confined by Seatbelt; a command changes files at once")
        }
        _ => (SandboxBackend::None, "placet supports no sandbox of this system"),
    };
    SandboxProbe { backend, sentence: sentence.into(), layers: None, landlock_abi: None, remarks: Vec::new() }
}

#[cfg(target_os = "linux")]
fn try_all(supervisor: &Path, dirs: &[PathBuf]) -> SandboxProbe {
    let landlock_abi = super::linux::landlock_abi();
    // For the first directory, which is the best: the others are tried only if it was refused.
    let mut why = None;
    for dir in dirs {
        match (ProbeTrial { supervisor, dir, backend: SandboxBackend::Overlay }).run() {
            Ok(said) => {
                return SandboxProbe {
                    backend: SandboxBackend::Overlay,
                    sentence: "commands run in a copy-on-write view".into(),
                    layers: Some(dir.clone()),
                    landlock_abi,
                    remarks: remarks(&said, landlock_abi),
                };
            }
            Err(error) => {
                why = why.or_else(|| Some(super::overlay_error::explain(dir, &error.into())));
            }
        }
    }
    // With too few descriptors every trial fails, and none of them can tell why.
    if let Err(shortage) = check_room(FILES, 0) {
        let sentence = format!("no sandbox, because placet {shortage}; {}", shortage.hint());
        return SandboxProbe {
            backend: SandboxBackend::None,
            sentence,
            layers: None,
            landlock_abi,
            remarks: Vec::new(),
        };
    }
    let why = why.unwrap_or_else(|| "no directory for layers".into());
    for dir in dirs {
        if landlock_abi.is_some()
            && (ProbeTrial { supervisor, dir, backend: SandboxBackend::Landlock }).run().is_ok()
        {
            return SandboxProbe {
                backend: SandboxBackend::Landlock,
                sentence: format!("no copy-on-write view, because {why}; Landlock confines writes instead"),
                layers: None,
                landlock_abi,
                remarks: vec![
                    "commands change files in the workspace at once".into(),
                    "masked files inside the workspace can be read by commands".into(),
                    "modes and times of files outside the workspace can be changed by commands".into(),
                ],
            };
        }
    }
    let also =
        if landlock_abi.is_some() { "Landlock failed its test, too" } else { "this kernel has no Landlock" };
    SandboxProbe {
        backend: SandboxBackend::None,
        sentence: format!("no sandbox, because {why}, and {also}"),
        layers: None,
        landlock_abi,
        remarks: Vec::new(),
    }
}

#[cfg(target_os = "linux")]
fn remarks(said: &str, landlock_abi: Option<u32>) -> Vec<String> {
    let mut remarks = Vec::new();
    if !said.contains("own processes") {
        remarks.push(
            "commands see the list of the container's processes, because the system refuses a new /proc"
                .into(),
        );
    }
    if landlock_abi.is_none_or(|abi| abi < 6) {
        remarks.push(
            "with the network open, abstract sockets of the host can be reached (Landlock 6 would stop it)"
                .into(),
        );
    }
    if landlock_abi.is_none_or(|abi| abi < 9) {
        remarks.push(
            "a command can connect to a socket file outside /run, /tmp and your home if a process in another network namespace listens on it (Landlock 9 would prevent this)"
                .into(),
        );
    }
    remarks
}

/// A read that timed out reports only that it would block.
fn late(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::other(format!("a test did not end within {} seconds", PATIENCE.as_secs()))
        }
        _ => error,
    }
}

/// Why a kind of sandbox does not work here.
#[derive(Debug, Error)]
enum ProbeError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    NotStarted(StartFailure),
    #[error("a test failed: {ending} {said}")]
    Failed { ending: String, said: String },
}

impl From<ProbeError> for StartFailure {
    fn from(error: ProbeError) -> StartFailure {
        match error {
            ProbeError::NotStarted(failure) => failure,
            other => StartFailure::Other(other.to_string()),
        }
    }
}

fn probe_dir(parent: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("probe").tempdir_in(parent)
}

/// One command in one kind of sandbox.
struct ProbeTrial<'a> {
    supervisor: &'a Path,
    dir: &'a Path,
    backend: SandboxBackend,
}

impl ProbeTrial<'_> {
    /// The output of the command, if every check passed.
    fn run(&self) -> Result<String, ProbeError> {
        let layers = probe_dir(self.dir)?;
        // A mount cannot go over a link on the way.
        let dir = std::fs::canonicalize(layers.path())?;
        let [inside, upper, work] = ["inside", "upper", "work"].map(|name| dir.join(name));
        for dir in [&inside, &upper, &work] {
            std::fs::create_dir(dir)?;
        }
        std::fs::write(inside.join("seen"), "old")?;
        let outside = inside.with_file_name("outside");
        std::fs::write(&outside, "old")?;
        let layer =
            OverlaySpec { target: inside.clone(), lowers: vec![inside.clone()], upper: upper.clone(), work };
        let spec = SandboxSpec {
            backend: self.backend,
            overlays: if self.backend == SandboxBackend::Overlay { vec![layer.clone()] } else { Vec::new() },
            writable: if self.backend == SandboxBackend::Overlay { Vec::new() } else { vec![inside.clone()] },
            cwd: inside.clone(),
            ..SandboxSpec::default()
        };
        let mut words = tempfile::NamedTempFile::new()?;
        words.write_all(&spec.to_words())?;
        let (ending, said) = self.start(words.path())?;
        if let Some(failure) = StartFailure::read(&ending) {
            return Err(ProbeError::NotStarted(failure));
        }
        let landed = if self.backend == SandboxBackend::Overlay { &upper } else { &inside };
        let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let kept = self.backend != SandboxBackend::Overlay || read(inside.join("seen")) == "old";
        let holds = read(landed.join("seen")).trim() == "new" && kept && read(outside) == "old";
        layer.release();
        if holds && ending == "exit 0" { Ok(said) } else { Err(ProbeError::Failed { ending, said }) }
    }

    fn start(&self, spec: &Path) -> io::Result<(String, String)> {
        // Only in a fresh `/proc` is the first process a fork of `placet __run`.
        const LINE: &str = "test \"$(cat seen)\" = old && echo new > seen && \
            { (echo new > ../outside) 2>/dev/null; true; } && \
            { ! tr '\\0' ' ' < /proc/1/cmdline | grep -q __run || echo own processes; }";
        let (mut mine, theirs) = UnixStream::pair()?;
        mine.set_read_timeout(Some(PATIENCE))?;
        let mut child = Command::new(self.supervisor)
            .arg(RUN)
            .arg("--sandbox")
            .arg(spec)
            .args(["--", LINE])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut ending = String::new();
        let heard = mine.read_to_string(&mut ending);
        // When the line is closed, the supervisor ends the processes that still run.
        drop(mine);
        let mut said = String::new();
        if heard.is_err() {
            let _ = child.kill();
        } else if let Some(out) = &mut child.stdout {
            out.read_to_string(&mut said)?;
        }
        let _ = child.wait();
        heard.map_err(late)?;
        Ok((ending, said))
    }
}
