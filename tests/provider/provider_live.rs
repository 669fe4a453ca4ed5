//! Everything that goes wrong on a wire, against a scripted server: the typed error, the attempts, the words on the
//! way, and that cancelling works in every state.

use crate::support::live::{self, ms};
use crate::support::mock_server::{MockServer, Reply, Say, anthropic_events};
use crate::support::request::request_saying;
use futures_util::StreamExt;
use placet::conversation::StopReason;
use placet::provider::{
    AnthropicFormat, ApiKey, ApiKeySource, AuthScheme, Endpoint, HttpProvider, HttpProviderSettings,
    OpenAiChatFormat, Provider, ProviderError, RejectionCause, RetryPolicy, StreamEvent, WireFormat,
};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn settings() -> HttpProviderSettings {
    live::settings(3, ms(40))
}

fn impatient() -> HttpProviderSettings {
    HttpProviderSettings { silence_limit: ms(150), ..settings() }
}

fn live_with(
    url: String,
    dialect: Arc<dyn WireFormat>,
    key: ApiKeySource,
    settings: HttpProviderSettings,
) -> HttpProvider {
    let headers = vec![("anthropic-version".to_string(), "2023-06-01".to_string())];
    HttpProvider::new(
        "mock",
        dialect,
        Endpoint {
            base_url: url,
            auth: AuthScheme::Header("x-api-key".into()),
            headers,
            ..Endpoint::default()
        },
        key,
        settings,
    )
}

fn live(server: &MockServer, settings: HttpProviderSettings) -> HttpProvider {
    live_with(
        server.url(),
        Arc::new(AnthropicFormat::default()),
        ApiKeySource::Value(ApiKey::new("sk-top-secret")),
        settings,
    )
}

#[derive(Debug)]
struct Heard {
    events: Vec<StreamEvent>,
    error: Option<ProviderError>,
}

impl Heard {
    fn retries(&self) -> Vec<(u32, u32, Duration)> {
        self.events
            .iter()
            .filter_map(|e| match e {
                StreamEvent::Retrying { attempt, of, wait, .. } => Some((*attempt, *of, *wait)),
                _ => None,
            })
            .collect()
    }

    fn silences(&self) -> Vec<Duration> {
        self.events
            .iter()
            .filter_map(|e| match e {
                StreamEvent::Silent { since } => Some(*since),
                _ => None,
            })
            .collect()
    }

    fn answer(&self) -> String {
        match (self.events.last(), &self.error) {
            (Some(StreamEvent::Finished(answer)), None) => answer.text(),
            _ => panic!("no answer: {self:?}"),
        }
    }
}

async fn hear(provider: &dyn Provider) -> Heard {
    let mut stream = provider.answer(request_saying("hi"), CancellationToken::new());
    let mut heard = Heard { events: Vec::new(), error: None };
    while let Some(item) = stream.next().await {
        assert!(heard.error.is_none(), "nothing comes after an error");
        match item {
            Ok(event) => heard.events.push(event),
            Err(error) => heard.error = Some(error),
        }
    }
    heard
}

async fn play(script: Vec<Reply>) -> (MockServer, Heard) {
    play_with(script, settings()).await
}

async fn play_with(script: Vec<Reply>, settings: HttpProviderSettings) -> (MockServer, Heard) {
    let server = MockServer::start(script);
    let heard = hear(&live(&server, settings)).await;
    assert_eq!(server.violations(), Vec::<String>::new());
    (server, heard)
}

fn hello() -> Reply {
    Reply::anthropic(&[Say::Text("hello")])
}

/// The first events of an answer: its start, and its first text.
fn beginning() -> String {
    anthropic_events(&[Say::Text("half an ans")])[..3].concat()
}

#[tokio::test]
async fn a_request_carries_its_headers_and_the_answer_the_name_that_was_asked_for() {
    let (server, heard) = play(vec![hello()]).await;
    assert_eq!(heard.answer(), "hello");
    assert!(matches!(heard.events.last(), Some(StreamEvent::Finished(a)) if a.model == "m"));
    let sent = &server.requests()[0];
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(sent.headers["user-agent"], concat!("placet/", env!("CARGO_PKG_VERSION")));
    assert_eq!(sent.headers["x-api-key"], "sk-top-secret");
    assert_eq!(sent.headers["anthropic-version"], "2023-06-01");
    assert_eq!(sent.body, AnthropicFormat::default().encode(&request_saying("hi")));
}

