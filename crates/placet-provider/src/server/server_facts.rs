//! What a server says of a model: its window, whether it takes tools and pictures. Asked once, where the preset names
//! the questions.
//!
//! Each kind of server has its own answer, and no two share a field's place, so that one reading serves all of them. The
//! answers follow their documentation: llama.cpp (`/props`, and `meta` of `/v1/models`), Ollama (`/api/ps`, `/api/show`),
//! LM Studio (`/api/v0/models`), vLLM and SGLang (`max_model_len`), TGI (`/info`), LiteLLM (`/model/info`), OpenRouter
//! (`/models`).

use crate::ToolForm;
use serde_json::{Value, json};

/// The facts, each with the question that it is the answer of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// Tokens, answer included.
    pub window: Option<ServerFact<u64>>,
    pub tools: Option<ServerFact<bool>>,
    pub vision: Option<ServerFact<bool>>,
    /// How calls are made, if not as the server would have it.
    pub calls: Option<ToolForm>,
}

/// A fact, and the path under which the server says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFact<T> {
    pub value: T,
    pub from: String,
}

impl ServerFacts {
    pub fn is_empty(&self) -> bool {
        *self == ServerFacts::default()
    }

    /// Adds what is not known yet.
    pub(crate) fn add(&mut self, more: ServerFacts) {
        self.window = self.window.take().or(more.window);
        self.tools = self.tools.take().or(more.tools);
        self.vision = self.vision.take().or(more.vision);
    }

    /// `window 8192 (/props), no tools (/props)`.
    pub fn words(&self) -> String {
        let window = self.window.as_ref().map(|fact| format!("window {} ({})", fact.value, fact.from));
        let able = |fact: &Option<ServerFact<bool>>, what: &str| {
            let fact = fact.as_ref()?;
            Some(format!("{}{what} ({})", if fact.value { "" } else { "no " }, fact.from))
        };
        let tools = able(&self.tools, "tools").map(|words| match self.calls {
            Some(ToolForm::Json) => words + ": calls as JSON",
            Some(ToolForm::Text) => words + ": calls as text",
            Some(ToolForm::Native) | None => words,
        });
        let all = [window, tools, able(&self.vision, "pictures")];
        all.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// A question to a server: `GET /props`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerQuestion<'q> {
    pub(crate) path: &'q str,
    /// The body, where the question is a POST.
    pub(crate) body: Option<Value>,
}

impl<'q> ServerQuestion<'q> {
    pub(crate) fn of(text: &'q str, model: &str) -> ServerQuestion<'q> {
        match text.split_once(' ') {
            Some(("POST", path)) => ServerQuestion { path, body: Some(json!({"model": model})) },
            Some((_, path)) => ServerQuestion { path, body: None },
            None => ServerQuestion { path: text, body: None },
        }
    }
}

const WINDOWS: [&str; 8] = [
    "/default_generation_settings/n_ctx",
    "/meta/n_ctx",
    "/max_model_len",
    "/loaded_context_length",
    "/context_length",
    "/model_info/max_input_tokens",
    "/max_total_tokens",
    "/n_ctx",
];

/// What `answer`, which came from `path`, says of `model`.
pub(crate) fn read(path: &str, answer: &Value, model: &str) -> ServerFacts {
    let Some(about) = entry(answer, model) else { return ServerFacts::default() };
    let window = WINDOWS.iter().find_map(|place| about.pointer(place)?.as_u64()).or_else(|| num_ctx(about));
    let flag = |place: &str| about.pointer(place).and_then(Value::as_bool);
    let listed = |place: &str, words: &[&str]| {
        let list = about.pointer(place)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).any(|word| words.contains(&word)))
    };
    let tools = flag("/chat_template_caps/supports_tools")
        .or_else(|| flag("/model_info/supports_function_calling"))
        .or_else(|| listed("/capabilities", &["tools", "tool_use"]))
        .or_else(|| listed("/supported_parameters", &["tools"]));
    // LM Studio lists abilities of tools only; what sees is another type of model.
    let is_seeing_type = || about.get("type")?.as_str().map(|kind| kind == "vlm");
    let vision = flag("/modalities/vision")
        .or_else(|| flag("/model_info/supports_vision"))
        .or_else(|| listed("/architecture/input_modalities", &["image"]))
        .or_else(is_seeing_type)
        .or_else(|| listed("/capabilities", &["vision"]));
    let from = || path.to_string();
    ServerFacts {
        // A window of zero is how some say that they do not know it.
        window: window.filter(|tokens| *tokens > 0).map(|value| ServerFact { value, from: from() }),
        tools: tools.map(|value| ServerFact { value, from: from() }),
        vision: vision.map(|value| ServerFact { value, from: from() }),
        calls: None,
    }
}

