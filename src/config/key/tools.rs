//! The tools: whose they are, how long they run, what a dialect of them has for settings.
//!
//! A dialect's own keys stand beside the key that chooses it. Where files live stands under `storage`.

use super::{SettingKey, SettingKind, TrustRequirement, key};

const TOOL_DIALECTS: &[&str] =
    &["native", "agsh", "triggerfish", "deepagents", "agentos", "typestack", "text-editor", "codex"];

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "tools.command_timeout_ms",
        SettingKind::Number,
        "120000",
        TrustRequirement::Needed,
        "How long a command may run where the call does not say.",
    ),
    key(
        "tools.dialect",
        SettingKind::Word(TOOL_DIALECTS),
        "\"native\"",
        TrustRequirement::Needed,
        "Whose tools the model gets: placet's own, or those of another system.",
    ),
    key(
        "tools.search_seconds",
        SettingKind::Number,
        "60",
        TrustRequirement::Needed,
        "How long one search may take. What was not searched is in its result.",
    ),
    key(
        "tools.inline_bytes",
        SettingKind::Number,
        "30000",
        TrustRequirement::Needed,
        "Results longer than this go to a scratchpad, with a preview.",
    ),
    key(
        "dialects.deepagents.virtual_paths",
        SettingKind::Flag,
        "true",
        TrustRequirement::Needed,
        "deepagents: `/x` is `x` below the working directory, and nothing else can be named.",
    ),
    key(
        "dialects.deepagents.overwrite",
        SettingKind::Flag,
        "",
        TrustRequirement::Needed,
        "deepagents: write_file replaces an existing file. Without it: false with version 0.4, true with 0.7.",
    ),
    key(
        "dialects.deepagents.version",
        SettingKind::Word(&["0.4", "0.7"]),
        "\"0.4\"",
        TrustRequirement::Needed,
        "deepagents: the version whose tools, parameters and results these are.",
    ),
    key(
        "dialects.typestack.app",
        SettingKind::Text,
        "\".\"",
        TrustRequirement::Needed,
        "typestack: the directory of the base `app`, below the working directory.",
    ),
    key(
        "dialects.typestack.web",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "typestack: the directory of the base `web`. Without it: `DOCUMENT_ROOT`, or `public_html` or `private_html` below `app`.",
    ),
    key(
        "dialects.typestack.core",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "typestack: the directory of the base `core`, which is read-only.",
    ),
    key(
        "dialects.triggerfish.denied",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Harmless,
        "triggerfish: more texts that no command may hold, beside the built-in ones.",
    ),
];