#[tokio::test]
async fn what_may_pass_is_retried_and_what_will_not_is_told_at_once() {
    let overloaded = |status| Reply::error(status, "overloaded_error", "busy");
    for reply in [
        overloaded(529),
        overloaded(503),
        overloaded(500),
        overloaded(408),
        Reply::error(429, "rate_limit_error", "slow"),
        Reply::new(502, "text/html").write("<html><title>Bad Gateway</title></html>"),
        Reply::stream().reset(),
        Reply::stream().close(),
        Reply::stream(),
        Reply::stream().write(anthropic_events(&[])[0].clone()).reset(),
        Reply::sse(
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n",
        ),
    ] {
        let (server, heard) = play(vec![reply.clone(), reply.clone(), hello()]).await;
        assert_eq!(heard.answer(), "hello", "{reply:?}");
        assert_eq!(heard.retries(), [(2, 3, ms(2)), (3, 3, ms(4))], "{reply:?}");
        assert_eq!(server.requests().len(), 3);
        let (server, heard) = play(vec![reply.clone(); 3]).await;
        assert!(heard.error.as_ref().unwrap().is_transient(), "{heard:?}");
        assert_eq!(server.requests().len(), 3);
    }
    let message = || "x".to_string();
    for (reply, error) in [
        (
            Reply::error(401, "authentication_error", "x"),
            ProviderError::Auth { status: 401, message: message() },
        ),
        (Reply::error(403, "permission_error", "x"), ProviderError::Auth { status: 403, message: message() }),
        (
            Reply::error(404, "not_found_error", "x"),
            ProviderError::BadRequest { status: 404, message: message(), blames: RejectionCause::Nothing },
        ),
        (
            Reply::error(400, "invalid_request_error", "messages.0.content.0.image.source: bad"),
            ProviderError::BadRequest {
                status: 400,
                message: "messages.0.content.0.image.source: bad".into(),
                blames: RejectionCause::Image,
            },
        ),
        (
            Reply::error(400, "invalid_request_error", "prompt is too long"),
            ProviderError::TooLong { message: "prompt is too long".into(), exceeded: None },
        ),
    ] {
        let (server, heard) = play(vec![reply]).await;
        assert_eq!(heard.error, Some(error));
        // On a busy machine the answer may take its time, and that is told.
        let told = heard.events.iter().filter(|e| !matches!(e, StreamEvent::Silent { .. })).count();
        assert_eq!((server.requests().len(), told), (1, 0));
    }
}

