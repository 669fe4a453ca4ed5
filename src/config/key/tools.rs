//! The tools: whose they are, how long they run, what a dialect of them has for settings.
//!
//! A dialect's own keys stand beside the key that chooses it. Where files live stands under `storage`.

use super::{Key, Kind, Trust, key};

const TOOL_DIALECTS: &[&str] =
    &["native", "agsh", "triggerfish", "deepagents", "agentos", "typestack", "text-editor", "codex"];

pub(super) const KEYS: &[Key] = &[
    key(
        "tools.command_timeout_ms",
        Kind::Number,
        "120000",
        Trust::Needed,
        "How long a command may run where the call does not say.",
    ),
    key(
        "tools.dialect",
        Kind::Word(TOOL_DIALECTS),
        "\"native\"",
        Trust::Needed,
        "Whose tools the model gets: placet's own, or those of another system.",
    ),
    key(
        "tools.search_seconds",
        Kind::Number,
        "60",
        Trust::Needed,
        "How long one search may take. What was not searched is in its result.",
    ),
    key(
        "tools.inline_bytes",
        Kind::Number,
        "30000",
        Trust::Needed,
        "Results longer than this go to a scratchpad, with a preview.",
    ),
    key(
        "dialects.deepagents.virtual_paths",
        Kind::Flag,
        "true",
        Trust::Needed,
        "deepagents: `/x` is `x` below the working directory, and nothing else can be named.",
    ),
    key(
        "dialects.deepagents.overwrite",
        Kind::Flag,
        "",
        Trust::Needed,
        "deepagents: write_file replaces an existing file. Without it: false with version 0.4, true with 0.7.",
    ),
    key(
        "dialects.deepagents.version",
        Kind::Word(&["0.4", "0.7"]),
        "\"0.4\"",
        Trust::Needed,
        "deepagents: the version whose tools, parameters and results these are.",
    ),
    key(
        "dialects.typestack.app",
        Kind::Text,
        "\".\"",
        Trust::Needed,
        "typestack: the directory of the base `app`, below the working directory.",
    ),
    key(
        "dialects.typestack.web",
        Kind::Text,
        "",
        Trust::Needed,
        "typestack: the directory of the base `web`. Without it: `DOCUMENT_ROOT`, or `public_html` or `private_html` below `app`.",
    ),
    key(
        "dialects.typestack.core",
        Kind::Text,
        "",
        Trust::Needed,
        "typestack: the directory of the base `core`, which is read-only.",
    ),
    key(
        "dialects.triggerfish.denied",
        Kind::Texts,
        "[]",
        Trust::Harmless,
        "triggerfish: more texts that no command may hold, beside the built-in ones.",
    ),
];
