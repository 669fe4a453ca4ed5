//! A page that a scraper on this machine can fetch, with the part of HTTP/1.1 that it needs.

use super::{MetricsFile, prometheus};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How long one request may take, from its first byte to the last of its answer.
const DEADLINE: Duration = Duration::from_secs(5);
/// The longest request that is read.
const LONGEST: usize = 8 << 10;

/// Answers `GET /metrics` until the future is dropped. The listener decides who has access: a loopback address.
pub async fn serve(listener: TcpListener, metrics: MetricsFile) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let metrics = metrics.clone();
        tokio::spawn(async move {
            if !matches!(tokio::time::timeout(DEADLINE, answer(stream, &metrics)).await, Ok(Ok(()))) {
                tracing::debug!("a request for metrics was not answered");
            }
        });
    }
}

async fn answer(mut stream: TcpStream, metrics: &MetricsFile) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut piece).await?;
        if count == 0 || head.len() + count > LONGEST {
            return Ok(());
        }
        head.extend_from_slice(piece.get(..count).unwrap_or_default());
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    let (status, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => match metrics.figures() {
            Ok(figures) => ("200 OK", prometheus(&figures)),
            Err(e) => ("500 Internal Server Error", format!("cannot read the metrics: {e}\n")),
        },
        ("GET" | "HEAD", _) => ("404 Not Found", "the metrics are at /metrics\n".into()),
        _ => ("405 Method Not Allowed", "only GET\n".into()),
    };
    let length = body.len();
    let mut out = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    if method != "HEAD" {
        out.push_str(&body);
    }
    stream.write_all(out.as_bytes()).await?;
    stream.shutdown().await
}
