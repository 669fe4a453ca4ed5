//! Builds the view, in an order in which each step still has access to what it needs.
//!
//! 1. Everything that is needed later is opened while it is visible and writable: overlays are made, passthrough
//!    directories and device nodes are copied.
//! 2. All of `/` becomes read-only, recursively.
//! 3. Places that are full of other people's sockets get fresh, empty file systems.
//! 4. The mounts from step 1 are attached to their paths, and the masks are mounted over all of it.

use super::super::spec::{OverlaySpec, SandboxNetwork, SandboxSpec, TMP};
use super::init::{SandboxSetupError, at};
use super::masks::MaskSources;
use super::mounts::{DetachedMount, OverlayLayers, TAME, by_number, place};
use super::raw::{self, MountDepth};
use super::scratch_tmpfs::ScratchTmpfs;
use super::{devices, masks};
use rustix::fs::{CWD, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, mount_change,
};
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Fresh and empty in every view. Host sockets are there, and a read-only mount does not stop `connect`.
const FRESH: [&str; 4] = [TMP, "/var/tmp", "/run", "/var/run"];

pub(super) fn build(spec: &SandboxSpec) -> Result<(), SandboxSetupError> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    at(mount_change("/", private), || "make the mounts private".into())?;
    let (mut overlays, mut layers) = (Vec::new(), Vec::new());
    for described in &spec.overlays {
        let (mount, lowers) = overlay(described)?;
        overlays.push((described.target.clone(), mount));
        layers.push(OverlayLayers { target: described.target.clone(), lowers });
    }
    let mut passed = Vec::new();
    for path in spec.writable.iter().filter(|path| !devices::is_device(path)).chain(&spec.scratch) {
        if let Some(copy) = DetachedMount::copy(path)? {
            passed.push((path.clone(), copy.with_attributes(TAME)?));
        }
    }
    let mut shown = Vec::new();
    for path in spec.readable.iter().filter(|path| is_fresh(path)) {
        if let Some(copy) = DetachedMount::copy(path)? {
            let is_dir = std::fs::metadata(path).is_ok_and(|known| known.is_dir());
            shown.push((path, is_dir, copy.with_attributes(TAME | MountAttrFlags::MOUNT_ATTR_RDONLY)?));
        }
    }
    let devices = devices::take(&spec.writable)?;
    let resolver = resolver();
    // The resolver's file would be written through what an earlier command left there.
    let own_tmp = spec.session_tmp().filter(|_| !resolver.iter().any(|(path, _)| path.starts_with(TMP)));
    let mut own_tmp = match own_tmp.map(DetachedMount::copy).transpose()?.flatten() {
        Some(copy) => Some(copy.with_attributes(TAME)?),
        None => None,
    };

    let still = u64::from((TAME | MountAttrFlags::MOUNT_ATTR_RDONLY).bits());
    at(raw::set_mount(CWD, c"/", MountDepth::All, still), || "make the rest read-only".into())?;

    let ground = ScratchTmpfs::create()?;
    let blank = MaskSources::new(&ground)?;
    for dir in FRESH {
        if std::fs::symlink_metadata(dir).is_ok_and(|known| known.is_dir()) {
            if let Some(own) = own_tmp.take_if(|_| dir == TMP) {
                own.attach(Path::new(dir))?;
                continue;
            }
            let mode = if dir.ends_with("tmp") { 0o1777 } else { 0o755 };
            ground.part(&dir.replace('/', "-"), mode, TAME)?.attach(Path::new(dir))?;
        }
    }
    devices.mount_dev(&ground)?;
    processes()?;
    // `/etc/resolv.conf` often leads below `/run`, which is empty now.
    if let Some((path, bytes)) = resolver {
        let put =
            path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, bytes));
        at(put, || format!("keep `{}`", path.display()))?;
    }
    // Before the overlays: the workspace may be below one of them.
    for (path, is_dir, mount) in shown {
        at(place_for(path, is_dir), || format!("make a place for `{}`", path.display()))?;
        mount.attach(path)?;
    }
    for (target, mount) in overlays {
        at(reachable(&target), || format!("reach `{}` inside", target.display()))?;
        mount.attach(&target)?;
    }
    for (path, mount) in passed {
        // A directory that a pending change has deleted remains deleted.
        if reachable(&path).is_ok() && path.exists() {
            mount.attach(&path)?;
        }
    }
    if let SandboxNetwork::Hosts(_) = spec.network {
        at(cover_resolver(&ground, spec.names.server), || "mount over `/etc/resolv.conf`".into())?;
        at(cover_hosts(&ground), || "mount over `/etc/hosts`".into())?;
    }
    for (number, copy) in spec.copies.iter().enumerate() {
        at(masks::show_copy(spec, (&ground, &blank), copy, number), || {
            format!("replace `{}`", copy.path.display())
        })?;
    }
    masks::cover(spec, &blank, &layers)
}

