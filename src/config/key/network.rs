//! How requests and figures leave the machine.
//!
//! Deadlines, certificates and who answers instead hold for every provider alike; what is one provider's own stands under
//! `providers`.

use super::{Key, Kind, Trust, key};

pub(super) const KEYS: &[Key] = &[
    key(
        "metrics.enabled",
        Kind::Flag,
        "true",
        Trust::Needed,
        "Whether calls are counted and timed, on this machine alone.",
    ),
    key(
        "metrics.otlp_endpoint",
        Kind::Text,
        "",
        Trust::Needed,
        "Where `placet metrics push` sends them, as OTLP over HTTP: `http://localhost:4318`.",
    ),
    key(
        "network.silence_seconds",
        Kind::Number,
        "180",
        Trust::Needed,
        "A stream that says nothing for this long is given up.",
    ),
    key(
        "network.connect_seconds",
        Kind::Number,
        "15",
        Trust::Needed,
        "A connection that does not come about for this long is given up.",
    ),
    key(
        "network.first_byte_seconds",
        Kind::Number,
        "",
        Trust::Needed,
        "How long a provider may take to begin its answer. Without it: as long as any other silence.",
    ),
    key(
        "network.ca_file",
        Kind::Text,
        "",
        Trust::Needed,
        "A file of certificates (PEM) that are trusted beside those of the system: a company's own.",
    ),
    key(
        "network.warm",
        Kind::Flag,
        "false",
        Trust::Needed,
        "A connection to the provider is opened, and kept open, while you type.",
    ),
    key(
        "network.fallback",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Who answers when the provider does not, in this order: `gemini/gemini-3.8-flash`.",
    ),
    key(
        "network.attempts",
        Kind::Number,
        "5",
        Trust::Needed,
        "How often a request is tried when the provider is busy or out of reach.",
    ),
];
