//! One file per area; each test's name is a sentence.
mod process;
mod session;

mod provider_decode;
mod provider_encode;
mod provider_live;
