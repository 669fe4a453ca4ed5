//! The way to a server: kept and warmed connections, a sleep of the machine, proxies, certificates of a company, limits,
//! and other providers where one does not answer.

use crate::support::binary::Place;
use crate::support::live::{self, ms};
use crate::support::mock_server::{MockServer, Reply, Say, anthropic_events, openai_events};
use crate::support::network::{Keeping, connect_proxy, socks_proxy, tls_server};
use crate::support::request::request_saying;
use futures_util::StreamExt;
use placet::provider::{
    AnthropicFormat, ApiKeySource, Endpoint, FallbackEntry, FallbackProvider, HttpProvider,
    HttpProviderSettings, ModelCapabilities, ModelRequest, ModelSpec, Provider, ProviderError, StreamEvent,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio_util::sync::CancellationToken;

fn settings() -> HttpProviderSettings {
    live::settings(2, ms(20))
}

fn live(url: String, settings: HttpProviderSettings) -> HttpProvider {
    let endpoint = Endpoint { base_url: url, ..Endpoint::default() };
    HttpProvider::new("mock", Arc::new(AnthropicFormat::default()), endpoint, ApiKeySource::None, settings)
}

fn model(name: &str) -> ModelSpec {
    ModelSpec { name: name.into(), window: 1000, capabilities: ModelCapabilities::default() }
}

fn to_first_model() -> ModelRequest {
    ModelRequest { model: model("first-model"), ..request_saying("hi") }
}

async fn hear(provider: &dyn Provider) -> Vec<Result<StreamEvent, ProviderError>> {
    provider.answer(to_first_model(), CancellationToken::new()).collect().await
}

fn text(heard: &[Result<StreamEvent, ProviderError>]) -> String {
    match heard.last() {
        Some(Ok(StreamEvent::Finished(answer))) => answer.text(),
        other => panic!("{other:?}"),
    }
}

fn elsewhere(heard: &[Result<StreamEvent, ProviderError>]) -> Vec<String> {
    let said = heard.iter().filter_map(|item| match item {
        Ok(StreamEvent::Elsewhere { from, to, because }) => Some(format!("{from} > {to}: {because}")),
        _ => None,
    });
    said.collect()
}

static HOURS: AtomicU64 = AtomicU64::new(0);

/// A clock on the wall that this test moves.
fn wall() -> SystemTime {
    SystemTime::now() + Duration::from_secs(3600 * HOURS.load(Ordering::SeqCst))
}

#[tokio::test]
async fn one_connection_serves_all_turns_is_warmed_ahead_and_is_not_trusted_after_a_sleep() {
    let body = anthropic_events(&[Say::Text("hello")]).concat();
    let server = Keeping::start(body.clone());
    let mut settings = settings();
    settings.client.wall = wall;
    let provider = live(server.url(), settings.clone());
    provider.warm().await;
    assert_eq!((server.connections(), server.requests()), (1, 1));
    for turn in 0..3 {
        assert_eq!(text(&hear(&provider).await), "hello");
        assert_eq!((server.connections(), server.requests()), (1, turn + 2));
    }
    HOURS.fetch_add(1, Ordering::SeqCst);
    assert_eq!(text(&hear(&provider).await), "hello");
    assert_eq!(server.connections(), 2);

    // Asleep while waiting: the request is sent once more, at once and over another connection.
    let server = MockServer::start([Reply::stream().stall(), Reply::sse(body.clone())]);
    let provider = live(server.url(), settings.clone());
    let mut stream = provider.answer(to_first_model(), CancellationToken::new());
    let mut told = Vec::new();
    while let Some(item) = stream.next().await {
        let item = item.unwrap();
        if matches!(item, StreamEvent::Silent { .. }) && told.is_empty() {
            HOURS.fetch_add(8, Ordering::SeqCst);
        }
        told.push(item);
    }
    let slept = told.iter().find_map(|event| match event {
        StreamEvent::Retrying { error, .. } => Some(error.to_string()),
        _ => None,
    });
    assert!(slept.as_ref().is_some_and(|e| e.contains("this machine slept for")), "{told:?}");
    assert!(matches!(told.last(), Some(StreamEvent::Finished(_))));
    assert_eq!(server.requests().len(), 2);

    // Asleep in the middle of an answer that goes on as if nothing had been.
    let events = anthropic_events(&[Say::Text("hello")]);
    let (first, rest) = events.split_at(3);
    let server = MockServer::start([Reply::sse(first.concat()).wait(ms(400)).write(rest.concat())]);
    let provider = live(server.url(), settings);
    let mut stream = provider.answer(to_first_model(), CancellationToken::new());
    let mut last = None;
    while let Some(item) = stream.next().await {
        if matches!(item, Ok(StreamEvent::Text(_))) {
            HOURS.fetch_add(8, Ordering::SeqCst);
        }
        last = Some(item.unwrap());
    }
    assert!(matches!(last, Some(StreamEvent::Finished(answer)) if answer.text() == "hello"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_first_byte_has_a_limit_of_its_own() {
    let impatient = HttpProviderSettings { first_byte_limit: Some(ms(100)), ..settings() };
    let server = MockServer::start([Reply::nothing(), Reply::nothing()]);
    let heard = hear(&live(server.url(), impatient.clone())).await;
    assert_eq!(heard.last().unwrap().as_ref().unwrap_err(), &ProviderError::Timeout(ms(100)));
    let slow = Reply::stream().wait(ms(300)).write(anthropic_events(&[Say::Text("late")]).concat());
    let server = MockServer::start([Reply::nothing(), slow]);
    assert_eq!(text(&hear(&live(server.url(), impatient)).await), "late");
}

#[tokio::test]
async fn another_provider_answers_when_the_first_does_not_and_the_first_is_spared_for_a_while() {
    let busy = || Reply::error(529, "overloaded_error", "busy");
    let hello = |words: &str| Reply::sse(anthropic_events(&[Say::Text(words)]).concat());
    let first = MockServer::start([busy(), busy()]);
    let second = MockServer::start([hello("from the second"), hello("again")]);
    let link = FallbackEntry {
        provider: Arc::new(live(second.url(), settings())),
        model: Some((model("second-model"), 50)),
    };
    let chain = FallbackProvider::new(Arc::new(live(first.url(), settings())), vec![link]);
    let heard = hear(&chain).await;
    assert_eq!(text(&heard), "from the second");
    let told = "mock > mock with second-model: the provider is overloaded (HTTP 529): busy";
    assert_eq!(elsewhere(&heard), [told]);
    assert!(
        matches!(heard.last(), Some(Ok(StreamEvent::Finished(a))) if a.model == "second-model" && a.provider == "mock")
    );
    let sent = &second.requests()[0].body;
    assert_eq!((&sent["model"], &sent["max_tokens"]), (&"second-model".into(), &50.into()));
    let heard = hear(&chain).await;
    assert_eq!(text(&heard), "again");
    assert_eq!(
        elsewhere(&heard),
        ["mock > mock with second-model: it failed, and is skipped for another 60 s"]
    );
    assert_eq!((first.requests().len(), second.requests().len()), (2, 2));
}

#[tokio::test]
async fn nothing_is_asked_elsewhere_that_would_be_said_twice_or_hide_a_mistake() {
    let half = anthropic_events(&[Say::Text("half an ans")])[..3].concat();
    for (reply, kind) in [
        (Reply::error(401, "authentication_error", "no"), "Auth"),
        (Reply::error(400, "invalid_request_error", "no"), "BadRequest"),
        (Reply::sse(half).close(), "Broken"),
    ] {
        let first = MockServer::start([reply]);
        let second = MockServer::start([]);
        let link = FallbackEntry { provider: Arc::new(live(second.url(), settings())), model: None };
        let chain = FallbackProvider::new(Arc::new(live(first.url(), settings())), vec![link]);
        let heard = hear(&chain).await;
        let error = heard.last().unwrap().as_ref().unwrap_err();
        assert!(format!("{error:?}").starts_with(kind), "{error:?}");
        assert!(second.requests().is_empty());
    }
    // When all of them fail, the last error is told, and the next question tries them all.
    let busy = || Reply::error(529, "overloaded_error", "busy");
    let servers = [
        MockServer::start([busy(), busy(), busy(), busy()]),
        MockServer::start([busy(), busy(), busy(), busy()]),
    ];
    let link = FallbackEntry { provider: Arc::new(live(servers[1].url(), settings())), model: None };
    let chain = FallbackProvider::new(Arc::new(live(servers[0].url(), settings())), vec![link]);
    for round in 1..3 {
        let heard = hear(&chain).await;
        assert!(matches!(heard.last(), Some(Err(ProviderError::Overloaded { status: 529, .. }))));
        assert_eq!(servers.each_ref().map(|s| s.requests().len()), [2 * round; 2]);
    }
}

/// Settings for a server that only a proxy can find.
fn far_away(url: &str) -> Place {
    Place::new().config(&format!(
        "provider = \"mine\"\ncontext_window = 9000\nnetwork.attempts = 1\n\
         [providers.mine]\nbase_url = \"{url}\"\nmodel = \"m\"\n"
    ))
}

#[test]
fn plain_requests_go_through_the_proxy_of_the_environment_and_past_it_where_no_proxy_says() {
    let proxy = MockServer::start([Reply::openai(&[Say::Text("by the proxy")])]);
    let place = far_away("http://model.test/v1");
    let run = || place.placet(["-p", "hi"]).env("HTTP_PROXY", proxy.url());
    run().go().code(0).says("by the proxy");
    assert_eq!(proxy.requests()[0].path, "http://model.test/v1/chat/completions");
    run().env("NO_PROXY", "model.test").go().code(4).warns("no connection to model.test");
    assert_eq!(proxy.requests().len(), 1);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let doctor = place.placet(["doctor"]).env("HTTPS_PROXY", "http://u:secret-1@p.test:8080").go();
    assert!(doctor.stdout.contains("network       HTTPS_PROXY=http://[hidden]@p.test:8080\n"), "{doctor:#?}");
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        let out = place.placet(["-p", "hi"]).env(variable, format!("http://u:secret-1@{gone}")).go().code(4);
        let words = format!(
            "no connection to model.test: the proxy {gone} from {variable} cannot be reached: connection refused"
        );
        assert!(out.stderr.contains(&words) && !out.stderr.contains("secret-1"), "{out:#?}");
    }
}

#[test]
fn the_variables_of_proxies_are_taken_in_small_letters_too() {
    let proxy = MockServer::start([Reply::openai(&[Say::Text("by the proxy")])]);
    let place = far_away("http://model.test/v1");
    let run = || place.placet(["-p", "hi"]).env("http_proxy", proxy.url());
    run().go().code(0).says("by the proxy");
    // What goes past the proxy is not blamed on it.
    let out = run().env("no_proxy", "x.test,.test").go().code(4);
    assert!(out.stderr.contains("no connection to model.test: DNS: "), "{out:#?}");
    assert!(!out.stderr.contains("http_proxy"), "{out:#?}");
    assert_eq!(proxy.requests().len(), 1);
    let server = tls_server(openai_events(&[Say::Text("through the tunnel")]).concat());
    let (tunnel, log) = connect_proxy("placet:pass-1", server);
    let ca_file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/ca.pem");
    let far = far_away("https://model.test/v1");
    let run = far.placet(["-p", "hi"]).env("SSL_CERT_FILE", ca_file);
    run.env("https_proxy", format!("http://placet:pass-1@{tunnel}")).go().code(0).says("through the tunnel");
    assert_eq!(log.lock().unwrap().as_slice(), ["CONNECT model.test:443"]);
}

#[test]
fn a_proxy_that_refuses_is_named_with_its_variable_and_asked_once() {
    // Tried only once, however many attempts there may be: the password is as wrong the second time.
    let config = |url: &str| {
        Place::new().config(&format!(
            "provider = \"mine\"\ncontext_window = 9000\nnetwork.attempts = 4\n\
             [providers.mine]\nbase_url = \"{url}\"\nmodel = \"m\"\n"
        ))
    };
    let server = tls_server(openai_events(&[Say::Text("through the tunnel")]).concat());
    let (tunnel, log) = connect_proxy("placet:pass-1", server);
    let ca_file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/ca.pem");
    let far = config("https://model.test/v1");
    let run = |proxy: String| {
        far.placet(["-p", "hi"]).env("SSL_CERT_FILE", ca_file).env("HTTPS_PROXY", proxy).go().code(4)
    };
    let out = run(format!("http://{tunnel}"));
    let words = format!(
        "placet: the proxy {tunnel} requires a name and a password (HTTP 407): set HTTPS_PROXY=http://NAME:PASSWORD@{tunnel}"
    );
    assert!(out.stderr.contains(&words) && !out.stderr.contains("retry:"), "{out:#?}");
    let out = run(format!("http://placet:wrong-1@{tunnel}"));
    let words =
        format!("placet: the proxy {tunnel} refuses the name or the password in HTTPS_PROXY (HTTP 407)");
    assert!(out.stderr.contains(&words) && !out.stderr.contains("retry:"), "{out:#?}");
    assert!(!out.stderr.contains("wrong-1"), "{out:#?}");
    assert_eq!(log.lock().unwrap().as_slice(), &[] as &[String]);

    // Over plain HTTP the proxy answers in the server's place.
    let proxy = MockServer::start([Reply::new(407, "text/html").write("<html>no</html>")]);
    let at = proxy.url().strip_prefix("http://").unwrap().to_string();
    let near = config("http://model.test/v1");
    let out = near.placet(["-p", "hi"]).env("http_proxy", &at).go().code(4);
    let words = format!(
        "placet: the proxy {at} requires a name and a password (HTTP 407): set http_proxy=http://NAME:PASSWORD@{at}"
    );
    assert!(out.stderr.contains(&words), "{out:#?}");
    assert_eq!(proxy.requests().len(), 1);
}

#[test]
fn a_proxy_that_wants_a_password_and_a_company_that_signs_itself() {
    let server = tls_server(openai_events(&[Say::Text("through the tunnel")]).concat());
    let (proxy, log) = connect_proxy("placet:pass-1", server);
    let with = |place: Place, ca: bool| {
        let run = place.placet(["-p", "hi"]).env("HTTPS_PROXY", format!("http://placet:pass-1@{proxy}"));
        let ca_file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/ca.pem");
        // So that the machine's own certificates play no part.
        let run = run.env("SSL_CERT_FILE", if ca { ca_file } else { "/etc/ssl/certs/ca-certificates.crt" });
        run.go()
    };
    with(far_away("https://model.test/v1"), true).code(0).says("through the tunnel");
    assert_eq!(log.lock().unwrap().as_slice(), ["CONNECT model.test:443"]);
    let out = with(far_away("https://model.test/v1"), false).code(4);
    let words = "no secure connection to model.test: TLS: invalid peer certificate: UnknownIssuer; `network.ca_file` names";
    assert!(out.stderr.contains(words) || out.stderr.contains("cannot be built"), "{out:#?}");
    assert!(!out.stderr.contains("pass-1"));

    // The same by a setting, beside the certificates of the system.
    if std::fs::metadata("/etc/ssl/certs/ca-certificates.crt").is_ok() {
        let place = far_away("https://model.test/v1");
        let path = place.config_dir().join("config.toml");
        let ca = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/ca.pem");
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("network.ca_file = \"{ca}\"\n{before}")).unwrap();
        with(place, false).code(0).says("through the tunnel");
    }
    let place = far_away("https://model.test/v1");
    let path = place.config_dir().join("config.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("network.ca_file = \"/nowhere.pem\"\n{before}")).unwrap();
    with(place, false).code(4).warns("the certificates in `/nowhere.pem` cannot be read");
}

#[test]
fn a_socks_proxy_finds_the_server_by_its_name() {
    let server = MockServer::start([Reply::openai(&[Say::Text("by socks")])]);
    let (proxy, log) = socks_proxy(server.url().strip_prefix("http://").unwrap());
    let place = far_away("http://model.test/v1");
    let run = place.placet(["-p", "hi"]).env("ALL_PROXY", format!("socks5h://{proxy}"));
    run.go().code(0).says("by socks");
    assert_eq!(log.lock().unwrap().as_slice(), ["model.test:80"]);
    assert_eq!(server.requests()[0].path, "/v1/chat/completions");
}

#[test]
fn the_person_is_told_who_answers_instead() {
    let busy = Reply::error(529, "overloaded_error", "busy");
    let (first, second) =
        (MockServer::start([busy]), MockServer::start([Reply::anthropic(&[Say::Text("here")])]));
    let place = Place::new().config(&format!(
        "provider = \"one\"\ncontext_window = 9000\nnetwork.attempts = 1\nnetwork.fallback = [\"two/m-2\"]\n\
         [providers.one]\ndialect = \"anthropic\"\nbase_url = \"{}\"\nmodel = \"m-1\"\n\
         [providers.two]\ndialect = \"anthropic\"\nbase_url = \"{}\"\n",
        first.url(),
        second.url()
    ));
    place.run(["-p", "hi"]).code(0).says("here").warns(
        "note: one does not answer (the provider is overloaded (HTTP 529): busy); using two with m-2 instead",
    );
    assert_eq!(second.requests()[0].body["model"], "m-2");
    // What it cost is the cost of who answered.
    let usage = place.run(["usage", "--json"]).code(0);
    assert!(usage.stdout.contains("\"two\"") && usage.stdout.contains("m-2"), "{usage:#?}");
    assert!(!usage.stdout.contains("\"one\""), "{usage:#?}");
    let place = Place::new().config("provider = \"offline\"\nnetwork.fallback = [\"nobody/x\"]\n");
    place
        .run(["-p", "hi", "--provider", "ollama", "--model", "m"])
        .code(2)
        .warns("unknown provider `nobody`");
}

/// Story: five attempts in ten seconds at a server of this machine that did not run, and a hint with `/retry`.
#[test]
fn a_server_of_this_machine_that_does_not_run_is_tried_once_more() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://localhost:{}/v1", listener.local_addr().unwrap().port());
    drop(listener);
    let out = place.run(["-p", "hi", "--provider", "ollama", "--model", "m", "--base-url", &url]).code(4);
    assert_eq!((out.stderr.matches("retry: ").count(), out.stdout.as_str()), (1, ""), "{out:#?}");
    assert!(out.stderr.contains("retry: 2/2 in "), "{out:#?}");
    assert!(
        out.stderr.ends_with("connection refused\nhint: is the server running? `ollama serve` starts it\n"),
        "{out:#?}"
    );
}

#[test]
fn a_connection_is_opened_while_the_person_types_only_where_that_is_wanted() {
    for warm in [true, false] {
        let server = Keeping::start(openai_events(&[Say::Text("hello there")]).concat());
        let mut pty = crate::support::pty::shell()
            .arg("--provider=openai-compatible")
            .arg("--model=m")
            .arg(&format!("--base-url={}", server.url()))
            .arg(&format!("--set=network.warm={warm}"))
            .open();
        if warm {
            pty.until("a connection", |_| server.requests() == 1);
        }
        pty.send("a lin");
        pty.until_prompt("a lin");
        assert_eq!(server.requests(), usize::from(warm));
        pty.line("e");
        pty.until("the answer", |screen| screen.contains("hello there"));
        assert_eq!(server.connections(), 1, "one connection for both");
    }
}
