//! The forms in which models write calls as text: one row a form, with the documentation that describes it.
//!
//! A server normally turns them into calls. It does not where it was started without the parser of its model, where the
//! template of the model has no tools, or where the model has forgotten a bracket. The rows are read by [`super::syntax`].

/// What begins a [block](super::block); more backticks are for a text with lines of backticks.
pub(super) const BLOCK_OPEN: [&str; 3] = ["```call ", "````call ", "`````call "];

/// One form. Everything in it is a literal text of the model.
pub(super) struct TextCallFormat {
    /// The models that are known to write so.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for whoever reads the table, and for the tests' messages")
    )]
    pub(super) models: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "where the form is described"))]
    pub(super) source: &'static str,
    /// What begins one call, or one list of calls.
    pub(super) open: &'static [&'static str],
    /// What ends it; the token is often missing, because the server takes it as the end of the answer.
    pub(super) close: &'static [&'static str],
    /// What begins and ends all calls of an answer.
    pub(super) around: &'static [(&'static str, &'static str)],
    pub(super) syntax: CallSyntax,
}

/// How a call is written between `open` and `close`.
pub(super) enum CallSyntax {
    /// `{"name": "x", "arguments": {}}`, or a list of these.
    Json,
    /// The name and then the arguments as JSON. `before` is in front of the name; each pair of `between` is skipped from
    /// its first text to its second.
    NameThenJson { before: &'static [&'static str], between: &'static [(&'static str, &'static str)] },
    /// The name and then each parameter between tags. The values are plain text: the schema says what they mean.
    Parameters {
        name_end: &'static str,
        key: (&'static str, &'static str),
        value: (&'static str, &'static str),
        /// Attributes that may be between the key and its end.
        key_quote: &'static str,
    },
    /// `[x(a="b")]` or `x(a="b")`.
    Python,
    /// See [`super::block`].
    Block,
}

const TAGGED: CallSyntax = CallSyntax::Parameters {
    name_end: ">",
    key: ("<parameter=", ">"),
    value: ("", "</parameter>"),
    key_quote: "",
};

