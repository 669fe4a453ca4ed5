//! The stream on which a server sends what belongs to no request; with the older transport, all that it sends.

use super::answer::{AnswerKind, EventReader, LONGEST_ANSWER};
use super::failure::HttpFailure;
use super::link::{HttpLink, Verb};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How often a server is asked for its stream without an event in between.
const MOST_TRIES: usize = 5;
/// How long a server may take to begin its stream, and one of the older transport to name its address.
const BEGIN: Duration = Duration::from_secs(20);
/// How long the first message waits for the stream. A server that does not answer is used without it.
const OPENS_WITHIN: Duration = Duration::from_millis(500);
/// The most that a server of the older transport may send in a session, in bytes.
const LONGEST_SESSION: usize = 1 << 30;

/// Listens until the link ends, or until the server has no such stream. Ends when the server has answered: what it sends
/// before that is lost, such as a question that belongs to the first call.
pub(super) async fn begin(link: &Arc<HttpLink>) {
    let (answered, answer) = oneshot::channel();
    let listening = listen(Arc::clone(link), answered);
    link.set_listener(tokio::spawn(listening).abort_handle());
    drop(tokio::time::timeout(OPENS_WITHIN, answer).await);
}

async fn listen(link: Arc<HttpLink>, answered: oneshot::Sender<()>) {
    let mut answered = Some(answered);
    let (mut tries, mut last_id): (usize, Option<String>) = (0, None);
    while tries < MOST_TRIES && !link.is_over() {
        tries += 1;
        let asking = link.request(Verb::Listen { after: last_id.as_deref() });
        let Ok(Ok(response)) = tokio::time::timeout(BEGIN, asking).await else { return };
        // It is dropped if there is no stream, which is an answer as well.
        if let Some(answered) = answered.take() {
            // The first message may not have waited so long.
            let _ = answered.send(());
        }
        // 405 says that the server has no such stream.
        if response.status() != 200 || AnswerKind::of(&response) != Ok(AnswerKind::Events) {
            return;
        }
        let mut reader = EventReader::new(response, LONGEST_ANSWER);
        loop {
            match reader.message().await {
                Ok(Some(message)) => {
                    tries = 0;
                    link.take(message).await;
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
        last_id = reader.last_id().map(String::from).or(last_id);
        tokio::time::sleep(reader.pause()).await;
    }
}

/// Asks for the stream of the older transport, and waits for the address that it names. False if there is none.
pub(super) async fn begin_older(link: &Arc<HttpLink>) -> Result<bool, HttpFailure> {
    let asking = async {
        let response = link.request(Verb::Listen { after: None }).await?;
        if response.status() != 200 || AnswerKind::of(&response) != Ok(AnswerKind::Events) {
            return Ok(None);
        }
        let mut reader = EventReader::new(response, LONGEST_SESSION);
        let first = reader.next().await?;
        Ok(first.filter(|event| event.name == "endpoint").map(|event| (event.data, reader)))
    };
    let begun: Result<Option<(String, EventReader)>, HttpFailure> =
        tokio::time::timeout(BEGIN, asking).await.unwrap_or(Ok(None));
    let Some((endpoint, mut reader)) = begun? else { return Ok(false) };
    link.set_older(&endpoint)?;
    let reading = {
        let link = Arc::clone(link);
        async move {
            while let Ok(Some(message)) = reader.message().await {
                link.take(message).await;
            }
            link.ended.cancel();
        }
    };
    link.set_listener(tokio::spawn(reading).abort_handle());
    Ok(true)
}
