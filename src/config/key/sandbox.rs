//! What a command may see, reach and use.
//!
//! Every key here widens or narrows the cage of a command; a project's file may only narrow it.

use super::{Key, Kind, Trust, key};

pub(super) const KEYS: &[Key] = &[
    key(
        "sandbox.backend",
        Kind::Word(&["auto", "snapshot"]),
        "\"auto\"",
        Trust::Needed,
        "`auto`: the copy-on-write view where the machine has it. `snapshot`: commands change files at once, after asking for each, and what they changed is found by comparing.",
    ),
    key(
        "sandbox.passthrough",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Directories that commands write directly, outside the view and without undo: `target`.",
    ),
    key("sandbox.mask", Kind::Texts, "[]", Trust::Harmless, "More paths that no command sees: `~/.secrets`."),
    key(
        "sandbox.keep_env",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Environment variables that commands get although they look like secrets: `MY_*_TOKEN`.",
    ),
    key(
        "sandbox.keep_files",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Credential files that commands may read: `~/.m2/settings.xml`.",
    ),
    key(
        "sandbox.hosts",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Hosts every command may reach: `crates.io`, `*.npmjs.org:443`.",
    ),
    key(
        "sandbox.memory_mb",
        Kind::Number,
        "0",
        Trust::Needed,
        "Memory of each process of a command; 0 is no bound.",
    ),
    key(
        "sandbox.processes",
        Kind::Number,
        "0",
        Trust::Needed,
        "Processes a command may have; 0 is no bound.",
    ),
];
