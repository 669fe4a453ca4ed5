//! How large one answer may be. A server is not trusted to end: placet counts what it sends while it arrives. An answer
//! that is over a limit ends there, runs no call and is not requested again.
//!
//! Not every byte is content: most events of a stream are frames around a word. An event counts as the content that the
//! decoder took out of it, or as its own length less an allowance for the frame, whichever is more: fields that are
//! stored but not shown cannot escape the limit.

pub use super::exceeded_limit::ExceededLimit;
use super::exceeded_limit::MB;
use crate::StreamEvent;
use std::time::Duration;

/// The frame around the content of one event; the longest known (with logarithms of probabilities) has some 400 bytes.
const FRAME: usize = 512;

/// Bytes on the wire for each byte of content: a token of three letters comes in a frame of 400 bytes at most.
const WIRE_FACTOR: usize = 8;

/// The most JSON values in one event. One empty object of three bytes takes hundreds of bytes in memory.
const MOST_VALUES: usize = 100_000;

/// The limits of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Text, reasoning and arguments together.
    pub answer_bytes: usize,
    /// Of one call.
    pub argument_bytes: usize,
    /// One event of the stream, or an answer that comes in one piece.
    pub event_bytes: usize,
    pub calls: usize,
    /// From the request to the end of the answer.
    pub time: Duration,
}

impl Default for AnswerLimits {
    fn default() -> AnswerLimits {
        AnswerLimits {
            answer_bytes: 16 * MB,
            argument_bytes: 8 * MB,
            event_bytes: 16 * MB,
            calls: 200,
            time: Duration::from_secs(7200),
        }
    }
}

/// Counts one answer while it arrives.
#[derive(Debug)]
pub(crate) struct AnswerMeter {
    limits: AnswerLimits,
    wire: usize,
    content: usize,
    calls: usize,
    tool: String,
    /// Of the newest call.
    arguments: usize,
}

impl AnswerMeter {
    pub(crate) fn new(limits: AnswerLimits) -> AnswerMeter {
        AnswerMeter { limits, wire: 0, content: 0, calls: 0, tool: String::new(), arguments: 0 }
    }

    pub(crate) fn limits(&self) -> AnswerLimits {
        self.limits
    }

    /// Bytes as they arrive, unpacked.
    pub(crate) fn receive(&mut self, bytes: usize) -> Result<(), ExceededLimit> {
        self.wire = self.wire.saturating_add(bytes);
        let most = self.limits.answer_bytes.saturating_mul(WIRE_FACTOR);
        if self.wire > most { Err(ExceededLimit::WireBytes { most }) } else { Ok(()) }
    }

    /// One event before it is parsed.
    pub(crate) fn accept(&self, data: &str) -> Result<(), ExceededLimit> {
        let most = self.limits.event_bytes;
        if data.len() > most {
            return Err(ExceededLimit::EventBytes { most });
        }
        if has_more_values(data, MOST_VALUES) {
            return Err(ExceededLimit::EventValues { most: MOST_VALUES });
        }
        Ok(())
    }

    /// What was taken out of an event of `length` bytes. Nothing of it may be passed on when this fails.
    pub(crate) fn count(&mut self, length: usize, taken: &[StreamEvent]) -> Result<(), ExceededLimit> {
        let mut content = 0;
        for event in taken {
            content += match event {
                StreamEvent::Text(text) | StreamEvent::Thinking(text) => text.len(),
                StreamEvent::CallStarted { name, .. } => self.begin_call(name)?,
                StreamEvent::CallArguments { bytes } => self.add_arguments(*bytes)?,
                StreamEvent::Finished(answer) if answer.calls().count() > self.limits.calls => {
                    return Err(ExceededLimit::Calls { most: self.limits.calls });
                }
                _ => 0,
            };
        }
        self.content = self.content.saturating_add(content.max(length.saturating_sub(FRAME)));
        let most = self.limits.answer_bytes;
        if self.content > most { Err(ExceededLimit::AnswerBytes { most }) } else { Ok(()) }
    }

