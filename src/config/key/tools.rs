//! The tools: whose they are, how long they run, what a dialect of them has for settings.
//!
//! A dialect's own keys stand beside the key that chooses it. Where files live stands under `storage`.

use super::row::{SettingKey, SettingKind, TrustRequirement, key};

const TOOL_DIALECTS: &[&str] =
    &["native", "agsh", "triggerfish", "deepagents", "agentos", "typestack", "text-editor", "codex"];

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "tools.command_timeout_ms",
        SettingKind::Number,
        "120000",
        TrustRequirement::Needed,
        "Default timeout of a command.",
    ),
    key(
        "tools.dialect",
        SettingKind::Word(TOOL_DIALECTS),
        "\"native\"",
        TrustRequirement::Needed,
        "The tool set of the model: placet's own, or that of another system.",
    ),
    key(
        "tools.search_seconds",
        SettingKind::Number,
        "60",
        TrustRequirement::Needed,
        "Maximum time for one search. The result lists what was not searched.",
    ),
    key(
        "tools.inline_bytes",
        SettingKind::Number,
        "30000",
        TrustRequirement::Needed,
        "Results longer than this are stored in a scratchpad, and the model gets a preview.",
    ),
    key(
        "dialects.deepagents.virtual_paths",
        SettingKind::Flag,
        "true",
        TrustRequirement::Needed,
        "deepagents: `/x` means `x` below the working directory, and paths outside of it cannot be used.",
    ),
    key(
        "dialects.deepagents.overwrite",
        SettingKind::Flag,
        "",
        TrustRequirement::Needed,
        "deepagents: whether write_file replaces an existing file. Default: false for version 0.4, true for 0.7.",
    ),
    key(
        "dialects.deepagents.version",
        SettingKind::Word(&["0.4", "0.7"]),
        "\"0.4\"",
        TrustRequirement::Needed,
        "deepagents: the version whose tools, parameters and results are used.",
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
        "typestack: the directory of the base `web`. Default: `DOCUMENT_ROOT`, or `public_html` or `private_html` below `app`.",
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
        "triggerfish: more texts that no command may contain, in addition to the built-in texts.",
    ),
];
