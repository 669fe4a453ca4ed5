//! Which program asked the stub: the process inside that has the socket of the question open.
//!
//! Only for names that are refused for the first time, and within limits: a command with very many processes is not
//! searched.

use placet_process::ChildPid;
use std::path::{Path, PathBuf};

/// The most processes that are searched.
const MOST_PROCESSES: usize = 64;

/// The most descriptors of a process that are searched.
const MOST_DESCRIPTORS: usize = 256;

/// The name of the program below `first`, the first process inside, that asked from UDP port `port`. It waits for the
/// answer, and so it still exists. A program gives itself this name.
pub(super) fn program(first: ChildPid, port: u16) -> Option<String> {
    let socket = PathBuf::from(format!("socket:[{}]", inode(&first.proc_dir(), port)?));
    let mut waiting = vec![first.proc_dir()];
    for _ in 0..MOST_PROCESSES {
        let process = waiting.pop()?;
        if has_open(&process, &socket) {
            let name = std::fs::read(process.join("comm")).ok()?;
            return Some(String::from_utf8_lossy(&name).trim_end().to_string());
        }
        waiting.extend(children(&process));
    }
    None
}

/// The number of the socket that is bound to `port`, from the table of the network of `process`.
fn inode(process: &Path, port: u16) -> Option<u64> {
    let table = std::fs::read_to_string(process.join("net/udp")).ok()?;
    let of_row = |row: &str| {
        let mut words = row.split_ascii_whitespace();
        let own = words.nth(1)?.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok())?;
        (own == port).then(|| words.nth(7)?.parse().ok())?
    };
    table.lines().skip(1).find_map(of_row)
}

fn has_open(process: &Path, socket: &Path) -> bool {
    let open = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let mut open = open.take(MOST_DESCRIPTORS);
    open.any(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target == socket))
}

/// The processes that any thread of `process` started. A process whose parent has ended is a child of the first.
fn children(process: &Path) -> Vec<PathBuf> {
    let threads = std::fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let numbers = lists.flat_map(|list| {
        list.split_ascii_whitespace().filter_map(|number| number.parse::<i64>().ok()).collect::<Vec<_>>()
    });
    numbers.filter_map(|number| Some(ChildPid::checked(number).ok()?.proc_dir())).collect()
}
