//! A model server on loopback that does what its script says, one reply a request, and nothing by chance. It records
//! every request and holds each to [`history_rules`](super::history_rules): one that breaks a rule gets 400 and not
//! its reply, and [`MockServer::violations`] tells.
//!
//! Plain threads, so that it serves tests of the library and of the binary alike.

use super::history_rules;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// One request as it arrived. Header names are in lower case.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

/// What to send for one request.
#[derive(Clone, Debug)]
pub struct Reply {
    head: Option<(u16, Vec<(String, String)>)>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<u8>),
    Wait(Duration),
    /// The same again and again, with a pause in between, until the client hangs up.
    Forever(Vec<u8>, Duration),
    /// Says nothing more and keeps the connection until the client hangs up.
    Stall,
    /// Breaks the connection off with a TCP reset.
    Reset,
    /// Closes the connection in order, but without the end of the body.
    Close,
}

/// A piece of a scripted answer.
#[derive(Clone, Copy, Debug)]
pub enum Say<'a> {
    Text(&'a str),
    /// Id, tool, arguments as JSON text, which need not be valid.
    Call(&'a str, &'a str, &'a str),
}

impl Reply {
    pub fn new(status: u16, content_type: &str) -> Reply {
        Reply { head: Some((status, vec![("content-type".into(), content_type.into())])), steps: Vec::new() }
    }

    /// An event stream; add to it with `write` and the others.
    pub fn stream() -> Reply {
        Reply::new(200, "text/event-stream")
    }

    /// A whole event stream.
    pub fn sse(body: impl Into<Vec<u8>>) -> Reply {
        Reply::stream().write(body)
    }

    pub fn json(status: u16, body: &Value) -> Reply {
        Reply::new(status, "application/json").write(body.to_string())
    }

    /// An error in the vendors' common shape.
    pub fn error(status: u16, kind: &str, message: &str) -> Reply {
        Reply::json(status, &json!({"type": "error", "error": {"type": kind, "message": message}}))
    }

    /// Not even headers.
    pub fn nothing() -> Reply {
        Reply { head: None, steps: Vec::new() }
    }

    /// A whole answer of the Messages API.
    pub fn anthropic(said: &[Say]) -> Reply {
        Reply::sse(anthropic_events(said).concat())
    }

    /// A whole answer of Chat Completions.
    pub fn openai(said: &[Say]) -> Reply {
        Reply::sse(openai_events(said).concat())
    }

    pub fn header(mut self, name: &str, value: &str) -> Reply {
        if let Some((_, headers)) = &mut self.head {
            headers.push((name.into(), value.into()));
        }
        self
    }

    pub fn write(self, bytes: impl Into<Vec<u8>>) -> Reply {
        self.step(Step::Write(bytes.into()))
    }

    pub fn wait(self, time: Duration) -> Reply {
        self.step(Step::Wait(time))
    }

    pub fn forever(self, bytes: impl Into<Vec<u8>>, pause: Duration) -> Reply {
        self.step(Step::Forever(bytes.into(), pause))
    }

    pub fn stall(self) -> Reply {
        self.step(Step::Stall)
    }

    pub fn reset(self) -> Reply {
        self.step(Step::Reset)
    }

    pub fn close(self) -> Reply {
        self.step(Step::Close)
    }

    fn step(mut self, step: Step) -> Reply {
        self.steps.push(step);
        self
    }
}

/// The events of an answer of the Messages API, one string each.
pub fn anthropic_events(said: &[Say]) -> Vec<String> {
    let event = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "mock-1", "content": [],
        "stop_reason": null, "usage": usage});
    let mut out = vec![event(json!({"type": "message_start", "message": message}))];
    for (index, say) in said.iter().enumerate() {
        let (block, delta) = match *say {
            Say::Text(text) => {
                (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
            }
            Say::Call(id, name, input) => (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": input}),
            ),
        };
        out.push(event(json!({"type": "content_block_start", "index": index, "content_block": block})));
        out.push(event(json!({"type": "content_block_delta", "index": index, "delta": delta})));
        out.push(event(json!({"type": "content_block_stop", "index": index})));
    }
    let stop = if has_calls(said) { "tool_use" } else { "end_turn" };
    let usage = json!({"output_tokens": 20});
    out.push(event(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage})));
    out.push(event(json!({"type": "message_stop"})));
    out
}

