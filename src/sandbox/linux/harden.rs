//! Limits, and privileges given up.

use super::super::spec::{SandboxBackend, SandboxSpec};
use super::init::{SandboxSetupError, at};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

/// What root keeps: rights over files, without which a tree of another user could not be worked on, and the change of
/// user, which can only lose rights. They hold inside the namespace and for what is mapped into it.
const OF_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID);

/// The resource limits. A limit above the one that already holds leaves that one.
pub(super) fn limit(spec: &SandboxSpec) -> Result<(), SandboxSetupError> {
    let limits = spec.limits;
    // Of memory what a process writes into, not its addresses: many runtimes reserve far more than they use.
    for (resource, value, name) in [
        (Resource::Data, limits.memory, "memory"),
        (Resource::Nproc, limits.processes, "processes"),
        (Resource::Nofile, limits.open_files, "open files"),
        (Resource::Cpu, limits.cpu_seconds, "processor time"),
        (Resource::Fsize, limits.file_size, "file size"),
        // A core dump is a file that nobody reviews. With one byte allowed the kernel starts no handler on the host
        // either, which a limit of zero would not prevent.
        (Resource::Core, Some(1), "core dumps"),
    ] {
        let Some(value) = value else { continue };
        let most = getrlimit(resource).maximum.map_or(value, |maximum| maximum.min(value));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        at(setrlimit(resource, limit), || format!("limit {name}"))?;
    }
    Ok(())
}

/// Gives up all capabilities (root: all but its rights over files), for good.
pub(super) fn drop_capabilities(spec: &SandboxSpec) -> Result<(), SandboxSetupError> {
    let kept = match (spec.backend, rustix::process::geteuid().is_root()) {
        (SandboxBackend::Overlay, true) => OF_ROOT,
        _ => CapabilitySet::empty(),
    };
    if spec.backend == SandboxBackend::Overlay {
        for number in 0..64 {
            let capability = CapabilitySet::from_bits_retain(1 << number);
            if kept.contains(capability) {
                continue;
            }
            // The first number that the kernel does not know ends the list.
            if remove_capability_from_bounding_set(capability).is_err() {
                break;
            }
        }
        at(clear_ambient_capability_set(), || "clear the ambient capabilities".into())?;
        let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
        at(set_capabilities(None, sets), || "give up capabilities".into())?;
    }
    at(set_no_new_privs(true), || "forbid new privileges".into())
}
