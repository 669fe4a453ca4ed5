//! What is allowed, who watches and who is told: rules, hooks, classification, secrets, the log.
//!
//! One place for everything that makes a session stricter or laxer, so that a review of it reads one file. What commands
//! may touch stands under `sandbox`.

use super::{SettingKey, SettingKind, TrustRequirement, key};

/// The strictest first, for what is classified; and for how much may go somewhere.
const LEVELS: &[&str] = &["RESTRICTED", "CONFIDENTIAL", "INTERNAL", "PUBLIC"];
const CEILINGS: &[&str] = &["PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED"];

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "permission.allow",
        SettingKind::Rules,
        "[]",
        TrustRequirement::Needed,
        "Rules that answer yes where the mode would ask: `run(cargo test *)`.",
    ),
    key("permission.ask", SettingKind::Rules, "[]", TrustRequirement::Harmless, "Rules that always ask."),
    key(
        "permission.deny",
        SettingKind::Rules,
        "[]",
        TrustRequirement::Harmless,
        "Rules that refuse, in every mode: `read(.env)`.",
    ),
    key(
        "permission.modes",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "The only modes there are: `--mode`, `/mode` and Shift+Tab take no other. Without it: all of them.",
    ),
    key(
        "permission.protected",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Harmless,
        "More files that run later, added to the built-in list and over all layers: `deploy/*.sh`, `ops/`.",
    ),
    key(
        "hooks",
        SettingKind::Hooks,
        "[]",
        TrustRequirement::Tightens,
        "Hooks, as `[[hooks]]` tables: see the guide. What a project's file says is taken where it only denies or asks, until you trust it.",
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
        "What is classified, as LEVEL:PATTERN; the first that matches counts: `CONFIDENTIAL:docs/board/**`.",
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
        "The highest level that may go to the provider, or to an MCP client: what is classified higher is not read.",
    ),
    key(
        "secrets.redact",
        SettingKind::Flag,
        "true",
        TrustRequirement::Needed,
        "Whether what looks like a key, a token or a password is kept from the model, the session and the logs.",
    ),
    key(
        "secrets.shown",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Globs of files whose secrets are let out: `.env.test`.",
    ),
    key(
        "brake.files",
        SettingKind::Number,
        "20",
        TrustRequirement::Tightens,
        "Write mode: files that one turn may delete or overwrite, beside its own, before it is asked about.",
    ),
    key(
        "brake.bytes",
        SettingKind::Number,
        "1048576",
        TrustRequirement::Tightens,
        "The same in bytes of those files.",
    ),
];
