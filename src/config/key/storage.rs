//! Where files live beside the workspace, and how long placet keeps what it keeps.
//!
//! Mounts, the journal for undo and the sessions all cost disk, and are set for that. None of them changes what a model may
//! touch.

use super::{SettingKey, SettingKind, TrustRequirement, key};

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "mounts.*.path",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "The prefix under which a store's files are found: `/memories/`.",
    ),
    key(
        "mounts.*.store",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "Where they are: `memory`, `sqlite:NAME`, `dir:PATH`, `scratchpads`, `s3://BUCKET/PREFIX` or `fs:PATH`.",
    ),
    key(
        "mounts.*.endpoint",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "s3: the server, where it is not Amazon's.",
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
        "Disk that contents kept for undo may take.",
    ),
    key("journal.max_days", SettingKind::Number, "30", TrustRequirement::Needed, "How long they are kept."),
    key(
        "sessions.keep_days",
        SettingKind::Number,
        "0",
        TrustRequirement::Needed,
        "Sessions not used for so many days are removed, once a day; 0 keeps them for ever. Pinned ones and those with pending changes stay.",
    ),
    key(
        "sessions.keep_bytes",
        SettingKind::Number,
        "0",
        TrustRequirement::Needed,
        "The most that all sessions may take together; beyond it the oldest are removed. 0 is no limit.",
    ),
];
