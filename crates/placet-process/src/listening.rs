//! The ports on which the programs of a command listen.

use super::ChildPid;

/// The TCP ports on which a process below `supervisor` listens and that a connection to `localhost` reaches, in
/// order. Empty where the system does not show them.
#[cfg(target_os = "linux")]
pub fn listening_ports(supervisor: ChildPid) -> Vec<u16> {
    use super::descendants::processes_below;
    let mut ports = std::collections::BTreeSet::new();
    for pid in processes_below(supervisor) {
        let own = sockets_of(pid);
        if own.is_empty() {
            continue;
        }
        for table in ["net/tcp", "net/tcp6"] {
            let table = std::fs::read_to_string(pid.proc_dir().join(table)).unwrap_or_default();
            // The table has the sockets of the whole network, which other commands may share.
            ports.extend(listeners(&table).filter(|(_, inode)| own.contains(inode)).map(|(port, _)| port));
        }
    }
    ports.into_iter().collect()
}

#[cfg(not(target_os = "linux"))]
pub fn listening_ports(_: ChildPid) -> Vec<u16> {
    Vec::new()
}

/// The inodes of the sockets that a process has open.
#[cfg(target_os = "linux")]
fn sockets_of(pid: ChildPid) -> std::collections::BTreeSet<u64> {
    let open = std::fs::read_dir(pid.proc_dir().join("fd")).into_iter().flatten().flatten();
    let inode = |entry: std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    open.filter_map(inode).collect()
}

/// The port and the inode of each listener in a table such as `/proc/net/tcp` (proc_net_tcp(5)) that has an address of
/// `localhost`, or every address.
#[cfg(target_os = "linux")]
fn listeners(table: &str) -> impl Iterator<Item = (u16, u64)> {
    const LISTENS: &str = "0A";
    table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_ascii_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let (address, port) = local.split_once(':')?;
        (*state == LISTENS && is_of_localhost(address)?)
            .then_some((u16::from_str_radix(port, 16).ok()?, inode.parse().ok()?))
    })
}

/// Each group of eight digits is a number in the order of this machine.
#[cfg(target_os = "linux")]
fn is_of_localhost(address: &str) -> Option<bool> {
    use std::net::{Ipv4Addr, Ipv6Addr};
    let mut bytes = Vec::new();
    for group in address.as_bytes().chunks(8) {
        bytes.extend(u32::from_str_radix(std::str::from_utf8(group).ok()?, 16).ok()?.to_ne_bytes());
    }
    let is_local = |at: Ipv4Addr| at == Ipv4Addr::LOCALHOST || at.is_unspecified();
    if let Ok(four) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return Some(is_local(four.into()));
    }
    let six = Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?);
    let mapped = six.to_ipv4_mapped();
    Some(mapped.map_or(six.is_loopback() || six.is_unspecified(), is_local))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{IpAddr, TcpListener, TcpStream};

    #[test]
    fn a_listener_counts_where_localhost_leads_to_it() {
        // As the kernel writes it.
        let written = |address: IpAddr| {
            let bytes = match address {
                IpAddr::V4(four) => four.octets().to_vec(),
                IpAddr::V6(six) => six.octets().to_vec(),
            };
            let group = |group: &[u8]| format!("{:08X}", u32::from_ne_bytes(group.try_into().unwrap()));
            bytes.chunks(4).map(group).collect::<String>()
        };
        for (address, counts) in [
            ("127.0.0.1", true),
            ("0.0.0.0", true),
            ("::1", true),
            ("::", true),
            ("::ffff:127.0.0.1", true),
            ("127.0.0.2", false),
            ("198.18.0.1", false),
            ("fe80::1", false),
            ("::ffff:10.0.0.1", false),
        ] {
            let at = written(address.parse().unwrap());
            for (state, listens) in [("0A", true), ("01", false)] {
                let row = format!("head\n 0: {at}:1FBB 0:0000 {state} 0:0 00:0 0 0 0 77 1\n");
                let found: Vec<(u16, u64)> = listeners(&row).collect();
                assert_eq!(found, if counts && listens { vec![(8123, 77)] } else { vec![] }, "{address}");
            }
        }
        assert_eq!(listeners("head\nnonsense\n 0: 0100007F 0 0A\n").count(), 0);
    }

    #[test]
    fn the_kernel_writes_its_table_so() {
        let (four, six) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("[::1]:0"));
        let at = four.local_addr().unwrap();
        let _connected = TcpStream::connect(at).unwrap();
        let ports = |table: &str| -> Vec<u16> {
            listeners(&std::fs::read_to_string(table).unwrap_or_default()).map(|(port, _)| port).collect()
        };
        assert!(ports("/proc/self/net/tcp").contains(&at.port()));
        if let Ok(six) = six {
            assert!(ports("/proc/self/net/tcp6").contains(&six.local_addr().unwrap().port()));
        }
    }
}
