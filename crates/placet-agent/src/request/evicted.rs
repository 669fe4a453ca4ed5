//! What is no longer in the model's context: results that were cut or omitted, and files that the person attached.

use placet_text::conversation::{CallId, CallResult, Message, Note, Part};
use std::collections::{HashMap, HashSet};

/// Content that has left the model's context: results, and files that the person attached.
#[derive(Debug, Default)]
pub(crate) struct EvictedContent {
    pub(crate) calls: Vec<CallId>,
    pub(crate) attached: Vec<String>,
}

impl EvictedContent {
    /// The content of `all` that is not in `sent`.
    pub(crate) fn between(all: &[Message], sent: &[Message]) -> EvictedContent {
        let still: HashSet<&str> = attached(sent).collect();
        let gone = attached(all).filter(|path| !still.contains(path));
        EvictedContent { calls: lost(all, sent), attached: gone.map(String::from).collect() }
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

/// The results of `all` that are not in `sent`, or no longer complete.
fn lost(all: &[Message], sent: &[Message]) -> Vec<CallId> {
    fn results(messages: &[Message]) -> impl Iterator<Item = &CallResult> {
        messages.iter().flat_map(|m| match m {
            Message::Results { results } => results.as_slice(),
            _ => &[],
        })
    }
    let kept: HashMap<&CallId, &CallResult> = results(sent).map(|r| (&r.id, r)).collect();
    let gone = results(all).filter(|r| kept.get(&r.id).is_none_or(|k| k.body() != r.body()));
    gone.map(|r| r.id.clone()).collect()
}
