//! Signatures for commits and tags of the agent, made outside of the view by the person's own program.
//!
//! Everything but the object that is signed comes from the person's own settings. Who asks the person, and where the
//! program runs, is the caller's business.

mod payload;
mod person_signer;

pub use payload::{MOST_PAYLOAD, PayloadError, SignedObject, check_payload};
pub use person_signer::{PersonSigner, SigningError};
