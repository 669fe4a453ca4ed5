//! Standard input and output as JSON-RPC lines. The protocol's library drops a line that is not JSON without an answer,
//! and its client would wait for ever; such a line is answered here.

use crate::mcp;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// The longest message: the library's own limit.
const LONGEST: u64 = 16 * 1024 * 1024;
/// What may wait between here and the library.
const BUFFER: usize = 64 * 1024;
/// JSON-RPC's "parse error".
const PARSE_ERROR: i32 = -32700;

/// The streams for the library, and the task that writes to standard output, which ends when the library drops its
/// stream.
pub(super) struct StdioLines {
    pub(super) input: DuplexStream,
    pub(super) output: DuplexStream,
    pub(super) writer: JoinHandle<std::io::Result<()>>,
}

/// Must be called in a runtime.
pub(super) fn open() -> StdioLines {
    let (input, to_library) = duplex(BUFFER);
    let (output, from_library) = duplex(BUFFER);
    let (answers, mut errors) = unbounded_channel::<String>();
    tokio::spawn(read(to_library, answers));
    let writer = tokio::spawn(async move {
        let mut out = tokio::io::stdout();
        let mut lines = BufReader::new(from_library);
        let mut line = Vec::new();
        loop {
            // `read_until` keeps what it has read in `line` when the other branch is taken.
            tokio::select! {
                read = lines.read_until(b'\n', &mut line) => {
                    if read? == 0 {
                        break;
                    }
                    out.write_all(&line).await?;
                    line.clear();
                }
                Some(error) = errors.recv() => out.write_all(error.as_bytes()).await?,
            }
            out.flush().await?;
        }
        Ok(())
    });
    StdioLines { input, output, writer }
}

/// Passes lines of JSON on, and answers the others. Ends with standard input, or when the library does.
async fn read(mut to_library: DuplexStream, answers: UnboundedSender<String>) {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input).take(LONGEST).read_until(b'\n', &mut line).await;
        if read.is_err() || line.is_empty() {
            return;
        }
        let is_whole = line.ends_with(b"\n") || (line.len() as u64) < LONGEST;
        // As a value: what is nested too deep for the library is refused here, too.
        let fault = match serde_json::from_slice::<Value>(&line) {
            _ if line.iter().all(u8::is_ascii_whitespace) => continue,
            _ if !is_whole => Some(format!("a message has more than {LONGEST} bytes")),
            Ok(_) => None,
            Err(e) => Some(format!("a line cannot be read as JSON: {e}")),
        };
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        let sent = match fault {
            None => to_library.write_all(&line).await.is_ok(),
            Some(fault) => answers.send(parse_error(&fault, mcp::request_id(&line))).is_ok(),
        };
        if !sent || (!is_whole && !skip_line(&mut input).await) {
            return;
        }
    }
}

/// Reads up to the end of the line; false at the end of the input.
async fn skip_line(input: &mut BufReader<tokio::io::Stdin>) -> bool {
    loop {
        let Ok(found) = input.fill_buf().await else { return false };
        if found.is_empty() {
            return false;
        }
        let (used, is_end) = match memchr::memchr(b'\n', found) {
            Some(at) => (at + 1, true),
            None => (found.len(), false),
        };
        input.consume(used);
        if is_end {
            return true;
        }
    }
}

/// Under the id of the request, where it can be seen: a client waits for that one.
fn parse_error(message: &str, id: Option<Value>) -> String {
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": PARSE_ERROR, "message": message}});
    format!("{error}\n")
}
