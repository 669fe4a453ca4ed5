//! How requests and figures leave the machine.
//!
//! Deadlines, certificates and who answers instead hold for every provider alike; what is one provider's own stands under
//! `providers`.

use super::{SettingKey, SettingKind, TrustRequirement, key};

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "metrics.enabled",
        SettingKind::Flag,
        "true",
        TrustRequirement::Needed,
        "Whether calls are counted and timed, on this machine alone.",
    ),
    key(
        "metrics.otlp_endpoint",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "Where `placet metrics push` sends them, as OTLP over HTTP: `http://localhost:4318`.",
    ),
    key(
        "network.silence_seconds",
        SettingKind::Number,
        "180",
        TrustRequirement::Needed,
        "A stream that says nothing for this long is given up.",
    ),
    key(
        "network.connect_seconds",
        SettingKind::Number,
        "15",
        TrustRequirement::Needed,
        "A connection that does not come about for this long is given up.",
    ),
    key(
        "network.first_byte_seconds",
        SettingKind::Number,
        "",
        TrustRequirement::Needed,
        "How long a provider may take to begin its answer. Without it: as long as any other silence.",
    ),
    key(
        "network.answer_mb",
        SettingKind::Number,
        "16",
        TrustRequirement::Needed,
        "The longest answer: text, reasoning and arguments together. A longer one is stopped and runs no call.",
    ),
    key(
        "network.arguments_mb",
        SettingKind::Number,
        "8",
        TrustRequirement::Needed,
        "The longest arguments of one call.",
    ),
    key(
        "network.event_mb",
        SettingKind::Number,
        "16",
        TrustRequirement::Needed,
        "The longest event of a stream, and the longest answer of a server that does not stream.",
    ),
    key(
        "network.answer_calls",
        SettingKind::Number,
        "200",
        TrustRequirement::Needed,
        "The most calls in one answer. An answer with more of them runs none.",
    ),
    key(
        "network.answer_seconds",
        SettingKind::Number,
        "7200",
        TrustRequirement::Needed,
        "The longest time from a request to the end of its answer.",
    ),
    key(
        "network.plain_http_hosts",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Hosts that get the key over `http://` although it is not encrypted: `gpu.lan`, `10.0.0.7:8080`.",
    ),
    key(
        "network.ca_file",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "A file of certificates (PEM) that are trusted beside those of the system: a company's own.",
    ),
    key(
        "network.warm",
        SettingKind::Flag,
        "false",
        TrustRequirement::Needed,
        "A connection to the provider is opened, and kept open, while you type.",
    ),
    key(
        "network.fallback",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Who answers when the provider does not, in this order: `gemini/gemini-3.8-flash`.",
    ),
    key(
        "network.attempts",
        SettingKind::Number,
        "5",
        TrustRequirement::Needed,
        "How often a request is tried when the provider is busy or out of reach.",
    ),
];
