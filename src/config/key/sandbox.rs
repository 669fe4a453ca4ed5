//! What a command may see, reach and use.
//!
//! Every key here widens or narrows the cage of a command; a project's file may only narrow it.

use super::{SettingKey, SettingKind, TrustRequirement, key};

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "sandbox.backend",
        SettingKind::Word(&["auto", "snapshot"]),
        "\"auto\"",
        TrustRequirement::Needed,
        "`auto`: the copy-on-write view where the machine has it. `snapshot`: commands change files at once, after asking for each, and what they changed is found by comparing.",
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
        "Environment variables that commands get although they look like secrets: `MY_*_TOKEN`.",
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
        "Hosts every command may reach: `crates.io`, `*.npmjs.org:443`.",
    ),
    key(
        "sandbox.memory_mb",
        SettingKind::Number,
        "0",
        TrustRequirement::Needed,
        "Memory of each process of a command; 0 is no bound.",
    ),
    key(
        "sandbox.processes",
        SettingKind::Number,
        "0",
        TrustRequirement::Needed,
        "Processes a command may have; 0 is no bound.",
    ),
];
