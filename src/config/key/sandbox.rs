//! What a command may see, reach and use.
//!
//! Every key here widens or narrows the cage of a command; a project's file may only narrow it.

use super::row::{SettingKey, SettingKind, TrustRequirement, key};

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "sandbox.backend",
        SettingKind::Word(&["auto", "snapshot"]),
        "\"auto\"",
        TrustRequirement::Needed,
        "`auto`: use the copy-on-write view if the machine supports it. `snapshot`: commands change files at once, placet asks for each command and finds the changes by comparing.",
    ),
    key(
        "sandbox.passthrough",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Directories that commands write directly, outside the view and without undo: `target`.",
    ),
    key(
        "sandbox.mask",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Harmless,
        "More paths that no command sees: `~/.secrets`.",
    ),
    key(
        "sandbox.keep_env",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Environment variables that are passed to commands although they look like secrets: `MY_*_TOKEN`.",
    ),
    key(
        "sandbox.keep_files",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Credential files that commands may read: `~/.m2/settings.xml`.",
    ),
    key(
        "sandbox.hosts",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Hosts that every command may connect to: `crates.io`, `*.npmjs.org:443`.",
    ),
    key(
        "sandbox.memory_mb",
        SettingKind::Number,
        "0",
        TrustRequirement::Needed,
        "Maximum memory of each process of a command; 0 means no limit.",
    ),
    key(
        "sandbox.processes",
        SettingKind::Number,
        "0",
        TrustRequirement::Needed,
        "Maximum number of processes of a command; 0 means no limit.",
    ),
];
