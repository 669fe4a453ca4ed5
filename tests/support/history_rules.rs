//! What real servers refuse in a request, as strictly as the strictest of them. The mock server answers 400 with the
//! first rule broken, so that no test passes with a history that would wedge a session.

use serde_json::Value;
use std::collections::HashSet;

/// The rules that `body`, posted to `path`, breaks.
pub fn broken(path: &str, body: &Value) -> Vec<String> {
    let mut rules = Rules { broken: Vec::new() };
    let path = path.split('?').next().unwrap_or_default();
    if path.ends_with("/v1/messages") {
        rules.anthropic(body);
    } else if path.ends_with("/chat/completions") {
        rules.openai(body);
    } else if path.ends_with("/responses") {
        rules.responses(body);
    } else if path.contains(":streamGenerateContent") {
        rules.gemini(body);
    } else if !path.ends_with("/api/show") {
        rules.say(format!("no such path: {path}"));
    }
    rules.broken
}

struct Rules {
    broken: Vec<String>,
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn is_plain(name: &str, longest: usize) -> bool {
    !name.is_empty()
        && name.len() <= longest
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

impl Rules {
    fn say(&mut self, rule: impl Into<String>) {
        self.broken.push(rule.into());
    }

    fn hold(&mut self, holds: bool, rule: impl FnOnce() -> String) {
        if !holds {
            self.say(rule());
        }
    }

    fn text(&mut self, text: &Value, at: &str) {
        let holds = text.as_str().is_some_and(|t| !t.trim().is_empty());
        self.hold(holds, || format!("{at}: text must be non-empty"));
    }

    fn tools<'v>(&mut self, tools: impl Iterator<Item = (&'v Value, &'v Value)>) {
        let mut names = HashSet::new();
        for (k, (name, schema)) in tools.enumerate() {
            let name = name.as_str().unwrap_or_default();
            self.hold(is_plain(name, 64), || format!("tools.{k}: bad name `{name}`"));
            self.hold(names.insert(name), || format!("tools.{k}: tool names must be unique"));
            self.hold(schema["type"] == "object", || {
                format!("tools.{k}: the schema's root must be an object")
            });
        }
    }

    fn anthropic(&mut self, body: &Value) {
        self.hold(body["max_tokens"].as_u64().is_some_and(|n| n > 0), || "max_tokens is required".into());
        self.hold(body["stream"].is_boolean(), || "stream must be true or false".into());
        self.tools(list(body, "tools").iter().map(|t| (&t["name"], &t["input_schema"])));
        let markers = body.to_string().matches("\"cache_control\"").count();
        self.hold(markers <= 4, || format!("{markers} cache breakpoints; at most 4"));
        for block in list(body, "system") {
            self.text(&block["text"], "system");
        }
        let messages = list(body, "messages");
        self.hold(messages.last().is_some_and(|m| m["role"] == "user"), || {
            "the last message must be the user's".into()
        });
        let mut open: Vec<&str> = Vec::new();
        let mut ids = HashSet::new();
        for (k, message) in messages.iter().enumerate() {
            let at = format!("messages.{k}");
            let role = ["user", "assistant"][k % 2];
            self.hold(message["role"] == role, || format!("{at}: roles must alternate"));
            let content = list(message, "content");
            self.hold(!content.is_empty(), || format!("{at}: content must not be empty"));
            self.results(content, &open, &at);
            open.clear();
            for (n, block) in content.iter().enumerate() {
                let at = format!("{at}.content.{n}");
                self.block(block, role, &at);
                if block["type"] == "tool_use" {
                    let id = block["id"].as_str().unwrap_or_default();
                    self.hold(is_plain(id, 64), || format!("{at}: bad id `{id}`"));
                    self.hold(ids.insert(id), || format!("{at}: `tool_use` ids must be unique"));
                    open.push(id);
                }
            }
            let last = content.last().map(|b| b["type"].as_str().unwrap_or_default()).unwrap_or_default();
            self.hold(!last.contains("thinking"), || format!("{at}: the final block cannot be `thinking`"));
        }
        self.hold(open.is_empty(), || format!("`tool_use` without `tool_result`: {open:?}"));
    }

    /// Every call of the message before is answered once, before anything else is said.
    fn results(&mut self, content: &[Value], open: &[&str], at: &str) {
        let is_result = |b: &&Value| b["type"] == "tool_result";
        let leading: Vec<&str> = content
            .iter()
            .take_while(is_result)
            .map(|b| b["tool_use_id"].as_str().unwrap_or_default())
            .collect();
        let all = content.iter().filter(is_result).count();
        self.hold(leading == open && all == leading.len(), || {
            format!("{at}: `tool_use` ids {open:?} need one `tool_result` each, at the start of the next message; found {leading:?} of {all}")
        });
    }

    fn block(&mut self, block: &Value, role: &str, at: &str) {
        let kind = block["type"].as_str().unwrap_or_default();
        match (kind, role) {
            ("text", _) => self.text(&block["text"], at),
            ("image" | "document", "user") => {
                let data = block["source"]["data"].as_str().unwrap_or_default();
                self.hold(!data.is_empty(), || format!("{at}.image.source.base64: must not be empty"));
            }
            ("tool_result", "user") => {
                let content = list(block, "content");
                self.hold(!content.is_empty(), || format!("{at}: a result without content"));
                for inner in content {
                    self.block(inner, "user", at);
                    let text_only = block["is_error"] != true || inner["type"] == "text";
                    self.hold(text_only, || {
                        format!("{at}: all content must be `text` if `is_error` is true")
                    });
                }
            }
            ("tool_use", "assistant") => {
                self.hold(block["input"].is_object(), || format!("{at}: `input` must be an object"));
                let name = block["name"].as_str().unwrap_or_default();
                self.hold(is_plain(name, 128), || format!("{at}: bad name `{name}`"));
            }
            ("thinking", "assistant") => {
                let signed = block["signature"].as_str().is_some_and(|s| !s.is_empty());
                self.hold(signed, || format!("{at}: thinking without signature"));
            }
            ("redacted_thinking", "assistant") => {}
            _ => self.say(format!("{at}: `{kind}` does not belong to {role}")),
        }
    }

    fn openai(&mut self, body: &Value) {
        self.hold(body["stream"].is_boolean(), || "stream must be true or false".into());
        self.tools(
            list(body, "tools").iter().map(|t| (&t["function"]["name"], &t["function"]["parameters"])),
        );
        let mut open: Vec<&str> = Vec::new();
        let mut ids = HashSet::new();
        let mut before = "system";
        for (k, message) in list(body, "messages").iter().enumerate() {
            let at = format!("messages.{k}");
            let role = message["role"].as_str().unwrap_or_default();
            if role == "tool" {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let known = open.iter().position(|o| *o == id);
                self.hold(known.is_some(), || format!("{at}: `{id}` answers no open call"));
                open.retain(|o| *o != id);
                match &message["content"] {
                    Value::Array(parts) => parts.iter().for_each(|part| self.chat_part(part, &at)),
                    text => self.text(text, &at),
                }
                before = "tool";
                continue;
            }
            self.hold(open.is_empty(), || format!("{at}: calls without a tool message: {open:?}"));
            open.clear();
            let fits = match role {
                "system" | "developer" => k == 0,
                "user" => before != "user",
                "assistant" => matches!(before, "user" | "tool"),
                _ => false,
            };
            self.hold(fits, || format!("{at}: `{role}` cannot follow `{before}`"));
            before = role;
            let calls = list(message, "tool_calls");
            match &message["content"] {
                Value::Null => self.hold(!calls.is_empty(), || format!("{at}: neither content nor calls")),
                Value::Array(parts) => {
                    self.hold(role == "user" && !parts.is_empty(), || {
                        format!("{at}: parts belong to the user")
                    });
                    parts.iter().for_each(|part| self.chat_part(part, &at));
                }
                // As good as nothing, and some servers want it.
                Value::String(text) if text.is_empty() && !calls.is_empty() => {}
                text => self.text(text, &at),
            }
            for call in calls {
                let id = call["id"].as_str().unwrap_or_default();
                self.hold(is_plain(id, 64), || format!("{at}: bad id `{id}`"));
                self.hold(ids.insert(id), || format!("{at}: call ids must be unique"));
                let name = call["function"]["name"].as_str().unwrap_or_default();
                self.hold(is_plain(name, 64), || format!("{at}: bad name `{name}`"));
                let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                let object = serde_json::from_str::<Value>(arguments).is_ok_and(|v| v.is_object());
                self.hold(object, || format!("{at}: arguments must be a JSON object"));
                open.push(id);
            }
        }
        self.hold(matches!(before, "user" | "tool"), || {
            "the last message must not be the assistant's".into()
        });
        self.hold(open.is_empty(), || format!("calls without a tool message: {open:?}"));
    }

    fn chat_part(&mut self, part: &Value, at: &str) {
        match part["type"].as_str() {
            Some("text") => self.text(&part["text"], at),
            Some("image_url") => {
                let url = part["image_url"]["url"].as_str().unwrap_or_default();
                self.hold(url.starts_with("data:image/"), || format!("{at}: bad image_url"));
            }
            other => self.say(format!("{at}: a part of type {other:?}")),
        }
    }

    fn responses(&mut self, body: &Value) {
        self.hold(body["stream"].is_boolean(), || "stream must be true or false".into());
        self.hold(body["store"] == false, || "nothing is to be kept on the server".into());
        self.tools(list(body, "tools").iter().map(|t| (&t["name"], &t["parameters"])));
        let mut open: Vec<&str> = Vec::new();
        let mut ids = HashSet::new();
        let mut reasoning = false;
        let items = list(body, "input");
        for (k, item) in items.iter().enumerate() {
            let at = format!("input[{k}]");
            let kind = item["type"].as_str().unwrap_or_default();
            let role = item["role"].as_str().unwrap_or_default();
            let by_model = matches!(kind, "reasoning" | "function_call") || role == "assistant";
            self.hold(!reasoning || by_model, || {
                format!("{at}: item of type 'reasoning' was provided without its required following item")
            });
            reasoning = kind == "reasoning";
            if role == "user" {
                self.hold(open.is_empty(), || {
                    format!("{at}: no tool output found for function calls {open:?}")
                });
            }
            match kind {
                // An item without id and status: what the model said is a plain text.
                "message" if role == "assistant" => self.text(&item["content"], &at),
                "message" => {
                    let content = list(item, "content");
                    self.hold(!content.is_empty(), || format!("{at}: a message without content"));
                    for part in content {
                        self.response_part(part, role, &at);
                    }
                }
                "reasoning" => {
                    let kept = item["encrypted_content"].as_str().is_some_and(|e| !e.is_empty());
                    self.hold(kept, || {
                        format!("{at}: item not found; items are not persisted when `store` is false")
                    });
                    let nulls = item.as_object().is_some_and(|fields| fields.values().any(Value::is_null));
                    self.hold(!nulls, || format!("{at}: a field of null"));
                }
                "function_call" => {
                    let id = item["call_id"].as_str().unwrap_or_default();
                    self.hold(is_plain(id, 64) && ids.insert(id), || {
                        format!("{at}: bad or repeated call_id `{id}`")
                    });
                    let name = item["name"].as_str().unwrap_or_default();
                    self.hold(is_plain(name, 64), || format!("{at}: bad name `{name}`"));
                    let arguments = item["arguments"].as_str().unwrap_or_default();
                    let object = serde_json::from_str::<Value>(arguments).is_ok_and(|v| v.is_object());
                    self.hold(object, || format!("{at}: arguments must be a JSON object"));
                    open.push(id);
                }
                "function_call_output" => {
                    let id = item["call_id"].as_str().unwrap_or_default();
                    self.hold(open.contains(&id), || format!("{at}: no tool call found for call_id `{id}`"));
                    open.retain(|o| *o != id);
                    match &item["output"] {
                        Value::Array(parts) => {
                            parts.iter().for_each(|part| self.response_part(part, "user", &at));
                        }
                        text => self.text(text, &at),
                    }
                }
                other => self.say(format!("{at}: an item of type `{other}`")),
            }
        }
        self.hold(open.is_empty(), || format!("no tool output found for function calls {open:?}"));
        let last = items.last().map(|i| i["type"] == "function_call_output" || i["role"] == "user");
        self.hold(last == Some(true), || "the last item must not be the model's".into());
    }

    fn response_part(&mut self, part: &Value, role: &str, at: &str) {
        match (part["type"].as_str().unwrap_or_default(), role) {
            ("input_text", "user") => self.text(&part["text"], at),
            ("input_image", "user") => {
                let url = part["image_url"].as_str().unwrap_or_default();
                self.hold(url.starts_with("data:image/"), || format!("{at}: bad image_url"));
            }
            ("input_file", "user") => {
                let data = part["file_data"].as_str().unwrap_or_default();
                self.hold(data.starts_with("data:application/pdf;base64,"), || {
                    format!("{at}: bad file_data")
                });
            }
            (kind, _) => self.say(format!("{at}: `{kind}` does not belong to {role}")),
        }
    }

    fn gemini(&mut self, body: &Value) {
        let declarations = list(&body["tools"][0], "functionDeclarations");
        self.tools(declarations.iter().map(|t| (&t["name"], &t["parametersJsonSchema"])));
        let contents = list(body, "contents");
        let mut open: Vec<(&Value, &Value)> = Vec::new();
        for (k, content) in contents.iter().enumerate() {
            let at = format!("contents[{k}]");
            self.hold(content["role"] == ["user", "model"][k % 2], || format!("{at}: roles must alternate"));
            let parts = list(content, "parts");
            self.hold(!parts.is_empty(), || format!("{at}: must include at least one parts field"));
            let replies: Vec<(&Value, &Value)> = parts
                .iter()
                .map_while(|p| p.get("functionResponse"))
                .map(|r| (&r["name"], &r["id"]))
                .collect();
            self.hold(replies == open, || {
                format!("{at}: the number of function response parts must equal that of function call parts: {open:?}, {replies:?}")
            });
            open.clear();
            for (n, part) in parts.iter().enumerate() {
                let at = format!("{at}.parts[{n}]");
                if let Some(call) = part.get("functionCall") {
                    self.hold(content["role"] == "model", || format!("{at}: a call of the user's"));
                    self.hold(call["args"].is_object(), || format!("{at}: args must be an object"));
                    self.hold(is_plain(call["name"].as_str().unwrap_or_default(), 64), || {
                        format!("{at}: bad name")
                    });
                    open.push((&call["name"], &call["id"]));
                } else if let Some(response) = part.get("functionResponse") {
                    self.hold(n < replies.len(), || format!("{at}: a response after something else"));
                    self.hold(response["response"].is_object(), || {
                        format!("{at}: response must be an object")
                    });
                } else if let Some(data) = part.get("inlineData") {
                    let holds =
                        content["role"] == "user" && data["data"].as_str().is_some_and(|d| !d.is_empty());
                    self.hold(holds, || format!("{at}: bad inlineData"));
                } else if part.get("thoughtSignature").is_none() {
                    self.text(&part["text"], &at);
                }
            }
        }
        self.hold(open.is_empty(), || "function calls without responses".into());
        self.hold(contents.last().is_some_and(|c| c["role"] == "user"), || {
            "please ensure that the last content is of the user".into()
        });
    }
}
