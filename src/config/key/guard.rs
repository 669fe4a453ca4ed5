//! What is allowed, who watches and who is told: rules, hooks, classification, secrets, the log.
//!
//! One place for everything that makes a session stricter or laxer, so that a review of it reads one file. What commands
//! may touch stands under `sandbox`.

use super::row::{SettingKey, SettingKind, TrustRequirement, key};

/// The strictest first, for what is classified; and for how much may go somewhere.
const LEVELS: &[&str] = &["RESTRICTED", "CONFIDENTIAL", "INTERNAL", "PUBLIC"];
const CEILINGS: &[&str] = &["PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED"];

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "permission.allow",
        SettingKind::Rules,
        "[]",
        TrustRequirement::Needed,
        "Rules that allow calls for which the mode would ask: `run(cargo test *)`.",
    ),
    key("permission.ask", SettingKind::Rules, "[]", TrustRequirement::Harmless, "Rules that always ask."),
    key(
        "permission.deny",
        SettingKind::Rules,
        "[]",
        TrustRequirement::Harmless,
        "Rules that deny calls, in every mode: `read(.env)`.",
    ),
    key(
        "permission.modes",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "The modes that `--mode`, `/mode` and Shift+Tab accept. Default: all modes.",
    ),
    key(
        "permission.protected",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Harmless,
        "More protected files (files that a program runs later), added to the built-in list; all layers add up: `deploy/*.sh`, `ops/`.",
    ),
    key(
        "hooks",
        SettingKind::Hooks,
        "[]",
        TrustRequirement::Tightens,
        "Hooks, as `[[hooks]]` tables: see the guide. Of an untrusted project file, placet uses only hooks that deny or ask.",
    ),
    key(
        "audit.enabled",
        SettingKind::Flag,
        "true",
        TrustRequirement::Needed,
        "Whether every decision and every call is written to the audit log.",
    ),
    key(
        "classification.paths",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Classified paths, as LEVEL:PATTERN; the first match counts: `CONFIDENTIAL:docs/board/**`.",
    ),
    key(
        "classification.default",
        SettingKind::Word(LEVELS),
        "\"PUBLIC\"",
        TrustRequirement::Tightens,
        "The level of everything else in the workspace.",
    ),
    key(
        "classification.hosts",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "The highest level that may go to a host, as LEVEL:HOST: `INTERNAL:*.example.org`.",
    ),
    key(
        "classification.network_ceiling",
        SettingKind::Word(CEILINGS),
        "\"PUBLIC\"",
        TrustRequirement::Tightens,
        "The highest level that may go to any other host.",
    ),
    key(
        "classification.provider_ceiling",
        SettingKind::Word(CEILINGS),
        "\"CONFIDENTIAL\"",
        TrustRequirement::Tightens,
        "The highest level that may go to the provider or to an MCP client; files above it are never read.",
    ),
    key(
        "secrets.redact",
        SettingKind::Flag,
        "true",
        TrustRequirement::Needed,
        "Whether text that looks like a key, a token or a password is hidden from the model, the session and the logs.",
    ),
    key(
        "secrets.shown",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Globs of files whose secrets are not hidden: `.env.test`.",
    ),
    key(
        "brake.files",
        SettingKind::Number,
        "20",
        TrustRequirement::Tightens,
        "Write mode: how many files one turn may delete or overwrite, except files that the turn created, before placet asks.",
    ),
    key(
        "brake.bytes",
        SettingKind::Number,
        "1048576",
        TrustRequirement::Tightens,
        "The same limit in bytes.",
    ),
];
