//! A key for the beginning of a conversation: a vendor routes requests with the same key to the machine that has this
//! beginning in its cache. The key is a hash of the beginning: it is the same after a resume, and reveals nothing.

use super::super::ModelRequest;
use placet_text::conversation::{Message, Part};

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
