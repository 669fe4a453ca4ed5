//! A den: a workspace, its layers and a scratch directory in a temporary directory, and commands run over them.

use placet::process::{CommandExit, FinishedCommand, ShellCommand};
use placet::sandbox::{OverlaySpec, SandboxBackend, SandboxProbe, SandboxSpec, probe};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub struct Den {
    dir: TempDir,
    pub base: PathBuf,
    pub root: PathBuf,
    pub scratch: PathBuf,
    layers: std::cell::Cell<u32>,
}

/// What the machine can do; a named skip, or a failure when `PLACET_REQUIRE` lists `sandbox`, when it is not `backend`.
pub fn sandbox_or_skip(backend: SandboxBackend) -> bool {
    let found = found();
    let there =
        found.backend == backend || backend == SandboxBackend::Landlock && found.landlock_abi.is_some();
    let required = std::env::var("PLACET_REQUIRE").unwrap_or_default();
    let required = required.split(',').any(|name| name.trim() == "sandbox");
    assert!(there || !required, "a sandbox is required: {found:?}");
    if !there {
        eprintln!("skipped: {}", found.sentence);
    }
    there
}

pub fn found() -> SandboxProbe {
    probe(Path::new(super::program::placet()), &[std::env::temp_dir()])
}

impl Den {
    pub fn new() -> Den {
        Den::named("den")
    }

    /// In a directory whose name begins with `name`.
    pub fn named(name: &str) -> Den {
        Den::of(tempfile::Builder::new().prefix(name).tempdir().unwrap())
    }

    /// Where no part of it is below `/tmp`; `None` where layers cannot be there.
    pub fn beside_tmp() -> Option<Den> {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let is_usable = || probe(Path::new(super::program::placet()), &[base.to_path_buf()]).layers.is_some();
        (!base.starts_with("/tmp") && is_usable()).then(|| Den::of(tempfile::tempdir_in(base).unwrap()))
    }

    fn of(dir: TempDir) -> Den {
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let (root, scratch) = (base.join("root"), base.join("scratch"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&scratch).unwrap();
        Den { dir, base, root, scratch, layers: std::cell::Cell::new(0) }
    }

    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A new layer over `target`; its upper is the answer's `upper`.
    pub fn layer(&self, target: &Path) -> OverlaySpec {
        let number = self.layers.get();
        self.layers.set(number + 1);
        let dir = self.base.join(format!("layer{number}"));
        let (upper, work) = (dir.join("upper"), dir.join("work"));
        std::fs::create_dir_all(&upper).unwrap();
        std::fs::create_dir_all(&work).unwrap();
        OverlaySpec { target: target.into(), lowers: vec![target.into()], upper, work }
    }

    /// A view with the workspace alone.
    pub fn spec(&self) -> SandboxSpec {
        SandboxSpec {
            overlays: vec![self.layer(&self.root)],
            cwd: self.root.clone(),
            scratch: Some(self.scratch.clone()),
            ..SandboxSpec::default()
        }
    }

    /// The same view with new layers: no layer serves two commands.
    pub fn again(&self, spec: &SandboxSpec) -> SandboxSpec {
        let overlays = spec.overlays.iter().map(|overlay| self.layer(&overlay.target)).collect();
        SandboxSpec { overlays, ..spec.clone() }
    }

    /// Everything below the workspace, with contents.
    pub fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        tree(&self.root)
    }

    pub fn run(&self, spec: &SandboxSpec, line: &str) -> Ran {
        self.run_for(spec, line, Duration::from_secs(20))
    }

    pub fn run_for(&self, spec: &SandboxSpec, line: &str, timeout: Duration) -> Ran {
        let command = ShellCommand { timeout, ..command(spec, line) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let done = runtime.block_on(command.run(&CancellationToken::new(), |_| {}));
        let FinishedCommand { ending, mut output, .. } = done.unwrap_or_else(|e| panic!("{e}"));
        Ran { ending, text: String::from_utf8_lossy(&output.whole()).into_owned() }
    }
}

impl Drop for Den {
    fn drop(&mut self) {
        for number in 0..self.layers.get() {
            let work = self.dir.path().join(format!("layer{number}/work"));
            OverlaySpec { target: PathBuf::new(), lowers: Vec::new(), upper: PathBuf::new(), work }.release();
        }
    }
}

pub fn command(spec: &SandboxSpec, line: &str) -> ShellCommand {
    ShellCommand {
        line: line.into(),
        cwd: spec.cwd.clone(),
        supervisor: super::program::placet().into(),
        timeout: Duration::from_secs(20),
        withheld: Vec::new(),
        stdin: placet::process::CommandInput::Nothing,
        sandbox: Some(spec.to_words()),
    }
}

pub fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let kind = std::fs::symlink_metadata(&path).unwrap();
        if kind.is_dir() {
            all.extend(tree(&path));
            all.insert(path, b"dir".to_vec());
        } else if kind.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            all.insert(path, target.as_os_str().as_bytes().to_vec());
        } else {
            all.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
        }
    }
    all
}

#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub ending: CommandExit,
    pub text: String,
}

impl Ran {
    /// Its output, when it ended well.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.ending, CommandExit::Exit(0), "{}", self.text);
        self.text
    }

    /// Its output, when it failed and said `reason`.
    #[track_caller]
    pub fn refused(self, reason: &str) -> String {
        assert_ne!(self.ending, CommandExit::Exit(0), "{}", self.text);
        assert!(self.text.to_lowercase().contains(&reason.to_lowercase()), "not `{reason}`: {}", self.text);
        self.text
    }
}
