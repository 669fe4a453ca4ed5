use super::rules::normal;
use super::*;
use std::net::IpAddr;
use tokio::io::{AsyncWriteExt, DuplexStream};

fn rules(hosts: &[&str], reaches: fn(IpAddr) -> bool) -> ProxyRules {
    ProxyRules { hosts: hosts.iter().map(ToString::to_string).collect(), reaches }
}

#[test]
fn only_the_public_internet_is_public() {
    for private in [
        "127.0.0.1",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.127.255.255",
        "192.0.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "203.0.113.9",
        "::",
        "::1",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "fec0::1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "2001:0:1::",
        "2001:db8::1",
        "::10.0.0.1",
    ] {
        assert!(!address::is_public(private.parse().unwrap()), "{private}");
    }
    for public in [
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "192.169.0.1",
        "2606:4700::1111",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
        "2001:4860:4860::8888",
    ] {
        assert!(address::is_public(public.parse().unwrap()), "{public}");
    }
}

#[test]
fn a_pattern_names_hosts_and_maybe_a_port() {
    let rules =
        rules(&["crates.io", "*.Rust-Lang.org", "git.example:22", "[2606::1]:443", "2607::1"], |_| true);
    for (host, port, expected) in [
        ("crates.io", 443, true),
        ("crates.io", 80, true),
        ("evil-crates.io", 443, false),
        ("crates.io.evil", 443, false),
        ("static.rust-lang.org", 443, true),
        ("rust-lang.org", 443, false),
        ("git.example", 22, true),
        ("git.example", 443, false),
        ("2606::1", 443, true),
        ("2606::1", 80, false),
        ("2607::1", 1, true),
        ("crates.io\0.evil", 443, false),
        ("", 443, false),
    ] {
        assert_eq!(rules.lists(host, port), expected, "{host}:{port}");
    }
    assert_eq!((normal("CRATES.io."), normal("[::1]")), ("crates.io".into(), "::1".into()));
}

/// A server that answers each connection with what it was sent, in capitals; and its port.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut heard = vec![0; 4096];
                let length = client.read(&mut heard).await.unwrap();
                heard.truncate(length);
                client.write_all(&heard.to_ascii_uppercase()).await.unwrap();
            });
        }
    });
    port
}

/// What a client receives that sends each piece of `said` and reads after each.
async fn talk(rules: ProxyRules, said: &[&[u8]]) -> Vec<u8> {
    let (mut near, far): (DuplexStream, _) = tokio::io::duplex(65_536);
    let serving = tokio::spawn(async move { converse(far, &rules).await });
    let mut heard = Vec::new();
    for part in said {
        near.write_all(part).await.unwrap();
        let mut chunk = vec![0; 4096];
        let length = near.read(&mut chunk).await.unwrap();
        heard.extend_from_slice(&chunk[..length]);
    }
    near.shutdown().await.unwrap();
    near.read_to_end(&mut heard).await.unwrap();
    let _ = serving.await.unwrap();
    heard
}

#[tokio::test]
async fn a_listed_host_is_reached_by_each_protocol() {
    let port = echo().await;
    let all = || rules(&["localhost"], |_| true);
    let connect = format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n");
    let heard = talk(all(), &[connect.as_bytes(), b"hello"]).await;
    assert_eq!(String::from_utf8(heard).unwrap(), "HTTP/1.1 200 Connection established\r\n\r\nHELLO");
    let get = format!("GET http://localhost:{port}/path HTTP/1.1\r\nProxy-Connection: x\r\n\r\n");
    let heard = talk(all(), &[get.as_bytes()]).await;
    assert_eq!(String::from_utf8(heard).unwrap(), "GET /PATH HTTP/1.1\r\nCONNECTION: CLOSE\r\n\r\n");
    let [high, low] = port.to_be_bytes();
    let socks = [&[5, 1, 0, 3, 9][..], b"localhost", &[high, low]].concat();
    let heard = talk(all(), &[&[5, 1, 0], &socks, b"hello"]).await;
    assert_eq!(heard, [&[5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], b"HELLO"].concat());
}

#[tokio::test]
async fn other_hosts_and_private_addresses_are_refused_with_the_reason() {
    let port = echo().await;
    let connect = format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n");
    let heard = talk(rules(&["crates.io"], |_| true), &[connect.as_bytes()]).await;
    let heard = String::from_utf8(heard).unwrap();
    assert!(
        heard.starts_with("HTTP/1.1 403 Forbidden\r\n") && heard.contains("--allow-host localhost"),
        "{heard}"
    );
    let heard = talk(rules(&["*"], address::is_public), &[connect.as_bytes()]).await;
    let heard = String::from_utf8(heard).unwrap();
    assert!(heard.starts_with("HTTP/1.1 403") && heard.contains("private network"), "{heard}");
    let metadata = b"GET http://169.254.169.254/latest HTTP/1.1\r\n\r\n";
    let heard = talk(rules(&["*"], address::is_public), &[metadata]).await;
    assert!(String::from_utf8(heard).unwrap().contains("private network"));
    let socks = [&[5, 1, 0, 1, 127, 0, 0, 1][..], &port.to_be_bytes()].concat();
    let heard = talk(rules(&["*"], address::is_public), &[&[5, 1, 0], &socks]).await;
    assert_eq!(heard, [5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
    let udp = [5, 3, 0, 1, 1, 1, 1, 1, 0, 53];
    assert_eq!(talk(rules(&["*"], |_| true), &[&[5, 1, 0], &udp]).await[2..4], [5, 7]);
    let heard = talk(rules(&["*"], |_| true), &[b"BREW / HTCPCP/1.0\r\n\r\n"]).await;
    assert!(heard.starts_with(b"HTTP/1.1 400"));
}
