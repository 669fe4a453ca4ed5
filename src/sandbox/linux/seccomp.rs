//! Blocks system calls that no build and no test needs, but that every escape needs. They fail with EPERM, as they
//! would for a user without rights, so that programs use their fallback.

use super::super::spec::{SandboxBackend, SandboxNetwork, SandboxSpec};
use super::init::{SandboxSetupError, at};
use super::raw;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};
use std::collections::BTreeMap;
use std::io;

/// Refused whatever their arguments are.
const REFUSED: &[libc::c_long] = &[
    // the mounts, which are the walls
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    // other namespaces and other processes
    libc::SYS_setns,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // files by number instead of by name
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    // large parts of the kernel that are reached around the filter, or that had many holes
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // keys of the person's session
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // the machine
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
];

/// Not named by `libc` yet; the number is the same everywhere.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// The flags that make a new namespace, in `clone` and `unshare`.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// `CLONE_NEWTIME`; in `clone` the bit belongs to the signal.
const NEW_TIME: i32 = 0x80;

/// Input injected into a terminal, and the console's own calls.
const TERMINAL: [u64; 2] = [0x5412, 0x541c];

/// The filters of a backend, ready to be installed.
pub(super) struct SyscallFilters(io::Result<[BpfProgram; 3]>);

impl SyscallFilters {
    /// The filters of every command with a view.
    pub(super) fn of_views() -> SyscallFilters {
        SyscallFilters::of(&SandboxSpec::default())
    }

    /// Where there are no namespaces, the filters depend on the network.
    pub(super) fn of(spec: &SandboxSpec) -> SyscallFilters {
        let make = || -> io::Result<[BpfProgram; 3]> {
            let missing = u32::try_from(libc::ENOSYS).unwrap_or(38);
            // Its flags are behind a pointer. Without it, libc falls back to `clone`, whose flags are not.
            let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
            // 1 is EPERM.
            Ok([foreign_numbers(missing), filter(clone3, missing)?, filter(refused(spec)?, 1)?])
        };
        SyscallFilters(make())
    }

    pub(super) fn install(self) -> Result<(), SandboxSetupError> {
        let install = || -> io::Result<()> {
            let filters = self.0?;
            filters.iter().try_for_each(|filter| seccompiler::apply_filter(filter).map_err(io::Error::other))
        };
        at(install(), || "filter system calls".into())
    }
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: u32) -> io::Result<BpfProgram> {
    let arch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch);
    filter.and_then(BpfProgram::try_from).map_err(io::Error::other)
}

/// The second set of numbers of x86-64 (x32), with which every call could bypass a filter by number.
fn foreign_numbers(errno: u32) -> BpfProgram {
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        // load the number; from 0x4000_0000 on answer `errno`, otherwise allow
        step(0x20, 0, 0, 0),
        step(0x35, 0, 1, 0x4000_0000),
        step(0x06, 0, 0, 0x0005_0000 | errno),
        step(0x06, 0, 0, 0x7fff_0000),
    ]
}

fn refused(spec: &SandboxSpec) -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|&number| (number, Vec::new())).collect();
    let flag = |flag: i32| {
        let bits = u64::from(flag.unsigned_abs());
        rule(&[(0, SeccompCmpOp::MaskedEq(bits), bits)])
    };
    let mut new: Vec<SeccompRule> = NAMESPACES.into_iter().map(flag).collect::<io::Result<_>>()?;
    rules.insert(libc::SYS_clone, new.clone());
    new.push(flag(NEW_TIME)?);
    rules.insert(libc::SYS_unshare, new);
    let terminal = TERMINAL.map(|request| rule(&[(1, SeccompCmpOp::Eq, request)]));
    rules.insert(libc::SYS_ioctl, terminal.into_iter().collect::<io::Result<_>>()?);
    rules.insert(libc::SYS_socket, sockets(spec)?);
    Ok(rules)
}

/// The socket families that are blocked.
fn sockets(spec: &SandboxSpec) -> io::Result<Vec<SeccompRule>> {
    let (unix, inet, inet6, netlink) = (libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK);
    let mut allowed = vec![netlink, unix, inet, inet6];
    if spec.backend == SandboxBackend::Landlock {
        // No namespaces: all sockets of the host are reachable.
        if raw::landlock_abi().is_none_or(|abi| abi < 9) {
            allowed.retain(|&family| family != unix);
        }
        if spec.network != SandboxNetwork::Open {
            allowed.retain(|&family| family != inet && family != inet6);
        }
    }
    let none = allowed.iter().map(|family| (0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())));
    // Of netlink only routes and addresses, which `getaddrinfo` needs.
    let routes = [(0, SeccompCmpOp::Eq, u64::from(netlink.unsigned_abs())), (2, SeccompCmpOp::Ne, 0)];
    Ok(vec![rule(&none.collect::<Vec<_>>())?, rule(&routes)?])
}

/// True if every `(argument, comparison, value)` matches.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> io::Result<SeccompRule> {
    let conditions = conditions.iter().map(|(argument, comparison, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, comparison.clone(), *value)
    });
    let all = conditions.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    SeccompRule::new(all).map_err(io::Error::other)
}
