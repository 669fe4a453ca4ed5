//! Turns of single calls, for jobs.

use super::binary::Place;
use super::mock_server::{MockServer, Reply, Say};
use serde_json::{Value, json};

pub fn call<'a>(id: &'a str, tool: &'a str, input: &'a str) -> Say<'a> {
    Say::Call(id, tool, input)
}

pub fn background(command: &str) -> String {
    json!({"command": command, "background": true}).to_string()
}

/// A turn of single calls, one after the other; the result of each, as the model got it.
pub fn results(
    place: &Place,
    server: &MockServer,
    mode: &str,
    calls: &[(&str, String)],
) -> (Vec<String>, String) {
    for (at, (tool, input)) in calls.iter().enumerate() {
        server.push(Reply::anthropic(&[call(&format!("c{at}"), tool, input)]));
    }
    server.push(Reply::anthropic(&[Say::Text("done")]));
    let out = place.run(["-p", "go", "--mode", mode]);
    let requests = server.requests();
    let last = requests.last().unwrap().body["messages"].clone();
    let told = last.as_array().unwrap().iter().filter(|m| m["role"] == "user").skip(1);
    let told = told.map(|message| {
        let parts = message["content"].as_array().unwrap().iter();
        parts.map(|part| text_of(&part["content"]) + part["text"].as_str().unwrap_or_default()).collect()
    });
    (told.collect(), out.stderr)
}

/// What is pending, as `placet changes --json` names it: a word and a path each.
pub fn pending(place: &Place) -> Vec<String> {
    let found = place.run(["changes", "--json"]).json();
    let text = |change: &Value, key: &str| change[key].as_str().unwrap().to_owned();
    let row = |change: &Value| {
        let path = text(change, "path");
        let path = std::path::Path::new(&path).strip_prefix(&place.tree).unwrap();
        format!("{} {}", text(change, "change"), path.display())
    };
    found.as_array().unwrap().iter().map(row).collect()
}

pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|p| p["text"].as_str()).collect(),
        _ => String::new(),
    }
}

pub fn begun() -> (Place, MockServer) {
    let server = MockServer::start([]);
    let place = Place::new().file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n").answered_by(&server);
    (place, server)
}
