//! What a conversation starts with: its mode, who answers, what it may cost.
//!
//! These stand at the top of a file, outside every table, or in a table too small for a file of its own. Who a provider of
//! one's own is stands under `providers`.

use super::row::{SettingKey, SettingKind, TrustRequirement, key};

const MODES: &[&str] = &["none", "read", "ask", "write", "unrestricted"];

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "mode",
        SettingKind::Word(MODES),
        "\"read\"",
        TrustRequirement::Tightens,
        "The mode a session starts in.",
    ),
    key(
        "modes",
        SettingKind::Texts,
        "[\"read\", \"ask\", \"write\"]",
        TrustRequirement::Needed,
        "The modes Shift+Tab goes through.",
    ),
    key(
        "provider",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "The provider: a built-in one or one from `[providers]`. Default: the first provider whose key is in the environment, else `offline`.",
    ),
    key(
        "stream",
        SettingKind::Flag,
        "true",
        TrustRequirement::Needed,
        "Whether answers are streamed. `false` is for servers and proxies that cannot stream.",
    ),
    key(
        "model",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "The model, by the provider's name for it.",
    ),
    key(
        "base_url",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "Base URL of the provider, if not the default.",
    ),
    key(
        "api_key_command",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "A command whose first line of output is the key. placet runs it at the first request, for at most 10 seconds.",
    ),
    key(
        "max_output_tokens",
        SettingKind::Number,
        "",
        TrustRequirement::Needed,
        "Maximum number of tokens in one answer. Default: the known limit of the model.",
    ),
    key(
        "context_window",
        SettingKind::Number,
        "",
        TrustRequirement::Needed,
        "The model's context window in tokens, if placet does not know it.",
    ),
    key(
        "vision",
        SettingKind::Flag,
        "",
        TrustRequirement::Needed,
        "Whether the model accepts pictures, if placet does not know it.",
    ),
    key(
        "pdf",
        SettingKind::Flag,
        "",
        TrustRequirement::Needed,
        "Whether the model accepts PDF, if placet does not know it.",
    ),
    key(
        "budget.session",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "Dollars that one session may cost before placet asks you, such as `5.00`.",
    ),
    key(
        "budget.day",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "The same for all sessions of a day together.",
    ),
    key(
        "agents.at_once",
        SettingKind::Number,
        "4",
        TrustRequirement::Needed,
        "How many sub-agents work at the same time.",
    ),
    key(
        "max_turns",
        SettingKind::Number,
        "200",
        TrustRequirement::Tightens,
        "Maximum number of requests in one turn; 0 means no limit.",
    ),
    key(
        "max_repeats",
        SettingKind::Number,
        "5",
        TrustRequirement::Tightens,
        "How often the same call with the same result, or the same text in an answer, may repeat in one turn before placet asks you; the model is warned at half of it. 0 never asks.",
    ),
    key(
        "compact_percent",
        SettingKind::Number,
        "85",
        TrustRequirement::Needed,
        "How full, in percent, the model's window may be before placet summarizes the beginning of the conversation; 0 turns this off.",
    ),
    key(
        "append_system_prompt",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "Text added to the end of the system prompt.",
    ),
    key(
        "editor",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "The editor for Ctrl-X Ctrl-E. Default: VISUAL, EDITOR, then vi.",
    ),
];
