//! Sessions: the conversations with their calls and results, stored without loss.
//!
//! One SQLite database (write-ahead log, file mode 0600 in a directory of mode 0700) holds conversations,
//! scratchpads and the input history; pictures and other large bytes lie next to it, named by their hash.
//! Conversations are append-only. Two shells share the database; one session is open in one shell at a time.

mod blob;
mod conversation;
mod costs;
mod database;
mod draft;
mod error;
mod history;
mod open;
mod request_cost;
mod scratchpad;
mod scratchpad_store;
mod transfer;
mod tries;

pub use conversation::branches::{BranchPosition, BranchTree, SessionBranch};
pub use conversation::closing_lines::ClosingLine;
pub use conversation::overview::{CONVERSATION, ONE_SHOT, SessionOverview};
pub use conversation::record::{LoadedSession, SessionRecord, SessionStateKey};
pub use conversation::waiting::SessionOutline;
pub use costs::CostFilter;
pub use database::lock_wait::DatabaseWait;
pub use database::retention::RetentionPolicy;
pub use database::search::SessionHit;
pub use database::store::{SessionPin, SessionRow, SessionStore};
pub use draft::{DraftFile, InputDraft};
pub use error::{DATABASE_LOCKED, SessionError};
pub use history::HistoryLine;
pub use open::OpenSession;
pub use request_cost::RequestCost;
pub use scratchpad::{
    MAX_ENTRY, MAX_NAME, ScratchpadBackend, ScratchpadEntry, ScratchpadError, ScratchpadSlot,
    ScratchpadStoreError, Scratchpads, check_name,
};
pub use transfer::export::{MarkdownPictures, html, markdown, pictures, to_json};
pub use transfer::import::ImportError;
pub use tries::{TryName, TryNameError, TryRow};