/// Names are asked for at placet's stub.
///
/// The other ways of `/etc/nsswitch.conf` (nscd, systemd-resolved, mDNS) need sockets below `/run`, which is empty, and
/// then the stub is asked. Without any `/etc/resolv.conf` resolvers ask 127.0.0.1, where the stub is.
fn cover_resolver(ground: &ScratchTmpfs, server: Option<Ipv4Addr>) -> std::io::Result<()> {
    let mut text = format!("nameserver {}\n", server.unwrap_or(Ipv4Addr::LOCALHOST));
    // `search .` means no other domain: without it, glibc takes the domain of the machine's name, if it has one, and asks
    // for each refused name again in this domain.
    if rustix::system::uname().nodename().to_bytes().contains(&b'.') {
        text.push_str("search .\n");
    }
    cover_file(ground, "/etc/resolv.conf", &text)
}

/// Only the machine itself is in the file: an address from there would be asked for before the stub, and cannot be
/// reached. Outside, placet looks allowed names up with the host's own file. `localhost` is 127.0.0.1 alone: the only other
/// address of the network is one of IPv4, and so a client that asks for addresses of the kinds that there are (`AI_ADDRCONFIG`,
/// as Node.js does) would not find a server that listens on the first of both, `::1`.
fn cover_hosts(ground: &ScratchTmpfs) -> std::io::Result<()> {
    let system = rustix::system::uname();
    let own = system.nodename().to_str().unwrap_or_default();
    let is_name = own.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    let own = if is_name { own } else { "" };
    cover_file(ground, "/etc/hosts", &format!("127.0.0.1 localhost {own}\n::1 ip6-localhost ip6-loopback\n"))
}

/// Shows `text` at `path`, if there is a file.
fn cover_file(ground: &ScratchTmpfs, path: &str, text: &str) -> std::io::Result<()> {
    let name = path.rsplit('/').next().unwrap_or(path);
    // It may be a link, and a pending change may have made it one to another place.
    let Ok(path) = std::fs::canonicalize(path) else { return Ok(()) };
    let target = place(&path, OFlags::NOFOLLOW)?;
    if !std::fs::metadata(&path)?.is_file() {
        return Ok(());
    }
    let file = ground.file(name, text.as_bytes())?;
    let still = TAME | MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    DetachedMount::again(&file)?.attach_at(&target, still)
}

/// True below a directory that is empty in every view; `/dev/shm` is a part of the view's own `/dev`.
fn is_fresh(path: &Path) -> bool {
    FRESH.iter().chain(&["/dev/shm"]).any(|dir| path.starts_with(dir))
}

/// Creates a place below a fresh directory again. Other places exist, or are missing.
fn reachable(path: &Path) -> std::io::Result<()> {
    if is_fresh(path) {
        let is_file = std::fs::symlink_metadata(path).is_ok_and(|known| !known.is_dir());
        return if is_file { Ok(()) } else { std::fs::create_dir_all(path) };
    }
    Ok(())
}

/// An empty directory or file below a fresh directory, to be mounted over.
fn place_for(path: &Path, is_dir: bool) -> std::io::Result<()> {
    if is_dir {
        return std::fs::create_dir_all(path);
    }
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::OpenOptions::new().create(true).append(true).open(path).map(drop)
}

