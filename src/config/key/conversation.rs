//! What a conversation starts with: its mode, who answers, what it may cost.
//!
//! These stand at the top of a file, outside every table, or in a table too small for a file of its own. Who a provider of
//! one's own is stands under `providers`.

use super::{SettingKey, SettingKind, TrustRequirement, key};

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
        "The provider's name: a built-in one or one from `[providers]`. Without it: the first whose key is in the environment, else `offline`.",
    ),
    key(
        "stream",
        SettingKind::Flag,
        "true",
        TrustRequirement::Needed,
        "Answers come piece by piece. Without: each comes whole, for servers and proxies that cannot stream.",
    ),
    key(
        "model",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "The model's name, as the provider calls it.",
    ),
    key(
        "base_url",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "Where the provider is, if not at its usual address.",
    ),
    key(
        "api_key_command",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "A command whose first line of output is the key. Run at the first request, at most 10 seconds.",
    ),
    key(
        "max_output_tokens",
        SettingKind::Number,
        "",
        TrustRequirement::Needed,
        "The most tokens of one answer. Without it: what the model is known to allow.",
    ),
    key(
        "context_window",
        SettingKind::Number,
        "",
        TrustRequirement::Needed,
        "The model's window in tokens, where placet does not know it.",
    ),
    key(
        "vision",
        SettingKind::Flag,
        "",
        TrustRequirement::Needed,
        "Whether the model takes pictures, where placet does not know it.",
    ),
    key(
        "pdf",
        SettingKind::Flag,
        "",
        TrustRequirement::Needed,
        "Whether the model takes PDF, where placet does not know it.",
    ),
    key(
        "budget.session",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "Dollars one session may cost before you are asked, such as `5.00`.",
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
        "The most requests one turn may make; 0 means no bound.",
    ),
    key(
        "max_repeats",
        SettingKind::Number,
        "5",
        TrustRequirement::Tightens,
        "How often the same may come again in one turn (a call with its result, a text in an answer) before you are asked; the model is told at half of it. 0 never asks.",
    ),
    key(
        "compact_percent",
        SettingKind::Number,
        "85",
        TrustRequirement::Needed,
        "How full the model's window may be before the beginning is summed up; 0 never does.",
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
        "The editor for Ctrl-X Ctrl-E. Without it: VISUAL, EDITOR, then vi.",
    ),
];