/// The events of an answer of Chat Completions, one string each.
pub fn openai_events(said: &[Say]) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let chunk =
            json!({"id": "c1", "object": "chat.completion.chunk", "model": "mock-1", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let mut calls = 0;
    let mut out = vec![chunk(json!({"role": "assistant"}), Value::Null)];
    for say in said {
        let delta = match *say {
            Say::Text(text) => json!({"content": text}),
            Say::Call(id, name, input) => {
                let function = json!({"name": name, "arguments": input});
                calls += 1;
                json!({"tool_calls": [{"index": calls - 1, "id": id, "type": "function", "function": function}]})
            }
        };
        out.push(chunk(delta, Value::Null));
    }
    out.push(chunk(json!({}), json!(if calls > 0 { "tool_calls" } else { "stop" })));
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30});
    out.push(format!("data: {}\n\n", json!({"choices": [], "usage": usage})));
    out.push("data: [DONE]\n\n".into());
    out
}

/// The events of an answer of the Responses API, one string each.
pub fn responses_events(said: &[Say]) -> Vec<String> {
    let event = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    let response = |status: &str, output: Value, usage: Value| {
        json!({"id": "resp_1", "object": "response", "model": "mock-1", "status": status, "output": output,
            "usage": usage})
    };
    let mut out = vec![event(json!({"type": "response.created",
        "response": response("in_progress", json!([]), Value::Null)}))];
    let mut items = Vec::new();
    for (index, say) in said.iter().enumerate() {
        let (begun, delta, item) = match *say {
            Say::Text(text) => {
                let id = format!("msg_{index}");
                let begun = json!({"type": "message", "id": id, "role": "assistant", "status": "in_progress",
                    "content": []});
                let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
                let item = json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
                    "content": content});
                (begun, ("response.output_text.delta", text), item)
            }
            Say::Call(call_id, name, arguments) => {
                let id = format!("fc_{index}");
                let item = |status: &str, arguments: &str| {
                    json!({"type": "function_call", "id": id, "call_id": call_id, "name": name,
                        "arguments": arguments, "status": status})
                };
                let delta = ("response.function_call_arguments.delta", arguments);
                (item("in_progress", ""), delta, item("completed", arguments))
            }
        };
        out.push(event(json!({"type": "response.output_item.added", "output_index": index, "item": begun})));
        out.push(event(json!({"type": delta.0, "output_index": index, "delta": delta.1})));
        out.push(event(json!({"type": "response.output_item.done", "output_index": index, "item": item})));
        items.push(item);
    }
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "total_tokens": 30});
    let whole = response("completed", Value::Array(items), usage);
    out.push(event(json!({"type": "response.completed", "response": whole})));
    out
}

/// The events of an answer of Gemini, one string each. Arguments that are no JSON come as the text they are.
pub fn gemini_events(said: &[Say]) -> Vec<String> {
    let event = |value: Value| format!("data: {value}\n\n");
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30});
    let mut out = Vec::new();
    for (n, say) in said.iter().enumerate() {
        let part = match *say {
            Say::Text(text) => json!({"text": text}),
            Say::Call(id, name, input) => {
                let args = serde_json::from_str(input).unwrap_or(Value::String(input.into()));
                json!({"functionCall": {"id": id, "name": name, "args": args}})
            }
        };
        let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": [part]}});
        if n + 1 == said.len() {
            candidate["finishReason"] = json!("STOP");
        }
        out.push(event(json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock-1"})));
    }
    out
}

fn has_calls(said: &[Say]) -> bool {
    said.iter().any(|s| matches!(s, Say::Call(..)))
}

/// Refuses a request by its body; what it lets pass gets the next reply of the script.
type Judge = Box<dyn Fn(&Value) -> Option<Reply> + Send + Sync>;

pub struct MockServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    script: Mutex<VecDeque<Reply>>,
    judge: Mutex<Option<Judge>>,
    /// By path.
    about_itself: Mutex<BTreeMap<String, Reply>>,
    requests: Mutex<Vec<Recorded>>,
    violations: Mutex<Vec<String>>,
    hangups: Mutex<usize>,
    hung_up: Condvar,
    stopped: AtomicBool,
}

impl MockServer {
    pub fn start(script: impl IntoIterator<Item = Reply>) -> MockServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared =
            Arc::new(Shared { script: Mutex::new(script.into_iter().collect()), ..Shared::default() });
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if for_thread.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let shared = Arc::clone(&for_thread);
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        MockServer { address, shared }
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds to the script.
    pub fn push(&self, reply: Reply) {
        self.shared.script.lock().unwrap().push_back(reply);
    }

    /// From here on `judge` sees every request first.
    pub fn judged_by(&self, judge: impl Fn(&Value) -> Option<Reply> + Send + Sync + 'static) {
        *self.shared.judge.lock().unwrap() = Some(Box::new(judge));
    }

    /// What it answers to a question about itself, as often as it is asked: such requests are not recorded.
    pub fn says_at(&self, path: &str, reply: Reply) {
        self.shared.about_itself.lock().unwrap().insert(path.into(), reply);
    }

    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The rules broken so far, and requests for which the script had no reply.
    pub fn violations(&self) -> Vec<String> {
        self.shared.violations.lock().unwrap().clone()
    }

