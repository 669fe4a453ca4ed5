//! Explains why a copy-on-write view was refused, and names the setting.

use placet_process::StartFailure;
use std::path::Path;

/// `failure` is the supervisor's report; `dir` is where the layers would have been.
pub(super) fn explain(dir: &Path, failure: &StartFailure) -> String {
    let setting = |name: &str| {
        std::fs::read_to_string(Path::new("/proc/sys").join(name)).ok().map(|text| text.trim().to_string())
    };
    let is = |name: &str, value: &str| setting(name).as_deref() == Some(value);
    let ordinary = !rustix::process::geteuid().is_root();
    let container = ["/.dockerenv", "/run/.containerenv"].iter().any(|path| Path::new(path).exists());
    if !Path::new("/proc/self/status").exists() {
        return "/proc is not mounted".into();
    }
    if is("user/max_user_namespaces", "0") {
        return "user namespaces are switched off (sysctl user.max_user_namespaces=0)".into();
    }
    if ordinary && is("kernel/unprivileged_userns_clone", "0") {
        return "user namespaces are reserved for root (sysctl kernel.unprivileged_userns_clone=0)".into();
    }
    if ordinary && is("kernel/apparmor_restrict_unprivileged_userns", "1") {
        return "AppArmor restricts user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=1; a profile \
                for placet with `userns,` lifts it)"
            .into();
    }
    if is_full(dir) {
        return format!("the disk of `{}` is full", dir.display());
    }
    if let (StartFailure::Overlay(_), Some(kind)) = (failure, unfit(dir)) {
        return format!("layers cannot be stored in `{}`, which is {kind}", dir.display());
    }
    let (StartFailure::Overlay(reason) | StartFailure::Sandbox(reason) | StartFailure::Other(reason)) =
        failure;
    if container { format!("this container forbids it ({reason})") } else { reason.clone() }
}

/// Whether there is less room than a trial needs: a few small files and directories.
fn is_full(dir: &Path) -> bool {
    let Some(space) = dir.ancestors().find_map(|dir| rustix::fs::statvfs(dir).ok()) else { return false };
    let has_inodes = space.f_files == 0 || space.f_favail > 16;
    space.f_bavail.saturating_mul(space.f_frsize) < 64 << 10 || !has_inodes
}

/// The kind of a file system that cannot store an upper layer.
fn unfit(dir: &Path) -> Option<&'static str> {
    const KINDS: [(u64, &str); 6] = [
        (0x794c_7630, "itself an overlay"),
        (0x6969, "on NFS"),
        (0xff53_4d42, "on CIFS"),
        (0xfe53_4d42, "on SMB"),
        (0x6573_5546, "on FUSE"),
        (0x0102_1997, "on 9p"),
    ];
    let kind = rustix::fs::statfs(dir).ok()?.f_type;
    let kind = u64::try_from(kind).unwrap_or(0);
    KINDS.iter().find(|(magic, _)| *magic == kind).map(|(_, name)| *name)
}
