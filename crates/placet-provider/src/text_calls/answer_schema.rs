//! The schema of an answer that is one JSON object: words to the person, or the call of one tool.
//!
//! Servers make a grammar of it, and refuse a schema with a word that they do not know. So it has only those words of JSON
//! Schema that all of them know (llama.cpp, `grammars/README.md`; vLLM and Ollama, *Structured outputs*); what a tool
//! says beyond them is checked when the call arrives, like any other.

use placet_text::conversation::ToolSpec;
use serde_json::{Map, Value, json};

/// The field with the words.
pub(super) const SAY: &str = "say";
/// The fields of a call.
pub(super) const TOOL: &str = "tool";
pub(super) const ARGUMENTS: &str = "arguments";

/// The same tools give the same bytes.
pub(super) fn of(tools: &[ToolSpec]) -> Value {
    let call = |spec: &ToolSpec| {
        let name = json!({"type": "string", "const": spec.name});
        object(vec![(TOOL, name), (ARGUMENTS, known_part(&spec.schema))])
    };
    let words = object(vec![(SAY, json!({"type": "string"}))]);
    json!({"anyOf": std::iter::once(words).chain(tools.iter().map(call)).collect::<Vec<_>>()})
}

fn object(fields: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The schema with the words that all servers know.
fn known_part(schema: &Value) -> Value {
    let mut kept = Map::new();
    for (word, value) in schema.as_object().into_iter().flatten() {
        let value = match word.as_str() {
            "type" | "enum" | "const" | "required" => value.clone(),
            "items" => known_part(value),
            "anyOf" => value.as_array().into_iter().flatten().map(known_part).collect(),
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                fields.map(|(name, schema)| (name.clone(), known_part(schema))).collect()
            }
            _ => continue,
        };
        kept.insert(word.clone(), value);
    }
    // A field that nobody listed would be one that the tool does not know.
    if kept.contains_key("properties") {
        kept.insert("additionalProperties".into(), false.into());
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_words_or_a_call_and_has_no_word_that_a_server_may_not_know() {
        let schema = json!({"type": "object", "required": ["path"], "$schema": "x", "properties": {
            "path": {"type": "string", "description": "Where.", "pattern": "(?=a)", "minLength": 1},
            "format": {"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["a"]}]}}}});
        let spec = ToolSpec { name: "look".into(), description: "Looks.".into(), schema };
        let arguments = json!({"type": "object", "required": ["path"], "additionalProperties": false, "properties": {
            "path": {"type": "string"},
            "format": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"enum": ["a"]}]}}}});
        let call = json!({"type": "object", "required": ["tool", "arguments"], "additionalProperties": false,
            "properties": {"tool": {"type": "string", "const": "look"}, "arguments": arguments}});
        let words = json!({"type": "object", "required": ["say"], "additionalProperties": false,
            "properties": {"say": {"type": "string"}}});
        assert_eq!(of(&[spec]), json!({"anyOf": [words, call]}));
    }
}
