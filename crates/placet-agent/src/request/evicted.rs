//! What is no longer in the model's context: results that were cut or omitted, and files that the person attached.

use placet_text::conversation::{CallId, CallResult, Message, Note, Part};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Content that has left the model's context: results, and files that the person attached.
#[derive(Debug, Default)]
pub(crate) struct EvictedContent {
    pub(crate) results: HashSet<ResultKey>,
    pub(crate) attached: Vec<String>,
}

impl EvictedContent {
    /// The content of `all` that is not in `sent`.
    pub(crate) fn between(all: &[Message], sent: &[Message]) -> EvictedContent {
        let still: HashSet<&str> = attached(sent).collect();
        let gone = attached(all).filter(|path| !still.contains(path));
        EvictedContent { results: lost(all, sent), attached: gone.map(String::from).collect() }
    }
}

fn attached(messages: &[Message]) -> impl Iterator<Item = &str> {
    let said = messages.iter().filter(|m| matches!(m, Message::User { .. })).flat_map(Message::parts);
    said.filter_map(attached_path)
}

/// The path of the file in the next part.
pub(crate) fn attached_path(part: &Part) -> Option<&str> {
    match part.as_note()? {
        Note::AttachedFile { path } => Some(path),
        _ => None,
    }
}

pub(crate) fn results_of(message: &Message) -> &[CallResult] {
    match message {
        Message::Results { results } => results,
        _ => &[],
    }
}

/// A result by its call and its text: many servers number the calls of each answer anew.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResultKey {
    pub(crate) call: CallId,
    text: u64,
}

impl ResultKey {
    pub(crate) fn of(result: &CallResult) -> ResultKey {
        let mut text = DefaultHasher::new();
        result.body().hash(&mut text);
        ResultKey { call: result.id.clone(), text: text.finish() }
    }
}

/// The results of `all` that are not in `sent`, or no longer complete.
fn lost(all: &[Message], sent: &[Message]) -> HashSet<ResultKey> {
    let kept = keys(sent);
    keys(all).into_iter().filter(|key| !kept.contains(key)).collect()
}

fn keys(messages: &[Message]) -> HashSet<ResultKey> {
    messages.iter().flat_map(results_of).map(ResultKey::of).collect()
}
