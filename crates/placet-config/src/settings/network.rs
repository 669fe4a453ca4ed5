//! Settings for requests and metrics that leave the machine.
//!
//! Deadlines, certificates and fallback providers apply to every provider; the settings of a single provider are under
//! `providers`.

use super::field::SettingTexts;
use super::table::settings_table;

settings_table! {
    /// How requests and figures leave the machine.
    pub struct NetworkSettings {
        /// Whether calls are counted and timed; the numbers stay on this machine.
        "metrics.enabled" => metrics_enabled: bool = true;

        /// Where `placet metrics push` sends them, as OTLP over HTTP: `http://localhost:4318`.
        "metrics.otlp_endpoint" => metrics_otlp_endpoint: Option<String>;

        /// placet gives up a stream that sends nothing for this long.
        "network.silence_seconds" => silence_seconds: Option<u64> = 180;

        /// placet gives up a connection attempt after this time.
        "network.connect_seconds" => connect_seconds: u64 = 15;

        /// How long a provider may take to start its answer. Default: the value of `network.silence_seconds`.
        "network.first_byte_seconds" => first_byte_seconds: Option<u64>;

        /// Maximum length of an answer: text, reasoning and arguments together. A longer answer is stopped, and none
        /// of its calls runs.
        "network.answer_mb" => answer_mb: usize = 16;

        /// Maximum length of the arguments of one call.
        "network.arguments_mb" => arguments_mb: usize = 8;

        /// Maximum length of one event of a stream, and of an answer that is not streamed.
        "network.event_mb" => event_mb: usize = 16;

        /// Maximum number of calls in one answer. If an answer has more, none of them runs.
        "network.answer_calls" => answer_calls: usize = 200;

        /// Maximum time from a request to the end of its answer.
        "network.answer_seconds" => answer_seconds: u64 = 7200;

        /// Hosts that receive the key over unencrypted `http://`: `gpu.lan`, `10.0.0.7:8080`.
        "network.plain_http_hosts" => plain_http_hosts: SettingTexts = [];

        /// Hosts of a private network that commands and `fetch_url` may use if they are allowed: `npm.corp`,
        /// `wiki.corp:8443`; for `fetch_url` also `localhost:8080`.
        "network.private_hosts" => private_hosts: SettingTexts = [];

        /// A file of certificates (PEM) to trust in addition to the system's certificates, such as a company's own.
        "network.ca_file" => ca_file: Option<String>;

        /// Whether placet opens a connection to the provider while you type.
        "network.warm" => warm: bool = false;

        /// Fallback providers, in this order, for when the provider does not answer: `gemini/gemini-3.8-flash`.
        "network.fallback" => fallback: SettingTexts = [];

        /// How often a request is tried when the provider is busy or cannot be reached.
        "network.attempts" => attempts: u32 = 5;
    }
}
