//! A name for what a conversation begins with, so that a vendor sends its requests to the machine that has that
//! beginning in its cache. It is made from the beginning itself: the same after a resume, and telling nobody anything.

use super::super::ModelRequest;
use crate::conversation::{Message, Part};

pub(super) fn of(request: &ModelRequest) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut put = |text: &str| {
        // The length comes first, so that texts divided in another way have another digest.
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    put(&request.model.name);
    put(&request.system);
    for tool in request.tools.iter() {
        put(&tool.name);
        put(&tool.description);
    }
    if let Some(Message::User { parts }) = request.messages.first() {
        parts.iter().filter_map(Part::as_text).for_each(put);
    }
    let digest = hasher.finalize().to_hex();
    format!("placet-{}", digest.get(..24).unwrap_or_default())
}
