//! An answer as events: how they are emitted and joined, and what becomes of reasoning, in every wire format.

pub(super) mod event_stream;
pub(super) mod joined_events;
pub(super) mod stream;
pub(super) mod thinking_signatures;
pub(super) mod thinking_text;