pub(super) const FORMATS: &[TextCallFormat] = &[
    TextCallFormat {
        models: "models that are offered tools as text: super::description asks for it",
        source: "CommonMark, Fenced code blocks: info strings; Aider documentation, Edit formats: search and replace blocks, whole files",
        open: &BLOCK_OPEN,
        close: &[],
        around: &[],
        syntax: CallSyntax::Block,
    },
    TextCallFormat {
        models: "Hermes 2 and 3, Qwen 2.5 and 3, Granite 3.1 and later",
        source: "Qwen documentation, Function Calling; NousResearch, Hermes-Function-Calling; IBM, Granite 3.1 model card",
        open: &["<tool_call>"],
        close: &["</tool_call>"],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "Qwen 2.5 Coder",
        source: "Qwen documentation, Function Calling: the tag around the list of tools, which the model repeats",
        open: &["<tools>"],
        close: &["</tools>"],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "models that mix the form of Hermes with that of Claude",
        source: "NousResearch, Hermes-Function-Calling; MiniMax, M2 tool calling guide",
        open: &["<tool_call name=\""],
        close: &["</tool_call>"],
        around: &[],
        syntax: CallSyntax::NameThenJson { before: &[], between: &[("\">", "")] },
    },
    TextCallFormat {
        models: "GLM 4.5 and 4.6",
        source: "vLLM documentation, Tool Calling: glm45",
        open: &["<tool_call>"],
        close: &["</tool_call>"],
        around: &[],
        syntax: CallSyntax::Parameters {
            name_end: "",
            key: ("<arg_key>", "</arg_key>"),
            value: ("<arg_value>", "</arg_value>"),
            key_quote: "",
        },
    },
    TextCallFormat {
        models: "Qwen3-Coder, Seed-OSS",
        source: "Qwen3-Coder model card, tool parser; vLLM documentation, Tool Calling: qwen3_coder, seed_oss",
        open: &["<function="],
        close: &["</function>"],
        around: &[("<tool_call>", "</tool_call>"), ("<seed:tool_call>", "</seed:tool_call>")],
        syntax: TAGGED,
    },
    TextCallFormat {
        models: "Llama 3.1 and 3.2 with tools of their own form",
        source: "Llama documentation, Llama 3.1 prompt formats: user-defined custom tool calling",
        open: &["<function="],
        close: &["</function>"],
        around: &[],
        syntax: CallSyntax::NameThenJson { before: &[], between: &[(">", "")] },
    },
    TextCallFormat {
        models: "Llama 3.1 and later",
        source: "Llama documentation, Llama 3.1 prompt formats: JSON based tool calling",
        open: &["<|python_tag|>"],
        close: &[],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "Llama 3.1 (built-in tools), Llama 4",
        source: "Llama documentation, Llama 3.1 prompt formats: built-in tools; Llama 4 prompt format",
        open: &["<|python_tag|>", "<|python_start|>"],
        close: &["<|python_end|>"],
        around: &[],
        syntax: CallSyntax::Python,
    },
    TextCallFormat {
        models: "Mistral and Mixtral up to tokenizer v3",
        source: "Mistral documentation, mistral-common: tokenizer v3",
        open: &["[TOOL_CALLS]"],
        close: &[],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "Mistral Small 3.1 and later, Devstral, Magistral",
        source: "Mistral documentation, mistral-common: tokenizers v11 and v13",
        open: &["[TOOL_CALLS]"],
        close: &[],
        around: &[],
        syntax: CallSyntax::NameThenJson { before: &[], between: &[("[CALL_ID]", "[ARGS]"), ("[ARGS]", "")] },
    },
    TextCallFormat {
        models: "DeepSeek V3, R1, V3.1",
        source: "DeepSeek model cards: chat template of V3, ToolCall of V3.1",
        open: &["<｜tool▁call▁begin｜>"],
        close: &["<｜tool▁call▁end｜>"],
        around: &[("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")],
        syntax: CallSyntax::NameThenJson {
            before: &["function<｜tool▁sep｜>"],
            between: &[("<｜tool▁sep｜>", "")],
        },
    },
    TextCallFormat {
        models: "Kimi K2",
        source: "Moonshot AI, Kimi K2: tool call guidance",
        open: &["<|tool_call_begin|>"],
        close: &["<|tool_call_end|>"],
        around: &[("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>")],
        syntax: CallSyntax::NameThenJson {
            before: &["functions."],
            between: &[(":", "<|tool_call_argument_begin|>"), ("<|tool_call_argument_begin|>", "")],
        },
    },
    TextCallFormat {
        models: "Granite 3.0, Phi-4-mini",
        source: "IBM, Granite 3.0 model card; Microsoft, Phi-4-mini model card: tool-enabled format",
        open: &["<|tool_call|>"],
        close: &["<|/tool_call|>"],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "Granite 20B function calling",
        source: "vLLM documentation, Tool Calling: granite-20b-fc",
        open: &["<function_call>"],
        close: &["</function_call>"],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "Gemma 2 and 3",
        source: "Google, Gemma documentation: Function calling",
        open: &["```tool_code\n"],
        close: &["```"],
        around: &[],
        syntax: CallSyntax::Python,
    },
    TextCallFormat {
        models: "LFM2",
        source: "Liquid AI, LFM2 model card: tool use",
        open: &["<|tool_call_start|>"],
        close: &["<|tool_call_end|>"],
        around: &[],
        syntax: CallSyntax::Python,
    },
    TextCallFormat {
        models: "Command R7B, Command A",
        source: "Cohere documentation, Command R7B: tool use",
        open: &["<|START_ACTION|>"],
        close: &["<|END_ACTION|>"],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "InternLM 2 and 3",
        source: "InternLM documentation, chat format: function call",
        open: &["<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"],
        close: &["<|action_end|>"],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "Nemotron",
        source: "NVIDIA, Nemotron Nano model card: tool calling",
        open: &["<TOOLCALL>"],
        close: &["</TOOLCALL>"],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "Jamba 1.5",
        source: "AI21, Jamba 1.5 model card: tool use",
        open: &["<tool_calls>"],
        close: &["</tool_calls>"],
        around: &[],
        syntax: CallSyntax::Json,
    },
    TextCallFormat {
        models: "MiniMax M2, and models that imitate Claude",
        source: "MiniMax, M2 tool calling guide",
        open: &["<invoke name=\""],
        close: &["</invoke>"],
        around: &[
            ("<minimax:tool_call>", "</minimax:tool_call>"),
            ("<function_calls>", "</function_calls>"),
            ("<tool_call>", "</tool_call>"),
        ],
        syntax: CallSyntax::Parameters {
            name_end: "\">",
            key: ("<parameter name=\"", ">"),
            value: ("", "</parameter>"),
            key_quote: "\"",
        },
    },
    TextCallFormat {
        models: "gpt-oss",
        source: "OpenAI, harmony response format: function calling",
        open: &["<|channel|>commentary to="],
        close: &["<|call|>"],
        around: &[("<|start|>assistant", "")],
        syntax: CallSyntax::NameThenJson {
            before: &["functions."],
            between: &[("<|constrain|>", "<|message|>"), ("<|message|>", "")],
        },
    },
];

/// What ends an answer of some models and is text where the server does not know it.
pub(super) const END_TOKENS: &[&str] = &[
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "</s>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|return|>",
    "<｜end▁of▁sentence｜>",
];

/// Everything that begins calls.
pub(super) fn openers() -> impl Iterator<Item = &'static str> {
    let around = |row: &'static TextCallFormat| row.around.iter().map(|(open, _)| *open);
    FORMATS.iter().flat_map(move |row| row.open.iter().copied().chain(around(row)))
}

/// What may be around calls and is no call.
pub(super) fn frames() -> impl Iterator<Item = &'static str> {
    let around = |row: &'static TextCallFormat| row.around.iter().flat_map(|(open, close)| [*open, *close]);
    let of_row = move |row: &'static TextCallFormat| around(row).chain(row.close.iter().copied());
    // The end of a code fence is also the beginning of one.
    let is_frame = |frame: &&str| !frame.is_empty() && *frame != "```";
    FORMATS.iter().flat_map(of_row).chain(END_TOKENS.iter().copied()).filter(is_frame)
}
