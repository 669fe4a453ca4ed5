//! What is allowed, who watches and who is told: rules, hooks, classification, secrets, the log.
//!
//! One place for everything that makes a session stricter or laxer, so that a review of it reads one file. What commands
//! may touch stands under `sandbox`.

use super::{Key, Kind, Trust, key};

/// The strictest first, for what is classified; and for how much may go somewhere.
const LEVELS: &[&str] = &["RESTRICTED", "CONFIDENTIAL", "INTERNAL", "PUBLIC"];
const CEILINGS: &[&str] = &["PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED"];

pub(super) const KEYS: &[Key] = &[
    key(
        "permission.allow",
        Kind::Rules,
        "[]",
        Trust::Needed,
        "Rules that answer yes where the mode would ask: `run(cargo test *)`.",
    ),
    key("permission.ask", Kind::Rules, "[]", Trust::Harmless, "Rules that always ask."),
    key(
        "permission.deny",
        Kind::Rules,
        "[]",
        Trust::Harmless,
        "Rules that refuse, in every mode: `read(.env)`.",
    ),
    key(
        "permission.modes",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "The only modes there are: `--mode`, `/mode` and Shift+Tab take no other. Without it: all of them.",
    ),
    key(
        "permission.protected",
        Kind::Texts,
        "[]",
        Trust::Harmless,
        "More files that run later, added to the built-in list and over all layers: `deploy/*.sh`, `ops/`.",
    ),
    key(
        "hooks",
        Kind::Hooks,
        "[]",
        Trust::Tightens,
        "Hooks, as `[[hooks]]` tables: see the guide. What a project's file says is taken where it only denies or asks, until you trust it.",
    ),
    key(
        "audit.enabled",
        Kind::Flag,
        "true",
        Trust::Needed,
        "Whether every decision and every call is written to the audit log.",
    ),
    key(
        "classification.paths",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "What is classified, as LEVEL:PATTERN; the first that matches counts: `CONFIDENTIAL:docs/board/**`.",
    ),
    key(
        "classification.default",
        Kind::Word(LEVELS),
        "\"PUBLIC\"",
        Trust::Tightens,
        "The level of everything else in the workspace.",
    ),
    key(
        "classification.hosts",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "The highest level that may go to a host, as LEVEL:HOST: `INTERNAL:*.example.org`.",
    ),
    key(
        "classification.network_ceiling",
        Kind::Word(CEILINGS),
        "\"PUBLIC\"",
        Trust::Tightens,
        "The highest level that may go to any other host.",
    ),
    key(
        "classification.provider_ceiling",
        Kind::Word(CEILINGS),
        "\"CONFIDENTIAL\"",
        Trust::Tightens,
        "The highest level that may go to the provider, or to an MCP client: what is classified higher is not read.",
    ),
    key(
        "secrets.redact",
        Kind::Flag,
        "true",
        Trust::Needed,
        "Whether what looks like a key, a token or a password is kept from the model, the session and the logs.",
    ),
    key(
        "secrets.shown",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Globs of files whose secrets are let out: `.env.test`.",
    ),
    key(
        "brake.files",
        Kind::Number,
        "20",
        Trust::Tightens,
        "Write mode: files that one turn may delete or overwrite, beside its own, before it is asked about.",
    ),
    key("brake.bytes", Kind::Number, "1048576", Trust::Tightens, "The same in bytes of those files."),
];
