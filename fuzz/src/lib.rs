//! What the fuzz targets share: a small workspace in a directory of its own, with the tools of every surface, and a
//! policy with nobody to ask.
//!
//! Whatever would reach beyond the workspace asks, and nobody answers: it does not run. That makes arbitrary paths
//! safe to try on the machine of whoever runs the fuzzers.

use placet::conversation::{CallId, CallInput, ToolSpec};
use placet::permission::{Decision, Mode, ModeCell, Policy};
use placet::session::Scratchpads;
use placet::tools::{
    AskUser, CommandSettings, JobRegistry, ProgressSink, ReadScope, RunContext, ToolContext, ToolLimits,
    ToolOutput, ToolRegistry, ToolSet, ToolSetSettings, UserReply,
};
use placet::workspace::{ReadLedger, View, ViewPaths, Workspace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The files of the workspace.
pub const FILES: [(&str, &str); 5] = [
    ("a.txt", "one\ntwo\nthree\ntwo\n"),
    ("crlf.txt", "one\r\ntwo\r\nlast"),
    ("src/lib.rs", "fn main() {\n\tlet x1 = 1;\n}\n"),
    ("src/deep/été.txt", "caf\u{e9} \u{1f642}\n"),
    ("empty", ""),
];

/// What lies beside the workspace, and must be there unchanged at the end.
pub const SECRET: &str = "the canary outside the workspace";

pub struct Bench {
    _dir: tempfile::TempDir,
    pub base: PathBuf,
    pub root: PathBuf,
    pub env: Arc<ToolContext>,
    pub registries: Vec<ToolRegistry>,
    /// Every tool of every surface, with the number of its surface.
    pub tools: Vec<(usize, ToolSpec)>,
    runtime: tokio::runtime::Runtime,
}

impl Default for Bench {
    fn default() -> Bench {
        Bench::new()
    }
}

impl Bench {
    pub fn new() -> Bench {
        // In memory where there is such a place: a batch makes its workspace anew each time.
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let root = base.join("work");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(base.join("secret"), SECRET).unwrap();
        lay_out(&root);
        let state = base.join("state");
        let places = ViewPaths {
            view: state.join("views/fuzz"),
            layers: Vec::new(),
            objects: state.join("objects"),
            journal: state.join("journal"),
            scratch: state.join("scratch"),
        };
        let workspace = Workspace::new(root.clone(), Vec::new()).unwrap();
        let view = View::at(places, workspace.roots());
        let env = ToolContext {
            mounts: Arc::default(),
            pages: Arc::default(),
            guidance: Arc::default(),
            servers: Default::default(),
            checks: Default::default(),
            mode: ModeCell::new(Mode::Write),
            workspace: workspace.with_view(view),
            ledger: Mutex::new(ReadLedger::default()),
            scratchpads: Arc::new(Scratchpads::in_memory()),
            jobs: JobRegistry::default(),
            limits: ToolLimits::default(),
            commands: CommandSettings {
                supervisor: PathBuf::from("/bin/false"),
                reserve: Default::default(),
                timeout: Duration::from_secs(1),
                withheld: Vec::new(),
                confining: None,
            },
        };
        let settings = ToolSetSettings::default();
        let registries: Vec<ToolRegistry> =
            ToolSet::ALL.into_iter().map(|d| ToolRegistry::of_dialect(d, &settings)).collect();
        let numbered =
            |(n, r): (usize, &ToolRegistry)| r.specs().into_iter().map(move |s| (n, s)).collect::<Vec<_>>();
        let tools = registries.iter().enumerate().flat_map(numbered).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        Bench { _dir: dir, base, root, env: Arc::new(env), registries, tools, runtime }
    }

    /// Plans, prepares and runs a call that the mode allows by itself; `None` where it does not come to running.
    pub fn call(&self, dialect: usize, tool: &str, input: Value) -> Option<ToolOutput> {
        let mut plan = self.registries[dialect].plan(tool, &CallInput::Object(input), &self.env).ok()?;
        let roots = self.env.workspace.roots().to_vec();
        let policy = Policy::new(self.env.mode.clone(), Vec::new(), roots);
        let Decision::Allow(permit) = policy.decide(&CallId::new("f"), tool, plan.reach()) else {
            return None;
        };
        plan.prepare(&self.env, ReadScope::InsideOnly).ok()?;
        let ctx = RunContext {
            env: self.env.clone(),
            stop_stage: placet::tools::StopStageCell::default(),
            cancel: CancellationToken::new(),
            progress: ProgressSink::silent(),
            may_detach: placet::tools::BackgroundCheck::always(),
            requests: Arc::new(placet::tools::NoRequestHost),
            inspect: placet::tools::OutputInspector::nothing(),
            children: placet::tools::SubagentSpawner::none(),
            enquire: AskUser::new(|_, _| Box::pin(std::future::ready(UserReply::Nobody))),
        };
        Some(self.runtime.block_on(plan.run(permit, ctx)))
    }

    /// Everything in the workspace: names with contents, directories with nothing.
    pub fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut out = BTreeMap::new();
        walk(&self.root, &mut out);
        out
    }

    pub fn assert_outside_unchanged(&self) {
        assert_eq!(std::fs::read(self.base.join("secret")).unwrap(), SECRET.as_bytes());
        let mut names: Vec<_> =
            std::fs::read_dir(&self.base).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.retain(|name| name != "state");
        names.sort();
        assert_eq!(names, ["secret", "work"]);
    }
}

fn lay_out(root: &Path) {
    for (name, content) in FILES {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    std::os::unix::fs::symlink("../secret", root.join("out")).unwrap();
    std::os::unix::fs::symlink("src", root.join("in")).unwrap();
    std::fs::write(root.join("binary"), b"\0\xff\xfe\x80").unwrap();
}

fn walk(dir: &Path, out: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        let content = if kind.is_file() {
            std::fs::read(entry.path()).unwrap()
        } else if kind.is_symlink() {
            std::fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes()
        } else {
            walk(&entry.path(), out);
            Vec::new()
        };
        out.insert(entry.path(), content);
    }
}

/// Arguments out of bytes: as JSON where they are JSON; else each line is the value of one of the tool's parameters,
/// itself as JSON or else as a string, so that the fuzzer need not find the names.
pub fn arguments(spec: &ToolSpec, bytes: &[u8]) -> Value {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return value;
    }
    let names: Vec<String> = spec
        .schema
        .get("properties")
        .and_then(Value::as_object)
        .map(|p| p.keys().cloned().collect())
        .unwrap_or_default();
    let values = bytes.split(|b| *b == b'\n').map(|line| {
        serde_json::from_slice(line).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(line).into()))
    });
    // An empty line leaves its parameter out.
    let given = names.into_iter().zip(values).filter(|(_, v)| v.as_str() != Some(""));
    Value::Object(given.collect())
}
