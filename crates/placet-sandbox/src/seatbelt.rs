//! macOS: `sandbox-exec` with a profile that forbids writes outside the named places, reads of masked files, and the
//! network. It has no copy-on-write view: a command changes files at once.
//!
//! This file cannot be built or tested where placet is developed; the probe tests it before it is used.

use super::environment;
use super::spec::{SandboxNetwork, SandboxSpec};
use placet_process::{ChildPid, ConfineRequest, ConfinedProcess};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) fn start(spec: &SandboxSpec, asked: ConfineRequest) -> io::Result<ConfinedProcess> {
    let child = Command::new("/usr/bin/sandbox-exec")
        .arg("-p")
        .arg(profile(spec)?)
        .args(["sh", "-c"])
        .arg(&asked.line)
        .env_clear()
        .envs(environment::inside(asked.variables.into_iter(), spec))
        .current_dir(&spec.cwd)
        .stdin(asked.stdin.map_or_else(Stdio::null, Stdio::from))
        .process_group(0)
        .spawn()?;
    Ok(ConfinedProcess { pid: ChildPid::of(&child)?, words: None, terminal: None, report: None })
}

/// The last rule that matches decides.
fn profile(spec: &SandboxSpec) -> io::Result<String> {
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    text.push_str("(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\"))\n");
    let roots = spec.overlays.iter().map(|overlay| overlay.target.as_path());
    let places = roots.chain(spec.writable.iter().map(AsRef::as_ref)).chain(spec.scratch.as_deref());
    for path in places {
        text.push_str(&format!("(allow file-write* (subpath {}))\n", quoted(path)?));
    }
    for path in &spec.masked {
        text.push_str(&format!("(deny file-read* file-write* (subpath {}))\n", quoted(path)?));
    }
    if spec.network != SandboxNetwork::Open {
        // A list of hosts needs a namespace; without one there is no network.
        text.push_str("(deny network*)\n");
    }
    Ok(text)
}

fn quoted(path: &Path) -> io::Result<String> {
    let text = path
        .to_str()
        .ok_or_else(|| io::Error::other("a path that is not UTF-8 cannot be part of a profile"))?;
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}
