//! Answers that no server makes now: recorded, replayed, or prescribed by a test.

pub(super) mod record;
pub(super) mod recording_format;
pub(super) mod replay;
pub(super) mod replay_stream;
pub(super) mod scripted;
