//! A gateway before Bedrock, set up with the configuration that the guide shows: where the request goes, and with what.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};

/// The guide's configuration, with `url` in the place of its address.
fn of_the_guide(url: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/providers/anthropic.md");
    let page = std::fs::read_to_string(path).unwrap();
    let gateway = page.split("## A gateway").nth(1).unwrap();
    let block = gateway.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(block.contains("https://llm.example.org"), "{block}");
    block.replace("https://llm.example.org", url)
}

#[test]
fn the_guides_configuration_reaches_a_gateway_before_bedrock() {
    let server = MockServer::start([Reply::anthropic(&[Say::Text("from behind the gateway")])]);
    let place = Place::new().config(&of_the_guide(&server.url()));
    let run = place.placet(["-p", "hi", "--no-project"]).env("GATEWAY_KEY", "gk-1234");
    run.go().code(0).says("from behind the gateway");
    let request = &server.requests()[0];
    assert_eq!(request.path, "/bedrock/v1/messages");
    assert_eq!(request.body["model"], "anthropic.claude-sonnet-5-5");
    let header = |name: &str| request.headers.get(name).map(String::as_str);
    assert_eq!(header("authorization"), Some("Bearer gk-1234"));
    assert_eq!(header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(header("x-api-key"), None);
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn a_gateway_without_a_key_gets_none() {
    let server = MockServer::start([Reply::anthropic(&[Say::Text("open house")])]);
    let config = of_the_guide(&server.url()).replace("key_env = \"GATEWAY_KEY\"\n", "");
    let place = Place::new().config(&config);
    place.run(["-p", "hi", "--no-project"]).code(0).says("open house");
    let request = &server.requests()[0];
    assert!(!request.headers.contains_key("authorization") && !request.headers.contains_key("x-api-key"));
}
