//! Streams as the public documentation shows them, decoded: the whole answer compared, then the same bytes split at
//! every place and cut at every place.

use placet::conversation::{AssistantMessage, StopReason, ToolCall};
use placet::http::{SseEvent, SseParser};
use placet::provider::{
    AnswerDecoder, AnthropicFormat, GeminiFormat, OpenAiChatFormat, OpenAiResponsesFormat, ProviderError,
    StreamEvent, WireFormat,
};
use std::path::{Path, PathBuf};

const STREAMS: [(&str, &str); 36] = [
    ("anthropic", "text"),
    ("anthropic", "tools"),
    ("anthropic", "thinking"),
    ("anthropic", "unknown"),
    ("anthropic", "malformed_input"),
    ("anthropic", "overloaded"),
    ("anthropic", "not_streamed"),
    ("openai_chat", "text"),
    ("openai_chat", "tools"),
    ("openai_chat", "whole_calls_without_index"),
    ("openai_chat", "repeated_id"),
    ("openai_chat", "same_index"),
    ("openai_chat", "reasoning"),
    ("openai_chat", "refusal"),
    ("openai_chat", "error"),
    ("openai_chat", "not_streamed"),
    ("openai_responses", "text"),
    ("openai_responses", "tools"),
    ("openai_responses", "not_in_pieces"),
    ("openai_responses", "refusal"),
    ("openai_responses", "incomplete"),
    ("openai_responses", "failed"),
    ("openai_responses", "error"),
    ("openai_responses", "not_streamed"),
    ("openai_responses", "malformed_arguments"),
    ("gemini", "text"),
    ("gemini", "tools"),
    ("gemini", "calls_without_ids"),
    ("gemini", "signed_text"),
    ("gemini", "safety"),
    ("gemini", "max_tokens"),
    ("gemini", "malformed_call"),
    ("gemini", "other_stop"),
    ("gemini", "blocked"),
    ("gemini", "error"),
    ("gemini", "not_streamed"),
];

const DIALECTS: [&str; 4] = ["anthropic", "openai_chat", "openai_responses", "gemini"];

fn dialect(name: &str) -> Box<dyn WireFormat> {
    match name {
        "anthropic" => Box::new(AnthropicFormat::default()),
        "openai_responses" => Box::new(OpenAiResponsesFormat::default()),
        "gemini" => Box::new(GeminiFormat::default()),
        _ => Box::new(OpenAiChatFormat::default()),
    }
}

fn fixture(dialect: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(dialect).join(name)
}

fn stream(dialect: &str, name: &str) -> Vec<u8> {
    std::fs::read(fixture(dialect, &format!("{name}.sse"))).unwrap()
}

/// Everything a stream tells, and the answer it ends with: whole, or what `cut` leaves.
#[derive(Debug, PartialEq)]
struct Told {
    events: Vec<StreamEvent>,
    error: Option<ProviderError>,
    answer: AssistantMessage,
}

fn tell(decoder: &mut dyn AnswerDecoder, events: impl IntoIterator<Item = SseEvent>) -> Told {
    let mut told = Vec::new();
    for event in events {
        match decoder.feed(&event.name, &event.data) {
            Ok(more) => told.extend(more),
            Err(error) => return Told { events: told, error: Some(error), answer: decoder.cut() },
        }
    }
    let answer = match told.last() {
        Some(StreamEvent::Finished(answer)) => answer.clone(),
        _ => decoder.cut(),
    };
    Told { events: told, error: None, answer }
}

fn decode(name: &str, pieces: &[&[u8]]) -> Told {
    let mut parser = SseParser::new(64 * 1024 * 1024);
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(parser.push(piece).unwrap());
    }
    events.extend(parser.finish());
    tell(dialect(name).decoder().as_mut(), events)
}

