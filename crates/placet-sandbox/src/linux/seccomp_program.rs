//! A seccomp program that finds the rule of a system call by halving the list of numbers.
//!
//! When a filter is installed, the kernel runs it once for every number, and a list that is compared one by one makes
//! this the slowest call of a command's start.

use seccompiler::sock_filter;
use std::io;

/// Loads 32 bits of what the kernel tells about a call.
const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Offsets in `struct seccomp_data`. Of an argument the lower half, which is first on the machines that placet knows.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;
const KILL: u32 = 0x8000_0000;
/// The call waits for an answer.
const ASK: u32 = 0x7fc0_0000;

/// From here on are the numbers of x32, the second set of x86-64, with which every call could bypass a filter by number.
const FOREIGN: u32 = 0x4000_0000;

/// `AUDIT_ARCH_*` of `linux/audit.h`: numbers of another machine, which a process can use as well, end the process.
const OWN_MACHINE: Option<u32> = match std::env::consts::ARCH.as_bytes() {
    b"x86_64" => Some(0xc000_003e),
    b"aarch64" => Some(0xc000_00b7),
    b"riscv64" => Some(0xc000_00f3),
    _ => None,
};

/// When a system call is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SyscallRefusal {
    Always,
    /// As if the kernel did not have the call.
    AsMissing,
    /// If an argument has one of these bits.
    AnyBit(u32, u32),
    /// If an argument has one of these values.
    OneOf(u32, Vec<u32>),
    /// A socket of a family that is not in the list, or of the second family with another protocol than 0.
    Sockets(Vec<u32>, u32),
}

/// The program for these rules, sorted by number.
pub(super) fn program(
    rules: &[(u32, SyscallRefusal)],
    (refused, missing): (u32, u32),
) -> io::Result<Vec<sock_filter>> {
    let machine = OWN_MACHINE.ok_or(io::ErrorKind::Unsupported)?;
    let mut steps = Backwards::default();
    let allow = steps.push(RETURN, ALLOW)?;
    let refuse = steps.push(RETURN, ERRNO | refused)?;
    let unknown = steps.push(RETURN, ERRNO | missing)?;
    let mut ends = Vec::new();
    for (number, refusal) in rules {
        ends.push((*number, steps.rule(refusal, (allow, refuse, unknown))?));
    }
    let search = steps.search(&ends, allow)?;
    steps.branch(IF_AT_LEAST, FOREIGN, unknown, search)?;
    let number = steps.push(LOAD, NUMBER)?;
    let kill = steps.push(RETURN, KILL)?;
    steps.branch(IF_EQUAL, machine, number, kill)?;
    steps.push(LOAD, MACHINE)?;
    Ok(steps.0.into_iter().rev().collect())
}

/// The program that asks about the calls of these numbers, sorted, and allows all others. It is for processes with the
/// program above, which ends those that use another machine's numbers.
pub(super) fn asking(numbers: &[u32]) -> io::Result<Vec<sock_filter>> {
    let machine = OWN_MACHINE.ok_or(io::ErrorKind::Unsupported)?;
    let mut steps = Backwards::default();
    let allow = steps.push(RETURN, ALLOW)?;
    let ask = steps.push(RETURN, ASK)?;
    let ends: Vec<(u32, Step)> = numbers.iter().map(|number| (*number, ask)).collect();
    steps.search(&ends, allow)?;
    let number = steps.push(LOAD, NUMBER)?;
    steps.branch(IF_EQUAL, machine, number, allow)?;
    steps.push(LOAD, MACHINE)?;
    Ok(steps.0.into_iter().rev().collect())
}

/// A program from its end on: every jump goes to a step that is there already.
#[derive(Default)]
struct Backwards(Vec<sock_filter>);

/// A step, counted from the end.
type Step = usize;

impl Backwards {
    fn push(&mut self, code: u16, k: u32) -> io::Result<Step> {
        self.0.push(sock_filter { code, jt: 0, jf: 0, k });
        Ok(self.0.len() - 1)
    }

    fn branch(&mut self, code: u16, k: u32, yes: Step, no: Step) -> io::Result<Step> {
        let here = self.0.len();
        let jump = |to: Step| u8::try_from(here - to - 1).map_err(io::Error::other);
        self.0.push(sock_filter { code, jt: jump(yes)?, jf: jump(no)?, k });
        Ok(here)
    }

    /// The first step of the check of one call.
    fn rule(
        &mut self,
        refusal: &SyscallRefusal,
        (allow, refuse, unknown): (Step, Step, Step),
    ) -> io::Result<Step> {
        match refusal {
            SyscallRefusal::Always => Ok(refuse),
            SyscallRefusal::AsMissing => Ok(unknown),
            SyscallRefusal::AnyBit(index, bits) => {
                self.branch(IF_ANY_BIT, *bits, refuse, allow)?;
                self.push(LOAD, argument(*index))
            }
            SyscallRefusal::OneOf(index, values) => {
                self.one_of(values, (refuse, allow))?;
                self.push(LOAD, argument(*index))
            }
            SyscallRefusal::Sockets(families, routes) => {
                self.branch(IF_EQUAL, 0, allow, refuse)?;
                let protocol = self.push(LOAD, argument(2))?;
                let others: Vec<u32> = families.iter().copied().filter(|family| family != routes).collect();
                let other = self.one_of(&others, (allow, refuse))?;
                let routes_allowed = if families.contains(routes) { protocol } else { refuse };
                self.branch(IF_EQUAL, *routes, routes_allowed, other)?;
                self.push(LOAD, argument(0))
            }
        }
    }

    /// Goes to `yes` if what was loaded is in `values`. Without values it goes to `no`.
    fn one_of(&mut self, values: &[u32], (yes, no): (Step, Step)) -> io::Result<Step> {
        let mut next = no;
        for value in values {
            next = self.branch(IF_EQUAL, *value, yes, next)?;
        }
        Ok(next)
    }

    /// The first step of the search for the number that was loaded.
    fn search(&mut self, ends: &[(u32, Step)], allow: Step) -> io::Result<Step> {
        match ends {
            [] => Ok(allow),
            [(number, end)] => self.branch(IF_EQUAL, *number, *end, allow),
            _ => {
                let (before, from) = ends.split_at(ends.len() / 2);
                let first = from.first().map_or(0, |(number, _)| *number);
                let high = self.search(from, allow)?;
                let low = self.search(before, allow)?;
                self.branch(IF_AT_LEAST, first, high, low)
            }
        }
    }
}
