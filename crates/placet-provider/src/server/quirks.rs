//! What a server expects in another form: data that the wire formats read, from the preset or the settings. No code
//! asks which server it speaks to. Each default is what most servers accept.

use crate::ToolForm;
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerQuirks {
    pub output_limit: OutputLimitField,
    pub system_role: SystemRole,
    /// Whether the answer is asked for piece by piece.
    pub stream: bool,
    /// Whether usage must be asked for with `stream_options`, and may be.
    pub stream_options: bool,
    /// Where the model's reasoning is read from, in this order.
    pub reasoning_fields: Vec<String>,
    /// The field in which reasoning goes back as text; without it, reasoning is not sent back.
    pub reasoning_back: Option<String>,
    /// The field with reasoning as blocks, which go back unchanged.
    pub reasoning_blocks: Option<String>,
    pub tool_images: ToolImagePlacement,
    /// How tools are offered; without it the server is asked whether it has tools.
    pub tools: Option<ToolForm>,
    /// Whether the server can hold an answer to a JSON schema (`response_format`).
    pub answer_schema: bool,
    /// Sent only where set.
    pub parallel_tool_calls: Option<bool>,
    pub after_results: AfterToolResults,
    pub empty_content: EmptyContent,
    pub call_ids: CallIdFormat,
    /// Whether `prompt_cache_key` is known.
    pub cache_key: bool,
    /// Whether arguments of calls are asked for as they are written (`eager_input_streaming`).
    pub eager_calls: bool,
    /// How much of its reasoning the model is asked to show; some accounts may not ask.
    pub reasoning_summary: Option<String>,
    /// Replaces the proof of a call that another model made, where the server requires a proof.
    pub unsigned_call: Option<String>,
}

impl Default for ServerQuirks {
    fn default() -> ServerQuirks {
        ServerQuirks {
            output_limit: OutputLimitField::default(),
            system_role: SystemRole::default(),
            stream: true,
            stream_options: true,
            reasoning_fields: vec!["reasoning_content".into(), "reasoning".into()],
            reasoning_back: None,
            reasoning_blocks: None,
            tool_images: ToolImagePlacement::default(),
            tools: None,
            answer_schema: false,
            parallel_tool_calls: None,
            after_results: AfterToolResults::default(),
            empty_content: EmptyContent::default(),
            call_ids: CallIdFormat::default(),
            cache_key: false,
            eager_calls: false,
            reasoning_summary: None,
            unsigned_call: None,
        }
    }
}

/// How the most tokens of an answer are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimitField {
    MaxCompletionTokens,
    #[default]
    MaxTokens,
    /// Not at all: only for a server that refuses both fields, because an answer without a limit may never end.
    Unsaid,
}

/// The role of the system prompt's message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    #[default]
    System,
    Developer,
}

/// Where the pictures of a result go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolImagePlacement {
    /// Into the user message that follows.
    #[default]
    Beside,
    /// Into the result itself.
    Inside,
}

/// What may follow the results of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterToolResults {
    #[default]
    Anybody,
    /// The model must answer before the person's next message.
    Assistant,
}

/// The text of a message that only makes calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyContent {
    #[default]
    Null,
    Empty,
    Omitted,
}

/// How the ids of calls must look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallIdFormat {
    #[default]
    Any,
    /// Nine letters and digits.
    Nine,
}
