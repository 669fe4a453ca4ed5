//! Sets resource limits and drops privileges.

use super::super::spec::{SandboxBackend, SandboxSpec};
use super::init::{SandboxSetupError, at};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

/// The capabilities that root retains: rights over files, which it needs to work on a tree of another user, and the
/// change of user, which can only lose rights. They apply inside the namespace and to mapped ids.
const OF_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID);

/// Sets the resource limits. A limit above the present one changes nothing.
pub(super) fn limit(spec: &SandboxSpec) -> Result<(), SandboxSetupError> {
    let limits = spec.limits;
    // Memory that a process writes to, not its address space: many runtimes reserve far more than they use.
    for (resource, value, name) in [
        (Resource::Data, limits.memory, "memory"),
        (Resource::Nproc, limits.processes, "processes"),
        (Resource::Nofile, limits.open_files, "open files"),
        (Resource::Cpu, limits.cpu_seconds, "processor time"),
        (Resource::Fsize, limits.file_size, "file size"),
        // A core dump is a file that nobody reviews. With a limit of one byte the kernel also starts no handler on the
        // host, which a limit of zero would not prevent.
        (Resource::Core, Some(1), "core dumps"),
    ] {
        let Some(value) = value else { continue };
        let most = getrlimit(resource).maximum.map_or(value, |maximum| maximum.min(value));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        at(setrlimit(resource, limit), || format!("limit {name}"))?;
    }
    Ok(())
}

/// Drops all capabilities permanently (root: all but its rights over files).
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
