//! The result of the last probe, for the next process: a trial runs a whole command in a sandbox and takes longer than
//! most commands.
//!
//! Only a working copy-on-write view is recorded, and only for exactly this machine, kernel, program and user. A record
//! widens nothing: a command whose sandbox cannot be set up fails, and then the record is removed, so that the next
//! question is answered by a new trial.

use super::probe_result::SandboxProbe;
use super::spec::SandboxBackend;
use placet_text::text::regular_file;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest record that is read, in bytes.
const LARGEST: u64 = 64 << 10;
/// What a system says about sandboxes. A file that does not exist or cannot be read is as good a fact as its content.
const FACTS: [&str; 9] = [
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/user/max_mnt_namespaces",
    "/proc/sys/user/max_net_namespaces",
    "/proc/sys/user/max_pid_namespaces",
    "/proc/self/attr/current",
    "/proc/self/uid_map",
];
/// What a container, a service manager or another sandbox took from this process.
const STATUS: [&str; 5] = ["Uid:", "CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp"];

#[derive(Serialize, Deserialize)]
struct RecordedProbe {
    key: String,
    sentence: String,
    layers: PathBuf,
    landlock_abi: Option<u32>,
    remarks: Vec<String>,
}

/// The recorded result, if everything that it depends on is as it was.
pub(super) fn load(file: &Path, key: &str, dirs: &[PathBuf]) -> Option<SandboxProbe> {
    let bytes = regular_file::read(file, LARGEST).ok()?;
    let found: RecordedProbe = serde_json::from_slice(&bytes).ok()?;
    (found.key == key && dirs.contains(&found.layers)).then_some(SandboxProbe {
        backend: SandboxBackend::Overlay,
        sentence: found.sentence,
        layers: Some(found.layers),
        landlock_abi: found.landlock_abi,
        remarks: found.remarks,
    })
}

/// Records a view that works. A record that cannot be written costs the next process a trial.
pub(super) fn store(file: &Path, key: String, probe: &SandboxProbe) {
    let (SandboxBackend::Overlay, Some(layers)) = (probe.backend, probe.layers.clone()) else { return };
    let record = RecordedProbe {
        key,
        sentence: probe.sentence.clone(),
        layers,
        landlock_abi: probe.landlock_abi,
        remarks: probe.remarks.clone(),
    };
    let written = serde_json::to_vec(&record).map_err(io::Error::other).and_then(|bytes| {
        // The first process of a person may get here before anything else was stored.
        if let Some(dir) = file.parent() {
            placet_text::private::make_dir(dir)?;
        }
        let new = file.with_extension(format!("{}.new", std::process::id()));
        placet_text::private::write_quick(&new, &bytes)?;
        fs::rename(&new, file)
    });
    if let Err(e) = written {
        tracing::debug!("the result of the sandbox probe was not recorded: {e}");
    }
}

/// Everything that the result depends on; `None` where it cannot be found out.
pub(super) fn key(supervisor: &Path, dirs: &[PathBuf], landlock_abi: Option<u32>) -> Option<String> {
    let mut key = format!("{}\n{landlock_abi:?}\n", rustix::system::uname().version().to_string_lossy());
    for path in std::iter::once(supervisor).chain(dirs.iter().map(PathBuf::as_path)) {
        let meta = fs::metadata(path).ok()?;
        key.push_str(&format!("{} {} {}", path.display(), meta.dev(), meta.ino()));
        if meta.is_file() {
            let (changed, nanoseconds) = (meta.ctime(), meta.ctime_nsec());
            key.push_str(&format!(" {} {changed}.{nanoseconds}", meta.len()));
        }
        key.push('\n');
    }
    for namespace in ["user", "mnt", "pid"] {
        let link = fs::read_link(format!("/proc/self/ns/{namespace}")).ok()?;
        key.push_str(&format!("{}\n", link.display()));
    }
    for fact in FACTS {
        key.push_str(&format!("{}\n", fs::read_to_string(fact).unwrap_or_default().trim()));
    }
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let lines = status.lines().filter(|line| STATUS.iter().any(|name| line.starts_with(name)));
    lines.for_each(|line| key.push_str(&format!("{line}\n")));
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_answers_only_for_what_it_was_made_for() {
        let dir = tempfile::tempdir().unwrap();
        let (file, layers) = (dir.path().join("state/probe.json"), dir.path().join("layers"));
        fs::create_dir(&layers).unwrap();
        let dirs = [layers.clone()];
        let supervisor = std::env::current_exe().unwrap();
        let key = key(&supervisor, &dirs, Some(4)).unwrap();
        let found = SandboxProbe {
            backend: SandboxBackend::Overlay,
            sentence: "it works".into(),
            layers: Some(layers),
            landlock_abi: Some(4),
            remarks: vec!["a remark".into()],
        };
        assert_eq!(load(&file, &key, &dirs), None);
        store(&file, key.clone(), &found);
        assert_eq!(load(&file, &key, &dirs), Some(found.clone()));
        // Another kernel, another directory, a damaged file.
        assert_eq!(load(&file, &super::key(&supervisor, &dirs, Some(5)).unwrap(), &dirs), None);
        assert_eq!(load(&file, &key, &[]), None);
        fs::write(&file, "{").unwrap();
        assert_eq!(load(&file, &key, &dirs), None);
        // What is not a view is found out again each time: the cause may be gone.
        fs::remove_file(&file).unwrap();
        store(&file, key.clone(), &SandboxProbe { backend: SandboxBackend::Landlock, ..found });
        assert_eq!(load(&file, &key, &dirs), None);
    }

    #[test]
    fn another_program_has_another_key() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("placet");
        fs::write(&program, "one").unwrap();
        let first = key(&program, &[], None).unwrap();
        assert_eq!(key(&program, &[], None).unwrap(), first);
        fs::write(&program, "other").unwrap();
        assert_ne!(key(&program, &[], None).unwrap(), first);
        assert_eq!(key(&dir.path().join("missing"), &[], None), None);
    }
}
