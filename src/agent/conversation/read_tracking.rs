//! What the model has seen, kept in step with what it still has before it; and what its calls touch, for their order.

use crate::agent::TurnStart;
use crate::agent::agent::{Agent, lock};
use crate::agent::request::evicted::EvictedContent;
use crate::conversation::{AssistantMessage, CallId, Message};
use crate::session::{SessionError, SessionStateKey};
use crate::tools::TouchedPaths;

impl Agent {
    /// What the model no longer has before it, it has not seen: edits of such lines must read them again.
    pub(in crate::agent) fn forget_unseen(&mut self, out_of_view: EvictedContent) {
        let EvictedContent { calls, attached } = out_of_view;
        let workspace = &self.parts.env.workspace;
        let attached = attached.into_iter().filter(|path| self.forgotten_files.insert(path.clone()));
        for path in attached.filter_map(|path| workspace.resolve(&path).ok()) {
            lock(&self.parts.env.ledger).forget(&path.path);
        }
        let news: Vec<CallId> = calls.into_iter().filter(|id| self.forgotten.insert(id.clone())).collect();
        if news.is_empty() {
            return;
        }
        let here = self.transcript.since(self.transcript.begins());
        let answers = here.iter().filter_map(|m| match m {
            Message::Assistant(answer) => Some(answer),
            _ => None,
        });
        for call in answers.flat_map(AssistantMessage::calls).filter(|call| news.contains(&call.id)) {
            // Whatever a surface calls its tools.
            match self.parts.registry.judged_as(&call.name, &call.input).as_str() {
                "read_file" => {
                    let touched = self.parts.registry.touches(&call.name, &call.input);
                    for at in touched.reads.iter().filter_map(|path| workspace.resolve(path).ok()) {
                        lock(&self.parts.env.ledger).forget(&at.path);
                    }
                }
                // A search shows lines of many files, and which ones is not recorded: all files count as
                // unread.
                "search_contents" => lock(&self.parts.env.ledger).drop_all(),
                _ => {}
            }
        }
    }

    /// What is shown now is shown in the turn that begins next, or in the last one where it goes on. A turn begins with
    /// what the person says.
    pub(in crate::agent) fn count_turn(&self, start: Option<&TurnStart>) {
        let said = self.transcript.user_message_count();
        let turn = if matches!(start, Some(TurnStart::Retry)) { said.max(1) } else { said + 1 };
        lock(&self.parts.env.ledger).begin_turn(u32::try_from(turn).unwrap_or(u32::MAX));
    }

    pub(in crate::agent) fn save_ledger(&self) {
        let Some(session) = &self.parts.session else { return };
        let snapshot = lock(&self.parts.env.ledger).snapshot();
        let saved = serde_json::to_string(&snapshot).map_err(SessionError::from);
        if let Err(e) = saved.and_then(|saved| session.set(SessionStateKey::Ledger, &saved)) {
            tracing::warn!("the list of files that the model has seen was not saved: {e}");
        }
    }

    pub(in crate::agent) fn touches(&self, answer: &AssistantMessage) -> Vec<TouchedPaths> {
        let workspace = &self.parts.env.workspace;
        let resolve = |path: &str| {
            let is_file = !path.starts_with("scratchpad:");
            is_file
                .then(|| workspace.resolve(path).ok())
                .flatten()
                .map(|at| at.path.to_string_lossy().into_owned())
        };
        let touches = answer.calls().map(|call| self.parts.registry.touches(&call.name, &call.input));
        let classified = !lock(&self.parts.policy).labels().is_off();
        touches
            .map(|touches| {
                let mut touches = touches.resolved(resolve);
                // One after the other: what a call may see and where it may write hangs on what those before it have read.
                touches.writes.extend(classified.then(|| "classification".to_string()));
                touches
            })
            .collect()
    }
}
