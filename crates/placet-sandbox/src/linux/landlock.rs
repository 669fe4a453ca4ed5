//! Landlock: a second barrier in addition to the mounts, and the only one without mounts.
//!
//! With overlays it repeats which places may be written, and blocks abstract sockets, and from the ninth ABI on named
//! sockets as well. Without overlays it also forbids reading masked files. Landlock only has rules that allow.
//! Therefore the directories on the way to a mask are allowed entry by entry; a file that is created in one of them
//! later cannot be read. In a workspace this would make all work impossible, and so masked files inside of a workspace
//! remain readable: the probe reports this.

use super::super::spec::{SandboxBackend, SandboxSpec};
use super::init::{SandboxSetupError, at};
use super::mounts::place;
use ::landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{FileType, OFlags, fstat};
use std::io;
use std::path::{Path, PathBuf};

/// The newest ABI that this code supports.
const NEWEST: ABI = ABI::V9;

/// Places that are fresh, or contain nothing of the host, if there are mounts.
const FRESH: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/dev"];

/// Device files that may be written if there are no mounts of our own.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/shm"];

pub(super) fn apply(spec: &SandboxSpec) -> Result<(), SandboxSetupError> {
    let done = match spec.backend {
        SandboxBackend::Overlay => behind(spec).map(|_| ()),
        _ => alone(spec).and_then(|status| match status {
            RulesetStatus::NotEnforced => Err(io::Error::other("this kernel has no Landlock")),
            _ => Ok(()),
        }),
    };
    at(done, || "restrict the command with Landlock".into())
}

fn behind(spec: &SandboxSpec) -> io::Result<RulesetStatus> {
    let mut rules = rules(AccessFs::from_write(NEWEST))?;
    let own = spec.overlays.iter().map(|o| o.target.as_path()).chain(spec.scratch.as_deref());
    for path in own.chain(FRESH.map(Path::new)) {
        rules = allow(rules, path, AccessFs::from_write(NEWEST))?;
    }
    for path in &spec.writable {
        // A directory that is bound through may contain sockets of the host.
        rules = allow(rules, path, AccessFs::from_write(NEWEST) & !BitFlags::from(AccessFs::ResolveUnix))?;
    }
    // A fresh `/proc` is read-only; a write to a process' own entries fails there already.
    enforce(rules)
}

fn alone(spec: &SandboxSpec) -> io::Result<RulesetStatus> {
    let mut rules = rules(AccessFs::from_all(NEWEST))?;
    let mut masked: Vec<PathBuf> = spec.masked.clone();
    masked.extend(spec.masked.iter().filter_map(|path| std::fs::canonicalize(path).ok()));
    rules = carve(rules, Path::new("/"), &masked, AccessFs::from_read(NEWEST))?;
    let roots = spec.overlays.iter().map(|o| o.target.as_path());
    let places = roots.chain(spec.writable.iter().map(PathBuf::as_path)).chain(spec.scratch.as_deref());
    let write = AccessFs::from_all(NEWEST) & !BitFlags::from(AccessFs::ResolveUnix);
    for path in places {
        rules = allow(rules, path, write)?;
    }
    for path in DEVICES.map(Path::new) {
        rules = allow(rules, path, write)?;
    }
    enforce(rules)
}

fn rules(handled: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let set = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let set = set.handle_access(handled).and_then(|set| set.scope(Scope::from_all(NEWEST)));
    set.and_then(Ruleset::create).map_err(io::Error::other)
}

/// Allows `access` at `path` and below. A missing path is skipped.
fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let Ok(fd) = place(path, OFlags::NOFOLLOW) else { return Ok(rules) };
    let access = match FileType::from_raw_mode(fstat(&fd)?.st_mode) {
        FileType::Directory => access,
        // A link has no content; its target has a rule of its own or none.
        FileType::Symlink => return Ok(rules),
        _ => access & AccessFs::from_file(NEWEST),
    };
    rules.add_rule(PathBeneath::new(fd, access)).map_err(io::Error::other)
}

/// Like [`allow`], but without masked paths.
fn carve(
    mut rules: RulesetCreated,
    path: &Path,
    masked: &[PathBuf],
    access: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    if masked.iter().any(|mask| path.starts_with(mask)) {
        return Ok(rules);
    }
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|known| known.is_symlink());
    if is_link || !masked.iter().any(|mask| mask.starts_with(path)) {
        return allow(rules, path, access);
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        rules = carve(rules, &entry.path(), masked, access)?;
    }
    Ok(rules)
}

fn enforce(rules: RulesetCreated) -> io::Result<RulesetStatus> {
    rules.restrict_self().map(|status| status.ruleset).map_err(io::Error::other)
}
