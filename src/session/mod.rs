//! Sessions: what was said and done, kept so that nothing is lost.
//!
//! One SQLite database (write-ahead log, file mode 0600 in a directory of mode 0700) holds conversations,
//! scratchpads and the input history; pictures and other large bytes lie beside it, named by their hash.
//! Conversations are append-only. Two shells share the database; one session is open in one shell at a time.

mod blob;
mod draft;
mod earlier_format;
mod entries;
mod error;
mod export;
mod fork;
mod history;
mod import;
mod kept;
mod open;
mod place;
mod record;
mod replay;
mod retention;
mod salvage;
mod schema;
mod scratchpad;
mod search;
mod spent;
mod store;
mod tree;

pub use draft::{Draft, Drafts};
pub use error::SessionError;
pub use export::{Pictures, html, markdown, pictures, to_json};
pub use history::HistoryLine;
pub use import::ImportError;
pub use open::OpenSession;
pub use record::{Loaded, Record, State};
pub use retention::Retention;
pub use scratchpad::{Entry, Keeper, MAX_ENTRY, MAX_NAME, ScratchpadError, Scratchpads, Slot, check_name};
pub use search::Hit;
pub use spent::{Spent, Within};
pub use store::{Pin, SessionRow, Store};
pub use tree::{Branch, Here, Tree};
