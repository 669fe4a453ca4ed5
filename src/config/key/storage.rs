//! Where files live beside the workspace, and how long placet keeps what it keeps.
//!
//! Mounts, the journal for undo and the sessions all cost disk, and are set for that. None of them changes what a model may
//! touch.

use super::row::{SettingKey, SettingKind, TrustRequirement, key};

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "mounts.*.path",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "The prefix of the store's files: `/memories/`.",
    ),
    key(
        "mounts.*.store",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "Where the files are stored: `memory`, `sqlite:NAME`, `dir:PATH`, `scratchpads`, `s3://BUCKET/PREFIX` or `fs:PATH`.",
    ),
    key(
        "mounts.*.endpoint",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "s3: the server, if not Amazon's.",
    ),
    key("mounts.*.region", SettingKind::Text, "\"us-east-1\"", TrustRequirement::Needed, "s3: the region."),
    key(
        "mounts.*.access_key_env",
        SettingKind::Text,
        "\"AWS_ACCESS_KEY_ID\"",
        TrustRequirement::Needed,
        "s3: the environment variable that holds the access key.",
    ),
    key(
        "mounts.*.secret_key_env",
        SettingKind::Text,
        "\"AWS_SECRET_ACCESS_KEY\"",
        TrustRequirement::Needed,
        "s3: the environment variable that holds the secret key.",
    ),
    key(
        "journal.max_mb",
        SettingKind::Number,
        "2048",
        TrustRequirement::Needed,
        "Maximum disk space for contents stored for undo.",
    ),
    key(
        "journal.max_days",
        SettingKind::Number,
        "30",
        TrustRequirement::Needed,
        "How long these contents are stored.",
    ),
    key(
        "sessions.keep_days",
        SettingKind::Number,
        "0",
        TrustRequirement::Needed,
        "placet removes sessions not used for so many days, once a day; 0 keeps all sessions. Pinned sessions and sessions with pending changes are never removed.",
    ),
    key(
        "sessions.keep_bytes",
        SettingKind::Number,
        "0",
        TrustRequirement::Needed,
        "Maximum size of all sessions together; placet removes the oldest sessions above it. 0 means no limit.",
    ),
];
