//! A provider of one's own: where it is, what it speaks, how it differs.
//!
//! Each table `[providers.NAME]` overrules what a built-in provider of that name says.

use super::{Key, Kind, Trust, key};

const DIALECTS: &[&str] = &["anthropic", "openai-chat", "openai-responses", "gemini"];
const OUTPUT_LIMITS: &[&str] = &["max_completion_tokens", "max_tokens", "unsaid"];

pub(super) const KEYS: &[Key] = &[
    key(
        "providers.*.dialect",
        Kind::Word(DIALECTS),
        "\"openai-chat\"",
        Trust::Needed,
        "The wire format a provider of your own speaks.",
    ),
    key(
        "providers.*.base_url",
        Kind::Text,
        "",
        Trust::Needed,
        "Its address, up to and including `/v1` where it has one.",
    ),
    key(
        "providers.*.key_env",
        Kind::Text,
        "",
        Trust::Needed,
        "The environment variable that holds its key; none for local servers.",
    ),
    key("providers.*.api_key_command", Kind::Text, "", Trust::Needed, "A command that prints its key."),
    key(
        "providers.*.keyring",
        Kind::Text,
        "",
        Trust::Needed,
        "The user name of its key in the system's keyring, under the service `placet`; for builds with the feature `keyring`.",
    ),
    key("providers.*.model", Kind::Text, "", Trust::Needed, "The model used when none is named."),
    key(
        "providers.*.preset",
        Kind::Text,
        "",
        Trust::Needed,
        "The built-in provider it is like: its wire format, headers and quirks hold where nothing else is said.",
    ),
    key(
        "providers.*.path",
        Kind::Text,
        "",
        Trust::Needed,
        "The path below its address, where it is not the wire format's own: `/chat/completions`.",
    ),
    key(
        "providers.*.api_version",
        Kind::Text,
        "",
        Trust::Needed,
        "What every address ends with as `api-version`, for servers that want one.",
    ),
    key(
        "providers.*.auth_header",
        Kind::Text,
        "",
        Trust::Needed,
        "The header that carries the key: `api-key`. Without it: `Authorization: Bearer`, or the preset's.",
    ),
    key(
        "providers.*.quirks.output_limit",
        Kind::Word(OUTPUT_LIMITS),
        "",
        Trust::Needed,
        "How the longest answer is asked for, or `unsaid`.",
    ),
    key(
        "providers.*.quirks.system_role",
        Kind::Word(&["system", "developer"]),
        "",
        Trust::Needed,
        "What the system prompt's message is called.",
    ),
    key(
        "providers.*.quirks.stream_options",
        Kind::Flag,
        "",
        Trust::Needed,
        "Whether usage is asked for with `stream_options`.",
    ),
    key(
        "providers.*.quirks.reasoning_fields",
        Kind::Texts,
        "",
        Trust::Needed,
        "Where the model's reasoning is read from, in this order.",
    ),
    key(
        "providers.*.quirks.reasoning_back",
        Kind::Text,
        "",
        Trust::Needed,
        "The field in which reasoning is sent back as words.",
    ),
    key(
        "providers.*.quirks.reasoning_blocks",
        Kind::Text,
        "",
        Trust::Needed,
        "The field with reasoning as blocks, which are sent back unchanged: `reasoning_details`.",
    ),
    key(
        "providers.*.quirks.reasoning_summary",
        Kind::Text,
        "",
        Trust::Needed,
        "openai-responses: how much of its reasoning a model is asked to tell: `auto`.",
    ),
    key(
        "providers.*.quirks.tool_images",
        Kind::Word(&["beside", "inside"]),
        "",
        Trust::Needed,
        "Where the pictures of a result go: into the next message, or into the result itself.",
    ),
    key(
        "providers.*.quirks.parallel_tool_calls",
        Kind::Flag,
        "",
        Trust::Needed,
        "Whether the model may make several calls at once; said only where it is set.",
    ),
    key(
        "providers.*.quirks.after_results",
        Kind::Word(&["anybody", "assistant"]),
        "",
        Trust::Needed,
        "Who may speak after results: `assistant` puts a word of the model before yours.",
    ),
    key(
        "providers.*.quirks.empty_content",
        Kind::Word(&["null", "empty", "omitted"]),
        "",
        Trust::Needed,
        "What stands for the text of an answer that only makes calls.",
    ),
    key(
        "providers.*.quirks.call_ids",
        Kind::Word(&["any", "nine"]),
        "",
        Trust::Needed,
        "`nine`: the server wants ids of nine letters and digits.",
    ),
    key(
        "providers.*.quirks.cache_key",
        Kind::Flag,
        "",
        Trust::Needed,
        "Whether the server knows `prompt_cache_key`.",
    ),
    key(
        "providers.*.quirks.eager_calls",
        Kind::Flag,
        "",
        Trust::Needed,
        "Whether the server knows `eager_input_streaming`: arguments of calls come as they are written.",
    ),
    key(
        "providers.*.quirks.unsigned_call",
        Kind::Text,
        "",
        Trust::Needed,
        "gemini: what stands for the proof of a call that another model made.",
    ),
];
