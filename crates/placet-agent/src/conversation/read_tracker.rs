//! What the model has seen, in step with what its context still contains.

use crate::request::evicted::{EvictedContent, ResultKey, attached_path, results_of};
use crate::services::SharedServices;
use placet_text::conversation::{CallId, Message, Transcript};
use std::collections::HashSet;

/// Results and attached files that have left the model's context, each handled once.
#[derive(Default)]
pub(crate) struct ReadTracker {
    /// The message of the call, and the call.
    evicted_results: HashSet<(u32, CallId)>,
    evicted_files: HashSet<String>,
}

impl ReadTracker {
    /// The file is attached once more: the model has it again.
    pub(crate) fn attach(&mut self, path: &str) {
        self.evicted_files.remove(path);
    }

    /// Content that left the model's context counts as not seen: before an edit, the model must read such lines again,
    /// unless another message that is still sent shows them.
    pub(super) fn evict(
        &mut self,
        evicted: EvictedContent,
        transcript: &Transcript,
        services: &SharedServices,
    ) {
        let EvictedContent { results, attached } = evicted;
        let workspace = &services.env.workspace;
        let attached: Vec<String> =
            attached.into_iter().filter(|path| self.evicted_files.insert(path.clone())).collect();
        if attached.is_empty() && results.is_empty() {
            return;
        }
        let forget = |path: &str, message: u32| {
            if let Ok(at) = workspace.resolve(path) {
                services.ledger().forget_message(&at.path, message);
            }
        };
        let begins = transcript.begins();
        let messages = transcript.since(begins);
        for (at, message) in messages.iter().enumerate() {
            let number = message_number(begins + at);
            for path in
                message.parts().filter_map(attached_path).filter(|path| attached.iter().any(|a| a == path))
            {
                forget(path, number);
            }
            let Message::Assistant(answer) = message else { continue };
            let answered = messages.get(at + 1).map_or(&[][..], results_of);
            for call in answer.calls() {
                let key = (number, call.id.clone());
                let mut own = answered.iter().filter(|result| result.id == call.id);
                if self.evicted_results.contains(&key)
                    || !own.any(|result| results.contains(&ResultKey::of(result)))
                {
                    continue;
                }
                self.evicted_results.insert(key);
                // Whatever the tool set calls its tools.
                match services.registry.judged_as(&call.name, &call.input).as_str() {
                    "read_file" => {
                        let touched = services.registry.touches(&call.name, &call.input);
                        touched.reads.iter().for_each(|path| forget(path, number));
                    }
                    // A search shows lines of many files, and which ones is not recorded.
                    "search_contents" => services.ledger().forget_message_everywhere(number),
                    _ => {}
                }
            }
        }
    }
}

/// The message at this place of the conversation, as the ledger counts messages.
pub(super) fn message_number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX).saturating_add(1)
}
