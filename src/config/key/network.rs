//! How requests and figures leave the machine.
//!
//! Deadlines, certificates and who answers instead hold for every provider alike; what is one provider's own stands under
//! `providers`.

use super::row::{SettingKey, SettingKind, TrustRequirement, key};

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "metrics.enabled",
        SettingKind::Flag,
        "true",
        TrustRequirement::Needed,
        "Whether calls are counted and timed; the numbers stay on this machine.",
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
        "placet gives up a stream that sends nothing for this long.",
    ),
    key(
        "network.connect_seconds",
        SettingKind::Number,
        "15",
        TrustRequirement::Needed,
        "placet gives up a connection attempt after this time.",
    ),
    key(
        "network.first_byte_seconds",
        SettingKind::Number,
        "",
        TrustRequirement::Needed,
        "How long a provider may take to start its answer. Default: the value of `silence`.",
    ),
    key(
        "network.answer_mb",
        SettingKind::Number,
        "16",
        TrustRequirement::Needed,
        "Maximum length of an answer: text, reasoning and arguments together. A longer answer is stopped, and none of its calls runs.",
    ),
    key(
        "network.arguments_mb",
        SettingKind::Number,
        "8",
        TrustRequirement::Needed,
        "Maximum length of the arguments of one call.",
    ),
    key(
        "network.event_mb",
        SettingKind::Number,
        "16",
        TrustRequirement::Needed,
        "Maximum length of one event of a stream, and of an answer that is not streamed.",
    ),
    key(
        "network.answer_calls",
        SettingKind::Number,
        "200",
        TrustRequirement::Needed,
        "Maximum number of calls in one answer. If an answer has more, none of them runs.",
    ),
    key(
        "network.answer_seconds",
        SettingKind::Number,
        "7200",
        TrustRequirement::Needed,
        "Maximum time from a request to the end of its answer.",
    ),
    key(
        "network.plain_http_hosts",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Hosts that receive the key over unencrypted `http://`: `gpu.lan`, `10.0.0.7:8080`.",
    ),
    key(
        "network.ca_file",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "A file of certificates (PEM) to trust in addition to the system's certificates, such as a company's own.",
    ),
    key(
        "network.warm",
        SettingKind::Flag,
        "false",
        TrustRequirement::Needed,
        "Whether placet opens a connection to the provider while you type.",
    ),
    key(
        "network.fallback",
        SettingKind::Texts,
        "[]",
        TrustRequirement::Needed,
        "Fallback providers, in this order, for when the provider does not answer: `gemini/gemini-3.8-flash`.",
    ),
    key(
        "network.attempts",
        SettingKind::Number,
        "5",
        TrustRequirement::Needed,
        "How often a request is tried when the provider is busy or cannot be reached.",
    ),
];
