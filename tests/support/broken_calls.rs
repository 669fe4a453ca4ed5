//! System calls that fail: a seccomp filter that answers with an error, installed by the test binary itself just
//! before it becomes the program under test. The binary runs a second time for that, as [`become_program`], and a third
//! time as the first process of a namespace of its own, so that nothing outside can be hurt by what is tried.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What fails in the program and in all that it starts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Broken {
    /// By number, with the error; whatever the arguments are.
    pub calls: Vec<(i64, i32)>,
    /// The same only where the argument of this number has this value.
    pub only: Vec<(i64, i32, (u8, u64))>,
    /// A call that ends the process that makes it: what becomes of that shows that the call is made.
    pub deadly: Option<i64>,
    /// `clone` with any (or, if false, with none) of these flags. `clone3` does not exist then.
    pub clone: Option<(u64, bool, i32)>,
    pub processes: Option<u64>,
    pub open_files: Option<u64>,
    /// The user it runs as, if that is to change.
    pub uid: Option<u32>,
}

/// A program to be started broken: its arguments, its environment, and the files its output goes to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Start {
    pub broken: Broken,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    pub variables: Vec<(String, PathBuf)>,
    pub stdout: PathBuf,
    pub stderr: PathBuf,
}

const VARIABLE: &str = "PLACET_TEST_BROKEN";

/// The command that runs `start`. `role` is the full name of a test that calls [`become_program`].
pub fn broken_command(role: &str, start: &Start) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", role, "--test-threads=1"]).env(VARIABLE, serde_json::to_string(start).unwrap());
    command.stdout(Stdio::null()).stderr(Stdio::inherit());
    command
}

/// In the process that [`broken_command`] starts it becomes the program; elsewhere it does nothing.
pub fn become_program() {
    let Ok(text) = std::env::var(VARIABLE) else { return };
    let start: Start = serde_json::from_str(&text).unwrap();
    let file = |path: &Path| std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let mut command = Command::new(&start.program);
    command.args(&start.args).current_dir(&start.cwd).env_clear().envs(start.variables);
    command.stdout(file(&start.stdout)).stderr(file(&start.stderr));
    let broken = start.broken;
    if let Some(uid) = broken.uid {
        command.uid(uid).gid(uid);
    }
    let filters = filters(&broken);
    limit(rustix::process::Resource::Nofile, broken.open_files);
    limit(rustix::process::Resource::Nproc, broken.processes);
    for filter in filters {
        seccompiler::apply_filter(&filter).unwrap();
    }
    let error = command.exec();
    eprintln!("the program did not start: {error}");
    std::fs::write(start.stderr, format!("NOT STARTED: {error}")).unwrap();
}

fn limit(resource: rustix::process::Resource, most: Option<u64>) {
    if most.is_some() {
        let limit = rustix::process::Rlimit { current: most, maximum: most };
        rustix::process::setrlimit(resource, limit).unwrap();
    }
}

fn filters(broken: &Broken) -> Vec<BpfProgram> {
    let always = |errno: &i32, number: i64| filter(number, Vec::new(), refused(*errno));
    let mut filters: Vec<_> = broken.calls.iter().map(|(number, errno)| always(errno, *number)).collect();
    filters.extend(broken.only.iter().map(|(number, errno, (argument, value))| {
        filter(*number, vec![same(*argument, u64::MAX, *value)], refused(*errno))
    }));
    filters.extend(broken.deadly.map(|number| filter(number, Vec::new(), SeccompAction::KillProcess)));
    if let Some((flags, with, errno)) = broken.clone {
        let rules = match with {
            // Each flag by itself: any of them is enough.
            true => (0..64)
                .map(|bit| 1 << bit)
                .filter(|bit| flags & bit != 0)
                .map(|bit| same(0, bit, bit))
                .collect(),
            false => vec![same(0, flags, 0)],
        };
        filters.push(filter(libc::SYS_clone, rules, refused(errno)));
        // Its flags are behind a pointer; without it libc calls `clone`.
        filters.push(filter(libc::SYS_clone3, Vec::new(), refused(libc::ENOSYS)));
    }
    filters
}

fn same(argument: u8, mask: u64, value: u64) -> SeccompRule {
    let operator = SeccompCmpOp::MaskedEq(mask);
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).unwrap();
    SeccompRule::new(vec![condition]).unwrap()
}

fn refused(errno: i32) -> SeccompAction {
    SeccompAction::Errno(errno.unsigned_abs())
}

fn filter(number: i64, rules: Vec<SeccompRule>, action: SeccompAction) -> BpfProgram {
    let arch = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(BTreeMap::from([(number, rules)]), SeccompAction::Allow, action, arch)
        .unwrap()
        .try_into()
        .unwrap()
}
