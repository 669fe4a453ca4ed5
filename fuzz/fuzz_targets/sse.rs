//! Server-sent events and all wire formats: a stream cut anywhere gives the same events, `Finished` comes once and
//! last, and an answer that was cut off holds no call.
#![no_main]

use libfuzzer_sys::fuzz_target;
use placet::conversation::StopReason;
use placet::http::{SseEvent, SseParser};
use placet::provider::{
    AnthropicFormat, GeminiFormat, OpenAiChatFormat, OpenAiResponsesFormat, StreamEvent, WireFormat,
};

fn events(pieces: &[&[u8]]) -> Vec<SseEvent> {
    let mut parser = SseParser::new(64 * 1024 * 1024);
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(parser.push(piece).expect("far below the longest line"));
    }
    events.extend(parser.finish());
    events
}

fuzz_target!(|data: (u16, &[u8])| {
    let (cut, bytes) = data;
    let (left, right) = bytes.split_at(usize::from(cut).min(bytes.len()));
    let whole = events(&[bytes]);
    assert_eq!(events(&[left, right]), whole);
    let dialects: [&dyn WireFormat; 4] = [
        &AnthropicFormat::default(),
        &OpenAiChatFormat::default(),
        &OpenAiResponsesFormat::default(),
        &GeminiFormat::default(),
    ];
    for dialect in dialects {
        let mut decoder = dialect.decoder();
        let mut finished = false;
        for event in &whole {
            let Ok(told) = decoder.feed(&event.name, &event.data) else { break };
            for (at, event) in told.iter().enumerate() {
                assert!(!finished, "nothing comes after the end: {event:?}");
                finished = matches!(event, StreamEvent::Finished(_));
                assert!(!finished || at + 1 == told.len());
            }
            if finished {
                break;
            }
        }
        if !finished {
            let answer = decoder.cut();
            assert!(answer.stop != StopReason::Cut || answer.calls().next().is_none(), "{answer:?}");
        }
    }
});
