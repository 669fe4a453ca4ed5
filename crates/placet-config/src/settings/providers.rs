//! A person's own provider: its address, its wire format, and its differences.
//!
//! Each table `[providers.NAME]` overrides the built-in provider of that name.

use super::field::SettingTexts;
use super::table::settings_table;

const DIALECTS: [&str; 4] = ["anthropic", "openai-chat", "openai-responses", "gemini"];
const TOOL_FORMS: [&str; 4] = ["auto", "native", "json", "text"];
const OUTPUT_LIMITS: [&str; 3] = ["max_completion_tokens", "max_tokens", "unsaid"];

settings_table! {
    /// One `[providers.NAME]`.
    pub struct ProviderSettings {
        /// The wire format of your own provider.
        "providers.*.dialect" => dialect: Option<String> in DIALECTS = "openai-chat";

        /// Its base URL, up to and including `/v1` if it has that part.
        "providers.*.base_url" => base_url: Option<String>;

        /// The environment variable with its key; not needed for local servers.
        "providers.*.key_env" => key_env: Option<String>;

        /// A command that prints its key.
        "providers.*.api_key_command" => api_key_command: Option<String>;

        /// The user name of its key in the system's keyring, under the service `placet`; for builds with the feature
        /// `keyring`.
        "providers.*.keyring" => keyring: Option<String>;

        /// The default model.
        "providers.*.model" => model: Option<String>;

        /// The built-in provider to start from: its wire format, headers and quirks are used unless you set them.
        "providers.*.preset" => preset: Option<String>;

        /// How tools are offered: in the API's own form; as JSON, by a schema that the server holds the model to
        /// (openai-chat only); as text. `auto`: `native`, unless the server says that it has no tools.
        "providers.*.tools" => tools: Option<String> in TOOL_FORMS = "auto";

        /// The path below its base URL, if not that of the wire format: `/chat/completions`.
        "providers.*.path" => path: Option<String>;

        /// The value of `api-version` at the end of each URL, for servers that need it.
        "providers.*.api_version" => api_version: Option<String>;

        /// The header for the key: `api-key`. Default: `Authorization: Bearer`, or the preset's header.
        "providers.*.auth_header" => auth_header: Option<String>;

        /// The field for the maximum length of an answer, or `unsaid` to send none; then an answer may not end.
        "providers.*.quirks.output_limit" => quirks_output_limit: Option<String> in OUTPUT_LIMITS;

        /// The role of the system prompt's message.
        "providers.*.quirks.system_role" => quirks_system_role: Option<String> in ["system", "developer"];

        /// Whether to request usage with `stream_options`.
        "providers.*.quirks.stream_options" => quirks_stream_options: Option<bool>;

        /// The fields with the model's reasoning, in this order.
        "providers.*.quirks.reasoning_fields" => quirks_reasoning_fields: SettingTexts;

        /// The field in which reasoning is sent back as text.
        "providers.*.quirks.reasoning_back" => quirks_reasoning_back: Option<String>;

        /// The field with reasoning as blocks, which are sent back unchanged: `reasoning_details`.
        "providers.*.quirks.reasoning_blocks" => quirks_reasoning_blocks: Option<String>;

        /// openai-responses: how much of its reasoning the model should show: `auto`.
        "providers.*.quirks.reasoning_summary" => quirks_reasoning_summary: Option<String>;

        /// Where the pictures of a result go: into the next message, or into the result itself.
        "providers.*.quirks.tool_images" => quirks_tool_images: Option<String> in ["beside", "inside"];

        /// Whether the model may make several calls at once; sent only if set.
        "providers.*.quirks.parallel_tool_calls" => quirks_parallel_tool_calls: Option<bool>;

        /// The role that may follow results: `assistant` adds a short message of the model before yours.
        "providers.*.quirks.after_results" => quirks_after_results: Option<String> in ["anybody", "assistant"];

        /// What is sent as the text of an answer that has only calls.
        "providers.*.quirks.empty_content" => quirks_empty_content: Option<String> in ["null", "empty", "omitted"];

        /// `nine`: the server needs IDs of nine letters and digits.
        "providers.*.quirks.call_ids" => quirks_call_ids: Option<String> in ["any", "nine"];

        /// Whether the server supports `prompt_cache_key`.
        "providers.*.quirks.cache_key" => quirks_cache_key: Option<bool>;

        /// Whether the server supports `eager_input_streaming`, which streams the arguments of calls as the model
        /// writes them.
        "providers.*.quirks.eager_calls" => quirks_eager_calls: Option<bool>;

        /// gemini: the signature sent with a call that another model made.
        "providers.*.quirks.unsigned_call" => quirks_unsigned_call: Option<String>;
    }
}