    /// Waits until clients have hung up on `count` stalled replies; false when that takes longer than `most`.
    pub fn wait_for_hangups(&self, count: usize, most: Duration) -> bool {
        let hangups = self.shared.hangups.lock().unwrap();
        let (hangups, _) = self.shared.hung_up.wait_timeout_while(hangups, most, |n| *n < count).unwrap();
        *hangups >= count
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let Some((recorded, unread)) = receive(&mut stream) else { return };
        let about_itself = self.about_itself.lock().unwrap().get(&recorded.path).cloned();
        if let Some(reply) = about_itself {
            return drop(send(&mut stream, reply, unread));
        }
        // Only a request for an answer has a history.
        let asks = recorded.method == "POST";
        let broken = if asks { history_rules::broken(&recorded.path, &recorded.body) } else { Vec::new() };
        let judged = self.judge.lock().unwrap().as_ref().and_then(|judge| judge(&recorded.body));
        self.requests.lock().unwrap().push(recorded);
        let reply = match (broken.first(), judged) {
            (Some(rule), _) => Reply::error(400, "invalid_request_error", rule),
            (None, Some(refusal)) => refusal,
            (None, None) => match self.script.lock().unwrap().pop_front() {
                Some(reply) => reply,
                None => {
                    self.violations.lock().unwrap().push("a request beyond the script".into());
                    Reply::error(400, "invalid_request_error", "the script of the mock server is over")
                }
            },
        };
        self.violations.lock().unwrap().extend(broken);
        let stalled =
            reply.head.is_none() || reply.steps.iter().any(|s| matches!(s, Step::Stall | Step::Forever(..)));
        let _ = send(&mut stream, reply, unread);
        if stalled {
            *self.hangups.lock().unwrap() += 1;
            self.hung_up.notify_all();
        }
    }
}

/// Reads a request, but leaves its last byte in the socket: closing a socket with unread bytes is what makes the
/// system send a reset, and [`Step::Reset`] needs that. All other endings read it first.
fn receive(stream: &mut TcpStream) -> Option<(Recorded, Unread)> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at + 4;
        }
        let mut one = [0];
        if stream.read(&mut one).ok()? == 0 {
            return None;
        }
        bytes.push(one[0]);
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_string(), first.next()?.to_string());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
        .collect();
    let length: usize = headers.get("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if let Some((last, most)) = body.split_last_mut() {
        stream.read_exact(most).ok()?;
        let mut peeked = [0];
        if stream.peek(&mut peeked).ok()? == 0 {
            return None;
        }
        *last = peeked[0];
    }
    let unread = if length > 0 { Unread::LastByte } else { Unread::Nothing };
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some((Recorded { method, path, headers, body }, unread))
}

/// What of a request is still in the socket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unread {
    LastByte,
    Nothing,
}

fn send(stream: &mut TcpStream, reply: Reply, unread: Unread) -> std::io::Result<()> {
    let Some((status, headers)) = reply.head else {
        read_the_last_byte(stream, unread);
        wait_for_hangup(stream);
        return Ok(());
    };
    let mut head =
        format!("HTTP/1.1 {status} Scripted\r\ntransfer-encoding: chunked\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.set_nodelay(true)?;
    stream.write_all(head.as_bytes())?;
    for step in reply.steps {
        match step {
            Step::Write(bytes) if bytes.is_empty() => {}
            Step::Write(bytes) => stream.write_all(&chunk(&bytes))?,
            Step::Forever(bytes, pause) => {
                read_the_last_byte(stream, unread);
                let chunk = chunk(&bytes);
                // Ends with the connection.
                loop {
                    stream.write_all(&chunk)?;
                    if !pause.is_zero() {
                        std::thread::sleep(pause);
                    }
                }
            }
            Step::Wait(time) => std::thread::sleep(time),
            Step::Stall => {
                read_the_last_byte(stream, unread);
                wait_for_hangup(stream);
                return Ok(());
            }
            Step::Reset => return Ok(()),
            Step::Close => {
                read_the_last_byte(stream, unread);
                return Ok(());
            }
        }
    }
    read_the_last_byte(stream, unread);
    stream.write_all(b"0\r\n\r\n")
}

/// `bytes` as a piece of a body.
fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

fn read_the_last_byte(stream: &mut TcpStream, unread: Unread) {
    if unread == Unread::LastByte {
        let _ = stream.read(&mut [0]);
    }
}

fn wait_for_hangup(stream: &mut TcpStream) {
    while matches!(stream.read(&mut [0; 64]), Ok(n) if n > 0) {}
}