/// A detached overlay, and its lower layers. All directories are passed as descriptors.
fn overlay(overlay: &OverlaySpec) -> Result<(DetachedMount, Vec<OwnedFd>), SandboxSetupError> {
    let open =
        |path: &Path| at(place(path, OFlags::DIRECTORY), || format!("open the layer `{}`", path.display()));
    let lowers = overlay.lowers.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
    let (upper, work) = (open(&overlay.upper)?, open(&overlay.work)?);
    let inside = overlay
        .lowers
        .iter()
        .any(|lower| overlay.upper.starts_with(lower) || overlay.work.starts_with(lower));
    // The kernel would accept it and return ELOOP later, for any access there.
    let made = if inside { Err(Errno::LOOP) } else { assemble(&lowers, &upper, &work) };
    let refused = made.as_ref().err().copied();
    let step = || {
        // Only for an error: the table of mounts is long.
        let inside = || overlay.lowers.iter().flat_map(|lower| mounted_below(lower)).next();
        let why = match (refused, inside()) {
            // Files under another user's mount must not become visible, and so the kernel refuses.
            (Some(Errno::INVAL), Some(inside)) => {
                format!(", because `{}` is mounted inside it", inside.display())
            }
            (Some(Errno::LOOP), _) => ", which contains the layer itself".into(),
            _ => String::new(),
        };
        format!("lay a copy-on-write layer over `{}`{why}", overlay.target.display())
    };
    let made = at(made, step).map(DetachedMount).map_err(SandboxSetupError::of_overlay)?;
    Ok((made, lowers))
}

/// The mount points below `dir`. Without privileges such a directory cannot have an overlay.
pub fn mounted_below(dir: &Path) -> Vec<PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let places = table.split(|&byte| byte == b'\n').filter_map(|row| row.split(|&byte| byte == b' ').nth(4));
    let places = places.map(|place| PathBuf::from(OsString::from_vec(unescaped(place))));
    places.filter(|place| place != dir && place.starts_with(dir)).collect()
}

/// Spaces and similar characters are written there as three octal digits.
fn unescaped(mut text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    while let [first, rest @ ..] = text {
        text = match (first, rest) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..]) => {
                plain.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest
            }
            _ => {
                plain.push(*first);
                rest
            }
        };
    }
    plain
}

fn assemble(lowers: &[OwnedFd], upper: &OwnedFd, work: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let fs = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    // The marks of layers are in `user.overlay.*`: the usual `trusted.*` needs a privilege.
    fsconfig_set_flag(&fs, "userxattr")?;
    // Without it, the end of the view would first write all of the host's file system to its disk.
    fsconfig_set_flag(&fs, "volatile")?;
    for (number, lower) in lowers.iter().enumerate() {
        match fsconfig_set_string(&fs, "lowerdir+", by_number(lower)) {
            // Before Linux 6.7 there is one option for all layers.
            Err(Errno::INVAL) if number == 0 => {
                let all: Vec<String> = lowers.iter().map(by_number).collect();
                fsconfig_set_string(&fs, "lowerdir", all.join(":"))?;
                break;
            }
            other => other?,
        }
    }
    fsconfig_set_string(&fs, "upperdir", by_number(upper))?;
    fsconfig_set_string(&fs, "workdir", by_number(work))?;
    fsconfig_create(&fs)?;
    fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, TAME)
}

/// A fresh `/proc`: it shows only processes of this namespace, and is read-only, because root's own files there
/// (`/proc/sys`, `/proc/sysrq-trigger`) belong to the host no matter who mounts them.
///
/// A container often refuses a fresh one. Then the container's own `/proc` remains, read-only since the step before: it
/// lists processes outside, but gives access to none of them, because they are in another user namespace.
fn processes() -> Result<(), SandboxSetupError> {
    let still = TAME | MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    match DetachedMount::fresh("proc", &[], still) {
        Ok(fresh) => fresh.attach(Path::new("/proc")),
        Err(fault) if fault.error.raw_os_error() == Some(libc::EPERM) => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// The resolver's file, if `/etc/resolv.conf` leads to a place that will be covered.
fn resolver() -> Option<(PathBuf, Vec<u8>)> {
    let path = std::fs::canonicalize("/etc/resolv.conf").ok()?;
    is_fresh(&path).then(|| std::fs::read(&path).ok().map(|bytes| (path, bytes))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_blanks_are_blanks_again() {
        assert_eq!(unescaped(br"/a\040b\134c\011\9"), b"/a b\\c\t\\9");
    }
}
