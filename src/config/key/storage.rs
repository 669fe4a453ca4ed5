//! Where files live beside the workspace, and how long placet keeps what it keeps.
//!
//! Mounts, the journal for undo and the sessions all cost disk, and are set for that. None of them changes what a model may
//! touch.

use super::{Key, Kind, Trust, key};

pub(super) const KEYS: &[Key] = &[
    key(
        "mounts.*.path",
        Kind::Text,
        "",
        Trust::Needed,
        "The prefix under which a store's files are found: `/memories/`.",
    ),
    key(
        "mounts.*.store",
        Kind::Text,
        "",
        Trust::Needed,
        "Where they are: `memory`, `sqlite:NAME`, `dir:PATH`, `scratchpads`, `s3://BUCKET/PREFIX` or `fs:PATH`.",
    ),
    key("mounts.*.endpoint", Kind::Text, "", Trust::Needed, "s3: the server, where it is not Amazon's."),
    key("mounts.*.region", Kind::Text, "\"us-east-1\"", Trust::Needed, "s3: the region."),
    key(
        "mounts.*.access_key_env",
        Kind::Text,
        "\"AWS_ACCESS_KEY_ID\"",
        Trust::Needed,
        "s3: the environment variable that holds the access key.",
    ),
    key(
        "mounts.*.secret_key_env",
        Kind::Text,
        "\"AWS_SECRET_ACCESS_KEY\"",
        Trust::Needed,
        "s3: the environment variable that holds the secret key.",
    ),
    key("journal.max_mb", Kind::Number, "2048", Trust::Needed, "Disk that contents kept for undo may take."),
    key("journal.max_days", Kind::Number, "30", Trust::Needed, "How long they are kept."),
    key(
        "sessions.keep_days",
        Kind::Number,
        "0",
        Trust::Needed,
        "Sessions not used for so many days are removed, once a day; 0 keeps them for ever. Pinned ones and those with pending changes stay.",
    ),
    key(
        "sessions.keep_bytes",
        Kind::Number,
        "0",
        Trust::Needed,
        "The most that all sessions may take together; beyond it the oldest are removed. 0 is no limit.",
    ),
];