/// The part of the answer that is about the model: the answer itself, or its entry in a list.
fn entry<'a>(answer: &'a Value, model: &str) -> Option<&'a Value> {
    let Some(list) = ["data", "models"].into_iter().find_map(|key| answer.get(key)?.as_array()) else {
        return Some(answer);
    };
    let is_named = |row: &&Value| {
        ["id", "name", "model", "model_name"].into_iter().any(|key| {
            let name = row.get(key).and_then(Value::as_str).unwrap_or_default();
            // Ollama adds the tag that is meant where none is given.
            name == model || name.strip_suffix(":latest") == Some(model)
        })
    };
    list.iter().find(is_named).or_else(|| list.first().filter(|_| list.len() == 1))
}

/// Ollama's `parameters` is a text with a line for each.
fn num_ctx(about: &Value) -> Option<u64> {
    let lines = about.get("parameters")?.as_str()?.lines();
    let mut words = lines.filter_map(|line| line.trim().strip_prefix("num_ctx"));
    words.next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str, answer: Value) -> String {
        read(path, &answer, "m").words()
    }

    /// One answer of each kind of server, cut to what is read and what is beside it.
    #[test]
    fn each_kind_of_server_is_understood() {
        let table = [
            (
                "/props",
                json!({"default_generation_settings": {"n_ctx": 8192, "params": {}}, "total_slots": 4,
                    "modalities": {"vision": false, "audio": false},
                    "chat_template_caps": {"supports_tools": false, "supports_tool_calls": false}}),
                "window 8192 (/props), no tools (/props), no pictures (/props)",
            ),
            (
                "/v1/models",
                json!({"object": "list", "data": [{"id": "m", "object": "model",
                    "meta": {"n_vocab": 49152, "n_ctx_train": 2048, "n_ctx": 8192}}]}),
                "window 8192 (/v1/models)",
            ),
            (
                "/v1/models",
                json!({"object": "list", "data": [{"id": "x"}, {"id": "m", "owned_by": "vllm", "max_model_len": 40960}]}),
                "window 40960 (/v1/models)",
            ),
            (
                "/api/ps",
                json!({"models": [{"name": "m:latest", "model": "m:latest", "size": 1, "context_length": 4096}]}),
                "window 4096 (/api/ps)",
            ),
            (
                "/api/show",
                json!({"parameters": "stop  \"<|im_end|>\"\nnum_ctx                        16384",
                    "model_info": {"qwen2.context_length": 32768}, "capabilities": ["completion", "tools"]}),
                "window 16384 (/api/show), tools (/api/show), no pictures (/api/show)",
            ),
            (
                "/api/v0/models",
                json!({"object": "list", "data": [{"id": "m", "type": "vlm", "state": "loaded", "max_context_length": 131072,
                    "loaded_context_length": 4096, "capabilities": ["tool_use"]}]}),
                "window 4096 (/api/v0/models), tools (/api/v0/models), pictures (/api/v0/models)",
            ),
            (
                "/info",
                json!({"model_id": "m", "max_total_tokens": 4096, "max_input_tokens": 4095}),
                "window 4096 (/info)",
            ),
            (
                "/model/info",
                json!({"data": [{"model_name": "m", "model_info": {"max_input_tokens": 128_000, "supports_vision": true,
                    "supports_function_calling": true}}, {"model_name": "n"}]}),
                "window 128000 (/model/info), tools (/model/info), pictures (/model/info)",
            ),
            (
                "/v1/models",
                json!({"data": [{"id": "a/b"}, {"id": "m", "context_length": 262_144, "supported_parameters": ["max_tokens", "tools"],
                    "architecture": {"input_modalities": ["text", "image"]}}]}),
                "window 262144 (/v1/models), tools (/v1/models), pictures (/v1/models)",
            ),
        ];
        for (path, answer, words) in table {
            assert_eq!(said(path, answer.clone()), words, "{answer}");
        }
    }

    #[test]
    fn what_is_not_said_is_not_known() {
        for answer in [
            json!(null),
            json!([]),
            json!({"error": "not found"}),
            json!({"data": [{"id": "x", "max_model_len": 5}, {"id": "y", "max_model_len": 6}]}),
            json!({"default_generation_settings": {"n_ctx": 0}}),
            json!({"context_length": "many"}),
            json!({"data": [{"id": "m", "state": "not-loaded", "max_context_length": 131072}]}),
        ] {
            assert_eq!(said("/x", answer.clone()), "", "{answer}");
        }
    }

    #[test]
    fn the_first_answer_counts() {
        let mut facts = read("/api/ps", &json!({"context_length": 4096}), "m");
        facts.add(read("/api/show", &json!({"parameters": "num_ctx 8192", "capabilities": ["tools"]}), "m"));
        assert_eq!(facts.words(), "window 4096 (/api/ps), tools (/api/show), no pictures (/api/show)");
        let question = ServerQuestion::of("POST /api/show", "m");
        assert_eq!(question, ServerQuestion { path: "/api/show", body: Some(json!({"model": "m"})) });
        assert_eq!(ServerQuestion::of("GET /props", "m").path, "/props");
    }
}
