//! The answer of the browser: a request to an address of this machine that only this login knows, or the address of that
//! request, pasted by the person.

use super::error::{LoginError, cut};
use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};

/// How long the person has to log in.
pub(super) const LOGIN: Duration = Duration::from_secs(300);
/// How long one connection may last.
const CONNECTION: Duration = Duration::from_secs(10);
/// The largest head of a request, in bytes.
const LARGEST_HEAD: usize = 16 << 10;
/// How many connections are served at the same time. A browser opens some that it does not use.
const CONNECTIONS: usize = 16;

/// What the authorization server sent back through the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BrowserAnswer {
    pub(super) code: String,
    pub(super) issuer: Option<String>,
}

pub(super) struct AnswerListener {
    listener: TcpListener,
    port: u16,
}

impl AnswerListener {
    pub(super) async fn bind(port: Option<u16>) -> Result<AnswerListener, LoginError> {
        let listener =
            TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await.map_err(LoginError::Listen)?;
        let port = listener.local_addr().map_err(LoginError::Listen)?.port();
        Ok(AnswerListener { listener, port })
    }

    /// Where the authorization server sends the browser.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/callback", self.port)
    }

    /// Waits for the answer with this `state`. Requests with another one change nothing. `pasted` has lines that the
    /// person typed; the first must be the address.
    pub(super) async fn answer(
        self,
        state: &str,
        pasted: &mut mpsc::Receiver<String>,
    ) -> Result<BrowserAnswer, LoginError> {
        let (sender, mut answers) = mpsc::channel(1);
        let serving = serve(self.listener, state.to_string(), sender);
        let waiting = async {
            tokio::select! {
                () = serving => Err(LoginError::TimedOut(LOGIN)),
                answer = answers.recv() => answer.unwrap_or(Err(LoginError::TimedOut(LOGIN))),
                Some(line) = pasted.recv() => read(line.trim(), state).unwrap_or(Err(LoginError::Pasted)),
            }
        };
        tokio::time::timeout(LOGIN, waiting).await.unwrap_or(Err(LoginError::TimedOut(LOGIN)))
    }
}

/// The answer in an address; `None` if it does not belong to this login.
fn read(address: &str, state: &str) -> Option<Result<BrowserAnswer, LoginError>> {
    let url = Url::parse(address).ok()?;
    let named =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    // A sender that does not know the state did not get the address that placet opened.
    if named("state")? != state {
        return None;
    }
    if let Some(error) = named("error") {
        return Some(Err(LoginError::Denied(cut(&named("error_description").unwrap_or(error)))));
    }
    Some(Ok(BrowserAnswer { code: named("code")?, issuer: named("iss") }))
}

async fn serve(
    listener: TcpListener,
    state: String,
    answers: mpsc::Sender<Result<BrowserAnswer, LoginError>>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Such as too many open files. The next one may succeed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (state, answers) = (state.clone(), answers.clone());
        tokio::spawn(async move {
            drop(tokio::time::timeout(CONNECTION, connection(stream, &state, &answers)).await);
            drop(place);
        });
    }
}

async fn connection(
    mut stream: TcpStream,
    state: &str,
    answers: &mpsc::Sender<Result<BrowserAnswer, LoginError>>,
) -> std::io::Result<()> {
    let (mut head, mut buffer) = (Vec::new(), [0; 2048]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await?;
        head.extend_from_slice(buffer.get(..count).unwrap_or_default());
        if count == 0 {
            return Ok(());
        }
        if head.len() > LARGEST_HEAD {
            let words = "The address is longer than 16 kB: placet does not read it.";
            return reply(&mut stream, "431 Request Header Fields Too Large", words).await;
        }
    }
    let head = String::from_utf8_lossy(&head);
    let target = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    let is_ours = target.split('?').next() == Some("/callback");
    let answer = if is_ours { read(&format!("http://127.0.0.1{target}"), state) } else { None };
    let (status, words) = match &answer {
        None => ("404 Not Found", "This address belongs to no login that placet waits for."),
        Some(Ok(_)) => ("200 OK", "placet has the answer. You can close this page."),
        Some(Err(_)) => ("200 OK", "The login was refused. You can close this page."),
    };
    let written = reply(&mut stream, status, words).await;
    if let Some(answer) = answer {
        // The first answer counts.
        drop(answers.try_send(answer));
    }
    written
}

async fn reply(stream: &mut TcpStream, status: &str, words: &str) -> std::io::Result<()> {
    // Nothing of the request is in the page.
    let page = format!("<!doctype html><meta charset=\"utf-8\"><title>placet</title><p>{words}</p>");
    let reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         referrer-policy: no-referrer\r\ncache-control: no-store\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    let written = stream.write_all(reply.as_bytes()).await;
    drop(stream.shutdown().await);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_with_the_state_is_an_answer() {
        let at = |query: &str| read(&format!("http://127.0.0.1:1/callback?{query}"), "right");
        let answer = at("code=c%2F1&state=right&iss=https%3A%2F%2Fa").unwrap().unwrap();
        assert_eq!(answer, BrowserAnswer { code: "c/1".into(), issuer: Some("https://a".into()) });
        for other in [
            "code=c",
            "code=c&state=wrong",
            "state=right",
            "error=x&state=wrong",
            "",
            "state=wrong&state=right&code=c",
        ] {
            assert!(at(other).is_none(), "{other}");
        }
        let denied = at("error=access_denied&error_description=No%0Ano&state=right").unwrap().unwrap_err();
        assert_eq!(denied.to_string(), "the authorization server refused the login: No");
        assert!(read("not an address", "right").is_none());
    }

    #[tokio::test]
    async fn others_that_connect_do_not_end_the_wait() {
        let listener = AnswerListener::bind(None).await.unwrap();
        let address = listener.address();
        let (_typed, mut pasted) = mpsc::channel(1);
        let waiting = tokio::spawn(async move { listener.answer("right", &mut pasted).await });
        let port: u16 = address.split(':').nth(2).unwrap().split('/').next().unwrap().parse().unwrap();
        let ask = async |line: &str| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            stream.write_all(format!("{line}\r\n\r\n").as_bytes()).await.unwrap();
            let mut reply = String::new();
            stream.read_to_string(&mut reply).await.unwrap();
            reply
        };
        let long = format!("GET /callback?code={}&state=right HTTP/1.1", "x".repeat(20_000));
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(long.as_bytes()).await.unwrap();
        let mut reply = [0; 64];
        let read = stream.read(&mut reply).await.unwrap();
        assert!(reply[..read].starts_with(b"HTTP/1.1 431"), "{reply:?}");
        // One that says nothing.
        let _silent = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        for wrong in [
            "GET /callback?code=x&state=<b>wrong HTTP/1.1",
            "GET / HTTP/1.1",
            "POST /callback?code=x&state=right HTTP/1.1",
        ] {
            let reply = ask(wrong).await;
            assert!(reply.starts_with("HTTP/1.1 404") && !reply.contains("<b>"), "{reply}");
        }
        assert!(ask("GET /callback?code=right&state=right HTTP/1.1").await.starts_with("HTTP/1.1 200"));
        assert_eq!(waiting.await.unwrap().unwrap(), BrowserAnswer { code: "right".into(), issuer: None });
    }
}
