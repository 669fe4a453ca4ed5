//! A client of `placet mcp serve`, which speaks JSON-RPC written by hand.

use super::binary::{Place, Running};
use serde_json::{Value, json};

pub struct McpClient {
    pub running: Running,
    next: u64,
}

impl McpClient {
    pub fn start(place: &Place, args: &[&str]) -> McpClient {
        let mut client =
            McpClient { running: place.placet(["mcp", "serve"].iter().chain(args)).start(), next: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let welcome = client.ask("initialize", hello);
        assert_eq!(welcome["serverInfo"]["name"], "placet");
        assert_eq!(welcome["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(welcome["capabilities"]["tools"].is_object(), "{welcome}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    pub fn send(&mut self, message: &Value) {
        self.running.say(&format!("{message}\n"));
    }

    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub fn answer(&mut self) -> Value {
        serde_json::from_str(&self.running.line()).unwrap()
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    pub fn call(&mut self, name: &str, arguments: Value) -> (bool, String) {
        let result = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        told(&result)
    }

    pub fn close(mut self) {
        drop(self.running.stdin.take());
        let out = self.running.end().code(0);
        assert_eq!(out.stderr, "");
    }
}

/// Whether it is an error, and its text.
pub fn told(result: &Value) -> (bool, String) {
    let text = result["content"][0]["text"].as_str().unwrap_or_default().to_string();
    (result["isError"] == true, text)
}
