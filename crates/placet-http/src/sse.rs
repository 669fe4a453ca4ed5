//! A parser of server-sent events. Pure and incremental: the same bytes give the same events however they were split.
//!
//! The format is the WHATWG's (HTML, "Server-sent events", 9.2.6). The fields `id` and `retry` are of the stream and not
//! of an event: only a reader that can continue a stream over another connection asks for them.

use std::time::Duration;
use thiserror::Error;

/// The longest id of an event that is kept, in bytes: it is sent back in a header.
const LONGEST_ID: usize = 1_000;

/// One dispatched event. `name` is empty if the server gave none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    pub name: String,
    pub data: String,
}

/// An event, or a comment, that does not end in time.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("an event of more than {most} bytes")]
pub struct SseEventTooLong {
    pub most: usize,
}

/// The parser: bytes in, events out.
#[derive(Debug)]
pub struct SseParser {
    most: usize,
    line: Vec<u8>,
    after_cr: bool,
    past_bom: bool,
    name: String,
    data: String,
    has_data: bool,
    id: Option<String>,
    /// The id that counts once its event is complete.
    next_id: Option<String>,
    retry: Option<Duration>,
}

impl SseParser {
    /// Events have at most this number of bytes; an event may have many lines, and so the limit applies to their sum.
    pub fn new(most: usize) -> SseParser {
        SseParser {
            most,
            line: Vec::new(),
            after_cr: false,
            past_bom: false,
            name: String::new(),
            data: String::new(),
            has_data: false,
            id: None,
            next_id: None,
            retry: None,
        }
    }

    /// The id of the last complete event that had one.
    pub fn last_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// How long the server wants its clients to wait before they connect again.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes the next bytes and returns the events they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, SseEventTooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            // The second half of CRLF: the line ended at its first half.
            if std::mem::take(&mut self.after_cr)
                && let Some(after) = rest.strip_prefix(b"\n")
            {
                rest = after;
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let (part, ended) = rest.split_at(end);
            if self.line.len() + self.data.len() + self.name.len() + part.len() > self.most {
                return Err(SseEventTooLong { most: self.most });
            }
            let Some((mark, after)) = ended.split_first() else {
                self.line.extend_from_slice(part);
                break;
            };
            self.after_cr = *mark == b'\r';
            rest = after;
            events.extend(self.end_line(part));
        }
        Ok(events)
    }

    /// Called when the connection closed. An event whose lines all arrived counts, even without the blank line after
    /// it: some servers omit it at the end. A line cut in half never counts.
    pub fn finish(&mut self) -> Option<SseEvent> {
        if self.line.is_empty() { self.dispatch() } else { None }
    }

    /// A line has ended with `part`; what came before it was kept.
    fn end_line(&mut self, part: &[u8]) -> Option<SseEvent> {
        if self.line.is_empty() {
            return self.take_line(part);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(part);
        self.take_line(&line)
    }

    fn take_line(&mut self, line: &[u8]) -> Option<SseEvent> {
        let text = String::from_utf8_lossy(line);
        let mut line = text.as_ref();
        if !std::mem::replace(&mut self.past_bom, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        // Only one space belongs to the format; more are part of the value.
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = value.to_string(),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            "id" if value.len() <= LONGEST_ID && !value.contains('\0') => self.next_id = Some(value.into()),
            "retry" => {
                self.retry = value.parse().ok().map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        if let Some(id) = self.next_id.take() {
            self.id = Some(id).filter(|id| !id.is_empty());
        }
        let event = SseEvent { name: std::mem::take(&mut self.name), data: std::mem::take(&mut self.data) };
        // The format requires that an event without data is not dispatched.
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] =
        "\u{feff}: hello\r\nevent: a\r\ndata: one\r\n\r\ndata:two\ndata\ndata:  x\u{e9}\n\nevent: b\n\nid: 7\rdata: [DONE]\r\r"
            .as_bytes();

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.into(), data: data.into() }
    }

    #[test]
    fn a_stream_split_anywhere_gives_the_same_events() {
        let whole = [event("a", "one"), event("", "two\n\n x\u{e9}"), event("", "[DONE]")];
        for at in 0..=STREAM.len() {
            let (left, right) = STREAM.split_at(at);
            let mut parser = SseParser::new(1000);
            let mut events = parser.push(left).unwrap();
            events.extend(parser.push(right).unwrap());
            assert_eq!(events, whole, "split at {at}");
        }
    }

    #[test]
    fn the_last_event_counts_without_its_blank_line_but_not_when_cut() {
        let mut parser = SseParser::new(1000);
        assert_eq!(parser.push(b"data: [DONE]\n").unwrap(), []);
        assert_eq!(parser.finish(), Some(event("", "[DONE]")));
        let mut parser = SseParser::new(1000);
        assert_eq!(parser.push(b"data: {\"a\":1}\ndata: [DO").unwrap(), []);
        assert_eq!(parser.finish(), None);
    }

    #[test]
    fn the_id_of_a_complete_event_and_the_pause_are_those_of_the_stream() {
        let mut parser = SseParser::new(1000);
        parser.push(b"id: 1\nretry: 250\ndata:\n\nid: 2\ndata: x\nretry: soon\n").unwrap();
        assert_eq!((parser.last_id(), parser.retry()), (Some("1"), Some(Duration::from_millis(250))));
        parser.push(b"\n").unwrap();
        assert_eq!(parser.last_id(), Some("2"));
    }

    #[test]
    fn an_event_has_an_end_in_one_line_or_in_many() {
        let push = |bytes: &[u8]| SseParser::new(100).push(bytes).map(|events| events.len());
        let over = Err(SseEventTooLong { most: 100 });
        assert_eq!(push(&b"data: 12345678\n\n".repeat(50)), Ok(50), "many events are no long one");
        assert_eq!(push(&b": ping\n\n".repeat(50)), Ok(0));
        assert_eq!(push(&b"x".repeat(101)), over);
        assert_eq!(push(&b"data: 12345678\n".repeat(50)), over);
        assert_eq!(push(&[b"event: ".as_slice(), &b"e".repeat(60), b"\n", &b"d".repeat(60)].concat()), over);
    }
}
