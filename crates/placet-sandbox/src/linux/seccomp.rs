//! Blocks system calls that no build and no test needs, but that every escape needs. They fail with EPERM, as they
//! would for a user without rights, so that programs use their fallback.

use super::super::spec::{SandboxBackend, SandboxNetwork, SandboxSpec};
use super::init::{SandboxSetupError, at};
use super::raw;
use super::seccomp_program::{SyscallRefusal, program};
use seccompiler::BpfProgram;
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
const TERMINAL: [u32; 2] = [0x5412, 0x541c];

/// The filter of a backend, ready to be installed.
pub(super) struct SyscallFilter(io::Result<BpfProgram>);

impl SyscallFilter {
    /// The filter of every command with a view.
    pub(super) fn of_views() -> SyscallFilter {
        SyscallFilter::of(&SandboxSpec::default())
    }

    /// Where there are no namespaces, the filter depends on the network.
    pub(super) fn of(spec: &SandboxSpec) -> SyscallFilter {
        let errno = |error: i32| u32::try_from(error).map_err(io::Error::other);
        let make = || program(&refused(spec)?, (errno(libc::EPERM)?, errno(libc::ENOSYS)?));
        SyscallFilter(make())
    }

    pub(super) fn install(self) -> Result<(), SandboxSetupError> {
        let install = || seccompiler::apply_filter(&self.0?).map_err(io::Error::other);
        at(install(), || "filter system calls".into())
    }
}

/// When each call is refused, in the order of their numbers.
fn refused(spec: &SandboxSpec) -> io::Result<Vec<(u32, SyscallRefusal)>> {
    let mut rules: BTreeMap<libc::c_long, SyscallRefusal> =
        REFUSED.iter().map(|&number| (number, SyscallRefusal::Always)).collect();
    let new = NAMESPACES.into_iter().fold(0, |bits, flag| bits | flag.cast_unsigned());
    if spec.backend != SandboxBackend::Overlay {
        // A view has a process namespace of its own, in which leak checks and debuggers find only its own processes.
        rules.insert(libc::SYS_ptrace, SyscallRefusal::Always);
    }
    rules.insert(libc::SYS_clone, SyscallRefusal::AnyBit(0, new));
    rules.insert(libc::SYS_unshare, SyscallRefusal::AnyBit(0, new | NEW_TIME.cast_unsigned()));
    // Its flags are behind a pointer. Without it, libc falls back to `clone`, whose flags are not.
    rules.insert(libc::SYS_clone3, SyscallRefusal::AsMissing);
    rules.insert(libc::SYS_ioctl, SyscallRefusal::OneOf(1, TERMINAL.to_vec()));
    // Of netlink only routes and addresses, which `getaddrinfo` needs.
    rules.insert(libc::SYS_socket, SyscallRefusal::Sockets(families(spec), libc::AF_NETLINK.cast_unsigned()));
    let number = |(number, refusal)| u32::try_from(number).map(|number| (number, refusal));
    rules.into_iter().map(number).collect::<Result<_, _>>().map_err(io::Error::other)
}

