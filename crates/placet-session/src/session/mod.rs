//! Sessions: the conversations with their calls and results, stored without loss.
//!
//! One SQLite database (write-ahead log, file mode 0600 in a directory of mode 0700) holds conversations,
//! scratchpads and the input history; pictures and other large bytes lie next to it, named by their hash.
//! Conversations are append-only. Two shells share the database; one session is open in one shell at a time.

mod blob;
mod branches;
mod closing_lines;
mod costs;
mod draft;
mod earlier_format;
mod entries;
mod error;
mod export;
mod fork;
mod history;
mod import;
mod lock_wait;
mod open;
mod overview;
mod record;
mod recovery;
mod replay;
mod request_cost;
mod resume_point;
mod retention;
mod schema;
mod scratchpad;
mod scratchpad_store;
mod search;
mod store;
mod tries;
mod waiting;

pub use branches::{BranchPosition, BranchTree, SessionBranch};
pub use closing_lines::ClosingLine;
pub use costs::CostFilter;
pub use draft::{DraftFile, InputDraft};
pub use error::{DATABASE_LOCKED, SessionError};
pub use export::{MarkdownPictures, html, markdown, pictures, to_json};
pub use history::HistoryLine;
pub use import::ImportError;
pub use lock_wait::DatabaseWait;
pub use open::OpenSession;
pub use overview::{CONVERSATION, ONE_SHOT, SessionOverview};
pub use record::{LoadedSession, SessionRecord, SessionStateKey};
pub use request_cost::RequestCost;
pub use retention::RetentionPolicy;
pub use scratchpad::{
    MAX_ENTRY, MAX_NAME, ScratchpadBackend, ScratchpadEntry, ScratchpadError, ScratchpadSlot,
    ScratchpadStoreError, Scratchpads, check_name,
};
pub use search::SessionHit;
pub use store::{SessionPin, SessionRow, SessionStore};
pub use tries::{TryName, TryNameError, TryRow};
pub use waiting::SessionOutline;
