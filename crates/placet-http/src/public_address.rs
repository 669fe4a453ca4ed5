//! Decides which addresses are on the public internet. All others are refused: the list of the IANA special-purpose
//! registries (RFC 6890). For an address that contains an IPv4 address, the IPv4 address decides.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // this host, private, loopback, link-local with the clouds' metadata, multicast and reserved
        (0 | 10 | 127, ..) | (172, 16..=31, _) | (192, 168, _) | (169, 254, _) | (224.., ..) => true,
        // carrier-grade NAT, protocol assignments, benchmarks
        (100, 64..=127, _) | (192, 0, 0) | (198, 18..=19, _) => true,
        // documentation
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) => true,
        _ => false,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // mapped, and translated
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        // 6to4
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo and other protocol assignments, documentation
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // Of the rest only global unicast: not loopback, unique local, link-local, multicast.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}
