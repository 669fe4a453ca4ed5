//! How long placet stores its data.
//!
//! The undo journal and the sessions need disk space, and these settings limit it. None of them changes what a model
//! may access.

use super::table::settings_table;

settings_table! {
    /// How much disk the past may cost.
    pub struct StorageSettings {
        /// Maximum disk space for contents stored for undo.
        "journal.max_mb" => journal_max_mb: u64 = 2048;

        /// How long these contents are stored.
        "journal.max_days" => journal_max_days: u64 = 30;

        /// placet removes sessions not used for so many days, once a day; 0 keeps all sessions. Pinned sessions and
        /// sessions with pending changes are never removed.
        "sessions.keep_days" => sessions_keep_days: u64 = 0;

        /// Maximum size of all sessions together; placet removes the oldest sessions above it. 0 means no limit.
        "sessions.keep_bytes" => sessions_keep_bytes: u64 = 0;
    }
}
