//! The messages of a program over a pair of pipes, one on each line. A line that is not a message is recorded, because
//! it may be the answer for which a call waits. A line without an end closes the connection: it would fill the memory.

use super::broken_message::{BrokenMessage, is_unknown_notification};
use super::message_text;
use super::unread_lines::UnreadLines;
use rmcp::ErrorData;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, Empty};

/// The longest message of a server, in bytes.
pub(super) const LONGEST_MESSAGE: usize = 16 << 20;
/// How much is read at once, in bytes. A buffer that is much larger is given back after its message.
const CHUNK: usize = 64 << 10;

type SendingReply = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

pub(super) struct LineTransport<R, W: AsyncWrite> {
    output: R,
    /// Sends only: it would drop a line that it cannot parse without a word.
    input: AsyncRwTransport<RoleClient, Empty, W>,
    longest: usize,
    buffer: Vec<u8>,
    /// Up to here, the lines of the buffer were returned.
    begin: usize,
    /// Up to here, the buffer has no end of a line.
    searched: usize,
    unread: UnreadLines,
    /// What a line has after its answer: there may be another one.
    behind: Option<Vec<u8>>,
    /// The answer to a request that cannot be read. Nothing else is read before it is sent.
    reply: Option<SendingReply>,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(output: R, input: W, longest: usize) -> LineTransport<R, W> {
        LineTransport {
            output,
            input: AsyncRwTransport::new(tokio::io::empty(), input),
            longest,
            buffer: Vec::new(),
            begin: 0,
            searched: 0,
            unread: UnreadLines::default(),
            behind: None,
            reply: None,
        }
    }

    pub(super) fn unread_lines(&self) -> UnreadLines {
        self.unread.clone()
    }

    /// Where the next line is, without its end; `None` when no other comes. Safe to drop and to call again.
    async fn line(&mut self) -> Option<Range<usize>> {
        loop {
            let rest = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', rest) {
                let (begin, end) = (self.begin, self.searched + length);
                (self.begin, self.searched) = (end + 1, end + 1);
                return Some(begin..end);
            }
            self.searched = self.buffer.len();
            if self.searched - self.begin > self.longest {
                self.unread.note_too_long(self.longest);
                return None;
            }
            self.buffer.drain(..self.begin);
            (self.begin, self.searched) = (0, self.buffer.len());
            if self.buffer.is_empty() {
                self.buffer.shrink_to(CHUNK);
            }
            self.buffer.reserve(CHUNK);
            match self.output.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) if self.buffer.is_empty() => return None,
                // The last line may have no end.
                Ok(0) | Err(_) => {
                    (self.begin, self.searched) = (self.buffer.len(), self.buffer.len());
                    return Some(0..self.begin);
                }
                Ok(_) => {}
            }
        }
    }

    async fn next_message(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(reply) = &mut self.reply {
                reply.as_mut().await.ok()?;
                self.reply = None;
            }
            let behind = self.behind.take();
            let line = match &behind {
                Some(rest) => rest.as_slice(),
                None => {
                    let place = self.line().await?;
                    self.buffer.get(place)?
                }
            };
            let line = line.trim_ascii();
            // A byte order mark is no part of JSON.
            let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            if let Some(message) = message_text::message(line) {
                return Some(message);
            }
            if is_unknown_notification(line) {
                continue;
            }
            if let Some(answer) = message_text::answer_in(line) {
                if !answer.before.trim().is_empty() {
                    self.unread.note(answer.before.trim().as_bytes(), None);
                }
                self.behind = Some(answer.after.into_bytes());
                return Some(answer.message);
            }
            let broken = BrokenMessage::read(line);
            let refused = broken.is_request().then(|| broken.id.clone()).flatten();
            self.unread.note(line, broken.answers());
            if let Some(id) = refused {
                let error = ErrorData::invalid_request("the request cannot be read", None);
                self.reply = Some(Box::pin(self.input.send(JsonRpcMessage::error(error, Some(id)))));
            }
        }
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.input.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.next_message().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.input.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::RequestId;

    async fn read(text: &str, longest: usize) -> (Vec<RequestId>, UnreadLines) {
        let mut lines = LineTransport::new(text.as_bytes(), tokio::io::sink(), longest);
        let mut ids = Vec::new();
        while let Some(message) = lines.receive().await {
            if let JsonRpcMessage::Response(answer) = message {
                ids.push(answer.id);
            }
        }
        (ids, lines.unread_lines())
    }

    fn answer(id: usize) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}")
    }

    #[tokio::test]
    async fn all_lines_are_read_whatever_is_between_them() {
        let many: String = (0..5_000).map(|id| format!("\u{feff}{}\r\n\n noise\n", answer(id))).collect();
        let (ids, unread) = read(&(many + &answer(5_000)), 1_000).await;
        assert_eq!(ids.len(), 5_001);
        assert_eq!(unread.take_first().as_deref(), Some("`noise`"));
        assert_eq!(unread.take_first(), None, "it is reported once");
    }

    #[tokio::test]
    async fn every_answer_of_a_line_is_read_and_the_log_around_it_is_known() {
        let line = format!("working ...{}done {}{} bye", answer(1), answer(2), answer(3));
        let (ids, unread) = read(&format!("{line}\n{}{line}", answer(4)), 10_000).await;
        let numbers: Vec<RequestId> = [1, 2, 3, 4, 1, 2, 3].map(RequestId::Number).to_vec();
        assert_eq!(ids, numbers);
        assert_eq!(unread.take_first().as_deref(), Some("`working ...`"));
    }

    #[tokio::test]
    async fn a_line_without_an_end_closes_the_connection_and_says_so() {
        let mut endless = LineTransport::new(tokio::io::repeat(b'x'), tokio::io::sink(), 100_000);
        assert!(endless.receive().await.is_none());
        assert_eq!(endless.unread_lines().too_long(), Some(100_000));
    }

    #[tokio::test]
    async fn a_request_that_cannot_be_read_is_refused() {
        let request = "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":[]}\n";
        let (mut sent, input) = tokio::io::duplex(10_000);
        let mut lines = LineTransport::new(request.as_bytes(), input, 1_000);
        assert!(lines.receive().await.is_none());
        drop(lines);
        let mut reply = String::new();
        sent.read_to_string(&mut reply).await.unwrap();
        assert!(reply.contains("\"id\":\"q\"") && reply.contains("-32600"), "{reply}");
    }
}
