//! What the model has seen, in step with what its context still contains.

use crate::request::evicted::EvictedContent;
use crate::services::SharedServices;
use placet_text::conversation::{AssistantMessage, CallId, Message, Transcript};
use std::collections::HashSet;

/// Results and attached files that have left the model's context, each handled once.
#[derive(Default)]
pub(crate) struct ReadTracker {
    evicted_results: HashSet<CallId>,
    evicted_files: HashSet<String>,
}

impl ReadTracker {
    /// The file is attached once more: the model has it again.
    pub(crate) fn attach(&mut self, path: &str) {
        self.evicted_files.remove(path);
    }

    /// Content that left the model's context counts as not seen: before an edit, the model must read such lines again.
    pub(super) fn evict(
        &mut self,
        evicted: EvictedContent,
        transcript: &Transcript,
        services: &SharedServices,
    ) {
        let EvictedContent { calls, attached } = evicted;
        let workspace = &services.env.workspace;
        let attached = attached.into_iter().filter(|path| self.evicted_files.insert(path.clone()));
        for path in attached.filter_map(|path| workspace.resolve(&path).ok()) {
            services.ledger().forget(&path.path);
        }
        let new: Vec<CallId> =
            calls.into_iter().filter(|id| self.evicted_results.insert(id.clone())).collect();
        if new.is_empty() {
            return;
        }
        let answers = transcript.since(transcript.begins()).iter().filter_map(|message| match message {
            Message::Assistant(answer) => Some(answer),
            _ => None,
        });
        for call in answers.flat_map(AssistantMessage::calls).filter(|call| new.contains(&call.id)) {
            // Whatever the tool set calls its tools.
            match services.registry.judged_as(&call.name, &call.input).as_str() {
                "read_file" => {
                    let touched = services.registry.touches(&call.name, &call.input);
                    for at in touched.reads.iter().filter_map(|path| workspace.resolve(path).ok()) {
                        services.ledger().forget(&at.path);
                    }
                }
                // A search shows lines of many files, and which ones is not recorded: all files count as unread.
                "search_contents" => services.ledger().drop_all(),
                _ => {}
            }
        }
    }
}