/// The socket families that are not blocked.
fn families(spec: &SandboxSpec) -> Vec<u32> {
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
    allowed.into_iter().map(i32::cast_unsigned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::seccomp_program::asking;
    use super::*;
    use seccompiler::{
        SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
        sock_filter,
    };
    use std::collections::BTreeSet;

    /// What the kernel answers: the machine, the number, and the lower halves of the arguments.
    fn answer(program: &[sock_filter], machine: u32, number: u32, arguments: [u32; 6]) -> u32 {
        run(program, machine, number, arguments).0
    }

    /// The same with the number of steps.
    fn run(program: &[sock_filter], machine: u32, number: u32, arguments: [u32; 6]) -> (u32, usize) {
        let (mut at, mut loaded) = (0, 0_u32);
        for steps in 1.. {
            let step = &program[at];
            let branch = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
            at += 1;
            match step.code {
                0x20 => {
                    loaded = match step.k {
                        0 => number,
                        4 => machine,
                        at if at >= 16 && (at - 16) % 8 == 0 => {
                            arguments[usize::try_from((at - 16) / 8).unwrap()]
                        }
                        other => panic!("loads {other}"),
                    }
                }
                0x54 => loaded &= step.k,
                0x05 => at += usize::try_from(step.k).unwrap(),
                0x15 => at += branch(loaded == step.k),
                0x25 => at += branch(loaded > step.k),
                0x35 => at += branch(loaded >= step.k),
                0x45 => at += branch(loaded & step.k != 0),
                0x06 => return (step.k, steps),
                other => panic!("{other:#x}"),
            }
        }
        unreachable!("every program ends")
    }

    /// The same rules by the crate's own compiler, which compares one number after the other.
    fn by_the_crate(rules: &[(u32, SyscallRefusal)]) -> Vec<BpfProgram> {
        let rule = |conditions: &[(u8, SeccompCmpOp, u32)]| {
            let conditions = conditions.iter().map(|(argument, comparison, value)| {
                let length = SeccompCmpArgLen::Dword;
                SeccompCondition::new(*argument, length, comparison.clone(), u64::from(*value)).unwrap()
            });
            SeccompRule::new(conditions.collect()).unwrap()
        };
        let (mut refused, mut missing) = (BTreeMap::new(), BTreeMap::new());
        for (number, refusal) in rules {
            let number = i64::from(*number);
            let index = |index: &u32| u8::try_from(*index).unwrap();
            let rules = match refusal {
                SyscallRefusal::Always => vec![],
                SyscallRefusal::AsMissing => {
                    missing.insert(number, vec![]);
                    continue;
                }
                SyscallRefusal::AnyBit(at, bits) => {
                    let bits = (0..32).map(|bit| 1 << bit).filter(|bit| bits & bit != 0);
                    let masked = |bit| (index(at), SeccompCmpOp::MaskedEq(u64::from(bit)), bit);
                    bits.map(|bit| rule(&[masked(bit)])).collect()
                }
                SyscallRefusal::OneOf(at, values) => {
                    values.iter().map(|value| rule(&[(index(at), SeccompCmpOp::Eq, *value)])).collect()
                }
                SyscallRefusal::Sockets(families, routes) => {
                    let none = families.iter().map(|family| (0, SeccompCmpOp::Ne, *family));
                    let protocol = [(0, SeccompCmpOp::Eq, *routes), (2, SeccompCmpOp::Ne, 0)];
                    vec![rule(&none.collect::<Vec<_>>()), rule(&protocol)]
                }
            };
            refused.insert(number, rules);
        }
        let build = |rules, error: i32| {
            let machine = std::env::consts::ARCH.try_into().unwrap();
            let action = SeccompAction::Errno(error.cast_unsigned());
            BpfProgram::try_from(SeccompFilter::new(rules, SeccompAction::Allow, action, machine).unwrap())
                .unwrap()
        };
        vec![build(refused, libc::EPERM), build(missing, libc::ENOSYS)]
    }

    #[test]
    fn the_program_answers_each_call_as_its_rules_say() {
        let landlock =
            |network| SandboxSpec { backend: SandboxBackend::Landlock, network, ..SandboxSpec::default() };
        let specs = [SandboxSpec::default(), landlock(SandboxNetwork::Off), landlock(SandboxNetwork::Open)];
        let (allowed, missing) = (0x7fff_0000, 0x0005_0000 | libc::ENOSYS.cast_unsigned());
        for spec in specs {
            let rules = refused(&spec).unwrap();
            let ours = SyscallFilter::of(&spec).0.unwrap();
            let theirs = by_the_crate(&rules);
            let machine = ours.get(1).unwrap().k;
            assert_eq!(machine, theirs[0].get(1).unwrap().k, "the own machine");
            let mut values: BTreeSet<u32> =
                (0..32).map(|bit| 1 << bit).chain([0, 3, 16, 17, 0xff, u32::MAX]).collect();
            values.extend(TERMINAL.iter().flat_map(|value| [*value, value - 1, value + 1]));
            values.insert(libc::SIGCHLD.cast_unsigned() | libc::CLONE_NEWUSER.cast_unsigned());
            for number in (0..1024).chain([0x3fff_ffff]) {
                let mut answers = BTreeSet::new();
                for (first, second) in values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))) {
                    let arguments = [first, second, second, 7, 7, 7];
                    let expected =
                        theirs.iter().map(|program| answer(program, machine, number, arguments)).min();
                    let got = answer(&ours, machine, number, arguments);
                    assert_eq!(Some(got), expected, "call {number} with {arguments:x?}");
                    answers.insert(got);
                }
                let is_named = rules.iter().any(|(named, _)| *named == number);
                assert_eq!(answers != BTreeSet::from([allowed]), is_named, "call {number}");
            }
            for number in [0x4000_0000, 0x4000_0001, 0x4000_0000 | 165, 0x8000_0000, u32::MAX] {
                assert_eq!(answer(&ours, machine, number, [0; 6]), missing, "x32");
            }
            for other in [0, machine ^ 1, 0x4000_0003] {
                assert_eq!(answer(&ours, other, 1, [0; 6]), 0x8000_0000, "another machine ends the process");
            }
        }
    }

    #[test]
    fn only_the_named_calls_of_this_machine_wait_for_an_answer() {
        let (allowed, asked) = (0x7fff_0000, 0x7fc0_0000);
        for numbers in [&[7][..], &[82, 264, 316, 446], &[38, 276, 446]] {
            let program = asking(numbers).unwrap();
            let machine = program.get(1).unwrap().k;
            for number in (0..1024).chain([0x4000_0000 | 82, u32::MAX]) {
                let expected = if numbers.contains(&number) { asked } else { allowed };
                assert_eq!(answer(&program, machine, number, [0; 6]), expected, "call {number}");
                assert_eq!(answer(&program, machine ^ 1, number, [0; 6]), allowed, "another machine");
            }
        }
    }

    #[test]
    fn a_number_is_found_in_few_steps() {
        let program = SyscallFilter::of_views().0.unwrap();
        let machine = program.get(1).unwrap().k;
        let most = (0..1024).map(|number| run(&program, machine, number, [0; 6]).1).max().unwrap();
        // One after the other it would be more than fifty.
        assert!(most <= 20, "{most} of {}", program.len());
    }
}
