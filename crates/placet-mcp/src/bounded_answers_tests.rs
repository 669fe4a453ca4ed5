//! Servers in this process that send requests and read no answer.

use super::MOST_WAITING;
use crate::connection::{CallLimits, CallListeners, ServerCallSubject, ServerConnection};
use crate::elicitation::{ElicitationAnswer, ElicitationForm};
use crate::error::McpClientError;
use crate::server_request::{SampledAnswer, SamplingPrompt, SamplingRefusal, ServerRequestHandler};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio_util::sync::CancellationToken;

/// The server's end of the pipes, after the greeting.
struct FakeServer {
    input: Lines<BufReader<DuplexStream>>,
    output: DuplexStream,
}

impl FakeServer {
    /// The pipe to it holds 256 bytes: two answers.
    async fn greeted() -> (FakeServer, ServerConnection) {
        let (read, theirs_out) = tokio::io::duplex(1 << 16);
        let (theirs_in, write) = tokio::io::duplex(256);
        let mut server = FakeServer { input: BufReader::new(theirs_in).lines(), output: theirs_out };
        let opening = ServerConnection::open((read, write), Vec::new(), Duration::from_secs(5));
        let greeting = async {
            let first = server.read().await;
            let result = json!({
                "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}
            });
            server.send(json!({"jsonrpc": "2.0", "id": first["id"], "result": result})).await;
            server.read().await;
        };
        let (opened, ()) = tokio::join!(opening, greeting);
        (server, opened.ok().unwrap().connection)
    }

    async fn read(&mut self) -> Value {
        serde_json::from_str(&self.input.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn send(&mut self, message: Value) {
        // The other end is closed at the end of a test.
        drop(self.output.write_all(format!("{message}\n").as_bytes()).await);
    }

    async fn ask(&mut self, id: &str) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"})).await;
    }
}

/// These tests send neither forms nor prompts.
struct NobodyAnswers;

impl ServerRequestHandler for NobodyAnswers {
    fn elicit(&self, _: ElicitationForm) -> BoxFuture<'static, ElicitationAnswer> {
        unreachable!()
    }

    fn sample(&self, _: SamplingPrompt) -> BoxFuture<'static, Result<SampledAnswer, SamplingRefusal>> {
        unreachable!()
    }
}

async fn call(connection: &ServerConnection, silence: u64) -> Result<String, McpClientError> {
    let cancel = CancellationToken::new();
    let limits = CallLimits { silence: Duration::from_secs(silence), cancel: &cancel };
    let listeners = CallListeners { progress: Arc::new(|_: &str| {}), requests: Arc::new(NobodyAnswers) };
    let tool = ServerCallSubject::Tool { name: "t".into(), arguments: Map::new() };
    let called = connection.call(tool, limits, listeners).await;
    called.map(|result| serde_json::to_string(&result.content).unwrap())
}

#[tokio::test]
async fn a_server_that_reads_no_answers_is_ended_and_sends_no_more() {
    let (mut server, connection) = FakeServer::greeted().await;
    let flood = async {
        server.read().await;
        for n in 0..100_000 {
            server.ask(&format!("r{n}")).await;
        }
    };
    let error = tokio::select! {
        answer = call(&connection, 60) => answer.unwrap_err(),
        () = flood => panic!("all of its requests were read"),
    };
    assert_eq!(error.to_string(), "it sent 64 requests and did not read the answers for 3 s: it was ended");
    assert!(error.is_lost() && connection.is_closed());
}

#[tokio::test]
async fn the_deadline_of_a_call_ends_it_also_when_the_server_takes_no_message() {
    let (mut server, connection) = FakeServer::greeted().await;
    let flood = async {
        server.read().await;
        for n in 0..MOST_WAITING - 1 {
            server.ask(&format!("r{n}")).await;
        }
        std::future::pending::<()>().await;
    };
    let error = tokio::select! {
        answer = call(&connection, 2) => answer.unwrap_err(),
        () = flood => unreachable!(),
    };
    assert_eq!(error, McpClientError::Silent(Duration::from_secs(2)));
    assert!(connection.is_closed(), "it cannot hear of the end of the call");
}

#[tokio::test]
async fn a_server_that_reads_its_answers_may_ask_as_often_as_it_likes() {
    let (mut server, connection) = FakeServer::greeted().await;
    let asking = async {
        let call = server.read().await;
        for n in 0..500 {
            let id = format!("r{n}");
            server.ask(&id).await;
            if n % 5 == 0 {
                let params = json!({"requestId": id, "reason": "no more"});
                server
                    .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
                    .await;
            }
            assert_eq!(server.read().await["id"], id);
        }
        // Such an id is longer than anybody needs: it is not repeated.
        server.ask(&"x".repeat(2_000)).await;
        let result = json!({"content": [{"type": "text", "text": "done"}]});
        server.send(json!({"jsonrpc": "2.0", "id": call["id"], "result": result})).await;
    };
    let (answer, ()) = tokio::join!(call(&connection, 60), asking);
    assert!(answer.unwrap().contains("done"));
    assert!(!connection.is_closed());
}