#[test]
fn every_stream_gives_the_answer_beside_it() {
    for (name, stream_name) in STREAMS {
        let told = decode(name, &[&stream(name, stream_name)]);
        let mut found = serde_json::to_string_pretty(&told.answer).unwrap();
        if let Some(error) = &told.error {
            found.push_str(&format!("\n{error}"));
        }
        found.push('\n');
        crate::support::fixture::same(&fixture(name, &format!("{stream_name}.answer.json")), &found);
        let texts: String = told
            .events
            .iter()
            .filter_map(|e| match e {
                StreamEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(texts, told.answer.text(), "{stream_name}: what was shown is what is kept");
        let started = told.events.iter().filter(|e| matches!(e, StreamEvent::CallStarted { .. })).count();
        if told.error.is_none() {
            assert_eq!(started, told.answer.calls().count(), "{stream_name}: every call is announced once");
        }
    }
}

#[test]
fn a_stream_split_at_any_byte_tells_the_same() {
    for (name, stream_name) in STREAMS {
        let bytes = stream(name, stream_name);
        let whole = decode(name, &[&bytes]);
        for at in 0..bytes.len() {
            let (left, right) = bytes.split_at(at);
            assert_eq!(decode(name, &[left, right]), whole, "{name}/{stream_name} split at {at}");
        }
    }
}

#[test]
fn a_stream_cut_at_any_byte_gives_no_call_that_was_not_whole() {
    for (name, stream_name) in STREAMS {
        let bytes = stream(name, stream_name);
        let whole = decode(name, &[&bytes]);
        let calls: Vec<&ToolCall> = whole.answer.calls().collect();
        for at in 0..bytes.len() {
            let told = decode(name, &[&bytes[..at]]);
            let case = format!("{name}/{stream_name} cut at {at}");
            if told.answer.stop == StopReason::Cut {
                assert_eq!(told.answer.calls().count(), 0, "{case}");
                assert!(whole.answer.text().starts_with(&told.answer.text()), "{case}");
            } else {
                // The stop reason had arrived, so everything had.
                assert_eq!(told.answer.calls().collect::<Vec<_>>(), calls, "{case}");
                assert_eq!(told.answer.blocks, whole.answer.blocks, "{case}");
            }
        }
    }
}

#[test]
fn a_stream_spoilt_anywhere_never_panics_and_ends_once() {
    for (name, stream_name) in STREAMS {
        let bytes = stream(name, stream_name);
        for at in (0..bytes.len()).step_by(11) {
            for byte in [b'0', b'"', b'}', b'\n', 0xff] {
                let mut spoilt = bytes.clone();
                spoilt[at] = byte;
                let told = decode(name, &[&spoilt]);
                let case = format!("{name}/{stream_name}, {byte} at {at}");
                let finished = told.events.iter().filter(|e| matches!(e, StreamEvent::Finished(_))).count();
                assert!(finished <= 1, "{case}");
                let last = matches!(told.events.last(), Some(StreamEvent::Finished(_)));
                assert_eq!(finished == 1, last, "{case}");
                if told.answer.stop == StopReason::Cut {
                    assert_eq!(told.answer.calls().count(), 0, "{case}");
                }
                let mut ids: Vec<_> = told.answer.calls().map(|call| call.id.clone()).collect();
                let count = ids.len();
                ids.sort();
                ids.dedup();
                assert_eq!(ids.len(), count, "{case}: ids are unique");
            }
        }
    }
}

#[test]
fn finished_comes_once_and_nothing_after_it() {
    for name in DIALECTS {
        let stream_name = "tools";
        let bytes = stream(name, stream_name);
        let twice = [bytes.clone(), bytes].concat();
        let told = decode(name, &[&twice]);
        let finished = told.events.iter().filter(|e| matches!(e, StreamEvent::Finished(_))).count();
        if name == "gemini" {
            // Only the end of the connection says that there is no more.
            assert_eq!(finished, 0);
            continue;
        }
        assert_eq!(finished, 1);
        assert!(matches!(told.events.last(), Some(StreamEvent::Finished(_))));
    }
}

#[test]
fn what_is_no_json_is_a_protocol_error_and_never_a_panic() {
    for name in DIALECTS {
        for data in [
            "{",
            "<html>",
            "null",
            "[]",
            "3",
            "\"x\"",
            "{\"type\":3}",
            "{\"choices\":{}}",
            "\u{0}",
            "{\"candidates\":3}",
            "[[[]]]",
            "{\"type\":\"response.output_item.added\",\"item\":7}",
        ] {
            let mut decoder = dialect(name).decoder();
            if let Err(error) = decoder.feed("", data) {
                assert!(matches!(error, ProviderError::Protocol(_)), "{data}: {error:?}");
            }
            assert_eq!(decoder.cut().stop, StopReason::Cut);
        }
    }
}
