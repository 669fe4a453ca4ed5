use super::super::client::install_tls;
use super::*;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

/// A server of one answer, whose pieces are sent with pauses; then the connection is closed. The second piece is sent
/// when `seen` says that the first has arrived.
fn server(pieces: Vec<(Vec<u8>, Duration)>, seen: mpsc::Receiver<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let _ = client.read(&mut [0; 4096]).unwrap();
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        client.write_all(head.as_bytes()).unwrap();
        for (number, (piece, pause)) in pieces.into_iter().enumerate() {
            if number == 1 {
                seen.recv_timeout(Duration::from_secs(60)).expect("the first piece waits for no other");
            }
            std::thread::sleep(pause);
            let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), &piece, b"\r\n"].concat();
            client.write_all(&chunk).unwrap();
        }
        let _ = client.write_all(b"0\r\n\r\n");
    });
    url
}

/// What the reader gets of these pieces, take by take.
async fn takes(pieces: Vec<(Vec<u8>, Duration)>) -> Vec<Vec<u8>> {
    install_tls();
    let (saw, seen) = mpsc::channel();
    let pump = BodyPump::new(reqwest::get(server(pieces, seen)).await.unwrap());
    let mut all = Vec::new();
    while let Some(bytes) = pump.take().await.unwrap() {
        all.push(bytes);
        let _ = saw.send(());
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_slow_stream_arrives_whole_and_in_fewer_takes_than_pieces() {
    let piece = |number: usize| format!("{number:4}").into_bytes();
    let sent: Vec<(Vec<u8>, Duration)> =
        (0..200).map(|number| (piece(number), Duration::from_millis(3))).collect();
    let whole: Vec<u8> = (0..200).flat_map(piece).collect();
    let takes = takes(sent).await;
    assert_eq!(takes.concat(), whole);
    assert_eq!(takes[0], piece(0));
    assert!(takes.len() < 120, "{} takes of 200 pieces", takes.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_fast_stream_of_megabytes_arrives_whole() {
    let sent: Vec<(Vec<u8>, Duration)> =
        (0..3_000_usize).map(|n| (vec![b'a' + (n % 26) as u8; 1_000 + n], Duration::ZERO)).collect();
    let whole: Vec<u8> = sent.iter().flat_map(|(piece, _)| piece.clone()).collect();
    assert!(takes(sent).await.concat() == whole);
}
