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
        "network.answer_mb",
        Kind::Number,
        "16",
        Trust::Needed,
        "The longest answer: text, reasoning and arguments together. A longer one is stopped and runs no call.",
    ),
    key("network.arguments_mb", Kind::Number, "8", Trust::Needed, "The longest arguments of one call."),
    key(
        "network.event_mb",
        Kind::Number,
        "16",
        Trust::Needed,
        "The longest event of a stream, and the longest answer of a server that does not stream.",
    ),
    key(
        "network.answer_calls",
        Kind::Number,
        "200",
        Trust::Needed,
        "The most calls in one answer. An answer with more of them runs none.",
    ),
    key(
        "network.answer_seconds",
        Kind::Number,
        "7200",
        Trust::Needed,
        "The longest time from a request to the end of its answer.",
    ),
    key(
        "network.plain_http_hosts",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Hosts that get the key over `http://` although it is not encrypted: `gpu.lan`, `10.0.0.7:8080`.",
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
