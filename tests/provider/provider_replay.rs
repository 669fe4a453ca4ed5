//! Recordings: what was recorded plays back exactly, and what differs is shown.

use crate::support::request::{request, request_saying};
use futures_util::StreamExt;
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Image, Message, Part,
    StopReason, ThinkingBlock, TokenUsage, ToolCall,
};
use placet::provider::{
    Provider, ProviderError, RecordingProvider, ReplayProvider, ScriptedAnswer, ScriptedProvider, StreamEvent,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

type Told = Vec<Result<StreamEvent, ProviderError>>;

async fn tell(provider: &dyn Provider, messages: &[Message]) -> Told {
    provider.answer(request(messages.to_vec()), CancellationToken::new()).collect().await
}

/// A conversation with all kinds of events in it, and its messages request by request.
fn conversation() -> (ScriptedProvider, Vec<Vec<Message>>) {
    let call =
        ToolCall { id: CallId::new("c"), name: "t".into(), input: CallInput::parse("{\"b\":1,\"a\":[]}") };
    let thinking =
        ThinkingBlock { text: "hm".into(), signature: Some("s".into()), ..ThinkingBlock::default() };
    let asks = AssistantMessage {
        blocks: vec![
            AssistantBlock::Thinking(thinking),
            AssistantBlock::Text { text: "wait".into() },
            AssistantBlock::Call(call.clone()),
        ],
        stop: StopReason::ToolUse,
        usage: TokenUsage { input: 3, output: 4, cache_read: 5, cache_write: 6, reasoning: 2 },
        model: "m".into(),
        ..AssistantMessage::default()
    };
    let limited =
        ProviderError::RateLimited { message: "slow".into(), retry_after: Some(Duration::from_secs(2)) };
    let wait = Duration::from_millis(1500);
    let retrying = StreamEvent::Retrying { attempt: 2, of: 5, wait, error: limited };
    let silent = StreamEvent::Silent { since: Duration::from_secs(10) };
    let broken =
        ProviderError::Broken { message: "reset".into(), partial: Box::new(AssistantMessage::default()) };
    let last = ScriptedAnswer::Events(vec![retrying, silent, StreamEvent::Text("ha".into())], Some(broken));
    let image = Image::new("image/png", 1, 2, "a.png", vec![1, 2].into());
    let first = vec![Message::User { parts: vec![Part::text("hi"), Part::Image(image)] }];
    let second = [
        first.clone(),
        vec![
            Message::Assistant(asks.clone()),
            Message::Results { results: vec![CallResult::text(&call, CallOutcome::Done, "ok")] },
        ],
    ]
    .concat();
    (ScriptedProvider::new([ScriptedAnswer::Answer(asks), last]), vec![first, second])
}

async fn record(path: &Path) -> (Vec<Vec<Message>>, Vec<Told>) {
    let (scripted, requests) = conversation();
    let recorder = RecordingProvider::create(path, Arc::new(scripted)).unwrap();
    let mut told = Vec::new();
    for messages in &requests {
        told.push(tell(&recorder, messages).await);
    }
    (requests, told)
}

#[tokio::test]
async fn a_recording_plays_back_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.jsonl");
    let (requests, told) = record(&path).await;
    let replay = ReplayProvider::open(&path).unwrap();
    assert_eq!(replay.name(), "scripted");
    for (messages, told) in requests.iter().zip(&told) {
        assert_eq!(&tell(&replay, messages).await, told);
    }
    let over = tell(&replay, &requests[1]).await;
    let expected = ProviderError::Replay("it ends after 2 requests; this is number 3".into());
    assert_eq!(over, [Err(expected)]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("{\"placet_recording\":1,\"provider\":\"scripted\"}\n"));
    assert_eq!(text.matches("a.png").count(), 1, "a message is written once");
}

#[tokio::test]
async fn another_request_is_shown_as_a_difference_and_uses_nothing_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.jsonl");
    let (requests, told) = record(&path).await;
    let replay = ReplayProvider::open(&path).unwrap();
    let answer = tell(&replay, &[Message::user("hello")]).await;
    let [Err(ProviderError::Replay(difference))] = &answer[..] else { panic!("{answer:?}") };
    assert!(
        difference.starts_with("request 1 differs from the recording:\n--- recorded\n+++ now\n"),
        "{difference}"
    );
    assert!(difference.contains("-      \"text\": \"hi\"\n"), "{difference}");
    assert!(difference.contains("+      \"text\": \"hello\"\n"), "{difference}");
    let mut other = request(requests[0].clone());
    other.model.name = "n".into();
    let answer: Told = replay.answer(other, CancellationToken::new()).collect().await;
    assert!(matches!(&answer[..], [Err(ProviderError::Replay(m))] if m.contains("`m`, but is now for `n`")));
    assert_eq!(tell(&replay, &requests[0]).await, told[0]);
}

#[tokio::test]
async fn a_recording_replaces_only_recordings_and_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.jsonl");
    record(&path).await;
    let (requests, told) = record(&path).await;
    assert_eq!(tell(&ReplayProvider::open(&path).unwrap(), &requests[0]).await, told[0]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let other = dir.path().join("notes.txt");
    std::fs::write(&other, "mine").unwrap();
    let refused = RecordingProvider::create(&other, Arc::new(ScriptedProvider::default())).err().unwrap();
    assert_eq!(refused.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine");
    let error = ReplayProvider::open(&other).err().unwrap().to_string();
    assert!(error.starts_with("line 1 of the recording: "), "{error}");
}

#[tokio::test]
async fn an_interrupted_answer_waits_to_be_interrupted_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.jsonl");
    let scripted =
        ScriptedProvider::new([ScriptedAnswer::Events(vec![StreamEvent::Text("ha".into())], None)]);
    let recorder = RecordingProvider::create(&path, Arc::new(scripted)).unwrap();
    let interrupt = async |provider: &dyn Provider| {
        let cancel = CancellationToken::new();
        let mut stream = provider.answer(request_saying("hi"), cancel.clone());
        assert_eq!(stream.next().await, Some(Ok(StreamEvent::Text("ha".into()))));
        cancel.cancel();
        assert_eq!(stream.next().await, Some(Err(ProviderError::Cancelled)));
        assert_eq!(stream.next().await, None);
    };
    interrupt(&recorder).await;
    interrupt(&ReplayProvider::open(&path).unwrap()).await;
}

#[tokio::test]
async fn a_scripted_provider_records_what_it_was_asked() {
    let scripted = ScriptedProvider::new([AssistantMessage::default()]);
    scripted.then(ProviderError::Cancelled);
    assert_eq!(
        tell(&scripted, &[Message::user("a")]).await,
        [Ok(StreamEvent::Finished(AssistantMessage::default()))]
    );
    assert_eq!(tell(&scripted, &[Message::user("b")]).await, [Err(ProviderError::Cancelled)]);
    assert!(matches!(&tell(&scripted, &[]).await[..], [Err(ProviderError::Protocol(_))]));
    let asked: Vec<usize> = scripted.requests().iter().map(|r| r.messages.len()).collect();
    assert_eq!(asked, [1, 1, 0]);
}