#[tokio::test]
async fn a_refused_connection_names_the_host_and_the_reason() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let provider = live_with(
        format!("http://{gone}"),
        Arc::new(AnthropicFormat::default()),
        ApiKeySource::None,
        settings(),
    );
    let heard = hear(&provider).await;
    let expected = ProviderError::NotRunning { host: gone.to_string(), start: None };
    assert_eq!(heard.error, Some(expected));
    assert_eq!(heard.retries().len(), 1);
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_named_as_such() {
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = plain.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in plain.incoming().take(3) {
            let mut stream = stream.unwrap();
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 no\r\n\r\n");
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    let provider = live_with(
        format!("https://{host}"),
        Arc::new(AnthropicFormat::default()),
        ApiKeySource::None,
        settings(),
    );
    let heard = hear(&provider).await;
    let retries = heard.retries();
    match heard.error {
        // Asked once: it will speak no TLS the second time either.
        Some(ProviderError::Untrusted { host: named, message }) => {
            assert_eq!((named, retries), (host, Vec::new()));
            assert!(message.starts_with("TLS: "), "{message}");
        }
        // On a machine without any certificates there is no client for TLS at all, and it says that.
        Some(ProviderError::Network { message, .. }) => {
            assert!(message.contains("cannot be built"), "{message}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn silence_is_told_and_then_ends_the_attempt() {
    let ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n: keep-alive\n\n";
    let mut pings = Reply::stream();
    for _ in 0..40 {
        pings = pings.write(ping).wait(ms(10));
    }
    for reply in [
        Reply::nothing(),
        Reply::stream().stall(),
        Reply::stream().write("event: message_start\ndata: {\"type\":\"mess").stall(),
        Reply::new(503, "text/plain").stall(),
        pings,
    ] {
        let (server, heard) = play_with(vec![reply.clone(); 3], impatient()).await;
        assert_eq!(heard.error, Some(ProviderError::Timeout(ms(150))), "{reply:?}");
        assert_eq!(heard.retries().len(), 2);
        // On a busy machine the first one may be told before the server's first byte, and once more after it.
        let mut silences = heard.silences();
        silences.dedup();
        assert_eq!(silences, [ms(40), ms(80), ms(120)].repeat(3));
        assert_eq!(server.requests().len(), 3);
        let (_, heard) = play_with(vec![reply, hello()], impatient()).await;
        assert_eq!(heard.answer(), "hello");
    }
}

#[tokio::test]
async fn a_break_after_the_first_word_keeps_the_words_and_is_not_retried() {
    let half_call = anthropic_events(&[Say::Text("half an ans"), Say::Call("c", "t", "{\"a\":1}")]);
    let error =
        "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    for (reply, words) in [
        (Reply::sse(beginning()).reset(), "connection"),
        (Reply::sse(beginning()).close(), "the connection was closed early"),
        (Reply::sse(beginning()), "the server closed the connection"),
        (Reply::sse(beginning()).stall(), "no data for 0.15 s; the connection was closed"),
        (
            Reply::sse(beginning()).write("event: content_block_del").stall(),
            "no data for 0.15 s; the connection was closed",
        ),
        (Reply::sse(beginning()).write(error), "the provider is overloaded (HTTP 529): busy"),
        (Reply::sse(beginning()).write("data: {oops\n\n"), "the provider sent an invalid answer"),
        (Reply::sse(half_call[..6].concat()).reset(), ""),
        (Reply::sse(half_call[..7].concat()).reset(), ""),
    ] {
        let (server, heard) = play_with(vec![reply.clone()], impatient()).await;
        let Some(ProviderError::Broken { message, partial }) = &heard.error else {
            panic!("{reply:?} {heard:?}")
        };
        assert!(message.starts_with(words), "{message} / {words}");
        assert_eq!(partial.text(), "half an ans");
        assert_eq!((partial.stop.clone(), partial.calls().count()), (StopReason::Cut, 0));
        assert_eq!(partial.model, "m");
        assert_eq!((server.requests().len(), heard.retries().len()), (1, 0));
    }
}

#[tokio::test]
async fn an_answer_whose_stop_reason_came_is_whole_though_the_connection_broke() {
    let events = anthropic_events(&[Say::Text("hello"), Say::Call("c", "t", "{}")]);
    let without_end = events[..events.len() - 1].concat();
    for reply in [Reply::sse(without_end.clone()), Reply::sse(without_end.clone()).reset()] {
        let (_, heard) = play(vec![reply]).await;
        assert_eq!(heard.answer(), "hello");
        assert!(matches!(heard.events.last(), Some(StreamEvent::Finished(a)) if a.calls().count() == 1));
    }
}

#[tokio::test]
async fn retry_after_is_honoured_as_seconds_and_as_a_date() {
    let limited = |after: &str| Reply::error(429, "rate_limit_error", "slow").header("retry-after", after);
    let (_, heard) = play(vec![limited("0.05"), limited("0"), hello()]).await;
    assert_eq!(heard.retries(), [(2, 3, ms(50)), (3, 3, ms(4))]);

    // Up to five minutes are waited for, to the letter.
    let server = MockServer::start([limited("300")]);
    let mut stream = live(&server, settings()).answer(request_saying("hi"), CancellationToken::new());
    let Some(Ok(StreamEvent::Retrying { wait, .. })) = stream.next().await else { panic!() };
    assert_eq!(wait, Duration::from_secs(300));
}

#[tokio::test]
async fn a_wait_that_nobody_would_sit_through_is_told_and_not_tried_early() {
    let limited = |after: &str| Reply::error(429, "rate_limit_error", "slow").header("retry-after", after);
    let (server, heard) = play(vec![limited("301"), hello()]).await;
    let message = "slow (the server asks to wait 301 s)".to_string();
    let retry_after = Some(Duration::from_secs(301));
    assert_eq!(heard.error, Some(ProviderError::RateLimited { message, retry_after }));
    assert_eq!((server.requests().len(), heard.retries().len()), (1, 0));

    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(600);
    let date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&soon).unwrap();
    let busy = Reply::error(503, "overloaded_error", "busy").header("retry-after", &date);
    let (server, heard) = play(vec![busy, hello()]).await;
    let error = heard.error.unwrap();
    assert!(error.retry_after().unwrap() > Duration::from_secs(590), "{error:?}");
    assert!(error.to_string().contains("(the server asks to wait 59"), "{error}");
    assert_eq!(server.requests().len(), 1);

    // After the last attempt it is told as well.
    let once =
        HttpProviderSettings { retry: RetryPolicy { attempts: 1, ..RetryPolicy::default() }, ..settings() };
    let (_, heard) = play_with(vec![limited("120")], once).await;
    assert!(heard.error.unwrap().to_string().ends_with("slow (the server asks to wait 120 s)"));
}

#[tokio::test]
async fn cancelling_ends_every_state_at_once() {
    let slow_key = ApiKeySource::command("sleep 30");
    let no_key = ApiKeySource::None;
    let patient = HttpProviderSettings {
        retry: RetryPolicy {
            attempts: 3,
            first_wait: Duration::from_secs(30),
            longest_wait: Duration::from_secs(30),
        },
        ..settings()
    };
    for (state, reply, key) in [
        ("the key's command", Reply::nothing(), slow_key),
        ("waiting for headers", Reply::nothing(), no_key.clone()),
        ("headers only", Reply::stream().stall(), no_key.clone()),
        ("mid-event", Reply::sse(beginning()).write("event: content_bl").stall(), no_key.clone()),
        ("the body of an error", Reply::new(400, "text/plain").write("x").stall(), no_key.clone()),
        ("between two attempts", Reply::error(529, "overloaded_error", "busy"), no_key.clone()),
    ] {
        let server = MockServer::start([reply]);
        let provider = live_with(server.url(), Arc::new(AnthropicFormat::default()), key, patient.clone());
        let cancel = CancellationToken::new();
        let mut stream = provider.answer(request_saying("hi"), cancel.clone());
        let mut cancelled_at = None;
        let error = loop {
            match stream.next().await.unwrap() {
                Ok(StreamEvent::Silent { .. } | StreamEvent::Retrying { .. }) if cancelled_at.is_none() => {
                    cancelled_at = Some(Instant::now());
                    cancel.cancel();
                }
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        let took = cancelled_at.unwrap_or_else(|| panic!("{state}: {error}")).elapsed();
        assert_eq!(error, ProviderError::Cancelled, "{state}");
        assert!(took < crate::support::wait::DEADLINE, "{state}: {took:?}");
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll_and_dropping_hangs_up() {
    let server = MockServer::start([]);
    let provider = live(&server, settings());
    drop(provider.answer(request_saying("hi"), CancellationToken::new()));
    assert!(server.requests().is_empty());
    server.push(Reply::sse(beginning()).stall());
    let mut stream = provider.answer(request_saying("hi"), CancellationToken::new());
    while !matches!(stream.next().await, Some(Ok(StreamEvent::Text(_)))) {}
    drop(stream);
    // The connection's task learns of it on the runtime's next turn.
    let hung_up =
        tokio::task::spawn_blocking(move || server.wait_for_hangups(1, crate::support::wait::DEADLINE));
    assert!(hung_up.await.unwrap());
}

#[tokio::test]
async fn a_key_is_never_told_and_a_missing_one_has_a_name() {
    let said = "Incorrect API key provided: sk-top-secret";
    let reply = Reply::error(401, "authentication_error", said).header("request-id", "req_7");
    let (_, heard) = play(vec![reply]).await;
    let message = "Incorrect API key provided: [key] (request req_7)".to_string();
    assert_eq!(heard.error, Some(ProviderError::Auth { status: 401, message }));

    let server = MockServer::start([]);
    let missing = ApiKeySource::Missing { variable: "MOCK_KEY".into() };
    let heard =
        hear(&live_with(server.url(), Arc::new(AnthropicFormat::default()), missing, settings())).await;
    let expected = ProviderError::NoKey { provider: "mock".into(), variable: "MOCK_KEY".into() };
    assert_eq!(heard.error, Some(expected));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_key_command_runs_once_and_again_after_the_key_was_refused() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let key = ApiKeySource::command(format!("echo x >> '{0}'; wc -l < '{0}'", count.display()));
    let server =
        MockServer::start([hello(), hello(), Reply::error(401, "authentication_error", "old"), hello()]);
    let provider = live_with(server.url(), Arc::new(AnthropicFormat::default()), key, settings());
    for _ in 0..4 {
        hear(&provider).await;
    }
    let keys: Vec<String> = server.requests().iter().map(|r| r.headers["x-api-key"].clone()).collect();
    assert_eq!(keys, ["1", "1", "1", "2"]);
}

#[tokio::test]
async fn a_redirect_is_told_and_never_followed() {
    let other = MockServer::start([hello()]);
    let (_, heard) = play(vec![Reply::new(307, "text/plain").header("location", &other.url())]).await;
    let error = heard.error.unwrap().to_string();
    assert!(error.contains(&format!("redirected to {}", other.url())), "{error}");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_web_page_is_no_answer_and_an_answer_in_one_piece_is() {
    let page = Reply::new(200, "text/html; charset=utf-8").write("<html><title>Sign in</title></html>");
    let (_, heard) = play(vec![page]).await;
    let error = heard.error.unwrap();
    assert!(matches!(&error, ProviderError::Protocol(m) if m.contains("Sign in")), "{error:?}");

    let message = json!({"role": "assistant", "content": "all at once"});
    let whole = json!({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let server = MockServer::start([Reply::json(200, &whole), Reply::openai(&[Say::Text("streamed")])]);
    let provider =
        live_with(server.url(), Arc::new(OpenAiChatFormat::default()), ApiKeySource::None, settings());
    assert_eq!(hear(&provider).await.answer(), "all at once");
    assert_eq!(hear(&provider).await.answer(), "streamed");
    assert_eq!(server.violations(), Vec::<String>::new());
}

/// Story: a server that does not stream was cut off, and its half answer was taken for nonsense, once and for all.
#[tokio::test]
async fn an_answer_in_one_piece_that_is_cut_short_is_asked_for_again() {
    let message = json!({"role": "assistant", "content": "all at once"});
    let whole = json!({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let text = whole.to_string();
    let half = &text[..text.len() / 2];
    let json_reply = || Reply::new(200, "application/json").header("x-request-id", "req_9");
    let packed = {
        let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
        bytes.extend(miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 6));
        bytes.truncate(bytes.len() / 2);
        bytes
    };
    for (case, cut) in [
        ("closed in the middle", json_reply().write(half).close()),
        ("reset in the middle", json_reply().write(half).reset()),
        ("ended in order, but too early", json_reply().write(half)),
        ("nothing at all", json_reply()),
        ("packed and cut", json_reply().header("content-encoding", "gzip").write(packed.clone())),
        ("packed and closed", json_reply().header("content-encoding", "gzip").write(packed).close()),
    ] {
        let server = MockServer::start([cut.clone(), Reply::json(200, &whole)]);
        let openai = |server: &MockServer| {
            live_with(server.url(), Arc::new(OpenAiChatFormat::default()), ApiKeySource::None, settings())
        };
        let heard = hear(&openai(&server)).await;
        assert_eq!(heard.answer(), "all at once", "{case}");
        assert_eq!(heard.retries().len(), 1, "{case}");
        // And when it is cut each time, that is what is told, with the server's name for the request.
        let server = MockServer::start([cut.clone(), cut.clone(), cut]);
        let error = hear(&openai(&server)).await.error.unwrap();
        let ProviderError::Network { message, .. } = &error else { panic!("{case}: {error:?}") };
        assert!(message.ends_with(" (request req_9)"), "{case}: {message}");
        assert_eq!(server.requests().len(), 3, "{case}");
    }
    // What is whole and no answer is no answer the second time either.
    let nonsense = Reply::new(200, "application/json").write("{oops}");
    let server = MockServer::start([nonsense]);
    let provider =
        live_with(server.url(), Arc::new(OpenAiChatFormat::default()), ApiKeySource::None, settings());
    assert!(matches!(hear(&provider).await.error, Some(ProviderError::Protocol(_))));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_carries_the_servers_name_for_the_request() {
    let busy =
        "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    for header in ["request-id", "x-request-id"] {
        let begun = || Reply::sse(beginning()).header(header, "req_8");
        for reply in [
            begun().write(busy),
            begun().close(),
            begun().reset(),
            begun().stall(),
            begun().write("data: {oops\n\n"),
            Reply::sse("data: {oops\n\n").header(header, "req_8"),
        ] {
            let (_, heard) = play_with(vec![reply.clone()], impatient()).await;
            let error = heard.error.unwrap().to_string();
            assert!(error.ends_with(" (request req_8)"), "{error} {reply:?}");
        }
        let none = Reply::stream().header(header, "req_8").close();
        let (_, heard) = play(vec![none.clone(), none.clone(), none]).await;
        assert!(heard.error.unwrap().to_string().ends_with(" (request req_8)"));
    }
}

/// A server whose queue of connections is full answers nothing, not even that it is there.
#[tokio::test]
async fn a_black_hole_ends_by_the_limit_of_connecting() {
    let (full, _queued) = crate::support::network::black_hole();
    let mut brief = settings();
    brief.client.connect_timeout = ms(200);
    let provider =
        live_with(format!("http://{full}"), Arc::new(AnthropicFormat::default()), ApiKeySource::None, brief);
    let started = Instant::now();
    let heard = hear(&provider).await;
    let expected = ProviderError::Network { host: full.to_string(), message: "timed out".into() };
    assert_eq!(heard.error, Some(expected));
    assert_eq!(heard.retries().len(), 2);
    let took = started.elapsed();
    assert!(ms(600) <= took && took < crate::support::wait::DEADLINE, "{took:?}");
}
