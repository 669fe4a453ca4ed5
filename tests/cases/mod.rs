//! One file per area; each test's name is a sentence.

mod provider_decode;
mod provider_encode;
mod provider_live;
mod provider_offline;
mod provider_replay;
