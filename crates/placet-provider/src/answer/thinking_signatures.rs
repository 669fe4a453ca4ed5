//! Proofs of reasoning that a server refused. They would be in every later request and would have it refused as well.
//! They are left out from then on, and the answers that contained them stay. Stored in memory: a resumed session finds
//! out again with its first request.

use crate::ModelRequest;
use placet_text::conversation::{AssistantBlock, Message, ThinkingBlock};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct RejectedSignatures(Mutex<SignatureRejections>);

#[derive(Debug, Default)]
struct SignatureRejections {
    proofs: HashSet<blake3::Hash>,
    /// The server complained.
    complained: bool,
    /// The server complained though nothing was sent: this model must not be asked for its reasoning at all.
    unasked: bool,
}

impl RejectedSignatures {
    /// The request without what was refused.
    pub(crate) fn without_refused<'r>(&self, request: &'r ModelRequest) -> Cow<'r, ModelRequest> {
        let refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !refused.complained {
            return Cow::Borrowed(request);
        }
        let mut request = request.clone();
        for message in &mut request.messages {
            if let Message::Assistant(answer) = message {
                answer.blocks.retain(|block| match block {
                    AssistantBlock::Thinking(thinking) => {
                        proof(thinking).is_none_or(|proof| !refused.proofs.contains(&proof))
                    }
                    _ => true,
                });
            }
        }
        request.model.capabilities.signed_calls = true;
        request.model.capabilities.thinking &= !refused.unasked;
        Cow::Owned(request)
    }

    /// The server refused a proof in `request`; true where leaving the proofs out gives another request.
    pub(crate) fn refuse(&self, request: &ModelRequest) -> bool {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = request.messages.iter().filter_map(|message| match message {
            Message::Assistant(answer) => Some(answer),
            _ => None,
        });
        let thoughts = answers.flat_map(|answer| &answer.blocks).filter_map(|block| match block {
            AssistantBlock::Thinking(thinking) => proof(thinking),
            _ => None,
        });
        let before = refused.proofs.len();
        refused.proofs.extend(thoughts.collect::<Vec<_>>());
        let news = refused.proofs.len() > before;
        let first = !std::mem::replace(&mut refused.complained, true);
        let asked = request.model.capabilities.thinking && !refused.unasked;
        refused.unasked |= !news && asked;
        news || asked || first
    }
}

fn proof(thinking: &ThinkingBlock) -> Option<blake3::Hash> {
    let proof = thinking.redacted.as_ref().or(thinking.signature.as_ref())?;
    Some(blake3::hash(proof.as_bytes()))
}