    fn begin_call(&mut self, name: &str) -> Result<usize, ExceededLimit> {
        self.calls += 1;
        self.arguments = 0;
        name.clone_into(&mut self.tool);
        let most = self.limits.calls;
        if self.calls > most { Err(ExceededLimit::Calls { most }) } else { Ok(name.len()) }
    }

    fn add_arguments(&mut self, bytes: usize) -> Result<usize, ExceededLimit> {
        self.arguments = self.arguments.saturating_add(bytes);
        let most = self.limits.argument_bytes;
        if self.arguments > most {
            let tool = self.tool.chars().take(80).collect();
            return Err(ExceededLimit::ArgumentBytes { tool, most });
        }
        Ok(bytes)
    }
}

/// True where JSON has more than `most` values, without parsing it: each value but the first follows one of these
/// marks.
pub(crate) fn has_more_values(json: &str, most: usize) -> bool {
    // Nearly every event of a stream is too short for so many.
    if json.len() <= most {
        return false;
    }
    let (mut marks, mut quoted, mut escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' | b'[' | b'{' | b':' if !quoted => marks += 1,
            _ => {}
        }
        if marks > most {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_text::conversation::CallId;

    fn meter() -> AnswerMeter {
        AnswerMeter::new(AnswerLimits {
            answer_bytes: 1000,
            argument_bytes: 100,
            event_bytes: 5000,
            calls: 2,
            time: Duration::from_secs(1),
        })
    }

    #[test]
    fn each_limit_ends_an_answer_one_above_it_and_not_at_it() {
        let text = |n: usize| StreamEvent::Text("x".repeat(n));
        let call = || StreamEvent::CallStarted { id: CallId::new("c"), name: "t".into() };
        let arguments = |bytes| StreamEvent::CallArguments { bytes };
        assert_eq!(meter().count(0, &[text(1000)]), Ok(()));
        let over = meter().count(0, &[text(600), StreamEvent::Thinking("y".repeat(401))]);
        assert_eq!(over, Err(ExceededLimit::AnswerBytes { most: 1000 }));
        assert_eq!(meter().count(0, &[call(), arguments(60), arguments(40), call(), arguments(100)]), Ok(()));
        let over = meter().count(0, &[call(), arguments(60), arguments(41)]);
        assert_eq!(over, Err(ExceededLimit::ArgumentBytes { tool: "t".into(), most: 100 }));
        assert_eq!(meter().count(0, &[call(), call(), call()]), Err(ExceededLimit::Calls { most: 2 }));
        assert_eq!(meter().receive(8001), Err(ExceededLimit::WireBytes { most: 8000 }));
        assert_eq!(meter().accept(&"x".repeat(5001)), Err(ExceededLimit::EventBytes { most: 5000 }));
    }

    #[test]
    fn what_is_hidden_in_an_event_counts_as_well() {
        let mut meter = meter();
        assert_eq!(meter.count(1512, &[StreamEvent::Text("x".into())]), Ok(()));
        assert_eq!(
            meter.count(513, &[]),
            Err(ExceededLimit::AnswerBytes { most: 1000 }),
            "a proof that nobody sees"
        );
    }

    #[test]
    fn values_are_counted_outside_of_texts_only() {
        assert!(!has_more_values(r#"{"a":"[,,,,{\",,,,","b":[1]}"#, 5));
        assert!(has_more_values(r#"{"a":"","b":[1]}"#, 4));
        assert!(has_more_values(&"[".repeat(200_000), MOST_VALUES));
    }

    #[test]
    fn a_message_names_the_limit_and_the_setting() {
        let over = ExceededLimit::ArgumentBytes { tool: "write_file".into(), most: 8 * MB };
        assert_eq!(
            over.to_string(),
            "the arguments of a call to `write_file` are longer than 8 MB (`network.arguments_mb`)"
        );
    }
}
