//! Settings about what is allowed and what is recorded: rules, hooks, classification, secrets, the log.
//!
//! Everything that makes a session stricter or less strict is in one place, so that a review of it reads one file. The
//! settings for commands are under `sandbox`.

use super::field::{HookList, RuleList, SettingTexts};
use super::table::settings_table;

/// Both lists begin with the strictest value: the levels of files, and the ceilings of what may be sent.
const LEVELS: [&str; 4] = ["RESTRICTED", "CONFIDENTIAL", "INTERNAL", "PUBLIC"];
const CEILINGS: [&str; 4] = ["PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED"];

settings_table! {
    /// What makes a session stricter or laxer.
    pub struct GuardSettings {
        /// Rules that allow calls for which the mode would ask: `run(cargo test *)`.
        "permission.allow" => permission_allow: RuleList = [];

        /// Rules that always ask.
        "permission.ask" => permission_ask: RuleList = [];

        /// Rules that deny calls, in every mode: `read(.env)`.
        "permission.deny" => permission_deny: RuleList = [];

        /// The modes that `--mode`, `/mode` and Shift+Tab accept. Default: all modes.
        "permission.modes" => permission_modes: SettingTexts = [];

        /// More protected files (files that a program runs later), added to the built-in list; all layers add up:
        /// `deploy/*.sh`, `ops/`.
        "permission.protected" => permission_protected: SettingTexts = [];

        /// Hooks, as `[[hooks]]` tables: see the guide. Of an untrusted project file, placet uses only hooks that
        /// deny or ask.
        "hooks" => hooks: HookList = [];

        /// Whether every decision and every call is written to the audit log.
        "audit.enabled" => audit_enabled: bool = true;

        /// Classified paths, as LEVEL:PATTERN; the first match counts: `CONFIDENTIAL:docs/board/**`.
        "classification.paths" => classification_paths: SettingTexts = [];

        /// The level of everything else in the workspace.
        "classification.default" => classification_default: String in LEVELS = "PUBLIC";

        /// The highest level that may go to a host, as LEVEL:HOST: `INTERNAL:*.example.org`.
        "classification.hosts" => classification_hosts: SettingTexts = [];

        /// The highest level that may go to any other host.
        "classification.network_ceiling" => classification_network_ceiling: String in CEILINGS = "PUBLIC";

        /// The highest level that may go to the provider or to an MCP client; files above it are never read.
        "classification.provider_ceiling" => classification_provider_ceiling: String in CEILINGS = "CONFIDENTIAL";

        /// Whether text that looks like a key, a token or a password is hidden from the model, the session and the
        /// logs.
        "secrets.redact" => secrets_redact: bool = true;

        /// Globs of files whose secrets are not hidden: `.env.test`.
        "secrets.shown" => secrets_shown: SettingTexts = [];

        /// Write mode: how many files one turn may delete or overwrite, except files that the turn created, before
        /// placet asks.
        "brake.files" => brake_files: usize = 20;

        /// The same limit in bytes.
        "brake.bytes" => brake_bytes: u64 = 1048576;
    }
}
